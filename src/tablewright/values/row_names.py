"""Find rows about the same thing: by equal keys, or by the words of their names.

A wrong merge loses a row unnoticed, while a missed one leaves a visible duplicate. So two names match only for a clear
reason: a common model number and no contradiction, or the same words apart from a typo, a maker's name in front, or
filler words.
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
from tablewright.domain.rowkey import LEGAL_FORMS, fold_text, row_key, split_folded_words, strip_legal_forms, word_set
from tablewright.domain.text import cell_text

# ── word lists; a word in none of them distinguishes names ────────────────────────────────────────────────────────────

# Words that do not change the meaning of a name. No single letters: "Vitamin A" and "Henry V" need them.
FILLER_WORDS = word_set("an and by for of the with")
COLOUR_WORDS = word_set("""
    beige bisque black blue bronze brown burgundy charcoal copper cyan gold graphite gray green ivory lavender
    magenta maroon navy orange pink purple red rose silver tan teal titanium turquoise violet white yellow
""")
# Words that make another thing of a name: "West Virginia", "Pro", "Junior".
VARIANT_WORDS = word_set("""
    advanced anti basic central deluxe east eastern elite essential extended first full gold grand great greater junior
    lite little lower max micro mid mini nano neo new non north northeast northern northwest old plus post pre premier
    premium pro professional refurbished saint san second senior small south southeast southern southwest standard
    starter super third trial ultimate ultra upgrade upper west western
""")
# Words that make another model next to a model number or attached to it: "RTX 3080" and "RTX 3080 Ti".
EDITION_WORDS = word_set("academic air fe lite max mini pro refurbished se super ti ultra upgrade xl xt")
_SPELLINGS = {
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
_UNIT_BY_SPELLING = {
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
_STANDARD_NAME = re.compile(
    r"\A(?:\d{3,4}[pi]|mp\d|h26\d|ddr\d\w*|pc\d\d*|usb\d+|sata\d*|80211\w*|lga\d+|socket\d+|cl\d+|win\d+|v\d+|"
    r"\d+(?:st|nd|rd|th)|\d+(?:x|k|bit|pin|rpm|fps|hz|mp|gbps|mbps|mbs|gbs|db|way|d|w|v|p)|\d+x\d\w*|i[3579]\d*)"
)


# ── the names of a table ──────────────────────────────────────────────────────────────────────────────────────────────


def current_row_key(row: Row, key_field: str) -> str:
    """Return the key of the row's present name; `row.key` is that of its original name."""
    return row_key(cell_text(row.cell(key_field))) if key_field else row.key


class RowNameIndex:
    """An index of the names of a table, to find the row that a candidate duplicates."""

    def __init__(self) -> None:
        self._by_key: dict[str, int] = {}
        self._names: list[tuple[int, str]] = []
        self._by_clue: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, row_id: int, name: str) -> None:
        key = row_key(name)
        if not key or key in self._by_key:
            return
        self._by_key[key] = row_id
        for clue in _index_clues(parse_row_name(name)):
            self._by_clue[clue].append(len(self._names))
        self._names.append((row_id, name))

    def find(self, name: str) -> int | None:
        """Return the row that `name` duplicates: by equal key, else the most similar matching name; or None."""
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
        """Return the names that share most of the rarest clues. Common clues say little and cost the most."""
        postings = sorted((self._by_clue[clue] for clue in _index_clues(reading) if clue in self._by_clue), key=len)
        votes: Counter[int] = Counter()
        # Entries of the index read for one name, which bounds the time per imported row.
        most, looked_at = 2000, 0
        for posting in postings:
            looked_at += len(posting)
            if looked_at > most and votes:
                break
            votes.update(posting[:most])
        # Names compared in full: more cost time for each imported row; fewer may miss the duplicate.
        return heapq.nsmallest(16, votes, key=lambda position: (-votes[position], position))


def _index_clues(reading: NameParts) -> set[str]:
    """Return keys of which two names of one row share at least one: a model, its number, a word, an end of a word."""
    clues = {f"={model}" for model in reading.models}
    # A model may carry a maker's letters in front or a colour's behind; its number stays.
    clues.update(f"#{number}" for model in reading.models for number in re.findall(r"\d{3,}", model))
    clues.add(f"~{reading.compact[:6]}")
    for word in reading.words:
        if word.isdigit() and len(word) >= 3:
            clues.add(f"#{word}")
        if word in FILLER_WORDS or len(word) < 3:
            continue
        clues.add(word)
        if len(word) >= 6:
            clues.add(f"^{word[:4]}")
            clues.add(f"${word[-4:]}")
    return clues


# ── two names ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class NameParts(msgspec.Struct, frozen=True):
    """A parsed name."""

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
    """Return the similarity of two names, to choose the best of several; 0 for different rows."""
    if not a.key or not b.key:
        return 0.0
    if a.key == b.key:
        return 2.0
    if any(values.isdisjoint(b.measures[unit]) for unit, values in a.measures.items() if unit in b.measures):
        return 0.0
    colours_a, colours_b = COLOUR_WORDS.intersection(a.words), COLOUR_WORDS.intersection(b.words)
    if colours_a and colours_b and colours_a.isdisjoint(colours_b):
        return 0.0
    alike = fuzz.token_sort_ratio(a.key, b.key) / 100
    shared = {model for model in a.models if _contains_model(b, model)} | {
        model for model in b.models if _contains_model(a, model)
    }
    if shared:
        return 1 + alike if _is_same_model(a, b, shared) else 0.0
    if a.models and b.models:
        return 0.0
    return alike if _have_same_words(a, b) else 0.0


# --- with a model number in common ---


def _is_same_model(a: NameParts, b: NameParts, shared: set[str]) -> bool:
    longest = max(map(len, shared))
    if longest < _MIN_MODEL_CHARACTERS or shared <= a.for_models | b.for_models:
        return False
    rest_a = [model for model in a.models if not _contains_model(b, model)]
    rest_b = [model for model in b.models if not _contains_model(a, model)]
    if any(_are_sibling_models(x, y) for x in rest_a for y in rest_b) or (
        rest_a and rest_b and longest < _SURE_MODEL_CHARACTERS
    ):
        return False
    words_a, words_b = set(a.words), set(b.words)
    if (words_a ^ words_b) & EDITION_WORDS:
        return False
    if longest >= _SKU_CHARACTERS:
        return True
    # A bare number may be an order, a postcode or a room, so it needs more common words than a model does.
    return len((words_a & words_b) - FILLER_WORDS) >= (2 if all(map(str.isdigit, shared)) else 1)


_MIN_MODEL_CHARACTERS, _SURE_MODEL_CHARACTERS, _SKU_CHARACTERS = 4, 6, 8


def _contains_model(reading: NameParts, model: str) -> bool:
    """Return True if the name contains `model` in any spacing: "hs240" is in "Aldenbrook HS 240".

    Letters may be attached to its front ("tkmp61207") or, up to two, to its end ("kfz270r", the red one), if the rest
    is long enough to identify it.
    """
    model = re.sub(r"(?<=\d{3})(?:bk|blk|wh|wht|sl|slv)$", "", model)
    start = reading.compact.find(model)
    while start >= 0:
        end = start + len(model)
        if start in reading.seams and end in reading.seams:
            before = reading.compact[max((edge for edge in reading.edges if edge <= start), default=0) : start]
            after = reading.compact[end : min((edge for edge in reading.edges if edge >= end), default=end)]
            if not before and not after:
                return True
            if len(model) >= 5 and len(after) <= 2 and (before + after).isalpha() and after not in EDITION_WORDS:
                return True
        start = reading.compact.find(model, start + 1)
    return False


def _are_sibling_models(a: str, b: str) -> bool:
    """Return True for two models of one series: "qv40b550" and "qv46b550"."""
    return OSA.distance(a, b, score_cutoff=3) <= 3 and not a.isdigit() and not b.isdigit()


# --- with the same words ---


def _have_same_words(a: NameParts, b: NameParts) -> bool:
    if a.measures != b.measures or not a.words or not b.words:
        return False
    short, long = (a.words, b.words) if len(a.words) <= len(b.words) else (b.words, a.words)
    if _join_pieces(short) == _join_pieces(long) and len("".join(short)) >= 6 and not (a.models or b.models):
        return True
    whole = long
    long = _strip_maker(long, short)
    count, other = Counter(short), Counter(long)
    left, right = list((count - other).elements()), list((other - count).elements())
    if left and _join_pieces(left) == _join_pieces(right):
        left, right = [], []
    if not _differ_trivially(left, right, len(short)):
        return False
    telling = [word for word in short if _is_telling_word(word)]
    # A model that only one side gives: a stock number after the maker's name, or the names must tell enough without it.
    if len(telling) < (1 if not (a.models or b.models) else 2 if long != whole else 3):
        return False
    in_order = [word for word in short if word not in left] == [word for word in long if word not in right]
    return in_order or a.comma or b.comma or len(telling) >= 4


def _is_telling_word(word: str) -> bool:
    return not (word in FILLER_WORDS or word[0].isdigit())


def _differ_trivially(left: list[str], right: list[str], length: int) -> bool:
    """Return True if the names differ only by fillers and at most one typo."""
    left, right = (
        [word for word in left if word not in FILLER_WORDS],
        [word for word in right if word not in FILLER_WORDS],
    )
    if not left and not right:
        return True
    return len(left) == len(right) == 1 and _is_typo(left[0], right[0], length)


def _join_pieces(pieces: Iterable[str]) -> str:
    """Join "Web Shop" to "webshop", but keep numbers apart: "1 12" is not "11 2"."""
    return "".join(f" {piece} " if piece[0].isdigit() else piece for piece in pieces)


def _strip_maker(long: tuple[str, ...], short: tuple[str, ...]) -> tuple[str, ...]:
    """Strip a maker's name from the front of `long` if it ends in a legal form ("Encore Ltd") or much follows it."""
    for index in range(min(len(long) - 2, 5), 0, -1):
        maker, rest = long[:index], long[index:]
        if rest[0] != short[0]:
            continue
        if maker[-1] in LEGAL_FORMS:
            return rest
        # A maker's name without a legal form is only a guess, so that many distinguishing words must follow it.
        if (
            index <= 2
            and sum(map(_is_telling_word, rest)) >= 5
            and not any(word in VARIANT_WORDS or word in COLOUR_WORDS for word in maker)
        ):
            return rest
    return long


def _is_typo(a: str, b: str, length: int) -> bool:
    """Return True for a doubled or swapped letter; with three or more other words in common, for any single letter."""
    a, b = sorted((a, b), key=len)
    if len(a) < 4 or not (a + b).isalpha() or a[0] != b[0] or OSA.distance(a, b) != 1:
        return False
    if length >= 4:
        return len(a) >= 5 or a + "s" == b
    doubled = re.sub(r"(.)\1", r"\1", a) == re.sub(r"(.)\1", r"\1", b)
    return len(a) >= (6 if length > 1 else 9) and (doubled or sorted(a) == sorted(b))


# --- reading a name ---

_MEASURE = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?)(?:[\s-]*({'|'.join(sorted(_UNIT_BY_SPELLING, key=len, reverse=True))})(?![a-z0-9])"
    r"|\s*(['\"”″]+)(?!\w))"
)
_CHUNK = re.compile(r"[^\s(),;:\[\]\"|!?*_=]+")


@lru_cache(maxsize=8192)
def parse_row_name(name: str) -> NameParts:
    text = fold_text(name)
    measures: defaultdict[str, set[float]] = defaultdict(set)

    def take(match: re.Match[str]) -> str:
        number, unit, _ = match.groups()
        measures[_UNIT_BY_SPELLING[unit] if unit else "inch"].add(float(number))
        return " "

    spoken = _MEASURE.sub(take, re.sub(r"(?<![a-z0-9])(\d+)\s*x\s*(?=\d)", r"\1 x ", text))
    models: set[str] = set()
    for_models: set[str] = set()
    kept: list[str] = []
    after_for = False
    for chunk in _CHUNK.findall(spoken):
        compact = "".join(char for char in chunk if char.isalnum())
        after_for = after_for or chunk == "for"
        if _is_model_number(chunk, compact):
            models.add(compact)
            if after_for:
                for_models.add(compact)
        else:
            kept.append(chunk)
    spelt = tuple(_SPELLINGS.get(token, token) for token in strip_legal_forms(split_folded_words(" ".join(kept))))
    edges, seams, compact = {0}, {0}, ""
    for chunk in _CHUNK.findall(text):
        for piece in re.findall(r"\d+|[^\W\d_]+", chunk):
            compact += piece
            seams.add(len(compact))
        edges.add(len(compact))
    return NameParts(
        key=row_key(name),
        # "8.0" is version 8; "8.0.0" is kept.
        words=tuple(word[:-2] if word.endswith(".0") and word.count(".") == 1 else word for word in spelt),
        models=frozenset(models),
        for_models=frozenset(for_models),
        measures={unit: frozenset(values) for unit, values in measures.items()},
        compact=compact,
        edges=frozenset(edges),
        seams=frozenset(seams),
        comma="," in name,
    )


def _is_model_number(chunk: str, compact: str) -> bool:
    digits = sum(map(str.isdigit, compact))
    if digits == len(compact):
        return digits >= 5 and "." not in chunk
    if digits == 1:
        return re.fullmatch(r"[a-z]{2,4}\d[a-z]{1,3}", compact) is not None and not _STANDARD_NAME.fullmatch(compact)
    if not digits or len(compact) < _MIN_MODEL_CHARACTERS or _STANDARD_NAME.fullmatch(compact):
        return False
    # "iphone12", "windows10": a word that can be spoken, and its version.
    if re.fullmatch(r"(?=[a-z]*[aeiou])[a-z]{4,}\d{1,2}(?:pro|max|mini|plus|lite|ultra)*", compact):
        return False
    return not re.fullmatch(r"\d+(?:\.\d+)?[-/](?:[a-z]{3,}|\d+)", chunk)
