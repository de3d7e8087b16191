"""`tablewright ask` and `tablewright conversations`: questions about your own documents."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun, shorten_text
from tablewright.errors import TablewrightError
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from rich.text import Text

    from tablewright.domain.reply import Citation, Reply
    from tablewright.operations.ask import AskDocuments, ConversationPage, ConversationShown
    from tablewright.operations.tables import Removed
    from tablewright.services import Services

conversations = typer.Typer(no_args_is_help=True, help="Your conversations about documents: list, show, remove.")
app.add_typer(conversations, name="conversations")

Export = Annotated[
    Path | None, typer.Option("--export", help="Write all matching rows to this file: .csv, .xlsx or .json.")
]
Trace = Annotated[bool, typer.Option("--trace", help="Show what was tried and why.")]


@command(
    app,
    "ask.ask_documents",
    name="ask",
    arguments=("question",),
    settings=("model", "budget"),
    names={"agreed": "--yes"},
    metavars={"question": "QUESTION"},
    helps={"question": "The question. Without one, a chat starts."},
    defaults={"limit": 0},
)
def ask_command(
    request: AskDocuments,
    flags: Mapping[str, str],
    export: Export = None,
    trace: Trace = False,
    json: Json = False,
) -> None:
    """Ask your documents a question. Add them first: `tablewright docs add PATH`.

    A list or a count includes everything that matches, says what could not be decided or read, and cites each page.
    With a model you can ask follow-up questions about the last result: "only 2024", "and the largest?", "show the
    rest", "export it".

    --where needs no model: it looks up what is already known about the documents (`tablewright docs tables` lists it).
    Without a model, a question is turned into such conditions if every word of it is known; otherwise the passages
    nearest to it are shown. "show the rest" and "export to FILE" work on the last result.
    """
    from tablewright.formats.tables.write import target_format
    from tablewright.operations.ask import ask_documents

    # Without a question a person at a terminal gets a chat; a program gets the error of the operation.
    if not (request.question or request.form or request.rest or json) and sys.stdin.isatty():
        run_with_services(lambda services: chat_about_documents(services, request.conversation, trace=trace), flags)
        return

    async def once(services: Services) -> Reply:
        if export is not None:
            target_format(export)  # what cannot be written is said before anything is asked
        reply = await ask_documents(services, request)
        await write_rows(services, reply, export)
        return reply

    reply = run_with_services(once, flags)
    if json:
        output.print_json(reply)
    else:
        print_answer(reply, trace=trace)


async def chat_about_documents(services: Services, conversation: str, *, trace: bool) -> None:
    from tablewright.operations.ask import AskDocuments, ConversationRequest, ask_documents, get_conversation

    if conversation:
        print_turns(await get_conversation(services, ConversationRequest(conversation=conversation)))
    output.print_note("Ask about your documents; an empty line ends.")
    async for said in output.read_typed_lines():
        try:
            reply = await ask_documents(services, AskDocuments(question=said, conversation=conversation))
            conversation = reply.conversation
            print_answer(reply, trace=trace)
            await write_rows(services, reply)
        except TablewrightError as error:
            output.show_error(error)


@command(conversations, "ask.list_conversations", name="list")
def list_conversations_command(reply: ConversationPage) -> None:
    """List the conversations, newest first."""
    lines = [[each.conversation, output.format_local_time(each.started_at), each.title] for each in reply.conversations]
    output.print_lines("There are none yet.", ["Conversation", "Started", "First question"], lines)


@command(conversations, "ask.get_conversation", name="show", arguments=("conversation",))
def show_conversation_command(reply: ConversationShown) -> None:
    """Show the questions and answers of a conversation."""
    print_turns(reply)


@command(conversations, "ask.remove_conversation", name="remove", arguments=("conversation",))
def remove_conversation_command(reply: Removed) -> None:
    """Delete a conversation with the rows of its answers."""
    output.print_note(f"Removed conversation {reply.removed}.")


def print_turns(shown: ConversationShown) -> None:
    for turn in shown.turns:
        output.print_prose(f"> {turn.question}\n{turn.answer}", 20_000)


async def write_rows(services: Services, reply: Reply, wanted: Path | None = None) -> None:
    """Write all rows of the reply to the file that was asked for, by the option or in words: "export to x.csv"."""
    target = wanted or (Path(reply.export).expanduser() if reply.export else None)
    if target is not None:
        from tablewright.operations.ask import ExportResult, export_result

        done = await export_result(services, ExportResult(result=reply.result_id), path=target)
        output.print_note(f"Wrote {count_noun(done.rows, 'row')} to {target}.")


def print_answer(reply: Reply, *, trace: bool) -> None:
    from tablewright.messages.catalogue import translate

    console = output.stdout()
    output.print_prose(reply.answer, 20_000)
    is_table = reply.rows and not reply.is_listed
    if is_table:
        links = {cited.number: link_citation(cited) for cited in reply.citations}
        lines: list[list[str | Text]] = []
        for row in reply.rows:
            title = output.link_text(row.title, links.get(row.source, ""))
            lines.append([str(row.source or ""), title, str(row.page or ""), *row.values])
        columns = ["Source", "Document", "Page", *reply.columns]
        console.print(output.build_grid("", columns, lines))
    if reply.more:
        output.print_note(
            f"{reply.more:,} more: --export FILE writes all, --conversation {reply.conversation} --rest shows more."
        )
    for cited in reply.citations if not is_table else ():
        page = f", page {cited.page}" if cited.page else ""
        quote = shorten_text(" ".join((cited.highlight or cited.quote).split()), 400)
        output.print_prose(f"[source {cited.number}] {cited.title}{page} ({cited.path}): “{quote}”", 800)
    if reply.form is not None:
        lead = "Understood so far" if reply.route == "passages" else "Looked up"
        output.print_note(f"{lead}: {reply.form}.")
    if reply.ledger is not None:
        output.print_note(reply.completeness_text())
    for said in reply.contradictions:
        output.print_note(translate("ask", "The documents contradict each other: {what}", reply.language, what=said))
    if reply.degraded:
        output.print_note(f"Answered without the model: {reply.degraded}")
    for said in (*reply.outages, *reply.relaxed):
        output.print_note(said)
    if reply.clarification not in ("", reply.answer):
        output.print_note(reply.clarification)
    if trace:
        output.print_note(
            f"Route: {reply.route} ({reply.route_reason}); then {', '.join(reply.fallbacks) or 'nothing'}."
        )
        for tried in reply.attempts:
            bound = f", {tried.threshold}" if tried.threshold else ""
            note = f"; {tried.note}" if tried.note else ""
            output.print_note(f"  {tried.tool}({tried.asked}): {count_noun(tried.matches, 'match')}{bound}{note}")
    if reply.result_id or reply.conversation:
        output.print_note(f'To continue: `tablewright ask --conversation {reply.conversation} "…"`.')


def link_citation(cited: Citation) -> str:
    """The file at its page, for terminals that open links."""
    page = f"#page={cited.page}" if cited.page else ""
    return f"{Path(cited.path).as_uri()}{page}"
