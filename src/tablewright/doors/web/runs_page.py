"""Runs: how far each is, what it cost, how long it will take, what it could not find; stop it, go on with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui
from nicegui.element import Element

from tablewright.app import Run
from tablewright.doors.server.context import Visit
from tablewright.doors.web.charts import MOST_ROWS, cost_chart, coverage_chart, domains_chart, figures_of
from tablewright.doors.web.frame import about, empty_state, heading, hidden, or_missing, say, visit_now, visit_to_run
from tablewright.doors.web.live import with_page
from tablewright.doors.web.plain import (
    Shown,
    bar,
    card,
    chip,
    dollars,
    duration,
    grid,
    inline,
    journey,
    many,
    quiet,
    row,
    safe,
    said,
    tokens,
    when,
)
from tablewright.errors import NotFound
from tablewright.table.feed import Event, Progress
from tablewright.table.text import cell_text, shortened, sureness

AT_ONCE = 30
CHARTED = 300
LONGEST_REASON = 240
"""Letters of why a run failed, in the list."""
FEED = 200
"""The last events that a run's page begins with."""
KINDS = {"enrich": "Fill cells", "ingest": "Read documents", "recheck": "Recheck", "refresh": "Refresh"}
LOOKS = {
    "running": "medium",
    "queued": "medium",
    "done": "high",
    "failed": "failed",
    "interrupted": "failed",
    "cancelled": "low",
    "stopping": "low",
    "over_budget": "low",
    "paused": "failed",
}
CAN_GO_ON = ("cancelled", "failed", "interrupted", "paused")
STAGES = {
    "starting": "Begins",
    "searching": "Searches for",
    "fetching": "Reads about",
    "computing": "Computes",
    "row_done": "Done:",
    "row_skipped": "Skipped:",
    "complete": "Complete",
    "cancelled": "Stopped",
    "paused": "Paused:",
}


@ui.page("/runs", title="Runs · Tablewright")
async def runs_page() -> None:
    with journey("Runs", here="/runs"):
        listed = RunList(await visit_now())
        await listed.show()


class RunList:
    """One open page with all runs; those that go on are looked at again and again."""

    def __init__(self, seen: Visit) -> None:
        self.seen = seen
        self.runs: list[Run] = []
        self.reports: dict[str, dict[str, Any]] = {}
        self.names: dict[str, str] = {}

    async def show(self) -> None:
        self.runs = await newest(self.seen, AT_ONCE)
        await self.read_names()
        await self.report(before={})
        self.listed = ui.refreshable(self.show_list)
        with card("All runs"):
            self.listed()
        ui.timer(1.5, self.look)
        if self.runs:
            await self.show_charts()

    async def read_names(self) -> None:
        self.names = {each.id: each.name for each in await self.seen.tablewright.tables()}

    async def report(self, before: Mapping[str, Run]) -> None:
        """On those that have changed."""
        for run in self.runs:
            if run != before.get(run.id):
                self.reports[run.id] = await self.seen.tablewright.jobs.report(run)

    async def look(self) -> None:
        """Reports are read anew only of what has changed."""
        self.seen = await visit_now()
        before = {run.id: run for run in self.runs}
        self.runs = await newest(self.seen, AT_ONCE)
        if self.runs != [*before.values()]:
            if {run.id for run in self.runs} - before.keys():
                await self.read_names()
            await self.report(before)
            self.listed.refresh()

    def show_list(self) -> None:
        if not self.runs:
            with empty_state("No runs yet", "directions_run"):
                ui.label("A run begins when you fill a column, read documents or research a question.")
                ui.link("Go to the tables", "/")
            return
        columns = ["Run", "Table", "Status", "Progress", "Cost", "Begun"]
        grid(columns, [self.line(run) for run in self.runs], "Runs")

    def line(self, run: Run) -> list[Shown]:
        report = self.reports[run.id]

        def name() -> None:
            ui.link(name_of(run), f"/runs/{run.id}")

        def table() -> None:
            ui.link(safe(self.names[run.table_id], 80), f"/tables/{run.table_id}")

        def status() -> None:
            show_status(report)
            if report["error"]:
                quiet(shortened(hidden(report["error"]), LONGEST_REASON))

        def progress() -> None:
            with ui.element("div").style("min-width: 130px"):
                bar(report["done"] / report["total"], f"{report['done']} of {report['total']} done")
                quiet(so_far(report))

        return [
            name,
            table if run.table_id in self.names else "",
            status,
            progress if report["total"] else "",
            dollars(run.usage.cost_usd),
            when(run.started_at),
        ]

    async def show_charts(self) -> None:
        with card("Cost over time"):
            heading("Cost over time")
            cost_chart(await newest(self.seen, CHARTED))
        tables = {id: safe(name, 80) for id, name in self.names.items()}
        if not tables:
            return
        first = next((run.table_id for run in self.runs if run.table_id in tables), next(iter(tables)))
        charts = ui.refreshable(self.show_figures)

        async def choose(event: Any) -> None:
            await charts.refresh(event.value)

        with card("A table in figures"):
            with row():
                heading("A table in figures").classes("tw-grow")
                ui.select(tables, value=first, label="Table", on_change=choose).props("dense outlined").style(
                    "min-width: 180px; max-width: 100%"
                )
            await charts(first)

    async def show_figures(self, table_id: str) -> None:
        now = await visit_now()
        table = await now.table(table_id)
        rows = await now.tablewright.page(table.id, limit=MOST_ROWS)
        if not rows:
            quiet("This table has no rows yet.")
            return
        figures = figures_of(table, rows)
        if len(rows) == MOST_ROWS:
            quiet(f"Of the first {MOST_ROWS:,} rows.")
        with ui.element("div").classes("tw-half"):
            with ui.element("div"):
                heading("Coverage and confidence per column", level=3)
                coverage_chart(figures)
            with ui.element("div"):
                heading("Sources by domain", level=3)
                if figures.domains:
                    domains_chart(figures)
                else:
                    quiet("No cell of it cites a web page yet.")


def may_see(seen: Visit, run: Run) -> bool:
    """Those of the tables that the person sees; and those that are about no table, such as reading documents."""
    return seen.person.sees(run.table_id) if run.table_id else True


async def newest(seen: Visit, most: int) -> list[Run]:
    """Of those that the person sees."""
    return await seen.tablewright.jobs.all(limit=most)


def name_of(run: Run) -> str:
    return KINDS.get(run.kind, run.kind.capitalize())


def show_status(report: Mapping[str, Any]) -> None:
    chip(report["status"].replace("_", " "), LOOKS.get(report["status"], ""))


def so_far(report: Mapping[str, Any]) -> str:
    left = f", about {duration(report['seconds_left'])} left" if report["seconds_left"] else ""
    return f"{report['done']:,} of {report['total']:,}{left}"


# ── one run ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/runs/{run_id}", title="Run · Tablewright")
@or_missing
async def run_page(run_id: str) -> None:
    seen = await visit_now()
    run = await visible(seen, run_id)
    with journey(name_of(run), here="/runs"):
        await OpenRun(seen, run).show()


async def visible(seen: Visit, run_id: str) -> Run:
    run = await seen.tablewright.jobs.get(run_id)
    if not may_see(seen, run):
        raise NotFound(f"There is no run {run_id!r}.")
    return run


class OpenRun:
    def __init__(self, seen: Visit, run: Run) -> None:
        self.seen = seen
        self.run = run

    async def show(self) -> None:
        about(self.run.table_id)
        self.report = await self.seen.tablewright.jobs.report(self.run, reasons=True)
        self.is_open = await self.awaits_review()
        tables = {each.id: each.name for each in await self.seen.tablewright.tables()}
        self.table_name = tables.get(self.run.table_id, "")
        ui.link("← All runs", "/runs")
        self.head = ui.refreshable(self.show_head)
        self.state = ui.refreshable(self.show_state)
        with card("Where it stands"):
            self.head()
            self.state()
        with card("Feed"):
            heading("What it told")
            self.feed = ui.element("ul").classes("tw-steps tw-feed").props('tabindex=0 aria-label="Feed of the run"')
        ui.timer(1.0, self.look)
        with_page(self.follow(max(0, self.run.last_event - FEED)))

    async def follow(self, after: int) -> None:
        """The newest on top."""
        async for event in self.seen.tablewright.jobs.watch(self.run.id, after=after):
            with self.feed:
                show_event(event).move(target_index=0)
            for old in self.feed.default_slot.children[FEED:]:
                old.delete()

    async def look(self) -> None:
        if self.report["status"] not in ("running", "stopping", "interrupted"):
            return
        run = await self.seen.tablewright.jobs.get(self.run.id)
        ended = run.status != "running"
        report = await self.seen.tablewright.jobs.report(run, reasons=ended)
        before, self.run, self.report = self.report, run, report
        if report["status"] != before["status"]:
            self.is_open = await self.awaits_review()
            self.head.refresh()
        if report != before:
            self.state.refresh()

    async def awaits_review(self) -> bool:
        proposal_id = self.report["proposal_id"]
        return bool(proposal_id) and (await self.seen.tablewright.proposal(proposal_id)).status == "open"

    def show_head(self) -> None:
        """Apart from what changes all the time: nobody wants a button replaced under the finger."""
        with row():
            show_status(self.report)
            if self.table_name:
                ui.link(safe(self.table_name, 80), f"/tables/{self.run.table_id}")
            ui.space()
            self.buttons()

    def show_state(self) -> None:
        report = self.report
        with ui.element("div").classes("tw-column"):
            if report["error"]:
                said(hidden(report["error"]))
            if report["total"]:
                bar(report["done"] / report["total"], "How far it is")
                said(so_far(report)).props("aria-live=polite")
            self.figures()
            beside = {
                "could not be looked for": report["unasked"],
                "answers without the model (degraded)": report["degraded"],
                "rows skipped, which lack what the question needs": report["incomplete"],
            }
            if report["found"] or report["empty"] or any(beside.values()):
                heading("What came of it", level=3)
                lines = [["found", f"{report['found']:,}"]]
                lines += [
                    [f"empty: {reason.replace('_', ' ')}", f"{count:,}"] for reason, count in report["empty"].items()
                ]
                lines += [[what, f"{count:,}"] for what, count in beside.items() if count]
                grid(["Cells", "Count"], lines, "Cells by what came of them")

    def figures(self) -> None:
        used = self.report["usage"]
        ended = f", ended {when(self.report['finished_at'])}" if self.report["finished_at"] else ""
        quiet(
            f"{many(used['llm_calls'], 'model call')}, {many(used['searches'], 'search')}, "
            f"{many(used['fetches'], 'page')}, {dollars(used['cost_usd'])}; "
            + (f"{tokens(used)}; " if used["input_tokens"] else "")
            + f"begun {when(self.report['started_at'])}{ended}"
        )

    def buttons(self) -> None:
        report = self.report
        if self.run.kind == "research" and "research" in self.run.spec:
            ui.link("Open the research", f"/research/{self.run.spec['research']}")
        if not self.seen.person.may_change:
            return
        if self.is_open:
            ui.link("Review what it proposes", f"/review/{report['proposal_id']}")
        if report["status"] == "running":
            ui.button("Stop", icon="stop", on_click=self.stop).props("outline color=negative")
        if report["status"] in CAN_GO_ON:
            ui.button("Go on", icon="play_arrow", on_click=self.go_on).props("unelevated")

    async def stop(self) -> None:
        now = await visit_to_run()
        await visible(now, self.run.id)
        await now.tablewright.jobs.cancel(self.run.id)
        say("It stops within a second; what was found is kept.")

    async def go_on(self) -> None:
        now = await visit_to_run()
        await visible(now, self.run.id)
        await now.tablewright.jobs.resume_in_background(self.run.id)
        ui.navigate.reload()


def show_event(event: Event) -> Element:
    with ui.element("li") as line:
        inline(when(event.at)[-5:]).classes("tw-muted tw-small")
        inline(shortened(told(event.progress), 300))
    return line


def told(news: Progress) -> str:
    """A piece of the feed in words: "Done: Kestrelworks: Founded 2009 (high)"."""
    parts = [STAGES.get(news.stage, ""), news.label or news.detail]
    said_of_row = ", ".join(
        f"{name} {cell_text(cell)} ({sureness(cell)})"
        if cell.status != "FAILED"
        else f"{name} {(cell.reason or 'failed').replace('_', ' ')}"
        for name, cell in news.cells.items()
    )
    words = " ".join(part for part in parts if part) or news.stage
    return f"{words}: {said_of_row}" if said_of_row else words
