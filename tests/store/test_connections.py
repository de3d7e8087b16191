"""How the database is opened: what SQLite is told, and how many connections PostgreSQL sees."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from sqlalchemy import Connection

from tablewright.store.database import POSTGRES_WRITER_THREADS, READER_THREADS, STREAM_THREADS
from tablewright.store.database_errors import BUSY_SECONDS
from tablewright.store.store import Store


async def test_sqlite_keeps_a_log_beside_the_file_waits_for_others_and_has_a_bounded_cache(tmp_path: Path) -> None:
    def told(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "busy_timeout", "cache_size")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]

    async with await Store.open(f"sqlite:///{tmp_path / 'tablewright.db'}") as store:
        for ask in (store.database.read, store.database.stream, store.database.write):
            normal = 1
            assert await ask(told) == ["wal", normal, BUSY_SECONDS * 1000, -64_000]


async def test_however_much_is_asked_of_it_a_store_has_a_bounded_number_of_connections(postgres_url: str) -> None:
    most = READER_THREADS + STREAM_THREADS + POSTGRES_WRITER_THREADS
    seen: list[int] = []

    def count(connection: Connection) -> None:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        until = time.monotonic() + 0.05
        while time.monotonic() < until:
            seen.append(int(connection.exec_driver_sql(query).scalar_one()))

    async with await Store.open(postgres_url) as store:
        database = store.database
        await asyncio.gather(
            *(ask(count) for _ in range(30) for ask in (database.read, database.stream, database.write))
        )
    assert READER_THREADS < max(seen) <= most
