"""One database behind one contract: `read` and `write` run a function with a connection in a thread, as a transaction.

SQLite has one writer at a time, in every process together: a write begins with BEGIN IMMEDIATE and waits its turn, so
what it reads is still true when it writes. PostgreSQL gets the same from a row lock on the table that is written.

A PostgreSQL server may go away for a while: it is restarted, or the network fails. With `patience` a transaction that
lost its connection is done again until it succeeds. Only one that was lost while it committed is in doubt, for then
nobody knows whether it counts; it is done again where its caller says that twice is the same as once. What reaches the
same server through an engine of its own, as the queue does, waits inside of the engine (`wait_for_server`).
"""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, literal, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from tablewright.errors import BadSetting, Cancelled, StoreError, Unreachable
from tablewright.extras import need
from tablewright.secrets import masked
from tablewright.store.home import make_private_file
from tablewright.store.migrations import migrate
from tablewright.table.access import Acting

log = logging.getLogger(__name__)

T = TypeVar("T")

BUSY_SECONDS = 60
READERS = 4
STREAMERS = 2
"""Threads for who reads a whole table and hands it on: however many do, short reads do not wait for them."""
POSTGRES_WRITERS = 8
ONE = select(literal(1))
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
GONE = frozenset({"57P01", "57P02", "57P03", "53300"})
"""What a server says that stops, crashed, starts, or has no connection left; as do all states that begin with 08."""
NEVER = ("authentication failed", "no password supplied", "does not exist", "pg_hba.conf", "permission denied")
"""In what a server says to who connects, for which libpq has no state: waiting does not help against these."""
DEAD_AFTER = {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""A server that vanished without a word is noticed in half a minute, not in the two hours of the system's default."""


class Stage(IntEnum):
    """How far a transaction has come."""

    NOWHERE = 0
    CONNECTING = 1
    WORKING = 2
    COMMITTING = 3


class Database:
    def __init__(self, engine: Engine, location: str, patience: float = 0.0) -> None:
        """`patience`: seconds that a transaction waits for a PostgreSQL server that is away."""
        self.engine = engine
        self.location = location
        self.patience = patience
        self.acting = Acting()
        self._closing = threading.Event()
        self._hurried = threading.Event()
        self._outage = OutageLog(location)
        self._is_sqlite = engine.dialect.name == "sqlite"
        writers = 1 if self._is_sqlite else POSTGRES_WRITERS
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._streamers = ThreadPoolExecutor(STREAMERS, thread_name_prefix="store-stream")
        self._prober = ThreadPoolExecutor(1, thread_name_prefix="store-probe")
        self._probe: asyncio.Future[None] | None = None

    @classmethod
    async def open(cls, url: str, *, patience: float = 0.0) -> Database:
        """Connects and migrates. `url` is sqlite:///FILE or postgresql://…"""
        database = cls(make_engine(url), safe_location(url), patience)
        try:
            await database.write(migrate, repeatable=True)
        except BaseException:
            await database.close()
            raise
        return database

    def seen_by(self, acting: Acting, patience: float | None = None) -> Database:
        """The same database, each of its transactions in the name of that person, who may have less patience."""
        seen = copy(self)
        seen.acting = acting
        seen.patience = self.patience if patience is None else patience
        return seen

    @property
    def away_for(self) -> float:
        """Seconds since the server was found to be away; 0 where it is not known to be."""
        return self._outage.seconds

    async def close(self) -> None:
        """Waits for the transactions under way; long ones stop at their next `check_open` and roll back."""
        self._closing.set()
        self.hurry()
        await asyncio.to_thread(self._shut_down)

    def hurry(self) -> None:
        """From now on nobody waits for a server that is away; what it can do at once is still done."""
        self._hurried.set()

    async def hurry_when_away(self, also: Callable[[], None] = lambda: None) -> NoReturn:
        """For whoever is about to end: from the moment on in which the server is away, if it is, nobody waits for it.
        `also` is done in that moment, too."""
        while True:
            if self.away_for and not self._hurried.is_set():
                self.hurry()
                also()
            await asyncio.sleep(FIRST_PAUSE)

    def _shut_down(self) -> None:
        self._writers.shutdown(cancel_futures=True)
        self._readers.shutdown(cancel_futures=True)
        self._streamers.shutdown(cancel_futures=True)
        self._prober.shutdown(cancel_futures=True)
        self.engine.dispose()

    def check_open(self) -> None:
        """Long transactions call this between batches, so that Ctrl-C does not wait for the last of a million rows."""
        if self._closing.is_set():
            raise Cancelled("Stopped.", kept="The unfinished change was rolled back; everything before it is kept.")

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._run(self._readers, work, False, Stage.COMMITTING)

    async def stream(self, work: Callable[[Connection], T]) -> T:
        """A long read that hands on what it reads as it goes, so it is not begun a second time."""
        return await self._run(self._streamers, work, False, Stage.CONNECTING)

    async def glance(self, work: Callable[[Connection], T]) -> T:
        """A read of one record. A file has it before a thread could be asked for it, and nobody who is about to ask a
        model queues behind the others' work; PostgreSQL is a network away."""
        return self._transact(work, False) if self._is_sqlite else await self.read(work)

    async def write(self, work: Callable[[Connection], T], *, repeatable: bool = False, once: bool = False) -> T:
        """`repeatable`: twice is the same as once. `once`: it uses up what it writes, so it is not begun a second
        time."""
        redo = Stage.CONNECTING if once else Stage.COMMITTING if repeatable else Stage.WORKING
        return await self._run(self._writers, work, True, redo)

    def write_here(self, work: Callable[[Connection], T]) -> T:
        """In the thread of whoever asks, and once: for what must not wait for the others' turn."""
        try:
            return self._transact(work, True)
        except Lost as lost:
            raise unreachable(lost.error, self.location, 0.0, in_doubt=True) from lost.error

    async def probe(self, seconds: float) -> None:
        """Fails unless the database answers now: nobody waits for a server that is away, and all who ask meanwhile
        share one question."""
        if self._probe is None or self._probe.done():
            asked = self._run(self._prober, lambda connection: connection.execute(ONE).close(), False, Stage.NOWHERE)
            self._probe = asyncio.ensure_future(asked)
        await asyncio.wait([self._probe], timeout=seconds)
        if not self._probe.done():
            silent = f"{self.location} did not answer in {seconds:.0f} s."
            raise StoreError(silent, advice=REACHABLE, public=silent.replace(self.location, "The database"))
        self._probe.result()

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Connection], T], write: bool, redo: Stage) -> T:
        """`redo` is the last stage after whose failure the work may be done again. Who waits for a server that is away
        has no thread meanwhile, so that others are not kept from finding out that it is."""
        loop = asyncio.get_running_loop()
        away_since: float | None = None
        pause, in_doubt = FIRST_PAUSE, False
        while True:
            try:
                return await loop.run_in_executor(executor, self._transact, work, write, in_doubt)
            except Lost as lost:
                away_since = time.monotonic() if away_since is None else away_since
                in_doubt = in_doubt or (write and lost.stage is Stage.COMMITTING)
                waited = time.monotonic() - away_since
                problem = unreachable(lost.error, self.location, waited, in_doubt=in_doubt)
                if lost.stage > redo or waited >= self.patience or self._hurried.is_set():
                    raise problem from lost.error
            # All who wait would come back together, were they not to wait unlike.
            await asyncio.sleep(min(self.patience - waited, pause * random.uniform(0.5, 1)))
            if self._closing.is_set():
                raise problem
            pause = min(2 * pause, LONGEST_PAUSE)

    def _transact(self, work: Callable[[Connection], T], write: bool, in_doubt: bool = False) -> T:
        """Once. `in_doubt`: it may have been written when it was tried before."""
        stage = Stage.CONNECTING
        try:
            with self.engine.connect() as connection:  # which rolls back what is not committed
                connection.execution_options(tablewright_write=write, tablewright_acting=self.acting)
                connection.begin()
                self._outage.end()
                stage = Stage.WORKING
                result = work(connection)
                stage = Stage.COMMITTING
                connection.commit()
            return result
        except DBAPIError as error:
            if self._is_sqlite or not is_lost(error, stage):
                raise explain(error, self.location, in_doubt=in_doubt) from error
            self._outage.begin(first_line(error))
            raise Lost(error, stage) from error


class Lost(Exception):
    """The server went away, or is away."""

    def __init__(self, error: DBAPIError, stage: Stage) -> None:
        super().__init__()
        self.error = error
        self.stage = stage


def acting_in(connection: Connection) -> Acting:
    """In whose name the transaction is."""
    acting: Acting = connection.get_execution_options().get("tablewright_acting", Acting())
    return acting


class OutageLog:
    """Logs that the server went away and that it is back, once each, however many transactions wait for it."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._since: float | None = None
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def begin(self, why: str) -> None:
        with self._lock:
            if self._since is None:
                self._since = time.monotonic()
                log.warning("The database %s went away (%s). Work waits for it.", self._location, why)

    def end(self) -> None:
        if self._since is None:
            return
        with self._lock:
            if self._since is not None:
                away = time.monotonic() - self._since
                self._since = None
                log.warning("The database %s is back after %.1f s. Work continues.", self._location, away)


def is_lost(error: DBAPIError, stage: Stage) -> bool:
    """Whether the failure is only that the server is away, so that the same may succeed later."""
    if error.connection_invalidated:
        return True
    if getattr(error.orig, "sqlstate", None):
        return is_away(error.orig)
    return stage is Stage.CONNECTING and isinstance(error, OperationalError) and is_away(error.orig)


def is_away(problem: BaseException | None) -> bool:
    """Whether the server is away, by what the driver says to who connects."""
    if state := getattr(problem, "sqlstate", None):
        return state in GONE or state.startswith("08")
    return not any(sign in str(problem) for sign in NEVER)


def wait_for_server(engine: Engine, pause: Callable[[float], bool]) -> None:
    """From now on whoever asks this engine for a connection while the server is away gets one when it is back. `pause`
    lets so many seconds pass, and says whether to go on waiting."""

    @event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
        seconds = FIRST_PAUSE
        while True:
            try:
                return dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError as problem:
                if not is_away(problem) or not pause(seconds * random.uniform(0.5, 1)):
                    raise
            seconds = min(2 * seconds, LONGEST_PAUSE)


def make_engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise BadSetting(
            "The database address cannot be understood.", advice="Use postgresql://user@host/name or sqlite:///FILE."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        if parsed.database:
            make_private_file(Path(parsed.database))
        engine = create_engine(
            parsed.set(drivername="sqlite+pysqlite"), pool_size=READERS + STREAMERS + 2, max_overflow=2
        )
        prepare_sqlite(engine)
        return engine
    if parsed.get_backend_name() in ("postgresql", "postgres"):
        need("postgres", "A PostgreSQL database")
        return create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_size=READERS + STREAMERS + POSTGRES_WRITERS,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10} | DEAD_AFTER,
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
        return masked(make_url(url).render_as_string(hide_password=False))
    except (ArgumentError, NoSuchModuleError):
        return "the database"


UNREACHABLE = "The database cannot be reached."
REACHABLE = "Check the address and that the server is running."
OPENABLE = "Check that its folder exists and that you may write there: SQLite puts two more files beside its own."
NOTHING_WRITTEN = "Nothing of the unfinished change was written."
IN_DOUBT = "The last change may have been written or not; everything before it is kept."


def unreachable(error: DBAPIError, location: str, waited: float, *, in_doubt: bool) -> Unreachable:
    lost = f"The connection to {location} was lost" if error.connection_invalidated else f"{location} cannot be reached"
    so_long = f" and did not come back in {waited:.1f} s" if waited >= FIRST_PAUSE else ""
    return Unreachable(
        f"{lost}{so_long} ({first_line(error)}).",
        kept=IN_DOUBT if in_doubt else NOTHING_WRITTEN,
        advice="Look whether it is there before you repeat it." if in_doubt else REACHABLE,
        public="The connection to the database was lost." if error.connection_invalidated else UNREACHABLE,
    )


def explain(error: DBAPIError, location: str, *, in_doubt: bool = False) -> StoreError:
    text = first_line(error)
    told = f"{getattr(error.orig, 'sqlstate', None) or ''} {text}".lower()
    kept = IN_DOUBT if in_doubt else NOTHING_WRITTEN
    for sign, what, advice in (
        ("disk is full", "The disk is full.", "Free some space and try again."),
        ("53100 ", "The disk of the database server is full.", "Free some space there and try again."),
        ("readonly database", f"{location} is read-only.", "Give yourself write access, or set TABLEWRIGHT_HOME."),
        ("25006 ", f"{location} is read-only.", "Use the address of a server that can be written to."),
        ("unable to open", f"{location} cannot be opened.", OPENABLE),
        ("not a database", f"{location} is not a Tablewright database.", "Set TABLEWRIGHT_HOME to another folder."),
        ("malformed", f"{location} is damaged.", "Restore it from a backup; `tablewright doctor` says more."),
        ("disk i/o error", f"{location} cannot be read or written.", "Check the disk, and that it has free space."),
        ("database is locked", f"Another process kept {location} busy for {BUSY_SECONDS} s.", "Try again."),
        ("connection", f"{location} cannot be reached ({text}).", REACHABLE),
    ):
        if sign in told:
            public = UNREACHABLE if sign == "connection" else what.replace(location, "The database")
            return StoreError(what, kept=kept, advice=advice, public=public)
    return StoreError(f"The database refused: {text}", kept=kept, public="The database refused it.")


def first_line(error: DBAPIError) -> str:
    text = str(error.orig).strip()
    return text.splitlines()[0] if text else type(error.orig).__name__
