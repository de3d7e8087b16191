"""The circuit breaker: pause a run if search, the web or the model fails again and again.

It wraps the tools of strategies, so it sees every request; answers from the cache prove nothing and do not count.
Success resets the count. Once it is open, requests fail at once instead of waiting for a dead service. A single dead
site is not a dead web, and one row with refused searches is not a dead search: failed pages count once per host, failed
searches and model calls once per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from tablewright.domain.model import RowId, Struct
from tablewright.domain.retrieved import Refusal, Retrieved, is_document_id
from tablewright.domain.run import measure_usage
from tablewright.errors import ModelError, ModelUnavailable, OverBudget, SearchError
from tablewright.web.source import Query, SearchResponse, Source

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

Part: TypeAlias = Literal["search", "web", "model"]

# So many rows or sites in a row do not fail by chance.
PAUSE_AFTER_FAILURES = 5


class Outage(Struct, frozen=True):
    """The part that fails, the cause in its own words, and advice."""

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
    """One for all rows of a run in this process. Once open it stays open; a resumed run gets a new one.

    Without a limit it never opens, for runs that send no requests."""

    def __init__(self, limit: int | None = PAUSE_AFTER_FAILURES) -> None:
        self._limit = limit
        self._failures: dict[Part, list[str]] = {"search": [], "web": [], "model": []}
        self._last: dict[Part, tuple[str, str]] = {}
        self._answered: set[Part] = set()
        self.outage: Outage | None = None

    def record_failure(self, part: Part, cause: str, advice: str = "", *, by: str = "") -> None:
        """Count a failure. `by` is the row or the host, which counts once; without it each failure counts."""
        if self._limit is None:
            return
        failures = self._failures[part]
        if not by or by not in failures:
            failures.append(by)
        self._last[part] = (cause, advice)
        if len(failures) >= self._limit:
            self.trip(part)

    def record_success(self, part: Part) -> None:
        self._failures[part].clear()
        self._answered.add(part)

    def is_failing(self, part: Part) -> bool:
        """Return True if the last request failed."""
        return bool(self._failures[part])

    def never_answered(self, part: Part, rows: int = 0) -> bool:
        """Return True if the part is down as far as a run with nothing else to ask can tell: it has never answered.

        A service that has answered is not considered down. `rows` is the number of rows that lack the part."""
        failures = len(self._failures[part])
        # One host that does not answer is no reason to call the web dead.
        enough = max(failures, rows) >= 2 if part == "web" else True
        return part not in self._answered and failures > 0 and enough

    def find_outage(self) -> Outage | None:
        """Return the outage of a part that has never answered, at the end of a run."""
        return next((self._outage(part) for part in self._failures if self.never_answered(part)), None)

    def trip(self, part: Part) -> None:
        self.outage = self.outage or self._outage(part)

    def _outage(self, part: Part) -> Outage:
        cause, advice = self._last[part]
        return Outage(part=part, failures=len(self._failures[part]), cause=cause, advice=advice)

    def outage_of(self, part: Part) -> Outage | None:
        """Return the outage if this part is the one that is down."""
        return self.outage if self.outage is not None and self.outage.part == part else None


@dataclass
class RowFailures:
    """Counts of failed requests of one row."""

    row: str = ""
    searches: int = 0
    model_calls: int = 0
    pages_failed: int = 0
    pages_read: int = 0
    cause: str = ""
    """The message of the last failed search or model call."""

    def parts(self, *, complete: bool) -> frozenset[Part]:
        """Return the parts that the row still needs. A `complete` row lacks at most the model."""
        parts: list[Part] = ["model"] if self.model_calls else []
        parts += ["search"] if self.searches and not complete else []
        parts += ["web"] if self.pages_failed and not self.pages_read and not complete else []
        return frozenset(parts)


_row: ContextVar[RowFailures | None] = ContextVar("row_failures", default=None)


@contextmanager
def track_row_failures(row_id: RowId) -> Iterator[RowFailures]:
    """Count the failures inside, in this task and those it starts, also if several rows wait for one request."""
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

    async def search(self, query: Query) -> SearchResponse:
        row = _row.get() or RowFailures()
        if (outage := self._breaker.outage_of("search")) is not None:
            row.searches += 1
            row.cause = outage.cause
            raise SearchError(outage.cause, advice=outage.advice)
        with measure_usage() as meter:
            try:
                found = await self._source.search(query)
            except OverBudget:
                raise
            except SearchError as error:
                row.searches += 1
                row.cause = error.what
                self._breaker.record_failure("search", error.what, error.advice, by=row.row)
                raise
        if meter.usage.searches:
            self._breaker.record_success("search")
        return found

    async def open(self, origin: str) -> Retrieved | Refusal:
        return await self._seen(origin, again=False)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        return await self._seen(origin, again=True)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self._source.keep(snippet)

    async def _seen(self, origin: str, *, again: bool) -> Retrieved | Refusal:
        row = _row.get() or RowFailures()
        if (outage := self._breaker.outage_of("web")) is not None and not is_document_id(origin):
            row.pages_failed += 1
            return Refusal(origin=origin, reason="error", detail=outage.cause)
        with measure_usage() as meter:
            page = await (self._source.open_again(origin) if again else self._source.open(origin))
        if is_document_id(origin):
            return page
        if isinstance(page, Refusal) and page.is_outage:
            host = urlsplit(origin).netloc
            self._breaker.record_failure("web", f"{host}: {page.detail}", "Check the network.", by=host)
            row.pages_failed += 1
        else:
            row.pages_read += isinstance(page, Retrieved)
            if meter.usage.fetches:
                self._breaker.record_success("web")
        return page


def watch_model(
    model: LanguageModel | None,
    breaker: CircuitBreaker,
    turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> LanguageModel | None:
    """Return the same model, reporting its failures to the breaker; each request is made inside a `turn`."""
    if model is None:
        return None
    # Here, because runs of computations do not load the model packages.
    from tablewright.llm.wrappers import Observed

    def failed(error: ModelError) -> None:
        row = _row.get() or RowFailures()
        row.model_calls += 1
        row.cause = error.what
        breaker.record_failure("model", error.what, error.advice, by=row.row)

    def out() -> None:
        if (outage := breaker.outage_of("model")) is not None:
            raise ModelUnavailable(outage.cause, advice=outage.advice)

    watched = copy(model)
    watched.asked = Observed(
        model.asked, before=out, answered=lambda: breaker.record_success("model"), failed=failed, turn=turn
    )
    return watched
