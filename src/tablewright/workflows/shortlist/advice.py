"""The ADVISE phase: present the five best products with reasons, and what the user should know about the comparison.

The model only words the advice; order, scores and verdicts come from `ranking`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from tablewright.conditions.evaluate import is_stated_absent
from tablewright.domain.model import Cell, Field, Row, Step, Table, column_key
from tablewright.domain.shortlist import (
    EDIT,
    FOUND_AT_COLUMN,
    GO_ON,
    MAKER_COLUMN,
    OFFERED_AS_COLUMN,
    PAGE_COLUMN,
    PRICE_COLUMN,
    PRICE_FIELD,
    PRODUCT_COLUMN,
    TOP_CANDIDATES,
    TRY_AGAIN,
    Card,
    CardLink,
    ChatReply,
    RankedProduct,
    Ranking,
    ReplySentence,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import cell_text
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.shortlist.advice import Advice, AdviceToGive, AdvisedCard, GiveAdvice
from tablewright.messages.catalogue import ShortlistText, translate_count
from tablewright.web.fetch.guard import registrable_domain
from tablewright.workflows.shortlist.comparison import (
    ProductComparison,
    comparison_fields,
    count_pending,
    list_stated_values,
)
from tablewright.workflows.shortlist.context import Taken, TurnContext
from tablewright.workflows.shortlist.ranking import format_product_cell, format_product_value
from tablewright.workflows.shortlist.wording import (
    describe_unchecked,
    first_domain,
    format_row_cells,
    make_cell_sentence,
    make_compared_rows,
    make_reply,
    make_sentences,
    translate_columns,
    user_messages,
)

PENDING: ShortlistText[str] = "{count} cell was not looked for yet.|{count} cells were not looked for yet."


async def present_comparison(
    context: TurnContext,
    state: ShortlistState,
    said: Sequence[ReplySentence] = (),
    *,
    notes: Sequence[str] = (),
    new: Sequence[str] = (),
    found: Sequence[str] = (),
) -> Taken:
    """Present the comparison. `new` columns were just requested, so they are among those shown. `found` products were
    just searched for, so they are named first if no candidate is left."""
    state = msgspec.structs.replace(state, phase="advise", waiting="", has_presented=True)
    comparison = ProductComparison(context, state)
    await comparison.settle_prices()
    table = await comparison.table()
    # Earlier ties are forgotten: the advice breaks them again.
    ranking = context.ranking(table, msgspec.structs.replace(state, preferred=()))
    await comparison.judge(table, ranking)
    advisor = Advisor(context, state, table, ranking, said=said, notes=notes)
    if advisor.has_read_nothing:
        return state, advisor.nothing_read()
    if not ranking.ranked:
        return state, advisor.none_left(found)
    return await advisor.first_ones(new)


class Advisor:
    """Writes one presentation; `said` and `notes` come before and after it."""

    def __init__(
        self,
        context: TurnContext,
        state: ShortlistState,
        table: Table,
        ranking: Ranking,
        *,
        said: Sequence[ReplySentence],
        notes: Sequence[str],
    ) -> None:
        self._context = context
        self._state = state
        self._say = context.translate_for(state)
        self._table = table
        self._ranking = ranking
        self._said = said
        self._notes = notes
        self._fields = comparison_fields(table)
        self._waiting = count_pending(table, self._fields)

    @property
    def has_read_nothing(self) -> bool:
        cells = [row.cell(field.name) for row in self._table.rows for field in self._fields]
        return bool(cells) and all(cell.value is None for cell in cells)

    async def first_ones(self, new: Sequence[str]) -> Taken:
        self._context.tell(Step(type="thinking", detail="Weighing the trade-offs."))
        state, ranking = self._state, self._ranking
        looked_at = keep_known_products(ranking, self._table)
        advice, problem = await self._advice(looked_at, len(looked_at.ranked[:TOP_CANDIDATES]))
        # The order of the advice differs from that of the scores only among products that tie.
        ordered = {row_id: place for place, row_id in enumerate(advice.order)}
        top = sorted(looked_at.ranked, key=lambda each: ordered.get(each.row_id, len(ordered)))[:TOP_CANDIDATES]
        by_row = {card.row_id: card for card in advice.cards}
        rows = {row.id: row for row in self._table.rows}
        columns = self._columns([rows[each.row_id] for each in top], new)
        notes = [
            *ranking.notes,
            *self._notes,
            *describe_sparse_columns(self._table, state, self._say),
            describe_unchecked(state),
            describe_unverified(advice.left_out, state),
            problem,
            translate_count("shortlist", PENDING, self._waiting, state.language),
        ]
        reply = ChatReply(
            said=(*self._said, *make_sentences(self._counted()), *advice.intro, *advice.ties),
            cards=tuple(
                self._card(place, each, rows[each.row_id], by_row.get(each.row_id))
                for place, each in enumerate(top, start=1)
            ),
            columns=translate_columns(columns, state.language),
            rows=tuple(format_row_cells(rows[each.row_id], columns, ranking, state.language) for each in top),
            buttons=(GO_ON,) if self._waiting else (),
            notes=(*advice.closing, *make_sentences(*notes)),
        )
        preferred = advice.order or state.preferred
        return msgspec.structs.replace(state, shown=tuple(each.row_id for each in top), preferred=preferred), reply

    def nothing_read(self) -> ChatReply:
        """Reply if no cell has a value: the search failed or has not started; the products are not at fault."""
        if self._waiting:
            return make_reply(self._said, *self._notes, self._say(PENDING, count=self._waiting), buttons=(GO_ON,))
        cells = (row.cell(field.name) for row in self._table.rows for field in self._fields)
        errors = Counter(filter(None, (cell.error for cell in cells)))
        why = f" ({errors.most_common(1)[0][0].rstrip('.')})" if errors else ""
        text = self._say(
            "Nothing could be found out about the only candidate{why}. Search again with other pages, or "
            "change what is wanted; the candidate is kept.|"
            "Nothing could be found out about any of the {count} candidates{why}. Search again with other pages, or "
            "change what is wanted; the candidates are kept.",
            count=len(self._table.rows),
            why=why,
        )
        return make_reply(self._said, *self._notes, text, buttons=(TRY_AGAIN, EDIT))

    def none_left(self, found: Sequence[str]) -> ChatReply:
        if not self._table.rows:
            text = self._say("Nothing was found. Which requirement may change?")
            return make_reply(self._said, *self._notes, text, buttons=(EDIT,))
        reasons = [
            make_cell_sentence(f"{each.name}: {each.reason}.", each.row_id, each.field or PRODUCT_COLUMN)
            for each in sorted(self._ranking.excluded, key=lambda each: each.name not in found)[:TOP_CANDIDATES]
        ]
        intro = self._say(
            "The only candidate does not meet the requirements:|"
            "None of {count} candidates meets the requirements. The nearest:",
            count=len(self._table.rows),
        )
        text = self._say("Which requirement may be relaxed?")
        return make_reply((*self._said, *make_sentences(intro), *reasons), *self._notes, text, buttons=(EDIT,))

    async def _advice(self, ranking: Ranking, top: int) -> tuple[Advice, str]:
        model = self._context.tools.model
        if model is None:
            return Advice(), ""
        rows = make_compared_rows(self._table, ranking)
        # The best, and some that were left out so that it can name near misses. The model learns how many it does not
        # see, so that it claims nothing about all.
        seen, unseen = rows[:20], len(rows[20:])
        asked = AdviceToGive(
            requirements=self._state.requirements,
            rows=seen,
            columns=tuple(
                field.name for field in self._table.shown_fields if field.name not in (PRODUCT_COLUMN, PAGE_COLUMN)
            ),
            top=top,
            said=user_messages(self._state),
            notes=(
                *ranking.notes,
                *([f"{unseen} more products, further behind, are not shown."] if unseen else []),
            ),
            room=model.text_room,
        )
        outcome = await decide(GiveAdvice(), asked, model, self._context.tell)
        problem = self._say("There is no advice in words: {why}", why=outcome.degraded) if outcome.degraded else ""
        return outcome.decided, problem

    def _counted(self) -> str:
        ranking = self._ranking
        out = translate_count(
            "shortlist",
            "; {count} does not meet the requirements|; {count} do not meet the requirements",
            len(ranking.excluded),
            self._state.language,
        )
        out += translate_count(
            "shortlist",
            "; of {count} it is not known whether it meets every must|"
            "; of {count} it is not known whether they meet every must",
            sum(bool(each.unknown) for each in ranking.ranked),
            self._state.language,
        )
        compared: ShortlistText[str] = "{count} candidate compared{out}.|{count} candidates compared{out}."
        sentences = [self._say(compared, count=len(self._table.rows), out=out)]
        if self._context.tools.model is None:
            # English, like all that is said only without a model, which alone can tell the language.
            sentences.append(
                "Nothing is ranked without a model: the pages are in the order in which they were found, product pages "
                "before others, and those that state every must first."
            )
        if len(ranking.ranked) > TOP_CANDIDATES:
            sentences.append(self._say("The first {count}:", count=TOP_CANDIDATES))
        if ranking.excluded and len(ranking.ranked) < TOP_CANDIDATES:
            sentences.append(
                self._say("Fewer than {count} are left: ask for more, or relax a requirement.", count=TOP_CANDIDATES)
            )
        return " ".join(sentences)

    def _columns(self, top: Sequence[Row], new: Sequence[str]) -> list[Field]:
        """Return the columns to show: just requested ones first, then those of the wishes, then others the user added.
        The column "offered as" is left out if all goods are new."""
        wanted = [PRODUCT_COLUMN, *new, PRICE_COLUMN, *(wish.column for wish in self._state.requirements.wishes)]
        places = {column_key(name): place for place, name in reversed(list(enumerate(wanted)))}
        hidden = {MAKER_COLUMN, PAGE_COLUMN, FOUND_AT_COLUMN} | (
            {OFFERED_AS_COLUMN} if {cell_text(row.cell(OFFERED_AS_COLUMN)) for row in top} <= {"", "new"} else set()
        )
        fields = [field for field in self._table.shown_fields if field.name not in hidden]
        last = len(wanted)
        # More columns do not fit next to the conversation.
        return sorted(fields, key=lambda field: places.get(column_key(field.name), last + (field.role != "user")))[:8]

    def _card(self, place: int, each: RankedProduct, row: Row, advised: AdvisedCard | None) -> Card:
        """Return the card of a product; code adds undecided wishes and values that only a weak source states."""
        said = advised.said if advised is not None else tuple(explain_score(each))
        unknown = (
            self._say("Not known whether it meets: {wishes}.", wishes="; ".join(each.unknown)) if each.unknown else ""
        )
        wanted = dict.fromkeys((*(part.field for part in each.parts), PRICE_COLUMN))
        unsure = [self._unsure(row, field) for name in wanted if (field := self._table.field(name))]
        less_sure = self._say("Less sure: {values}.", values="; ".join(filter(None, unsure))) if any(unsure) else ""
        return Card(
            place=place,
            row_id=each.row_id,
            name=each.name,
            score=each.score if self._context.tools.model is not None else None,
            parts=each.parts,
            said=(*said, *make_sentences(self._prices(row.cell(PRICE_COLUMN)), unknown, less_sure)),
            official_url=cell_text(row.cell(PAGE_COLUMN)) or cell_text(row.cell(FOUND_AT_COLUMN)),
            best_for=advised.best_for if advised is not None else "",
            rank_reason=self._explain_rank(each) if advised is not None else "",
            links=tuple(self._links(row)),
            is_open=bool(each.unknown),
        )

    def _explain_rank(self, product: RankedProduct) -> str:
        """Say what a product meets and misses; hard wishes that no cell decides have a sentence of their own."""
        by_outcome: dict[str, list[str]] = {}
        for part in product.parts:
            name = localize_column_name(part.field, self._state.language)
            if part.outcome != "unknown":
                by_outcome.setdefault(part.outcome, []).append(part.why)
            elif not any(part.why in each for each in product.unknown):
                by_outcome.setdefault("unknown", []).append(name)
        texts: ShortlistText[dict[str, str]] = {
            "met": "Meets: {values}.",
            "compared": "Compared: {values}.",
            "missed": "Misses: {values}.",
            "unknown": "Not known: {values}.",
        }
        found = ((text, "; ".join(dict.fromkeys(by_outcome.get(key, ())))) for key, text in texts.items())
        return " ".join(self._say(text, values=values) for text, values in found if values)

    def _links(self, row: Row) -> Iterator[CardLink]:
        if page := cell_text(row.cell(PAGE_COLUMN)):
            yield CardLink(label=localize_column_name(PAGE_COLUMN, self._state.language), url=page)
        price = row.cell(PRICE_COLUMN)
        if price.value is not None and (stated := next((each for each in price.evidence if each.domain), None)):
            yield CardLink(label=self._say("Price at {seller}", seller=stated.domain), url=stated.origin)

    def _prices(self, cell: Cell) -> str:
        """Name the prices of several sellers, or "" if there is only one."""
        prices = [
            f"{price} ({site})" if (site := first_domain(each.evidence)) else price
            for each in list_stated_values(cell)
            if (price := format_product_value(each.value, PRICE_FIELD, self._state.language))
        ]
        return self._say("Prices found: {prices}.", prices="; ".join(prices)) if cell.conflict else ""

    def _unsure(self, row: Row, field: Field) -> str:
        """Name a value that is not certain and that only one site states, other than the maker's; else return ""."""
        cell = row.cell(field.name)
        sites = {each.domain for each in cell.evidence}
        if cell.value is None or not field.is_asked or cell.confidence_label == "high" or len(sites) != 1:
            return ""
        if field.name == PRICE_COLUMN and cell.conflict:
            return ""  # `_prices` names all its sellers
        (site,) = sites
        if not site or site == registrable_domain(cell_text(row.cell(PAGE_COLUMN))):
            return ""
        language = self._state.language
        value = f"{localize_column_name(field.name, language)} {format_product_cell(row, field, language)}"
        return self._say("{value} (only {source} says so)", value=value, source=site)


def keep_known_products(ranking: Ranking, table: Table) -> Ranking:
    """Drop products without any known value, if others have some: time was too short to look at all of them."""
    fields = comparison_fields(table)
    known = {row.id for row in table.rows if any(row.cell(field.name).value is not None for field in fields)}
    ranked = tuple(each for each in ranking.ranked if each.row_id in known)
    return msgspec.structs.replace(ranking, ranked=ranked) if ranked else ranking


def explain_score(product: RankedProduct) -> Iterator[ReplySentence]:
    """Yield the parts of a score, for replies without a model; unknown wishes have a line of their own."""
    for part in product.parts:
        if part.why and not any(part.why in each for each in product.unknown):
            yield make_cell_sentence(part.why, product.row_id, part.field)


def describe_unverified(count: int, state: ShortlistState) -> str:
    return translate_count(
        "shortlist",
        "{count} statement could not be verified and was left out.|"
        "{count} statements could not be verified and were left out.",
        count,
        state.language,
    )


def describe_sparse_columns(table: Table, state: ShortlistState, say: Callable[..., str]) -> list[str]:
    """Report columns that hardly any candidate has a value for."""
    found, all_ = [], len(table.rows)
    for field in comparison_fields(table):
        if field not in table.shown_fields:
            continue
        column = localize_column_name(field.name, state.language)
        cells = [row.cell(field.name) for row in table.rows]
        known = sum(cell.value is not None or is_stated_absent(cell) for cell in cells)
        if count_pending(table, [field]):
            continue  # not looked for is not absent
        if table.rows and not known:
            found.append(say("{column} was found for none of the candidates.", column=column))
        elif all_ - known >= 0.8 * all_:
            # Up to here a gap is a matter of single products; beyond it the column itself is the problem.
            found.append(
                say("{column}: found for {count} of {all} candidates only.", column=column, count=known, all=all_)
            )
    return found
