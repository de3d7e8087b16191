"""One database behind one contract: `read` and `write` run a function with a connection in a thread, as a transaction.

SQLite has one writer at a time, in every process together: a write begins with BEGIN IMMEDIATE and waits its turn, so
what it reads is still true when it writes. PostgreSQL gets the same from a row lock on the table that is written.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from tablewright.errors import BadSetting, Cancelled, StoreError
from tablewright.store.migrations import migrate

T = TypeVar("T")

BUSY_SECONDS = 60
READERS = 4
POSTGRES_WRITERS = 8


class Database:
    def __init__(self, engine: Engine, location: str) -> None:
        self.engine = engine
        self.location = location
        self._closing = threading.Event()
        self._is_sqlite = engine.dialect.name == "sqlite"
        writers = 1 if self._is_sqlite else POSTGRES_WRITERS
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    @classmethod
    async def open(cls, url: str) -> Database:
        """Connects and migrates. `url` is sqlite:///FILE or postgresql://…"""
        database = cls(make_engine(url), safe_location(url))
        try:
            await database.write(migrate)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Waits for the transactions under way; long ones stop at their next `check_open` and roll back."""
        self._closing.set()
        await asyncio.to_thread(self._shut_down)

    def _shut_down(self) -> None:
        self._writers.shutdown(cancel_futures=True)
        self._readers.shutdown(cancel_futures=True)
        self.engine.dispose()

    def check_open(self) -> None:
        """Long transactions call this between batches, so that Ctrl-C does not wait for the last of a million rows."""
        if self._closing.is_set():
            raise Cancelled("Stopped.", kept="The unfinished change was rolled back; everything before it is kept.")

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._run(self._readers, work, write=False)

    async def glance(self, work: Callable[[Connection], T]) -> T:
        """A read of one record. A file has it before a thread could be asked for it, and nobody who is about to ask a
        model queues behind the others' work; PostgreSQL is a network away."""
        return self._transact(work, write=False) if self._is_sqlite else await self.read(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self._run(self._writers, work, write=True)

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Connection], T], *, write: bool) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, self._transact, work, write)

    def _transact(self, work: Callable[[Connection], T], write: bool) -> T:
        try:
            with self.engine.connect() as connection:
                connection = connection.execution_options(tablewright_write=write)
                with connection.begin():
                    return work(connection)
        except DBAPIError as error:
            raise explain(error, self.location) from error


def make_engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise BadSetting(
            "The database address cannot be understood.", advice="Use postgresql://user@host/name or sqlite:///FILE."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(parsed.set(drivername="sqlite+pysqlite"), pool_size=READERS + 2, max_overflow=2)
        prepare_sqlite(engine)
        return engine
    if parsed.get_backend_name() in ("postgresql", "postgres"):
        return create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_size=READERS + POSTGRES_WRITERS,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10},
        )
    raise BadSetting(
        f"Tablewright keeps its data in SQLite or PostgreSQL, not in {parsed.get_backend_name()}.",
        advice="Use postgresql://user@host/name or sqlite:///FILE.",
    )


def prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver's own BEGIN comes too late for BEGIN IMMEDIATE
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        use_wal(cursor)
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA cache_size = -64000")
        cursor.execute("PRAGMA temp_store = MEMORY")
        cursor.execute("PRAGMA wal_autocheckpoint = 8000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        write = connection.get_execution_options().get("tablewright_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def use_wal(cursor: sqlite3.Cursor) -> None:
    """Several processes may open a new database at once. One turns it to WAL, and SQLite refuses the others straight
    away: its busy timeout does not hold for this statement."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def safe_location(url: str) -> str:
    """The address without its password, for people to read."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, NoSuchModuleError):
        return "the database"


def explain(error: DBAPIError, location: str) -> StoreError:
    text = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    kept = "Nothing of the unfinished change was written."
    for sign, what, advice in (
        ("disk is full", "The disk is full.", "Free some space and try again."),
        ("readonly database", f"{location} is read-only.", "Give yourself write access, or set TABLEWRIGHT_HOME."),
        ("unable to open", f"{location} cannot be opened.", "Check that the folder exists and is yours."),
        ("not a database", f"{location} is not a Tablewright database.", "Set TABLEWRIGHT_HOME to another folder."),
        ("malformed", f"{location} is damaged.", "Restore it from a backup; `tablewright doctor` says more."),
        ("database is locked", f"Another process kept {location} busy for {BUSY_SECONDS} s.", "Try again."),
        ("connection", f"{location} cannot be reached ({text}).", "Check the address and that the server is running."),
    ):
        if sign in text.lower():
            return StoreError(what, kept=kept, advice=advice)
    return StoreError(f"The database refused: {text}", kept=kept)
