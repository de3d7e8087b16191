"""ADVISE: the top five and why, and what is done with the comparison that is there: sources, links, exports, doubts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.shortlist.advice import Advice, AdviceToGive, AdvisedCard, GiveAdvice
from tablewright.decisions.shortlist.turn import TurnTaken
from tablewright.errors import SearchError, TablewrightError
from tablewright.journeys.files import export_file
from tablewright.journeys.shortlist.comparison import Comparison, asked_fields, own_pages, pending
from tablewright.journeys.shortlist.links import listings
from tablewright.journeys.shortlist.ranking import rank, shown_cell
from tablewright.journeys.shortlist.talk import as_texts, compared_rows, lines, reply_of, unchecked_told, user_messages
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.model import Cell, Field, Row, RowId, Step, Table
from tablewright.table.rates import Rates
from tablewright.table.shortlist import (
    EDIT,
    FOUND_AT,
    GO_ON,
    KEY,
    MAKER,
    PAGE,
    TOP,
    Card,
    CellRef,
    ChatReply,
    Listing,
    Ranked,
    Ranking,
    Said,
    ShortlistState,
)
from tablewright.table.text import cell_text, plural, shortened

EMPTY = 0.8
"""The share of candidates without a value from which a column is called a problem."""
SHOWN = 8
"""Columns of the table in a reply."""
FEW_LEFT = f" Fewer than {TOP} are left: ask for more, or relax a requirement."
COMPARED = 20
"""Rows of the comparison that advice is given from: the first ones, and some that were left out."""


class Advising:
    """`folder` is where exports go, whatever place the person names; None: where they say."""

    def __init__(
        self,
        state: ShortlistState,
        comparison: Comparison,
        store: Store,
        tools: Tools,
        rates: Rates,
        tell: Tell,
        folder: Path | None = None,
    ) -> None:
        self._state = state
        self._comparison = comparison
        self._store = store
        self._tools = tools
        self._rates = rates
        self._tell = tell
        self._folder = folder

    # ── presenting ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def present(
        self, said: Sequence[Said] = (), *, heading: str = "", notes: Sequence[str] = ()
    ) -> tuple[ShortlistState, ChatReply]:
        table = await self._comparison.table()
        ranking = rank(table, self._state.requirements, self._rates)
        await self._comparison.judge(table, ranking)
        if not ranking.ranked:
            return self._state, self._none_left(table, ranking, said, notes)
        self._tell(Step(type="thinking", detail="Weighing the trade-offs."))
        top = ranking.ranked[:TOP]
        advice, problem = await self._advice(table, ranking, len(top))
        by_row = {card.row_id: card for card in advice.cards}
        rows = {row.id: row for row in table.rows}
        columns = [field for field in table.shown_fields if field.name not in (MAKER, PAGE, FOUND_AT)][:SHOWN]
        waiting = pending(table, asked_fields(table))
        texts = [
            *ranking.notes,
            *notes,
            *problems(table),
            unchecked_told(self._state.requirements),
            unverified(advice.left_out),
            problem,
            f"{waiting} {plural('cell', waiting)} were not looked for yet." if waiting else "",
        ]
        reply = ChatReply(
            said=(
                *lines(heading),
                *said,
                *lines(self._counted(table, ranking)),
                *advice.intro,
                *advice.closing,
                *lines(*texts),
            ),
            cards=tuple(
                card_of(place, each, rows[each.row_id], by_row.get(each.row_id))
                for place, each in enumerate(top, start=1)
            ),
            columns=tuple(field.name for field in columns),
            rows=tuple(as_texts(rows[each.row_id], columns) for each in top),
            buttons=(GO_ON,) if waiting else (),
        )
        return msgspec.structs.replace(self._state, shown=tuple(each.row_id for each in top)), reply

    async def _advice(self, table: Table, ranking: Ranking, top: int) -> tuple[Advice, str]:
        model = self._tools.model
        if model is None:
            return Advice(), ""
        asked = AdviceToGive(
            requirements=self._state.requirements,
            rows=compared_rows(table, ranking)[:COMPARED],
            columns=tuple(field.name for field in table.shown_fields if field.name not in (KEY, PAGE)),
            top=top,
            said=user_messages(self._state),
            notes=ranking.notes,
            room=model.text_room,
        )
        outcome = await decide(GiveAdvice(), asked, model, self._tell)
        problem = f"There is no advice in words: {outcome.degraded}" if outcome.degraded else ""
        return outcome.decided, problem

    def _counted(self, table: Table, ranking: Ranking) -> str:
        left_out = f"; {len(ranking.excluded)} do not meet the requirements" if ranking.excluded else ""
        count = len(table.rows)
        first = f" The first {TOP}:" if len(ranking.ranked) > TOP else ""
        few = FEW_LEFT if ranking.excluded and len(ranking.ranked) < TOP else ""
        return f"{count} {plural('candidate', count)} compared{left_out}.{first}{few}"

    def _none_left(self, table: Table, ranking: Ranking, said: Sequence[Said], notes: Sequence[str]) -> ChatReply:
        if not table.rows:
            return reply_of(said, *notes, "Nothing was found. Which requirement may change?", buttons=(EDIT,))
        reasons = [
            Said(text=f"{each.name}: {each.reason}.", cells=(CellRef(row_id=each.row_id, field=each.field or KEY),))
            for each in ranking.excluded[:TOP]
        ]
        intro = lines(f"None of {len(table.rows)} candidates meets the requirements. The nearest:")
        return reply_of((*said, *intro, *reasons), *notes, "Which requirement may be relaxed?", buttons=(EDIT,))

    # ── what is done with the comparison ─────────────────────────────────────────────────────────────────────────────

    async def show(self, turn: TurnTaken) -> ChatReply:
        table = await self._comparison.table()
        ranking = rank(table, self._state.requirements, self._rates)
        best = [each.row_id for each in ranking.ranked] + [each.row_id for each in ranking.excluded]
        order = turn.products or best
        rows = {row.id: row for row in table.rows}
        columns = list(table.shown_fields)
        shown = tuple(as_texts(rows[row_id], columns) for row_id in order if row_id in rows)
        counted = f"{len(shown)} of {len(table.rows)} candidates:"
        return ChatReply(said=(*turn.said, *lines(counted)), columns=tuple(field.name for field in columns), rows=shown)

    async def links(self, turn: TurnTaken) -> ChatReply:
        table = await self._comparison.table()
        rows = rows_of(table, turn.products or self._state.shown[:1])[:TOP]
        said: list[Said] = []
        found: list[Listing] = []
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
                )
            except SearchError as error:
                said.append(Said(text=f"{name}: the search failed, so nobody was asked: {error.what}", cells=cells))
                continue
            found += [msgspec.structs.replace(offer, product=name) for offer in offers]
            page = cell_text(row.cell(PAGE))
            none = f"No shop was found that offers {name}.{f' Its official page: {page}' if page else ''}"
            said.append(Said(text=f"{name}, asked just now:" if offers else none, cells=cells))
        if not rows:
            said += lines("Which product is meant?")
        return ChatReply(said=(*turn.said, *said), listings=tuple(found))

    async def export(self, turn: TurnTaken) -> ChatReply:
        usual = f"{self._comparison.table_id}.csv"
        path = Path(turn.path or usual).expanduser()
        if self._folder is not None:
            path = self._folder / (path.name or usual)
        try:
            written = await export_file(self._store, self._comparison.table_id, path, evidence=path.suffix != ".csv")
        except (TablewrightError, OSError) as error:
            return reply_of((), f"Nothing was written: {error} Which other file shall it be?")
        where = path if self._folder is None else path.name
        return ChatReply(said=lines(f"All {written.rows} candidates with all columns are in {where}."), file=str(path))

    async def source(self, turn: TurnTaken) -> ChatReply:
        """Where values come from: the passages themselves."""
        table = await self._comparison.table()
        said = [
            Said(text=sourced(row, field), cells=(CellRef(row_id=row.id, field=field.name),))
            for row in rows_of(table, turn.products or self._state.shown[:1])
            for field in fields_of(table, turn.about_columns)
        ]
        return reply_of(said or lines("Which value of which product is meant?"))

    async def look_up(self, turn: TurnTaken, columns: Sequence[str]) -> ChatReply:
        """What is not known yet of these columns, of the products that were asked about alone."""
        rows = rows_of(await self._comparison.table(), turn.products)
        wanted = {(row.id, name) for row in rows for name in columns if row.cell(name).needs_work}
        notes = await self._comparison.fill(fields=columns, only=wanted) if wanted else []
        reply = await self.source(msgspec.structs.replace(turn, about_columns=tuple(columns)))
        return reply_of((*turn.said, *reply.said), *notes)

    async def look_again(self, turn: TurnTaken, why: str) -> ChatReply:
        """Doubted, and looked for again: those cells alone."""
        table = await self._comparison.table()
        rows, fields = rows_of(table, turn.products), fields_of(table, turn.about_columns)
        doubted = [(row, field) for row in rows for field in fields if field.is_asked]
        if not doubted:
            return reply_of(turn.said, "Which value of which product is wrong? For example: the capacity of the first.")
        for row, field in doubted:
            await self._comparison.flag(row.id, field.name, why)
        await self._comparison.fill(
            fields=[field.name for _, field in doubted], only={(row.id, field.name) for row, field in doubted}
        )
        after = {row.id: row for row in (await self._comparison.table()).rows}
        said = [
            Said(
                text=looked_again(row, field, after[row.id].cell(field.name)),
                cells=(CellRef(row_id=row.id, field=field.name), CellRef(row_id=row.id, field=KEY)),
            )
            for row, field in doubted
        ]
        return reply_of(said)


def card_of(place: int, each: Ranked, row: Row, advised: AdvisedCard | None) -> Card:
    """What cannot be decided is said by code, whatever else is said."""
    said = (
        advised.said
        if advised is not None
        else tuple(
            Said(text=part.why, cells=(CellRef(row_id=row.id, field=part.field),)) for part in each.parts if part.why
        )
    )
    unknown = lines(f"Not known whether it meets: {'; '.join(each.unknown)}.") if each.unknown else ()
    return Card(
        place=place,
        row_id=each.row_id,
        name=each.name,
        score=each.score,
        parts=each.parts,
        said=(*said, *unknown),
        official_url=cell_text(row.cell(PAGE)) or cell_text(row.cell(FOUND_AT)),
        best_for=advised.best_for if advised is not None else "",
    )


def unverified(count: int) -> str:
    was = "was" if count == 1 else "were"
    return f"{count} {plural('statement', count)} could not be verified and {was} left out." if count else ""


def problems(table: Table) -> list[str]:
    """Columns that hardly any candidate has: the column is the problem, not the products."""
    found = []
    for field in asked_fields(table):
        empty = sum(row.cell(field.name).value is None for row in table.rows)
        if table.rows and empty == len(table.rows):
            found.append(f"{field.name} was found for none of the candidates.")
        elif empty >= EMPTY * len(table.rows):
            found.append(f"{field.name} was found for only {len(table.rows) - empty} of {len(table.rows)} candidates.")
    return found


def rows_of(table: Table, row_ids: Sequence[RowId]) -> list[Row]:
    rows = {row.id: row for row in table.rows}
    return [rows[row_id] for row_id in row_ids if row_id in rows]


def fields_of(table: Table, names: Sequence[str]) -> list[Field]:
    return [field for name in names if (field := table.field(name))]


def sourced(row: Row, field: Field) -> str:
    cell = row.cell(field.name)
    name = f"{field.name} of {cell_text(row.cell(KEY))}"
    if cell.value is None:
        return f"{name} is not known. {cell.error or ''}".strip()
    quotes = "; ".join(f"{each.domain or each.origin}: “{shortened(each.quote, 200)}”" for each in cell.evidence[:3])
    rivals = "; ".join(cell_text(Cell(value=each.value)) for each in cell.conflict)
    against = f" Another source says {rivals}." if rivals else ""
    return f"{name} is {shown_cell(row, field)}. Source: {quotes or 'none'}.{against}"


def looked_again(row: Row, field: Field, again: Cell) -> str:
    name, before = cell_text(row.cell(KEY)), cell_text(row.cell(field.name))
    if again.value is None:
        return f"{field.name} of {name} was looked for again and not found; it is empty now."
    if cell_text(again) == before:
        quote = f" ({again.evidence[0].domain}: “{again.evidence[0].quote}”)" if again.evidence else ""
        return f"{field.name} of {name} was looked for again: the source still says {before}{quote}."
    return f"{field.name} of {name} was looked for again and is now {cell_text(again)}."
