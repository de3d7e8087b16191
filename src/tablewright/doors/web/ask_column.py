"""The dialog in which a column is asked for: what to find, how, and what it is likely to take before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from nicegui import ui

from tablewright.app import Fill
from tablewright.doors.server.context import Visit
from tablewright.doors.web.frame import tell, text
from tablewright.doors.web.table_edit import visit_to_write
from tablewright.errors import BadField, TablewrightError, UsageError
from tablewright.table.model import Field, FieldType, RowId, Table
from tablewright.table.text import plural

if TYPE_CHECKING:
    from tablewright.app import Estimate

AUTOMATIC = "Automatic"
TYPES = list(get_args(FieldType))


async def dialog(visit: Visit, table: Table, field: Field | None, *, row_ids: Sequence[RowId] | None) -> str:
    """The id of the run that was started, or nothing. With `field` that column is filled on, perhaps for some rows."""
    asking = Asking(visit, table, field, row_ids)
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        asking.build(window)
    run_id = await window
    window.delete()
    return run_id or ""


class Asking:
    def __init__(self, visit: Visit, table: Table, field: Field | None, row_ids: Sequence[RowId] | None) -> None:
        self._visit = visit
        self._table = table
        self._given = field
        self._row_ids = row_ids

    def build(self, window: ui.dialog) -> None:
        self._window = window
        given = self._given
        ui.label("Ask a column" if given is None else f"Fill {given.name}").classes("tw-h2")
        with ui.element("div").classes("tw-form"):
            self._name = ui.input("Name of the column", value=given.name if given else "").props("outlined dense")
            self._type = ui.select(TYPES, value=given.type if given else "text", label="Type").props("outlined dense")
            self._question = (
                ui.textarea("Question or formula", value=given.question if given else "", placeholder=self._example())
                .props("outlined autogrow dense")
                .classes("tw-whole")
            )
            with ui.element("div").classes("tw-row tw-whole tw-small"):
                ui.label("Put in the value of the row:").classes("tw-muted")
                for column in self._table.shown_fields[:8]:
                    ui.button(f"{{{column.name}}}", on_click=lambda column=column: self._insert(column.name)).props(
                        "flat dense no-caps size=sm"
                    )
            self._detail = ui.input("Options, separated by commas").props("outlined dense").classes("tw-whole")
            self._detail.bind_visibility_from(self._type, "value", lambda kind: kind in ("select", "number", "money"))
            self._type.on_value_change(lambda: self._detail.props(f'label="{self._detail_label()}"'))
            self._detail.props(f'label="{self._detail_label()}"')
            self._strategy = ui.select(self._strategies(), value="", label="How").props("outlined dense")
            self._params: dict[str, ui.select | ui.input] = {}
            self._settable = ui.element("div").classes("tw-form tw-whole")
            self._strategy.on_value_change(self._show_parameters)
            self._most = ui.number("Only the first rows (try it small)", min=1, format="%d").props(
                "outlined dense clearable"
            )
            self._again = ui.checkbox("Look again for what was not found", value=self._row_ids is not None)
            self._again.classes("tw-whole").set_visibility(given is not None and self._row_ids is None)
            own = self._visit.tablewright.settings.evidence
            self._strict = ui.checkbox(
                "Only values that sources state, none that a model judged", value=own == "strict"
            )
            self._strict.classes("tw-whole")
            if self._row_ids is not None:
                self._most.set_visibility(False)
            if given is not None:
                self._name.disable()
                self._type.disable()
                if given.question:
                    self._question.disable()
        self._outlook = ui.element("div").classes("tw-outlook").props("role=status")
        self._outlook.set_visibility(False)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Cancel", on_click=lambda: window.submit("")).props("flat")
            ui.button("Estimate", icon="calculate", on_click=self._estimate).props("outline")
            self._start = ui.button("Start", icon="play_arrow", on_click=self._run).props("unelevated")

    def _example(self) -> str:
        key = self._table.key_field or "Name"
        return f"What year was {{{key}}} founded?"

    def _detail_label(self) -> str:
        return "Options, separated by commas" if self._type.value == "select" else "Unit (optional), e.g. kg or EUR"

    def _insert(self, name: str) -> None:
        self._question.set_value(f"{self._question.value or ''}{{{name}}}")

    def _strategies(self) -> dict[str, str]:
        known = {
            name: strategy.display_name
            for name, strategy in self._visit.tablewright.strategies().items()
            if not isinstance(strategy, UsageError)
        }
        return {"": f"{AUTOMATIC}: formulas are computed, questions looked up", **known}

    def _show_parameters(self) -> None:
        """What can be set for the chosen strategy."""
        strategy = self._visit.tablewright.strategies().get(self._strategy.value)
        self._settable.clear()
        self._params = {}
        with self._settable:
            for each in strategy.parameters if strategy and not isinstance(strategy, UsageError) else ():
                label, hint = each.name.replace("_", " ").capitalize(), each.help
                shown = (
                    ui.select(list(each.choices), value=each.default or None, label=label)
                    if each.choices
                    else ui.input(label, value=each.default)
                )
                shown.props["hint"] = hint
                self._params[each.name] = shown.props("outlined dense")

    def _field(self) -> Field:
        if self._given is not None:
            return self._given
        name, detail = (self._name.value or "").strip(), (self._detail.value or "").strip()
        if not name:
            raise BadField("The column needs a name.")
        if "{" in name or "}" in name or len(name) > 300:
            raise BadField("A name has at most 300 characters, and neither { nor }.")
        question = (self._question.value or "").strip()
        if not question:
            raise BadField("The column needs a question, or a formula.", advice=f"For example: {self._example()}")
        options = tuple(option.strip() for option in detail.split(",") if option.strip())
        kind = self._type.value
        if kind == "select" and not options:
            raise BadField("A select needs its options.", advice="Write them with commas between: S, M, L.")
        return Field(
            name=name,
            type=kind,
            question=question,
            unit=detail if kind in ("number", "money") else "",
            options=options if kind == "select" else (),
        )

    async def _plan(self) -> Fill:
        visit = await visit_to_write(self._table.id)
        visit.must_run()
        most = self._most.value
        return await visit.tablewright.plan_enrich(
            self._table.id,
            [self._field()],
            self._strategy.value,
            params={name: str(each.value).strip() for name, each in self._params.items() if each.value},
            row_ids=self._row_ids,
            again=self._again.value,
            max_rows=int(most) if most and self._row_ids is None else None,
        )

    async def _estimate(self) -> None:
        likely = await (await self._plan()).estimate()
        self._outlook.clear()
        self._outlook.set_visibility(True)
        with self._outlook:
            for name, value in outlook(likely):
                with ui.element("div"):
                    ui.label(name).classes("tw-muted tw-small")
                    text(value, "tw-strong")

    async def _run(self) -> None:
        self._start.disable()
        try:
            fill = await self._plan()
            evidence = "strict" if self._strict.value else "judged"
            run_id = await self._visit.tablewright.jobs.start(fill, {"evidence": evidence})
        except TablewrightError as error:
            tell(error)
            self._start.enable()
            return
        self._window.submit(run_id)


def outlook(likely: Estimate) -> list[tuple[str, str]]:
    """What a run is likely to take, a figure a line."""
    lines = [
        ("To fill", f"{likely.cells:,} {plural('cell', likely.cells)} in {likely.rows:,} {plural('row', likely.rows)}")
    ]
    if likely.model:
        lines.append(("Model", f"{likely.model}, about {likely.calls.likely:,.0f} {plural('call', 2)}"))
    lines += [("Searches", f"{likely.searches:,}"), ("Pages", f"{likely.pages:,}")]
    if likely.cost_usd is None:
        lines.append(("Cost", "price not known"))
    else:
        cost = likely.cost_usd
        bounds = f" (${cost.low:,.2f} to ${cost.high:,.2f})" if cost.high else ""
        lines.append(("Cost", f"${cost.likely:,.2f}{bounds}"))
    lines.append(("Time", lasting(likely.seconds)))
    rows = likely.from_rows
    lines.append(("From experience", f"{rows:,} {plural('row', rows)} of earlier runs" if rows else "a first guess"))
    return lines


def lasting(seconds: float) -> str:
    if seconds < 60:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5_400 else f"about {seconds / 3_600:.1f} h"
