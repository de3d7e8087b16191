"""A computation over hostile cells: each costs itself only, and nobody waits for it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.engine.write_buffer import MAX_BUFFERED_CHARACTERS
from tablewright.formulas.formula import Formula
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits
from tablewright.store.store import Store
from tablewright.strategies import compute
from tablewright.strategies.computation import ComputationStrategy
from tablewright.strategies.compute import CellComputer
from tests.patience import PATIENCE

FIELDS = (Field(name="A"), Field(name="B"))
PARTS = [Field(name="A"), Field(name="B")]


async def computed(store: Store, question: str, rows: list[tuple[str, str]]) -> list[ProposedCell]:
    table = await store.tables.create(
        "hostile", FIELDS, [tuple(map(make_given_cell, row)) for row in rows], key_field="A"
    )
    filled = await FillRun(store, FillPlan(table, [parse_field(f"Out={question}")], ComputationStrategy())).run()
    assert (filled.status, filled.rows) == ("done", len(rows))
    return list(await store.proposals.operations(filled.proposal_id))


def workers() -> set[str]:
    """The processes that this one has started."""
    return {child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()}


async def test_a_cell_that_would_swell_fails_and_the_others_go_on(store: Store) -> None:
    before = workers()
    rows = [("x" * 60_000, "y" * 60_000), ("axa", "b"), ("x" * 50_000, "zz"), ("x" * 60_000, "")]
    operations = await computed(store, "UPPER(SUBSTITUTE({A}, 'x', {B}))", rows)
    assert [(each.row_id, each.cell.status, each.cell.reason) for each in operations] == [
        (1, "FAILED", "error"),
        (2, "ENRICHED", None),
        (3, "ENRICHED", None),
        (4, "FAILED", "not_applicable"),
    ]
    assert operations[0].cell.error == (
        "the formula makes a text of 3,600,000,000 characters, more than the 100,000 that a cell takes; "
        "shorten its parts with LEFT"
    )
    assert [operations[at].cell.value for at in (1, 2)] == ["ABA", "Z" * 100_000]
    assert workers() == before, "the workers of the run ended with it"


async def test_what_is_kept_of_a_long_value_is_the_value_and_little_more(store: Store) -> None:
    [long] = await computed(store, "'{A}{A}{A}'", [("x" * 30_000, "b")])
    assert long.cell.value == "x" * 90_000
    assert sum(len(step.detail) for step in long.steps) + sum(len(each.quote) for each in long.cell.evidence) < 10_000


async def test_long_values_are_written_before_they_fill_the_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[int] = []
    add = store.proposals.add

    async def noted(proposal_id: str, cells: list[ProposedCell]) -> None:
        waiting.append(sum(len(str(each.cell.value)) for each in cells))
        await add(proposal_id, cells)

    monkeypatch.setattr(store.proposals, "add", noted)
    await computed(store, "'{A}{A}{A}'", [("x" * 30_000, "b")] * 150)
    assert sum(waiting) == 150 * 90_000
    # Rows that are under way while a batch is written come into the next.
    assert max(waiting) <= MAX_BUFFERED_CHARACTERS + (ComputationStrategy.concurrency + 1) * 90_000


async def test_a_cell_is_computed_alike_in_place_and_by_a_worker() -> None:
    computer = CellComputer()
    field = parse_field("Out:money(EUR)=LEN(UPPER({A})) * {B}")
    formula = Formula(field.question, PARTS)
    try:
        short, long = [
            await computer.compute(
                field, formula, PARTS, Row(id=1, key="k", cells={"A": make_given_cell(a), "B": make_given_cell("€2")})
            )
            for a in ("x" * 1_000, "x" * 90_000)
        ]
    finally:
        await computer.close()
    assert (short.value, long.value) == (Money(amount=2_000, currency="EUR"), Money(amount=180_000, currency="EUR"))
    assert short.steps[-1].detail == f"LEN(UPPER('{'x' * 60}')) * '€2' = 2000"
    assert long.steps[-1].detail == f"LEN(UPPER('{'x' * 60}')) * '€2' = 180000"


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (SandboxLimits(seconds=0.001), "took longer than 0.001 s to compute and was given up"),
        (SandboxLimits(memory=400 * MEBIBYTE), "needs more memory to be computed than the 0.4 GB it may take"),
    ],
)
async def test_a_worker_that_is_lost_costs_its_cell(
    limits: SandboxLimits, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the allowance has overlooked."""
    monkeypatch.setattr(compute, "LIMITS", limits)
    computer = CellComputer()
    field = parse_field("Out={A} & 'b'")
    formula = Formula(field.question, PARTS)
    size = 90_000 if limits.seconds < 1 else 200_000_000
    row = Row(id=1, key="k", cells={"A": make_given_cell("x" * size), "B": make_given_cell("b")})
    try:
        finding = await computer.compute_in_worker(field, formula, PARTS, row)
    finally:
        await computer.close()
    assert (finding.value, finding.reason) == (None, "error")
    assert sentence in (finding.error or "")
    assert "Shorten its texts with LEFT" in (finding.error or "")


async def test_others_have_the_event_loop_while_rows_are_computed(store: Store) -> None:
    """However many rows are computed at once, one of them goes on and then lets all others work."""
    table = await store.tables.create(
        "many",
        FIELDS,
        [(make_given_cell(f"text {at}"), make_given_cell(str(at))) for at in range(1_500)],
        key_field="A",
    )
    seen: list[int] = []
    done = 0
    plain = compute.compute_cell

    def counted(*args: object, **named: object) -> object:
        nonlocal done
        done += 1
        return plain(*args, **named)  # type: ignore[arg-type]

    async def look() -> None:
        while True:
            await asyncio.sleep(0)
            seen.append(done)

    question = "+".join(["LEN({A} & {B})"] * 50)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tablewright.strategies.computation.compute_cell", counted)
        patched.setattr(compute, "TURN_SECONDS", 0.0)
        looking = asyncio.create_task(look())
        try:
            async with asyncio.timeout(PATIENCE):
                fill = FillRun(
                    store,
                    FillPlan(table, [parse_field(f"Out:number={question}")], ComputationStrategy(), concurrency=20),
                )
                await fill.run()
        finally:
            looking.cancel()
    assert done == 1_500
    assert max(later - earlier for earlier, later in pairwise(seen)) <= 2
