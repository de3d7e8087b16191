"""Who may see and do what: viewers look, editors change, everybody only what is theirs."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from tests.interfaces.api.using import FOUNDED, Api


def fill(path: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        path = path.replace("{" + name + "}", value)
    assert "{" not in path, path
    return path


@pytest.fixture
def ids(api: Api) -> dict[str, str]:
    """One of everything, all of them the owner's but a token, which is Ann's."""
    table_id = api.bring_in()
    run = api.run(table_id, "Twice:number=1+1")
    research = api.post("/research", {"question": "Who founded Brightwater Foods?", "max_searches": 1}, 202)
    api.watch(research["run_id"])
    receipt = ("a.txt", b"Receipt\nTotal: 12.50 EUR\nItem: tires\n")
    added = api.send("POST", "/documents", files=[("files", receipt)]).json()
    answer = api.post("/ask", {"question": "all receipts that contain tires"})
    api.post("/users", {"name": "ann"}, 201)
    return {
        "table": table_id,
        "table_id": table_id,
        "run_id": run["run_id"],
        "proposal_id": run["proposal_id"],
        "research": research["research_id"],
        "document": added["documents"][0]["id"],
        "conversation": answer["conversation"],
        "result": api.server.do(lambda services: services.store.results.keep("Which?", ["Item"], [])),
        "shortlist": api.post("/shortlists", {}, 201)["id"],
        "kind": "table",
        "id": table_id,
        "token": api.post("/tokens", {"user": "ann"}, 201)["token"]["id"],
        "row_id": "1",
        "field": "Country",
        "user": "ann",
        "file": "a.csv",
    }


def operations(api: Api) -> list[tuple[str, str, dict[str, Any]]]:
    paths = api.client.get("/api/v1/openapi.json").json()["paths"]
    return [
        (method.upper(), path.removeprefix("/api/v1"), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if path.startswith("/api/v1")
    ]


def test_what_belongs_to_others_is_not_there(api: Api, ids: dict[str, str]) -> None:
    eve = api.of("eve", "editor")
    asked = 0
    for method, path, operation in operations(api):
        if "{" not in path or path.startswith("/users"):
            continue
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        examples = example_of(api, body) if body else None
        answer = eve.send(method, fill(path, ids), json=examples)
        assert answer.status_code == 404, f"{method} {path}: {answer.text}"
        asked += 1
    assert asked > 60
    for listed in ("tables", "runs", "proposals", "research", "shortlists"):
        page = eve.get(f"/{listed}")
        assert {name: value for name, value in page.items() if value} == {}
    assert [table["id"] for table in api.get("/tables")["tables"]]  # and all of it is still there


def example_of(api: Api, body: dict[str, Any]) -> Any:
    """The least that the schema asks for."""
    name = body["schema"]["$ref"].rsplit("/", 1)[1]
    schema = api.client.get("/api/v1/openapi.json").json()["components"]["schemas"][name]
    known: dict[str, Any] = {
        "name": "x",
        "fields": [FOUNDED],
        "rows": [{"Company": "x"}],
        "value": "x",
        "question": "Who?",
        "every": "day",
        "to": "ann@example.org",
        "kind": "receipt",
        "message": "A kettle",
        "request": "When was each company founded?",
    }
    return {key: known[key] for key in schema.get("required", [])}


def test_a_viewer_looks_at_what_was_granted_and_changes_nothing(api: Api, ids: dict[str, str]) -> None:
    vic = api.of("vic", "viewer")
    api.put(f"/shares/table/{ids['table_id']}", {"people": ["vic"]})
    for method, path, _ in operations(api):
        if method == "GET":
            if "{table}" in path:
                found = 404 if "/found" in path else 200  # its rows were imported
                assert vic.send(method, fill(path, ids)).status_code == found, path
        elif not path.startswith("/tokens"):  # their own
            assert vic.refused(403, method, fill(path, ids), json={})["type"] == "Forbidden"
    assert vic.get(f"/runs/{ids['run_id']}")["status"] == "done"
    api.send("PATCH", f"/tables/{ids['table_id']}", json={"name": "Firms"})
    assert api.put("/shares/table/Firms", {})["people"] == []
    assert vic.refused(404, "GET", f"/tables/{ids['table_id']}")
    assert api.refused(404, "PUT", "/shares/table/nowhere", json={})


def test_an_editor_sees_and_shares_nothing_but_what_they_made(api: Api) -> None:
    ann, bo = api.of("ann", "editor"), api.of("bo", "editor")
    table_id = ann.bring_in()
    assert [table["id"] for table in ann.get("/tables")["tables"]] == [table_id]
    assert bo.get("/tables")["tables"] == []
    run = ann.run(table_id, "Twice:number=1+1")
    ann.post(f"/proposals/{run['proposal_id']}/apply")
    assert ann.get(f"/tables/{table_id}/history")["changes"][0]["actor"] == "ann"
    assert bo.get("/runs")["runs"] == []
    assert bo.refused(404, "GET", "/tables/COMPANIES")["message"] == "There is no table 'COMPANIES'."


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_admins_see_to_users(api: Api, role: Any) -> None:
    somebody = api.of("somebody", role)
    assert somebody.refused(403, "GET", "/users")["type"] == "Forbidden"
    assert somebody.refused(403, "POST", "/users", json={"name": "eve", "role": "admin"})["type"] == "Forbidden"
    assert [user["name"] for user in api.get("/users")["users"]] == ["somebody"]


def test_a_token_is_shown_once_and_is_worth_nothing_after_it_was_renewed(api: Api) -> None:
    made = api.post("/users", {"name": "ann", "role": "editor"}, 201)
    with api.server.client(made["token"]) as ann:
        assert ann.get("/api/v1/version").json() == {"version": version("tablewright"), "user": "ann", "role": "editor"}
        renewed = api.post("/users/ann/token")
        assert ann.get("/api/v1/version").status_code == 401
    assert made["token"] not in str(api.get("/users"))
    api.put("/users/ann", {"role": "viewer"})
    with api.server.client(renewed["token"]) as ann:
        assert ann.get("/api/v1/version").json()["role"] == "viewer"
        api.delete("/users/ann")
        assert ann.get("/api/v1/version").status_code == 401
