"""The grid of a table and the line above it: its columns and rows, chips, filters, find and saved views."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from nicegui import context, events, ui

from tablewright.domain.condition import CONDITION_OPERATORS
from tablewright.domain.history import ColumnLayout, View
from tablewright.domain.model import Cell, Field, RowId, Table, column_key
from tablewright.domain.text import shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.elements import (
    build_dialog,
    compact_button,
    dialog_buttons,
    filter_chip,
    show_paragraph,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import show_notice, visit_now
from tablewright.interfaces.page.table.dialogs import ask_filter
from tablewright.interfaces.page.table.rows import grid_cell
from tablewright.interfaces.page.words import t, type_text
from tablewright.messages.catalogue import PageText
from tablewright.operations.grid_rows import ROW_MARKS, RowMark, RowQuery

if TYPE_CHECKING:
    from tablewright.interfaces.page.table.page import OpenTable


class TableGrid:
    """The grid of one open page; only the open proposals have the columns of `extra`."""

    def __init__(
        self, table: Table, extra: Sequence[Field], wanted: RowQuery, view: View, *, rows: int, may_edit: bool
    ) -> None:
        self._may_edit = may_edit
        self._client = context.client
        self.wanted = msgspec.structs.replace(wanted, view=new_view_key())
        for name in ("menu", "unsent", "selection", "columns", "panel", "grid"):
            ui.add_head_html(f'<script src="/page-files/{name}.js"></script>')
        no_rows = t("No row matches. Choose All rows, or clear the filters and the search.")
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
                # Blocks of 100 rows arrive quickly; 40 of them are more than anyone scrolls back.
                "cacheBlockSize": 100,
                "maxBlocksInCache": 40,
                # Two, so that the block in view need not wait for one that was scrolled past.
                "maxConcurrentDatasourceRequests": 2,
                # Fast scrolling passes most blocks; those are not requested.
                "blockLoadDebounceMillis": 40,
                # The true number, so that the scroll bar does not jump when the first block arrives.
                "infiniteInitialRowCount": max(rows, 1),
                # Rows drawn beyond the view: more draw slower, fewer flash white.
                "rowBuffer": 6,
                "rowHeight": 36,
                "headerHeight": 38,
                # Names of columns may contain dots.
                "suppressFieldDotNotation": True,
                "stopEditingWhenCellsLoseFocus": True,
                # Undo is ours, over all changes of the table and not of single cells.
                "undoRedoCellEditing": False,
                "enterNavigatesVerticallyAfterEdit": True,
                "suppressColumnVirtualisation": False,
                "animateRows": False,
                "overlayNoRowsTemplate": f"<span>{escape(no_rows)}</span>",
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

    def show_rows(self, **wanted: Any) -> None:
        """Show other rows, or read the same ones again."""
        self.wanted = msgspec.structs.replace(self.wanted, **wanted, view=new_view_key())
        self.call("look", self.query())
        self.run("columns.filtered", [where.column for where in self.wanted.filters])

    def apply_layout(self, view: View) -> None:
        self.run("columns.apply", msgspec.to_builtins(view) | {"columns": msgspec.to_builtins(view.columns)})

    def refresh(self) -> None:
        """Read the shown rows again, in their place."""
        self.wanted = msgspec.structs.replace(self.wanted, view=new_view_key())
        self.call("refresh", self.query())

    def update(self, cells: Mapping[RowId, Mapping[str, Cell]], *, proposed: bool = False) -> None:
        """Draw cells of rows that may be in view."""
        views = [
            {"id": row_id, "cells": {name: grid_cell(cell, proposed=proposed) for name, cell in own.items()}}
            for row_id, own in cells.items()
        ]
        self.call("update", views)

    def call(self, name: str, *values: Any) -> None:
        """Call a function of files/grid.js for this grid."""
        self.run(f"grid.{name}", self.element.id, *values)

    def run(self, name: str, *values: Any) -> None:
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
        "colId": "tw:number",
        "headerName": "#",
        ":cellRenderer": "tablewright.grid.drawNumber",
        "initialWidth": 64,
        "pinned": "left",
        "sortable": False,
        "cellClass": "tw-number",
        "suppressMovable": True,
    }
    # The column that names the rows comes first.
    fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    columns = [grid_column(field, table.key_field, may_edit=may_edit) for field in fields]
    for field in extra:
        proposed = table.field(field.name) is None
        columns.append(grid_column(field, table.key_field, may_edit=may_edit and not proposed, proposed=proposed))
    return [numbers, *columns]


def grid_column(field: Field, key_field: str, *, may_edit: bool, proposed: bool = False) -> dict[str, Any]:
    # In pixels: room for a usual value with the mark of its confidence.
    widths = {"number": 165, "boolean": 140, "date": 165, "money": 180, "select": 180}
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
        **(
            {":editable": "tablewright.grid.editable", ":cellEditorSelector": "tablewright.grid.editorOf"}
            if may_edit
            else {"editable": False}
        ),
        "initialWidth": 210 if is_key else widths.get(field.type, 215),
        "context": {
            "unit": field.unit,
            "asked": field.is_asked,
            "right": is_figure,
            "key": is_key,
            "proposed": proposed,
        },
        # The name of a row stays in view while its columns are scrolled.
        **({"pinned": "left", "lockPinned": True} if is_key else {}),
    }


def new_view_key() -> str:
    """Return a random key, so that a new query does not get a remembered order."""
    return secrets.token_hex(6)


# ── the line above the grid ───────────────────────────────────────────────────────────────────────────────────────────


MARK_CHIPS: PageText[dict[RowMark, tuple[str, str]]] = {
    "": ("All rows", ""),
    "high": ("✓ High", "tw-high"),
    "medium": ("◐ Medium", "tw-medium"),
    "low": ("? Low", "tw-low"),
    "failed": ("✗ Not found", ""),
    "empty": ("Empty", ""),
    "flagged": ("⚑ Flagged", "tw-flagged"),
    "stale": ("↻ Stale", "tw-medium"),
    "disputed": ("≠ Sources disagree", "tw-low"),
    "proposed": ("New", "tw-is-new"),
}
# Fails when the page is loaded, not when someone filters by a new mark.
assert tuple(MARK_CHIPS) == ROW_MARKS


class ViewBar:
    """Chips, filters and views of the table. The current `view` is kept for the person, and under a name for all."""

    def __init__(self, page: OpenTable, view: View) -> None:
        self.view = view
        self._page = page
        self._counts: Mapping[str, int] = {}
        self._client = context.client
        ui.on("grid_layout", self._layout_changed)

    def build(self, rows: int) -> None:
        with ui.element("div").classes("tw-filters"):
            self._chips = (
                ui.element("div").classes("tw-chips").props(f'role=group aria-label="{t("Filter rows by status")}"')
            )
            self._find = ui.input(placeholder=t("Find in the table"), value=self.view.find).props(
                f'clearable debounce=350 maxlength=200 aria-label="{t("Find in the table")}"'
            )
            self._find.on_value_change(lambda event: self._look(find=(event.value or "").strip())).classes("tw-find")
            ui.label(t("{count} row|{count} rows", count=rows)).props("id=tw-found role=status").classes(
                "tw-muted tw-small"
            )
            ui.label().props("id=tw-selected role=status").classes("tw-muted tw-small")
        ui.label().props("id=tw-unsent role=status aria-live=assertive").classes("tw-unsent")
        self._filters = (
            ui.element("div").classes("tw-filters tw-conditions").props(f'aria-label="{t("Column filters")}"')
        )
        self._show_chips()
        self._show_filters()

    def build_menu(self) -> None:
        with compact_button(t("View"), "view_column"):
            self._menu = ui.menu().on("before-show", self._fill_menu)

    def count(self, counts: Mapping[str, int]) -> None:
        """Show how many rows have each mark."""
        self._counts = counts
        self._show_chips()

    def _show_chips(self) -> None:
        self._chips.clear()
        with self._chips:
            for only, (label, kind) in MARK_CHIPS.items():
                count = self._counts.get(only)
                # A mark without rows is left out, unless it is the chosen one.
                if count == 0 and only not in ("", self.view.only):
                    continue
                said = t(label) if count is None else f"{t(label)} {count:,}"
                look = partial(self._look, only=only)
                filter_chip(said, look, is_pressed=only == self.view.only, kind="" if count == 0 else kind)

    async def _look(self, **wanted: object) -> None:
        self.view = msgspec.structs.replace(self.view, **wanted)
        await self._show()

    async def _show(self) -> None:
        """Show the rows of the view."""
        # The clicked element is rebuilt, and its slot is gone with it.
        with self._client.content:
            self._page.grid.show_rows(only=self.view.only, find=self.view.find, filters=self.view.filters)
            self._show_chips()
            self._show_filters()
            await self._keep()

    # ── conditions on columns ────────────────────────────────────────────────────────────────────────────────────────

    def _show_filters(self) -> None:
        self._filters.clear()
        self._filters.set_visibility(bool(self.view.filters))
        with self._filters:
            for condition in self.view.filters:
                said = f"{condition.column} {t(CONDITION_OPERATORS[condition.operator])} {condition.written_values}"
                others = tuple(each for each in self.view.filters if each != condition)
                ui.chip(shorten_text(said, 80), removable=True, icon="filter_alt").props(
                    f'outline dense square remove-aria-label="{t("Remove filter")}"'
                ).on("remove", partial(self._look, filters=others))

    async def filter_by(self, field: Field, fields: Sequence[Field]) -> None:
        known = next((each for each in self.view.filters if each.column == field.name), None)
        chosen = await ask_filter(field, fields, known)
        if chosen is not None:
            others = tuple(each for each in self.view.filters if each.column != field.name)
            await self._look(filters=(*others, *filter(None, chosen)))

    async def keep_known(self, names: Sequence[str]) -> None:
        """Drop conditions on columns that were renamed or removed."""
        keys = set(map(column_key, names))
        kept = tuple(each for each in self.view.filters if keys.issuperset(map(column_key, each.columns)))
        if kept != self.view.filters:
            await self._look(filters=kept)

    # ── the layout, and views with a name ────────────────────────────────────────────────────────────────────────────

    async def _layout_changed(self, event: events.GenericEventArguments) -> None:
        columns = msgspec.convert(event.args["columns"], tuple[ColumnLayout, ...])
        self.view = msgspec.structs.replace(
            self.view, columns=columns, sort=event.args["sort"], descending=event.args["descending"]
        )
        await self._keep()

    async def _keep(self) -> None:
        seen = await visit_now()
        # Without its name: a person's own view is where they left the table, not the named one.
        own = msgspec.structs.replace(self.view, name="")
        await seen.services.views.keep(self._page.table.id, own, person=seen.person.id)

    async def _fill_menu(self) -> None:
        named = await (await visit_now()).services.views.named(self._page.table.id)
        self._menu.clear()
        with self._menu:
            wrapped = t("One line per row") if self.view.wrap else t("Wrap text")
            ui.menu_item(wrapped, on_click=self._wrap)
            for column in self.view.columns:
                if column.hidden:
                    ui.menu_item(
                        t("Show {name}", name=shorten_text(column.name, 40)),
                        on_click=partial(self._unhide, column.name),
                    )
            ui.menu_item(t("Reset"), on_click=partial(self._use, View()))
            ui.separator()
            for view in named:
                self._show_named(view)
            if self._page.may_change:
                ui.menu_item(t("Save view…"), on_click=self._save)

    def _show_named(self, view: View) -> None:
        with ui.menu_item(on_click=partial(self._use, view)).classes("tw-view"):
            show_paragraph(shorten_text(view.name, 40), "tw-grow")
            actions: list[tuple[str, str, Callable[[], object]]] = [
                ("link", t("Copy the link to this view"), partial(self._copy_link, view))
            ]
            if self._page.may_change:
                actions.append(("delete", t("Delete this view"), partial(self._remove, view)))
            for icon, label, act in actions:
                button = ui.button(icon=icon, on_click=act).props("flat round dense size=sm").on("click.stop")
                button.props["aria-label"] = label

    async def _wrap(self) -> None:
        self.view = msgspec.structs.replace(self.view, wrap=not self.view.wrap)
        self._page.grid.run("columns.wrap", self.view.wrap)
        await self._keep()

    async def _unhide(self, name: str) -> None:
        columns = tuple(
            msgspec.structs.replace(column, hidden=column.hidden and column.name != name)
            for column in self.view.columns
        )
        self.view = msgspec.structs.replace(self.view, columns=columns)
        self._page.grid.apply_layout(self.view)
        await self._keep()

    async def _use(self, view: View) -> None:
        self.view = view
        self._find.set_value(view.find)
        self._page.grid.apply_layout(view)
        await self._show()

    async def _save(self) -> None:
        keeps = t("A view keeps the order and width of the columns, hidden columns, sorting and filters.")
        with build_dialog(t("Save view")) as window:
            show_paragraph(keeps, "tw-muted")
            given = ui.input(t("Name")).props("autofocus maxlength=60")
            given.on("keydown.enter", dialog_buttons(window, (t("Save"), True)))
        is_named = await wait_for_answer(window)
        if not (is_named and (name := (given.value or "").strip())):
            return
        visit = await visit_now("write", self._page.table.id)
        await visit.services.views.keep(self._page.table.id, msgspec.structs.replace(self.view, name=name))
        show_notice(t("Saved. Everyone who can see the table finds “{name}” under View.", name=shorten_text(name, 40)))

    def _copy_link(self, view: View) -> None:
        path = f"/tables/{self._page.table.id}?view={quote(view.name)}"
        ui.clipboard.write(f"{ui.context.client.request.base_url!s}".rstrip("/") + path)
        show_notice(t("Link copied. Anyone with access to the table can open it."))

    async def _remove(self, view: View) -> None:
        visit = await visit_now("write", self._page.table.id)
        await visit.services.views.remove(self._page.table.id, view.name)
        self._menu.close()
        show_notice(t("View “{name}” deleted.", name=shorten_text(view.name, 40)))


async def load_view(table_id: str, name: str) -> View:
    """Return the view of that name; without a name the one in which the person left the table."""
    seen = await visit_now()
    if not name:
        return await seen.services.views.left_by(table_id, seen.person.id)
    for view in await seen.services.views.named(table_id):
        if view.name == name:
            return view
    raise UsageError(t("The view {name} no longer exists.", name=name), advice=t("Open the table without it."))
