"""A run that is stopped and resumed by the same process, as in a server."""

from __future__ import annotations

from pathlib import Path

from tablewright.app import Tablewright
from tablewright.settings import Settings
from tablewright.table.fieldspec import parse_field

SAMPLE = Path(__file__).parents[2] / "src" / "tablewright" / "sample" / "companies.csv"


async def test_a_run_that_was_stopped_goes_on_in_the_same_process(tmp_path: Path) -> None:
    async with Tablewright.open(Settings(home=str(tmp_path), search="sample", concurrency="1")) as tablewright:
        table = (await tablewright.import_file(SAMPLE)).table
        field = parse_field("Founded:number=What year was {Company} founded?")
        run_id = await tablewright.jobs.start(await tablewright.plan_enrich(table.id, [field], "pipeline"))
        async for event in tablewright.jobs.watch(run_id):
            if event.progress.stage == "row_done":
                await tablewright.jobs.cancel(run_id)
                break
        async for _ in tablewright.jobs.watch(run_id):
            pass
        stopped = await tablewright.jobs.get(run_id)
        assert stopped.status == "cancelled"
        assert 0 < stopped.done < stopped.total
        await tablewright.jobs.resume_in_background(run_id)
        async for _ in tablewright.jobs.watch(run_id):
            pass
        done = await tablewright.jobs.result(run_id)
        assert done.status == "done"
        assert done.rows == stopped.total
