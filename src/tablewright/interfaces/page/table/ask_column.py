"""The dialog that asks for columns: what to find, how, for which rows, and the likely cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from nicegui import events, ui

from tablewright.domain.model import Field, RowId, Struct, Table, column_key
from tablewright.domain.text import shorten_text
from tablewright.engine.fill import FillRun
from tablewright.errors import BadField, TablewrightError
from tablewright.interfaces.page.elements import (
    ask_confirmation,
    loading_button,
    show_paragraph,
    show_remark,
)
from tablewright.interfaces.page.frame import visit_now
from tablewright.interfaces.page.table.dialogs import detail_input, with_options_or_unit
from tablewright.interfaces.page.words import TYPE_NAMES, all_rows_text, counted_text, t, translate_choices
from tablewright.interfaces.wording import format_duration
from tablewright.operations.fill import (
    FillOptions,
    PlanColumns,
    find_formula_problem,
    plan_columns,
    plan_fill,
)
from tablewright.operations.health import show_strategies

if TYPE_CHECKING:
    from tablewright.domain.run import Estimate
    from tablewright.interfaces.server.context import Visit

# Rows that a new column is tried on first: enough to judge the question, few enough to cost cents.
FIRST_ROWS = 5


# Cells that are looked up although a run has done so before: none, those without a value, or all.
Redo: TypeAlias = Literal["", "unfound", "all"]


class RowScope(Struct, frozen=True):
    """The rows to choose from: all, the shown ones, the selected ones."""

    rows: int
    shown: tuple[RowId, ...] = ()
    selected: tuple[RowId, ...] = ()

    @property
    def choices(self) -> dict[str, str]:
        found = {"all": all_rows_text(self.rows)}
        if self.rows > FIRST_ROWS:
            found["first"] = t("The first {few} rows, then continue", few=FIRST_ROWS)
        if self.shown:
            found["shown"] = t("The {count} row shown|The {count} rows shown", count=len(self.shown))
        if self.selected:
            found["selected"] = t("The {count} selected row|The {count} selected rows", count=len(self.selected))
        return found

    def row_ids(self, choice: str) -> tuple[RowId, ...] | None:
        return {"shown": self.shown, "selected": self.selected}.get(choice)


async def ask_columns(
    visit: Visit,
    table: Table,
    field: Field | None,
    scope: RowScope,
    *,
    proposed: Sequence[str] = (),
    redo: Redo = "",
) -> str:
    """Ask for columns, and return the id of the started run, or "". With `field` that column is filled. `proposed` are
    columns under review."""
    asking = AskColumnDialog(visit, table, field, scope, proposed=proposed, redo=redo)
    with ui.dialog().props("persistent") as window, ui.card().classes("tw-dialog tw-dialog-wide tw-asking") as card:
        asking.build(window)
    # grid.js sends this event when Escape is pressed.
    card.on("leave", asking.leave, args=[])
    run_id = await window
    window.delete()
    return run_id or ""


class AskedColumn:
    """The inputs of one column. If it is `given`, only the question can be changed."""

    def __init__(self, asking: AskColumnDialog, given: Field | None, *, fixed: bool) -> None:
        self._given = given if fixed else None
        self._asking = asking
        known = given or Field(name="")
        with ui.element("div").classes("tw-asked") as self.box:
            self.name = ui.input(t("Column name"), value=known.name).props("autofocus maxlength=300")
            self._type = ui.select(translate_choices(TYPE_NAMES), value=known.type, label=t("Type"))
            self._detail = detail_input(self._type, ", ".join(known.options) or known.unit)
            self.question = ui.textarea(t("Question or formula"), value=known.question, placeholder=asking.example)
            self.question.props("autogrow debounce=300").classes("tw-whole")
            self._problem = show_paragraph("", "tw-whole tw-small tw-problem").props("role=status")
            self._problem.set_visibility(False)
            with ui.element("div").classes("tw-row tw-whole"):
                with ui.button(t("Insert a column"), icon="data_object").props("flat dense"), ui.menu():
                    for name in asking.columns:
                        ui.menu_item(shorten_text(name, 60), on_click=partial(self._insert, name))
                self.remove = ui.button(t("Remove"), icon="close").props("flat dense")
        self.question.on_value_change(self._check_formula)
        self.question.on("keydown.enter.exact.prevent", self._entered, js_handler="(event) => emit(event.target.value)")
        self.name.on("keydown.enter", asking.run)
        if fixed:
            for each in (self.name, self._type, self._detail):
                each.disable()

    async def _entered(self, event: events.GenericEventArguments) -> None:
        """Start with the text of the event: what was just typed may not have arrived yet."""
        self.question.value = str(event.args)
        await self._asking.run()

    @property
    def is_empty(self) -> bool:
        return not ((self.name.value or "").strip() or (self.question.value or "").strip())

    def _check_formula(self) -> None:
        """Show a mistake in a formula while it is typed."""
        asking = self._asking
        others = [column.name.value or "" for column in asking.asked]
        problem = find_formula_problem(asking.table, self.question.value or "", others)
        self._problem.set_text(problem)
        self._problem.set_visibility(bool(problem))

    def _insert(self, name: str) -> None:
        self.question.set_value(f"{self.question.value or ''}{{{name}}}")

    def field(self, example: str) -> Field:
        question = (self.question.value or "").strip()
        if not question:
            advice = t("For example: {example}", example=example)
            raise BadField(t("The column needs a question, or a formula."), advice=advice)
        if self._given is not None:
            return msgspec.structs.replace(self._given, question=question)
        name = (self.name.value or "").strip()
        if not name:
            raise BadField(t("The column needs a name."))
        if "{" in name or "}" in name:
            raise BadField(t("A column name must not contain { or }."))
        self._asking.refuse_taken(name)
        typed = Field(name=name, type=self._type.value, question=question)
        field = with_options_or_unit(typed, self._detail.value or "")
        if field.type == "select" and not field.options:
            raise BadField(t("This column needs its options."), advice=t("Separate them with commas: S, M, L."))
        return field


class AskColumnDialog:
    def __init__(
        self,
        visit: Visit,
        table: Table,
        field: Field | None,
        scope: RowScope,
        *,
        proposed: Sequence[str],
        redo: Redo,
    ) -> None:
        self._visit = visit
        self.table = table
        self._proposed = proposed
        self._given = field
        self._scope = scope
        self._redo = redo
        self.asked: list[AskedColumn] = []
        self._is_leaving = False
        self.columns = [each.name for each in table.shown_fields]
        self.example = t("What year was {column} founded?", column=f"{{{table.key_field or 'Name'}}}")

    def build(self, window: ui.dialog) -> None:
        self._window = window
        given = self._given
        title = t("Add columns")
        if given is not None:
            again = t("Run again: {column}", column=given.name)
            title = again if self._redo == "all" else t("Fill: {column}", column=given.name)
        show_paragraph(shorten_text(title, 80), "tw-h2")
        if given is None and self._visit.services.settings.model != "builtin":
            self._build_description()
        self._list = ui.element("div").classes("tw-column")
        self._add(given, fixed=given is not None)
        if given is None:
            more = ui.button(t("Add another column"), icon="add", on_click=lambda: self._add(None, fixed=False))
            more.props("flat dense no-caps").style("align-self: flex-start")
        with ui.element("div").classes("tw-form"):
            self._build_how()
        self._outlook = ui.element("div").classes("tw-outlook").props("role=status")
        self._outlook.set_visibility(False)
        with ui.element("div").classes("tw-row tw-end tw-dialog-foot"):
            ui.button(t("Cancel"), on_click=self.leave).props("flat")
            ui.button(t("Estimate"), icon="calculate", on_click=self._estimate).props("outline")
            self._start = ui.button(t("Start"), icon="play_arrow", on_click=self.run).props("unelevated")

    def _build_description(self) -> None:
        """Show the field in which a sentence describes columns, which the model suggests."""
        with ui.element("div").classes("tw-row tw-describe"):
            self._words = ui.input(
                t("Describe what you want to know"),
                placeholder=t("founding year, chief executive and who they sell to"),
            ).props("autofocus maxlength=2000")
            self._words.classes("tw-grow").on("keydown.enter", self._suggest)
            self._suggesting = ui.button(t("Suggest columns"), icon="auto_awesome", on_click=self._suggest)
            self._suggesting.props("outline")

    def _build_how(self) -> None:
        self._strategy = ui.select(self._strategies({}), value="", label=t("How"))
        self._strategy.on("popup-show", self._price_each).classes("tw-whole")
        choices = self._scope.choices
        usual = "selected" if self._scope.selected else "all"
        self._rows = ui.select(choices, value=usual, label=t("Rows"))
        self._params: dict[str, ui.select | ui.input] = {}
        self._settable = ui.element("div").classes("tw-form tw-whole")
        self._strategy.on_value_change(self._show_parameters)
        self._again = ui.checkbox(t("Search again for values that were not found"), value=self._redo == "unfound")
        self._again.classes("tw-whole").set_visibility(self._given is not None and not self._redo)
        own = self._visit.services.settings.evidence
        self._strict = ui.checkbox(t("Only values that a source states, none judged by a model"), value=own == "strict")
        self._strict.classes("tw-whole")

    # ── the columns ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, field: Field | None, *, fixed: bool) -> None:
        with self._list:
            column = AskedColumn(self, field, fixed=fixed)
        self.asked.append(column)
        column.remove.on_click(partial(self._remove, column))
        for each in self.asked:
            each.remove.set_visibility(len(self.asked) > 1)

    def refuse_taken(self, name: str) -> None:
        """Raise BadField if there is a column of this name."""
        if known := self.table.field(name):
            raise BadField(
                t("The table already has a column {name}.", name=known.name),
                advice=t("Choose another name, or fill {name} from its column menu.", name=known.name),
            )
        if column_key(name) in map(column_key, self._proposed):
            raise BadField(
                t("A column {name} has already been proposed and is waiting for your decision.", name=name),
                advice=t("Accept or discard it first, or choose another name."),
            )

    def _remove(self, column: AskedColumn) -> None:
        self.asked.remove(column)
        column.box.delete()
        for each in self.asked:
            each.remove.set_visibility(len(self.asked) > 1)

    async def _suggest(self) -> None:
        words = (self._words.value or "").strip()
        if not words:
            return
        # An error shows a notice, and what was typed stays.
        with loading_button(self._suggesting):
            visit = await visit_now("run", self.table.id)
            fields = (await plan_columns(visit.services, PlanColumns(table=self.table.id, request=words))).fields
        for field in fields:
            self._add(field, fixed=False)
        # The empty column that the dialog opened with gives way to the suggested ones.
        for column in [each for each in self.asked if each.is_empty]:
            self._remove(column)

    async def leave(self) -> None:
        """Close, after asking if something was typed."""
        if self._is_leaving:
            return
        # Escape can be pressed again while the question is open.
        self._is_leaving = True
        is_new = self._given is None and any(not each.is_empty for each in self.asked)
        if not is_new or await ask_confirmation(t("Discard what you typed?"), t("Close")):
            self._window.submit("")
        self._is_leaving = False

    # ── how, and for what price ──────────────────────────────────────────────────────────────────────────────────────

    def _strategies(self, prices: dict[str, str]) -> dict[str, str]:
        """Describe each strategy in a line, with its likely cost if known."""
        lines = {"": t("Automatic: formulas are computed, questions are looked up")}
        for each in show_strategies().strategies:
            lines[each.name] = ": ".join(t(text) for text in (each.display_name, each.summary) if text)
        return {name: f"{line} {prices[name]}".strip() if name in prices else line for name, line in lines.items()}

    async def _price_each(self) -> None:
        prices = {}
        for name in self._strategies({}):
            try:
                prices[name] = f"({price_text(await (await self._plan(name)).estimate())})"
            except BadField:
                # There is no column to estimate yet.
                return
            except TablewrightError:
                continue
        self._strategy.set_options(self._strategies(prices), value=self._strategy.value)

    def _show_parameters(self) -> None:
        """Show the parameters of the chosen strategy."""
        chosen = [each for each in show_strategies().strategies if each.name == self._strategy.value]
        self._settable.clear()
        self._params = {}
        with self._settable:
            for each in (parameter for strategy in chosen for parameter in strategy.parameters):
                label = each.name.replace("_", " ").capitalize()
                if each.choices:
                    shown: ui.select | ui.input = ui.select(list(each.choices), value=each.default or None, label=label)
                else:
                    shown = ui.input(label, value=each.default)
                shown.props["hint"] = each.help
                self._params[each.name] = shown

    async def _plan(self, strategy: str) -> FillRun:
        visit = await visit_now("run", self.table.id)
        chosen = strategy == self._strategy.value
        params = {name: str(each.value).strip() for name, each in self._params.items() if each.value} if chosen else {}
        return await plan_fill(
            visit.services,
            self.table.id,
            [column.field(self.example) for column in self.asked],
            strategy,
            how=FillOptions(
                params=params,
                rows=self._scope.row_ids(self._rows.value),
                again=self._again.value,
                max_rows=FIRST_ROWS if self._rows.value == "first" else None,
            ),
            redo="all" if self._redo == "all" else "",
        )

    async def _estimate(self) -> None:
        likely = await (await self._plan(self._strategy.value)).estimate()
        self._outlook.clear()
        self._outlook.set_visibility(True)
        with self._outlook:
            for name, value in estimate_lines(likely):
                with ui.element("div"):
                    show_remark(name)
                    show_paragraph(value, "tw-strong")

    async def run(self) -> None:
        self._start.disable()
        try:
            fill = await self._plan(self._strategy.value)
            evidence = "strict" if self._strict.value else "judged"
            self._window.submit(await self._visit.services.jobs.start(fill, {"evidence": evidence}))
        except TablewrightError:
            # After a start it stays disabled: a second click would start a second run.
            self._start.enable()
            raise


def price_text(likely: Estimate) -> str:
    if likely.cost_usd is None:
        return t("price not known")
    return t("about {cost}", cost=f"${likely.cost_usd.likely:,.2f}")


def estimate_lines(likely: Estimate) -> list[tuple[str, str]]:
    """Return the likely cost and time of a run, one figure in each line."""
    cells, rows = counted_text(likely.cells, "cell"), counted_text(likely.rows, "row")
    calls = t("{model}, about {calls} calls", model=likely.model, calls=round(likely.calls.likely))
    price, basis = t("price not known"), t("a rough estimate")
    if cost := likely.cost_usd:
        low, high = f"${cost.low:,.2f}", f"${cost.high:,.2f}"
        price = f"${cost.likely:,.2f}" + (f" ({t('{low} to {high}', low=low, high=high)})" if cost.high else "")
    if likely.from_rows:
        basis = t("{rows} of earlier runs", rows=counted_text(likely.from_rows, "row"))
    return [
        (t("To fill"), t("{cells} in {rows}", cells=cells, rows=rows)),
        *([(t("Model"), calls)] if likely.model else []),
        (t("Searches"), f"{likely.searches:,}"),
        (t("Pages"), f"{likely.pages:,}"),
        (t("Cost"), price),
        (t("Time"), t("about {time}", time=format_duration(max(1, likely.seconds)))),
        (t("Based on"), basis),
    ]
