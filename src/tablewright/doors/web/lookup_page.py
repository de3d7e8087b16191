"""Look up documents by conditions: a form over the kinds and columns that are known, which asks no model. Below it the
tables of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nicegui import events, ui

from tablewright.domain.condition import OPERATORS, UNARY, Condition, split_values
from tablewright.domain.corpus import Aggregate
from tablewright.domain.form import TEXT, Form, KnownGroup, form_of
from tablewright.domain.model import column_key
from tablewright.domain.reply import Reply
from tablewright.domain.text import plural
from tablewright.doors.web.ask_page import show_reply, tabs
from tablewright.doors.web.elements import Shown, card, grid, icon_button, journey, many, quiet, row, safe
from tablewright.doors.web.frame import empty_state, heading, or_missing, visit, visit_to_run
from tablewright.doors.web.live import download
from tablewright.doors.web.words import t, translated
from tablewright.messages.catalogue import PageText
from tablewright.operations.documents import ListDocumentGroups, list_document_tables

COMPARISONS: PageText[dict[str, str]] = {**OPERATORS, "known": "is stated", "unknown": "is not stated"}
FIGURES: PageText[dict[Aggregate, str]] = {
    "": "A list", "count": "How many", "sum": "Sum of", "average": "Average of", "min": "Smallest", "max": "Largest",
}  # fmt: skip
SHOWN = 12
"""Columns that the list of kinds names."""


@dataclass(kw_only=True)
class ConditionLine:
    """A condition as far as it is filled in."""

    column: str = ""
    operator: str = "="
    value: str = ""

    def condition(self) -> Condition | None:
        if not self.column:
            return None
        values = () if self.operator in UNARY else split_values(self.value, self.operator)
        return Condition(column=self.column, operator=self.operator, values=values)


@dataclass(kw_only=True)
class LookupForm:
    """The form as it stands."""

    groups: Sequence[KnownGroup]
    group: str = ""
    lines: list[ConditionLine] = field(default_factory=lambda: [ConditionLine()])
    figure: Aggregate = ""
    of: str = ""
    by: str = ""
    sort: str = ""
    descending: bool = False
    show: list[str] = field(default_factory=list)

    @property
    def chosen(self) -> list[KnownGroup]:
        return [each for each in self.groups if each.name == self.group or not (self.group or each.is_table)]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(column.name for group in self.chosen for column in group.columns))

    def form(self) -> Form:
        is_table = any(each.is_table for each in self.chosen if self.group)
        return Form(
            kind="" if is_table else self.group,
            table=self.group if is_table else "",
            conditions=tuple(each for line in self.lines if (each := line.condition())),
            aggregate=self.figure,
            of=self.of if self.figure not in ("", "count") else "",
            group_by=self.by if self.figure else "",
            order_by=self.sort,
            descending=self.descending,
            show=tuple(self.show),
        )


def filled_with(groups: Sequence[KnownGroup], where: str) -> LookupForm:
    """As the conditions of an address say, such as those that a question was understood as."""
    filled = LookupForm(groups=groups)
    form = form_of(where)
    named = {group.name.casefold(): group.name for group in groups}
    filled.group = named.get((form.kind or form.table).casefold(), "")
    if form.conditions:
        filled.lines = [
            ConditionLine(column=each.column, operator=each.operator, value=each.written_values)
            for each in form.conditions
        ]
    return filled


@ui.page("/lookup", title="Look up documents · Tablewright")
@or_missing
async def lookup_page(where: str = "") -> None:
    seen = visit()
    with journey(t("Look up documents"), here="/documents"):
        tabs("/lookup")
        if not await seen.services.store.documents.all(readable=True):
            with empty_state(t("Nothing to look up yet"), "search"):
                ui.link(t("Add documents"), "/documents")
            return
        groups = (await list_document_tables(seen.services, ListDocumentGroups())).tables
        if seen.person.may_change:
            LookUp(filled_with(groups, where)).show()
        kinds(groups)


class LookUp:
    def __init__(self, filled: LookupForm) -> None:
        self.filled = filled
        self.replies: list[Reply] = []

    def show(self) -> None:
        quiet(t("Every condition is applied exactly as written to all documents of this kind. No model is used."))
        self.fields = ui.refreshable(self.show_fields)
        self.answer = ui.refreshable(self.show_answer)
        with card(t("Conditions")):
            self.fields()
            with row():
                ui.button(t("Look up"), icon="search", on_click=self.look_up).props("unelevated")
        with ui.element("div").props("aria-live=polite"):
            self.answer()

    def show_fields(self) -> None:
        filled = self.filled
        with row().classes("tw-fields"):
            self.choice(
                t("Kind"), {"": t("All documents"), **{each.name: group_name(each) for each in filled.groups}}, "group"
            )
        for line in filled.lines:
            self.show_line(line)
        with row():
            ui.button(t("Add a condition"), icon="add", on_click=self.add_line).props("flat dense")
        with row().classes("tw-fields"):
            self.choice(t("Result"), translated(FIGURES), "figure")
            if filled.figure not in ("", "count"):
                self.column(t("Of column"), "of")
            if filled.figure:
                self.column(t("Group by"), "by", none=t("None"))
            else:
                self.column(t("Sorted by"), "sort", none=t("Unsorted"))
                ui.checkbox(t("Largest first")).bind_value(filled, "descending")
                shown = ui.select(
                    {name: safe(name, 60) for name in filled.columns}, label=t("Further columns"), multiple=True
                )
                shown.props("dense outlined options-dense use-chips").classes("tw-grow").bind_value(filled, "show")

    def show_line(self, line: ConditionLine) -> None:
        columns = {"": "", TEXT: t("Full text"), **{name: safe(name, 60) for name in self.filled.columns}}
        named = {column_key(name): name for name in columns}
        line.column = named.get(column_key(line.column), "")
        with row().classes("tw-fields") as shown:
            shown.props["aria-label"] = t("Condition")
            ui.select(columns, label=t("Column")).props("dense outlined options-dense").classes("tw-grow").bind_value(
                line, "column"
            )
            ui.select(translated(COMPARISONS), label=t("Comparison")).props("dense outlined options-dense").bind_value(
                line, "operator"
            )
            ui.input(t("Value")).props("dense outlined").classes("tw-grow").bind_value(line, "value")
            icon_button("close", t("Remove the condition"), lambda: self.remove_line(line))

    def choice(self, label: str, options: Mapping[Any, str], name: str) -> None:
        """One that other fields depend on."""

        def chosen(event: events.ValueChangeEventArguments[Any]) -> None:
            setattr(self.filled, name, event.value)
            self.forget_columns()
            self.fields.refresh()

        ui.select(dict(options), label=label, value=getattr(self.filled, name), on_change=chosen).props(
            "dense outlined options-dense"
        )

    def column(self, label: str, name: str, *, none: str = "") -> None:
        columns = {column: safe(column, 60) for column in self.filled.columns}
        ui.select({"": none, **columns}, label=label).props("dense outlined options-dense").bind_value(
            self.filled, name
        )

    def forget_columns(self) -> None:
        """Those that another kind does not have."""
        filled = self.filled
        known = {"", TEXT, *filled.columns}
        filled.show = [name for name in filled.show if name in known]
        for name in ("of", "by", "sort"):
            setattr(filled, name, value if (value := getattr(filled, name)) in known else "")
        for line in filled.lines:
            line.column = line.column if line.column in known else ""

    def add_line(self) -> None:
        self.filled.lines.append(ConditionLine())
        self.fields.refresh()

    def remove_line(self, line: ConditionLine) -> None:
        self.filled.lines.remove(line)
        self.fields.refresh()

    async def look_up(self) -> None:
        now = await visit_to_run()
        known = self.replies[-1].conversation if self.replies else ""
        self.replies = [await now.services.query_documents(self.filled.form(), conversation=known)]
        self.answer.refresh()

    async def more(self) -> None:
        now = await visit_to_run()
        self.replies.append(await now.services.more_rows(self.replies[-1].conversation))
        self.answer.refresh()

    def show_answer(self) -> None:
        for number, reply in enumerate(self.replies, start=1):
            with card(t("Result")):
                show_reply(reply, self.more if number == len(self.replies) else None)


# ── the tables of kinds ──────────────────────────────────────────────────────────────────────────────────────────────


def kinds(groups: Sequence[KnownGroup]) -> None:
    with card(t("Kinds and tables")):
        heading(t("Kinds and tables"))
        quiet(
            t(
                "Each kind has a table with what was read from its documents. Correct a wrong kind on the page "
                "of the document."
            )
        )
        grid(
            [t("What"), t("How many"), t("Columns"), t("Table")],
            [kind_line(each) for each in groups],
            t("Kinds and tables"),
        )


def kind_line(group: KnownGroup) -> list[Shown]:
    def open_or_export() -> None:
        with row():
            if group.table_id:
                ui.link(t("Open table"), f"/tables/{group.table_id}")
            ui.button(t("Export"), icon="download", on_click=export_of(group)).props("flat dense")

    listed = ", ".join(map(str, group.columns[:SHOWN]))
    more = len(group.columns) - SHOWN
    return [
        group_name(group),
        many(group.members, "row" if group.is_table else "document")
        + (t(", {count} by title", count=group.from_titles) if group.from_titles else ""),
        t("{listed} and {more} more", listed=listed, more=more) if more > 0 else listed,
        open_or_export,
    ]


def group_name(group: KnownGroup) -> str:
    if not group.is_table:
        return safe(plural(group.name, 2), 60)
    return safe(t("{name}: rows of {examples}", name=group.name, examples=", ".join(group.examples)), 80)


def export_of(group: KnownGroup) -> Callable[[], object]:
    """All members with all that is known of them."""

    async def export() -> None:
        services = (await visit_to_run()).services
        kind, table = ("", group.name) if group.is_table else (group.name, "")
        form = Form(kind=kind, table=table, show=tuple(each.name for each in group.columns))
        reply = await services.query_documents(form)
        await download(lambda path: services.export_result(reply.result_id, path), f"{group.name}.csv")

    return export
