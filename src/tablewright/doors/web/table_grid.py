"""The grid: columns, how it asks for rows, and how it is told what has changed."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from nicegui import context, ui

from tablewright.doors.web.grid_rows import Only, Wanted, shown
from tablewright.table.model import Cell, Field, RowId, Table

NUMBER = "tw:number"
WIDTHS = {"number": 165, "boolean": 140, "date": 165, "money": 180, "select": 180}


class TableGrid:
    """The grid of one open page. `extra` are columns that only the open proposal has."""

    def __init__(self, table: Table, extra: Sequence[Field], wanted: Wanted, *, rows: int, may_edit: bool) -> None:
        self._may_edit = may_edit
        self._client = context.client
        self.wanted = msgspec.structs.replace(wanted, view=new_view())
        ui.add_head_html('<script src="/page-files/grid.js"></script>')
        self.element = ui.aggrid(
            {
                "columnDefs": self._columns(table, extra),
                "rowModelType": "infinite",
                ":datasource": f"(tablewright.grid.start({json.dumps(self._query())}), tablewright.grid.datasource())",
                ":getRowId": "(params) => String(params.data.id)",
                ":onCellClicked": "tablewright.grid.open",
                ":onCellDoubleClicked": "tablewright.grid.doubled",
                ":onCellEditingStopped": "tablewright.grid.settled",
                ":onCellFocused": "tablewright.grid.focused",
                ":onCellKeyDown": "tablewright.grid.pressed",
                ":onGridReady": "tablewright.grid.ready",
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
                "suppressColumnVirtualisation": False,
                "animateRows": False,
                "overlayNoRowsTemplate": "<span>No row is like that.</span>",
                "defaultColDef": {
                    "sortable": True,
                    "sortingOrder": ["asc", "desc", None],
                    "resizable": True,
                    "suppressHeaderMenuButton": True,
                },
            },
            auto_size_columns=False,
        ).classes("tw-sheet")
        self.element.props('role=region aria-label="Rows of the table"')

    def show_columns(self, table: Table, extra: Sequence[Field]) -> None:
        self._call("columns", self._columns(table, extra))

    def look(self, *, only: Only | None = None, find: str | None = None, proposal_id: str | None = None) -> None:
        """At other rows, or at the same anew."""
        self.wanted = msgspec.structs.replace(
            self.wanted,
            only=self.wanted.only if only is None else only,
            find=self.wanted.find if find is None else find,
            proposal_id=self.wanted.proposal_id if proposal_id is None else proposal_id,
            view=new_view(),
        )
        self._call("look", self._query())

    def refresh(self) -> None:
        """The rows that are shown, as they are now, in their place."""
        self.wanted = msgspec.structs.replace(self.wanted, view=new_view())
        self._call("refresh", self._query())

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
        given = ", ".join(json.dumps(value) for value in (self.element.id, *values))
        self._client.run_javascript(f"tablewright.grid.{name}({given})")

    def _query(self) -> dict[str, Any]:
        wanted = self.wanted
        return {
            "table": wanted.table_id,
            "proposal": wanted.proposal_id,
            "only": wanted.only,
            "find": wanted.find,
            "view": wanted.view,
        }

    def _columns(self, table: Table, extra: Sequence[Field]) -> list[dict[str, Any]]:
        numbers = {
            "colId": NUMBER,
            "headerName": "#",
            ":valueGetter": "tablewright.grid.numberOf",
            "width": 64,
            "pinned": "left",
            "sortable": False,
            "cellClass": "tw-number",
            "suppressMovable": True,
        }
        fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
        return [numbers, *(self._column(field, table) for field in (*fields, *extra))]

    def _column(self, field: Field, table: Table) -> dict[str, Any]:
        is_key = field.name == table.key_field
        return {
            "colId": field.name,
            "headerName": field.name + (f" ({field.unit})" if field.unit else ""),
            "headerTooltip": field.question or field.description or f"{field.name}: {field.type}",
            ":cellRenderer": "tablewright.grid.draw",
            ":valueGetter": "tablewright.grid.valueOf",
            ":valueSetter": "tablewright.grid.edited",
            "cellClass": "tw-box",
            **self._editing(field, table),
            "width": 210 if is_key else WIDTHS.get(field.type, 215),
            "headerClass": "tw-asked" if field.is_asked else "",
            **({"pinned": "left", "lockPinned": True} if is_key else {}),
        }

    def _editing(self, field: Field, table: Table) -> dict[str, Any]:
        if not self._may_edit or table.field(field.name) is None:
            return {"editable": False}
        return {":editable": "tablewright.grid.editable", ":cellEditorSelector": "tablewright.grid.editorOf"}


def new_view() -> str:
    """Unlike all others: what was sorted or found is remembered, and whoever looks anew shall not get it again."""
    return secrets.token_hex(6)
