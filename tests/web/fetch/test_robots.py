from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from tablewright.domain.retrieved import Refusal
from tablewright.web.fetch.fetcher import LONGEST_DELAY_SECONDS, Fetched, Fetcher, FetchPolicy, RobotsCache
from tablewright.web.fetch.guard import FetchResponse
from tests.patience import PATIENCE
from tests.web.fetch.site import PAGE, PUBLIC, Asked, Handler, Site, Wire, answer, cut, redirect, resolver

ALLOW = frozenset({"127.0.0.1"})


def rules(text: str) -> Handler:
    return answer(text, content_type="text/plain")


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(FetchPolicy(allow=ALLOW)) as opened:
        yield opened


async def test_a_page_that_robots_txt_closes_is_not_fetched(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = rules("User-agent: *\nDisallow: /page")
    refusal = await fetcher.fetch(f"{site.url}/page")
    assert refusal == Refusal(
        origin=f"{site.url}/page", reason="forbidden", detail="the site's robots.txt asks not to fetch it"
    )
    assert isinstance(await fetcher.fetch(f"{site.url}/"), Fetched)
    assert site.paths == ["/robots.txt", "/"]


async def test_rules_for_us_by_name_count(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = rules("User-agent: *\nAllow: /\n\nUser-agent: tablewright\nDisallow: /")
    assert isinstance(await fetcher.fetch(site.url), Refusal)


async def test_rules_for_others_do_not(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = rules("User-agent: OtherBot\nDisallow: /")
    assert isinstance(await fetcher.fetch(site.url), Fetched)


async def test_a_redirect_is_checked_against_the_rules_where_it_leads(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/robots.txt": rules("User-agent: *\nDisallow: /page"), "/old": redirect("/page")}
    assert isinstance(await fetcher.fetch(f"{site.url}/old"), Refusal)
    assert site.paths == ["/robots.txt", "/old"]


async def test_robots_txt_is_asked_for_once_for_many_pages(site: Site, fetcher: Fetcher) -> None:
    await asyncio.gather(*(fetcher.fetch(site.url) for _ in range(5)))
    assert site.paths.count("/robots.txt") == 1
    assert len(site.paths) == 6


async def test_it_can_be_turned_off(site: Site) -> None:
    site.pages["/robots.txt"] = rules("User-agent: *\nDisallow: /")
    async with Fetcher(FetchPolicy(allow=ALLOW, robots=False)) as fetcher:
        assert isinstance(await fetcher.fetch(site.url), Fetched)
    assert site.paths == ["/"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_no_robots_txt_means_no_rules(site: Site, fetcher: Fetcher, status: int) -> None:
    site.pages["/robots.txt"] = answer("no", status)
    assert isinstance(await fetcher.fetch(site.url), Fetched)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_robots_txt_that_fails_closes_the_site(site: Site, fetcher: Fetcher, status: int) -> None:
    site.pages["/robots.txt"] = answer("no", status)
    refusal = await fetcher.fetch(site.url)
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.detail, refusal.status) == (
        "error",
        f"its robots.txt could not be read (status {status})",
        status,
    )
    await fetcher.fetch(f"{site.url}/page")
    assert site.paths == ["/robots.txt"]


async def test_a_robots_txt_that_is_cut_off_closes_the_site(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = cut
    refusal = await fetcher.fetch(site.url)
    assert isinstance(refusal, Refusal)
    assert refusal.detail == "its robots.txt could not be read (the connection was cut)"
    assert site.paths == ["/robots.txt"] * 2


async def test_a_robots_txt_that_does_not_come_closes_the_site(site: Site) -> None:
    async def never(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    site.pages["/robots.txt"] = never
    async with Fetcher(FetchPolicy(allow=ALLOW, timeout=0.2)) as fetcher, asyncio.timeout(PATIENCE):
        refusal = await fetcher.fetch(site.url)
    assert isinstance(refusal, Refusal)
    assert refusal.detail == "its robots.txt could not be read (no answer in time)"


async def test_a_redirect_of_robots_txt_is_followed(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/robots.txt": redirect("/rules"), "/rules": rules("User-agent: *\nDisallow: /page")}
    assert isinstance(await fetcher.fetch(f"{site.url}/page"), Refusal)
    assert isinstance(await fetcher.fetch(site.url), Fetched)


async def test_a_redirect_of_robots_txt_to_a_private_host_is_not_followed(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = redirect(f"http://localhost:{site.port}/rules")
    assert isinstance(await fetcher.fetch(site.url), Fetched)
    assert site.paths == ["/robots.txt", "/"]


async def test_a_host_that_was_private_for_a_moment_is_asked_for_its_rules_later(site: Site) -> None:
    site.pages["/robots.txt"] = rules("User-agent: *\nDisallow: /")
    lookups = resolver(["10.0.0.1"], [PUBLIC])
    async with Fetcher(FetchPolicy(delay=0.0), resolve=lookups, wire=Wire(site)) as fetcher:
        private = await fetcher.fetch("http://www.example.com/")
        closed = await fetcher.fetch("http://www.example.com/")
    assert isinstance(private, Refusal)
    assert isinstance(closed, Refusal)
    assert private.detail.endswith("a private address")
    assert closed.detail == "the site's robots.txt asks not to fetch it"


async def test_redirects_of_robots_txt_in_a_circle_mean_no_rules(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = redirect("/robots.txt")
    assert isinstance(await fetcher.fetch(site.url), Fetched)
    assert site.paths == ["/robots.txt"] * 6 + ["/"]


async def test_of_a_huge_robots_txt_the_beginning_counts(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = rules("User-agent: *\nDisallow: /page\n" + "# filler\n" * 100_000 + "Disallow: /\n")
    assert isinstance(await fetcher.fetch(f"{site.url}/page"), Refusal)
    assert isinstance(await fetcher.fetch(site.url), Fetched)


async def test_a_page_in_place_of_robots_txt_has_no_rules(site: Site, fetcher: Fetcher) -> None:
    site.pages["/robots.txt"] = PAGE
    assert isinstance(await fetcher.fetch(site.url), Fetched)


async def test_the_delay_a_site_can_ask_for_has_a_limit() -> None:
    async def ask(url: httpx2.URL) -> FetchResponse:
        return FetchResponse(200, httpx2.Headers(), b"User-agent: *\nCrawl-delay: 86400")

    found = await RobotsCache(ask, "Tablewright").verdict(httpx2.URL("https://example.com/"))
    assert found.delay == LONGEST_DELAY_SECONDS
