from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from tablewright.domain.edits import FlagCell
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Evidence, Field, Finding, Row, Step, Table, make_given_cell
from tablewright.domain.run import Progress
from tablewright.engine import planning
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.errors import BadFormula, StoreError
from tablewright.store.store import Store
from tablewright.strategies.computation import ComputationStrategy
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell, Tools, list_installed_strategies
from tests.patience import PATIENCE

FIELDS = (Field(name="Name"), Field(name="Price", type="number"), Field(name="Quantity", type="number"))
ROWS = [
    (make_given_cell("Tea"), make_given_cell(2.5), make_given_cell(4)),
    (make_given_cell("Milk"), make_given_cell(None), make_given_cell(1)),
    (make_given_cell(None), make_given_cell(3), make_given_cell(3)),
]
TOTAL = parse_field("Total:number={Price} * {Quantity}")


async def sales(store: Store, rows: Sequence[Sequence[object]] = ROWS) -> Table:
    return await store.tables.create("sales", FIELDS, rows, key_field="Name")  # type: ignore[arg-type]


async def test_a_computed_column_is_proposed_with_its_trace(store: Store) -> None:
    table = await sales(store)
    filled = await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy())).run()
    assert (filled.status, filled.rows, filled.found, filled.empty) == ("done", 3, 2, 1)
    operations = await store.proposals.operations(filled.proposal_id)
    assert [(op.row_id, op.cell.value, op.cell.status, op.cell.reason, op.cell.error) for op in operations] == [
        (1, 10.0, "ENRICHED", None, None),
        (2, None, "FAILED", "not_applicable", "Price is empty"),
        (3, 9, "ENRICHED", None, None),
    ]
    assert [(step.type, step.detail) for step in operations[0].steps] == [("compute", "2.5 * 4 = 10"), ("answer", "10")]
    assert {op.cell.run_id for op in operations} == {filled.run_id}
    proposal = await store.proposals.get(filled.proposal_id)
    assert proposal.reasoning == "Computation: Total — found 2 of 3 rows"
    assert (await store.runs.get(filled.run_id)).status == "done"


async def test_a_formula_may_use_a_column_computed_before_it(store: Store) -> None:
    table = await sales(store)
    fields = [TOTAL, parse_field("Tax:number={Total} / 10")]
    filled = await FillRun(store, FillPlan(table, fields, ComputationStrategy())).run()
    taxes = [op.cell.value for op in await store.proposals.operations(filled.proposal_id) if op.field == "Tax"]
    assert taxes == [1, None, 0.9]


async def test_a_formula_that_cannot_be_read_is_refused_before_the_run(store: Store) -> None:
    table = await sales(store)
    bad = parse_field("Evil=__import__('os').getcwd()")
    with pytest.raises(BadFormula, match=r"__import__\(\) is not a function of formulas"):
        await FillRun(store, FillPlan(table, [bad], ComputationStrategy())).run()


async def test_a_computed_text_is_taken_as_it_stands(store: Store) -> None:
    table = await sales(
        store,
        [
            (make_given_cell("Unknown"), make_given_cell(1), make_given_cell(1)),
            (make_given_cell("Answer: 42"), make_given_cell(1), make_given_cell(1)),
        ],
    )
    filled = await FillRun(store, FillPlan(table, [parse_field("Copy={Name}")], ComputationStrategy())).run()
    values = [op.cell.value for op in await store.proposals.operations(filled.proposal_id)]
    assert values == ["Unknown", "Answer: 42"]


async def test_only_cells_that_need_work_are_worked_on(store: Store) -> None:
    table = await sales(store)
    filled = await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy())).run()
    await store.proposals.apply(filled.proposal_id)
    await store.log.commit(table.id, [FlagCell(row_id=3, field="Total")])
    again = await planning.prepare_fill(store, FillPlan(table, [TOTAL], "computation"))
    filled = await again.run()
    assert (filled.found, filled.empty, filled.skipped) == (1, 0, 2)
    (operation,) = await store.proposals.operations(filled.proposal_id)
    assert (operation.row_id, operation.cell.attempt) == (3, 2)


async def test_what_was_not_found_is_looked_for_again_only_when_asked(store: Store) -> None:
    table = await sales(store)
    await store.proposals.apply(
        (await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy())).run()).proposal_id
    )
    better = parse_field("Total:number={Quantity} * 3")
    untouched = await (await planning.prepare_fill(store, FillPlan(table, [better], "computation"))).run()
    assert (untouched.found, untouched.skipped) == (0, 3)
    others = await (
        await planning.prepare_fill(store, FillPlan(table, [better], "computation", row_ids=[1, 3], again=True))
    ).run()
    assert others.found == 0
    filled = await (await planning.prepare_fill(store, FillPlan(table, [better], "computation", again=True))).run()
    (operation,) = await store.proposals.operations(filled.proposal_id)
    assert (operation.row_id, operation.cell.value, operation.cell.attempt) == (2, 3, 2)


async def test_the_confidence_of_a_computed_value_is_that_of_its_least_sure_input(store: Store) -> None:
    table = await sales(store)
    unsure = parse_field("Weight:number=about {Quantity}")
    filled = await FillRun(store, FillPlan(table, [unsure], Fixed("about 4 kg"))).run()
    await store.proposals.apply(filled.proposal_id)
    table = await store.tables.find(table.id)
    filled = await FillRun(
        store, FillPlan(table, [parse_field("Double:number={Weight} * 2")], ComputationStrategy())
    ).run()
    operation = (await store.proposals.operations(filled.proposal_id))[0]
    assert operation.cell.value == 8
    assert 0 < (operation.cell.confidence or 0) < 0.8


class Fixed(Strategy):
    """Answers every row with the same text; shows what a strategy of another package looks like."""

    name, display_name, concurrency = "fixed", "Fixed", 2

    def __init__(self, text: str) -> None:
        self._text = text

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            tell(Step(type="search", detail="looked around"))
            quote = (Evidence(origin="https://a.example", quote=self._text),)
            return [
                Finding(field=field.name, value=self._text, raw_value=self._text, confidence=0.9, evidence=quote)
                for field in task.fields
            ]

        return answer


async def test_findings_are_coerced_to_the_type_of_their_field(store: Store) -> None:
    table = await sales(store)
    fields = [parse_field("Weight:number(g)=?"), parse_field("Sold:boolean=?"), parse_field("Size:select(S, M)=?")]
    filled = await FillRun(store, FillPlan(table, fields, Fixed("about 1.5 kg"))).run()
    cells = {op.field: op.cell for op in await store.proposals.operations(filled.proposal_id) if op.row_id == 1}
    assert (cells["Weight"].value, cells["Weight"].raw_value) == (1500, "about 1.5 kg")
    assert cells["Weight"].confidence == pytest.approx(0.63)
    assert (cells["Sold"].value, cells["Sold"].status, cells["Sold"].reason) == (None, "FAILED", "error")
    assert cells["Sold"].evidence


async def test_an_answer_that_says_there_is_none_is_not_found_and_no_error(store: Store) -> None:
    table = await sales(store)
    fields = [parse_field(text) for text in ("Weight:number(g)=?", "Sold:boolean=?", "Note=?")]
    filled = await FillRun(store, FillPlan(table, fields, Fixed("n/a"))).run()
    cells = [operation.cell for operation in await store.proposals.operations(filled.proposal_id)]
    assert {(cell.value, cell.status, cell.reason) for cell in cells} == {(None, "FAILED", "not_found")}


@pytest.mark.parametrize(
    "paragraph",
    [
        "Based on my research, the kettle is roomy and holds a great deal of water for a family.",
        "It depends on the model that you buy in the end.",
        "line one\nline two",
        "I could not find out which size it is",
    ],
)
async def test_a_paragraph_never_lands_in_a_select_column(store: Store, paragraph: str) -> None:
    table = await sales(store)
    filled = await FillRun(store, FillPlan(table, [parse_field("Size:select(Small, Large)=?")], Fixed(paragraph))).run()
    cells = [op.cell for op in await store.proposals.operations(filled.proposal_id)]
    assert {(cell.value, cell.status, cell.reason) for cell in cells} <= {
        (None, "FAILED", "error"),
        (None, "FAILED", "not_found"),
    }
    assert all(cell.raw_value for cell in cells), "what was said is kept beside the empty cell"


async def test_rows_without_a_name_are_skipped_and_said_so(store: Store) -> None:
    table = await sales(store)
    news: list[Progress] = []
    filled = await FillRun(store, FillPlan(table, [parse_field("X=?")], Fixed("x")), watch=news.append).run()
    assert (filled.found, filled.skipped) == (2, 1)
    assert [(event.row_id, event.detail) for event in news if event.stage == "row_skipped"] == [(3, "Name is empty")]


async def test_the_feed_tells_every_stage_with_a_growing_fraction(store: Store) -> None:
    table = await sales(store)
    news: list[Progress] = []
    await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy()), watch=news.append).run()
    assert [event.stage for event in news][:1] == ["starting"]
    assert [event.stage for event in news][-1] == "complete"
    assert sum(event.stage == "row_done" for event in news) == 3
    fractions = [event.fraction for event in news]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


class Slow(Fixed):
    """Answers the first rows at once and then takes for ever."""

    def prepare(self, task: Task, tools: Tools) -> Answer:
        quick = super().prepare(task, tools)

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            if row.id > 5:
                await asyncio.sleep(3600)
            return await quick(row, tell)

        return answer


async def test_a_cancelled_run_keeps_what_it_found_as_a_proposal(store: Store) -> None:
    table = await sales(
        store, [(make_given_cell(f"row {number}"), make_given_cell(1), make_given_cell(1)) for number in range(50)]
    )
    five_done = asyncio.Event()
    fill = FillRun(
        store, FillPlan(table, [parse_field("X=?")], Slow("x")), watch=lambda news: news.done == 5 and five_done.set()
    )
    running = asyncio.create_task(fill.run())
    await asyncio.wait_for(five_done.wait(), PATIENCE)
    fill.cancel()
    filled = await asyncio.wait_for(running, PATIENCE)
    assert (filled.status, filled.found) == ("cancelled", 5)
    proposal = await store.proposals.get(filled.proposal_id)
    assert (proposal.status, proposal.counts["with_value"]) == ("open", 5)
    assert "cancelled" in proposal.reasoning
    assert (await store.runs.get(filled.run_id)).status == "cancelled"


async def test_a_run_whose_task_is_cancelled_keeps_what_it_found(store: Store) -> None:
    table = await sales(
        store, [(make_given_cell(f"row {number}"), make_given_cell(1), make_given_cell(1)) for number in range(50)]
    )
    five_done = asyncio.Event()
    fill = FillRun(
        store, FillPlan(table, [parse_field("X=?")], Slow("x")), watch=lambda news: news.done == 5 and five_done.set()
    )
    running = asyncio.create_task(fill.run())
    await asyncio.wait_for(five_done.wait(), PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (proposal,) = await store.proposals.all()
    assert (proposal.status, proposal.counts["with_value"]) == ("open", 5)
    assert (await store.runs.get(proposal.run_id)).status == "cancelled"


async def test_a_database_that_fails_stops_the_run_at_once(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'tablewright.db'}") as store:
        table = await sales(
            store,
            [(make_given_cell(f"row {number}"), make_given_cell(1), make_given_cell(1)) for number in range(20_000)],
        )
        news: list[Progress] = []

        def fill_the_disk(connection: Connection) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 40}")

        await store.database.write(fill_the_disk)
        with pytest.raises(StoreError, match="The disk is full"):
            await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy()), watch=news.append).run()
        assert max(event.done for event in news) < 20_000
        assert await store.tables.count(table.id) == 20_000


class Broken(Fixed):
    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            if row.id == 2:
                raise ZeroDivisionError("a bug in somebody's strategy")
            proof = (Evidence(origin="https://a.example", quote="fine"),)
            return [Finding(field=task.fields[0].name, value="fine", confidence=1.0, evidence=proof)]

        return answer


class Unproven(Fixed):
    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            tell(Step(type="search", detail="asked an oracle"))
            wrong = Finding(field=task.fields[0].name, value=1999, confidence=self._text)  # type: ignore[arg-type]
            return [Finding(field=task.fields[0].name, value=1999, confidence=0.95)] if row.id == 1 else [wrong]

        return answer


async def test_a_value_of_another_package_without_a_quote_is_marked_and_needs_the_right_form(store: Store) -> None:
    table = await sales(store)
    filled = await FillRun(store, FillPlan(table, [parse_field("X=?")], Unproven("very"))).run()
    first, second = await store.proposals.operations(filled.proposal_id)
    assert (first.cell.value, first.cell.confidence_label, first.cell.error) == (
        "1999",
        "medium",
        "No quote states it.",
    )
    assert (second.cell.value, second.cell.reason) == (None, "error")
    assert second.steps[0].detail == "asked an oracle", "the trace is kept"


async def test_a_strategy_that_raises_fails_its_row_and_no_other(store: Store) -> None:
    table = await sales(store)
    filled = await FillRun(store, FillPlan(table, [parse_field("X=?")], Broken(""))).run()
    cells = {op.row_id: op.cell for op in await store.proposals.operations(filled.proposal_id)}
    assert (cells[1].value, cells[2].status, cells[2].reason) == ("fine", "FAILED", "error")
    assert "a bug in somebody's strategy" in (cells[2].error or "")


async def test_only_the_first_rows_or_the_named_rows(store: Store) -> None:
    table = await sales(store)
    first = await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy(), max_rows=1)).run()
    named = await FillRun(store, FillPlan(table, [TOTAL], ComputationStrategy(), row_ids=[3, 1])).run()
    assert [op.row_id for op in await store.proposals.operations(first.proposal_id)] == [1]
    assert [op.row_id for op in await store.proposals.operations(named.proposal_id)] == [1, 3]
    missing = await FillRun(
        store, FillPlan(table, [TOTAL], ComputationStrategy(), row_ids=[*range(1_000, 9_000), 2])
    ).run()
    assert [op.row_id for op in await store.proposals.operations(missing.proposal_id)] == [2]


async def test_a_field_without_a_formula_is_refused_before_a_run_begins(store: Store) -> None:
    table = await sales(store)
    with pytest.raises(BadFormula, match="Total has no formula"):
        await planning.prepare_fill(store, FillPlan(table, [Field(name="Total")], "computation"))
    assert await store.proposals.all() == []


def test_built_in_strategies_come_through_the_entry_points() -> None:
    assert isinstance(list_installed_strategies()["computation"], ComputationStrategy)
