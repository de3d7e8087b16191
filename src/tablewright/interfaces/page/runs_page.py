"""Runs: the list, one run with its log, and charts of a table's coverage, confidence and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from nicegui import ui

from tablewright.domain.model import Cell, Row, Struct, Table
from tablewright.domain.run import Progress, Run
from tablewright.domain.text import cell_text, format_cell_confidence, shorten_text
from tablewright.errors import NotFound
from tablewright.interfaces.page.elements import (
    GridContent,
    display_text,
    flex_row,
    format_page_time,
    inline_text,
    page_card,
    page_link,
    progress_bar,
    show_chip,
    show_paragraph,
    show_remark,
    show_table_grid,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import (
    answer_missing,
    empty_state,
    hide_paths,
    note_page_table,
    show_heading,
    show_notice,
    visit_now,
)
from tablewright.interfaces.page.live import run_while_open, stop_followed_run
from tablewright.interfaces.page.words import counted_text, reason_text, stage_text, t
from tablewright.interfaces.server.context import Visit
from tablewright.interfaces.wording import format_cost, format_dollars, format_duration, format_tokens
from tablewright.messages.catalogue import PageText
from tablewright.operations.runs import ResumeRun, RunRequest, RunShown, pause_run, resume_run, show_run

# Events in the log of a run's page; older ones are removed as new ones arrive.
LOG_LINES = 200


@ui.page("/runs", title="Runs · Tablewright")
@answer_missing
async def runs_page(table: str = "") -> None:
    seen = await visit_now()
    of = await seen.table(table) if table else None
    with titled_page(t("Runs of {name}", name=of.name) if of else t("Runs"), here="/" if of else "/runs"):
        if of:
            note_page_table(of.id)
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
        await self.read()
        self.listed = ui.refreshable(self.show_list)
        with page_card(t("All runs")):
            self.listed()
        # Each look is one query; runs change by the second, and a page of them is often left open.
        ui.timer(1.5, self.look)
        if self.runs:
            await self.show_charts()

    async def read(self) -> bool:
        """Read the runs and the reports of those that have changed; True if any has."""
        services = self.seen.services
        # Not more, because all of them are read again every other second.
        before, self.runs = self.runs, await services.jobs.all(self.table_id, limit=30)
        if {run.id for run in self.runs} - {run.id for run in before}:
            self.names = {each.id: each.name for each in await services.tables()}
        # A report reads the run's cells, so only those of changed runs are made again.
        for run in self.runs:
            if run not in before:
                self.reports[run.id] = await show_run(services, run)
        return self.runs != before

    async def look(self) -> None:
        self.seen = await visit_now()
        if await self.read():
            self.listed.refresh()

    def show_list(self) -> None:
        if not self.runs:
            with empty_state(t("No runs yet"), "directions_run"):
                ui.label(t("A run starts when you fill a column, read documents or research a question."))
                ui.link(t("Go to your tables"), "/")
            return
        of_all = [] if self.table_id else [t("Table")]
        columns = [t("Run"), *of_all, t("Status"), t("Progress"), t("Cost"), t("Started")]
        show_table_grid(columns, [self.line(run) for run in self.runs], t("Runs"))

    def line(self, run: Run) -> list[GridContent]:
        report = self.reports[run.id]

        def status() -> None:
            show_status(report)
            if report.error:
                show_remark(shorten_text(hide_paths(report.error), 240))

        def progress() -> None:
            with ui.element("div").style("min-width: 130px"):
                if report.done < report.total:
                    done = t("{value} of {value2} done", value=report.done, value2=report.total)
                    progress_bar(report.done / report.total, done)
                show_remark(progress_so_far(report))

        table = page_link(self.names[run.table_id], f"/tables/{run.table_id}") if run.table_id in self.names else ""
        return [
            page_link(run_name(run, report.total), f"/runs/{run.id}"),
            *([] if self.table_id else [table]),
            status,
            progress if report.total else "",
            t(format_cost(report.cost_usd)),
            lambda: inline_text(format_page_time(run.started_at)).classes("tw-when"),
        ]

    async def show_charts(self) -> None:
        with titled_card(t("Cost over time")):
            # More points than a chart on the page can show apart.
            show_cost_chart(await self.seen.services.jobs.all(self.table_id, limit=300))
        tables = {id: display_text(name, 80) for id, name in self.names.items() if self.table_id in (None, id)}
        if not tables:
            return
        # The table of the newest run is the likeliest one to look at.
        first = next((run.table_id for run in self.runs if run.table_id in tables), next(iter(tables)))
        charts = ui.refreshable(self.show_figures)

        with page_card(t("Table statistics")):
            with flex_row():
                show_heading(t("Table statistics")).classes("tw-grow")
                if len(tables) > 1:
                    chosen = ui.select(tables, value=first, label=t("Table"))
                    chosen.on_value_change(lambda event: charts.refresh(event.value))
                    chosen.style("min-width: 180px; max-width: 100%")
            await charts(first)

    async def show_figures(self, table_id: str) -> None:
        now = await visit_now()
        table = await now.table(table_id)
        # Enough rows for the shares, and read at once.
        most = 2_000
        rows = await now.services.page(table.id, limit=most)
        if not rows:
            show_remark(t("This table has no rows yet."))
            return
        figures = collect_chart_figures(table, rows)
        if len(rows) == most:
            show_remark(t("Of the first {most_rows} rows.", most_rows=most))
        with ui.element("div").classes("tw-half"):
            with ui.element("div"):
                show_heading(t("Coverage and confidence per column"), level=3)
                show_coverage_chart(figures)
            with ui.element("div"):
                show_heading(t("Sources by domain"), level=3)
                show_domains_chart(figures)


def run_name(run: Run, total: int) -> str:
    """Name a run by its work, such as "Founded, CEO · 30 rows"."""
    spec, columns = run.spec, ", ".join(run.spec.get("fields") or ())
    name = {
        "enrich": f"{columns} · {counted_text(total, 'row')}" if total else columns,
        "recheck": f"{t('Recheck')}: {columns or t('all columns')}",
        "refresh": f"{t('Refresh')}: {columns or t('all columns')}",
        "ingest": f"{t('Read')}: {counted_text(total or len(spec.get('paths', ())), 'file')}",
        "research": f"{t('Research')}: {spec.get('question', '')}",
        "find": f"{t('Find rows')}: {spec.get('question', '')}",
        "shortlist": t("Shortlist"),
    }.get(run.kind, run.kind.capitalize())
    return display_text(name.removesuffix(": "), 120)


def show_status(report: RunShown) -> None:
    looks = {
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
    show_chip(t(report.status.replace("_", " ")), looks.get(report.status, ""))


def progress_so_far(report: RunShown) -> str:
    seconds = report.seconds_left
    left = f", {t('about {time} left', time=format_duration(seconds))}" if seconds else ""
    return f"{t('{filled} of {all}', filled=report.done, all=report.total)}{left}"


# ── one run ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/runs/{run_id}", title="Run · Tablewright")
@answer_missing
async def run_page(run_id: str) -> None:
    seen = await visit_now()
    run = await visible_run(seen, run_id)
    total = (await show_run(seen.services, run)).total
    with titled_page(run_name(run, total), here="/runs"):
        await OpenRun(seen, run).show()


async def visible_run(seen: Visit, run_id: str) -> Run:
    run = await seen.services.jobs.get(run_id)
    # Runs of no table, such as reading documents, are seen by all.
    if run.table_id and not seen.person.sees(run.table_id):
        raise NotFound(t("There is no run {run_id}.", run_id=run_id))
    return run


class OpenRun:
    def __init__(self, seen: Visit, run: Run) -> None:
        self.seen = seen
        self.run = run

    async def show(self) -> None:
        note_page_table(self.run.table_id)
        self.report = await show_run(self.seen.services, self.run, reasons=True)
        self.is_open = await self.awaits_review()
        tables = {each.id: each.name for each in await self.seen.services.tables()}
        self.table_name = tables.get(self.run.table_id, "")
        ui.link(t("← All runs"), "/runs")
        self.head, self.state = ui.refreshable(self.show_head), ui.refreshable(self.show_state)
        with page_card(t("Status")):
            self.head()
            self.state()
        with titled_card(t("Log")):
            self.feed = ui.element("ul").classes("tw-steps tw-feed").props("tabindex=0")
            self.feed.props["aria-label"] = t("Log of the run")
        # The log arrives by itself; only status and figures are read again.
        ui.timer(1.0, self.look)
        # The events before the last LOG_LINES would be removed as soon as they were drawn.
        run_while_open(self.follow(max(0, self.run.last_event - LOG_LINES)))

    async def follow(self, after: int) -> None:
        """Add the events of the run, the newest on top."""
        async for event in self.seen.services.jobs.watch(self.run.id, after=after):
            with self.feed, ui.element("li") as line:
                # Hours and minutes; the day is in the line of the figures.
                inline_text(format_page_time(event.at)[-5:]).classes("tw-muted tw-small")
                inline_text(shorten_text(progress_text(event.progress), 300))
            line.move(target_index=0)
            # The log of a long run would otherwise grow without bound in the browser.
            for old in self.feed.default_slot.children[LOG_LINES:]:
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
        proposals = self.seen.services.store.proposals
        return bool(proposal_id) and (await proposals.get(proposal_id, counted=False)).status == "open"

    def show_head(self) -> None:
        """Show the buttons, apart from what changes all the time: a button must not be replaced under the finger."""
        with flex_row():
            show_status(self.report)
            if self.table_name:
                ui.link(display_text(self.table_name, 80), f"/tables/{self.run.table_id}")
            ui.space()
            self.buttons()

    def show_state(self) -> None:
        report = self.report
        with ui.element("div").classes("tw-column"):
            if report.error:
                show_paragraph(hide_paths(report.error))
            if report.total:
                progress_bar(report.done / report.total, t("Progress of the run"))
                show_paragraph(progress_so_far(report)).props("aria-live=polite")
            self.figures()
            others = {
                t("could not be looked up"): report.unasked,
                t("answered without the model"): report.degraded,
                t("rows skipped because they lack what the question needs"): report.incomplete,
            }
            empty = {t("empty: {reason}", reason=reason_text(reason)): count for reason, count in report.empty.items()}
            counts = {t("found"): report.found, **empty, **{what: count for what, count in others.items() if count}}
            if any(counts.values()):
                show_heading(t("Result"), level=3)
                lines = [[what, f"{count:,}"] for what, count in counts.items()]
                show_table_grid([t("Cells"), t("Count")], lines, t("Cells by result"))

    def figures(self) -> None:
        used = self.report.usage
        cost = t(format_cost(self.report.cost_usd))
        finished = self.report.finished_at
        ended = f", {t('ended {when}', when=format_page_time(finished))}" if finished else ""
        show_remark(
            f"{counted_text(used.llm_calls, 'model call')}, {counted_text(used.searches, 'search')}, "
            f"{counted_text(used.fetches, 'page')}, {cost}; "
            + (f"{format_tokens(used)}; " if used.input_tokens else "")
            + t("started {when}", when=format_page_time(self.report.started_at))
            + ended
        )

    def buttons(self) -> None:
        report = self.report
        if self.run.kind == "research" and "research" in self.run.spec:
            ui.link(t("Open the research"), f"/research/{self.run.spec['research']}")
        if self.run.kind == "shortlist" and "shortlist" in self.run.spec:
            ui.link(t("Open the conversation"), f"/shortlist/{self.run.spec['shortlist']}")
        if not self.seen.person.may_change:
            return
        if self.is_open:
            ui.link(t("Review the proposal"), f"/review/{report.proposal_id}")
        if report.status == "running":
            ui.button(t("Pause"), icon="pause", on_click=self.pause).props("outline")
            ui.button(t("Stop"), icon="stop", on_click=self.stop).props("outline color=negative")
        if report.status in ("cancelled", "failed", "interrupted", "paused"):
            ui.button(t("Resume"), icon="play_arrow", on_click=self.resume).props("unelevated")

    async def stop(self) -> None:
        await visible_run(await visit_now("run"), self.run.id)
        await stop_followed_run(self.run)

    async def pause(self) -> None:
        await visible_run(now := await visit_now("run"), self.run.id)
        await pause_run(now.services, RunRequest(run_id=self.run.id))
        show_notice(t("Pausing. What was found is kept."))

    async def resume(self) -> None:
        await visible_run(now := await visit_now("run"), self.run.id)
        await resume_run(now.services, ResumeRun(run_id=self.run.id))
        ui.navigate.reload()


def progress_text(news: Progress) -> str:
    """Describe an event, such as "Done: Kestrelworks: Founded 2009 (high)"."""
    words = " ".join(filter(None, (stage_text(news), news.label or news.detail))) or news.stage
    values = ", ".join(
        f"{name} {reason_text(cell.reason)}"
        if cell.status == "FAILED"
        else f"{name} {cell_text(cell)} ({format_cell_confidence(cell)})"
        for name, cell in news.cells.items()
    )
    return f"{words}: {values}" if values else words


# ── charts of a table ─────────────────────────────────────────────────────────────────────────────────────────────────


# Colours with enough contrast on the light and on the dark ground, since a chart knows no theme.
INK, SEA = "#7d8a86", "#2b8a7f"


class ChartFigures(Struct, frozen=True):
    """Figures of the first rows of a table: cells by column and kind, and by the domain that they cite."""

    rows: int
    columns: Mapping[str, Mapping[str, int]]
    domains: tuple[tuple[str, int], ...]


def collect_chart_figures(table: Table, rows: Sequence[Row]) -> ChartFigures:
    # Thirty bars are as many as one screen holds.
    columns: dict[str, Counter[str]] = {field.name: Counter() for field in table.shown_fields[:30]}
    domains: Counter[str] = Counter()
    for each in rows:
        for name, counts in columns.items():
            cell = each.cell(name)
            counts[chart_cell_kind(cell)] += 1
            domains.update({evidence.domain for evidence in cell.evidence if evidence.domain})
    # The twelve commonest domains; the rest are cited once or twice and would hide them.
    return ChartFigures(rows=len(rows), columns=columns, domains=tuple(domains.most_common(12)))


def chart_cell_kind(cell: Cell) -> str:
    if cell.is_given:
        return "given"
    if cell.status == "FAILED":
        return "failed"
    if cell.value is None:
        return "pending"
    # The chart has no colour for "none": a value without confidence is to be checked like a low one.
    return "low" if cell.confidence_label == "none" else cell.confidence_label


def show_coverage_chart(figures: ChartFigures) -> None:
    """Draw a bar for each column, with a colour for each kind of cell."""
    # Label and colour of each kind of cell.
    kinds: PageText[dict[str, tuple[str, str]]] = {
        "high": ("High confidence", "#2f9e57"),
        "medium": ("Medium", "#d9a520"),
        "low": ("Low", "#e07b39"),
        "given": ("Given", "#7a8fa6"),
        "failed": ("Looked up, not found", "#c9564d"),
        "pending": ("Not looked up yet", "#c4cbc8"),
    }
    # Charts draw the first category at the bottom.
    names = list(figures.columns)[::-1]
    series = [
        {
            "name": t(label),
            "stack": "cells",
            "barMaxWidth": 22,
            "itemStyle": {"color": colour},
            "data": [figures.columns[name].get(kind, 0) for name in names],
        }
        for kind, (label, colour) in kinds.items()
        if any(counts.get(kind) for counts in figures.columns.values())
    ]
    shown = {"value": counted_text(len(names), "column"), "rows": counted_text(figures.rows, "row")}
    show_bar_chart(
        t("Coverage and confidence of {value} in {rows}", **shown),
        [display_text(name, 28) for name in names],
        series,
        legend={"type": "scroll", "top": 0, "textStyle": {"color": INK}},
    )


def show_domains_chart(figures: ChartFigures) -> None:
    if not figures.domains:
        show_remark(t("None of its cells cites a web page yet."))
        return
    found = figures.domains[::-1]
    bars = {
        "name": "Cells",
        "barMaxWidth": 22,
        "itemStyle": {"color": SEA},
        "label": {"show": True, "position": "right", "color": INK},
        "data": [count for _, count in found],
    }
    show_bar_chart(t("Cells by source domain"), [display_text(domain, 40) for domain, _ in found], [bars])


def show_bar_chart(
    label: str, names: Sequence[str], series: Sequence[dict[str, Any]], legend: dict[str, Any] | None = None
) -> None:
    """Draw a horizontal bar for each name."""
    # In pixels: the legend takes the place above the bars, and the labels of values that at their right.
    edges = {"left": 8, "right": 16 if legend else 32, "top": 36 if legend else 8, "bottom": 8, "containLabel": True}
    # 30 pixels for a bar with its gap, 80 for the legend and the axis.
    height = max(220, 80 + 30 * len(names)) if legend else max(160, 60 + 28 * len(names))
    options = {
        "grid": edges,
        "xAxis": {"type": "value", "minInterval": 1, **chart_axis()},
        "yAxis": {"type": "category", "data": list(names), **chart_axis()},
        "series": [{"type": "bar", **each} for each in series],
    }
    show_chart(label, options | ({"legend": legend} if legend else {}), height=height)


def show_cost_chart(runs: Sequence[Run]) -> None:
    """Draw the total cost of runs over time."""
    # The list has the newest first; a sum over time starts with the oldest.
    inorder = sorted(runs, key=lambda run: run.started_at)
    spent = list(accumulate(run.usage.cost_usd for run in inorder))
    counted = counted_text(len(runs), "run")
    show_remark(t("{value} in the last {value2}.", value=format_dollars(spent[-1]), value2=counted))
    if not spent[-1]:
        return
    line = {
        "name": "Dollars",
        "type": "line",
        "step": "end",
        "areaStyle": {"opacity": 0.15},
        "itemStyle": {"color": SEA},
        # Sums of floats have digits that no price has.
        "data": [[run.started_at, round(total, 6)] for run, total in zip(inorder, spent, strict=True)],
    }
    show_chart(
        t("Cost over time, in dollars"),
        {
            "grid": {"left": 8, "right": 16, "top": 16, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "time", **chart_axis()},
            "yAxis": {"type": "value", **chart_axis()},
            "series": [line],
        },
        height=220,
    )


def chart_axis() -> dict[str, Any]:
    return {"axisLabel": {"color": INK}, "splitLine": {"lineStyle": {"color": INK, "opacity": 0.2}}}


def show_chart(label: str, options: dict[str, Any], *, height: int) -> None:
    """Draw a chart with a label for screen readers; its texts are never taken for HTML."""
    # Rich text: the default renders HTML, and names of columns and domains are foreign.
    tooltip = {"trigger": "axis", "renderMode": "richText", "axisPointer": {"type": "shadow"}}
    shown = ui.echart({"animation": False, "tooltip": tooltip, **options}).classes("tw-chart")
    shown.style(f"height: {height}px").props("role=img").props["aria-label"] = label
