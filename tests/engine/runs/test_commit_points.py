"""A durable run of which every commit fails once: broken before it, broken after it, refused with any SQLSTATE."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.errors import DiskFull
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.settings_sources import load_settings
from tablewright.store.database_errors import Treatment, judge_sqlstate
from tests.engine.runs.world import FIELDS, World, open_world, written
from tests.store.outage import Outage
from tests.store.test_failover import ONE_OF_EACH

ROWS = 4
MOST_COMMITS = 1_000
# Every so manyth commit fails, and in as many runs each of them.
STRIDE = 5
PASSING = [state for state in ONE_OF_EACH if judge_sqlstate(state).treatment in (Treatment.WAIT, Treatment.REPEAT)]
FAULTS = ("before", "after", *PASSING)


@dataclass(frozen=True)
class Came:
    """What a run came to, and what was bought for it."""

    status: str
    cells: dict[tuple[int, str], Any]
    bought: dict[str, list[int]]


@pytest.fixture(scope="module")
def small_world() -> Iterator[World]:
    with open_world(delay=0.0, size=ROWS) as world:
        yield world


@pytest.fixture
def settings(small_world: World, tmp_path: Path) -> Settings:
    small_world.forget()
    (tmp_path / "companies.csv").write_text(written(small_world.companies), encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
    own = {"TABLEWRIGHT_HOME": str(tmp_path), "TABLEWRIGHT_FETCH_DELAY": "0"}
    return load_settings(environ=environ | small_world.environ | own)


async def bring(services: Services) -> str:
    return (await import_table_file(services, Path(services.settings.home) / "companies.csv")).table.id


async def fill(services: Services, table_id: str) -> str:
    planned = await plan_fill(services, table_id, [parse_field(FIELDS[0])])
    return (await services.jobs.run(planned)).run_id


async def outcome(services: Services, run_id: str, world: World) -> Came:
    result = await services.jobs.result(run_id)
    operations = await services.store.proposals.operations(result.proposal_id)
    counts = world.counts()
    bought = {kind: sorted(len(times[1]) for times in getattr(counts, kind).values()) for kind in ("model", "search")}
    values = {(each.row_id, each.field): each.cell.value for each in operations}
    assert len(values) == len(operations), "no cell is proposed twice"
    return Came(result.status, values, bought)


@pytest.fixture
async def undisturbed(postgres_url: str, settings: Settings, small_world: World) -> Came:
    async with Services.open(replace(settings, database_url=postgres_url)) as services:
        table_id = await bring(services)
        came = await outcome(services, await fill(services, table_id), small_world)
        await forget(services, table_id)
    assert (came.status, len(came.cells)) == ("done", ROWS)
    assert {times for kind in came.bought.values() for times in kind} == {1}
    return came


async def forget(services: Services, table_id: str) -> None:
    await remove_table(services, TableRequest(table=table_id))
    for kind in ("model", "search"):
        await services.store.cache.clear(kind)


async def test_whichever_commit_fails_nothing_is_lost_doubled_or_bought_twice(
    postgres_url: str, settings: Settings, small_world: World, undisturbed: Came
) -> None:
    faults = cycle(FAULTS)
    used: list[str] = []
    with Outage(postgres_url) as line:
        for first in range(1, STRIDE + 1):
            small_world.forget()
            async with Services.open(replace(settings, database_url=line.url)) as services:
                table_id = await bring(services)
                numbers = range(first, MOST_COMMITS, STRIDE)
                planned = dict(zip(numbers, islice(faults, len(numbers)), strict=True))
                line.fail_commits(planned)
                run_id = await fill(services, table_id)
                used += list(planned.values())[: len(planned) - line.faults_left]
                line.fail_commits({})
                assert await outcome(services, run_id, small_world) == undisturbed
                await forget(services, table_id)
    assert set(used) == set(FAULTS)


async def test_a_run_pauses_while_the_disk_is_full_and_buys_nothing_twice(
    postgres_url: str, settings: Settings, small_world: World, undisturbed: Came
) -> None:
    """The disk is full from some commit on, each time a later one, until the run has ended; then space is freed."""
    ended = set()
    with Outage(postgres_url) as line:
        for first in range(1, 100, 12):
            small_world.forget()
            async with Services.open(replace(settings, database_url=line.url)) as services:
                table_id = await bring(services)
                line.fail_commits({first + later: "53100" for later in range(3)})
                try:
                    run_id = await fill(services, table_id)
                except DiskFull:
                    run_id = ""
                line.fail_commits({})
                run_id = run_id or next(iter([run.id for run in await services.jobs.all(table_id)]), "")
            async with Services.open(replace(settings, database_url=line.url)) as services:
                run_id = run_id or await fill(services, table_id)
                status = (await services.jobs.get(run_id)).status
                ended.add(status)
                if status != "done":
                    await services.jobs.resume(run_id)
                    await services.jobs.wait(run_id)
                assert await outcome(services, run_id, small_world) == undisturbed, (first, status)
                await forget(services, table_id)
    assert "paused" in ended
