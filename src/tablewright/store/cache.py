"""What was bought once: a model's answer or a search's results, by the hash of the request. Nothing here is changed;
a newer answer to the same request replaces the older."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, select

from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import upsert
from tablewright.store.records import now


class Cache:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, kind: str, key: str, *, max_age: timedelta | None = None) -> bytes | None:
        def work(connection: Connection) -> bytes | None:
            query = select(schema.cache.c.value, schema.cache.c.created_at).where(
                schema.cache.c.kind == kind, schema.cache.c.key == key
            )
            found = connection.execute(query).first()
            if found is None or (max_age is not None and is_older(found.created_at, max_age)):
                return None
            return zlib.decompress(found.value)

        return await self._database.read(work)

    async def put(self, kind: str, key: str, value: bytes) -> None:
        record = {"kind": kind, "key": key, "value": zlib.compress(value, 1), "created_at": now()}

        def work(connection: Connection) -> None:
            statement = upsert(connection, schema.cache).values(record)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["kind", "key"],
                    set_={"value": statement.excluded.value, "created_at": statement.excluded.created_at},
                )
            )

        await self._database.write(work)

    async def clear(self, kind: str) -> int:
        """Forgets all of one kind; how many there were."""
        return await self._database.write(
            lambda connection: connection.execute(delete(schema.cache).where(schema.cache.c.kind == kind)).rowcount
        )


def is_older(stamp: str, age: timedelta) -> bool:
    return datetime.fromisoformat(stamp) < datetime.now(UTC) - age
