"""Many people watch one run."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest

from tablewright.interfaces.api.events import ALIVE
from tests.interfaces.conftest import Shell
from tests.interfaces.server.test_serve import started
from tests.llm.endpoint import answer, running_endpoint
from tests.patience import PATIENCE

# The numbers of the events as they came, and what the end said.
Feed: TypeAlias = tuple[list[int], dict[str, object]]
WATCHERS = 200
# What they may add to the server's memory, together with the run itself, once what runs need is loaded.
MOST_MEGABYTES = 100


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see the server's memory")
async def test_two_hundred_watch_one_run_to_its_end(shell: Shell) -> None:
    async with running_endpoint() as model:
        model.otherwise = answer({"cells": []})
        shell.environ |= {"TABLEWRIGHT_MODEL": "openai:gpt-4o-mini", "TABLEWRIGHT_MODEL_API_KEY": "k"}
        shell.environ |= {"TABLEWRIGHT_MODEL_BASE_URL": model.url, "TABLEWRIGHT_ATTEMPTS": "1"}
        with started(shell) as (process, address, _):
            async with httpx2.AsyncClient(base_url=f"{address}/api/v1", trust_env=False, timeout=PATIENCE) as client:
                rows = [{"Company": f"Company {number}"} for number in range(12)]
                table = (await client.post("/tables", json={"name": "firms", "rows": rows})).raise_for_status().json()

                async def watched(column: str, count: int) -> tuple[str, list[Feed]]:
                    """A run that so many watch. It goes on as long as they come."""
                    model.open_gate.clear()
                    asked = {"fields": [f"{column}=Write one for {{Company}}"], "strategy": "transform"}
                    begun = await client.post(f"/tables/{table['table_id']}/runs", json=asked)
                    run_id = str(begun.raise_for_status().json()["run_id"])
                    watchers = [await watching(address, run_id) for _ in range(count)]
                    model.open_gate.set()
                    return run_id, await asyncio.gather(*map(end_of, watchers))

                await watched("Motto", 1)
                before = memory(process.pid, "VmRSS")
                run_id, feeds = await watched("Slogan", WATCHERS)
                run = (await client.get(f"/runs/{run_id}")).json()
            grown = memory(process.pid, "VmHWM") - before
    assert run["status"] == "done"
    numbers, end = feeds[0]
    assert end["status"] == "done"
    assert numbers == list(range(1, run["last_event"] + 1))
    assert all(feed == (numbers, end) for feed in feeds)
    assert grown < MOST_MEGABYTES, f"{grown:.0f} MB"


async def watching(address: str, run_id: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """By the bare protocol, so that the watching itself costs little. Returns when it is heard that the run goes on."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
    writer.write(f"GET /api/v1/runs/{run_id}/events HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n".encode())
    async with asyncio.timeout(PATIENCE):
        said = await reader.readuntil(ALIVE)
    assert said.startswith(b"HTTP/1.1 200"), said[:300]
    return reader, writer


async def end_of(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> Feed:
    reader, writer = connection
    async with asyncio.timeout(PATIENCE):
        said = (await reader.read(-1)).decode()
    writer.close()
    await writer.wait_closed()
    (end,) = re.findall(r"^event: end\ndata: (.*)$", said, re.MULTILINE)
    return [int(number) for number in re.findall(r"^id: (\d+)$", said, re.MULTILINE)], json.loads(end)


def memory(pid: int, what: str) -> float:
    """In megabytes."""
    (kilobytes,) = re.findall(rf"^{what}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(kilobytes) / 1024
