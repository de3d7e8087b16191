"""robots.txt as RFC 9309 has it, kept for a day.

| its answer | what we do |
|---|---|
| 2xx | obey it; the first 512 KB count |
| 4xx but 429, a circle of redirects, a redirect to where we may not go | there are no rules |
| 429, 5xx, no answer | nothing is fetched from there for ten minutes, then it is asked again |
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import httpx2
from protego import Protego

from tablewright.sources.fetch.answer import Answer
from tablewright.sources.fetch.guard import Forbidden, host_and_port
from tablewright.sources.fetch.transport import FAILURES, explain

DAY = 86_400.0
SOON = 600.0
MOST_REDIRECTS = 5
MOST_BYTES = 512_000
LONGEST_DELAY = 10.0
MANY = 1_000

Origin: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True)
class Rules:
    agent: str
    parsed: Protego | None = None
    problem: str = ""
    """Why robots.txt could not be read; then nothing may be fetched."""
    status: int | None = None

    def permits(self, url: httpx2.URL) -> bool:
        return self.parsed is None or self.parsed.can_fetch(str(url), self.agent)

    @property
    def delay(self) -> float:
        """The seconds between two requests that the site asks for, within reason."""
        asked = self.parsed.crawl_delay(self.agent) if self.parsed else None
        return min(asked or 0.0, LONGEST_DELAY)


class Robots:
    def __init__(self, ask: Callable[[httpx2.URL], Awaitable[Answer]], agent: str) -> None:
        self._ask = ask
        self._agent = agent
        self._known: dict[Origin, tuple[Rules, float]] = {}
        self._asking: dict[Origin, asyncio.Lock] = {}

    async def rules(self, url: httpx2.URL) -> Rules:
        """Asked for once, however many pages of the origin are wanted at the same time. May raise Forbidden."""
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

    def _remembered(self, origin: Origin) -> Rules | None:
        rules, until = self._known.get(origin, (None, 0.0))
        return rules if time.monotonic() < until else None

    def _remember(self, origin: Origin, rules: Rules) -> None:
        if len(self._known) >= MANY:
            del self._known[next(iter(self._known))]
        self._known[origin] = (rules, time.monotonic() + (SOON if rules.problem else DAY))

    async def _read(self, url: httpx2.URL) -> Rules:
        no_rules = Rules(self._agent)
        for hop in range(MOST_REDIRECTS + 1):
            try:
                answer = await self._ask(url)
            except Forbidden:
                if hop == 0:
                    raise
                return no_rules
            except FAILURES as failure:
                return Rules(self._agent, problem=explain(failure))
            if answer.is_success:
                return Rules(self._agent, Protego.parse(answer.body.decode("utf-8-sig", "replace")))
            if not answer.location:
                break
            try:
                url = url.join(answer.location)
            except (httpx2.InvalidURL, ValueError):
                return no_rules
        if answer.status == 429 or answer.status >= 500:
            return Rules(self._agent, problem=f"status {answer.status}", status=answer.status)
        return no_rules
