"""`tablewright shortlist`: the shopping advisor as a conversation in the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.doors.cli import output
from tablewright.doors.cli.root import Budget, Json, Model, Search, app, with_app
from tablewright.errors import BadFile, UsageError

if TYPE_CHECKING:
    from tablewright.domain.shortlist import ChatReply
    from tablewright.operations.shortlist import ShortlistPage
    from tablewright.services import Services

BUILTIN = "builtin"
ASKED = {
    "product": "Product",
    "budget": "Budget with its currency, such as 50 GBP",
    "must": "Must have, such as Capacity >= 1 l; several with ;",
    "nice": "Nice to have",
    "avoid": "To avoid",
    "region": "Region",
}


@app.command()
def shortlist(
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
    from tablewright.operations.operation import NO_LIMIT

    flags = {"model": model, "search": search, "budget": budget, "rates": rates}
    if action:
        if len(action) != 2 or action[0] != "remove":
            raise UsageError(f"Unexpected argument: {' '.join(action)}", advice="Write `shortlist remove ID`.")
        request = verbs.GetShortlist(shortlist=action[1])
        removed = with_app(lambda services: verbs.remove_shortlist(services, request), flags)
        output.print_json(removed) if json else output.say(f"Removed {removed.removed}; its table stays.")
        return
    if list_all:
        everything = verbs.ListShortlists(limit=NO_LIMIT)
        print_list(with_app(lambda services: verbs.list_shortlists(services, everything), flags), as_json=json)
        return
    if script is None and (json or not sys.stdin.isatty()):
        raise UsageError("There is nobody to talk to.", advice="Use --script FILE, or start it in a terminal.")

    async def talk(services: Services) -> dict[str, Any]:
        if conversation:
            state = await verbs.get_shortlist(services, verbs.GetShortlist(shortlist=conversation))
        else:
            state = await verbs.start_shortlist(services, verbs.StartShortlist())
        turns = []
        is_form = not conversation and services.settings.model == BUILTIN
        async for said in messages(script, is_form=is_form):
            message = pressed(said, state.buttons)
            if script is not None and not json:
                output.print_prose(f"› {said}", 4_000)
            with output.Bar("Thinking") as bar:
                request = verbs.TakeTurn(shortlist=state.id, message=message)
                taken = await verbs.take_turn(services, request, watch=bar.follow_fill, tell=bar.tell)
            state = taken.shortlist
            turns.append({"message": message, "reply": taken.reply})
            if not json:
                print_reply(taken.reply, state.language)
            if state.phase == "end":
                break
        return {"id": state.id, "turns": turns, "state": state}

    done = with_app(talk, flags)
    if json:
        output.print_json(done)
    else:
        state = done["state"]
        table = f", table {state.table_id}" if state.table_id else ""
        output.say(f"Conversation {state.id}{table}. Continue with `tablewright shortlist --conversation {state.id}`.")


async def messages(script: Path | None, *, is_form: bool = False) -> AsyncIterator[str]:
    """Those of the script, or what is typed until an empty line; first a form, where nobody would understand words."""
    from tablewright.values.shortlist_form import form_message

    if script is not None:
        for line in read_script(script):
            yield line
        return
    if is_form:
        output.say(
            "There is no model to understand a wish, so please fill in a form; leave empty what does not matter."
        )
        filled = {name: (await asyncio.to_thread(input, f"{label}: ")).strip() for name, label in ASKED.items()}
        if filled["product"]:
            yield form_message(filled)
    else:
        output.say("What are you looking for? An empty line ends.")
    async for said in output.typed_lines():
        yield said


def read_script(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} cannot be read: {error}.") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def pressed(said: str, buttons: tuple[str, ...]) -> str:
    """`[Label]`, the label's words or its number press a button; all else is a message."""
    label = said[1:-1].strip() if said.startswith("[") and said.endswith("]") else said
    for number, button in enumerate(buttons, start=1):
        if label.casefold() == button.casefold() or (label == str(number) and label == said):
            return button
    return label


def print_reply(reply: ChatReply, language: str = "") -> None:
    from tablewright.messages.catalogue import figure, translate

    console = output.stdout()
    for said in reply.said:
        output.print_prose(said.text, 4_000)
    if reply.rows:
        console.print(output.grid("", list(reply.columns), [list(row) for row in reply.rows]))
    for card in reply.cards:
        score = translate("shortlist", "score {score}", language, score=figure(f"{card.score:.2f}", language))
        console.print(output.plain(f"{card.heading(language)} ({score})", 260), highlight=False)
        for said in card.said:
            output.print_prose(said.text, 1_000, indent=3)
        parts = "; ".join(f"{part.why}: {figure(f'{part.score:.2f}', language)}" for part in card.parts)
        if parts:
            output.print_prose(parts, 2_000, indent=3, style="dim")
    for offer in reply.listings:
        at = f" ({output.when(offer.at)})" if offer.at else ""
        output.print_prose(f"{offer.text(language)}{at} {offer.url}", 600, indent=2)
    for said in reply.notes:
        output.print_prose(said.text, 4_000)
    if reply.buttons:
        labels = "   ".join(f"[{number}] {label}" for number, label in enumerate(reply.buttons, start=1))
        console.print(output.plain(labels, 400), style="bold", highlight=False)


def print_list(found: ShortlistPage, *, as_json: bool) -> None:
    empty = "There is no shortlist yet. Begin: tablewright shortlist."
    lines = [[each.id, each.phase, each.product_type, output.when(each.created_at)] for each in found.shortlists]
    output.print_list(as_json, found, empty, ["Conversation", "Phase", "Looking for", "Started"], lines)
