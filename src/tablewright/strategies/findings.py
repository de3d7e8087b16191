"""From what was read to a finding: each reading checked by the evidence rule, sources weighed against each other.

How sure a value is follows from what code can see, never from a model's own word alone. Each independent source leaves
a share of doubt and the doubts multiply; a source that says otherwise takes some of the sureness away. What one source
is worth is the reader's score: fitted for the built-in reader (evals/README.md has the calibration), and set by basis
and by whether the page is about the row for what a model has read (decisions/read.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from tablewright.citations.evidence import basis_of, conversion, copies, follows, independent
from tablewright.citations.quotes import cite_span, is_near_injection
from tablewright.decisions.decision import Decision, Outcome
from tablewright.decisions.judge_values import ComparedPair, CompareValues, DifferentValues, ToCompare
from tablewright.domain.model import (
    Basis,
    Conflict,
    Evidence,
    Field,
    Finding,
    Money,
    Noun,
    Step,
    Value,
    confidence_label,
)
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words, show
from tablewright.extraction.about import Subject, is_own_site
from tablewright.extraction.meaning import RELATED, Wanted, content, likeness, wanted
from tablewright.extraction.reader import Candidate, SourceSpan
from tablewright.values.coerce import coerce
from tablewright.values.dates import EARLIEST_YEAR, LATEST_YEAR, read_dates
from tablewright.values.measures import in_unit, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.same_value import group_by_value, same_value
from tablewright.values.units import parse_unit

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
        return 1.0 if len(settled) == len(self.reads) else max(MOST_UNSETTLED, confidence(settled))


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
                    doubt=find_ambiguity(field, value, evidence[0].quote) if basis in ("stated", "converted") else "",
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
        and not is_pair_of(best.reads[0].value, side.reads[0].value, both_right)
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


def is_pair_of(one: Value, other: Value, pairs: Collection[tuple[Value, Value]]) -> bool:
    """Return True if the two values are such a pair, in either order."""
    return any(
        same_value(one, first, "merging") and same_value(other, second, "merging")
        for pair in pairs
        for first, second in (pair, pair[::-1])
    )


def _grouped_by_value(reads: Sequence[ReadCandidate]) -> list[FindingGroup]:
    best_first = sorted(reads, key=lambda read: -read.candidate.score)
    groups = group_by_value(best_first, [read.value for read in best_first])
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
    """Return True if a site says it that is called like the row, or like one of its other cells: its maker, its
    brand."""
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
        pairs = [pair for pair in pairs if not is_pair_of(pair[0], pair[1], self._compared[pair[2].field.name])]
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


# ── how sure a value is ──────────────────────────────────────────────────────────────────────────────────────────────

MOST_CONFIDENCE = 0.99
MOST_FROM_ONE = 0.95
"""No single source makes a value surer than this."""
SNIPPET = 0.85
"""A search result shows a part of its page."""
DISPUTED = 0.45


def confidence(scores: Sequence[float], against: Sequence[float] = (), *, snippet: bool = False) -> float:
    """`scores` are those of the independent sources that agree, `against` of those that say something else."""
    doubt = 1.0
    for score in scores:
        doubt *= 1.0 - min(MOST_FROM_ONE, max(0.0, score))
    sure = 1.0 - doubt
    if against:
        other = max(against)
        sure *= 1.0 - DISPUTED * other / max(other, sure)
    if snippet:
        sure *= SNIPPET
    return round(min(MOST_CONFIDENCE, max(0.0, sure)), 4)


# ── quotes that do not settle a value, as the 39 of "39 years ago" is no year ────────────────────────────────────────

MOST_UNSETTLED = 0.75
"""The most that a value is worth whose quotes do not settle it: below what counts as high."""


class ReadFigure(Noun, frozen=True):
    """A number, amount or date that stands at `start:end` of a text; `others` are its second readings and the far end
    of a range."""

    value: Value
    start: int
    end: int
    others: tuple[Value, ...] = ()
    unit: str = ""


def find_ambiguity(field: Field, value: Value, quote: str) -> str:
    """Return why the quote does not settle the value, or "" where it does. Cells and lines speak for themselves, so
    only the one that has the value counts."""
    if field.type not in ("number", "money", "date") or value is None:
        return ""
    reason = ""
    for part in re.split(r"[|\n]", quote):
        figures = list(find_figures(field, value, part))
        if not any(is_same(figure.value, value) or is_one_of(value, figure.others) for figure in figures):
            continue
        if not (reason := _find_ambiguity_in(wanted(field), value, part, figures)):
            return ""
    return reason


def _find_ambiguity_in(want: Wanted, value: Value, text: str, figures: Sequence[ReadFigure]) -> str:
    own = next(
        (place for place, figure in enumerate(figures) if is_same(figure.value, value)),
        next((place for place, figure in enumerate(figures) if is_one_of(value, figure.others)), 0),
    )
    chosen = figures[own]
    written = " ".join(text[chosen.start : chosen.end].split())
    if chosen.others:
        other = chosen.others[0] if is_same(chosen.value, value) else chosen.value
        return f"“{written}” may also be {show(other)}"
    if chosen.unit:
        return f"“{written}” is given in {chosen.unit}, which may be something else than {want.field.name}"
    rivals = [place for place, figure in enumerate(figures) if not is_same(figure.value, value)]
    if not rivals:
        return ""
    near = [_words_near(text, figures, place) for place in range(len(figures))]
    speaks = _speaks_of(want, near[own])
    for place in rivals:
        is_other = bool(near[place]) and speaks >= RELATED and _speaks_of(want, near[place]) < speaks
        if not is_other:
            return f"the quote also has {show(figures[place].value)}"
    return ""


# ── what could be the value ──────────────────────────────────────────────────────────────────────────────────────────

_BARE_YEAR = re.compile(r"[12]\d{3}")


def find_figures(field: Field, value: Value, text: str) -> Iterator[ReadFigure]:
    """Yield everything in the text that could be a value of the field."""
    match field.type:
        case "date":
            for date in read_dates(text):
                if date.doubtful and date.iso != value:
                    continue
                others = tuple(filter(None, (date.last, date.other_iso)))
                yield ReadFigure(value=date.iso, start=date.start, end=date.end, others=others)
        case "money":
            amounts = read_amounts(text, field.unit)
            is_marked = any(amount.money.currency for amount in amounts)
            for amount in amounts:
                if amount.money.currency or not is_marked or is_same(amount.money, value):
                    far = () if amount.high is None else (Money(amount=amount.high, currency=amount.money.currency),)
                    yield ReadFigure(value=amount.money, start=amount.start, end=amount.end, others=far)
        case _ if field.unit and parse_unit(field.unit):
            yield from _find_measures(field.unit, text)
        case _:
            yield from _find_numbers(wanted(field), value, text)


def _find_measures(unit: str, text: str) -> Iterator[ReadFigure]:
    for measure in read_measures(text, unit):
        fit = in_unit(measure, unit) if measure.unit else measure
        if fit is not None:
            far = (*(() if fit.high is None else (fit.high,)), *fit.sizes[1:])
            yield ReadFigure(value=fit.value, start=fit.start, end=fit.end, others=far)


def _find_numbers(want: Wanted, value: Value, text: str) -> Iterator[ReadFigure]:
    """Of numbers without a unit. Where a year is asked for, only years count, and else a bare year does not; the value
    itself always does, with the unit that stands behind it."""
    units = {measure.start: measure.unit for measure in read_measures(text)}
    for number in read_numbers(text):
        written = text[number.start : number.end]
        is_year = bool(_BARE_YEAR.fullmatch(written)) and EARLIEST_YEAR <= number.value <= LATEST_YEAR
        unit = "percent" if number.percent else units.get(number.start, "")
        is_own = is_same(number.value, value)
        far = () if number.high is None else (number.high,)
        if want.kind == "year":
            is_measured = unit != "" or not is_year
            if is_own or is_year or far:
                yield ReadFigure(
                    value=number.value, start=number.start, end=number.end, others=far,
                    unit=(unit or "no form of a year") if is_own and is_measured else "",
                )  # fmt: skip
        elif is_own or is_one_of(value, far):
            misfit = unit if want.kind == "count" else ""
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far, unit=misfit)
        elif not is_year and not unit:
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far)


def is_same(one: Value, other: Value) -> bool:
    """Return True if both are one value of the text; whole numbers, which no conversion gives, must be equal."""
    if isinstance(one, str) and isinstance(other, str):
        return one.startswith(other)
    numbers = [value.amount if isinstance(value, Money) else value for value in (one, other)]
    is_whole = all(isinstance(number, int) for number in numbers)
    return same_value(one, other, "proving" if is_whole else "restating")


def is_one_of(value: Value, others: Sequence[Value]) -> bool:
    return any(is_same(other, value) for other in others)


# ── what stands beside it ────────────────────────────────────────────────────────────────────────────────────────────

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")


def _words_near(text: str, figures: Sequence[ReadFigure], place: int) -> tuple[str, ...]:
    """The telling words that lead to a figure, and those right behind it up to a mark or a small word: the "employees"
    of "500 employees in 30 countries" belongs to 500."""
    before = figures[place - 1].end if place else 0
    after = figures[place + 1].start if place + 1 < len(figures) else len(text)
    lead = text[before : figures[place].start]
    if place:
        lead = lead[len(_tail(lead)) :]
    return content(f"{lead} {_tail(text[figures[place].end : after])}")


def _tail(text: str) -> str:
    """The words at the beginning of a text that go with what stands before them."""
    end = 0
    for word in _WORD.finditer(text):
        if not content(word[0]):
            break
        end = word.end()
    return text[:end]


def _speaks_of(want: Wanted, words: tuple[str, ...]) -> float:
    """Return how much the words are like those of the field."""
    asked = want.words
    return float(likeness(asked, words).max(initial=0.0)) if asked and words else 0.0
