"""Slots of time that processes share: each is given once, and requests stay as far apart as they should."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tablewright.store.store import Store
from tablewright.store.workers import SharedLimits
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
FOUND = b'{"results": [{"url": "https://acme.example/", "title": "Acme", "content": "Founded in 1987."}]}'


def about(seconds: float) -> object:
    """Of a wait: the time that the database took may be gone from it already."""
    return pytest.approx(seconds - 7, abs=7.01)


async def test_slots_of_one_key_follow_each_other_and_those_of_another_do_not(store: Store) -> None:
    limits = SharedLimits(store.database)
    waits = [await limits.reserve("search brave", 100) for _ in range(3)]
    assert waits == [about(0), about(100), about(200)]
    assert await limits.reserve("search exa", 100) == about(0)


async def test_many_who_ask_at_once_get_a_slot_each(store: Store, database_url: str) -> None:
    async with await Store.open(database_url) as other:
        both = (SharedLimits(store.database), SharedLimits(other.database))
        waits = await asyncio.gather(*(limits.reserve("k", 100) for limits in both for _ in range(10)))
    assert sorted(waits) == [about(100 * number) for number in range(20)]


async def test_a_slot_that_nobody_took_in_time_is_gone_except_for_the_credit(store: Store) -> None:
    limits = SharedLimits(store.database)
    for key, credit, then in (("strict", 0, 100), ("kind", 40, 60)):
        for refund in (0, 500):  # a key that is new, and one that is free since long ago
            assert await limits.reserve(key, 100, refund=refund, credit=credit) == about(0)
        assert await limits.reserve(key, 100) == about(then)


async def test_time_that_was_not_needed_goes_to_the_next(store: Store) -> None:
    limits = SharedLimits(store.database)
    await limits.reserve("k", 100)
    assert await limits.reserve("k", 100, refund=70) == about(30)
    assert await limits.reserve("k", 100, refund=500) == about(0), "no more than there is"
    assert await limits.reserve("k", 100) == about(100)


async def test_keys_that_nobody_asked_for_in_long_are_forgotten(store: Store) -> None:
    limits = SharedLimits(store.database)
    await limits.reserve("old", 0.01)
    await limits.reserve("held", 100)
    await asyncio.sleep(0.3)
    await limits.forget(0.1)
    with store.database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT key FROM limits").scalars().all() == ["held"]


async def test_a_wait_for_the_row_is_not_served_in_the_past(store_of_many: Store) -> None:
    limits = SharedLimits(store_of_many.database)
    await limits.reserve("k", 0.01)
    with store_of_many.database.engine.begin() as holding:
        holding.exec_driver_sql("SELECT free_at FROM limits FOR UPDATE")
        waiting = asyncio.create_task(limits.reserve("k", 100))
        await until_somebody_waits(store_of_many)
        released = holding.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one()
    await waiting
    assert free_at(store_of_many) >= float(released) + 100


async def test_the_store_shares_limits_where_many_processes_work(store: Store, database_url: str) -> None:
    assert (store.shared_limits is not None) == database_url.startswith("postgresql")


async def until_somebody_waits(store: Store) -> None:
    def waiting(connection: Connection) -> int:
        count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        return int(connection.exec_driver_sql(count).scalar_one())

    async with asyncio.timeout(PATIENCE):
        while not await store.database.read(waiting):  # noqa: ASYNC110  # another session has no event for it
            await asyncio.sleep(0.02)


def free_at(store: Store) -> float:
    with store.database.engine.connect() as connection:
        return float(connection.exec_driver_sql("SELECT free_at FROM limits").scalar_one())


@pytest.fixture
async def store_of_many(postgres_url: str) -> AsyncIterator[Store]:
    async with await Store.open(postgres_url) as opened:
        yield opened


async def test_two_processes_together_keep_a_limit_of_20_a_second(postgres_url: str) -> None:
    """None arrives before its turn. See `tests/store/asker.py`."""
    arrived: list[float] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                arrived.append(time.monotonic())
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(FOUND)}\r\n\r\n"
                writer.write(head.encode() + FOUND)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    command = [sys.executable, "-m", "tests.store.asker", postgres_url, address, "20", "12"]
    begun = time.monotonic()
    async with server, asyncio.timeout(PATIENCE):
        askers = [await asyncio.create_subprocess_exec(*command, cwd=ROOT) for _ in range(2)]
        assert [await asker.wait() for asker in askers] == [0, 0]
    assert len(arrived) == 2 * 12
    assert all(at >= begun + number / 20 for number, at in enumerate(arrived))
