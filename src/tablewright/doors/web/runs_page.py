"""Runs: the list, one run with its log, and charts of a table: how full, how sure, at what cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from nicegui import ui
from nicegui.element import Element

from tablewright.domain.model import Cell, Noun, Row, Table
from tablewright.domain.run import Event, Progress, Run
from tablewright.domain.text import cell_text, shortened, sureness
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import (
    Shown,
    bar,
    card,
    chip,
    grid,
    inline,
    journey,
    link_to,
    paragraph,
    quiet,
    row,
    safe,
    titled_card,
    when,
)
from tablewright.doors.web.frame import about, empty_state, heading, hidden, or_missing, visit_now, visit_to_run
from tablewright.doors.web.live import stop_run, with_page
from tablewright.doors.web.words import many, reason_text, stage_text, t
from tablewright.doors.wording import cost_text, dollars, duration, tokens
from tablewright.errors import NotFound
from tablewright.messages.catalogue import PageText
from tablewright.operations.runs import ResumeRun, RunShown, resume_run, show_run

AT_ONCE = 30
CHARTED = 300
LONGEST_NAME = 120
LONGEST_REASON = 240
"""Letters of why a run failed, in the list."""
FEED = 200
"""The last events that a run's page begins with."""
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
CAN_RESUME = ("cancelled", "failed", "interrupted", "paused")


@ui.page("/runs", title="Runs · Tablewright")
@or_missing
async def runs_page(table: str = "") -> None:
    seen = await visit_now()
    of = await seen.table(table) if table else None
    with journey(t("Runs of {name}", name=of.name) if of else t("Runs"), here="/" if of else "/runs"):
        if of:
            about(of.id)
            ui.link(t("← Back to the table"), f"/tables/{of.id}")
        await RunList(seen, of.id if of else None).show()


class RunList:
    """An open page with all runs, or those of one table, which are read again every other second."""

    def __init__(self, seen: Visit, table_id: str | None) -> None:
        self.seen = seen
        self.table_id = table_id
        self.runs: list[Run] = []
        self.reports: dict[str, RunShown] = {}
        self.names: dict[str, str] = {}

    async def show(self) -> None:
        self.runs = await self.seen.services.jobs.all(self.table_id, limit=AT_ONCE)
        await self.read_names()
        await self.report(before={})
        self.listed = ui.refreshable(self.show_list)
        with card(t("All runs")):
            self.listed()
        ui.timer(1.5, self.look)
        if self.runs:
            await self.show_charts()

    async def read_names(self) -> None:
        self.names = {each.id: each.name for each in await self.seen.services.tables()}

    async def report(self, before: Mapping[str, Run]) -> None:
        """Read the reports of runs that have changed."""
        for run in self.runs:
            if run != before.get(run.id):
                self.reports[run.id] = await show_run(self.seen.services, run)

    async def look(self) -> None:
        self.seen = await visit_now()
        before = {run.id: run for run in self.runs}
        self.runs = await self.seen.services.jobs.all(self.table_id, limit=AT_ONCE)
        if self.runs != [*before.values()]:
            if {run.id for run in self.runs} - before.keys():
                await self.read_names()
            await self.report(before)
            self.listed.refresh()

    def show_list(self) -> None:
        if not self.runs:
            with empty_state(t("No runs yet"), "directions_run"):
                ui.label(t("A run starts when you fill a column, read documents or research a question."))
                ui.link(t("Go to your tables"), "/")
            return
        of_all = [] if self.table_id else [t("Table")]
        columns = [t("Run"), *of_all, t("Status"), t("Progress"), t("Cost"), t("Started")]
        grid(columns, [self.line(run) for run in self.runs], t("Runs"))

    def line(self, run: Run) -> list[Shown]:
        report = self.reports[run.id]

        def status() -> None:
            show_status(report)
            if report.error:
                quiet(shortened(hidden(report.error), LONGEST_REASON))

        def progress() -> None:
            with ui.element("div").style("min-width: 130px"):
                if report.done < report.total:
                    done = t("{value} of {value2} done", value=report.done, value2=report.total)
                    bar(report.done / report.total, done)
                quiet(so_far(report))

        table = link_to(self.names[run.table_id], f"/tables/{run.table_id}") if run.table_id in self.names else ""
        return [
            link_to(name_of(run, report.total), f"/runs/{run.id}"),
            *([] if self.table_id else [table]),
            status,
            progress if report.total else "",
            t(cost_text(report.cost_usd)),
            lambda: inline(when(run.started_at)).classes("tw-when"),
        ]

    async def show_charts(self) -> None:
        with titled_card(t("Cost over time")):
            cost_chart(await self.seen.services.jobs.all(self.table_id, limit=CHARTED))
        tables = {id: safe(name, 80) for id, name in self.names.items() if self.table_id in (None, id)}
        if not tables:
            return
        first = next((run.table_id for run in self.runs if run.table_id in tables), next(iter(tables)))
        charts = ui.refreshable(self.show_figures)

        async def choose(event: Any) -> None:
            await charts.refresh(event.value)

        with card(t("Table statistics")):
            with row():
                heading(t("Table statistics")).classes("tw-grow")
                if len(tables) > 1:
                    ui.select(tables, value=first, label=t("Table"), on_change=choose).style(
                        "min-width: 180px; max-width: 100%"
                    )
            await charts(first)

    async def show_figures(self, table_id: str) -> None:
        now = await visit_now()
        table = await now.table(table_id)
        rows = await now.services.page(table.id, limit=MOST_ROWS)
        if not rows:
            quiet(t("This table has no rows yet."))
            return
        figures = figures_of(table, rows)
        if len(rows) == MOST_ROWS:
            quiet(t("Of the first {most_rows} rows.", most_rows=MOST_ROWS))
        with ui.element("div").classes("tw-half"):
            with ui.element("div"):
                heading(t("Coverage and confidence per column"), level=3)
                coverage_chart(figures)
            with ui.element("div"):
                heading(t("Sources by domain"), level=3)
                if figures.domains:
                    domains_chart(figures)
                else:
                    quiet(t("None of its cells cites a web page yet."))


def may_see(seen: Visit, run: Run) -> bool:
    """Return True for runs of the person's tables, and for those of no table, such as reading documents."""
    return seen.person.sees(run.table_id) if run.table_id else True


def name_of(run: Run, total: int) -> str:
    """Name a run by its work, such as "Founded, CEO · 30 rows"."""
    spec, columns = run.spec, ", ".join(run.spec.get("fields") or ())
    name = {
        "enrich": f"{columns} · {many(total, 'row')}" if total else columns,
        "recheck": f"{t('Recheck')}: {columns or t('all columns')}",
        "refresh": f"{t('Refresh')}: {columns or t('all columns')}",
        "ingest": f"{t('Read')}: {many(total or len(spec.get('paths', ())), 'file')}",
        "research": f"{t('Research')}: {spec.get('question', '')}",
        "find": f"{t('Find rows')}: {spec.get('question', '')}",
    }.get(run.kind, run.kind.capitalize())
    return safe(name.removesuffix(": "), LONGEST_NAME)


def show_status(report: RunShown) -> None:
    chip(t(report.status.replace("_", " ")), LOOKS.get(report.status, ""))


def so_far(report: RunShown) -> str:
    seconds = report.seconds_left
    left = f", {t('about {time} left', time=duration(seconds))}" if seconds else ""
    return f"{t('{filled} of {all}', filled=report.done, all=report.total)}{left}"


# ── one run ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/runs/{run_id}", title="Run · Tablewright")
@or_missing
async def run_page(run_id: str) -> None:
    seen = await visit_now()
    run = await visible(seen, run_id)
    total = (await show_run(seen.services, run)).total
    with journey(name_of(run, total), here="/runs"):
        await OpenRun(seen, run).show()


async def visible(seen: Visit, run_id: str) -> Run:
    run = await seen.services.jobs.get(run_id)
    if not may_see(seen, run):
        raise NotFound(t("There is no run {run_id}.", run_id=run_id))
    return run


class OpenRun:
    def __init__(self, seen: Visit, run: Run) -> None:
        self.seen = seen
        self.run = run

    async def show(self) -> None:
        about(self.run.table_id)
        self.report = await show_run(self.seen.services, self.run, reasons=True)
        self.is_open = await self.awaits_review()
        tables = {each.id: each.name for each in await self.seen.services.tables()}
        self.table_name = tables.get(self.run.table_id, "")
        ui.link(t("← All runs"), "/runs")
        self.head = ui.refreshable(self.show_head)
        self.state = ui.refreshable(self.show_state)
        with card(t("Status")):
            self.head()
            self.state()
        with titled_card(t("Log")):
            self.feed = (
                ui.element("ul").classes("tw-steps tw-feed").props(f'tabindex=0 aria-label="{t("Log of the run")}"')
            )
        ui.timer(1.0, self.look)
        with_page(self.follow(max(0, self.run.last_event - FEED)))

    async def follow(self, after: int) -> None:
        """Add the events of the run, the newest on top."""
        async for event in self.seen.services.jobs.watch(self.run.id, after=after):
            with self.feed:
                show_event(event).move(target_index=0)
            for old in self.feed.default_slot.children[FEED:]:
                old.delete()

    async def look(self) -> None:
        if self.report.status not in ("running", "stopping", "interrupted"):
            return
        run = await self.seen.services.jobs.get(self.run.id)
        ended = run.status != "running"
        report = await show_run(self.seen.services, run, reasons=ended)
        before, self.run, self.report = self.report, run, report
        if report.status != before.status:
            self.is_open = await self.awaits_review()
            self.head.refresh()
        if report != before:
            self.state.refresh()

    async def awaits_review(self) -> bool:
        proposal_id = self.report.proposal_id
        return (
            bool(proposal_id)
            and (await self.seen.services.store.proposals.get(proposal_id, counted=False)).status == "open"
        )

    def show_head(self) -> None:
        """Show the buttons, apart from what changes all the time: a button must not be replaced under the finger."""
        with row():
            show_status(self.report)
            if self.table_name:
                ui.link(safe(self.table_name, 80), f"/tables/{self.run.table_id}")
            ui.space()
            self.buttons()

    def show_state(self) -> None:
        report = self.report
        with ui.element("div").classes("tw-column"):
            if report.error:
                paragraph(hidden(report.error))
            if report.total:
                bar(report.done / report.total, t("Progress of the run"))
                paragraph(so_far(report)).props("aria-live=polite")
            self.figures()
            others = {
                t("could not be looked up"): report.unasked,
                t("answered without the model"): report.degraded,
                t("rows skipped because they lack what the question needs"): report.incomplete,
            }
            if report.found or report.empty or any(others.values()):
                heading(t("Result"), level=3)
                lines = [[t("found"), f"{report.found:,}"]]
                lines += [
                    [t("empty: {reason}", reason=reason_text(reason)), f"{count:,}"]
                    for reason, count in report.empty.items()
                ]
                lines += [[what, f"{count:,}"] for what, count in others.items() if count]
                grid([t("Cells"), t("Count")], lines, t("Cells by result"))

    def figures(self) -> None:
        used = self.report.usage
        cost = t(cost_text(self.report.cost_usd))
        finished = self.report.finished_at
        ended = f", {t('ended {when}', when=when(finished))}" if finished else ""
        quiet(
            f"{many(used.llm_calls, 'model call')}, {many(used.searches, 'search')}, "
            f"{many(used.fetches, 'page')}, {cost}; "
            + (f"{tokens(used)}; " if used.input_tokens else "")
            + t("started {when}", when=when(self.report.started_at))
            + ended
        )

    def buttons(self) -> None:
        report = self.report
        if self.run.kind == "research" and "research" in self.run.spec:
            ui.link(t("Open the research"), f"/research/{self.run.spec['research']}")
        if not self.seen.person.may_change:
            return
        if self.is_open:
            ui.link(t("Review the proposal"), f"/review/{report.proposal_id}")
        if report.status == "running":
            ui.button(t("Stop"), icon="stop", on_click=self.stop).props("outline color=negative")
        if report.status in CAN_RESUME:
            ui.button(t("Resume"), icon="play_arrow", on_click=self.resume).props("unelevated")

    async def stop(self) -> None:
        await visible(await visit_to_run(), self.run.id)
        await stop_run(self.run)

    async def resume(self) -> None:
        now = await visit_to_run()
        await visible(now, self.run.id)
        await resume_run(now.services, ResumeRun(run_id=self.run.id))
        ui.navigate.reload()


def show_event(event: Event) -> Element:
    with ui.element("li") as line:
        inline(when(event.at)[-5:]).classes("tw-muted tw-small")
        inline(shortened(progress_text(event.progress), 300))
    return line


def progress_text(news: Progress) -> str:
    """Describe an event, such as "Done: Kestrelworks: Founded 2009 (high)"."""
    words = " ".join(filter(None, (stage_text(news), news.label or news.detail))) or news.stage
    values = ", ".join(
        f"{name} {reason_text(cell.reason)}"
        if cell.status == "FAILED"
        else f"{name} {cell_text(cell)} ({sureness(cell)})"
        for name, cell in news.cells.items()
    )
    return f"{words}: {values}" if values else words


# ── charts of a table ─────────────────────────────────────────────────────────────────────────────────────────────────


MOST_ROWS = 2_000
"""Rows that a chart looks at: enough to see, and read in no time."""
MOST_COLUMNS = 30
MOST_DOMAINS = 12
INK, SEA = "#7d8a86", "#2b8a7f"
KINDS: PageText[dict[str, tuple[str, str]]] = {
    "high": ("High confidence", "#2f9e57"),
    "medium": ("Medium", "#d9a520"),
    "low": ("Low", "#e07b39"),
    "given": ("Given", "#7a8fa6"),
    "failed": ("Looked up, not found", "#c9564d"),
    "pending": ("Not looked up yet", "#c4cbc8"),
}


class ChartFigures(Noun, frozen=True):
    """Figures of the first rows of a table: cells by column and kind, and by the domain that they cite."""

    rows: int
    columns: Mapping[str, Mapping[str, int]]
    domains: tuple[tuple[str, int], ...]


def figures_of(table: Table, rows: Sequence[Row]) -> ChartFigures:
    columns: dict[str, Counter[str]] = {field.name: Counter() for field in table.shown_fields[:MOST_COLUMNS]}
    domains: Counter[str] = Counter()
    for each in rows:
        for name, counts in columns.items():
            cell = each.cell(name)
            counts[kind_of(cell)] += 1
            domains.update({evidence.domain for evidence in cell.evidence if evidence.domain})
    return ChartFigures(rows=len(rows), columns=columns, domains=tuple(domains.most_common(MOST_DOMAINS)))


def kind_of(cell: Cell) -> str:
    if cell.is_given:
        return "given"
    if cell.status == "FAILED":
        return "failed"
    if cell.value is None:
        return "pending"
    return "low" if cell.confidence_label == "none" else cell.confidence_label


def coverage_chart(figures: ChartFigures) -> None:
    """Draw a bar for each column, with a colour for each kind of cell."""
    names = list(figures.columns)[::-1]
    series = [
        {
            "name": t(label),
            "type": "bar",
            "stack": "cells",
            "barMaxWidth": 22,
            "itemStyle": {"color": colour},
            "data": [figures.columns[name].get(kind, 0) for name in names],
        }
        for kind, (label, colour) in KINDS.items()
        if any(counts.get(kind) for counts in figures.columns.values())
    ]
    chart(
        t(
            "Coverage and confidence of {value} in {rows}",
            value=many(len(names), "column"),
            rows=many(figures.rows, "row"),
        ),
        {
            "legend": {"type": "scroll", "top": 0, "textStyle": {"color": INK}},
            "grid": {"left": 8, "right": 16, "top": 36, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "value", "minInterval": 1, **axis()},
            "yAxis": {"type": "category", "data": [safe(name, 28) for name in names], **axis()},
            "series": series,
        },
        height=max(220, 80 + 30 * len(names)),
    )


def domains_chart(figures: ChartFigures) -> None:
    found = figures.domains[::-1]
    bars = {
        "name": "Cells",
        "type": "bar",
        "barMaxWidth": 22,
        "itemStyle": {"color": SEA},
        "label": {"show": True, "position": "right", "color": INK},
        "data": [count for _, count in found],
    }
    chart(
        t("Cells by source domain"),
        {
            "grid": {"left": 8, "right": 32, "top": 8, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "value", "minInterval": 1, **axis()},
            "yAxis": {"type": "category", "data": [safe(domain, 40) for domain, _ in found], **axis()},
            "series": [bars],
        },
        height=max(160, 60 + 28 * len(found)),
    )


def cost_chart(runs: Sequence[Run]) -> None:
    """Draw the total cost of runs over time."""
    inorder = sorted(runs, key=lambda run: run.started_at)
    spent = list(accumulate(run.usage.cost_usd for run in inorder))
    quiet(t("{value} in the last {value2}.", value=dollars(spent[-1]), value2=many(len(runs), "run")))
    if not spent[-1]:
        return
    line = {
        "name": "Dollars",
        "type": "line",
        "step": "end",
        "areaStyle": {"opacity": 0.15},
        "itemStyle": {"color": SEA},
        "data": [[run.started_at, round(total, 6)] for run, total in zip(inorder, spent, strict=True)],
    }
    chart(
        t("Cost over time, in dollars"),
        {
            "grid": {"left": 8, "right": 16, "top": 16, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "time", **axis()},
            "yAxis": {"type": "value", **axis()},
            "series": [line],
        },
        height=220,
    )


def axis() -> dict[str, Any]:
    return {"axisLabel": {"color": INK}, "splitLine": {"lineStyle": {"color": INK, "opacity": 0.2}}}


def chart(label: str, options: dict[str, Any], *, height: int) -> None:
    """Draw a chart with a label for screen readers; its texts are never taken for HTML."""
    tooltip = {"trigger": "axis", "renderMode": "richText", "axisPointer": {"type": "shadow"}}
    shown = ui.echart({"animation": False, "tooltip": tooltip, **options}).classes("tw-chart")
    shown.style(f"height: {height}px").props("role=img").props["aria-label"] = label
