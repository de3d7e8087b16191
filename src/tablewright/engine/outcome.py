"""Results of a run: turn findings into proposed cells, count everything, and summarize.

It does not decide which rows are answered or how; it may touch the write buffer and nothing else outside itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import msgspec

from tablewright.domain.model import MAX_DOUBTED_CONFIDENCE, Cell, Field, Finding, Label, Row, Step, Struct, Value
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.run import MAX_NAMED_ROWS, TALLY, RunStatus, RunTally, SkippedRow, Usage
from tablewright.domain.text import count_noun, describe_conflicts, format_value, pluralize_noun, shorten_text
from tablewright.engine.write_buffer import WriteBuffer
from tablewright.observe import count_event
from tablewright.values.coerce import NOTHING_FOUND, CoercedValue, coerce_value


class RunResult(Struct, frozen=True):
    run_id: str
    proposal_id: str
    status: RunStatus
    rows: int
    found: int
    empty: int
    skipped: int
    usage: Usage
    left: int = 0
    """Cells that were not finished because the budget was spent."""
    cap: str = ""
    """The cap that was reached, as text."""
    unasked: int = 0
    """Cells that stay as they are because a service did not answer."""
    degraded: int = 0
    """Tasks that were answered without the model although there is one."""
    incomplete: int = 0
    """Skipped rows that lack what the question needs."""
    skipped_rows: tuple[SkippedRow, ...] = ()
    """The first of them."""
    cause: str = ""
    """Why the first of the `unasked` cells could not be looked for."""
    problem: str = ""
    """Why it was paused."""

    @property
    def notes(self) -> list[str]:
        """Return whole sentences that a person should read with the result."""
        found = collect_run_notes(self)
        if self.unasked:
            cells = f"{count_noun(self.unasked, 'cell')}"
            why = f" ({self.cause.rstrip('.')})" if self.cause else ""
            found.append(f"{cells} could not be looked for{why}; the next run looks again")
        return [f"{each[0].upper()}{each[1:]}." for each in found]


def make_run_result(
    run_id: str, proposal_id: str, status: RunStatus, tally: RunTally, usage: Usage, cap: str, problem: str = ""
) -> RunResult:
    return RunResult(
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
    # With one column a row is a cell, and rows are what people count.
    unit = "rows" if len(fields) == 1 else f"cells in {tally.rows} rows"
    parts = [f"found {tally.found} of {tally.found + tally.empty} {unit}", *collect_run_notes(tally)]
    if cap and tally.left:
        parts.append(f"stopped at the cap of {cap}: {count_cells_left(tally.left)}")
    if tally.unasked:
        why = f": {tally.cause.rstrip('.')}" if tally.cause else ""
        parts.append(f"{tally.unasked:,} could not be asked{why}")
    if status in ("cancelled", "paused"):
        parts.append(f"{status} before the end")
    return f"{strategy}: {names} — {', '.join(parts)}"


def collect_run_notes(tally: RunTally | RunResult) -> list[str]:
    """Return remarks that every interface shows with the counts of a run."""
    remarks = []
    if tally.degraded:
        came = "answer came" if tally.degraded == 1 else "answers came"
        remarks.append(f"{tally.degraded:,} {came} without the model (degraded)")
    if tally.incomplete:
        rows = [f"row {each.row_id} ({each.why})" for each in tally.skipped_rows]
        more = tally.incomplete - len(rows)
        named = f"{', '.join(rows)} and {more:,} more" if more else ", ".join(rows)
        remarks.append(f"skipped {pluralize_noun('row', tally.incomplete)}: {named}")
    return remarks


def tally_spec(tally: RunTally) -> dict[str, Any]:
    """Return the part of a run's spec that counts: the rows and cells it paid for, from which later runs are estimated,
    and the whole tally."""
    return {"rows": tally.bought_rows, "cells": tally.bought_cells, TALLY: tally}


def count_cells_left(count: int) -> str:
    return "1 cell left" if count == 1 else f"{count:,} cells left"


# ── proposing: findings become cells, and everything is counted ──────────────────────────────────────────────────────

# The steps taken for a row, each with its fields; no field means the whole row.
TracedSteps: TypeAlias = Sequence[tuple[Step, tuple[str, ...]]]


@dataclass(frozen=True)
class RowAnswer:
    """A strategy's answer for a row, and its usage. A field without a finding has the `problem`."""

    row: Row
    as_of: int
    open_fields: Mapping[str, Field]
    findings: Mapping[str, Finding]
    steps: TracedSteps
    problem: str
    used: Usage


class ProposalBuilder:
    """Turns answers into proposed cells. `cap` returns the cap on spending once it is reached. With
    `marks_unquoted` a value without a quote says so and is never high; if also `strict`, it is refused. With `keeps`
    the cells were filled before, and stay as they are if no source answered; `is_external` says that there are sources
    to ask."""

    def __init__(
        self,
        buffer: WriteBuffer,
        cap: Callable[[], str],
        *,
        marks_unquoted: bool,
        strict: bool,
        keeps: bool,
        is_external: bool,
    ) -> None:
        self._buffer = buffer
        self._cap = cap
        self._marks_unquoted = marks_unquoted
        self._strict = strict
        self._keeps = keeps
        self._is_external = is_external
        self._skipped_rows: list[SkippedRow] = []
        self._cause = ""
        self.counts: Counter[str] = Counter()
        self.run_id = ""

    @property
    def tally(self) -> RunTally:
        return RunTally(**self.counts, skipped_rows=tuple(self._skipped_rows), cause=self._cause)

    def count_row(self, as_what: str = "") -> None:
        count_event("rows", outcome=as_what or "done")
        self.counts.update(("rows", as_what) if as_what else ("rows",))

    def skip(self, row: Row, label: str, why: str) -> None:
        """Count a row that lacks what the question needs."""
        self.counts["incomplete"] += 1
        # The tally is written with each slice, so it names the first rows and counts the rest.
        if len(self._skipped_rows) < MAX_NAMED_ROWS:
            self._skipped_rows.append(SkippedRow(row_id=row.id, label=label, why=why))

    def leave(self, row: Row, open_fields: Mapping[str, Field], as_of: int) -> None:
        """Propose `over_budget` for a row that was not started before the budget was spent."""
        for name, field in open_fields.items():
            error = f"The run stopped at the cap of {self._cap()} before this row."
            self._propose(row, field, Finding(field=name, reason="over_budget", error=error), (), as_of, 0.0)

    def conclude(self, answer: RowAnswer, *, unreached: str) -> dict[str, Cell]:
        """Propose the cells of an answered row and return them. If a service could not be reached (`unreached` says
        why), cells without a value stay PENDING."""
        row, open_fields, traced, used = answer.row, answer.open_fields, answer.steps, answer.used
        # Rows that were answered from the store or the cache say nothing about the price of a row.
        if used.llm_calls or used.input_tokens or used.searches or used.fetches:
            self.counts["bought_rows"] += 1
            self.counts["bought_cells"] += len(open_fields)
        cells = {}
        taken = [step for step, _ in traced]
        for name, field in open_fields.items():
            finding = self._checked(
                answer.findings.get(name) or Finding(field=name, reason="error", error=answer.problem)
            )
            taken += finding.steps
            if unreached and not is_settled(finding):
                self.counts["unasked"] += 1
                count_event("cells", outcome="unasked")
                self._cause = self._cause or unreached
                continue
            # A step without fields was taken for the whole row and belongs to each of its cells.
            steps = (*(step for step, of in traced if not of or name in of), *finding.steps)
            cell = self._propose(row, field, finding, steps, answer.as_of, used.cost_usd / len(open_fields))
            if cell is not None:
                cells[name] = cell
        self.counts["degraded"] += sum(1 for step in taken if step.data.get("degraded"))
        return cells

    def _checked(self, finding: Finding) -> Finding:
        if self._marks_unquoted and finding.value is not None and not any(each.quote for each in finding.evidence):
            if self._strict:
                finding = Finding(field=finding.field, reason="error", error="a value without a quote that states it")
            else:
                error = " ".join(filter(None, (finding.error, "No quote states it.")))
                finding = msgspec.structs.replace(
                    finding, confidence=min(finding.confidence, MAX_DOUBTED_CONFIDENCE), error=error
                )
        # These may only mean that the budget ran out while the row was in progress.
        if self._cap() and finding.value is None and finding.reason in (None, "not_found", "error"):
            finding = msgspec.structs.replace(finding, reason="over_budget")
        return finding

    def _propose(
        self, row: Row, field: Field, finding: Finding, steps: tuple[Step, ...], as_of: int, cost: float
    ) -> Cell | None:
        """Buffer a proposed cell and return it, or None if the present cell stays."""
        present = row.cell(field.name)
        attempt = present.attempt + finding.attempt
        cell = proposed_cell(field, finding, run_id=self.run_id, attempt=attempt, at=self._buffer.now, cost=cost)
        stays = self._stays(present, cell)
        if cell.status == "ENRICHED":
            outcome = "found"
        elif cell.reason == "over_budget":
            outcome = "left"
        else:
            outcome = "unasked" if stays else "empty"
        self.counts[outcome] += 1
        count_event("cells", outcome=outcome)
        if stays:
            return None
        if cell.value is not None:
            steps = (*steps, Step(type="answer", detail=describe_cell_answer(cell)))
        self._buffer.add(ProposedCell(row_id=row.id, field=field.name, cell=cell, steps=steps, as_of=as_of))
        return cell

    def _stays(self, present: Cell, proposed: Cell) -> bool:
        """Return True if the proposed cell says nothing against the present one: it was not looked for, or no source
        answered. A failure without sources, such as a division by zero, is an answer."""
        if proposed.reason == "over_budget":
            return self._keeps or present.value is not None
        # No source answered: not enough to give up a value.
        return self._keeps and self._is_external and proposed.reason in ("error", "blocked")


def is_settled(finding: Finding) -> bool:
    """Return True if the finding has a value, or a definite reason to have none."""
    # These may only mean that a service could not be reached, so that not every place was searched.
    return finding.value is not None or finding.reason not in (None, "not_found", "error", "blocked")


# ── from a finding to a cell: checked against the type of its field, or FAILED with the reason ───────────────────────

T = TypeVar("T")

# In the trace; the evidence has the whole quote, and the cell the whole value.
MAX_QUOTE_CHARACTERS, MAX_VALUE_CHARACTERS = 160, 1_000
# The confidence that is left when a value had to be converted to its field's type, by how sure the conversion is.
COERCION_FACTORS: dict[Label, float] = {"high": 1.0, "medium": 0.7, "low": 0.4, "none": 0.0}


def validate_foreign(value: T, kind: type[T]) -> T:
    """Return an object of another package as the type it claims; raise msgspec.ValidationError or TypeError."""
    # A round trip through plain data checks every nested field; `isinstance` would see only the outer type.
    return msgspec.convert(msgspec.to_builtins(value), kind)


def is_valid_step(step: Step) -> bool:
    try:
        return bool(validate_foreign(step, Step))
    except (msgspec.ValidationError, TypeError):
        return False


def describe_cell_answer(cell: Cell) -> str:
    """Return an answer as text: its source, the quote, and which sources agree and disagree."""
    basis = "judged" if cell.basis == "judged" else f"by {cell.converted_by}" if cell.converted_by else ""
    notes = "; ".join(note for note in (basis, cell.error) if note)
    value = format_value(cell.value)
    value = value if len(value) <= MAX_VALUE_CHARACTERS else f"{value[:MAX_VALUE_CHARACTERS]}…"
    said = f"{value} ({notes})" if notes else value
    if not cell.evidence or not cell.evidence[0].domain:
        return said
    first, *others = cell.evidence
    said += f" — {first.domain}: “{shorten_text(first.quote, MAX_QUOTE_CHARACTERS)}”"
    if others:
        said += f"; also from {' and '.join(evidence.domain for evidence in others)}"
    for other in cell.conflict:
        who = other.evidence[0].domain if other.evidence else "another source"
        says = describe_conflicts((other,)) if other.reason else f"{who} says {format_value(other.value)}"
        said += f"; {says}"
    return said


def is_of_field_type(value: Value, field: Field) -> bool:
    """Return True if a computed value has its field's type already."""
    if field.type == "text":
        return isinstance(value, str)
    return field.type == "number" and type(value) in (int, float) and not field.unit


def proposed_cell(field: Field, finding: Finding, *, run_id: str, attempt: int, at: str, cost: float = 0.0) -> Cell:
    """Return the finding as a cell of its field: converted to the type, or FAILED with the reason."""
    cell = Cell(
        raw_value=finding.raw_value,
        status="FAILED",
        reason=finding.reason or "not_found",
        evidence=finding.evidence,
        conflict=finding.conflict,
        cost=cost,
        attempt=attempt,
        run_id=run_id,
        updated_at=at,
        error=finding.error,
    )
    if finding.value is None:
        return cell
    # Formulas return values of the right type by the thousand; converting them again would cost more than computing
    # them.
    if finding.exact and finding.raw_value is not None and is_of_field_type(finding.value, field):
        coerced = CoercedValue(value=finding.value, raw_value=finding.raw_value, label="high")
    else:
        coerced = coerce_value(finding.value, field)
    if coerced.value is None:
        # "Not stated" as an answer is no mistake: the value was looked for and not found.
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
        # Clamped, because a plugin may return any number.
        confidence=round(min(1.0, max(0.0, finding.confidence)) * COERCION_FACTORS[coerced.label], 4),
        basis=finding.basis,
        converted_by=finding.converted_by,
        error=" ".join(note for note in (coerced.note, finding.error) if note) or None,
    )
