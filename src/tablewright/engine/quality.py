"""The quality gate: which fields of a row are not answered well enough, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablewright.domain.model import Assessment, Cell, Field, Finding, Reason, WeakColumn, Weakness
from tablewright.domain.text import show
from tablewright.engine.cells import proposed_cell

FINAL: frozenset[Reason] = frozenset({"not_applicable", "over_budget"})
"""Reasons for which another look is of no use."""
HINTS: dict[Weakness, str] = {
    "missing": "If no result was about the row, try other forms of its name, or what tells it apart; else look for the "
    "kind of page that states it, under another name of the column.",
    "blocked": "Look for other sites than those that refused.",
    "unsure": "Look for a page that states it outright.",
    "disputed": "Look for the row's own or an official page, which settles it.",
}


def evaluate(fields: Sequence[Field], findings: Mapping[str, Finding], threshold: float) -> Assessment:
    weak = [column for field in fields if (column := weakness(field, findings.get(field.name), threshold)) is not None]
    return Assessment(weak=tuple(weak))


def weakness(field: Field, finding: Finding | None, threshold: float) -> WeakColumn | None:
    """None where the field is answered well enough, or never will be."""
    if finding is None:
        return weak_column(field, "missing", "no answer was given")
    if finding.value is None:
        if finding.reason in FINAL:
            return None
        kind: Weakness = "blocked" if finding.reason == "blocked" else "missing"
        return weak_column(field, kind, f"nothing found. {finding.error or ''}".strip())
    cell = as_cell(field, finding)
    if cell.value is None:
        return weak_column(field, "unsure", cell.error or f"{show(finding.value)} is not a {field.type}")
    confidence = cell.confidence or 0.0
    if confidence >= threshold:
        return None
    said = f"low confidence ({confidence:.2f}) in {show(cell.value)}" + (f" ({cell.error})" if cell.error else "")
    if finding.conflict:
        others = ", ".join(show(other.value) for other in finding.conflict)
        return weak_column(field, "disputed", f"{said}: another source says {others}", confidence)
    return weak_column(field, "unsure", said, confidence)


def as_cell(field: Field, finding: Finding) -> Cell:
    """What the finding would be in the table: a value of the column's type, or none."""
    return proposed_cell(field, finding, run_id="", attempt=finding.attempt, at="")


def weak_column(field: Field, kind: Weakness, reason: str, confidence: float = 0.0) -> WeakColumn:
    return WeakColumn(name=field.name, weakness=kind, reason=reason, hint=HINTS[kind], confidence=confidence)
