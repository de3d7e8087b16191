"""From a finding to a cell: checked against its field's type, or FAILED with the reason."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from tablewright.domain.model import Cell, Field, Finding, Label, Step, Value
from tablewright.domain.text import shortened, show
from tablewright.values.coerce import NOTHING_FOUND, Coerced, coerce

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
