"""Words as they are compared: without their endings, by their letters, and by what they mean."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import numpy as np

from tablewright.models.embedder import Vectors, load_wordllama
from tablewright.table.model import Noun
from tablewright.table.rowkey import fold
from tablewright.text.words import roots

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
KNOWN = 65_536
"""Words whose meaning is kept: more than the vocabulary of some hundred pages."""
KIN = 0.6
"""Of the longer word's letters: so many both begin with, as "Canada" and "Canadian" do."""
LEAST_KIN = 5
UNLIKE, ALIKE, MOST_ALIKE = 0.25, 0.65, 0.9
"""The likeness of meaning from which on one word says something of another, and where it says it all; measured: "film"
and "movie" 0.84, "won" and "victory" 0.53, "north" and "south" 0.18."""

SMALL = frozenset(
    """a about according after also although am among an and another any are around as at be became because become
    becomes been before being between both but by called can cannot could did do does dr due during each every
    for from had has have he her him his how however i if in include included includes including into is it its
    jr just known many may me might more most mr mrs ms much must my named neither never no none nor not of on
    one only or other others our out over own s said same says shall she should since so some sr stated
    subsequently such t than that the their them then there these they this those through to under until up us
    very was we well were what when where which while who whom whose why will with within without would you
    your""".split()
)


class Meaning(Noun, frozen=True, gc=True):
    """`weight` is how much the word tells: "subsequently" 4, "launch" 15. `pieces`: a word of several is a rare one."""

    vector: Any
    weight: float
    pieces: int


@lru_cache(KNOWN)
def meaning(word: str) -> Meaning:
    model = _model()
    ids = model.tokenizer.encode(word, add_special_tokens=False).ids
    vectors = model.embedding[ids].astype(np.float32)
    if not len(vectors):
        return Meaning(vector=np.zeros(model.embedding.shape[1], dtype=np.float32), weight=0.0, pieces=0)
    vector = vectors.mean(axis=0)
    length = float(np.linalg.norm(vector))
    return Meaning(
        vector=vector / length if length else vector,
        weight=float(np.linalg.norm(vectors, axis=1).mean()),
        pieces=len(ids),
    )


_model = cache(load_wordllama)


def gist(words: list[str]) -> Vectors:
    """What the words mean together, those that tell more counting more."""
    known = [meaning(word) for word in words if word not in SMALL]
    if not known:
        return np.zeros(_model().embedding.shape[1], dtype=np.float32)
    vector = np.sum([each.vector * each.weight for each in known], axis=0)
    length = np.linalg.norm(vector)
    gist: Vectors = vector / length if length else vector
    return gist


def likeness(one: str, others: Vectors) -> float:
    """From 0 to `MOST_ALIKE`: how nearly the likest of the others says the same as the one."""
    nearest = float((others @ meaning(one).vector).max()) if len(others) else 0.0
    return min(MOST_ALIKE, max(0.0, (nearest - UNLIKE) / (ALIKE - UNLIKE)))


@lru_cache(KNOWN)
def plain(word: str) -> str:
    return fold(re.sub(r"['’]s?$", "", word))


@lru_cache(KNOWN)
def root(word: str) -> str:
    found = roots(plain(word))
    return found[0] if found else plain(word)


def akin(one: str, other: str) -> bool:
    """Whether both are made of one word."""
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same >= LEAST_KIN and same >= KIN * max(len(one), len(other))
