"""Different values for one cell: a model says whether they contradict each other, or whether each is right for what it
speaks of, such as the offers of two sellers. Without a model, another value counts against the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from tablewright.decisions.compare_values import ComparedValues, CompareValues, DifferentValues, ToCompare
from tablewright.decisions.decision import Decision, Outcome
from tablewright.domain.model import Field, Finding, Step, Value
from tablewright.domain.text import show
from tablewright.extraction.about import Subject
from tablewright.strategies.findings import ReadCandidate, among
from tablewright.values.coerce import coerce

Decide: TypeAlias = Callable[[Decision[Any, Any], Any], Awaitable[Outcome[Any]]]
Pairs: TypeAlias = list[tuple[Value, Value]]


class Disagreements:
    """Of one row, by column. Values that stand `side_by_side`, such as what sellers ask, are not compared."""

    def __init__(self, subject: Subject, side_by_side: Collection[str] = ()) -> None:
        self._subject = subject
        self._side_by_side = side_by_side
        self._compared: defaultdict[str, Pairs] = defaultdict(list)
        self.both_right: defaultdict[str, Pairs] = defaultdict(list)

    def read_at_once(self, field: Field, reads: Sequence[ReadCandidate]) -> None:
        """Whoever gives two answers from texts that were read together says that they contradict each other."""
        self._compared[field.name] += combinations([read.value for read in reads], 2)

    async def compare(
        self, fields: Sequence[Field], found: Mapping[str, Finding | None], decide: Decide
    ) -> dict[str, Step]:
        """Asks once for all values that were read apart; by column, what it changes."""
        pairs = [
            (coerce(show(each.value), field).value, rival.value, different(field, each, place))
            for field in fields
            if (each := found[field.name]) is not None and field.name not in self._side_by_side
            for place, rival in enumerate(each.conflict)
        ]
        pairs = [pair for pair in pairs if not among(pair[0], pair[1], self._compared[pair[2].field.name])]
        if not pairs:
            return {}
        asked = ToCompare(subject=self._subject, pairs=tuple(shown for _, _, shown in pairs))
        compared: Sequence[ComparedValues] = (await decide(CompareValues(), asked)).decided
        steps = {}
        for (value, rival, shown), verdict in zip(pairs, compared, strict=True):
            name = shown.field.name
            self._compared[name].append((value, rival))
            if verdict.relation == "differ":
                self.both_right[name].append((value, rival))
                detail = f"{shown.value} and {shown.other} do not contradict each other: {verdict.reason}"
                steps[name] = Step(type="thinking", detail=detail, data={"both_right": True})
        return steps


def different(field: Field, finding: Finding, place: int) -> DifferentValues:
    rival = finding.conflict[place]
    return DifferentValues(
        field=field,
        value=show(finding.value),
        evidence=finding.evidence,
        other=show(rival.value),
        other_evidence=rival.evidence,
    )
