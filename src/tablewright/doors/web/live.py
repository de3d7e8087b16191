"""What a page sets going and does not wait for.

An `Undertaking` goes on when the page is closed, and whoever opens the page again finds it. What only feeds the page,
such as watching a run, ends with it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from nicegui import background_tasks, ui

from tablewright.doors.server.context import Visit
from tablewright.errors import TablewrightError

KEPT = 200
"""Undertakings that are remembered after they have ended."""


class Undertaking:
    """`said` is what it does at the moment; `problem` why it came to nothing, in words for people."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.done = 0
        self.total = 0
        self.problem = ""
        self.result: Any = None
        self.ended = False

    @property
    def fraction(self) -> float | None:
        """None while nobody knows how much there is."""
        return min(1.0, self.done / self.total) if self.total else None

    async def run(self, work: Callable[[Undertaking], Awaitable[Any]]) -> None:
        try:
            self.result = await work(self)
        except TablewrightError as error:
            self.problem = str(error)
        except Exception:
            self.problem = "Something went wrong on the server. The server log has the details."
            raise
        finally:
            self.ended = True


class Undertakings:
    """Of one server, by key: the newest of each."""

    def __init__(self) -> None:
        self._all: dict[str, Undertaking] = {}

    def begin(self, key: str, said: str, work: Callable[[Undertaking], Awaitable[Any]]) -> Undertaking:
        """The one that is under way, if there is one: nothing is done twice at a time."""
        known = self._all.pop(key, None)
        if known is not None and not known.ended:
            self._all[key] = known
            return known
        begun = self._all[key] = Undertaking(said)
        background_tasks.create(begun.run(work), name=key)
        ended = [each for each, one in self._all.items() if one.ended]
        for each in ended[: max(0, len(ended) - KEPT)]:
            del self._all[each]
        return begun

    def get(self, key: str) -> Undertaking | None:
        return self._all.get(key)

    def under_way(self, key: str) -> bool:
        known = self._all.get(key)
        return known is not None and not known.ended


_of_servers: WeakKeyDictionary[Any, Undertakings] = WeakKeyDictionary()


def undertakings(visit: Visit) -> Undertakings:
    """Of the server that serves them."""
    return _of_servers.setdefault(visit.server, Undertakings())


def with_page(work: Coroutine[Any, Any, None]) -> None:
    """Does it as long as the page is open."""
    client = ui.context.client
    task = background_tasks.create(work, name="feeds a page", context=client)

    def stop() -> None:
        task.cancel()

    client.on_delete(stop)


async def download(write: Callable[[Path], Awaitable[Any]], name: str) -> None:
    """What `write` puts into a file, as a file for the person who asks."""
    with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
        path = Path(folder) / name
        await write(path)
        ui.download.content(await asyncio.to_thread(path.read_bytes), name)


def to_the_newest() -> None:
    """So that whoever waits for an answer sees it from its beginning."""
    ui.run_javascript(
        "setTimeout(() => [...document.querySelectorAll('.tw-talk > *')].at(-1)?.scrollIntoView({block: 'start'}), 150)"
    )


def to_the_line() -> None:
    """So that whoever has the answer can go on typing, unless they are elsewhere by now."""
    ui.run_javascript(
        "setTimeout(() => document.activeElement === document.body "
        "&& document.querySelector('.tw-say input')?.focus({preventScroll: true}), 150)"
    )


# ── what a server remembers ─────────────────────────────────────────────────────────────────────────────────────────
# What a server remembers for whoever opens a page again. It is not in the database, and gone with the server.


T = TypeVar("T")


class ServerMemory(Generic[T]):
    """One of each key, the `most` that were asked for last; what is asked for the first time is made."""

    def __init__(self, make: Callable[[], T], *, most: int) -> None:
        self._make = make
        self._most = most
        self._of_servers: WeakKeyDictionary[Any, OrderedDict[Hashable, T]] = WeakKeyDictionary()

    def of(self, seen: Visit, key: Hashable) -> T:
        known = self._of_servers.setdefault(seen.server, OrderedDict())
        return self.put(seen, key, known[key] if key in known else self._make())

    def put(self, seen: Visit, key: Hashable, thing: T) -> T:
        known = self._of_servers.setdefault(seen.server, OrderedDict())
        known[key] = thing
        known.move_to_end(key)
        while len(known) > self._most:
            known.popitem(last=False)
        return thing
