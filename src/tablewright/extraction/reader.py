"""The built-in reader: finds the answers to a row's fields in retrieved texts, with no model and no network.

It looks at "Label: value" lines, at tables, and at sentences in which an answer of the wanted kind stands beside words
that mean what is asked. Whether words mean it is told by the words of the field's name, question and description, by
their forms and by word vectors. Every candidate has the passage it was read from, and a score: how likely it is right.
Below `SURE` the reader abstains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, dropwhile, islice

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.extraction.about import ABOUT as ABOUT
from tablewright.extraction.about import NAMESAKE, Subject, fits, short_names
from tablewright.extraction.candidate import Candidate
from tablewright.extraction.labels import from_pairs, from_tables
from tablewright.extraction.meaning import as_one, content, likeness, words
from tablewright.extraction.reading import SURELY_OWN, FieldReading, Seen, by_word, page, probabilities
from tablewright.extraction.sentences import from_sentences
from tablewright.extraction.wanted import wanted

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
