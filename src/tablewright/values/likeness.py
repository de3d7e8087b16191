"""Whether two names with different keys mean the same row, judged from what stands in them.

A wrong merge loses a row and nobody sees it; a missed one leaves a double that anybody sees. So the answer is yes only
for reasons it can name: one model number in common and nothing that speaks against it, or the same words, give or take
a slip of the pen, a maker's name in front, or words that say nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

import msgspec
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from tablewright.domain.rowkey import LEGAL, fold, row_key, tokenize, trim
from tablewright.values.name_words import (
    COLOUR,
    EDITION,
    FILLER,
    SPELLING,
    STANDARD,
    UNIT,
    VARIANT,
)


class NameParts(msgspec.Struct, frozen=True):
    """A name, taken apart."""

    key: str
    words: tuple[str, ...]  # in order, spelt one way, with the short numbers and without models and measures
    models: frozenset[str]  # "qv40b550", "14230": what only this product is called
    for_models: frozenset[str]  # the same, after "for": what an accessory fits
    measures: dict[str, frozenset[float]]  # "gb": {16.0, 8.0}
    compact: str  # all letters and digits, nothing between
    edges: frozenset[int]  # where a space stood in `compact`
    seams: frozenset[int]  # there, and at a hyphen, and where letters meet digits
    comma: bool


def likeness(a: NameParts, b: NameParts) -> float:
    """0 for different rows; else how alike the names are, for choosing the best of several."""
    if not a.key or not b.key:
        return 0.0
    if a.key == b.key:
        return 2.0
    if _measures_conflict(a, b) or _colours_conflict(a, b):
        return 0.0
    alike = fuzz.token_sort_ratio(a.key, b.key) / 100
    shared = {model for model in a.models if _has(b, model)} | {model for model in b.models if _has(a, model)}
    if shared:
        return 1 + alike if _same_model(a, b, shared) else 0.0
    if a.models and b.models:
        return 0.0
    return alike if _same_words(a, b) else 0.0


# --- with a model number in common ---


def _same_model(a: NameParts, b: NameParts, shared: set[str]) -> bool:
    longest = max(map(len, shared))
    if longest < MIN_MODEL or shared <= a.for_models | b.for_models:
        return False
    rest_a = [model for model in a.models if not _has(b, model)]
    rest_b = [model for model in b.models if not _has(a, model)]
    if any(_rivals(x, y) for x in rest_a for y in rest_b) or (rest_a and rest_b and longest < SURE_MODEL):
        return False
    words_a, words_b = set(a.words), set(b.words)
    if (words_a ^ words_b) & EDITION:
        return False
    if longest >= SKU:
        return True
    # A bare number may be an order, a postcode or a room: it needs more beside it than a model does.
    return len((words_a & words_b) - FILLER) >= (2 if all(map(str.isdigit, shared)) else 1)


MIN_MODEL, SURE_MODEL, SKU = 4, 6, 8


def _has(reading: NameParts, model: str) -> bool:
    """Whether `model` stands in the name, however it is spaced: "hs240" is in "Aldenbrook HS 240".

    Letters may be glued to its front ("tkmp61207") or, up to two, to its end ("kfz270r", the red one), if the rest is
    long enough to be known by.
    """
    model = _COLOUR_CODE.sub("", model)
    start = reading.compact.find(model)
    while start >= 0:
        end = start + len(model)
        if start in reading.seams and end in reading.seams:
            before = reading.compact[max((edge for edge in reading.edges if edge <= start), default=0) : start]
            after = reading.compact[end : min((edge for edge in reading.edges if edge >= end), default=end)]
            if not before and not after:
                return True
            if len(model) >= 5 and len(after) <= 2 and (before + after).isalpha() and after not in EDITION:
                return True
        start = reading.compact.find(model, start + 1)
    return False


_COLOUR_CODE = re.compile(r"(?<=\d{3})(?:bk|blk|wh|wht|sl|slv)$")


def _rivals(a: str, b: str) -> bool:
    """Two models of one series: "qv40b550" and "qv46b550"."""
    return OSA.distance(a, b, score_cutoff=3) <= 3 and not a.isdigit() and not b.isdigit()


# --- with the same words ---


def _same_words(a: NameParts, b: NameParts) -> bool:
    if a.measures != b.measures or not a.words or not b.words:
        return False
    short, long = (a.words, b.words) if len(a.words) <= len(b.words) else (b.words, a.words)
    if _squeezed(short) == _squeezed(long) and len("".join(short)) >= 6 and not (a.models or b.models):
        return True
    whole = long
    long = _without_maker(long, short)
    left, right = _unmatched(short, long)
    if left and _squeezed(left) == _squeezed(right):
        left, right = [], []
    if not _explained(left, right, len(short)):
        return False
    telling = [word for word in short if _tells(word)]
    # A model that only one side gives: a stock number after the maker's name, or the names must tell enough without it.
    if len(telling) < (1 if not (a.models or b.models) else 2 if long != whole else 3):
        return False
    in_order = [word for word in short if word not in left] == [word for word in long if word not in right]
    return in_order or a.comma or b.comma or len(telling) >= 4


def _tells(word: str) -> bool:
    return not (word in FILLER or word[0].isdigit())


def _explained(left: list[str], right: list[str], length: int) -> bool:
    """Whether what the names do not share is nothing but fillers and at most one slip of the pen."""
    left, right = [word for word in left if word not in FILLER], [word for word in right if word not in FILLER]
    if not left and not right:
        return True
    return len(left) == len(right) == 1 and _is_typo(left[0], right[0], length)


def _squeezed(pieces: Iterable[str]) -> str:
    """ "Web Shop" as "webshop"; but numbers must not run together: "1 12" is not "11 2"."""
    return "".join(f" {piece} " if piece[0].isdigit() else piece for piece in pieces)


def _without_maker(long: tuple[str, ...], short: tuple[str, ...]) -> tuple[str, ...]:
    """`long` without the maker's name in front: where it ends in a legal form ("Encore Ltd"), or much follows it."""
    for index in range(min(len(long) - 2, 5), 0, -1):
        maker, rest = long[:index], long[index:]
        if rest[0] != short[0]:
            continue
        if maker[-1] in LEGAL:
            return rest
        if (
            index <= 2
            and sum(map(_tells, rest)) >= MUCH
            and not any(word in VARIANT or word in COLOUR for word in maker)
        ):
            return rest
    return long


MUCH = 5


def _unmatched(a: Iterable[str], b: Iterable[str]) -> tuple[list[str], list[str]]:
    count_a, count_b = Counter(a), Counter(b)
    return list((count_a - count_b).elements()), list((count_b - count_a).elements())


def _is_typo(a: str, b: str, length: int) -> bool:
    """A doubled or a swapped letter; or, where three words and more agree, any one letter of a word not too short."""
    a, b = sorted((a, b), key=len)
    if len(a) < 4 or not (a + b).isalpha() or a[0] != b[0] or OSA.distance(a, b) != 1:
        return False
    if length >= 4:
        return len(a) >= 5 or a + "s" == b
    doubled = _DOUBLE.sub(r"\1", a) == _DOUBLE.sub(r"\1", b)
    return len(a) >= (6 if length > 1 else 9) and (doubled or sorted(a) == sorted(b))


_DOUBLE = re.compile(r"(.)\1")


# --- what speaks against ---


def _measures_conflict(a: NameParts, b: NameParts) -> bool:
    return any(values.isdisjoint(b.measures[unit]) for unit, values in a.measures.items() if unit in b.measures)


def _colours_conflict(a: NameParts, b: NameParts) -> bool:
    colours_a, colours_b = COLOUR.intersection(a.words), COLOUR.intersection(b.words)
    return bool(colours_a and colours_b and colours_a.isdisjoint(colours_b))


# --- reading a name ---

_UNITS = "|".join(sorted(UNIT, key=len, reverse=True))
_MEASURE = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?)(?:[\s-]*({_UNITS})(?![a-z0-9])|\s*(['\"”″]+)(?!\w))")
_TIMES = re.compile(r"(?<![a-z0-9])(\d+)\s*x\s*(?=\d)")
_CHUNK = re.compile(r"[^\s(),;:\[\]\"|!?*_=]+")
_PIECE = re.compile(r"\d+|[^\W\d_]+")


@lru_cache(maxsize=8192)
def read(name: str) -> NameParts:
    text = fold(name)
    measures: defaultdict[str, set[float]] = defaultdict(set)

    def take(match: re.Match[str]) -> str:
        number, unit, _ = match.groups()
        measures[UNIT[unit] if unit else "inch"].add(float(number))
        return " "

    spoken = _MEASURE.sub(take, _TIMES.sub(r"\1 x ", text))
    models: set[str] = set()
    for_models: set[str] = set()
    kept: list[str] = []
    after_for = False
    for chunk in _CHUNK.findall(spoken):
        compact = "".join(char for char in chunk if char.isalnum())
        after_for = after_for or chunk == "for"
        if _is_model(chunk, compact):
            models.add(compact)
            if after_for:
                for_models.add(compact)
        else:
            kept.append(chunk)
    spelt = tuple(SPELLING.get(token, token) for token in trim(tokenize(" ".join(kept))))
    edges, seams, compact = {0}, {0}, ""
    for chunk in _CHUNK.findall(text):
        for piece in _PIECE.findall(chunk):
            compact += piece
            seams.add(len(compact))
        edges.add(len(compact))
    return NameParts(
        key=row_key(name),
        words=tuple(_number(token) for token in spelt),
        models=frozenset(models),
        for_models=frozenset(for_models),
        measures={unit: frozenset(values) for unit, values in measures.items()},
        compact=compact,
        edges=frozenset(edges),
        seams=frozenset(seams),
        comma="," in name,
    )


# "iphone12", "windows10": a word that can be spoken, and its version.
_WORD_AND_NUMBER = re.compile(r"(?=[a-z]*[aeiou])[a-z]{4,}\d{1,2}(?:pro|max|mini|plus|lite|ultra)*")
_ONE_DIGIT_MODEL = re.compile(r"[a-z]{2,4}\d[a-z]{1,3}")


def _is_model(chunk: str, compact: str) -> bool:
    digits = sum(map(str.isdigit, compact))
    if digits == len(compact):
        return digits >= 5 and "." not in chunk
    if digits == 1:
        return _ONE_DIGIT_MODEL.fullmatch(compact) is not None and not STANDARD.fullmatch(compact)
    if not digits or len(compact) < MIN_MODEL or STANDARD.fullmatch(compact) or _WORD_AND_NUMBER.fullmatch(compact):
        return False
    return not re.fullmatch(r"\d+(?:\.\d+)?[-/](?:[a-z]{3,}|\d+)", chunk)


def _number(token: str) -> str:
    """ "8.0" and "8" are one version; "8.0.0" is left alone."""
    return token[:-2] if token.endswith(".0") and token.count(".") == 1 else token
