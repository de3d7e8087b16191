"""One database behind one contract: `read` and `write` run a function with a connection in a thread, as a transaction.

SQLite has one writer at a time, in every process together: a write begins with BEGIN IMMEDIATE and waits its turn, so
what it reads is still true when it writes. PostgreSQL gets the same from a row lock on the table that is written.

A PostgreSQL server may go away for a while: it is restarted, it fails over to another, or the network fails. With
`patience` a transaction that lost its connection is repeated until it succeeds; `failures` decides what counts as away.
A transaction that was lost while it committed is in doubt. Where doing it twice is not the same as doing it once, it
leaves a receipt in the database, by which the next attempt finds out whether it was committed.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, delete, event, literal, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from tablewright.domain.access import Acting, Metered
from tablewright.errors import BadSetting, Cancelled, StoreError
from tablewright.secrets import masked
from tablewright.store.failures import (
    BUSY_SECONDS,
    FIRST_PAUSE,
    LONGEST_PAUSE,
    REACHABLE,
    SqlFailure,
    Treatment,
    explain_failure,
    first_line,
    judge_failure,
    make_postgres_engine,
    unreachable,
)
from tablewright.store.home import make_private_file
from tablewright.store.migrations import migrate
from tablewright.store.records import now, upsert
from tablewright.store.schema import commits

log = logging.getLogger(__name__)

T = TypeVar("T")
P = ParamSpec("P")
Part = TypeVar("Part", bound="StorePart")

READERS = 4
STREAMERS = 2
"""Threads for who reads a whole table and hands it on: however many do, short reads do not wait for them."""
POSTGRES_WRITERS = 8
ONE = select(literal(1))
MOST_ATTEMPTS = 30
"""Of a transaction that the server rolled back for the sake of others, before it is an error."""
RECEIPTS_KEPT = timedelta(days=7)
"""Far longer than any outage through which a transaction waits."""
LONGEST_YIELD = 0.3
"""Seconds by which such a transaction lets the others go first, at most."""


class Stage(IntEnum):
    """How far a transaction has come."""

    NOWHERE = 0
    CONNECTING = 1
    WORKING = 2
    COMMITTING = 3


@dataclass
class WriteAttempts:
    """What is known of a transaction that is repeated until it succeeds."""

    write: bool
    last_stage: Stage
    """The last stage after whose failure the work may be repeated."""
    receipt: str = ""
    """The name under which the transaction notes that it was committed; empty where repeating it is harmless."""
    in_doubt: bool = False
    """True if an attempt may have been committed."""
    result: Any = None
    """Of the attempt in doubt."""
    problem: Undone | None = None
    """Why the work was not repeated, where only its receipt was to be looked for."""


class Database:
    def __init__(self, engine: Engine, location: str, patience: float = 0.0) -> None:
        """`patience`: seconds that a transaction waits for a PostgreSQL server that is away."""
        self.engine = engine
        self.location = location
        self.patience = patience
        self.acting = Acting()
        self.limits: dict[Metered, float] = {}
        """What each user may use who has no limit of their own; one for all copies."""
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
            await database.write(prepare_tables, repeatable=True)
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

    def set_limits(self, limits: Mapping[Metered, float]) -> None:
        """In place of those before; for all copies, and in no moment without any."""
        self.limits.update(limits)
        for what in self.limits.keys() - limits.keys():
            del self.limits[what]

    @property
    def away_for(self) -> float:
        """Seconds since the server was found to be away; 0 where it is not known to be."""
        return self._outage.seconds

    @property
    def is_open(self) -> bool:
        return not self._closing.is_set()

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
        for executor in (self._writers, self._readers, self._streamers, self._prober):
            executor.shutdown(cancel_futures=True)
        self.engine.dispose()

    def check_open(self) -> None:
        """Long transactions call this between batches, so that Ctrl-C does not wait for the last of a million rows."""
        if self._closing.is_set():
            raise Cancelled("Stopped.", kept="The unfinished change was rolled back; everything before it is kept.")

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._run(self._readers, work, WriteAttempts(False, Stage.COMMITTING))

    async def stream(self, work: Callable[[Connection], T]) -> T:
        """A long read that hands on what it reads as it goes, so it is not begun a second time."""
        return await self._run(self._streamers, work, WriteAttempts(False, Stage.CONNECTING))

    async def glance(self, work: Callable[[Connection], T]) -> T:
        """A read of one record. A file has it before a thread could be asked for it, and nobody who is about to ask a
        model queues behind the others' work; PostgreSQL is a network away."""
        if self._is_sqlite:
            return self._transact(work, WriteAttempts(False, Stage.NOWHERE))
        return await self.read(work)

    async def write(self, work: Callable[[Connection], T], *, repeatable: bool = False, once: bool = False) -> T:
        """`repeatable`: twice is the same as once. `once`: it uses up what it writes, so it is not begun a second
        time."""
        receipt = "" if repeatable or self._is_sqlite else secrets.token_hex(12)
        attempts = WriteAttempts(True, Stage.CONNECTING if once else Stage.COMMITTING, receipt)
        return await self._run(self._writers, work, attempts)

    def write_here(self, work: Callable[[Connection], T]) -> T:
        """In the thread of whoever asks, and once: for what must not wait for the others' turn."""
        try:
            return self._transact(work, WriteAttempts(True, Stage.NOWHERE))
        except Undone as undone:
            raise self._explain(undone, 0.0, in_doubt=undone.in_doubt) from undone.error

    async def probe(self, seconds: float) -> None:
        """Fails unless the database answers now: nobody waits for a server that is away, and all who ask meanwhile
        share one question."""
        if self._probe is None or self._probe.done():
            once = WriteAttempts(False, Stage.NOWHERE)
            asked = self._run(self._prober, lambda connection: connection.execute(ONE).close(), once)
            self._probe = asyncio.ensure_future(asked)
        await asyncio.wait([self._probe], timeout=seconds)
        if not self._probe.done():
            silent = f"{self.location} did not answer in {seconds:.0f} s."
            raise StoreError(silent, advice=REACHABLE, public=silent.replace(self.location, "The database"))
        self._probe.result()

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Connection], T], attempts: WriteAttempts) -> T:
        """While a transaction waits for a server that is away it has no thread, so that others are not kept from
        finding out that it is."""
        loop = asyncio.get_running_loop()
        away_since: float | None = None
        pause, repeated = FIRST_PAUSE, 0
        while True:
            try:
                return await loop.run_in_executor(executor, self._transact, work, attempts)
            except Undone as undone:
                problem = undone
            if problem.treatment is Treatment.REPEAT:
                away_since, waited, repeated = None, 0.0, repeated + 1
                is_over = repeated >= MOST_ATTEMPTS
                # The longer it has lost against others, the more time it leaves them.
                seconds = random.uniform(0, min(LONGEST_YIELD, 0.01 * repeated))
            else:
                away_since = time.monotonic() if away_since is None else away_since
                waited = time.monotonic() - away_since
                is_over = waited >= self.patience or self._hurried.is_set()
                # All who wait would come back together, were they not to wait unlike.
                seconds = min(self.patience - waited, pause * random.uniform(0.5, 1))
                pause = min(2 * pause, LONGEST_PAUSE)
            is_final = problem.stage > attempts.last_stage
            if is_over or (is_final and not (attempts.receipt and attempts.in_doubt)):
                raise self._explain(problem, waited, in_doubt=attempts.in_doubt) from problem.error
            if is_final:  # all that is left to do is to look for the receipt
                attempts.problem = problem
            await asyncio.sleep(seconds)
            if self._closing.is_set():
                raise self._explain(problem, waited, in_doubt=attempts.in_doubt) from problem.error

    def _transact(self, work: Callable[[Connection], T], attempts: WriteAttempts) -> T:
        """Run one attempt."""
        stage = Stage.CONNECTING
        try:
            with self.engine.connect() as connection:  # which rolls back what is not committed
                connection.execution_options(
                    tablewright_write=attempts.write,
                    tablewright_acting=self.acting,
                    tablewright_limits=self.limits,
                )
                connection.begin()
                self._outage.end()
                stage = Stage.WORKING
                leaves_receipt = bool(attempts.receipt)
                if leaves_receipt and attempts.in_doubt:
                    if not leave_receipt(connection, attempts.receipt):
                        return cast("T", attempts.result)
                    leaves_receipt, attempts.in_doubt = False, False
                if attempts.problem is not None:
                    raise attempts.problem
                attempts.result = result = work(connection)
                if leaves_receipt:
                    leave_receipt(connection, attempts.receipt)
                stage = Stage.COMMITTING
                connection.commit()
            return result
        except DBAPIError as error:
            if self._is_sqlite:
                raise explain_failure(error, self.location) from error
            verdict = judge_failure(error, connecting=stage is Stage.CONNECTING)
            if verdict.in_doubt and stage is Stage.COMMITTING and attempts.write:
                attempts.in_doubt = True
            if verdict.treatment is Treatment.WAIT:
                self._outage.begin(first_line(error))
            if verdict.treatment in (Treatment.WAIT, Treatment.REPEAT):
                raise Undone(error, stage, verdict) from error
            raise explain_failure(error, self.location, in_doubt=attempts.in_doubt) from error

    def _explain(self, undone: Undone, waited: float, *, in_doubt: bool) -> StoreError:
        if undone.treatment is Treatment.WAIT:
            return unreachable(undone.error, self.location, waited, in_doubt=in_doubt)
        return explain_failure(undone.error, self.location, in_doubt=in_doubt)


class StorePart:
    """A part of the store. Each method that is decorated as a transaction is written with the connection that it gets,
    and called without it; another transaction that needs the same calls a function that takes a connection."""

    def __init__(self, database: Database) -> None:
        self._database = database


def read_transaction(
    work: Callable[Concatenate[Part, Connection, P], T],
) -> Callable[Concatenate[Part, P], Coroutine[Any, Any, T]]:
    """Make a method a transaction that only reads."""

    @wraps(work)
    async def read(part: Part, /, *args: P.args, **named: P.kwargs) -> T:
        return await part._database.read(lambda connection: work(part, connection, *args, **named))

    return read


def write_transaction(
    work: Callable[Concatenate[Part, Connection, P], T], *, repeatable: bool = False
) -> Callable[Concatenate[Part, P], Coroutine[Any, Any, T]]:
    """Make a method a transaction that writes, and that is not done twice where its answer was lost."""

    @wraps(work)
    async def write(part: Part, /, *args: P.args, **named: P.kwargs) -> T:
        return await part._database.write(
            lambda connection: work(part, connection, *args, **named), repeatable=repeatable
        )

    return write


def repeatable_transaction(
    work: Callable[Concatenate[Part, Connection, P], T],
) -> Callable[Concatenate[Part, P], Coroutine[Any, Any, T]]:
    """Make a method a transaction that writes, and for which twice is the same as once."""
    return write_transaction(work, repeatable=True)


class Undone(Exception):
    """A transaction that was rolled back, or may have been, and may succeed when it is repeated."""

    def __init__(self, error: DBAPIError, stage: Stage, verdict: SqlFailure) -> None:
        super().__init__()
        self.error = error
        self.stage = stage
        self.treatment = verdict.treatment
        self.in_doubt = verdict.in_doubt and stage is Stage.COMMITTING


def leave_receipt(connection: Connection, receipt: str) -> bool:
    """Note that this transaction was committed, if it will be. Return False if an attempt before was: the server waits
    with the answer for one that is still being committed."""
    statement = upsert(connection, commits).values(receipt=receipt, at=now())
    return connection.execute(statement.on_conflict_do_nothing().returning(commits.c.receipt)).first() is not None


def forget_receipts(connection: Connection) -> None:
    """Delete those that no transaction can still ask for."""
    if connection.dialect.name == "postgresql":
        before = (datetime.now(UTC) - RECEIPTS_KEPT).isoformat()
        connection.execute(delete(commits).where(commits.c.at < before))


def prepare_tables(connection: Connection) -> None:
    migrate(connection)
    forget_receipts(connection)


def acting_in(connection: Connection) -> Acting:
    """In whose name the transaction is."""
    acting: Acting = connection.get_execution_options().get("tablewright_acting", Acting())
    return acting


def limits_in(connection: Connection) -> Mapping[Metered, float]:
    """Return the limits of users who have none of their own."""
    limits: Mapping[Metered, float] = connection.get_execution_options().get("tablewright_limits", {})
    return limits


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
        return make_postgres_engine(parsed, pool_size=READERS + STREAMERS + POSTGRES_WRITERS)
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
