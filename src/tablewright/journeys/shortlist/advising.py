"""ADVISE: the top five and why, and what is done with the comparison that is there: sources, links, exports, doubts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tablewright.conditions.evaluate import is_absent
from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.shortlist.advice import Advice, AdviceToGive, AdvisedCard, GiveAdvice
from tablewright.decisions.shortlist.turn import TurnTaken
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Row, RowId, Step, Table, column_key
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
    CellRef,
    ChatReply,
    Ranked,
    Ranking,
    ReplySentence,
    ShopListing,
    ShortlistState,
    column_name,
)
from tablewright.domain.text import cell_text, shortened, show
from tablewright.errors import SearchError, TablewrightError
from tablewright.journeys.files import export_file
from tablewright.journeys.shortlist.comparison import ProductComparison, asked_fields, own_pages, pending
from tablewright.journeys.shortlist.links import listings
from tablewright.journeys.shortlist.ranking import rank, shown_cell, shown_value
from tablewright.journeys.shortlist.wording import (
    as_texts,
    compared_rows,
    lines,
    reply_of,
    unchecked_line,
    user_messages,
)
from tablewright.messages.catalogue import ShortlistText, translate, translate_count
from tablewright.sources.fetch.addresses import registrable_domain
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.values.money import Rates

PENDING: ShortlistText[str] = "{count} cell was not looked for yet.|{count} cells were not looked for yet."
EMPTY = 0.8
"""The share of candidates without a value from which a column is called a problem."""
SHOWN = 8
"""Columns of the table in a reply."""
COMPARED = 20
"""Rows of the comparison that advice is given from: the first ones, and some that were left out."""


class Adviser:
    """`folder` is where exports go, whatever place the person names; None: where they say."""

    def __init__(
        self,
        state: ShortlistState,
        comparison: ProductComparison,
        store: Store,
        tools: Tools,
        rates: Rates,
        tell: Tell,
        folder: Path | None = None,
    ) -> None:
        self._state = state
        self._say = state.translate
        self._comparison = comparison
        self._store = store
        self._tools = tools
        self._rates = rates
        self._tell = tell
        self._folder = folder

    # ── presenting ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def present(
        self,
        said: Sequence[ReplySentence] = (),
        *,
        heading: str = "",
        notes: Sequence[str] = (),
        new: Sequence[str] = (),
        found: Sequence[str] = (),
    ) -> tuple[ShortlistState, ChatReply]:
        """`new` are columns that were just asked for: they are among those shown. `found` are products that were just
        searched for: where none is left, they are told first."""
        await self._comparison.settle_prices()
        table = await self._comparison.table()
        ranking = rank(table, self._state.requirements, self._rates, self._state.language)
        await self._comparison.judge(table, ranking)
        fields = asked_fields(table)
        waiting = pending(table, fields)
        said = (*lines(heading), *said)
        if (
            fields
            and table.rows
            and not any(row.cell(each.name).value is not None for row in table.rows for each in fields)
        ):
            return self._state, self._nothing_read(table, waiting, said, notes)
        if not ranking.ranked:
            return self._state, self._none_left(table, ranking, said, notes, found)
        self._tell(Step(type="thinking", detail="Weighing the trade-offs."))
        looked_at = with_values(ranking, table)
        top = looked_at.ranked[:TOP]
        advice, problem = await self._advice(table, looked_at, len(top))
        by_row = {card.row_id: card for card in advice.cards}
        rows = {row.id: row for row in table.rows}
        columns = self._columns(table, [rows[each.row_id] for each in top], new)
        texts = [
            *ranking.notes,
            *notes,
            *problems(table, self._state),
            unchecked_line(self._state),
            unverified(advice.left_out, self._state),
            problem,
            translate_count("shortlist", PENDING, waiting, self._state.language),
        ]
        reply = ChatReply(
            said=(*said, *lines(self._counted(table, ranking)), *advice.intro),
            cards=tuple(
                self._card(place, each, table, rows[each.row_id], by_row.get(each.row_id))
                for place, each in enumerate(top, start=1)
            ),
            columns=self._named(columns),
            rows=tuple(as_texts(rows[each.row_id], columns, ranking, self._state.language) for each in top),
            buttons=(GO_ON,) if waiting else (),
            notes=(*advice.closing, *lines(*texts)),
        )
        return msgspec.structs.replace(self._state, shown=tuple(each.row_id for each in top)), reply

    async def _advice(self, table: Table, ranking: Ranking, top: int) -> tuple[Advice, str]:
        model = self._tools.model
        if model is None:
            return Advice(), ""
        rows = compared_rows(table, ranking)
        unseen = len(rows) - COMPARED
        asked = AdviceToGive(
            requirements=self._state.requirements,
            rows=rows[:COMPARED],
            columns=tuple(field.name for field in table.shown_fields if field.name not in (KEY, PAGE)),
            top=top,
            said=user_messages(self._state),
            notes=(
                *ranking.notes,
                *([f"{unseen} more products, further behind, are not shown."] if unseen > 0 else []),
            ),
            room=model.text_room,
        )
        outcome = await decide(GiveAdvice(), asked, model, self._tell)
        problem = self._say("There is no advice in words: {why}", why=outcome.degraded) if outcome.degraded else ""
        return outcome.decided, problem

    def _counted(self, table: Table, ranking: Ranking) -> str:
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
        told = [self._say(compared, count=len(table.rows), out=out)]
        if len(ranking.ranked) > TOP:
            told.append(self._say("The first {count}:", count=TOP))
        if ranking.excluded and len(ranking.ranked) < TOP:
            told.append(self._say("Fewer than {count} are left: ask for more, or relax a requirement.", count=TOP))
        return " ".join(told)

    def _columns(self, table: Table, top: Sequence[Row], new: Sequence[str]) -> list[Field]:
        """What was just asked for comes first, then what is wanted, then what the user asked for otherwise; what is the
        same for all goods, that they are new, is left out."""
        wanted = [KEY, *new, PRICE, *(wish.column for wish in self._state.requirements.wishes)]
        places = {column_key(name): place for place, name in reversed(list(enumerate(wanted)))}
        hidden = {MAKER, PAGE, FOUND_AT} | (
            {OFFERED_AS} if {cell_text(row.cell(OFFERED_AS)) for row in top} <= {"", "new"} else set()
        )
        fields = [field for field in table.shown_fields if field.name not in hidden]
        last = len(wanted)
        return sorted(fields, key=lambda field: places.get(column_key(field.name), last + (field.role != "user")))[
            :SHOWN
        ]

    def _named(self, columns: Sequence[Field]) -> tuple[str, ...]:
        return tuple(column_name(field.name, self._state.language) for field in columns)

    def _nothing_read(
        self, table: Table, waiting: int, said: Sequence[ReplySentence], notes: Sequence[str]
    ) -> ChatReply:
        """That is a problem of the data, not of the products; or nothing was looked for yet."""
        if waiting:
            return reply_of(said, *notes, self._say(PENDING, count=waiting), buttons=(GO_ON,))
        errors = Counter(filter(None, (row.cell(f.name).error for row in table.rows for f in asked_fields(table))))
        why = f" ({errors.most_common(1)[0][0].rstrip('.')})" if errors else ""
        told = self._say(
            "Nothing could be found out about the only candidate{why}. Search again with other pages, or "
            "change what is wanted; the candidate is kept.|"
            "Nothing could be found out about any of the {count} candidates{why}. Search again with other pages, or "
            "change what is wanted; the candidates are kept.",
            count=len(table.rows),
            why=why,
        )
        return reply_of(said, *notes, told, buttons=(TRY_AGAIN, EDIT))

    def _none_left(
        self,
        table: Table,
        ranking: Ranking,
        said: Sequence[ReplySentence],
        notes: Sequence[str],
        found: Sequence[str],
    ) -> ChatReply:
        if not table.rows:
            return reply_of(
                said, *notes, self._say("Nothing was found. Which requirement may change?"), buttons=(EDIT,)
            )
        reasons = [
            ReplySentence(
                text=f"{each.name}: {each.reason}.", cells=(CellRef(row_id=each.row_id, field=each.field or KEY),)
            )
            for each in sorted(ranking.excluded, key=lambda each: each.name not in found)[:TOP]
        ]
        intro = lines(
            self._say(
                "The only candidate does not meet the requirements:|"
                "None of {count} candidates meets the requirements. The nearest:",
                count=len(table.rows),
            )
        )
        return reply_of(
            (*said, *intro, *reasons),
            *notes,
            self._say("Which requirement may be relaxed?"),
            buttons=(EDIT,),
        )

    def _card(self, place: int, each: Ranked, table: Table, row: Row, advised: AdvisedCard | None) -> Card:
        """What cannot be decided, and what only an unsure source says of what is wanted, is said by code."""
        said = advised.said if advised is not None else tuple(reasons(each))
        unknown = (
            self._say("Not known whether it meets: {wishes}.", wishes="; ".join(each.unknown)) if each.unknown else ""
        )
        wanted = dict.fromkeys((*(part.field for part in each.parts), PRICE))
        unsure = [self._unsure(row, field) for name in wanted if (field := table.field(name))]
        less_sure = self._say("Less sure: {values}.", values="; ".join(filter(None, unsure))) if any(unsure) else ""
        prices = self._prices(row.cell(PRICE))
        return Card(
            place=place,
            row_id=each.row_id,
            name=each.name,
            score=each.score,
            parts=each.parts,
            said=(*said, *lines(prices, unknown, less_sure)),
            official_url=cell_text(row.cell(PAGE)) or cell_text(row.cell(FOUND_AT)),
            best_for=advised.best_for if advised is not None else "",
            is_open=bool(each.unknown),
        )

    def _prices(self, cell: Cell) -> str:
        """Who asks what, where several sellers name a price; else ""."""
        named = [Conflict(value=cell.value, evidence=cell.evidence), *cell.conflict]
        told = [
            f"{show(each.value)} ({domains(each.evidence)[0]})" if domains(each.evidence) else show(each.value)
            for each in named
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

    # ── what is done with the comparison ─────────────────────────────────────────────────────────────────────────────

    async def show(self, turn: TurnTaken) -> ChatReply:
        table = await self._comparison.table()
        ranking = rank(table, self._state.requirements, self._rates, self._state.language)
        best = [each.row_id for each in ranking.ranked] + [each.row_id for each in ranking.excluded]
        order = turn.products or best
        rows = {row.id: row for row in table.rows}
        columns = list(table.shown_fields)
        language = self._state.language
        shown = tuple(as_texts(rows[row_id], columns, ranking, language) for row_id in order if row_id in rows)
        counted = self._say("{count} of {all} candidates:", count=len(shown), all=len(table.rows))
        return ChatReply(said=(*turn.said, *lines(counted)), columns=self._named(columns), rows=shown)

    async def links(self, turn: TurnTaken) -> ChatReply:
        table = await self._comparison.table()
        rows = rows_of(table, turn.products or self._state.shown[:1])[:TOP]
        said: list[ReplySentence] = []
        found: list[ShopListing] = []
        for row in rows:
            name, cells = cell_text(row.cell(KEY)), (CellRef(row_id=row.id, field=KEY),)
            try:
                offers = await listings(
                    name,
                    self._state.requirements,
                    tuple(own_pages(row)),
                    self._tools,
                    self._rates,
                    self._tell,
                    self._state.language,
                )
            except SearchError as error:
                said.append(
                    ReplySentence(
                        text=self._say(
                            "{product}: the search failed, so nobody was asked: {why}", product=name, why=error.what
                        ),
                        cells=cells,
                    )
                )
                continue
            found += [msgspec.structs.replace(offer, product=name) for offer in offers]
            page = cell_text(row.cell(PAGE))
            official = self._say("Its official page: {page}", page=page) if page else ""
            none = f"{self._say('No shop was found that offers {product}.', product=name)} {official}".strip()
            said.append(
                ReplySentence(
                    text=self._say("{product}, asked just now, the cheapest first:", product=name) if offers else none,
                    cells=cells,
                )
            )
        if not rows:
            said += lines(self._say("Which product is meant?"))
        return ChatReply(said=(*turn.said, *said), listings=tuple(found))

    async def export(self, turn: TurnTaken) -> ChatReply:
        usual = f"{self._comparison.table_id}.csv"
        path = Path(turn.path or usual).expanduser()
        if self._folder is not None:
            path = self._folder / (path.name or usual)
        try:
            written = await export_file(self._store, self._comparison.table_id, path, evidence=path.suffix != ".csv")
        except (TablewrightError, OSError) as error:
            return reply_of((), self._say("Nothing was written: {why} Which other file shall it be?", why=error))
        where = path if self._folder is None else path.name
        return ChatReply(
            said=lines(
                self._say(
                    "The only candidate with all columns is in {file}.|"
                    "All {count} candidates with all columns are in {file}.",
                    count=written.rows,
                    file=where,
                )
            ),
            file=str(path),
        )

    async def source(self, turn: TurnTaken) -> ChatReply:
        """Where values come from: the passages themselves."""
        table = await self._comparison.table()
        said = [
            ReplySentence(text=self._sourced(row, field), cells=(CellRef(row_id=row.id, field=field.name),))
            for row in rows_of(table, turn.products or self._state.shown[:1])
            for field in fields_of(table, turn.about_columns)
        ]
        return reply_of((*turn.said, *(said or lines(self._say("Which value of which product is meant?")))))

    async def look_up(self, turn: TurnTaken, columns: Sequence[str]) -> ChatReply:
        """What is not known of these columns, of the products that were asked about alone."""
        rows = rows_of(await self._comparison.table(), turn.products)
        cells = {(row.id, name): row.cell(name) for row in rows for name in columns}
        wanted = {at for at, cell in cells.items() if cell.value is None and not is_absent(cell)}
        notes = await self._comparison.fill(fields=columns, only=wanted) if wanted else []
        reply = await self.source(msgspec.structs.replace(turn, about_columns=tuple(columns)))
        return msgspec.structs.replace(reply, notes=lines(*notes))

    async def look_again(self, turn: TurnTaken, why: str) -> ChatReply:
        """Doubted, and looked for again: those cells alone."""
        table = await self._comparison.table()
        rows, fields = rows_of(table, turn.products), fields_of(table, turn.about_columns)
        doubted = [(row, field) for row in rows for field in fields if field.is_asked]
        if not doubted:
            return reply_of(
                turn.said,
                self._say("Which value of which product is wrong? For example: the capacity of the first."),
            )
        for row, field in doubted:
            await self._comparison.flag(row.id, field.name, why)
        await self._comparison.fill(
            fields=[field.name for _, field in doubted], only={(row.id, field.name) for row, field in doubted}
        )
        after = {row.id: row for row in (await self._comparison.table()).rows}
        said = [
            ReplySentence(
                text=self._looked_again(row, field, after[row.id].cell(field.name)),
                cells=(CellRef(row_id=row.id, field=field.name), CellRef(row_id=row.id, field=KEY)),
            )
            for row, field in doubted
        ]
        return reply_of(said)

    def _sourced(self, row: Row, field: Field) -> str:
        cell, language = row.cell(field.name), self._state.language
        name = self._value_of(row, field)
        if cell.value is None:
            return self._say("{name} is not known. {why}", name=name, why=cell.error or "").strip()
        quotes = [f"{each.origin}: “{shortened(each.quote, 200)}”" for each in cell.evidence[:3]]
        told = self._say(
            "{name}: {value}. Source: {quotes}.",
            name=name,
            value=shown_cell(row, field, language),
            quotes="; ".join(quotes) or translate("shortlist: sources", "none", self._state.language),
        )
        return f"{told} {self._rivals(cell, field)}".strip()

    def _rivals(self, cell: Cell, field: Field) -> str:
        """What other sources say of it; "" where they agree."""
        told = [
            ", ".join(filter(None, (shown_value(each.value, field, self._state.language), *domains(each.evidence)[:1])))
            for each in cell.conflict
        ]
        return self._say("Another source says {values}.", values="; ".join(told)) if told else ""

    def _value_of(self, row: Row, field: Field) -> str:
        column = column_name(field.name, self._state.language)
        return self._say("{column} of {product}", column=column, product=cell_text(row.cell(KEY)))

    def _looked_again(self, row: Row, field: Field, again: Cell) -> str:
        name = self._value_of(row, field)
        language = self._state.language
        before, now = shown_cell(row, field, language), shown_value(again.value, field, language)
        if not now:
            return self._say("{name} was looked for again and not found; it is empty now.", name=name)
        maker = registrable_domain(cell_text(row.cell(PAGE)))
        quotes = sorted(again.evidence, key=lambda each: each.domain != maker)
        quote = f" ({quotes[0].domain}: “{quotes[0].quote}”)" if quotes else ""
        told = self._say(
            "{name} was looked for again: the source still says {value}{quote}."
            if now == before
            else "{name} was looked for again and is now {value}{quote}.",
            name=name,
            value=now,
            quote=quote,
        )
        return f"{told} {self._rivals(again, field)}".strip()


def domains(evidence: Sequence[Evidence]) -> list[str]:
    return [each.domain for each in evidence if each.domain]


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
            yield ReplySentence(text=part.why, cells=(CellRef(row_id=product.row_id, field=part.field),))


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


def rows_of(table: Table, row_ids: Sequence[RowId]) -> list[Row]:
    rows = {row.id: row for row in table.rows}
    return [rows[row_id] for row_id in row_ids if row_id in rows]


def fields_of(table: Table, names: Sequence[str]) -> list[Field]:
    return [field for name in names if (field := table.field(name))]
