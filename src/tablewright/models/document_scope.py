"""Which of the user's documents an answer is made from, so that it can be forgotten with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_about: ContextVar[tuple[str, ...]] = ContextVar("about", default=())


@contextmanager
def concerning(documents: Sequence[str]) -> Iterator[None]:
    """Inside, models are asked about these documents."""
    token = _about.set((*_about.get(), *documents))
    try:
        yield
    finally:
        _about.reset(token)


def concerned() -> tuple[str, ...]:
    return _about.get()
