"""Understand a message: parse a command exactly, let the model read other words, or take them as search words.

Reads the table; changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import structs

from tablewright.citations.quotes import mark_text
from tablewright.conditions.compare import comparable_sort_key, read_comparable_values
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, RowId, Table, column_key
from tablewright.domain.shortlist import (
    PRODUCT_COLUMN,
    Requirements,
    ShortlistState,
    Wish,
    WishKind,
    localize_column_name,
)
from tablewright.domain.text import normalize_whitespace
from tablewright.errors import UsageError
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.shortlist.prompt_parts import ComparedRow
from tablewright.llm.tasks.shortlist.turn import TakeTurn, TurnIntent, TurnTaken, TurnToTake
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.values.shortlist_form import (
    SHORTLIST_COMMANDS,
    ShortlistCommand,
    parse_command,
    parse_form,
    parse_wish,
)
from tablewright.workflows.shortlist.context import TurnContext
from tablewright.workflows.shortlist.ranking import convert_to_euros
from tablewright.workflows.shortlist.wording import describe_step, make_compared_rows, make_sentences


async def understand_message(context: TurnContext, state: ShortlistState, said: str) -> tuple[TurnTaken, str]:
    """Return what the message asks for, and a note for the user on how it was read. Raise UsageError for an invalid
    command."""
    table, model = await context.table(state), context.tools.model
    ranking = context.ranking(table, state)
    rows = make_compared_rows(table, ranking, is_filled=state.has_presented)
    if command := parse_command(said):
        return interpret_command(command, state, table, rows, context.rates), ""
    if model is None:
        if state.table_id or not said:
            not_read = (
                "There is no model, so your words were not read, and nothing was done. Choose a model in the settings, "
                "or use a command; /help lists them."
            )
            return TurnTaken(intent="talk", requirements=state.requirements), not_read if said else ""
        wanted = structs.replace(state.requirements, product_type=normalize_whitespace(said))
        return TurnTaken(intent="wish", requirements=wanted, is_ready=True), (
            "There is no model, so your words were not read as a wish. Fill in the form (/form product: kettle | "
            "budget: 50 GBP | must: Capacity >= 1 l), or choose a model in the settings. Otherwise they are search "
            "words, and nothing of them is checked."
        )
    wished = {column_key(wish.column) for wish in state.requirements.wishes}
    # The last offers of shops, so that the model can answer questions about them.
    offers = "\n".join(offer.text() for offer in state.offers)
    shown = (f"Offers of shops, as asked last:\n{mark_text(5, offers, 'offers')}",) if offers else ()
    asked = TurnToTake(
        message=said,
        step=describe_step(state, len(table.rows)),
        requirements=state.requirements,
        messages=state.messages[:-1],
        fields=(
            *(each for each in table.fields if each in table.shown_fields or column_key(each.name) in wished),
            *find_missing_fields(table, (*state.columns, *state.proposed)),
        ),
        hidden=tuple(
            field.name
            for field in table.fields
            if field.is_asked and field not in table.shown_fields and column_key(field.name) not in wished
        ),
        rows=rows,
        notes=(*ranking.notes, *shown),
        is_undecided=state.is_undecided,
        room=model.text_room,
    )
    outcome = await decide(TakeTurn(), asked, model, context.tell)
    if not outcome.degraded:
        return outcome.decided, ""
    return outcome.decided, state.translate(
        "I could not read your message: {why} Nothing was changed; say it again.", why=outcome.degraded
    )


def find_missing_fields(table: Table | None, fields: Sequence[Field], others: Sequence[Field] = ()) -> list[Field]:
    """Return the fields that neither the table nor `others` have, each once."""
    there = {column_key(field.name) for field in (*(table.fields if table else ()), *others)}
    found: dict[str, Field] = {}
    for field in fields:
        if column_key(field.name) not in there:
            found.setdefault(column_key(field.name), field)
    return list(found.values())


# ── commands and forms need no model ──────────────────────────────────────────────────────────


def interpret_command(
    command: ShortlistCommand,
    state: ShortlistState,
    table: Table,
    rows: Sequence[ComparedRow],
    rates: ExchangeRates = BUNDLED_RATES,
) -> TurnTaken:
    """Return the turn that a command asks for; `rows` are the products as numbered on the screen."""
    wanted, rest = state.requirements, command.rest
    turn = partial(TurnTaken, requirements=wanted)
    match command.verb:
        case "form":
            requirements, columns = parse_form(rest)
            before, after = wanted.product_type.casefold(), requirements.product_type.casefold()
            intent: TurnIntent = "other product" if before and before != after and state.table_id else "wish"
            return turn(intent=intent, requirements=requirements, columns=columns, is_ready=True)
        case "must" | "nice" | "avoid":
            kind: WishKind = command.verb
            wish, field = parse_wish(require_words(rest, command), kind)
            changed = structs.replace(wanted, wishes=(*wanted.wishes, wish))
            return turn(intent="wish", requirements=changed, columns=(field,) if field else (), is_ready=True)
        case "drop" | "hard" | "soft":
            return turn(intent="wish", requirements=edit_wish(wanted, command), is_ready=True)
        case "add":
            field = parse_field(require_words(rest, command))
            question = field.question or f"What is the {field.name.lower()} of {{{PRODUCT_COLUMN}}}?"
            added = structs.replace(field, question=question, role="user")
            return turn(intent="columns", columns=(added,), is_ready=True)
        case "hide":
            return turn(intent="columns", drop_columns=(find_shown_column(rest, table, state).name,))
        case "more":
            return turn(intent="more", count=int(rest) if rest.isdecimal() else 0, is_ready=True)
        case "links" | "remove":
            action: TurnIntent = command.verb
            return turn(intent=action, products=(pick_product(rest, rows),))
        case "source" | "wrong":
            number, _, name = rest.partition(" ")
            return turn(
                intent="source" if command.verb == "source" else "wrong value",
                products=(pick_product(number, rows),),
                about_columns=(find_shown_column(name, table, state).name,),
            )
        case "export":
            return turn(intent="export", path=rest)
        case "sort":
            return turn(intent="show", products=sort_products(rest, table, state, rates))
        case "all":
            return turn(intent="show")
        case "done":
            return turn(intent="done")
        case "restart":
            return turn(intent="start over")
        case _:
            return turn(
                intent="talk", said=make_sentences(*(f"/{verb} {what}" for verb, what in SHORTLIST_COMMANDS.items()))
            )


def sort_products(rest: str, table: Table, state: ShortlistState, rates: ExchangeRates) -> tuple[RowId, ...]:
    """Sort by a column, lowest first unless the command says "down"; unknown values come last. Prices count in
    euros."""
    name, _, direction = rest.rpartition(" ")
    is_down = direction.lower() == "down" and bool(name)
    field = find_shown_column(name if is_down else rest, table, state)
    known = [row for row in table.rows if row.cell(field.name).value is not None]

    def key(row: Row) -> tuple[int, float, str]:
        cell = row.cell(field.name)
        if isinstance(cell.value, Money):
            return 0, convert_to_euros(cell.value, rates), ""
        return min(map(comparable_sort_key, read_comparable_values(cell, field)), default=(2, 0.0, ""))

    known.sort(key=key, reverse=is_down)
    return tuple(row.id for row in (*known, *(row for row in table.rows if row.cell(field.name).value is None)))


def require_words(rest: str, command: ShortlistCommand) -> str:
    if not rest:
        raise UsageError(f"/{command.verb} needs more words.", advice="/help shows how it is written.")
    return rest


def edit_wish(wanted: Requirements, command: ShortlistCommand) -> Requirements:
    number = int(command.rest) if command.rest.isdecimal() else 0
    if not 1 <= number <= len(wanted.wishes):
        raise UsageError(f"There is no wish {command.rest!r}.", advice=f"They are numbered 1 to {len(wanted.wishes)}.")
    wishes: list[Wish] = list(wanted.wishes)
    if command.verb == "drop":
        del wishes[number - 1]
    else:
        wishes[number - 1] = structs.replace(wishes[number - 1], hard=command.verb == "hard")
    return structs.replace(wanted, wishes=tuple(wishes))


def find_shown_column(name: str, table: Table, state: ShortlistState) -> Field:
    """Return the column with this name, in the table or as it is shown. Raise UsageError if there is none."""
    shown = {column_key(localize_column_name(each.name, state.language)): each for each in table.shown_fields}
    field = table.field(name.strip()) or shown.get(column_key(name))
    if field is None:
        names = ", ".join(localize_column_name(each.name, state.language) for each in table.shown_fields)
        raise UsageError(f"There is no column {name.strip()!r}.", advice=f"There are: {names}.")
    return field


def pick_product(number: str, rows: Sequence[ComparedRow]) -> RowId:
    if not (number.isdecimal() and 1 <= int(number) <= len(rows)):
        raise UsageError(f"There is no product {number!r}.", advice=f"They are numbered 1 to {len(rows)}.")
    return rows[int(number) - 1].row_id
