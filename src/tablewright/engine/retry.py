"""The feedback loop: answer a row again where its answer is weak, for those columns alone and in another way.

attempt → quality gate → pass
                       → feedback (what was tried, why it was weak) → attempt for the weak columns → merge → …

It sees one row at a time, and nothing of the store; attempts are recorded through a callback.
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
    Evidence,
    Field,
    Finding,
    Row,
    RowId,
    Step,
    WeakColumn,
    Weakness,
)
from tablewright.domain.text import describe_conflicts, format_value, shorten_text
from tablewright.engine.outcome import proposed_cell
from tablewright.engine.policy import RetryPolicy
from tablewright.errors import StoreError
from tablewright.strategies.strategy import FIRST_ATTEMPT, Answer, Feedback, Repeatable, Tell, Trace
from tablewright.values.same_value import same_value

Record: TypeAlias = Callable[[RowId, Attempt], None]


class RetryLoop:
    """Answers a row in as many attempts as the policy allows, and calls `record` with each."""

    def __init__(
        self,
        answer: Answer,
        fields: Sequence[Field],
        policy: RetryPolicy,
        record: Record,
        is_spent: Callable[[], bool] = lambda: False,
        first: Callable[[Row], Feedback] = lambda row: FIRST_ATTEMPT,
    ) -> None:
        """With `is_spent()` the budget is gone, and nothing is tried again. `first` returns what the first attempt at a
        row should know of earlier runs."""
        self._answer = answer if isinstance(answer, Repeatable) else StatelessAnswer(answer, fields)
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
            except StoreError:
                # The store failed, not this row.
                raise
            except Exception as error:
                # A first attempt that failed is recorded too, so that the next run knows of it; later ones keep the
                # earlier findings.
                if not history:
                    columns = tuple(field.name for field in wanted)
                    self._record(
                        row.id, tried.attempt(1, columns, {}, assess_findings(wanted, {}, self._policy.threshold))
                    )
                    raise
                problem = (
                    f"Attempt {feedback.attempt} failed ({type(error).__name__}: {error}); the earlier findings stay."
                )
                trace(Step(type="error", detail=problem))
                break
            for finding in findings:
                new = msgspec.structs.replace(finding, attempt=feedback.attempt)
                # A strategy that remembers has compared it with the old finding already.
                found[finding.field] = new if work.remembers else self._better(found.get(finding.field), new)
            columns = feedback.focus or tuple(field.name for field in wanted)
            assessment = assess_findings(wanted, found, self._policy.threshold)
            history.append(tried.attempt(feedback.attempt, columns, found, assessment))
            self._record(row.id, history[-1])
            feedback = None if feedback.is_last or work.is_exhausted else self._next(first, history)
            if feedback is not None:
                trace.focus = feedback.focus
                trace(Step(type="thinking", detail=describe_attempt(feedback), data={"attempt": feedback.attempt}))
        return list(found.values())

    def _next(self, first: Feedback, history: Sequence[Attempt]) -> Feedback | None:
        """Return the feedback for the next attempt, or None if there is none."""
        if self._is_spent():
            return None
        following = msgspec.structs.replace(first, previous=tuple(history))
        again = self._policy.columns_to_retry(history)
        is_last = len(history) + 1 == self._policy.attempts
        # A last attempt is for all weak columns, if a stronger model makes it.
        if again and not (is_last and self._answer.has_stronger):
            return msgspec.structs.replace(following, only=again, is_last=is_last)
        weak = len(history) < self._policy.attempts and not history[-1].assessment.passed
        return msgspec.structs.replace(following, is_last=True) if weak and self._answer.has_stronger else None

    def _better(self, old: Finding | None, new: Finding) -> Finding:
        """Return the better of two findings of a field; one that its column cannot hold loses."""
        field = next((field for field in self._fields if field.name == new.field), None)
        if field is None or old is None or old.value is None or new.value is None:
            return merge_findings(old, new)
        # A confident value that its column cannot hold would become an empty cell.
        if preview_cell(field, old).value is None:
            return new
        return old if preview_cell(field, new).value is None else merge_findings(old, new)


class StatelessAnswer:
    """Adapts an answer without attempts: for a further attempt it is called with only the weak columns open."""

    has_stronger = False

    def __init__(self, answer: Answer, fields: Sequence[Field]) -> None:
        self._answer = answer
        self._names = tuple(field.name for field in fields)

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self._answer(row, tell)

    def begin(self, row: Row, tell: Tell) -> StatelessRow:
        return StatelessRow(self._answer, row, tell, self._names)


class StatelessRow:
    remembers = False
    is_exhausted = False

    def __init__(self, answer: Answer, row: Row, tell: Tell, names: Sequence[str]) -> None:
        self._answer = answer
        self._row = row
        self._tell = tell
        self._names = names

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        done = [name for name in self._names if not feedback.wants(name)]
        findings = await self._answer(close_cells(self._row, done), self._tell)
        return [finding for finding in findings if feedback.wants(finding.field)]


def close_cells(row: Row, names: Collection[str]) -> Row:
    """The row as if these cells needed no work."""
    cells = {
        # A cell that was looked for without success needs no work, so the strategy leaves it out.
        name: msgspec.structs.replace(row.cell(name), status="FAILED", reason="not_found")
        for name in names
        if row.cell(name).needs_work
    }
    return msgspec.structs.replace(row, cells={**row.cells, **cells}) if cells else row


class AttemptRecorder:
    """Extracts from the trace of a row the queries and pages that each attempt tried."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._read = 0

    def attempt(
        self, number: int, columns: tuple[str, ...], found: Mapping[str, Finding], assessment: Assessment
    ) -> Attempt:
        """Return the attempt that ends here; later steps belong to the next."""
        steps = [step for step, _ in self._trace.steps[self._read :]]
        self._read += len(steps)
        results = {name: found[name] for name in columns if name in found}
        return Attempt(
            number=number,
            columns=columns,
            patterns=collect_step_data(steps, "search", "pattern"),
            queries=collect_step_data(steps, "search", "query"),
            # Pages that refused count as tried too, and are named apart.
            urls=collect_step_data(steps, "fetch", "url") + collect_step_data(steps, "error", "url"),
            refused=collect_step_data(steps, "error", "url"),
            results={
                name: format_value(finding.value) for name, finding in results.items() if finding.value is not None
            },
            confidences={name: finding.confidence for name, finding in results.items()},
            assessment=assessment,
        )


def collect_step_data(steps: Sequence[Step], kind: str, key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(step.data[key]) for step in steps if step.type == kind and step.data.get(key)))


def merge_findings(old: Finding | None, new: Finding) -> Finding:
    """Return the better of two findings of a field; if they differ, it has the other as a conflict."""
    if old is None or (old.value is None and (new.value is not None or not old.conflict)):
        return new
    if new.value is None:
        return old
    if same_value(old.value, new.value, "merging"):
        # The same value again: the later one has the evidence of the attempt that looked closer.
        return new if new.confidence >= old.confidence else old
    # The older wins a tie: a second look that is no surer overturns nothing.
    better, other = (new, old) if new.confidence > old.confidence else (old, new)
    rivals = [Conflict(value=other.value, evidence=other.evidence), *other.conflict]
    known = [better.value, *(each.value for each in better.conflict)]
    more = tuple(each for each in rivals if not any(same_value(each.value, value, "merging") for value in known))
    return msgspec.structs.replace(better, conflict=(*better.conflict, *more))


def describe_attempt(feedback: Feedback) -> str:
    """Return the next attempt as text, for the trace."""
    # One line of the trace; the assessment has the whole reason.
    why = "; ".join(f"{weak.name}: {shorten_text(weak.reason, 160)}" for weak in feedback.weak)
    return f"Attempt {feedback.attempt}, for {', '.join(feedback.focus)} only. {why}"


# ── the quality gate: which fields of a row are not answered well enough, and why ────────────────────────────────────

# Part of the next prompt: each says where else to look for this kind of weakness.
HINT_OF_WEAKNESS: dict[Weakness, str] = {
    "missing": "If no result was about the row, try other forms of its name, or what tells it apart; else look for the "
    "kind of page that states it, under another name of the column.",
    "blocked": "Look for other sites than those that refused.",
    "unsure": "Look for a page that states it outright.",
    "disputed": "Look for the row's own or an official page, which settles it.",
}


def assess_findings(fields: Sequence[Field], findings: Mapping[str, Finding], threshold: float) -> Assessment:
    weak = [
        column for field in fields if (column := find_weakness(field, findings.get(field.name), threshold)) is not None
    ]
    return Assessment(weak=tuple(weak))


def find_weakness(field: Field, finding: Finding | None, threshold: float) -> WeakColumn | None:
    """Return why a field is not answered well enough; None if it is, or never can be."""
    if finding is None:
        return make_weak_column(field, "missing", "no answer was given")
    if finding.value is None:
        # Another attempt cannot change these.
        if finding.reason in ("not_applicable", "over_budget"):
            return None
        kind: Weakness = "blocked" if finding.reason == "blocked" else "missing"
        return make_weak_column(field, kind, f"nothing found. {finding.error or ''}".strip())
    cell = preview_cell(field, finding)
    if cell.value is None:
        return make_weak_column(field, "unsure", cell.error or f"{format_value(finding.value)} is not a {field.type}")
    confidence = cell.confidence or 0.0
    if confidence >= threshold:
        return None
    value = " of ".join(filter(None, (format_value(cell.value), name_sources(finding.evidence))))
    said = f"low confidence ({confidence:.2f}) in {value}" + (f" ({cell.error})" if cell.error else "")
    if finding.conflict:
        others = "; ".join(
            describe_conflicts((each,), f"{name_sources(each.evidence) or 'another source'} says")
            for each in finding.conflict
        )
        return make_weak_column(field, "disputed", f"{said}: {others}", confidence)
    return make_weak_column(field, "unsure", said, confidence)


def name_sources(evidence: Sequence[Evidence]) -> str:
    """Return the sites of the sources, or the titles of those without one."""
    return " and ".join(dict.fromkeys(each.domain or each.title for each in evidence if each.domain or each.title))


def preview_cell(field: Field, finding: Finding) -> Cell:
    """Return the cell that the finding would become, to see whether its column can hold the value."""
    return proposed_cell(field, finding, run_id="", attempt=finding.attempt, at="")


def make_weak_column(field: Field, kind: Weakness, reason: str, confidence: float = 0.0) -> WeakColumn:
    return WeakColumn(name=field.name, weakness=kind, reason=reason, hint=HINT_OF_WEAKNESS[kind], confidence=confidence)
