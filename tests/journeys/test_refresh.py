"""Stale cells are filled again in the way they were filled before, inputs first, and nothing else is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tablewright.app import Filled, Tablewright
from tablewright.errors import NotFound
from tablewright.journeys import refresh as journey
from tablewright.journeys.enrich import with_inputs
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.table.fieldspec import parse_field
from tablewright.table.model import Cell, Evidence, Field, Table, Value, given

from ..pages import Page, small_web

TOTAL = parse_field("Total:number={Price} * {Quantity}")
TAX = parse_field("Tax:number={Total} / 10")


@pytest.fixture
async def tablewright(tmp_path: Path) -> AsyncIterator[Tablewright]:
    """With a table of sales, whose Total and Tax are computed."""
    (tmp_path / "sales.csv").write_text("Name,Price,Quantity\nTea,2,3\nMilk,,4\nBread,5,1\n")
    async with Tablewright.open(Settings(home=str(tmp_path / "home"))) as opened:
        await opened.import_file(tmp_path / "sales.csv")
        run = await opened.plan_enrich("sales", [TOTAL, TAX], "")
        await opened.changes.apply((await run.run()).proposal_id)
        yield opened


async def cells(tablewright: Tablewright, name: str, table: str = "sales") -> list[Cell]:
    return [row.cell(name) for row in await tablewright.rows(table)]


async def values(tablewright: Tablewright, name: str, table: str = "sales") -> list[Value]:
    return [cell.value for cell in await cells(tablewright, name, table)]


async def refresh(tablewright: Tablewright, *names: str, table: str = "sales", apply: bool = True) -> list[Filled]:
    filled = []
    for each in await tablewright.stale_rounds(table, names):
        run = await tablewright.plan_refresh(table, each)
        if run is not None:
            filled.append(await run.run())
            if apply:
                await tablewright.changes.apply(filled[-1].proposal_id)
    return filled


def test_the_inputs_of_a_column_are_those_its_question_names_else_the_one_that_names_the_rows() -> None:
    table = Table(id="t", name="t", fields=(Field(name="Company"), Field(name="City")), key_field="Company")
    questions = {
        "Founded": "When was {company} founded?",
        "Mayor": "Who is the mayor of { City }, {Company} or {City}?",
        "Age": "2026 - {Founded}",
        "Motto": "",
        "Company": "What is the full name of {Company}?",
        "Odd": "{Nothing} at all",
    }
    fields = with_inputs(table, [Field(name=name, question=question) for name, question in questions.items()])
    assert {field.name: field.depends_on for field in fields} == {
        "Founded": ("Company",),
        "Mayor": ("City", "Company"),
        "Age": ("Founded",),
        "Motto": ("Company",),
        "Company": (),
        "Odd": (),
    }


async def test_exactly_the_stale_cells_are_filled_inputs_first(tablewright: Tablewright) -> None:
    first_run = (await cells(tablewright, "Total"))[0].run_id
    await tablewright.changes.flag("sales", 3, "Total")
    await tablewright.changes.set_value("sales", 1, "Price", "10")
    await tablewright.changes.set_value("sales", 2, "Price", "7")
    rounds = await tablewright.stale_rounds("sales")
    assert [(each.strategy, each.fields, len(each.cells)) for each in rounds] == [
        ("computation", ("Total",), 2),
        ("computation", ("Tax",), 2),
    ]
    filled = await refresh(tablewright)
    assert [(each.rows, each.found, each.skipped) for each in filled] == [(2, 2, 0)] * 2
    assert (await values(tablewright, "Total"), await values(tablewright, "Tax")) == ([30, 28, 5], [3, 2.8, 0.5])
    assert await tablewright.stale("sales") == []
    total = await cells(tablewright, "Total")
    assert (total[2].run_id, total[2].status) == (first_run, "FLAGGED")
    assert [cell.attempt for cell in total] == [2, 2, 1]


async def test_other_cells_that_need_work_in_the_same_row_are_left(tablewright: Tablewright) -> None:
    run = await tablewright.plan_enrich("sales", [parse_field("Double:number={Price} * 2")], "")
    await tablewright.changes.apply((await run.run()).proposal_id)
    await tablewright.changes.set_value("sales", 1, "Price", "10")
    await tablewright.changes.set_value("sales", 3, "Quantity", "2")
    await tablewright.changes.flag("sales", 3, "Double")
    (each, _) = await tablewright.stale_rounds("sales")
    assert each.fields == ("Total", "Double")
    filled = await refresh(tablewright)
    assert [operation.field for operation in await tablewright.operations(filled[0].proposal_id)] == [
        "Double",
        "Total",
        "Total",
    ]
    assert (await values(tablewright, "Total"), await values(tablewright, "Double")) == ([30, None, 10], [20, None, 10])
    assert (await cells(tablewright, "Double"))[2].status == "FLAGGED"


async def test_what_depends_on_a_stale_cell_waits_until_that_is_applied(tablewright: Tablewright) -> None:
    await tablewright.changes.set_value("sales", 1, "Price", "10")
    assert await refresh(tablewright, "tax") == []
    (filled,) = await refresh(tablewright, apply=False)
    (operation,) = await tablewright.operations(filled.proposal_id)
    assert (operation.row_id, operation.field, operation.cell.value) == (1, "Total", 30)
    await tablewright.changes.apply(filled.proposal_id)
    assert [(cell.row_id, cell.field) for cell in await tablewright.stale("sales")] == [(1, "Tax")]
    await refresh(tablewright)
    assert await values(tablewright, "Tax") == [3, None, 0.5]


async def test_all_can_be_estimated_before_anything_is_applied(tablewright: Tablewright) -> None:
    await tablewright.changes.set_value("sales", 1, "Price", "10")
    for each in await tablewright.stale_rounds("sales"):
        run = await tablewright.plan_refresh("sales", each, waiting=True)
        assert run is not None
        assert (await run.estimate()).cells == 1
    with pytest.raises(NotFound, match="Colour"):
        await tablewright.stale_rounds("sales", ["Colour"])


async def test_a_corrected_name_is_looked_up_again_by_the_same_strategy(tmp_path: Path) -> None:
    years = {"Kestrelworks": 2009, "Quillon Robotics": 1987, "Halden Foods": 1964}
    pages = {
        f"/{name.split()[0]}": Page(name, f"<p>{name} was founded in {year} by two engineers.</p>")
        for name, year in years.items()
    }
    (tmp_path / "companies.csv").write_text("Company\nQuillon Robotics\nHalden Foods\n")
    field = parse_field("Founded:number=What year was {Company} founded?")
    async with small_web(pages) as web, Tablewright.open(web.settings(tmp_path / "home")) as opened:
        await opened.import_file(tmp_path / "companies.csv")
        run = await opened.plan_enrich("companies", [field], "research", params={"thoroughness": "comprehensive"})
        await opened.changes.apply((await run.run()).proposal_id)
        before = await cells(opened, "Founded", "companies")
        web.queries.clear()
        written = await opened.changes.set_value("companies", 1, "Company", "Kestrelworks")
        assert (written.stale, web.queries) == (("Founded",), [])
        (each,) = await opened.stale_rounds("companies")
        assert (each.strategy, each.params["thoroughness"]) == ("research", "comprehensive")
        (filled,) = await refresh(opened, table="companies")
        after = await cells(opened, "Founded", "companies")
        assert ([cell.value for cell in after], after[1]) == ([2009, 1964], before[1])
        assert all("Kestrelworks" in query for query in web.queries)
        await opened.changes.undo_run("companies", filled.run_id)
        assert [cell.stale for cell in await cells(opened, "Founded", "companies")] == [True, False]


async def test_a_cell_of_an_unknown_run_is_filled_as_its_question_says(store: Store) -> None:
    """It was brought along by an import."""
    fields = (Field(name="Price", type="number"), Field(name="Twice", question="{Price} * 2", depends_on=("Price",)))
    cell = Cell(
        value="4", status="ENRICHED", run_id="r0", evidence=(Evidence(origin="formula", quote="2 * 2 = 4"),), stale=True
    )
    table = await store.tables.create("brought", fields, [(given(5), cell)])
    (each,) = await journey.rounds(store, table.id)
    run = await journey.plan(store, table.id, each)
    assert run is not None
    await store.proposals.apply((await run.run()).proposal_id)
    assert [row.cell("Twice").value for row in (await store.tables.load(table.id)).rows] == ["10"]
