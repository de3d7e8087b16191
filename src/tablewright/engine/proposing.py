"""What the rows of a run came to: findings become proposed cells, and everything is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from tablewright.domain.model import Cell, Field, Finding, Reason, Row, Step
from tablewright.domain.proposal import Operation
from tablewright.domain.run import NAMED, RunTally, SkippedRow
from tablewright.domain.usage import Usage
from tablewright.engine.cells import answered, proposed_cell
from tablewright.engine.outbox import Outbox
from tablewright.observe import count

Told: TypeAlias = Sequence[tuple[Step, tuple[str, ...]]]
"""The steps that were taken for a row, and the fields that each was for; for none: all."""


@dataclass(frozen=True)
class RowAnswer:
    """What a strategy gave for a row, and what it took. A field without a finding has the `problem`."""

    row: Row
    as_of: int
    open_fields: Mapping[str, Field]
    findings: Mapping[str, Finding]
    told: Told
    problem: str
    used: Usage


UNFINISHED: frozenset[Reason | None] = frozenset({None, "not_found", "error"})
"""What a row may say that was under way when the money ran out: it was perhaps not looked for to the end."""
UNREACHED: frozenset[Reason | None] = frozenset({None, "not_found", "error", "blocked"})
"""What a cell may say that was perhaps not looked for everywhere, because something could not be reached."""
UNANSWERED: frozenset[Reason | None] = frozenset({"error", "blocked"})
"""What says that nobody could be asked, or would not answer: no reason to give up a value."""


class Proposing:
    """`cap` gives the cap on spending in words, once it is reached. `must_prove`: a value without a quote is none.
    `keeps`: the cells were filled before, and stay where nobody was asked about them; `asks_others`: somebody is."""

    def __init__(
        self, outbox: Outbox, cap: Callable[[], str], *, must_prove: bool, keeps: bool, asks_others: bool
    ) -> None:
        self._outbox = outbox
        self._cap = cap
        self._must_prove = must_prove
        self._keeps = keeps
        self._asks_others = asks_others
        self._skipped_rows: list[SkippedRow] = []
        self._cause = ""
        self.counts: Counter[str] = Counter()
        self.run_id = ""

    @property
    def tally(self) -> RunTally:
        return RunTally(**self.counts, skipped_rows=tuple(self._skipped_rows), cause=self._cause)

    def count_row(self, as_what: str = "") -> None:
        count("rows", outcome=as_what or "done")
        self.counts.update(("rows", as_what) if as_what else ("rows",))

    def skip(self, row: Row, label: str, why: str) -> None:
        """A row that lacks what the question needs."""
        self.counts["incomplete"] += 1
        if len(self._skipped_rows) < NAMED:
            self._skipped_rows.append(SkippedRow(row_id=row.id, label=label, why=why))

    def leave(self, row: Row, open_fields: Mapping[str, Field], as_of: int) -> None:
        """The money was spent before anything of the row was looked for."""
        for name, field in open_fields.items():
            error = f"The run stopped at the cap of {self._cap()} before this row."
            self._propose(row, field, Finding(field=name, reason="over_budget", error=error), (), as_of, 0.0)

    def conclude(self, answer: RowAnswer, *, unreached: str) -> dict[str, Cell]:
        """What was found, as proposed cells. Of a row that could not ask everybody, for the reason `unreached`, the
        empty ones stay PENDING."""
        row, open_fields, told, used = answer.row, answer.open_fields, answer.told, answer.used
        if used.llm_calls or used.input_tokens or used.searches or used.fetches:
            self.counts["bought_rows"] += 1
            self.counts["bought_cells"] += len(open_fields)
        cells = {}
        taken = [step for step, _ in told]
        for name, field in open_fields.items():
            finding = self._checked(
                answer.findings.get(name) or Finding(field=name, reason="error", error=answer.problem)
            )
            taken += finding.steps
            if unreached and not is_settled(finding):
                self.counts["unasked"] += 1
                count("cells", outcome="unasked")
                self._cause = self._cause or unreached
                continue
            steps = (*(step for step, of in told if not of or name in of), *finding.steps)
            cell = self._propose(row, field, finding, steps, answer.as_of, used.cost_usd / len(open_fields))
            if cell is not None:
                cells[name] = cell
        self.counts["degraded"] += sum(1 for step in taken if step.data.get("degraded"))
        return cells

    def _checked(self, finding: Finding) -> Finding:
        if self._must_prove and finding.value is not None and not any(each.quote for each in finding.evidence):
            finding = Finding(field=finding.field, reason="error", error="a value without a quote that states it")
        if self._cap() and finding.value is None and finding.reason in UNFINISHED:
            finding = msgspec.structs.replace(finding, reason="over_budget")
        return finding

    def _propose(
        self, row: Row, field: Field, finding: Finding, steps: tuple[Step, ...], as_of: int, cost: float
    ) -> Cell | None:
        """None where the present cell stays."""
        present = row.cell(field.name)
        attempt = present.attempt + finding.attempt
        cell = proposed_cell(field, finding, run_id=self.run_id, attempt=attempt, at=self._outbox.now, cost=cost)
        stays = self._stays(present, cell)
        if cell.status == "ENRICHED":
            outcome = "found"
        elif cell.reason == "over_budget":
            outcome = "left"
        else:
            outcome = "unasked" if stays else "empty"
        self.counts[outcome] += 1
        count("cells", outcome=outcome)
        if stays:
            return None
        if cell.value is not None:
            steps = (*steps, Step(type="answer", detail=answered(cell)))
        self._outbox.add(Operation(row_id=row.id, field=field.name, cell=cell, steps=steps, as_of=as_of))
        return cell

    def _stays(self, present: Cell, proposed: Cell) -> bool:
        """What was not looked for, or only could not be, says nothing against the cell that is there. What fails
        without asking anybody, such as a division by zero, is an answer."""
        if proposed.reason == "over_budget":
            return self._keeps or present.value is not None
        return self._keeps and self._asks_others and proposed.reason in UNANSWERED


def is_settled(finding: Finding) -> bool:
    """Whether it has a value, or says for a reason of its own that there is none."""
    return finding.value is not None or finding.reason not in UNREACHED
