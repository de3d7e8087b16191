"""A server in a process of its own, and a real Chromium that visits it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import httpx2
import pytest
import pytest_asyncio

from tablewright.services import Services
from tablewright.settings import Settings
from tests import patience
from tests.chromium import CHROMIUM, FLAGS
from tests.interfaces.conftest import launcher

playwright = pytest.importorskip("playwright.async_api", reason="Playwright for Python is not installed")

STARTING = patience.PATIENCE
# Milliseconds for which a page may keep a test waiting.
PATIENCE = 180_000
# Seconds after which a page that does not close is left open.
CLOSING = 15


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    in_one_loop = pytest.mark.asyncio(loop_scope="session")  # that of the browser, which all of them share
    skip = pytest.mark.skip(reason="Chromium is not installed: the pages are not tested (apt install chromium)")
    for item in items:
        if item.path.is_relative_to(here) and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(in_one_loop if CHROMIUM else skip, append=False)


class Site:
    """A running server and the folder that it keeps its tables in, which tests may look into and add to."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.home = home

    def open(self) -> AbstractAsyncContextManager[Services]:
        return Services.open(Settings(home=str(self.home), search="sample"), actor="test")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server for all tests that bring tables of their own."""
    yield from serve(tmp_path_factory.mktemp("site"))


@pytest.fixture
def fresh_site(tmp_path: Path) -> Iterator[Site]:
    """A server that nobody has visited yet."""
    yield from serve(tmp_path)


def serve(folder: Path, search: str = "sample") -> Iterator[Site]:
    home = folder / "home"
    environ = {**os.environ, "TABLEWRIGHT_HOME": str(home), "TABLEWRIGHT_SEARCH": search}
    for name in ("TABLEWRIGHT_DATABASE_URL", "TABLEWRIGHT_TOKEN", "PYTEST_CURRENT_TEST"):
        environ.pop(name, None)
    if not search:
        environ.pop("TABLEWRIGHT_SEARCH")
    place = folder / "serving"
    place.mkdir()
    (place / "in").touch()
    launcher().start(place, folder=str(folder), environ=environ, arguments=["serve", "--port", "0"])
    try:
        yield Site(wait_for_url(place), home)
    finally:
        os.kill(int((place / "pid").read_text()), signal.SIGTERM)
        until = time.monotonic() + STARTING
        while not (place / "code").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert (place / "code").exists(), "the server did not end"


def wait_for_url(place: Path) -> str:
    """`place` is where the process writes what it says and, when it has ended, its exit code."""
    until = time.monotonic() + STARTING
    while time.monotonic() < until and not (place / "code").exists():
        said = "".join((place / name).read_text() for name in ("out", "err") if (place / name).exists())
        if "http://" in said:
            url = "http://" + said.split("http://", 1)[1].split()[0].rstrip(".")
            try:
                httpx2.get(url, timeout=STARTING)
            except httpx2.TransportError:
                pass
            else:
                return url
        time.sleep(0.1)
    raise AssertionError(f"The server did not start:\n{(place / 'err').read_text()}")


class NewPage(Protocol):
    def __call__(
        self, width: int = 1280, height: int = 800, *, dark: bool = False
    ) -> AbstractAsyncContextManager[playwright.Page]: ...


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One browser for all tests of this process, at the address where it is told what to do: starting one for each took
    longer than many a test."""
    assert CHROMIUM is not None
    profile = tmp_path_factory.mktemp("profile")
    command = [CHROMIUM, "--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}", *FLAGS, "about:blank"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        yield wait_for_debugger(process, profile / "DevToolsActivePort")
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # the command may be a script whose child is the browser
        process.wait(timeout=STARTING)


def wait_for_debugger(process: subprocess.Popen[bytes], told: Path) -> str:
    until = time.monotonic() + STARTING
    while time.monotonic() < until and process.poll() is None:
        if told.exists() and len(lines := told.read_text().splitlines()) > 1:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise AssertionError("Chromium did not start.")


async def close_all(context: playwright.BrowserContext, page: playwright.Page, stuck: set[playwright.Page]) -> None:
    """And forgets what it knows of the server. A page that is loaded anew in this very moment may never answer again;
    it is left open rather than waited for without an end."""
    await context.clear_cookies()
    for opened in set(context.pages) - stuck:
        try:
            async with asyncio.timeout(CLOSING):
                await opened.wait_for_load_state()
                if opened is page:
                    await forget(page)
                await opened.close()
        except (TimeoutError, playwright.Error):
            stuck.add(opened)


async def forget(page: playwright.Page) -> None:
    """All that the browser has of the page's server but the files that never change."""
    visit, origin = await page.context.new_cdp_session(page), "/".join(page.url.split("/")[:3])
    await visit.send(
        "Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"}
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[NewPage]:
    """Opens pages of any size. Whatever the browser complains about fails the test."""
    async with playwright.async_playwright() as driver:
        connected = await driver.chromium.connect_over_cdp(chromium)
        stuck: set[playwright.Page] = set()

        @asynccontextmanager
        async def new_page(
            width: int = 1280, height: int = 800, *, dark: bool = False
        ) -> AsyncIterator[playwright.Page]:
            # The browser's own context keeps the scripts that it compiled: a page opens in two thirds of the time.
            (context,) = connected.contexts
            page = await context.new_page()
            await page.set_viewport_size({"width": width, "height": height})
            await page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
            page.set_default_timeout(PATIENCE)
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            try:
                yield page
            finally:
                await close_all(context, page, stuck)
            assert complaints == []

        yield new_page
        await connected.close()
