"""The built-in reader: finds the answers to a row's fields in retrieved texts, with no model and no network.

It looks in five places: "Label: value" lines, tables, short lines that
are an answer by themselves, the head of a player's page, and sentences in which an answer of the wanted kind stands
beside words that say so. Every
candidate has the passage it was read from, and a score from 0 to 1 made of how surely the text is about the row, how
the place speaks of the field, and how well the answer fits its kind. Below `SURE` it abstains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tablewright.extraction.about import Subject, about, mentions, short_names
from tablewright.extraction.candidate import Candidate
from tablewright.extraction.found import Found
from tablewright.extraction.labels import from_grid, from_pairs
from tablewright.extraction.lines import from_lines
from tablewright.extraction.passages import Passages, Sentence, passages
from tablewright.extraction.profiles import from_heading
from tablewright.extraction.sentences import from_sentence, speaking
from tablewright.extraction.wanted import Wanted, wanted
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved
from tablewright.text.words import normal

SURE = 0.5
ABOUT = 0.5
MOST_SENTENCES = 400
ONLY_MENTIONED = 0.52  # how surely a sentence on another page is about the row it names


def read(subject: Subject, fields: Sequence[Field], sources: Sequence[Retrieved]) -> dict[str, list[Candidate]]:
    """For each field its candidates, the best first; those of one value are kept once a source."""
    found: dict[str, list[Candidate]] = {field.name: [] for field in fields}
    own_name = normal(subject.name)
    for number, source in enumerate(sources):
        page = passages(source.text)
        fit = about(subject, source.title, source.text)
        for field in fields:
            for how, answer in _read_field(subject, wanted(field), source, page, fit):
                # What a thing is called is seldom what is asked about it.
                score = answer.score * (0.45 if own_name and normal(answer.value) == own_name else 1.0)
                found[field.name].append(
                    Candidate(
                        field=field.name,
                        value=answer.value,
                        source=number,
                        start=answer.start,
                        end=answer.end,
                        score=round(score, 4),
                        how=how,
                    )
                )
    return {name: _ranked(candidates) for name, candidates in found.items()}


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    best: dict[tuple[int, str], Candidate] = {}
    for candidate in candidates:
        key = (candidate.source, normal(candidate.value) or candidate.value)
        if key not in best or best[key].score < candidate.score:
            best[key] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.source, candidate.start))


def _read_field(
    subject: Subject, want: Wanted, source: Retrieved, page: Passages, fit: float
) -> Iterator[tuple[str, Found]]:
    own = fit >= ABOUT
    for grid in page.grids:
        for answer in from_grid(subject, want, grid, fit if own else 0.0):
            yield "table", answer
    if own:
        for answer in from_pairs(want, page.pairs):
            yield "label", answer.times(fit)
        for answer in from_lines(want, page, source.text):
            yield "line", answer.times(fit)
        if want.relation.heading:
            for answer in from_heading(subject.name, source.text):
                yield "heading", answer.times(fit)
    names = short_names(subject, source.title)
    for sentence in speaking(want, page.sentences[:MOST_SENTENCES]):
        if not own and not (subject.name and mentions(subject, sentence.text)):
            continue
        base = fit * _nearness_to_top(sentence) if own else ONLY_MENTIONED
        for answer in from_sentence(want, sentence, names, own=own):
            yield "sentence", answer.times(base)


def _nearness_to_top(sentence: Sentence) -> float:
    return max(0.7, 1.0 - 0.025 * sentence.number)
