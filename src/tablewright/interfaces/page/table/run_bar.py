"""The parts above the grid: the running fill, the reason why the last one found nothing, and proposals to decide."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import context, ui

from tablewright.domain.model import Cell, RowId
from tablewright.domain.proposal import ApplyOutcome, ProposalHead
from tablewright.domain.run import Progress, Run
from tablewright.domain.text import shorten_text
from tablewright.errors import NotFound
from tablewright.interfaces.page.elements import flex_row, icon_button, show_paragraph, small_button
from tablewright.interfaces.page.frame import hide_paths, show_notice, visit_now
from tablewright.interfaces.page.live import run_while_open
from tablewright.interfaces.page.words import counted_text, stage_text, t
from tablewright.interfaces.wording import format_dollars, format_duration
from tablewright.messages.catalogue import PageText
from tablewright.operations.review import ApplyProposal, ChosenCells, apply_proposal, reject_proposal
from tablewright.operations.runs import (
    ResumeRun,
    RunRequest,
    RunShown,
    cancel_run,
    pause_run,
    resume_run,
    show_run,
)
from tablewright.services import Services

if TYPE_CHECKING:
    from tablewright.interfaces.page.table.page import OpenTable


class RunBar:
    """The bar of the run that fills the table; it draws found values into the grid."""

    def __init__(self, page: OpenTable) -> None:
        self._page = page
        self._client = context.client
        self._run_id = ""
        self._paused_id = ""
        self._closed_id = ""
        self._found: dict[RowId, dict[str, Cell]] = {}
        self._news: Progress | None = None
        self._has_new_rows = False
        self._fields: Sequence[str] = ()
        self._banner = RunBanner(page)
        with ui.element("section").classes("tw-run").props(f'aria-label="{t("Run")}" aria-live=polite') as self._bar:
            self._progress = ui.linear_progress(0, show_value=False).props(f'aria-label="{t("Progress of the run")}"')
            self._label = ui.label().classes("tw-small tw-ellipsis tw-grow")
            self._left = ui.label().classes("tw-small tw-muted")
            with flex_row() as self._running:
                small_button(t("Pause"), partial(self._ask_to_end, pause_run), icon="pause")
                stop = partial(self._ask_to_end, cancel_run)
                small_button(t("Stop"), stop, icon="stop", look="outline color=negative")
            with flex_row() as self._paused:
                resume = small_button(t("Resume"), self._resume, icon="play_arrow", look="unelevated")
                resume.set_visibility(page.may_change)
                icon_button("close", t("Close"), lambda: self.close_paused(self._paused_id))
        self._bar.set_visibility(False)

    @property
    def is_running(self) -> bool:
        return bool(self._run_id)

    async def follow_newest(self, runs: Sequence[Run]) -> None:
        """Watch the newest run that is under way, unless one is watched. Its earlier events are left out: the proposal
        has their results."""
        if self._run_id:
            return
        jobs = (await visit_now()).services.jobs
        for run in runs:
            if run.status == "running" and not await jobs.is_interrupted(run) and not self._run_id:
                self._run_id, self._fields = run.id, run.spec.get("fields", ())
                self._banner.hide()
                self._show_bar(Progress(stage="starting", done=run.done, total=run.total), paused_id="")
                run_while_open(self._watch(run.id, after=run.last_event))
                return
        newest = runs[0] if runs else None
        is_paused = newest is not None and newest.was_paused_by_person and await self._banner.is_undecided(newest)
        # Another call may follow a run already: two timers and the person's own actions lead here.
        if self.is_running:
            return
        self._bar.set_visibility(False)
        if newest is not None and is_paused:
            kept = t("what was found is kept")
            news = Progress(stage="paused", done=newest.done, total=newest.total, detail=kept)
            self._show_bar(news, paused_id=newest.id)
        await self._banner.update(None if is_paused else newest)

    def _show_bar(self, news: Progress, *, paused_id: str) -> None:
        """Show a run that is under way, or the one of `paused_id`, which was paused on request."""
        self._paused_id = paused_id
        self._running.set_visibility(self._page.may_change and not paused_id)
        self._paused.set_visibility(bool(paused_id))
        self._show(news)
        if paused_id:
            self._left.set_text("")
        self._bar.set_visibility(not paused_id or paused_id != self._closed_id)

    async def _watch(self, run_id: str, *, after: int) -> None:
        # The banner explains the other ways to end.
        endings: PageText[dict[str, str]] = {
            "done": "The run is done.",
            "cancelled": "Stopped. What was found is kept in the proposal.",
        }
        tasks = [asyncio.create_task(each) for each in (self._draw_found(), self._show_left(run_id))]
        try:
            jobs = (await visit_now()).services.jobs
            async for event in jobs.watch(run_id, after=after):
                self._news = news = event.progress
                if news.row_id is None:
                    # Formulas report no single cells: the rows are read again instead.
                    self._has_new_rows = True
                elif news.cells:
                    self._found.setdefault(news.row_id, {}).update(news.cells)
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
        if run.status in endings and not (run.status == "done" and await self._banner.explain_empty(run)):
            show_notice(t(endings[run.status]), good=run.status == "done")
        await self._page.run_ended()

    def _show(self, news: Progress) -> None:
        # A thousandth of the bar is less than a pixel.
        self._progress.set_value(round(news.fraction if news.total else 0, 3))
        of = t("{done} of {rows}", done=news.done, rows=counted_text(news.total, "row")) if news.total else ""
        doing = " ".join(filter(None, (stage_text(news), news.label, news.detail)))
        self._label.set_text(" · ".join(filter(None, (of, shorten_text(doing, 140)))) or t("Starting"))

    async def _draw_found(self) -> None:
        while True:
            # A formula fills many rows at once: the rows in view are then read again, twice a second at most.
            for _ in range(10):
                # Finished cells are gathered and drawn together: one message for each would slow the browser down.
                await asyncio.sleep(0.05)
                self._flush()
            if self._has_new_rows:
                self._has_new_rows = False
                self._page.grid.call("showProposed", list(self._fields))

    async def _show_left(self, run_id: str) -> None:
        """Show the time left and the cost so far."""
        services = (await visit_now()).services
        while True:
            report = await show_run(services, await services.jobs.get(run_id))
            spent = t("{cost} so far", cost=format_dollars(report.usage.cost_usd))
            seconds = report.seconds_left
            left = t("about {time} left", time=format_duration(seconds)) if seconds else ""
            self._left.set_text(", ".join(filter(None, (left, spent))))
            # The pace of a run changes slowly, and each look is two queries.
            await asyncio.sleep(2.0)

    def _flush(self) -> None:
        if self._news is not None:
            news, self._news = self._news, None
            self._show(news)
        if self._found:
            found, self._found = self._found, {}
            self._page.grid.update(found, proposed=True)

    async def _ask_to_end(self, end: Callable[[Services, RunRequest], Awaitable[RunShown]]) -> None:
        """Stop or pause the run."""
        visit = await visit_now("run", self._page.table.id)
        if self._run_id:
            words = (
                t("Pausing. What was found is kept.") if end is pause_run else t("Stopping. What was found is kept …")
            )
            self._label.set_text(words)
            await end(visit.services, RunRequest(run_id=self._run_id))

    async def _resume(self) -> None:
        await resume_table_run(self._page, self._paused_id)

    def close_paused(self, run_id: str) -> None:
        """Take a paused run from the page until it is reloaded."""
        self._closed_id = run_id
        self._bar.set_visibility(self.is_running)


# ── why the last run found nothing ────────────────────────────────────────────────────────────────────────────────────


RUN_FAILURES: PageText[dict[str, str]] = {
    "paused": "The run is paused.",
    "failed": "The run failed.",
    "interrupted": "The run was interrupted: its process has ended.",
}


class RunBanner:
    def __init__(self, page: OpenTable) -> None:
        self._page = page
        self._shown: tuple[str, str] | None = None
        self._closed: set[tuple[str, str]] = set()
        self._is_sample: bool | None = None
        self._sample = ui.element("div").classes("tw-fictional")
        self._box = ui.element("section").classes("tw-banner").props(f'aria-label="{t("Last run")}" role=alert')
        self._box.set_visibility(False)

    def hide(self) -> None:
        self._shown = None
        self._box.set_visibility(False)

    async def update(self, newest: Run | None) -> None:
        """Show how the newest run ended, and that a sample is fictional."""
        services = (await visit_now()).services
        if self._is_sample is None:
            self._is_sample = await services.is_sample(self._page.table.id)
            if self._is_sample:
                with self._sample:
                    ui.label(
                        t(
                            "Fictional sample: these companies do not exist. New columns are looked up in the small "
                            "sample web that comes with Tablewright."
                        )
                    )
        status: str = "" if newest is None else newest.status
        if newest is not None and status == "running" and await services.jobs.is_interrupted(newest):
            status = "interrupted"
        if newest is None or status not in (*RUN_FAILURES, "over_budget") or (newest.id, status) in self._closed:
            if self._shown and self._shown[1] != "done":
                self.hide()
            return
        if not await self.is_undecided(newest):
            self.hide()
        elif self._shown != (newest.id, status):
            self._show_failure(newest, status)

    async def is_undecided(self, run: Run) -> bool:
        """Return True if a run's proposal waits for a decision; one without any cell closes by itself."""
        services = (await visit_now()).services
        try:
            head = await services.store.proposals.get(await services.store.proposals.of_run(run.id))
        except NotFound:
            return True
        has_cells = head.counts.get("with_value") or head.counts.get("without_value")
        return head.status in ("open", "building") or not has_cells

    def _show_failure(self, run: Run, status: str) -> None:
        lines = [end_cause(run.error or "")]
        if run.done:
            lines.append(
                t(
                    "{done} of {count} row is done; what was found is kept.|"
                    "{done} of {count} rows are done; what was found is kept.",
                    done=run.done,
                    count=run.total,
                )
            )
        if status == "over_budget":
            raise_it = t("Raise the budget under Settings, then fill the rest.")
            self._show(run.id, status, t("The run stopped at its budget."), [*lines, raise_it])
            return
        # A run is paused when the search, the web or the model does not answer.
        remedy = t("Check the search and the model under Settings, then press Retry.") if status == "paused" else ""
        self._show(run.id, status, t(RUN_FAILURES[status]), [*lines, remedy], retry=True)

    async def explain_empty(self, run: Run) -> bool:
        """If a finished run found nothing at all, show why and what may help, and return True."""
        services = (await visit_now()).services
        # A recheck that changes nothing is a good result, not an empty one.
        if run.kind != "enrich" or (await show_run(services, run)).found:
            return False
        # This reads all cells of the run.
        report = await show_run(services, run, reasons=True)
        if report.empty:
            title = t("No value was found.")
            lines = [
                t("{reasons}. Click a cell to see where the search looked.", reasons=describe_empty_cells(report.empty))
            ]
        elif report.unasked:  # the search found nothing that contradicts the present values
            title = t("Nothing new was found.")
            kept = t("{count} cell stays as it is.|{count} cells stay as they are.", count=report.unasked)
            lines = [kept, end_cause(report.cause)]
        else:
            return False
        if services.settings.model == "builtin":
            lines.append(t("No model is set, so only plainly stated values are found. Choose a model under Settings."))
        else:
            lines.append(
                t("Try wording the question the way a page would answer it, or add what tells the rows apart.")
            )
        self._show(run.id, "done", title, lines)
        return True

    def _show(self, run_id: str, status: str, title: str, lines: list[str], *, retry: bool = False) -> None:
        self._shown = (run_id, status)
        self._box.clear()
        look, icon = ("tw-bad", "error") if status in RUN_FAILURES else ("tw-weak", "info")
        self._box.classes(add=look, remove="tw-bad tw-weak".replace(look, ""))
        with self._box:
            ui.icon(icon, size="22px").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                ui.label(title).classes("tw-strong")
                for line in filter(None, lines):
                    show_paragraph(hide_paths(line), "tw-small")
            ui.button(t("Details"), on_click=lambda: ui.navigate.to(f"/runs/{run_id}")).props("flat dense")
            if retry and self._page.may_change:
                retry_run = partial(self._retry, run_id)
                small_button(t("Retry"), retry_run, icon="refresh", look="unelevated color=negative")
            ui.button(icon="close", on_click=self._close).props(f'flat round dense aria-label="{t("Close")}"')
        self._box.set_visibility(True)

    def _close(self) -> None:
        if self._shown:
            # A closed banner stays closed for that run, also after a reload of the rows.
            self._closed.add(self._shown)
        self.hide()

    async def _retry(self, run_id: str) -> None:
        self.hide()
        # With the current settings, because those of the run may have been the problem.
        await resume_table_run(self._page, run_id, current_settings=True)


async def resume_table_run(page: OpenTable, run_id: str, *, current_settings: bool = False) -> None:
    visit = await visit_now("run", page.table.id)
    await resume_run(visit.services, ResumeRun(run_id=run_id, current_settings=current_settings))
    await page.run_ended()


def end_cause(error: str) -> str:
    """Return why a run ended, without sentences that name environment variables."""
    cause = ". ".join(each for each in error.split(". ") if "TABLEWRIGHT_" not in each).strip()
    return cause if not cause or cause.endswith((".", "!", "?", "…")) else f"{cause}."


def describe_empty_cells(empty: Mapping[str, Any]) -> str:
    reasons: PageText[dict[str, str]] = {
        "not_found": "no source states it",
        "blocked": "the pages could not be read",
        "not_applicable": "the question does not apply",
        "conflicting": "the sources disagree",
        "over_budget": "the budget was used up",
        "error": "something failed",
    }
    return "; ".join(
        t("{count} cell: {reason}|{count} cells: {reason}", count=count, reason=t(reasons.get(reason, reason)))
        for reason, count in empty.items()
    )


# ── proposals to decide ───────────────────────────────────────────────────────────────────────────────────────────────


class ProposalPanel:
    """Proposals that wait for a decision, the newest first."""

    def __init__(self, page: OpenTable) -> None:
        self._page = page
        self.heads: list[ProposalHead] = []
        self._shown: tuple[list[ProposalHead], dict[str, int]] | None = None
        self._box = ui.element("section").props(f'aria-label="{t("Open proposals")}"')

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(head.id for head in self.heads)

    def show(self, heads: Sequence[ProposalHead], left: dict[str, int]) -> None:
        """Show the proposals; `left` counts the rows that their runs left out. What is shown already stays as it is: a
        button must not be replaced under the finger."""
        self.heads = list(heads)
        if (self.heads, left) == self._shown:
            return
        self._shown = (self.heads, left)
        self._box.clear()
        with self._box:
            for head in self.heads:
                if head.status == "open":
                    self._show(head, left.get(head.id, 0))

    def _show(self, head: ProposalHead, left: int) -> None:
        found = counted_text(head.counts.get("with_value", 0), "value")
        empty = head.counts.get("without_value", 0)
        names = shorten_text(", ".join(field.name for field in head.fields), 80)
        if not head.counts:
            what = t("{names}: no row was looked at before the run ended.", names=names)
        elif empty:
            without = counted_text(empty, "cell")
            what = t("{names}: {found} proposed, {empty} without a result.", names=names, found=found, empty=without)
        else:
            what = t("{names}: {found} proposed.", names=names, found=found)
        with ui.element("div").classes("tw-waiting"):
            with ui.element("div").classes("tw-grow"):
                show_paragraph(" ".join((what, t("The table changes only when you accept."))))
            if not self._page.may_change:
                return
            if head.counts:
                review = partial(ui.navigate.to, f"/review/{head.id}")
                small_button(t("Review"), review, icon="fact_check", look="unelevated")
            accept = t("Accept all") if head.counts else t("Keep the columns")
            small_button(accept, partial(self._accept, head))
            if left:
                label = t("Continue with {count} more row|Continue with {count} more rows", count=left)
                small_button(label, partial(self._page.fill_rest, head), icon="play_arrow")
            small_button(t("Discard"), partial(self._discard, head), look="flat")

    async def _accept(self, head: ProposalHead) -> None:
        visit = await visit_now("write", self._page.table.id)
        done = (await apply_proposal(visit.services, ApplyProposal(proposal_id=head.id))).applied
        written = t("{count} cell written.|{count} cells written.", count=done.cells)
        kept = t("{count} changed since then and kept.", count=done.conflicts) if done.conflicts else ""
        undo = t("Press Ctrl+Z to undo.") if done.change else ""
        show_notice(" ".join(filter(None, (written, kept_values_text(done), kept, undo))))
        await self._page.decided(done)

    async def _discard(self, head: ProposalHead) -> None:
        visit = await visit_now("write", self._page.table.id)
        await reject_proposal(visit.services, ChosenCells(proposal_id=head.id))
        show_notice(t("Discarded. The table is unchanged."))
        self._page.run.close_paused(head.run_id)
        await self._page.decided(None)


def kept_values_text(done: ApplyOutcome) -> str:
    """Say how many values stay because nothing new was found, or return ""."""
    if not done.kept:
        return ""
    return t(
        "Nothing was found for {count} cell, so its value stays.|"
        "Nothing was found for {count} cells, so their values stay.",
        count=done.kept,
    )
