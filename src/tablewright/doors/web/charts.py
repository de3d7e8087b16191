"""Charts: how full and how sure each column of a table is, who the sources are, what was spent when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from nicegui import ui

from tablewright.domain.model import Cell, Noun, Row, Table
from tablewright.doors.web.elements import dollars, many, quiet, safe
from tablewright.doors.web.words import t
from tablewright.messages.catalogue import PageText
from tablewright.services import Run

MOST_ROWS = 2_000
"""Rows that a chart looks at: enough to see, and read in no time."""
MOST_COLUMNS = 30
MOST_DOMAINS = 12
INK = "#7d8a86"
KINDS: PageText[dict[str, tuple[str, str]]] = {
    "high": ("High confidence", "#2f9e57"),
    "medium": ("Medium", "#d9a520"),
    "low": ("Low", "#e07b39"),
    "given": ("Given", "#7a8fa6"),
    "failed": ("Looked up, not found", "#c9564d"),
    "pending": ("Not looked up yet", "#c4cbc8"),
}


class ChartFigures(Noun, frozen=True):
    """Of the first rows of a table: how many cells of a column are of which kind, and how many cite which domain."""

    rows: int
    columns: Mapping[str, Mapping[str, int]]
    domains: tuple[tuple[str, int], ...]


def figures_of(table: Table, rows: Sequence[Row]) -> ChartFigures:
    columns: dict[str, Counter[str]] = {field.name: Counter() for field in table.shown_fields[:MOST_COLUMNS]}
    domains: Counter[str] = Counter()
    for row in rows:
        for name, counts in columns.items():
            cell = row.cell(name)
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
    """A bar for each column, a colour for each kind of cell."""
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
    chart(
        t("Cells by source domain"),
        {
            "grid": {"left": 8, "right": 32, "top": 8, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "value", "minInterval": 1, **axis()},
            "yAxis": {"type": "category", "data": [safe(domain, 40) for domain, _ in found], **axis()},
            "series": [
                {
                    "name": "Cells",
                    "type": "bar",
                    "barMaxWidth": 22,
                    "itemStyle": {"color": "#2b8a7f"},
                    "label": {"show": True, "position": "right", "color": INK},
                    "data": [count for _, count in found],
                }
            ],
        },
        height=max(160, 60 + 28 * len(found)),
    )


def cost_chart(runs: Sequence[Run]) -> None:
    """What all these runs have cost together, as time went by."""
    inorder = sorted(runs, key=lambda run: run.started_at)
    spent = list(accumulate(run.usage.cost_usd for run in inorder))
    quiet(t("{value} in the last {value2}.", value=dollars(spent[-1]), value2=many(len(runs), "run")))
    if not spent[-1]:
        return
    chart(
        t("Cost over time, in dollars"),
        {
            "grid": {"left": 8, "right": 16, "top": 16, "bottom": 8, "containLabel": True},
            "xAxis": {"type": "time", **axis()},
            "yAxis": {"type": "value", **axis()},
            "series": [
                {
                    "name": "Dollars",
                    "type": "line",
                    "step": "end",
                    "areaStyle": {"opacity": 0.15},
                    "itemStyle": {"color": "#2b8a7f"},
                    "data": [[run.started_at, round(total, 6)] for run, total in zip(inorder, spent, strict=True)],
                }
            ],
        },
        height=220,
    )


def axis() -> dict[str, Any]:
    return {"axisLabel": {"color": INK}, "splitLine": {"lineStyle": {"color": INK, "opacity": 0.2}}}


def chart(label: str, options: dict[str, Any], *, height: int) -> None:
    """With words for those who do not see it; what it shows is never taken for HTML."""
    tooltip = {"trigger": "axis", "renderMode": "richText", "axisPointer": {"type": "shadow"}}
    shown = ui.echart({"animation": False, "tooltip": tooltip, **options}).classes("tw-chart")
    shown.style(f"height: {height}px").props("role=img").props["aria-label"] = label
