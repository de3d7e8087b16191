"""The grid: columns, how it asks for rows, and how it is told what has changed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import msgspec
from nicegui import context, ui

from tablewright.domain.model import Cell, Field, RowId, Table
from tablewright.domain.views import View
from tablewright.doors.web.grid_rows import RowQuery, shown
from tablewright.doors.web.words import t, type_text
from tablewright.messages.catalogue import PageText

NUMBER = "tw:number"
NO_ROWS: PageText[str] = "No row matches. Choose All rows, or clear the filters and the search."
WIDTHS = {"number": 165, "boolean": 140, "date": 165, "money": 180, "select": 180}
SCRIPTS = ("menu", "unsent", "selection", "columns", "panel", "grid")

EDITING = {":editable": "tablewright.grid.editable", ":cellEditorSelector": "tablewright.grid.editorOf"}


class TableGrid:
    """The grid of one open page. `extra` are columns that only the open proposal has."""

    def __init__(
        self, table: Table, extra: Sequence[Field], wanted: RowQuery, view: View, *, rows: int, may_edit: bool
    ) -> None:
        self._may_edit = may_edit
        self._client = context.client
        self.wanted = msgspec.structs.replace(wanted, view=new_view())
        for name in SCRIPTS:
            ui.add_head_html(f'<script src="/page-files/{name}.js"></script>')
        self.element = ui.aggrid(
            {
                "columnDefs": grid_columns(table, extra, may_edit=self._may_edit),
                "rowModelType": "infinite",
                ":datasource": f"(tablewright.grid.start({json.dumps(self.query())}), tablewright.grid.datasource())",
                ":getRowId": "(params) => String(params.data.id)",
                ":onCellClicked": "tablewright.grid.clicked",
                ":onGridSizeChanged": "tablewright.grid.resized",
                ":onSortChanged": "tablewright.columns.changed",
                ":onColumnMoved": "tablewright.columns.changed",
                ":onColumnResized": "tablewright.columns.changed",
                ":onColumnVisible": "tablewright.columns.changed",
                ":onCellDoubleClicked": "tablewright.grid.doubled",
                ":onCellEditingStopped": "tablewright.grid.settled",
                ":onCellFocused": "tablewright.grid.focused",
                ":onCellKeyDown": "tablewright.grid.pressed",
                ":onGridReady": "tablewright.grid.ready",
                "context": {"mayEdit": may_edit, "view": msgspec.to_builtins(view) if view.columns else None},
                "maintainColumnOrder": True,
                "cacheBlockSize": 100,
                "maxBlocksInCache": 40,
                "maxConcurrentDatasourceRequests": 2,
                "blockLoadDebounceMillis": 40,
                "infiniteInitialRowCount": max(rows, 1),
                "rowBuffer": 6,
                "rowHeight": 36,
                "headerHeight": 38,
                "suppressFieldDotNotation": True,
                "stopEditingWhenCellsLoseFocus": True,
                "undoRedoCellEditing": False,
                "enterNavigatesVerticallyAfterEdit": True,
                "suppressColumnVirtualisation": False,
                "animateRows": False,
                "overlayNoRowsTemplate": f"<span>{escape(t(NO_ROWS))}</span>",
                "defaultColDef": {
                    "sortable": True,
                    "sortingOrder": ["asc", "desc", None],
                    "resizable": True,
                    "suppressHeaderMenuButton": True,
                    ":suppressKeyboardEvent": "tablewright.selection.takes",
                    "headerComponentParams": {":innerHeaderComponent": "tablewright.columns.Head"},
                },
            },
            auto_size_columns=False,
        ).classes("tw-sheet")
        self.element.props(f'role=region aria-label="{t("Rows of the table")}"')

    def show_columns(self, table: Table, extra: Sequence[Field], *, new: str = "") -> None:
        """With `new`, that one comes into view."""
        self._call("columns", grid_columns(table, extra, may_edit=self._may_edit), new)

    def look(self, **wanted: Any) -> None:
        """At other rows, or at the same anew."""
        self.wanted = msgspec.structs.replace(self.wanted, **wanted, view=new_view())
        self._call("look", self.query())
        self._run("columns.filtered", [where.column for where in self.wanted.filters])

    def lay_out(self, view: View) -> None:
        self._run("columns.apply", msgspec.to_builtins(view) | {"columns": msgspec.to_builtins(view.columns)})

    def wrap(self, on: bool) -> None:
        self._run("columns.wrap", on)

    def refresh(self) -> None:
        """The rows that are shown, as they are now, in their place."""
        self.wanted = msgspec.structs.replace(self.wanted, view=new_view())
        self._call("refresh", self.query())

    def show_proposed(self, names: Sequence[str]) -> None:
        """A run has filled rows in these columns: those in view are read again, unless they have been already."""
        self._call("showProposed", list(names))

    def update(self, cells: Mapping[RowId, Mapping[str, Cell]], *, proposed: bool = False) -> None:
        """Cells of rows that may be in view."""
        views = [
            {"id": row_id, "cells": {name: shown(cell, proposed=proposed) for name, cell in own.items()}}
            for row_id, own in cells.items()
        ]
        self._call("update", views)

    def put_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Whole rows, in place of what the browser has of them."""
        self._call("update", [{**row, "whole": True} for row in rows])

    def show_panel(self, heading: ui.label, *, to_it: bool) -> None:
        """The panel is open; `to_it`: whoever uses the keyboard goes on at its heading."""
        self._call("showPanel", heading.id, to_it)

    def leave_panel(self) -> None:
        """It was closed: whoever was in it goes on in the cell from which it was opened."""
        self._call("leavePanel")

    def _call(self, name: str, *values: Any) -> None:
        self._run(f"grid.{name}", self.element.id, *values)

    def _run(self, name: str, *values: Any) -> None:
        given = ", ".join(json.dumps(value) for value in values)
        self._client.run_javascript(f"tablewright.{name}({given})")

    def query(self) -> dict[str, Any]:
        wanted = self.wanted
        return {
            "table": wanted.table_id,
            "proposals": ",".join(wanted.proposals),
            "only": wanted.only,
            "find": wanted.find,
            "filters": msgspec.json.encode(wanted.filters).decode(),
            "view": wanted.view,
        }


def grid_columns(table: Table, extra: Sequence[Field], *, may_edit: bool) -> list[dict[str, Any]]:
    numbers = {
        "colId": NUMBER,
        "headerName": "#",
        ":cellRenderer": "tablewright.grid.drawNumber",
        "initialWidth": 64,
        "pinned": "left",
        "sortable": False,
        "cellClass": "tw-number",
        "suppressMovable": True,
    }
    fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    columns = [grid_column(field, table.key_field, may_edit=may_edit) for field in fields]
    for field in extra:
        proposed = table.field(field.name) is None
        columns.append(grid_column(field, table.key_field, may_edit=may_edit and not proposed, proposed=proposed))
    return [numbers, *columns]


def grid_column(field: Field, key_field: str, *, may_edit: bool, proposed: bool = False) -> dict[str, Any]:
    is_key, is_figure = field.name == key_field, field.type in ("number", "money")
    return {
        "colId": field.name,
        "headerName": field.name,
        "headerTooltip": field.question or field.description or f"{field.name}: {type_text(field)}",
        ":cellRenderer": "tablewright.grid.draw",
        "cellRendererParams": {"right": is_figure},
        ":valueGetter": "tablewright.grid.valueOf",
        ":valueSetter": "tablewright.grid.edited",
        "cellClass": "tw-box",
        **(EDITING if may_edit else {"editable": False}),
        "initialWidth": 210 if is_key else WIDTHS.get(field.type, 215),
        "context": {
            "unit": field.unit,
            "asked": field.is_asked,
            "right": is_figure,
            "key": is_key,
            "proposed": proposed,
        },
        **({"pinned": "left", "lockPinned": True} if is_key else {}),
    }


def new_view() -> str:
    """Unlike all others: what was sorted or found is remembered, and whoever looks anew shall not get it again."""
    return secrets.token_hex(6)
