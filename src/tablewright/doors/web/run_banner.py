"""What stands above a table: that its last run came to nothing and what to do about it, and that a sample is fictional.

A run that could not reach the search or the model shows its cause until it is retried, its proposal is decided, or
somebody closes the banner.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from tablewright.doors.web.elements import paragraph
from tablewright.doors.web.frame import hidden, visit_now
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import t
from tablewright.errors import NotFound
from tablewright.messages.catalogue import PageText
from tablewright.services import Run

FAILURES: PageText[dict[str, str]] = {
    "paused": "The run is paused.",
    "failed": "The run failed.",
    "interrupted": "The run was interrupted: its process has ended.",
}
REMEDY: PageText[str] = "Check the search and the model under Settings, then press Retry."
OVER_BUDGET: PageText[str] = "The run stopped at its budget."
REASONS: PageText[dict[str, str]] = {
    "not_found": "no source states it",
    "blocked": "the pages could not be read",
    "not_applicable": "the question does not apply",
    "conflicting": "the sources disagree",
    "over_budget": "the budget was used up",
    "error": "something failed",
}
SAMPLE: PageText[str] = (
    "Fictional sample: these companies do not exist. New columns are looked up in the small sample web that "
    "comes with Tablewright."
)


class RunBanner:
    def __init__(self, table_id: str, *, may_change: bool, on_retry: Callable[[], Awaitable[None]]) -> None:
        self._table_id = table_id
        self._may_change = may_change
        self._on_retry = on_retry
        self._shown: tuple[str, str] | None = None
        self._closed: set[tuple[str, str]] = set()
        self._is_sample: bool | None = None
        self._sample = ui.element("div").classes("tw-fictional")
        self._box = ui.element("section").classes("tw-banner").props(f'aria-label="{t("Last run")}" role=alert')
        self._box.set_visibility(False)

    def hide(self) -> None:
        self._shown = None
        self._box.set_visibility(False)

    async def look(self, newest: Run | None) -> None:
        """At the newest run of the table, which goes on no longer."""
        services = (await visit_now()).services
        if self._is_sample is None:
            self._is_sample = await services.is_sample(self._table_id)
            if self._is_sample:
                with self._sample:
                    ui.label(t(SAMPLE))
        status: str = "" if newest is None else newest.status
        if newest is not None and status == "running" and await services.jobs.is_interrupted(newest):
            status = "interrupted"
        if newest is None or status not in (*FAILURES, "over_budget") or (newest.id, status) in self._closed:
            if self._shown and self._shown[1] != "done":
                self.hide()
            return
        report = await services.jobs.report(newest)
        if not await self._is_open(report["proposal_id"]):
            self.hide()
        elif self._shown != (newest.id, status):
            self._show_failure(newest, status)

    async def _is_open(self, proposal_id: str) -> bool:
        """Whether nobody has decided on it; one without any cell closes by itself."""
        if not proposal_id:
            return True
        try:
            head = await (await visit_now()).services.proposal(proposal_id)
        except NotFound:
            return False
        return head.status in ("open", "building") or not (
            head.counts.get("with_value", 0) + head.counts.get("without_value", 0)
        )

    def _show_failure(self, run: Run, status: str) -> None:
        cause = cause_of(run.error or "")
        lines = [cause] if cause else []
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
            self._show(run.id, status, t(OVER_BUDGET), [*lines, raise_it])
            return
        remedy = t(REMEDY) if status == "paused" else ""  # then the search, the web or the model did not answer
        self._show(run.id, status, t(FAILURES[status]), [*lines, remedy], retry=True)

    async def explain_empty(self, run: Run) -> bool:
        """After a run that is done: where it found nothing at all, why, and what may help. Whether it was so."""
        services = (await visit_now()).services
        if run.kind != "enrich" or (await services.jobs.report(run))["found"]:
            return False
        report = await services.jobs.report(run, reasons=True)  # for which all of its cells are read
        if report["empty"]:
            title = t("No value was found.")
            lines = [t("{reasons}. Click a cell to see where the search looked.", reasons=in_words(report["empty"]))]
        elif report["unasked"]:  # the search led to nothing that speaks against what is there
            title = t("Nothing new was found.")
            kept = t("{count} cell stays as it is.|{count} cells stay as they are.", count=report["unasked"])
            lines = [kept, cause_of(report["cause"])]
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
        self._box.classes(
            add="tw-bad" if status in FAILURES else "tw-weak", remove="tw-weak" if status in FAILURES else "tw-bad"
        )
        with self._box:
            ui.icon("error" if status in FAILURES else "info", size="22px").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                ui.label(title).classes("tw-strong")
                for line in filter(None, lines):
                    paragraph(hidden(line), "tw-small")
            ui.button(t("Details"), on_click=lambda: ui.navigate.to(f"/runs/{run_id}")).props("flat dense")
            if retry and self._may_change:
                ui.button(t("Retry"), icon="refresh", on_click=lambda: self._retry(run_id)).props(
                    "unelevated dense color=negative padding='4px 12px'"
                )
            ui.button(icon="close", on_click=self._close).props(f'flat round dense aria-label="{t("Close")}"')
        self._box.set_visibility(True)

    def _close(self) -> None:
        if self._shown:
            self._closed.add(self._shown)
        self.hide()

    async def _retry(self, run_id: str) -> None:
        """With the settings as they are by now: it may be what was wrong with them."""
        visit = await visit_to_write(self._table_id)
        visit.must_run()
        await visit.services.jobs.resume_in_background(run_id, with_current_settings=True)
        self.hide()
        await self._on_retry()


def cause_of(error: str) -> str:
    """What a run says of its end. A sentence that names a variable is for those at a terminal."""
    cause = ". ".join(each for each in error.split(". ") if "TABLEWRIGHT_" not in each).strip()
    return cause if not cause or cause.endswith((".", "!", "?", "…")) else f"{cause}."


def in_words(empty: Mapping[str, Any]) -> str:
    return "; ".join(
        t("{count} cell: {reason}|{count} cells: {reason}", count=count, reason=t(REASONS.get(reason, reason)))
        for reason, count in empty.items()
    )
