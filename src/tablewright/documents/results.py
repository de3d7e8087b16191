"""Results of a question to all facts: matching items, undecided items, figures over them, and their completeness.

- `incomplete`: some items do not state what decides, or some documents could not be read; there may be more matches.
- `approximate`: all were decided, but under an assumption: a label that says less than was asked, a date that can be
  read in two ways, words in a text without a label.
- `exact`: neither.

Pure functions on values; aggregation and the CSV export live here because both read `FoundItems` alone.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal

from tablewright.domain.documents import Aggregate, ComparableValue, Completeness, Question
from tablewright.domain.model import Row, Struct, make_given_cell
from tablewright.domain.text import normalize_whitespace
from tablewright.formats.tables.delimited import CsvWriter
from tablewright.formats.tables.incoming import find_free_name
from tablewright.formats.tables.sheet import ExportColumn
from tablewright.messages.catalogue import translate
from tablewright.values.measures import Measure, convert_measure


class StatedFact(Struct, frozen=True):
    """A value for the `asked` label, with the label and the offsets that it has in the document.

    A computed value has its `calculation`, and in `parts` the offsets of its figures."""

    asked: str
    label: str
    value: ComparableValue
    start: int
    end: int
    context: str = ""
    page: int | None = None
    calculation: str = ""
    parts: tuple[tuple[int, int], ...] = ()


class FoundItem(Struct, frozen=True):
    """A document, or one row of a spreadsheet (`row` is the id of its annotation).

    `values` decided or are to be shown; a label has several if several rows of a document state it. `start:end` is the
    passage of the first."""

    document_id: str
    title: str
    row: int = 0
    page: int | None = None
    start: int = 0
    end: int = 0
    values: tuple[StatedFact, ...] = ()

    def all_of(self, asked: str) -> list[StatedFact]:
        return [stated for stated in self.values if stated.asked == asked]


class UndecidedItem(Struct, frozen=True):
    thing: FoundItem
    reason: str


class FoundItems(Struct, frozen=True):
    question: Question
    matches: tuple[FoundItem, ...]
    rejected: int
    undecided: tuple[UndecidedItem, ...]
    unreadable: int
    completeness: Completeness
    reason: str

    @property
    def universe(self) -> int:
        """Return the number of items that were evaluated."""
        return len(self.matches) + self.rejected + len(self.undecided)


# ── figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Amount(Struct, frozen=True):
    """`value` is a number or an ISO date. `things` have the extreme value, or are the parts of a sum or an average."""

    value: Decimal | str
    unit: str = ""
    things: tuple[FoundItem, ...] = ()


class Group(Struct, frozen=True):
    """`amounts` has one for each currency or unit; a count needs none."""

    key: str
    count: int
    amounts: tuple[Amount, ...] = ()


class Aggregated(Struct, frozen=True):
    """`missing` are the matching items that do not state what was to be added up."""

    aggregate: Aggregate
    groups: tuple[Group, ...]
    missing: tuple[FoundItem, ...]
    completeness: Completeness
    reason: str


def aggregate_annotations(
    found: FoundItems, aggregate: Aggregate, of: str = "", group_by: str = "", *, language: str = ""
) -> Aggregated:
    groups: dict[str, list[FoundItem]] = {} if group_by else {"": list(found.matches)}
    names: dict[str, str] = {"": ""}
    if group_by:
        for thing in found.matches:
            stated = thing.all_of(group_by)
            name = normalize_whitespace(stated[0].value.raw) if stated else ""
            groups.setdefault(name.casefold(), []).append(thing)
            names.setdefault(name.casefold(), name)
    missing: list[FoundItem] = []
    made = []
    for key, things in groups.items():
        amounts: tuple[Amount, ...] = ()
        if aggregate not in ("", "count") and of:
            valued = [(thing, [stated.value for stated in thing.all_of(of)]) for thing in things]
            missing += [
                thing for thing, values in valued if all(each.number is None and not each.date for each in values)
            ]
            amounts = _compute_amounts(aggregate, [(thing, value) for thing, values in valued for value in values])
        made.append(Group(key=names[key], count=len(things), amounts=amounts))
    made.sort(key=lambda group: (-group.count, group.key))
    ungrouped = len(groups.get("", ())) if group_by else 0
    gaps = [
        translate(
            "ask",
            "{count} of {total} matches do not state {column}",
            language,
            count=count,
            total=len(found.matches),
            column=column,
        )
        for count, column in ((len(missing), of), (ungrouped, group_by))
        if count
    ]
    completeness = "incomplete" if gaps else found.completeness
    reason = "; ".join(filter(None, (*gaps, found.reason)))
    return Aggregated(
        aggregate=aggregate, groups=tuple(made), missing=tuple(missing), completeness=completeness, reason=reason
    )


def _compute_amounts(aggregate: Aggregate, values: Sequence[tuple[FoundItem, ComparableValue]]) -> tuple[Amount, ...]:
    dated = [(thing, value.date) for thing, value in values if value.date]
    numbers = [(thing, value) for thing, value in values if value.number is not None and not value.date]
    if aggregate in ("min", "max") and len(dated) > len(numbers):
        extreme = min(date for _, date in dated) if aggregate == "min" else max(date for _, date in dated)
        return (Amount(value=extreme, things=_unique_items(thing for thing, date in dated if date == extreme)),)
    kinds = {_dimension_of(value) for _, value in numbers}
    only = next(iter(kinds - {""}), "") if len(kinds - {""}) == 1 else ""
    by_kind: dict[str, list[tuple[FoundItem, ComparableValue]]] = {}
    for thing, value in numbers:
        by_kind.setdefault(_dimension_of(value) or only, []).append((thing, value))
    amounts = []
    for kind, each in sorted(by_kind.items()):
        # The unit of most measures: hours are added up as hours.
        written = Counter(value.unit for _, value in each if value.base)
        unit = written.most_common(1)[0][0] if written else kind
        amounts.append(_compute_amount(aggregate, unit, [(thing, _exact_number(value, unit)) for thing, value in each]))
    return tuple(amounts)


def _compute_amount(aggregate: Aggregate, unit: str, values: list[tuple[FoundItem, Decimal]]) -> Amount:
    numbers = [number for _, number in values]
    if aggregate in ("min", "max"):
        extreme = min(numbers) if aggregate == "min" else max(numbers)
        return Amount(
            value=extreme, unit=unit, things=_unique_items(thing for thing, number in values if number == extreme)
        )
    total = sum(numbers, Decimal(0))
    value = total if aggregate == "sum" else total / len(numbers)
    return Amount(value=value, unit=unit, things=_unique_items(thing for thing, _ in values))


def _dimension_of(value: ComparableValue) -> str:
    return value.currency or value.base


def _exact_number(value: ComparableValue, unit: str) -> Decimal:
    """Return the number as it was written: the float 80.9 is 80.9, not the binary fraction next to it."""
    if value.base and value.unit != unit:
        measure = Measure(value=value.number or 0, start=0, end=0, unit=value.unit)
        converted = convert_measure(measure, unit)
        return Decimal(repr(converted.value if converted else value.si))
    return Decimal(repr(value.number))


def _unique_items(things: Iterable[FoundItem]) -> tuple[FoundItem, ...]:
    return tuple({(thing.document_id, thing.row): thing for thing in things}.values())


# ── as a file ───────────────────────────────────────────────────────────────────────────────────────────────────────


def write_annotations_csv(found: FoundItems) -> str:
    """Return all matches as CSV, each with its passage. Text that a spreadsheet would run as a formula is defused."""
    taken: set[str] = set()
    columns: list[ExportColumn] = []

    labels = found.question.show
    for wanted in ("document", "title", "page", *labels, *(f"{label}: passage" for label in labels)):
        name = find_free_name(wanted, taken)
        taken.add(name.casefold())
        columns.append(ExportColumn(name=name, field=str(len(columns)), type="text"))
    stream = io.BytesIO()
    writer = CsvWriter(stream, columns)
    writer.write(
        Row(
            id=number,
            cells={str(place): make_given_cell(text) for place, text in enumerate(_item_texts(thing, labels)) if text},
        )
        for number, thing in enumerate(found.matches)
    )
    writer.close()
    return stream.getvalue().decode("utf-8")


def _item_texts(thing: FoundItem, labels: Sequence[str]) -> list[str]:
    page = "" if thing.page is None else str(thing.page)
    stated = [thing.all_of(label) for label in labels]
    values = ["; ".join(each.value.raw for each in found) for found in stated]
    return [
        thing.document_id,
        thing.title,
        page,
        *values,
        *("; ".join(f"{each.label} {each.start}:{each.end}" for each in found) for found in stated),
    ]
