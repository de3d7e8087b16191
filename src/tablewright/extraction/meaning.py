"""What words mean, as far as word vectors can tell: how alike two words are, and how much of what is asked a place
speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from tablewright.arrays import NDArray, np
from tablewright.domain.rowkey import fold
from tablewright.models.embedder import load_wordllama
from tablewright.models.text_budget import batches
from tablewright.text import SMALL_WORDS, root

RELATED = 0.36
"""How alike two words must be to speak of the same thing. Of a hundred sentences of twenty words drawn at random, fewer
than five hold one that is so like another word drawn at random."""
LIGHT = 9.2
"""Words with shorter vectors say little, because texts about anything have them: "make", "reach", "main", "come"."""
TOGETHER = 0.12
"""How like each word of a phrase a word must be, to be like the phrase as a whole: "headquarters", "head office"."""
NEVER_SAME = 0.85
"""The most that two different words are alike."""
WIDTH = 256
_MOST_KEPT = 60_000
_LONGEST_WORD = 64
"""Letters of a word that are looked at: all words of a batch are padded to the longest, and a page may have a million
letters without a space."""
_WORDS_AT_ONCE = 1_024

Likeness: TypeAlias = "NDArray[np.float32]"
"""A row for each asked word, a column for each word of a place: 1 for the same word, 0 for one that has nothing to do
with it."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_ASKING = frozenset(
    "name names called call title give find list exact exactly just only please value kindly row".split()
)
"""Words by which one asks, and which say nothing of what is asked."""


def words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def content(text: str) -> tuple[str, ...]:
    """The words that say something, each once, in order."""
    return tuple(
        dict.fromkeys(
            word for word in words(text) if word not in SMALL_WORDS and word not in _ASKING and not word.isdigit()
        )
    )


class Vocabulary:
    """The words of a text, each once, with their vectors."""

    def __init__(self, text: str) -> None:
        self.places: list[tuple[int, int]] = []
        """Where each word of the text begins and ends, in order; `ids` says which word it is."""
        folded = _folded(text)
        known: dict[str, int] = {}
        ids = []
        for match in _WORD.finditer(folded):
            ids.append(known.setdefault(match[0], len(known)))
            self.places.append(match.span())
        self.ids = np.array(ids, dtype=np.int32)
        self.starts = np.array([start for start, _ in self.places], dtype=np.int64)
        self.words = list(known)
        self._roots: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            self._roots.setdefault(root(word), []).append(number)
        self._vectors: NDArray[np.float32] | None = None

    def likeness(self, asked: tuple[str, ...]) -> Likeness:
        """Of each asked word to each word of the text: 1 for another form of the same word."""
        if self._vectors is None:
            self._vectors = vectors(tuple(self.words))
        found = _alike(asked, self._vectors)
        for row, word in enumerate(asked):
            for place in self._roots.get(root(word), ()):
                found[row, place] = 1.0
        return found


def _folded(text: str) -> str:
    """In lower case and as long as the text itself, so that places stay as they are."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def likeness(asked: tuple[str, ...], given: tuple[str, ...]) -> Likeness:
    """As `Vocabulary.likeness`, for a few words."""
    if not asked or not given:
        return np.zeros((len(asked), len(given)), dtype=np.float32)
    found = _alike(asked, vectors(given))
    for row, word in enumerate(asked):
        for column, other in enumerate(given):
            if root(word) == root(other):
                found[row, column] = 1.0
    return found


def _alike(asked: tuple[str, ...], given: NDArray[np.float32]) -> Likeness:
    """How alike each asked word, in whichever of its forms is most alike, is to each of the given."""
    every, starts = _in_all_forms(asked)
    found: Likeness = np.minimum(np.maximum.reduceat(every @ given.T, starts, axis=0), NEVER_SAME)
    return found


@lru_cache(maxsize=1024)
def _in_all_forms(asked: tuple[str, ...]) -> tuple[NDArray[np.float32], list[int]]:
    groups = [forms(word) for word in asked]
    starts = [0, *accumulate(map(len, groups[:-1]))]
    return vectors(tuple(form for group in groups for form in group)), starts


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """The word, and its other forms that have a vector of their own: "establish" and "established" of
    "establishment"."""
    stem = root(word)
    others = [stem + end for end in _ENDINGS if len(stem) > 3 and (end == "s" or root(stem + end) == stem)]
    pieces = _pieces(others)
    return (word, *(other for other, many in zip(others, pieces, strict=True) if many == 1 and other != word))


_ENDINGS = ("", "e", "s", "es", "ed", "d", "ing", "er", "or", "ment", "ion", "ation")


def _pieces(of: Sequence[str]) -> list[int]:
    """How many pieces the model takes each word apart into; a batch is padded, which does not count."""
    counts: list[int] = []
    for batch in batches([word[:_LONGEST_WORD] for word in of], most=_WORDS_AT_ONCE):
        encoded = load_wordllama().tokenizer.encode_batch(list(batch), add_special_tokens=False)
        counts += [sum(each.attention_mask) for each in encoded]
    return counts


class KnownWord(NamedTuple):
    vector: NDArray[np.float32]
    length: float


_known: dict[str, KnownWord] = {}


def vectors(of: tuple[str, ...]) -> NDArray[np.float32]:
    """One of length 1 for each word; for a number 0, because numbers are alike only where they are equal."""
    known = _look_up(of)
    return np.array([known[word].vector for word in of], dtype=np.float32).reshape(len(of), WIDTH)


def is_light(word: str) -> bool:
    return _look_up((word,))[word].length < LIGHT


def _look_up(of: tuple[str, ...]) -> dict[str, KnownWord]:
    found = {word: known for word in of if (known := _known.get(word))}
    missing = [word for word in dict.fromkeys(of) if word not in found]
    if not missing:
        return found
    pieces = _pieces(missing)
    # A rare form has the vector of a common one of the same word: "headquartered" that of "headquarters".
    common = [
        next(iter(forms(word)[1:]), word) if many > 1 else word for word, many in zip(missing, pieces, strict=True)
    ]
    made = np.asarray(load_wordllama().embed([word[:_LONGEST_WORD] for word in common]), dtype=np.float32)
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    made /= np.where(lengths > 0, lengths, 1)
    for word, vector, length, many in zip(missing, made, lengths[:, 0], pieces, strict=True):
        # A rare word is the mean of its pieces, which is short whatever it says.
        found[word] = KnownWord(
            vector if not word.isdigit() else np.zeros(WIDTH, dtype=np.float32), float(length) if many == 1 else LIGHT
        )
    if len(_known) + len(missing) > _MOST_KEPT:
        _known.clear()
    _known.update((word, found[word]) for word in missing)
    return found


def as_one(phrases: tuple[tuple[str, ...], ...], asked: tuple[str, ...], alike: Likeness) -> Likeness:
    """The likeness again, where a word that is a little like each word of a phrase counts as like the whole."""
    for phrase in phrases:
        rows = [asked.index(word) for word in phrase]
        if len(rows) > 1 and alike.size:
            mean = vectors(phrase).mean(axis=0)
            together = alike[rows].sum(axis=0) / len(rows) / max(1e-6, float(np.linalg.norm(mean)))
            # A word of the phrase itself says that word, and nothing of the others.
            fits = (alike[rows].min(axis=0) >= TOGETHER) & (alike[rows].max(axis=0) <= NEVER_SAME)
            alike[rows] = np.where(fits, np.maximum(alike[rows], np.minimum(together, NEVER_SAME)), alike[rows])
    return np.clip(alike, 0.0, 1.0)
