"""A narrative: the sides of the question are the rows of a table, with what was found on each.

A question for one fact has one row, the question itself. Where it only describes a thing ("the band with the single
…"), the things that may be meant become rows of their own in the next round, and the answer is read on their pages.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.decisions.detect_gaps import AngleState, narrative_gaps
from tablewright.decisions.find_links import Link
from tablewright.journeys.research.desk import Desk, status_of
from tablewright.strategies.gathered import Gathered, GatheredAnswers, GatheredPassages, Lead
from tablewright.table.model import Cell, Evidence, Field, Row, RowId, Table, given
from tablewright.table.research import Brief, CatalogCandidate, FieldKind, Gap, Note, ResearchTask
from tablewright.table.text import cell_text, shortened

ANGLE, QUESTION, FINDINGS, ANSWER = "Angle", "Question", "Findings", "Answer"
LEAST_DOMAINS = 3
SURE = 0.8
"""How sure an answer must be for a description in the question not to be looked into."""


def fields_of(brief: Brief) -> tuple[str, tuple[Field, ...]]:
    column = ANSWER if brief.is_fact else FINDINGS
    wanted = Field(name=column, question=f"{{{QUESTION}}}", depends_on=(QUESTION,))
    return ANGLE, (Field(name=ANGLE), Field(name=QUESTION), wanted)


def rows_of(brief: Brief) -> list[tuple[Cell, Cell, Cell]]:
    return [(given(angle.name), given(angle.question), Cell()) for angle in brief.angles]


class Narrative:
    follows: tuple[FieldKind, ...] = ()

    def __init__(self, brief: Brief, desk: Desk) -> None:
        self._brief = brief
        self._desk = desk

    @property
    def column(self) -> str:
        return ANSWER if self._brief.is_fact else FINDINGS

    async def absorb(self, tasks: Sequence[ResearchTask], notes: Sequence[Note]) -> None:
        """Every page is read for every angle that is not answered well; a thing that may be meant has its own pages."""
        table = await self._desk.table()
        links = self._links(table)
        leads = {row.id: self._lead(row, tasks, is_link=row.id in links) for row in table.rows}
        # Links that a round which discovers finds here are its own, from before it was cut off: for the next round.
        ahead = links if any(task.kind == "discover" for task in tasks) else {}
        weak = [row for row in table.rows if status_of(row.cell(self.column)) != "found" and row.id not in ahead]
        only = {(row.id, self.column) for row in weak if row.cell(self.column).status != "PENDING"}
        fresh = [row.id for row in weak if row.cell(self.column).status == "PENDING"]
        field = fields_of(self._brief)[1][-1]
        if fresh:
            await self._desk.fill([field], self._strategy(leads, links), row_ids=fresh)
        if only:
            await self._desk.fill([field], self._strategy(leads, links), only=only)

    def _links(self, table: Table) -> dict[RowId, Link]:
        """The rows that are things which the question may mean: they were read somewhere, the others were given."""
        found = {}
        for row in table.rows:
            name = row.cell(ANGLE)
            if name.evidence:
                found[row.id] = Link(
                    name=cell_text(name),
                    evidence=name.evidence[0],
                    query="",
                    question=self._question_of(row),
                    score=name.confidence or 0.0,
                )
        return found

    def _strategy(self, leads: dict[RowId, Lead], links: dict[RowId, Link]) -> Gathered:
        if self._brief.is_fact:
            return GatheredAnswers(leads, self._brief.question, links)
        return GatheredPassages(leads, self._question_of)

    def _question_of(self, row: Row) -> str:
        return cell_text(row.cell(QUESTION))

    def _lead(self, row: Row, tasks: Sequence[ResearchTask], *, is_link: bool) -> Lead:
        library = self._desk.library
        name = cell_text(row.cell(ANGLE))
        own = [task.id for task in tasks if name in task.target_gap] if is_link else []
        pages = library.read_by(own) if own else list(library.pages.values())
        steps = [step for task in own or library.steps for step in library.steps.get(task, ()) if step.type == "search"]
        return Lead(pages=tuple(pages), steps=tuple(steps))

    async def look_into(self, links: Sequence[Link]) -> None:
        """The things that the question may mean become rows."""
        for link in links:
            name = msgspec.structs.replace(self._desk.found(link.name, link.evidence), confidence=link.score)
            await self._desk.add_row({ANGLE: name, QUESTION: given(link.question)})

    # ── what is open ─────────────────────────────────────────────────────────────────────────────────────────────────

    def gaps(self, table: Table, round_index: int) -> tuple[Gap, ...]:
        covered = {cell_text(row.cell(ANGLE)): self._state(row) for row in table.rows}
        domains = {domain for row in table.rows for domain in self._domains(row)}
        least = 0 if self._brief.is_fact else LEAST_DOMAINS
        return narrative_gaps(self._brief, covered, len(domains), least, round_index)

    def _state(self, row: Row) -> AngleState:
        cell = row.cell(self.column)
        return AngleState(
            passages=len(cell.evidence) if cell.value is not None else 0,
            domains=len(self._domains(row)),
            contradicts=bool(cell.conflict),
        )

    def _domains(self, row: Row) -> set[str]:
        cell = row.cell(self.column)
        return {each.domain or each.origin for each in cell.evidence} if cell.value is not None else set()

    def themes(self, table: Table) -> list[str]:
        return [
            f"{cell_text(row.cell(ANGLE))}: {shortened(cell_text(row.cell(self.column)), 80)}"
            for row in table.rows
            if row.cell(self.column).value is not None
        ]

    def candidates(self, table: Table) -> list[CatalogCandidate]:
        return []

    def answer(self, table: Table) -> tuple[Cell, tuple[Evidence, ...]] | None:
        """The surest of the rows, and what named the thing that the question describes, if it describes one."""
        answered = [row for row in table.rows if row.cell(self.column).value is not None]
        if not answered:
            return None
        best = max(answered, key=lambda row: (row.cell(self.column).confidence or 0.0, -row.id))
        return best.cell(self.column), best.cell(ANGLE).evidence
