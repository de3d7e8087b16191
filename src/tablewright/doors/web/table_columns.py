"""What the menu of a column offers: edit, filter, statistics, delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from nicegui import ui

from tablewright.conditions.column_filter import filter_on, ordered
from tablewright.domain.condition import OPERATORS, UNARY, Condition, split_values
from tablewright.domain.edits import RemoveField
from tablewright.domain.model import Cell, Field, Money, RowId, Table
from tablewright.domain.text import cell_text, shortened, show_float
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import dialog_buttons, paragraph
from tablewright.doors.web.frame import say, tell, visit_to_change
from tablewright.doors.web.grid_rows import mark
from tablewright.doors.web.words import TYPES, t, translated, type_text
from tablewright.errors import TablewrightError, UsageError
from tablewright.messages.catalogue import PageText
from tablewright.services import Change, Services
from tablewright.values.units import with_unit

if TYPE_CHECKING:
    from tablewright.services import Rechecked

MOST_COMMON = 5
FIGURES: PageText[tuple[tuple[str, Callable[[list[float]], float]], ...]] = (
    ("Sum", sum),
    ("Average", lambda all: sum(all) / len(all)),
    ("Smallest", min),
    ("Largest", max),
)
SURENESS: PageText[dict[str, str]] = {
    "own": "Given or typed in",
    "high": "High confidence",
    "medium": "Medium confidence",
    "low": "Low confidence",
    "flagged": "Flagged",
    "failed": "Not found",
    "empty": "Empty",
}


async def edit(table: Table, field: Field) -> Change | None:
    """Name, type and question; what was changed, if anything. What cannot be is said, and the window stays."""
    done: list[Change | None] = []
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        paragraph(t("Edit column {name}", name=shortened(field.name, 60)), "tw-h2")
        with ui.element("div").classes("tw-form"):
            name = ui.input(t("Name"), value=field.name).props("outlined dense autofocus maxlength=300")
            kind = ui.select(translated(TYPES), value=field.type, label=t("Type")).props("outlined dense")
            detail = detail_input(kind, ", ".join(field.options) or field.unit)
            question = ui.textarea(t("Question or formula"), value=field.question)
            question.props("outlined autogrow dense").classes("tw-whole")
        if field.question:
            paragraph(
                t(
                    "Changing the question does not change any values. Use “Edit question and run again” to look "
                    "them up again."
                ),
                "tw-muted tw-small",
            )

        async def save() -> None:
            changed = with_detail(
                msgspec.structs.replace(
                    field, name=(name.value or "").strip(), question=(question.value or "").strip(), type=kind.value
                ),
                detail.value or "",
            )
            changes = (await visit_to_write(table.id)).services.changes
            done.append(await changes.change_column(table.id, field.name, changed))
            window.submit(True)

        name.on("keydown.enter", dialog_buttons(window, t("Save"), save))
    await window
    window.delete()
    return done[0] if done else None


def detail_input(kind: ui.select, value: str = "") -> ui.input:
    """The options of a select, or the unit of a figure; not there for other types."""
    labels = {
        "select": t("Options, separated by commas"),
        "number": t("Unit (optional), e.g. kg"),
        "money": t("Currency (optional), e.g. EUR"),
    }
    detail = ui.input(value=value).props("outlined dense").classes("tw-whole")

    def show() -> None:
        detail.props["label"] = labels.get(kind.value, "")
        detail.set_visibility(kind.value in labels)

    kind.on_value_change(show)
    show()
    return detail


def with_detail(field: Field, detail: str) -> Field:
    options = tuple(option.strip() for option in detail.split(",") if option.strip())
    return msgspec.structs.replace(
        field,
        unit=detail.strip() if field.type in ("number", "money") else "",
        options=options if field.type == "select" else (),
    )


async def ask_filter(field: Field, fields: Sequence[Field], known: Condition | None) -> tuple[Condition | None] | None:
    """The condition on a column, or none any more; None where all stays as it is."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        paragraph(t("Filter {name}", name=shortened(field.name, 60)), "tw-h2")
        usual = "contains" if field.type not in ("number", "money", "date") else ">="
        operator = ui.select(translated(OPERATORS), value=known.operator if known else usual, label=t("Condition"))
        operator.props("outlined dense")
        value = ui.input(t("Value"), value=known.written_values if known else "").props("outlined dense autofocus")
        value.bind_visibility_from(operator, "value", lambda chosen: chosen not in UNARY)

        def take() -> None:
            values = () if operator.value in UNARY else split_values(value.value or "", operator.value)
            condition = Condition(column=field.name, operator=operator.value, values=values)
            try:
                filter_on(condition, fields)
            except TablewrightError as error:
                tell(error)
                return
            window.submit((condition,))

        value.on("keydown.enter", take)
        with ui.element("div").classes("tw-row tw-end"):
            if known:
                ui.button(t("Remove filter"), on_click=lambda: window.submit((None,))).props("flat")
            ui.button(t("Cancel"), on_click=window.close).props("flat")
            ui.button(t("Filter"), on_click=take).props("unelevated")
    chosen: tuple[Condition | None] | None = await window
    window.delete()
    return chosen


async def delete(table: Table, field: Field) -> Change | None:
    changes = (await visit_to_write(table.id)).services.changes
    change = await changes.edit(table.id, [RemoveField(name=field.name)], f"deleted column {field.name}")
    say(t("{name} deleted. Press Ctrl+Z to undo.", name=shortened(field.name, 60)))
    return change


async def statistics(services: Services, table: Table, field: Field) -> list[tuple[str, str]]:
    """What the values of a column come to, a figure a line."""
    marks: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    figures: dict[str, list[float]] = {}
    """Of each currency apart, because nothing is converted; else of the unit of the column."""

    def take(_: RowId, cell: Cell) -> None:
        marks[mark(cell)] += 1
        if cell.value is not None:
            texts[cell_text(cell)] += 1
            if isinstance(value := ordered(cell.value), float):
                unit = cell.value.currency if isinstance(cell.value, Money) else ""
                figures.setdefault(unit or field.unit, []).append(value)

    await services.column(table.id, field.name, take)
    filled = texts.total()
    lines = [
        (t("Filled"), t("{filled} of {all}", filled=filled, all=marks.total())),
        (t("Distinct values"), f"{len(texts):,}"),
    ]
    if figures and field.type in ("number", "money"):
        for name, of in FIGURES:
            shown = [with_unit(show_float(round(of(some), 4)), unit) for unit, some in sorted(figures.items())]
            lines.append((t(name), "\n".join(shown)))
    elif texts:
        common = texts.most_common(MOST_COMMON)
        lines.append((t("Most common"), "\n".join(f"{shortened(value, 60)}: {count:,}" for value, count in common)))
    lines += [(t(SURENESS[name]), f"{marks[name]:,}") for name in SURENESS if marks[name]]
    return lines


async def show_statistics(services: Services, table: Table, field: Field) -> None:
    lines: list[tuple[str, Any]] = [*await statistics(services, table, field)]
    with ui.dialog(value=True) as window, ui.card().classes("tw-dialog"):
        paragraph(shortened(field.name, 80), "tw-h2")
        with ui.element("dl").classes("tw-facts"):
            for name, value in lines:
                with ui.element("dt"):
                    ui.label(name)
                with ui.element("dd"):
                    paragraph(value)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Close"), on_click=window.close).props("flat autofocus")
    await window
    window.delete()


# ── editing cells ───────────────────────────────────────────────────────────────────────────────────────────────────
# What is written into a table from its page: who may by now, and the windows in which a cell is spoken about.


VERDICTS: PageText[dict[str, str]] = {
    "supported": "The source still says so.",
    "changed": "The source no longer says so. The cell is flagged.",
}
UNCHECKED: PageText[str] = "The source could not be checked."
MOST = 100_000
"""Characters of a cell that can be edited here: each change of them travels whole."""


async def visit_to_write(table_id: str) -> Visit:
    """Whoever has the page open, for what writes or costs money: they may change things, and still see the table."""
    visit = await visit_to_change()
    await visit.table(table_id)
    return visit


async def ask_value(name: str, field: Field, content: str, save: Callable[[str], Awaitable[None]]) -> None:
    """The whole text of a cell, to be written anew; what the column does not take can be mended."""
    if len(content) > MOST:
        raise UsageError(
            t("This text has {content} characters, too many to edit here.", content=len(content)),
            advice=t("Export the table, edit the file and import it."),
        )
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        paragraph(t("Edit {name}", name=shortened(field.name, 60)), "tw-h2")
        paragraph(f"{shortened(name, 80)}; {type_text(field)}", "tw-muted tw-small")
        given = ui.textarea(t("Value"), value=content).props(f"outlined autofocus rows=8 debounce=200 maxlength={MOST}")

        async def take() -> None:
            await save(given.value or "")
            window.submit(True)

        dialog_buttons(window, t("Save"), take)
    await window
    window.delete()


async def ask_name_and_tags(name: str, tags: Sequence[str]) -> tuple[str, list[str]] | None:
    """Of a table; None where they stay as they are."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        paragraph(t("Rename and tag"), "tw-h2")
        named = ui.input(t("Table name"), value=name).props("outlined dense autofocus maxlength=200")
        tagged = ui.input(t("Tags, separated by commas"), value=", ".join(tags)).props("outlined dense maxlength=500")
        paragraph(t("Tags group your tables: a client, a project, a quarter."), "tw-muted tw-small")
        named.on("keydown.enter", lambda: window.submit(True))
        tagged.on("keydown.enter", lambda: window.submit(True))
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=lambda: window.submit(False)).props("flat")
            ui.button(t("Save"), on_click=lambda: window.submit(True)).props("unelevated")
    is_wanted = await window and (named.value or "").strip()
    window.delete()
    return (named.value.strip(), (tagged.value or "").split(",")) if is_wanted else None


async def ask_reason(*, may_look: bool) -> tuple[str | None, bool]:
    """What is wrong with a cell, and whether it is to be looked for again at once; None where it is not flagged."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        ui.label(t("What is wrong?")).classes("tw-h2")
        reason = ui.input(t("Reason"), placeholder=t("e.g. this is a different company")).props("autofocus outlined")
        ui.label(
            t("The cell keeps its value and evidence. The next search is told your reason and looks elsewhere.")
        ).classes("tw-muted")
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=window.close).props("flat")
            flag = ui.button(t("Flag"), icon="flag", on_click=lambda: window.submit("flag"))
            flag.props("outline" if may_look else "unelevated")
            if may_look:
                again = ui.button(t("Flag and search again"), icon="search", on_click=lambda: window.submit("look"))
                again.props("unelevated")
        reason.on("keydown.enter", lambda: window.submit("flag"))
    choice = await window
    said = (reason.value or "").strip() if choice else None
    window.delete()
    return said, choice == "look"


def tell_rechecked(done: Rechecked) -> None:
    """What the cited pages say by now."""
    said = [verdict.verdict for verdict in done.cells]
    if not said:
        say(t("None of these cells has a source to check."), good=False)
    elif len(said) == 1:
        words = t(VERDICTS.get(said[0], UNCHECKED))
        note = done.cells[0].note
        say(words + (f"\n{note}" if note else ""), good=said[0] == "supported")
    else:
        changed, unknown = said.count("changed"), len(said) - said.count("supported") - said.count("changed")
        say(
            t(
                "{count} cell checked: {same} still supported, {changed} flagged because the source changed, {unknown} "
                "could not be checked.|"
                "{count} cells checked: {same} still supported, {changed} flagged because the source changed, "
                "{unknown} could not be checked.",
                count=len(said),
                same=said.count("supported"),
                changed=changed,
                unknown=unknown,
            ),
            good=not (changed or unknown),
        )


async def sure(question: str, yes: str) -> bool:
    with ui.dialog() as dialog, ui.card().classes("tw-dialog"):
        paragraph(question)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=lambda: dialog.submit(False)).props("flat autofocus")
            ui.button(yes, on_click=lambda: dialog.submit(True)).props("unelevated color=negative")
    said = bool(await dialog)
    dialog.delete()
    return said
