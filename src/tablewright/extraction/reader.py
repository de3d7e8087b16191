"""The built-in reader: find the answers to a row's fields in retrieved texts, without a model and without a network.

It looks at "Label: value" lines, at tables, and at sentences with a value of the right kind close to words that mean
what is asked. These words are those of the field's name, question and description, their other forms, and words with
similar vectors. Every candidate has the passage that it was read from and a score: the probability that it is right.
Below `MIN_SURE` the reader abstains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, dropwhile, islice
from typing import Literal, TypeAlias

from tablewright.arrays import np
from tablewright.domain.model import Basis, Field, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.extraction.layout.pairs import LabelPair, LineCell
from tablewright.extraction.meaning import (
    LIKENESS,
    Similarity,
    build_field_query,
    combine_phrase_similarity,
    content_words,
    folded_words,
    word_similarity,
)
from tablewright.extraction.scoring import (
    FieldReading,
    Match,
    WordCoverage,
    best_by_word,
    index_page_words,
    measure_coverage,
    score_matches,
)
from tablewright.extraction.sentences import match_sentences
from tablewright.extraction.spans import TypedSpan, read_whole_value
from tablewright.extraction.subject import (
    SUBJECT_SCORES,
    Subject,
    collect_short_names,
    score_sources,
    score_subject_match,
)
from tablewright.text import word_root

SameRow: TypeAlias = Literal["same", "unclear"]


class SourceSpan(Struct, frozen=True):
    """`text[start:end]` of the source with number `source`."""

    source: int
    start: int
    end: int


class OtherReading(Struct, frozen=True):
    """Another value that the column or its text may mean, with its passages and the reason. Without passages, no quote
    shows it."""

    value: str
    reason: str
    spans: tuple[SourceSpan, ...] = ()


class Candidate(Struct, frozen=True):
    """An answer to `field`, read from `text[start:end]` of the source with number `source`.

    `score` is the probability that it is right, as far as the reader can tell. `basis` is None if the reader did not
    give one; the checks then derive it. `converted_by` is the rule of a converted value. `more` are further passages
    that support it. `doubt` says why the source may be about something other than the row."""

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
    alternatives: tuple[OtherReading, ...] = ()


# More likely right than wrong.
MIN_SURE = 0.5
# The row's cells and the opening of a page, as far as they are compared: the first sentence says what a page is about.
CONTEXT_CHARACTERS = 300


def read_candidates(
    subject: Subject, fields: Sequence[Field], sources: Sequence[Retrieved], *, context_pages: Sequence[Retrieved] = ()
) -> dict[str, list[Candidate]]:
    """Return the candidates of each field, best first, each value once per source.

    `context_pages` are not read, but help to tell which sources are about namesakes."""
    found: dict[str, list[Candidate]] = {field.name: [] for field in fields}
    known = score_sources(subject, (*sources, *context_pages))
    for number, source in enumerate(sources):
        fit = known[number]
        for field in fields:
            for likely, match in score_matches(list(find_matches(subject, field, source, fit))):
                found[field.name].append(
                    Candidate(
                        field=field.name,
                        value=match.value,
                        source=number,
                        start=match.start,
                        end=match.end,
                        score=round(likely, 4),
                        how=match.how,
                    )
                )
    return {name: _keep_best_per_source(candidates) for name, candidates in found.items()}


def find_matches(subject: Subject, field: Field, source: Retrieved, fit: float) -> Iterator[Match]:
    """Yield every passage of the source that may answer the field, with its features.

    `fit` is how surely the source is about the subject."""
    if fit <= SUBJECT_SCORES.namesake:
        return
    query, text = build_field_query(field), index_page_words(source.text)
    title = content_words(f"{source.title} {source.text[:CONTEXT_CHARACTERS]} {subject.column}")
    reading = FieldReading(
        subject=subject,
        query=query,
        page=text,
        fit=fit,
        own=fit >= SUBJECT_SCORES.about,
        # The title of a page that may be about something else also has words for that other thing.
        names=collect_short_names(subject, source.title if fit >= SUBJECT_SCORES.surely_own else ""),
        titled=collect_short_names(subject, source.title),
        alike=combine_phrase_similarity(query.phrases, query.words, text.vocabulary.similarity(query.words)),
        context=best_by_word(query, word_similarity(query.words, title)),
    )
    reading.called = _describing_words(reading)
    # The name of a thing is not an answer to a question about it.
    own_name = normalize_words(subject.name)
    places = match_pairs(reading) if reading.own else iter(())
    for match in chain(match_tables(reading), places, match_sentences(reading)):
        if not own_name or normalize_words(match.value) != own_name:
            # What a thing is called is not what is asked about it.
            yield match


def _describing_words(reading: FieldReading) -> tuple[str, ...]:
    """Return words for what the row is: from its column, its cells and, on its own page, "is a maker of gliders"."""
    cells = f"{reading.subject.column} {' '.join(reading.subject.context.values())[:CONTEXT_CHARACTERS]}"
    first = (
        folded_words(reading.page.sentences[0].text)
        if reading.page.sentences and reading.fit >= SUBJECT_SCORES.surely_own
        else []
    )
    definition = islice(dropwhile(lambda word: word not in ("is", "was", "are", "were"), first), 10)
    return content_words(f"{cells} {' '.join(definition)}")


def _keep_best_per_source(candidates: list[Candidate]) -> list[Candidate]:
    best: dict[tuple[int, str], Candidate] = {}
    for candidate in candidates:
        key = (candidate.source, normalize_words(candidate.value) or candidate.value)
        if key not in best or best[key].score < candidate.score:
            best[key] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.source, candidate.start))


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class LabelMatch(Struct, frozen=True):
    """A label compared with what is asked: `coverage` is of the question by the label, `back` of the label by it."""

    coverage: WordCoverage
    same: bool
    """The very words of the field's name."""
    back: float
    unexplained: float
    """How far the label's least explained word is from anything that is asked: "list" of "List price"."""


def match_label(reading: FieldReading, text: str) -> LabelMatch | None:
    found: LabelMatch | None
    if text in reading.labels:
        found = reading.labels[text]
    else:
        reading.labels[text] = found = _compare_label(reading, text)
    return found


def _compare_label(reading: FieldReading, text: str) -> LabelMatch | None:
    query = reading.query
    given = content_words(text) or tuple(dict.fromkeys(folded_words(text)))
    # No label but a sentence.
    if not given or len(given) > 8:
        return None
    alike = _label_similarity(query.phrases, query.words, given)
    covered = measure_coverage(query, best_by_word(query, alike), reading.context)
    same = {word_root(word) for word in given} == {word_root(word) for word in query.phrases[0]}
    # A label that covers less than a third of the question never wins; skipping it saves most of the time.
    if not same and (covered.anchored < 0.3 or covered.mean < 0.3):
        return None
    explained = np.max(alike, axis=0)
    return LabelMatch(
        coverage=covered, same=same, back=float(explained.mean()), unexplained=1.0 - float(explained.min())
    )


@lru_cache(maxsize=16_384)
def _label_similarity(
    phrases: tuple[tuple[str, ...], ...], asked: tuple[str, ...], given: tuple[str, ...]
) -> Similarity:
    """Return the combined similarity; cached, because pages of one kind have the same labels."""
    return combine_phrase_similarity(phrases, asked, word_similarity(asked, given))


def match_pairs(reading: FieldReading) -> Iterator[Match]:
    for pair in reading.page.pairs:
        named = match_label(reading, pair.label)
        if named is None:
            continue
        value = " ".join(pair.value.text.split())
        if pair.is_apart and not named.same and match_label(reading, value) is not None:
            continue
        span = read_whole_value(reading.query, value)
        if span is not None:
            yield _make_match(reading, named, span, (pair.start, pair.end), pair)


def _make_match(
    reading: FieldReading, named: LabelMatch, span: TypedSpan, passage: tuple[int, int], pair: LabelPair | None = None
) -> Match:
    """Return the value of a label with its features; without a `pair` it is a cell of a table."""
    features = {
        "label": 1.0,
        "label same": float(named.same),
        "label mean": named.coverage.mean,
        "label least": named.coverage.least,
        "label named": named.coverage.named,
        "label back": named.back,
        "label unexplained": named.unexplained,
        "label sure": span.sure,
        "label typed": float(reading.query.kind not in ("text", "name", "title")),
        "label in table": float(pair is None),
        "label inline": float(pair is not None and pair.is_inline),
        "label unmarked": float(pair is not None and not pair.is_marked),
        "label long": min(1.0, len(span.value) / 100),
        "label fit": reading.fit,
    }
    most = 1.0 if pair is None and not reading.own else reading.most
    return Match(
        value=span.value,
        start=passage[0],
        end=passage[1],
        how="table" if pair is None else "label",
        features=features,
        whole=named.same or named.coverage.whole,
        most=most if named.same or named.coverage.literal else min(LIKENESS.most_of_answers, most),
    )


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def match_tables(reading: FieldReading) -> Iterator[Match]:
    """Yield cells by column header and row label, either way round; on the subject's own page also label rows."""
    for rows in reading.page.tables:
        yield from _match_table(reading, rows)


def _match_table(reading: FieldReading, rows: Sequence[Sequence[LineCell]]) -> Iterator[Match]:
    header = rows[0]
    columns = [(place, named) for place, cell in enumerate(header) if (named := match_label(reading, cell.text))]
    if columns:
        for row in rows[1:]:
            if any(_cell_names_subject(reading.subject, cell) for cell in row[:3]):
                for place, named in columns:
                    yield from _match_cell(reading, named, row, place)
    labelled = [(row, named) for row in rows if (named := match_label(reading, row[0].text))]
    if not labelled:
        return
    own = [place for place, cell in enumerate(header) if place and _cell_names_subject(reading.subject, cell)]
    for row, named in labelled:
        for place in own:
            if row is not header:
                yield from _match_cell(reading, named, row, place)
        if reading.own and not own and not columns and len(row) > 2:
            yield from _match_cell(reading, named, row, 1)


def _match_cell(reading: FieldReading, named: LabelMatch, row: Sequence[LineCell], place: int) -> Iterator[Match]:
    if place < len(row) and (span := read_whole_value(reading.query, row[place].text)) is not None:
        yield _make_match(reading, named, span, (row[0].start, row[-1].end))


def _cell_names_subject(subject: Subject, cell: LineCell) -> bool:
    """Return True if the cell names the row as surely as a heading must: its line of the table is then the row's."""
    if not cell.text or not subject.name:
        return False
    return score_subject_match(Subject(name=subject.name), cell.text, "") >= SUBJECT_SCORES.heading
