"""Turn candidates into a finding: check each by the evidence rule, and weigh independent sources against each other.

Confidence follows from what code can see, never from a model's word alone. Each independent source leaves a share of
doubt and the doubts multiply; a source that disagrees lowers the confidence. The weight of a source is the reader's
score: fitted for the built-in reader (evals/README.md has the calibration); for a model's reading it is set by basis
and by whether the page is about the row (llm/tasks/read.py). Pure functions, except that a model may compare values.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from msgspec import structs

from tablewright.citations.evidence import are_independent, basis_for_rule, conversion_rule, find_proving_rule, is_copy
from tablewright.citations.quotes import cite_span, is_near_injection
from tablewright.domain.model import (
    MAX_DOUBTED_CONFIDENCE,
    Basis,
    Conflict,
    Evidence,
    Field,
    Finding,
    Money,
    Step,
    Struct,
    Value,
    confidence_label,
)
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import format_value, normalize_words
from tablewright.extraction.meaning import LIKENESS, FieldQuery, build_field_query, content_words, word_similarity
from tablewright.extraction.reader import Candidate, SourceSpan
from tablewright.extraction.subject import Subject, is_own_site
from tablewright.llm.tasks.decision import Decision, Outcome
from tablewright.llm.tasks.judge_values import ComparedPair, CompareValues, DifferentValues, ValuesToCompare
from tablewright.values.coerce import coerce_value
from tablewright.values.dates import EARLIEST_YEAR, LATEST_YEAR, read_dates
from tablewright.values.measures import convert_measure, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.same_value import group_by_value, same_value
from tablewright.values.units import parse_unit

# A few independent quotes prove a stated value; a judged or computed one needs all passages that it came from.
MAX_EVIDENCE, MAX_CONCLUDED_EVIDENCE = 4, 8
NO_SUBJECT = Subject(name="")


class ReadCandidate(Struct, frozen=True):
    """A candidate and the text it was read from; `value` has its field's type, `evidence` all its passages, and `doubt`
    says why its quote does not settle it. An alternative that no quote shows has no evidence."""

    candidate: Candidate
    source: Retrieved
    value: Value
    basis: Basis
    converted_by: str
    evidence: tuple[Evidence, ...]
    doubt: str = ""
    alternatives: tuple[Conflict, ...] = ()


class CandidateGroup(Struct, frozen=True):
    """One value and the independent sources that give it, the best first."""

    reads: tuple[ReadCandidate, ...]

    @property
    def scores(self) -> list[float]:
        return [read.candidate.score for read in self.reads]

    @property
    def strength(self) -> float:
        return combine_scores(self.scores)

    @property
    def doubt(self) -> str:
        """Why no quote settles the value, or ""."""
        return self.reads[0].doubt if all(read.doubt for read in self.reads) else ""

    @property
    def most(self) -> float:
        """The highest confidence it can have: quotes that do not settle a value never make it sure."""
        settled = [read.candidate.score for read in self.reads if not read.doubt]
        return 1.0 if len(settled) == len(self.reads) else max(MAX_DOUBTED_CONFIDENCE, combine_scores(settled))


def check_candidates(
    field: Field, candidates: Sequence[Candidate], sources: Sequence[Retrieved]
) -> list[ReadCandidate]:
    """Return the candidates whose value follows from their quote and fits the field. Values that a model judged are let
    through; a separate task checks whether their quotes support them."""
    reads = []
    for candidate in candidates:
        source = sources[candidate.source]
        value = coerce_value(candidate.value, field).value
        # A passage next to orders for machines may have been planted with them.
        if value is None or is_near_injection(source.text, candidate.start, candidate.end):
            continue
        basis, rule = candidate.basis, candidate.converted_by
        if basis is None and (
            shown := find_proving_rule(candidate.value, source.text[candidate.start : candidate.end], field)
        ):
            basis, rule = basis_for_rule(shown), conversion_rule(shown)
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
                    alternatives=tuple(_list_alternatives(field, value, candidate, sources)),
                )
            )
    return reads


def _list_alternatives(
    field: Field, value: Value, candidate: Candidate, sources: Sequence[Retrieved]
) -> Iterator[Conflict]:
    for other in candidate.alternatives:
        meant = coerce_value(other.value, field).value
        if (meant is not None and same_value(meant, value, "merging")) or any(
            is_near_injection(sources[span.source].text, span.start, span.end) for span in other.spans
        ):
            continue
        evidence = tuple(cite_span(sources[span.source], span.start, span.end) for span in other.spans)
        yield Conflict(value=meant, evidence=evidence if meant is not None else (), reason=other.reason)


def resolve_value(
    field: Field,
    reads: Sequence[ReadCandidate],
    subject: Subject = NO_SUBJECT,
    prefers: str = "",
    both_right: Collection[tuple[Value, Value]] = (),
) -> Finding | None:
    """Return the value with the most support, and those of disagreeing sources as conflicts; None if nothing was read.
    `both_right` are pairs of values that do not contradict each other.

    A source of the preferred kind goes before others. Of two equally supported values, the one on the subject's own
    site wins."""
    sides = sorted(_group_candidates(reads), key=lambda side: (not _is_preferred_kind(side, prefers), -side.strength))
    if not sides:
        return None
    best = _choose_best_group(sides, subject, prefers)
    rivals = [
        side
        for side in sides
        if side is not best
        and _is_rival_group(best, side)
        and not is_pair_of(best.reads[0].value, side.reads[0].value, both_right)
    ]
    only_snippets = all(read.source.kind == "snippet" for read in best.reads)
    sure = min(best.most, combine_scores(best.scores, [rival.scores[0] for rival in rivals], snippet=only_snippets))
    alternatives = [other for read in best.reads for other in read.alternatives]
    if alternatives:
        sure = min(sure, MAX_DOUBTED_CONFIDENCE)
    conflicts = [Conflict(value=rival.reads[0].value, evidence=_collect_evidence(rival)) for rival in rivals]
    unproved = [f"It may be read another way, which no quote shows: {o.reason}" for o in alternatives if not o.evidence]
    return Finding(
        field=field.name,
        value=best.reads[0].candidate.value,
        confidence=sure,
        basis=best.reads[0].basis,
        converted_by=best.reads[0].converted_by,
        evidence=_collect_evidence(best),
        conflict=_merge_conflicts(conflicts, [other for other in alternatives if other.evidence]),
        error=" ".join(filter(None, (best.doubt, *unproved[:1]))) or None,
    )


def _merge_conflicts(conflicts: Sequence[Conflict], alternatives: Sequence[Conflict]) -> tuple[Conflict, ...]:
    """Return the values of other sources and of other readings, each value once; those with a reason come first."""
    merged: list[Conflict] = []
    for other in (*alternatives, *conflicts):
        place = next((n for n, each in enumerate(merged) if same_value(each.value, other.value, "merging")), None)
        if place is None:
            merged.append(other)
        else:
            evidence = tuple(dict.fromkeys((*merged[place].evidence, *other.evidence)))
            merged[place] = structs.replace(merged[place], evidence=evidence[:MAX_EVIDENCE])
    return tuple(merged)


def is_pair_of(one: Value, other: Value, pairs: Collection[tuple[Value, Value]]) -> bool:
    """Return True if the two values are such a pair, in either order."""
    return any(
        same_value(one, first, "merging") and same_value(other, second, "merging")
        for pair in pairs
        for first, second in (pair, pair[::-1])
    )


def _group_candidates(reads: Sequence[ReadCandidate]) -> list[CandidateGroup]:
    best_first = sorted(reads, key=lambda read: -read.candidate.score)
    groups = group_by_value(best_first, [read.value for read in best_first])
    sides = [CandidateGroup(reads=tuple(_keep_independent_reads(group))) for group in groups]
    return sorted(sides, key=lambda side: -side.strength)


def _choose_best_group(sides: Sequence[CandidateGroup], subject: Subject, prefers: str) -> CandidateGroup:
    """Return the first group, or one from the subject's own site with the same confidence and no fewer sources."""
    first = sides[0]
    as_good = (
        side
        for side in sides
        if len(side.reads) >= len(first.reads)
        and confidence_label(side.strength) == confidence_label(first.strength)
        and _is_preferred_kind(side, prefers) == _is_preferred_kind(first, prefers)
    )
    return next((side for side in as_good if _is_from_own_site(side, subject)), first)


def _is_preferred_kind(side: CandidateGroup, kind: str) -> bool:
    return any(read.source.kind == kind and read.candidate.score >= Weights.MIN_PREFERRED_SCORE for read in side.reads)


def _is_from_own_site(side: CandidateGroup, subject: Subject) -> bool:
    """Return True if one of its sites is named like the row, or like one of its other cells: its maker, its brand."""
    names = {_keep_letters(value) for value in subject.context.values()} - {""}
    return any(
        is_own_site(subject, read.source.domain) or _keep_letters(read.source.domain.partition(".")[0]) in names
        for read in side.reads
    )


def _keep_letters(name: str) -> str:
    return normalize_words(name.replace("&", " and ")).replace(" ", "")


def _keep_independent_reads(group: list[ReadCandidate]) -> list[ReadCandidate]:
    # The best come first, so a copy gives way to the better reading of its text.
    kept: list[ReadCandidate] = []
    for read in group:
        if all(are_independent(read.source, other.source) for other in kept):
            kept.append(read)
    return kept[:MAX_EVIDENCE]


def _is_rival_group(best: CandidateGroup, other: CandidateGroup) -> bool:
    """Return True if another page gives another value about as surely, or a model read it. Without a model, two values
    on one page are no disagreement.

    The page need not be on another site: only agreement must be independent to count."""
    apart = [
        read
        for read in other.reads
        if read.candidate.basis or all(_is_other_page(read.source, mine.source) for mine in best.reads)
    ]
    return bool(apart) and apart[0].candidate.score >= Weights.MIN_RIVAL_SHARE * best.scores[0]


def _is_other_page(one: Retrieved, other: Retrieved) -> bool:
    return one.origin != other.origin and not is_copy(one.text, other.text)


def _collect_evidence(side: CandidateGroup) -> tuple[Evidence, ...]:
    """Return one passage of each source first, then their others."""
    first = [read.evidence[0] for read in side.reads]
    most = MAX_EVIDENCE if side.reads[0].basis in ("stated", "converted") else MAX_CONCLUDED_EVIDENCE
    return tuple(dict.fromkeys((*first, *(each for read in side.reads for each in read.evidence))))[:most]


# ── different values for one cell ────────────────────────────────────────────────────────────────────────────────────

Decide: TypeAlias = Callable[[Decision[Any, Any], Any], Awaitable[Outcome[Any]]]
Pairs: TypeAlias = list[tuple[Value, Value]]


class Disagreements:
    """Disagreements of sources about one row, by column. Values that go `side_by_side`, such as the prices of several
    sellers, are not compared."""

    def __init__(self, subject: Subject, side_by_side: Collection[str] = ()) -> None:
        self._subject = subject
        self._side_by_side = side_by_side
        self._compared: defaultdict[str, Pairs] = defaultdict(list)
        self.both_right: defaultdict[str, Pairs] = defaultdict(list)

    def read_at_once(self, field: Field, reads: Sequence[ReadCandidate]) -> None:
        """Note values that a model read together: by giving both it says that they contradict each other."""
        self._compared[field.name] += combinations([read.value for read in reads], 2)

    async def compare(
        self, fields: Sequence[Field], found: Mapping[str, Finding | None], decide: Decide
    ) -> dict[str, Step]:
        """Ask once about all values that were read separately; return by column the step of a changed verdict."""
        pairs = [
            (
                coerce_value(format_value(each.value), field).value,
                rival.value,
                make_different_values(field, each, place),
            )
            for field in fields
            if (each := found[field.name]) is not None and field.name not in self._side_by_side
            for place, rival in enumerate(each.conflict)
            # With a reason, the reader has judged how they go together.
            if not rival.reason
        ]
        pairs = [pair for pair in pairs if not is_pair_of(pair[0], pair[1], self._compared[pair[2].field.name])]
        if not pairs:
            return {}
        asked = ValuesToCompare(subject=self._subject, pairs=tuple(shown for _, _, shown in pairs))
        compared: Sequence[ComparedPair] = (await decide(CompareValues(), asked)).decided
        steps = {}
        for (value, rival, shown), verdict in zip(pairs, compared, strict=True):
            name = shown.field.name
            # Asked once in the whole row, whichever the verdict: a further attempt does not pay for it again.
            self._compared[name].append((value, rival))
            if verdict.relation == "differ":
                self.both_right[name].append((value, rival))
                detail = f"{shown.value} and {shown.other} do not contradict each other: {verdict.reason}"
                steps[name] = Step(type="thinking", detail=detail, data={"both_right": True})
        return steps


def make_different_values(field: Field, finding: Finding, place: int) -> DifferentValues:
    rival = finding.conflict[place]
    return DifferentValues(
        field=field,
        value=format_value(finding.value),
        evidence=finding.evidence,
        other=format_value(rival.value),
        other_evidence=rival.evidence,
    )


# ── confidence ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Weights:
    """Constants of the confidence, set with the calibration in evals/README.md."""

    # No number of sources makes a value certain: all may have copied one mistake.
    MAX = 0.99
    # No single source makes a value surer than this.
    MAX_OF_ONE_SOURCE = 0.95
    # A search result shows only a part of its page, so its quote may lack a condition.
    ONLY_SNIPPETS = 0.85
    # Lost to a rival that is as strong as the value itself.
    DISPUTE = 0.45
    # The preferred kind of source wins only with a reading of at least this score.
    MIN_PREFERRED_SCORE = 0.5
    # Another value counts as a disagreement only if its best score is at least this share of the chosen value's.
    MIN_RIVAL_SHARE = 0.6
    # Without a model, values of at least this confidence are proposed, and the others are shown as hints. On kinds of
    # pages that the reader was not fitted on, some three of four that are called "medium" are right (evals/README.md).
    MIN_PROPOSED = 0.70
    # There, some 19 of 20 values of at least this confidence are right. Those below it are called "medium" at most, and
    # those that are not sure enough to be proposed, but that other sources contradict, "low".
    MIN_HIGH, MAX_LOW = 0.85, 0.49


def combine_scores(scores: Sequence[float], against: Sequence[float] = (), *, snippet: bool = False) -> float:
    """Return the confidence of a value: `scores` are of the independent sources that agree, `against` of the others."""
    doubt = 1.0
    for score in scores:
        doubt *= 1.0 - min(Weights.MAX_OF_ONE_SOURCE, max(0.0, score))
    sure = 1.0 - doubt
    if against:
        # Only the strongest rival counts: several weak ones are often one mistake that was copied.
        other = max(against)
        sure *= 1.0 - Weights.DISPUTE * other / max(other, sure)
    if snippet:
        sure *= Weights.ONLY_SNIPPETS
    return round(min(Weights.MAX, max(0.0, sure)), 4)


# ── quotes that do not settle a value, as the 39 of "39 years ago" is no year ────────────────────────────────────────


class ReadFigure(Struct, frozen=True):
    """A number, amount or date at `start:end` of a text; `others` are its second readings and the end of a range."""

    value: Value
    start: int
    end: int
    others: tuple[Value, ...] = ()
    unit: str = ""


def find_ambiguity(field: Field, value: Value, quote: str) -> str:
    """Return why the quote does not settle the value, or "". Only the table cell or line that has the value counts: the
    others are about something else."""
    if field.type not in ("number", "money", "date") or value is None:
        return ""
    reason = ""
    for part in re.split(r"[|\n]", quote):
        figures = list(find_figures(field, value, part))
        if not any(is_same_figure(figure.value, value) or is_among_figures(value, figure.others) for figure in figures):
            continue
        if not (reason := _find_ambiguity_in(build_field_query(field), value, part, figures)):
            return ""
    return reason


def _find_ambiguity_in(want: FieldQuery, value: Value, text: str, figures: Sequence[ReadFigure]) -> str:
    own = next(
        (place for place, figure in enumerate(figures) if is_same_figure(figure.value, value)),
        next((place for place, figure in enumerate(figures) if is_among_figures(value, figure.others)), 0),
    )
    chosen = figures[own]
    written = " ".join(text[chosen.start : chosen.end].split())
    if chosen.others:
        other = chosen.others[0] if is_same_figure(chosen.value, value) else chosen.value
        return f"“{written}” may also be {format_value(other)}"
    if chosen.unit:
        return f"“{written}” is given in {chosen.unit}, which may be something else than {want.field.name}"
    rivals = [place for place, figure in enumerate(figures) if not is_same_figure(figure.value, value)]
    if not rivals:
        return ""
    near = [_words_near(text, figures, place) for place in range(len(figures))]
    speaks = _field_likeness(want, near[own])
    for place in rivals:
        is_other = bool(near[place]) and speaks >= LIKENESS.related and _field_likeness(want, near[place]) < speaks
        if not is_other:
            return f"the quote also has {format_value(figures[place].value)}"
    return ""


# ── figures in a quote that could be the value ───────────────────────────────────────────────────────────────────────


def find_figures(field: Field, value: Value, text: str) -> Iterator[ReadFigure]:
    """Yield everything in the text that could be a value of the field."""
    match field.type:
        case "date":
            for date in read_dates(text):
                # A figure that may be no date is no rival, but it may be where the value comes from.
                if date.doubtful and date.iso != value:
                    continue
                others = tuple(filter(None, (date.last, date.other_iso)))
                yield ReadFigure(value=date.iso, start=date.start, end=date.end, others=others)
        case "money":
            amounts = read_amounts(text, field.unit)
            is_marked = any(amount.money.currency for amount in amounts)
            for amount in amounts:
                # Next to marked amounts, a bare number is something else: a year, a count.
                if amount.money.currency or not is_marked or is_same_figure(amount.money, value):
                    far = () if amount.high is None else (Money(amount=amount.high, currency=amount.money.currency),)
                    yield ReadFigure(value=amount.money, start=amount.start, end=amount.end, others=far)
        case _ if field.unit and parse_unit(field.unit):
            yield from _find_measures(field.unit, text)
        case _:
            yield from _find_numbers(build_field_query(field), value, text)


def _find_measures(unit: str, text: str) -> Iterator[ReadFigure]:
    for measure in read_measures(text, unit):
        fit = convert_measure(measure, unit) if measure.unit else measure
        if fit is not None:
            far = (*(() if fit.high is None else (fit.high,)), *fit.sizes[1:])
            yield ReadFigure(value=fit.value, start=fit.start, end=fit.end, others=far)


def _find_numbers(want: FieldQuery, value: Value, text: str) -> Iterator[ReadFigure]:
    """Yield numbers without a unit. A field that asks for a year gets only years, any other no bare years; the value
    itself is always included, with the unit that follows it."""
    units = {measure.start: measure.unit for measure in read_measures(text)}
    for number in read_numbers(text):
        written = text[number.start : number.end]
        # Four digits without a separator: "1,987" is a count.
        is_year = bool(re.fullmatch(r"[12]\d{3}", written)) and EARLIEST_YEAR <= number.value <= LATEST_YEAR
        unit = "percent" if number.percent else units.get(number.start, "")
        is_own = is_same_figure(number.value, value)
        far = () if number.high is None else (number.high,)
        if want.kind == "year":
            is_measured = unit != "" or not is_year
            if is_own or is_year or far:
                yield ReadFigure(
                    value=number.value, start=number.start, end=number.end, others=far,
                    unit=(unit or "no form of a year") if is_own and is_measured else "",
                )  # fmt: skip
        elif is_own or is_among_figures(value, far):
            misfit = unit if want.kind == "count" else ""
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far, unit=misfit)
        elif not is_year and not unit:
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far)


def is_same_figure(one: Value, other: Value) -> bool:
    """Return True if both are one value of the text; whole numbers, which no conversion gives, must be equal."""
    if isinstance(one, str) and isinstance(other, str):
        return one.startswith(other)
    numbers = [value.amount if isinstance(value, Money) else value for value in (one, other)]
    is_whole = all(isinstance(number, int) for number in numbers)
    return same_value(one, other, "proving" if is_whole else "restating")


def is_among_figures(value: Value, others: Sequence[Value]) -> bool:
    return any(is_same_figure(other, value) for other in others)


# ── the words next to a figure ───────────────────────────────────────────────────────────────────────────────────────

# A word, or a single mark, at which a phrase ends.
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")


def _words_near(text: str, figures: Sequence[ReadFigure], place: int) -> tuple[str, ...]:
    """Return the content words before a figure, and those right after it up to a mark or a small word: the "employees"
    of "500 employees in 30 countries" belongs to 500."""
    before = figures[place - 1].end if place else 0
    after = figures[place + 1].start if place + 1 < len(figures) else len(text)
    lead = text[before : figures[place].start]
    # Words right after the figure before belong to that one.
    if place:
        lead = lead[len(_leading_content(lead)) :]
    return content_words(f"{lead} {_leading_content(text[figures[place].end : after])}")


def _leading_content(text: str) -> str:
    """Return the content words at the beginning of a text, which belong to the figure before it."""
    end = 0
    for word in _WORD.finditer(text):
        if not content_words(word[0]):
            break
        end = word.end()
    return text[:end]


def _field_likeness(want: FieldQuery, words: tuple[str, ...]) -> float:
    """Return the likeness of the words to those of the field, from 0 to 1."""
    asked = want.words
    return float(word_similarity(asked, words).max(initial=0.0)) if asked and words else 0.0
