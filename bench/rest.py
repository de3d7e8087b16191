"""REST latency: one row, a cell edit and a page of 100 rows of a table of 100,000, for 20 people with open connections.

    python bench/rest.py [--rows 100000] [--clients 20] [--rate 5] [--seconds 10]

A real server in a process of its own, and as many users as clients, each with a token and one connection that stays
open. Each client sends `--rate` requests a second, at random times, so that the server is busy but not saturated: a
closed loop of 20 clients would measure throughput. The same clients ask a bare server first, which answers every
request with the same bytes and does nothing else: that is what loopback, two processes and this machine's other load
cost. CPU is that of the server, all threads. Ends with 1 where a limit does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import httpx2

from serve import serving

HOLD_P50_MS, HOLD_P95_MS = 3.0, 10.0
COLUMNS = ("Company", "Country", "City", "Founded:number", "Employees:number", "Website:url")
# About the size of a row with six cells as JSON.
BARE_BODY = b"x" * 2_000
BARE_SERVER = f"""
import asyncio
class Bare(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def data_received(self, data):
        head = b"HTTP/1.1 200 OK\\r\\nContent-Length: {len(BARE_BODY)}\\r\\n\\r\\n"
        self.transport.write(head + {BARE_BODY!r})
async def main():
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass
class Latencies:
    """What the clients of one kind of request saw."""

    p50: float
    p95: float
    count: int
    statuses: set[int]
    cpu: float
    """Milliseconds of the server for a request."""
    size: int
    """Bytes of a reply, on average."""


class Client:
    """One connection that stays open; as little code as possible between the clock and the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer, self._token = reader, writer, token

    async def ask(self, method: str, path: str, body: bytes = b"", headers: str = "") -> tuple[int, str, bytes]:
        """Return the status, the head and the body of the reply."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._token}\r\n{headers}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(head.encode() + b"\r\n" + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        length = header_value(answer, "Content-Length")
        content = await self._reader.readexactly(int(length)) if length else b""
        return int(answer.split()[1]), answer, content

    def close(self) -> None:
        self._writer.close()


def header_value(head: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)\r$", head, re.IGNORECASE | re.MULTILINE)
    return found[1] if found else ""


@asynccontextmanager
async def connected(port: int, tokens: list[str]) -> AsyncIterator[list[Client]]:
    clients = [Client(*await asyncio.open_connection("127.0.0.1", port), token) for token in tokens]
    yield clients
    for client in clients:
        client.close()


@asynccontextmanager
async def bare_server() -> AsyncIterator[tuple[int, int]]:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", BARE_SERVER, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(await process.stdout.readline()), process.pid
    finally:
        process.terminate()
        await process.wait()


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


Ask = Callable[[Client], "asyncio.Future[tuple[int, str, bytes]]"]


async def time_requests(clients: list[Client], ask: Ask, pid: int, rate: float, seconds: float) -> Latencies:
    taken: list[float] = []
    statuses: set[int] = set()
    sizes: list[int] = []

    async def work(client: Client) -> None:
        end = time.perf_counter() + seconds
        await asyncio.sleep(random.uniform(0, 1 / rate))
        while time.perf_counter() < end:
            begun = time.perf_counter()
            status, _, content = await ask(client)
            taken.append((time.perf_counter() - begun) * 1000)
            statuses.add(status)
            sizes.append(len(content))
            # Without this spread the clients would soon ask in step.
            await asyncio.sleep(random.uniform(0.5, 1.5) / rate)

    before = cpu_seconds(pid)
    await asyncio.gather(*map(work, clients))
    cpu = (cpu_seconds(pid) - before) * 1000 / len(taken)
    cuts = quantiles(taken, n=20)
    return Latencies(cuts[9], cuts[18], len(taken), statuses, cpu, sum(sizes) // len(sizes))


async def make_table(http: httpx2.AsyncClient, folder: Path, rows: int) -> str:
    path = folder / "companies.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(name.partition(":")[0] for name in COLUMNS) + "\n")
        for row in range(rows):
            file.write(f"Firm {row} of Merrin,Norway,Oslo,{1850 + row % 170},{row % 5000},https://firm{row}.example\n")
    with path.open("rb") as file:
        made = await http.post("/api/v1/tables/import", files={"file": ("companies.csv", file)}, timeout=600)
    table: str = made.raise_for_status().json()["table_id"]
    return table


async def measure(rows: int, people: int, rate: float, seconds: float, only: str) -> bool:
    owner = "bench-owner-token-0123456789"
    os.environ["TABLEWRIGHT_TOKEN"] = owner
    held = True
    with tempfile.TemporaryDirectory(prefix="tablewright-bench-") as name:
        folder = Path(name)
        headers = {"Authorization": f"Bearer {owner}"}
        async with serving(folder / "home") as (address, pid):
            async with httpx2.AsyncClient(base_url=address, headers=headers, trust_env=False) as http:
                table = await make_table(http, folder, rows)
                tokens = []
                for person in range(people):
                    added = await http.post("/api/v1/users", json={"name": f"person{person}", "role": "editor"})
                    tokens.append(added.raise_for_status().json()["token"])
                shared = await http.put(f"/api/v1/shares/table/{table}", json={"everyone": True})
                shared.raise_for_status()
            at = f"/api/v1/tables/{table}"

            def row() -> str:
                return f"{at}/rows/{random.randint(1, rows)}"

            def page() -> str:
                return f"{at}/rows?limit=100&after={random.randint(0, max(0, rows - 100))}"

            def edit() -> bytes:
                return json.dumps({"value": str(random.randint(1, 9_999))}).encode()

            tags: dict[Client, str] = {}

            async def ask_again(client: Client) -> tuple[int, str, bytes]:
                """Send the tag of the last reply, as a client that keeps it does."""
                found = await client.ask("GET", f"{at}/rows?limit=100", headers=tags.get(client, ""))
                if tag := header_value(found[1], "ETag"):
                    tags[client] = f"If-None-Match: {tag}\r\n"
                return found

            kinds: dict[str, Ask] = {
                "one row": lambda client: client.ask("GET", row()),
                "cell edit": lambda client: client.ask("PUT", f"{row()}/cells/Employees", edit()),
                "100 rows": lambda client: client.ask("GET", page()),
                "100 rows, gzip": lambda client: client.ask("GET", page(), headers="Accept-Encoding: gzip\r\n"),
                "100 rows, unchanged": ask_again,
            }
            port = int(address.rpartition(":")[2])
            print(f"{people} clients, {people * rate:g} requests a second, a table of {rows:,} rows")
            print(f"{'':>22}{'p50 ms':>8}{'p95 ms':>8}{'x bare':>8}{'x bare':>8}{'CPU ms':>8}{'bytes':>9}")
            async with bare_server() as (bare_port, bare_pid), connected(bare_port, tokens) as bare_clients:
                bare = await time_requests(bare_clients, lambda client: client.ask("GET", "/"), bare_pid, rate, seconds)
                show("bare request", bare, bare)
                async with connected(port, tokens) as clients:
                    for kind, ask in kinds.items():
                        if only and only not in kind:
                            continue
                        # What is imported or opened once is no latency.
                        await time_requests(clients, ask, pid, rate, 1)
                        found = await time_requests(clients, ask, pid, rate, seconds)
                        show(kind, found, bare)
                        held &= found.p50 <= HOLD_P50_MS and found.p95 <= HOLD_P95_MS
                        held &= found.statuses <= {200, 304}
    return held


def show(kind: str, found: Latencies, bare: Latencies) -> None:
    said = "" if found.statuses == {200} else f"  {sorted(found.statuses)}"
    ratios = f"{found.p50 / bare.p50:>8.1f}{found.p95 / bare.p95:>8.1f}"
    print(f"{kind:>22}{found.p50:>8.2f}{found.p95:>8.2f}{ratios}{found.cpu:>8.2f}{found.size:>9,}{said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rate", type=float, default=5, help="requests a second of each client")
    parser.add_argument("--seconds", type=float, default=10, help="for each kind of request")
    parser.add_argument("--only", default="", help="only the kinds with this in their name")
    arguments = parser.parse_args()
    held = asyncio.run(measure(arguments.rows, arguments.clients, arguments.rate, arguments.seconds, arguments.only))
    print("It holds." if held else f"It does not hold: p50 {HOLD_P50_MS:g} ms, p95 {HOLD_P95_MS:g} ms.")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
