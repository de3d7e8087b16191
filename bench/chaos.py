"""What becomes of runs whose processes, workers and databases fail, and what it costs that they survive it.

    python bench/chaos.py [--only kill,workers,scaling,overhead,outage,restart,failover,server,
                           cancel,asleep,governors,quota]
                           [--rows N] [--kills N] [--away SECONDS]

A search engine, the pages of invented companies and a model of 200 ms are on loopback (`tests/engine/runs/world.py`, a
process of its own), and count what they are asked and what they answered. Commands and workers are the installed
program, in processes of their own. What was interrupted is compared with the same run left alone, cell by cell: value,
status, confidence, evidence, attempts and trace. Ends with 1 where a number does not hold.

kill      the command is killed with SIGKILL at random moments, and `runs resume` goes on; on SQLite and PostgreSQL
workers   four workers on one PostgreSQL, two are killed; a limit of 20 model requests a second holds over all of them
scaling   one, two and four workers, while the model is the limit
overhead  a durable run beside the same run in a process that nobody could go on with
outage    PostgreSQL is away for 20 s
restart   PostgreSQL is stopped and started while two workers have nothing to do, six times in a run of theirs, and once
          more in a run that is cancelled as soon as it is back, and resumed
failover  PostgreSQL crashes or turns read-only, and its standby takes over; and commits of a run fail
server    PostgreSQL is stopped for a minute, or `--away`, in a run that `tablewright serve` began, beside a worker
cancel    `runs cancel` while two workers work
asleep    the command is stopped for so long that a worker takes its run over, and then wakes up
governors hostile cells, formulas and documents: the memory and the disk that they take, and `/health` meanwhile
quota     forty runs of a user who has $0.05 left, in four processes at once; on SQLite and PostgreSQL
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import text

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "jobs"), str(HERE.parent / "tests" / "store")]

from outage import Outage  # noqa: E402
from place import TABLE, Command, Place, ended, kill, wait_for  # noqa: E402
from world import FIELDS, World, open_world, written  # noqa: E402

from chaos_failover import failover_part  # noqa: E402
from chaos_governors import governors_part  # noqa: E402
from chaos_places import (  # noqa: E402
    DELAY,
    LONGEST,
    Alone,
    Options,
    compared,
    database,
    hold,
    left_alone,
    nobody_is_gone,
    place,
    postgres,
    postgres_server,
    restart,
    two_workers,
)
from chaos_quota import quota_part  # noqa: E402
from chaos_server import server_part  # noqa: E402

LIMIT = 20
HOLD_LIMIT = 1.1
HOLD_SCALING = 0.9
HOLD_OVERHEAD = 1.15
HOLD_STOP = 2.0
HOLD_CANCEL = 5.0
AWAY = 20.0
# Seconds for which PostgreSQL is stopped; once for longer than a process may be silent.
RESTARTS = (5.0, 1.0, 20.0, 5.0, 2.0, 10.0)
# Each row is a model call of its own.
ALONE = ("--param", "rows_a_call=1")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default=",".join(PARTS), help=f"Of {', '.join(PARTS)}; separated by commas.")
    parser.add_argument("--rows", type=int, help="Instead of what each part has.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=2, help="Of overhead, which are alternated.")
    parser.add_argument("--databases", default="sqlite,postgresql", help="For kill and quota.")
    parser.add_argument("--away", type=float, default=60.0, help="Seconds without PostgreSQL, for server.")
    given = parser.parse_args()
    options = Options(
        rows=given.rows,
        kills=given.kills,
        seed=given.seed,
        rounds=given.rounds,
        databases=given.databases.split(","),
        away=given.away,
    )
    held = [PARTS[name](options) for name in given.only.split(",")]
    return 0 if all(held) else 1


# ── killed and resumed ───────────────────────────────────────────────────────────────────────────────────────────────


def kill_part(options: Options) -> bool:
    rows = options.rows or 500
    held = True
    with open_world(delay=DELAY, size=rows) as world, postgres() as server:
        for name in options.databases:
            alone = left_alone(world, server if name == "postgresql" else "")
            world.forget()
            with place(world, server if name == "postgresql" else "") as here:
                here.bring(written(world.companies))
                killed_at = kill_and_resume(here, world, alone, options)
                run_id = here.run_id()
                title = f"kill: {rows:,} rows on {name}, killed {len(killed_at)} times"
                held = compared(title, alone, here.outcome(run_id), world.counts(), killed_at) and held
    return held


def kill_and_resume(here: Place, world: World, alone: Alone, options: Options) -> list[float]:
    """Kills it after so many requests as chance says, and a moment more; when that was."""
    chance = random.Random(options.seed)
    last = sum(len(moments) for moments in alone.counts.moments.values())
    killed_at: list[float] = []
    run_id = ""
    for moment in sorted(chance.sample(range(1, last), min(options.kills, last - 1))):
        before = world.asked()
        command = here.start("runs", "resume", run_id, "--json") if run_id else here.enrich(FIELDS)
        wait_for(lambda: command.poll() is not None or world.asked() >= max(moment, before + 1), LONGEST)  # noqa: B023
        time.sleep(chance.uniform(0, 0.3))
        if command.poll() is not None:
            break
        killed_at.append(killed(command))
        run_id = run_id or here.run_id()
    report = here.json("runs", "show", run_id)
    if report["status"] != "done":
        here.json("runs", "resume", run_id)
    return killed_at


def killed(command: Command) -> float:
    """When it was gone."""
    kill(command)
    return time.time()


# ── many workers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def workers_part(options: Options) -> bool:
    rows = options.rows or 500
    limit = {"TABLEWRIGHT_MODEL_REQUESTS_PER_MINUTE": str(60 * LIMIT)}
    with open_world(delay=DELAY, size=rows) as world, postgres() as server:
        alone = left_alone(world, server, *ALONE)
        world.forget()
        with place(world, server, **limit) as here:
            here.bring(written(world.companies))
            workers = [here.worker() for _ in range(4)]
            command = here.enrich(FIELDS, *ALONE)
            killed_at = []
            for victim, share in ((0, 0.3), (1, 0.6)):
                wait_for(lambda: len(world.counts().model) >= share * rows, LONGEST, every=0.2)  # noqa: B023
                killed_at.append(killed(workers[victim]))
            if ended(command, LONGEST) != 0:
                # Of few slices, the second to be killed may have taken over what the first was about.
                assert "Set aside" in command.out, command.err
                print("both were killed over the same rows: set aside, and resumed")
                here.json("runs", "resume", here.run_id())
            outcome = here.outcome(here.run_id())
            counts = world.counts()
            held = compared(f"workers: {rows:,} rows, 4 workers, 2 killed", alone, outcome, counts, killed_at)
    most = counts.busiest()
    gaps = longest_gap(counts.model_calls)
    span = counts.model_calls[-1] - counts.model_calls[0]
    print(f"  {len(counts.model_calls) / span:.1f} model requests a second; the longest pause was {gaps:.1f} s")
    return hold(f"at most {LIMIT} requests in any second, and a tenth: {most}", most <= LIMIT * HOLD_LIMIT) and held


def longest_gap(moments: Sequence[float]) -> float:
    return max(after - before for before, after in pairwise(moments))


def scaling_part(options: Options) -> bool:
    rows = options.rows or 480
    rates: dict[int, float] = {}
    with open_world(delay=DELAY, size=rows) as world, postgres() as server:
        for count in (1, 2, 4):
            world.forget()
            with place(world, server, TABLEWRIGHT_CONCURRENCY="1", TABLEWRIGHT_ATTEMPTS="1") as here:
                here.bring(written(world.companies))
                for _ in range(count):
                    here.worker()
                before, started = cpu_seconds(), time.monotonic()
                command = here.enrich(FIELDS[:1], *ALONE)
                assert ended(command, LONGEST) == 0, command.err
                moments = world.counts().moments["model"]
                rates[count] = len(moments) / (moments[-1] + DELAY - moments[0])
                busy = (cpu_seconds() - before) / (time.monotonic() - started) / (os.cpu_count() or 1)
                print(f"  {count} workers: {rates[count]:.1f} rows a second; the machine was {busy:.0%} busy")
    print(f"scaling: {rows:,} rows, a model of {DELAY * 1000:.0f} ms, one row at a time in each worker")
    held = True
    for count in (2, 4):
        share = rates[count] / rates[1] / count
        held = hold(f"{count} workers: {share:.2f} × linear", share >= HOLD_SCALING) and held
    return held


def cpu_seconds() -> float:
    """All processors together, since the machine started, without what was idle."""
    spent = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]]
    return (sum(spent) - spent[3] - spent[4]) / os.sysconf("SC_CLK_TCK")


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────────────

IN_PROCESS = """
import asyncio, sys
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.domain.fieldspec import parse_field

async def main():
    async with Services.open() as services:
        fields = [parse_field(text) for text in sys.argv[2:]]
        filled = await (await plan_fill(services, sys.argv[1], fields)).run()
        print(filled.usage.seconds)

asyncio.run(main())
"""


def overhead_part(options: Options) -> bool:
    rows = options.rows or 2_000
    seconds: dict[str, list[float]] = {"in process": [], "by the command": [], "by a worker": []}
    with open_world(delay=DELAY, size=rows) as world:
        for _ in range(options.rounds):
            for how, taken in seconds.items():
                with place(world, TABLEWRIGHT_CONCURRENCY="16") as here:
                    here.bring(written(world.companies))
                    if how == "by a worker":
                        here.worker()
                    taken.append(in_process(here) if how == "in process" else durable(here))
                print(f"  {how}: {taken[-1]:.1f} s")
    print(f"overhead: {rows:,} rows on SQLite, a model of {DELAY * 1000:.0f} ms, 16 rows at once, medians")
    beside = median(seconds["in process"])
    held = True
    for how in ("by the command", "by a worker"):
        times = median(seconds[how]) / beside
        held = hold(f"durable, {how}: {times:.2f} × the run in process", times <= HOLD_OVERHEAD) and held
    return held


def in_process(here: Place) -> float:
    command = [sys.executable, "-c", IN_PROCESS, TABLE, *FIELDS]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=here.folder, env=here.environ)
    return float(done.stdout)


def durable(here: Place) -> float:
    command = here.enrich(FIELDS)
    assert ended(command, LONGEST) == 0, command.err
    return float(json.loads(command.out)["usage"]["seconds"])


# ── the database goes away; somebody says stop ───────────────────────────────────────────────────────────────────────


def outage_part(options: Options) -> bool:
    rows = options.rows or 300
    with open_world(delay=DELAY, size=rows) as world, postgres() as server:
        alone = left_alone(world, server)
        for how in ("the command", "two workers"):
            world.forget()
            with database(server) as url, Outage(url) as line, place(world, url=line.url) as here:
                here.bring(written(world.companies))
                for _ in range(2 if how == "two workers" else 0):
                    here.worker()
                command = here.enrich(FIELDS)
                wait_for(lambda: len(world.counts().model) >= rows / 3, LONGEST, every=0.2)
                line.cut()
                time.sleep(AWAY)
                line.mend()
                assert ended(command, LONGEST) == 0, command.err
                title = f"outage: {rows:,} rows by {how}, PostgreSQL away for {AWAY:.0f} s"
                held = compared(title, alone, here.outcome(here.run_id()), world.counts())
                if not held:
                    return False
    return True


def restart_part(options: Options) -> bool:
    rows = options.rows or 300
    with open_world(delay=DELAY, size=rows) as world, postgres_server() as server:
        alone = left_alone(world, server.get_uri())
        world.forget()
        with place(world, server.get_uri()) as here:
            workers = two_workers(here, world)
            restart(server, AWAY)
            command = here.enrich(FIELDS)
            for number, away in enumerate(RESTARTS, start=1):
                share = number / (len(RESTARTS) + 2)
                wait_for(lambda: len(world.counts().model) >= share * rows, LONGEST, every=0.05)  # noqa: B023
                restart(server, away)
            code = ended(command, LONGEST)
            so_long = ", ".join(f"{away:.0f}" for away in RESTARTS)
            title = (
                f"restart: {rows:,} rows by two workers, PostgreSQL stopped for {so_long} s, and idle for {AWAY:.0f} s"
            )
            held = compared(title, alone, here.outcome(here.run_id()), world.counts())
            why = command.err[-500:] if code else ""
            held = hold(f"the command that had begun it tells its end: {code} {why}".rstrip(), code == 0) and held
            held = nobody_is_gone(workers) and held
        return restart_and_cancel(world, server, alone) and held


def restart_and_cancel(world: World, server: Any, alone: Alone) -> bool:
    world.forget()
    with place(world, server.get_uri()) as here:
        workers = two_workers(here, world)
        command, run_id = begun(here, world)
        restart(server, RESTARTS[0])
        back = time.time()
        asking = here.start("runs", "cancel", run_id, "--json")
        asked = when_asked_to_stop(here, run_id)
        world.let()
        wait_for(lambda: here.status(run_id) != "running", LONGEST)
        seconds = time.time() - max(asked, back)
        code, ending, status = ended(asking), ended(command), here.status(run_id)
        print(
            f"  cancelled as soon as it was back, after {here.json('runs', 'show', run_id)['done']} rows, and resumed"
        )
        here.json("runs", "resume", run_id)
        held = (
            hold(f"it had ended {seconds:.1f} s after it was asked to stop: {status}", seconds <= HOLD_CANCEL),
            hold(f"both commands say so: {code}, {ending}", (code, ending, status) == (0, 130, "cancelled")),
            nobody_is_gone(workers),
            compared("", alone, here.outcome(run_id)),
        )
        return all(held)


def begun(here: Place, world: World, *more: str) -> tuple[Command, str]:
    """A run of which a part is done, and which waits for the model until it is let answer again."""
    world.let(min(40, world.size))  # plans come first, a row may take two, and many are begun at once
    command = here.enrich(FIELDS, *more)
    wait_for(lambda: world.is_held() or command.poll() is not None, LONGEST, every=0.05)
    return command, here.run_id()


def cancel_part(options: Options) -> bool:
    rows = options.rows or 400
    with open_world(delay=DELAY, size=rows) as world, postgres() as server, place(world, server) as here:
        here.bring(written(world.companies))
        for _ in range(2):
            here.worker()
        command, run_id = begun(here, world, *ALONE)
        asking = here.start("runs", "cancel", run_id, "--json")
        asked_at = when_asked_to_stop(here, run_id)
        world.let()
        code, ending = ended(asking), ended(command)
        told = json.loads(asking.out)
        time.sleep(HOLD_STOP + 1)
        calls = world.counts().model_calls
        outcome = here.outcome(run_id)
        print(f"cancel: after {outcome.report['done']} of {rows} rows, by two workers")
        later = max(calls) - asked_at
        kept = sum(cell["found"] for cell in outcome.cells.values())
        return all(
            (
                hold(f"the last model request came {later:.2f} s after it was asked to stop", later <= HOLD_STOP),
                hold(f"the run is cancelled: {told['status']}", (code, told["status"]) == (0, "cancelled")),
                hold(f"the command that had begun it says so: it ended with {ending}", ending == 130),
                hold(f"what was found is kept: {kept} cells of {len(outcome.told)} rows", kept > 0),
            )
        )


def when_asked_to_stop(here: Place, run_id: str) -> float:
    asked = text("SELECT count(*) FROM runs WHERE id = :run AND (stop <> '' OR status <> 'running')")
    wait_for(lambda: bool(here.scalar(asked, run=run_id)))
    return time.time()


def asleep_part(options: Options) -> bool:
    rows = options.rows or 200
    with open_world(delay=DELAY, size=rows) as world, postgres() as server:
        alone = left_alone(world, server)
        world.forget()
        with place(world, server) as here:
            here.bring(written(world.companies))
            command = here.enrich(FIELDS)
            wait_for(lambda: len(world.counts().model) >= rows / 4, LONGEST, every=0.1)
            os.kill(command.pid, signal.SIGSTOP)
            stopped_at = time.time()
            here.worker()
            asked = world.asked()
            wait_for(lambda: world.asked() > asked + rows / 4)
            os.kill(command.pid, signal.SIGCONT)
            print(f"asleep: {rows:,} rows, by a worker after {time.time() - stopped_at:.0f} s")
            ending = ended(command)
            told = hold(f"the command that had begun it tells its end: {ending}", ending == 0)
            paid = len(world.counts().twice("model"))
            print(f"  {paid} rows were paid for by both: what it was about when it was stopped, and when it woke up")
            return compared("", alone, here.outcome(here.run_id())) and told


PARTS: dict[str, Callable[[Options], bool]] = {
    "kill": kill_part,
    "workers": workers_part,
    "scaling": scaling_part,
    "overhead": overhead_part,
    "outage": outage_part,
    "restart": restart_part,
    "failover": failover_part,
    "server": server_part,
    "cancel": cancel_part,
    "asleep": asleep_part,
    "governors": governors_part,
    "quota": quota_part,
}

if __name__ == "__main__":
    sys.exit(main())
