"""`tablewright shortlist`: the shopping advisor as a conversation in the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.errors import BadFile, UsageError
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.root import Budget, Json, Model, Search, app, run_with_services

if TYPE_CHECKING:
    from tablewright.domain.shortlist import ChatReply
    from tablewright.operations.shortlist import ShortlistPage
    from tablewright.services import Services

# The fields of the form, which `form_message` turns into a message.
FORM_LABELS = {
    "product": "Product",
    "budget": "Budget with its currency, such as 50 GBP",
    "must": "Must have, such as Capacity >= 1 l; several with ;",
    "nice": "Nice to have",
    "avoid": "To avoid",
    "region": "Region",
}


@app.command("shortlist")
def shortlist_command(
    action: Annotated[
        list[str] | None, typer.Argument(metavar="[remove ID]", help="Delete a conversation; its table stays.")
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(
            "--script", help="A file whose lines are your messages; [Label] presses a button, /help lists more."
        ),
    ] = None,
    conversation: Annotated[
        str, typer.Option("--conversation", metavar="ID", help="Continue an earlier conversation.")
    ] = "",
    list_all: Annotated[bool, typer.Option("--list", help="List all conversations.")] = False,
    model: Model = "",
    search: Search = "",
    budget: Budget = "",
    rates: Annotated[
        str, typer.Option("--rates", help="A CSV file with exchange rates, to replace the bundled ones.")
    ] = "",
    json: Json = False,
) -> None:
    """Decide what to buy: say what you need, confirm what was understood, and get a comparison with its trade-offs.

    Every fact is a table cell with its source. Type a message, the number or label of a button, or a command (/help).
    Without a model you fill in a form, and what you type is used as search words.
    """
    from tablewright.operations import shortlist as verbs
    from tablewright.operations.operation import NO_LIMIT, ListRequest, NoInput

    flags = {"model": model, "search": search, "budget": budget, "rates": rates}
    if action:
        if len(action) != 2 or action[0] != "remove":
            raise UsageError(f"Unexpected argument: {' '.join(action)}", advice="Write `shortlist remove ID`.")
        request = verbs.GetShortlist(shortlist=action[1])
        removed = run_with_services(lambda services: verbs.remove_shortlist(services, request), flags)
        output.print_json(removed) if json else output.print_note(f"Removed {removed.removed}; its table stays.")
        return
    if list_all:
        everything = ListRequest(limit=NO_LIMIT)
        print_shortlists(
            run_with_services(lambda services: verbs.list_shortlists(services, everything), flags), as_json=json
        )
        return
    if script is None and (json or not sys.stdin.isatty()):
        raise UsageError("A conversation needs a terminal.", advice="Start it in a terminal, or use --script FILE.")

    async def talk(services: Services) -> dict[str, Any]:
        if conversation:
            state = await verbs.get_shortlist(services, verbs.GetShortlist(shortlist=conversation))
        else:
            state = await verbs.start_shortlist(services, NoInput())
        turns = []
        # Without a model only the fields of a form can be understood.
        is_form = not conversation and services.settings.model == "builtin"
        async for said in read_messages(script, is_form=is_form):
            message = match_button(said, state.buttons)
            if script is not None and not json:
                output.print_prose(f"› {said}", 4_000)
            with output.Bar("Thinking") as bar:
                request = verbs.TakeTurn(shortlist=state.id, message=message)
                taken = await verbs.take_turn(services, request, watch=bar.follow_fill, tell=bar.tell)
            state = taken.shortlist
            turns.append({"message": message, "reply": taken.reply, "run_id": taken.run_id})
            if not json:
                print_advice(taken.reply, state.language)
            if state.phase == "end":
                break
        return {"id": state.id, "turns": turns, "state": state}

    done = run_with_services(talk, flags)
    if json:
        output.print_json(done)
    else:
        state = done["state"]
        table = f", table {state.table_id}" if state.table_id else ""
        output.print_note(
            f"Conversation {state.id}{table}. Continue with `tablewright shortlist --conversation {state.id}`."
        )


async def read_messages(script: Path | None, *, is_form: bool = False) -> AsyncIterator[str]:
    """Yield the lines of the script, or typed messages until an empty line; without a model a form comes first."""
    from tablewright.values.shortlist_form import format_form_message

    if script is not None:
        for line in read_script(script):
            yield line
        return
    if is_form:
        output.print_note(
            "There is no model to understand a wish, so please fill in a form; leave empty what does not matter."
        )
        filled = {name: (await asyncio.to_thread(input, f"{label}: ")).strip() for name, label in FORM_LABELS.items()}
        if filled["product"]:
            yield format_form_message(filled)
    else:
        output.print_note("What are you looking for? An empty line ends.")
    async for said in output.read_typed_lines():
        yield said


def read_script(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} cannot be read: {error}.") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def match_button(said: str, buttons: tuple[str, ...]) -> str:
    """Return the button that `[Label]`, its words or its number press; other text is a message."""
    label = said[1:-1].strip() if said.startswith("[") and said.endswith("]") else said
    for number, button in enumerate(buttons, start=1):
        if label.casefold() == button.casefold() or (label == str(number) and label == said):
            return button
    return label


def print_advice(reply: ChatReply, language: str = "") -> None:
    console = output.stdout()
    for said in reply.said:
        output.print_prose(said.text, 4_000)
    if reply.rows:
        output.print_grid_or_records(reply.columns, reply.rows)
    for card in reply.cards:
        console.print(output.harmless_text(card.heading(language), 260), highlight=False)
        for said in card.said:
            output.print_prose(said.text, 1_000, indent=3)
        if card.rank_reason:
            output.print_prose(card.rank_reason, 2_000, indent=3, style="dim")
        for link in card.links:
            output.print_prose(f"{link.label}: {link.url}", 2_000, indent=3, style="dim")
    for offer in reply.listings:
        at = f" ({output.format_local_time(offer.at)})" if offer.at else ""
        output.print_prose(f"{offer.text(language)}{at} {offer.url}", 600, indent=2)
    for said in reply.notes:
        output.print_prose(said.text, 4_000)
    if reply.buttons:
        labels = "   ".join(f"[{number}] {label}" for number, label in enumerate(reply.buttons, start=1))
        console.print(output.harmless_text(labels, 400), style="bold", highlight=False)


def print_shortlists(found: ShortlistPage, *, as_json: bool) -> None:
    empty = "There is no shortlist yet. Begin: tablewright shortlist."
    lines = [
        [each.id, each.phase, each.product_type, output.format_local_time(each.created_at)] for each in found.shortlists
    ]
    output.print_json_or_lines(as_json, found, empty, ["Conversation", "Phase", "Looking for", "Started"], lines)
