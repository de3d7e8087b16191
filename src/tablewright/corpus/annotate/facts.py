"""Facts from a label and its value, also where one label names two of them or a value says more than one thing; and the
tables of a document as facts or as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.domain.corpus import Annotation, Property
from tablewright.extraction.layout.pairs import LineCell, cell_at, is_label, split_at_colon
from tablewright.values.measures import read_measures
from tablewright.values.typed import LONGEST, typed
from tablewright.values.units import unit_in

LONGEST_HEAD = 80
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


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def annotations_of(
    rows: Sequence[Sequence[LineCell]], *, head: bool, table: int, by: str, context: str, day_first: bool | None
) -> Iterator[Annotation]:
    """A table of labels and values as facts, any other as rows under the names of its columns."""
    filled: list[Sequence[LineCell]] = [row for row in rows if any(cell.text for cell in row)]
    if not filled:
        return
    if by != "sheet":
        facts, filled = _forms(filled, by, context, day_first)
        yield from facts
        head = head and bool(filled) and filled[0] is rows[0]
        if not filled:
            return
    head = head or _reads_as_head(filled)
    # The columns of a sheet have names above them, which seldom have digits: "Invoice | KQ-304" is a pair.
    is_form = by != "sheet" or any(map(str.isdecimal, filled[0][-1].text))
    if is_form and _is_of_pairs(filled, head):
        yield from _facts(filled, head, by, context, day_first)
        return
    width = max(len(row) for row in filled)
    names = _names(filled[0] if head else (), width)
    units = [unit_in(name) for name in names]
    for row in filled[1:] if head else filled:
        properties = tuple(_in_row(row, names, units, context, day_first))
        if properties:
            start, end = properties[0].start, max(each.end for each in properties)
            yield Annotation(shape="row", properties=properties, start=start, end=end, by=by, table=table)


def _names(head: Sequence[LineCell], width: int) -> list[str]:
    names: list[str] = []
    for number in range(width):
        name = label_text(head[number].text)[:LONGEST_HEAD] if number < len(head) else ""
        name = name or ("Item" if head and number == 0 else f"Column {number + 1}")
        names.append(name if name not in names else f"{name} {number + 1}")
    return names


def _in_row(
    row: Sequence[LineCell], names: Sequence[str], units: Sequence[str], context: str, day_first: bool | None
) -> Iterator[Property]:
    unit = unit_in(row[0].text) if "(" in row[0].text or "[" in row[0].text else ""
    for number, cell in enumerate(row):
        if not cell.text:
            continue
        label = names[number]
        said = f"{label} ({unit})" if unit and number and not units[number] else label
        value = typed(cell.text, said, day_first=day_first)
        yield Property(label=label, value=value, start=cell.start, end=cell.end, context=context)


def _reads_as_head(rows: Sequence[Sequence[LineCell]]) -> bool:
    """Whether the first row has only words, and numbers stand below them."""
    first, rest = rows[0], rows[1:]
    if len(rest) < 1 or len(first) < 3 or any(typed(cell.text).number is not None for cell in first):
        return False
    return any(cell.text[:1].isdecimal() for row in rest[:5] for cell in row)


def _is_of_pairs(rows: Sequence[Sequence[LineCell]], head: bool) -> bool:
    """Two columns of which the first names what the second gives: of different kinds, not one column of one kind."""
    if max(len(row) for row in rows) != 2 or any(len(row) != 2 for row in rows):
        return False
    body = rows[1:] if head else rows
    labels = [row[0].text for row in body]
    if len(set(labels)) < len(labels) or not all(is_label(label) for label in labels if label):
        return False
    kinds = {_kind(row) for row in body if row[1].text}
    return len(kinds) > 1 or (not head and len(body) > 1)


def _kind(row: Sequence[LineCell]) -> str:
    value = typed(row[1].text, row[0].text)
    if value.number is not None:
        return value.base or value.currency or "number"
    return "date" if value.date else "truth" if value.truth is not None else "text"


def _facts(
    rows: Sequence[Sequence[LineCell]], head: bool, by: str, context: str, day_first: bool | None
) -> Iterator[Annotation]:
    # A first row of words is a pair like the others, unless no other value is a text.
    is_head = head and len(rows) > 1 and "text" not in map(_kind, rows[1:])
    for label, value in rows[1:] if is_head else rows:
        if not value.text or not label.text:
            continue
        for each in properties_of(label.text, value, context, day_first):
            yield Annotation(shape="fact", properties=(each,), start=label.start, end=value.end, by=by)


def _forms(
    rows: list[Sequence[LineCell]], by: str, context: str, day_first: bool | None
) -> tuple[list[Annotation], list[Sequence[LineCell]]]:
    """The facts of cells that hold a label with its colon, and the rows that are left: not those of labels only."""
    facts: list[Annotation] = []
    left: list[Sequence[LineCell]] = []
    for row in rows:
        open_label: LineCell | None = None
        told = 0
        for cell in row:
            label, value = split_at_colon(cell)
            if open_label is not None and cell.text and not label:
                label, value = open_label.text, cell
            if label and value.text:
                start = open_label.start if open_label is not None and value is cell else cell.start
                for each in properties_of(label, value, context, day_first):
                    facts.append(Annotation(shape="fact", properties=(each,), start=start, end=value.end, by=by))
            told += bool(label)
            open_label = cell if label and not value.text else None
        names_columns = row is rows[0] and all(cell.text.endswith(":") for cell in row)
        if names_columns or told < sum(1 for cell in row if cell.text):
            left.append(row)
    return facts, left
