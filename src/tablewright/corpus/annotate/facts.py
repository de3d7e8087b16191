"""Facts from a label and its value, also where one label names two of them or a value says more than one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.corpus.annotate.lines import Cell, cell_at
from tablewright.table.corpus import Property, Typed
from tablewright.table.measures import Measure, read_measures
from tablewright.table.typed import LONGEST, typed

LONGEST_VALUE = 600
LONGEST_TEXT = 2_000  # characters; what is longer under a label is a chapter, not a value


def properties_of(
    label: str, value: Cell, context: str = "", day_first: bool | None = None, *, whole: bool = True
) -> Iterator[Property]:
    """The value under its label, and what else can be read from it: the sides of a size, a count behind a comma."""
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
    yield from _sides(label, value, context)
    if not typed(value.text, label).date:
        yield from _counts(value, context or label)
    yield from _qualified(label, value, context, day_first)


_HAS_WORD = re.compile(r"[^\W_]|[✓✔✗✘☑☒]")
_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"\s+")


def label_text(label: str) -> str:
    return _SPACES.sub(" ", label).lstrip("#").strip(" \t.:·•*-–—_=|>")


def _property(label: str, value: Cell, context: str, day_first: bool | None) -> Property:
    read = typed(value.text, label, day_first=day_first)
    return Property(label=label, value=read, start=value.start, end=value.end, context=context)


# ── two labels, two values ───────────────────────────────────────────────────────────────────────────────────────────

_SLASH = re.compile(r"\s*/\s*")
_SLASH_APART = re.compile(r"\s+/\s*|\s*/\s+")
_COMMA = re.compile(r",\s+")


def _paired(label: str, value: Cell) -> list[tuple[str, Cell]]:
    """ "Voc / Isc": "44.2 V / 8.2 A", "Facility, Elevation": "LPR, 793 ft", where there are as many as labels."""
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


def _split(value: Cell, mark: re.Pattern[str]) -> Iterator[Cell]:
    place = 0
    for gap in mark.finditer(value.text):
        yield cell_at(value.text, place, gap.start()).moved(value.start)
        place = gap.end()
    yield cell_at(value.text, place, len(value.text)).moved(value.start)


# ── the sides of a size ──────────────────────────────────────────────────────────────────────────────────────────────

SIDE_NAMES = {
    "l": "Length", "length": "Length", "long": "Length", "w": "Width", "width": "Width", "wide": "Width", "b": "Width",
    "breadth": "Width", "h": "Height", "height": "Height", "high": "Height", "d": "Depth", "depth": "Depth",
    "deep": "Depth", "t": "Thickness", "thickness": "Thickness", "thick": "Thickness", "tall": "Height",
}  # fmt: skip
_SIDE = r"(?:length|width|breadth|height|depth|thickness|[lwbhdt])"
_LEGEND = re.compile(rf"(?<!\w){_SIDE}(?:\s?[x×*/]\s?{_SIDE}){{1,2}}(?!\w)", re.IGNORECASE)
_SIZE_LABEL = re.compile(r"\b(?:dimensions?|sizes?|measurements|abmessungen|maße|format)\b", re.IGNORECASE)
_SIZE_NUMBER = re.compile(r"\d[\d.,]*(?:\s?(?:mm|cm|dm|km|m|inch(?:es)?|in|ft|feet|[\"'″′])(?!\w))?", re.IGNORECASE)
_ASSUMED = {2: ("Length", "Width"), 3: ("Length", "Width", "Height")}


def _sides(label: str, value: Cell, context: str) -> Iterator[Property]:
    legend = _LEGEND.search(label) or _LEGEND.search(value.text)
    if legend is None and not _SIZE_LABEL.search(label):
        return
    size = next((measure for measure in read_measures(value.text[:LONGEST], "m") if measure.sizes), None)
    if size is None or not (legend or size.unit):
        return
    unit = size.unit or _unit_of(label)
    names = tuple(SIDE_NAMES[name.casefold()] for name in re.findall(_SIDE, legend[0], re.IGNORECASE)) if legend else ()
    named = names or _ASSUMED.get(len(size.sizes), ())
    doubt = "" if names else f"the order of the sides of {value.text} is not said"
    yield from sides_of(value, size, named, unit, context or label, doubt)


def sides_of(
    value: Cell, size: Measure, names: Sequence[str], unit: str, context: str, doubt: str = ""
) -> Iterator[Property]:
    """Each number of a size under the name of its side; none where there are not as many names as numbers."""
    places = list(_SIZE_NUMBER.finditer(value.text, size.start, size.end))
    if len(names) != len(size.sizes) or len(places) != len(size.sizes):
        return
    for name, place in zip(names, places, strict=True):
        written = place[0].rstrip(" .,")
        read = typed(written, f"{name} ({unit})" if unit else name)
        start = value.start + place.start()
        read = structs.replace(read, ambiguity=doubt or (read.ambiguity if size.note else ""))
        yield Property(label=name, value=read, start=start, end=start + len(written), context=context)


def _unit_of(label: str) -> str:
    return typed("1", label).unit


# ── what else a value says ───────────────────────────────────────────────────────────────────────────────────────────

_COUNT = re.compile(r"[,;(]\s*(?P<number>\d{1,6})\s+(?P<what>[^\W\d_]{3,}(?:\s[^\W\d_]{2,}){0,3})\s*(?=$|[,;.)])")
_QUALIFIED = re.compile(
    r"(?<![^(),;])(?P<value>(?:[^(),;]|(?<=\d),(?=\d{3}(?!\d)))*\d[^(),;]*?)\s*\((?P<what>[^()]{2,60})\)"
)


def _counts(value: Cell, context: str) -> Iterator[Property]:
    """ "multi c-Si, 72 cells in series": the cells in series are 72."""
    for found in _COUNT.finditer(value.text):
        number = Typed(raw=found["number"], number=float(found["number"]))
        if found["what"].isupper() or typed(f"{found['number']} {found['what']}").unit:
            continue
        start = value.start + found.start("number")
        yield Property(label=found["what"], value=number, start=start, end=start + len(number.raw), context=context)


def _qualified(label: str, value: Cell, context: str, day_first: bool | None) -> Iterator[Property]:
    """ "2411 hours (total, all aircraft), 789 hours (this model)": each under the label and what it is of."""
    found = list(_QUALIFIED.finditer(value.text))
    if len(found) < 2:
        return
    for part in found:
        name = f"{label} ({_SPACES.sub(' ', part['what'])})"
        cell = cell_at(value.text, part.start("value"), part.end("value")).moved(value.start)
        yield _property(name, cell, context, day_first)
