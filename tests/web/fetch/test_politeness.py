from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from tablewright.llm.pace import LocalSlots
from tablewright.web.fetch import fetcher
from tablewright.web.fetch.fetcher import DomainRateLimiter, Fetched, Fetcher, FetchPolicy
from tests.patience import PATIENCE
from tests.web.fetch.site import PAGE, Asked, Handler, Site, Wire, answer, everything_is_public


def held_until_two_ask(site: Site) -> Handler:
    """A page that nobody gets before two have asked for it at once, however slow the machine is."""
    met = asyncio.Event()

    async def handle(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if site.at_once == 2:
            met.set()
        await met.wait()
        await asyncio.sleep(0.05)  # in which a third would be seen
        await PAGE(asked, writer)

    return handle


def keep_apart(starts: Iterable[float], begun: float, delay: float) -> bool:
    """None starts before its turn. One that is late does not hold up the next, so the gap between two says little."""
    return all(start >= begun + number * delay for number, start in enumerate(starts))


async def test_a_domain_is_never_asked_more_than_twice_at_once(site: Site) -> None:
    site.pages["/"] = held_until_two_ask(site)
    policy = FetchPolicy(robots=False, delay=0.0)
    async with Fetcher(policy, resolve=everything_is_public, wire=Wire(site)) as fetcher:
        urls = [f"http://{name}.example.com/" for name in ("www", "shop", "m", "www", "shop", "m", "api", "old")]
        pages = await asyncio.gather(*map(fetcher.fetch, urls))
    assert all(isinstance(page, Fetched) for page in pages)
    assert site.most_at_once == 2


async def test_an_allowed_host_waits_for_no_delay_but_is_asked_twice_at_once_at_most(site: Site) -> None:
    site.pages["/"] = held_until_two_ask(site)
    site.pages["/robots.txt"] = answer("User-agent: *\nCrawl-delay: 600", content_type="text/plain")
    policy = FetchPolicy(allow=frozenset({"127.0.0.1"}), delay=600.0)
    async with Fetcher(policy) as fetcher, asyncio.timeout(PATIENCE):
        await asyncio.gather(*(fetcher.fetch(site.url) for _ in range(6)))
    assert site.most_at_once == 2


async def test_two_requests_to_a_domain_are_the_delay_apart(site: Site) -> None:
    policy, begun = FetchPolicy(robots=False, delay=0.2), time.monotonic()
    async with Fetcher(policy, resolve=everything_is_public, wire=Wire(site)) as fetcher:
        await asyncio.gather(*(fetcher.fetch(f"http://{name}.example.com/") for name in ("a", "b", "c", "d")))
    assert len(site.asked) == 4
    assert keep_apart([asked.at for asked in site.asked], begun, 0.2)


async def test_fetchers_that_share_slots_are_the_delay_apart_together(site: Site) -> None:
    slots, policy = LocalSlots(), FetchPolicy(robots=False, delay=0.2)
    everywhere, wire, begun = everything_is_public, Wire(site), time.monotonic()
    async with (
        Fetcher(policy, resolve=everywhere, wire=wire, slots=slots) as one,
        Fetcher(policy, resolve=everywhere, wire=wire, slots=slots) as other,
    ):
        fetches = [fetcher.fetch(f"http://{name}.example.com/") for fetcher in (one, other) for name in "abc"]
        await asyncio.gather(*fetches)
    starts = [asked.at for asked in site.asked if asked.path == "/"]
    assert len(starts) == 6
    assert keep_apart(starts, begun, 0.2)


async def test_an_allowed_host_takes_no_slot(site: Site) -> None:
    slots = LocalSlots()
    async with Fetcher(FetchPolicy(allow=frozenset({"127.0.0.1"}), delay=2.0), slots=slots) as fetcher:
        await fetcher.fetch(site.url)
    assert await slots.reserve("domain 127.0.0.1", 1) == 0


async def test_domains_do_not_wait_for_one_another(site: Site) -> None:
    policy, public = FetchPolicy(robots=False, delay=600.0), everything_is_public
    async with Fetcher(policy, resolve=public, wire=Wire(site)) as fetcher, asyncio.timeout(PATIENCE):
        await asyncio.gather(*(fetcher.fetch(f"http://www.{name}.com/") for name in "abcdef"))
    assert len(site.asked) == 6


async def test_a_site_may_ask_for_a_longer_delay(site: Site) -> None:
    site.pages["/robots.txt"] = answer("User-agent: *\nCrawl-delay: 0.4", content_type="text/plain")
    policy, begun = FetchPolicy(delay=0.1), time.monotonic()
    async with Fetcher(policy, resolve=everything_is_public, wire=Wire(site)) as fetcher:
        await asyncio.gather(*(fetcher.fetch("http://www.example.com/") for _ in range(2)))
    assert site.paths == ["/robots.txt", "/", "/"]
    robots, first, second = (asked.at for asked in site.asked)
    assert keep_apart((robots, first), begun, 0.1)
    assert second >= begun + 0.1 + 0.4


async def test_domains_that_nobody_waits_for_are_forgotten() -> None:
    line = DomainRateLimiter(2)
    async with line.turn("busy.com", 0.0):
        for number in range(fetcher.MAX_DOMAINS + 1):
            async with line.turn(f"{number}.com", 0.0):
                pass
        assert len(line._lines) < 10
        assert "busy.com" in line._lines
