"""Tools for tables: list, show, add rows, write a cell, undo, check again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.model import Cell, Table
from tablewright.domain.proposal import ProposalHead
from tablewright.domain.text import cell_text, to_json_document
from tablewright.errors import NotFound, UsageError
from tablewright.interfaces.mcp.answers import (
    Answer,
    add_operation_tool,
    add_tool,
    compact_reply,
    cut_page,
    note_doubt,
    show_grid,
    tool_hints,
)
from tablewright.interfaces.mcp.context import ToolContext
from tablewright.interfaces.wording import MCP, reword_advice
from tablewright.operations import rows, tables
from tablewright.operations.ask import list_conversations
from tablewright.operations.documents import list_document_tables
from tablewright.operations.fill import RecheckResult, recheck
from tablewright.operations.operation import NO_LIMIT, ListRequest, NoInput
from tablewright.operations.rows import CellRequest, CellShown, TypedValue, get_cell
from tablewright.operations.runs import show_run
from tablewright.operations.tables import ImportTable, delete_table, import_table
from tablewright.temporary import temporary_folder

# More rows fill the context of an assistant.
MAX_ROWS = 200
# About 50,000 short rows; longer files are added by path.
MAX_CSV_CHARACTERS = 4_000_000

What: TypeAlias = Literal["tables", "runs", "proposals", "documents", "document_kinds", "conversations"]
TableName = Annotated[str, Key(description="Its id or name.")]
RowNumber = Annotated[int, Key(ge=1)]
After = Annotated[int, Key(ge=0, description="`next_after` of the previous page.")]


class CellToWrite(CellRequest, frozen=True):
    value: Annotated[
        TypedValue | None, msgspec.Meta(description="The user's own value; an empty text clears the cell.")
    ] = None
    note: Annotated[str, msgspec.Meta(max_length=500, description="Or: what is wrong with the present value.")] = ""


class TableTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._context, self.list_all, tool_hints(reads=True))
        add_tool(server, self._context, self.show_table, tool_hints(reads=True))
        add_tool(server, self._context, self.add_rows, tool_hints())
        add_tool(server, self._context, self.set_cell, tool_hints(destroys=True, again=True))
        add_operation_tool(server, self._context, tables.undo, destroys=True)
        add_operation_tool(server, self._context, recheck, show=show_recheck, again=True, outside=True)

    async def list_all(
        self,
        what: What,
        table: Annotated[str, Key(description="For runs and proposals: only those of this table.")] = "",
        run_id: Annotated[str, Key(description="For runs: only this one, to see its progress.")] = "",
        after: After = 0,
        limit: Annotated[int, Key(ge=1, le=500)] = 50,
    ) -> Answer:
        """List what is kept: tables; runs with their progress, cost and what stayed empty; proposals that wait for a
        decision; the user's documents; the kinds of documents with the columns that ask(where=…) can use; conversations
        about documents."""
        table_id = (await self._services.table(table)).id if table else None
        found: list[Any]
        match what:
            case "tables":
                found = await self._services.tables()
            case "runs":
                runs = [await self._services.jobs.get(run_id)] if run_id else []
                # One more than asked tells if there are more.
                found = runs or await self._services.jobs.all(table_id, limit=after + limit + 1)
            case "proposals":
                found = await self._services.store.proposals.all(table_id, only_open=True)
            case "documents":
                found = [
                    {"id": each.id, "name": each.name, "kind": each.kind, "kind_by": each.kind_by, "pages": each.pages}
                    | ({"problem": each.problem} if each.problem else {})
                    for each in await self._services.store.documents.all()
                ]
            case "document_kinds":
                found = list((await list_document_tables(self._services, NoInput())).tables)
            case "conversations":
                everything = ListRequest(limit=NO_LIMIT)
                found = list((await list_conversations(self._services, everything)).conversations)
        some, place = cut_page(found, after, limit)
        if what == "runs":  # of which no more are counted than are asked for
            some = [await show_run(self._services, run, reasons=True) for run in some]
            place.pop("total")
        return {what: to_json_document(some), **place}

    async def show_table(
        self,
        table: TableName,
        after: Annotated[int, Key(ge=0, description="Only rows after this row_id.")] = 0,
        limit: Annotated[int, Key(ge=1, le=MAX_ROWS)] = 20,
        evidence: Annotated[bool, Key(description="Include the sources of each cell.")] = False,
        row_id: Annotated[int | None, Key(ge=1, description="With `field`: one cell in full detail.")] = None,
        field: str = "",
        proposal_id: Annotated[str, Key(description="Show what this proposal would write instead.")] = "",
    ) -> Answer:
        """Show rows of a table as lists of values. `notes` has, by "ROW.COLUMN", how sure a value is (high, medium,
        low), its basis where it is not stated word for word, or why a cell is empty (FAILED, with the reason). One cell
        has its quotes, other values that sources give, and the trace of the search: cite them when you report it."""
        head = await self._services.table(table)
        proposal = await self._proposal(head, proposal_id) if proposal_id else None
        if row_id is not None or field:
            if row_id is None or not field:
                raise UsageError("A cell has both a `row_id` and a `field`.")
            return await self._cell(head, row_id, field, proposal)
        if proposal is not None:
            return await self.proposed(head, proposal, after, limit, evidence=evidence)
        page = await rows.list_rows(self._services, rows.ListRows(table=head.id, after=after, limit=limit))
        names = [field.name for field in head.shown_fields]
        return {
            "table_id": head.id,
            "name": head.name,
            "key_field": head.key_field,
            "types": {field.name: field.type for field in head.shown_fields if field.type != "text"},
            **show_grid(names, [(row.row_id, row.cells) for row in page.rows], evidence=evidence),
            "row_count": await self._services.count(head.id),
            "next_after": page.next,
        }

    async def add_rows(
        self,
        csv: Annotated[str, Key(max_length=MAX_CSV_CHARACTERS, description="CSV text with a header row.")] = "",
        path: Annotated[str, Key(description="Or a file in a folder that the owner allows.")] = "",
        table: Annotated[str, Key(description="The table to add to; empty: a new one.")] = "",
        name: Annotated[str, Key(max_length=200, description="Name of a new table.")] = "",
        key_field: Annotated[str, Key(description="The column that identifies a row.")] = "",
    ) -> Answer:
        """Make a new table, or add rows to one. Existing rows stay as they are."""
        if bool(csv.strip()) == bool(path):
            raise UsageError("Give either `csv` or `path`.")
        if table:
            await self._services.table(table)
        with temporary_folder() as folder:
            file = self._context.folders.find(path) if path else Path(folder) / "table.csv"
            if csv:
                file.write_text(csv, encoding="utf-8")
            request = ImportTable(path=str(file), name=name, key_field=key_field)
            imported = await import_table(self._services, request)
        said = {"warnings": [reword_advice(MCP, warning) for warning in imported.warnings]}
        if not table:
            return {**compact_reply(imported), **said}
        try:
            new = (await self._services.load(imported.table_id)).rows
        finally:
            # The import made a table of its own; only its rows are wanted.
            await delete_table(self._services, imported.table_id)
        texts = tuple({name: cell_text(cell) for name, cell in row.cells.items()} for row in new)
        done = await rows.add_rows(self._services, rows.AddRows(table=table, rows=texts))
        return {**compact_reply(done), "row_count": len(texts), **said}

    async def set_cell(self, request: CellToWrite) -> Answer:
        """Write a value that the user gave into a cell, or mark its value as doubtful: the next run looks again."""
        services, table, row_id, field = self._services, request.table, request.row_id, request.field
        if (request.value is None) == (not request.note):
            raise UsageError("Give either `value` or `note`.")
        if request.value is None:
            flagged = rows.FlagCellRequest(table=table, row_id=row_id, field=field, note=request.note)
            return compact_reply(await rows.flag_cell(services, flagged))
        written = rows.SetCellRequest(table=table, row_id=row_id, field=field, value=request.value)
        return compact_reply(await rows.set_cell(services, written))

    async def proposed(
        self, head: Table, proposal: ProposalHead, after: int, limit: int, *, evidence: bool = False
    ) -> Answer:
        """Return the cells that a proposal would write, row by row."""
        names = [field.name for field in proposal.fields]
        # A proposal is stored by cell, a page counts rows.
        most = limit * len(names)
        operations = await self._services.store.proposals.operations(proposal.id, after=(after + 1, ""), limit=most + 1)
        cells: dict[int, dict[str, Cell]] = {}
        for each in operations[:most]:
            cells.setdefault(each.row_id, {})[each.field] = each.cell
        if len(operations) > most and len(cells) > 1:  # the last row may go on: it is on the next page
            cells.pop(next(reversed(cells)))
        known = await self._services.rows_by_id(head.id, list(cells))
        key = [head.key_field] if head.key_field and head.key_field not in names else []
        proposed = [
            (row_id, {name: known[row_id].cell(name) for name in key if row_id in known} | some)
            for row_id, some in cells.items()
        ]
        return {
            "proposal": to_json_document(proposal),
            **show_grid([*key, *names], proposed, evidence=evidence),
            "next_after": next(reversed(cells)) if len(operations) > most else None,
        }

    async def _cell(self, head: Table, row_id: int, field: str, proposal: ProposalHead | None) -> Answer:
        if proposal is None:
            found = await get_cell(self._services, CellRequest(table=head.id, row_id=row_id, field=field))
            cell, steps = found.cell, found.steps
        else:
            new = [each for each in proposal.fields if head.field(each.name) is None]
            field = msgspec.structs.replace(head, fields=(*head.fields, *new)).require_field(field).name
            row = await self._services.row(head.id, row_id)
            operation = await self._services.store.proposals.operation(proposal.id, row_id, field)
            cell, steps = (operation.cell, operation.steps) if operation else (row.cell(field), ())
        whole = CellShown(table_id=head.id, row_id=row_id, field=field, cell=cell, sources=(), steps=steps)
        return {**compact_reply(whole), "note": note_doubt(cell)}

    async def _proposal(self, head: Table, proposal_id: str) -> ProposalHead:
        proposal = await self._services.store.proposals.get(proposal_id)
        if proposal.table_id != head.id:
            raise NotFound(f"Proposal {proposal_id} is not about table {head.id}.")
        return proposal


def show_recheck(done: RecheckResult) -> Answer:
    """Return a recheck with only the cells that are no longer supported, the changed ones first."""
    doubted = [each for each in done.cells if each.verdict != "supported"]
    doubted.sort(key=lambda each: each.verdict != "changed")
    shown = msgspec.structs.replace(done, cells=tuple(doubted[:MAX_ROWS]))
    return dict(to_json_document(shown)) | {"more": max(0, len(doubted) - MAX_ROWS)}
