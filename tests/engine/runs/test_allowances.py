"""What work takes of a user's dollars: never more than is left, however many runs and processes spend side by side."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tablewright.domain.access import Person
from tablewright.domain.fieldspec import parse_field
from tablewright.operations.files import import_table_rows
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tests.answering import form, is_packed
from tests.engine.runs.spender import A_CALL, KIND, READ, WRITTEN, paying, spend
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, running_endpoint
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[3]
LEFT = 0.02
PROCESSES, RUNS, ROWS = 4, 4, 8


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        written = {"Kind": {"value": "a thing", "used": ["Note"]}}
        running.otherwise = lambda asked: answer(written, read=READ, written=WRITTEN)
        yield running


@pytest.fixture
def settings(endpoint: Endpoint, tmp_path: Path, database_url: str) -> dict[str, str]:
    postgres = database_url if database_url.startswith("postgresql") else ""
    return paying(endpoint.url, str(tmp_path), postgres)


async def user_with(app: Services, dollars: float) -> Person:
    person, _ = await app.store.users.add("ann", "editor")
    await app.store.ledger.limit("ann", {"dollars": dollars})
    return person


async def dollars(app: Services, person: Person) -> tuple[float, float]:
    """Used and held."""
    return next((each.used, each.held) for each in await app.store.ledger.of(person.name) if each.what == "dollars")


async def spender(settings: dict[str, str], person: Person, name: str, runs: int, rows: int) -> Process:
    arguments = (json.dumps(settings), person.id, name, str(runs), str(rows))
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.runs.spender", *arguments, cwd=ROOT, stdout=PIPE
    )


async def test_sixteen_runs_in_four_processes_spend_no_more_than_is_left(
    endpoint: Endpoint, settings: dict[str, str]
) -> None:
    async with Services.open(Settings(**settings)) as app:
        person = await user_with(app, LEFT)
        processes = [await spender(settings, person, f"p{number}", RUNS, ROWS) for number in range(PROCESSES)]
        told = [(await asyncio.wait_for(process.communicate(), PATIENCE))[0] for process in processes]
        ended = Counter(status for each in told for status in json.loads(each))
        paid = len(endpoint.asked) * A_CALL
        used, held = await dollars(app, person)
        assert ended.total() == PROCESSES * RUNS
        assert ended["over_budget"] > 0
        assert ended.keys() <= {"done", "over_budget", "refused"}
        assert LEFT / 2 < paid <= LEFT < PROCESSES * RUNS * ROWS * A_CALL
        assert (used, held) == (pytest.approx(paid, abs=1e-6), 0)


async def test_calls_that_rows_share_are_paid_by_the_user(endpoint: Endpoint, settings: dict[str, str]) -> None:
    written = {"Kind": {"value": "a thing", "used": ["Note"]}}

    def shared(asked: Asked) -> Reply:
        rows = dict.fromkeys(form(asked), written) if is_packed(asked) else written
        return answer(rows, read=READ, written=WRITTEN)

    endpoint.otherwise = shared
    async with Services.open(Settings(**settings)) as app:
        person = await user_with(app, 1.0)
        ann = app.acting("ann", person)
        table = (await import_table_rows(ann, [{"Note": f"number {number}"} for number in range(12)])).table
        filled = await ann.jobs.run(await plan_fill(ann, table.id, [parse_field(KIND)], "transform"))
        assert filled.found == 12
        assert len(endpoint.asked) < 12
        assert await dollars(app, person) == (pytest.approx(len(endpoint.asked) * A_CALL, abs=1e-6), 0)


async def test_runs_that_begin_at_once_in_one_process_have_one_executor(settings: dict[str, str]) -> None:
    async with Services.open(Settings(**settings)) as app:
        ann = app.acting("ann", await user_with(app, LEFT))
        await asyncio.gather(*(spend(ann, f"run{number}", 1) for number in range(6)))
        assert len(await app.store.workers.all()) == 1


async def test_what_a_killed_process_held_comes_back(endpoint: Endpoint, settings: dict[str, str]) -> None:
    async with Services.open(Settings(**settings)) as app:
        person = await user_with(app, 1.0)
        endpoint.open_gate.clear()
        process = await spender(settings, person, "lost", 1, ROWS)
        await asyncio.wait_for(endpoint.somebody_waits.wait(), PATIENCE)
        os.kill(process.pid, signal.SIGKILL)
        await asyncio.wait_for(process.communicate(), PATIENCE)
        used, held = await dollars(app, person)
        assert used == 0 < held
        await app.store.ledger.limit("ann", {"dollars": held})  # all that is left is held by the dead
        endpoint.open_gate.set()
        before = len(endpoint.asked)
        assert await spend(app.acting("ann", person), "next", 2) == "done"
        assert await dollars(app, person) == (pytest.approx((len(endpoint.asked) - before) * A_CALL, abs=1e-6), 0)


async def test_a_run_without_a_cap_of_its_own_ends_over_budget_and_keeps_what_it_found(
    endpoint: Endpoint, settings: dict[str, str]
) -> None:
    async with Services.open(Settings(**settings)) as app:
        person = await user_with(app, 40 * A_CALL)
        ann = app.acting("ann", person)
        assert await spend(ann, "many", 60) == "over_budget"
        run = (await ann.jobs.all())[0]
        filled = await ann.jobs.result(run.id)
        assert filled.found == len(endpoint.asked) > 0
        assert filled.found + filled.left == 60
        assert filled.cap == "$0.01 a month"
        proposal = await ann.store.proposals.get(filled.proposal_id)
        assert proposal.reasoning.endswith(f"stopped at the cap of $0.01 a month: {filled.left} cells left")
        assert proposal.counts["with_value"] == filled.found


async def test_holding_takes_few_transactions_for_many_calls(endpoint: Endpoint, settings: dict[str, str]) -> None:
    async with Services.open(Settings(**settings)) as app:
        ann = app.acting("ann", await user_with(app, 100.0))
        holds = 0
        hold = ann.store.ledger.hold_dollars

        async def counted(*arguments: object) -> float:
            nonlocal holds
            holds += 1
            return await hold(*arguments)  # type: ignore[arg-type]

        for store in (app.store, ann.store):
            store.ledger.hold_dollars = counted  # type: ignore[assignment]
        assert await spend(ann, "row", 120) == "done"
        slices = len(await app.store.database.read(lambda c: c.exec_driver_sql("SELECT 1 FROM run_slices").all()))
        assert len(endpoint.asked) == 120
        assert 0 < holds <= slices
