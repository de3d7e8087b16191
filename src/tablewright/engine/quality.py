"""The quality gate: which fields of a row are not answered well enough, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablewright.table.attempts import Assessment, WeakColumn, Weakness
from tablewright.table.model import Field, Finding, Reason
from tablewright.table.text import show

FINAL: frozenset[Reason] = frozenset({"not_applicable", "over_budget"})
"""Reasons for which another look is of no use."""
BLOCKED = "Look for other sites than those that refused."
DISPUTED = "Look for the row's own or an official page, which settles it."
UNSURE = "Look for a page that states it outright."
MISSING = "Look for the kind of page that lists it, under another name of the column."


def evaluate(fields: Sequence[Field], findings: Mapping[str, Finding], threshold: float) -> Assessment:
    weak = [column for field in fields if (column := weakness(field, findings.get(field.name), threshold)) is not None]
    return Assessment(weak=tuple(weak), suggestions=tuple(dict.fromkeys(suggestion(column) for column in weak)))


def weakness(field: Field, finding: Finding | None, threshold: float) -> WeakColumn | None:
    """None where the field is answered well enough, or never will be."""
    if finding is None:
        return WeakColumn(name=field.name, weakness="missing", reason="no answer was given")
    if finding.value is None:
        if finding.reason in FINAL:
            return None
        kind: Weakness = "blocked" if finding.reason == "blocked" else "missing"
        return WeakColumn(name=field.name, weakness=kind, reason=f"nothing found. {finding.error or ''}".strip())
    if finding.confidence >= threshold:
        return None
    said = f"low confidence ({finding.confidence:.2f}) in {show(finding.value)}"
    if finding.conflict:
        others = ", ".join(show(other.value) for other in finding.conflict)
        reason = f"{said}: another source says {others}"
        return WeakColumn(name=field.name, weakness="disputed", reason=reason, confidence=finding.confidence)
    return WeakColumn(name=field.name, weakness="unsure", reason=said, confidence=finding.confidence)


def suggestion(column: WeakColumn) -> str:
    return {"missing": MISSING, "blocked": BLOCKED, "unsure": UNSURE, "disputed": DISPUTED}[column.weakness]
