"""Two people on one server: nothing of the one is there for the other, whatever route they take.

The routes come from the application itself. One that is new, with a parameter or a body that this walk does not know,
fails it until it is told here what to send.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tablewright.domain.access import Person
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Field
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tests.interfaces.server.serving import TOKEN, Served, served
from tests.interfaces.server.test_routes import READS, routes
from tests.operating import add_documents, ask, begin_research, get_conversation, list_conversations, shortlist_turn

SECRET = "Quietwater"
THINGS = (
    "table",
    "table_id",
    "run_id",
    "proposal_id",
    "document",
    "document_id",
    "conversation",
    "result",
    "research",
    "research_id",
    "shortlist",
    "shortlist_id",
    "id",
    "token",
)
# Parameters that name nothing by themselves.
BESIDE = {"row_id": "1", "field": "Company", "file": "report.csv", "kind": "table", "user": "ann", "number": "1"}
# What bodies must have, by key.
REQUIRED: dict[str, Any] = {
    "name": "Founded",
    "value": "1",
    "rows": [{"Company": "Elsewhere"}],
    "fields": [{"name": "Founded", "question": "When was {Company} founded?"}],
    "every": "day",
    "question": "Which leases end in May?",
    "message": "A kettle",
    "role": "admin",
    "to": "ann@example.org",
    "kind": "lab report",
    "request": "When was each company founded?",
}
# What queries must have, by key.
ASKED = {"query": "tenant lease", "figure": "count"}
# Writes that name no thing in their address: they make new ones.
MAKES = {
    "/api/v1/tables",
    "/api/v1/tables/import",
    "/api/v1/documents",
    "/api/v1/documents/table",
    "/api/v1/ask",
    "/api/v1/find",
    "/api/v1/find/plan",
    "/api/v1/research",
    "/api/v1/research/plan",
    "/api/v1/shortlists",
    "/api/v1/tokens",
    "/api/v1/users",
}


class World:
    def __init__(self, server: Served, known: dict[str, str], tokens: dict[str, str]) -> None:
        self.server = server
        self.known = known
        self.tokens = tokens


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True) as server:
        tokens = {name: server.add_user(name, "editor") for name in ("ann", "bob")}
        tokens["vic"] = server.add_user("vic", "viewer")
        folder = tmp_path_factory.mktemp("files")
        known = server.do(lambda services: one_of_each(services, folder))
        yield World(server, known, tokens)


async def one_of_each(services: Services, folder: Path) -> dict[str, str]:
    """Of Ann's things."""
    ann = services.acting("ann", await person(services, "ann"))
    rows = folder / "companies.csv"
    rows.write_text(f"Company,Price\n{SECRET} Ltd,2\n")
    lease = folder / f"{SECRET} lease.txt"
    lease.write_text(f"Lease\n\nTenant: {SECRET} Ltd\nEnds: 3 May 2027\n")
    table = (await import_table_file(ann, rows, FileOptions(name=SECRET))).table
    fill = await plan_fill(ann, table.id, [Field(name="Twice", question="={Price} * 2")], "computation")
    run = await fill.run()
    await add_documents(ann, [lease])
    reply = await ask(ann, "Which leases end in 2027?")
    research = await begin_research(ann, f"Which towns are near {SECRET}?")
    shortlist = await ann.store.shortlists.start()
    await shortlist_turn(ann, shortlist.id, f"A kettle for {SECRET}", exports=folder)
    return {
        "table": table.id,
        "table_id": table.id,
        "run_id": run.run_id,
        "proposal_id": run.proposal_id,
        "document": (document := (await ann.store.documents.all())[0].id),
        "document_id": document,
        "conversation": reply.conversation,
        "result": reply.result_id or await ann.store.results.keep(SECRET, ["Lease"], []),
        "research": research.id,
        "research_id": research.id,
        "shortlist": shortlist.id,
        "shortlist_id": shortlist.id,
        "id": table.id,
        "token": (await ann.store.tokens.all("ann"))[0].id,
    }


async def person(services: Services, name: str) -> Person:
    return next(each for each in await services.store.users.all() if each.name == name)


async def everything(services: Services) -> list[Any]:
    """All that Ann has, to be compared afterwards."""
    ann = services.acting("ann", await person(services, "ann"))
    tables = await ann.tables()
    return [
        tables,
        [await ann.load(each.id) for each in tables],
        await ann.store.proposals.all(),
        await ann.jobs.all(),
        await ann.store.documents.all(),
        [await get_conversation(ann, each) for each in await list_conversations(ann)],
        [await ann.store.researches.get(each.id) for each in await ann.store.researches.all()],
        await ann.store.shortlists.all(),
    ]


def body_for(app: FastAPI, method: str, path: str) -> Any:
    """The least that a route takes."""
    spec = app.openapi()
    operation = spec["paths"].get(re.sub(r":\w+}", "}", path), {}).get(method.lower(), {})
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    schema = content["schema"]
    schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return {key: REQUIRED[key] for key in schema.get("required", ())}


def query_for(app: FastAPI, method: str, path: str) -> dict[str, str]:
    """The least that a route asks for in its address."""
    operation = app.openapi()["paths"].get(re.sub(r":\w+}", "}", path), {}).get(method.lower(), {})
    asked = [each for each in operation.get("parameters", ()) if each["in"] == "query" and each.get("required")]
    return {each["name"]: ASKED[each["name"]] for each in asked}


def filled(path: str, values: dict[str, str]) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda match: values[match[1]], path)


def ours(app: FastAPI) -> list[tuple[str, str]]:
    """All but the files of the page's own libraries, which are the same for everybody."""
    found = [each for each in routes(app) if each[0] not in ("HEAD", "WEBSOCKET")]
    return [each for each in found if not each[1].startswith(("/_nicegui", "/page-files"))]


def test_the_walk_knows_what_every_route_is_about(world: World) -> None:
    walked = ours(world.server.app)
    assert len(walked) > 90
    named = {name for _, path in walked for name in re.findall(r"{(\w+)", path)}
    assert named - {"path"} <= set(THINGS) | set(BESIDE)
    makes = {path for method, path in walked if method != "GET" and path.startswith("/api/") and "{" not in path}
    assert makes - {"/api/{path:path}"} == MAKES
    for method, path in walked:
        body_for(world.server.app, method, path)


@pytest.mark.parametrize("name", ["bob", "vic"])
def test_what_is_anns_is_to_others_as_if_it_never_was(world: World, name: str) -> None:
    server, known = world.server, world.known
    before = server.do(everything)
    invented = {key: "x" * len(each) for key, each in known.items()}
    with server.client(world.tokens[name]) as other:
        for method, path in ours(server.app):
            if not path.startswith(("/api/", "/page-data/")) or (path in MAKES and method != "GET") or "{path" in path:
                continue
            body, query = body_for(server.app, method, path), query_for(server.app, method, path)
            theirs, nobodys = [
                other.request(method, filled(path, BESIDE | values), json=body, params=query)
                for values in (known, invented)
            ]
            assert SECRET not in theirs.text, (method, path)
            assert theirs.status_code != 422, (method, path, theirs.text)  # it was understood
            if not any("{" + thing + "}" in path for thing in THINGS):
                assert not [each for each in known.values() if each in theirs.text], (method, path)
                continue
            assert theirs.status_code == nobodys.status_code, (method, path)
            may_not = name == "vic" and method != "GET" and path not in READS and "/tokens/" not in path
            refused = (403,) if "/users/" in path or may_not else (404,)
            assert theirs.status_code in refused, (method, path, theirs.text)
            said = theirs.text
            for key, each in known.items():
                said = said.replace(each, invented[key])
            assert said == nobodys.text, (method, path)
        for path in ("/api/v1/runs", "/api/v1/proposals"):
            assert other.get(path, params={"table": known["table_id"]}).status_code == 404, path
    assert server.do(everything) == before


@pytest.mark.parametrize("name", ["bob", "vic"])
def test_what_is_anns_is_not_there_by_its_name_either(world: World, name: str) -> None:
    server, named = world.server, {"table": SECRET, "document": f"{SECRET} lease.txt"}
    before = server.do(everything)
    invented = {key: each.replace(SECRET, "x" * len(SECRET)) for key, each in named.items()}
    walked = [each for each in ours(server.app) if re.search("{(table|document)}", each[1])]
    assert len(walked) > 30
    with server.client(world.tokens["ann"]) as ann:
        for path in ("/api/v1/tables/{table}", "/api/v1/documents/{document}"):
            assert ann.get(filled(path, named)).status_code == 200, path
    with server.client(world.tokens[name]) as other:
        for method, path in walked:
            body = body_for(server.app, method, path)
            theirs, nobodys = [
                other.request(method, filled(path, BESIDE | values), json=body) for values in (named, invented)
            ]
            assert theirs.status_code == nobodys.status_code in (403, 404), (method, path)
            assert theirs.text.replace(SECRET, "x" * len(SECRET)) == nobodys.text, (method, path)
    assert server.do(everything) == before


def test_what_is_anns_is_there_for_her(world: World) -> None:
    server, known = world.server, world.known
    with server.client(world.tokens["ann"]) as ann:
        for method, path in ours(server.app):
            about = [thing for thing in THINGS if "{" + thing + "}" in path]
            if (
                method == "GET"
                and about
                and path.startswith("/api/")
                and not re.search("events|files|report|found", path)
            ):
                answer = ann.get(filled(path, BESIDE | known))
                assert answer.status_code == 200, (path, answer.text)


@pytest.mark.parametrize("name", ["bob", "vic"])
def test_no_page_shows_anything_of_hers(world: World, name: str) -> None:
    server, known = world.server, world.known
    with server.browser(world.tokens[name]) as other:
        for method, path in ours(server.app):
            if method != "GET" or path.startswith("/api/") or "{path" in path:
                continue
            shown = other.get(filled(path, BESIDE | known), follow_redirects=True).text
            assert SECRET not in shown, path
        for address in (f"/ask?conversation={known['conversation']}", f"/runs?table={known['table_id']}"):
            assert SECRET not in other.get(address, follow_redirects=True).text, address
    with server.browser(world.tokens["ann"]) as ann:
        shown = ann.get(f"/tables/{known['table_id']}").text
        assert SECRET in shown
        assert "group_add" in shown  # the button to share it
        assert SECRET in ann.get(f"/documents/{known['document_id']}").text


def test_a_question_is_answered_from_ones_own_documents_alone(world: World) -> None:
    asked = {"question": "Which leases end in 2027?"}
    with world.server.client(world.tokens["bob"]) as bob:
        assert SECRET not in bob.post("/api/v1/ask", json=asked).text
        gone_on = asked | {"conversation": world.known["conversation"]}
        files = {"files": ("barn.txt", b"Lease\n\nTenant: Barnacle Ltd\nEnds: 4 June 2027\n")}
        assert bob.post("/api/v1/documents", files=files).status_code == 201
        told = bob.post("/api/v1/ask", json=asked)
        assert (told.status_code, SECRET in told.text, "barn.txt" in told.text) == (200, False, True)
        assert bob.post("/api/v1/ask", json=gone_on).status_code == 404
        table = bob.post("/api/v1/documents/table", json={"name": "mine"}).json()
        assert table["row_count"] == 1
        asked_of_all = {"fields": [{"name": "Tenant", "question": "Who is the tenant?"}], "strategy": "documents"}
        run = bob.post(f"/api/v1/tables/{table['table_id']}/runs", json=asked_of_all)
        assert run.status_code == 202, run.text
        with bob.stream("GET", f"/api/v1/runs/{run.json()['run_id']}/events") as events:
            assert SECRET not in "".join(events.iter_text())
        proposal = bob.get("/api/v1/proposals").json()["proposals"][0]["id"]
        assert SECRET not in bob.get(f"/api/v1/proposals/{proposal}/operations").text


def test_who_hands_in_the_same_file_learns_nothing_of_the_others(world: World) -> None:
    with world.server.client(world.tokens["bob"]) as bob:
        text = f"Lease\n\nTenant: {SECRET} Ltd\nEnds: 3 May 2027\n".encode()
        added = bob.post("/api/v1/documents", files={"files": (f"{SECRET} lease.txt", text)}).json()
        assert (added["added"], added["same"], added["unchanged"]) == (1, [], 0)
        (own,) = added["documents"]
        assert bob.delete(f"/api/v1/documents/{own['id']}").status_code == 200
    with world.server.client(world.tokens["ann"]) as ann:
        assert ann.get(f"/api/v1/documents/{world.known['document_id']}").status_code == 200


def test_what_ann_shares_is_seen_by_those_she_names_and_by_no_one_else(world: World) -> None:
    server, known = world.server, world.known
    places = {
        "table": f"/api/v1/tables/{known['table_id']}",
        "document": f"/api/v1/documents/{known['document_id']}",
        "conversation": f"/api/v1/conversations/{known['conversation']}",
        "research": f"/api/v1/research/{known['research']}",
        "shortlist": f"/api/v1/shortlists/{known['shortlist']}",
    }
    ann, bob, vic = (server.client(world.tokens[name]) for name in ("ann", "bob", "vic"))
    with ann, bob, vic:
        for kind, place in places.items():
            sharing = f"/api/v1/shares/{kind}/{known.get(kind) or known[f'{kind}_id']}"
            assert ann.put(sharing, json={"people": ["vic"]}).json()["people"] == ["vic"]
            assert (vic.get(place).status_code, bob.get(place).status_code) == (200, 404), kind
            assert vic.put(sharing, json={"everyone": True}).status_code == 403
            assert ann.put(sharing, json={"people": ["bob"]}).json()["people"] == ["bob"]
            assert (vic.get(place).status_code, bob.get(place).status_code) == (404, 200), kind
            assert bob.put(sharing, json={"everyone": True}).status_code == 403
            assert bob.delete(place).status_code == 403, kind
            assert ann.put(sharing, json={"everyone": True}).json()["everyone"] is True
            assert (vic.get(place).status_code, bob.get(place).status_code) == (200, 200), kind
            assert ann.put(sharing, json={}).json()["people"] == []
            assert (vic.get(place).status_code, bob.get(place).status_code) == (404, 404), kind
            assert ann.put(sharing, json={"people": ["nobody"]}).status_code == 404
