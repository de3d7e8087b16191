"""Events of this process for listeners: counts, spans, and which providers answer.

Without a listener it costs next to nothing. `logs` shows the run of each line, and each outage and recovery;
`telemetry` exports counts and spans.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Literal, Protocol, TypeAlias

log = logging.getLogger(__name__)

EventName: TypeAlias = Literal[
    "rows", "cells", "model_calls", "tokens", "dollars", "searches", "pages", "cache_hits", "failures"
]


class Listener(Protocol):
    def count(self, name: EventName, amount: float, labels: Mapping[str, str]) -> None: ...

    def span(self, name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[None]: ...


_listeners: list[Listener] = []
_run: ContextVar[str] = ContextVar("run", default="")


@contextmanager
def register_listener(listener: Listener) -> Iterator[None]:
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def count_event(name: EventName, amount: float = 1, **labels: str) -> None:
    for listener in _listeners:
        listener.count(name, amount, labels)


@contextmanager
def trace_span(name: str, **attributes: str | int) -> Iterator[None]:
    if not _listeners:
        yield
        return
    with ExitStack() as stack:
        for listener in _listeners:
            stack.enter_context(listener.span(name, attributes))
        yield


@contextmanager
def working_on(run_id: str) -> Iterator[None]:
    """Assign what is logged inside, in this task and those it starts, to the run."""
    token = _run.set(run_id)
    try:
        with trace_span("run", run=run_id):
            yield
    finally:
        _run.reset(token)


def current_run() -> str:
    return _run.get()


class Availability:
    """The availability of one provider: one log line when it stops answering, and one when it answers again."""

    def __init__(self, kind: str, provider: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._kind, self._provider, self._clock = kind, provider, clock
        self._since: float | None = None
        self._lock = threading.Lock()

    def failed(self, cause: str) -> None:
        count_event("failures", kind=self._kind, provider=self._provider)
        with self._lock:
            if self._since is not None:
                return
            self._since = self._clock()
        log.warning("Outage: the %s %s does not answer: %s", self._kind, self._provider, cause)

    def answered(self) -> None:
        # Without the lock: it is called after every request, and almost always there is nothing to do.
        if self._since is None:
            return
        with self._lock:
            since, self._since = self._since, None
        if since is not None:
            away = self._clock() - since
            # A warning too, so that a log which shows only warnings also shows the end.
            log.warning("Recovered: the %s %s answers again after %.1f s.", self._kind, self._provider, away)


@cache
def availability_of(kind: str, provider: str) -> Availability:
    """Return the same object for all runs of this process, so that an outage is logged once."""
    return Availability(kind, provider)
