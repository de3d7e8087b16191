"""Make facts from labels and values, also from a label that names two values or a value that says several things, and
turn the tables of a document into facts or rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.domain.documents import Annotation, Property
from tablewright.extraction.layout.pairs import LineCell, looks_like_label, make_cell, split_at_colon
from tablewright.values.comparable_value import MAX_VALUE_CHARACTERS, parse_comparable
from tablewright.values.measures import read_measures
from tablewright.values.units import find_label_unit


def expand_properties(
    label: str, value: LineCell, context: str = "", day_first: bool | None = None, *, whole: bool = True
) -> Iterator[Property]:
    """Yield the value under its label, and its parts: the sides of a size, values that brackets distinguish."""
    label = clean_label(label)
    # A longer text under a label is a chapter, not a value.
    if not label or len(value.text) > 2_000 or not _HAS_WORD.search(value.text):
        return
    parts = _pair_labels_with_values(label, value)
    if parts:
        for name, part in parts:
            yield _make_property(name, part, context, day_first)
        return
    if whole:
        yield _make_property(label, value, context, day_first)
    # Prose, or nothing to divide.
    if len(value.text) > 600 or not _DIGIT.search(value.text):
        return
    yield from _read_dimensions(label, value, context)
    yield from _read_qualified_values(label, value, context, day_first)


# A tick is a value too.
_HAS_WORD = re.compile(r"[^\W_]|[✓✔✗✘☑☒]")
_DIGIT = re.compile(r"\d")


def clean_label(label: str) -> str:
    return re.sub(r"\s+", " ", label).lstrip("#").strip(" \t.:·•*-–—_=|>")


def _make_property(label: str, value: LineCell, context: str, day_first: bool | None) -> Property:
    read = parse_comparable(value.text, label, day_first=day_first)
    return Property(label=label, value=read, start=value.start, end=value.end, context=context)


# ── two labels, two values ───────────────────────────────────────────────────────────────────────────────────────────


def _pair_labels_with_values(label: str, value: LineCell) -> list[tuple[str, LineCell]]:
    """Return the pairs of a label with as many parts as its value: "Voltage / Current": "44.2 V / 8.2 A"."""
    # In a value a slash needs space around it: "km/h" is one unit.
    for mark, apart, named_apart in (("/", r"\s{1,3}/\s{0,3}|/\s{1,3}", r"\s{0,3}/\s{0,3}"), (",", r",\s+", r",\s+")):
        if mark not in label or mark not in value.text:
            continue
        names = [name for name in re.split(named_apart, label) if name]
        cells = list(_split_cell(value, apart))
        if len(names) != len(cells) or len(names) < 2 or "(" in label:
            continue
        if mark == "," and not (len(names) == 2 and any(_DIGIT.search(cell.text) for cell in cells)):
            continue
        first = names[0].split()
        named = [names[0], *(f"{' '.join(first[:-1])} {name}" if " " not in name else name for name in names[1:])]
        return [(name.strip(), cell) for name, cell in zip(named, cells, strict=True) if _HAS_WORD.search(cell.text)]
    return []


def _split_cell(value: LineCell, mark: str) -> Iterator[LineCell]:
    place = 0
    for gap in re.finditer(mark, value.text):
        yield make_cell(value.text, place, gap.start(), value.start)
        place = gap.end()
    yield make_cell(value.text, place, len(value.text), value.start)


# ── the sides of a size ──────────────────────────────────────────────────────────────────────────────────────────────

_SIDE = r"(?:length|width|breadth|height|depth|thickness|[lwbhdt])"
_LEGEND = re.compile(rf"(?<!\w){_SIDE}(?:\s?[x×*/]\s?{_SIDE}){{1,2}}(?!\w)", re.IGNORECASE)
# A number of a size with its own unit, as in 12' x 3".
_SIZE_NUMBER = re.compile(r"\d[\d.,]*+(?:\s?(?:mm|cm|dm|km|m|inch(?:es)?|in|ft|feet|[\"'″′])(?!\w))?", re.IGNORECASE)


def _read_dimensions(label: str, value: LineCell, context: str) -> Iterator[Property]:
    """Yield each number of "195.7 x 99.2 cm (L x W)" under the name of its side, if a legend names the sides."""
    legend = _LEGEND.search(label) or _LEGEND.search(value.text)
    size = (
        next((each for each in read_measures(value.text[:MAX_VALUE_CHARACTERS], "m") if each.sizes), None)
        if legend
        else None
    )
    if legend is None or size is None:
        return
    sides = {"l": "Length", "w": "Width", "b": "Width", "h": "Height", "d": "Depth", "t": "Thickness"}
    names = [sides[name[0].lower()] for name in re.findall(_SIDE, legend[0], re.IGNORECASE)]
    places = list(_SIZE_NUMBER.finditer(value.text, size.start, size.end))
    unit = size.unit or parse_comparable("1", label).unit
    if not len(names) == len(size.sizes) == len(places):
        return
    for name, place in zip(names, places, strict=True):
        written = place[0].rstrip(" .,")
        read = parse_comparable(written, f"{name} ({unit})" if unit else name)
        start = value.start + place.start()
        yield Property(label=name, value=read, start=start, end=start + len(written), context=context or label)


# ── what else a value says ───────────────────────────────────────────────────────────────────────────────────────────


def _read_qualified_values(label: str, value: LineCell, context: str, day_first: bool | None) -> Iterator[Property]:
    """Yield each value of "420 km (in town), 310 km (on the motorway)" under the label with its qualifier."""
    found = [
        each
        for each in re.finditer(
            r"(?<![^(),;])(?<!\d,)(?P<value>(?:[^(),;]|(?<=\d),(?=\d{3}(?!\d)))++)\((?P<what>[^()]{2,60})\)", value.text
        )
        if _DIGIT.search(each["value"])
    ]
    for part in found if len(found) > 1 else ():
        qualifier = re.sub(r"\s+", " ", part["what"])
        name = f"{label} ({qualifier})"
        cell = make_cell(value.text, *part.span("value"), value.start)
        yield _make_property(name, cell, context, day_first)


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def annotate_table(
    rows: Sequence[Sequence[LineCell]], *, head: bool, table: int, by: str, context: str, day_first: bool | None
) -> Iterator[Annotation]:
    """Yield a table of labels and values as facts, any other as rows under the names of its columns."""
    filled: list[Sequence[LineCell]] = [row for row in rows if any(cell.text for cell in row)]
    if not filled:
        return
    if by != "sheet":
        facts, filled = _extract_form_facts(filled, by, context, day_first)
        yield from facts
        head = head and bool(filled) and filled[0] is rows[0]
        if not filled:
            return
    head = head or _reads_as_header(filled)
    # The columns of a sheet have names, which seldom have digits: "Invoice | KQ-304" is a pair.
    is_form = by != "sheet" or any(map(str.isdecimal, filled[0][-1].text))
    if is_form and _is_pair_table(filled, head):
        yield from _pair_facts(filled, head, by, context, day_first)
        return
    width = max(len(row) for row in filled)
    names = _name_columns(filled[0] if head else (), width)
    units = [find_label_unit(name) for name in names]
    for row in filled[1:] if head else filled:
        properties = tuple(_row_properties(row, names, units, context, day_first))
        if properties:
            start, end = properties[0].start, max(each.end for each in properties)
            yield Annotation(shape="row", properties=properties, start=start, end=end, by=by, table=table)


def _name_columns(head: Sequence[LineCell], width: int) -> list[str]:
    names: list[str] = []
    for number in range(width):
        name = clean_label(head[number].text)[:80] if number < len(head) else ""
        name = name or ("Item" if head and number == 0 else f"Column {number + 1}")
        names.append(name if name not in names else f"{name} {number + 1}")
    return names


def _row_properties(
    row: Sequence[LineCell], names: Sequence[str], units: Sequence[str], context: str, day_first: bool | None
) -> Iterator[Property]:
    unit = find_label_unit(row[0].text) if "(" in row[0].text or "[" in row[0].text else ""
    for number, cell in enumerate(row):
        if not cell.text:
            continue
        label = names[number]
        said = f"{label} ({unit})" if unit and number and not units[number] else label
        value = parse_comparable(cell.text, said, day_first=day_first)
        yield Property(label=label, value=value, start=cell.start, end=cell.end, context=context)


def _reads_as_header(rows: Sequence[Sequence[LineCell]]) -> bool:
    """Return True if the first row has only words, and numbers are below them."""
    first, rest = rows[0], rows[1:]
    if len(rest) < 1 or len(first) < 3 or any(parse_comparable(cell.text).number is not None for cell in first):
        return False
    return any(cell.text[:1].isdecimal() for row in rest[:5] for cell in row)


def _is_pair_table(rows: Sequence[Sequence[LineCell]], head: bool) -> bool:
    """Return True for two columns, labels and values of different kinds; values of one kind are a column."""
    if max(len(row) for row in rows) != 2 or any(len(row) != 2 for row in rows):
        return False
    body = rows[1:] if head else rows
    labels = [row[0].text for row in body]
    if len(set(labels)) < len(labels) or not all(looks_like_label(label) for label in labels if label):
        return False
    kinds = {_value_kind(row) for row in body if row[1].text}
    return len(kinds) > 1 or (not head and len(body) > 1)


def _value_kind(row: Sequence[LineCell]) -> str:
    value = parse_comparable(row[1].text, row[0].text)
    if value.number is not None:
        return value.base or value.currency or "number"
    return "date" if value.date else "truth" if value.truth is not None else "text"


def _pair_facts(
    rows: Sequence[Sequence[LineCell]], head: bool, by: str, context: str, day_first: bool | None
) -> Iterator[Annotation]:
    # A first row of words is a pair like the others, unless no other value is a text.
    is_head = head and len(rows) > 1 and "text" not in map(_value_kind, rows[1:])
    for label, value in rows[1:] if is_head else rows:
        if not value.text or not label.text:
            continue
        for each in expand_properties(label.text, value, context, day_first):
            yield Annotation(shape="fact", properties=(each,), start=label.start, end=value.end, by=by)


def _extract_form_facts(
    rows: list[Sequence[LineCell]], by: str, context: str, day_first: bool | None
) -> tuple[list[Annotation], list[Sequence[LineCell]]]:
    """Return the facts of cells that hold a label with its colon, and the other rows, without those of labels only."""
    facts: list[Annotation] = []
    left: list[Sequence[LineCell]] = []
    for row in rows:
        open_label: LineCell | None = None
        labels = 0
        for cell in row:
            label, value = split_at_colon(cell)
            if open_label is not None and cell.text and not label:
                label, value = open_label.text, cell
            if label and value.text:
                start = open_label.start if open_label is not None and value is cell else cell.start
                for each in expand_properties(label, value, context, day_first):
                    facts.append(Annotation(shape="fact", properties=(each,), start=start, end=value.end, by=by))
            labels += bool(label)
            open_label = cell if label and not value.text else None
        names_columns = row is rows[0] and all(cell.text.endswith(":") for cell in row)
        if names_columns or labels < sum(1 for cell in row if cell.text):
            left.append(row)
    return facts, left
