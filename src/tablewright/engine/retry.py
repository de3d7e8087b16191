"""The feedback loop: a row whose answer is weak somewhere is looked at again, there alone and in another way.

attempt → quality gate → pass
                       → feedback (what was tried, why it was weak) → attempt for the weak columns → merge → …
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.domain.model import (
    Assessment,
    Attempt,
    Cell,
    Conflict,
    Field,
    Finding,
    Reason,
    Row,
    RowId,
    Step,
    WeakColumn,
    Weakness,
)
from tablewright.domain.text import shortened, show
from tablewright.engine.outcome import proposed_cell
from tablewright.engine.policy import RetryPolicy
from tablewright.errors import StoreError
from tablewright.strategies.strategy import FIRST, Answer, Feedback, Repeatable, Tell, Trace
from tablewright.values.same_value import same_value

REASON = 160
"""Characters of a reason in the trace."""

Record: TypeAlias = Callable[[RowId, Attempt], None]


class Retry:
    """Answers a row in as many attempts as the policy allows, and tells `record` of each."""

    def __init__(
        self,
        answer: Answer,
        fields: Sequence[Field],
        policy: RetryPolicy,
        record: Record,
        is_spent: Callable[[], bool] = lambda: False,
        first: Callable[[Row], Feedback] = lambda row: FIRST,
    ) -> None:
        """`is_spent` says whether the money is: then nothing is tried again. `first` says what the first attempt at a
        row is told of earlier runs."""
        self._answer = answer if isinstance(answer, Repeatable) else CalledAgain(answer, fields)
        self._first = first
        self._is_spent = is_spent
        self._fields = tuple(fields)
        self._policy = policy
        self._record = record

    async def __call__(self, row: Row, trace: Trace) -> Sequence[Finding]:
        wanted = tuple(field for field in self._fields if row.cell(field.name).needs_work)
        tried = AttemptRecorder(trace)
        work = self._answer.begin(row, trace)
        found: dict[str, Finding] = {}
        history: list[Attempt] = []
        first = self._first(row)
        feedback: Feedback | None = first
        while feedback is not None:
            try:
                findings = await work.attempt(feedback)
            except StoreError:  # not the row failed, but what all rows stand on
                raise
            except Exception as error:
                if not history:
                    columns = tuple(field.name for field in wanted)
                    self._record(row.id, tried.attempt(1, columns, {}, evaluate(wanted, {}, self._policy.threshold)))
                    raise
                problem = (
                    f"Attempt {feedback.attempt} failed ({type(error).__name__}: {error}); the earlier findings stay."
                )
                trace(Step(type="error", detail=problem))
                break
            for finding in findings:
                new = msgspec.structs.replace(finding, attempt=feedback.attempt)
                found[finding.field] = new if work.remembers else self._better(found.get(finding.field), new)
            columns = feedback.focus or tuple(field.name for field in wanted)
            assessment = evaluate(wanted, found, self._policy.threshold)
            history.append(tried.attempt(feedback.attempt, columns, found, assessment))
            self._record(row.id, history[-1])
            feedback = None if feedback.is_last else self._next(first, history)
            if feedback is not None:
                trace.focus = feedback.focus
                trace(Step(type="thinking", detail=announced(feedback), data={"attempt": feedback.attempt}))
        return list(found.values())

    def _next(self, first: Feedback, history: Sequence[Attempt]) -> Feedback | None:
        """What to tell the next attempt; None when there is to be none."""
        if self._is_spent():
            return None
        following = msgspec.structs.replace(first, previous=tuple(history))
        if self._policy.should_retry(history):
            return msgspec.structs.replace(following, is_last=len(history) + 1 == self._policy.attempts)
        # Nothing got better, but a stronger model has not had its turn yet.
        weak = len(history) < self._policy.attempts and not history[-1].assessment.passed
        return msgspec.structs.replace(following, is_last=True) if weak and self._answer.has_stronger else None

    def _better(self, old: Finding | None, new: Finding) -> Finding:
        """Of two findings of a field; one that its column cannot hold counts for nothing."""
        field = next((field for field in self._fields if field.name == new.field), None)
        if field is None or old is None or old.value is None or new.value is None:
            return merged(old, new)
        if as_cell(field, old).value is None:
            return new
        return old if as_cell(field, new).value is None else merged(old, new)


class CalledAgain:
    """An answer that knows nothing of attempts: for a further one it is called with only the weak columns open."""

    has_stronger = False

    def __init__(self, answer: Answer, fields: Sequence[Field]) -> None:
        self._answer = answer
        self._names = tuple(field.name for field in fields)

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self._answer(row, tell)

    def begin(self, row: Row, tell: Tell) -> FunctionRow:
        return FunctionRow(self._answer, row, tell, self._names)


class FunctionRow:
    remembers = False

    def __init__(self, answer: Answer, row: Row, tell: Tell, names: Sequence[str]) -> None:
        self._answer = answer
        self._row = row
        self._tell = tell
        self._names = names

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        done = [name for name in self._names if not feedback.wants(name)]
        findings = await self._answer(closed(self._row, done), self._tell)
        return [finding for finding in findings if feedback.wants(finding.field)]


def closed(row: Row, names: Collection[str]) -> Row:
    """The row as if these cells needed no work."""
    cells = {
        name: msgspec.structs.replace(row.cell(name), status="FAILED", reason="not_found")
        for name in names
        if row.cell(name).needs_work
    }
    return msgspec.structs.replace(row, cells={**row.cells, **cells}) if cells else row


class AttemptRecorder:
    """Reads from the trace of a row what each attempt tried."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._read = 0

    def attempt(
        self, number: int, columns: tuple[str, ...], found: Mapping[str, Finding], assessment: Assessment
    ) -> Attempt:
        """The attempt that ends here; what comes after belongs to the next."""
        steps = [step for step, _ in self._trace.told[self._read :]]
        self._read += len(steps)
        results = {name: found[name] for name in columns if name in found}
        return Attempt(
            number=number,
            columns=columns,
            patterns=noted(steps, "search", "pattern"),
            queries=noted(steps, "search", "query"),
            urls=noted(steps, "fetch", "url") + noted(steps, "error", "url"),
            refused=noted(steps, "error", "url"),
            results={name: show(finding.value) for name, finding in results.items() if finding.value is not None},
            confidences={name: finding.confidence for name, finding in results.items()},
            assessment=assessment,
        )


def noted(steps: Sequence[Step], kind: str, key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(step.data[key]) for step in steps if step.type == kind and step.data.get(key)))


def merged(old: Finding | None, new: Finding) -> Finding:
    """The better of two findings of a field; where they differ, the other stands beside it."""
    if old is None or old.value is None:
        return new
    if new.value is None:
        return old
    if same_value(old.value, new.value, "merging"):
        return new if new.confidence >= old.confidence else old
    better, other = (new, old) if new.confidence > old.confidence else (old, new)
    beside = [Conflict(value=other.value, evidence=other.evidence), *other.conflict]
    known = [better.value, *(each.value for each in better.conflict)]
    more = tuple(each for each in beside if not any(same_value(each.value, value, "merging") for value in known))
    return msgspec.structs.replace(better, conflict=(*better.conflict, *more))


def announced(feedback: Feedback) -> str:
    """The next attempt in words, for the trace."""
    why = "; ".join(f"{weak.name}: {shortened(weak.reason, REASON)}" for weak in feedback.weak)
    return f"Attempt {feedback.attempt}, for {', '.join(feedback.focus)} only. {why}"


# ── the quality gate: which fields of a row are not answered well enough, and why ────────────────────────────────────

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
