"""While the database is away, each call says so instead of waiting for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.interfaces.mcp.talking import COMPANIES, FOUNDED, within
from tests.interfaces.mcp.test_context import ended
from tests.interfaces.server.test_probes import AWAY
from tests.llm.endpoint import answer, running_endpoint
from tests.patience import PATIENCE
from tests.store.outage import Outage


async def test_calls_say_that_the_database_is_away_and_work_again_when_it_is_back(
    tmp_path: Path, postgres_url: str
) -> None:
    with Outage(postgres_url) as line:
        async with within(tmp_path, patience=0.0, database_url=line.url) as talk, asyncio.timeout(PATIENCE):
            await talk("add_rows", csv=COMPANIES, name="firms")
            line.cut()
            for tool, arguments in (
                ("list_all", {"what": "tables"}),
                ("add_rows", {"csv": COMPANIES, "name": "lost"}),
                ("enrich", {"table": "firms", "fields": [FOUNDED]}),
                ("recheck", {"table": "firms"}),
                ("ask", {"question": "Which firm is the oldest?"}),
                ("find", {"question": "electric kettles"}),
                ("research", {"question": "How does Lumenforge make money?"}),
                ("shortlist_turn", {"message": "electric kettle"}),
            ):
                error = await talk.refused(tool, **arguments)
                assert (error["type"], error["what"] in AWAY) == ("Unreachable", True), (tool, error)
                assert "127.0.0.1" not in str(error)
            line.mend()
            assert [each["name"] for each in (await talk("list_all", what="tables"))["tables"]] == ["firms"]


async def test_a_run_that_was_waited_for_goes_on_when_the_database_is_back(tmp_path: Path, postgres_url: str) -> None:
    async with running_endpoint() as endpoint:
        endpoint.otherwise = answer({"cells": []})
        endpoint.open_gate.clear()
        model = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k", "attempts": "1"}
        with Outage(postgres_url) as line:
            settings = model | {"database_url": line.url}
            async with within(tmp_path, patience=0.0, **settings) as talk, asyncio.timeout(PATIENCE):
                await talk("add_rows", csv=COMPANIES, name="firms")
                column = "Slogan=Write a slogan for {Company}"
                asked = talk.refused("enrich", table="firms", fields=[column], strategy="transform")
                calling = asyncio.create_task(asked)
                await endpoint.somebody_waits.wait()
                line.cut()
                error = await calling
                assert (error["type"], error["what"] in AWAY) == ("Unreachable", True)
                assert "continues by itself when the database is back" in error["kept"]
                endpoint.open_gate.set()
                line.mend()
                run = await ended(talk, "enrich")
                assert (run["status"], run["done"]) == ("done", 3)
