"""Deep research that was cut off goes on, what was found answers further questions, and the table stays its owner's."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright.app import Tablewright
from tablewright.engine.fill import USUAL
from tablewright.errors import StoreError
from tablewright.journeys.research import narrative
from tablewright.journeys.research.catalog import Catalog
from tablewright.journeys.research.desk import Desk
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.synthesis import Synthesis
from tablewright.settings import Settings
from tablewright.store.database import Database
from tablewright.store.store import Store
from tablewright.strategies.gathered import Gathered
from tablewright.strategies.strategy import Answer, Task, Tell
from tablewright.strategies.tools import Tools
from tablewright.table.edits import AddField, RemoveField, SetCell
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Cell, Conflict, Evidence, Field, Finding, Row, given
from tablewright.table.research import Brief, Research, ResearchEvent, ResearchTask, Wanted
from tablewright.table.retrieved import Retrieved

from ..models.endpoint import Endpoint, answer
from ..pages import Page, SmallWeb, small_web
from .researching import ELSEWHERE, EXAMPLE, FARMS, audit, essence, researched

TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))


# ── going on ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_killed_in_round_two_it_goes_on_without_buying_anything_twice(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(small_web(FARMS))
        web.others.append(await stack.enter_async_context(small_web(ELSEWHERE)))
        question = "What are the challenges of vertical farming?"
        whole = await researched(web.settings(tmp_path / "whole"), question)
        searches = Counter(web.queries)
        web.queries.clear()
        for site in (web, *web.others):
            site.requests.clear()
        settings = web.settings(tmp_path / "killed")
        environ = {
            **os.environ,
            "TABLEWRIGHT_HOME": settings.home,
            "TABLEWRIGHT_SEARCH": settings.search,
            "TABLEWRIGHT_FETCH_ALLOW": settings.fetch_allow,
            "TABLEWRIGHT_FETCH_DELAY": "0",
            "TABLEWRIGHT_MODEL": "builtin",
        }
        environ.pop("TABLEWRIGHT_DATABASE_URL", None)
        process = await asyncio.create_subprocess_exec(
            TABLEWRIGHT,
            "research",
            question,
            env=environ,
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert process.stderr is not None
        async for line in process.stderr:
            if line.startswith(b"Round 2"):
                process.send_signal(signal.SIGKILL)
                break
        await process.wait()
        async with Tablewright.open(settings) as app:
            (begun,) = await app.researches()
            assert begun.status == "running"
            kept = await app.research(begun.id)
            assert len(kept.rounds) == 1
            resumed = await app.run_research(begun.id)
            await audit(app, resumed)
            again = await app.run_research(begun.id)
        assert again.report == resumed.report
        assert resumed.report is not None
        assert whole.report is not None
        assert essence(resumed.report) == essence(whole.report)
        assert Counter(set(web.queries)) == searches
        first_round = {task.search_query for task in kept.rounds[0].tasks}
        assert all(count == 1 for query, count in Counter(web.queries).items() if query in first_round)
        assert all(site.requests[path] <= 1 for site in (web, *web.others) for path in site.pages)


async def test_a_follow_up_is_answered_from_what_is_stored_without_a_search(farms: SmallWeb, tmp_path: Path) -> None:
    async with Tablewright.open(farms.settings(tmp_path)) as app:
        begun = await app.begin_research("What are the challenges of vertical farming?")
        await app.run_research(begun.id)
        before = len(farms.queries)
        answered = await app.refine_research(begun.id, "What is the cost of electricity in vertical farming?")
        assert len(farms.queries) == before
        assert not answered.searched
        assert "30 %" in " ".join(sentence.text for sentence in answered.sentences)
        assert all(sentence.citations for sentence in answered.sentences)
        assert (await app.research(begun.id)).answered == (answered,)


async def test_a_follow_up_that_nothing_stored_answers_searches(farms: SmallWeb, tmp_path: Path) -> None:
    farms.pages["/z"] = Page("Tomatoes", "<p>Tomatoes need 18 hours of light in a greenhouse.</p>", found_by="tomatoes")
    async with Tablewright.open(farms.settings(tmp_path)) as app:
        begun = await app.begin_research("What are the challenges of vertical farming?")
        await app.run_research(begun.id)
        answered = await app.refine_research(begun.id, "How many hours of light do tomatoes need?")
    assert answered.searched
    assert "18" in " ".join(sentence.text for sentence in answered.sentences)


async def test_research_from_your_own_documents(tmp_path: Path) -> None:
    note = tmp_path / "amber.txt"
    note.write_text(
        "Amber trade\n\nThe main challenge of the amber trade is forgery: every third bead is plastic, says the guild."
    )
    settings = Settings(home=str(tmp_path / "home"), sources="docs", search="sample")
    async with Tablewright.open(settings) as app:
        await app.add_documents([note])
        begun = await app.begin_research("What are the challenges of the amber trade?")
        found = await app.run_research(begun.id)
        assert found.report is not None
        assert found.report.sections
        assert "forgery" in str(found.report.sections[0])
        assert found.report.references[0].title
        (document,) = await app.documents()
        await app.remove_documents([document.id])
        assert await app.researches() == []


# ── what was cut off, and what others did to the table ───────────────────────────────────────────────────────────────

CHALLENGES = "What are the challenges of vertical farming?"


async def test_what_was_gathered_when_the_time_was_up_is_in_the_report_and_the_round_is_done_again(
    farms: SmallWeb, tmp_path: Path
) -> None:
    async with Tablewright.open(farms.settings(tmp_path)) as app:
        begun = await app.begin_research(CHALLENGES)
        late = await app.run_research(begun.id, minutes=0.01, watch=lambda event: wait_at(event, "task", 0.6))
        assert late.status == "partial"
        assert late.rounds[0].stopped == "the time of 0.01 minutes was up"
        assert late.report is not None
        assert "Challenges" in {section.heading for section in late.report.sections}
        resumed = await app.run_research(begun.id)
        assert resumed.status == "done"
        assert [round.stopped for round in resumed.rounds] == ["", "", ""]


def wait_at(event: ResearchEvent, stage: str, seconds: float) -> None:
    if event.stage == stage:
        time.sleep(seconds)


async def test_what_was_gathered_when_the_tokens_were_spent_is_in_the_report(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """The question and the first round's plan are all that the model is asked for."""
    endpoint.otherwise = lambda asked: answer({"tasks": []})
    settings = Settings(
        home=str(tmp_path),
        search="sample",
        fetch_delay="0",
        model="openai:test",
        model_base_url=endpoint.url,
        model_api_key="k",
        budget_tokens="2200",
    )
    found = await researched(settings, EXAMPLE)
    assert found.status == "partial"
    assert found.rounds[0].stopped == "the cap of 2,200 tokens was reached"
    assert found.report is not None
    assert found.report.table is not None
    assert any(row[2].text for row in found.report.table.rows)
    assert "This report is partial: the cap of 2,200 tokens was reached." in found.report.notes
    assert found.report.written_by == ""


async def test_a_partial_report_stays_until_there_is_a_better_one(farms: SmallWeb, tmp_path: Path) -> None:
    async with Tablewright.open(farms.settings(tmp_path)) as app:
        begun = await app.begin_research(CHALLENGES)
        partial = await app.run_research(begun.id, minutes=0.0)
        going_on = asyncio.create_task(app.run_research(begun.id, watch=lambda event: going_on.cancel()))
        with pytest.raises(asyncio.CancelledError):
            await going_on
        kept = await app.research(begun.id)
    assert kept.status == "cancelled"
    assert kept.report == partial.report


async def test_a_round_without_a_task_says_why(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), search="sample", fetch_delay="0")
    found = await researched(settings, EXAMPLE, max_tasks=1)
    assert found.rounds[0].memo.gaps
    assert found.rounds[1].memo.claims_to_verify
    assert [round.stopped for round in found.rounds] == ["", "no task was left of 1", "no task was left of 1"]


async def test_wherever_it_dies_it_comes_to_the_same_report(
    farms: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dies at every write to the database in turn, and goes on: same report, nothing twice, nothing left open."""
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
        async with Tablewright.open(settings) as app:
            for begun in await app.researches():
                found = await app.run_research(begun.id)
                assert found.report is not None
                assert essence(found.report) == essence(whole.report)
                assert {each.status for each in await app.proposals(found.table_id)} <= {"applied", "rejected"}
                assert len({row.key for row in (await app.load(found.table_id)).rows}) == len(found.brief.angles)
    assert died > 5


async def test_a_process_that_died_while_it_read_leaves_no_proposal_and_your_own_stay(
    farms: SmallWeb, tmp_path: Path
) -> None:
    async with Tablewright.open(farms.settings(tmp_path)) as app:
        begun = await app.begin_research(CHALLENGES)
        yours = await left_open(app, begun.table_id, "lookup")
        died = await left_open(app, begun.table_id, "gathered")
        await app.run_research(begun.id)
        status = {each.id: each.status for each in await app.proposals(begun.table_id)}
    assert status[yours] == "building"
    assert status[died] == "rejected"


async def left_open(app: Tablewright, table_id: str, strategy: str) -> str:
    async with await Store.open(app.settings.database) as store:
        run = await store.runs.start(table_id, "enrich", {"strategy": strategy})
        return await store.proposals.create(table_id, run, ())


async def test_a_column_of_your_own_and_one_that_you_removed_do_not_stop_it(farms: SmallWeb, tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path / "kettles"), search="sample", fetch_delay="0")
    async with Tablewright.open(settings) as app, await Store.open(settings.database) as store:
        begun = await app.begin_research("Find 2 electric kettles with price and capacity")
        stopped = asyncio.create_task(app.run_research(begun.id, watch=lambda event: cancel_after_memo(event, stopped)))
        with pytest.raises(asyncio.CancelledError):
            await stopped
        rows = (await app.load(begun.table_id)).rows
        own = [SetCell(row_id=row.id, field="Again", cell=row.cell("Name")) for row in rows]
        await store.log.commit(begun.table_id, [AddField(field=Field(name="Again")), *own], actor="me", note="mine")
        assert (await app.run_research(begun.id)).status == "done"
    settings = farms.settings(tmp_path / "farms")
    async with Tablewright.open(settings) as app, await Store.open(settings.database) as store:
        begun = await app.begin_research(CHALLENGES)
        await store.log.commit(begun.table_id, [RemoveField(name="Findings")], actor="me", note="away")
        assert (await app.run_research(begun.id)).status == "done"


def cancel_after_memo(event: ResearchEvent, task: asyncio.Task[Research]) -> None:
    if event.stage == "memo":
        task.cancel()


class Silent(Gathered):
    """Finds nothing."""

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            return [Finding(field=field.name, reason="not_found") for field in task.fields]

        return answer


async def test_reading_once_more_without_finding_it_does_not_empty_a_cell(store: Store) -> None:
    price = Field(name="Price")
    rows = [(given("Acme"), given("$5")), (given("Bolt"), Cell())]
    table = await store.tables.create("things", [Field(name="Name"), price], rows, key_field="Name")
    desk = Desk(store, Tools(), Purse(None, None), table_id=table.id, actor="", terms=USUAL, watch=lambda _: None)
    one, other = (await desk.table()).rows
    await desk.fill([price], Silent({}), only=[(one.id, "Price"), (other.id, "Price")])
    kept, empty = (row.cell("Price") for row in (await desk.table()).rows)
    assert (kept.value, empty.status) == ("$5", "FAILED")
    assert [each.status for each in await store.proposals.all(table.id, only_open=True)] == []


async def test_a_first_round_that_is_done_again_does_not_look_into_what_it_had_found_to_be_meant(store: Store) -> None:
    brief = Brief(question="Who leads the maker of it?", report_type="narrative", is_fact=True)
    key, fields = narrative.fields_of(brief)
    meant = Cell(value="Acme", status="ENRICHED", evidence=(Evidence(origin="http://a.example/", quote="Acme"),))
    rows = [(given(brief.question), given(brief.question), Cell()), (meant, given(brief.question), Cell())]
    table = await store.tables.create("question", fields, rows, key_field=key)
    desk = Desk(store, Tools(), Purse(None, None), table_id=table.id, actor="", terms=USUAL, watch=lambda _: None)
    shape = narrative.Narrative(brief, desk)
    await shape.absorb([ResearchTask(id="r1_1", kind="discover", search_query="maker")], [])
    assert [row.cell("Answer").status for row in (await desk.table()).rows] == ["FAILED", "PENDING"]
    await shape.absorb([ResearchTask(id="r2_1", kind="fill", search_query="Acme", target_gap="Acme")], [])
    assert [row.cell("Answer").status for row in (await desk.table()).rows] == ["FAILED", "FAILED"]


async def test_who_says_otherwise_in_a_cell_is_cited_too(store: Store) -> None:
    said = {}
    for name in ("a", "b"):
        page = Retrieved(origin=f"http://{name}.example/", domain=f"{name}.example", text=f"Grown in {name}.")
        said[name] = (evidence_for(await store.pages.keep(page.origin, page), 0, len(page.text)),)
    rival = Conflict(value=("lettuce", "cress"), evidence=said["b"])
    column = Wanted(field=Field(name="Crop"))
    brief = Brief(question="Find 1 farm", report_type="catalog", target_items=1, columns=(column, column))
    crop = Cell(value="lettuce", status="ENRICHED", evidence=said["a"], conflict=(rival,))
    table = await store.tables.create("farms", [column.field], [(crop,)], key_field="Crop")
    desk = Desk(store, Tools(), Purse(None, None), table_id=table.id, actor="", terms=USUAL, watch=lambda _: None)
    research = Research(id="d1", brief=brief, table_id=table.id)
    synthesis = Synthesis(store, None, lambda _: None, Purse(None, None))
    report = await synthesis.write(research, Catalog(brief, desk), await desk.table())
    assert report.table is not None
    assert report.table.rows[0][0].note == "disagreement: b.example says lettuce; cress [2]"
    assert [reference.domain for reference in report.references] == ["a.example", "b.example"]


async def test_half_characters_in_a_question_are_no_obstacle(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), search="sample", fetch_delay="0")
    found = await researched(settings, "Find 2 electric kettles with price\udcff\0")
    assert found.status == "done"
