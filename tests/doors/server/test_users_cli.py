"""`tablewright users …`."""

from __future__ import annotations

from tests.doors.conftest import Shell


def test_users_come_change_and_go(shell: Shell) -> None:
    shell.write("towns.csv", "Town\nLima\n")
    table = shell.json("table", "import", "towns.csv")["table_id"]
    ann = shell.json("users", "add", "ann", "--role", "editor")
    assert (ann["name"], ann["role"], ann["tables"]) == ("ann", "editor", [])
    assert len(ann["token"]) >= 32
    assert shell.json("users", "grant", "ann", "towns")["tables"] == [table]
    assert shell.json("users", "role", "ann", "viewer")["role"] == "viewer"
    listed = shell("users", "list", "--json").stdout
    assert ann["token"] not in listed
    assert shell.json("users", "list") == {
        "users": [{"id": ann["id"], "name": "ann", "role": "viewer", "tables": [table]}]
    }
    assert shell.json("users", "token", "ann")["token"] != ann["token"]
    assert shell.json("users", "revoke", "ann", table)["tables"] == []
    assert shell.json("users", "remove", "ann") == {"name": "ann", "removed": True}
    assert shell.json("users", "list") == {"users": []}


def test_the_token_alone_is_on_stdout(shell: Shell) -> None:
    added = shell("users", "add", "bob")
    assert added.stdout.strip().isascii()
    assert len(added.stdout.split()) == 1
    assert "not shown again" in added.stderr
    assert "viewer" in shell("users", "list").stdout


def test_what_cannot_be_is_said(shell: Shell) -> None:
    assert shell.json("users", "add", "ann", "--role", "king", code=2)["error"]["type"] == "UsageError"
    assert shell.json("users", "remove", "nobody", code=2)["error"]["type"] == "NotFound"
    shell("users", "add", "ann")
    assert "already" in shell.json("users", "add", "ann", code=2)["error"]["message"]
    assert shell.json("users", "grant", "ann", "nowhere", code=2)["error"]["type"] == "NotFound"
