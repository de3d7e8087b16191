"""The built-in reader: finds the answers to a row's fields in retrieved texts, with no model and no network.

It looks in three places: "Label: value" lines, tables, and sentences in which an answer of the wanted kind stands beside
words that say so. Every candidate has the passage it was read from, and a score from 0 to 1 made of how surely the text is
about the row, how the place speaks of the field, and how well the answer fits its kind. Below `SURE` it abstains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.decisions.reader.about import Subject, about, mentions, short_names
from tablewright.decisions.reader.geography import COUNTRIES, COUNTRY_OF
from tablewright.decisions.reader.passages import Grid, Pair, Passages, Sentence, passages
from tablewright.decisions.reader.relations import normal
from tablewright.decisions.reader.spans import Span, spans
from tablewright.decisions.reader.wanted import Wanted, wanted
from tablewright.table.choices import read_boolean
from tablewright.table.measures import in_unit, read_measures
from tablewright.table.model import Field, Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold, tokenize
from tablewright.table.text import show

SURE = 0.5
ABOUT = 0.5
MOST_SENTENCES = 400
NEAR = 90  # characters between a cue and its answer


class Candidate(Noun, frozen=True):
    """An answer to `field`, read from `text[start:end]` of the source with number `source`."""

    field: str
    value: str
    source: int
    start: int
    end: int
    score: float
    how: str


def read(subject: Subject, fields: Sequence[Field], sources: Sequence[Retrieved]) -> dict[str, list[Candidate]]:
    """For each field its candidates, the best first; those of one value are kept once a source."""
    found: dict[str, list[Candidate]] = {field.name: [] for field in fields}
    for number, source in enumerate(sources):
        page = passages(source.text)
        fit = about(subject, source.title, source.text)
        for field in fields:
            found[field.name].extend(_read_field(subject, wanted(field), number, source, page, fit))
    return {name: _ranked(candidates) for name, candidates in found.items()}


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    best: dict[tuple[int, str], Candidate] = {}
    for candidate in candidates:
        key = (candidate.source, normal(candidate.value) or candidate.value)
        if key not in best or best[key].score < candidate.score:
            best[key] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.source, candidate.start))


def _read_field(
    subject: Subject, want: Wanted, number: int, source: Retrieved, page: Passages, fit: float
) -> Iterator[Candidate]:
    def candidate(value: str, start: int, end: int, score: float, how: str) -> Candidate:
        if subject.name and normal(value) == normal(subject.name):
            score *= 0.5  # what a thing is called is seldom what is asked about it
        return Candidate(
            field=want.field.name, value=value, source=number, start=start, end=end, score=round(score, 4), how=how
        )

    for grid in page.grids:
        for value, start, end, score in _from_grid(subject, want, grid, source, fit):
            yield candidate(value, start, end, score, "table")
    if fit >= ABOUT:
        for value, start, end, score in _from_pairs(want, page.pairs):
            yield candidate(value, start, end, fit * score, "label")
    names = short_names(subject, source.title)
    for sentence in page.sentences[:MOST_SENTENCES]:
        speaks_of = fit >= ABOUT or (subject.name and mentions(subject, sentence.text))
        if not speaks_of:
            continue
        base = fit * _nearness_to_top(sentence) if fit >= ABOUT else 0.55
        for value, start, end, score in _from_sentence(want, sentence, names, own=fit >= ABOUT):
            yield candidate(value, start, end, base * score, "sentence")


def _nearness_to_top(sentence: Sentence) -> float:
    return max(0.7, 1.0 - 0.025 * sentence.number)


# ── "Label: value" ───────────────────────────────────────────────────────────────────────────────────────────────────


def _from_pairs(want: Wanted, pairs: Sequence[Pair]) -> Iterator[tuple[str, int, int, float]]:
    for pair in pairs:
        fit = label_fit(want, pair.label)
        if fit <= 0:
            continue
        if (span := _answer_in(want, pair.value)) is not None:
            yield span.value, pair.start, pair.end, fit * (0.95 if pair.inline else 1.0) * (0.7 + 0.3 * span.sure)


def label_fit(want: Wanted, label: str) -> float:
    """How surely a label is the name of the field: 1 for the very name, less for one with more words."""
    plain = normal(label)
    if not plain or (want.relation.unlike and re.search(want.relation.unlike, label, re.IGNORECASE)):
        return 0.0
    if plain in want.labels or plain.replace(" ", "") == normal(want.field.name).replace(" ", ""):
        return 1.0
    words = plain.split()
    if len(words) > 7:
        return 0.0
    best = 0.0
    for known in want.labels:
        parts = known.split()
        if not parts:
            continue
        if _within(parts, words) and len(known) > 2:
            extra = len(words) - len(parts)
            best = max(best, 0.92 - 0.12 * extra)
        elif _within(words, parts) and len(words) > 1 and len(plain) > 6:
            best = max(best, 0.75)
    return best if best > 0.3 else 0.0


def _within(part: list[str], whole: list[str]) -> bool:
    return any(whole[place : place + len(part)] == part for place in range(len(whole) - len(part) + 1))


def _answer_in(want: Wanted, value: str) -> Span | None:
    """The answer that a value text holds: of the wanted kind, or the text itself where any will do."""
    if not value.strip():
        return None
    if want.kind == "yesno":
        verdict, _, _ = read_boolean(value)
        return None if verdict is None else Span(value="yes" if verdict is True else "no", start=0, end=len(value))
    if want.kind == "option":
        return _option(want, value)
    if want.kind in ("text", "name", "organisation", "title", "person", "place"):
        whole = value.split(" | ")[0].strip(" .;")
        return Span(value=whole, start=0, end=len(whole)) if 0 < len(whole) <= 200 else None
    found = _typed(want, value)
    return max(found, key=lambda span: (span.sure, -span.start)) if found else None


def _option(want: Wanted, text: str) -> Span | None:
    """The one option that the text names; with several it is unsure."""
    words = f" {normal(text)} "
    named = [option for option in want.field.options if f" {normal(option)} " in words]
    longest = [
        option for option in named if not any(normal(option) in normal(other) and option != other for other in named)
    ]
    if len(longest) != 1:
        return None
    place = max(0, fold(text).find(fold(longest[0])))
    return Span(value=longest[0], start=place, end=place + len(longest[0]))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _from_grid(
    subject: Subject, want: Wanted, grid: Grid, source: Retrieved, fit: float
) -> Iterator[tuple[str, int, int, float]]:
    """Column header × row label, either way round; or, on the subject's own page, rows of label and value."""
    header = grid.rows[0]
    columns = [(place, score) for place, (cell, _) in enumerate(header) if (score := label_fit(want, cell)) > 0.5]
    for row in grid.rows[1:]:
        named = any(_names_subject(subject, cell) for cell, _ in row[:3])
        for place, score in columns:
            if named and place < len(row) and (span := _answer_in(want, row[place][0])) is not None:
                start = row[0][1]
                yield span.value, start, row[-1][1] + len(row[-1][0]), 0.95 * score
    own = [place for place, (cell, _) in enumerate(header) if place and _names_subject(subject, cell)]
    for row in grid.rows[1:]:
        score = label_fit(want, row[0][0])
        if score <= 0.5:
            continue
        for place in own:
            if place < len(row) and (span := _answer_in(want, row[place][0])) is not None:
                yield span.value, row[0][1], row[place][1] + len(row[place][0]), 0.95 * score
    if fit >= ABOUT and not own and not columns:
        for row in grid.rows:
            if len(row) >= 2 and (score := label_fit(want, row[0][0])) > 0.5:
                if (span := _answer_in(want, row[1][0])) is not None:
                    yield span.value, row[0][1], row[1][1] + len(row[1][0]), fit * 0.9 * score


def _names_subject(subject: Subject, cell: str) -> bool:
    return bool(cell) and about(Subject(name=subject.name), cell, "") >= 0.75


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────

_CLAUSE = re.compile(
    r"[;:]|, (?:and|but|which|who|while|whose|where|with)\b|"
    r"\b(?:but|while|whereas|before|until|after|when|although|because|following|than)\b"
)
_WHEN = re.compile(
    r"\b(?:in|on|since|around|during)\s+(?:the )?(?:early |late |mid-?)?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]+ )?"
    r"(?:\d{1,2}(?:st|nd|rd|th)?, )?$"
)
_ANOTHER = re.compile(
    r"(?:His|Her|Their|Its) (?!(?:head|home|main|corporate|original|first|capital|population)\b)[a-z]+|"
    r"(?:A|An|The|Another|Further|Later|Two|Three|Several|Some) (?:[\w-]+ ){0,3}?(?:sequels?|remake|prequel|adaptations?|remaster\w*|"
    r"re-?issue|re-?release|special edition|anniversary|cover|version|spin-off|follow-up|brother|sister|father|son)\b"
)
_PRONOUN = re.compile(r"(?:It|He|She|They|This|The|Its|His|Her|Their|We|Our|In|On|At|As|Since|After|Originally|First|Founded"
                      r"|Established|Based|Located|Born|Headquartered|Opened|Built|Released|Published)\b")  # fmt: skip


def _from_sentence(
    want: Wanted, sentence: Sentence, names: frozenset[str], *, own: bool
) -> Iterator[tuple[str, int, int, float]]:
    text = sentence.text
    end = sentence.start + len(text)
    if own and sentence.number < 2 and want.relation.defining and (match := re.search(want.relation.defining, text)):
        for span in _typed(want, match[1]):
            yield span.value, sentence.start, end, span.sure * (0.92 if sentence.number == 0 else 0.8)
    if want.noun and want.kind in ("name", "organisation", "place", "text", "state", "city"):
        for value, score in _beside_noun(want.noun, text):
            yield value, sentence.start, end, score
    subject_fit = _speaks_of_subject(text, names)
    if want.relation.pattern and (match := re.search(want.relation.pattern, text)):
        for span in _patterned(want, match):
            yield span.value, sentence.start, end, 0.85 * subject_fit
    relation = want.relation
    cues = [(cue, 1.0) for cue in re.finditer(relation.cue, text, re.IGNORECASE)] if relation.cue else []
    cues += [(cue, 0.6) for cue in re.finditer(relation.weak, text, re.IGNORECASE)] if relation.weak else []
    found = _typed(want, text)
    if not found or not cues:
        return
    for span in found:
        score = max((weight * _closeness(text, cue, span, found) for cue, weight in cues), default=0.0)
        if relation.unlike and _is_unlike(relation.unlike, text, span):
            score *= 0.4
        if want.relation.before and re.match(want.relation.before, text[span.end :], re.IGNORECASE):
            score = max(score, 0.9)
        if score > 0:
            yield span.value, sentence.start, end, score * span.sure * subject_fit * (1.0 if want.known else 0.75)


def _is_unlike(unlike: str, text: str, span: Span) -> bool:
    """Whether the words right around an answer make it one to another question: "each with a capacity of 4 MW"."""
    around = text[max(0, span.start - 30) : span.start], text[span.end : span.end + 15]
    return any(re.search(unlike, part, re.IGNORECASE) for part in around)


def _typed(want: Wanted, text: str) -> Sequence[Span]:
    if want.kind in ("yesno", "option", "text"):
        if want.kind == "option" and (option := _option(want, text)) is not None:
            return (option,)
        return ()
    found = spans(want.kind, text, want.unit)
    if want.kind == "date" and not found:
        return tuple(Span(value=span.value, start=span.start, end=span.end, sure=0.5) for span in spans("year", text))
    if want.bare:
        return tuple(_bare(span, want.unit) for span in found if span.sure > 0.5)
    return found


def _bare(span: Span, unit: str) -> Span:
    """The number alone, in the unit that the field's name gives."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = in_unit(measure, unit) if measure else None
    return span if fit is None else Span(value=show(fit.value), start=span.start, end=span.end, sure=span.sure)


def _closeness(text: str, cue: re.Match[str], span: Span, found: Sequence[Span]) -> float:
    """1 right after the cue, falling with what stands between: distance, other answers, the end of a clause."""
    if span.start >= cue.end():
        between = text[cue.end() : span.start]
        rivals = sum(1 for other in found if cue.end() <= other.start < span.start)
        score = 1.0
    elif span.end <= cue.start():
        between = text[span.end : cue.start()]
        rivals = sum(1 for other in found if span.end <= other.start < cue.start())
        score = 0.62
    else:
        return 0.0
    if len(between) > NEAR:
        return 0.0
    score *= max(0.35, 1.0 - len(between) / (260 if _WHEN.search(text[: span.start]) else 130))
    score *= 0.55**rivals
    if _CLAUSE.search(between):
        score *= 0.6
    return score


def _speaks_of_subject(text: str, names: frozenset[str]) -> float:
    """1 where the sentence begins with the subject, or a word that stands for it; less where it begins with another."""
    if _ANOTHER.match(text):
        return 0.55
    if _PRONOUN.match(text):
        return 1.0
    words = tokenize(fold(re.sub(r"['’]s\b", "", text[:80])))
    return 1.0 if any(word in names for word in words) else 0.7


def _patterned(want: Wanted, match: re.Match[str]) -> Sequence[Span]:
    if want.bare:
        number = re.match(r"[\d.,]+", match[1])
        return (Span(value=number[0] if number else match[1], start=match.start(1), end=match.end(1)),)
    return (Span(value=match[1], start=match.start(1), end=match.end(1)),)


def _beside_noun(noun: str, text: str) -> Iterator[tuple[str, float]]:
    """ "in Noble County", "the island of New Providence", "the Antioquia department"."""
    capital = r"[A-ZÀ-ÞČŠŽĐ][\w’'.-]*"
    name = rf"{capital}(?: (?:de|of|la|del|the|and) {capital}| {capital})*"
    for match in re.finditer(rf"(?<![\w-])({name}) (?i:{noun})s?\b", text):
        if value := _proper(re.sub(r"^(?:The|In|On|At|Its|This|Each) ?", "", match[1])):
            yield value, 0.8
    for match in re.finditer(rf"\b(?i:{noun})s? (?:of|is|named|called) (?:the )?({name})", text):
        if value := _proper(match[1]):
            yield value, 0.72


def _proper(name: str) -> str:
    name = name.rstrip(".'’")
    return "" if name in COUNTRY_OF or name in COUNTRIES else name
