"""Sites made to harm whoever reads them: what they send costs its page, and neither this process nor the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.sandbox.limits import SandboxLimits
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.web import web as web_module
from tablewright.web.fetch.fetcher import Fetched, Fetcher, FetchPolicy, FetchTrip, SiteDeadline, judge_response
from tablewright.web.fetch.guard import FetchResponse
from tablewright.web.web import open_web
from tests.growth import grows_in_proportion
from tests.hostile import MB, multiplying_robots, swelling_pdf, unharmed
from tests.web.fetch.site import Site, answer

ALLOW = "127.0.0.1"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site().open() as opened:
        yield opened


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(f"sqlite:///{tmp_path / 'tablewright.db'}") as opened:
        yield opened


async def test_a_pdf_that_swells_is_refused_now_and_after_a_restart(
    site: Site, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_module, "LIMITS", SandboxLimits(seconds=0.3, memory=1_000 * MB))
    body = swelling_pdf()
    assert len(body) < 4_000
    site.pages["/report.pdf"] = answer(body, content_type="application/pdf")
    site.pages["/"] = answer("<html><body><p>Acme was founded in 1987 in Port Merrin.</p></body></html>")
    settings = Settings(home=str(tmp_path), fetch_allow=ALLOW, fetch_delay="0", fetch_robots="no")
    for _ in ("the first process", "the one after it"):
        async with open_web(settings, store, searches=False) as web:
            async with unharmed():
                refusal = await web.open(f"{site.url}/report.pdf")
            assert isinstance(refusal, Refusal)
            assert "it took longer than 0.3 s to read" in refusal.detail or "memory" in refusal.detail
            assert isinstance(await web.open(f"{site.url}/"), Retrieved)


@pytest.mark.parametrize("charset", ["hex", "zlib", "rot13", "idna", "punycode", "undefined"])
async def test_a_charset_that_is_none_costs_nothing(site: Site, store: Store, tmp_path: Path, charset: str) -> None:
    """Python has codecs by these names. None of them is for pages, and most raise errors of their own."""
    body = "<html><body><p>Zürich was its first seat, in 1987.</p></body></html>"
    site.pages["/"] = answer(body, content_type=f"text/html; charset={charset}")
    settings = Settings(home=str(tmp_path), fetch_allow=ALLOW, fetch_delay="0", fetch_robots="no")
    async with open_web(settings, store, searches=False) as web:
        page = await web.open(f"{site.url}/")
    assert isinstance(page, Retrieved)
    assert page.text == "Zürich was its first seat, in 1987."


def test_thousands_of_headers_take_time_in_proportion() -> None:
    def judged(count: int) -> Fetched | Refusal:
        headers = httpx2.Headers([(f"x-{number}", "y") for number in range(count)])
        trip = FetchTrip("https://a.example/", patience=SiteDeadline(1.0))
        return judge_response(FetchResponse(200, headers, b"a", "text/plain"), httpx2.URL(trip.url), trip)

    assert isinstance(judged(1), Fetched)
    assert grows_in_proportion(judged, 8_000)


async def test_rules_that_multiply_close_the_site_and_nothing_else(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.web.fetch.fetcher.LIMITS", SandboxLimits(seconds=3, memory=800 * MB))
    site.pages["/robots.txt"] = answer(multiplying_robots(), content_type="text/plain")
    async with Fetcher(FetchPolicy(allow=frozenset({ALLOW}))) as fetcher:
        async with unharmed():
            refusal = await fetcher.fetch(site.url)
        assert isinstance(refusal, Refusal)
        assert "its robots.txt could not be read" in refusal.detail
        assert site.paths == ["/robots.txt"]


async def test_many_rules_are_obeyed_all_the_same(site: Site) -> None:
    site.pages["/robots.txt"] = answer(
        "User-agent: *\n" + "".join(f"Disallow: /a{at}\n" for at in range(2_000)), content_type="text/plain"
    )
    site.pages["/a1999x"] = answer("closed")
    site.pages["/b"] = answer("open")
    async with Fetcher(FetchPolicy(allow=frozenset({ALLOW}))) as fetcher:
        assert isinstance(await fetcher.fetch(f"{site.url}/a1999x"), Refusal)
        assert isinstance(await fetcher.fetch(f"{site.url}/b"), Fetched)
