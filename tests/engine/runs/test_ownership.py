"""Whose a run is, how it ends, and what is counted, without a process being killed."""

from __future__ import annotations

import asyncio
import platform
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from sqlalchemy import create_engine, insert, make_url, select

from tablewright.domain.model import Field, make_given_cell
from tablewright.domain.run import Progress, Run, RunTally, Usage, record_usage
from tablewright.engine.runs import ownership
from tablewright.engine.runs.executor import Halt, RunExecutor, RunTools
from tablewright.engine.runs.kinds import RunContext
from tablewright.errors import Cancelled, UsageError
from tablewright.llm.budget import Budget
from tablewright.operations.runs import seconds_left
from tablewright.store import schema
from tablewright.store.runs import SliceWork
from tablewright.store.store import Store
from tablewright.strategies.strategy import open_no_tools
from tests.patience import PATIENCE

FIELDS = (Field(name="Name"), Field(name="Value", type="number"))
SPEC = {"retry": {}, "concurrency": 1, "strategy": "lookup", "params": {}}
ELSEWHERE = "elsewhere-17-abcdef"


class Tools:
    """Opens what a run needs here: a budget, and nothing else."""

    def __init__(self) -> None:
        self.budget = Budget(usd=1.0)

    async def __call__(self, settings: object, stack: AsyncExitStack, person: str = "") -> RunTools:
        return RunTools(open=open_no_tools, budget=self.budget)


async def sliced(store: Store, owner: str) -> str:
    """A run of one slice of two rows."""
    table = await store.tables.create(
        "t", FIELDS, [(make_given_cell("a"), make_given_cell(None)), (make_given_cell("b"), make_given_cell(None))]
    )
    return await store.runs.start_sliced(table.id, "enrich", SPEC, FIELDS[1:], [SliceWork(row_ids=(1, 2))], owner)


async def test_who_is_too_busy_for_anything_else_still_gives_signs_of_life(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.05)
    url = make_url(database_url)
    driver = "sqlite+pysqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    engine = create_engine(url.set(drivername=driver))

    def beat() -> float:
        with engine.connect() as connection:
            return float(connection.execute(select(schema.workers.c.beat)).scalar_one())

    async with await Store.open(database_url) as store:
        async with RunExecutor(store, Tools()):
            first, until = beat(), time.monotonic() + PATIENCE
            while beat() <= first:  # without an await: the event loop does nothing else
                assert time.monotonic() < until
        assert await store.workers.all() == []
    engine.dispose()


async def test_what_the_same_process_spent_before_counts_for_the_budget(store: Store) -> None:
    tools = Tools()
    async with RunExecutor(store, tools) as executor:
        run_id = await sliced(store, executor.id)
        part = await store.slices.claim(run_id, 1, f"{executor.id}/earlier")
        spent = msgspec.structs.replace(part, done=(1,), tally=RunTally(rows=1), usage=Usage(cost_usd=0.4, llm_calls=3))
        await store.slices.keep(spent, await store.proposals.of_run(run_id), [])
        await executor.fill_slice(run_id, 1, "somebody else")
        assert tools.budget.spent_by_others.usd == pytest.approx(0.4)
        assert tools.budget.spent_by_others.calls == 3


async def test_a_run_of_a_machine_that_is_lost_is_taken_by_one_who_has_just_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "GONE_AFTER_SECONDS", 0.5)
    run_id = await sliced(store, ELSEWHERE)
    lost = {"id": ELSEWHERE, "kind": "command", "host": "elsewhere", "pid": 17, "started_at": "2026-01-01T00:00:00Z"}
    await store.database.write(
        lambda connection: connection.execute(insert(schema.workers).values(**lost, beat=time.time() - 60))
    )
    async with RunExecutor(store, Tools()) as executor:
        await executor.heartbeat.take(run_id)
        assert (await store.runs.get(run_id)).owner == executor.id


async def test_who_resumes_a_run_twice_gets_it_once(store: Store) -> None:
    async with RunExecutor(store, Tools()) as executor:
        run_id = await sliced(store, executor.id)
        await executor.end_as(executor.id, run_id)
        assert (await store.runs.get(run_id)).status == "cancelled"
        results = await asyncio.gather(
            executor.heartbeat.take(run_id), executor.heartbeat.take(run_id), return_exceptions=True
        )
        assert sorted(isinstance(result, UsageError) for result in results) == [False, True]


async def test_a_run_that_has_ended_ends_no_second_time(store: Store) -> None:
    async with RunExecutor(store, Tools()) as executor:
        run_id = await sliced(store, executor.id)
        await executor.end_as(executor.id, run_id, Halt(status="failed", problem="the first problem"))
        await executor.end_as(executor.id, run_id)
        await store.runs.finish(run_id, "done", Usage(), news=[Progress(stage="complete")])
        run = await store.runs.get(run_id)
        assert (run.status, run.error) == ("failed", "the first problem")
        assert [event.progress.stage for event in await store.feed.read(run_id)] == ["starting", "complete"]


async def test_what_a_run_came_to_is_asked_only_of_one_that_has_ended(store: Store) -> None:
    async with RunExecutor(store, Tools()) as executor:
        run_id = await sliced(store, executor.id)
        with pytest.raises(UsageError, match="has not ended"):
            await executor.outcome(run_id)
        assert (await store.runs.get(run_id)).status == "running"


class Halting:
    """A piece of work that is stopped in such a way that what it has come to counts."""

    def __init__(self) -> None:
        self.begun, self._halted = asyncio.Event(), asyncio.Event()

    async def __call__(self, context: RunContext) -> str:
        context.on_stop = self._halted.set
        context.tell(Progress(stage="working", done=1, total=9))
        self.begun.set()
        await self._halted.wait()
        context.tell(Progress(stage="cancelled", done=2, total=9))
        return "what it came to"


async def test_work_that_is_stopped_is_cancelled_and_told_once(store: Store) -> None:
    work = Halting()
    async with RunExecutor(store, Tools(), {"ingest": work}) as executor:
        doing = asyncio.create_task(executor.perform("ingest", "", {}))
        await work.begun.wait()
        (run,) = await store.runs.all()
        await store.runs.ask_to_stop(run.id)
        assert await doing == "what it came to"
        run = await store.runs.get(run.id)
        assert (run.status, run.done, run.total) == ("cancelled", 2, 9)
        assert [event.progress.stage for event in await store.feed.read(run.id)] == ["working", "cancelled"]


async def test_work_that_a_worker_leaves_is_not_over(store: Store) -> None:
    work = Halting()
    async with RunExecutor(store, Tools(), {"ingest": work}) as executor:
        doing = asyncio.create_task(executor.perform("ingest", "", {}))
        await work.begun.wait()
        await executor.drain()
        await doing
        (run,) = await store.runs.all()
        assert run.status == "running"


async def test_work_that_others_took_while_its_process_slept_is_broken_off_and_writes_nothing(store: Store) -> None:
    work = Halting()
    async with RunExecutor(store, Tools(), {"ingest": work}) as executor:
        doing = asyncio.create_task(executor.perform("ingest", "", {}))
        await work.begun.wait()
        (run,) = await store.runs.all()
        await store.runs.set_holder(run.id, "somebody else")
        with pytest.raises(Cancelled, match="Another process has taken"):
            await doing
        assert (await store.runs.get(run.id)).status == "running"
        assert await store.feed.read(run.id) == []


async def test_what_work_uses_up_is_written_down_while_it_goes_on(store: Store) -> None:
    spent, over = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> None:
        record_usage(Usage(llm_calls=3, cost_usd=0.25))
        spent.set()
        await over.wait()

    async with RunExecutor(store, Tools(), {"research": work}) as executor:
        doing = asyncio.create_task(executor.perform("research", "", {}))
        await spent.wait()
        (run,) = await store.runs.all()
        while not run.usage.llm_calls:
            await asyncio.sleep(0.05)
            run = await store.runs.get(run.id)
        assert (run.status, run.usage.llm_calls, run.usage.cost_usd) == ("running", 3, 0.25)
        over.set()
        await doing
        assert (await store.runs.get(run.id)).usage.llm_calls == 3


async def test_a_routine_is_not_begun_while_the_last_goes_on(store: Store) -> None:
    table = await store.tables.create("t", FIELDS, [(make_given_cell("a"), make_given_cell(None))])
    async with RunExecutor(store, Tools()) as executor:
        first = await executor.begin_routine(table.id, "recheck", {})
        assert first
        assert await executor.begin_routine(table.id, "recheck", {}) == ""
        assert await executor.begin_routine(table.id, "refresh", {})
        await store.runs.finish(first, "done", Usage())
        assert await executor.begin_routine(table.id, "recheck", {})
        await store.tables.remove(table.id)
        assert await executor.begin_routine(table.id, "recheck", {}) is None


async def test_a_slice_whose_tools_cannot_be_opened_says_why_and_the_run_fails(store: Store) -> None:
    async def no_key(settings: object, stack: AsyncExitStack, person: str = "") -> RunTools:
        raise UsageError("There is no key.")

    async with RunExecutor(store, no_key) as executor:
        run_id = await sliced(store, executor.id)
        await executor.execute(run_id)
        run = await store.runs.get(run_id)
        assert (run.status, run.error) == ("failed", "There is no key.")
        assert (await store.proposals.get(await store.proposals.of_run(run_id))).status != "building"


async def test_a_run_that_nobody_can_go_on_with_leaves_no_proposal_that_is_never_finished(store: Store) -> None:
    table = await store.tables.create("t", FIELDS, [(make_given_cell("a"), make_given_cell(None))])
    owner = f"{platform.node()}-999999999-here"
    run_id = await store.runs.start(table.id, "enrich", {}, owner=owner)
    proposal_id = await store.proposals.create(table.id, run_id, FIELDS[1:])
    async with RunExecutor(store, Tools()) as executor:
        await executor.end_as(owner, run_id)
    assert (await store.runs.get(run_id)).status == "cancelled"
    assert (await store.proposals.get(proposal_id)).status != "building"


def test_the_time_in_which_nobody_worked_does_not_count() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def ago(**how_long: float) -> str:
        return (noon - timedelta(**how_long)).isoformat()

    run = Run(
        id="r",
        table_id="t",
        kind="enrich",
        status="running",
        started_at=ago(hours=10),
        spec={"since": {"at": ago(seconds=10), "done": 100, "seconds": 50.0}},
        total=160,
        done=120,
    )
    assert run.seconds_worked(noon.isoformat()) == 60
    assert seconds_left(run, noon.isoformat()) == 20
    assert seconds_left(msgspec.structs.replace(run, done=110), noon.isoformat()) is None
    assert seconds_left(msgspec.structs.replace(run, done=160), noon.isoformat()) is None


async def test_who_takes_a_run_begins_to_count_its_pace(store: Store) -> None:
    begun = time.monotonic()
    run_id = await sliced(store, "somebody")
    part = await store.slices.claim(run_id, 1, "somebody")
    state = msgspec.structs.replace(part, done=(1,), usage=Usage(llm_calls=1))
    await asyncio.sleep(0.05)
    await store.slices.keep(
        state, await store.proposals.of_run(run_id), [], [Progress(stage="row_done", row_id=1, done=1, total=2)]
    )
    worked = time.monotonic() - begun
    await asyncio.sleep(0.2)
    assert await store.runs.take_over(await store.runs.get(run_id), "another")
    since = (await store.runs.get(run_id)).since
    assert since.done == 1
    assert 0.05 <= since.seconds <= worked
