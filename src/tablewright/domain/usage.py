"""What work takes, in the units people pay and wait in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tablewright.domain.model import Noun


class Usage(Noun, frozen=True, omit_defaults=False):
    llm_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    """Those of `input_tokens` that the provider had in its own prompt cache, and charged less for."""
    output_tokens: int = 0
    searches: int = 0
    fetches: int = 0
    cache_hits: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class Meter:
    """Adds up the usage of one piece of work."""

    def __init__(self) -> None:
        self.usage = Usage()


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("meters", default=())


@contextmanager
def metered(meter: Meter | None = None) -> Iterator[Meter]:
    """Everything spent inside, in this task and the tasks it starts, is counted; meters may be nested."""
    meter = meter or Meter()
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)


def spend(usage: Usage) -> None:
    """Told by models and sources wherever something is used up."""
    for meter in _meters.get():
        meter.usage += usage


# ── before it is spent ──────────────────────────────────────────────────────────────────────────────────────────────


class EstimateRange(Noun, frozen=True, omit_defaults=False):
    low: float
    likely: float
    high: float


class Estimate(Noun, frozen=True, omit_defaults=False):
    rows: int
    """Rows and cells that need work."""
    cells: int
    model: str
    """"" without one."""
    calls: EstimateRange
    input_tokens: EstimateRange
    output_tokens: EstimateRange
    searches: int
    pages: int
    cost_usd: EstimateRange | None
    """None: the price of the model is not known."""
    seconds: float
    from_rows: int
    """Rows of earlier runs that it is learned from; 0: it is the strategy's own guess."""
