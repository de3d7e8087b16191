"""Which rows of a table match the filters of a grid, and in which order: for the page and any other grid.

The cells of open proposals count in place of the table's own, as the grid shows them. Comparing and sorting read single
columns and never change anything."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from tablewright.conditions.evaluate import index_fields, make_column_filter, value_sort_key
from tablewright.domain.condition import Condition
from tablewright.domain.model import Cell, Money, Row, RowId, Struct, Table, Value, column_key
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.text import cell_text
from tablewright.operations.rows import list_row_ids, read_column
from tablewright.services import Services

RowMark: TypeAlias = Literal["", "high", "medium", "low", "failed", "empty", "flagged", "stale", "disputed", "proposed"]
# In the order of the chips on the page, which asserts that it knows each of them.
ROW_MARKS: tuple[RowMark, ...] = get_args(RowMark)


class RowQuery(Struct, frozen=True):
    """The rows that a page shows. `view` is different for each page and each reload. Cells of the `proposals`, newest
    first, are shown in place of the table's own."""

    table_id: str
    proposals: tuple[str, ...] = ()
    only: RowMark = ""
    find: str = ""
    filters: tuple[Condition, ...] = ()
    sort: str = ""
    """The column to sort by; the order of the table if empty."""
    descending: bool = False
    view: str = ""

    @property
    def is_plain(self) -> bool:
        """True for all rows in the order of the table."""
        return not (self.is_filtered or self.sort)

    @property
    def is_filtered(self) -> bool:
        return bool(self.only or self.find or self.filters)


class MatchingRows(Struct, frozen=True, gc=True):
    """The matching rows in order, and the counts of those that could not be compared: amounts in `currencies` other
    than the filter's, and values that are not exact enough, such as some dates."""

    row_ids: array[int]
    unlike_amounts: int = 0
    currencies: frozenset[str] = frozenset()
    vague_values: int = 0


async def find_matching_rows(services: Services, query: RowQuery) -> MatchingRows:
    table = await services.table(query.table_id)
    unlike = IncomparableValues()
    keep = await build_row_test(services, table, query, unlike) if query.is_filtered else None
    found = await list_row_ids(services, table.id, keep)
    return MatchingRows(
        row_ids=array("q", await sort_matching_rows(services, query, found) if query.sort else found),
        unlike_amounts=unlike.amounts,
        currencies=frozenset(unlike.currencies),
        vague_values=unlike.vague,
    )


async def sort_matching_rows(services: Services, query: RowQuery, row_ids: Sequence[RowId]) -> list[RowId]:
    """Sort by the present or proposed values: numbers before words, empty cells last in both directions."""
    keys: dict[RowId, tuple[int, str, float, str]] = {}
    written: dict[RowId, str] = {}
    staying: set[RowId] = set()

    def take_own(row_id: RowId, cell: Cell) -> None:
        if cell.stays_if_not_found:
            staying.add(row_id)
        take(row_id, cell)

    def take(row_id: RowId, cell: Cell) -> None:
        if cell.updated_at:
            written[row_id] = cell.updated_at
        if cell.value is not None:
            keys[row_id] = cell_sort_key(cell)

    is_there = (await services.table(query.table_id)).field(query.sort) is not None
    # A column that is only proposed has no cells of its own.
    if is_there:
        await read_column(services, query.table_id, query.sort, take_own)
    async for operation in open_operations(services, query.proposals, field=query.sort):
        # Nothing was found, and the cell keeps its value.
        if operation.cell.value is None and operation.row_id in staying:
            continue
        if is_newer_than_cell(operation.cell.updated_at, written.get(operation.row_id)):
            # A proposed empty value must not leave the old key behind.
            keys.pop(operation.row_id, None)
            take(operation.row_id, operation.cell)

    def order_rows() -> list[RowId]:
        stated = sorted(
            (row_id for row_id in row_ids if row_id in keys), key=keys.__getitem__, reverse=query.descending
        )
        return [*stated, *(row_id for row_id in row_ids if row_id not in keys)]

    return await asyncio.to_thread(order_rows)


def cell_sort_key(cell: Cell) -> tuple[int, str, float, str]:
    """Return a key that puts numbers before texts. Amounts are compared within their currency: nothing is converted."""
    value = value_sort_key(cell.value)
    if isinstance(value, str):
        return (1, "", 0.0, value)
    # The currency goes before the amount: 90 EUR and 100 CHF have no order.
    return (0, cell.value.currency if isinstance(cell.value, Money) else "", value, "")


class ProposedOverlay(Struct, frozen=True):
    """The part of a proposed cell that decides whether its row matches."""

    marks: frozenset[str]
    value: Value
    text: str
    """Empty unless a text is searched."""
    at: str | None
    is_found: bool


@dataclass
class IncomparableValues:
    """Counts of rows that meet every other condition but one that cannot be decided."""

    amounts: int = 0
    currencies: set[str] = field(default_factory=set)
    vague: int = 0

    def count(self, value: Value) -> None:
        if isinstance(value, Money):
            self.amounts += 1
            self.currencies.add(value.currency)
        else:
            self.vague += 1


async def build_row_test(
    services: Services, table: Table, query: RowQuery, unlike: IncomparableValues
) -> Callable[[Row], bool]:
    """Return a test for matching rows. A proposed cell counts instead of the one it would replace; rows that cannot be
    compared do not match, and are counted in `unlike`."""
    names = [field.name for field in table.shown_fields]
    needle = query.find.casefold()
    proposed = await read_proposed_cells(services, query)
    shown = [await services.store.proposals.get(each, counted=False) for each in query.proposals if query.filters]
    others = [each for proposal in shown for each in proposal.fields]
    fields = {field.name: field for field in (*others, *table.fields)}
    keys = index_fields(fields.values()).keys()
    filters = [
        (each.column, make_column_filter(each, fields.values()))
        for each in query.filters
        if keys >= set(map(column_key, each.columns))
    ]

    def keep(row: Row) -> bool:
        over = covering_cells(row, proposed)
        # Filters see what the grid shows: a proposed value in place of the table's own.
        cells = {**row.cells, **{name: Cell(value=cell.value) for name, cell in over.items()}} if over else row.cells
        undecided: list[Value] = []
        for name, test in filters:
            truth = test(cells).truth
            if truth == "no match":
                return False
            # Only rows that meet every other condition are counted as undecided.
            if truth == "not stated":
                undecided.append(cells[name].value)
        every = [*names, *(name for name in over if name not in names)]
        if needle and not any(
            needle in (over[name].text if name in over else cell_text(row.cell(name)).casefold()) for name in every
        ):
            return False
        if query.only and not any(query.only in marks_of_column(row, name, over) for name in every):
            return False
        if undecided:
            unlike.count(undecided[0])
        return not undecided

    return keep


def covering_cells(row: Row, proposed: Mapping[RowId, Mapping[str, ProposedOverlay]]) -> dict[str, ProposedOverlay]:
    """Return the proposed cells that cover those of a row."""
    return {
        name: cell
        for name, cell in proposed.get(row.id, {}).items()
        if is_newer_than_cell(cell.at, row.cell(name).updated_at)
        and (cell.is_found or not row.cell(name).stays_if_not_found)
    }


def marks_of_column(row: Row, name: str, over: Mapping[str, ProposedOverlay]) -> frozenset[str]:
    return over[name].marks if name in over else all_cell_marks(row.cell(name))


def all_cell_marks(cell: Cell, *, proposed: bool = False) -> frozenset[str]:
    """Return all marks by which a cell can be found."""
    also = {"stale": cell.stale, "disputed": is_disputed(cell), "proposed": proposed, "empty": cell.value is None}
    return frozenset({cell_mark(cell), *(name for name, is_so in also.items() if is_so)})


async def count_marks(services: Services, table: Table, proposals: tuple[str, ...]) -> dict[str, int]:
    """Count rows by the marks of their cells; "" counts all rows."""
    names = [field.name for field in table.shown_fields]
    proposed = await read_proposed_cells(services, RowQuery(table_id=table.id, proposals=proposals))
    counts = dict.fromkeys(map(str, ROW_MARKS), 0)

    def count(row: Row) -> bool:
        over = covering_cells(row, proposed)
        every = [*names, *(name for name in over if name not in names)]
        for each in frozenset().union(*(marks_of_column(row, name, over) for name in every)):
            counts[each] = counts.get(each, 0) + 1
        counts[""] += 1
        return False

    await list_row_ids(services, table.id, count)
    return {each: counts[each] for each in ROW_MARKS}


async def read_proposed_cells(services: Services, query: RowQuery) -> dict[RowId, dict[str, ProposedOverlay]]:
    """Return the open cells of the proposals, by row and column."""
    found: dict[RowId, dict[str, ProposedOverlay]] = {}
    async for operation in open_operations(services, query.proposals):
        cell = operation.cell
        found.setdefault(operation.row_id, {})[operation.field] = ProposedOverlay(
            marks=all_cell_marks(cell, proposed=True),
            # Values and texts are kept only if a filter or a search needs them: a proposal can have a million cells.
            value=cell.value if query.filters else None,
            text=cell_text(cell).casefold() if query.find else "",
            at=cell.updated_at,
            is_found=cell.value is not None,
        )
    return found


def is_newer_than_cell(proposed_at: str | None, written_at: str | None) -> bool:
    """Return True if the table's own cell was not written since this one was proposed."""
    return (written_at or "") <= (proposed_at or "")


def replaces_cell(proposed: Cell, present: Cell) -> bool:
    """Return True if a proposed cell is shown instead of the table's own."""
    return is_newer_than_cell(proposed.updated_at, present.updated_at) and not present.keeps_its_value(proposed)


async def proposed_cells_by_row(
    services: Services, proposals: Sequence[str], row_ids: Sequence[RowId]
) -> dict[RowId, dict[str, Cell]]:
    proposed: dict[RowId, dict[str, Cell]] = {}
    async for operation in open_operations(services, proposals, row_ids=row_ids):
        proposed.setdefault(operation.row_id, {})[operation.field] = operation.cell
    return proposed


async def open_operations(
    services: Services, proposals: Sequence[str], *, row_ids: Sequence[RowId] | None = None, field: str = ""
) -> AsyncIterator[ProposedCell]:
    """Yield operations that wait for a decision; of two for one cell, the newer comes last."""
    # Larger: more memory for wide evidence; smaller: more queries for a proposal of a million cells.
    per_read = 2_000
    # Oldest first, so that the newest proposal is the last to write its cells.
    for proposal_id in reversed(proposals):
        after = (0, "")
        while True:
            page = await services.store.proposals.operations(
                proposal_id, after=after, limit=per_read, row_ids=row_ids, field=field
            )
            for operation in page:
                if operation.decision == "open":
                    yield operation
            if len(page) < per_read:
                break
            after = (page[-1].row_id, page[-1].field)


def cell_mark(cell: Cell) -> str:
    if cell.status == "FLAGGED":
        return "flagged"
    if cell.status == "FAILED":
        return "failed"
    if cell.value is None:
        return "empty"
    return "own" if is_given_by_person(cell) else {"none": "low"}.get(cell.confidence_label, cell.confidence_label)


def is_given_by_person(cell: Cell) -> bool:
    """Return True for a cell given or typed by a person, which is taken as true."""
    return cell.status == "ENRICHED" and cell.shown_basis == "given"


def is_disputed(cell: Cell) -> bool:
    """Return True if sources disagree and no person has decided."""
    return bool(cell.conflict) and cell.value is not None and not is_given_by_person(cell)
