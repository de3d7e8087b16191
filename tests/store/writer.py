"""A separate process that writes to a table: `python -m tests.store.writer URL TABLE MODE NAME COUNT`"""

from __future__ import annotations

import asyncio
import sys

from tablewright.domain.edits import AddRow, SetCell
from tablewright.domain.model import Cell, make_given_cell
from tablewright.store.store import Store


async def main(url: str, table_id: str, mode: str, name: str, count: int) -> None:
    async with await Store.open(url) as store:
        for number in range(1, count + 1):
            if mode == "share":
                await store.log.commit(
                    table_id, [AddRow(key=name, cells={"Name": make_given_cell(f"{name} {number}")})]
                )
            else:
                rows = range(1, 201)
                cell = Cell(value=number, status="ENRICHED", updated_at=str(number))
                await store.log.commit(table_id, [SetCell(row_id=row, field="Value", cell=cell) for row in rows])
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5], int(sys.argv[5])))  # type: ignore[call-arg, arg-type]
