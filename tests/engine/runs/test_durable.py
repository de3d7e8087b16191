"""Durable runs: processes are killed, stopped and drained, others go on, and it comes to the same."""

from __future__ import annotations

import json
import os
import signal

import msgspec
import pytest

from tablewright.domain.model import Cell, Field, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.run import Progress, RunTally, Usage
from tablewright.errors import Superseded
from tablewright.store.runs import Slice, SliceWork
from tablewright.store.store import Store
from tests.engine.runs.conftest import ASKED, ROWS, MakePlace
from tests.engine.runs.place import Command, Outcome, Place, ended, is_row, kill, wait_for
from tests.engine.runs.world import World

# Slowly enough that there is a middle in which something can happen.
ONE_BY_ONE = {"TABLEWRIGHT_CONCURRENCY": "2"}
# So many of the model's answers, and a run of all rows has begun and is far from its end.
ANSWERS = 16


def rows_done(place: Place, run_id: str) -> int:
    return int(place.json("runs", "show", run_id)["done"])


def begun(place: Place, world: World) -> tuple[Command, str]:
    """A run that stands still in its middle, and the command that began it, until the model is let answer again."""
    world.let(ANSWERS)
    command = place.enrich(ASKED, "--param", "rows_a_call=1")
    wait_for(lambda: world.is_held() or command.poll() is not None)
    return command, place.run_id()


def assert_same(outcome: Outcome, alone: Outcome) -> None:
    assert outcome.report["status"] == "done"
    assert outcome.cells == alone.cells
    assert outcome.told == dict.fromkeys(range(1, ROWS + 1), 1)
    assert outcome.report["done"] == outcome.report["total"] == ROWS


def test_a_run_that_is_killed_goes_on_where_it_was(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at(**ONE_BY_ONE)
    command, run_id = begun(place, world)
    kill(command)
    assert place.json("runs", "show", run_id)["status"] == "interrupted"
    first = rows_done(place, run_id)
    world.let(ANSWERS)
    command = place.start("runs", "resume", run_id, "--json")
    wait_for(world.is_held)
    kill(command)
    assert first <= rows_done(place, run_id) < ROWS
    world.let()
    place.json("runs", "resume", run_id)
    assert_same(place.outcome(run_id), alone)
    counts = world.counts()
    answered = [sum(len(times[1]) for times in getattr(counts, kind).values()) for kind in ("model", "search")]
    once = [len(counts.model), len(counts.search)]
    # What was answered in the very moment of a kill may not have been written down.
    assert all(more - least <= 4 for more, least in zip(answered, once, strict=True)), (answered, once)


def test_of_two_workers_one_is_killed_and_the_other_does_the_rest(
    at: MakePlace, world: World, alone: Outcome, postgres_url: str
) -> None:
    place = at(postgres_url, **ONE_BY_ONE)
    workers = [place.worker(), place.worker()]
    command, run_id = begun(place, world)
    assert place.json("runs", "show", run_id)["owner"].startswith("queue/")
    kill(workers[0])
    world.let()
    assert ended(command) == 0, command.err
    assert json.loads(command.out)["status"] == "done"
    assert_same(place.outcome(run_id), alone)


def test_a_worker_takes_over_from_a_command_that_was_killed(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at(**ONE_BY_ONE)
    command, run_id = begun(place, world)
    kill(command)
    world.let()
    place.worker()
    wait_for(lambda: place.status(run_id) == "done", every=0.1)
    assert_same(place.outcome(run_id), alone)


def test_a_worker_that_is_told_to_end_finishes_its_rows_and_another_the_run(
    at: MakePlace, world: World, alone: Outcome
) -> None:
    place = at(**ONE_BY_ONE)
    worker = place.worker()
    _, run_id = begun(place, world)
    os.kill(worker.pid, signal.SIGTERM)
    world.let()
    assert ended(worker) == 0, worker.err
    done = rows_done(place, run_id)
    assert 0 < done < ROWS
    counts = world.counts()
    assert counts.asked_twice("model") == 0
    place.worker()
    wait_for(lambda: place.status(run_id) == "done", every=0.1)
    assert_same(place.outcome(run_id), alone)
    assert world.counts().asked_twice("model") == 0


def test_a_run_whose_workers_have_all_died_goes_on_in_a_command(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at(**ONE_BY_ONE)
    worker = place.worker()
    _, run_id = begun(place, world)
    kill(worker)
    assert place.json("runs", "show", run_id)["status"] == "interrupted"
    world.let()
    place.json("runs", "resume", run_id)
    assert_same(place.outcome(run_id), alone)


def test_a_run_is_stopped_from_another_process_and_goes_on_later(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at(**ONE_BY_ONE)
    command, run_id = begun(place, world)
    stopped = place.json("runs", "cancel", run_id)
    asked = world.asked()
    assert stopped["status"] == "cancelled"
    assert 0 < stopped["done"] < ROWS
    assert ended(command) == 130
    assert world.asked() == asked
    kept = place.outcome(run_id)
    assert len(kept.told) == stopped["done"]
    assert kept.cells.items() <= alone.cells.items()
    world.let()
    place.json("runs", "resume", run_id)
    assert_same(place.outcome(run_id), alone)
    again = place.start("runs", "resume", run_id, "--json")
    assert ended(again) == 2
    assert f"Run {run_id} is done" in again.err + again.out


def test_a_run_is_paused_from_another_process_and_goes_on_later(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at(**ONE_BY_ONE)
    command, run_id = begun(place, world)
    paused = place.json("runs", "pause", run_id)
    assert (paused["status"], paused["error"]) == ("paused", "It was paused on request.")
    assert ended(command) == 1
    world.let()
    place.json("runs", "resume", run_id)
    assert_same(place.outcome(run_id), alone)


def test_another_process_sees_every_row_once_and_in_order(at: MakePlace, world: World) -> None:
    place = at(**ONE_BY_ONE)
    command, run_id = begun(place, world)
    watching = place.start("runs", "watch", run_id, "--json")
    wait_for(lambda: watching.out.count("\n") > 3)
    middle = json.loads(watching.out.splitlines()[2])["number"]
    later = place.start("runs", "watch", run_id, "--after", str(middle), "--json")
    world.let()
    assert [ended(each) for each in (command, watching, later)] == [0, 0, 0]
    events = [json.loads(line) for line in watching.out.splitlines()]
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    told = [event["progress"] for event in events if is_row(event)]
    assert sorted(each["row_id"] for each in told) == list(range(1, ROWS + 1))
    assert [each["done"] for each in told] == list(range(1, ROWS + 1))
    assert events[-1]["progress"]["stage"] == "complete"
    assert [json.loads(line) for line in later.out.splitlines()] == events[middle:]
    assert place.events(run_id) == events


@pytest.fixture
async def sliced(store: Store) -> tuple[str, str]:
    """A run of one slice of two rows, and its proposal."""
    fields = (Field(name="Name"), Field(name="Value", type="number"))
    table = await store.tables.create(
        "t", fields, [(make_given_cell("a"), make_given_cell(None)), (make_given_cell("b"), make_given_cell(None))]
    )
    todo = SliceWork(row_ids=(1, 2))
    run_id = await store.runs.start_sliced(table.id, "enrich", {}, fields[1:], [todo], "someone")
    return run_id, await store.proposals.of_run(run_id)


async def test_what_one_writes_who_was_thought_dead_is_refused(store: Store, sliced: tuple[str, str]) -> None:
    run_id, proposal_id = sliced
    first = await store.slices.claim(run_id, 1, "first")
    second = await store.slices.claim(run_id, 1, "second")
    found = ProposedCell(row_id=1, field="Value", cell=Cell(value=1, status="ENRICHED", run_id=run_id, attempt=1))
    news = [Progress(stage="row_done", row_id=1)]

    def with_first_row(part: Slice) -> Slice:
        return msgspec.structs.replace(part, done=(1,), tally=RunTally(rows=1, found=1), usage=Usage(llm_calls=1))

    with pytest.raises(Superseded):
        await store.slices.keep(with_first_row(first), proposal_id, [found], news)
    assert await store.proposals.operations(proposal_id) == []
    assert [event.progress.stage for event in await store.feed.read(run_id)] == ["starting"]
    assert (await store.runs.get(run_id)).done == 0
    for _ in range(2):  # as when nobody knows whether the first time counts
        await store.slices.keep(with_first_row(second), proposal_id, [found], news)
    assert len(await store.proposals.operations(proposal_id)) == 1
    assert [event.progress.stage for event in await store.feed.read(run_id)] == ["starting", "row_done"]
    assert (await store.runs.get(run_id)).done == 1
    assert (await store.slices.claim(run_id, 1, "third")).left == SliceWork(row_ids=(2,))
