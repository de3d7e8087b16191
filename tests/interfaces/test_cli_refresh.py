"""A value of one's own, what becomes stale through it, refresh and recheck, as a user at a terminal has them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tablewright.domain.rowkey import row_key
from tests.interfaces.conftest import Shell
from tests.interfaces.test_cli import at_a_terminal
from tests.pages import Page, small_web

SALES = "Name,Price,Quantity\nTea,2,3\nMilk,,4\nBread,5,1\n"
TOTAL = ["--field", "Total:number={Price} * {Quantity}", "--field", "Tax:number={Total} / 10"]
FOUNDED = "Founded:number=What year was {Company} founded?"


def sales(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    shell("enrich", "sales.csv", *TOTAL, "--yes")


class Seen:
    """A table as `table show` has it, by column."""

    def __init__(self, shell: Shell, table: str = "sales") -> None:
        self.document = shell.json("tables", "show", table)

    def __call__(self, name: str, key: str = "value") -> list[Any]:
        return [row["cells"][name][key] for row in self.document["rows"]]


def test_a_typed_value_makes_others_stale_until_they_are_refreshed_or_it_is_undone(shell: Shell) -> None:
    sales(shell)
    before = Seen(shell)
    done = shell("tables", "set", "sales", "1", "price", "1,000.5")
    assert "Total, Tax are stale" in done.stderr
    assert "tablewright tables refresh sales" in done.stderr
    shown = shell("tables", "show", "sales")
    assert "6 ~" in shown.stdout
    assert (
        "2 cells (~) are stale: an input changed. `tablewright tables refresh sales` fills them again." in shown.stderr
    )
    newest = shell.json("tables", "history", "sales", "--row", "1", "--field", "Price")["versions"][0]
    assert (newest["run_id"], newest["cell"]["value"]) == (None, 1000.5)
    shell("tables", "undo", "sales")
    assert Seen(shell).document == before.document
    shell("tables", "set", "sales", "1", "Price", "10")
    estimate = shell.json("tables", "refresh", "sales", "--estimate")
    assert [(each["fields"], each["estimate"]["cells"]) for each in estimate["rounds"]] == [
        (["Total"], 1),
        (["Tax"], 1),
    ]
    done = shell("tables", "refresh", "sales", "--yes")
    assert "Stale: 2 cells of Total, Tax; last time: $0.00." in done.stderr
    seen = Seen(shell)
    assert (seen("Total"), seen("Tax"), seen("Tax", "stale")) == ([30, None, 5], [3, None, 0.5], [False] * 3)


def test_an_empty_text_clears_the_cell_a_minus_is_no_option_and_nonsense_is_refused(shell: Shell) -> None:
    sales(shell)
    written = shell.json("tables", "set", "sales", "3", "Price", "")
    assert (written["cell"]["value"], written["stale"]) == (None, ["Total", "Tax"])
    assert shell.json("tables", "set", "sales", "3", "Price", "-4")["cell"]["value"] == -4
    assert "not of type number" in shell("tables", "set", "sales", "3", "Price", "many", code=2).stderr


def test_at_a_terminal_the_new_values_are_shown_before_they_are_applied(shell: Shell) -> None:
    sales(shell)
    shell("tables", "set", "sales", "1", "Price", "10")
    screen, code = at_a_terminal(shell, ["tables", "refresh", "sales", "--field", "Total"], answer="y\n")
    assert code == 0, screen
    assert "Stale: 1 cell of Total" in screen
    assert " ~" in screen
    assert Seen(shell)("Total") == [30, None, 5]
    assert "Nothing is stale" in shell("tables", "refresh", "sales", "--field", "Total").stderr


def test_columns_that_cannot_be_filled_are_left_and_the_others_are_filled(shell: Shell) -> None:
    shell.write("companies.csv", "Company,Price\nHalden Foods,2\n")
    shell("enrich", "companies.csv", "--field", FOUNDED, "--search", "sample", "--yes")
    shell("enrich", "companies", "--field", "Double:number={Price} * 2", "--yes")
    shell("tables", "set", "companies", "1", "Company", "Kestrelworks")
    shell("tables", "set", "companies", "1", "Price", "5")
    refresh = ["tables", "refresh", "companies", "--yes", "--search"]
    done = shell.json(*refresh, "nowhere")
    assert [(each["fields"], each["strategy"]) for each in done["refused"]] == [(["Founded"], "pipeline")]
    assert "nowhere" in done["refused"][0]["error"]
    assert (len(done["runs"]), done["still_stale"]) == (1, 1)
    assert Seen(shell, "companies")("Double") == [10]
    said = shell(*refresh, "nowhere", code=2).stderr
    assert "Founded: left." in said
    assert 'tablewright enrich companies --field "Founded" --strategy' in said
    shell.environ["TABLEWRIGHT_SEARCH_PRICE"] = "1"
    said = shell(*refresh, "sample", "--budget", "0").stderr
    assert "Stopped at the cap of" in said
    assert "tablewright tables refresh companies" in said
    assert Seen(shell, "companies")("Founded", "stale") == [True]


def test_what_is_not_there_is_said_before_anything_is_done(shell: Shell) -> None:
    sales(shell)
    huge = "99999999999999999999"
    for row, arguments in (
        ("999", ["enrich", "sales", *TOTAL, "--row", "999"]),
        (huge, ["tables", "show", "sales", "--row", huge]),
        (huge, ["tables", "history", "sales", "--row", huge, "--field", "Price"]),
    ):
        assert f"no row {row}." in shell(*arguments, code=2).stderr
    assert "does not exist" in shell("enrich", "sales", *TOTAL, "--out", "nowhere/o.csv", code=2).stderr
    assert "--out" in shell("enrich", "sales", *TOTAL, "--cost", code=2).stderr
    assert len(shell.json("proposals", "list", "--all")["proposals"]) == 1


def test_an_export_that_fails_leaves_the_report_and_a_renamed_row_has_the_key_of_its_name(shell: Shell) -> None:
    shell.write("sales.csv", SALES)
    (shell.folder / "o.csv").mkdir()
    report = shell.json("enrich", "sales.csv", *TOTAL, "--yes", "--out", "o.csv", code=1)
    assert report["proposal_status"] == "applied"
    assert "o.csv" in report["export_error"]
    shell("tables", "set", "sales", "1", "Name", "Green Tea")
    assert Seen(shell).document["rows"][0]["key"] == row_key("Green Tea")
    shown = shell("tables", "show", "sales", "--row", "1", "--field", "Total", "--cost").stdout
    assert "Cost" in shown
    assert "$0.00" in shown


def company(name: str, year: int) -> Page:
    return Page(name, f"<p>{name} is a company.</p><p>{name} was founded in {year} by two engineers in a shed.</p>")


async def test_recheck_flags_what_a_changed_page_no_longer_says_and_nothing_else(tmp_path: Path) -> None:
    pages = {
        "/quillon": company("Quillon Robotics", 1987),
        "/halden": company("Halden Foods", 1964),
        "/kestrelworks": company("Kestrelworks", 2009),
    }
    async with small_web(pages) as web:
        search = f"searxng:http://{web.address}"
        shell = Shell(tmp_path, TABLEWRIGHT_SEARCH=search, TABLEWRIGHT_FETCH_ALLOW=web.address)

        def user() -> None:
            shell.write("companies.csv", "Company\nQuillon Robotics\nHalden Foods\nKestrelworks\n")
            shell("enrich", "companies.csv", "--field", FOUNDED, "--yes")
            web.pages["/quillon"] = company("Quillon Robotics", 1991)
            web.pages["/halden"] = Page("Down", "down", status=500)
            looked = shell.json("tables", "recheck", "companies", "--dry-run")
            assert (looked["checked"], looked["supported"], looked["changed"], looked["not_checked"]) == (2, 1, 1, 1)
            assert looked["change"] is None
            verdicts = [(cell["row_id"], cell["field"], cell["verdict"]) for cell in looked["cells"]]
            assert verdicts == [
                (1, "Founded", "changed"),
                (2, "Founded", "not checked"),
                (3, "Founded", "supported"),
            ]
            assert looked["cells"][1]["origins"] == [web.url("/halden")]
            done = shell("tables", "recheck", "companies", "--field", "Founded")
            assert "1 cell still supported, 1 changed, 1 not checked" in done.stderr
            assert "is no longer on" in " ".join(done.stdout.split())
            assert Seen(shell, "companies")("Founded", "status") == ["FLAGGED", "ENRICHED", "ENRICHED"]
            again = shell.json("enrich", "companies", "--field", FOUNDED)
            assert [(row["row_id"], row["cells"]["Founded"]["value"]) for row in again["rows"]] == [(1, 1991)]

        await asyncio.to_thread(user)
