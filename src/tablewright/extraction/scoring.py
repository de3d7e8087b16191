"""Score what the built-in reader found for one field on one page.

The page is indexed once for all fields. `measure_coverage` says how much of the question a passage speaks of, and
`score_matches` turns features into probabilities: the answers of a page compete with each other and with "none of
these". `evals/fit.py` fitted the weights in `weights.json`; features keep the names that they have there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tablewright.arrays import NDArray, np
from tablewright.domain.model import Struct
from tablewright.domain.text import normalize_words
from tablewright.extraction.layout.pairs import find_barred_tables, find_possible_pairs, parse_lines
from tablewright.extraction.meaning import LIKENESS, FieldQuery, Similarity, Vocabulary
from tablewright.extraction.subject import SUBJECT_SCORES, Subject
from tablewright.text import TEXT_LIMITS, PageSentence, page_sentences


class Match(Struct, frozen=True):
    """An answer at `start:end` of the text, with its features. `whole`: the passage covers the whole question."""

    value: str
    start: int
    end: int
    how: str
    features: Mapping[str, float]
    whole: bool
    most: float = 1.0
    """The upper limit of its score, by what the page is about."""


@dataclass(kw_only=True)
class FieldReading:
    subject: Subject
    query: FieldQuery
    page: PageWords
    fit: float
    own: bool
    """The page is about the subject."""
    names: frozenset[str]
    """Words that name the subject in running text."""
    titled: frozenset[str]
    """These, and those of the page's title."""
    alike: Similarity
    """The similarity of each asked word to each word of the page."""
    context: Mapping[str, float]
    """The similarity of each asked word to the page's title and first sentence."""

    @property
    def most(self) -> float:
        """Return the upper limit of scores: an answer on a page that may be about something else is never sure."""
        if self.fit >= SUBJECT_SCORES.surely_own:
            return 1.0
        # A page about something else mentions the row in passing: its sentences are seldom wrong, but never sure.
        return self.fit if self.own else 0.6

    called: tuple[str, ...] = ()
    """Words for what the row is: those of its column, of its cells and, on its own page, of the first lines."""
    labels: dict[str, Any] = field(default_factory=dict)
    """The labels of the page that were compared with the question, each with its `LabelMatch` or None."""


class PageWords:
    def __init__(self, text: str) -> None:
        lines = list(parse_lines(text, 0, min(len(text), TEXT_LIMITS.page_characters)))
        self.pairs = find_possible_pairs(text, lines)
        self.tables = find_barred_tables(lines)
        self.vocabulary = Vocabulary(text)
        # Facts about the subject come early; a book of ten thousand sentences would take seconds for each field.
        self.sentences: tuple[PageSentence, ...] = page_sentences(text)[:400]
        self._bounds = [self.words_between(sentence.start, sentence.end) for sentence in self.sentences]

    def words_between(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers of the first word at or after `start` and of the first one at or after `end`."""
        starts = self.vocabulary.starts
        return int(np.searchsorted(starts, start)), int(np.searchsorted(starts, end))

    def bounds(self, sentence: PageSentence) -> tuple[int, int]:
        return self._bounds[sentence.number]

    def by_sentence(self, alike: Similarity) -> NDArray[np.float32]:
        """Return, for each asked word and sentence, the similarity of the closest word."""
        if not self.sentences:
            return np.zeros((len(alike), 0), dtype=np.float32)
        words = np.append(self.vocabulary.ids, 0)
        found = np.zeros((len(alike), len(self.sentences)), dtype=np.float32)
        filled = [number for number, (first, last) in enumerate(self._bounds) if last > first]
        if filled:
            edges = [edge for number in filled for edge in self._bounds[number]]
            found[:, filled] = np.maximum.reduceat(alike[:, words[: edges[-1] + 1]], edges, axis=1)[:, ::2]
        return found


@lru_cache(maxsize=64)
def index_page_words(text: str) -> PageWords:
    return PageWords(text)


def score_matches(found: Sequence[Match], weights: Mapping[str, float] | None = None) -> list[tuple[float, Match]]:
    """Return the answers of one page with their probabilities; several passages of one value count together."""
    known = load_weights() if weights is None else weights
    odds = [
        math.exp(max(-30.0, min(30.0, _sum_weights(match.features, known)))) if match.whole else 0.0 for match in found
    ]
    together: dict[str, float] = {}
    for match, odd in zip(found, odds, strict=True):
        key = normalize_words(match.value) or match.value
        together[key] = together.get(key, 0.0) + odd
    total = 1.0 + sum(together.values())
    return [
        (_calibrate_score(match, together[normalize_words(match.value) or match.value] / total, known), match)
        for match in found
    ]


def _calibrate_score(match: Match, likely: float, weights: Mapping[str, float]) -> float:
    if not match.whole:
        # An essential word of the question is not covered: always below the threshold of an answer.
        return 0.3
    likely = min(1 - 1e-6, max(1e-6, likely))
    way = "sentence" if match.how == "sentence" else "label"
    slope, shift = weights.get(f"{way} slope", 1.0), weights.get(f"{way} shift", 0.0)
    sure = 1.0 / (1.0 + math.exp(-slope * math.log(likely / (1.0 - likely)) - shift))
    return min(sure, match.most)


def _sum_weights(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


@lru_cache(maxsize=1)
def load_weights() -> dict[str, float]:
    loaded: dict[str, float] = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
    return loaded


class WordCoverage(Struct, frozen=True):
    """Coverage of the best covered phrase: `mean` and `least` over its words.

    `named` is the mean of the name's own words, `anchored` the best coverage of any word by the passage itself."""

    mean: float
    least: float
    named: float
    anchored: float
    unsaid: float
    """The gap to the literal words of the name or, if larger, of the question to similar words."""

    @property
    def literal(self) -> bool:
        """Return True if the words themselves are there, in any form, and not only similar ones."""
        # Above 0.85, the most that two different words are alike.
        return self.unsaid <= 1.0 - 0.89

    @property
    def whole(self) -> bool:
        """Return True if no essential word is left over: the chief executive's name is not the name of her dog."""
        return self.least >= LIKENESS.related


def measure_coverage(query: FieldQuery, place: Mapping[str, float], context: Mapping[str, float]) -> WordCoverage:
    """Return how well a passage covers the question.

    `place` and `context` hold, for each asked word, the similarity of the closest word there."""
    place = _drop_contradicted_words(query, place)
    least, mean, named, unsaid = 0.0, 0.0, 0.0, 0.0
    for number, phrase in enumerate(query.phrases):
        row_words = query.row_words if number else frozenset()
        words = [word for word in phrase if word not in query.kind_words]
        if words and row_words.issuperset(words):
            # Names the kind of row, and nothing that is asked.
            continue
        covered = {
            word: max(place.get(word, 0.0), _score_context_word(context.get(word, 0.0), is_row_word=word in row_words))
            for word in words
        }
        # A name that is only a kind ("Year") leaves nothing that a passage could fail to cover.
        essential = [covered[word] for word in words if word in query.essential] or list(covered.values()) or [1.0]
        average = sum(covered.values()) / len(covered) if covered else 1.0
        if not number:
            named, unsaid = average, 1.0 - min(essential)
        elif min(essential) < LIKENESS.related:
            unsaid = 1.0
        if (min(essential) >= LIKENESS.related, min(essential) + average) > (least >= LIKENESS.related, least + mean):
            least, mean = min(essential), average
    anchored = max(
        (place.get(word, 0.0) for word in query.words if word not in query.kind_words | query.row_words), default=0.0
    )
    return WordCoverage(least=least, mean=mean, named=named, anchored=anchored, unsaid=unsaid)


def _drop_contradicted_words(query: FieldQuery, place: Mapping[str, float]) -> dict[str, float]:
    """Drop a merely similar word if its synonym in the question is missing: a firm has no "birthday"."""
    return {
        word: 0.0
        if like < LIKENESS.same and any(place.get(twin, 0.0) < LIKENESS.nearby for twin in query.synonyms.get(word, ()))
        else like
        for word, like in place.items()
    }


def _score_context_word(like: float, *, is_row_word: bool) -> float:
    if is_row_word:
        return (
            0.9 * like
        )  # "album" in "when did the album come out": the page is about it, the sentence need not say it
    # The page uses the word, but maybe for something else.
    return 0.6 if like >= LIKENESS.same else 0.0


def best_by_word(query: FieldQuery, alike: Similarity) -> dict[str, float]:
    """Return for each asked word the similarity of the closest word of a passage."""
    if not alike.size:
        return {}
    return dict(zip(query.words, np.max(alike, axis=1).tolist(), strict=True))
