"""Stale cells are filled again in the way they were filled before, inputs first, and nothing else is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell, Evidence, Field, Table, Value, make_given_cell
from tablewright.engine.outcome import RunResult
from tablewright.engine.planning import add_input_columns
from tablewright.engine.policy import FillPlan
from tablewright.errors import NotFound, UsageError
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, list_stale_rounds, plan_fill, plan_round
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.workflows import refresh as journey
from tests.pages import Page, SmallWeb, small_web

TOTAL = parse_field("Total:number={Price} * {Quantity}")
TAX = parse_field("Tax:number={Total} / 10")
FOUNDED = parse_field("Founded:number=What year was {Company} founded?")
# A number that no database holds.
HUGE = 10**20


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """With a table of sales, whose Total and Tax are computed."""
    (tmp_path / "sales.csv").write_text("Name,Price,Quantity\nTea,2,3\nMilk,,4\nBread,5,1\n")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as opened:
        await import_table_file(opened, tmp_path / "sales.csv")
        run = await plan_fill(opened, "sales", [TOTAL, TAX])
        await opened.changes.apply((await run.run()).proposal_id)
        yield opened


async def cells(services: Services, name: str, table: str = "sales") -> list[Cell]:
    return [row.cell(name) async for row in services.rows(table)]


async def values(services: Services, name: str, table: str = "sales") -> list[Value]:
    return [cell.value for cell in await cells(services, name, table)]


async def refresh(services: Services, *names: str, table: str = "sales", apply: bool = True) -> list[RunResult]:
    filled = []
    for each in await list_stale_rounds(services, table, names):
        run = await plan_round(services, table, each)
        if run is not None:
            filled.append(await run.run())
            if apply:
                await services.changes.apply(filled[-1].proposal_id)
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
    fields = add_input_columns(table, [Field(name=name, question=question) for name, question in questions.items()])
    assert {field.name: field.depends_on for field in fields} == {
        "Founded": ("Company",),
        "Mayor": ("City", "Company"),
        "Age": ("Founded",),
        "Motto": ("Company",),
        "Company": (),
        "Odd": (),
    }


async def test_exactly_the_stale_cells_are_filled_inputs_first(services: Services) -> None:
    first_run = (await cells(services, "Total"))[0].run_id
    await services.changes.flag("sales", 3, "Total")
    await services.changes.set_value("sales", 1, "Price", "10")
    await services.changes.set_value("sales", 2, "Price", "7")
    rounds = await list_stale_rounds(services, "sales")
    assert [(each.strategy, each.fields, len(each.cells)) for each in rounds] == [
        ("computation", ("Total",), 2),
        ("computation", ("Tax",), 2),
    ]
    filled = await refresh(services)
    assert [(each.rows, each.found, each.skipped) for each in filled] == [(2, 2, 0)] * 2
    assert (await values(services, "Total"), await values(services, "Tax")) == ([30, 28, 5], [3, 2.8, 0.5])
    assert await services.store.log.stale("sales") == []
    total = await cells(services, "Total")
    assert (total[2].run_id, total[2].status) == (first_run, "FLAGGED")
    assert [cell.attempt for cell in total] == [2, 2, 1]


async def test_other_cells_that_need_work_in_the_same_row_are_left(services: Services) -> None:
    run = await plan_fill(services, "sales", [parse_field("Double:number={Price} * 2")])
    await services.changes.apply((await run.run()).proposal_id)
    await services.changes.set_value("sales", 1, "Price", "10")
    await services.changes.set_value("sales", 3, "Quantity", "2")
    await services.changes.flag("sales", 3, "Double")
    (each, _) = await list_stale_rounds(services, "sales")
    assert each.fields == ("Total", "Double")
    filled = await refresh(services)
    assert [operation.field for operation in await services.store.proposals.operations(filled[0].proposal_id)] == [
        "Double",
        "Total",
        "Total",
    ]
    assert (await values(services, "Total"), await values(services, "Double")) == ([30, None, 10], [20, None, 10])
    assert (await cells(services, "Double"))[2].status == "FLAGGED"


async def test_what_depends_on_a_stale_cell_waits_until_that_is_applied(services: Services) -> None:
    await services.changes.set_value("sales", 1, "Price", "10")
    assert await refresh(services, "tax") == []
    (filled,) = await refresh(services, apply=False)
    (operation,) = await services.store.proposals.operations(filled.proposal_id)
    assert (operation.row_id, operation.field, operation.cell.value) == (1, "Total", 30)
    await services.changes.apply(filled.proposal_id)
    assert [(cell.row_id, cell.field) for cell in await services.store.log.stale("sales")] == [(1, "Tax")]
    await refresh(services)
    assert await values(services, "Tax") == [3, None, 0.5]


async def test_all_can_be_estimated_before_anything_is_applied(services: Services) -> None:
    await services.changes.set_value("sales", 1, "Price", "10")
    for each in await list_stale_rounds(services, "sales"):
        run = await plan_round(services, "sales", each, waiting=True)
        assert run is not None
        assert (await run.estimate()).cells == 1
    with pytest.raises(NotFound, match="Colour"):
        await list_stale_rounds(services, "sales", ["Colour"])


async def test_a_corrected_name_is_looked_up_again_by_the_same_strategy(tmp_path: Path) -> None:
    years = {"Kestrelworks": 2009, "Quillon Robotics": 1987, "Halden Foods": 1964}
    pages = {
        f"/{name.split()[0]}": Page(name, f"<p>{name} was founded in {year} by two engineers.</p>")
        for name, year in years.items()
    }
    (tmp_path / "companies.csv").write_text("Company\nQuillon Robotics\nHalden Foods\n")
    field = parse_field("Founded:number=What year was {Company} founded?")
    async with small_web(pages) as web, Services.open(web.settings(tmp_path / "home")) as opened:
        await import_table_file(opened, tmp_path / "companies.csv")
        run = await plan_fill(
            opened, "companies", [field], "research", how=FillOptions(params={"thoroughness": "comprehensive"})
        )
        await opened.changes.apply((await run.run()).proposal_id)
        before = await cells(opened, "Founded", "companies")
        web.queries.clear()
        written = await opened.changes.set_value("companies", 1, "Company", "Kestrelworks")
        assert (written.stale, web.queries) == (("Founded",), [])
        (each,) = await list_stale_rounds(opened, "companies")
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
    table = await store.tables.create("brought", fields, [(make_given_cell(5), cell)])
    (each,) = await journey.list_refresh_rounds(store, table.id)
    run = await journey.plan_refresh_round(store, each, FillPlan(await store.tables.find(table.id), ()))
    assert run is not None
    await store.proposals.apply((await run.run()).proposal_id)
    assert [row.cell("Twice").value for row in (await store.tables.load(table.id)).rows] == ["10"]


async def test_an_imported_table_is_filled_column_by_column_as_the_questions_say(store: Store) -> None:
    fields = (
        Field(name="Price", type="number"),
        Field(name="Twice", question="{Price} * 2", depends_on=("Price",)),
        Field(name="Maker", question="Who sells it at {Price}?", depends_on=("Price",)),
    )
    evidence = (Evidence(origin="https://a.example/", quote="by Ann"),)
    cell = Cell(value="4", status="ENRICHED", run_id="r0", evidence=evidence, stale=True)
    table = await store.tables.create("brought", fields, [(make_given_cell(5), cell, cell)])
    rounds = await journey.list_refresh_rounds(store, table.id)
    assert [(each.strategy, each.fields) for each in rounds] == [("computation", ("Twice",)), ("pipeline", ("Maker",))]


async def test_columns_that_depend_on_each_other_do_not_wait_for_ever(store: Store) -> None:
    fields = (
        Field(name="A", type="number", question="{B} + 1", depends_on=("B",)),
        Field(name="B", type="number", question="{A} * 2", depends_on=("A",)),
    )
    evidence = (Evidence(origin="formula", quote="1 = 1"),)
    cell = Cell(value=1, status="ENRICHED", run_id="r0", evidence=evidence, confidence=1.0, stale=True)
    table = await store.tables.create("circle", fields, [(cell, cell)])
    for each in await journey.list_refresh_rounds(store, table.id):
        run = await journey.plan_refresh_round(store, each, FillPlan(await store.tables.find(table.id), ()))
        assert run is not None
        await store.proposals.apply((await run.run()).proposal_id)
    (row,) = (await store.tables.load(table.id)).rows
    assert (row.cell("B").value, row.cell("A").value) == (2, 3)


async def test_a_formula_that_fails_is_an_answer(services: Services) -> None:
    run = await plan_fill(services, "sales", [parse_field("Share:number=10 / {Quantity}")])
    await services.changes.apply((await run.run()).proposal_id)
    await services.changes.set_value("sales", 1, "Quantity", "0")
    await refresh(services, "Share")
    share = (await cells(services, "Share"))[0]
    assert (share.value, share.reason, share.stale) == (None, "error", False)


@asynccontextmanager
async def renamed_company(tmp_path: Path) -> AsyncIterator[tuple[SmallWeb, Settings]]:
    """The only company of the table has another name by now, so that when it was founded is stale."""
    years = {"Kestrelworks": 2009, "Quillon": 1987}
    pages = {f"/{name}": Page(name, f"<p>{name} was founded in {year} by two.</p>") for name, year in years.items()}
    (tmp_path / "companies.csv").write_text("Company\nQuillon\n")
    async with small_web(pages) as web:
        settings = replace(web.settings(tmp_path / "home"), attempts="1")
        async with Services.open(settings) as opened:
            await import_table_file(opened, tmp_path / "companies.csv")
            run = await plan_fill(opened, "companies", [FOUNDED], "lookup")
            await opened.changes.apply((await run.run()).proposal_id)
            await opened.changes.set_value("companies", 1, "Company", "Kestrelworks")
        yield web, settings


@pytest.mark.parametrize(
    ("trouble", "status"),
    [({}, "paused"), ({"offline": "yes"}, "done"), ({"search_price": "1", "budget": "0"}, "over_budget")],
    ids=["search down", "offline", "no money"],
)
async def test_a_stale_cell_that_cannot_be_asked_for_keeps_its_value_and_its_mark(
    tmp_path: Path, trouble: dict[str, str], status: str
) -> None:
    async with renamed_company(tmp_path) as (web, settings):
        web.search_status = 403
        async with Services.open(replace(settings, **trouble)) as opened:
            before = await cells(opened, "Founded", "companies")
            (filled,) = await refresh(opened, table="companies")
            left, unasked = {"paused": (0, 0), "done": (0, 1), "over_budget": (1, 0)}[status]
            assert (filled.status, filled.left, filled.unasked) == (status, left, unasked)
            assert (filled.found, filled.empty) == (0, 0)
            assert await opened.store.proposals.operations(filled.proposal_id) == []
            assert await opened.store.proposals.all(only_open=True) == []
            assert await cells(opened, "Founded", "companies") == before
            assert (before[0].value, before[0].stale) == (1987, True)
        web.search_status = 200
        async with Services.open(settings) as opened:
            await refresh(opened, table="companies")
            assert await values(opened, "Founded", "companies") == [2009]


async def test_a_row_that_is_not_there_is_refused_and_a_run_without_work_leaves_nothing_to_decide(
    services: Services,
) -> None:
    for row_ids in ([1, 9], [HUGE]):
        with pytest.raises(NotFound, match=f"no row {row_ids[-1]}"):
            await plan_fill(services, "sales", [TOTAL], how=FillOptions(rows=row_ids))
    assert await services.rows_by_id("sales", [HUGE, -HUGE]) == {}
    with pytest.raises(NotFound, match="no row"):
        await services.changes.set_value("sales", HUGE, "Price", "1")
    with pytest.raises(NotFound, match="no row"):
        await services.store.log.cell_history("sales", HUGE, "Price")
    run = await plan_fill(services, "sales", [TOTAL, TAX], how=FillOptions(rows=[1]))
    filled = await run.run()
    assert filled.skipped == 1
    assert await services.store.proposals.all(only_open=True) == []
    assert (await services.changes.apply(filled.proposal_id)).change is None


@pytest.mark.parametrize("text", ["12 or 13", "10-20"])
async def test_two_numbers_for_one_are_a_guess_that_a_person_is_not_made_to_take(services: Services, text: str) -> None:
    with pytest.raises(UsageError, match="may be"):
        await services.changes.set_value("sales", 1, "Price", text)


async def test_a_scheduled_refresh_that_finds_nothing_keeps_the_value(tmp_path: Path) -> None:
    """Whatever a schedule applies by itself, it does not take away what somebody had found."""
    async with renamed_company(tmp_path) as (web, settings):
        web.pages.clear()
        async with Services.open(settings) as opened:
            spec = {"fields": [], "row_ids": None, "dry_run": False, "apply": True}
            await opened.jobs.perform("refresh", "companies", spec)
            (cell,) = await cells(opened, "Founded", "companies")
            heads = await opened.store.proposals.all("companies")
    assert (cell.value, cell.stale or cell.status == "FLAGGED") == (1987, True)
    assert [head.status for head in heads if head.counts.get("kept")] == ["applied"]
