"""Rows, columns and cells: list, add, change, remove, flag; the sources of a value and its earlier versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.edits import AddField, ChangeField, RemoveField, RemoveRow
from tablewright.domain.fieldspec import check_field_name, parse_field
from tablewright.domain.history import CellVersion, Change, StaleCell, WrittenValue
from tablewright.domain.model import Cell, Evidence, Field, FieldType, Role, Row, RowId, Status, Step, Struct, Table
from tablewright.domain.proposal import ProposedCell
from tablewright.errors import BadField, NotFound
from tablewright.operations.operation import (
    MAX_NUMBER,
    USUAL_LIMIT,
    After,
    ColumnRequest,
    FieldName,
    Limit,
    Name,
    Page,
    Request,
    RowRequest,
    TableRef,
    TableRequest,
    Text,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_by_cell
from tablewright.values.coerce import VALUE_LIMITS
from tablewright.values.row_names import current_row_key
from tablewright.values.units import set_named_unit

if TYPE_CHECKING:
    from tablewright.services import Services
    from tablewright.store.tables import RowWindow

TypedValue = Annotated[str, msgspec.Meta(max_length=VALUE_LIMITS.typed)]


class RowShown(Struct, frozen=True):
    """`key` is what names the row; `cells` has every column."""

    row_id: RowId
    key: str
    cells: dict[str, Cell]


class Changed(Struct, frozen=True):
    """The change in the history, by whose number it can be undone; null if nothing had to change."""

    change: Change | None


def show_row(table: Table, row: Row) -> RowShown:
    cells = {field.name: row.cell(field.name) for field in table.fields}
    return RowShown(row_id=row.id, key=current_row_key(row, table.key_field), cells=cells)


@operation("read")
async def get_row(services: Services, request: RowRequest) -> RowShown:
    """One row with all its cells."""
    return show_row(*await find_row(services, request.table, request.row_id))


async def find_row(services: Services, table: str, row_id: RowId) -> tuple[Table, Row]:
    """Return a table without its rows, and one of them."""
    found = await services.store.tables.rows(table, [row_id])
    if not found.rows:
        raise NotFound(f"Table {found.table.id} has no row {row_id}.")
    return found.table, found.rows[0]


class ListRows(TableRequest, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER, description="Start after the row with this number.")] = 0
    status: Annotated[Status | None, msgspec.Meta(description="Only rows in which a cell has this status.")] = None
    field: Annotated[Name, msgspec.Meta(description="With `status`: of this column only.")] = ""


class RowPage(Struct, frozen=True):
    """`next` is what to pass as `after` for what follows; null at the end. `shortened` says that the page has fewer
    rows than were asked for because a reply has at most 4 MB; the others follow with `next`. A page of rows with a
    status may be short, or empty, and still have a `next`."""

    rows: tuple[RowShown, ...]
    next: RowId | None
    shortened: bool = False


@dataclass(frozen=True, kw_only=True)
class RowPageLimits:
    """Limits of one page of rows, so that no request holds up the others."""

    # What a browser or a program can take at once; a longer row is a page by itself.
    reply_bytes: int = 4 * 1024 * 1024
    # Cells that are read at once: more seldom fit into a reply.
    read_cells: int = 20_000
    # Rows that are read at once in search of a status.
    window_rows: int = 500
    # Rows that one request searches for a status; the next request continues there.
    searched_rows: int = 20_000
    # Measuring more takes long enough to be done in a thread.
    rows_in_loop: int = 100


ROW_PAGE = RowPageLimits()


@operation("read")
async def list_rows(services: Services, request: ListRows) -> RowPage:
    """Rows with their cells, ordered by number; fewer where they are long."""
    page = RowCollector(request)
    after, has_more = request.after, True
    while has_more and not page.is_full and page.searched < ROW_PAGE.searched_rows:
        window = await services.store.tables.window(
            request.table,
            after=after,
            limit=ROW_PAGE.window_rows if request.status else request.limit - len(page.rows),
            most_cells=ROW_PAGE.read_cells,
        )
        is_short = len(window.rows) <= ROW_PAGE.rows_in_loop
        taken = page.take(window) if is_short else await asyncio.to_thread(page.take, window)
        has_more = window.has_more or taken < len(window.rows)
        after = window.rows[taken - 1].id if taken else after
    return page.to_reply(next=after if has_more else None)


class RowCollector:
    """Collect the rows of a page until there are enough of them, or enough bytes."""

    def __init__(self, request: ListRows) -> None:
        self._field = request.field
        self._status = request.status
        self._limit = request.limit
        self._bytes = 0
        self._shortened = False
        self.rows: list[RowShown] = []
        self.searched = 0

    @property
    def is_full(self) -> bool:
        return self._shortened or len(self.rows) >= self._limit

    def take(self, window: RowWindow) -> int:
        """Add the rows that fit, and return how many were considered."""
        table = window.table
        names = [table.require_field(self._field).name] if self._field else [field.name for field in table.fields]
        considered = 0
        for row in window.rows:
            if self.is_full:
                break
            if self._status is None or any(row.cell(name).status == self._status for name in names):
                shown = show_row(table, row)
                size = measure_row(shown)
                # The first row always fits, or a long row would block the pages behind it.
                if self.rows and self._bytes + size > ROW_PAGE.reply_bytes:
                    self._shortened = True
                    break
                self.rows.append(shown)
                self._bytes += size
            considered += 1
            self.searched += 1
        return considered

    def to_reply(self, next: RowId | None) -> RowPage:
        return RowPage(rows=tuple(self.rows), next=next, shortened=self._shortened)


def measure_row(row: RowShown) -> int:
    """Return about how many bytes a row takes in a reply."""
    # A reply adds the label of its confidence to each cell.
    labels = 40 * len(row.cells)
    try:
        return len(msgspec.json.encode(row)) + labels
    except (OverflowError, UnicodeEncodeError):  # a number too large for JSON, or half a character
        return len(repr(row)) + labels


class AddRows(TableRequest, frozen=True):
    """Each an object of column names and values, as a person would type them."""

    rows: Annotated[
        tuple[dict[Name, Text], ...],
        msgspec.Meta(min_length=1, max_length=10_000, examples=[[{"Company": "Wrenbury Looms", "Founded": "1894"}]]),
    ]


@operation("write")
async def add_rows(services: Services, request: AddRows) -> Changed:
    """Add rows at the end: all of them, or none if a value does not fit its column."""
    table = await services.table(request.table)
    for name in {name for row in request.rows for name in row}:
        table.require_field(name)
    return Changed(change=await services.changes.write_values(table.id, {}, request.rows))


@operation("write")
async def remove_row(services: Services, request: RowRequest) -> Changed:
    """Remove a row; undoing the change restores it."""
    table, _ = await find_row(services, request.table, request.row_id)
    edit = RemoveRow(row_id=request.row_id)
    return Changed(change=await services.changes.edit(table.id, [edit], f"removed row {request.row_id}"))


# ── columns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class FieldSpec(Request, frozen=True):
    """A column. A `question` may name others of the row in braces; a formula is computed."""

    name: Annotated[
        str, msgspec.Meta(min_length=1, max_length=300, examples=["Founded"], description="Without braces.")
    ]
    type: Annotated[FieldType, msgspec.Meta(description="What its values are.")] = "text"
    question: Annotated[
        str,
        msgspec.Meta(
            max_length=20_000,
            examples=["What year was {Company} founded?"],
            description="What to find out for each row; or a formula.",
        ),
    ] = ""
    description: Annotated[
        str, msgspec.Meta(max_length=20_000, description="What counts as a value, and what not.")
    ] = ""
    unit: Annotated[str, msgspec.Meta(max_length=300, description="Of its numbers, or the currency of its money.")] = ""
    options: Annotated[tuple[Name, ...], msgspec.Meta(max_length=1_000, description="What a `select` may be.")] = ()
    required: Annotated[bool, msgspec.Meta(description="A row without a value is incomplete.")] = False
    role: Annotated[Role, msgspec.Meta(description="How it is used; standard unless a workflow made it.")] = "standard"
    depends_on: Annotated[
        tuple[Name, ...], msgspec.Meta(max_length=100, description="The columns whose change makes it stale.")
    ] = ()

    def to_field(self) -> Field:
        name = self.name.strip()
        if not name or any(not each.isprintable() or each in "{}" for each in name):
            raise BadField("A column's name has no braces and no control characters, and is not empty.")
        texts = {each: getattr(self, each).strip() for each in ("question", "description", "unit")}
        return copy_fields(Field, self, name=check_field_name(name, name), **texts)


# Columns as objects, or as texts such as "Founded:number=What year was {Company} founded?".
FieldSpecs = tuple[FieldSpec | Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)], ...]


def read_fields(specs: FieldSpecs) -> list[Field]:
    return [parse_field(each) if isinstance(each, str) else each.to_field() for each in specs]


def spec_field(field: Field) -> FieldSpec:
    return FieldSpec(**msgspec.structs.asdict(field))


class AddColumn(FieldSpec, frozen=True, kw_only=True):
    table: TableRef


@operation("write")
async def add_field(services: Services, request: AddColumn) -> Changed:
    """Add a column at the end, empty in every row."""
    table = await services.table(request.table)
    field = set_named_unit(request.to_field())
    edit = AddField(field=field)
    return Changed(change=await services.changes.edit(table.id, [edit], f"added column {field.name}"))


class ChangeColumn(FieldSpec, frozen=True, kw_only=True):
    table: TableRef
    field: FieldName


@operation("write")
async def change_field(services: Services, request: ChangeColumn) -> Changed:
    """Change the definition of a column. Renaming it keeps its cells."""
    table = await services.table(request.table)
    old = table.require_field(request.field)
    edit = ChangeField(name=old.name, field=request.to_field())
    return Changed(change=await services.changes.edit(table.id, [edit], f"changed column {old.name}"))


@operation("write")
async def remove_field(services: Services, request: ColumnRequest) -> Changed:
    """Remove a column with its cells; undoing the change restores them."""
    table = await services.table(request.table)
    old = table.require_field(request.field)
    edit = RemoveField(name=old.name)
    return Changed(change=await services.changes.edit(table.id, [edit], f"removed column {old.name}"))


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class CellRequest(RowRequest, frozen=True):
    field: FieldName


class Excerpt(Struct, frozen=True):
    """A part of the stored text, from character `start` of it; the quote is `text[quote_start:quote_end]`."""

    text: str
    start: int
    quote_start: int
    quote_end: int


class SourceShown(Struct, frozen=True):
    """A piece of evidence. `excerpt` is null where the text is no longer stored."""

    evidence: Evidence
    excerpt: Excerpt | None


class CellShown(Struct, frozen=True):
    """A cell, its sources in their context, and the steps of the run that filled it."""

    table_id: str
    row_id: RowId
    field: str
    cell: Cell
    sources: tuple[SourceShown, ...]
    steps: tuple[Step, ...]


@operation("read")
async def get_cell(services: Services, request: CellRequest) -> CellShown:
    """A cell with its evidence: each quote within the stored text of its source, and how the value was found."""
    table, row = await find_row(services, request.table, request.row_id)
    name = table.require_field(request.field).name
    cell = row.cell(name)
    sources = [SourceShown(evidence=each, excerpt=await cut_excerpt(services, each)) for each in cell.evidence]
    found_by = await find_origin(services, cell, request.row_id, name)
    steps = found_by.steps if found_by else ()
    return CellShown(
        table_id=table.id, row_id=request.row_id, field=name, cell=cell, sources=tuple(sources), steps=steps
    )


async def find_origin(services: Services, cell: Cell, row_id: RowId, field: str) -> ProposedCell | None:
    """Return the operation of the run that wrote a cell; None if no run did, or it is no longer stored."""
    if not cell.run_id:
        return None
    try:
        await services.store.runs.get(cell.run_id)
        proposal_id = await services.store.proposals.of_run(cell.run_id)
        return await services.store.proposals.operation(proposal_id, row_id, field)
    except NotFound:
        return None


async def cut_excerpt(services: Services, evidence: Evidence) -> Excerpt | None:
    if not evidence.content_hash or evidence.start is None or evidence.end is None:
        return None
    text = await services.stored_text(evidence.content_hash)
    if text is None or not 0 <= evidence.start <= evidence.end <= len(text):
        return None
    # Two or three sentences on each side.
    start, end = max(0, evidence.start - 300), evidence.end + 300
    return Excerpt(
        text=text[start:end],
        start=start,
        quote_start=evidence.start - start,
        quote_end=evidence.end - start,
    )


class SetCellRequest(CellRequest, frozen=True):
    """Typed as its column says: "12 March 2024", "1.5 kg", "yes". An empty text clears the cell."""

    value: Annotated[TypedValue, msgspec.Meta(examples=["1987"])]


@operation("write")
async def set_cell(services: Services, request: SetCellRequest) -> WrittenValue:
    """Write your own value. Cells derived from the old value become stale; nothing runs by itself."""
    return await services.changes.set_value(request.table, request.row_id, request.field, request.value)


class FlagCellRequest(CellRequest, frozen=True):
    note: Annotated[
        Text, msgspec.Meta(description="What is wrong with it.", examples=["That is the year of the merger."])
    ] = ""


@operation("write")
async def flag_cell(services: Services, request: FlagCellRequest) -> Changed:
    """Flag a cell as doubtful: it keeps its value, and the next run works on it again."""
    table = await services.table(request.table)
    name = table.require_field(request.field).name
    await services.row(table.id, request.row_id)
    return Changed(change=await services.changes.flag(table.id, request.row_id, name, request.note))


class CellHistory(Struct, frozen=True):
    """Every value that the cell has had, the newest first."""

    table_id: str
    row_id: RowId
    field: str
    versions: tuple[CellVersion, ...]


@operation("read")
async def get_cell_history(services: Services, request: CellRequest) -> CellHistory:
    """Every value the cell has had."""
    table = await services.table(request.table)
    name = table.require_field(request.field).name
    versions = await services.store.log.cell_history(table.id, request.row_id, name)
    return CellHistory(table_id=table.id, row_id=request.row_id, field=name, versions=tuple(versions))


class StalePage(Page, frozen=True):
    """In the order of rows. `total` is how many cells are stale, `cost_usd` what they took last time: all of them, not
    only those of this page."""

    total: int
    cost_usd: float
    cells: tuple[StaleCell, ...]


class ListStaleCells(TableRequest, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def list_stale_cells(services: Services, request: ListStaleCells) -> StalePage:
    """The cells whose inputs have changed since they were filled."""
    table = await services.table(request.table)
    found = await services.store.log.stale(table.id)
    some, more = page_by_cell(found, request.after, request.limit, lambda cell: (cell.row_id, cell.field))
    return StalePage(total=len(found), cost_usd=sum(cell.cost for cell in found), cells=tuple(some), next=more)


# ── reading many rows ───────────────────────────────────────────────────────────────────────────────────────────────


async def list_row_ids(services: Services, table_id: str, keep: Callable[[Row], bool] | None = None) -> list[RowId]:
    """Return the rows of a table in their order; with `keep`, called in a reader's thread, only those it keeps."""
    if keep is None:
        return await services.store.tables.row_ids(table_id)
    kept: list[RowId] = []
    await services.store.tables.stream(table_id, lambda rows: kept.extend(row.id for row in rows if keep(row)))
    return kept


async def read_column(services: Services, table_id: str, field: str, take: Callable[[RowId, Cell], None]) -> None:
    """Hand the cells of a column to `take`, in the order of the rows, in a reader's thread."""
    (await services.table(table_id)).require_field(field)

    def take_each(rows: Sequence[Row]) -> None:
        for row in rows:
            take(row.id, row.cell(field))

    await services.store.tables.stream(table_id, take_each, field=field)
