"""Find the rows that are about the same thing: equal keys say so exactly, and names with different keys are judged from
their words.

A wrong merge loses a row and nobody sees it; a missed one leaves a double that anybody sees. So the answer is yes only
for reasons it can name: one model number in common and nothing that speaks against it, or the same words, give or take
a slip of the pen, a maker's name in front, or words that say nothing.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

import msgspec
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from tablewright.domain.model import Row
from tablewright.domain.rowkey import LEGAL, fold, row_key, tokenize, trim, words
from tablewright.domain.text import cell_text

# ── what words are worth in a name; one that is in none of these lists names something ────────────────────────────────

# May be there or not without changing what is meant. No single letters: "Vitamin A" and "Henry V" need them.
FILLER = words("an and by for of the with")
COLOUR = words("""
    beige bisque black blue bronze brown burgundy charcoal copper cyan gold graphite gray green ivory lavender
    magenta maroon navy orange pink purple red rose silver tan teal titanium turquoise violet white yellow
""")
# In front of a name, or anywhere, these make it another thing: "West Virginia", "Pro", "Junior".
VARIANT = words("""
    advanced anti basic central deluxe east eastern elite essential extended first full gold grand great greater junior
    lite little lower max micro mid mini nano neo new non north northeast northern northwest old plus post pre premier
    premium pro professional refurbished saint san second senior small south southeast southern southwest standard
    starter super third trial ultimate ultra upgrade upper west western
""")
# Beside a model number, or glued to its end, these are another model: "RTX 3080" and "RTX 3080 Ti".
EDITION = words("academic air fe lite max mini pro refurbished se super ti ultra upgrade xl xt")
SPELLING = {
    short: long
    for long, shorts in {
        "aluminum": "aluminium",
        "association": "assn assoc",
        "brothers": "bros",
        "center": "centre ctr",
        "color": "colour",
        "department": "dept",
        "gray": "grey",
        "international": "intl",
        "laboratories": "labs",
        "management": "mgmt",
        "manufacturing": "mfg",
        "mount": "mt",
        "national": "natl",
        "professional": "prof",
        "services": "svcs",
        "standard": "std",
        "theater": "theatre",
        "university": "univ",
        "volume": "vol",
    }.items()
    for short in shorts.split()
}
UNIT = {
    spelling: unit
    for unit, spellings in {
        "gb": "gb gigabyte gigabytes",
        "tb": "tb terabyte terabytes",
        "mb": "mb megabyte megabytes",
        "inch": "inch inches",
        "mm": "mm",
        "cm": "cm",
        "foot": "ft feet foot",
        "ounce": "oz ounce ounces",
        "pound": "lb lbs",
        "kg": "kg",
        "gram": "gr grams",
        "ml": "ml",
        "litre": "l litre liter litres liters",
        "watt": "w watt watts",
        "volt": "v volt volts",
        "ghz": "ghz",
        "mhz": "mhz",
        "dbi": "dbi",
        "pack": "pack pk ct count pcs",
        "user": "user users",
        "year": "year years yr",
        "port": "port ports",
    }.items()
    for spelling in spellings.split()
}
# Letters and digits that many products share: resolutions, connectors, memory standards, ordinals.
STANDARD = re.compile(
    r"\A(?:\d{3,4}[pi]|mp\d|h26\d|ddr\d\w*|pc\d\d*|usb\d+|sata\d*|80211\w*|lga\d+|socket\d+|cl\d+|win\d+|v\d+|"
    r"\d+(?:st|nd|rd|th)|\d+(?:x|k|bit|pin|rpm|fps|hz|mp|gbps|mbps|mbs|gbs|db|way|d|w|v|p)|\d+x\d+\w*|i[3579]\d*)"
)


# ── the names of a table ──────────────────────────────────────────────────────────────────────────────────────────────


def current_row_key(row: Row, key_field: str) -> str:
    """Return the key of the name that the row has now; `row.key` is of the name with which it came."""
    return row_key(cell_text(row.cell(key_field))) if key_field else row.key


class RowNames:
    """The names of a table, to ask whether a candidate is there already."""

    def __init__(self) -> None:
        self._by_key: dict[str, int] = {}
        self._names: list[tuple[int, str]] = []
        self._by_clue: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, row_id: int, name: str) -> None:
        key = row_key(name)
        if not key or key in self._by_key:
            return
        self._by_key[key] = row_id
        for clue in _clues(parse_row_name(name)):
            self._by_clue[clue].append(len(self._names))
        self._names.append((row_id, name))

    def find(self, name: str) -> int | None:
        """The row that `name` would double: by equal key, else the likest that is the same name."""
        found = self._by_key.get(row_key(name))
        if found is not None:
            return found
        reading = parse_row_name(name)
        best, best_row = 0.0, None
        for position in self._candidates(reading):
            row_id, other = self._names[position]
            score = rate_likeness(reading, parse_row_name(other))
            if score > best:
                best, best_row = score, row_id
        return best_row

    def _candidates(self, reading: NameParts) -> list[int]:
        """Those that share most of the rarest clues. A clue that everybody has says nothing and would cost the most."""
        postings = sorted((self._by_clue[clue] for clue in _clues(reading) if clue in self._by_clue), key=len)
        votes: Counter[int] = Counter()
        looked_at = 0
        for posting in postings:
            looked_at += len(posting)
            if looked_at > MAX_LOOKED_AT and votes:
                break
            votes.update(posting[:MAX_LOOKED_AT])
        return heapq.nsmallest(MAX_CANDIDATES, votes, key=lambda position: (-votes[position], position))


MAX_LOOKED_AT = 2000
MAX_CANDIDATES = 16


def _clues(reading: NameParts) -> set[str]:
    """Two names of the same row share at least one: a model, its number, a rare word, an end of a misspelt word."""
    clues = {f"={model}" for model in reading.models}
    # A model may carry a maker's letters in front or a colour's behind; its number stays.
    clues.update(f"#{number}" for model in reading.models for number in re.findall(r"\d{3,}", model))
    clues.add(f"~{reading.compact[:6]}")
    for word in reading.words:
        if word.isdigit() and len(word) >= 3:
            clues.add(f"#{word}")
        if word in FILLER or len(word) < 3:
            continue
        clues.add(word)
        if len(word) >= 6:
            clues.add(f"^{word[:4]}")
            clues.add(f"${word[-4:]}")
    return clues


# ── two names ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def rate_likeness(a: NameParts, b: NameParts) -> float:
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
    """Return True if `model` stands in the name, however it is spaced: "hs240" is in "Aldenbrook HS 240".

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
    """Return True if what the names do not share is nothing but fillers and at most one slip of the pen."""
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
def parse_row_name(name: str) -> NameParts:
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
