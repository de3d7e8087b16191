"""What waits is served in the order in which the rows of a run began, and nothing is lost by those who give up."""

from __future__ import annotations

import asyncio

from tablewright.strategies.strategy import ModelCalls


async def test_calls_of_rows_that_began_first_go_first() -> None:
    calls = ModelCalls(1)
    order: list[str] = []
    gate = asyncio.Event()

    async def row(name: str) -> None:
        calls.begin_row()
        for call in ("choose", "read"):
            async with calls.call():
                order.append(f"{name} {call}")
                await gate.wait()

    rows = [asyncio.create_task(row(name)) for name in ("first", "second", "third")]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*rows)
    assert order == [f"{name} {call}" for name in ("first", "second", "third") for call in ("choose", "read")]


async def test_a_turn_goes_on_to_the_next_if_who_has_it_or_waits_for_it_is_cancelled() -> None:
    calls = ModelCalls(1)
    served: list[int] = []

    async def ask(number: int, *, long: bool) -> None:
        calls.begin_row()
        async with calls.call():
            served.append(number)
            if long:
                await asyncio.Event().wait()

    tasks = [asyncio.create_task(ask(number, long=number == 0)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    tasks[0].cancel()
    # The second is woken, and cancelled before it runs.
    await asyncio.sleep(0)
    tasks[2].cancel()
    await asyncio.wait(tasks)
    assert served in ([0, 3], [0, 2, 3])
    assert not tasks[3].cancelled()
    assert calls.free == 1
