"""Which of the user's documents an answer is made from, so that it can be forgotten with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tablewright.domain.retrieved import is_document

_about: ContextVar[tuple[str, ...]] = ContextVar("about", default=())


@contextmanager
def concerning(origins: Iterable[str]) -> Iterator[None]:
    """Inside, models are asked about the documents among these."""
    token = _about.set((*_about.get(), *filter(is_document, origins)))
    try:
        yield
    finally:
        _about.reset(token)


def concerned() -> tuple[str, ...]:
    return _about.get()
