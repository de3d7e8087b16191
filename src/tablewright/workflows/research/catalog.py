"""A catalog: research on a list of things, found and filled as a living table (`workflows/find`).

Its cells are the notes of the research. Only the engine and `RowFinder` write the table; here it is read and ranked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

import msgspec

from tablewright.citations.evidence import find_proving_rule
from tablewright.domain.listing import FindEvent, FoundRows, Listing, ReadStatus
from tablewright.domain.model import Cell, Evidence, Field, Row, RowId, Struct, Table, column_key
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
from tablewright.domain.retrieved import is_document_id
from tablewright.domain.rowkey import row_key
from tablewright.domain.run import Progress
from tablewright.domain.text import cell_text
from tablewright.engine.changes import TableChanges
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan, RunPolicy
from tablewright.errors import RunError
from tablewright.formats.reports.wording import ReportWords
from tablewright.llm.tasks.take_notes import CitedStatement
from tablewright.store.store import Store
from tablewright.strategies.pipeline import OwnPagesStrategy
from tablewright.strategies.strategy import Tools
from tablewright.workflows.find.entities import report_found_rows
from tablewright.workflows.find.find import RowFinder
from tablewright.workflows.research.library import ResearchLimits, number_tasks
from tablewright.workflows.research.notes import number_notes

# Twice as many rows as asked for are looked for, so that the best documented can be chosen.
CANDIDATES_PER_ITEM = 2


class CatalogFound(Struct, frozen=True, gc=True):
    """A catalog's table as it is now. `rivals` are pairs of places in `taken`: a value, and what another source gives
    for the same cell."""

    rows: FoundRows
    table: Table
    tasks: tuple[ResearchTask, ...]
    result: Note
    taken: tuple[CitedStatement, ...]
    rivals: tuple[tuple[int, int], ...]

    def new_notes(self, known: Sequence[SourceNote]) -> tuple[tuple[SourceNote, ...], tuple[Contradiction, ...]]:
        """Return notes of what the cells say that is not `known`, and the contradictions between values if one of them
        is new."""
        numbers = {(note.statement, note.evidence.origin): note.number for note in known}
        new = [each for each in self.taken if (each.statement, each.evidence.origin) not in numbers]
        notes = number_notes(new, len(known) + 1)
        numbers |= {(note.statement, note.evidence.origin): note.number for note in notes}
        all_numbers = [numbers[each.statement, each.evidence.origin] for each in self.taken]
        return notes, tuple(
            Contradiction(about=self.taken[one].statement, notes=(all_numbers[one],), against=(all_numbers[other],))
            for one, other in self.rivals
            if max(all_numbers[one], all_numbers[other]) > len(known)
        )


class Catalog:
    """Finds and fills the table of a catalog for the rounds of research."""

    def __init__(
        self, store: Store, tools: Tools, actor: str, policy: RunPolicy, watch: Callable[[ResearchEvent], None]
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._policy = policy
        self._finder = RowFinder(store, tools, actor=actor, policy=policy, watch=self._report)
        self._watch = watch

    async def begin(self, brief: Brief) -> str:
        """Create the table without rows and return its id."""
        asked = tuple(each.field for each in brief.columns)
        # Without a model, the names are in the first column of the tables that are found, whatever its header.
        names = () if self._tools.model is None else (Field(name="Name"),)
        fields = (*names, *asked) if asked else ()
        question = brief.question if brief.question.endswith((".", "?", "!")) else f"{brief.question}."
        # The list is planned from this text alone: the brief's clarification and conditions must be in it.
        question += f" Meant is: {brief.asked}" if brief.asked else ""
        question += f" Conditions: {'; '.join(brief.constraints)}." if brief.constraints else ""
        listing = await self._finder.begin(question, fields=fields, rows=CANDIDATES_PER_ITEM * brief.target_items)
        return listing.table_id

    async def find(self, table_id: str, limits: ResearchLimits) -> CatalogFound:
        """Find rows until the time is up; what was found is kept, and a later call continues from there."""
        try:
            async with asyncio.timeout(limits.seconds_left):
                await self._finder.run(table_id)
        except TimeoutError:
            pass
        return await self.found(table_id)

    async def fill(self, table_id: str, searched: Sequence[tuple[Gap, Sequence[str]]]) -> list[Gap]:
        """Look for empty cells on the pages found for each gap; return the gaps about such cells.

        Raise RunError if the model does not answer, since that is not "not found"."""
        table = await self._store.tables.load(table_id)
        pages: dict[RowId, list[str]] = {}
        only: set[CellAt] = set()
        taken = []
        # Reversed, so that the first row of a name wins.
        rows = {row_key(cell_text(row.cell(table.key_field))): row for row in reversed(table.rows)}
        for gap, origins in searched:
            row = rows.get(row_key(gap.candidate_name))
            named = {column_key(name) for name in gap.missing_fields}
            columns = [field.name for field in value_columns(table) if column_key(field.name) in named]
            if row is not None and (empty := [name for name in columns if row.cell(name).is_unfound]):
                pages.setdefault(row.id, []).extend(origins)
                only |= {(row.id, name) for name in empty}
                taken.append(gap)
        if any(pages.values()):
            filling = FillPlan(
                table,
                [field for field in value_columns(table) if field.name in {name for _, name in only}],
                OwnPagesStrategy(pages, searches=False),
                only=only,
                policy=self._policy,
            )
            filled = await FillRun(self._store, filling, self._tools, watch=self._report_fill).run()
            await TableChanges(self._store, self._actor).apply_unseen(filled.proposal_id)
            if filled.problem:
                raise RunError(filled.problem)
        return taken

    async def found(self, table_id: str, language: str = "") -> CatalogFound:
        """Return the table as it is now."""
        table = keep_opened_evidence(await self._store.tables.load(table_id), await self._store.pages.hashes())
        listing = await self._store.listings.get(table_id)
        rows = await report_found_rows(self._store, listing, language=language)
        taken, rivals = take_cell_notes(table)
        tasks = tuple(number_tasks("r1", "discover", rows.queries))
        (first, *_) = tasks or number_tasks("r1", "discover", [rows.question])
        result = Note(task=first, sources=tuple(list_catalog_sources(listing, table)))
        return CatalogFound(rows=rows, table=table, tasks=tasks, result=result, taken=taken, rivals=rivals)

    def _report_fill(self, progress: Progress) -> None:
        self._report(FindEvent(stage="filling", detail=progress.label, done=progress.done, total=progress.total))

    def _report(self, event: FindEvent) -> None:
        news = event.progress
        self._watch(ResearchEvent(stage="reading", round_index=1, detail=news.detail, done=news.done, total=news.total))


def keep_opened_evidence(table: Table, opened: Collection[str]) -> Table:
    """Drop evidence from search results that were never opened: research cites what was read."""

    def counts(evidence: Evidence) -> bool:
        return evidence.content_hash in opened or is_document_id(evidence.origin)

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


def take_cell_notes(table: Table) -> tuple[tuple[CitedStatement, ...], tuple[tuple[int, int], ...]]:
    """Return a note per site for every filled cell, and the pairs that contradict each other."""
    taken: list[CitedStatement] = []
    rivals: list[tuple[int, int]] = []
    for row in table.rows:
        name = cell_text(row.cell(table.key_field))
        for field in table.fields:
            cell = row.cell(field.name)
            if cell.value is None or not cell.evidence or field.name == table.key_field:
                continue
            first, value = len(taken), format_report_value(cell)
            taken += [
                CitedStatement(statement=make_statement(name, field.name, value), evidence=each, topic=name)
                for each in choose_quote_per_site(cell.evidence, value, field)
            ]
            for rival in cell.conflict:
                other = format_report_value(Cell(value=rival.value))
                for each in choose_quote_per_site(rival.evidence, other, field):
                    rivals.append((first, len(taken)))
                    taken.append(
                        CitedStatement(statement=make_statement(name, field.name, other), evidence=each, topic=name)
                    )
    return tuple(taken), tuple(rivals)


def make_statement(name: str, column: str, value: str) -> str:
    return f"{name}: {column}: {value}"


def format_report_value(cell: Cell) -> str:
    if isinstance(cell.value, bool):
        return "yes" if cell.value else "no"
    return "; ".join(cell.value) if isinstance(cell.value, tuple) else cell_text(cell)


def choose_quote_per_site(evidence: Sequence[Evidence], value: str, field: Field) -> list[Evidence]:
    """Return one piece of evidence per site: the first that states the value, else the first."""
    sites: dict[str, list[Evidence]] = {}
    for each in evidence:
        sites.setdefault(each.domain or each.origin, []).append(each)
    return [next((each for each in of if find_proving_rule(value, each.quote, field)), of[0]) for of in sites.values()]


def list_catalog_sources(listing: Listing, table: Table) -> list[SeenSource]:
    """Return the pages quoted by the cells, then the other pages that were opened or refused."""
    cited = {each.origin: each for row in table.rows for cell in row.cells.values() for each in cell_quotes(cell)}
    # The status of a page in a report, by what came of reading it for a list.
    statuses: dict[ReadStatus, SourceStatus] = {
        "read": "read",
        "nothing": "read",
        "not judged": "error",
        "blocked": "blocked",
        "forbidden": "forbidden",
        "error": "error",
    }
    read = [
        SeenSource(url=each.origin, domain=each.domain, title=each.title, content_hash=each.content_hash)
        for each in cited.values()
    ]
    listed = [
        SeenSource(
            url=each.origin,
            domain=each.domain,
            title=each.title,
            status=statuses[each.status],
            detail=each.detail,
        )
        for each in listing.sources
        if each.origin not in cited
    ]
    return read + listed


def cell_quotes(cell: Cell) -> list[Evidence]:
    return [*cell.evidence, *(each for rival in cell.conflict for each in rival.evidence)]


def list_candidates(table: Table, brief: Brief) -> tuple[CatalogCandidate, ...]:
    return tuple(
        CatalogCandidate(
            name=cell_text(row.cell(table.key_field)),
            fields={field.name: rate_field(row.cell(field.name)) for field in value_columns(table)},
            evidence_urls=tuple(dict.fromkeys(each.origin for cell in row.cells.values() for each in cell.evidence))[
                :5
            ],
        )
        for row in rank_candidates(table, brief)
    )


def select_report_rows(found: CatalogFound, brief: Brief) -> list[Row]:
    """Return the rows of the report's table."""
    return rank_candidates(found.table, brief)[: brief.target_items]


def list_left_out(found: CatalogFound, brief: Brief, words: ReportWords) -> list[str]:
    """Return what was found but is not in the report's table, with the reason."""
    left = rank_candidates(found.table, brief)[brief.target_items :]
    names = [
        f"{cell_text(row.cell(found.table.key_field))} ({describe_missing_fields(found.table, row, words)})"
        for row in left
    ]
    return names + [f"{each.name} ({each.reason})" if each.reason else each.name for each in found.rows.aside]


def describe_missing_fields(table: Table, row: Row, words: ReportWords) -> str:
    known = {field.name: rate_field(row.cell(field.name)) for field in value_columns(table)}
    missing = [name for name, status in known.items() if status == "missing"]
    weak = [name for name, status in known.items() if status == "partial"]
    parts = [words("not found: {names}", names=", ".join(missing))] if missing else []
    parts += [words("less sure: {names}", names=", ".join(weak))] if weak else []
    return "; ".join(parts) or words("beyond the number asked for")


def value_columns(table: Table) -> list[Field]:
    return [field for field in table.fields if field.name != table.key_field]


def rank_candidates(table: Table, brief: Brief) -> list[Row]:
    """Return the rows by how much of the required fields is known, then of the others.

    A value on which sources differ counts as known: a row with a single source has no contradictions, and must not
    rank higher for it."""
    required = {each.field.name for each in brief.columns if each.field.required} or {
        f.name for f in value_columns(table)
    }
    worth = {"found": 1.0, "partial": 0.5, "missing": 0.0}

    def known(row: Row, is_required: bool) -> float:
        cells = [row.cell(field.name) for field in value_columns(table) if (field.name in required) is is_required]
        return sum(1.0 if cell.value is not None and cell.conflict else worth[rate_field(cell)] for cell in cells)

    return sorted(table.rows, key=lambda row: (-known(row, True), -known(row, False), row.id))


def rate_field(cell: Cell) -> FieldStatus:
    """Return how well a cell answers its field; a disputed or weak value is "partial"."""
    if cell.value is None or cell.status == "FAILED":
        return "missing"
    # Below this confidence a value counts as partly found.
    if cell.conflict or cell.status == "FLAGGED" or (cell.confidence or 0.0) < 0.6:
        return "partial"
    return "found"
