"""Work that a page starts without waiting for it, and runs that it follows.

A `PageTask` continues after the page is closed, and the page finds it when it is opened again. Following a run ends
with the page. `ServerMemory` keeps what a server remembers for people who open a page again.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic
from weakref import WeakKeyDictionary

from nicegui import background_tasks, ui

from tablewright.domain.run import Progress, Run
from tablewright.errors import TablewrightError
from tablewright.interfaces.page.elements import page_card, progress_bar, show_chip, show_paragraph
from tablewright.interfaces.page.frame import current_visit, note_page_table, show_notice, visit_now
from tablewright.interfaces.page.words import T, t
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText
from tablewright.operations.runs import RunRequest, cancel_run


@dataclass(eq=False)
class PageTask:
    """Work in the background. `step` names what is being done; `problem` says why it failed, for the page."""

    step: str
    done: int = 0
    total: int = 0
    problem: str = ""
    result: Any = None
    ended: bool = False

    @property
    def fraction(self) -> float | None:
        """Return the completed part, or None while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None

    async def run(self, work: Callable[[PageTask], Awaitable[Any]]) -> None:
        try:
            self.result = await work(self)
        except TablewrightError as error:
            self.problem = str(error)
        except Exception:
            self.problem = "Something went wrong on the server. The server log has the details."
            raise
        finally:
            self.ended = True


class PageTasks:
    """The newest task of each key on one server."""

    def __init__(self) -> None:
        self._all: dict[str, PageTask] = {}

    def begin(self, key: str, step: str, work: Callable[[PageTask], Awaitable[Any]]) -> PageTask:
        """Start the work, or return the running task of the same key."""
        if self.under_way(key):
            return self._all[key]
        # At the end of the order, even if an earlier task had the key.
        self._all.pop(key, None)
        begun = self._all[key] = PageTask(step)
        # Not bound to the page, so that it continues when the page is closed.
        background_tasks.create(begun.run(work), name=key)
        ended = [each for each, one in self._all.items() if one.ended]
        # Ended tasks stay for a while, so that a page that is opened again still shows their result.
        for each in ended[: max(0, len(ended) - 200)]:
            del self._all[each]
        return begun

    def get(self, key: str) -> PageTask | None:
        return self._all.get(key)

    def under_way(self, key: str) -> bool:
        return key in self._all and not self._all[key].ended


_of_servers: WeakKeyDictionary[Any, PageTasks] = WeakKeyDictionary()


def page_tasks(visit: Visit) -> PageTasks:
    """Return the tasks of the server that was visited."""
    return _of_servers.setdefault(visit.server, PageTasks())


def follow_page_task(
    key: str, show: Callable[[PageTask | None], object], then: Callable[[], Awaitable[object]]
) -> None:
    """Show a task and its progress, whichever page started it; call `then` when it ends."""
    under_way = page_tasks(current_visit())
    shown = ui.refreshable(lambda: show(under_way.get(key)))
    before = under_way.get(key), under_way.under_way(key)

    async def look() -> None:
        nonlocal before
        now = under_way.get(key), under_way.under_way(key)
        # While it is in progress, its figures change.
        if now[1] or now != before:
            before = now
            shown.refresh()
            if not now[1]:
                await then()

    shown()
    # Twice a second is seen as at once; each look costs a comparison, and a refresh only if something has changed.
    ui.timer(0.6, look)


def run_while_open(work: Coroutine[Any, Any, None]) -> None:
    """Run until the page is closed."""
    client = ui.context.client
    task = background_tasks.create(work, name="feeds a page", context=client)

    def stop() -> None:
        task.cancel()

    client.on_delete(stop)


def show_status_chip(status: str) -> None:
    """Show the status of a research or a search for rows."""
    texts: PageText[dict[str, tuple[str, str]]] = {
        "planned": ("planned", "medium"),
        "interrupted": ("interrupted", "low"),
        "running": ("in progress", "medium"),
        "done": ("done", "high"),
        "partial": ("partial", "medium"),
        "nothing": ("nothing found", "low"),
        "cancelled": ("stopped", "low"),
        "failed": ("failed", "failed"),
    }
    label, look = texts[status]
    show_chip(t(label), look)


class FollowedRun:
    """A page about something that a run works on: its status and buttons, how far the run is, and the parts of the
    page that are shown again when something is finished. Subclasses say how to read and show it."""

    progress_label = ""

    def __init__(self, seen: Visit) -> None:
        self.seen = seen
        self.run: Run | None = None
        self.doing = ""
        self.fraction: float | None = None

    async def read(self) -> None:
        """Read the research or search again, and its run."""
        raise NotImplementedError

    def show_head(self) -> None:
        """Show the status and the buttons, apart from what changes all the time: a button must not be replaced under
        the finger."""
        raise NotImplementedError

    def take(self, news: Progress) -> bool:
        """Note what a run reports; True if a part of its work is finished."""
        self.doing = news.detail
        return False

    @property
    def is_running(self) -> bool:
        return self.run is not None and self.run.status == "running"

    async def show(self, title: str, table_id: str, *parts: Callable[[], object]) -> None:
        note_page_table(table_id)
        await self.read()
        self.head, self.state = ui.refreshable(self.show_head), ui.refreshable(self.show_state)
        self.parts = [ui.refreshable(part) for part in parts]
        with page_card(title):
            self.head()
            self.state()
        for part in self.parts:
            part()
        if self.is_running and self.run is not None:
            run_while_open(self.follow(self.run.id))

    def show_state(self) -> None:
        if self.is_running:
            progress_bar(self.fraction, t(self.progress_label))
            show_paragraph(self.doing).props("aria-live=polite")

    async def follow(self, run_id: str) -> None:
        shown_at = 0.0
        async for event in self.seen.services.jobs.watch(run_id):
            self.fraction = event.progress.fraction if event.progress.total else None
            if self.take(event.progress):
                await self.read()
                self.refresh_parts()
            # More updates than this per second would keep the browser busy without being readable.
            if time.monotonic() - shown_at > 0.4:
                shown_at = time.monotonic()
                self.state.refresh()
        await self.read()
        self.head.refresh()
        self.state.refresh()
        self.refresh_parts()

    def refresh_parts(self) -> None:
        for part in self.parts:
            part.refresh()


async def stop_followed_run(run: Run | None) -> None:
    if run is not None:
        await cancel_run((await visit_now("run")).services, RunRequest(run_id=run.id))
        show_notice(t("Stopping. What was found is kept."))


async def download_file(write: Callable[[Path], Awaitable[Any]], name: str) -> None:
    """Send what `write` puts into a file to the browser."""
    with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
        path = Path(folder) / name
        await write(path)
        ui.download.content(await asyncio.to_thread(path.read_bytes), name)


def scroll_to_newest() -> None:
    """Scroll to the beginning of the newest answer."""
    ui.run_javascript(
        # After 150 ms the browser has laid out the answer; before, there is nothing to scroll to.
        "setTimeout(() => [...document.querySelectorAll('.tw-talk > *')].at(-1)?.scrollIntoView({block: 'start'}), 150)"
    )


def focus_message_field() -> None:
    """Put the cursor into the line, unless the person is elsewhere on the page by now."""
    ui.run_javascript(
        "setTimeout(() => document.activeElement === document.body "
        "&& document.querySelector('.tw-say input')?.focus({preventScroll: true}), 150)"
    )


# ── what a server remembers ─────────────────────────────────────────────────────────────────────────────────────────
# Kept in memory for people who open a page again; not in the database, and gone with the server.


class ServerMemory(Generic[T]):
    """One value for each key, made when it is first used; the `most` recently used are kept."""

    def __init__(self, make: Callable[[], T], *, most: int) -> None:
        self._make = make
        self._most = most
        # Keyed by the server, so that tests and restarts within a process start empty.
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
