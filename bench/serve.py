"""Many who watch one run: `tablewright serve`, and clients that read its events until the end.

    python bench/serve.py [--clients 200] [--rows 400]

A real server with the sample world fills a table of made-up companies. All clients watch the run by server-sent events:
some from the beginning, some from later on, some slowly, and some lose their connection once and go on with
`Last-Event-ID`. Each must see every event once, and the end. The memory of the server is read before they come, at its
highest while they are there, and after they have left. Ends with 1 where a number does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles

import httpx2

HOLD_GROWTH_MB = 100.0
# Each tenth client takes its time with every event.
SLOW_EVERY = 10
# Each seventh loses its connection once.
LOST_EVERY = 7
PATIENCE = 0.02
LOST_AFTER = 15


@dataclass
class Watched:
    """What one client saw."""

    numbers: list[int] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    ended: bool = False
    problem: str = ""


@asynccontextmanager
async def serving(home: Path) -> AsyncIterator[tuple[str, int]]:
    """The address, and the process's id."""
    program = str(Path(sys.executable).with_name("tablewright"))
    settings = {"HOME": str(home), "SEARCH": "sample", "MODEL": "builtin", "FETCH_DELAY": "0"}
    environ = {**os.environ, **{f"TABLEWRIGHT_{name}": value for name, value in settings.items()}}
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--port", "0", stderr=asyncio.subprocess.PIPE, env=environ
    )
    assert process.stderr is not None
    said = ""
    try:
        while not (address := re.search(r"http://[\d.:]+", said)):
            line = await asyncio.wait_for(process.stderr.readline(), 60)
            if not line:
                raise RuntimeError(f"The server did not start: {said}")
            said += line.decode()
        draining = asyncio.create_task(process.stderr.read())
        yield address[0].rstrip(".:"), process.pid
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 30)
    await draining


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def watch(http: httpx2.AsyncClient, run_id: str, client: int, watched: Watched) -> None:
    slow, loses = client % SLOW_EVERY == 0, client % LOST_EVERY == 0
    headers: dict[str, str] = {}
    while not watched.ended:
        async with http.stream("GET", f"/api/v1/runs/{run_id}/events", headers=headers) as response:
            if response.status_code != 200:
                watched.problem = f"{response.status_code}"
                return
            async for line in response.aiter_lines():
                if line.startswith("event: end"):
                    watched.ended = True
                elif line.startswith("id: "):
                    watched.numbers.append(int(line[4:]))
                elif line.startswith("data: ") and not watched.ended:
                    at = datetime.fromisoformat(json.loads(line[6:])["at"])
                    watched.lags.append((datetime.now(UTC) - at).total_seconds())
                    if slow:
                        await asyncio.sleep(PATIENCE)
                    elif loses and len(watched.numbers) >= LOST_AFTER:
                        loses = False
                        break
        headers = {"Last-Event-ID": str(watched.numbers[-1])} if watched.numbers else {}


async def start_run(http: httpx2.AsyncClient, rows: int) -> str:
    names = [{"Company": f"Firm {number} of Merrin"} for number in range(rows)]
    made = (await http.post("/api/v1/tables", json={"name": "firms", "rows": names})).raise_for_status().json()
    asked = {"fields": ["Founded:number=What year was {Company} founded?"], "strategy": "lookup", "concurrency": 1}
    begun = await http.post(f"/api/v1/tables/{made['table_id']}/runs", json=asked)
    run_id: str = begun.raise_for_status().json()["run_id"]
    return run_id


async def measure(clients: int, rows: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="tablewright-bench-") as folder:
        async with (
            serving(Path(folder)) as (address, pid),
            httpx2.AsyncClient(
                base_url=address,
                timeout=120,
                trust_env=False,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            ) as http,
        ):
            # A first run, watched by one, loads what is loaded once: that is no growth.
            await watch(http, await start_run(http, 5), 1, Watched())
            before = highest = megabytes(pid)
            run_id = await start_run(http, rows)
            seen = [Watched() for _ in range(clients)]
            started = time.monotonic()
            tasks = []
            for number, watched in enumerate(seen):
                tasks.append(asyncio.create_task(watch(http, run_id, number, watched)))
                if number % 50 == 49:
                    await asyncio.sleep(1)  # so that some come when the run is under way
            while any(not task.done() for task in tasks):
                await asyncio.sleep(0.5)
                highest = max(highest, megabytes(pid))
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, BaseException):
                    print(f"  a client failed: {result!r}")
            took = time.monotonic() - started
            await asyncio.sleep(2)
            after = megabytes(pid)
            run = (await http.get(f"/api/v1/runs/{run_id}")).json()
    everything = list(range(1, run["last_event"] + 1))
    whole = [watched for watched in seen if watched.ended and watched.numbers == everything]
    problems = {watched.problem for watched in seen if watched.problem}
    quick = [lag for number, watched in enumerate(seen) if number % SLOW_EVERY for lag in watched.lags[LOST_AFTER:]]
    print(f"{clients} clients, {rows} rows, {len(everything)} events each, {took:.0f} s; the run is {run['status']}")
    print(f"  saw every event once, and the end: {len(whole)}{f'; refused: {problems}' if problems else ''}")
    print(f"  memory of the server: {before:.0f} MB before, {highest:.0f} MB at most, {after:.0f} MB after")
    if len(quick) > 1:
        late = quantiles(quick, n=20)[-1]
        print(f"  from written to seen, latecomers too: {median(quick):.2f} s median, {late:.2f} s p95")
    return len(whole) == clients and highest - before <= HOLD_GROWTH_MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rows", type=int, default=400)
    arguments = parser.parse_args()
    held = asyncio.run(measure(arguments.clients, arguments.rows))
    print("It holds." if held else f"It does not hold: all complete, at most {HOLD_GROWTH_MB:.0f} MB more.")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
