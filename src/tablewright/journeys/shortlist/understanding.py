"""What a message means: exactly, where it is a command; else by the model; without one, nothing but search words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.citations.untrusted import block
from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.shortlist.turn import TakeTurn, TurnTaken, TurnToTake
from tablewright.domain.model import Field, Table, column_key
from tablewright.domain.shortlist import Ranking, ShortlistState
from tablewright.journeys.shortlist.commands import turn_of
from tablewright.journeys.shortlist.wording import compared_rows, step_text
from tablewright.values.money import BUNDLED, Rates
from tablewright.values.shortlist_form import parse_command

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

SEARCH_WORDS = (
    "There is no model, so your words were not read as a wish: they are search words, and nothing of them is checked. "
    "Say what must be checked with the form or with commands; /help lists them."
)
NOT_READ = "There is no model, so your words were not read, and nothing was done. Use a command; /help lists them."


async def understood(
    state: ShortlistState,
    said: str,
    table: Table,
    ranking: Ranking,
    model: LanguageModel | None,
    tell: Tell,
    rates: Rates = BUNDLED,
) -> tuple[TurnTaken, str]:
    """With what the person should know about how it was read. Raises UsageError for a command that cannot be read."""
    rows = compared_rows(table, ranking, is_filled=state.has_presented)
    if command := parse_command(said):
        return turn_of(command, state, table, rows, rates), ""
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
    outcome = await decide(TakeTurn(), asked, model, tell)
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
    wanted = structs.replace(state.requirements, product_type=" ".join(said.split()))
    return TurnTaken(intent="wish", requirements=wanted, is_ready=True), SEARCH_WORDS


def missing(table: Table | None, fields: Sequence[Field], others: Sequence[Field] = ()) -> list[Field]:
    """Those that neither the table nor the others have, each once."""
    there = {column_key(field.name) for field in (*(table.fields if table else ()), *others)}
    found: dict[str, Field] = {}
    for field in fields:
        if column_key(field.name) not in there:
            found.setdefault(column_key(field.name), field)
    return list(found.values())
