"""The menu of a column (edit, filter, statistics, delete) and the dialogs about its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from nicegui import ui

from tablewright.conditions.evaluate import make_column_filter, value_sort_key
from tablewright.domain.condition import CONDITION_OPERATORS, UNARY_OPERATORS, Condition, split_condition_values
from tablewright.domain.edits import RemoveField
from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Field, Money, RowId, Table
from tablewright.domain.text import cell_text, format_float, shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.elements import (
    build_dialog,
    dialog_buttons,
    show_paragraph,
    show_remark,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import show_notice, visit_now
from tablewright.interfaces.page.words import TYPE_NAMES, t, translate_choices, type_text
from tablewright.messages.catalogue import PageText
from tablewright.operations.grid_rows import cell_mark
from tablewright.operations.rows import read_column
from tablewright.services import Services
from tablewright.values.units import format_with_unit

if TYPE_CHECKING:
    from tablewright.operations.fill import RecheckResult


async def ask_column_changes(table: Table, field: Field) -> Change | None:
    """Ask for the name, type and question of a column, and return the change, if any."""
    with build_dialog(t("Edit column {name}", name=shorten_text(field.name, 60)), wide=True) as window:
        with ui.element("div").classes("tw-form"):
            name = ui.input(t("Name"), value=field.name).props("autofocus maxlength=300")
            kind = ui.select(translate_choices(TYPE_NAMES), value=field.type, label=t("Type"))
            detail = detail_input(kind, ", ".join(field.options) or field.unit)
            question = ui.textarea(t("Question or formula"), value=field.question).props("autogrow").classes("tw-whole")
        if field.question:
            show_remark(
                t(
                    "Changing the question does not change any values. Use “Edit question and run again” to look "
                    "them up again."
                )
            )

        async def save() -> Change | None:
            changed = msgspec.structs.replace(
                field, name=(name.value or "").strip(), question=(question.value or "").strip(), type=kind.value
            )
            changes = (await visit_now("write", table.id)).services.changes
            return await changes.change_column(table.id, field.name, with_options_or_unit(changed, detail.value or ""))

        name.on("keydown.enter", dialog_buttons(window, (t("Save"), save)))
    return cast(Change | None, await wait_for_answer(window))


def detail_input(kind: ui.select, value: str = "") -> ui.input:
    """Show a field for the options of a select, or the unit of a figure; hidden for other types."""
    labels = {
        "select": t("Options, separated by commas"),
        "number": t("Unit (optional), e.g. kg"),
        "money": t("Currency (optional), e.g. EUR"),
    }
    detail = ui.input(value=value).classes("tw-whole")

    def show() -> None:
        detail.props["label"] = labels.get(kind.value, "")
        detail.set_visibility(kind.value in labels)

    kind.on_value_change(show)
    show()
    return detail


def with_options_or_unit(field: Field, detail: str) -> Field:
    options = tuple(option.strip() for option in detail.split(",") if option.strip())
    return msgspec.structs.replace(
        field,
        unit=detail.strip() if field.type in ("number", "money") else "",
        options=options if field.type == "select" else (),
    )


async def ask_filter(field: Field, fields: Sequence[Field], known: Condition | None) -> tuple[Condition | None] | None:
    """Ask for a condition on a column: (None,) removes it, None leaves all as it is."""
    with build_dialog(t("Filter {name}", name=shorten_text(field.name, 60))) as window:
        # What people mostly look for: a word in a text, a figure from a limit on.
        usual = "contains" if field.type not in ("number", "money", "date") else ">="
        operator = ui.select(
            translate_choices(CONDITION_OPERATORS), value=known.operator if known else usual, label=t("Condition")
        )
        value = ui.input(t("Value"), value=known.written_values if known else "").props("autofocus")
        value.bind_visibility_from(operator, "value", lambda chosen: chosen not in UNARY_OPERATORS)

        async def condition() -> tuple[Condition]:
            values = (
                () if operator.value in UNARY_OPERATORS else split_condition_values(value.value or "", operator.value)
            )
            chosen = Condition(column=field.name, operator=operator.value, values=values)
            # Raises if the value does not suit the column, while the dialog is still open.
            make_column_filter(chosen, fields)
            return (chosen,)

        remove = [(t("Remove filter"), (None,))] if known else []
        value.on("keydown.enter", dialog_buttons(window, *remove, (t("Filter"), condition)))
    return cast(tuple[Condition | None] | None, await wait_for_answer(window))


async def delete_column(table: Table, field: Field) -> Change | None:
    changes = (await visit_now("write", table.id)).services.changes
    change = await changes.edit(table.id, [RemoveField(name=field.name)], f"deleted column {field.name}")
    show_notice(t("{name} deleted. Press Ctrl+Z to undo.", name=shorten_text(field.name, 60)))
    return change


async def column_statistics(services: Services, table: Table, field: Field) -> list[tuple[str, str]]:
    """Summarise the values of a column, one figure in each line."""
    mark_names: PageText[dict[str, str]] = {
        "own": "Given or typed in",
        "high": "High confidence",
        "medium": "Medium confidence",
        "low": "Low confidence",
        "flagged": "Flagged",
        "failed": "Not found",
        "empty": "Empty",
    }
    summaries: PageText[tuple[tuple[str, Callable[[list[float]], float]], ...]] = (
        ("Sum", sum),
        ("Average", lambda all: sum(all) / len(all)),
        ("Smallest", min),
        ("Largest", max),
    )
    marks: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    figures: dict[str, list[float]] = {}
    """By currency, because nothing is converted; else by the unit of the column."""

    def take(_: RowId, cell: Cell) -> None:
        marks[cell_mark(cell)] += 1
        if cell.value is not None:
            texts[cell_text(cell)] += 1
            if isinstance(value := value_sort_key(cell.value), float):
                unit = cell.value.currency if isinstance(cell.value, Money) else ""
                figures.setdefault(unit or field.unit, []).append(value)

    await read_column(services, table.id, field.name, take)
    filled = texts.total()
    lines = [
        (t("Filled"), t("{filled} of {all}", filled=filled, all=marks.total())),
        (t("Distinct values"), f"{len(texts):,}"),
    ]
    if figures and field.type in ("number", "money"):
        for name, of in summaries:
            # Four decimals: an average has endless ones.
            shown = [format_with_unit(format_float(round(of(some), 4)), unit) for unit, some in sorted(figures.items())]
            lines.append((t(name), "\n".join(shown)))
    elif texts:
        # Five fit into the dialog without scrolling.
        common = texts.most_common(5)
        lines.append((t("Most common"), "\n".join(f"{shorten_text(value, 60)}: {count:,}" for value, count in common)))
    lines += [(t(mark_names[name]), f"{marks[name]:,}") for name in mark_names if marks[name]]
    return lines


async def show_column_statistics(services: Services, table: Table, field: Field) -> None:
    lines = await column_statistics(services, table, field)
    with build_dialog(shorten_text(field.name, 80)) as window:
        with ui.element("dl").classes("tw-facts"):
            for name, value in lines:
                with ui.element("dt"):
                    ui.label(name)
                with ui.element("dd"):
                    show_paragraph(value)
        dialog_buttons(window, cancel=t("Close"))
    await wait_for_answer(window)


# ── editing cells ───────────────────────────────────────────────────────────────────────────────────────────────────


async def ask_cell_value(name: str, field: Field, content: str, save: Callable[[str], Awaitable[None]]) -> None:
    """Ask for the text of a cell; the dialog stays open if the column does not accept it."""
    # Every change of the text area sends the whole text.
    most_characters = 100_000
    if len(content) > most_characters:
        raise UsageError(
            t("This text has {content} characters, too many to edit here.", content=len(content)),
            advice=t("Export the table, edit the file and import it."),
        )
    with build_dialog(t("Edit {name}", name=shorten_text(field.name, 60)), wide=True) as window:
        show_remark(f"{shorten_text(name, 80)}; {type_text(field)}")
        given = ui.textarea(t("Value"), value=content).props(
            f"autofocus rows=8 debounce=200 maxlength={most_characters}"
        )
        dialog_buttons(window, (t("Save"), lambda: save(given.value or "")))
    await wait_for_answer(window)


async def ask_name_and_tags(name: str, tags: Sequence[str]) -> tuple[str, list[str]]:
    """Ask for the name and tags of a table; the name is "" if nothing changes."""
    with build_dialog(t("Rename and tag")) as window:
        named = ui.input(t("Table name"), value=name).props("autofocus maxlength=200")
        tagged = ui.input(t("Tags, separated by commas"), value=", ".join(tags)).props("maxlength=500")
        show_remark(t("Tags group your tables: a client, a project, a quarter."))
        save = dialog_buttons(window, (t("Save"), True))
        named.on("keydown.enter", save)
        tagged.on("keydown.enter", save)
    is_saved = await wait_for_answer(window)
    return (named.value or "").strip() if is_saved else "", (tagged.value or "").split(",")


async def ask_flag_reason(*, may_look: bool) -> tuple[str | None, bool]:
    """Ask what is wrong with a cell, and whether to search again at once; return no reason if it is not flagged."""
    with build_dialog(t("What is wrong?")) as window:
        reason = ui.input(t("Reason"), placeholder=t("e.g. this is a different company")).props("autofocus")
        show_paragraph(
            t("The cell keeps its value and evidence. The next search uses your reason and looks elsewhere."),
            "tw-muted",
        )
        reason.on("keydown.enter", lambda: window.submit("flag"))
        again = [(t("Flag and search again"), "look")] if may_look else []
        dialog_buttons(window, (t("Flag"), "flag"), *again)
    choice = await wait_for_answer(window)
    return (reason.value or "").strip() if choice else None, choice == "look"


def notify_rechecked(done: RecheckResult) -> None:
    """Show a notice of what the cited pages say now."""
    verdicts: PageText[dict[str, str]] = {
        "supported": "The source still says so.",
        "changed": "The source no longer says so. The cell is flagged.",
        "unknown": "The source could not be checked.",
    }
    found = [verdict.verdict for verdict in done.cells]
    if not found:
        show_notice(t("None of these cells has a source to check."), good=False)
    elif len(found) == 1:
        words = t(verdicts.get(found[0], verdicts["unknown"]))
        note = done.cells[0].note
        show_notice(words + (f"\n{note}" if note else ""), good=found[0] == "supported")
    else:
        same, changed = found.count("supported"), found.count("changed")
        words = t(
            "{count} cell checked: {same} still supported, {changed} flagged because the source changed, {unknown} "
            "could not be checked.|"
            "{count} cells checked: {same} still supported, {changed} flagged because the source changed, "
            "{unknown} could not be checked.",
            count=len(found),
            same=same,
            changed=changed,
            unknown=len(found) - same - changed,
        )
        show_notice(words, good=same == len(found))
