from __future__ import annotations

import asyncio

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, make_given_cell
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.engine.write_buffer import shield_to_completion
from tablewright.store.store import Store
from tablewright.strategies.computation import ComputationStrategy


async def test_what_is_begun_is_done_however_often_its_waiter_is_cancelled() -> None:
    steps: list[int] = []

    async def work() -> None:
        for number in range(5):
            await asyncio.sleep(0)
            steps.append(number)

    waiting = asyncio.create_task(shield_to_completion(work()))
    await asyncio.sleep(0)
    while not waiting.done():
        waiting.cancel()
        await asyncio.sleep(0)
    assert steps == [0, 1, 2, 3, 4]
    assert waiting.cancelled()


async def test_its_result_and_its_error_are_told() -> None:
    async def fails() -> None:
        raise ValueError("no")

    async def works() -> int:
        return 1

    assert await shield_to_completion(works()) == 1
    with pytest.raises(ValueError, match="no"):
        await shield_to_completion(fails())


async def test_wherever_a_run_is_broken_off_it_has_an_end(store: Store) -> None:
    rows = [(make_given_cell(f"n{number}"), make_given_cell(number)) for number in range(50)]
    fields = (Field(name="Name"), Field(name="Price", type="number"))
    table = await store.tables.create("sales", fields, rows, key_field="Name")
    for milliseconds in range(0, 400, 2):
        if milliseconds >= 40 and len(await store.runs.all()) > 5:  # a busy machine begins fewer in that time
            break
        fill = FillRun(store, FillPlan(table, [parse_field("Double:number={Price} * 2")], ComputationStrategy()))
        running = asyncio.create_task(fill.run())
        await asyncio.sleep(milliseconds / 1000)
        while not running.done():
            running.cancel()
            await asyncio.sleep(0)
    ended = [run.status for run in await store.runs.all()]
    assert len(ended) > 5
    assert set(ended) <= {"cancelled", "done"}
