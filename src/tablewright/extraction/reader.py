"""The built-in reader: finds the answers to a row's fields in retrieved texts, with no model and no network.

It looks at "Label: value" lines, at tables, and at sentences in which an answer of the wanted kind stands next to words
that mean what is asked. Whether words mean it is decided by the words of the field's name, question and description, by
their forms and by word vectors. Every candidate has the passage it was read from, and a score: how likely it is right.
Below `SURE` the reader abstains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, dropwhile, islice
from typing import Literal, TypeAlias

from tablewright.arrays import np
from tablewright.domain.model import Basis, Field, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.extraction.about import ABOUT as ABOUT
from tablewright.extraction.about import NAMESAKE, Subject, about, fits, short_names
from tablewright.extraction.layout.pairs import LabelPair, LineCell
from tablewright.extraction.meaning import Likeness, as_one, content, likeness, wanted, words
from tablewright.extraction.reading import (
    ALIKE,
    SURELY_OWN,
    FieldReading,
    Seen,
    WordCoverage,
    by_word,
    coverage,
    page,
    probabilities,
)
from tablewright.extraction.sentences import from_sentences
from tablewright.extraction.spans import whole
from tablewright.text import root

SameRow: TypeAlias = Literal["same", "unclear"]


class SourceSpan(Noun, frozen=True):
    """`text[start:end]` of the source with number `source`."""

    source: int
    start: int
    end: int


class Candidate(Noun, frozen=True):
    """An answer to `field`, read from `text[start:end]` of the source with number `source`.

    `score` is how likely it is right, by what the reader could see. `basis` is None where the reader did not say: then
    it is whatever code can show. `converted_by` is the rule of a converted value. `more` are further passages that it
    stands on. `doubt` says why the source may be about something else than the row."""

    field: str
    value: str
    source: int
    start: int
    end: int
    score: float
    how: str
    basis: Basis | None = None
    converted_by: str = ""
    more: tuple[SourceSpan, ...] = ()
    same_row: SameRow = "same"
    doubt: str = ""


SURE = 0.5
"""More likely right than wrong."""
DEFINING = 10
"""Words that say what a thing is, after "is"."""
CONTEXT = 300
"""Characters of a page in which it says what it is about."""


def read(
    subject: Subject, fields: Sequence[Field], sources: Sequence[Retrieved], *, beside: Sequence[Retrieved] = ()
) -> dict[str, list[Candidate]]:
    """For each field its candidates, the best first; those of one value are kept once a source. `beside` are further
    texts that help to tell what the sources are about."""
    found: dict[str, list[Candidate]] = {field.name: [] for field in fields}
    known = fits(subject, (*sources, *beside))
    for number, source in enumerate(sources):
        fit = known[number]
        for field in fields:
            for likely, seen in probabilities(list(look(subject, field, source, fit))):
                found[field.name].append(
                    Candidate(
                        field=field.name,
                        value=seen.value,
                        source=number,
                        start=seen.start,
                        end=seen.end,
                        score=round(likely, 4),
                        how=seen.how,
                    )
                )
    return {name: _ranked(candidates) for name, candidates in found.items()}


def look(subject: Subject, field: Field, source: Retrieved, fit: float) -> Iterator[Seen]:
    """Every place of the source that may answer the field, with what speaks for it; `fit` is how surely the source is
    about the subject."""
    if fit <= NAMESAKE:
        return
    want, text = wanted(field), page(source.text)
    title = content(f"{source.title} {source.text[:CONTEXT]} {subject.column}")
    reading = FieldReading(
        subject=subject,
        want=want,
        page=text,
        fit=fit,
        own=fit >= ABOUT,
        # The title of a page that may be about something else has words for that, too.
        names=short_names(subject, source.title if fit >= SURELY_OWN else ""),
        titled=short_names(subject, source.title),
        alike=as_one(want.phrases, want.words, text.vocabulary.likeness(want.words)),
        context=by_word(want, likeness(want.words, title)),
    )
    reading.called = _words_for(reading)
    own_name = normalize_words(subject.name)
    places = from_pairs(reading) if reading.own else iter(())
    for seen in chain(from_tables(reading), places, from_sentences(reading)):
        if (
            not own_name or normalize_words(seen.value) != own_name
        ):  # what a thing is called is not what is asked about it
            yield seen


def _words_for(reading: FieldReading) -> tuple[str, ...]:
    """Of the row's column and cells and, on its own page, of what it is said to be: "is a maker of gliders"."""
    cells = f"{reading.subject.column} {' '.join(reading.subject.context.values())[:CONTEXT]}"
    first = words(reading.page.sentences[0].text) if reading.page.sentences and reading.fit >= SURELY_OWN else []
    said = islice(dropwhile(lambda word: word not in _IS, first), DEFINING)
    return content(f"{cells} {' '.join(said)}")


_IS = frozenset("is was are were".split())


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    best: dict[tuple[int, str], Candidate] = {}
    for candidate in candidates:
        key = (candidate.source, normalize_words(candidate.value) or candidate.value)
        if key not in best or best[key].score < candidate.score:
            best[key] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.source, candidate.start))


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────────

LEAST = 0.3
"""How much of the asked a label must speak of to be looked at."""
LONGEST_LABEL_WORDS = 8
NAMED = 0.75
"""How surely a cell must name the row, for its line of the table to be the row's."""


class Label(Noun, frozen=True):
    """How a label speaks of what is asked: `coverage` of the asked by the label, `back` of the label by the asked."""

    coverage: WordCoverage
    same: bool
    """The very words of the field's name."""
    back: float
    unexplained: float
    """How far the label's least explained word is from anything that is asked: "list" of "List price"."""


def label(reading: FieldReading, text: str) -> Label | None:
    found: Label | None
    if text in reading.labels:
        found = reading.labels[text]
    else:
        reading.labels[text] = found = _label(reading, text)
    return found


def _label(reading: FieldReading, text: str) -> Label | None:
    want = reading.want
    given = content(text) or tuple(dict.fromkeys(words(text)))
    if not given or len(given) > LONGEST_LABEL_WORDS:
        return None
    alike = _alike(want.phrases, want.words, given)
    covered = coverage(want, by_word(want, alike), reading.context)
    same = {root(word) for word in given} == {root(word) for word in want.phrases[0]}
    if not same and (covered.anchored < LEAST or covered.mean < LEAST):
        return None
    explained = np.max(alike, axis=0)
    return Label(coverage=covered, same=same, back=float(explained.mean()), unexplained=1.0 - float(explained.min()))


@lru_cache(maxsize=16_384)
def _alike(phrases: tuple[tuple[str, ...], ...], asked: tuple[str, ...], given: tuple[str, ...]) -> Likeness:
    """Kept, because pages of one kind have the same labels."""
    return as_one(phrases, asked, likeness(asked, given))


def from_pairs(reading: FieldReading) -> Iterator[Seen]:
    for pair in reading.page.pairs:
        named = label(reading, pair.label)
        if named is None:
            continue
        value = " ".join(pair.value.text.split())
        if pair.is_apart and not named.same and label(reading, value) is not None:
            continue
        span = whole(reading.want, value)
        if span is not None:
            yield _seen(reading, named, span.value, pair.start, pair.end, how="label", sure=span.sure, pair=pair)


def _seen(
    reading: FieldReading,
    named: Label,
    value: str,
    start: int,
    end: int,
    *,
    how: str,
    sure: float,
    pair: LabelPair | None = None,
) -> Seen:
    features = {
        "label": 1.0,
        "label same": float(named.same),
        "label mean": named.coverage.mean,
        "label least": named.coverage.least,
        "label named": named.coverage.named,
        "label back": named.back,
        "label unexplained": named.unexplained,
        "label sure": sure,
        "label typed": float(reading.want.kind not in ("text", "name", "title")),
        "label in table": float(how == "table"),
        "label inline": float(pair is not None and pair.is_inline),
        "label unmarked": float(pair is not None and not pair.is_marked),
        "label long": min(1.0, len(value) / 100),
        "label fit": reading.fit,
    }
    most = 1.0 if how == "table" and not reading.own else reading.most
    return Seen(
        value=value,
        start=start,
        end=end,
        how=how,
        features=features,
        whole=named.same or named.coverage.whole,
        most=most if named.same or named.coverage.literal else min(ALIKE, most),
    )


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def from_tables(reading: FieldReading) -> Iterator[Seen]:
    """Column header × row label, either way round; or, on the subject's own page, rows of label and value."""
    for rows in reading.page.tables:
        yield from _from_table(reading, rows)


def _from_table(reading: FieldReading, rows: Sequence[Sequence[LineCell]]) -> Iterator[Seen]:
    header = rows[0]
    columns = [(place, named) for place, cell in enumerate(header) if (named := label(reading, cell.text))]
    if columns:
        for row in rows[1:]:
            if any(_names(reading.subject, cell) for cell in row[:3]):
                for place, named in columns:
                    yield from _cell(reading, named, row, place)
    labelled = [(row, named) for row in rows if (named := label(reading, row[0].text))]
    if not labelled:
        return
    own = [place for place, cell in enumerate(header) if place and _names(reading.subject, cell)]
    for row, named in labelled:
        for place in own:
            if row is not header:
                yield from _cell(reading, named, row, place)
        if reading.own and not own and not columns and len(row) > 2:
            yield from _cell(reading, named, row, 1)


def _cell(reading: FieldReading, named: Label, row: Sequence[LineCell], place: int) -> Iterator[Seen]:
    if place < len(row) and (span := whole(reading.want, row[place].text)) is not None:
        yield _seen(reading, named, span.value, row[0].start, row[-1].end, how="table", sure=span.sure)


def _names(subject: Subject, cell: LineCell) -> bool:
    return bool(cell.text and subject.name) and about(Subject(name=subject.name), cell.text, "") >= NAMED
