"""The database of the queue, as DBOS sees it: a server that is away is waited for, and all that is kept is JSON.

DBOS repeats most of what it does to its database when the connection broke, after pauses of up to a minute and a half,
but gives up where it cannot connect. So its engine connects for it, however long that takes. What counts as away, and
what is worth repeating, is decided in one place for the queue and for the store (`store.failures`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import dbos._serialization
import dbos._sys_db
from dbos import DBOSClient
from dbos._serialization import DBOSPortableJSONSerializer, Serializer
from dbos._sys_db import SystemDatabase
from sqlalchemy import Engine, make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from tablewright.store.database import safe_location
from tablewright.store.database_errors import (
    FIRST_PAUSE,
    Treatment,
    explain_failure,
    is_worth_repeating,
    judge_failure,
    make_postgres_engine,
    unreachable_error,
    wait_for_server,
)

T = TypeVar("T")

APPLICATION_NAME = "tablewright"
# A worker has a thread for each workflow in progress; a command asks one thing after the other.
CONNECTIONS, CONNECTIONS_OF_CLIENT = 20, 2


class JsonSerializer(DBOSPortableJSONSerializer):
    """Reads None for what is not JSON, so that one broken schedule does not hide the others."""

    def deserialize(self, text: str | None) -> Any:
        try:
            return super().deserialize(text)
        except ValueError:
            return None


QUEUE_JSON = JsonSerializer()


class NoPickle(Serializer):
    """Replaces the serializer of DBOS for Python objects, with which anyone who can write to the database could run
    code. Pickled data is not read, and the reason is kept as JSON."""

    def name(self) -> str:
        return "py_pickle"

    def serialize(self, data: Any) -> str:
        return QUEUE_JSON.serialize(str(data) if isinstance(data, BaseException) else data)

    def deserialize(self, serialized_data: str) -> Any:
        raise TypeError("what is in the queue is not JSON, so it is not read")


# DBOS has no option for either: its default serializer is used wherever none is given.
dbos._serialization.DBOSDefaultSerializer = NoPickle()
setattr(dbos._sys_db, "retriable_postgres_exception", is_worth_repeating)  # noqa: B010 - it is not exported


def queue_engine(database: str, leaving: threading.Event, *, connections: int = CONNECTIONS) -> Engine | None:
    """Return an engine whose connections wait until the server is there, or `leaving` is set; None for SQLite."""
    url = make_url(database)
    if url.get_backend_name() == "sqlite":
        return None
    engine = make_postgres_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        # A day: others may hold all connections because they wait for the server, and giving up is no better.
        pool_timeout=86_400.0,
        connect_args={
            "application_name": APPLICATION_NAME,
            # Milliseconds after which the server ends an idle transaction of a vanished client, with its locks.
            "options": "-c idle_in_transaction_session_timeout=60000",
        },
    )
    wait_for_server(engine, lambda seconds: not leaving.wait(seconds))
    return engine


@contextmanager
def queue_client(database: str, *, patience: float = 300.0, makes_tables: bool = False) -> Iterator[DBOSClient]:
    """Open a client for a process that is no worker. It waits `patience` seconds for a server that is away."""
    given_up = threading.Event()
    timer = threading.Timer(patience, given_up.set)
    timer.daemon = True
    timer.start()
    engine = queue_engine(database, given_up, connections=CONNECTIONS_OF_CLIENT)
    try:
        if makes_tables:
            make_queue_tables(database, engine)
        client = DBOSClient(
            system_database_url=database,
            system_database_engine=engine,
            application_name=APPLICATION_NAME,
            serializer=QUEUE_JSON,
        )
        try:
            yield client
        finally:
            client.destroy()
    finally:
        timer.cancel()
        if engine is not None:
            engine.dispose()


def make_queue_tables(database: str, engine: Engine | None) -> None:
    """Create or migrate the tables of the queue, as `DBOS.migrate` does, but through an engine that waits."""
    system_database = SystemDatabase.create(
        system_database_url=database,
        engine_kwargs={},
        engine=engine,
        schema="dbos",
        serializer=QUEUE_JSON,
        executor_id=None,
    )
    try:
        system_database.run_migrations()
    except DBAPIError:
        # A worker that starts at the same moment makes the same tables.
        system_database.run_migrations()
    finally:
        system_database.destroy()


def repeat_in_queue(database: str, work: Callable[[DBOSClient], T], patience: float) -> T:
    """Return the result of `work`, which must be idempotent: it is repeated while the server is away, for at most
    `patience` seconds."""
    started = time.monotonic()
    while True:
        left = patience - (time.monotonic() - started)
        try:
            with queue_client(database, patience=max(left, 0.0), makes_tables=True) as client:
                return work(client)
        except DBAPIError as error:
            # A failure to connect is retried; one in the middle of a statement is judged by its code.
            treatment = judge_failure(error, connecting=isinstance(error, OperationalError)).treatment
            waited = time.monotonic() - started
            if make_url(database).get_backend_name() == "sqlite" or treatment in (Treatment.FULL, Treatment.REFUSE):
                raise explain_failure(error, safe_location(database)) from error
            if waited >= patience:
                raise unreachable_error(error, safe_location(database), waited, in_doubt=False) from error
        time.sleep(FIRST_PAUSE)
