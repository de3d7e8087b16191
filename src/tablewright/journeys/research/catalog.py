"""A catalog: the things are found and filled as a living table (journeys/find); its cells are the notes of research."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tablewright.decisions.take_notes import Taken
from tablewright.engine.fill import Terms
from tablewright.journeys.find.account import account
from tablewright.journeys.find.find import Finder
from tablewright.journeys.research.limits import Limits
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.listing import FindEvent, FoundRows, Listing, ReadStatus
from tablewright.table.model import Cell, Evidence, Field, Noun, Row, Table
from tablewright.table.research import (
    Brief,
    CatalogCandidate,
    FieldStatus,
    Note,
    ResearchEvent,
    ResearchTask,
    SeenSource,
    SourceStatus,
)
from tablewright.table.text import cell_text, show

NAME = "Name"
CANDIDATES = 2
"""Times as many as asked for are looked for, so that the best documented can be chosen."""
WEAK = 0.6
"""Below this confidence a value is only half an answer."""
STATUS: dict[ReadStatus, SourceStatus] = {
    "read": "read",
    "nothing": "read",
    "not judged": "error",
    "blocked": "blocked",
    "forbidden": "forbidden",
    "error": "error",
}


class CatalogFound(Noun, frozen=True, gc=True):
    """`rivals` are pairs of places in `taken`: a value, and what another source gives for the same cell."""

    rows: FoundRows
    table: Table
    tasks: tuple[ResearchTask, ...]
    result: Note
    taken: tuple[Taken, ...]
    rivals: tuple[tuple[int, int], ...]


class Catalog:
    def __init__(
        self, store: Store, tools: Tools, actor: str, terms: Terms, watch: Callable[[ResearchEvent], None]
    ) -> None:
        self._store = store
        self._tools = tools
        self._finder = Finder(store, tools, actor=actor, terms=terms, watch=self._told)
        self._watch = watch

    async def begin(self, brief: Brief) -> str:
        """The id of the table; it has no rows yet."""
        asked = tuple(each.field for each in brief.columns)
        names = (
            () if self._tools.model is None else (Field(name=NAME),)
        )  # without one, the first is a table's own header
        fields = (*names, *asked) if asked else ()
        said = " ".join((brief.question, *(f"({each})" for each in (brief.asked, *brief.constraints) if each)))
        listing = await self._finder.begin(said, fields=fields, rows=CANDIDATES * brief.target_items)
        return listing.table_id

    async def find(self, table_id: str, limits: Limits) -> CatalogFound:
        """As far as time allows; what was found until then is kept and goes on from there."""
        try:
            async with asyncio.timeout(limits.seconds_left):
                rows = await self._finder.run(table_id)
        except TimeoutError:
            rows = await account(self._store, await self._store.listings.get(table_id))
        return await self.found(rows)

    async def found(self, rows: FoundRows) -> CatalogFound:
        table = await self._store.tables.load(rows.table_id)
        listing = await self._store.listings.get(rows.table_id)
        taken, rivals = notes_of(table)
        tasks = tuple(
            ResearchTask(id=f"r1_{number}", kind="discover", search_query=query)
            for number, query in enumerate(rows.queries, start=1)
        )
        first = tasks[0] if tasks else ResearchTask(id="r1_1", kind="discover", search_query=rows.question)
        result = Note(task=first, sources=tuple(sources(listing, table)))
        return CatalogFound(rows=rows, table=table, tasks=tasks, result=result, taken=taken, rivals=rivals)

    def _told(self, event: FindEvent) -> None:
        detail = f"{event.stage}: {event.detail}" if event.detail else event.stage
        self._watch(ResearchEvent(stage="reading", round_index=1, detail=detail, done=event.done, total=event.total))


def notes_of(table: Table) -> tuple[tuple[Taken, ...], tuple[tuple[int, int], ...]]:
    """Every filled cell with who says so, one note a site, and with who says otherwise."""
    taken: list[Taken] = []
    rivals: list[tuple[int, int]] = []
    for row in table.rows:
        name = cell_text(row.cell(table.key_field))
        for field in table.fields:
            cell = row.cell(field.name)
            if cell.value is None or not cell.evidence or field.name == table.key_field:
                continue
            first = len(taken)
            taken += [
                Taken(statement=stated(name, field.name, cell_text(cell)), evidence=each, topic=name)
                for each in one_a_site(cell.evidence)
            ]
            for rival in cell.conflict:
                for each in one_a_site(rival.evidence):
                    rivals.append((first, len(taken)))
                    taken.append(
                        Taken(statement=stated(name, field.name, show(rival.value)), evidence=each, topic=name)
                    )
    return tuple(taken), tuple(rivals)


def stated(name: str, column: str, value: str) -> str:
    return f"{name}: {column}: {value}"


def one_a_site(evidence: Sequence[Evidence]) -> list[Evidence]:
    return list({each.domain or each.origin: each for each in reversed(evidence)}.values())[::-1]


def sources(listing: Listing, table: Table) -> list[SeenSource]:
    """The pages that were read for it, by the texts that its cells quote, and those that could not be read."""
    cited = {each.origin: each for row in table.rows for cell in row.cells.values() for each in quoted(cell)}
    read = [
        SeenSource(url=each.origin, domain=each.domain, title=each.title, content_hash=each.content_hash)
        for each in cited.values()
    ]
    listed = [
        SeenSource(
            url=each.origin, domain=each.domain, title=each.title, status=STATUS[each.status], detail=each.detail
        )
        for each in listing.sources
        if each.origin not in cited
    ]
    return read + listed


def quoted(cell: Cell) -> list[Evidence]:
    return [*cell.evidence, *(each for rival in cell.conflict for each in rival.evidence)]


def candidates(table: Table, brief: Brief) -> tuple[CatalogCandidate, ...]:
    return tuple(
        CatalogCandidate(
            name=cell_text(row.cell(table.key_field)),
            fields={field.name: status_of(row.cell(field.name)) for field in columns(table)},
            evidence_urls=tuple(dict.fromkeys(each.origin for cell in row.cells.values() for each in cell.evidence))[
                :5
            ],
        )
        for row in ranked(table, brief)
    )


def others(found: CatalogFound, brief: Brief) -> list[str]:
    """What was found and is not in the report's table, with the reason."""
    left = ranked(found.table, brief)[brief.target_items :]
    names = [f"{cell_text(row.cell(found.table.key_field))} ({lacking(found.table, row)})" for row in left]
    return names + [f"{each.name} ({each.reason})" if each.reason else each.name for each in found.rows.aside]


def lacking(table: Table, row: Row) -> str:
    missing = [field.name for field in columns(table) if status_of(row.cell(field.name)) == "missing"]
    return f"not found: {', '.join(missing)}" if missing else "beyond the number asked for"


def columns(table: Table) -> list[Field]:
    return [field for field in table.fields if field.name != table.key_field]


def ranked(table: Table, brief: Brief) -> list[Row]:
    """By how much of what is required is known, and how surely; then by how much of the rest."""
    required = {each.field.name for each in brief.columns if each.field.required} or {f.name for f in columns(table)}
    worth = {"found": 1.0, "partial": 0.5, "missing": 0.0}

    def known(row: Row, wanted: bool) -> float:
        return sum(worth[status_of(row.cell(f.name))] for f in columns(table) if (f.name in required) is wanted)

    return sorted(table.rows, key=lambda row: (-known(row, True), -known(row, False), row.id))


def status_of(cell: Cell) -> FieldStatus:
    """Sources that disagree, or one that hardly counts, are half an answer."""
    if cell.value is None or cell.status == "FAILED":
        return "missing"
    if cell.conflict or cell.status == "FLAGGED" or (cell.confidence or 0.0) < WEAK:
        return "partial"
    return "found"
