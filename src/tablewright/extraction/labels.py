"""Reads "Label: value" pairs and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.arrays import np
from tablewright.domain.model import Noun
from tablewright.extraction.about import Subject, about
from tablewright.extraction.layout.lines import LineCell
from tablewright.extraction.layout.pairs import LabelPair
from tablewright.extraction.meaning import Likeness, as_one, content, likeness, words
from tablewright.extraction.reading import ALIKE, FieldReading, Seen, WordCoverage, by_word, coverage
from tablewright.extraction.spans import whole
from tablewright.text import root

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
