"""Schedules while their database is away, fails over, or refuses what is asked of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tablewright.engine.runs.schedules import Schedules
from tablewright.errors import Unreachable
from tablewright.services import Services
from tablewright.settings import Settings
from tests.engine.runs.test_commit_points import FAULTS
from tests.patience import PATIENCE
from tests.store.outage import Outage
from tests.store.standby import failover_pair, run_on

SPEC = {"fields": ["Founded"]}


@pytest.mark.parametrize("how", ["crashes", "turns read-only"])
async def test_a_schedule_that_is_set_during_a_failover_is_set_on_the_new_server(how: str, tmp_path: Path) -> None:
    with failover_pair() as pair, Outage(pair.primary_url) as line:
        settings = Settings(home=str(tmp_path), database_url=line.url)
        async with Services.open(settings) as services:
            await services.jobs.schedule("companies", "refresh", "day", SPEC)
            if how == "crashes":
                pair.stop_primary()
            else:
                run_on(
                    pair.primary_url,
                    "ALTER SYSTEM SET synchronous_standby_names = ''",
                    "ALTER SYSTEM SET default_transaction_read_only = on",
                    "SELECT pg_reload_conf()",
                )
            waiting = [
                asyncio.create_task(services.jobs.schedule("companies", "refresh", "week", SPEC)),
                asyncio.create_task(services.jobs.unschedule("people")),
            ]
            await asyncio.sleep(1)
            assert not any(task.done() for task in waiting)
            line.lead_to(pair.standby_url)
            pair.promote()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*waiting)
            (found,) = await services.jobs.schedules()
            assert found.cron == "0 3 * * 1"


@pytest.mark.parametrize("first", [True, False], ids=["the first one", "another one"])
async def test_whichever_commit_fails_a_schedule_is_set_once(postgres_url: str, first: bool) -> None:
    """The first one makes the tables of the queue, too."""
    with Outage(postgres_url) as line:
        schedules = Schedules(line.url, 2 * PATIENCE)
        if not first:
            await schedules.put("companies", "refresh", "day", SPEC)
        line.fail_commits(dict(enumerate(FAULTS, start=1)) if first else {})
        for fault in FAULTS:
            if not first:
                line.fail_commits({1: fault})
            await schedules.put("companies", "refresh", "week", SPEC)
            (found,) = await schedules.all("companies")
            assert (found.cron, found.spec) == ("0 3 * * 1", SPEC), fault
            assert await schedules.remove("companies") == 1, fault
        assert not line.faults_left


async def test_a_server_that_stays_away_is_said(postgres_url: str) -> None:
    with Outage(postgres_url) as line:
        schedules = Schedules(line.url, 0.5)
        await schedules.put("companies", "refresh", "day", SPEC)
        line.cut()
        with pytest.raises(Unreachable, match=r"cannot be reached and did not come back") as told:
            await schedules.all()
        assert told.value.public == "The database cannot be reached."
        line.mend()
        assert [each.table_id for each in await schedules.all()] == ["companies"]
