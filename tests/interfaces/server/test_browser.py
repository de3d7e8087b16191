"""What a real browser makes of the guard: the pages work under it, and other sites' pages do not get past it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from tests.chromium import CHROMIUM, FLAGS
from tests.interfaces.conftest import Shell
from tests.interfaces.server.serving import TOKEN
from tests.interfaces.server.test_serve import started
from tests.patience import PATIENCE

playwright = pytest.importorskip("playwright.async_api", reason="Playwright for Python is not installed")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (apt install chromium)"),
    pytest.mark.asyncio(loop_scope="module"),
]

EVIL = """<!doctype html><title>working</title><script>
const target = "%s", results = {};
const socket = () => new Promise(done => {
  const opened = new WebSocket(target.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket");
  opened.onopen = () => done("open"); opened.onerror = () => done("refused");
});
const script = () => new Promise(done => {
  const element = document.createElement("script");
  element.src = target + "/api/v1/tables";
  element.onload = () => done("loaded"); element.onerror = () => done("refused");
  document.head.append(element);
});
(async () => {
  const body = '{"name": "stolen", "fields": [{"name": "x"}]}';
  for (const type of ["text/plain", "application/x-www-form-urlencoded"])
    await fetch(target + "/api/v1/tables", {method: "POST", mode: "no-cors", credentials: "include", body,
      headers: {"Content-Type": type}}).catch(() => 0);
  results.json = await fetch(target + "/api/v1/tables", {method: "POST", body,
    headers: {"Content-Type": "application/json"}}).then(() => "sent", () => "refused");
  results.read = await fetch(target + "/api/v1/tables").then(() => "read", () => "refused");
  results.socket = await socket(); results.script = await script();
  window.results = results; document.title = "done";
})();
</script><body></body>"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Any]:
    async with playwright.async_playwright() as driver:
        opened = await driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        await opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server that asks for a token."""
    folder = tmp_path_factory.mktemp("served")
    with started(Shell(folder, TABLEWRIGHT_TOKEN=TOKEN, TABLEWRIGHT_SEARCH="sample")) as (_, reached, _said):
        yield reached


async def test_a_login_leads_to_pages_that_work_under_the_policy(address: str, browser: Any) -> None:
    problems: list[str] = []
    hosts: set[str] = set()
    page = await browser.new_page()
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    await page.goto(address + "/runs")
    assert page.url == f"{address}/login?next=%2Fruns"
    await page.get_by_label("Your token").fill(TOKEN)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url(address + "/runs")
    for path in ("/runs", "/", "/documents", "/research", "/shortlist", "/status"):
        await page.goto(address + path)
        await page.wait_for_function("window.socket && window.socket.connected")
    assert await page.evaluate("document.cookie") == ""
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')")
    await asyncio.sleep(0.3)
    assert await page.evaluate("window.ran") is None
    await page.close()
    refused = [said for said in problems if "Content Security Policy" in said]
    assert [said for said in refused if "inline event handler" not in said] == []
    assert len(refused) == 1
    assert hosts == {address.removeprefix("http://")}


async def test_whoever_is_logged_in_can_follow_a_link_from_elsewhere(
    address: str, browser: Any, evil: tuple[Path, str]
) -> None:
    folder, elsewhere = evil
    (folder / "index.html").write_text(f'<a href="{address}/runs">Look</a>')
    page = await browser.new_page()
    await page.goto(elsewhere.replace("127.0.0.1", "localhost"))
    await page.get_by_text("Look").click()
    await page.wait_for_url(f"{address}/login?next=%2Fruns")
    await page.get_by_label("Your token").fill(TOKEN)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url(f"{address}/runs")
    await page.goto(elsewhere.replace("127.0.0.1", "localhost"))
    await page.get_by_text("Look").click()
    await page.wait_for_url(f"{address}/runs")
    await page.wait_for_function("window.socket && window.socket.connected")
    await page.close()


@pytest.fixture
def evil(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Somebody else's site: a folder, and its address."""
    folder = tmp_path / "evil"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        pass


async def test_another_sites_page_cannot_use_a_server_that_asks_for_no_token(
    shell: Shell, browser: Any, evil: tuple[Path, str]
) -> None:
    folder, elsewhere = evil
    with started(shell) as (_, address, said):
        (folder / "index.html").write_text(EVIL % address)
        page = await browser.new_page()
        await page.goto(elsewhere)
        await page.wait_for_function("document.title == 'done'")
        results = await page.evaluate("window.results")
        own = await browser.new_page()
        await own.goto(address)
        tables = await own.evaluate("fetch('/api/v1/tables').then(answer => answer.json())")
        log = said.read_text()
    assert results == dict.fromkeys(("json", "read", "socket", "script"), "refused")
    assert tables["tables"] == []
    assert log.count("POST /api/v1/tables 403") == 2
    assert "WEBSOCKET /_nicegui_ws/socket.io/ 403" in log


async def test_a_page_of_a_table_that_one_may_no_longer_see_shows_it_no_longer(address: str, browser: Any) -> None:
    async with httpx2.AsyncClient(
        base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
    ) as admin:
        created = await admin.post("/tables", json={"name": "Wages", "rows": [{"Name": "Ann"}]})
        table_id = created.raise_for_status().json()["table_id"]
        added = await admin.post("/users", json={"name": "vera", "role": "viewer"})
        token = added.raise_for_status().json()["token"]
        (await admin.put(f"/shares/table/{table_id}", json={"people": ["vera"]})).raise_for_status()
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{address}/tables/{table_id}")
        await page.get_by_label("Your token").fill(token)
        await page.get_by_role("button", name="Log in").click()
        await playwright.expect(page.get_by_text("Ann", exact=True)).to_be_visible()
        (await admin.put(f"/shares/table/{table_id}", json={})).raise_for_status()
        await playwright.expect(page.get_by_text("There is no table")).to_be_visible(timeout=1_000 * PATIENCE)
        await playwright.expect(page.get_by_text("Ann", exact=True)).to_have_count(0)
        await context.close()
