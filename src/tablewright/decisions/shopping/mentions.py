"""Which products and columns of a table a message means: by name, by a part of it, by place, or by "it"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tablewright.decisions.shopping.known import fields_for, head_noun, places_in
from tablewright.table.model import Noun
from tablewright.text.words import stems

# ── products ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_WORD = re.compile(r"[^\W_]+(?:[.,'’+][^\W_]+)*")
_COMMON = frozenset(
    """a an the and or but one two three four five six seven eight nine ten first second third last it its this that
    these those them they all any some more less most least best better cheap cheaper cheapest good new old big small
    basic classic pro plus max mini ultra lite light lights home pure smart fast quick quiet glass steel zero prime
    compact travel eco air power energy comfort premium standard original active sport city easy simple smooth soft
    clear bright black white red blue green silver grey gold go get give find show tell add drop keep make take buy
    want need like other others else with without for from under over below above about between than then what which
    who where when why how is are was do does did can could will would should not no yes ok thanks please list table
    compare price cost size weight capacity warranty material colour color feature features model models brand option
    options product products top step degree reading office desk road family series edition version type set""".split()
)
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
}  # fmt: skip
_ORDINAL = r"(?:first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th)"
_COUNT = r"(?P<count>two|three|four|five|[2-5])"
_FIRST_FEW = re.compile(
    rf"\b(?:the\s+)?(?:first|top|best)\s+{_COUNT}\b(?!\s*(?:%|gb|kg|l\b|w\b|years?))", re.IGNORECASE
)
_LAST_FEW = re.compile(rf"\b(?:the\s+)?last\s+{_COUNT}\b(?!\s*(?:years?|days?|months?))", re.IGNORECASE)
_PLACE = re.compile(
    rf"\b(?P<place>{_ORDINAL})\b(?!\s+(?:time|year|hand|of all|thing|priority|question|aid|class|thought))|"
    r"(?:#|\b(?:number|no\.?|option|nr\.?|pick|choice|place)\s*)(?P<number>[1-9]|one|two|three|four|five)\b",
    re.IGNORECASE,
)
_LAST = re.compile(r"\b(?:the\s+)?last\s+(?:one|product|option|pick|in the list)\b", re.IGNORECASE)
_TOP = re.compile(
    r"\b(?:the|your)\s+(?:top|number one|winning|best|leading)\s+(?:one|pick|choice|option|recommendation|product)\b|"
    r"\bthe winner\b|\byour recommendation\b|\bthe top (?:spot|\w+)$",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|each|every one|any)\s+(?:of\s+)?(?:them|these|those|the (?:top )?(?:five|four|three|products?))\b|"
    r"\ball (?:five|four|three)\b|\b(?:these|those|they|them|their)\b",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:both|either|(?:the|those|these) two)\b(?!-)", re.IGNORECASE)
_IT = re.compile(
    r"\b(?:it|its|it's|that one|this one|like (?:this|that)|that (?:price|capacity|weight|figure|number|value))\b",
    re.IGNORECASE,
)


class Span(Noun, frozen=True):
    """A part of a message that means `products`, from `start` to `end`."""

    products: tuple[str, ...]
    start: int
    end: int


def products_in(
    message: str,
    products: Sequence[str],
    shown: Sequence[str] = (),
    history: Sequence[str] = (),
    product_type: str = "",
) -> tuple[str, ...]:
    """The names in the order of the message; what "it" means is what was named last in the history (newest last)."""
    named = named_in(message, products, shown, product_type)
    placed = _placed(message, shown)
    found = [name for span in sorted((*named, *placed), key=lambda span: span.start) for name in span.products]
    both = _BOTH.search(message)
    if not found and (both or _ALL.search(message)):
        last = _last_named(history, products, shown, product_type)
        found = list(last if len(last) > 1 else shown[:2] if both else shown)
    elif not found and _IT.search(message):
        found = list(_last_named(history, products, shown, product_type)[-1:] or (shown if len(shown) == 1 else ()))
    return tuple(dict.fromkeys(found))


def _last_named(
    history: Sequence[str], products: Sequence[str], shown: Sequence[str], product_type: str
) -> tuple[str, ...]:
    for said in reversed(history):
        spans = (*named_in(said, products, shown, product_type), *_placed(said, shown))
        if spans:
            found = (name for span in sorted(spans, key=lambda span: span.start) for name in span.products)
            return tuple(dict.fromkeys(found))
    return ()


def named_in(message: str, products: Sequence[str], shown: Sequence[str] = (), product_type: str = "") -> list[Span]:
    """Names and parts of names, the longest first. "The Fellow" is one, the best placed; "Fellow kettles" are all."""
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(message)]
    keys = [_key(word) for word, _, _ in words]
    idle = frozenset(stems(product_type)) | frozenset(head_noun(product_type))
    names = {product: [_key(word) for word in _WORD.findall(product)] for product in products}
    spans: list[Span] = []
    taken: set[int] = set()
    for width in range(max(map(len, names.values()), default=0), 0, -1):
        for first in range(len(keys) - width + 1):
            places = range(first, first + width)
            part = keys[first : first + width]
            if taken & set(places) or not _tells(words[first : first + width], first, idle):
                continue
            fits = [product for product, name in names.items() if _is_part(part, name)]
            if fits:
                whole = [product for product in fits if names[product] == part]
                meant = whole or _one_or_all(message, words[first][1], words[first + width - 1][2], fits, shown)
                spans.append(Span(products=tuple(meant), start=words[first][1], end=words[first + width - 1][2]))
                taken |= set(places)
    return spans


def _one_or_all(message: str, start: int, end: int, fits: list[str], shown: Sequence[str]) -> list[str]:
    """Several products of a maker are meant by the plural, or where the maker is named without an article."""
    single = re.search(r"\b(?:the|that|this|a|an)\s+$", message[:start], re.IGNORECASE)
    plural = re.match(r"\s+(?:ones|models|products|\w+s)\b", message[end:])
    if len(fits) == 1 or plural or not single:
        return fits
    return [next((product for product in shown if product in fits), fits[0])]


def _is_part(part: list[str], name: list[str]) -> bool:
    width = len(part)
    return any(name[place : place + width] == part for place in range(len(name) - width + 1))


def _tells(words: Sequence[tuple[str, int, int]], first: int, idle: frozenset[str]) -> bool:
    """Whether some word of it is one that only a name has: no number alone, and no usual word unless it is written as
    a name within the sentence."""
    for place, (word, _, _) in enumerate(words):
        key = _key(word)
        if any(map(str.isalpha, key)) and len(key) > 1 and key not in idle:
            as_name = word[:1].isupper() and first + place > 0
            if (key not in _COMMON and len(key) > 2) or as_name or (any(map(str.isdigit, key))):
                return True
    return False


def _key(word: str) -> str:
    """ "Fellow's" is "fellow"."""
    return re.sub(r"['’]s?$", "", word.casefold())


def _placed(message: str, shown: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    taken = message
    for pattern, last in ((_FIRST_FEW, False), (_LAST_FEW, True)):
        for match in pattern.finditer(taken):
            count = int(match["count"]) if match["count"].isdigit() else _ORDINALS[match["count"].casefold()]
            few = shown[-count:] if last else shown[:count]
            spans.append(Span(products=tuple(few), start=match.start(), end=match.end()))
            taken = taken[: match.start()] + " " * len(match[0]) + taken[match.end() :]
    for match in _PLACE.finditer(taken):
        said = (match["number"] or match["place"]).casefold()
        place = int(said) if said.isdigit() else _ORDINALS[said]
        spans.append(Span(products=tuple(shown[place - 1 : place]), start=match.start(), end=match.end()))
    for pattern, product in ((_TOP, shown[:1]), (_LAST, shown[-1:])):
        spans += [Span(products=tuple(product), start=m.start(), end=m.end()) for m in pattern.finditer(taken)]
    return [span for span in spans if span.products]


# ── names that are not in the table ───────────────────────────────────────────────────────────────────────────────────

_NAME = re.compile(r"(?<=\s)[A-Z0-9][\w&.'’-]*(?:\s+(?:[A-Z0-9&][\w&.'’-]*))*")
_NO_NAME = frozenset(("i", "i'm", "i'll", "i'd", "ok"))


def name_in(text: str) -> str:
    """A name within a sentence: "why isn't the Dyson V8 there?"."""
    found = (match[0].strip(" ?.!,") for match in _NAME.finditer(f" {text[:1].lower()}{text[1:]}"))
    return next((name for name in found if name.casefold() not in _NO_NAME and not name.isdigit()), "")


def as_name(text: str) -> str:
    """The text as a product's name, where every word of it is written as one: "the Dyson V8"."""
    bare = re.sub(
        r"^(?:the|a|an)\s+|\s+(?:to|in|into) (?:the|this|my|your) \w+$|\s+too$",
        "",
        text.strip(" ?.!"),
        flags=re.IGNORECASE,
    )
    words = bare.split()
    is_name = len(words) > 1 and all(word[:1].isupper() or word[:1].isdigit() for word in words)
    return bare if is_name or (len(words) == 1 and re.match(r"[A-Z][a-z]+$|[A-Z]+\d", bare)) else ""


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def columns_in(message: str, columns: Iterable[str], product_type: str) -> tuple[str, ...]:
    """The columns that are named, by their own names or by what people call them, in the order of the message. Words
    that name several columns mean the first."""
    words = stems(message)
    known = {field.name: field for field in fields_for(product_type)}
    found: list[tuple[int, int, str]] = []
    for column in columns:
        places = [_place(words, stems(column))]
        if column in known:
            places.append(places_in(words, known[column]))
        spans = [place for place in places if place]
        if spans:
            start, end = max(spans, key=lambda place: place[1] - place[0])
            found.append((start, end, column))
    kept = [
        (start, column)
        for start, end, column in found
        if not any(
            (other_start <= start and end <= other_end and other_end - other_start > end - start)
            for other_start, other_end, _ in found
        )
    ]
    return tuple(column for _, column in sorted(kept, key=lambda each: each[0]))


def unknown_columns_in(message: str, columns: Iterable[str], product_type: str) -> tuple[str, ...]:
    """Names of fields that such things have, that the message speaks of and that are no column yet."""
    words = stems(message)
    there = set(columns)
    places = [(field.name, place) for field in fields_for(product_type) if (place := places_in(words, field))]
    best: dict[int, tuple[int, str]] = {}
    for name, (start, end) in places:
        if start not in best or end - start > best[start][0]:
            best[start] = (end - start, name)
    inside = [(start, start + width, name) for start, (width, name) in best.items()]
    return tuple(
        name
        for start, end, name in sorted(inside)
        if name not in there and not any(o < start < e or (o <= start and end < e) for o, e, _ in inside)
    )


def _place(words: tuple[str, ...], name: tuple[str, ...]) -> tuple[int, int] | None:
    width = len(name)
    starts = (start for start in range(len(words) - width + 1) if name and words[start : start + width] == name)
    first = next(starts, None)
    return None if first is None else (first, first + width)
