"""Who did what is in the audit log, whichever door they took, and stays there when what they did it to is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.interfaces.server.serving import TOKEN, Served, error_of, served

TABLE = "| Part | Price |\n|---|---|\n| Bolt | 3 |\n| Nut | 4 |\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, token=TOKEN) as running:
        yield running


def audit(server: Served, who: str) -> list[tuple[str, str, str, str]]:
    """What this user did, the first thing first."""
    with server.client(TOKEN) as owner:
        entries = owner.get("/api/v1/audit", params={"who": who}).raise_for_status().json()["entries"]
    return [(each["door"], each["action"], each["thing"], each["detail"]) for each in reversed(entries)]


def test_logins_and_logouts_are_told_with_where_they_came_from(server: Served) -> None:
    token = server.add_user("ann", "editor")
    with server.browser() as browser:
        assert browser.post("/login", data={"token": "not hers"}).status_code != 303
    assert audit(server, "ann") == []
    with server.browser(token) as browser:
        assert browser.post("/logout").status_code == 303
    assert audit(server, "ann") == [
        ("page", "login", "user ann", "from 127.0.0.1"),
        ("page", "logout", "user ann", "from 127.0.0.1"),
    ]


def test_exports_and_removals_are_told_and_outlive_what_they_are_about(server: Served) -> None:
    with server.client(server.add_user("ann", "editor")) as ann:
        table = posted(ann, "/tables", json={"name": "towns", "rows": [{"Town": "Lima"}]})["table_id"]
        posted(ann, "/documents", files={"files": ("parts.md", TABLE.encode())})
        (document,) = ann.get("/api/v1/documents").json()["documents"]
        reply = posted(ann, "/ask", json={"question": "What does a bolt cost?"})
        ann.get(f"/api/v1/tables/{table}/export", params={"format": "xlsx"}).raise_for_status()
        for path in (
            f"/conversations/{reply['conversation']}",
            f"/documents/{document['id']}",
            f"/tables/{table}",
        ):
            ann.delete(f"/api/v1{path}").raise_for_status()
    assert audit(server, "ann") == [
        ("api", "export", f"table {table}", "1 row as .xlsx"),
        ("api", "remove", f"conversation {reply['conversation']}", ""),
        ("api", "remove", f"document {document['id']}", ""),
        ("api", "remove", f"table {table}", "towns"),
    ]


def test_tokens_and_limits_are_told_without_the_secret(server: Served) -> None:
    with server.client(server.add_user("ann", "editor")) as ann:
        made = posted(ann, "/tokens", json={"name": "script", "scopes": ["read"]})
        ann.delete(f"/api/v1/tokens/{made['token']['id']}").raise_for_status()
    told = audit(server, "ann")
    assert told == [
        ("api", "token", "user ann", f"{made['token']['id']} made: read"),
        ("api", "token", "user ann", f"{made['token']['id']} removed"),
    ]
    assert made["secret"] not in str(told)


def test_only_admins_read_it(server: Served) -> None:
    for role in ("viewer", "editor"):
        with server.client(server.add_user(role, role)) as client:
            assert client.get("/api/v1/audit").status_code == 403


def test_files_over_the_limit_of_a_month_are_refused_at_the_door(server: Served) -> None:
    with server.client(server.add_user("ann", "editor")) as ann, server.client(TOKEN) as owner:
        owner.put("/api/v1/users/ann/quotas", json={"uploads": 0.001}).raise_for_status()
        posted(ann, "/tables/import", files={"file": ("small.csv", b"a,b\n1,2\n")})
        large = ("large.csv", b"a,b\n" + b"1,2\n" * 1_000)
        for path, name in (("/tables/import", "file"), ("/documents", "files")):
            refused = ann.post(f"/api/v1{path}", files={name: large})
            assert error_of(refused)["type"] == "OverQuota"
            assert "0.001 MB of files handed in a month" in error_of(refused)["message"]
        assert [table["name"] for table in ann.get("/api/v1/tables").json()["tables"]] == ["small"]
        assert ann.get("/api/v1/documents").json()["documents"] == []


def posted(client: httpx2.Client, path: str, **request: object) -> dict[str, object]:
    answer = client.post(f"/api/v1{path}", **request)  # type: ignore[arg-type]
    assert answer.is_success, answer.text
    made: dict[str, object] = answer.json()
    return made
