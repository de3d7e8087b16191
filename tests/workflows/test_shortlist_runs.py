"""A turn that searches or fills cells is a run: listed, watched, stopped from anywhere, and resumed."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from tablewright.domain.shortlist import CONFIRM, EDIT, ENRICH, MODIFY
from tablewright.errors import Cancelled, EditConflict
from tablewright.operations.runs import ListRuns, RunRequest, get_run, list_runs
from tablewright.operations.shortlist import GetShortlist, TakeTurn, get_shortlist, take_turn
from tablewright.services import Services
from tablewright.workflows.shortlist.research import Explored, ProductExploration
from tests.operating import shortlist_turn
from tests.workflows.chatting import FORM, Chat


async def wait_to_search(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let the next search for products wait forever; the event is set when it begins."""
    begun = asyncio.Event()

    async def waits(*_args: object, **_how: object) -> Explored:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(ProductExploration, "run", waits)
    return begun


async def turn_runs(services: Services) -> list[str]:
    return [run.run_id for run in (await list_runs(services, ListRuns())).runs if run.kind == "shortlist"]


async def test_a_turn_that_fills_cells_is_a_run_with_its_events_and_its_cost(confirmed: Chat) -> None:
    services = confirmed.app
    before = await turn_runs(services)
    taken = await take_turn(services, TakeTurn(shortlist=confirmed.state.id, message=ENRICH))
    assert await turn_runs(services) == [taken.run_id, *before]
    run = await get_run(services, RunRequest(run_id=taken.run_id))
    assert (run.status, run.table_id, run.fraction) == ("done", confirmed.state.table_id, 1.0)
    assert run.usage.fetches > 0
    events = [event.progress async for event in services.jobs.watch(run.run_id)]
    assert [event.fraction for event in events if event.stage == "row_done"] == [
        number / run.total for number in range(1, run.total + 1)
    ]
    assert any(event.cells for event in events)
    assert not any(cell.evidence for event in events for cell in event.cells.values()), "it is with the proposal"
    assert taken.shortlist.unanswered == ""
    assert FORM not in str(run.spec)


async def test_a_turn_that_searches_nothing_is_no_run(confirmed: Chat) -> None:
    before = await turn_runs(confirmed.app)
    for message in (MODIFY, EDIT, "/drop 1"):
        taken = await take_turn(confirmed.app, TakeTurn(shortlist=confirmed.state.id, message=message))
        assert taken.run_id == ""
    assert await turn_runs(confirmed.app) == before


async def test_a_turn_is_stopped_from_another_process_and_answered_when_it_is_resumed(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    await chat.say(FORM)
    with monkeypatch.context() as patch:
        begun = await wait_to_search(patch)
        asking = asyncio.create_task(chat.say(CONFIRM))
        await begun.wait()
        async with Services.open(chat.app.settings) as elsewhere:
            (run_id,) = await turn_runs(elsewhere)
            with pytest.raises(EditConflict, match="still under way"):
                await shortlist_turn(elsewhere, chat.state.id, CONFIRM)
            await elsewhere.jobs.cancel(run_id)
        with pytest.raises(Cancelled, match=f"Run {run_id} was stopped"):
            await asking
    stopped = await get_shortlist(chat.app, GetShortlist(shortlist=chat.state.id))
    assert stopped.unanswered == CONFIRM
    async with Services.open(chat.app.settings) as elsewhere:
        await elsewhere.jobs.resume(run_id)
        await elsewhere.jobs.wait(run_id)
        assert await turn_runs(elsewhere) == [run_id]
        answered = await get_shortlist(elsewhere, GetShortlist(shortlist=chat.state.id))
    assert (answered.buttons, answered.unanswered) == ((ENRICH, MODIFY), "")
    assert [message.role for message in answered.messages] == ["user", "advisor"] * 2


async def test_a_turn_whose_process_died_does_not_block_the_conversation_and_is_not_answered_twice(chat: Chat) -> None:
    services = chat.app
    await chat.say(FORM)
    state = await services.store.shortlists.get(chat.state.id)
    await services.store.shortlists.save(msgspec.structs.replace(state, unanswered=CONFIRM))
    dead = await services.store.runs.start("", "shortlist", {"shortlist": state.id}, owner="a process that was killed")
    assert (await get_run(services, RunRequest(run_id=dead))).status == "interrupted"
    assert (await chat.say(CONFIRM)).buttons == (ENRICH, MODIFY)
    await services.jobs.resume(dead)
    await services.jobs.wait(dead)
    run = await get_run(services, RunRequest(run_id=dead))
    assert (run.status, run.error) == ("failed", "The conversation has gone on since; nothing was done. Say it again.")
