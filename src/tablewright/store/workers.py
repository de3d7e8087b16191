"""Worker registry with heartbeats, and shared rate limits: what the processes on one database know of each other.

Each process that executes durable runs sends a heartbeat every few seconds. Times are the database's, so clocks of
machines need not agree. On the same machine a dead process is noticed at once.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Collection, Sequence
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Engine,
    bindparam,
    cast,
    delete,
    extract,
    func,
    literal,
    select,
)

from tablewright.domain.model import Struct
from tablewright.store.database import Database, StorePart, read_transaction, repeatable_transaction
from tablewright.store.records import RecordMapper, build_upsert, utc_now
from tablewright.store.schema import limits, workers

WorkerKind: TypeAlias = Literal["worker", "server", "command"]

# The owner of a run in the queue, which any free worker executes, is this prefix and the id of its workflow.
QUEUE_OWNER_PREFIX = "queue/"
# The end of the id of an owner that sends no heartbeats.
UNREGISTERED_SUFFIX = "-here"
# Heartbeats come every few seconds; after several missing ones the process counts as gone, and its runs are taken over.
GONE_AFTER_SECONDS = 15.0
# Returning a process's dollars too early could exceed a limit, so another machine gets much longer.
DEAD_AFTER_SECONDS = 120.0


class Worker(Struct, frozen=True):
    id: str
    kind: WorkerKind
    host: str
    pid: int
    started_at: str
    silent: float
    """Seconds since its last heartbeat."""
    could_speak: float = inf
    """Seconds since the database was started: heartbeats were impossible before."""

    @property
    def serves(self) -> bool:
        """True if it executes the runs of others."""
        return self.kind != "command"


worker_records = RecordMapper(Worker, workers, could_speak="could_speak")


class Workers(StorePart):
    """Register workers and list them."""

    @repeatable_transaction
    def beat(self, connection: Connection, worker_id: str, kind: WorkerKind) -> None:
        """Write a heartbeat; the first one registers the worker."""
        write_beat(connection, worker_id, kind)

    def beat_here(self, worker_id: str, kind: WorkerKind) -> None:
        """Write a heartbeat in the calling thread."""
        self._database.write_here(lambda connection: write_beat(connection, worker_id, kind))

    def leave_here(self, worker_id: str) -> None:
        self._database.write_here(
            lambda connection: connection.execute(delete(workers).where(workers.c.id == worker_id))
        )

    @repeatable_transaction
    def leave(self, connection: Connection, worker_ids: Collection[str]) -> None:
        connection.execute(delete(workers).where(workers.c.id.in_(list(worker_ids))))

    @read_transaction
    def all(self, connection: Connection) -> list[Worker]:
        silent = (database_clock(connection) - workers.c.beat).label("silent")
        up = (database_clock(connection) - server_started_at(connection)).label("could_speak")
        records = connection.execute(select(workers, silent, up).order_by(workers.c.started_at))
        return [worker_records.read(each, silent=max(0.0, each.silent)) for each in records]


def write_beat(connection: Connection, worker_id: str, kind: WorkerKind) -> None:
    statement = build_upsert(connection, workers).values(
        id=worker_id,
        kind=kind,
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=utc_now(),
        beat=database_clock(connection),
    )
    # The kind of a process may change while it runs.
    changed = {"beat": database_clock(connection), "kind": kind}
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=changed))


# An id with this process's number that is not in here belongs to an earlier process with the same number.
_ids_of_this_process: set[str] = set()


def new_worker_id() -> str:
    id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    _ids_of_this_process.add(id)
    return id


def unregistered_owner() -> str:
    """Return the owner of a run that this process does at once, without heartbeats."""
    return f"{socket.gethostname()}-{os.getpid()}{UNREGISTERED_SUFFIX}"


def is_owner_gone(owner: str, alive: Sequence[Worker]) -> bool:
    """Return True if this owner's work has stopped. For a process without heartbeats that is known only on its own
    machine."""
    # A queued run waits for any worker.
    if owner.startswith(QUEUE_OWNER_PREFIX):
        return not any(worker.serves for worker in alive)
    if any(worker.id == owner for worker in alive):
        return False
    host, _, pid = owner.removesuffix(UNREGISTERED_SUFFIX).rpartition("-")
    if not owner.endswith(UNREGISTERED_SUFFIX) or not pid.isdecimal():
        return True
    return host == socket.gethostname() and not is_process_running(int(pid))


def is_owner_dead(owner: str, workers: Sequence[Worker]) -> bool:
    """Return True if the process has certainly died, so that others may spend the dollars it held. A busy process of
    this machine may be silent for long. One of another machine gets more time than for its runs: doing a run twice
    costs less than exceeding a limit."""
    host, _, process = owner.removesuffix(f"-{owner.rpartition('-')[2]}").rpartition("-")
    if host == socket.gethostname() and process.isdecimal():
        return not is_process_running(int(process)) or (
            int(process) == os.getpid() and owner not in _ids_of_this_process
        )
    return not any(
        worker.id == owner and min(worker.silent, worker.could_speak) <= DEAD_AFTER_SECONDS for worker in workers
    )


def is_worker_alive(worker: Worker, *, trust_silence: bool = True) -> bool:
    """Return False for a worker that has been silent for long, unless it could not be heard: the database has just
    started, or the reader could not hear it (`trust_silence`). A process of this machine that does not exist is not
    alive."""
    if worker.host == socket.gethostname() and not is_process_running(worker.pid):
        return False
    return min(worker.silent, worker.could_speak) <= GONE_AFTER_SECONDS or not trust_silence


def is_process_running(pid: int) -> bool:
    """Return True if the process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # It is there, and another user's.
        return True
    try:
        # After the last parenthesis, since the name of the program before it may have spaces.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def server_started_at(connection: Connection) -> ColumnElement[float]:
    """Return the start time of the database server; 0 for a SQLite file, which is always there."""
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.pg_postmaster_start_time()), Double)
    return literal(0.0)


def database_clock(connection: Connection) -> ColumnElement[float]:
    """Return seconds by the clock of the database; a SQLite file has that of its machine."""
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()), Double)
    return literal(time.time())


class SharedLimits(StorePart):
    """Rate limits shared by all processes. Callers of one key are served in turn, by the lock on its row and the
    database's clock. They get the time to wait, so the clocks of their machines do not matter."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._take = build_reservation(database.engine)

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        """Take the next `interval` seconds of `key`. Return how many seconds from now they begin; below 0, how long
        ago.

        `refund` are seconds that were taken earlier and not needed. With `credit`, the last so many seconds are still
        available if unused.
        """

        return await self._reserve(key, interval, refund, credit) - time.monotonic()

    @repeatable_transaction
    def _reserve(self, connection: Connection, key: str, interval: float, refund: float, credit: float) -> float:
        asked = {"name": key, "interval": interval, "refund": refund, "credit": credit, "now": time.time()}
        wait = connection.execute(self._take, asked).scalar_one()
        # From here on by this clock: the commit and the return to a busy event loop are part of the wait.
        return time.monotonic() + max(float(wait), 0.0)

    @repeatable_transaction
    def forget(self, connection: Connection, seconds: float) -> None:
        """Delete the keys that were not used for so many seconds; they are as good as new."""
        free_at = limits.c.free_at
        connection.execute(delete(limits).where(free_at < database_clock(connection) - seconds))


def build_reservation(engine: Engine) -> Any:
    """Return the statement that reserves time. In an update PostgreSQL reads its clock once it has the row, so a caller
    that waited for the row is not served in the past."""
    sqlite = engine.dialect.name == "sqlite"
    now = bindparam("now", type_=Double) if sqlite else cast(extract("epoch", func.clock_timestamp()), Double)
    later = func.max if sqlite else func.greatest
    interval, refund, credit = (bindparam(name, type_=Double) for name in ("interval", "refund", "credit"))
    free_at = limits.c.free_at
    statement = build_upsert(engine, limits).values(key=bindparam("name"), free_at=now - credit + interval)
    return statement.on_conflict_do_update(
        index_elements=["key"], set_={"free_at": later(free_at - refund, now - credit) + interval}
    ).returning(free_at - interval - now)
