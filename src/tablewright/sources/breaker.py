"""The circuit breaker: search, the web or the model that fails again and again pauses the run.

It sees every request that a strategy makes, because it wraps the tools that strategies are given; answers from the
cache prove nothing and are not counted. Success resets the count. Once it is open, rows under way are told at once
instead of waiting for what does not answer. A single dead site is not a dead web, and a row whose
searches are refused is not a dead search: failed pages count once a host, failed searches and model calls once a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from tablewright.domain.model import Noun, RowId
from tablewright.domain.retrieved import Refusal, Retrieved, is_document
from tablewright.domain.run import metered
from tablewright.errors import ModelError, ModelUnavailable, OverBudget, SearchError
from tablewright.sources.source import Query, Searched, Source

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

Part: TypeAlias = Literal["search", "web", "model"]

PAUSE_AFTER = 5
"""Rows, or sites, that fail one after the other."""
SITES = 2
"""Hosts, or rows of one host, that must have failed, and none answered, for a run at its end to call the web dead."""


class Outage(Noun, frozen=True):
    """What fails, why in its own words, and what to do about it."""

    part: Part
    failures: int
    cause: str
    advice: str = ""

    def __str__(self) -> str:
        count = self.failures
        if self.part == "web":
            what = "No page could be opened" + (f" on {count} sites in a row" if count > 1 else "")
        else:
            what = f"The {self.part} failed" + (f" {count} times in a row" if count > 1 else "")
        return " ".join(filter(None, (f"{what}: {self.cause.rstrip('.')}.", self.advice)))


class CircuitBreaker:
    """For all rows of a run in this process. Once open it stays open: whoever resumes the run has a new one. Without a
    limit it never opens, for runs that ask nobody."""

    def __init__(self, limit: int | None = PAUSE_AFTER) -> None:
        self._limit = limit
        self._failures: dict[Part, list[str]] = {"search": [], "web": [], "model": []}
        self._last: dict[Part, tuple[str, str]] = {}
        self._answered: set[Part] = set()
        self.outage: Outage | None = None

    def failed(self, part: Part, cause: str, advice: str = "", *, by: str = "") -> None:
        """`by` is the row or the host, which counts once; each failure counts where nobody knows."""
        if self._limit is None:
            return
        failures = self._failures[part]
        if not by or by not in failures:
            failures.append(by)
        self._last[part] = (cause, advice)
        if len(failures) >= self._limit:
            self.open(part)

    def worked(self, part: Part) -> None:
        self._failures[part].clear()
        self._answered.add(part)

    def is_failing(self, part: Part) -> bool:
        """Return True if the last request failed."""
        return bool(self._failures[part])

    def is_dead(self, part: Part, rows: int = 0) -> bool:
        """Return True if it is out of order, as far as a run can tell that has nothing else to ask: it never answered,
        and so many rows lack it. What did answer, and fails for a few rows alone, is theirs to say."""
        failures = len(self._failures[part])
        enough = max(failures, rows) >= SITES if part == "web" else True
        return part not in self._answered and failures > 0 and enough

    def dead(self) -> Outage | None:
        """Return what never answered, of all that was asked, once everything is over."""
        return next((self._outage(part) for part in self._failures if self.is_dead(part)), None)

    def open(self, part: Part) -> None:
        self.outage = self.outage or self._outage(part)

    def _outage(self, part: Part) -> Outage:
        cause, advice = self._last[part]
        return Outage(part=part, failures=len(self._failures[part]), cause=cause, advice=advice)

    def out(self, part: Part) -> Outage | None:
        """The outage of this part, for whoever would ask it."""
        return self.outage if self.outage is not None and self.outage.part == part else None


@dataclass
class RowFailures:
    """What one row could not reach."""

    row: str = ""
    searches: int = 0
    model_calls: int = 0
    pages_failed: int = 0
    pages_read: int = 0
    cause: str = ""
    """Of the last failed search or model call, in its own words."""

    def parts(self, *, complete: bool) -> frozenset[Part]:
        """Return what it takes to answer the row in full. A row that is `complete` lacks at most what the model would
        say."""
        parts: list[Part] = ["model"] if self.model_calls else []
        parts += ["search"] if self.searches and not complete else []
        parts += ["web"] if self.pages_failed and not self.pages_read and not complete else []
        return frozenset(parts)


_row: ContextVar[RowFailures | None] = ContextVar("row_failures", default=None)


@contextmanager
def row_failures(row_id: RowId) -> Iterator[RowFailures]:
    """What fails inside, in this task and those it starts, also where several rows wait for one request."""
    failures = RowFailures(row=str(row_id))
    token = _row.set(failures)
    try:
        yield failures
    finally:
        _row.reset(token)


class WatchedSource:
    def __init__(self, source: Source, breaker: CircuitBreaker) -> None:
        self._source = source
        self._breaker = breaker

    async def search(self, query: Query) -> Searched:
        row = _row.get() or RowFailures()
        if (outage := self._breaker.out("search")) is not None:
            row.searches += 1
            row.cause = outage.cause
            raise SearchError(outage.cause, advice=outage.advice)
        with metered() as meter:
            try:
                found = await self._source.search(query)
            except OverBudget:
                raise
            except SearchError as error:
                row.searches += 1
                row.cause = error.what
                self._breaker.failed("search", error.what, error.advice, by=row.row)
                raise
        if meter.usage.searches:
            self._breaker.worked("search")
        return found

    async def open(self, origin: str) -> Retrieved | Refusal:
        return await self._seen(origin, again=False)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        return await self._seen(origin, again=True)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self._source.keep(snippet)

    async def _seen(self, origin: str, *, again: bool) -> Retrieved | Refusal:
        row = _row.get() or RowFailures()
        if (outage := self._breaker.out("web")) is not None and not is_document(origin):
            row.pages_failed += 1
            return Refusal(origin=origin, reason="error", detail=outage.cause)
        with metered() as meter:
            page = await (self._source.open_again(origin) if again else self._source.open(origin))
        if is_document(origin):
            return page
        if isinstance(page, Refusal) and page.is_outage:
            host = urlsplit(origin).netloc
            self._breaker.failed("web", f"{host}: {page.detail}", "Check the network.", by=host)
            row.pages_failed += 1
        else:
            row.pages_read += isinstance(page, Retrieved)
            if meter.usage.fetches:
                self._breaker.worked("web")
        return page


def watched_model(model: LanguageModel | None, breaker: CircuitBreaker) -> LanguageModel | None:
    if model is None:
        return None
    from tablewright.models.layer import Observed  # with what models stand on, which a computation does not load

    def failed(error: ModelError) -> None:
        row = _row.get() or RowFailures()
        row.model_calls += 1
        row.cause = error.what
        breaker.failed("model", error.what, error.advice, by=row.row)

    def out() -> None:
        if (outage := breaker.out("model")) is not None:
            raise ModelUnavailable(outage.cause, advice=outage.advice)

    watched = copy(model)
    watched.agent_model = Observed(
        model.agent_model, before=out, answered=lambda: breaker.worked("model"), failed=failed
    )
    return watched
