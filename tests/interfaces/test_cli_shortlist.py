"""`tablewright shortlist`: the adviser by script, as one JSON document, listed and removed."""

from __future__ import annotations

import pytest

from tablewright.interfaces.cli.shortlist import read_messages
from tests.interfaces.conftest import Shell

FORM = "/form product: electric kettle | budget: 50 GBP | must: Variable temperature = yes; quiet"
SCRIPT = f"""\
# what to buy
{FORM}
[Confirm Requirements]
[Enrich Now]
/sort Weight
/export kettles.csv
/done
"""


def sampled(shell: Shell) -> Shell:
    shell.environ |= {"TABLEWRIGHT_SEARCH": "sample", "TABLEWRIGHT_MODEL": "builtin", "TABLEWRIGHT_FETCH_DELAY": "0"}
    return shell


def test_a_script_is_a_whole_conversation(shell: Shell) -> None:
    shell.write("talk.txt", SCRIPT)
    done = sampled(shell)("shortlist", "--script", "talk.txt")
    assert "› /form product" in done.stdout
    assert "[1] Confirm Requirements" in done.stdout
    assert "quiet: cannot be checked from specifications" in done.stdout
    assert "pages compared" in done.stdout
    assert "Price at ollivant.example: http" in done.stdout
    assert "score" not in done.stdout
    assert (shell.folder / "kettles.csv").read_text(encoding="utf-8-sig").startswith("Product")
    (listed,) = shell.json("shortlist", "--list")["shortlists"]
    assert listed["phase"] == "end"
    shell("tables", "show", listed["table_id"])
    assert shell.json("shortlist", "remove", listed["id"]) == {"removed": listed["id"]}
    assert shell.json("shortlist", "--list")["shortlists"] == []
    shell("tables", "show", listed["table_id"])


def test_json_has_every_turn_and_the_state(shell: Shell) -> None:
    shell.write("talk.txt", "a quiet kettle\n/must Capacity >= 1 l\n")
    done = sampled(shell).json("shortlist", "--script", "talk.txt")
    assert [turn["message"] for turn in done["turns"]] == ["a quiet kettle", "/must Capacity >= 1 l"]
    assert done["turns"][-1]["reply"]["buttons"] == ["Confirm Requirements", "Edit Requirements"]
    assert done["state"]["waiting"] == "requirements"
    assert done["state"]["requirements"]["wishes"][0]["column"] == "Capacity"
    shell.write("more.txt", "[2]\n")
    again = shell.json("shortlist", "--conversation", done["id"], "--script", "more.txt")
    assert again["id"] == done["id"]


def test_wrong_use_is_said(shell: Shell) -> None:
    for arguments in (
        (),
        ("--script", "nowhere.txt"),
        ("--conversation", "nowhere", "--script", "talk.txt"),
        ("forget", "h1"),
        ("remove", "nowhere"),
        ("--rates", "nowhere.csv", "--script", "talk.txt"),
    ):
        shell.write("talk.txt", "a kettle\n")
        assert "Error: " in sampled(shell)("shortlist", *arguments, code=2).stderr, arguments


async def test_without_a_model_the_terminal_asks_for_a_form_before_anything_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = iter(["electric kettle", "50 GBP", "Capacity >= 1 l", "", "", "UK", "/help", ""])
    monkeypatch.setattr("builtins.input", lambda label: next(typed))
    said = [message async for message in read_messages(None, is_form=True)]
    assert said == ["/form product: electric kettle | budget: 50 GBP | must: Capacity >= 1 l | region: UK", "/help"]
