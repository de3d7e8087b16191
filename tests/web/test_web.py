"""The web as a source: things are bought once, kept as text, and taken from the store as long as they are fresh."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import measure_usage
from tablewright.store.store import Store
from tablewright.web.fetch.fetcher import FetchPolicy
from tablewright.web.source import Query
from tablewright.web.web import Web, open_web
from tests.pages import Page, SmallWeb, small_web

ACME = Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987 in Port Merrin, by the old harbour.</p>")


@pytest.fixture
async def site() -> AsyncIterator[SmallWeb]:
    async with small_web({"/acme": ACME}) as running:
        yield running


@pytest.fixture
async def web(site: SmallWeb, store: Store, tmp_path: Path) -> AsyncIterator[Web]:
    async with open_web(site.settings(tmp_path), store) as opened:
        yield opened


async def test_a_page_is_stored_as_the_text_that_quotes_point_into(web: Web, site: SmallWeb, store: Store) -> None:
    page = await web.open(site.url("/acme"))
    assert isinstance(page, Retrieved)
    assert "founded in 1987" in page.text
    assert page.title == "Acme Turbines"
    assert await store.pages.text(page.content_hash) == page.text


async def test_a_page_wanted_by_many_rows_at_once_is_fetched_once(web: Web, site: SmallWeb) -> None:
    with measure_usage() as meter:
        pages = await asyncio.gather(*(web.open(site.url("/acme")) for _ in range(8)))
        again = await web.open(site.url("/acme"))
    assert {page.origin for page in pages} == {again.origin}
    assert site.requests["/acme"] == 1
    assert (meter.usage.fetches, meter.usage.cache_hits) == (1, 1)


async def test_a_search_is_made_once(web: Web, site: SmallWeb) -> None:
    first = await web.search(Query(text="acme founded"))
    assert await web.search(Query(text="acme founded")) == first
    assert [hit.origin for hit in first.hits] == [site.url("/acme")]
    assert site.requests["/search"] == 1


async def test_a_search_wanted_by_many_rows_at_once_is_made_once(web: Web, site: SmallWeb) -> None:
    found = await asyncio.gather(*(web.search(Query(text="acme founded")) for _ in range(8)))
    assert len({searched.at for searched in found}) == 1
    assert site.requests["/search"] == 1


async def test_a_refusal_says_what_happened_and_is_not_asked_for_again(web: Web, site: SmallWeb) -> None:
    site.pages["/no"] = Page(title="No", body="<p>go away</p>", status=403)
    first, second = [await web.open(site.url("/no")) for _ in range(2)]
    assert isinstance(first, Refusal)
    assert (first.reason, first.status) == ("blocked", 403)
    assert first == second
    assert site.requests["/no"] == 1


async def test_a_wall_that_answers_200_is_blocked_all_the_same(web: Web, site: SmallWeb) -> None:
    site.pages["/wall"] = Page(title="Just a moment...", body="<p>Verify you are human to continue.</p>")
    wall = await web.open(site.url("/wall"))
    assert isinstance(wall, Refusal)
    assert wall.reason == "blocked"


async def test_a_missing_page_is_an_error_not_a_block(web: Web, site: SmallWeb) -> None:
    missing = await web.open(site.url("/nothing"))
    assert isinstance(missing, Refusal)
    assert missing.reason == "error"


async def test_a_page_that_has_not_changed_is_not_sent_again(site: SmallWeb, store: Store, tmp_path: Path) -> None:
    site.pages["/acme"] = Page(title="Acme", body=ACME.body, headers={"ETag": '"v1"'})
    pages = []
    for _ in range(2):
        async with open_web(site.settings(tmp_path), store) as web:
            web.kept.is_private = lambda address: False
            web.kept.fresh = timedelta(0)
            pages.append(await web.open(site.url("/acme")))
    assert site.requests["/acme"] == 2
    assert pages[0] == pages[1]


async def test_what_is_fresh_on_the_public_web_is_taken_from_the_store(
    site: SmallWeb, store: Store, tmp_path: Path
) -> None:
    """The same site, treated as a public one."""
    for fresh, requests in ((timedelta(hours=1), 1), (timedelta(0), 2)):
        async with open_web(site.settings(tmp_path), store) as web:
            web.kept.is_private = lambda address: False
            web.kept.fresh = fresh
            await web.open(site.url("/acme"))
            assert site.requests["/acme"] == requests


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("sample 5f2c", False),
        ("searxng:http://127.0.0.1:8888", True),
        ("searxng:http://localhost:8888", True),
        ("searxng:https://search.acme.example", False),
        ("http://intranet:8080/x", True),
        ("http://a.test/x", False),
        ("https://www.acme.example/", False),
        ("brave", False),
    ],
)
def test_which_addresses_are_this_machines_own(address: str, private: bool) -> None:
    policy = FetchPolicy(allow=frozenset({"intranet:8080"}), names={"test": "127.0.0.1:1"})
    assert policy.is_private(address) is private
