"""Facts from a label and its value, also where one label names two of them or a value says more than one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.domain.corpus import Property
from tablewright.extraction.layout.lines import LineCell, cell_at
from tablewright.values.measures import read_measures
from tablewright.values.typed import LONGEST, typed

LONGEST_VALUE = 600
LONGEST_TEXT = 2_000  # characters; what is longer under a label is a chapter, not a value


def properties_of(
    label: str, value: LineCell, context: str = "", day_first: bool | None = None, *, whole: bool = True
) -> Iterator[Property]:
    """The value under its label, and what else it says: the sides of a size, parts that brackets tell apart."""
    label = label_text(label)
    if not label or len(value.text) > LONGEST_TEXT or not _HAS_WORD.search(value.text):
        return
    parts = _paired(label, value)
    if parts:
        for name, part in parts:
            yield _property(name, part, context, day_first)
        return
    if whole:
        yield _property(label, value, context, day_first)
    if len(value.text) > LONGEST_VALUE or not _DIGIT.search(value.text):
        return
    yield from _dimensions(label, value, context)
    yield from _qualified(label, value, context, day_first)


_HAS_WORD = re.compile(r"[^\W_]|[✓✔✗✘☑☒]")
_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"\s+")


def label_text(label: str) -> str:
    return _SPACES.sub(" ", label).lstrip("#").strip(" \t.:·•*-–—_=|>")


def _property(label: str, value: LineCell, context: str, day_first: bool | None) -> Property:
    read = typed(value.text, label, day_first=day_first)
    return Property(label=label, value=read, start=value.start, end=value.end, context=context)


# ── two labels, two values ───────────────────────────────────────────────────────────────────────────────────────────

_SLASH = re.compile(r"\s{0,3}/\s{0,3}")
_SLASH_APART = re.compile(r"\s{1,3}/\s{0,3}|/\s{1,3}")
_COMMA = re.compile(r",\s+")


def _paired(label: str, value: LineCell) -> list[tuple[str, LineCell]]:
    """ "Voltage / Current": "44.2 V / 8.2 A", "Station, Elevation": "Halden, 793 ft": as many values as labels."""
    for mark, apart in (("/", _SLASH_APART), (",", _COMMA)):
        if mark not in label or mark not in value.text:
            continue
        names = [name for name in (_SLASH if mark == "/" else _COMMA).split(label) if name]
        cells = list(_split(value, apart))
        if len(names) != len(cells) or len(names) < 2 or "(" in label:
            continue
        if mark == "," and not (len(names) == 2 and any(_DIGIT.search(cell.text) for cell in cells)):
            continue
        first = names[0].split()
        named = [names[0], *(f"{' '.join(first[:-1])} {name}" if " " not in name else name for name in names[1:])]
        return [(name.strip(), cell) for name, cell in zip(named, cells, strict=True) if _HAS_WORD.search(cell.text)]
    return []


def _split(value: LineCell, mark: re.Pattern[str]) -> Iterator[LineCell]:
    place = 0
    for gap in mark.finditer(value.text):
        yield cell_at(value.text, place, gap.start(), value.start)
        place = gap.end()
    yield cell_at(value.text, place, len(value.text), value.start)


# ── the sides of a size ──────────────────────────────────────────────────────────────────────────────────────────────

_SIDES = {"l": "Length", "w": "Width", "b": "Width", "h": "Height", "d": "Depth", "t": "Thickness"}
_SIDE = r"(?:length|width|breadth|height|depth|thickness|[lwbhdt])"
_LEGEND = re.compile(rf"(?<!\w){_SIDE}(?:\s?[x×*/]\s?{_SIDE}){{1,2}}(?!\w)", re.IGNORECASE)
_SIDE_NAME = re.compile(_SIDE, re.IGNORECASE)
_SIZE_NUMBER = re.compile(r"\d[\d.,]*+(?:\s?(?:mm|cm|dm|km|m|inch(?:es)?|in|ft|feet|[\"'″′])(?!\w))?", re.IGNORECASE)


def _dimensions(label: str, value: LineCell, context: str) -> Iterator[Property]:
    """Each number of "195.7 x 99.2 cm (L x W)" under the name of its side, where it is said which is which."""
    legend = _LEGEND.search(label) or _LEGEND.search(value.text)
    size = next((each for each in read_measures(value.text[:LONGEST], "m") if each.sizes), None) if legend else None
    if legend is None or size is None:
        return
    names = [_SIDES[name[0].lower()] for name in _SIDE_NAME.findall(legend[0])]
    places = list(_SIZE_NUMBER.finditer(value.text, size.start, size.end))
    unit = size.unit or typed("1", label).unit
    if not len(names) == len(size.sizes) == len(places):
        return
    for name, place in zip(names, places, strict=True):
        written = place[0].rstrip(" .,")
        read = typed(written, f"{name} ({unit})" if unit else name)
        start = value.start + place.start()
        yield Property(label=name, value=read, start=start, end=start + len(written), context=context or label)


# ── what else a value says ───────────────────────────────────────────────────────────────────────────────────────────

_QUALIFIED = re.compile(
    r"(?<![^(),;])(?<!\d,)(?P<value>(?:[^(),;]|(?<=\d),(?=\d{3}(?!\d)))++)\((?P<what>[^()]{2,60})\)"
)


def _qualified(label: str, value: LineCell, context: str, day_first: bool | None) -> Iterator[Property]:
    """ "420 km (in town), 310 km (on the motorway)": each under the label and what it is of."""
    found = [each for each in _QUALIFIED.finditer(value.text) if _DIGIT.search(each["value"])]
    for part in found if len(found) > 1 else ():
        name = f"{label} ({_SPACES.sub(' ', part['what'])})"
        cell = cell_at(value.text, *part.span("value"), value.start)
        yield _property(name, cell, context, day_first)
