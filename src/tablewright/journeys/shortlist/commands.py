"""Commands and forms as turns: what a person says exactly needs no model."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from tablewright.conditions.comparable import comparable_values, sort_key
from tablewright.decisions.shortlist.prompt_parts import ComparedRow
from tablewright.decisions.shortlist.turn import TurnIntent, TurnTaken
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, RowId, Table, column_key
from tablewright.domain.shortlist import KEY, Requirements, ShortlistState, Wish, WishKind, column_name
from tablewright.errors import UsageError
from tablewright.journeys.shortlist.wording import lines
from tablewright.values.money import BUNDLED, Rates
from tablewright.values.shortlist_form import HELP, Command, parse_form, parse_wish


def turn_of(
    command: Command, state: ShortlistState, table: Table, rows: Sequence[ComparedRow], rates: Rates = BUNDLED
) -> TurnTaken:
    """`rows` are the products as they are numbered on the screen."""
    wanted, rest = state.requirements, command.rest
    match command.verb:
        case "form":
            requirements, columns = parse_form(rest)
            is_other = (
                bool(wanted.product_type) and requirements.product_type.casefold() != wanted.product_type.casefold()
            )
            intent: TurnIntent = "other product" if is_other and state.table_id else "wish"
            return TurnTaken(intent=intent, requirements=requirements, columns=columns, is_ready=True)
        case "must" | "nice" | "avoid":
            kind: WishKind = command.verb
            wish, field = parse_wish(needed(rest, command), kind)
            changed = structs.replace(wanted, wishes=(*wanted.wishes, wish))
            return TurnTaken(intent="wish", requirements=changed, columns=(field,) if field else (), is_ready=True)
        case "drop" | "hard" | "soft":
            return TurnTaken(intent="wish", requirements=edited(wanted, command), is_ready=True)
        case "add":
            field = parse_field(needed(rest, command))
            question = field.question or f"What is the {field.name.lower()} of {{{KEY}}}?"
            column = structs.replace(field, question=question, role="user")
            return TurnTaken(intent="columns", requirements=wanted, columns=(column,))
        case "hide":
            return TurnTaken(
                intent="columns", requirements=wanted, drop_columns=(known_column(rest, table, state).name,)
            )
        case "more":
            count = int(rest) if rest.isdecimal() else 0
            return TurnTaken(intent="more", requirements=wanted, count=count)
        case "links":
            return TurnTaken(intent="links", requirements=wanted, products=(product(rest, rows),))
        case "source" | "wrong":
            number, _, name = rest.partition(" ")
            return TurnTaken(
                intent="source" if command.verb == "source" else "wrong value",
                requirements=wanted,
                products=(product(number, rows),),
                about_columns=(known_column(name, table, state).name,),
            )
        case "export":
            return TurnTaken(intent="export", requirements=wanted, path=rest)
        case "remove":
            return TurnTaken(intent="remove", requirements=wanted, products=(product(rest, rows),))
        case "sort":
            return TurnTaken(intent="show", requirements=wanted, products=in_order(rest, table, state, rates))
        case "all":
            return TurnTaken(intent="show", requirements=wanted)
        case "done":
            return TurnTaken(intent="done", requirements=wanted)
        case "restart":
            return TurnTaken(intent="start over", requirements=wanted)
        case _:
            return TurnTaken(intent="talk", requirements=wanted, said=lines(*HELP.splitlines()))


def in_order(rest: str, table: Table, state: ShortlistState, rates: Rates) -> tuple[RowId, ...]:
    """By a column, the least first unless it says "down"; what is not known comes last. Prices count in euros."""
    name, _, direction = rest.rpartition(" ")
    is_down = direction.lower() == "down" and bool(name)
    field = known_column(name if is_down else rest, table, state)
    known = [row for row in table.rows if row.cell(field.name).value is not None]

    def key(row: Row) -> tuple[int, float, str]:
        cell = row.cell(field.name)
        if isinstance(cell.value, Money):
            euros = rates.convert(cell.value.amount, cell.value.currency, "EUR")
            return 0, cell.value.amount if euros is None else euros, ""
        return min(map(sort_key, comparable_values(cell, field)), default=(2, 0.0, ""))

    known.sort(key=key, reverse=is_down)
    return tuple(row.id for row in (*known, *(row for row in table.rows if row.cell(field.name).value is None)))


def needed(rest: str, command: Command) -> str:
    if not rest:
        raise UsageError(f"/{command.verb} needs more words.", advice="/help shows how it is written.")
    return rest


def edited(wanted: Requirements, command: Command) -> Requirements:
    number = int(command.rest) if command.rest.isdecimal() else 0
    if not 1 <= number <= len(wanted.wishes):
        raise UsageError(f"There is no wish {command.rest!r}.", advice=f"They are numbered 1 to {len(wanted.wishes)}.")
    wishes: list[Wish] = list(wanted.wishes)
    if command.verb == "drop":
        del wishes[number - 1]
    else:
        wishes[number - 1] = structs.replace(wishes[number - 1], hard=command.verb == "hard")
    return structs.replace(wanted, wishes=tuple(wishes))


def known_column(name: str, table: Table, state: ShortlistState) -> Field:
    """By its own name, or by the one that it is shown under."""
    shown = {column_key(column_name(each.name, state.language)): each for each in table.shown_fields}
    field = table.field(name.strip()) or shown.get(column_key(name))
    if field is None:
        names = ", ".join(column_name(each.name, state.language) for each in table.shown_fields)
        raise UsageError(f"There is no column {name.strip()!r}.", advice=f"There are: {names}.")
    return field


def product(number: str, rows: Sequence[ComparedRow]) -> RowId:
    if not (number.isdecimal() and 1 <= int(number) <= len(rows)):
        raise UsageError(f"There is no product {number!r}.", advice=f"They are numbered 1 to {len(rows)}.")
    return rows[int(number) - 1].row_id
