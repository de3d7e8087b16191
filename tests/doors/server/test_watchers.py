"""Many people watch one run."""

from __future__ import annotations

import asyncio
import json
import re
from importlib.resources import files
from pathlib import Path

import httpx2
import pytest

from tests.doors.conftest import Shell
from tests.doors.server.test_serve import started
from tests.patience import PATIENCE

WATCHERS = 200
MOST_MEGABYTES = 100
"""What they may add to the server's memory, together with the run itself, once what runs need is loaded."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see the server's memory")
async def test_two_hundred_watch_one_run_to_its_end(shell: Shell) -> None:
    shell.environ |= {"TABLEWRIGHT_SEARCH": "sample", "TABLEWRIGHT_CONCURRENCY": "1"}
    with started(shell) as (process, address, _):
        async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=PATIENCE) as client:
            sample = (files("tablewright.sample") / "companies.csv").read_bytes()
            imported = await client.post("/api/v1/tables/import", files={"file": ("companies.csv", sample, "text/csv")})
            table_id = imported.raise_for_status().json()["table_id"]
            first = {"fields": ["City=In which city is {Company}?"], "strategy": "pipeline", "max_rows": 1}
            loaded = await client.post(f"/api/v1/tables/{table_id}/runs", json=first)
            await watch(address, loaded.raise_for_status().json()["run_id"])
            before = memory(process.pid, "VmRSS")
            asked = {"fields": ["Founded:number=What year was {Company} founded?"], "strategy": "pipeline"}
            begun = await client.post(f"/api/v1/tables/{table_id}/runs", json=asked)
            run_id = begun.raise_for_status().json()["run_id"]
            feeds = await asyncio.gather(*(watch(address, run_id) for _ in range(WATCHERS)))
            run = (await client.get(f"/api/v1/runs/{run_id}")).json()
        grown = memory(process.pid, "VmHWM") - before
    assert run["status"] == "done"
    numbers, end, _ = feeds[0]
    assert end["status"] == "done"
    assert numbers == list(range(1, run["last_event"] + 1))
    assert all(feed[:2] == (numbers, end) for feed in feeds)
    assert sum(live for _, _, live in feeds) > WATCHERS / 2
    assert grown < MOST_MEGABYTES, f"{grown:.0f} MB"


async def watch(address: str, run_id: str) -> tuple[list[int], dict[str, object], bool]:
    """The numbers of the events as they came, what the end said, and whether it watched while the run went on; by the
    bare protocol, so that the watching itself costs little."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
    writer.write(f"GET /api/v1/runs/{run_id}/events HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n".encode())
    async with asyncio.timeout(120):
        said = (await reader.read(-1)).decode()
    writer.close()
    await writer.wait_closed()
    assert said.startswith("HTTP/1.1 200"), said[:300]
    (end,) = re.findall(r"^event: end\ndata: (.*)$", said, re.MULTILINE)
    return (
        [int(number) for number in re.findall(r"^id: (\d+)$", said, re.MULTILINE)],
        json.loads(end),
        ": still here" in said,
    )


def memory(pid: int, what: str) -> float:
    """In megabytes."""
    (kilobytes,) = re.findall(rf"^{what}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(kilobytes) / 1024
