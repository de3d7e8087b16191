"""The API as a program uses it, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tablewright.domain.access import Role
from tests.interfaces.server.serving import TOKEN, Served, error_of, served

COMPANIES = "Company,Country\nBrightwater Foods,United Kingdom\nKestrelworks,United Kingdom\nVindarö Kraft,Sweden\n"
FOUNDED = "Founded:number=What year was {Company} founded?"


class Api:
    def __init__(self, client: httpx2.Client, server: Served, stack: ExitStack) -> None:
        self.client = client
        self.server = server
        self._stack = stack

    def of(self, name: str, role: Role) -> Api:
        """As somebody else sees it."""
        client = self._stack.enter_context(self.server.client(self.server.add_user(name, role)))
        return Api(client, self.server, self._stack)

    def send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        return self.client.request(method, f"/api/v1{path}", **request)

    def get(self, path: str, code: int = 200, **query: Any) -> Any:
        return answered(self.send("GET", path, params=query), code)

    def post(self, path: str, body: Any = None, code: int = 200, **request: Any) -> Any:
        return answered(self.send("POST", path, json={} if body is None else body, **request), code)

    def put(self, path: str, body: Any, code: int = 200) -> Any:
        return answered(self.send("PUT", path, json=body), code)

    def delete(self, path: str, code: int = 200) -> Any:
        return answered(self.send("DELETE", path), code)

    def refused(self, code: int, method: str, path: str, **request: Any) -> Any:
        """The error, whose shape is checked too."""
        response = self.send(method, path, **request)
        assert response.status_code == code, response.text
        return error_of(response)

    def bring_in(self, content: str | bytes = COMPANIES, name: str = "companies.csv", **options: str) -> str:
        """The id of the table."""
        data = content.encode() if isinstance(content, str) else content
        made = answered(self.send("POST", "/tables/import", files={"file": (name, data)}, data=options), 201)
        return str(made["table_id"])

    def run(self, table_id: str, *fields: str, **asked: Any) -> Any:
        """The run, once it has ended."""
        started = self.post(f"/tables/{table_id}/runs", {"fields": list(fields), **asked}, 202)
        return self.watch(started["run_id"])[-1][1]

    def watch(self, run_id: str, **headers: str) -> list[tuple[str, Any]]:
        """All events until the run ends: the kind, and what it says."""
        with self.client.stream("GET", f"/api/v1/runs/{run_id}/events", headers=headers) as stream:
            assert stream.status_code == 200
            return list(events(stream.iter_lines()))


@contextmanager
def served_api(home: Path, *, works: bool = False, **settings: str) -> Iterator[Api]:
    """As the owner of a server sees it."""
    with (
        served(home, token=TOKEN, works=works, **settings) as server,
        server.client(TOKEN) as client,
        ExitStack() as stack,
    ):
        yield Api(client, server, stack)


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    kind = ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


def answered(response: httpx2.Response, code: int) -> Any:
    assert response.status_code == code, f"{response.request.method} {response.request.url}: {response.text[:1000]}"
    return response.json()
