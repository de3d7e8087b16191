"""The database of the queue, as DBOS sees it: a server that is away is waited for, and all that is kept is JSON.

DBOS repeats most of what it does to its database when the connection broke, after pauses of up to a minute and a half,
but gives up where it cannot connect. So its engine connects for it, however long that takes. What counts as away, and
what is worth repeating, is decided in one place for the queue and for the store (`store.failures`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dbos._serialization
import dbos._sys_db
from dbos import DBOSClient
from dbos._serialization import DBOSPortableJSONSerializer, Serializer
from sqlalchemy import Engine, make_url

from tablewright.store.failures import is_worth_repeating, make_postgres_engine, wait_for_server

NAME = "tablewright"
CONNECTIONS, CONNECTIONS_OF_CLIENT = 20, 2
DAY = 86_400.0
"""Seconds that who needs a connection waits for one that others have; they may be waiting for the server."""
IDLE_IN_TRANSACTION = 60_000
"""Milliseconds after which the server ends a transaction of somebody who has vanished."""
PATIENCE = 300.0
"""Seconds for which a command waits for the queue."""


class JsonSerializer(DBOSPortableJSONSerializer):
    """None for what is not JSON: what one schedule has must not keep the others from being read."""

    def deserialize(self, text: str | None) -> Any:
        try:
            return super().deserialize(text)
        except ValueError:
            return None


JSON = JsonSerializer()


class NoPickle(Serializer):
    """In the place of the serializer that DBOS has for Python objects: whoever can write to the database could let it
    run any code. Nothing is read that was written so, and the reason is kept as JSON."""

    def name(self) -> str:
        return "py_pickle"

    def serialize(self, data: Any) -> str:
        return JSON.serialize(str(data) if isinstance(data, BaseException) else data)

    def deserialize(self, serialized_data: str) -> Any:
        raise TypeError("what is in the queue is not JSON, so it is not read")


dbos._serialization.DBOSDefaultSerializer = NoPickle()
setattr(dbos._sys_db, "retriable_postgres_exception", is_worth_repeating)  # noqa: B010 - it is not exported


def queue_engine(database: str, leaving: threading.Event, *, connections: int = CONNECTIONS) -> Engine | None:
    """Who asks it for a connection waits until the server is there, or `leaving` is set. None for SQLite, which is
    always there."""
    url = make_url(database)
    if url.get_backend_name() == "sqlite":
        return None
    engine = make_postgres_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=DAY,
        connect_args={
            "application_name": NAME,
            "options": f"-c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION}",
        },
    )
    wait_for_server(engine, lambda seconds: not leaving.wait(seconds))
    return engine


@contextmanager
def queue_client(database: str) -> Iterator[DBOSClient]:
    """For a process that is no worker."""
    given_up = threading.Event()
    timer = threading.Timer(PATIENCE, given_up.set)
    timer.daemon = True
    timer.start()
    engine = queue_engine(database, given_up, connections=CONNECTIONS_OF_CLIENT)
    client = DBOSClient(
        system_database_url=database,
        system_database_engine=engine,
        application_name=NAME,
        serializer=JSON,
    )
    try:
        yield client
    finally:
        timer.cancel()
        client.destroy()
        if engine is not None:
            engine.dispose()
