"""The polite fetcher: one page at a time from the web, within the rules of docs/fetching.md.

`fetch` never raises for what a site does. It returns the page (`Fetched`), or a `Refusal` that says in words whether
the site refused, our own rules forbid it, or it failed. robots.txt is obeyed as RFC 9309 has it, and kept for a day:

| its answer | what we do |
|---|---|
| 2xx | obey it; the first 512 KB count |
| 4xx but 429, a circle of redirects, a redirect to where we may not go | there are no rules |
| 429, 5xx, no answer, rules that cannot be read | nothing is fetched for ten minutes, then it is asked again |
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

from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Refusal
from tablewright.domain.run import Usage, spend
from tablewright.errors import Unreadable
from tablewright.models.pace import Slots, take_slot
from tablewright.observe import count, span
from tablewright.sandbox.limits import MB, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.blocked import why_blocked
from tablewright.sources.fetch.guard import (
    CUT,
    FAILURES,
    AddressGuard,
    FetchResponse,
    ForbiddenAddress,
    Resolve,
    Transport,
    explain,
    host_and_port,
    read_page,
    read_start,
    read_url,
    registrable_domain,
)

MOST_REDIRECTS = 5
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST_WAIT = 10.0
MOST_ERROR_BYTES = 100_000
LONGEST_DETAIL = 300
ACCEPT = (
    "text/html, application/xhtml+xml, application/pdf, text/*;q=0.8, application/json;q=0.8, application/xml;q=0.8"
)
MISSING = frozenset({404, 410})

Why: TypeAlias = Literal["blocked", "forbidden", "error"]


def user_agent() -> str:
    return f"Tablewright/{version('tablewright')} (+https://tablewright.example/fetching)"


@dataclass(frozen=True, kw_only=True)
class FetchPolicy:
    allow: frozenset[str] = frozenset()
    """Hosts, or host:port, that may be fetched although they are private."""
    delay: float = 0.5
    """Seconds between the starts of two requests to one registrable domain."""
    per_domain: int = 2
    """So many requests at once to one registrable domain."""
    robots: bool = True
    max_bytes: int = 10_000_000
    timeout: float = 30.0
    """Seconds that a site may take for a page, redirects and all; our own waiting in line is not counted."""
    user_agent: str = field(default_factory=user_agent)
    names: Mapping[str, str] = field(default_factory=dict)
    """Host suffixes that the program serves itself, and where: {"example": "127.0.0.1:8765"}."""
    world: str = ""
    """What is behind these names, and its edition."""

    @property
    def rules(self) -> str:
        """Everything that decides if a page may be fetched, as a key."""
        return repr((sorted(self.allow), self.robots, self.max_bytes))

    def is_private(self, address: str) -> bool:
        """Return True for an address on this machine or allowed by name, and for a search setting with such an address
        in it."""
        name, _, argument = address.partition(":")
        parts = urlsplit(address if name in ("http", "https") else argument)
        host = parts.hostname or ""
        return host in LOOPBACK or host in self.allow or parts.netloc.lower() in self.allow

    def serves(self, address: str) -> bool:
        """Return True for a page that the program serves itself."""
        host = urlsplit(address).hostname or ""
        return any(host == suffix or host.endswith(f".{suffix}") for suffix in self.names)


class Fetched(Noun, frozen=True):
    """A page as it came: a status of 2xx, or 304 where the validators still held and there is no body."""

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
    """Holds connections, so it is closed after use: `async with Fetcher(policy) as fetcher`. `resolve` looks names up
    and `wire` opens connections; they are the system's own unless something else is given. With `slots`, the
    delay between requests to a domain holds for all processes that share them."""

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
        self._turns = Politeness(self._policy.per_domain, slots)
        self._robots = Robots(self._ask_robots, self._policy.user_agent.partition("/")[0])

    async def __aenter__(self) -> Fetcher:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._robots.close()
        await self._transport.aclose()

    async def fetch(self, url: str, *, etag: str = "", last_modified: str = "") -> Fetched | Refusal:
        """With `etag` or `last_modified` of an earlier fetch, a page that is still the same comes without its body."""
        trip = Trip(url, patience=SiteDeadline(self._policy.timeout), validators=validators(etag, last_modified))
        try:
            with span("page"):
                return await self._follow(trip)
        except ForbiddenAddress as rule:
            return trip.refusal("forbidden", str(rule))
        except TimeoutError:
            count("failures", kind="page", provider="web")
            return trip.refusal("error", f"the site did not answer in full within {self._policy.timeout:g} s")
        except FAILURES as failure:
            count("failures", kind="page", provider="web")
            return trip.refusal("error", explain(failure))

    async def _follow(self, trip: Trip) -> Fetched | Refusal:
        target = read_url(trip.url)
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
                return judge(answer, target, trip)
            try:
                target = target.join(answer.location)
            except (httpx2.InvalidURL, ValueError):
                raise ForbiddenAddress("it redirects to something that is no web address") from None
        return trip.refusal("error", f"it redirects more than {MOST_REDIRECTS} times")

    async def _ask_robots(self, target: httpx2.URL) -> FetchResponse:
        self._guard.check(target)
        patience = SiteDeadline(min(LONGEST_WAIT, self._policy.timeout))
        return await self._ask(target, Trip(str(target), patience=patience, for_page=False), self._policy.delay)

    async def _ask(self, target: httpx2.URL, trip: Trip, delay: float) -> FetchResponse:
        """One polite retry in a whole trip: after a cut connection, or when the site says that it will be short."""
        try:
            answer = await self._request(target, trip, delay)
        except CUT:
            if not trip.take_retry():
                raise
            return await self._request(target, trip, delay)
        wait = answer.retry_after if answer.status in (429, 503) else None
        if wait is None or wait > LONGEST_WAIT or not trip.take_retry():
            return answer
        await asyncio.sleep(wait)
        return await self._request(target, trip, delay)

    async def _request(self, target: httpx2.URL, trip: Trip, delay: float) -> FetchResponse:
        if self._guard.is_trusted(*host_and_port(target)):
            delay = 0.0
        async with self._turns.turn(registrable_domain(str(target)), delay), trip.patience.running():
            request = httpx2.Request("GET", target, headers={**self._headers(), **trip.validators})
            trip.cookies.set_cookie_header(request)
            response = await self._transport.send(request)
            if trip.for_page:
                spend(Usage(fetches=1))
                count("pages")
            try:
                trip.cookies.extract_cookies(response)
                if not trip.for_page:
                    return await read_start(response, MOST_ROBOTS_BYTES)
                if not response.is_success:
                    return await read_start(response, MOST_ERROR_BYTES)
                return await read_page(response, self._policy.max_bytes)
            finally:
                await response.aclose()

    def _headers(self) -> dict[str, str]:
        return {"User-Agent": self._policy.user_agent, "Accept": ACCEPT, "Accept-Encoding": "gzip, deflate"}


class SiteDeadline:
    """Counts only the time that a site takes, not ours in line for a turn."""

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
class Trip:
    """One fetch from the first request to the last. Cookies last as long: some sites turn in a circle without them."""

    url: str
    patience: SiteDeadline
    validators: Mapping[str, str] = field(default_factory=dict)
    for_page: bool = True
    cookies: httpx2.Cookies = field(default_factory=httpx2.Cookies)
    retried: bool = False

    def take_retry(self) -> bool:
        """Return True if there is a retry left; it is then taken."""
        had_one, self.retried = not self.retried, True
        return had_one

    def refusal(self, reason: Why, detail: str, status: int | None = None) -> Refusal:
        """A site's own words, such as a type of 100 KB, do not fill the page of the person who reads it."""
        return Refusal(origin=self.url, reason=reason, detail=detail[:LONGEST_DETAIL], status=status)


def validators(etag: str, last_modified: str) -> dict[str, str]:
    given = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in given.items() if value and value.isascii() and value.isprintable()}


def judge(answer: FetchResponse, target: httpx2.URL, trip: Trip) -> Fetched | Refusal:
    # `dict(answer.headers)` would look each of thousands of headers up among all of them.
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
    why = why_blocked(status, headers, answer.body.decode("utf-8", "replace"), "")
    if status >= 400 and why:
        return trip.refusal("blocked", why, status)
    if status in MISSING:
        return trip.refusal("error", f"the page does not exist ({status})", status)
    return trip.refusal("error", f"the site answered with an error ({status})", status)


MANY = 1_000


class DomainQueue:
    """Those who wait for one domain."""

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


class Politeness:
    """Each domain is asked by a few requests at once, and not too soon after the last. With `slots`, the time in
    between holds for all processes that share them; how many at once is for each process."""

    def __init__(self, at_once: int, slots: Slots | None = None) -> None:
        self._at_once = at_once
        self._slots = slots
        self._lines: dict[str, DomainQueue] = {}

    @asynccontextmanager
    async def turn(self, domain: str, delay: float) -> AsyncIterator[None]:
        """Waits until `domain` may be asked; `delay` is how long whoever comes next has to keep away."""
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
        if len(self._lines) >= MANY and domain not in self._lines:
            now = time.monotonic()
            self._lines = {name: line for name, line in self._lines.items() if line.users or line.next_start > now}
        return self._lines.setdefault(domain, DomainQueue(self._at_once))


# ── robots.txt ───────────────────────────────────────────────────────────────────────────────────────────────────────

DAY = 86_400.0
SOON = 600.0
MOST_ROBOTS_BYTES = 512_000
LONGEST_DELAY = 10.0
SMALL = 4_000
"""Bytes that are read in this process."""
LIMITS = SandboxLimits(seconds=10, memory=1_000 * MB)

Origin: TypeAlias = tuple[str, str, int]


class RobotsVerdict(Noun, frozen=True):
    """What the rules say of one address."""

    permitted: bool = True
    delay: float = 0.0
    """The seconds between two requests that the site asks for, within reason."""
    problem: str = ""
    """Why robots.txt could not be read; then nothing may be fetched."""
    status: int | None = None


@dataclass(frozen=True)
class RobotsRules:
    text: bytes = b""
    problem: str = ""
    status: int | None = None


def verdict_on(text: bytes, agent: str, url: str) -> RobotsVerdict:
    rules = _parsed(text)
    return RobotsVerdict(
        permitted=rules.can_fetch(url, agent), delay=min(rules.crawl_delay(agent) or 0.0, LONGEST_DELAY)
    )


@lru_cache(maxsize=64)
def _parsed(text: bytes) -> Protego:
    return Protego.parse(text.decode("utf-8-sig", "replace"))


class Robots:
    def __init__(self, ask: Callable[[httpx2.URL], Awaitable[FetchResponse]], agent: str) -> None:
        self._ask = ask
        self._agent = agent
        self._known: dict[Origin, tuple[RobotsRules, float]] = {}
        self._asking: dict[Origin, asyncio.Lock] = {}
        self._sandbox = Sandbox(LIMITS, workers=1)

    async def close(self) -> None:
        await self._sandbox.close()

    async def verdict(self, url: httpx2.URL) -> RobotsVerdict:
        """May raise Forbidden. Rules of more than a few lines are read in a worker process: for many agents at once
        they multiply, and each of them may be long to match."""
        rules = await self._rules(url)
        if rules.problem or not rules.text:
            return RobotsVerdict(problem=rules.problem, status=rules.status)
        if len(rules.text) <= SMALL:
            return verdict_on(rules.text, self._agent, str(url))
        try:
            return await self._sandbox.run("it", verdict_on, rules.text, self._agent, str(url))
        except Unreadable as problem:
            verdict = RobotsRules(problem=problem.what.rstrip("."))
            self._remember((url.scheme, *host_and_port(url)), verdict)
            return RobotsVerdict(problem=verdict.problem)

    async def _rules(self, url: httpx2.URL) -> RobotsRules:
        """Asked for once, however many pages of the origin are wanted at the same time."""
        origin = (url.scheme, *host_and_port(url))
        if rules := self._remembered(origin):
            return rules
        lock = self._asking.setdefault(origin, asyncio.Lock())
        try:
            async with lock:
                if rules := self._remembered(origin):
                    return rules
                rules = await self._read(url.copy_with(raw_path=b"/robots.txt", fragment=None))
                self._remember(origin, rules)
                return rules
        finally:
            if not lock.locked():
                self._asking.pop(origin, None)

    def _remembered(self, origin: Origin) -> RobotsRules | None:
        rules, until = self._known.get(origin, (None, 0.0))
        return rules if time.monotonic() < until else None

    def _remember(self, origin: Origin, rules: RobotsRules) -> None:
        if len(self._known) >= MANY:
            del self._known[next(iter(self._known))]
        self._known[origin] = (rules, time.monotonic() + (SOON if rules.problem else DAY))

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
                return RobotsRules(problem=explain(failure))
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
