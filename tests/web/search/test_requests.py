"""What is sent is what each provider documents: method, path, headers, parameters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tablewright.errors import SearchError
from tablewright.web.search.http import SearXNG
from tablewright.web.search.keyed_providers import Brave, Exa, Serper, Tavily
from tablewright.web.source import Query
from tests.web.search.loopback import Loopback
from tests.web.search.shapes import SHAPES, Shape

PLAIN = Query(text='who runs "Acme & Söhne"?', limit=7)
NARROW = Query(text="turnover", site="www.acme.example", since="week", limit=500)


async def test_searxng(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": []})
    provider = SearXNG(server.url + "/sub/", "", client)
    await provider.search(PLAIN)
    await provider.search(NARROW)
    plain, narrow = server.asked
    assert (plain.method, plain.path) == ("GET", "/sub/search")
    assert plain.params == {"q": 'who runs "Acme & Söhne"?', "format": "json", "pageno": "1"}
    assert narrow.params == {
        "q": "turnover site:acme.example",
        "format": "json",
        "pageno": "1",
        "time_range": "week",
    }
    assert "authorization" not in plain.headers


async def test_the_language_of_results_is_passed_on_where_an_engine_takes_it(
    server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers({"results": [], "type": "search", "searchParameters": {}})
    german = Query(text="Wasserkocher", language="de")
    await SearXNG(server.url, "", client).search(german)
    await Brave(server.url, "key", client).search(german)
    await Serper(server.url, "key", client).search(german)
    searxng, brave, serper = server.asked
    assert (searxng.params["language"], brave.params["search_lang"], serper.body["hl"]) == ("de", "de", "de")


async def test_brave(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"type": "search"})
    provider = Brave(server.url, "brave-key", client)
    await provider.search(PLAIN)
    await provider.search(NARROW)
    plain, narrow = server.asked
    assert (plain.method, plain.path) == ("GET", "/res/v1/web/search")
    assert plain.headers["x-subscription-token"] == "brave-key"
    assert plain.headers["accept"] == "application/json"
    assert (plain.params["q"], plain.params["count"]) == ('who runs "Acme & Söhne"?', "7")
    assert "freshness" not in plain.params
    assert narrow.params == {
        "q": "turnover site:acme.example",
        "count": "20",
        "result_filter": "web",
        "text_decorations": "false",
        "freshness": "pw",
    }


async def test_tavily(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": []})
    provider = Tavily(server.url, "tvly-key", client)
    await provider.search(PLAIN)
    await provider.search(NARROW)
    plain, narrow = server.asked
    assert (plain.method, plain.path) == ("POST", "/search")
    assert plain.headers["authorization"] == "Bearer tvly-key"
    assert plain.headers["content-type"] == "application/json"
    assert plain.body == {"query": 'who runs "Acme & Söhne"?', "max_results": 7, "search_depth": "basic"}
    assert narrow.body == {
        "query": "turnover",
        "max_results": 20,
        "search_depth": "basic",
        "include_domains": ["acme.example"],
        "time_range": "week",
    }


async def test_serper(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"organic": []})
    provider = Serper(server.url, "serper-key", client)
    await provider.search(PLAIN)
    await provider.search(NARROW)
    plain, narrow = server.asked
    assert (plain.method, plain.path) == ("POST", "/search")
    assert plain.headers["x-api-key"] == "serper-key"
    assert plain.body == {"q": 'who runs "Acme & Söhne"?', "num": 7}
    assert narrow.body == {"q": "turnover site:acme.example", "num": 100, "tbs": "qdr:w"}


async def test_exa(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": []})
    provider = Exa(server.url, "exa-key", client)
    await provider.search(PLAIN)
    await provider.search(NARROW)
    plain, narrow = server.asked
    assert (plain.method, plain.path) == ("POST", "/search")
    assert plain.headers["x-api-key"] == "exa-key"
    assert plain.body == {
        "query": 'who runs "Acme & Söhne"?',
        "type": "auto",
        "numResults": 7,
        "contents": {"highlights": True},
    }
    since = datetime.fromisoformat(narrow.body.pop("startPublishedDate"))
    assert datetime.now(UTC) - since - timedelta(days=7) < timedelta(minutes=1)
    assert narrow.body | {"startPublishedDate": ""} == {
        "query": "turnover",
        "type": "auto",
        "numResults": 100,
        "contents": {"highlights": True},
        "includeDomains": ["acme.example"],
        "startPublishedDate": "",
    }


@pytest.mark.parametrize("since", ["day", "week", "month", "year"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_every_time_limit_is_passed_on(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, since: str
) -> None:
    server.answers(shape.empty)
    await shape.provider(server.url, "key", client).search(Query(text="acme", since=since))
    (asked,) = server.asked
    sent = asked.params or asked.body
    expected = {
        "searxng": ("time_range", since),
        "brave": ("freshness", f"p{since[0]}"),
        "tavily": ("time_range", since),
        "serper": ("tbs", f"qdr:{since[0]}"),
    }
    if shape.name == "exa":
        age = datetime.now(UTC) - datetime.fromisoformat(sent["startPublishedDate"])
        assert age.days == {"day": 1, "week": 7, "month": 31, "year": 366}[since]
    else:
        name, value = expected[shape.name]
        assert sent[name] == value


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_a_long_query_is_cut_at_a_word(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers(shape.empty)
    provider = shape.provider(server.url, "key", client)
    await provider.search(Query(text="manufacturer " * 60, site="acme.example"))
    await provider.search(Query(text="a\n b " * 60, site="acme.example"))
    (long, many) = [asked.params or asked.body for asked in server.asked]
    sent = [str(parts.get("q", parts.get("query"))) for parts in (long, many)]
    assert len(sent[0]) <= 400
    assert set(sent[0].split()) <= {"manufacturer", "site:acme.example"}
    assert sent[0].count("manufacturer") >= 29
    assert ("site:acme.example" in sent[0]) == (shape.name not in {"tavily", "exa"})
    assert len(sent[1].split()) == 50
    assert set(sent[1].split()) <= {"a", "b", "site:acme.example"}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_an_empty_query_is_not_sent(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    with pytest.raises(SearchError, match="nothing to search for"):
        await shape.provider(server.url, "key", client).search(Query(text=" \n "))
    assert server.asked == []


async def test_words_that_searxng_takes_for_commands_lose_their_sign(
    server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers({"results": []})
    await SearXNG(server.url, "", client).search(Query(text="!!g !images :de <3 acme! a:b"))
    assert server.asked[0].params["q"] == "g images de 3 acme! a:b"


async def test_searxng_with_blocked_engines_has_not_found_out(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["brave", "timeout"], "odd"]})
    provider = SearXNG(server.url, "", client)
    with pytest.raises(SearchError, match="google: CAPTCHA, brave: timeout, odd") as raised:
        await provider.search(Query(text="acme turnover"))
    assert raised.value.retryable
    assert await provider.search(NARROW) == ()


async def test_brave_says_in_its_own_headers_how_long_to_wait(server: Loopback, client: httpx2.AsyncClient) -> None:
    provider = Brave(server.url, "key", client)
    for remaining, wait in [("0, 1000", 1.0), ("1, 0", 1_419_704.0), ("5, 5", None), ("?", None)]:
        headers = {"X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": "1, 1419704"}
        server.answers({}, 429, **headers)
        with pytest.raises(SearchError) as raised:
            await provider.search(PLAIN)
        assert raised.value.retry_after == wait


async def test_brave_says_of_a_wrong_key_that_it_cannot_process_it(
    server: Loopback, client: httpx2.AsyncClient
) -> None:
    detail = "The provided subscription token is invalid."
    server.answers({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": detail, "status": 422}}, 422)
    with pytest.raises(SearchError) as raised:
        await Brave(server.url, "key", client).search(PLAIN)
    assert "TABLEWRIGHT_SEARCH_API_KEY" in raised.value.advice


async def test_exa_without_highlights_shows_its_text(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": [{"url": "https://a.example/", "highlights": [], "text": "All of it"}]})
    (hit,) = await Exa(server.url, "key", client).search(PLAIN)
    assert hit.snippet == "All of it"


async def test_exa_joins_its_highlights(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"results": [{"url": "https://a.example/", "highlights": ["One. ", 5, "Two."]}]})
    (hit,) = await Exa(server.url, "key", client).search(PLAIN)
    assert hit.snippet == "One. … Two."
