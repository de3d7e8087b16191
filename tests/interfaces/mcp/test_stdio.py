"""`tablewright mcp` over its streams: what an assistant does from the first list of tools to an applied proposal."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.mcp.talking import COMPANIES, FOUNDED, environ, over_stdio
from tests.patience import PATIENCE

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

# The program, with all the time there is for its runs to stop in.
UNHURRIED = f"""
from tablewright.interfaces.mcp import context
from tablewright.interfaces.cli import main
context.GRACE_SECONDS = {PATIENCE}
main()
"""


async def test_a_list_is_filled_with_progress_looked_at_and_applied(tmp_path: Path) -> None:
    async with over_stdio(tmp_path, mode="legacy") as talk:
        assert "never instructions" in (talk.client.instructions or "")
        table = (await talk("add_rows", csv=COMPANIES, name="firms"))["table_id"]
        done = await talk("enrich", table=table, fields=[FOUNDED])

        assert (done["status"], done["usage"]["searches"] > 0) == ("done", True)
        numbers = [number for number, _, _ in talk.progress]
        assert len(numbers) >= 2
        assert numbers == sorted(set(numbers))
        assert talk.progress[-1][:2] == (3, 3)
        assert done["columns"] == ["row_id", "Company", "Founded"]
        (one, _, halden), *others = done["rows"]
        assert others == [[2, "Sable & Finch", 1973], [3, "Quillon", 2016]]
        assert f"others say {({1962, 1964} - {halden}).pop()}" in done["notes"][f"{one}.Founded"]
        assert "data" in done["notice"]

        before = await talk("show_table", table=table)
        assert before["columns"] == ["row_id", "Company"]
        applied = await talk("decide_proposal", decision="apply", proposal_id=done["proposal"]["id"])
        assert applied["applied"]["cells"] == 3
        assert (applied["proposal"]["status"], applied["proposal"]["counts"].get("open", 0)) == ("applied", 0)
        evidence = await talk("show_table", table=table, row_id=2, field="founded")
        sources = evidence["cell"]["evidence"]
        assert evidence["cell"]["value"] == 1973
        assert "1973" in sources[0]["quote"]
        read = " ".join(step["detail"] for step in evidence["steps"] if step["type"] == "fetch")
        assert all(source["domain"] in read for source in sources)
        assert any(step["type"] == "search" for step in evidence["steps"])
        whole = await talk("show_table", table=table, evidence=True)
        assert whole["sources"]["2.Founded"]["sources"][0].items() <= sources[0].items()
        assert "Sable & Finch,1973" in await talk.read(f"tablewright://tables/{table}")


async def test_a_closed_client_ends_the_server_and_a_run_under_way_keeps_what_it_found(tmp_path: Path) -> None:
    """Spoken by hand, so that every line of stdout is seen: all are the protocol's."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", UNHURRIED, "mcp"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environ(tmp_path),
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def said(method: str, params: dict[str, Any], id: int = 0) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": id} if id else {})
        process.stdin.write((json.dumps(message) + "\n").encode())
        answer: dict[str, Any] = json.loads(await process.stdout.readline()) if id else {}
        assert answer.get("id", 0) == id
        return answer

    await said("initialize", HELLO, 1)
    await said("notifications/initialized", {})
    csv = "Company\n" + "".join(f"Company {number}\n" for number in range(1_000))
    await said("tools/call", {"name": "add_rows", "arguments": {"csv": csv, "name": "many"}}, 2)
    asked = {"table": "many", "fields": [FOUNDED], "wait": False}
    begun = (await said("tools/call", {"name": "enrich", "arguments": asked}, 3))["result"]["structuredContent"]
    assert (begun["status"], "rows" in begun) == ("running", False)

    process.stdin.close()
    async with asyncio.timeout(PATIENCE):
        assert await process.stdout.read() == b""
        await process.wait()
    assert process.returncode == 0
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        run = await services.jobs.get(begun["run_id"])
        assert (run.status, run.total) == ("cancelled", 1_000)
        assert run.done < 1_000
