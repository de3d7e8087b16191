"""For `chaos.py`: `tablewright serve` while its database is stopped, and what becomes of a run that it began."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
from place import TABLE, Command, Place, wait_for
from world import FIELDS, open_world, written

from chaos_places import (
    DELAY,
    LONGEST,
    Options,
    compared,
    hold,
    left_alone,
    nobody_is_gone,
    place,
    postgres_server,
    restart,
)

# Seconds that a request waits for a database that is away.
WAIT = 5.0
SLOWEST = WAIT + 3.0
HOLD_HEALTH = 1.0
HOLD_BACK = 5.0
EVERY = 0.5
ASKED = {"health": "/health", "ready": "/ready", "runs": "/api/v1/runs", "page": "/"}
OVER = ("done", "failed", "cancelled", "paused", "over_budget")


@dataclass(frozen=True)
class Asked:
    what: str
    at: float
    seconds: float
    status: int


@dataclass
class Visitor:
    """Asks the server the same again and again, each question in a thread of its own."""

    address: str
    answers: list[Asked] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, what: str) -> None:
        accepted = {"Accept": "text/html"} if what == "page" else {}
        with httpx2.Client(base_url=self.address, headers=accepted, trust_env=False, timeout=LONGEST) as client:
            while not self.over.wait(EVERY):
                began = time.time()
                status = client.get(ASKED[what]).status_code
                self.answers.append(Asked(what, began, time.time() - began, status))

    def of(self, what: str, since: float = 0.0, until: float = float("inf")) -> list[Asked]:
        return [each for each in self.answers if each.what == what and since <= each.at < until]


def server_part(options: Options) -> bool:
    rows = options.rows or 200
    with open_world(delay=DELAY, size=rows) as world, postgres_server() as database:
        alone = left_alone(world, database.get_uri())
        world.forget()
        with place(world, database.get_uri()) as here:
            here.bring(written(world.companies))
            worker = here.worker()
            server, address = serve(here)
            with (
                visiting(address) as visitor,
                httpx2.Client(base_url=address, trust_env=False, timeout=LONGEST) as http,
            ):
                begun = http.post(f"/api/v1/tables/{TABLE}/runs", json={"fields": FIELDS})
                run_id = begun.raise_for_status().json()["run_id"]
                watched = Watched(address, run_id)
                wait_for(lambda: len(world.counts().model) >= rows / 3, LONGEST, every=0.05)
                stopped = time.time()
                restart(database, options.away)
                back = time.time()
                wait_for(lambda: http.get(f"/api/v1/runs/{run_id}").json().get("status") in OVER, LONGEST, every=EVERY)
                watched.thread.join(LONGEST)
                wait_for(lambda: all(visitor.of(what, back + HOLD_BACK) for what in ASKED), LONGEST, every=EVERY)
            title = f"server: {rows:,} rows by a server and a worker, PostgreSQL stopped for {options.away:.0f} s"
            outcome = here.outcome(run_id)
            held = compared(title, alone, outcome, world.counts())
            held = (
                hold(
                    "who watches the run sees each event once",
                    watched.numbers == list(range(1, outcome.report["last_event"] + 1)),
                )
                and held
            )
            held = nobody_is_gone([worker, server]) and held
    return answered(visitor, stopped, back) and held


def answered(visitor: Visitor, stopped: float, back: float) -> bool:
    """Whoever asked right before it was stopped may have waited, and whoever comes later is told at once."""
    known = stopped + SLOWEST
    health = visitor.of("health", stopped)
    unready = visitor.of("ready", known, back)
    ready = [each.at - back for each in visitor.of("ready", back) if each.status == 200]
    slow = max(health, key=lambda each: each.seconds)
    held = [
        hold(
            f"/health answered {len(health)} times, in {slow.seconds:.2f} s at most",
            all(each.status == 200 and each.seconds <= HOLD_HEALTH for each in health),
        ),
        hold(f"/ready said no {len(unready)} times", bool(unready) and {each.status for each in unready} == {503}),
        hold(f"/ready said yes {ready[0]:.1f} s after it was back", ready[0] <= HOLD_BACK),
    ]
    for what in ("runs", "page"):
        meanwhile, later = visitor.of(what, known, back), visitor.of(what, back + HOLD_BACK)
        slowest = max(each.seconds for each in visitor.of(what, stopped))
        said = ", ".join(f"{times} × {status}" for status, times in Counter(each.status for each in meanwhile).items())
        held += [
            hold(
                f"{ASKED[what]} said {said}; in {slowest:.1f} s at most", {each.status for each in meanwhile} == {503}
            ),
            hold(f"{ASKED[what]} was answered within {SLOWEST:.0f} s", slowest <= SLOWEST),
            hold(f"{ASKED[what]} works afterwards", {each.status for each in later} == {200}),
        ]
    return all(held)


class Watched:
    """The events of a run, by one connection that stays open."""

    def __init__(self, address: str, run_id: str) -> None:
        self.numbers: list[int] = []
        self.thread = threading.Thread(target=self._read, args=(f"{address}/api/v1/runs/{run_id}/events",), daemon=True)
        self.thread.start()

    def _read(self, url: str) -> None:
        with httpx2.Client(trust_env=False, timeout=LONGEST) as client, client.stream("GET", url) as stream:
            self.numbers.extend(int(line[4:]) for line in stream.iter_lines() if line.startswith("id: "))


def serve(here: Place) -> tuple[Command, str]:
    command = here.start("serve", "--port", "0")
    found: list[str] = []

    def said() -> bool:
        assert command.poll() is None, command.err
        found[:] = re.findall(r"http://[\d.]+:\d+", command.err)
        return bool(found)

    wait_for(said)
    return command, found[0]


@contextmanager
def visiting(address: str) -> Iterator[Visitor]:
    visitor = Visitor(address)
    threads = [threading.Thread(target=visitor.ask, args=(what,), daemon=True) for what in ASKED]
    for thread in threads:
        thread.start()
    try:
        yield visitor
    finally:
        visitor.over.set()
        for thread in threads:
            thread.join(LONGEST)
