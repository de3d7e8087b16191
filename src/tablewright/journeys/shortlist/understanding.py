"""What a message means: exactly, where it is a command; else by the model; without one, nothing but search words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import structs

from tablewright.citations.quotes import block
from tablewright.conditions.comparable import comparable_values, sort_key
from tablewright.decisions.decision import decide
from tablewright.decisions.shortlist.prompt_parts import ComparedRow
from tablewright.decisions.shortlist.turn import TakeTurn, TurnIntent, TurnTaken, TurnToTake
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, RowId, Table, column_key
from tablewright.domain.shortlist import KEY, Requirements, ShortlistState, Wish, WishKind, column_name
from tablewright.domain.text import normalize_whitespace
from tablewright.errors import UsageError
from tablewright.journeys.shortlist.context import TurnContext
from tablewright.journeys.shortlist.ranking import in_euros
from tablewright.journeys.shortlist.wording import compared_rows, lines, step_text
from tablewright.values.money import BUNDLED, Rates
from tablewright.values.shortlist_form import HELP, Command, parse_command, parse_form, parse_wish

SEARCH_WORDS = (
    "There is no model, so your words were not read as a wish: they are search words, and nothing of them is checked. "
    "Say what must be checked with the form or with commands; /help lists them."
)
NOT_READ = "There is no model, so your words were not read, and nothing was done. Use a command; /help lists them."


async def understand_message(context: TurnContext, state: ShortlistState, said: str) -> tuple[TurnTaken, str]:
    """With what the person should know about how it was read. Raises UsageError for a command that cannot be read."""
    table, model = await context.table(state), context.tools.model
    ranking = context.ranking(table, state)
    rows = compared_rows(table, ranking, is_filled=state.has_presented)
    if command := parse_command(said):
        return turn_of(command, state, table, rows, context.rates), ""
    if model is None:
        return as_search_words(state, said)
    wished = {column_key(wish.column) for wish in state.requirements.wishes}
    asked = TurnToTake(
        message=said,
        step=step_text(state, len(table.rows)),
        requirements=state.requirements,
        messages=state.messages[:-1],
        fields=(
            *(each for each in table.fields if each in table.shown_fields or column_key(each.name) in wished),
            *missing(table, (*state.columns, *state.proposed)),
        ),
        hidden=tuple(
            field.name
            for field in table.fields
            if field.is_asked and field not in table.shown_fields and column_key(field.name) not in wished
        ),
        rows=rows,
        notes=(*ranking.notes, *offers_block(state)),
        is_undecided=state.is_undecided,
        room=model.text_room,
    )
    outcome = await decide(TakeTurn(), asked, model, context.tell)
    if not outcome.degraded:
        return outcome.decided, ""
    return outcome.decided, state.translate(
        "I could not read your message: {why} Nothing was changed; say it again.", why=outcome.degraded
    )


def offers_block(state: ShortlistState) -> tuple[str, ...]:
    """Where products can be bought, so that a question about the offers can be answered from them."""
    offers = "\n".join(offer.text() for offer in state.offers)
    return (f"Offers of shops, as asked last:\n{block(5, offers, 'offers')}",) if offers else ()


def as_search_words(state: ShortlistState, said: str) -> tuple[TurnTaken, str]:
    if state.table_id or not said:
        return TurnTaken(intent="talk", requirements=state.requirements), NOT_READ if said else ""
    wanted = structs.replace(state.requirements, product_type=normalize_whitespace(said))
    return TurnTaken(intent="wish", requirements=wanted, is_ready=True), SEARCH_WORDS


def missing(table: Table | None, fields: Sequence[Field], others: Sequence[Field] = ()) -> list[Field]:
    """Those that neither the table nor the others have, each once."""
    there = {column_key(field.name) for field in (*(table.fields if table else ()), *others)}
    found: dict[str, Field] = {}
    for field in fields:
        if column_key(field.name) not in there:
            found.setdefault(column_key(field.name), field)
    return list(found.values())


# ── commands and forms: what is said exactly needs no model ──────────────────────────────────────────────────────────


def turn_of(
    command: Command, state: ShortlistState, table: Table, rows: Sequence[ComparedRow], rates: Rates = BUNDLED
) -> TurnTaken:
    """`rows` are the products as they are numbered on the screen."""
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
            wish, field = parse_wish(needed(rest, command), kind)
            changed = structs.replace(wanted, wishes=(*wanted.wishes, wish))
            return turn(intent="wish", requirements=changed, columns=(field,) if field else (), is_ready=True)
        case "drop" | "hard" | "soft":
            return turn(intent="wish", requirements=edited(wanted, command), is_ready=True)
        case "add":
            field = parse_field(needed(rest, command))
            question = field.question or f"What is the {field.name.lower()} of {{{KEY}}}?"
            return turn(intent="columns", columns=(structs.replace(field, question=question, role="user"),))
        case "hide":
            return turn(intent="columns", drop_columns=(known_column(rest, table, state).name,))
        case "more":
            return turn(intent="more", count=int(rest) if rest.isdecimal() else 0)
        case "links" | "remove":
            action: TurnIntent = command.verb
            return turn(intent=action, products=(product(rest, rows),))
        case "source" | "wrong":
            number, _, name = rest.partition(" ")
            return turn(
                intent="source" if command.verb == "source" else "wrong value",
                products=(product(number, rows),),
                about_columns=(known_column(name, table, state).name,),
            )
        case "export":
            return turn(intent="export", path=rest)
        case "sort":
            return turn(intent="show", products=in_order(rest, table, state, rates))
        case "all":
            return turn(intent="show")
        case "done":
            return turn(intent="done")
        case "restart":
            return turn(intent="start over")
        case _:
            return turn(intent="talk", said=lines(*HELP.splitlines()))


def in_order(rest: str, table: Table, state: ShortlistState, rates: Rates) -> tuple[RowId, ...]:
    """By a column, the least first unless it says "down"; what is not known comes last. Prices count in euros."""
    name, _, direction = rest.rpartition(" ")
    is_down = direction.lower() == "down" and bool(name)
    field = known_column(name if is_down else rest, table, state)
    known = [row for row in table.rows if row.cell(field.name).value is not None]

    def key(row: Row) -> tuple[int, float, str]:
        cell = row.cell(field.name)
        if isinstance(cell.value, Money):
            return 0, in_euros(cell.value, rates), ""
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
