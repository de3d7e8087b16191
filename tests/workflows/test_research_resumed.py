"""Deep research that was cut off goes on to the same report, and nothing is bought twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.research import ResearchEvent
from tablewright.errors import StoreError, TablewrightError
from tablewright.sample.model import make_completion, request_key
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.database import Database
from tests.llm.endpoint import Asked, Endpoint, Reply, json_reply, refusal, running_endpoint
from tests.operating import begin_research, refine_research, run_research
from tests.pages import Page, SmallWeb
from tests.recorded import Recording
from tests.scenarios import LAGOON
from tests.stage import Stage
from tests.stage import researched as researched_as_recorded
from tests.workflows.researching import CHALLENGES, audit, by_decision, essence, gap, reflected, researched
from tests.workflows.test_research_with_model import ANSWERS, CONTRADICTED, run, two_sites, with_model

__all__ = ["two_sites"]
TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))


def reflecting(asked: Asked) -> Any:
    """Two rounds of gap-filling: the search of the first brings nothing, that of the second the other site."""
    text = str(asked.body)
    if "Round 3 is over" in text:
        return CONTRADICTED["Reflected"]
    query, earlier = ("bills", 1) if "Round 2 is over" in text else ("invoices", 0)
    return reflected(answered="partly", gaps=[gap("what bills say", query, earlier=earlier)])


@pytest.mark.parametrize(("dies_in", "kind"), [(2, "fill"), (3, "fill"), (4, "verify")])
async def test_killed_in_a_round_it_goes_on_without_buying_anything_twice(
    dies_in: int, kind: str, two_sites: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = by_decision(
        ANSWERS | CONTRADICTED | {"Reflected": reflecting, "RewrittenSentences": {"sentences": []}}
    )
    whole = await run(with_model(two_sites, endpoint, tmp_path / "whole"))
    searches, asked = Counter(two_sites.queries), len(endpoint.asked)
    two_sites.queries.clear()
    endpoint.asked.clear()
    for site in (two_sites, *two_sites.others):
        site.requests.clear()
    settings = with_model(two_sites, endpoint, tmp_path / "killed")
    await kill_at(f"Round {dies_in}".encode(), settings)
    async with Services.open(settings) as app:
        (begun,) = await app.store.researches.all()
        assert begun.status == "running"
        kept = await app.store.researches.get(begun.id)
        assert len(kept.rounds) == dies_in - 1
        resumed = await run_research(app, begun.id)
        await audit(app, resumed)
        again = await run_research(app, begun.id)
    assert again.report == resumed.report
    assert [each.kind for each in resumed.rounds] == ["discover", "fill", "fill", "verify"]
    assert resumed.rounds[dies_in - 1].kind == kind
    assert resumed.report is not None
    assert essence(resumed.report) == essence(whole.report)
    assert len(endpoint.asked) == asked
    assert Counter(set(two_sites.queries)) == searches
    before = {task.search_query for each in kept.rounds for task in each.tasks}
    assert all(count == 1 for query, count in Counter(two_sites.queries).items() if query in before)
    assert all(site.requests[path] <= 1 for site in (two_sites, *two_sites.others) for path in site.pages)


async def kill_at(line: bytes, settings: Settings) -> None:
    """Research in a process of its own, which is killed as it tells that line."""
    environ = {name: value for name, value in os.environ.items() if name != "TABLEWRIGHT_DATABASE_URL"} | {
        "TABLEWRIGHT_HOME": settings.home,
        "TABLEWRIGHT_SEARCH": settings.search,
        "TABLEWRIGHT_FETCH_ALLOW": settings.texts["fetch_allow"],
        "TABLEWRIGHT_FETCH_DELAY": "0",
        "TABLEWRIGHT_MODEL": settings.model,
        "TABLEWRIGHT_MODEL_BASE_URL": settings.model_base_url,
        "TABLEWRIGHT_MODEL_API_KEY": settings.model_api_key,
    }
    process = await asyncio.create_subprocess_exec(
        TABLEWRIGHT,
        "research",
        CHALLENGES,
        env=environ,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr is not None
    async for told in process.stderr:
        if told.startswith(line):
            process.send_signal(signal.SIGKILL)
            break
    await process.wait()


async def test_wherever_it_dies_it_comes_to_the_same_report(
    farms: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dies at every second write to the database in turn, and goes on: same report, no note twice."""
    whole = await researched(farms.settings(tmp_path / "whole"), CHALLENGES)
    assert whole.report is not None
    write, left = Database.write, 0

    async def dying(database: Database, work: Any, **how: bool) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise StoreError("The machine is gone.")
        return await write(database, work, **how)

    died = 0
    for moment in range(4, 200, 2):
        settings = farms.settings(tmp_path / str(moment))
        left = moment
        monkeypatch.setattr(Database, "write", dying)
        try:
            await researched(settings, CHALLENGES)
            break
        except StoreError:
            died += 1
        finally:
            monkeypatch.setattr(Database, "write", write)
        async with Services.open(settings) as app:
            for begun in await app.store.researches.all():
                found = await run_research(app, begun.id)
                assert found.report is not None
                assert essence(found.report) == essence(whole.report)
                keys = [row.key for row in (await app.load(found.table_id)).rows]
                assert len(keys) == len(set(keys))
    assert died > 3


@pytest.mark.parametrize(
    ("dies_at", "rounds"), [("PageNotes", 0), ("Choice 2", 1), ("ClaimRuling", 2), ("WrittenReport", 3)]
)
async def test_killed_in_any_round_with_a_model_it_comes_to_the_recorded_report(
    dies_at: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine is gone at a request of that kind; afterwards every answer is asked for once in all."""
    recording = Recording.load("research_report")
    write, is_gone = Database.write, False
    asked: Counter[str] = Counter()
    answered: Counter[str] = Counter()

    async def writing(database: Database, work: Any, **how: bool) -> Any:
        if is_gone:
            raise StoreError("The machine is gone.")
        return await write(database, work, **how)

    def respond(request: Asked) -> Reply:
        nonlocal is_gone
        key, schema = request_key(request.body), request.body["response_format"]["json_schema"]["name"]
        asked[schema] += 1
        is_gone = is_gone or dies_at in (schema, f"{schema} {asked[schema]}")
        if is_gone:
            return refusal(401, "no")
        answered[key] += 1
        return json_reply(make_completion(key, request.body, recording.exchanges[key].reply))

    monkeypatch.setattr(Database, "write", writing)
    async with running_endpoint() as endpoint:
        endpoint.otherwise = respond
        stage = Stage(endpoint.url, tmp_path)
        async with Services.open(stage.settings(fetch_delay="0")) as app:
            begun = await stage.begin_research(app, LAGOON)
            with pytest.raises(TablewrightError):
                await run_research(app, begun.id)
            is_gone, dies_at = False, ""
        async with Services.open(stage.settings(fetch_delay="0")) as app:
            assert len((await app.store.researches.get(begun.id)).rounds) == rounds
            assert researched_as_recorded(await run_research(app, begun.id)) == recording.result
    assert answered == dict.fromkeys(recording.exchanges, 1)


async def test_when_the_time_was_up_the_report_is_partial_and_the_round_is_done_again(
    farms: SmallWeb, tmp_path: Path
) -> None:
    async with Services.open(farms.settings(tmp_path)) as app:
        begun = await begin_research(app, CHALLENGES)
        late = await run_research(app, begun.id, minutes=0.01, watch=lambda event: wait_at(event, "task", 0.6))
        assert late.status == "partial"
        assert late.rounds[0].stopped == "the time of 0.01 minutes was up"
        resumed = await run_research(app, begun.id)
        assert resumed.status == "done"
        assert resumed.rounds[0].stopped == ""
        assert resumed.rounds[0].source_notes


def wait_at(event: ResearchEvent, stage: str, seconds: float) -> None:
    if event.stage == stage:
        time.sleep(seconds)


async def test_a_partial_report_stays_until_there_is_a_better_one(farms: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(farms.settings(tmp_path)) as app:
        begun = await begin_research(app, CHALLENGES)
        partial = await run_research(app, begun.id, minutes=0.0)
        going_on = asyncio.create_task(run_research(app, begun.id, watch=lambda event: going_on.cancel()))
        with pytest.raises(asyncio.CancelledError):
            await going_on
        kept = await app.store.researches.get(begun.id)
    assert kept.status == "cancelled"
    assert kept.report == partial.report


async def test_a_follow_up_that_nothing_stored_answers_searches(farms: SmallWeb, tmp_path: Path) -> None:
    farms.pages["/z"] = Page("Tomatoes", "<p>Tomatoes need 18 hours of light in a greenhouse.</p>", found_by="tomatoes")
    async with Services.open(farms.settings(tmp_path)) as app:
        begun = await begin_research(app, CHALLENGES)
        await run_research(app, begun.id)
        answered = await refine_research(app, begun.id, "How many hours of light do tomatoes need?")
    assert answered.searched
    assert "18" in " ".join(sentence.text for sentence in answered.sentences)
    assert all(sentence.citations for sentence in answered.sentences)


async def test_half_characters_in_a_question_are_no_obstacle(farms: SmallWeb, tmp_path: Path) -> None:
    found = await researched(farms.settings(tmp_path), f"{CHALLENGES}\udcff\0")
    assert found.status == "done"
