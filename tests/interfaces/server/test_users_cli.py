"""`tablewright users …`."""

from __future__ import annotations

from tests.interfaces.conftest import Shell


def test_users_come_change_and_go(shell: Shell) -> None:
    shell.write("towns.csv", "Town\nLima\n")
    table = shell.json("tables", "import", "towns.csv")["table_id"]
    ann = shell.json("users", "add", "ann", "--role", "editor")
    user = ann["user"]
    assert (user["name"], user["role"], user["tables"]) == ("ann", "editor", [])
    assert len(ann["token"]) >= 32
    assert shell.json("share", "table", "towns", "--with", "ann")["people"] == ["ann"]
    assert shell.json("users", "role", "ann", "viewer")["role"] == "viewer"
    listed = shell("users", "list", "--json").stdout
    assert ann["token"] not in listed
    assert shell.json("users", "list") == {
        "users": [{"id": user["id"], "name": "ann", "role": "viewer", "tables": [table]}]
    }
    assert shell.json("users", "token", "ann")["token"] != ann["token"]
    assert shell.json("share", "table", table, "--without", "ann")["people"] == []
    assert shell.json("users", "remove", "ann") == {"removed": "ann"}
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
    assert shell.json("share", "table", "nowhere", "--with", "ann", code=2)["error"]["type"] == "NotFound"


def test_things_are_shared_limited_and_told_in_the_audit_log(shell: Shell) -> None:
    shell.write("towns.csv", "Town\nLima\n")
    table = shell.json("tables", "import", "towns.csv")["table_id"]
    shell("users", "add", "ann", "--role", "editor")
    assert shell.json("share", "table", "towns", "--with", "ann")["people"] == ["ann"]
    assert shell.json("share", "table", table, "--private")["people"] == []
    assert shell.json("share", "tabel", table, code=2)["error"]["type"] == "UsageError"
    quotas = shell.json("users", "quota", "ann", "--rows", "10")["quotas"]
    assert {each["what"]: each["most"] for each in quotas}["rows"] == 10
    shell("tables", "export", "towns", "out.csv")
    told = [(each["action"], each["thing"]) for each in shell.json("audit")["entries"]]
    assert told == [
        ("export", f"table {table}"),
        ("settings", "user ann"),
        ("share", f"table {table}"),
        ("share", f"table {table}"),
        ("user", "user ann"),
    ]
