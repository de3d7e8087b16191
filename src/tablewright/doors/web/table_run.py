"""The run that fills the table at the moment: how far it is, what it finds, and the stop button."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from nicegui import context, ui

from tablewright.domain.model import Cell, RowId
from tablewright.domain.text import shortened
from tablewright.doors.web.frame import say, visit_now
from tablewright.doors.web.live import with_page
from tablewright.doors.web.run_banner import RunBanner
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import many, t
from tablewright.doors.wording import dollars, duration
from tablewright.errors import NotFound
from tablewright.messages.catalogue import PageText
from tablewright.services import Progress, Run

NEWEST = 20
"""Runs of a table among which one that goes on is looked for: others may have been begun, and ended, since."""
LOOK_EVERY = 2.0
"""Seconds between two looks at what a run has cost."""
SHOW_EVERY = 0.05
"""Seconds for which finished cells are gathered before they are shown together."""
RELOAD_EVERY = 0.5
"""Seconds between two times that the rows in view are read again, while a formula fills many at once."""
DOING: PageText[dict[str, str]] = {
    "starting": "starting",
    "searching": "searching for",
    "fetching": "reading about",
    "computing": "computing",
    "row_done": "filled",
    "row_skipped": "skipped",
}
ENDINGS: PageText[dict[str, str]] = {
    "done": "The run is done.",
    "cancelled": "Stopped. What was found is kept in the proposal.",
}
"""Of the other ways to end the banner tells more."""


class RunBar:
    """Watches one run at a time. `on_cells` gets what was found since it was called last; `on_rows` says that rows were
    filled in these columns, without saying which rows; `on_end` comes after both."""

    def __init__(
        self,
        table_id: str,
        *,
        on_cells: Callable[[dict[RowId, dict[str, Cell]]], None],
        on_rows: Callable[[Sequence[str]], None],
        on_end: Callable[[], Awaitable[None]],
        may_change: bool,
    ) -> None:
        self._table_id = table_id
        self._on_cells = on_cells
        self._on_rows = on_rows
        self._on_end = on_end
        self._client = context.client
        self._run_id = ""
        self._found: dict[RowId, dict[str, Cell]] = {}
        self._news: Progress | None = None
        self._has_new_rows = False
        self._fields: Sequence[str] = ()
        self._banner = RunBanner(table_id, may_change=may_change, on_retry=on_end)
        with ui.element("section").classes("tw-run").props(f'aria-label="{t("Run")}" aria-live=polite') as self._bar:
            self._progress = ui.linear_progress(0, show_value=False).props(f'aria-label="{t("Progress of the run")}"')
            self._label = ui.label().classes("tw-small tw-ellipsis tw-grow")
            self._left = ui.label().classes("tw-small tw-muted")
            if may_change:
                self._stop = ui.button(t("Stop"), icon="stop", on_click=self._ask_to_stop)
                self._stop.props("outline dense color=negative padding='4px 12px'")
        self._bar.set_visibility(False)

    @property
    def is_running(self) -> bool:
        return bool(self._run_id)

    async def pick_up(self, runs: Sequence[Run]) -> bool:
        """Watches the newest of them that goes on, if none is watched yet; whether there is one. What it has told by
        now is not told again: it is in the proposal."""
        if self._run_id:
            return False
        jobs = (await visit_now()).services.jobs
        for run in runs:
            if run.status == "running" and not await jobs.is_interrupted(run) and not self._run_id:
                self._run_id, self._fields = run.id, run.spec.get("fields", ())
                self._banner.hide()
                self._show(Progress(stage="starting", done=run.done, total=run.total))
                self._bar.set_visibility(True)
                with_page(self._watch(run.id, after=run.last_event))
                return True
        await self._banner.look(runs[0] if runs else None)
        return False

    async def _watch(self, run_id: str, *, after: int) -> None:
        tasks = [asyncio.create_task(each) for each in (self._show_found(), self._show_rows(), self._show_left(run_id))]
        try:
            jobs = (await visit_now()).services.jobs
            async for event in jobs.watch(run_id, after=after):
                self._take(event.progress)
            run = await jobs.get(run_id)
        except NotFound:  # its table was removed, which the page says
            return
        finally:
            for task in tasks:
                task.cancel()
            self._run_id = ""
            if not self._client.is_deleted:
                self._flush()
                self._bar.set_visibility(False)
        if run.status in ENDINGS and not (run.status == "done" and await self._banner.explain_empty(run)):
            say(t(ENDINGS[run.status]), good=run.status == "done")
        await self._on_end()

    def _take(self, news: Progress) -> None:
        self._news = news
        if news.row_id is None:
            self._has_new_rows = True
        elif news.cells:
            self._found.setdefault(news.row_id, {}).update(news.cells)

    def _show(self, news: Progress) -> None:
        self._progress.set_value(round(news.fraction if news.total else 0, 3))
        what = t(DOING.get(news.stage, news.stage))
        of = t("{done} of {rows}", done=news.done, rows=many(news.total, "row")) if news.total else t("Starting")
        doing = " ".join(part for part in (what, news.label, news.detail) if part)
        self._label.set_text(f"{of} · {shortened(doing, 140)}")

    async def _show_found(self) -> None:
        while True:
            await asyncio.sleep(SHOW_EVERY)
            self._flush()

    async def _show_rows(self) -> None:
        while True:
            await asyncio.sleep(RELOAD_EVERY)
            if self._has_new_rows:
                self._has_new_rows = False
                self._on_rows(self._fields)

    async def _show_left(self, run_id: str) -> None:
        """How long it will still take, and what it has cost so far."""
        jobs = (await visit_now()).services.jobs
        while True:
            report = await jobs.report(await jobs.get(run_id))
            spent = t("{cost} so far", cost=dollars(report["usage"]["cost_usd"]))
            seconds = report["seconds_left"]
            left = t("about {time} left", time=duration(seconds)) if seconds else ""
            self._left.set_text(", ".join(filter(None, (left, spent))))
            await asyncio.sleep(LOOK_EVERY)

    def _flush(self) -> None:
        if self._news is not None:
            news, self._news = self._news, None
            self._show(news)
        if self._found:
            found, self._found = self._found, {}
            self._on_cells(found)

    async def _ask_to_stop(self) -> None:
        visit = await visit_to_write(self._table_id)
        visit.must_run()
        if self._run_id:
            self._label.set_text(t("Stopping. What was found is kept …"))
            await visit.services.jobs.cancel(self._run_id)
