from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence

import httpx2
import pytest

from tablewright.domain.run import measure_usage
from tablewright.errors import SearchError
from tablewright.llm.pace import LocalSlots
from tablewright.web.search.keyed_providers import Tavily
from tablewright.web.search.provider import RetryingSearch
from tablewright.web.source import Hit, Query, SearchResponse
from tests.web.search.loopback import Loopback

HIT = Hit(origin="https://acme.example/")
BUSY = SearchError("busy", retryable=True)


class Scripted:
    """A provider that plays what it was given, one entry a request."""

    name = "scripted"

    def __init__(self, *script: SearchError | Sequence[Hit]) -> None:
        self.script = list(script)
        self.asked: list[Query] = []

    async def search(self, query: Query) -> Sequence[Hit]:
        self.asked.append(query)
        played = self.script.pop(0)
        if isinstance(played, SearchError):
            raise played
        return played


class Slept:
    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_a_search_that_works_is_asked_once() -> None:
    provider, slept = Scripted([HIT]), Slept()
    with measure_usage() as meter:
        searched = await RetryingSearch(provider, sleep=slept).search(
            Query(text="acme", site="acme.example", since="year")
        )
    assert searched == SearchResponse(hits=(HIT,), queries=("acme site:acme.example (last year)",))
    assert (meter.usage.searches, slept.waits) == (1, [])


async def test_a_passing_failure_is_tried_again_and_each_request_is_counted() -> None:
    provider, slept = Scripted(BUSY, BUSY, [HIT]), Slept()
    with measure_usage() as meter:
        searched = await RetryingSearch(provider, sleep=slept).search(Query(text="acme"))
    assert searched == SearchResponse(hits=(HIT,), queries=("acme",))
    assert meter.usage.searches == 3
    assert 1.0 <= slept.waits[0] <= 1.5
    assert 2.5 <= slept.waits[1] <= 3.75


async def test_after_two_retries_the_failure_is_told() -> None:
    provider, slept = Scripted(BUSY, BUSY, BUSY, [HIT]), Slept()
    with pytest.raises(SearchError, match="busy"), measure_usage() as meter:
        await RetryingSearch(provider, sleep=slept).search(Query(text="acme"))
    assert (len(provider.asked), len(slept.waits), meter.usage.searches) == (3, 2, 3)


async def test_a_lasting_failure_is_not_tried_again() -> None:
    provider, slept = Scripted(SearchError("wrong key"), [HIT]), Slept()
    with pytest.raises(SearchError, match="wrong key"):
        await RetryingSearch(provider, sleep=slept).search(Query(text="acme"))
    assert (len(provider.asked), slept.waits) == (1, [])


async def test_the_wait_a_provider_asks_for_is_kept() -> None:
    wait = SearchError("later", retryable=True, retry_after=12.0)
    slept = Slept()
    await RetryingSearch(Scripted(wait, [HIT]), sleep=slept).search(Query(text="acme"))
    assert 12.0 <= slept.waits[0] <= 18.0


async def test_a_wait_that_is_too_long_is_not_waited() -> None:
    provider, slept = Scripted(SearchError("tomorrow", retryable=True, retry_after=86_400), [HIT]), Slept()
    with pytest.raises(SearchError, match="tomorrow"):
        await RetryingSearch(provider, sleep=slept).search(Query(text="acme"))
    assert (len(provider.asked), slept.waits) == (1, [])


async def test_nothing_found_is_asked_once_more_and_broader() -> None:
    provider = Scripted([], [HIT])
    with measure_usage() as meter:
        searched = await RetryingSearch(provider).search(
            Query(text='"Acme Ltd" turnover', site="acme.example", limit=3)
        )
    assert searched == SearchResponse(
        hits=(HIT,), queries=('"Acme Ltd" turnover site:acme.example', "Acme Ltd turnover")
    )
    assert provider.asked[1] == Query(text="Acme Ltd turnover", limit=3)
    assert meter.usage.searches == 2


async def test_nothing_found_even_broadly_has_no_hits() -> None:
    provider = Scripted([], [])
    searched = await RetryingSearch(provider).search(Query(text='"Acme Ltd"'))
    assert searched == SearchResponse(hits=(), queries=('"Acme Ltd"', "Acme Ltd"))


async def test_a_query_that_cannot_be_broader_is_asked_once() -> None:
    provider = Scripted([])
    searched = await RetryingSearch(provider).search(Query(text="acme"))
    assert searched == SearchResponse(hits=(), queries=("acme",))


async def test_a_broader_query_that_fails_is_a_failure() -> None:
    with pytest.raises(SearchError, match="blocked"):
        await RetryingSearch(Scripted([], SearchError("blocked"))).search(Query(text='"Acme Ltd"'))


class Timed:
    """A provider that keeps when it was asked."""

    def __init__(self, name: str = "timed") -> None:
        self.name = name
        self.times: list[float] = []

    async def search(self, query: Query) -> Sequence[Hit]:
        self.times.append(time.monotonic())
        return [HIT]


class CountedSlots(LocalSlots):
    """Tells how many were taken under each name."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: Counter[str] = Counter()

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        self.taken[key] += 1
        return await super().reserve(key, interval, refund=refund, credit=credit)


async def test_a_limit_a_second_spaces_the_searches_of_one_process() -> None:
    provider, begun = Timed(), time.monotonic()
    searching = RetryingSearch(provider, per_second=20)
    await asyncio.gather(*(searching.search(Query(text=str(number))) for number in range(8)))
    assert all(at >= begun + number / 20 for number, at in enumerate(provider.times))


async def test_a_retry_takes_its_turn_too() -> None:
    slots = LocalSlots()
    searching = RetryingSearch(Scripted(BUSY, [HIT]), per_second=20, slots=slots, sleep=Slept())
    started = time.monotonic()
    await searching.search(Query(text="acme"))
    assert time.monotonic() - started >= 1 / 20


async def test_those_who_share_slots_share_the_limit_of_a_provider() -> None:
    slots, one, other = CountedSlots(), Timed(), Timed("another")
    workers = [RetryingSearch(provider, per_second=20, slots=slots) for provider in (one, one, other)]
    begun = time.monotonic()
    await asyncio.gather(*(worker.search(Query(text=str(number))) for number in range(4) for worker in workers))
    assert all(at >= begun + number / 20 for number, at in enumerate(one.times))
    assert slots.taken["search timed"] >= 8
    assert slots.taken["search another"] >= 4


async def test_without_a_limit_nobody_waits() -> None:
    provider, slots = Timed(), CountedSlots()
    await asyncio.gather(
        *(RetryingSearch(provider, slots=slots).search(Query(text=str(number))) for number in range(50))
    )
    assert len(provider.times) == 50
    assert not slots.taken


async def test_with_a_real_provider(server: Loopback, client: httpx2.AsyncClient) -> None:
    server.answers({"detail": {"error": "Too many"}}, 429, Retry_After="3")

    async def recover(seconds: float) -> None:
        server.answers({"results": [{"url": "https://acme.example/", "title": "Acme"}]})

    searched = await RetryingSearch(Tavily(server.url, "key", client), sleep=recover).search(Query(text="acme"))
    assert [hit.title for hit in searched.hits] == ["Acme"]
    assert len(server.asked) == 2


class Hanging:
    """Fails after thirty seconds of a clock of its own, until it is told to answer."""

    name = "hanging"

    def __init__(self) -> None:
        self.now = 100.0
        self.asked = 0
        self.answers = False

    async def search(self, query: Query) -> Sequence[Hit]:
        self.asked += 1
        if self.answers:
            return [HIT]
        self.now += 30
        raise SearchError("It did not answer within 30 seconds.", advice="Check it.", retryable=True)


async def test_whoever_searches_right_after_an_engine_hung_is_told_at_once() -> None:
    provider = Hanging()
    searching = RetryingSearch(provider, sleep=Slept(), clock=lambda: provider.now)
    for _ in range(3):
        with pytest.raises(SearchError, match="did not answer within 30 seconds") as failed:
            await searching.search(Query(text="acme"))
        assert failed.value.advice == "Check it."
    assert provider.asked == 1
    provider.answers = True
    provider.now += 20
    assert (await searching.search(Query(text="acme"))).hits == (HIT,)
