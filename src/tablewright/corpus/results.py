"""What a question to all facts finds: the things that match, those that do not say, and how far that can be trusted.

- `incomplete`: some things do not state what decides, or some documents could not be read; there may be more matches.
- `approximate`: all were decided, but something was taken for granted on the way: a label that says less than was
  asked for, a date that can be read in two ways, words in a text where no label says it.
- `exact`: neither.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal

from tablewright.domain.corpus import Aggregate, Completeness, Question, Typed
from tablewright.domain.model import Noun, Row, given
from tablewright.domain.text import cell_text, normalize_whitespace
from tablewright.formats.tables.delimited import CsvWriter
from tablewright.formats.tables.incoming import free_name
from tablewright.formats.tables.sheet import ShownColumn
from tablewright.messages.catalogue import translate
from tablewright.values.measures import Measure, in_unit


class StatedFact(Noun, frozen=True):
    """A value that answers to the `asked` label, as it is labelled in the document, and where it stands. One that was
    computed has its `calculation`, and in `parts` where the figures of it stand."""

    asked: str
    label: str
    value: Typed
    start: int
    end: int
    context: str = ""
    page: int | None = None
    calculation: str = ""
    parts: tuple[tuple[int, int], ...] = ()


class FoundItem(Noun, frozen=True):
    """A document, or one row of a spreadsheet (`row` is the id of its annotation). `values` are what decided, and what
    is to be shown; several of one label where several rows of a document state it. `start:end` is where the first of
    them stands."""

    document_id: str
    title: str
    row: int = 0
    page: int | None = None
    start: int = 0
    end: int = 0
    values: tuple[StatedFact, ...] = ()

    def all_of(self, asked: str) -> list[StatedFact]:
        return [stated for stated in self.values if stated.asked == asked]


class UndecidedItem(Noun, frozen=True):
    thing: FoundItem
    reason: str


class FoundItems(Noun, frozen=True):
    question: Question
    matches: tuple[FoundItem, ...]
    rejected: int
    undecided: tuple[UndecidedItem, ...]
    unreadable: int
    completeness: Completeness
    reason: str

    @property
    def universe(self) -> int:
        """Return the number of things that were looked at."""
        return len(self.matches) + self.rejected + len(self.undecided)


# ── figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Amount(Noun, frozen=True):
    """`value` is a number, or the ISO date of the earliest or latest. `things` are those that hold the extreme; for a
    sum or an average those that it is made of."""

    value: Decimal | str
    unit: str = ""
    things: tuple[FoundItem, ...] = ()


class Group(Noun, frozen=True):
    """`amounts` has one for each currency or unit; of a count none is needed."""

    key: str
    count: int
    amounts: tuple[Amount, ...] = ()


class Aggregated(Noun, frozen=True):
    """`missing` are the matching things that do not state what was to be added up."""

    aggregate: Aggregate
    groups: tuple[Group, ...]
    missing: tuple[FoundItem, ...]
    completeness: Completeness
    reason: str


def annotations_aggregate(
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
            missing += [thing for thing, values in valued if not any(map(_counts, values))]
            amounts = _amounts(aggregate, [(thing, value) for thing, values in valued for value in values])
        made.append(Group(key=names[key], count=len(things), amounts=amounts))
    made.sort(key=lambda group: (-group.count, group.key))
    gaps = []
    if missing:
        gaps.append(
            translate(
                "ask",
                "{count} of {total} matches do not state {column}",
                language,
                count=len(missing),
                total=len(found.matches),
                column=of,
            )
        )
    if ungrouped := len(groups.get("", ())) if group_by else 0:
        gaps.append(
            translate(
                "ask",
                "{count} of {total} matches do not state {column}",
                language,
                count=ungrouped,
                total=len(found.matches),
                column=group_by,
            )
        )
    completeness = "incomplete" if gaps else found.completeness
    reason = "; ".join(filter(None, (*gaps, found.reason)))
    return Aggregated(
        aggregate=aggregate, groups=tuple(made), missing=tuple(missing), completeness=completeness, reason=reason
    )


def _counts(value: Typed) -> bool:
    return value.number is not None or bool(value.date)


def _amounts(aggregate: Aggregate, values: Sequence[tuple[FoundItem, Typed]]) -> tuple[Amount, ...]:
    dated = [(thing, value.date) for thing, value in values if value.date]
    numbers = [(thing, value) for thing, value in values if value.number is not None and not value.date]
    if aggregate in ("min", "max") and len(dated) > len(numbers):
        extreme = min(date for _, date in dated) if aggregate == "min" else max(date for _, date in dated)
        return (Amount(value=extreme, things=_once(thing for thing, date in dated if date == extreme)),)
    kinds = {_kind(value) for _, value in numbers}
    only = next(iter(kinds - {""}), "") if len(kinds - {""}) == 1 else ""
    by_kind: dict[str, list[tuple[FoundItem, Typed]]] = {}
    for thing, value in numbers:
        by_kind.setdefault(_kind(value) or only, []).append((thing, value))
    amounts = []
    for kind, each in sorted(by_kind.items()):
        unit = _unit([value for _, value in each]) or kind
        amounts.append(_amount(aggregate, unit, [(thing, _exact(value, unit)) for thing, value in each]))
    return tuple(amounts)


def _unit(values: Sequence[Typed]) -> str:
    """Return the unit that most of the measures are written in: hours are added up as hours."""
    written = Counter(value.unit for value in values if value.base)
    return written.most_common(1)[0][0] if written else ""


def _amount(aggregate: Aggregate, unit: str, values: list[tuple[FoundItem, Decimal]]) -> Amount:
    numbers = [number for _, number in values]
    if aggregate in ("min", "max"):
        extreme = min(numbers) if aggregate == "min" else max(numbers)
        return Amount(value=extreme, unit=unit, things=_once(thing for thing, number in values if number == extreme))
    total = sum(numbers, Decimal(0))
    value = total if aggregate == "sum" else total / len(numbers)
    return Amount(value=value, unit=unit, things=_once(thing for thing, _ in values))


def _kind(value: Typed) -> str:
    return value.currency or value.base


def _exact(value: Typed, unit: str) -> Decimal:
    """Return the number as it was written: the float 80.9 is 80.9, not the binary fraction next to it."""
    if value.base and value.unit != unit:
        measure = Measure(value=value.number or 0, start=0, end=0, unit=value.unit)
        converted = in_unit(measure, unit)
        return Decimal(repr(converted.value if converted else value.si))
    return Decimal(repr(value.number))


def _once(things: Iterable[FoundItem]) -> tuple[FoundItem, ...]:
    return tuple({(thing.document_id, thing.row): thing for thing in things}.values())


# ── as a file ───────────────────────────────────────────────────────────────────────────────────────────────────────


def export_annotations_csv(found: FoundItems) -> str:
    """All matches, each with where it stands. What a spreadsheet would run as a formula is made harmless."""
    taken: set[str] = set()
    columns: list[ShownColumn] = []

    def column(name: str) -> None:
        name = free_name(name, taken)
        taken.add(name.casefold())
        columns.append(
            ShownColumn(name=name, field=str(len(columns)), type="text", value=lambda cell: cell.value, text=cell_text)
        )

    labels = found.question.show
    for name in ("document", "title", "page", *labels, *(f"{label}: passage" for label in labels)):
        column(name)
    stream = io.BytesIO()
    writer = CsvWriter(stream, columns)
    writer.write(
        Row(id=number, cells={str(place): given(text) for place, text in enumerate(_texts(thing, labels)) if text})
        for number, thing in enumerate(found.matches)
    )
    writer.close()
    return stream.getvalue().decode("utf-8")


def _texts(thing: FoundItem, labels: Sequence[str]) -> list[str]:
    page = "" if thing.page is None else str(thing.page)
    stated = [thing.all_of(label) for label in labels]
    values = ["; ".join(each.value.raw for each in found) for found in stated]
    return [thing.document_id, thing.title, page, *values, *("; ".join(map(_passage, found)) for found in stated)]


def _passage(stated: StatedFact) -> str:
    return f"{stated.label} {stated.start}:{stated.end}"
