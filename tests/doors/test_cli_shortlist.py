"""`tablewright shortlist`: the advisor by script, as one JSON document, and listed."""

from __future__ import annotations

from .conftest import Shell

SCRIPT = """\
# what to buy
I want a kettle with variable temperature, under £50
build quality, prefer stainless steel
[Confirm Requirements]
[Enrich Now]
which is the lightest?
export to kettles.csv
done
"""


def sampled(shell: Shell) -> Shell:
    shell.environ |= {"TABLEWRIGHT_SEARCH": "sample", "TABLEWRIGHT_MODEL": "builtin", "TABLEWRIGHT_FETCH_DELAY": "0"}
    return shell


def test_a_script_is_a_whole_conversation(shell: Shell) -> None:
    shell.write("talk.txt", SCRIPT)
    done = sampled(shell)("shortlist", "--script", "talk.txt")
    assert "› I want a kettle" in done.stdout
    assert "[1] Confirm Requirements" in done.stdout
    assert "candidates compared" in done.stdout
    assert "1. " in done.stdout
    assert "(score 0." in done.stdout
    assert (shell.folder / "kettles.csv").read_text(encoding="utf-8-sig").startswith("Product")
    (listed,) = shell.json("shortlist", "--list")["shortlists"]
    assert listed["phase"] == "end"
    shell("table", "show", listed["table_id"])


def test_json_has_every_turn_and_the_state(shell: Shell) -> None:
    shell.write("talk.txt", "I want a kettle under £50\njust search\n")
    done = sampled(shell).json("shortlist", "--script", "talk.txt")
    assert [turn["message"] for turn in done["turns"]] == ["I want a kettle under £50", "just search"]
    assert done["turns"][-1]["reply"]["buttons"] == ["Confirm Requirements", "Edit Requirements"]
    assert done["state"]["waiting"] == "requirements"
    shell.write("more.txt", "[2]\n")
    again = shell.json("shortlist", "--conversation", done["id"], "--script", "more.txt")
    assert again["id"] == done["id"]


def test_wrong_use_is_said(shell: Shell) -> None:
    for arguments in ((), ("--script", "nowhere.txt"), ("--conversation", "nowhere", "--script", "talk.txt")):
        shell.write("talk.txt", "a kettle\n")
        assert sampled(shell)("shortlist", *arguments, code=2).stderr.startswith("Error: "), arguments
