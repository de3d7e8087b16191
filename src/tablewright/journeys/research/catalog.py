"""A catalog: candidates are the rows of a living table, the asked details its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tablewright.decisions.candidates.names import is_own
from tablewright.decisions.detect_gaps import catalog_gaps
from tablewright.decisions.price_limits import PriceLimit, price_limits
from tablewright.extraction.about import Subject, about, mentions, names_of
from tablewright.journeys.research.desk import Desk, cited_origins, status_of
from tablewright.strategies.gathered import GatheredProfiles, Lead
from tablewright.table.coverage import Estimate, estimate_total
from tablewright.table.dedupe import Names
from tablewright.table.model import Field, Row, Table
from tablewright.table.research import (
    Brief,
    CatalogCandidate,
    FieldKind,
    Gap,
    Named,
    Note,
    ResearchTask,
    Wanted,
)
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold, tokenize
from tablewright.table.text import cell_text

PAGES_OF_A_ROW = 8
WORTH = {"found": 1.0, "partial": 0.5, "missing": 0.0}


def fields_of(brief: Brief) -> tuple[str, tuple[Field, ...]]:
    """The column that names the rows, and all columns."""
    return brief.columns[0].field.name, tuple(each.field for each in brief.columns)


class Catalog:
    def __init__(self, brief: Brief, desk: Desk) -> None:
        self._brief = brief
        self._desk = desk
        self._limits = price_limits(brief.question)
        self._words: dict[str, str] = {}

    @property
    def follows(self) -> tuple[FieldKind, ...]:
        return tuple(dict.fromkeys(each.kind for each in self._columns if each.kind in ("price", "proof", "prose")))

    @property
    def _columns(self) -> Sequence[Wanted]:
        return self._brief.columns[1:]

    # ── the rows ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def absorb(self, tasks: Sequence[ResearchTask], notes: Sequence[Note]) -> None:
        """New candidates become rows; then the engine reads what was brought, for them and for all that is not known
        well of those it speaks of."""
        table = await self._desk.table()
        known = {row.id for row in table.rows}
        await self._add(table, notes)
        table = await self._desk.table()
        new = [row.id for row in table.rows if row.id not in known]
        leads = {row.id: self._lead(table, row) for row in table.rows}
        strategy = GatheredProfiles(leads, self._columns)
        fields = [each.field for each in self._columns]
        unread = [row.id for row in table.rows if row.id in new or all_pending(row, fields)]
        if unread:
            await self._desk.fill(fields, strategy, row_ids=unread)
        brought = {source.url for note in notes for source in note.sources}
        again = [
            (row.id, field.name)
            for row in table.rows
            if row.id not in unread and any(page.origin in brought for page in leads[row.id].pages)
            for field in fields
            if status_of(row.cell(field.name)) != "found"
        ]
        if again:
            await self._desk.fill(fields, strategy, only=again)

    async def _add(self, table: Table, notes: Sequence[Note]) -> None:
        """Those that most tasks name first, until there are twice as many as asked for."""
        names = Names()
        for row in table.rows:
            names.add(row.id, cell_text(row.cell(table.key_field)))
        first = len(table.rows)
        found: list[list[Named]] = []
        for note in notes:
            for named in note.names:
                place = names.find(named.name)
                if place is None:
                    names.add(-len(found) - 1, named.name)
                    found.append([named])
                elif place < 0:
                    found[-place - 1].append(named)
        ranked = sorted(found, key=lambda same: (-len(same), -max(each.score for each in same)))
        for same in ranked[: max(0, 2 * self._brief.target_items - first)]:
            best = max(same, key=lambda each: each.score)
            await self._desk.add_row({table.key_field: self._desk.found(best.name, best.evidence, len(same))})

    def _lead(self, table: Table, row: Row) -> Lead:
        """The pages that speak of it, its own first, and how they were found."""
        subject = Subject(name=cell_text(row.cell(table.key_field)), column=table.key_field)
        library = self._desk.library
        scored: list[tuple[float, Retrieved]] = []
        for page in library.pages.values():
            own = page.kind == "page" and is_own(subject.name, page.domain)
            score = 2.0 if own else about(subject, page.title, page.text)
            if own or score >= 0.5 or self._mentions(subject, page):
                scored.append((score, page))
        pages = [page for _, page in sorted(scored, key=lambda entry: -entry[0])][:PAGES_OF_A_ROW]
        origins = {page.origin for page in pages}
        tasks = [task for task, read in library.of_task.items() if origins & set(read)]
        steps = [step for task in tasks for step in library.steps[task] if step.type == "search"]
        return Lead(pages=tuple(pages), steps=tuple(steps))

    def _mentions(self, subject: Subject, page: Retrieved) -> bool:
        """Each page is taken apart once, not once for each row: that was most of the time of a long catalog."""
        if page.origin not in self._words:
            self._words[page.origin] = f" {' '.join(tokenize(fold(f'{page.title} {page.text}')))} "
        words = self._words[page.origin]
        spoken = [" ".join(name) for name in names_of(subject.name)]
        return any(f" {name} " in words and mentions(subject, name) for name in spoken)

    # ── what is open ─────────────────────────────────────────────────────────────────────────────────────────────────

    def candidates(self, table: Table) -> list[CatalogCandidate]:
        """The fullest first."""
        return [
            CatalogCandidate(
                name=cell_text(row.cell(table.key_field)),
                provider_url=self._site(row),
                fields={each.field.name: status_of(row.cell(each.field.name)) for each in self._columns},
                evidence_urls=cited_origins(row)[:5],
            )
            for row in self.ranked(table)
        ]

    def gaps(self, table: Table, round_index: int) -> tuple[Gap, ...]:
        return catalog_gaps(self._brief.things, self.candidates(table), self._columns, self._brief.target_items)

    def themes(self, table: Table) -> list[str]:
        counted = Counter(
            name for row in table.rows for name, cell in row.cells.items() if status_of(cell) != "missing"
        )
        return [
            f"{each.field.name}: known of {counted[each.field.name]} of {len(table.rows)}" for each in self._columns
        ]

    def _site(self, row: Row) -> str:
        sites = [each.field.name for each in self._columns if each.kind == "site"]
        return cell_text(row.cell(sites[0])) if sites else ""

    # ── what is chosen ───────────────────────────────────────────────────────────────────────────────────────────────

    def ranked(self, table: Table) -> list[Row]:
        """By how much of what was required is known, and how surely; then by how much of the rest."""

        def worth(row: Row) -> tuple[float, float, float]:
            cells = [(each, row.cell(each.field.name)) for each in self._columns]
            required = sum(WORTH[status_of(cell)] for each, cell in cells if each.field.required)
            rest = sum(WORTH[status_of(cell)] for each, cell in cells if not each.field.required)
            sure = sum(cell.confidence or 0.0 for _, cell in cells if cell.value is not None)
            return -required, -rest, -sure

        return sorted(
            table.rows, key=lambda row: (bool(self.excluded(row)), bool(self.undecided(row)), *worth(row), row.id)
        )

    def chosen(self, table: Table) -> list[Row]:
        return [row for row in self.ranked(table) if not self.excluded(row)][: self._brief.target_items]

    def excluded(self, row: Row) -> str:
        """Which condition of the question its price does not meet; "" where it meets them or no price tells."""
        unmet = [limit for limit in self._limits if self._keeps(limit, row) is False]
        return f"its price is not {unmet[0].words}" if unmet else ""

    def undecided(self, row: Row) -> str:
        """Which condition no price of it can decide: none is known, or only in another currency."""
        open_ones = [limit for limit in self._limits if self._keeps(limit, row) is None]
        return open_ones[0].words if open_ones else ""

    def _keeps(self, limit: PriceLimit, row: Row) -> bool | None:
        kept = [limit.keeps(row.cell(each.field.name)) for each in self._columns if each.kind == "price"]
        return True if True in kept else False if False in kept else None

    def completeness(self, notes: Sequence[Note]) -> Estimate | None:
        """From how much the searches, made independently of each other, found the same."""
        names, count = Names(), 0
        passes: list[set[str]] = []
        for note in notes:
            if note.task.kind != "discover" or note.error:
                continue
            found = set()
            for named in note.names:
                place = names.find(named.name)
                if place is None:
                    place = count = count + 1
                    names.add(place, named.name)
                found.add(str(place))
            passes.append(found)
        return estimate_total(passes)


def all_pending(row: Row, fields: Sequence[Field]) -> bool:
    return all(row.cell(field.name).status == "PENDING" for field in fields)
