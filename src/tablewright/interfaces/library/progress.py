"""Show a progress bar while a verb works: in a terminal, or below the cell of a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, TypeAlias

# Least time between two updates of a notebook: each is a message to the browser.
UPDATE_SECONDS = 0.1

Draw: TypeAlias = Callable[[int, int], object]


class News(Protocol):
    """The progress of a run."""

    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...


@dataclass(frozen=True)
class Progress:
    """The progress of a verb. `total` is 0 while it is not known."""

    stage: str
    done: int
    total: int


class CallProgress:
    """Show progress in a terminal or a notebook, hand it to a function of the caller, or do neither."""

    def __init__(self, shown: bool | Callable[[Progress], object]) -> None:
        self._shown = shown
        self._draw: Draw | None = None

    @contextmanager
    def drawn(self, what: str) -> Iterator[None]:
        if callable(self._shown):
            call = self._shown
            self._draw = lambda done, total: call(Progress(what, done, total))
            self._draw(0, 0)
            yield
        elif self._shown:
            with (notebook_bar if is_notebook() else terminal_bar)(what) as self._draw:
                yield
        else:
            yield
        self._draw = None

    def watch(self, news: News) -> None:
        if self._draw is not None:
            self._draw(news.done, news.total)


@contextmanager
def terminal_bar(what: str) -> Iterator[Draw]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)


@contextmanager
def notebook_bar(what: str) -> Iterator[Draw]:
    """Plain HTML: the bar of Rich needs ipywidgets there, and warns where they are not installed."""
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    shown: Any = display(draw_html_bar(what), raw=True, display_id=True)
    last = time.monotonic()

    def draw(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= UPDATE_SECONDS:
            last = time.monotonic()
            shown.update(draw_html_bar(what, done, total), raw=True)

    try:
        yield draw
    finally:
        shown.update({"text/html": "", "text/plain": ""}, raw=True)


def draw_html_bar(what: str, done: int = 0, total: int = 0) -> dict[str, str]:
    """Return the bar as HTML; without a total the browser only shows that work is going on."""
    far = f' value="{done}" max="{total}"' if total else ""
    text = f"{what} {done:,}/{total:,}" if total else what
    return {"text/html": f"{escape(what)} <progress{far}></progress> {text[len(what) :]}", "text/plain": text}


def is_notebook() -> bool:
    return "ipykernel" in sys.modules


def is_watched() -> bool:
    """Return True if a progress bar is visible: in a terminal or a notebook."""
    return sys.stderr.isatty() or is_notebook()
