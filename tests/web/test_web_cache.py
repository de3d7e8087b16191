"""What an earlier process bought of the web: how long it is used, and never for another server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.model import Cell
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import Usage, measure_usage
from tablewright.errors import SearchError
from tablewright.sample.server import SampleWeb
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.web.source import Query
from tablewright.web.web import Web, is_lasting_refusal, open_web
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill

ACME = Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987 in Port Merrin, by the old harbour.</p>")
SEARCH = Query(text="acme founded")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(f"sqlite:///{tmp_path / 'kept.db'}") as opened:
        yield opened


@pytest.fixture
async def site() -> AsyncIterator[SmallWeb]:
    async with small_web({"/acme": ACME}) as running:
        yield running


@pytest.fixture
def settings(site: SmallWeb, tmp_path: Path) -> Settings:
    return site.settings(tmp_path)


async def look(settings: Settings, store: Store, url: str, query: Query = SEARCH) -> tuple[Any, Usage]:
    """What a process of its own sees that searches and then opens a page."""
    async with open_web(settings, store) as web:
        with measure_usage() as meter:
            await web.search(query)
            return await web.open(url), meter.usage


def cost(usage: Usage) -> tuple[int, int]:
    return usage.searches, usage.fetches


# ── private addresses ────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_same_search_and_its_pages_are_not_asked_for_again_by_the_next_process(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    first, bought = await look(settings, store, site.url("/acme"))
    asked = site.requests.total()
    again, usage = await look(settings, store, site.url("/acme"))
    assert cost(bought) == (1, 1)
    assert (cost(usage), usage.cache_hits) == ((0, 0), 2)
    assert again == first
    assert site.requests.total() == asked


async def test_a_new_search_asks_for_its_pages_anew(settings: Settings, store: Store, site: SmallWeb) -> None:
    await look(settings, store, site.url("/acme"))
    site.pages["/acme"] = Page(title=ACME.title, body=ACME.body.replace("1987", "1988"))
    page, usage = await look(settings, store, site.url("/acme"), Query(text="acme harbour"))
    assert cost(usage) == (1, 1)
    assert "1988" in page.text


async def test_a_new_search_asks_anew_also_for_a_page_that_a_kept_search_just_led_to(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    await look(settings, store, site.url("/acme"))
    site.pages["/acme"] = Page(title=ACME.title, body=ACME.body.replace("1987", "1988"))
    async with open_web(settings, store) as web:
        await web.search(SEARCH)
        kept_page = await web.open(site.url("/acme"))
        await web.search(Query(text="acme harbour"))
        new_page = await web.open(site.url("/acme"))
    assert isinstance(kept_page, Retrieved)
    assert isinstance(new_page, Retrieved)
    assert "1987" in kept_page.text
    assert "1988" in new_page.text


async def test_who_came_by_a_new_search_does_not_share_the_page_that_another_is_just_taking_from_the_store(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    await look(settings, store, site.url("/acme"))
    site.pages["/acme"] = Page(title=ACME.title, body=ACME.body.replace("1987", "1988"))
    async with open_web(settings, store) as web:
        await web.search(SEARCH)
        taking = asyncio.create_task(web.open(site.url("/acme")))
        await asyncio.sleep(0)
        web.kept._leads[site.url("/acme")] = web.kept._began  # as a new search does that ends in this moment
        page = await web.open(site.url("/acme"))
        await taking
    assert isinstance(page, Retrieved)
    assert "1988" in page.text


async def test_what_several_runs_bought_is_kept_for_all_of_them(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    queries = [SEARCH, Query(text="acme harbour")]
    for query in queries:
        await look(settings, store, site.url("/acme"), query)
    for query in queries:
        _, usage = await look(settings, store, site.url("/acme"), query)
        assert cost(usage) == (0, 0)


async def test_a_page_that_no_search_led_to_is_asked_for_by_each_process(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    for requests in (1, 2):
        async with open_web(settings, store) as web:
            await web.open(site.url("/acme"))
            await web.open(site.url("/acme"))
        assert site.requests["/acme"] == requests


async def test_another_server_may_use_the_same_etag_for_another_page(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    for year in ("1987", "1988"):
        body = ACME.body.replace("1987", year)
        site.pages["/acme"] = Page(title=ACME.title, body=body, headers={"ETag": '"v1"'})
        async with open_web(settings, store) as web:
            page = await web.open(site.url("/acme"))
        assert isinstance(page, Retrieved)
        assert year in page.text


async def test_an_hour_after_the_last_request_everything_is_asked_for_anew(
    settings: Settings, store: Store, site: SmallWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    await look(settings, store, site.url("/acme"))
    await store.cache.settle()
    monkeypatch.setattr("tablewright.web.web.BRIEFLY", timedelta(0))
    _, usage = await look(settings, store, site.url("/acme"))
    assert cost(usage) == (1, 1)


async def test_a_search_that_was_paid_for_is_kept_for_the_day(
    settings: Settings, store: Store, site: SmallWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    await look(settings, store, site.url("/acme"))
    await store.cache.settle()
    monkeypatch.setattr("tablewright.web.web.BRIEFLY", timedelta(0))
    async with open_web(settings, store) as web:
        assert await web.kept.search(SEARCH) is None
        assert await web.kept.search(SEARCH, paid=True) is not None


PORT_MERRIN = {
    "/p/1": Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987.</p>", snippet="A company."),
    "/p/2": Page(title="Acme Turbines | Register", body="<p>Founded: 1987</p>", snippet="A company."),
}
SKAGERBY = {
    "/p/1": Page(title="Borealis Looms", body="<p>Borealis Looms was founded in 1921.</p>", snippet="A company."),
    "/p/2": Page(title="Borealis Looms | Register", body="<p>Founded: 1921</p>", snippet="A company."),
}
FOUNDED = "Founded:number=What year was {Company} founded?"


@pytest.mark.parametrize("strategy", ["pipeline", "research"])
async def test_another_server_on_the_same_port_is_never_taken_for_the_first(strategy: str, tmp_path: Path) -> None:
    async def founded(web: SmallWeb, *companies: str) -> list[Cell]:
        table = "\n".join(["Company", *companies, ""])
        _, operations, _ = await fill(web.settings(tmp_path), tmp_path, table, FOUNDED, strategy=strategy)
        return [operation.cell for operation in operations]

    async with small_web(PORT_MERRIN) as first:
        (cell,) = await founded(first, "Acme Turbines")
        assert cell.value == 1987
    async with small_web(SKAGERBY, port=int(first.address.rpartition(":")[2])) as second:
        assert second.address == first.address
        old, new = await founded(second, "Acme Turbines", "Borealis Looms")
        assert second.requests["/p/1"] == 1
    assert new.value == 1921
    assert all("Borealis" in evidence.title for evidence in new.evidence)
    assert not new.conflict
    assert all("Acme" in evidence.title for evidence in old.evidence), "what is kept is of one server, too"


# ── the sample web ───────────────────────────────────────────────────────────────────────────────────────────────────

KESTREL = Query(text="Kestrelworks founded")
KESTRELWORKS = "http://www.kestrelworks.example/"


async def test_the_sample_web_is_kept_like_a_public_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.web.web.BRIEFLY", timedelta(0))
    settings = Settings(home=str(tmp_path), search="sample")
    first, bought = await look(settings, store, KESTRELWORKS, KESTREL)
    again, usage = await look(settings, store, KESTRELWORKS, KESTREL)
    assert (cost(bought), cost(usage)) == ((1, 1), (0, 0))
    assert again == first


async def test_nothing_is_kept_from_one_edition_of_the_sample_web_to_the_next(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=str(tmp_path), search="sample")
    await look(settings, store, KESTRELWORKS, KESTREL)
    monkeypatch.setattr(SampleWeb, "edition", "the next")
    _, usage = await look(settings, store, KESTRELWORKS, KESTREL)
    assert cost(usage) == (1, 1)


async def test_the_sample_web_says_nothing_of_the_real_one(
    store: Store, settings: Settings, site: SmallWeb, tmp_path: Path
) -> None:
    await look(Settings(home=str(tmp_path), search="sample"), store, KESTRELWORKS, KESTREL)
    async with open_web(replace(settings, offline="yes"), store) as web:
        page = await web.open(KESTRELWORKS)
    assert isinstance(page, Refusal)


# ── refusals, and searches without results ───────────────────────────────────────────────────────────────────────────

REFUSALS = [
    (404, "no such page", True),
    (410, "gone", True),
    (403, "go away", True),
    (401, "who are you", True),
    (200, "<p>Verify you are human to continue.</p>", True),
    (400, "what?", True),
    (408, "too slow", False),
    (429, "not so fast", False),
    (500, "oops", False),
    (503, "Checking your browser", False),
]


@pytest.mark.parametrize(("status", "body", "lasts"), REFUSALS)
async def test_a_refusal_that_lasts_is_not_asked_for_again_and_one_that_may_pass_is(
    settings: Settings, store: Store, site: SmallWeb, status: int, body: str, lasts: bool
) -> None:
    site.pages["/acme"] = Page(title="Acme founded", body=body, status=status)
    first, _ = await look(settings, store, site.url("/acme"))
    again, usage = await look(settings, store, site.url("/acme"))
    assert isinstance(first, Refusal)
    assert again == first
    assert site.requests["/acme"] == (1 if lasts else 2)
    assert usage.searches == 0


class Plain(Page):
    html = "User-agent: *\nDisallow: /acme\n"


async def test_what_our_own_rules_forbid_is_asked_for_again_when_the_rules_change(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    site.pages["/robots.txt"] = Plain(title="", body="")
    first, _ = await look(settings, store, site.url("/acme"))
    asked = site.requests.total()
    again, _ = await look(settings, store, site.url("/acme"))
    assert (first.reason, again) == ("forbidden", first)
    assert site.requests.total() == asked
    page, _ = await look(replace(settings, fetch_robots="no"), store, site.url("/acme"))
    assert isinstance(page, Retrieved)


async def test_no_connection_is_not_a_refusal_that_lasts() -> None:
    for detail in ("no connection", "the connection was cut", "its robots.txt could not be read (no answer in time)"):
        assert not is_lasting_refusal(Refusal(origin="http://a.example/", reason="error", detail=detail))


async def test_a_page_that_has_gone_is_gone_and_one_that_is_back_is_back(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    for status, kind in ((200, Retrieved), (404, Refusal), (200, Retrieved)):
        site.pages["/acme"] = Page(title=ACME.title, body=ACME.body, status=status)
        async with open_web(settings, store) as web:
            assert isinstance(await web.open(site.url("/acme")), kind)
        offline, _ = await look_offline(settings, store, site.url("/acme"))
        assert isinstance(offline, kind)


async def test_a_search_that_finds_nothing_is_kept_for_an_hour(
    settings: Settings, store: Store, site: SmallWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        async with open_web(settings, store) as web:
            web.kept.is_private = lambda address: False
            assert not (await web.search(Query(text="zephyr"))).hits
    assert site.requests["/search"] == 1
    await store.cache.settle()
    monkeypatch.setattr("tablewright.web.web.BRIEFLY", timedelta(0))
    async with open_web(settings, store) as web:
        web.kept.is_private = lambda address: False
        await web.search(Query(text="zephyr"))
    assert site.requests["/search"] == 2


# ── offline ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def offline(settings: Settings, store: Store) -> AsyncIterator[Web]:
    async with open_web(replace(settings, offline="yes"), store) as web:
        web.kept.fresh = timedelta(0)
        yield web


async def look_offline(settings: Settings, store: Store, url: str) -> tuple[Any, Usage]:
    async with offline(settings, store) as web:
        with measure_usage() as meter:
            return await web.open(url), meter.usage


@pytest.mark.parametrize(("status", "body"), [(status, body) for status, body, _ in REFUSALS])
async def test_offline_every_refusal_is_played_again(
    settings: Settings, store: Store, site: SmallWeb, status: int, body: str
) -> None:
    site.pages["/acme"] = Page(title="Acme founded", body=body, status=status)
    first, _ = await look(settings, store, site.url("/acme"))
    again, usage = await look_offline(settings, store, site.url("/acme"))
    assert again == first
    assert (cost(usage), site.requests["/acme"]) == ((0, 0), 1)


async def test_offline_a_page_is_worth_more_than_a_failure_after_it(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    first, _ = await look(settings, store, site.url("/acme"))
    site.pages["/acme"] = Page(title=ACME.title, body=ACME.body, status=500)
    failed, _ = await look(settings, store, site.url("/acme"), Query(text="acme harbour"))
    assert isinstance(failed, Refusal)
    assert (await look_offline(settings, store, site.url("/acme")))[0] == first


async def test_offline_searches_are_played_again_with_or_without_results_or_failed(
    settings: Settings, store: Store, site: SmallWeb
) -> None:
    async with open_web(settings, store) as web:
        found = await web.search(SEARCH)
        nothing = await web.search(Query(text="zephyr"))
        site.search_status = 401
        with pytest.raises(SearchError) as failed:
            await web.search(Query(text="acme harbour"))
    asked = site.requests.total()
    async with offline(settings, store) as web:
        assert await web.search(SEARCH) == found
        assert await web.search(Query(text="zephyr")) == nothing
        with pytest.raises(SearchError) as again:
            await web.search(Query(text="acme harbour"))
        assert again.value.what == failed.value.what
        with pytest.raises(SearchError, match="Nothing is kept"):
            await web.search(Query(text="never asked"))
    assert site.requests.total() == asked


async def test_a_search_that_failed_is_made_again_online(settings: Settings, store: Store, site: SmallWeb) -> None:
    site.search_status = 401
    with pytest.raises(SearchError):
        await look(settings, store, site.url("/acme"))
    site.search_status = 200
    page, _ = await look(settings, store, site.url("/acme"))
    assert isinstance(page, Retrieved)


# ── the time of a snippet ────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_snippet_has_the_time_of_its_search_whenever_it_is_looked_at(settings: Settings, store: Store) -> None:
    hits = []
    for _ in range(2):
        async with open_web(settings, store) as web:
            hits.append((await web.search(SEARCH)).hits[0])
    first, again = hits
    assert first == again
    snippet = Retrieved(origin=first.origin, text=first.snippet, kind="snippet", retrieved_at=first.retrieved_at)
    assert (await store.pages.keep_snippet(snippet)).retrieved_at == first.retrieved_at != ""
