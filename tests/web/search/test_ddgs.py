"""The real `ddgs` package and its own HTTP client, with the addresses of two of its engines turned to loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.engines.mojeek import Mojeek
from ddgs.exceptions import DDGSException, RatelimitException

from tablewright.errors import BadSetting, SearchError
from tablewright.web.search.ddgs import Ddgs, WatchedDDGS
from tablewright.web.source import Hit, Query
from tests.web.search.loopback import Loopback, loopback

QUERY = Query(text="acme turnover")
NARROW = Query(text="acme turnover", site="acme.example")

MOJEEK = b"""<html><body><ul class="results-standard">
<li><h2><a href="https://acme.example/report">Acme &amp; Co</a></h2><p class="s">Turnover of <b>Acme</b> was 5.</p></li>
<li><h2><a href="javascript:alert(1)">Acme</a></h2><p class="s">Click</p></li>
<li><h2><a href="https://other.example/">Other</a></h2><p class="s">Nothing much</p></li>
</ul></body></html>"""
NO_RESULTS = b"<html><body><p>No pages found matching your query.</p></body></html>"


@pytest.fixture
async def mojeek(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    async with loopback() as served:
        monkeypatch.setattr(Mojeek, "search_url", f"{served.url}/search")
        served.content = NO_RESULTS
        yield served


@pytest.fixture
async def duckduckgo(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    async with loopback() as served:
        monkeypatch.setattr(Duckduckgo, "search_url", f"{served.url}/html/")
        served.content = NO_RESULTS
        yield served


def provider(client: httpx2.AsyncClient, engines: str = "mojeek", timeout: float = 30.0) -> Ddgs:
    return Ddgs(engines, "", client, timeout=timeout)


async def test_results_become_hits(mojeek: Loopback, client: httpx2.AsyncClient) -> None:
    mojeek.content = MOJEEK
    assert await provider(client).search(QUERY) == (
        Hit(origin="https://acme.example/report", title="Acme & Co", snippet="Turnover of Acme was 5."),
        Hit(origin="https://other.example/", title="Other", snippet="Nothing much"),
    )
    (asked,) = mojeek.asked
    assert (asked.method, asked.path, asked.params["q"]) == ("GET", "/search", "acme turnover")


async def test_a_site_goes_into_the_text_and_others_are_dropped(mojeek: Loopback, client: httpx2.AsyncClient) -> None:
    mojeek.content = MOJEEK
    hits = await provider(client).search(NARROW)
    assert [hit.origin for hit in hits] == ["https://acme.example/report"]
    assert mojeek.asked[0].params["q"] == "acme turnover site:acme.example"


async def test_a_time_limit_is_passed_on(duckduckgo: Loopback, client: httpx2.AsyncClient) -> None:
    await provider(client, "duckduckgo").search(Query(text="acme", since="month"))
    (asked,) = duckduckgo.asked
    assert asked.method == "POST"
    assert b"df=m" in asked.content.split(b"&")


async def test_nothing_found_is_empty(mojeek: Loopback, client: httpx2.AsyncClient) -> None:
    assert await provider(client).search(QUERY) == ()


@pytest.mark.parametrize("status", [202, 403, 429, 500])
async def test_an_engine_that_refuses_has_not_found_nothing(
    mojeek: Loopback, client: httpx2.AsyncClient, status: int
) -> None:
    mojeek.status = status
    for query in (QUERY, NARROW):
        with pytest.raises(SearchError, match=rf"mojeek \({status}\)") as raised:
            await provider(client).search(query)
        assert raised.value.retryable
        assert "TABLEWRIGHT_SEARCH" in raised.value.advice


async def test_where_only_some_engines_answer_a_narrow_query_may_have_no_results(
    mojeek: Loopback, duckduckgo: Loopback, client: httpx2.AsyncClient
) -> None:
    duckduckgo.status = 202
    both = provider(client, "mojeek, duckduckgo")
    assert await both.search(NARROW) == ()
    with pytest.raises(SearchError, match=r"duckduckgo \(202\)"):
        await both.search(QUERY)
    mojeek.content = MOJEEK
    assert len(await both.search(QUERY)) == 2


async def test_an_unreachable_engine_may_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, client: httpx2.AsyncClient
) -> None:
    monkeypatch.setattr(Mojeek, "search_url", "http://127.0.0.1:1/search")
    with pytest.raises(SearchError, match=r"mojeek \(cannot be reached\)") as raised:
        await provider(client).search(QUERY)
    assert raised.value.retryable


async def test_a_slow_engine_may_be_tried_again(mojeek: Loopback, client: httpx2.AsyncClient) -> None:
    mojeek.silent = True
    with pytest.raises(SearchError, match=r"did not answer within 0.3 seconds") as raised:
        await provider(client, timeout=0.3).search(QUERY)
    assert raised.value.retryable


async def test_an_engine_that_times_out_is_named(mojeek: Loopback) -> None:
    mojeek.silent = True
    engines = WatchedDDGS(timeout=1)
    with pytest.raises(DDGSException):
        await asyncio.to_thread(engines.text, "acme", backend="mojeek")
    assert engines.failed == {"mojeek": "timed out"}


async def test_a_page_that_cannot_be_parsed_is_an_error(mojeek: Loopback, client: httpx2.AsyncClient) -> None:
    mojeek.content = b"<!-- -->"
    with pytest.raises(SearchError) as raised:
        await provider(client).search(QUERY)
    assert raised.value.retryable


def test_every_other_error_of_the_package_is_told() -> None:
    engines = WatchedDDGS(timeout=1)
    error = RatelimitException("asked too often")
    assert not engines.found_nothing(error, narrow=False)
    assert engines.failures(error) == "asked too often"


def test_an_unknown_engine_is_a_bad_setting(client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=r"no search engine 'altavista'.*duckduckgo.*mojeek"):
        provider(client, "mojeek,altavista")
