"""A catalog: the things are found and filled as a living table (journeys/find); its cells are the notes of research."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

import msgspec

from tablewright.citations.evidence import follows
from tablewright.decisions.take_notes import CitedStatement
from tablewright.domain.listing import FindEvent, FoundRows, Listing, ReadStatus
from tablewright.domain.model import Cell, Evidence, Field, Noun, Row, RowId, Table, column_key
from tablewright.domain.proposal import CellAt
from tablewright.domain.research import (
    Brief,
    CatalogCandidate,
    Contradiction,
    FieldStatus,
    Gap,
    Note,
    ResearchEvent,
    ResearchTask,
    SeenSource,
    SourceNote,
    SourceStatus,
)
from tablewright.domain.retrieved import is_document
from tablewright.domain.rowkey import row_key
from tablewright.domain.run import Progress
from tablewright.domain.text import cell_text
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.policy import Terms
from tablewright.errors import RunError
from tablewright.formats.reports.wording import Words
from tablewright.journeys.find.account import account
from tablewright.journeys.find.find import Finder
from tablewright.journeys.research.library import ResearchLimits, number_tasks
from tablewright.journeys.research.notes import numbered
from tablewright.store.store import Store
from tablewright.strategies.pipeline import OwnPages
from tablewright.strategies.strategy import Tools

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
    """`rivals` are pairs of places in `taken`: a value, and what another source gives for the same cell instead."""

    rows: FoundRows
    table: Table
    tasks: tuple[ResearchTask, ...]
    result: Note
    taken: tuple[CitedStatement, ...]
    rivals: tuple[tuple[int, int], ...]

    def notes_beside(self, known: Sequence[SourceNote]) -> tuple[tuple[SourceNote, ...], tuple[Contradiction, ...]]:
        """What the cells say that was not noted before, and where a value that is new differs from another."""
        numbers = {(note.statement, note.evidence.origin): note.number for note in known}
        new = [each for each in self.taken if (each.statement, each.evidence.origin) not in numbers]
        notes = numbered(new, len(known) + 1)
        numbers |= {(note.statement, note.evidence.origin): note.number for note in notes}
        all_numbers = [numbers[each.statement, each.evidence.origin] for each in self.taken]
        return notes, tuple(
            Contradiction(about=self.taken[one].statement, notes=(all_numbers[one],), against=(all_numbers[other],))
            for one, other in self.rivals
            if max(all_numbers[one], all_numbers[other]) > len(known)
        )


class Catalog:
    def __init__(
        self, store: Store, tools: Tools, actor: str, terms: Terms, watch: Callable[[ResearchEvent], None]
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._finder = Finder(store, tools, actor=actor, terms=terms, watch=self._report)
        self._watch = watch

    async def begin(self, brief: Brief) -> str:
        """The id of the table; it has no rows yet."""
        asked = tuple(each.field for each in brief.columns)
        names = (
            () if self._tools.model is None else (Field(name=NAME),)
        )  # without one, the first is a table's own header
        fields = (*names, *asked) if asked else ()
        said = brief.question if brief.question.endswith((".", "?", "!")) else f"{brief.question}."
        said += f" Meant is: {brief.asked}" if brief.asked else ""
        said += f" Conditions: {'; '.join(brief.constraints)}." if brief.constraints else ""
        listing = await self._finder.begin(said, fields=fields, rows=CANDIDATES * brief.target_items)
        return listing.table_id

    async def find(self, table_id: str, limits: ResearchLimits) -> CatalogFound:
        """As far as time allows; what was found until then is kept and goes on from there."""
        try:
            async with asyncio.timeout(limits.seconds_left):
                await self._finder.run(table_id)
        except TimeoutError:
            pass
        return await self.found(table_id)

    async def fill(self, table_id: str, wanted: Sequence[tuple[Gap, Sequence[str]]]) -> list[Gap]:
        """Look for empty cells on the pages that were found for each gap; return the gaps about such cells.

        Raises RunError if the model is away: that is not "not found"."""
        table = await self._store.tables.load(table_id)
        pages: dict[RowId, list[str]] = {}
        only: set[CellAt] = set()
        taken = []
        for gap, origins in wanted:
            if (row := row_named(table, gap.candidate_name)) and (empty := empty_cells(table, row, gap)):
                pages.setdefault(row.id, []).extend(origins)
                only |= {(row.id, name) for name in empty}
                taken.append(gap)
        if any(pages.values()):
            filling = FillPlan(
                table,
                [field for field in columns(table) if field.name in {name for _, name in only}],
                OwnPages(pages, searches=False),
                only=only,
                terms=self._terms,
            )
            filled = await Fill(self._store, filling, self._tools, watch=self._filling).run()
            await Changes(self._store, self._actor).apply_unseen(filled.proposal_id)
            if filled.problem:
                raise RunError(filled.problem)
        return taken

    async def found(self, table_id: str, language: str = "") -> CatalogFound:
        """As the table is now."""
        table = opened_only(await self._store.tables.load(table_id), await self._store.pages.hashes())
        listing = await self._store.listings.get(table_id)
        rows = await account(self._store, listing, language=language)
        taken, rivals = notes_of(table)
        tasks = tuple(number_tasks("r1", "discover", rows.queries))
        (first, *_) = tasks or number_tasks("r1", "discover", [rows.question])
        result = Note(task=first, sources=tuple(sources(listing, table)))
        return CatalogFound(rows=rows, table=table, tasks=tasks, result=result, taken=taken, rivals=rivals)

    def _filling(self, progress: Progress) -> None:
        self._report(FindEvent(stage="filling", detail=progress.label, done=progress.done, total=progress.total))

    def _report(self, event: FindEvent) -> None:
        detail = f"{event.stage}: {event.detail}" if event.detail else event.stage
        self._watch(ResearchEvent(stage="reading", round_index=1, detail=detail, done=event.done, total=event.total))


def opened_only(table: Table, opened: Collection[str]) -> Table:
    """Without what only search results say: research cites what was opened."""

    def counts(evidence: Evidence) -> bool:
        return evidence.content_hash in opened or is_document(evidence.origin)

    def read(cell: Cell) -> Cell:
        evidence = tuple(filter(counts, cell.evidence))
        if cell.evidence and not evidence:
            return Cell(status="FAILED", reason="blocked")
        conflict = tuple(rival for rival in cell.conflict if any(map(counts, rival.evidence)))
        return msgspec.structs.replace(cell, evidence=evidence, conflict=conflict)

    rows = tuple(
        msgspec.structs.replace(row, cells={name: read(cell) for name, cell in row.cells.items()}) for row in table.rows
    )
    return msgspec.structs.replace(table, rows=rows)


def row_named(table: Table, name: str) -> Row | None:
    key = row_key(name)
    return next((row for row in table.rows if row_key(cell_text(row.cell(table.key_field))) == key), None)


def empty_cells(table: Table, row: Row, gap: Gap) -> list[str]:
    """The columns that the gap names and that nobody has filled."""
    named = {column_key(name) for name in gap.missing_fields}
    return [
        field.name for field in columns(table) if column_key(field.name) in named and row.cell(field.name).is_unfound
    ]


def notes_of(table: Table) -> tuple[tuple[CitedStatement, ...], tuple[tuple[int, int], ...]]:
    """Every filled cell with who says so, one note a site, and with who says something else."""
    taken: list[CitedStatement] = []
    rivals: list[tuple[int, int]] = []
    for row in table.rows:
        name = cell_text(row.cell(table.key_field))
        for field in table.fields:
            cell = row.cell(field.name)
            if cell.value is None or not cell.evidence or field.name == table.key_field:
                continue
            first, value = len(taken), value_text(cell)
            taken += [
                CitedStatement(statement=statement_of(name, field.name, value), evidence=each, topic=name)
                for each in one_a_site(cell.evidence, value, field)
            ]
            for rival in cell.conflict:
                other = value_text(Cell(value=rival.value))
                for each in one_a_site(rival.evidence, other, field):
                    rivals.append((first, len(taken)))
                    taken.append(
                        CitedStatement(statement=statement_of(name, field.name, other), evidence=each, topic=name)
                    )
    return tuple(taken), tuple(rivals)


def statement_of(name: str, column: str, value: str) -> str:
    return f"{name}: {column}: {value}"


def value_text(cell: Cell) -> str:
    if isinstance(cell.value, bool):
        return "yes" if cell.value else "no"
    return "; ".join(cell.value) if isinstance(cell.value, tuple) else cell_text(cell)


def one_a_site(evidence: Sequence[Evidence], value: str, field: Field) -> list[Evidence]:
    """Of what a site says, the words that state the value, or else the first."""
    sites: dict[str, list[Evidence]] = {}
    for each in evidence:
        sites.setdefault(each.domain or each.origin, []).append(each)
    return [next((each for each in of if follows(value, each.quote, field)), of[0]) for of in sites.values()]


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


def shown(found: CatalogFound, brief: Brief) -> list[Row]:
    """The rows of the report's table."""
    return ranked(found.table, brief)[: brief.target_items]


def others(found: CatalogFound, brief: Brief, words: Words) -> list[str]:
    """What was found and is not in the report's table, with the reason."""
    left = ranked(found.table, brief)[brief.target_items :]
    names = [f"{cell_text(row.cell(found.table.key_field))} ({lacking(found.table, row, words)})" for row in left]
    return names + [f"{each.name} ({each.reason})" if each.reason else each.name for each in found.rows.aside]


def lacking(table: Table, row: Row, words: Words) -> str:
    known = {field.name: status_of(row.cell(field.name)) for field in columns(table)}
    missing = [name for name, status in known.items() if status == "missing"]
    weak = [name for name, status in known.items() if status == "partial"]
    said = [words("not found: {names}", names=", ".join(missing))] if missing else []
    said += [words("less sure: {names}", names=", ".join(weak))] if weak else []
    return "; ".join(said) or words("beyond the number asked for")


def columns(table: Table) -> list[Field]:
    return [field for field in table.fields if field.name != table.key_field]


def ranked(table: Table, brief: Brief) -> list[Row]:
    """By how much of what is required is known, and how surely; then by how much of the rest. A value on which sources
    differ counts as known: where nobody else speaks, nobody contradicts."""
    required = {each.field.name for each in brief.columns if each.field.required} or {f.name for f in columns(table)}
    worth = {"found": 1.0, "partial": 0.5, "missing": 0.0}

    def known(row: Row, wanted: bool) -> float:
        cells = [row.cell(field.name) for field in columns(table) if (field.name in required) is wanted]
        return sum(1.0 if cell.value is not None and cell.conflict else worth[status_of(cell)] for cell in cells)

    return sorted(table.rows, key=lambda row: (-known(row, True), -known(row, False), row.id))


def status_of(cell: Cell) -> FieldStatus:
    """Sources that disagree, or one that hardly counts, are half an answer."""
    if cell.value is None or cell.status == "FAILED":
        return "missing"
    if cell.conflict or cell.status == "FLAGGED" or (cell.confidence or 0.0) < WEAK:
        return "partial"
    return "found"
