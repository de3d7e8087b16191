"""`tablewright find` as a person and a script use it, without a model."""

from __future__ import annotations

from tests.interfaces.conftest import Shell

SAMPLE = {"TABLEWRIGHT_SEARCH": "sample", "TABLEWRIGHT_MODEL": "builtin", "TABLEWRIGHT_FETCH_DELAY": "0"}
ASKED = ("find", "electric kettles", "--field", "Product, Price:money, Availability", "--no-fill", "--rows", "30")


def sampled(shell: Shell) -> Shell:
    shell.environ |= SAMPLE
    return shell


def test_lists_become_a_table_and_the_account_says_what_it_is(shell: Shell) -> None:
    done = sampled(shell)(*ASKED, "--where", "Price < 40 GBP", "--out", "kettles.csv")
    assert "Every row must meet: Price < 40 GBP." in done.stderr
    assert "Hearthline Swift 17" in done.stdout
    assert "no model has checked that they are what you asked for" in done.stdout
    assert "Tinker & Steep Heron: Price is 84.00 GBP; wanted: Price < 40 GBP" in done.stdout
    assert "Zephyrine Zero: Price is 155.00 EUR, about 128 GBP; wanted: Price < 40 GBP" in done.stdout
    assert "compared at rates of 2024-12-31" in done.stdout
    written = (shell.folder / "kettles.csv").read_text()
    assert "Hearthline Swift 17 | £34.99 | In stock" in written


def test_json_is_the_account_and_the_table_is_one_like_any_other(shell: Shell) -> None:
    found = sampled(shell).json(*ASKED)
    assert found["status"] == "done"
    assert found["rows"] == found["found"] == 20
    assert found["estimate"]["high"] > found["found"]
    assert "independent sites" in found["completeness"]
    assert shell.json("find", "--show", found["table_id"])["rows"] == found["rows"]
    assert shell.json("tables", "show", found["table_id"])


def test_an_estimate_plans_the_table_and_searches_nothing(shell: Shell) -> None:
    done = sampled(shell)(*ASKED, "--estimate")
    assert "Find its rows with `tablewright find --more electric-kettles`" in done.stderr
    assert shell.json("find", "--show", "electric-kettles")["queries"] == []
    assert shell.json("find", "--more", "electric-kettles", "--no-fill")["rows"] == 20


def test_what_does_not_go_together_is_refused(shell: Shell) -> None:
    for wrong in (("find",), ("find", "kettles", "--more", "kettles"), ("find", "--more", "kettles", "--field", "A")):
        shell(*wrong, code=2)
    shell("find", "--show", "nothing", code=2)
