"""A client that is generated from the OpenAPI document alone: what a program in another language has."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx2

from tests.interfaces.api.using import COMPANIES, Api


class Generated:
    """A function for each operation, by its id; parameters go where the document says."""

    def __init__(self, client: httpx2.Client, document: dict[str, Any]) -> None:
        self._client = client
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                assert not hasattr(self, operation["operationId"])
                setattr(self, operation["operationId"], partial(self._call, method, path, operation))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _call(self, method: str, path: str, operation: dict[str, Any], *, body: Any = None, **given: Any) -> Any:
        places = {each["name"]: each["in"] for each in operation.get("parameters", ())}
        assert given.keys() <= places.keys()
        for name in [name for name in given if places[name] == "path"]:
            path = path.replace(f"{{{name}}}", str(given.pop(name)))
        content = next(iter(operation.get("requestBody", {}).get("content", {})), "")
        sent = {"files": body} if content.startswith("multipart") else {"json": body} if content else {}
        answer = self._client.request(method.upper(), path, params=given, **sent)
        responses, status = operation["responses"], str(answer.status_code)
        described = (responses.get(status) or responses.get(f"{status[0]}XX") or responses["default"])["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in described
        is_file = described[kind]["schema"].get("format") == "binary"
        return answer.content if is_file else answer.json()


def test_a_generated_client_imports_fills_applies_corrects_and_exports(api: Api) -> None:
    document = api.client.get("/api/v1/openapi.json").json()
    client = Generated(api.client, document)
    table = client.import_table(body={"file": ("companies.csv", COMPANIES.encode())})["table_id"]
    run = client.start_fill(table=table, body={"fields": ["Name:text=upper({Company})"]})["run_id"]
    ended = api.watch(run)[-1][1]
    assert client.get_run(run_id=run)["status"] == ended["status"] == "done"
    assert client.apply_proposal(proposal_id=ended["proposal_id"], body={})["applied"]["cells"] == 3
    client.set_cell(table=table, row_id=1, field="Name", body={"value": "BW"})
    client.flag_cell(table=table, row_id=2, field="Name", body={"note": "odd"})
    warned = api.send("GET", f"/tables/{table}/export").headers["tablewright-warning"]
    assert warned == "1 exported value is flagged as doubtful."
    exported = client.export_table(table=table, format="csv", evidence=True).decode().splitlines()
    assert exported[1].startswith("Brightwater Foods,United Kingdom,BW,")
    assert "FLAGGED" in exported[2]
    assert client.get_table(table="nothing")["error"]["type"] == "NotFound"
    upload = document["components"]["schemas"]["Body_import_table"]["properties"]["file"]
    assert upload["format"] == "binary"


def test_head_is_answered_like_get_without_the_body(api: Api) -> None:
    seen, headed = api.send("GET", "/tables"), api.send("HEAD", "/tables")
    assert (headed.status_code, headed.content) == (200, b"")
    assert headed.headers["content-length"] == seen.headers["content-length"]
    assert api.send("HEAD", "/tables/nothing").status_code == 404
