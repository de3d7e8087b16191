"""A cap on dollars is a hard stop: what was bought is kept, nothing new is begun, the next run goes on from there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell
from tablewright.domain.proposal import ProposedCell
from tablewright.engine.outcome import RunResult
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tests.answering import columns, row_texts
from tests.engine.works import A_CALL, FOUNDED, TABLE, YEARS, path_of, thinking
from tests.llm.endpoint import Endpoint
from tests.pages import SmallWeb

CAP = 0.001
STOPPED = "before this row"


async def imported(settings: Settings, folder: Path, table: str = TABLE) -> str:
    (folder / "works.csv").write_text(table, encoding="utf-8")
    async with Services.open(settings) as services:
        return (await import_table_file(services, folder / "works.csv")).table.id


async def fill(
    settings: Settings, table_id: str, strategy: str = "lookup", *, apply: bool = False
) -> tuple[RunResult, list[ProposedCell]]:
    async with Services.open(settings) as services:
        run = await plan_fill(services, table_id, [parse_field(FOUNDED)], strategy)
        filled = await run.run()
        operations = await services.store.proposals.operations(filled.proposal_id)
        if apply:
            await services.changes.apply(filled.proposal_id)
        return filled, operations


def never_begun(operations: list[ProposedCell]) -> list[str]:
    """The names of the rows that the run did not come to."""
    names = list(YEARS)
    return [names[each.row_id - 1] for each in operations if STOPPED in (each.cell.error or "")]


# The pipeline has eight rows in progress, and takes two calls for each.
@pytest.mark.parametrize(("strategy", "cap"), [("lookup", CAP), ("research", CAP), ("pipeline", 2 * CAP)])
async def test_a_cap_that_is_reached_in_the_middle_stops_there_and_keeps_what_was_bought(
    web: SmallWeb, model: Endpoint, tmp_path: Path, strategy: str, cap: float
) -> None:
    settings = thinking(web.settings(tmp_path), model, budget=str(cap))
    params = {"rows_a_call": "1"} if strategy == "pipeline" else {}
    table_id = await imported(settings, tmp_path)
    async with Services.open(settings) as services:
        run = await plan_fill(
            services, table_id, [parse_field(FOUNDED)], strategy, how=FillOptions(params=params or {})
        )
        filled = await run.run()
        operations = await services.store.proposals.operations(filled.proposal_id)
        stored = await services.store.proposals.get(filled.proposal_id)
    left = never_begun(operations)
    assert filled.status == "over_budget"
    assert len(operations) == 30, "every row is there"
    assert 5 <= len(left) <= 27
    for name in left:
        assert not [query for query in web.queries if name.split()[0] in query]
        assert web.requests[path_of(name)] == 0
    assert 0 < filled.usage.cost_usd <= cap
    assert filled.usage.cost_usd == pytest.approx(len(model.asked) * A_CALL)
    assert filled.found + filled.empty + filled.left == 30
    assert filled.found > 0
    assert stored.reasoning.endswith(f"stopped at the cap of ${cap}: {filled.left} cells left")


async def test_what_is_left_says_which_cap_and_needs_work(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    settings = thinking(web.settings(tmp_path), model, budget=str(CAP))
    filled, operations = await fill(settings, await imported(settings, tmp_path))
    cell = next(each.cell for each in operations if STOPPED in (each.cell.error or ""))
    assert (cell.status, cell.reason, cell.cost) == ("FAILED", "over_budget", 0.0)
    assert cell.error == "The run stopped at the cap of $0.001 before this row."
    assert cell.needs_work
    assert not Cell(status="FAILED", reason="not_found").needs_work
    assert filled.cap == "$0.001"
    async with Services.open(settings) as services:
        assert await services.store.runs.cost("works") == pytest.approx(filled.usage.cost_usd)


@pytest.mark.parametrize("applied", [True, False], ids=["applied", "not applied"])
async def test_the_next_run_pays_only_for_the_rest_and_fills_all(
    web: SmallWeb, model: Endpoint, tmp_path: Path, applied: bool
) -> None:
    settings = thinking(web.settings(tmp_path), model, budget=str(CAP))
    table_id = await imported(settings, tmp_path)
    _, first = await fill(settings, table_id, apply=applied)
    done = {each.row_id for each in first if not each.cell.needs_work}
    bought = len(model.asked)
    assert done
    assert 0 < bought < 30
    filled, operations = await fill(replace(settings, budget="1"), table_id, apply=True)
    assert filled.status == "done"
    assert len(model.asked) == bought + filled.usage.llm_calls
    rows_read = [part for each in model.asked if columns(each) for part in row_texts(each)]
    assert len(rows_read) == len(set(rows_read)), "no reading is bought twice"
    if applied:
        assert {each.row_id for each in operations}.isdisjoint(done)
    async with Services.open(settings) as services:
        rows = (await services.load(table_id)).rows
    assert {row.cell("Company").value: row.cell("Founded").value for row in rows} == YEARS


async def test_a_doubted_cell_that_was_not_come_to_keeps_its_value(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    await fill(settings, table_id, apply=True)
    async with Services.open(settings) as services:
        for row in range(1, 31):
            await services.changes.flag(table_id, row, "Founded")
    model.asked.clear()
    question = "Founded:number=In which year did {Company} begin?"
    async with Services.open(replace(settings, budget="0.0004")) as services:
        run = await plan_fill(services, table_id, [parse_field(question)], "lookup")
        filled = await run.run()
        await services.changes.apply(filled.proposal_id)
        rows = (await services.load(table_id)).rows
    cell = rows[-1].cell("Founded")
    assert [row.cell("Founded").value for row in rows] == list(YEARS.values())
    assert (filled.status, filled.found + filled.left) == ("over_budget", 30)
    assert (cell.value, cell.status) == (YEARS["Hollune Works"], "FLAGGED")


async def test_a_budget_of_nothing_spends_nothing_but_plays_what_was_bought(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    filled, _ = await fill(replace(settings, budget="0"), table_id)
    assert (filled.status, filled.usage.cost_usd, model.asked) == ("over_budget", 0.0, [])
    await fill(settings, table_id)
    assert model.asked
    filled, _ = await fill(replace(settings, budget="0"), table_id)
    assert (filled.status, filled.found, filled.usage.llm_calls) == ("done", 30, 0)


async def test_with_a_budget_of_nothing_a_model_of_unknown_price_is_not_asked(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = thinking(web.settings(tmp_path), model, model="openai:somebody-elses", budget="0")
    filled, _ = await fill(settings, await imported(settings, tmp_path))
    assert (filled.status, model.asked) == ("over_budget", [])


# ── searches that cost ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_search_that_costs_counts_for_cells_and_run(web: SmallWeb, tmp_path: Path) -> None:
    settings = replace(web.settings(tmp_path), search_price="0.005")
    filled, operations = await fill(settings, await imported(settings, tmp_path))
    assert filled.usage.searches == len(web.queries) >= 30
    assert filled.usage.cost_usd == pytest.approx(0.005 * len(web.queries))
    assert sum(each.cell.cost for each in operations) == pytest.approx(filled.usage.cost_usd)


async def test_the_cap_holds_for_searches_too_with_many_rows_at_once(web: SmallWeb, tmp_path: Path) -> None:
    settings = replace(web.settings(tmp_path), search_price="0.005", budget="0.05", concurrency="20")
    filled, operations = await fill(settings, await imported(settings, tmp_path))
    assert filled.status == "over_budget"
    assert len(web.queries) == 10
    assert filled.usage.cost_usd == pytest.approx(0.05)
    assert (len(operations), filled.found, filled.left) == (30, 10, 20)
    assert {each.cell.reason for each in operations if each.cell.value is None} == {"over_budget"}


async def test_searches_that_were_paid_for_are_not_bought_again(web: SmallWeb, tmp_path: Path) -> None:
    settings = replace(web.settings(tmp_path), search_price="0.005", budget="0.05")
    table_id = await imported(settings, tmp_path)
    await fill(settings, table_id)
    assert len(web.queries) == 10
    await fill(settings, table_id, apply=True)
    filled, _ = await fill(replace(settings, budget="1"), table_id)
    assert (filled.status, filled.found) == ("done", 10)
    assert len(web.queries) == len(set(web.queries))


async def test_a_search_that_failed_is_free(web: SmallWeb, tmp_path: Path) -> None:
    web.search_status = 403
    settings = replace(web.settings(tmp_path), search_price="0.005", budget="0.05")
    filled, _ = await fill(settings, await imported(settings, tmp_path))
    assert (filled.status, filled.usage.cost_usd) == ("paused", 0.0)
    assert len(web.queries) >= 5
