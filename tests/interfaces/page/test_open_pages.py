"""What becomes of an open page: when its person may do or see less, when it is loaded anew, when something fails."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.access import Person, Role
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.errors import RunError
from tablewright.interfaces.page import frame
from tablewright.operations import fill
from tablewright.operations.ask import ask_documents
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.sharing import ThingRequest, create_view_link
from tablewright.services import Services
from tests.interfaces.page.conftest import PATIENCE, NewPage, playwright
from tests.interfaces.server.serving import TOKEN, Served, served
from tests.operating import add_documents, ask, begin_research, run_research, share, unshare

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """In this process, so that a test can have it look often, or fail."""
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True, works=True) as running:
        yield running


async def enter(page: playwright.Page, server: Served, token: str, path: str) -> None:
    await page.goto(f"{server.url}{path}")
    await page.get_by_label("Your token").fill(token)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url(f"**{path}")
    await page.wait_for_function("window.did_handshake === true")


async def new_table(services: Services, name: str, *persons: str) -> str:
    """That these see; its id."""
    path = services.settings.home_folder / "rows.csv"
    path.write_text("Name\nAnn\n", encoding="utf-8")
    table_id = (await import_table_file(services, path, FileOptions(name=name))).table.id
    for person in persons:
        await share(services, "table", table_id, [person])
    return table_id


def table(server: Served, name: str, *persons: str) -> str:
    return server.do(lambda services: new_table(services, name, *persons))


def run(server: Served, table_id: str, count: int = 1) -> None:
    async def work(*_: object) -> None:
        await asyncio.sleep(0)

    async def perform(services: Services) -> None:
        for _ in range(count):
            await services.jobs.perform("recheck", table_id, {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fill, "run_recheck", work)
        server.do(perform)


def test_a_link_lets_whoever_has_it_look_at_one_table_and_nothing_else(server: Served) -> None:
    shown, hidden = table(server, "By link"), table(server, "Not by link")
    link = ThingRequest(kind="table", id=shown)
    token = server.do(lambda services: create_view_link(services, link)).token
    with server.browser() as visitor:
        invited = visitor.get("/login", params={"next": f"/tables/{shown}", "token": token})
        assert 'type="hidden"' in invited.text
        entered = visitor.post("/login", params={"next": f"/tables/{shown}"}, data={"token": token})
        assert entered.headers["location"] == f"/tables/{shown}"
        assert visitor.get(f"/tables/{shown}").status_code == 200
        assert visitor.get(f"/tables/{hidden}").status_code == 404
        refused = visitor.post(f"/api/v1/tables/{shown}/rows", json={"rows": []})
        assert refused.status_code in (403, 405)


# ── who may do or see less ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("role", "tables", "all_of"),
    [("editor", {"a", "b"}, True), ("admin", set(), True), ("editor", {"a"}, False), ("viewer", {"a", "b"}, False)],
)
def test_a_person_has_all_that_they_had(role: Role, tables: set[str], all_of: bool) -> None:
    before = Person(id="u", name="ann", role="editor", tables=frozenset({"a", "b"}))
    assert Person(id="u", name="ann", role=role, tables=frozenset(tables)).has_all_of(before) is all_of


async def test_a_table_that_is_lost_takes_away_its_own_page_and_no_other(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame, "RIGHTS_CHECK_SECONDS", 0.1)
    token = server.add_user("lea", "editor")
    lost, kept = table(server, "Lost", "lea"), table(server, "Kept", "lea")
    run(server, lost)
    async with browser() as page:
        await enter(page, server, token, "/research")
        opened = {path: await page.context.new_page() for path in (f"/tables/{kept}", f"/tables/{lost}")}
        for path, each in opened.items():
            await each.goto(f"{server.url}{path}")
            await expect(each.get_by_text("Ann", exact=True)).to_be_visible()
        of_run = await page.context.new_page()
        run_id = server.do(lambda services: services.jobs.all(lost))[0].id
        await of_run.goto(f"{server.url}/runs/{run_id}")
        await expect(of_run.get_by_role("link", name="Lost")).to_be_visible()
        typed = page.get_by_label("What do you want to find out?")
        await typed.fill("Half a question")
        await opened[f"/tables/{kept}"].evaluate("window.untouched = true")
        server.do(lambda services: unshare(services, "table", lost, ["lea"]))
        await expect(opened[f"/tables/{lost}"].get_by_text("There is no table")).to_be_visible()
        await expect(of_run.get_by_text("There is no run")).to_be_visible()
        assert await opened[f"/tables/{kept}"].evaluate("window.untouched")
        await expect(typed).to_have_value("Half a question")
        server.do(lambda services: services.store.users.change_role("lea", "viewer"))
        await expect(typed).to_have_count(0)


async def test_research_that_one_may_no_longer_see_is_not_stopped_or_taken_along(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame, "RIGHTS_CHECK_SECONDS", 600)
    token = server.add_user("rob", "editor")

    async def research(services: Services) -> str:
        begun = await begin_research(services, "Who founded Kestrelworks?", max_tasks=1)
        await share(services, "research", begun.id, ["rob"])
        await run_research(services, begun.id)
        return begun.id

    research_id = server.do(research)
    async with browser() as page:
        await enter(page, server, token, f"/research/{research_id}")
        await expect(page.get_by_role("button", name="Markdown")).to_be_visible()
        server.do(lambda services: unshare(services, "research", research_id, ["rob"]))
        await page.get_by_role("button", name="Markdown").click()
        await expect(page.get_by_role("alert")).to_contain_text("There is no research")


# ── who shares, and what ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_documents_and_conversations_are_shared_with_people_or_with_everyone(
    server: Served, browser: NewPage, tmp_path: Path
) -> None:
    token, other = server.add_user("uma", "editor"), server.add_user("vic", "editor")
    (tmp_path / "lease.txt").write_text("Rent: 900 EUR\nTenant: Ann Low\n", encoding="utf-8")

    async def bring(services: Services) -> tuple[str, str]:
        uma = next(person for person in await services.store.users.all() if person.name == "uma")
        own = services.acting("uma", uma)
        await add_documents(own, [tmp_path])
        reply = await ask(own, "rent of the tenant")
        return (await own.store.documents.all())[0].id, reply.conversation

    document, conversation = server.do(bring)
    places = (f"/documents/{document}", f"/ask?conversation={conversation}")
    with server.client(other) as vic:

        def seen() -> list[str]:
            return [
                *(each["id"] for each in vic.get("/api/v1/documents").json()["documents"]),
                *(each["conversation"] for each in vic.get("/api/v1/conversations").json()["conversations"]),
            ]

        assert not seen()
        async with browser() as page:
            await enter(page, server, token, "/documents")
            for path in places:
                await page.goto(f"{server.url}{path}")
                await page.get_by_role("button", name="Share").click()
                window = page.get_by_role("dialog")
                await expect(window.get_by_role("heading", name="Share", exact=True)).to_be_visible()
                await expect(window).to_contain_text("Owned by uma.")
                await window.get_by_label("Names of users").fill("nobody at all")
                await window.get_by_role("button", name="Share").click()
                await expect(page.get_by_role("alert")).to_contain_text("There is no user")
                await window.get_by_label("Names of users").fill("vic")
                await window.get_by_role("button", name="Share").click()
                await expect(page.get_by_text("Shared with vic.")).to_be_visible()
                await expect(window).to_have_count(0)
            assert seen() == [document, conversation]
            await page.get_by_role("button", name="Share").click()
            await expect(window.get_by_label("Names of users")).to_have_value("vic")
            await window.get_by_label("Names of users").fill("")
            await window.get_by_role("checkbox", name="Everyone").click()
            await window.get_by_role("button", name="Share").click()
            await expect(page.get_by_text("Shared with everyone.")).to_be_visible()
            assert seen() == [document, conversation]


async def test_the_list_of_runs_says_why_one_was_set_aside(server: Served, browser: NewPage) -> None:
    token = server.add_user("pia", "editor")
    table_id = table(server, "Poison", "pia")

    async def lose(services: Services) -> None:
        runs, executor = services.store.runs, await services.jobs._open_executor()
        run_id = await runs.start(table_id, "recheck", {}, owner=executor.id)
        for process in ("first", "second"):
            await runs.set_holder(run_id, f"{process}/h1")
        with pytest.raises(RunError):
            await executor.go_on(run_id)

    server.do(lose)
    async with browser() as page:
        await enter(page, server, token, "/runs")
        line = page.get_by_role("row", name="Poison")
        await expect(line).to_contain_text("failed")
        await expect(line).to_contain_text("Set aside: two processes died")
        await expect(line).to_contain_text("Resume the run")


# ── what few see ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_runs_of_others_do_not_hide_ones_own_and_the_list_fills_by_itself(
    server: Served, browser: NewPage
) -> None:
    token = server.add_user("eve", "editor")
    own, others = table(server, "Of Eve", "eve"), table(server, "Of others")
    async with browser() as page:
        await enter(page, server, token, "/runs")
        await expect(page.get_by_text("No runs yet")).to_be_visible()
        run(server, own)
        await expect(page.get_by_role("link", name="Of Eve")).to_be_visible()
        run(server, others, 31)
        await page.reload()
        await expect(page.get_by_role("link", name="Of Eve")).to_be_visible()
        await expect(page.get_by_text("Of others")).to_have_count(0)
        await page.goto(f"{server.url}/status")
        await expect(page.get_by_role("region", name="Schedules")).to_contain_text("Nothing is scheduled")


async def test_only_who_may_decide_is_led_to_a_review_and_only_while_it_is_open(
    server: Served, browser: NewPage
) -> None:
    editor, viewer = server.add_user("ed", "editor"), server.add_user("vi", "viewer")

    async def propose(services: Services) -> tuple[str, str]:
        table_id = await new_table(services, "Proposed", "ed", "vi")
        plan = await plan_fill(services, table_id, [parse_field("Copy={Name}")], "computation")
        filled = await plan.run()
        return filled.run_id, filled.proposal_id

    run_id, proposal_id = server.do(propose)
    review = "Review the proposal"
    async with browser() as page:
        await enter(page, server, viewer, f"/runs/{run_id}")
        await expect(page.get_by_role("link", name="Proposed")).to_be_visible()
        await expect(page.get_by_role("link", name=review)).to_have_count(0)
    async with browser() as page:
        await enter(page, server, editor, f"/runs/{run_id}")
        await expect(page.get_by_role("link", name=review)).to_be_visible()
        server.do(lambda services: services.changes.apply(proposal_id))
        await page.reload()
        await expect(page.get_by_role("link", name="Proposed")).to_be_visible()
        await expect(page.get_by_role("link", name=review)).to_have_count(0)


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


class RowLimiter:
    """Answers wait for it, and fail if it is told so."""

    def __init__(self, ask: Callable[..., Awaitable[Any]]) -> None:
        self._ask = ask
        self.open = threading.Event()
        self.broken = False

    def through(self) -> Callable[..., Awaitable[Any]]:
        async def ask(*args: Any, **kwargs: Any) -> Any:
            await asyncio.to_thread(self.open.wait, 60)
            if self.broken:
                raise RuntimeError("nobody foresaw that")
            return await self._ask(*args, **kwargs)

        return ask


async def test_an_answer_outlives_a_reload_and_a_question_its_failure(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = RowLimiter(ask_documents.function)
    monkeypatch.setattr(ask_documents, "function", gate.through())
    note = tmp_path / "note.txt"
    note.write_text("The pump was serviced on 2024-03-01.", encoding="utf-8")
    server.do(lambda services: add_documents(services, [note]))
    server.do(lambda services: share(services, "document", "note.txt", everyone=True))
    token = server.add_user("ann", "editor")
    async with browser() as page:
        await enter(page, server, token, "/ask")
        line = page.get_by_label("Your question")
        await line.fill("How many documents are there?")
        await line.press("Enter")
        await expect(page.get_by_text("Searching the documents")).to_be_visible()
        await expect(line).to_be_hidden()
        await page.reload()
        await expect(page.get_by_text("How many documents are there?")).to_be_visible()
        await expect(page.get_by_text("Searching the documents")).to_be_visible()
        gate.open.set()
        answer = page.get_by_role("region", name="Answer")
        await expect(answer).to_be_visible()
        await expect(line).to_be_focused()
        await page.wait_for_url(re.compile(r"conversation="))
        await page.reload()
        await expect(answer).to_be_visible()

        gate.broken = True
        await line.fill("When was the pump serviced?")
        await line.press("Enter")
        problem = page.get_by_role("region", name="Problem")
        await expect(problem).to_contain_text("Something went wrong on the server")
        await expect(page.get_by_text("When was the pump serviced?")).to_be_visible()
        gate.broken = False
        await problem.get_by_role("button", name="Ask again").click()
        await expect(answer).to_have_count(2)
        await expect(problem).to_have_count(0)

        await page.goto(f"{server.url}/ask")
        await expect(page.get_by_text("For example:")).to_be_visible()
        await expect(answer).to_have_count(0)
