"""Cells: where a value comes from, what it was before, a value of one's own, a doubt."""

from __future__ import annotations

from pydantic import Field as Value

from tablewright.app import CellVersion, Change, StaleCell
from tablewright.domain.model import Cell, Evidence, Noun, RowId, Step
from tablewright.doors.api.answers import Json, Page, by_place, large
from tablewright.doors.api.inputs import SOME, After, Body, FieldName, Limit, RowNumber, TableId, Text, Typed, resource
from tablewright.doors.api.rows import Changed
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visit, Visiting

router = resource("cells")

AROUND = 300
"""Characters of the stored text before and after a quote."""


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


class CellHistory(Noun, frozen=True):
    """Every value that the cell has had, the newest first."""

    table_id: str
    row_id: RowId
    field: str
    versions: tuple[CellVersion, ...]


class CellWritten(Noun, frozen=True):
    """`stale` are the columns of the row that were found from the old value."""

    field: str
    cell: Cell
    change: Change
    stale: tuple[str, ...]


class StalePage(Page, frozen=True):
    """In the order of rows. `total` is how many cells are stale, `cost_usd` what they took last time: all of them, not
    only those of this page."""

    total: int
    cost_usd: float
    cells: tuple[StaleCell, ...]


class OwnValue(Body):
    """Typed as its column says: "12 March 2024", "1.5 kg", "yes". An empty text clears the cell."""

    value: Typed = Value(examples=["1987"])


class Doubt(Body):
    note: Text = Value("", description="What is wrong with it.", examples=["That is the year of the merger."])


@router.get("/tables/{table_id}/rows/{row_id}/cells/{field:path}", response_model=described(CellShown))
async def get_cell(visit: Visiting, table_id: TableId, row_id: RowNumber, field: FieldName) -> Json:
    """A cell with its evidence: each quote within the stored text of its source, and how the value was found."""
    table = await seen_table(visit, table_id)
    name = table.require_field(field).name
    cell = (await visit.tablewright.row(table.id, row_id)).cell(name)
    sources = [SourceShown(evidence=each, excerpt=await excerpt(visit, each)) for each in cell.evidence]
    found_by = await visit.tablewright.operation_behind(cell, row_id, name)
    steps = found_by.steps if found_by else ()
    return Json(CellShown(table_id=table.id, row_id=row_id, field=name, cell=cell, sources=tuple(sources), steps=steps))


async def excerpt(visit: Visit, evidence: Evidence) -> Excerpt | None:
    if not evidence.content_hash or evidence.start is None or evidence.end is None:
        return None
    text = await visit.tablewright.stored_text(evidence.content_hash)
    if text is None or not 0 <= evidence.start <= evidence.end <= len(text):
        return None
    start = max(0, evidence.start - AROUND)
    return Excerpt(
        text=text[start : evidence.end + AROUND],
        start=start,
        quote_start=evidence.start - start,
        quote_end=evidence.end - start,
    )


@router.put("/tables/{table_id}/rows/{row_id}/cells/{field:path}", response_model=described(CellWritten))
async def set_cell(visit: Visiting, table_id: TableId, row_id: RowNumber, field: FieldName, asked: OwnValue) -> Json:
    """Writes your own value. Cells derived from the old value become stale; nothing runs by itself."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    name = table.require_field(field).name
    await visit.tablewright.row(table.id, row_id)
    written = await visit.tablewright.changes.set_value(table.id, row_id, name, asked.value)
    return Json(CellWritten(field=written.field, cell=written.cell, change=written.change, stale=written.stale))


@router.post("/tables/{table_id}/rows/{row_id}/flags/{field:path}", response_model=described(Changed))
async def flag_cell(visit: Visiting, table_id: TableId, row_id: RowNumber, field: FieldName, asked: Doubt) -> Json:
    """Flags a cell as doubtful: it keeps its value, and the next run works on it again."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    name = table.require_field(field).name
    await visit.tablewright.row(table.id, row_id)
    return Json(Changed(change=await visit.tablewright.changes.flag(table.id, row_id, name, asked.note)))


@router.get("/tables/{table_id}/rows/{row_id}/history/{field:path}", response_model=described(CellHistory))
async def get_cell_history(visit: Visiting, table_id: TableId, row_id: RowNumber, field: FieldName) -> Json:
    """Every value the cell has had."""
    table = await seen_table(visit, table_id)
    name = table.require_field(field).name
    versions = await visit.tablewright.cell_history(table.id, row_id, name)
    return Json(CellHistory(table_id=table.id, row_id=row_id, field=name, versions=tuple(versions)))


@router.get("/tables/{table_id}/stale", response_model=described(StalePage))
async def list_stale_cells(visit: Visiting, table_id: TableId, limit: Limit = SOME, after: After = "") -> Json:
    """The cells whose inputs have changed since they were filled."""
    table = await seen_table(visit, table_id)
    found = await visit.tablewright.stale(table.id)
    some, more = by_place(found, after, limit, lambda cell: (cell.row_id, cell.field))
    cost = sum(cell.cost for cell in found)
    return await large(lambda: StalePage(total=len(found), cost_usd=cost, cells=tuple(some), next=more))
