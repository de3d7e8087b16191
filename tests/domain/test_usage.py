from __future__ import annotations

import asyncio

from tablewright.domain.run import Usage, measure_usage, record_usage


def test_usage_adds_up() -> None:
    assert Usage(llm_calls=1, cost_usd=0.5) + Usage(llm_calls=2, seconds=1.0) == Usage(
        llm_calls=3, cost_usd=0.5, seconds=1.0
    )


async def test_a_meter_counts_what_its_own_tasks_spend_and_nothing_else() -> None:
    async def work(times: int) -> Usage:
        with measure_usage() as meter:
            await asyncio.gather(*(search() for _ in range(times)))
        return meter.usage

    async def search() -> None:
        await asyncio.sleep(0)
        record_usage(Usage(searches=1))

    with measure_usage() as all_of_it:
        few, many = await asyncio.gather(work(2), work(5))
    record_usage(Usage(searches=100))
    assert (few.searches, many.searches, all_of_it.usage.searches) == (2, 5, 7)
