"""How a run is cut into the parts that are handed out."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.engine.rows import MAX_SLICE_ROWS, WINDOW_ROWS
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings

ROWS = WINDOW_ROWS + 1


async def slices_of(services: Services, table_id: str, field: str) -> int:
    fill = await plan_fill(services, table_id, [parse_field(field)])
    run_id = await fill.begin("nobody", settings={})
    return len((await services.store.slices.totals(run_id)).unfinished)


async def test_what_is_computed_is_handed_out_in_whole_windows_and_what_asks_in_few_rows(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("Item,Price\n" + "".join(f"{n},{n}\n" for n in range(ROWS)), encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"), search="sample")) as services:
        table_id = (await import_table_file(services, tmp_path / "prices.csv")).table.id
        assert await slices_of(services, table_id, "Double:number={Price} * 2") == 2
        assert await slices_of(services, table_id, "Maker=Who makes {Item}?") >= ROWS / MAX_SLICE_ROWS


async def test_a_large_computation_has_few_slices_and_tells_how_far_it_is(tmp_path: Path) -> None:
    rows = 8 * WINDOW_ROWS + 1
    (tmp_path / "prices.csv").write_text("Item,Price\n" + "".join(f"{n},{n}\n" for n in range(rows)), encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        table_id = (await import_table_file(services, tmp_path / "prices.csv")).table.id
        assert await slices_of(services, table_id, "Double:number={Price} * 2") == 8
        fill = await plan_fill(services, table_id, [parse_field("Double:number={Price} * 2")])
        filled = await services.jobs.run(fill)
        told = [event.progress async for event in services.jobs.watch(filled.run_id)]
    assert (filled.found, filled.rows) == (rows, rows)
    assert {each.stage for each in told} == {"starting", "computing", "complete"}
    assert len(told) < rows / 100
    done = [each.done for each in told if each.stage == "computing"]
    assert done == sorted(done)
    assert (done[-1], told[-2].total) == (rows, rows)
