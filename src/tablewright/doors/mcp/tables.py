"""Tools for tables: list, look, import, see what a cell stands on, doubt it, check it again."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.app import FileOptions, Operation
from tablewright.doors.mcp.answers import (
    BASIS,
    CONVERTED_BY,
    CellShown,
    FromOutside,
    OtherValue,
    Shown,
    Source,
    add_tool,
    cell_shown,
    hints,
)
from tablewright.doors.mcp.desk import Call, Desk
from tablewright.errors import NotFound, UsageError
from tablewright.table.access import Shareable
from tablewright.table.model import Basis, Cell, Field, Row, Table
from tablewright.table.text import cell_text

MOST_ROWS = 200
LONGEST_CSV = 4_000_000

TableName = Annotated[str, Key(description="The table's id, or its name.")]
RowNumber = Annotated[int, Key(description="The row's number (row_id).", ge=1)]
Column = Annotated[str, Key(description="The column's name.")]


class SharedWith(FromOutside):
    owner: str
    people: list[str]
    everyone: bool


class TableListed(BaseModel):
    id: str
    name: str
    rows: int
    columns: int
    created_at: str
    changed_at: str


class Tables(FromOutside):
    tables: list[TableListed]


class ColumnShown(BaseModel):
    name: str
    type: str
    question: str
    unit: str
    options: list[str]
    filled_by_runs: bool


class RowShown(BaseModel):
    """A column that is not in `cells` has not been looked for."""

    row_id: int
    cells: dict[str, CellShown]


class TablePage(FromOutside):
    table_id: str
    name: str
    key_column: str
    columns: list[ColumnShown]
    rows: list[RowShown]
    total_rows: int
    next_after: int | None = Key(description="Pass as `after` for the next page; null: these were the last.")


class ImportedTable(FromOutside):
    table_id: str
    name: str
    rows: int
    columns: list[ColumnShown]
    warnings: list[str]


class TraceStep(BaseModel):
    type: str
    detail: str


class CellEvidence(FromOutside):
    table_id: str
    row_id: int
    row: str = Key(description="What the row is about.")
    column: str
    value: Shown
    raw_value: str | None
    status: str
    reason: str | None = Key(description="Why there is no value.")
    confidence: float | None
    confidence_label: str
    basis: Basis | None = Key(description=BASIS)
    converted_by: str = Key(description=CONVERTED_BY)
    note: str | None
    stale: bool
    cost_usd: float
    updated_at: str | None
    proposed: bool = Key(description="Whether it only stands in a proposal, not yet in the table.")
    sources: list[Source]
    other_values: list[OtherValue]
    trace: list[TraceStep] = Key(description="How it was looked for.")


class Flagged(FromOutside):
    table_id: str
    row_id: int
    column: str
    change: int = Key(description="The number of the change, for undoing it.")


class Verdict(BaseModel):
    row_id: int
    column: str
    verdict: str
    note: str
    origins: list[str]


class Rechecked(FromOutside):
    table_id: str
    status: str
    pages: int
    supported: int
    changed: int
    not_checked: int
    needs_attention: list[Verdict] = Key(description="Those that changed come first.")
    more: int = Key(
        description="How many more need attention than are listed. A recheck of some rows (`row_ids`) lists all of "
        "theirs, and what changed is FLAGGED in show_table, unless it was a dry run."
    )
    change: int | None = Key(description="The number of the change that flagged the cells, if any.")


class TableTools:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tablewright = desk.tablewright

    async def share(
        self,
        kind: Annotated[Shareable, Key(description="What it is.")],
        id: Annotated[str, Key(description="Its id; a table or a document also by its name.")],
        people: Annotated[list[str], Key(max_length=500, description="Names of users who may see it.")],
        everyone: Annotated[bool, Key(description="All who may use the server may see it.")] = False,
    ) -> SharedWith:
        """Share something of the user's with exactly these people, or with everyone; with an empty list nobody but its
        owner sees it from then on. Only what the user asked to be shared."""
        shared = await self._tablewright.share(kind, id, people, everyone=everyone, only=True)
        return SharedWith(owner=shared.owner, people=list(shared.people), everyone=shared.everyone)

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._desk, self.list_tables, hints(reads=True))
        add_tool(server, self._desk, self.show_table, hints(reads=True))
        add_tool(server, self._desk, self.import_table, hints())
        add_tool(server, self._desk, self.cell_evidence, hints(reads=True))
        add_tool(server, self._desk, self.flag_cell, hints(again=True))
        add_tool(server, self._desk, self.recheck, hints(again=True, outside=True))
        add_tool(server, self._desk, self.share, hints(again=True))

    async def list_tables(self) -> Tables:
        """List all tables that are kept, with their ids, names and sizes."""
        return Tables(
            tables=[
                TableListed(
                    id=each.id,
                    name=each.name,
                    rows=each.rows,
                    columns=each.fields,
                    created_at=each.created_at,
                    changed_at=each.changed_at,
                )
                for each in await self._tablewright.tables()
            ]
        )

    async def show_table(
        self,
        table: TableName,
        after: Annotated[int, Key(ge=0, description="Only rows after this number; 0 for the first page.")] = 0,
        limit: Annotated[int, Key(ge=1, le=MOST_ROWS, description="Rows a page.")] = 20,
    ) -> TablePage:
        """Show a page of a table's rows. Each cell has its value, its status (PENDING: not looked for yet, ENRICHED:
        has a value, FAILED: looked for and not found, with the reason, FLAGGED: doubted), how sure it is (confidence
        from 0 to 1) and its first sources."""
        head = await self._tablewright.table(table)
        rows = await self._tablewright.page(head.id, after=after, limit=limit + 1)
        return TablePage(
            table_id=head.id,
            name=head.name,
            key_column=head.key_field,
            columns=columns_of(head),
            rows=[row_shown(head, row) for row in rows[:limit]],
            total_rows=await self._tablewright.count(head.id),
            next_after=rows[limit - 1].id if len(rows) > limit else None,
        )

    async def import_table(
        self,
        csv: Annotated[
            str, Key(max_length=LONGEST_CSV, description="The table as CSV text, the names of the columns first.")
        ] = "",
        path: Annotated[
            str,
            Key(description="Or a file (.csv, .tsv, .xlsx, .json, …) in a folder that the server's owner allows."),
        ] = "",
        name: Annotated[str, Key(max_length=200, description="What to call the table.")] = "",
        key_column: Annotated[
            str, Key(description="The column that says what a row is about; default: the first text column.")
        ] = "",
    ) -> ImportedTable:
        """Make a new table of CSV text, or of a file where that is allowed. Nothing that exists is changed."""
        if bool(csv.strip()) == bool(path):
            raise UsageError("Give either `csv` or `path`.")
        options = FileOptions(name=name, key_field=key_column)
        if path:
            imported = await self._tablewright.import_file(self._desk.folders.find(path), options)
        else:
            with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
                file = Path(folder) / "table.csv"
                file.write_text(csv, encoding="utf-8")
                imported = await self._tablewright.import_file(file, options)
        return ImportedTable(
            table_id=imported.table.id,
            name=imported.table.name,
            rows=imported.rows,
            columns=columns_of(imported.table),
            warnings=list(imported.warnings),
        )

    async def cell_evidence(
        self,
        table: TableName,
        row_id: RowNumber,
        column: Column,
        proposal_id: Annotated[str, Key(description="Look at the cell as this proposal has it.")] = "",
    ) -> CellEvidence:
        """Show what one cell stands on: its value, how sure it is, every source with the quote that states it, other
        values that sources give, and the trace of how it was looked for. Cite these sources when you report a value;
        for an empty cell the trace says where was looked."""
        head = await self._tablewright.table(table)
        if proposal_id:
            head = await self._as_proposed(head, proposal_id)
        field, row = await self._find(head, row_id, column)
        cell = row.cell(field.name)
        if proposal_id:
            operation: Operation | None = await self._tablewright.operation(proposal_id, row_id, field.name)
        else:
            operation = await self._found_by(cell, row_id, field.name)
        if proposal_id and operation is not None:
            cell = operation.cell
        everything = cell_shown(cell, most=None)
        return CellEvidence(
            **everything.model_dump(),
            table_id=head.id,
            row_id=row_id,
            row=cell_text(row.cell(head.key_field)) if head.key_field else "",
            column=field.name,
            raw_value=cell.raw_value,
            cost_usd=cell.cost,
            updated_at=cell.updated_at,
            proposed=bool(proposal_id),
            trace=[TraceStep(type=step.type, detail=step.detail) for step in operation.steps] if operation else [],
        )

    async def flag_cell(
        self,
        table: TableName,
        row_id: RowNumber,
        column: Column,
        note: Annotated[str, Key(max_length=500, description="What is wrong with it.")] = "",
    ) -> Flagged:
        """Mark a cell as doubtful. Its value stays; the next run that asks for the column looks for it again."""
        head = await self._tablewright.table(table)
        field, _ = await self._find(head, row_id, column)
        change = await self._tablewright.changes.flag(head.id, row_id, field.name, note)
        return Flagged(table_id=head.id, row_id=row_id, column=field.name, change=change.number)

    async def recheck(
        self,
        table: TableName,
        call: Call,
        columns: Annotated[list[str] | None, Key(description="Only these columns; default: all.")] = None,
        row_ids: Annotated[list[int] | None, Key(description="Only these rows; default: all.")] = None,
        dry_run: Annotated[bool, Key(description="Look, but flag nothing.")] = False,
    ) -> Rechecked:
        """Fetch the cited pages again and flag the cells whose quotes are gone. Values stay as they are. Asks no
        model and searches nothing; a page that refuses proves nothing, and its cells stay unflagged."""
        head = await self._tablewright.table(table)
        done = await self._desk.telling(
            call,
            lambda watch: self._tablewright.recheck(
                head.id, columns or (), row_ids=row_ids, dry_run=dry_run, watch=watch
            ),
        )
        doubted = sorted(
            (each for each in done.cells if each.verdict != "supported"), key=lambda each: each.verdict != "changed"
        )
        return Rechecked(
            table_id=done.table_id,
            status=done.status,
            pages=done.pages,
            supported=done.count("supported"),
            changed=done.count("changed"),
            not_checked=done.count("not checked"),
            needs_attention=[
                Verdict(
                    row_id=each.row_id,
                    column=each.field,
                    verdict=each.verdict,
                    note=each.note,
                    origins=list(each.origins),
                )
                for each in doubted[:MOST_ROWS]
            ],
            more=max(0, len(doubted) - MOST_ROWS),
            change=done.change.number if done.change else None,
        )

    async def _find(self, head: Table, row_id: int, column: str) -> tuple[Field, Row]:
        field = head.field(column)
        if field is None:
            names = ", ".join(each.name for each in head.fields)
            raise NotFound(f"Table {head.id} has no column {column!r}.", advice=f"It has: {names}.")
        row = (await self._tablewright.rows_by_id(head.id, [row_id])).get(row_id)
        if row is None:
            raise NotFound(f"Table {head.id} has no row {row_id}.")
        return field, row

    async def _as_proposed(self, head: Table, proposal_id: str) -> Table:
        """With the columns that the proposal would add."""
        proposal = await self._tablewright.proposal(proposal_id)
        if proposal.table_id != head.id:
            raise NotFound(f"Proposal {proposal_id} is not about table {head.id}.")
        new = [field for field in proposal.fields if head.field(field.name) is None]
        return msgspec.structs.replace(head, fields=(*head.fields, *new))

    async def _found_by(self, cell: Cell, row_id: int, column: str) -> Operation | None:
        """How the run that wrote the cell went about it, as long as that is kept."""
        if not cell.run_id:
            return None
        try:
            jobs = self._tablewright.jobs
            report = await jobs.report(await jobs.get(cell.run_id))
            return await self._tablewright.operation(report["proposal_id"], row_id, column)
        except NotFound:
            return None


def columns_of(table: Table) -> list[ColumnShown]:
    return [
        ColumnShown(
            name=field.name,
            type=field.type,
            question=field.question,
            unit=field.unit,
            options=list(field.options),
            filled_by_runs=field.is_asked,
        )
        for field in table.shown_fields
    ]


def row_shown(table: Table, row: Row) -> RowShown:
    names = [field.name for field in table.shown_fields if field.name in row.cells]
    return RowShown(row_id=row.id, cells={name: cell_shown(row.cell(name)) for name in names})
