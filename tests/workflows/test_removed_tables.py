"""A table that is removed takes along what would go on about it."""

from __future__ import annotations

from pathlib import Path

from tablewright.operations.files import import_table_file
from tablewright.operations.operation import TableRequest
from tablewright.operations.schedules import SetSchedule, set_schedule
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings


async def test_a_removed_table_leaves_no_schedule(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("Town\nLima\n")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        kept, gone = [(await import_table_file(services, file)).table.id for _ in range(2)]
        for table_id in (kept, gone):
            await set_schedule(services, SetSchedule(table=table_id, every="day"))
        await remove_table(services, TableRequest(table=gone))
        assert [each.table_id for each in await services.jobs.schedules()] == [kept]
