"""Rows begin in the order of the table, and a cancelled row leaves its place."""

from __future__ import annotations

import asyncio

from tablewright.engine.rows import RowLimiter, SliceEntry
from tests.patience import PATIENCE


async def test_rows_of_a_later_slice_wait_for_those_of_an_earlier_one_that_is_still_opened() -> None:
    limiter = RowLimiter(1)
    limiter.expect(1)
    second = limiter.expect(2, 2)
    order: list[str] = []

    async def row(entry: SliceEntry, name: str) -> None:
        async with entry:
            order.append(name)
            await asyncio.sleep(0)

    rows = [asyncio.create_task(row(second, f"b{n}")) for n in range(2)]
    await asyncio.sleep(0)
    assert order == []
    first = limiter.expect(1, 3)
    rows += [asyncio.create_task(row(first, f"a{n}")) for n in range(2)]
    for _ in range(9):
        await asyncio.sleep(0)
    assert order == ["a0", "a1"], "the third row of the first slice has not begun"
    limiter.forget(1)
    await asyncio.gather(*rows)
    assert order == ["a0", "a1", "b0", "b1"]


async def test_no_more_than_allowed_are_in_and_those_who_give_up_leave_no_hole() -> None:
    limiter = RowLimiter(3)
    entry = limiter.expect(1)
    inside = most = 0

    async def row(number: int) -> None:
        nonlocal inside, most
        async with entry:
            inside += 1
            most = max(most, inside)
            try:
                await asyncio.sleep(0.001 * (number % 3))
            finally:
                inside -= 1

    rows = [asyncio.create_task(row(number)) for number in range(60)]
    for number in range(0, 60, 7):
        await asyncio.sleep(0)
        rows[number].cancel()
    await asyncio.gather(*rows, return_exceptions=True)
    assert most == 3
    async with asyncio.timeout(PATIENCE):
        async with entry, entry, entry:
            assert inside == 0
