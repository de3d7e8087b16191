"""Clients that would take the server from the others: what they cost, and what the others notice.

    python bench/crowds.py [--only keep_alive,slow_readers,...]

Each part starts a real `tablewright serve`. While its clients are at work, another process asks `/health` twenty times
a second. Told are the worst answer of `/health`, the most memory of the server over what it had before, and what
another user noticed. Ends with 1 where `/health` took longer than 0.2 s or a request failed that should not have.

* keep_alive: the median of 200 requests over one connection.
* slow_readers: 10 readers take a page of a table of 100 MB at 64 KB a second.
* one_viewer: one viewer searches and sorts over 16 connections without a pause; another looks at the same table.
* sorted_views: 40 different orders of one large table are asked for in turn while another user scrolls in theirs.
* lookups: a run asks a host whose name server never answers, while another user reads rows.
* fifty_users: 50 users scroll, sort and search in a table of 20,000 rows for 60 s.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx2

TOKEN = "the-owner-of-this-bench-knows-it"
HOLD_HEALTH = 0.2
# `tablewright serve` with a name server that is silent about one domain.
SERVER = """
import socket, sys, time
real = socket.getaddrinfo
def look_up(host, *args, **kwargs):
    if str(host).startswith("stuck"):
        time.sleep(15)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")
    return real(host, *args, **kwargs)
socket.getaddrinfo = look_up
from tablewright.interfaces.cli import main
sys.argv = ["tablewright", "serve", "--port", "0"]
main()
"""
PROBE = """
import http.client, json, sys, time
port, answers = int(sys.argv[1]), []
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
print("ready", flush=True)
try:
    while True:
        begun = time.perf_counter()
        connection.request("GET", "/health")
        response = connection.getresponse()
        response.read()
        answers.append(time.perf_counter() - begun)
        time.sleep(0.05)
        with open(sys.argv[2], "w") as file:
            json.dump(answers, file)
except KeyboardInterrupt:
    pass
"""


@dataclass
class Server:
    address: str
    pid: int
    folder: Path
    healths: list[float] = field(default_factory=list)

    def client(self, token: str = TOKEN) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx2.AsyncClient(base_url=self.address, headers=headers, timeout=120, trust_env=False)

    def memory(self, of: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.partition(f"{of}:")[2].split()[0]) / 1024


@asynccontextmanager
async def serving(**settings: str) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory(prefix="tablewright-bench-") as folder:
        usual = {"HOME": folder, "SEARCH": "sample", "MODEL": "builtin", "FETCH_DELAY": "0", "TOKEN": TOKEN}
        environ = {**os.environ, **{f"TABLEWRIGHT_{name}": value for name, value in (usual | settings).items()}}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVER, stderr=asyncio.subprocess.PIPE, env=environ
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
            yield Server(address[0].rstrip(".:"), process.pid, Path(folder))
        finally:
            if process.returncode is None:
                process.terminate()
                try:
                    await asyncio.wait_for(process.wait(), 40)
                except TimeoutError:
                    process.kill()
        await draining


@asynccontextmanager
async def watched(server: Server, name: str) -> AsyncIterator[None]:
    """`/health` and the memory of the server while the block runs."""
    Path(f"/proc/{server.pid}/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    before, port = server.memory("VmRSS"), server.address.rpartition(":")[2]
    noted = server.folder / "health.json"
    probe = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROBE, port, str(noted), stdout=asyncio.subprocess.PIPE
    )
    assert probe.stdout is not None
    await probe.stdout.readline()
    try:
        yield
    finally:
        peak = server.memory("VmHWM")
        probe.terminate()
        await probe.wait()
        server.healths = json.loads(noted.read_text(encoding="ascii"))
        p95 = quantiles(server.healths, n=20)[-1]
        print(f"{name}: /health worst {max(server.healths) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms")
        print(f"  memory {before:.0f} MB before, {peak:.0f} MB at most: {peak - before:.0f} MB more", flush=True)


@dataclass
class Answers:
    """What one kind of client was told, and how fast."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    failed: int = 0

    async def ask(self, http: httpx2.AsyncClient, path: str, **query: Any) -> Any:
        begun = time.perf_counter()
        try:
            response = await http.get(path, params=query)
        except httpx2.HTTPError:
            self.failed += 1
            return None
        self.seconds.append(time.perf_counter() - begun)
        if response.status_code == 429:
            self.refused += 1
            await asyncio.sleep(float(response.headers.get("retry-after", 1)))
        elif response.status_code != 200:
            self.failed += 1
        return response.json() if response.status_code == 200 else None

    def tell(self, name: str) -> None:
        if len(self.seconds) < 2:
            print(f"  {name}: {len(self.seconds)} answers, {self.failed} failed")
            return
        late = quantiles(self.seconds, n=20)[-1]
        print(
            f"  {name}: {len(self.seconds)} answers, median {median(self.seconds) * 1000:.0f} ms, "
            f"p95 {late * 1000:.0f} ms, worst {max(self.seconds) * 1000:.0f} ms; "
            f"{self.refused} told to wait (429), {self.failed} failed",
            flush=True,
        )


async def bring_table(http: httpx2.AsyncClient, rows: int, columns: int, width: int) -> str:
    written = io.StringIO()
    writer = csv.writer(written)
    chance = random.Random(7)
    writer.writerow(["Company", *(f"Column {number}" for number in range(1, columns))])
    for number in range(rows):
        words = [f"{chance.randrange(10**9)} " * (width // 10 + 1) for _ in range(1, columns)]
        writer.writerow([f"Firm {number}", *(word[:width] for word in words)])
    files = {"file": ("firms.csv", written.getvalue().encode())}
    made = (await http.post("/api/v1/tables/import", files=files)).raise_for_status().json()
    table_id: str = made["table_id"]
    (await http.put(f"/api/v1/shares/table/{table_id}", json={"everyone": True})).raise_for_status()
    return table_id


async def add_viewers(http: httpx2.AsyncClient, count: int) -> list[str]:
    made = [await http.post("/api/v1/users", json={"name": f"viewer{number}"}) for number in range(count)]
    return [each.raise_for_status().json()["token"] for each in made]


async def repeat(seconds: float, work: Callable[[], Awaitable[Any]], pause: float = 0.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await work()
        await asyncio.sleep(pause)


# ── the parts ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def keep_alive() -> bool:
    async with serving() as server, server.client() as http:
        table_id = await bring_table(http, 10, 3, 10)
        for path in ("/health", f"/api/v1/tables/{table_id}/rows"):
            answers = Answers()
            for _ in range(200):
                await answers.ask(http, path)
            print(f"keep_alive: {path.rpartition('/')[2]}: median of 200: {median(answers.seconds) * 1000:.1f} ms")
    return True


async def read_slowly(server: Server, table_id: str, seconds: float) -> int:
    """The bytes that were read, 64 KB a second."""
    host, _, port = server.address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=65_536)
    head = (
        f"GET /api/v1/tables/{table_id}/rows?limit=1000 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
    )
    writer.write(f"{head}\r\n".encode())
    read, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        piece = await asyncio.wait_for(reader.read(65_536), 60)
        if not piece:
            break
        read += len(piece)
        await asyncio.sleep(1)
    writer.close()
    return read


async def slow_readers() -> bool:
    async with serving() as server, server.client() as http:
        table_id = await bring_table(http, 1_000, 2, 100_000)
        async with watched(server, "slow_readers"):
            read = await asyncio.gather(*(read_slowly(server, table_id, 25) for _ in range(10)))
        print(f"  each read {min(read) // 1024} to {max(read) // 1024} KB")
    return max(server.healths) <= HOLD_HEALTH


async def one_viewer() -> bool:
    greedy, other = Answers(), Answers()
    async with serving() as server, server.client() as http:
        table_id = await bring_table(http, 20_000, 10, 20)
        tokens = await add_viewers(http, 2)
        path = f"/page-data/tables/{table_id}/rows"
        counted = iter(range(10**9))

        async def search(mine: httpx2.AsyncClient) -> None:
            number = next(counted)
            await greedy.ask(mine, path, find=str(number % 997), sort=f"Column {1 + number % 9}", view=f"v{number}")

        async def look(mine: httpx2.AsyncClient) -> None:
            number = next(counted)
            await other.ask(mine, path, start=number % 15_000, end=number % 15_000 + 100)
            await other.ask(mine, path, sort="Column 1", view=f"w{number}")

        async with server.client(tokens[1]) as theirs, watched(server, "one_viewer"):
            crowd = [server.client(tokens[0]) for _ in range(16)]
            work = [repeat(20, lambda mine=mine: search(mine)) for mine in crowd]  # type: ignore[misc]
            await asyncio.gather(*work, repeat(20, lambda: look(theirs), 0.5))
            for each in crowd:
                await each.aclose()
        greedy.tell("the viewer on 16 connections")
        other.tell("another viewer")
    return max(server.healths) <= HOLD_HEALTH and not other.failed


async def sorted_views() -> bool:
    greedy, other = Answers(), Answers()
    async with serving() as server, server.client() as http:
        table_id = await bring_table(http, 100_000, 6, 12)
        tokens = await add_viewers(http, 2)
        path = f"/page-data/tables/{table_id}/rows"
        async with server.client(tokens[0]) as mine, server.client(tokens[1]) as theirs:
            await Answers().ask(theirs, path, sort="Column 1", view="mine")

            async def scroll() -> None:
                start = random.randrange(90_000)
                await other.ask(theirs, path, sort="Column 1", view="mine", start=start, end=start + 100)

            async def sort_anew() -> None:
                for number in range(40):
                    await greedy.ask(mine, path, sort=f"Column {1 + number % 5}", view=f"v{number}")

            async with watched(server, "sorted_views"):
                sorting = asyncio.ensure_future(sort_anew())
                while not sorting.done():
                    await scroll()
                    await asyncio.sleep(0.2)
                await sorting
        greedy.tell("40 orders in turn")
        other.tell("another viewer who scrolls in one order")
    return max(server.healths) <= HOLD_HEALTH and not other.failed


async def answer_search(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """As SearXNG does: five pages of sites whose name server is silent."""
    asked = (await reader.readuntil(b"\r\n\r\n")).decode()
    firm = (re.search(r"Firm[ +%20]*\d+", asked) or ["Firm"])[0].replace("+", " ").replace("%20", " ")
    sites = [f"http://stuck{random.randrange(10**9)}.example/" for _ in range(5)]
    found = [{"url": site, "title": firm, "content": f"{firm}: what year it was founded"} for site in sites]
    body = json.dumps({"results": found}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    writer.close()


async def lookups() -> bool:
    other = Answers()
    engine = await asyncio.start_server(answer_search, "127.0.0.1", 0)
    port = engine.sockets[0].getsockname()[1]
    async with serving(SEARCH=f"searxng:http://127.0.0.1:{port}") as server, server.client() as http:
        table_id = await bring_table(http, 200, 3, 10)
        asked = {
            "fields": ["Founded:number=What year was {Company} founded?"],
            "strategy": "pipeline",
            "concurrency": 20,
        }
        begun = (await http.post(f"/api/v1/tables/{table_id}/runs", json=asked)).raise_for_status().json()
        (token,) = await add_viewers(http, 1)
        await asyncio.sleep(1)
        async with server.client(token) as theirs, watched(server, "lookups"):
            await repeat(25, lambda: other.ask(theirs, f"/api/v1/tables/{table_id}/rows"), 0.2)
        await http.post(f"/api/v1/runs/{begun['run_id']}/cancel")
        engine.close()
        other.tell("another user who reads rows")
    return max(server.healths) <= HOLD_HEALTH and not other.failed


async def fifty_users() -> bool:
    answers = Answers()
    async with serving() as server, server.client() as http:
        table_id = await bring_table(http, 20_000, 10, 20)
        tokens = await add_viewers(http, 50)

        async def use(number: int) -> None:
            chance = random.Random(number)
            page, api = f"/page-data/tables/{table_id}/rows", f"/api/v1/tables/{table_id}/rows"
            await asyncio.sleep(chance.random() * 3)
            async with server.client(tokens[number]) as mine:

                async def do() -> None:
                    start = chance.randrange(19_000)
                    what = chance.random()
                    view = f"{number}.{chance.randrange(10**6)}"
                    if what < 0.7:
                        await answers.ask(mine, page, start=start, end=start + 100)
                    elif what < 0.9:
                        await answers.ask(mine, api, after=start)
                    elif what < 0.95:
                        await answers.ask(mine, page, sort=f"Column {chance.randrange(1, 10)}", view=view)
                    else:
                        await answers.ask(mine, page, find=str(chance.randrange(10_000)), view=view)
                    await asyncio.sleep(chance.uniform(0.5, 3.5))

                await repeat(60, do)

        async with watched(server, "fifty_users"):
            await asyncio.gather(*(use(number) for number in range(50)))
        answers.tell("50 users for 60 s")
    return max(server.healths) <= HOLD_HEALTH and not answers.failed


PARTS = {each.__name__: each for each in (keep_alive, slow_readers, one_viewer, sorted_views, lookups, fifty_users)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="Parts, separated by commas.")
    held = {name: asyncio.run(PARTS[name]()) for name in parser.parse_args().only.split(",")}
    failing = [name for name, holds in held.items() if not holds]
    print(f"It does not hold: {', '.join(failing)}." if failing else "It holds.")
    sys.exit(1 if failing else 0)


if __name__ == "__main__":
    main()
