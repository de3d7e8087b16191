"""Tables: read, shared, renamed and removed, and their history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from tablewright.application.base import Application
from tablewright.domain.history import TableActivity, TableSummary
from tablewright.domain.model import Cell, Row, RowId, Table
from tablewright.engine.rows import read_windows
from tablewright.errors import NotFound


class TableVerbs(Application):
    async def tables(self) -> list[TableSummary]:
        return await self.store.tables.all()

    async def load(self, name_or_id: str) -> Table:
        """With all its rows, in memory."""
        return await self.store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str) -> AsyncIterator[Row]:
        """All of them, in their order, however many: `async for row in services.rows(table_id)`."""
        async for window in read_windows(self.store, table_id):
            for row in window.rows:
                yield row

    async def page(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        """The rows that come after one of them, at most so many; fewer where they are long, and none at the end."""
        return (await self.store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self.store.tables.rows(table_id, row_ids)).rows}

    async def row(self, table_id: str, row_id: RowId) -> Row:
        """Raises NotFound where the table has no such row."""
        found = await self.rows_by_id(table_id, [row_id])
        if row_id not in found:
            raise NotFound(f"Table {table_id} has no row {row_id}.")
        return found[row_id]

    def row_windows(self, table_id: str, row_ids: Sequence[RowId]) -> AsyncIterator[list[Row]]:
        """Yield those of the rows that are there, in the given order: as many at a time as fit into the memory of one
        request."""
        return self.store.tables.windows_of(table_id, row_ids)

    async def cost(self, table_id: str) -> float:
        """The dollars that all runs of the table have spent."""
        return await self.store.runs.cost(table_id)

    async def count(self, table_id: str) -> int:
        return await self.store.tables.count(table_id)

    async def row_ids(self, table_id: str, keep: Callable[[Row], bool] | None = None) -> list[RowId]:
        """Of its rows, in their order; with `keep`, which is asked in a reader's thread, only of those it keeps."""
        if keep is None:
            return await self.store.tables.row_ids(table_id)
        kept: list[RowId] = []
        await self.store.tables.stream(table_id, lambda rows: kept.extend(row.id for row in rows if keep(row)))
        return kept

    async def column(self, table_id: str, field: str, take: Callable[[RowId, Cell], None]) -> None:
        """Hands the cells of a column to `take`, in the order of the rows, in a reader's thread."""
        (await self.table(table_id)).require_field(field)

        def each(rows: Sequence[Row]) -> None:
            for row in rows:
                take(row.id, row.cell(field))

        await self.store.tables.stream(table_id, each, field=field)

    async def activity(self, table_id: str) -> TableActivity:
        """What tells that something has happened to a table; cheap enough to be asked for several times a second."""
        return await self.store.tables.activity(table_id)
