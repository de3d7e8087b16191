"""`tablewright mcp --http`: the token, and long work over a connection."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tablewright.errors import BadSetting
from tablewright.interfaces.mcp.server import create_server, http_app
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.mcp.talking import COMPANIES, FOUNDED, SAMPLE, http_server, listening, over_http

TOKEN = "a-long-secret-of-the-owner"
QUESTION = "Identify 3 AI business models with pricing and case studies"
FOLLOW_UP = "What does Lumenforge charge for a machine?"


async def test_research_and_a_shortlist_turn_need_the_token_and_tell_what_they_do(tmp_path: Path) -> None:
    async with http_server(tmp_path, token=TOKEN) as address:
        async with httpx2.AsyncClient() as http:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
                said = await http.post(address, json=call, headers=headers)
                assert (said.status_code, said.json()["error"]["type"]) == (401, "Forbidden")
                assert said.headers["WWW-Authenticate"] == "Bearer"
                assert TOKEN not in said.text

        async with over_http(address, {"Authorization": f"Bearer {TOKEN}"}) as talk:
            done = await talk("research", question=QUESTION)
            assert done["status"] == "done"
            assert done["report_markdown"].startswith("# Identify 3")
            assert {claim["verdict"] for claim in done["claims"]} <= {
                "supported",
                "contradicted",
                "qualified",
                "not checked",
            }
            told = [message for _, _, message in talk.progress]
            assert any("Round 1: " in each for each in told)
            assert done["references"][0]["quotes"]
            answered = await talk("research", research=done["research_id"], question=FOLLOW_UP)
            assert "€3.20" in answered["sentences"][0]["text"]
            assert (await talk.read(f"tablewright://research/{done['research_id']}")) == done["report_markdown"]

            turn = await talk("shortlist_turn", message="electric kettle")
            again = await talk("shortlist_turn", message="/must Capacity >= 1 l", shortlist=turn["shortlist_id"])
            assert again["shortlist_id"] == turn["shortlist_id"]
            assert again["buttons"] == ["Confirm Requirements", "Edit Requirements"]


async def test_without_a_token_it_serves_only_this_machine_and_only_under_its_name(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path), **SAMPLE)) as services:
        with pytest.raises(BadSetting, match="Without a token"):
            http_app(create_server(services), "0.0.0.0")
        app = http_app(create_server(services), "127.0.0.1")
        async with listening(app) as address, httpx2.AsyncClient() as http:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            wanted = {"Accept": "application/json, text/event-stream"}
            rebound = await http.post(address, json=call, headers={**wanted, "Host": "attacker.example"})
            assert rebound.status_code == 421
            foreign = await http.post(address, json=call, headers={**wanted, "Origin": "https://attacker.example"})
            assert foreign.status_code == 403
            passed_on = await http.post(address, json=call, headers={**wanted, "X-Forwarded-For": "203.0.113.7"})
            assert passed_on.status_code == 401
            async with over_http(address, {}, mode="legacy") as talk:
                await talk("add_rows", csv=COMPANIES, name="firms")
                done = await talk("enrich", table="firms", fields=[FOUNDED], max_rows=2)
                assert (done["status"], len(done["rows"])) == ("done", 2)
                assert talk.progress[-1][:2] == (2, 2)


async def test_where_there_are_users_a_token_of_one_is_needed(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path), **SAMPLE)) as services:
        _, editor = await services.store.users.add("eve", "editor")
        _, admin = await services.store.users.add("ada", "admin")
        app = http_app(create_server(services), "127.0.0.1")
        async with listening(app) as address, httpx2.AsyncClient() as http:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            for headers in ({}, {"Authorization": f"Bearer {editor}x"}, {"Authorization": f"Basic {admin}"}):
                assert (await http.post(address, json=call, headers=headers)).status_code == 401
            async with over_http(address, {"Authorization": f"Bearer {admin}"}, mode="legacy") as talk:
                assert (await talk("list_all", what="tables"))["tables"] == []
