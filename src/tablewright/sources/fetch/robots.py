"""robots.txt as RFC 9309 has it, kept for a day.

| its answer | what we do |
|---|---|
| 2xx | obey it; the first 512 KB count |
| 4xx but 429, a circle of redirects, a redirect to where we may not go | there are no rules |
| 429, 5xx, no answer, rules that cannot be read | nothing is fetched for ten minutes, then it is asked again |
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import httpx2
from protego import Protego

from tablewright.domain.model import Noun
from tablewright.errors import Unreadable
from tablewright.sandbox.limits import MB, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.guard import ForbiddenAddress, host_and_port
from tablewright.sources.fetch.transport import FAILURES, FetchResponse, explain

DAY = 86_400.0
SOON = 600.0
MOST_REDIRECTS = 5
MOST_BYTES = 512_000
LONGEST_DELAY = 10.0
MANY = 1_000
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
