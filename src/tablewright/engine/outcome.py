"""What the rows of a run come to: findings become proposed cells, everything is counted, and the run is summarized."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import msgspec

from tablewright.domain.model import Cell, Field, Finding, Label, Noun, Reason, Row, Step, Value
from tablewright.domain.proposal import Operation
from tablewright.domain.run import NAMED, TALLY, RunStatus, RunTally, SkippedRow, Usage
from tablewright.domain.text import count_noun, plural, shortened, show
from tablewright.engine.outbox import Outbox
from tablewright.observe import count
from tablewright.values.coerce import NOTHING_FOUND, Coerced, coerce


class Filled(Noun, frozen=True):
    run_id: str
    proposal_id: str
    status: RunStatus
    rows: int
    found: int
    empty: int
    skipped: int
    usage: Usage
    left: int = 0
    """Cells that were not worked on, or not to the end, because the money was spent."""
    cap: str = ""
    """The cap that was reached, in words."""
    unasked: int = 0
    """Cells that could not be asked for, because somebody did not answer: they stay as they are."""
    degraded: int = 0
    """Decisions that were made without the model although there is one."""
    incomplete: int = 0
    """Of the skipped rows, those that lack what the question needs."""
    skipped_rows: tuple[SkippedRow, ...] = ()
    """The first of them."""
    cause: str = ""
    """Why cells could not be asked for, of the first of them."""
    problem: str = ""
    """Why it was paused."""

    @property
    def notes(self) -> list[str]:
        """What a person should know of it beside what it found, in whole sentences."""
        said = notes(self)
        if self.unasked:
            cells = f"{count_noun(self.unasked, 'cell')}"
            why = f" ({self.cause.rstrip('.')})" if self.cause else ""
            said.append(f"{cells} could not be looked for{why}; the next run looks again")
        return [f"{each[0].upper()}{each[1:]}." for each in said]


def filled(
    run_id: str, proposal_id: str, status: RunStatus, tally: RunTally, usage: Usage, cap: str, problem: str = ""
) -> Filled:
    return Filled(
        run_id=run_id,
        proposal_id=proposal_id,
        status=status,
        rows=tally.rows,
        found=tally.found,
        empty=tally.empty,
        skipped=tally.skipped,
        usage=usage,
        left=tally.left,
        cap=cap if tally.left else "",
        unasked=tally.unasked,
        degraded=tally.degraded,
        incomplete=tally.incomplete,
        skipped_rows=tally.skipped_rows,
        cause=tally.cause,
        problem=problem if status == "paused" else "",
    )


def summarize_run(strategy: str, fields: Sequence[Field], tally: RunTally, status: RunStatus, cap: str = "") -> str:
    """Return what a run found, and why it stopped early if it did, in a sentence that opens with its strategy."""
    names = ", ".join(field.name for field in fields)
    unit = "rows" if len(fields) == 1 else f"cells in {tally.rows} rows"
    said = [f"found {tally.found} of {tally.found + tally.empty} {unit}", *notes(tally)]
    if cap and tally.left:
        said.append(f"stopped at the cap of {cap}: {cells_left(tally.left)}")
    if tally.unasked:
        why = f": {tally.cause.rstrip('.')}" if tally.cause else ""
        said.append(f"{tally.unasked:,} could not be asked{why}")
    if status == "cancelled":
        said.append("cancelled before the end")
    if status == "paused":
        said.append("paused before the end")
    return f"{strategy}: {names} — {', '.join(said)}"


def notes(tally: RunTally | Filled) -> list[str]:
    """What the door says of a run beside what it found."""
    said = []
    if tally.degraded:
        came = "answer came" if tally.degraded == 1 else "answers came"
        said.append(f"{tally.degraded:,} {came} without the model (degraded)")
    if tally.incomplete:
        rows = [f"row {each.row_id} ({each.why})" for each in tally.skipped_rows]
        more = tally.incomplete - len(rows)
        named = f"{', '.join(rows)} and {more:,} more" if more else ", ".join(rows)
        said.append(f"skipped {plural('row', tally.incomplete)}: {named}")
    return said


def bought(tally: RunTally) -> dict[str, Any]:
    """Of a run's spec: the rows and cells that tell what such a run takes, and all that it counted."""
    return {"rows": tally.bought_rows, "cells": tally.bought_cells, TALLY: tally}


def brief(cell: Cell) -> Cell:
    """Without its evidence, which is kept with the proposal."""
    return msgspec.structs.replace(cell, evidence=(), conflict=())


def cells_left(count: int) -> str:
    return "1 cell left" if count == 1 else f"{count:,} cells left"


# ── proposing: findings become cells, and everything is counted ──────────────────────────────────────────────────────

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


# ── from a finding to a cell: checked against the type of its field, or FAILED with the reason ───────────────────────

T = TypeVar("T")

QUOTED = 160
"""Characters of a quote in the trace."""
SHOWN = 1_000
"""Characters of a value in the trace, which stands in its cell as a whole."""
COERCED: dict[Label, float] = {"high": 1.0, "medium": 0.7, "low": 0.4, "none": 0.0}


def well_formed(value: T, kind: type[T]) -> T:
    """What another package returned, if it has the form it says; raises msgspec.ValidationError or TypeError."""
    return msgspec.convert(msgspec.to_builtins(value), kind)


def is_well_formed(step: Step) -> bool:
    try:
        return bool(well_formed(step, Step))
    except (msgspec.ValidationError, TypeError):
        return False


def answered(cell: Cell) -> str:
    """The answer and why: who says so, in which words, who agrees and who does not."""
    basis = "judged" if cell.basis == "judged" else f"by {cell.converted_by}" if cell.converted_by else ""
    notes = "; ".join(note for note in (basis, cell.error) if note)
    value = show(cell.value)
    value = value if len(value) <= SHOWN else f"{value[:SHOWN]}…"
    said = f"{value} ({notes})" if notes else value
    if not cell.evidence or not cell.evidence[0].domain:
        return said
    first, *others = cell.evidence
    said += f" — {first.domain}: “{shortened(first.quote, QUOTED)}”"
    if others:
        said += f"; also from {' and '.join(evidence.domain for evidence in others)}"
    for other in cell.conflict:
        who = other.evidence[0].domain if other.evidence else "another source"
        said += f"; {who} says {show(other.value)}"
    return said


def fits(value: Value, field: Field) -> bool:
    """Whether a computed value is of its field's type already."""
    if field.type == "text":
        return isinstance(value, str)
    return field.type == "number" and type(value) in (int, float) and not field.unit


def proposed_cell(field: Field, finding: Finding, *, run_id: str, attempt: int, at: str, cost: float = 0.0) -> Cell:
    """The finding as a cell of its field: coerced to the type, or FAILED with the reason."""
    cell = Cell(
        raw_value=finding.raw_value,
        status="FAILED",
        reason=finding.reason or "not_found",
        evidence=finding.evidence,
        cost=cost,
        attempt=attempt,
        run_id=run_id,
        updated_at=at,
        error=finding.error,
    )
    if finding.value is None:
        return cell
    if finding.exact and finding.raw_value is not None and fits(finding.value, field):
        coerced = Coerced(value=finding.value, raw_value=finding.raw_value, label="high")
    else:
        coerced = coerce(finding.value, field)
    if coerced.value is None:
        is_absent = coerced.reason == NOTHING_FOUND
        refused = f"{coerced.raw_value[:60]!r}: {coerced.reason or f'not a {field.type}'}"
        return msgspec.structs.replace(
            cell,
            raw_value=finding.raw_value or coerced.raw_value,
            reason="not_found" if is_absent else "error",
            error=coerced.reason if is_absent or not coerced.raw_value else refused,
        )
    return msgspec.structs.replace(
        cell,
        value=coerced.value,
        raw_value=coerced.raw_value if finding.raw_value is None else finding.raw_value,
        status="ENRICHED",
        reason=None,
        confidence=round(min(1.0, max(0.0, finding.confidence)) * COERCED[coerced.label], 4),
        basis=finding.basis,
        converted_by=finding.converted_by,
        conflict=finding.conflict,
        error=" ".join(note for note in (coerced.note, finding.error) if note) or None,
    )
