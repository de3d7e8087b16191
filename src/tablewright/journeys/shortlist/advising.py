"""ADVISE: the first five products and why, and what the person should know about the comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from tablewright.conditions.evaluate import is_absent
from tablewright.decisions.decision import decide
from tablewright.decisions.shortlist.advice import Advice, AdviceToGive, AdvisedCard, GiveAdvice
from tablewright.domain.model import Cell, Field, Row, Step, Table, column_key
from tablewright.domain.shortlist import (
    EDIT,
    FOUND_AT,
    GO_ON,
    KEY,
    MAKER,
    OFFERED_AS,
    PAGE,
    PRICE,
    TOP,
    TRY_AGAIN,
    Card,
    ChatReply,
    Ranked,
    Ranking,
    ReplySentence,
    ShortlistState,
    column_name,
)
from tablewright.domain.text import cell_text, show
from tablewright.journeys.shortlist.comparison import ProductComparison, all_values, asked_fields, pending
from tablewright.journeys.shortlist.context import Taken, TurnContext
from tablewright.journeys.shortlist.ranking import shown_cell
from tablewright.journeys.shortlist.wording import (
    as_texts,
    compared_rows,
    first_domain,
    lines,
    named_columns,
    reply_of,
    sentence,
    unchecked_line,
    user_messages,
)
from tablewright.messages.catalogue import ShortlistText, translate_count
from tablewright.sources.fetch.guard import registrable_domain

PENDING: ShortlistText[str] = "{count} cell was not looked for yet.|{count} cells were not looked for yet."
EMPTY = 0.8
"""The share of candidates without a value from which a column is called a problem."""
SHOWN = 8
"""Columns of the table in a reply."""
COMPARED = 20
"""Rows of the comparison that advice is given from: the first ones, and some that were left out."""


async def present(
    context: TurnContext,
    state: ShortlistState,
    said: Sequence[ReplySentence] = (),
    *,
    notes: Sequence[str] = (),
    new: Sequence[str] = (),
    found: Sequence[str] = (),
) -> Taken:
    """Show the comparison. `new` are columns that were just asked for: they are among those shown. `found` are products
    that were just searched for: where none is left, they are told first."""
    state = msgspec.structs.replace(state, phase="advise", waiting="", has_presented=True)
    comparison = ProductComparison(context, state)
    await comparison.settle_prices()
    table = await comparison.table()
    ranking = context.ranking(table, state)
    await comparison.judge(table, ranking)
    adviser = Adviser(context, state, table, ranking, said=said, notes=notes)
    if adviser.has_read_nothing:
        return state, adviser.nothing_read()
    if not ranking.ranked:
        return state, adviser.none_left(found)
    return await adviser.first_ones(new)


class Adviser:
    """`said` and `notes` stand before and behind what the comparison says."""

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
        self._say = state.translate
        self._table = table
        self._ranking = ranking
        self._said = said
        self._notes = notes
        self._fields = asked_fields(table)
        self._waiting = pending(table, self._fields)

    @property
    def has_read_nothing(self) -> bool:
        cells = [row.cell(field.name) for row in self._table.rows for field in self._fields]
        return bool(cells) and all(cell.value is None for cell in cells)

    async def first_ones(self, new: Sequence[str]) -> Taken:
        self._context.tell(Step(type="thinking", detail="Weighing the trade-offs."))
        state, ranking = self._state, self._ranking
        looked_at = with_values(ranking, self._table)
        top = looked_at.ranked[:TOP]
        advice, problem = await self._advice(looked_at, len(top))
        by_row = {card.row_id: card for card in advice.cards}
        rows = {row.id: row for row in self._table.rows}
        columns = self._columns([rows[each.row_id] for each in top], new)
        notes = [
            *ranking.notes,
            *self._notes,
            *problems(self._table, state),
            unchecked_line(state),
            unverified(advice.left_out, state),
            problem,
            translate_count("shortlist", PENDING, self._waiting, state.language),
        ]
        reply = ChatReply(
            said=(*self._said, *lines(self._counted()), *advice.intro),
            cards=tuple(
                self._card(place, each, rows[each.row_id], by_row.get(each.row_id))
                for place, each in enumerate(top, start=1)
            ),
            columns=named_columns(columns, state.language),
            rows=tuple(as_texts(rows[each.row_id], columns, ranking, state.language) for each in top),
            buttons=(GO_ON,) if self._waiting else (),
            notes=(*advice.closing, *lines(*notes)),
        )
        return msgspec.structs.replace(state, shown=tuple(each.row_id for each in top)), reply

    def nothing_read(self) -> ChatReply:
        """That is a problem of the data, not of the products; or nothing was looked for yet."""
        if self._waiting:
            return reply_of(self._said, *self._notes, self._say(PENDING, count=self._waiting), buttons=(GO_ON,))
        cells = (row.cell(field.name) for row in self._table.rows for field in self._fields)
        errors = Counter(filter(None, (cell.error for cell in cells)))
        why = f" ({errors.most_common(1)[0][0].rstrip('.')})" if errors else ""
        told = self._say(
            "Nothing could be found out about the only candidate{why}. Search again with other pages, or "
            "change what is wanted; the candidate is kept.|"
            "Nothing could be found out about any of the {count} candidates{why}. Search again with other pages, or "
            "change what is wanted; the candidates are kept.",
            count=len(self._table.rows),
            why=why,
        )
        return reply_of(self._said, *self._notes, told, buttons=(TRY_AGAIN, EDIT))

    def none_left(self, found: Sequence[str]) -> ChatReply:
        if not self._table.rows:
            told = self._say("Nothing was found. Which requirement may change?")
            return reply_of(self._said, *self._notes, told, buttons=(EDIT,))
        reasons = [
            sentence(f"{each.name}: {each.reason}.", each.row_id, each.field or KEY)
            for each in sorted(self._ranking.excluded, key=lambda each: each.name not in found)[:TOP]
        ]
        intro = self._say(
            "The only candidate does not meet the requirements:|"
            "None of {count} candidates meets the requirements. The nearest:",
            count=len(self._table.rows),
        )
        told = self._say("Which requirement may be relaxed?")
        return reply_of((*self._said, *lines(intro), *reasons), *self._notes, told, buttons=(EDIT,))

    async def _advice(self, ranking: Ranking, top: int) -> tuple[Advice, str]:
        model = self._context.tools.model
        if model is None:
            return Advice(), ""
        rows = compared_rows(self._table, ranking)
        unseen = len(rows) - COMPARED
        asked = AdviceToGive(
            requirements=self._state.requirements,
            rows=rows[:COMPARED],
            columns=tuple(field.name for field in self._table.shown_fields if field.name not in (KEY, PAGE)),
            top=top,
            said=user_messages(self._state),
            notes=(
                *ranking.notes,
                *([f"{unseen} more products, further behind, are not shown."] if unseen > 0 else []),
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
        told = [self._say(compared, count=len(self._table.rows), out=out)]
        if len(ranking.ranked) > TOP:
            told.append(self._say("The first {count}:", count=TOP))
        if ranking.excluded and len(ranking.ranked) < TOP:
            told.append(self._say("Fewer than {count} are left: ask for more, or relax a requirement.", count=TOP))
        return " ".join(told)

    def _columns(self, top: Sequence[Row], new: Sequence[str]) -> list[Field]:
        """What was just asked for comes first, then what is wanted, then what the user asked for otherwise; what is the
        same for all goods, that they are new, is left out."""
        wanted = [KEY, *new, PRICE, *(wish.column for wish in self._state.requirements.wishes)]
        places = {column_key(name): place for place, name in reversed(list(enumerate(wanted)))}
        hidden = {MAKER, PAGE, FOUND_AT} | (
            {OFFERED_AS} if {cell_text(row.cell(OFFERED_AS)) for row in top} <= {"", "new"} else set()
        )
        fields = [field for field in self._table.shown_fields if field.name not in hidden]
        last = len(wanted)
        return sorted(fields, key=lambda field: places.get(column_key(field.name), last + (field.role != "user")))[
            :SHOWN
        ]

    def _card(self, place: int, each: Ranked, row: Row, advised: AdvisedCard | None) -> Card:
        """What cannot be decided, and what only an unsure source says of what is wanted, is said by code."""
        said = advised.said if advised is not None else tuple(reasons(each))
        unknown = (
            self._say("Not known whether it meets: {wishes}.", wishes="; ".join(each.unknown)) if each.unknown else ""
        )
        wanted = dict.fromkeys((*(part.field for part in each.parts), PRICE))
        unsure = [self._unsure(row, field) for name in wanted if (field := self._table.field(name))]
        less_sure = self._say("Less sure: {values}.", values="; ".join(filter(None, unsure))) if any(unsure) else ""
        return Card(
            place=place,
            row_id=each.row_id,
            name=each.name,
            score=each.score,
            parts=each.parts,
            said=(*said, *lines(self._prices(row.cell(PRICE)), unknown, less_sure)),
            official_url=cell_text(row.cell(PAGE)) or cell_text(row.cell(FOUND_AT)),
            best_for=advised.best_for if advised is not None else "",
            is_open=bool(each.unknown),
        )

    def _prices(self, cell: Cell) -> str:
        """Who asks what, where several sellers name a price; else ""."""
        told = [
            f"{show(each.value)} ({site})" if (site := first_domain(each.evidence)) else show(each.value)
            for each in all_values(cell)
        ]
        return self._say("Prices found: {prices}.", prices="; ".join(told)) if cell.conflict else ""

    def _unsure(self, row: Row, field: Field) -> str:
        """A value that a single site states which is not the maker's, and of which we are not sure; else ""."""
        cell = row.cell(field.name)
        sites = {each.domain for each in cell.evidence}
        if cell.value is None or not field.is_asked or cell.confidence_label == "high" or len(sites) != 1:
            return ""
        if field.name == PRICE and cell.conflict:
            return ""  # all its sellers are named
        (site,) = sites
        if not site or site == registrable_domain(cell_text(row.cell(PAGE))):
            return ""
        value = f"{column_name(field.name, self._state.language)} {shown_cell(row, field, self._state.language)}"
        return self._say("{value} (only {source} says so)", value=value, source=site)


def with_values(ranking: Ranking, table: Table) -> Ranking:
    """Only what something is known of, where time was too short to look at all: nothing can be said of the others."""
    fields = asked_fields(table)
    known = {row.id for row in table.rows if any(row.cell(field.name).value is not None for field in fields)}
    ranked = tuple(each for each in ranking.ranked if each.row_id in known)
    return msgspec.structs.replace(ranking, ranked=ranked) if ranked else ranking


def reasons(product: Ranked) -> Iterator[ReplySentence]:
    """What its score is made of, where nobody advises in words; what is not known has a line of its own."""
    for part in product.parts:
        if part.why and not any(part.why in each for each in product.unknown):
            yield sentence(part.why, product.row_id, part.field)


def unverified(count: int, state: ShortlistState) -> str:
    return translate_count(
        "shortlist",
        "{count} statement could not be verified and was left out.|"
        "{count} statements could not be verified and were left out.",
        count,
        state.language,
    )


def problems(table: Table, state: ShortlistState) -> list[str]:
    """Columns that hardly any candidate has: the column is the problem, not the products."""
    found, all_ = [], len(table.rows)
    for field in asked_fields(table):
        if field not in table.shown_fields:
            continue
        column = column_name(field.name, state.language)
        cells = [row.cell(field.name) for row in table.rows]
        known = sum(cell.value is not None or is_absent(cell) for cell in cells)
        if pending(table, [field]):
            continue  # not looked for is not absent
        if table.rows and not known:
            found.append(state.translate("{column} was found for none of the candidates.", column=column))
        elif all_ - known >= EMPTY * all_:
            found.append(
                state.translate(
                    "{column}: found for {count} of {all} candidates only.", column=column, count=known, all=all_
                )
            )
    return found
