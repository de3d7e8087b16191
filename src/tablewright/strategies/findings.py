"""From what was read to a finding: each reading checked by the evidence rule, sources weighed against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from tablewright.citations.evidence import basis_of, conversion, copies, follows, independent
from tablewright.citations.quotes import cite_span, is_near_injection
from tablewright.decisions.decision import Decision, Outcome
from tablewright.decisions.judge_values import ComparedPair, CompareValues, DifferentValues, ToCompare
from tablewright.domain.confidence import confidence
from tablewright.domain.model import Basis, Conflict, Evidence, Field, Finding, Noun, Step, Value, confidence_label
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words, show
from tablewright.extraction import ambiguity
from tablewright.extraction.about import Subject, is_own_site
from tablewright.extraction.candidate import Candidate, SourceSpan
from tablewright.values.coerce import coerce
from tablewright.values.same_value import group_by_value, same_value

MOST_EVIDENCE = 4
MOST_CONCLUDED = 8
"""Passages of a value that was judged or computed: all that it came from, for whoever looks again."""
NOBODY = Subject(name="")
STATED = 0.5
"""What a reading of the preferred kind of source must score to go before others."""
RIVAL = 0.6
"""How strong, beside the chosen value, another one must be to count as a disagreement."""


class ReadCandidate(Noun, frozen=True):
    """A candidate and the text it was read from; `value` is what it is for its field, `evidence` all its passages, and
    `doubt` why its quote does not settle it."""

    candidate: Candidate
    source: Retrieved
    value: Value
    basis: Basis
    converted_by: str
    evidence: tuple[Evidence, ...]
    doubt: str = ""


class FindingGroup(Noun, frozen=True):
    """One value and the independent sources that give it, the best first."""

    reads: tuple[ReadCandidate, ...]

    @property
    def scores(self) -> list[float]:
        return [read.candidate.score for read in self.reads]

    @property
    def strength(self) -> float:
        return confidence(self.scores)

    @property
    def doubt(self) -> str:
        """Why no quote settles the value; "" where one does."""
        return self.reads[0].doubt if all(read.doubt for read in self.reads) else ""

    @property
    def most(self) -> float:
        """The most that it can be worth: quotes that do not settle a value never make it sure."""
        settled = [read.candidate.score for read in self.reads if not read.doubt]
        return 1.0 if len(settled) == len(self.reads) else max(ambiguity.MOST, confidence(settled))


def checked(field: Field, candidates: Sequence[Candidate], sources: Sequence[Retrieved]) -> list[ReadCandidate]:
    """Those whose value follows from their quote and is a value of the field. What a model has judged is let through
    as such: whether its quotes bear it is a question of its own."""
    reads = []
    for candidate in candidates:
        source = sources[candidate.source]
        value = coerce(candidate.value, field).value
        if value is None or is_near_injection(source.text, candidate.start, candidate.end):
            continue
        basis, rule = candidate.basis, candidate.converted_by
        if basis is None and (shown := follows(candidate.value, source.text[candidate.start : candidate.end], field)):
            basis, rule = basis_of(shown), conversion(shown)
        if basis is not None:
            spans = (SourceSpan(source=candidate.source, start=candidate.start, end=candidate.end), *candidate.more)
            evidence = tuple(cite_span(sources[span.source], span.start, span.end) for span in spans)
            reads.append(
                ReadCandidate(
                    candidate=candidate,
                    source=source,
                    value=value,
                    basis=basis,
                    converted_by=rule,
                    evidence=evidence,
                    doubt=ambiguity.find_ambiguity(field, value, evidence[0].quote)
                    if basis in ("stated", "converted")
                    else "",
                )
            )
    return reads


def resolve_value(
    field: Field,
    reads: Sequence[ReadCandidate],
    subject: Subject = NOBODY,
    prefers: str = "",
    both_right: Collection[tuple[Value, Value]] = (),
) -> Finding | None:
    """The value with the most support, with the others that independent sources give; None where nothing was read.
    `both_right` are pairs of values that do not contradict each other.

    What a source of the preferred kind states goes before what others say. Of two that are as well supported, the one
    on the subject's own site counts."""
    sides = sorted(_grouped_by_value(reads), key=lambda side: (not _preferred(side, prefers), -side.strength))
    if not sides:
        return None
    best = _best(sides, subject, prefers)
    rivals = [
        side
        for side in sides
        if side is not best
        and _disagrees(best, side)
        and not among(best.reads[0].value, side.reads[0].value, both_right)
    ]
    only_snippets = all(read.source.kind == "snippet" for read in best.reads)
    sure = min(best.most, confidence(best.scores, [rival.scores[0] for rival in rivals], snippet=only_snippets))
    return Finding(
        field=field.name,
        value=best.reads[0].candidate.value,
        confidence=sure,
        basis=best.reads[0].basis,
        converted_by=best.reads[0].converted_by,
        evidence=_evidence(best),
        conflict=tuple(Conflict(value=rival.reads[0].value, evidence=_evidence(rival)) for rival in rivals),
        error=best.doubt or None,
    )


def among(one: Value, other: Value, pairs: Collection[tuple[Value, Value]]) -> bool:
    """Return True if the two values are such a pair, in either order."""
    return any(
        same_value(one, first, "merging") and same_value(other, second, "merging")
        for pair in pairs
        for first, second in (pair, pair[::-1])
    )


def _grouped_by_value(reads: Sequence[ReadCandidate]) -> list[FindingGroup]:
    groups = group_by_value(sorted(reads, key=lambda read: -read.candidate.score), lambda read: read.value)
    sides = [FindingGroup(reads=tuple(_independent(group))) for group in groups]
    return sorted(sides, key=lambda side: -side.strength)


def _best(sides: Sequence[FindingGroup], subject: Subject, prefers: str) -> FindingGroup:
    """The first, or one that the subject's own site states, where it is as sure and no fewer sources give it."""
    first = sides[0]
    as_good = (
        side
        for side in sides
        if len(side.reads) >= len(first.reads)
        and confidence_label(side.strength) == confidence_label(first.strength)
        and _preferred(side, prefers) == _preferred(first, prefers)
    )
    return next((side for side in as_good if _own(side, subject)), first)


def _preferred(side: FindingGroup, kind: str) -> bool:
    return any(read.source.kind == kind and read.candidate.score >= STATED for read in side.reads)


def _own(side: FindingGroup, subject: Subject) -> bool:
    """Whether a site says it that is called like the row, or like one of its other cells: its maker, its brand."""
    names = {_letters(value) for value in subject.context.values()} - {""}
    return any(
        is_own_site(subject, read.source.domain) or _letters(read.source.domain.partition(".")[0]) in names
        for read in side.reads
    )


def _letters(name: str) -> str:
    return normalize_words(name.replace("&", " and ")).replace(" ", "")


def _independent(group: list[ReadCandidate]) -> list[ReadCandidate]:
    kept: list[ReadCandidate] = []
    for read in group:
        if all(independent(read.source, other.source) for other in kept):
            kept.append(read)
    return kept[:MOST_EVIDENCE]


def _disagrees(best: FindingGroup, other: FindingGroup) -> bool:
    """Another page says something else, about as surely, or a model says that a page contradicts another. Without a
    model two values of one page are only a page with two values.

    It need not be of another site: only agreement must be independent to count."""
    apart = [
        read
        for read in other.reads
        if read.candidate.basis or all(_apart(read.source, mine.source) for mine in best.reads)
    ]
    return bool(apart) and apart[0].candidate.score >= RIVAL * best.scores[0]


def _apart(one: Retrieved, other: Retrieved) -> bool:
    return one.origin != other.origin and not copies(one.text, other.text)


def _evidence(side: FindingGroup) -> tuple[Evidence, ...]:
    """A passage of each source first, then what else they say."""
    first = [read.evidence[0] for read in side.reads]
    most = MOST_EVIDENCE if side.reads[0].basis in ("stated", "converted") else MOST_CONCLUDED
    return tuple(dict.fromkeys((*first, *(each for read in side.reads for each in read.evidence))))[:most]


# ── different values for one cell ────────────────────────────────────────────────────────────────────────────────────

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
        compared: Sequence[ComparedPair] = (await decide(CompareValues(), asked)).decided
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
