"""Two people and their assistants: no tool, and no resource, has anything of the one for the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from tablewright.interfaces.mcp.server import create_server, http_app, server_for
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.mcp.talking import SAMPLE, listening, over_http
from tests.interfaces.mcp.test_tools import MOST_TOOLS, READING
from tests.interfaces.server.test_two_people import SECRET, everything, one_of_each, person
from tests.operating import add_documents, share
from tests.patience import PATIENCE

# Parameters that name a thing, and which.
NAMES = {
    "table": "table_id",
    "run_id": "run_id",
    "proposal_id": "proposal_id",
    "research": "research",
    "shortlist": "shortlist",
    "conversation": "conversation",
}
REQUIRED: dict[str, Any] = {
    "row_id": 1,
    "field": "Company",
    "columns": ["Founded=When was {Company} founded?"],
    "fields": ["Founded=When was {Company} founded?"],
    "what": "documents",
    "decision": "apply",
    "action": "cancel",
    "paths": ["/"],
    "question": "Which leases end in 2027?",
    "query": "lease",
    "figure": "count",
    "message": "A kettle",
}
MAKES = {"research"}
RESOURCES = NAMES | {"result_id": "result", "document": "document_id"}


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with Services.open(Settings(home=str(tmp_path / "home"), **SAMPLE)) as opened:
        for name in ("ann", "bob"):
            await opened.store.users.add(name, "editor")
        await opened.store.users.add("vic", "viewer")
        yield opened


async def test_no_tool_tells_or_changes_anything_of_somebody_else(services: Services, tmp_path: Path) -> None:
    known = await one_of_each(services, tmp_path)
    before = await everything(services)
    invented = {key: "x" * len(each) for key, each in known.items()}
    bob = await person(services, "bob")
    barn = tmp_path / "barn.txt"
    barn.write_text("Lease\n\nTenant: Barnacle Ltd\nEnds: 4 June 2027\n")
    await add_documents(services.acting("bob", bob), [barn])
    server = server_for(bob, services)
    async with Client(server, mode="auto") as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == MOST_TOOLS
        for tool in tools:
            if tool.name in MAKES:
                continue
            schema = tool.input_schema
            things = [name for name in schema["properties"] if name in NAMES]
            needed = {name: REQUIRED[name] for name in schema.get("required", ()) if name not in NAMES}
            said = []
            for ids in (known, invented):
                result = await client.call_tool(tool.name, needed | {name: ids[NAMES[name]] for name in things})
                text = "".join(part.text for part in result.content)  # type: ignore[union-attr]
                assert SECRET not in text, tool.name
                if things:
                    assert result.is_error, tool.name
                    text = text.replace(ids[NAMES[things[0]]], "…")
                    assert not [each for each in ids.values() if each in text], tool.name
                    said.append(text)
            assert len(set(said)) <= 1, tool.name
        listed = (await client.list_resources()).resources
        assert SECRET not in repr(listed)
        assert len(listed) == 1
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 6
        for template in templates:
            uri = template.uri_template
            for name in RESOURCES:
                uri = uri.replace("{" + name + "}", known[RESOURCES[name]])
            with pytest.raises(Exception, match="There is no"):
                await client.read_resource(uri)
    await server.context.close()
    assert await everything(services) == before


async def test_a_viewer_is_offered_only_what_looks(services: Services) -> None:
    server = server_for(await person(services, "vic"), services)
    async with Client(server, mode="auto") as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


async def test_over_http_each_user_has_tables_and_sessions_of_their_own(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path / "home"), **SAMPLE)) as services:
        tokens = {name: (await services.store.users.add(name, "editor"))[1] for name in ("ann", "bob")}
        tokens["ada"] = (await services.store.users.add("ada", "admin"))[1]
        app = http_app(create_server(services), "127.0.0.1")
        headers = {name: {"Authorization": f"Bearer {token}"} for name, token in tokens.items()}
        async with listening(app) as address:
            async with over_http(address, headers["ann"], mode="legacy") as ann:
                await ann("add_rows", csv="Company\nHalden\n", name="firms")
                table = (await ann("list_all", what="tables"))["tables"][0]["id"]
                async with over_http(address, headers["bob"], mode="legacy") as bob:
                    assert (await bob("list_all", what="tables"))["tables"] == []
                    assert (await bob.refused("show_table", table=table))["type"] == "NotFound"
                    await share(services, "table", table, ["bob"])
                    assert (await bob("show_table", table="firms"))["rows"]
            async with over_http(address, headers["ada"], mode="legacy") as ada:
                assert len((await ada("list_all", what="tables"))["tables"]) == 1
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                accepted = {"Accept": "application/json, text/event-stream"}
                begin = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "initialize",
                    "params": {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"},
                    },
                }
                begun = await http.post(address, json=begin, headers=headers["ann"] | accepted)
                session = {"mcp-session-id": begun.headers["mcp-session-id"]}
                call = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
                taken = await http.post(address, json=call, headers=headers["bob"] | accepted | session)
                assert taken.status_code == 404
                own = await http.post(address, json=call, headers=headers["ann"] | accepted | session)
                assert own.status_code == 200
