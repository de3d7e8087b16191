"""List what a question can be about: documents of a kind with the cells of their table, or rows of tables inside
them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tablewright.conditions.compare import read_comparable_values
from tablewright.documents.results import StatedFact
from tablewright.domain.documents import ComparableValue, Document
from tablewright.domain.model import Cell, Field, Table, column_key
from tablewright.domain.text import pluralize_noun, shorten_text
from tablewright.llm.tasks.plan_question import KIND_COLUMN, DocumentGroup
from tablewright.messages.catalogue import translate
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store
from tablewright.store.table_details import KindRow
from tablewright.values.same_value import same_value

# The kind of a document that has none.
UNSORTED = "document"
# Other modules know a stale value by this text: it is read again instead of being reported as missing.
CHANGED = "the document has changed since it was read"


@dataclass(frozen=True, kw_only=True)
class QueryRow:
    """A document, or a row of a table inside one; `group` is the kind or table in question. By column key,
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


def known_values(members: Iterable[QueryRow], column: str) -> list[ComparableValue]:
    """Return all values that are known of a column."""
    key = column_key(column)
    return [stated.value for member in members for stated in member.values.get(key, ())]


def distinct_titles(documents: Sequence[Document]) -> dict[str, str]:
    """Return distinct titles: with the folder, too, if files in several folders have one name."""
    titles = Counter(each.full_title for each in documents)
    return {
        each.id: each.full_title
        if titles[each.full_title] == 1
        else f"{each.full_title}, {Path(each.path).parent.name}"
        for each in documents
    }


# ── documents of a kind ──────────────────────────────────────────────────────────────────────────────────────────────


def make_query_rows(table: Table, rows: Mapping[str, KindRow], documents: Sequence[Document]) -> list[QueryRow]:
    cells = {row.id: row for row in table.rows}
    titles = distinct_titles(documents)
    members = []
    for document in documents:
        owned = rows.get(document.id)
        row = cells.get(owned.row_id) if owned else None
        values: dict[str, tuple[StatedFact, ...]] = {}
        missing: dict[str, str] = {}
        doubts = set()
        if document.kind:
            values[KIND_COLUMN] = (
                StatedFact(
                    asked=KIND_COLUMN, label=KIND_COLUMN, value=ComparableValue(raw=document.kind), start=0, end=0
                ),
            )
        for each in table.fields:
            cell = row.cell(each.name) if row else Cell()
            key = column_key(each.name)
            if cell.stale:
                missing[key] = CHANGED
            elif cell.value is None:
                missing[key] = cell.error or cell.reason or "it was not looked for"
            else:
                values[key] = make_stated_facts(each, cell)
                # A value below this confidence decides nothing.
                if cell.basis == "judged" or (cell.confidence or 0) < 0.5 or cell.conflict:
                    doubts.add(key)
        # The first value with a place in the text is where a link to the document leads.
        place = next((stated for stateds in values.values() for stated in stateds if stated.end), None)
        members.append(
            QueryRow(
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


async def load_query_rows(store: Store, table: Table, documents: Sequence[Document]) -> list[QueryRow]:
    return make_query_rows(table, await store.kinds.rows(table.id), documents)


def make_stated_facts(column: Field, cell: Cell) -> tuple[StatedFact, ...]:
    """Return the value of a cell as facts to compare, one per item of a list."""
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
        for value in read_comparable_values(cell, column)
    )


# ── rows of tables inside documents ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class RowTable:
    """All rows of tables with the same header, across documents."""

    name: str
    labels: tuple[str, ...]
    members: Sequence[QueryRow]
    totals: Sequence[QueryRow] = ()
    """Last rows that only add up those above them, and are not counted among these."""

    @property
    def is_bare(self) -> bool:
        """Return True if no column has a name of its own."""
        # The name that the reader of documents gives to a column without a header.
        return all(re.fullmatch(r"Column \d+", label) for label in self.labels)

    @property
    def documents(self) -> list[Document]:
        return list({member.document.id: member.document for member in self.members}.values())


async def find_row_tables(store: Store, documents: Mapping[str, Document]) -> list[RowTable]:
    """The largest first, named T1, T2 and so on."""
    return await asyncio.to_thread(group_rows_by_header, await store.documents.properties(), documents)


def group_rows_by_header(properties: Sequence[PropertyAt], documents: Mapping[str, Document]) -> list[RowTable]:
    rows: dict[int, list[PropertyAt]] = {}
    for at in properties:
        if at.shape == "row" and at.document_id in documents:
            rows.setdefault(at.annotation_id, []).append(at)
    headers: dict[tuple[str, int], dict[str, str]] = {}
    for cells in rows.values():
        header = headers.setdefault((cells[0].document_id, cells[0].table), {})
        for at in cells:
            # A row can leave cells empty, so the header is collected from all rows of its table.
            header.setdefault(column_key(at.property.label), at.property.label)
    titles = distinct_titles(list(documents.values()))
    grouped: dict[frozenset[str], dict[tuple[str, int], list[QueryRow]]] = {}
    labels: dict[frozenset[str], tuple[str, ...]] = {}
    for cells in rows.values():
        header = headers[cells[0].document_id, cells[0].table]
        same = frozenset(header)
        labels.setdefault(same, tuple(header.values()))
        document = documents[cells[0].document_id]
        member = make_query_row(document, titles[document.id], cells, header)
        grouped.setdefault(same, {}).setdefault((member.document.id, cells[0].table), []).append(member)
    # Totals are judged within each table, before the rows of tables with one header are joined.
    split = [(same, *drop_total_rows(list(tables.values()))) for same, tables in grouped.items()]
    # Rows that tables of one header have, all together, to be worth naming.
    large = sorted((each for each in split if len(each[1]) >= 3), key=lambda each: -len(each[1]))
    # Each table takes several lines of the plan's prompt; the largest come first.
    return [
        RowTable(name=f"T{number}", labels=labels[same], members=members, totals=totals)
        for number, (same, members, totals) in enumerate(large[:24], start=1)
    ]


def drop_total_rows(tables: Sequence[Sequence[QueryRow]]) -> tuple[list[QueryRow], list[QueryRow]]:
    """The rows of several tables, and apart from them the last rows that add up the others of their table."""
    members: list[QueryRow] = []
    totals: list[QueryRow] = []
    for *above, last in tables:
        members += above
        # Rows above that make a sum more than chance: of fewer, figures may add up, as the numbers 1, 2 and 3 do. A
        # total often leaves cells empty that the others fill; then fewer are enough.
        enough = 2 if any(all(key in row.values for row in above) for key in last.missing) else 3
        if not is_total_row(last, above) or len(above) < enough - 1:
            members.append(last)
        elif len(above) < enough:
            members.append(replace(last, may_be_total=True))
        else:
            totals.append(last)
    return members, totals


def is_total_row(last: QueryRow, above: Sequence[QueryRow]) -> bool:
    """Return True if each figure of the row is the sum of its column. Words are not looked at: they are in any
    language. The numbers 1, 2 and 3 of numbered rows are no figures."""
    figures = {key: number for key in last.values if (number := single_figure(last, key)) is not None}
    numbered = [key for key in figures if all(single_figure(row, key) == n for n, row in enumerate((*above, last), 1))]
    figures = {key: number for key, number in figures.items() if key not in numbered}
    sums = {key: sum(single_figure(row, key) or 0.0 for row in above) for key in figures}
    return any(figures.values()) and all(same_value(number, sums[key], "adding") for key, number in figures.items())


def single_figure(row: QueryRow, key: str) -> float | None:
    stated = row.values.get(key, ())
    # A date has a number too, but adding dates means nothing.
    return stated[0].value.number if len(stated) == 1 and not stated[0].value.date else None


def group_by_label(cells: Sequence[PropertyAt], names: Mapping[str, str]) -> dict[str, tuple[StatedFact, ...]]:
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


def make_query_row(document: Document, title: str, cells: Sequence[PropertyAt], header: Mapping[str, str]) -> QueryRow:
    values = group_by_label(cells, header)
    first = cells[0]
    return QueryRow(
        document=document,
        title=f"{title}: {shorten_text(first.property.value.raw, 60)}",
        row=first.annotation_id,
        start=first.start,
        end=first.end,
        page=first.page,
        values=values,
        missing={key: "the table leaves it empty" for key in header if key not in values},
    )


# ── what is looked at ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class UncoveredDocuments:
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
            things=pluralize_noun(self.called, 2),
        )


@dataclass(frozen=True, kw_only=True)
class QueryScope:
    """The members that are looked at, the name of one of them, and how many documents could not be read. `unsorted`
    documents have no kind yet, so the members may not be all of that kind. Of rows: `uncovered` are documents of the
    same kinds without such a table, and `totals` the rows that only add up others."""

    members: Sequence[QueryRow]
    called: str = "document"
    unreadable: int = 0
    unsorted: int = 0
    of: int = 0
    uncovered: UncoveredDocuments | None = None
    totals: int = 0
    taken: Mapping[str, str] = field(default_factory=dict)
    """Labels that were taken for names that no document uses, by the name."""


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


async def take_inventory(
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
        lines.append(f"- {kind} ({len(members)}): {list_examples(members)}")
        columns: list[str] = []
        if kind in living:
            table = await store.tables.load(living[kind])
            known = await load_query_rows(store, table, members)
            for column in table.fields:
                if column.question:
                    columns.append(column.name)
                    lines.append(f"    known column {describe_known_column(column, known)}")
        groups[kind] = DocumentGroup(name=kind, columns=tuple(columns))
    if tables:
        lines.append("Tables inside documents, each row a thing of its own:")
    for table_ in tables:
        # A plan could not tell its columns apart.
        if table_.is_bare:
            continue
        lines += await asyncio.to_thread(describe_row_table, table_)
        groups[table_.name] = DocumentGroup(name=table_.name, columns=table_.labels, fixed=True)
    return Inventory(
        kinds=kinds,
        tables={each.name: each for each in tables},
        text="\n".join(lines),
        groups=groups,
        unreadable=unreadable,
        unsorted=sum(not each.is_sorted for each in documents),
    )


def list_examples(documents: Sequence[Document]) -> str:
    # Many file names name what a question refers to, such as a year or a supplier.
    left = len(documents) - 12
    return ", ".join(each.name for each in documents[:12]) + (f" and {left} more" if left > 0 else "")


def describe_row_table(table: RowTable) -> list[str]:
    """Describe a table for the plan: its columns, its first row, and the values of columns that have only a few."""
    where = list_examples(table.documents)
    first = table.members[0]
    shown = [" / ".join(each.value.raw for each in first.values.get(column_key(name), ())) for name in table.labels]
    lines = [
        f"- {table.name} ({len(table.members)} rows): {' | '.join(table.labels)}; in {where}",
        f"    first row: {shorten_text(' | '.join(shown), 200)}",
    ]
    for label in table.labels:
        stated = known_values(table.members, label)
        texts = dict.fromkeys(value.raw for value in stated if value.number is None and not value.date)
        # At most half as many values as rows: a column of nearly distinct texts, such as names, has no set of values.
        # A column with no more distinct values than this has them listed for the plan.
        if 1 < len(texts) <= min(12, len(stated) // 2):
            lines.append(f"    {label}: {', '.join(shorten_text(text, 40) for text in texts)}")
    return lines


def describe_known_column(column: Field, members: Sequence[QueryRow]) -> str:
    """Return "Total (money), known of 20 of 22: 12.00 EUR to 4310.00 EUR"."""
    key = column_key(column.name)
    values = known_values(members, column.name)
    known = sum(key in member.values for member in members)
    asks = f" “{column.question}”" if column.question else ""
    head = (
        f"{column.name} ({column.type}{f', {column.unit}' if column.unit else ''}){asks}, of {known} of {len(members)}"
    )
    dates = sorted(each.date for each in values if each.date)
    numbers = sorted((each.number, each.raw) for each in values if each.number is not None and not each.date)
    if dates:
        return f"{head}: {dates[0]} to {dates[-1]}"
    # A range over several currencies would compare amounts that are not comparable.
    if len(currencies := sorted({each.currency for each in values if each.currency})) > 1:
        return f"{head}: in {', '.join(currencies)}"
    if numbers:
        return f"{head}: {numbers[0][1]} to {numbers[-1][1]}"
    if not values:
        return head
    distinct = list(dict.fromkeys(each.raw for each in values))
    # Examples that show a model how the values of a column are written; more would crowd out other columns.
    return f"{head}: {', '.join(shorten_text(each, 40) for each in distinct[:4])}"
