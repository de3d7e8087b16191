"""Slots of time that all processes on one database share: for each key, the moment from which it is free."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, Double, Engine, bindparam, cast, delete, extract, func

from tablewright.store.database import Database, StorePart, repeatable_transaction
from tablewright.store.dialect import upsert
from tablewright.store.schema import limits
from tablewright.store.workers import clock


class SharedLimits(StorePart):
    """Those who ask for one key are served one after the other, by the lock on its row and the database's own clock.
    They are told how long to wait, so the clocks of their machines do not matter."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._take = taking(database.engine)

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        """Takes the next `interval` seconds of `key`. Says how many seconds from now they begin; below 0, how long ago.

        `refund` are seconds that were taken earlier and turned out not to be needed. With `credit`, the last so many
        seconds are not yet lost when nobody took them."""

        return await self._reserve(key, interval, refund, credit) - time.monotonic()

    @repeatable_transaction
    def _reserve(self, connection: Connection, key: str, interval: float, refund: float, credit: float) -> float:
        asked = {"name": key, "interval": interval, "refund": refund, "credit": credit, "now": time.time()}
        wait = connection.execute(self._take, asked).scalar_one()
        # On this clock from here: the commit, and the way back to a busy event loop, are part of the wait.
        return time.monotonic() + max(float(wait), 0.0)

    @repeatable_transaction
    def forget(self, connection: Connection, seconds: float) -> None:
        """The keys that nobody asked for in so many seconds; they are as good as new."""
        free_at = limits.c.free_at
        connection.execute(delete(limits).where(free_at < clock(connection) - seconds))


def taking(engine: Engine) -> Any:
    """In an update PostgreSQL reads its clock when it has the row, so what waited for the row is not served in the
    past."""
    sqlite = engine.dialect.name == "sqlite"
    now = bindparam("now", type_=Double) if sqlite else cast(extract("epoch", func.clock_timestamp()), Double)
    later = func.max if sqlite else func.greatest
    interval, refund, credit = (bindparam(name, type_=Double) for name in ("interval", "refund", "credit"))
    free_at = limits.c.free_at
    statement = upsert(engine, limits).values(key=bindparam("name"), free_at=now - credit + interval)
    return statement.on_conflict_do_update(
        index_elements=["key"], set_={"free_at": later(free_at - refund, now - credit) + interval}
    ).returning(free_at - interval - now)
