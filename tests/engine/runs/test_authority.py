"""A role that was lost is lost for what was begun, scheduled or resumed in that person's name, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dbos import DBOS

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.run import Run
from tablewright.engine.runs import background, queue
from tablewright.engine.runs.kinds import RunContext
from tablewright.engine.runs.schedules import Schedule
from tablewright.errors import AuthorityLost
from tablewright.operations import fill
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.schedules import SetSchedule, set_schedule
from tablewright.services import Services
from tablewright.settings import Settings
from tests.engine.runs.test_resumed_here import ended, serving
from tests.operating import add_documents, share, unshare
from tests.patience import PATIENCE

DOUBLE = parse_field("Double:number={Price}*2")
FOUNDED = parse_field("Founded:number=What year was {Name} founded?")


@pytest.fixture(params=["sqlite", "postgresql"])
async def services(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Services]:
    """With two editors, Ann and Bob, and a table of Ann's that Bob sees too."""
    database = str(request.getfixturevalue("postgres_url")) if request.param == "postgresql" else ""
    settings = Settings(home=str(tmp_path), database_url=database, search="sample", attempts="1")
    async with Services.open(settings) as opened:
        for name in ("ann", "bob"):
            await opened.store.users.add(name, "editor")
        rows = tmp_path / "prices.csv"
        rows.write_text("Name,Price\nKettle,12\n", encoding="utf-8")
        ann = await named(opened, "ann")
        table = (await import_table_file(ann, rows)).table
        await share(ann, "table", table.id, ["bob"])
        filled = await (await plan_fill(ann, table.id, [DOUBLE], "computation")).run()
        await ann.changes.apply(filled.proposal_id)
        yield opened


async def named(services: Services, name: str) -> Services:
    """As that person works with it."""
    (person,) = [each for each in await services.store.users.all() if each.name == name]
    return services.acting(name, person)


async def lose(services: Services, how: str) -> str:
    """Ann loses her authority; the words in which it is told."""
    if how == "demoted":
        await services.store.users.change_role("ann", "viewer")
        return "ann, in whose name it runs, is only a viewer now"
    if how == "removed":
        await services.store.users.remove("ann")
        return "the user in whose name it runs was removed"
    await unshare(services, "table", "prices", ["ann"])
    return "ann, in whose name it runs, no longer has access to the table"


async def refresh_daily(services: Services) -> Schedule:
    await set_schedule(services, SetSchedule(table="prices", every="day", routine="refresh", apply=True))
    (found,) = await services.jobs.schedules((await services.table("prices")).id)
    return found


async def fire(schedule: Schedule) -> None:
    """As the scheduler does when it is time."""
    context = {"table_id": schedule.table_id, "routine": schedule.routine, "spec": schedule.spec}
    handle = await asyncio.to_thread(DBOS.start_workflow, queue.scheduled_workflow, datetime.now(UTC), context)
    await asyncio.to_thread(handle.get_result)


async def refreshed(services: Services, schedule: Schedule, price: int) -> tuple[object, list[Run]]:
    """After the price changed and the schedule fired: what was computed of it, and the refreshes so far."""
    await services.changes.set_value(schedule.table_id, 1, "Price", str(price))
    await fire(schedule)
    for run in await services.jobs.all(schedule.table_id):
        await ended(services, run.id)
    (row,) = await services.page(schedule.table_id)
    runs = [run for run in await services.jobs.all(schedule.table_id) if run.kind == "refresh"]
    return row.cell("Double").value, runs


@pytest.mark.parametrize("how", ["demoted", "removed", "unshared"])
async def test_a_schedule_pauses_once_its_author_may_not_and_another_editor_takes_it_over(
    services: Services, how: str
) -> None:
    ann, bob = await named(services, "ann"), await named(services, "bob")
    async with serving(services):
        schedule = await refresh_daily(ann)
        assert (await refreshed(services, schedule, 20))[0] == 40
        said = await lose(services, how)
        double, runs = await refreshed(services, schedule, 30)
        assert double == 40, "nothing is applied in the name of who may not"
        assert [run.status for run in runs] == ["paused", "done"]
        assert said in (runs[0].error or "")
        assert "setting it again" in (runs[0].error or "")
        assert len((await refreshed(services, schedule, 50))[1]) == 2, "it is said once, not at every time"
        (shown,) = await bob.jobs.schedules(schedule.table_id)
        assert said in shown.paused
        again = await refresh_daily(bob)
        (shown,) = await bob.jobs.schedules(schedule.table_id)
        assert (shown.author, shown.paused) == ("bob", "")
        double, runs = await refreshed(services, again, 60)
        assert (double, runs[0].status) == (120, "done")
        assert (await services.store.log.changes(schedule.table_id, 1))[0].actor == "bob"


async def test_a_schedule_goes_on_once_its_author_may_again(services: Services) -> None:
    ann = await named(services, "ann")
    async with serving(services):
        schedule = await refresh_daily(ann)
        await lose(services, "demoted")
        assert (await refreshed(services, schedule, 30))[0] == 24
        await services.store.users.change_role("ann", "editor")
        assert (await refreshed(services, schedule, 30))[0] == 60


@pytest.mark.parametrize("how", ["demoted", "removed"])
async def test_a_run_that_workers_take_up_pauses_and_goes_on_in_the_name_of_whoever_resumes_it(
    services: Services, how: str
) -> None:
    ann, bob = await named(services, "ann"), await named(services, "bob")
    fill = await plan_fill(ann, "prices", [FOUNDED], "pipeline")
    run_id = await fill.begin("queue/of-a-process-that-is-gone")
    said = await lose(services, how)
    async with serving(services):
        await ended(services, run_id)
        run = await bob.jobs.get(run_id)
        assert (run.status, run.usage.searches) == ("paused", 0)
        assert said in (run.error or "")
        assert "can resume it in their own name" in (run.error or "")
        await bob.jobs.resume(run_id)
        await ended(services, run_id)
        run = await bob.jobs.get(run_id)
        (person,) = [each for each in await services.store.users.all() if each.name == "bob"]
        assert (run.status, run.person) == ("done", person.id)


async def test_a_run_that_is_resumed_stays_its_starters_while_they_may(services: Services) -> None:
    ann, bob = await named(services, "ann"), await named(services, "bob")
    run_id = await (await plan_fill(ann, "prices", [FOUNDED], "pipeline")).begin("queue/of-a-process-that-is-gone")
    before = await ann.jobs.get(run_id)
    await bob.jobs.resume(run_id)
    await ended(services, run_id)
    run = await ann.jobs.get(run_id)
    assert (run.status, run.person) == ("done", before.person)


async def test_files_that_were_handed_in_are_not_read_for_who_may_not_by_then(
    services: Services, tmp_path: Path
) -> None:
    paper = tmp_path / "lease.txt"
    paper.write_text("Lease\n\nTenant: Quietwater Ltd\n", encoding="utf-8")
    ann = await named(services, "ann")
    await lose(services, "demoted")
    with pytest.raises(AuthorityLost):
        await add_documents(ann, [paper], workers=1)
    assert await services.store.documents.all() == []
    (run,) = [run for run in await services.jobs.all() if run.kind == "ingest"]
    assert run.status == "paused"


async def test_work_as_a_whole_is_broken_off_when_its_person_is_demoted_meanwhile(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "AUTHORITY_SECONDS", 0.01)
    ann = await named(services, "ann")
    begun = asyncio.Event()

    async def recheck(services: Services, context: RunContext) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(fill, "run_recheck", recheck)
    table = await ann.table("prices")
    doing = asyncio.create_task(ann.jobs.perform("recheck", table.id, {}))
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        await lose(services, "demoted")
        with pytest.raises(AuthorityLost, match="only a viewer now"):
            await doing
    (run,) = [run for run in await services.jobs.all() if run.kind == "recheck"]
    assert run.status == "paused"
