"""What the processes on one database share: who is at work, and slots of time.

Each process that works on durable runs says every few seconds that it is there. The time is the database's, so the
clocks of machines need not agree. On the machine itself a process that is gone is known at once."""

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

from tablewright.domain.model import Noun
from tablewright.store.database import Database, StorePart, read_transaction, repeatable_transaction
from tablewright.store.records import RecordMapper, now, upsert
from tablewright.store.schema import limits, workers

WorkerKind: TypeAlias = Literal["worker", "server", "command"]

QUEUED = "queue/"
"""Begins the owner of a run that whoever is free of the workers works on; then comes the workflow that hands it out."""
HERE = "-here"
SILENCE = 15.0
"""Seconds without a sign of life after which a process counts as gone."""
LONG_SILENCE = 120.0
"""Seconds without a sign of life after which what a process of another machine held is given back."""


class Worker(Noun, frozen=True):
    id: str
    kind: WorkerKind
    host: str
    pid: int
    started_at: str
    silent: float
    """Seconds since its last sign of life."""
    could_speak: float = inf
    """Seconds since the database was started: before that nobody could give a sign of life."""

    @property
    def serves(self) -> bool:
        """Return True if it works on the runs of others."""
        return self.kind != "command"


worker_records = RecordMapper(Worker, workers, could_speak="could_speak")


class Workers(StorePart):
    @repeatable_transaction
    def beat(self, connection: Connection, worker_id: str, kind: WorkerKind) -> None:
        """A sign of life; the first makes it known."""
        write_beat(connection, worker_id, kind)

    def beat_here(self, worker_id: str, kind: WorkerKind) -> None:
        """As `beat`, in the thread of whoever asks."""
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
    statement = upsert(connection, workers).values(
        id=worker_id,
        kind=kind,
        host=socket.gethostname(),
        pid=os.getpid(),
        started_at=now(),
        beat=database_clock(connection),
    )
    changed = {"beat": database_clock(connection), "kind": kind}
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=changed))


MADE_HERE: set[str] = set()
"""The names that this process has given: another one with its number was given by a process that is gone."""


def new_worker_id() -> str:
    id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    MADE_HERE.add(id)
    return id


def this_process() -> str:
    """The owner of a run that is done here and now, of which nobody hears anything in between."""
    return f"{socket.gethostname()}-{os.getpid()}{HERE}"


def is_gone(owner: str, alive: Sequence[Worker]) -> bool:
    """Return True if nobody works on what this owner had begun. Of a process that gives no signs of life it is known
    only on its own machine."""
    if owner.startswith(QUEUED):
        return not any(worker.serves for worker in alive)
    if any(worker.id == owner for worker in alive):
        return False
    host, _, pid = owner.removesuffix(HERE).rpartition("-")
    if not owner.endswith(HERE) or not pid.isdecimal():
        return True
    return host == socket.gethostname() and not is_running(int(pid))


def is_lost(owner: str, workers: Sequence[Worker]) -> bool:
    """Return True if the process of that name has died for sure, so that the dollars it held may be spent by others. A
    busy one of this machine may be silent for long; one of another machine is given longer than for its runs, for a run
    that is done twice costs less than a limit that is passed."""
    host, _, process = owner.removesuffix(f"-{owner.rpartition('-')[2]}").rpartition("-")
    if host == socket.gethostname() and process.isdecimal():
        return not is_running(int(process)) or (int(process) == os.getpid() and owner not in MADE_HERE)
    return not any(worker.id == owner and min(worker.silent, worker.could_speak) <= LONG_SILENCE for worker in workers)


def is_alive(worker: Worker, *, trust_silence: bool = True) -> bool:
    """Return False for a worker that has been silent for long, unless it could not be heard: the database was just
    started, or the reader could not hear it (`trust_silence`). A process of this machine that does not exist is not
    alive."""
    if worker.host == socket.gethostname() and not is_running(worker.pid):
        return False
    return min(worker.silent, worker.could_speak) <= SILENCE or not trust_silence


def is_running(pid: int) -> bool:
    """A process that has ended but was not asked for by its parent yet is not running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def server_started_at(connection: Connection) -> ColumnElement[float]:
    """When the server of the database was started; a SQLite file has always been there."""
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.pg_postmaster_start_time()), Double)
    return literal(0.0)


def database_clock(connection: Connection) -> ColumnElement[float]:
    """Seconds, by the clock of the database; a SQLite file has that of its machine."""
    if connection.dialect.name == "postgresql":
        return cast(func.extract("epoch", func.clock_timestamp()), Double)
    return literal(time.time())


class SharedLimits(StorePart):
    """Those who ask for one key are served one after the other, by the lock on its row and the database's own clock.
    They are told how long to wait, so the clocks of their machines do not matter."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._take = build_reservation(database.engine)

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
        connection.execute(delete(limits).where(free_at < database_clock(connection) - seconds))


def build_reservation(engine: Engine) -> Any:
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
