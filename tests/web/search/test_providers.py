"""Every provider that is reached by HTTP, against its own shapes: what it finds, and what can go wrong."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import pytest

from tablewright.errors import SearchError
from tablewright.web.search.http import MAX_ANSWER_BYTES
from tablewright.web.source import Hit, Query
from tests.patience import PATIENCE
from tests.web.search.loopback import Loopback
from tests.web.search.shapes import SHAPES, Shape

KEY = "secret-key-1234"
QUERY = Query(text="acme turnover")

every_provider = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


async def search(shape: Shape, server: Loopback, client: httpx2.AsyncClient, query: Query = QUERY, **how: Any) -> Any:
    return await shape.provider(server.url, KEY, client, **how).search(query)


async def failure(shape: Shape, server: Loopback, client: httpx2.AsyncClient, **how: Any) -> SearchError:
    with pytest.raises(SearchError) as raised:
        await search(shape, server, client, **how)
    assert KEY not in str(raised.value)
    return raised.value


@every_provider
async def test_results_become_hits(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    first = shape.result("https://acme.example/report", "Acme report", "Turnover was 5 m.", "2025-03-01T00:00:00")
    second = shape.result("http://news.example/a?b=1", "News", "Acme grows.", "2024-01-02")
    server.answers(shape.answer([first, second]))
    assert await search(shape, server, client) == (
        Hit(
            origin="https://acme.example/report",
            title="Acme report",
            snippet="Turnover was 5 m.",
            published="2025-03-01T00:00:00",
        ),
        Hit(origin="http://news.example/a?b=1", title="News", snippet="Acme grows.", published="2024-01-02"),
    )


@every_provider
async def test_nothing_found_is_empty(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers(shape.empty)
    assert await search(shape, server, client) == ()


@every_provider
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_is_not_tried_again(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, status: int
) -> None:
    server.answers(shape.error("No way."), status)
    error = await failure(shape, server, client)
    assert not error.retryable
    assert f"({status}: No way)" in error.what
    assert ("formats: [html, json]" if shape.name == "searxng" else "TABLEWRIGHT_SEARCH_API_KEY") in error.advice


@every_provider
async def test_asked_too_often_says_how_long_to_wait(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers(shape.error("Slow down."), 429, Retry_After="7")
    error = await failure(shape, server, client)
    assert (error.retryable, error.retry_after) == (True, 7.0)


async def test_the_wait_may_be_a_date(server: Loopback, client: httpx2.AsyncClient) -> None:
    when = datetime.now(UTC) + timedelta(seconds=90)
    server.answers({}, 429, Retry_After=format_datetime(when, usegmt=True))
    error = await failure(SHAPES[0], server, client)
    assert error.retry_after == pytest.approx(90, abs=3)


@pytest.mark.parametrize(("asked", "wait"), [("-5", None), ("1.5", 1.5), ("soon", None), ("nan", None), ("", None)])
async def test_odd_waits(server: Loopback, client: httpx2.AsyncClient, asked: str, wait: float | None) -> None:
    server.answers({}, 429, Retry_After=asked)
    assert (await failure(SHAPES[0], server, client)).retry_after == wait


@every_provider
@pytest.mark.parametrize("status", [500, 503])
async def test_a_failing_provider_may_be_tried_again(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, status: int
) -> None:
    server.answers(b"<html>Oops</html>", status)
    error = await failure(shape, server, client)
    assert error.retryable
    assert f"failed ({status})" in error.what


@every_provider
async def test_a_slow_provider_may_be_tried_again(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    server.silent = True
    error = await failure(shape, server, client, timeout=0.1)
    assert error.retryable
    assert "did not answer within 0.1 seconds" in error.what


@every_provider
async def test_the_time_limit_is_for_the_whole_answer(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.dripping = True
    async with asyncio.timeout(PATIENCE):
        error = await failure(shape, server, client, timeout=0.15)
    assert error.retryable
    assert "did not answer within 0.15 seconds" in error.what


async def test_an_unreachable_provider_may_be_tried_again(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.url = "http://127.0.0.1:1"
    error = await failure(SHAPES[0], server, client)
    assert error.retryable
    assert "cannot be reached" in error.what


@every_provider
@pytest.mark.parametrize(
    "nonsense",
    [b"", b"{", b"<html>Sign in</html>", b"[]", b'"text"', b"{}", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000],
    ids=["nothing", "half", "html", "list", "text", "no results", "not utf-8", "deep", "deep objects"],
)
async def test_an_answer_in_another_form_is_an_error(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, nonsense: bytes
) -> None:
    server.answers(nonsense)
    error = await failure(shape, server, client)
    assert not error.retryable
    assert "was not understood" in error.what


@every_provider
@pytest.mark.parametrize("results", [None, "many", 5, {"a": 1}])
async def test_results_that_are_no_list_are_an_error(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, results: Any
) -> None:
    server.answers(shape.answer(results))
    assert "no list of results" in (await failure(shape, server, client)).what


@every_provider
async def test_a_huge_answer_is_not_read_to_its_end(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers(shape.answer([shape.result("https://acme.example/", "A", "x" * MAX_ANSWER_BYTES, "")]))
    assert "larger than 5 MB" in (await failure(shape, server, client)).what


@every_provider
async def test_a_key_is_not_carried_to_another_address(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers({}, 302, Location=f"{server.url}/elsewhere")
    client.follow_redirects = True
    error = await failure(shape, server, client)
    assert not error.retryable
    assert f"{server.url}/elsewhere" in error.what
    assert len(server.asked) == 1


@pytest.mark.parametrize("shape", SHAPES[1:], ids=lambda shape: shape.name)  # SearXNG is never sent a key
async def test_a_repeated_key_is_left_out_of_the_message(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers(shape.error(f"<b>{KEY}</b> is wrong"), 400)
    error = await failure(shape, server, client)
    assert not error.retryable
    assert "(400: … is wrong)" in error.what


@every_provider
@pytest.mark.parametrize("status", [402, 432])
async def test_used_up_credit_is_not_tried_again(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient, status: int
) -> None:
    server.answers(shape.error("No more credits"), status)
    error = await failure(shape, server, client)
    assert not error.retryable
    assert "used up" in error.advice


@every_provider
async def test_a_compressed_answer_that_is_none_is_an_error(
    shape: Shape, server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers(b"not gzip", Content_Encoding="gzip")
    assert "was not understood" in (await failure(shape, server, client)).what
