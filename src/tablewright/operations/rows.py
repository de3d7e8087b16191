"""Rows, columns and cells: add, change, remove, flag; where a value comes from and what it was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.edits import AddField, ChangeField, RemoveField, RemoveRow
from tablewright.domain.fieldspec import checked_name, parse_field
from tablewright.domain.history import CellVersion, Change, StaleCell, WrittenValue
from tablewright.domain.model import Cell, Evidence, Field, FieldType, Noun, Role, Row, RowId, Step, Table
from tablewright.domain.proposal import Operation
from tablewright.errors import BadField, NotFound
from tablewright.operations.operation import (
    USUAL_LIMIT,
    After,
    FieldName,
    Limit,
    Name,
    Page,
    Request,
    RowNumber,
    TableRef,
    Text,
    operation,
)
from tablewright.operations.paging import by_cell
from tablewright.values.coerce import LONGEST_TYPED
from tablewright.values.row_names import current_row_key

if TYPE_CHECKING:
    from tablewright.services import Services

EXCERPT_MARGIN = 300
"""Characters of the stored text before and after a quote."""

TypedValue = Annotated[str, msgspec.Meta(max_length=LONGEST_TYPED)]


class RowShown(Noun, frozen=True):
    """`key` is what names the row; `cells` has every column."""

    row_id: RowId
    key: str
    cells: dict[str, Cell]


class Changed(Noun, frozen=True):
    """The change as it stands in the history, by whose number it can be undone; null where nothing had to change."""

    change: Change | None


def show_row(table: Table, row: Row) -> RowShown:
    cells = {field.name: row.cell(field.name) for field in table.fields}
    return RowShown(row_id=row.id, key=current_row_key(row, table.key_field), cells=cells)


class GetRow(Request, frozen=True):
    table: TableRef
    row_id: RowNumber


@operation("read")
async def get_row(services: Services, request: GetRow) -> RowShown:
    """One row with all its cells."""
    table = await services.table(request.table)
    return show_row(table, await services.row(table.id, request.row_id))


class AddRows(Request, frozen=True):
    """Each an object of column names and values, as a person would type them."""

    table: TableRef
    rows: Annotated[
        tuple[dict[Name, Text], ...],
        msgspec.Meta(min_length=1, max_length=10_000, examples=[[{"Company": "Wrenbury Looms", "Founded": "1894"}]]),
    ]


@operation("write")
async def add_rows(services: Services, request: AddRows) -> Changed:
    """Adds rows at the end: all of them, or none if a value does not fit its column."""
    table = await services.table(request.table)
    for name in {name for row in request.rows for name in row}:
        table.require_field(name)
    return Changed(change=await services.changes.write_values(table.id, {}, request.rows))


class RemoveRowRequest(Request, frozen=True):
    table: TableRef
    row_id: RowNumber


@operation("write")
async def remove_row(services: Services, request: RemoveRowRequest) -> Changed:
    """Removes a row; undoing the change restores it."""
    table = await services.table(request.table)
    await services.row(table.id, request.row_id)
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
        return Field(
            name=checked_name(name, name),
            type=self.type,
            question=self.question.strip(),
            description=self.description.strip(),
            unit=self.unit.strip(),
            options=self.options,
            required=self.required,
            role=self.role,
            depends_on=self.depends_on,
        )


FieldSpecs = tuple[FieldSpec | Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)], ...]
"""Columns as objects, or as texts such as "Founded:number=What year was {Company} founded?"."""


def read_fields(specs: FieldSpecs) -> list[Field]:
    return [parse_field(each) if isinstance(each, str) else each.to_field() for each in specs]


def spec_field(field: Field) -> FieldSpec:
    return FieldSpec(**msgspec.structs.asdict(field))


class AddColumn(FieldSpec, frozen=True, kw_only=True):
    table: TableRef


@operation("write")
async def add_field(services: Services, request: AddColumn) -> Changed:
    """Adds a column at the end, empty in every row."""
    table = await services.table(request.table)
    field = request.to_field()
    edit = AddField(field=field)
    return Changed(change=await services.changes.edit(table.id, [edit], f"added column {field.name}"))


class ChangeColumn(FieldSpec, frozen=True, kw_only=True):
    table: TableRef
    field: FieldName


@operation("write")
async def change_field(services: Services, request: ChangeColumn) -> Changed:
    """Changes the definition of a column. Renaming it keeps its cells."""
    table = await services.table(request.table)
    old = table.require_field(request.field)
    edit = ChangeField(name=old.name, field=request.to_field())
    return Changed(change=await services.changes.edit(table.id, [edit], f"changed column {old.name}"))


class RemoveColumn(Request, frozen=True):
    table: TableRef
    field: FieldName


@operation("write")
async def remove_field(services: Services, request: RemoveColumn) -> Changed:
    """Removes a column with its cells; undoing the change restores them."""
    table = await services.table(request.table)
    old = table.require_field(request.field)
    edit = RemoveField(name=old.name)
    return Changed(change=await services.changes.edit(table.id, [edit], f"removed column {old.name}"))


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class CellRequest(Request, frozen=True):
    table: TableRef
    row_id: RowNumber
    field: FieldName


class Excerpt(Noun, frozen=True):
    """A part of the stored text, from character `start` of it; the quote is `text[quote_start:quote_end]`."""

    text: str
    start: int
    quote_start: int
    quote_end: int


class SourceShown(Noun, frozen=True):
    """A piece of evidence. `excerpt` is null where the text is no longer stored."""

    evidence: Evidence
    excerpt: Excerpt | None


class CellShown(Noun, frozen=True):
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
    table = await services.table(request.table)
    name = table.require_field(request.field).name
    cell = (await services.row(table.id, request.row_id)).cell(name)
    sources = [SourceShown(evidence=each, excerpt=await cut_excerpt(services, each)) for each in cell.evidence]
    found_by = await find_origin(services, cell, request.row_id, name)
    steps = found_by.steps if found_by else ()
    return CellShown(
        table_id=table.id, row_id=request.row_id, field=name, cell=cell, sources=tuple(sources), steps=steps
    )


async def find_origin(services: Services, cell: Cell, row_id: RowId, field: str) -> Operation | None:
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
    start = max(0, evidence.start - EXCERPT_MARGIN)
    return Excerpt(
        text=text[start : evidence.end + EXCERPT_MARGIN],
        start=start,
        quote_start=evidence.start - start,
        quote_end=evidence.end - start,
    )


class SetCellRequest(CellRequest, frozen=True):
    """Typed as its column says: "12 March 2024", "1.5 kg", "yes". An empty text clears the cell."""

    value: Annotated[TypedValue, msgspec.Meta(examples=["1987"])]


@operation("write")
async def set_cell(services: Services, request: SetCellRequest) -> WrittenValue:
    """Writes your own value. Cells derived from the old value become stale; nothing runs by itself."""
    table = await services.table(request.table)
    name = table.require_field(request.field).name
    await services.row(table.id, request.row_id)
    return await services.changes.set_value(table.id, request.row_id, name, request.value)


class FlagCellRequest(CellRequest, frozen=True):
    note: Annotated[
        Text, msgspec.Meta(description="What is wrong with it.", examples=["That is the year of the merger."])
    ] = ""


@operation("write")
async def flag_cell(services: Services, request: FlagCellRequest) -> Changed:
    """Flags a cell as doubtful: it keeps its value, and the next run works on it again."""
    table = await services.table(request.table)
    name = table.require_field(request.field).name
    await services.row(table.id, request.row_id)
    return Changed(change=await services.changes.flag(table.id, request.row_id, name, request.note))


class CellHistory(Noun, frozen=True):
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


class ListStaleCells(Request, frozen=True):
    table: TableRef
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def list_stale_cells(services: Services, request: ListStaleCells) -> StalePage:
    """The cells whose inputs have changed since they were filled."""
    table = await services.table(request.table)
    found = await services.store.log.stale(table.id)
    some, more = by_cell(found, request.after, request.limit, lambda cell: (cell.row_id, cell.field))
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
