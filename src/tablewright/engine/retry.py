"""The feedback loop: a row whose answer is weak somewhere is looked at again, there alone and in another way.

attempt → quality gate → pass
                       → feedback (what was tried, why it was weak) → attempt for the weak columns → merge → …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.engine.policy import RetryPolicy
from tablewright.engine.quality import evaluate
from tablewright.strategies.feedback import FIRST, Feedback, Repeatable
from tablewright.strategies.findings import agree
from tablewright.strategies.strategy import Tell
from tablewright.table.attempts import Assessment, Attempt
from tablewright.table.model import Conflict, Field, Finding, Row, RowId, Step
from tablewright.table.text import shortened, show

REASON = 160
"""Characters of a reason in the trace."""

Record: TypeAlias = Callable[[RowId, Attempt], None]


class Retry:
    """Answers a row in as many attempts as the policy allows, and tells `record` of each."""

    def __init__(
        self,
        answer: Repeatable,
        fields: Sequence[Field],
        policy: RetryPolicy,
        record: Record,
        is_spent: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_spent` says whether the money is: then nothing is tried again."""
        self._answer = answer
        self._is_spent = is_spent
        self._fields = tuple(fields)
        self._policy = policy
        self._record = record

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        wanted = tuple(field for field in self._fields if row.cell(field.name).needs_work)
        tried = Tried(tell)
        work = self._answer.begin(row, tried)
        found: dict[str, Finding] = {}
        history: list[Attempt] = []
        feedback: Feedback | None = FIRST
        while feedback is not None:
            try:
                findings = await work.attempt(feedback)
            except Exception as error:
                if not history:
                    raise
                problem = (
                    f"Attempt {feedback.attempt} failed ({type(error).__name__}: {error}); the earlier findings stay."
                )
                tried(Step(type="error", detail=problem))
                break
            for finding in findings:
                new = msgspec.structs.replace(finding, attempt=feedback.attempt)
                found[finding.field] = new if work.remembers else merged(found.get(finding.field), new)
            columns = feedback.focus or tuple(field.name for field in wanted)
            assessment = evaluate(wanted, found, self._policy.threshold)
            history.append(tried.attempt(feedback.attempt, columns, found, assessment))
            self._record(row.id, history[-1])
            feedback = None if feedback.is_last else self._next(history)
            if feedback is not None:
                tried.focus = feedback.focus
                tried(Step(type="thinking", detail=announced(feedback), data={"attempt": feedback.attempt}))
        return list(found.values())

    def _next(self, history: Sequence[Attempt]) -> Feedback | None:
        """What to tell the next attempt; None when there is to be none."""
        if self._is_spent():
            return None
        if self._policy.should_retry(history):
            return Feedback(previous=tuple(history), is_last=len(history) + 1 == self._policy.attempts)
        # Nothing got better, but a stronger model has not had its turn yet.
        weak = len(history) < self._policy.attempts and not history[-1].assessment.passed
        return Feedback(previous=tuple(history), is_last=True) if weak and self._answer.has_stronger else None


class Tried:
    """Passes the steps on, and notes what they tried. A further attempt is in the trace of its own columns only."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._steps: list[Step] = []
        self.focus: tuple[str, ...] = ()

    def __call__(self, step: Step, *fields: str) -> None:
        self._steps.append(step)
        self._tell(step, *(fields or self.focus))

    def attempt(
        self, number: int, columns: tuple[str, ...], found: Mapping[str, Finding], assessment: Assessment
    ) -> Attempt:
        """The attempt that ends here; what comes after belongs to the next."""
        steps, self._steps = self._steps, []
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
    if agree(old.value, new.value):
        return new if new.confidence >= old.confidence else old
    better, other = (new, old) if new.confidence > old.confidence else (old, new)
    beside = [Conflict(value=other.value, evidence=other.evidence), *other.conflict]
    known = [better.value, *(each.value for each in better.conflict)]
    more = tuple(each for each in beside if not any(agree(each.value, value) for value in known))
    return msgspec.structs.replace(better, conflict=(*better.conflict, *more))


def announced(feedback: Feedback) -> str:
    """The next attempt in words, for the trace."""
    why = "; ".join(f"{weak.name}: {shortened(weak.reason, REASON)}" for weak in feedback.weak)
    return f"Attempt {feedback.attempt}, for {', '.join(feedback.focus)} alone. {why}"
