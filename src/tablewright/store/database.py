"""One database behind one contract: `read` and `write` run a function with a connection in a thread, as a transaction.

SQLite has one writer at a time across all processes: a write begins with BEGIN IMMEDIATE and waits its turn, so what it
reads is still true when it writes. PostgreSQL gets the same from a row lock on the table that is written.

A PostgreSQL server may go away for a while: it restarts, fails over, or the network fails. With `patience`, a
transaction that lost its connection is retried until it succeeds; `database_errors` decides what counts as away. A
transaction that was lost during its commit is in doubt. If running it twice differs from running it once, it leaves a
receipt in the database that tells the next attempt whether it was committed.

The home folder that holds a SQLite file is made here too, readable by its owner alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import secrets
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, delete, event, literal, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from tablewright.domain.access import ActingUser, MeteredResource
from tablewright.errors import BadSetting, Cancelled, StoreError
from tablewright.secrets import mask_secrets
from tablewright.store.database_errors import (
    BUSY_SECONDS,
    FIRST_PAUSE,
    LONGEST_PAUSE,
    REACHABLE,
    SqlFailure,
    Treatment,
    explain_failure,
    first_error_line,
    judge_failure,
    make_postgres_engine,
    unreachable_error,
)
from tablewright.store.migrations import migrate_schema
from tablewright.store.records import build_upsert, utc_now
from tablewright.store.schema import commits

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Params = ParamSpec("Params")
Part = TypeVar("Part", bound="StorePart")

# Threads for short reads; SQLite reads in parallel, and PostgreSQL waits mostly for the network.
READER_THREADS = 4
# Separate threads for callers that read a whole table, so that short reads never wait for them.
STREAM_THREADS = 2
# PostgreSQL locks single rows, so writes of several tables run side by side; SQLite has one writer.
POSTGRES_WRITER_THREADS = 8
# Attempts at a transaction that the server rolled back in favour of others (deadlock, conflict).
MAX_ROLLBACK_RETRIES = 30


class TransactionStage(IntEnum):
    """Progress of a transaction."""

    NOWHERE = 0
    CONNECTING = 1
    WORKING = 2
    COMMITTING = 3


@dataclass
class WriteAttempts:
    """State of a transaction across its attempts."""

    write: bool
    last_stage: TransactionStage
    """The last stage at which a failed attempt may be repeated."""
    receipt: str = ""
    """The name of the receipt that proves a commit; "" if repeating the transaction is harmless."""
    in_doubt: bool = False
    """True if an attempt may have been committed."""
    result: Any = None
    """The result of the attempt in doubt."""
    problem: RolledBack | None = None
    """The error to raise if the receipt shows that the attempt in doubt was not committed."""


class Database:
    """An engine, its threads, and who acts: everything else in the store goes through its transactions."""

    def __init__(self, engine: Engine, location: str, patience: float = 0.0) -> None:
        """`patience`: seconds that a transaction waits for a PostgreSQL server that is away."""
        self.engine = engine
        self.location = location
        self.patience = patience
        self.acting = ActingUser()
        self.limits: dict[MeteredResource, float] = {}
        """The limits of users who have none of their own; one mapping for all copies."""
        self._closing = threading.Event()
        self._stopped_waiting = threading.Event()
        self._outage = OutageLog(location)
        self._is_sqlite = engine.dialect.name == "sqlite"
        writers = 1 if self._is_sqlite else POSTGRES_WRITER_THREADS
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="store-read")
        self._streamers = ThreadPoolExecutor(STREAM_THREADS, thread_name_prefix="store-stream")
        # Of its own, so that a probe tells whether the database answers, not whether a thread is free.
        self._prober = ThreadPoolExecutor(1, thread_name_prefix="store-probe")
        self._probe: asyncio.Future[None] | None = None

    @classmethod
    async def open(cls, url: str, *, patience: float = 0.0) -> Database:
        """Connect and migrate. `url` is sqlite:///FILE or postgresql://…"""
        database = cls(make_engine(url), safe_location(url), patience)
        try:
            await database.write(prepare_tables, repeatable=True)
        except BaseException:
            await database.close()
            raise
        return database

    def seen_by(self, acting: ActingUser, patience: float | None = None) -> Database:
        """Return the same database with transactions in the name of that person, who may have less patience."""
        # A shallow copy: connections, threads and the outage are shared, only the actor differs.
        seen = copy(self)
        seen.acting = acting
        seen.patience = self.patience if patience is None else patience
        return seen

    def set_limits(self, limits: Mapping[MeteredResource, float]) -> None:
        """Replace the usual limits for all copies, with no moment in which there are none."""
        # Updated before others are removed: a transaction that reads in between finds a limit, if an older one.
        self.limits.update(limits)
        for what in self.limits.keys() - limits.keys():
            del self.limits[what]

    @property
    def away_for(self) -> float:
        """Seconds since the server was found to be away; 0 if it is not known to be."""
        return self._outage.seconds

    @property
    def is_open(self) -> bool:
        return not self._closing.is_set()

    async def close(self) -> None:
        """Wait for running transactions; long ones stop at their next `check_open` and roll back."""
        self._closing.set()
        self.stop_waiting()
        await asyncio.to_thread(self._shut_down)

    def stop_waiting(self) -> None:
        """Stop waiting for a server that is away from now on; what can be done at once is still done."""
        self._stopped_waiting.set()

    async def stop_waiting_when_away(self, also: Callable[[], None] = lambda: None) -> NoReturn:
        """Stop waiting as soon as the server is away, for a process that is about to end. `also` runs at that moment
        too."""
        while True:
            if self.away_for and not self._stopped_waiting.is_set():
                self.stop_waiting()
                also()
            await asyncio.sleep(FIRST_PAUSE)

    def _shut_down(self) -> None:
        # Queued work is cancelled, running work is awaited.
        for executor in (self._writers, self._readers, self._streamers, self._prober):
            executor.shutdown(cancel_futures=True)
        self.engine.dispose()

    def check_open(self) -> None:
        """Raise Cancelled if the database is closing. Long transactions call this between batches, so that Ctrl-C does
        not wait for the last of a million rows."""
        if self._closing.is_set():
            raise Cancelled("Stopped.", kept="The unfinished change was rolled back; everything before it is kept.")

    async def read(self, work: Callable[[Connection], Result]) -> Result:
        """Run a read, and retry it while the server is away."""
        return await self._run(self._readers, work, WriteAttempts(False, TransactionStage.COMMITTING))

    async def stream(self, work: Callable[[Connection], Result]) -> Result:
        """Run a long read that hands on what it reads as it goes, so it is never started again."""
        return await self._run(self._streamers, work, WriteAttempts(False, TransactionStage.CONNECTING))

    async def read_record(self, work: Callable[[Connection], Result]) -> Result:
        """Read one record without queueing behind other work. SQLite has it before a thread could be asked; PostgreSQL
        is a network away."""
        if self._is_sqlite:
            return self._transact(work, WriteAttempts(False, TransactionStage.NOWHERE))
        return await self.read(work)

    async def write(
        self, work: Callable[[Connection], Result], *, repeatable: bool = False, once: bool = False
    ) -> Result:
        """Run a write. `repeatable`: running it twice is the same as once. `once`: it consumes its input, so it is
        never started again."""
        # SQLite answers a commit in the same process, so its outcome is never in doubt.
        receipt = "" if repeatable or self._is_sqlite else secrets.token_hex(12)
        attempts = WriteAttempts(True, TransactionStage.CONNECTING if once else TransactionStage.COMMITTING, receipt)
        return await self._run(self._writers, work, attempts)

    def write_here(self, work: Callable[[Connection], Result]) -> Result:
        """Write in the calling thread, with one attempt: for what must not queue."""
        try:
            return self._transact(work, WriteAttempts(True, TransactionStage.NOWHERE))
        except RolledBack as undone:
            raise self._explain(undone, 0.0, in_doubt=undone.in_doubt) from undone.error

    async def probe(self, seconds: float) -> None:
        """Raise StoreError unless the database answers now. Concurrent callers share one question."""
        if self._probe is None or self._probe.done():
            once = WriteAttempts(False, TransactionStage.NOWHERE)
            asked = self._run(self._prober, lambda connection: connection.execute(select(literal(1))).close(), once)
            self._probe = asyncio.ensure_future(asked)
        await asyncio.wait([self._probe], timeout=seconds)
        if not self._probe.done():
            silent = f"{self.location} did not answer in {seconds:.0f} s."
            raise StoreError(silent, advice=REACHABLE, public=silent.replace(self.location, "The database"))
        self._probe.result()

    async def _run(
        self, executor: ThreadPoolExecutor, work: Callable[[Connection], Result], attempts: WriteAttempts
    ) -> Result:
        """Retry a transaction while the server is away. It gives its thread back between attempts, so that others can
        find out too."""
        loop = asyncio.get_running_loop()
        away_since: float | None = None
        pause, repeated = FIRST_PAUSE, 0
        while True:
            try:
                return await loop.run_in_executor(executor, self._transact, work, attempts)
            except RolledBack as undone:
                # Kept outside the handler, because the exception's name ends with it.
                problem = undone
            if problem.treatment is Treatment.REPEAT:
                away_since, waited, repeated = None, 0.0, repeated + 1
                is_over = repeated >= MAX_ROLLBACK_RETRIES
                # Each lost conflict leaves the others more time, at most a third of a second: conflicts resolve within
                # milliseconds.
                seconds = random.uniform(0, min(0.3, 0.01 * repeated))
            else:
                away_since = time.monotonic() if away_since is None else away_since
                waited = time.monotonic() - away_since
                is_over = waited >= self.patience or self._stopped_waiting.is_set()
                # Random pauses, so that waiting transactions do not all return at once.
                seconds = min(self.patience - waited, pause * random.uniform(0.5, 1))
                pause = min(2 * pause, LONGEST_PAUSE)
            # A failure at a later stage than may be repeated ends it, unless the receipt can tell what happened.
            is_final = problem.stage > attempts.last_stage
            if is_over or (is_final and not (attempts.receipt and attempts.in_doubt)):
                raise self._explain(problem, waited, in_doubt=attempts.in_doubt) from problem.error
            # The next attempt only looks for the receipt.
            if is_final:
                attempts.problem = problem
            await asyncio.sleep(seconds)
            if self._closing.is_set():
                raise self._explain(problem, waited, in_doubt=attempts.in_doubt) from problem.error

    def _transact(self, work: Callable[[Connection], Result], attempts: WriteAttempts) -> Result:
        """Run one attempt."""
        stage = TransactionStage.CONNECTING
        try:
            # Closing it rolls back.
            with self.engine.connect() as connection:
                connection.execution_options(
                    tablewright_write=attempts.write,
                    tablewright_acting=self.acting,
                    tablewright_limits=self.limits,
                )
                connection.begin()
                self._outage.end()
                stage = TransactionStage.WORKING
                leaves_receipt = bool(attempts.receipt)
                if leaves_receipt and attempts.in_doubt:
                    if not leave_receipt(connection, attempts.receipt):
                        return cast("Result", attempts.result)
                    leaves_receipt, attempts.in_doubt = False, False
                # The receipt was not there, so the lost attempt was not committed, and may not be repeated.
                if attempts.problem is not None:
                    raise attempts.problem
                # Kept for the case that the commit happens and its answer is lost.
                attempts.result = result = work(connection)
                if leaves_receipt:
                    leave_receipt(connection, attempts.receipt)
                stage = TransactionStage.COMMITTING
                connection.commit()
            return result
        except DBAPIError as error:
            if self._is_sqlite:
                raise explain_failure(error, self.location) from error
            # SQLite waits by itself (busy_timeout); only a server's failures are judged.
            verdict = judge_failure(error, connecting=stage is TransactionStage.CONNECTING)
            # An error in answer to COMMIT does not tell whether the commit happened.
            if verdict.in_doubt and stage is TransactionStage.COMMITTING and attempts.write:
                attempts.in_doubt = True
            if verdict.treatment is Treatment.WAIT:
                self._outage.begin(first_error_line(error))
            if verdict.treatment in (Treatment.WAIT, Treatment.REPEAT):
                raise RolledBack(error, stage, verdict) from error
            raise explain_failure(error, self.location, in_doubt=attempts.in_doubt) from error

    def _explain(self, undone: RolledBack, waited: float, *, in_doubt: bool) -> StoreError:
        if undone.treatment is Treatment.WAIT:
            return unreachable_error(undone.error, self.location, waited, in_doubt=in_doubt)
        return explain_failure(undone.error, self.location, in_doubt=in_doubt)


class StorePart:
    """A part of the store. A method decorated as a transaction is written with the connection it gets and called
    without it; another transaction that needs the same work calls a function that takes a connection."""

    def __init__(self, database: Database) -> None:
        self._database = database


def read_transaction(
    work: Callable[Concatenate[Part, Connection, Params], Result],
) -> Callable[Concatenate[Part, Params], Coroutine[Any, Any, Result]]:
    """Make a method a transaction that only reads."""

    @wraps(work)
    async def read(part: Part, /, *args: Params.args, **named: Params.kwargs) -> Result:
        return await part._database.read(lambda connection: work(part, connection, *args, **named))

    return read


def write_transaction(
    work: Callable[Concatenate[Part, Connection, Params], Result], *, repeatable: bool = False
) -> Callable[Concatenate[Part, Params], Coroutine[Any, Any, Result]]:
    """Make a method a transaction that writes and is not run twice if its answer is lost."""

    @wraps(work)
    async def write(part: Part, /, *args: Params.args, **named: Params.kwargs) -> Result:
        return await part._database.write(
            lambda connection: work(part, connection, *args, **named), repeatable=repeatable
        )

    return write


def repeatable_transaction(
    work: Callable[Concatenate[Part, Connection, Params], Result],
) -> Callable[Concatenate[Part, Params], Coroutine[Any, Any, Result]]:
    """Make a method a transaction that writes and may run twice."""
    return write_transaction(work, repeatable=True)


class RolledBack(Exception):
    """A transaction that was, or may have been, rolled back, and may succeed when it is retried."""

    def __init__(self, error: DBAPIError, stage: TransactionStage, verdict: SqlFailure) -> None:
        super().__init__()
        self.error = error
        self.stage = stage
        self.treatment = verdict.treatment
        self.in_doubt = verdict.in_doubt and stage is TransactionStage.COMMITTING


def leave_receipt(connection: Connection, receipt: str) -> bool:
    """Record that this transaction was committed, if it will be. Return False if an earlier attempt was: the server
    waits with the answer while one is still being committed."""
    statement = build_upsert(connection, commits).values(receipt=receipt, at=utc_now())
    return connection.execute(statement.on_conflict_do_nothing().returning(commits.c.receipt)).first() is not None


def prepare_tables(connection: Connection) -> None:
    """Migrate the schema, and delete the receipts that no transaction can still ask for."""
    migrate_schema(connection)
    if connection.dialect.name == "postgresql":
        # A week is longer than any outage through which a transaction waits for its receipt.
        before = (datetime.now(UTC) - timedelta(days=7)).isoformat()
        connection.execute(delete(commits).where(commits.c.at < before))


def acting_in(connection: Connection) -> ActingUser:
    """Return who acts in the transaction."""
    acting: ActingUser = connection.get_execution_options().get("tablewright_acting", ActingUser())
    return acting


def limits_in(connection: Connection) -> Mapping[MeteredResource, float]:
    """Return the limits of users who have none of their own."""
    limits: Mapping[MeteredResource, float] = connection.get_execution_options().get("tablewright_limits", {})
    return limits


class OutageLog:
    """Log once that the server went away and once that it is back, however many transactions wait."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._since: float | None = None
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        # Read once: another thread may end the outage between the test and the use.
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
            # One connection for each thread, with some for the writer, the probe and heartbeats.
            parsed.set(drivername="sqlite+pysqlite"),
            pool_size=READER_THREADS + STREAM_THREADS + 2,
            max_overflow=2,
            # The connection that was used last: each one has a cache of its own, which would hold the same pages.
            pool_use_lifo=True,
        )
        prepare_sqlite(engine)
        return engine
    if parsed.get_backend_name() in ("postgresql", "postgres"):
        return make_postgres_engine(parsed, pool_size=READER_THREADS + STREAM_THREADS + POSTGRES_WRITER_THREADS)
    raise BadSetting(
        f"Tablewright keeps its data in SQLite or PostgreSQL, not in {parsed.get_backend_name()}.",
        advice="Use postgresql://user@host/name or sqlite:///FILE.",
    )


def prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        # The driver's own BEGIN would come before our BEGIN IMMEDIATE.
        connection.isolation_level = None
        cursor = connection.cursor()
        # SQLite has one writer at a time: the others wait for it this long.
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        use_wal(cursor)
        # Safe with WAL: a power failure may lose the last commits, but never corrupts the file.
        cursor.execute("PRAGMA synchronous = NORMAL")
        # 64 MB per connection (negative means KB): the pages of a table in use stay in memory.
        cursor.execute("PRAGMA cache_size = -64000")
        # Sorting in memory is faster than in a temporary file.
        cursor.execute("PRAGMA temp_store = MEMORY")
        # 32 MB of log: checkpointing every 4 MB, the default, slows down large imports.
        cursor.execute("PRAGMA wal_autocheckpoint = 8000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        write = connection.get_execution_options().get("tablewright_write", False)
        # IMMEDIATE takes the write lock at once: a read that turns into a write could fail half-way.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def use_wal(cursor: sqlite3.Cursor) -> None:
    """Switch to WAL. If several processes open a new database at once, SQLite refuses all but one immediately: its busy
    timeout does not apply to this statement."""
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
    """Return the address without its password, for people to read."""
    try:
        return mask_secrets(make_url(url).render_as_string(hide_password=False))
    except (ArgumentError, NoSuchModuleError):
        return "the database"


def make_home(folder: Path) -> None:
    """Create the home folder, private to its owner. Raise StoreError if it cannot be made or written to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            advice="Set TABLEWRIGHT_HOME to a folder that you can write to.",
        ) from None
    if not os.access(folder, os.W_OK):
        raise StoreError(f"The folder {folder} is read-only.", advice="Set TABLEWRIGHT_HOME to another folder.")
    # Another process may have removed a file in between.
    with suppress(OSError):
        for path in find_own_paths(folder):
            make_private(path)


def find_own_paths(folder: Path) -> Iterator[Path]:
    """Yield what Tablewright made in the home folder; the folder too, unless it holds only other things."""
    # SQLite's own files next to a database have the same content as the database.
    names = [f"{name}{end}" for name in ("tablewright.db", "jobs.db") for end in ("", "-wal", "-shm", "-journal")]
    found = [folder / name for name in names if (folder / name).is_file()]
    found += [folder / name for name in ("models", "uploads") if (folder / name).is_dir()]
    if found or not any(folder.iterdir()):
        yield folder
    yield from found


def make_private(path: Path) -> None:
    """Remove the rights of others. Leave what another user owns, or what is shared by its kind (as /tmp is)."""
    found = path.stat()
    # A folder with the sticky bit, as /tmp has, is meant for many.
    if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not found.st_mode & stat.S_ISVTX:
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def make_private_file(path: Path) -> None:
    """Create a file before a library makes it readable for all; SQLite gives its other files the same rights. Errors
    are left to the code that opens it."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
