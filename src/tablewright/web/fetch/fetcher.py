"""The polite fetcher: get pages from the web within the rules of docs/fetching.md.

`fetch` never raises because of a site. It returns the page (`Fetched`), or a `Refusal` that tells people if the site
refused, our own rules forbid it, or it failed. robots.txt is obeyed as in RFC 9309, and cached for a day:

| its response | effect |
|---|---|
| 2xx | obey it; the first 512 KB count |
| 4xx except 429, a redirect loop, a redirect to a forbidden address | there are no rules |
| 429, 5xx, no response, unreadable rules | nothing is fetched for ten minutes, then it is requested again |
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import httpcore2
import httpx2
from protego import Protego

from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Refusal
from tablewright.domain.run import Usage, record_usage
from tablewright.errors import Unreadable
from tablewright.llm.pace import Slots, take_slot
from tablewright.observe import count_event, trace_span
from tablewright.retry_after import read_retry_after
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.threads import SingleFlight
from tablewright.web.fetch.blocked import explain_block
from tablewright.web.fetch.guard import (
    CUT,
    FAILURES,
    AddressGuard,
    FetchResponse,
    ForbiddenAddress,
    Resolve,
    Transport,
    describe_failure,
    parse_fetch_url,
    read_page_response,
    read_response_start,
    registrable_domain,
    split_host_port,
)

# As RFC 9309 recommends for robots.txt; pages rarely need three.
MOST_REDIRECTS = 5
# A site that asks for a longer pause before a retry is given up for this run.
LONGEST_WAIT_SECONDS = 10.0

RefusalReason: TypeAlias = Literal["blocked", "forbidden", "error"]


@dataclass(frozen=True, kw_only=True)
class FetchPolicy:
    allow: frozenset[str] = frozenset()
    """Private hosts, or host:port, that may be fetched."""
    delay: float = 0.5
    """Seconds between the starts of two requests to one registrable domain."""
    per_domain: int = 2
    """The number of simultaneous requests to one registrable domain."""
    robots: bool = True
    max_bytes: int = 10_000_000
    timeout: float = 30.0
    """Seconds that a site may take for a page with all redirects; time in our own queue is not counted."""
    user_agent: str = field(
        default_factory=lambda: f"Tablewright/{version('tablewright')} (+https://tablewright.example/fetching)"
    )
    names: Mapping[str, str] = field(default_factory=dict)
    """Host suffixes that the program serves itself, with their address: {"example": "127.0.0.1:8765"}."""
    world: str = ""
    """Name and edition of the world behind these names."""

    @property
    def rules(self) -> str:
        """Return everything that decides if a page may be fetched, as a cache key."""
        return repr((sorted(self.allow), self.robots, self.max_bytes))

    def is_private(self, address: str) -> bool:
        """Return True for an address on this machine or allowed by name, and for a search setting that contains one."""
        name, _, argument = address.partition(":")
        parts = urlsplit(address if name in ("http", "https") else argument)
        host = parts.hostname or ""
        return host in ("127.0.0.1", "localhost", "::1") or host in self.allow or parts.netloc.lower() in self.allow

    def serves(self, address: str) -> bool:
        """Return True for a page that the program serves itself."""
        host = urlsplit(address).hostname or ""
        return any(host == suffix or host.endswith(f".{suffix}") for suffix in self.names)


class Fetched(Struct, frozen=True):
    """A page as received: a status of 2xx, or 304 without a body if it is unchanged."""

    url: str
    final_url: str
    status: int
    content_type: str = ""
    charset: str = ""
    body: bytes = b""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False
    headers: Mapping[str, str] = {}


class Fetcher:
    """A fetcher with its connections, closed after use: `async with Fetcher(policy) as fetcher`.

    `resolve` looks names up and `wire` opens connections; both default to the system's. With `slots`, the delay between
    requests to a domain holds for all processes that share them."""

    def __init__(
        self,
        policy: FetchPolicy | None = None,
        *,
        resolve: Resolve | None = None,
        wire: httpcore2.AsyncNetworkBackend | None = None,
        slots: Slots | None = None,
    ) -> None:
        self._policy = policy or FetchPolicy()
        self._guard = AddressGuard(allow=self._policy.allow, names=self._policy.names, resolve=resolve)
        self._transport = Transport(self._guard, wire)
        self._turns = DomainRateLimiter(self._policy.per_domain, slots)
        self._robots = RobotsCache(self._ask_robots, self._policy.user_agent.partition("/")[0])

    async def __aenter__(self) -> Fetcher:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._robots.close()
        await self._transport.aclose()

    async def fetch(self, url: str, *, etag: str = "", last_modified: str = "") -> Fetched | Refusal:
        """Return the page or a refusal. With `etag` or `last_modified`, an unchanged page comes without its body."""
        trip = FetchTrip(
            url, patience=SiteDeadline(self._policy.timeout), validators=conditional_headers(etag, last_modified)
        )
        try:
            with trace_span("page"):
                return await self._follow(trip)
        except ForbiddenAddress as rule:
            return trip.refusal("forbidden", str(rule))
        except TimeoutError:
            count_event("failures", kind="page", provider="web")
            return trip.refusal("error", f"the site did not answer in full within {self._policy.timeout:g} s")
        except FAILURES as failure:
            count_event("failures", kind="page", provider="web")
            return trip.refusal("error", describe_failure(failure))

    async def _follow(self, trip: FetchTrip) -> Fetched | Refusal:
        target = parse_fetch_url(trip.url)
        for _ in range(MOST_REDIRECTS + 1):
            self._guard.check(target)
            delay = self._policy.delay
            if self._policy.robots:
                rules = await self._robots.verdict(target)
                if rules.problem:
                    return trip.refusal("error", f"its robots.txt could not be read ({rules.problem})", rules.status)
                if not rules.permitted:
                    raise ForbiddenAddress("the site's robots.txt asks not to fetch it")
                delay = max(delay, rules.delay)
            answer = await self._ask(target, trip, delay)
            if not answer.location:
                return judge_response(answer, target, trip)
            try:
                target = target.join(answer.location)
            except (httpx2.InvalidURL, ValueError):
                raise ForbiddenAddress("it redirects to something that is no web address") from None
        return trip.refusal("error", f"it redirects more than {MOST_REDIRECTS} times")

    async def _ask_robots(self, target: httpx2.URL) -> FetchResponse:
        self._guard.check(target)
        patience = SiteDeadline(min(LONGEST_WAIT_SECONDS, self._policy.timeout))
        return await self._ask(target, FetchTrip(str(target), patience=patience, for_page=False), self._policy.delay)

    async def _ask(self, target: httpx2.URL, trip: FetchTrip, delay: float) -> FetchResponse:
        """Request with one retry per trip: after a cut connection, or if the site asks for a short pause."""
        try:
            answer = await self._request(target, trip, delay)
        except CUT:
            if not trip.take_retry():
                raise
            return await self._request(target, trip, delay)
        wait = read_retry_after(answer.headers) if answer.status in (429, 503) else None
        if wait is None or wait > LONGEST_WAIT_SECONDS or not trip.take_retry():
            return answer
        await asyncio.sleep(wait)
        return await self._request(target, trip, delay)

    async def _request(self, target: httpx2.URL, trip: FetchTrip, delay: float) -> FetchResponse:
        if self._guard.is_trusted(*split_host_port(target)):
            delay = 0.0
        async with self._turns.turn(registrable_domain(str(target)), delay), trip.patience.running():
            headers = {
                "User-Agent": self._policy.user_agent,
                # Formats that the readers can read, pages first.
                "Accept": "text/html, application/xhtml+xml, application/pdf, text/*;q=0.8, application/json;q=0.8, "
                "application/xml;q=0.8",
                "Accept-Encoding": "gzip, deflate",
            }
            request = httpx2.Request("GET", target, headers=headers | dict(trip.validators))
            trip.cookies.set_cookie_header(request)
            response = await self._transport.send(request)
            if trip.for_page:
                record_usage(Usage(fetches=1))
                count_event("pages")
            try:
                trip.cookies.extract_cookies(response)
                if not trip.for_page:
                    # RFC 9309 requires 500 KiB at least.
                    return await read_response_start(response, 512_000)
                if not response.is_success:
                    # Enough to recognise a challenge.
                    return await read_response_start(response, 100_000)
                return await read_page_response(response, self._policy.max_bytes)
            finally:
                await response.aclose()


class SiteDeadline:
    """A deadline that counts only the time that the site takes, not the time in our queue."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            async with asyncio.timeout(max(self._left, 0.0)):
                yield
        finally:
            self._left -= time.monotonic() - started


@dataclass
class FetchTrip:
    """One fetch from the first request to the last, with its cookies: some sites redirect forever without them."""

    url: str
    patience: SiteDeadline
    validators: Mapping[str, str] = field(default_factory=dict)
    for_page: bool = True
    cookies: httpx2.Cookies = field(default_factory=httpx2.Cookies)
    retried: bool = False

    def take_retry(self) -> bool:
        """Return True if a retry was left, and use it up."""
        had_one, self.retried = not self.retried, True
        return had_one

    def refusal(self, reason: RefusalReason, detail: str, status: int | None = None) -> Refusal:
        """Return a refusal with a short detail: a site can send a content type of 100 KB."""
        return Refusal(origin=self.url, reason=reason, detail=detail[:300], status=status)


def conditional_headers(etag: str, last_modified: str) -> dict[str, str]:
    given = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in given.items() if value and value.isascii() and value.isprintable()}


def judge_response(answer: FetchResponse, target: httpx2.URL, trip: FetchTrip) -> Fetched | Refusal:
    # `dict(answer.headers)` takes quadratic time, and there can be thousands of headers.
    status, headers = answer.status, dict(answer.headers.multi_items())
    not_modified = status == 304 and bool(trip.validators)
    if answer.is_success or not_modified:
        return Fetched(
            url=trip.url,
            final_url=str(target.copy_with(fragment=None)),
            status=status,
            content_type=answer.content_type,
            charset=answer.charset,
            body=answer.body,
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
            not_modified=not_modified,
            headers=headers,
        )
    why = explain_block(status, headers, answer.body.decode("utf-8", "replace"), "")
    if status >= 400 and why:
        return trip.refusal("blocked", why, status)
    if status in (404, 410):
        return trip.refusal("error", f"the page does not exist ({status})", status)
    return trip.refusal("error", f"the site answered with an error ({status})", status)


# Domains that are remembered; idle ones are dropped beyond it.
MAX_DOMAINS = 1_000


class DomainQueue:
    """The queue of requests to one domain."""

    def __init__(self, at_once: int) -> None:
        self.slots = asyncio.Semaphore(at_once)
        self.users = 0
        self.next_start = 0.0

    async def wait(self, delay: float) -> None:
        now = time.monotonic()
        start = max(now, self.next_start)
        self.next_start = start + delay
        if start > now:
            await asyncio.sleep(start - now)


class DomainRateLimiter:
    """Limit the requests to each domain: how many at once, and how soon after the last.

    With `slots`, the delay holds for all processes that share them; the number at once is for each process."""

    def __init__(self, at_once: int, slots: Slots | None = None) -> None:
        self._at_once = at_once
        self._slots = slots
        self._lines: dict[str, DomainQueue] = {}

    @asynccontextmanager
    async def turn(self, domain: str, delay: float) -> AsyncIterator[None]:
        """Wait until `domain` may be requested; the next request waits for `delay` seconds more."""
        line = self._line(domain)
        line.users += 1
        try:
            async with line.slots:
                if self._slots is None:
                    await line.wait(delay)
                elif delay:
                    await take_slot(self._slots, f"domain {domain}", delay)
                yield
        finally:
            line.users -= 1

    def _line(self, domain: str) -> DomainQueue:
        if len(self._lines) >= MAX_DOMAINS and domain not in self._lines:
            now = time.monotonic()
            self._lines = {name: line for name, line in self._lines.items() if line.users or line.next_start > now}
        return self._lines.setdefault(domain, DomainQueue(self._at_once))


# ── robots.txt ───────────────────────────────────────────────────────────────────────────────────────────────────────

# How long rules are valid, and how long unreadable rules forbid everything.
RULES_SECONDS, UNREADABLE_RULES_SECONDS = 86_400.0, 600.0
# A site may ask for more, but a run would take days.
LONGEST_DELAY_SECONDS = 10.0
LIMITS = SandboxLimits(seconds=10, memory=1_000 * MEBIBYTE)

Origin: TypeAlias = tuple[str, str, int]


class RobotsVerdict(Struct, frozen=True):
    """The verdict of the rules on one address."""

    permitted: bool = True
    delay: float = 0.0
    """The seconds between two requests that the site asks for, up to a limit."""
    problem: str = ""
    """The reason if robots.txt could not be read; then nothing may be fetched."""
    status: int | None = None


@dataclass(frozen=True)
class RobotsRules:
    text: bytes = b""
    problem: str = ""
    status: int | None = None


def apply_robots(text: bytes, agent: str, url: str) -> RobotsVerdict:
    rules = _parse_robots(text)
    return RobotsVerdict(
        permitted=rules.can_fetch(url, agent), delay=min(rules.crawl_delay(agent) or 0.0, LONGEST_DELAY_SECONDS)
    )


@lru_cache(maxsize=64)
def _parse_robots(text: bytes) -> Protego:
    return Protego.parse(text.decode("utf-8-sig", "replace"))


class RobotsCache:
    def __init__(self, ask: Callable[[httpx2.URL], Awaitable[FetchResponse]], agent: str) -> None:
        self._ask = ask
        self._agent = agent
        self._known: dict[Origin, tuple[RobotsRules, float]] = {}
        self._asking: SingleFlight[RobotsRules] = SingleFlight()
        self._sandbox = Sandbox(LIMITS, workers=1)

    async def close(self) -> None:
        await self._asking.close()
        await self._sandbox.close()

    async def verdict(self, url: httpx2.URL) -> RobotsVerdict:
        """Return the verdict on an address. May raise `ForbiddenAddress`."""
        rules = await self._rules(url)
        if rules.problem or not rules.text:
            return RobotsVerdict(problem=rules.problem, status=rules.status)
        # Matching long rules can take very long, so a worker process with a time limit does it.
        if len(rules.text) <= 4_000:
            return apply_robots(rules.text, self._agent, str(url))
        try:
            return await self._sandbox.run("it", apply_robots, rules.text, self._agent, str(url))
        except Unreadable as problem:
            verdict = RobotsRules(problem=problem.what.rstrip("."))
            self._remember((url.scheme, *split_host_port(url)), verdict)
            return RobotsVerdict(problem=verdict.problem)

    async def _rules(self, url: httpx2.URL) -> RobotsRules:
        """Return the rules of an origin, requested once however many of its pages are needed at the same time."""
        origin = (url.scheme, *split_host_port(url))
        rules, until = self._known.get(origin, (RobotsRules(), 0.0))
        if time.monotonic() < until:
            return rules
        robots_url = url.copy_with(raw_path=b"/robots.txt", fragment=None)
        rules = await (self._asking.join(origin) or self._asking.start(origin, self._read(robots_url)))
        self._remember(origin, rules)
        return rules

    def _remember(self, origin: Origin, rules: RobotsRules) -> None:
        if len(self._known) >= MAX_DOMAINS:
            del self._known[next(iter(self._known))]
        self._known[origin] = (rules, time.monotonic() + (UNREADABLE_RULES_SECONDS if rules.problem else RULES_SECONDS))

    async def _read(self, url: httpx2.URL) -> RobotsRules:
        no_rules = RobotsRules()
        for hop in range(MOST_REDIRECTS + 1):
            try:
                answer = await self._ask(url)
            except ForbiddenAddress:
                if hop == 0:
                    raise
                return no_rules
            except FAILURES as failure:
                return RobotsRules(problem=describe_failure(failure))
            if answer.is_success:
                return RobotsRules(answer.body)
            if not answer.location:
                break
            try:
                url = url.join(answer.location)
            except (httpx2.InvalidURL, ValueError):
                return no_rules
        if answer.status == 429 or answer.status >= 500:
            return RobotsRules(problem=f"status {answer.status}", status=answer.status)
        return no_rules
