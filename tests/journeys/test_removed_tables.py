"""A table that is removed takes along what would go on about it."""

from __future__ import annotations

from pathlib import Path

from tablewright.app import Tablewright
from tablewright.settings import Settings


async def test_a_removed_table_leaves_no_schedule(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("Town\nLima\n")
    async with Tablewright.open(Settings(home=str(tmp_path / "home"))) as tablewright:
        kept, gone = [(await tablewright.import_file(file)).table.id for _ in range(2)]
        for table_id in (kept, gone):
            await tablewright.schedule(table_id, "recheck", "day")
        await tablewright.remove_table(gone)
        assert [each.table_id for each in await tablewright.jobs.schedules()] == [kept]
