"""What a table costs, as a user at a terminal has it: the estimate before, the cap in between, the cost of cells."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import openpyxl
import pytest

from tests.engine.works import A_CALL, FOUNDED, TABLE, YEARS, pages, reads_the_year
from tests.interfaces.conftest import Shell
from tests.interfaces.test_cli import at_a_terminal
from tests.llm.endpoint import Endpoint, running_endpoint
from tests.pages import SmallWeb, small_web

ASKED = ["enrich", "works.csv", "--field", FOUNDED, "--strategy", "lookup"]
GO_ON = ["enrich", "works", "--field", FOUNDED, "--strategy", "lookup"]


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web(pages()) as running:
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        running.otherwise = reads_the_year
        yield running


@pytest.fixture
def priced(shell: Shell, web: SmallWeb, model: Endpoint) -> Shell:
    """With a table of thirty rows, a model that costs and a web; both are served by this process."""
    shell.write("works.csv", TABLE)
    shell.environ |= {
        "TABLEWRIGHT_SEARCH": f"searxng:http://{web.address}",
        "TABLEWRIGHT_FETCH_ALLOW": web.address,
        "TABLEWRIGHT_MODEL": "openai:gpt-4o-mini",
        "TABLEWRIGHT_MODEL_BASE_URL": model.url,
        "TABLEWRIGHT_MODEL_API_KEY": "k",
    }
    return shell


async def run(shell: Shell, *arguments: str, code: int = 0) -> tuple[str, str]:
    """In a thread, for the servers that the command talks to are in this one."""
    done = await asyncio.to_thread(shell, *arguments, code=code)
    return done.stdout, done.stderr


async def report(shell: Shell, *arguments: str) -> Any:
    return json.loads((await run(shell, *arguments, "--json"))[0])


# ── before ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_estimate_stops_before_anything_is_spent_or_kept(
    priced: Shell, web: SmallWeb, model: Endpoint
) -> None:
    shown, said = await run(priced, *ASKED, "--estimate")
    assert "30 cells in 30 rows" in shown
    assert "openai:gpt-4o-mini" in shown
    assert "Model calls" in shown
    assert "$0.0" in shown
    assert "Nothing was spent." in said
    likely = await report(priced, *ASKED, "--estimate")
    assert (likely["rows"], likely["cells"], likely["from_rows"]) == (30, 30, 0)
    assert likely["calls"]["low"] < likely["calls"]["likely"] < likely["calls"]["high"]
    assert likely["cost_usd"]["likely"] > 0
    assert (await report(priced, "tables", "list"))["tables"] == []
    assert (model.asked, web.queries) == ([], [])


async def test_an_estimate_that_cannot_be_made_leaves_no_table_either(priced: Shell) -> None:
    _, said = await run(priced, *ASKED[:-1], "nothing-like-it", "--estimate", code=2)
    assert "nothing-like-it" in said
    assert (await report(priced, "tables", "list"))["tables"] == []


async def test_a_model_without_a_known_price_is_said_to_have_none(priced: Shell) -> None:
    shown, _ = await run(priced, *ASKED, "--estimate", "--model", "openai:somebody-elses")
    assert "price not known" in shown


async def test_at_a_terminal_a_run_begins_with_what_it_is_likely_to_cost(priced: Shell) -> None:
    screen, code = await asyncio.to_thread(at_a_terminal, priced, [*ASKED, "--max-rows", "3", "--yes"])
    assert code == 0
    assert "About $0.0" in screen
    assert "model calls" in screen
    screen, _ = await asyncio.to_thread(
        at_a_terminal, priced, [*GO_ON, "--max-rows", "4", "--yes", "--model", "builtin"]
    )
    assert "About" not in screen


# ── in between ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_cap_stops_the_run_keeps_what_it_has_and_says_how_to_go_on(priced: Shell, model: Endpoint) -> None:
    stopped = await report(priced, *ASKED, "--budget", "0.001", "--yes")
    bought = len(model.asked)
    assert stopped["status"] == "over_budget"
    assert 0 < stopped["left"] < 30
    assert len(stopped["rows"]) == 30
    assert 0 < bought < 20
    cells = [row["cells"]["Founded"] for row in stopped["rows"]]
    assert sum(cell["reason"] == "over_budget" for cell in cells) == stopped["left"]
    _, said = await run(priced, *GO_ON, "--budget", "0.0005", "--yes")
    assert "Stopped at the cap of $0.0005" in said
    assert "tablewright enrich works" in said
    assert "cells left" in said
    done = await report(priced, *GO_ON, "--budget", "1", "--yes")
    assert done["status"] == "done"
    assert len(model.asked) <= 30
    table = await report(priced, "tables", "show", "works", "--rows", "30")
    assert {row["cells"]["Company"]["value"]: row["cells"]["Founded"]["value"] for row in table["rows"]} == YEARS
    assert table["cost_usd"] == pytest.approx(len(model.asked) * A_CALL)


async def test_what_a_stopped_run_proposed_waits_for_a_decision(priced: Shell) -> None:
    shown, said = await run(priced, *ASKED, "--budget", "0.001", "--review")
    assert "stopped at the cap of $0.001" in " ".join(shown.split())
    assert "kept in proposal p" in said


# ── afterwards ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def filled(priced: Shell) -> Shell:
    await run(priced, *ASKED, "--max-rows", "2", "--yes", "--out", "out.csv", "--cost")
    return priced


async def test_the_cost_of_each_cell_goes_out_with_the_file(filled: Shell) -> None:
    with (filled.folder / "out.csv").open(encoding="utf-8", newline="") as file:
        first, second, third, *_ = csv.DictReader(file)
    assert list(first) == ["Company", "Founded", "Founded cost"]
    assert float(first["Founded cost"]) > 0, "its part of the calls that it shares with others"
    assert float(second["Founded cost"]) > 0
    assert third["Founded cost"] == ""
    await run(filled, "tables", "export", "works", "both.csv", "--evidence", "--cost")
    header = (filled.folder / "both.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("Company,Founded,Founded source,Founded quote,Founded confidence,Founded basis,")
    assert header.endswith(",Founded status,Founded reason,Founded stale,Founded note,Founded cost")


async def test_workbooks_lines_and_documents_have_the_cost_too(filled: Shell) -> None:
    for name in ("out.xlsx", "out.jsonl", "out.md", "out.json"):
        await run(filled, "tables", "export", "works", name, "--cost")
    sheet = openpyxl.load_workbook(filled.folder / "out.xlsx")["Table"]
    assert [cell.value for cell in sheet[1]] == ["Company", "Founded", "Founded cost"]
    cost = sheet["C2"].value
    assert isinstance(cost, float)
    assert cost > 0
    assert "$" in sheet["C2"].number_format
    assert sheet["C4"].value is None
    line = json.loads((filled.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert line["Founded cost"] == pytest.approx(cost)
    assert "Founded cost" in (filled.folder / "out.md").read_text(encoding="utf-8")
    document = json.loads((filled.folder / "out.json").read_text(encoding="utf-8"))
    assert document["rows"][0]["cells"]["Founded"]["cost"] == pytest.approx(cost)
    assert list(document["rows"][0]["cells"]) == ["Company", "Founded"]


async def test_a_shown_table_ends_with_what_it_cost_and_shows_it_cell_by_cell_if_asked(filled: Shell) -> None:
    shown, said = await run(filled, "tables", "show", "works", "--rows", "2")
    assert "$" not in shown
    assert "All runs of this table cost $0.000" in said
    shown, _ = await run(filled, "tables", "show", "works", "--rows", "2", "--cost")
    assert re.search(r"\$0\.000\d+ 1950", shown)
    shown, _ = await run(filled, "tables", "show", "works", "--row", "1", "--field", "Founded", "--cost")
    assert "$0.000" in shown


async def test_a_table_that_cost_nothing_does_not_speak_of_money(shell: Shell) -> None:
    shell.write("works.csv", TABLE)
    await run(shell, "tables", "import", "works.csv")
    _, said = await run(shell, "tables", "show", "works")
    assert "cost" not in said
