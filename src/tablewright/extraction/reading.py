"""One field read on one page: the page prepared once for all fields, how much of what is asked a place speaks of,
what a place gave, and how likely it is right.

The answers of a page compete with each other and with "none of these". The weights of what speaks for an answer were
fitted by `evals/fit.py`.
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
from tablewright.domain.model import Noun
from tablewright.domain.text import normalize_words
from tablewright.extraction.about import Subject
from tablewright.extraction.layout.pairs import barred_tables, lines_in, possible_pairs
from tablewright.extraction.meaning import RELATED, Likeness, Vocabulary, Wanted
from tablewright.text import LOOKED_AT, PageSentence, page_sentences

SURELY_OWN = 0.85
"""How surely a page must be about the row for an answer to be called sure."""
ELSEWHERE = 0.6
"""The most that a sentence about the row is worth on a page about something else."""


class Seen(Noun, frozen=True):
    """An answer that stands at `start:end` of the text, with what speaks for it. `whole`: its place speaks of every
    word that is asked."""

    value: str
    start: int
    end: int
    how: str
    features: Mapping[str, float]
    whole: bool
    most: float = 1.0
    """The most that it can be worth, because of what the page is about."""


@dataclass(kw_only=True)
class FieldReading:
    subject: Subject
    want: Wanted
    page: PageWords
    fit: float
    own: bool
    """The page is about the subject."""
    names: frozenset[str]
    """Words that stand for the subject in running text."""
    titled: frozenset[str]
    """These, and those of the page's title."""
    alike: Likeness
    """Each asked word beside each word of the page."""
    context: Mapping[str, float]
    """How much of each asked word is said by what the page is about: its title and its first sentence."""

    @property
    def most(self) -> float:
        """Return the most that an answer is worth: one on a page that may be about something else is never sure."""
        if self.fit >= SURELY_OWN:
            return 1.0
        return self.fit if self.own else ELSEWHERE

    called: tuple[str, ...] = ()
    """Words for what the row is: those of its column, of its cells and, on its own page, of the first lines."""
    labels: dict[str, Any] = field(default_factory=dict)
    """How each label of the page speaks of what is asked, where it was looked at."""


MOST_SENTENCES = 400


class PageWords:
    def __init__(self, text: str) -> None:
        lines = list(lines_in(text, 0, min(len(text), LOOKED_AT)))
        self.pairs = possible_pairs(text, lines)
        self.tables = barred_tables(lines)
        self.vocabulary = Vocabulary(text)
        self.sentences: tuple[PageSentence, ...] = page_sentences(text)[:MOST_SENTENCES]
        self._bounds = [self.words_between(sentence.start, sentence.end) for sentence in self.sentences]

    def words_between(self, start: int, end: int) -> tuple[int, int]:
        """The numbers of the first word at or after `start` and of the first one at or after `end`."""
        starts = self.vocabulary.starts
        return int(np.searchsorted(starts, start)), int(np.searchsorted(starts, end))

    def bounds(self, sentence: PageSentence) -> tuple[int, int]:
        return self._bounds[sentence.number]

    def by_sentence(self, alike: Likeness) -> NDArray[np.float32]:
        """Of each asked word to the words of each sentence: the most alike."""
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
def page(text: str) -> PageWords:
    return PageWords(text)


LEFT_OVER = 0.3
"""What an answer is worth whose place leaves a telling word of the question unsaid: too little to be given."""


def probabilities(found: Sequence[Seen], weights: Mapping[str, float] | None = None) -> list[tuple[float, Seen]]:
    """Each answer of one page with how likely it is right; the places of one value count together."""
    known = fitted() if weights is None else weights
    odds = [math.exp(max(-30.0, min(30.0, _sum(seen.features, known)))) if seen.whole else 0.0 for seen in found]
    together: dict[str, float] = {}
    for seen, odd in zip(found, odds, strict=True):
        key = normalize_words(seen.value) or seen.value
        together[key] = together.get(key, 0.0) + odd
    total = 1.0 + sum(together.values())
    return [(_honest(seen, together[normalize_words(seen.value) or seen.value] / total, known), seen) for seen in found]


def _honest(seen: Seen, likely: float, weights: Mapping[str, float]) -> float:
    if not seen.whole:
        return LEFT_OVER
    likely = min(1 - 1e-6, max(1e-6, likely))
    way = "sentence" if seen.how == "sentence" else "label"
    slope, shift = weights.get(f"{way} slope", 1.0), weights.get(f"{way} shift", 0.0)
    sure = 1.0 / (1.0 + math.exp(-slope * math.log(likely / (1.0 - likely)) - shift))
    return min(sure, seen.most)


def _sum(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


@lru_cache(maxsize=1)
def fitted() -> dict[str, float]:
    loaded: dict[str, float] = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
    return loaded


FROM_CONTEXT = 0.9
"""What a word counts that the page says of itself, and not at the place: "album" in "when did the album come out"."""


IN_PASSING = 0.6
"""What the very word counts that the page says of itself, where the question does not say that the row is one."""
SAME = 0.99
"""A form of the very word."""
NEARBY = 0.22
"""How alike two words must be that are two of a few. Of two hundred words drawn at random one is so like another."""
LITERAL = 0.89
"""Above what a word counts that is only like the asked one."""
ALIKE = 0.75
"""The most that an answer is worth whose place has only words like the asked ones."""


class WordCoverage(Noun, frozen=True):
    """Of the phrase that is covered best: the mean and the least over its words. `named` is the mean of the name's own
    words, `anchored` the most that any word is covered by the place itself."""

    mean: float
    least: float
    named: float
    anchored: float
    unsaid: float
    """What is missing to the very words of the name, or, if that is worse, of the question to words like its own."""

    @property
    def literal(self) -> bool:
        """Return True if the very words are there, in one form or another, and not only words like them."""
        return self.unsaid <= 1.0 - LITERAL

    @property
    def whole(self) -> bool:
        """Return True if no telling word is left over: who the chief executive is does not say what her dog is
        called."""
        return self.least >= RELATED


def coverage(want: Wanted, place: Mapping[str, float], context: Mapping[str, float]) -> WordCoverage:
    """`place` and `context` say how alike each asked word is to the most alike one there."""
    place = _agreed(want, place)
    least, mean, named, unsaid = 0.0, 0.0, 0.0, 0.0
    for number, phrase in enumerate(want.phrases):
        of_row = want.of_row if number else frozenset()
        told = [word for word in phrase if word not in want.said_by_kind]
        if told and of_row.issuperset(told):
            continue  # says what the row is, and nothing of what is asked
        covered = {
            word: max(place.get(word, 0.0), _from_context(context.get(word, 0.0), of_row=word in of_row))
            for word in told
        }
        # A name that is only a kind ("Year") leaves nothing that a place could fail to speak of.
        weighty = [covered[word] for word in told if word in want.weighty] or list(covered.values()) or [1.0]
        average = sum(covered.values()) / len(covered) if covered else 1.0
        if not number:
            named, unsaid = average, 1.0 - min(weighty)
        elif min(weighty) < RELATED:
            unsaid = 1.0
        if (min(weighty) >= RELATED, min(weighty) + average) > (least >= RELATED, least + mean):
            least, mean = min(weighty), average
    anchored = max(
        (place.get(word, 0.0) for word in want.words if word not in want.said_by_kind | want.of_row), default=0.0
    )
    return WordCoverage(least=least, mean=mean, named=named, anchored=anchored, unsaid=unsaid)


def _agreed(want: Wanted, place: Mapping[str, float]) -> dict[str, float]:
    """Without words that are only like the place's, where the same, asked in another word, is not: a firm that is
    founded is born in a way, but has no birthday."""
    return {
        word: 0.0 if like < SAME and any(place.get(twin, 0.0) < NEARBY for twin in want.twins.get(word, ())) else like
        for word, like in place.items()
    }


def _from_context(like: float, *, of_row: bool) -> float:
    if of_row:
        return FROM_CONTEXT * like
    return IN_PASSING if like >= SAME else 0.0


def by_word(want: Wanted, alike: Likeness) -> dict[str, float]:
    """For each asked word how alike the most alike word of a place is."""
    if not alike.size:
        return {}
    return dict(zip(want.words, np.max(alike, axis=1).tolist(), strict=True))
