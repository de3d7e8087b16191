"""List what a question can be about: documents of a kind with the cells of their table, or rows of tables inside
them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tablewright.conditions.comparable import comparable_values
from tablewright.corpus.results import StatedFact
from tablewright.decisions.plan_question import KIND, DocumentGroup
from tablewright.domain.corpus import Document, Typed
from tablewright.domain.model import Cell, Field, Table, column_key
from tablewright.domain.text import plural, shortened
from tablewright.messages.catalogue import translate
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store
from tablewright.store.table_details import KindRow
from tablewright.values.same_value import same_value

LEAST_ROWS = 3
"""Rows that tables of one header have, all together, to be worth naming."""
MOST_TABLES = 24
UNNAMED = re.compile(r"Column \d+")
SAMPLES = 4
NAMES = 12
FEW = 12
"""Different values of a column that are all shown."""
UNSORTED = "document"
"""The kind of a document that has none."""
CHANGED = "the document has changed since it was read"
SURE = 0.5
"""A value below this confidence decides nothing."""
SUMMED = 3
"""Rows above a total that has no empty cells; of fewer, figures may add up by chance, as the numbers 1, 2 and 3 do."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A document, or a row inside one; `group` is the kind or table that a question asks it as. By column key,
    `values` are what is known of it, `missing` why something is not; `doubts` names the columns whose value was
    concluded rather than read, or is weak."""

    document: Document
    title: str
    group: str = ""
    row: int = 0
    start: int = 0
    end: int = 0
    page: int | None = None
    values: Mapping[str, tuple[StatedFact, ...]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    doubts: frozenset[str] = frozenset()
    may_be_total: bool = False
    """A last row whose figures add up the few rows above it, by chance or because that is what it is."""

    @property
    def key(self) -> tuple[str, int]:
        return self.document.id, self.row


def values_in(members: Iterable[Member], column: str) -> list[Typed]:
    """Return all values that are known of a column."""
    key = column_key(column)
    return [stated.value for member in members for stated in member.values.get(key, ())]


def titles_of(documents: Sequence[Document]) -> dict[str, str]:
    """Return distinct titles: "Invoice (INV-7.pdf)" if several documents are called "Invoice"."""
    titles = Counter(each.title for each in documents)
    return {
        each.id: f"{each.title} ({each.name})" if titles[each.title] > 1 and each.title else each.title or each.name
        for each in documents
    }


# ── documents of a kind ──────────────────────────────────────────────────────────────────────────────────────────────


def members_of_table(table: Table, rows: Mapping[str, KindRow], documents: Sequence[Document]) -> list[Member]:
    cells = {row.id: row for row in table.rows}
    titles = titles_of(documents)
    members = []
    for document in documents:
        owned = rows.get(document.id)
        row = cells.get(owned.row_id) if owned else None
        values: dict[str, tuple[StatedFact, ...]] = {}
        missing: dict[str, str] = {}
        doubts = set()
        if document.kind:
            values[KIND] = (StatedFact(asked=KIND, label=KIND, value=Typed(raw=document.kind), start=0, end=0),)
        for each in table.fields:
            cell = row.cell(each.name) if row else Cell()
            key = column_key(each.name)
            if cell.stale:
                missing[key] = CHANGED
            elif cell.value is None:
                missing[key] = cell.error or cell.reason or "it was not looked for"
            else:
                values[key] = stated_of(each, cell)
                if cell.basis == "judged" or (cell.confidence or 0) < SURE or cell.conflict:
                    doubts.add(key)
        place = next((stated for stateds in values.values() for stated in stateds if stated.end), None)
        members.append(
            Member(
                document=document,
                title=titles[document.id],
                start=place.start if place else 0,
                end=place.end if place else 0,
                page=place.page if place else None,
                values=values,
                missing=missing,
                doubts=frozenset(doubts),
            )
        )
    return members


async def table_members(store: Store, table: Table, documents: Sequence[Document]) -> list[Member]:
    return members_of_table(table, await store.kinds.rows(table.id), documents)


def stated_of(column: Field, cell: Cell) -> tuple[StatedFact, ...]:
    """The value as it is compared; of a list, each of its items."""
    place = cell.evidence[0] if cell.evidence else None
    is_computed = cell.basis == "computed"
    return tuple(
        StatedFact(
            asked=column.name,
            label=column.name,
            value=value,
            start=(place.start if place else None) or 0,
            end=(place.end if place else None) or 0,
            page=place.page if place else None,
            calculation=cell.converted_by if is_computed else "",
            parts=tuple((each.start or 0, each.end or 0) for each in cell.evidence) if is_computed else (),
        )
        for value in comparable_values(cell, column)
    )


# ── rows of tables inside documents ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class RowTable:
    """All rows of tables with the same header, in whatever documents."""

    name: str
    labels: tuple[str, ...]
    members: Sequence[Member]
    totals: Sequence[Member] = ()
    """Last rows that only add up those above them, and are not counted among these."""

    @property
    def is_bare(self) -> bool:
        """Return True if no column has a name of its own."""
        return all(UNNAMED.fullmatch(label) for label in self.labels)

    @property
    def documents(self) -> list[Document]:
        return list({member.document.id: member.document for member in self.members}.values())


async def row_tables(store: Store, documents: Mapping[str, Document]) -> list[RowTable]:
    """The largest first, named T1, T2 and so on."""
    return await asyncio.to_thread(tables_of_rows, await store.documents.properties(), documents)


def tables_of_rows(properties: Sequence[PropertyAt], documents: Mapping[str, Document]) -> list[RowTable]:
    rows: dict[int, list[PropertyAt]] = {}
    for at in properties:
        if at.shape == "row" and at.document_id in documents:
            rows.setdefault(at.annotation_id, []).append(at)
    headers: dict[tuple[str, int], dict[str, str]] = {}
    for cells in rows.values():
        header = headers.setdefault((cells[0].document_id, cells[0].table), {})
        for at in cells:
            header.setdefault(column_key(at.property.label), at.property.label)
    titles = titles_of(list(documents.values()))
    grouped: dict[frozenset[str], dict[tuple[str, int], list[Member]]] = {}
    labels: dict[frozenset[str], tuple[str, ...]] = {}
    for cells in rows.values():
        header = headers[cells[0].document_id, cells[0].table]
        same = frozenset(header)
        labels.setdefault(same, tuple(header.values()))
        document = documents[cells[0].document_id]
        member = row_member(document, titles[document.id], cells, header)
        grouped.setdefault(same, {}).setdefault((member.document.id, cells[0].table), []).append(member)
    split = [(same, *without_totals(list(tables.values()))) for same, tables in grouped.items()]
    large = sorted((each for each in split if len(each[1]) >= LEAST_ROWS), key=lambda each: -len(each[1]))
    return [
        RowTable(name=f"T{number}", labels=labels[same], members=members, totals=totals)
        for number, (same, members, totals) in enumerate(large[:MOST_TABLES], start=1)
    ]


def without_totals(tables: Sequence[Sequence[Member]]) -> tuple[list[Member], list[Member]]:
    """The rows of several tables, and apart from them the last rows that add up the others of their table."""
    members: list[Member] = []
    totals: list[Member] = []
    for *above, last in tables:
        members += above
        enough = enough_rows(last, above)
        if not adds_up(last, above) or len(above) < enough - 1:
            members.append(last)
        elif len(above) < enough:
            members.append(replace(last, may_be_total=True))
        else:
            totals.append(last)
    return members, totals


def enough_rows(last: Member, above: Sequence[Member]) -> int:
    """Return how many rows above make a sum more than chance; a total often leaves cells empty that the others fill."""
    return 2 if any(all(key in row.values for row in above) for key in last.missing) else SUMMED


def adds_up(last: Member, above: Sequence[Member]) -> bool:
    """Return True if each figure of the row is the sum of its column. Words are not looked at: they are in any
    language. The numbers 1, 2 and 3 of numbered rows are no figures."""
    figures = {key: number for key in last.values if (number := figure_of(last, key)) is not None}
    numbered = [key for key in figures if all(figure_of(row, key) == n for n, row in enumerate((*above, last), 1))]
    figures = {key: number for key, number in figures.items() if key not in numbered}
    sums = {key: sum(figure_of(row, key) or 0.0 for row in above) for key in figures}
    return any(figures.values()) and all(same_value(number, sums[key], "adding") for key, number in figures.items())


def figure_of(row: Member, key: str) -> float | None:
    stated = row.values.get(key, ())
    return stated[0].value.number if len(stated) == 1 and not stated[0].value.date else None


def labelled_values(cells: Sequence[PropertyAt], names: Mapping[str, str]) -> dict[str, tuple[StatedFact, ...]]:
    """Return what is stated under each label, by column key; `names` are those of columns that have another name."""
    values: dict[str, tuple[StatedFact, ...]] = {}
    for at in cells:
        label, key = at.property.label, column_key(at.property.label)
        stated = StatedFact(
            asked=names.get(key, label),
            label=label,
            value=at.property.value,
            start=at.property.start,
            end=at.property.end,
            page=at.page,
        )
        values[key] = (*values.get(key, ()), stated)
    return values


def row_member(document: Document, title: str, cells: Sequence[PropertyAt], header: Mapping[str, str]) -> Member:
    values = labelled_values(cells, header)
    first = cells[0]
    return Member(
        document=document,
        title=f"{title}: {shortened(first.property.value.raw, 60)}",
        row=first.annotation_id,
        start=first.start,
        end=first.end,
        page=first.page,
        values=values,
        missing={key: "the table leaves it empty" for key in header if key not in values},
    )


# ── what is looked at ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Uncovered:
    """Documents that have no table with these columns, so that nothing of them was looked at."""

    count: int
    total: int
    called: str

    def text(self, language: str) -> str:
        return translate(
            "ask",
            "{count} of {total} {things} has no such table, so it was not looked at|"
            "{count} of {total} {things} have no such table, so they were not looked at",
            language,
            count=self.count,
            total=self.total,
            things=plural(self.called, 2),
        )


@dataclass(frozen=True, kw_only=True)
class QueryScope:
    """The members that are looked at, the name of one of them, and how many documents could not be read. `unsorted`
    documents have no kind yet, so the members may not be all of that kind. Of rows: `uncovered` are documents of the
    same kinds without such a table, and `totals` the rows that only add up others."""

    members: Sequence[Member]
    called: str = "document"
    unreadable: int = 0
    unsorted: int = 0
    of: int = 0
    uncovered: Uncovered | None = None
    totals: int = 0


# ── what there is, in words ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Inventory:
    kinds: Mapping[str, Sequence[Document]]
    tables: Mapping[str, RowTable]
    text: str
    groups: Mapping[str, DocumentGroup]
    unreadable: int = 0
    unsorted: int = 0
    """Documents whose kind neither a model nor a person has said."""

    @property
    def readable(self) -> int:
        return sum(len(members) for members in self.kinds.values())


async def inventory(
    store: Store, documents: Sequence[Document], tables: Sequence[RowTable], unreadable: int
) -> Inventory:
    kinds: dict[str, list[Document]] = {}
    for each in documents:
        kinds.setdefault(each.kind or UNSORTED, []).append(each)
    living = await store.kinds.tables()
    lines = [f"{len(documents)} documents" + (f", and {unreadable} that could not be read." if unreadable else ".")]
    groups: dict[str, DocumentGroup] = {}
    lines.append("Kinds:")
    for kind, members in sorted(kinds.items(), key=lambda each: -len(each[1])):
        lines.append(f"- {kind} ({len(members)}): {examples(members)}")
        columns: list[str] = []
        if kind in living:
            table = await store.tables.load(living[kind])
            known = await table_members(store, table, members)
            for column in table.fields:
                if column.question:
                    columns.append(column.name)
                    lines.append(f"    known column {described(column, known)}")
        groups[kind] = DocumentGroup(name=kind, columns=tuple(columns))
    if tables:
        lines.append("Tables inside documents, each row a thing of its own:")
    for table_ in tables:
        if table_.is_bare:
            continue
        lines += await asyncio.to_thread(described_table, table_)
        groups[table_.name] = DocumentGroup(name=table_.name, columns=table_.labels, fixed=True)
    return Inventory(
        kinds=kinds,
        tables={each.name: each for each in tables},
        text="\n".join(lines),
        groups=groups,
        unreadable=unreadable,
        unsorted=sum(not each.is_sorted for each in documents),
    )


def examples(documents: Sequence[Document]) -> str:
    named = ", ".join(each.name for each in documents[:NAMES])
    return named + (f" and {len(documents) - NAMES} more" if len(documents) > NAMES else "")


def described_table(table: RowTable) -> list[str]:
    """Its columns, its first row, and the values of columns that have only a few."""
    where = examples(table.documents)
    first = table.members[0]
    shown = [" / ".join(each.value.raw for each in first.values.get(column_key(name), ())) for name in table.labels]
    lines = [
        f"- {table.name} ({len(table.members)} rows): {' | '.join(table.labels)}; in {where}",
        f"    first row: {shortened(' | '.join(shown), 200)}",
    ]
    for label in table.labels:
        stated = values_in(table.members, label)
        texts = dict.fromkeys(value.raw for value in stated if value.number is None and not value.date)
        if 1 < len(texts) <= min(FEW, len(stated) // 2):
            lines.append(f"    {label}: {', '.join(shortened(text, 40) for text in texts)}")
    return lines


def described(column: Field, members: Sequence[Member]) -> str:
    """ "Total (money), known of 20 of 22: 12.00 EUR to 4310.00 EUR"."""
    key = column_key(column.name)
    values = values_in(members, column.name)
    known = sum(key in member.values for member in members)
    asks = f" “{column.question}”" if column.question else ""
    head = (
        f"{column.name} ({column.type}{f', {column.unit}' if column.unit else ''}){asks}, of {known} of {len(members)}"
    )
    dates = sorted(each.date for each in values if each.date)
    numbers = sorted((each.number, each.raw) for each in values if each.number is not None and not each.date)
    if dates:
        return f"{head}: {dates[0]} to {dates[-1]}"
    if len(currencies := sorted({each.currency for each in values if each.currency})) > 1:
        return f"{head}: in {', '.join(currencies)}"
    if numbers:
        return f"{head}: {numbers[0][1]} to {numbers[-1][1]}"
    if not values:
        return head
    distinct = list(dict.fromkeys(each.raw for each in values))
    return f"{head}: {', '.join(shortened(each, 40) for each in distinct[:SAMPLES])}"
