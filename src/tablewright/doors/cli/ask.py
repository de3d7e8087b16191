"""`tablewright ask`: questions about your own documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Budget, Json, Model, app, with_app
from tablewright.errors import TablewrightError, UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tablewright.domain.corpus import Aggregate
    from tablewright.domain.reply import Citation, Reply
    from tablewright.services import Services


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question. Without one, a chat starts.")] = "",
    conversation: Annotated[
        str, typer.Option("--conversation", metavar="ID", help="Continue an earlier conversation.")
    ] = "",
    export: Annotated[
        Path | None, typer.Option("--export", help="Write all matching rows to this file: .csv, .xlsx or .json.")
    ] = None,
    model: Model = "",
    budget: Budget = "",
    trace: Annotated[bool, typer.Option("--trace", help="Show what was tried and why.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Read as many documents as it takes, without asking first.")
    ] = False,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="CONDITIONS",
            help='Instead of a question: "kind = invoice and total > 500 EUR and date in 2026-03".',
        ),
    ] = "",
    show: Annotated[list[str] | None, typer.Option("--show", help="With --where: a further column to show.")] = None,
    count: Annotated[bool, typer.Option("--count", help="With --where: how many.")] = False,
    total: Annotated[str, typer.Option("--sum", metavar="COLUMN", help="With --where: the sum of a column.")] = "",
    average: Annotated[str, typer.Option("--average", metavar="COLUMN", help="With --where: the average.")] = "",
    least: Annotated[str, typer.Option("--min", metavar="COLUMN", help="With --where: the smallest.")] = "",
    most: Annotated[str, typer.Option("--max", metavar="COLUMN", help="With --where: the largest.")] = "",
    by: Annotated[str, typer.Option("--by", metavar="COLUMN", help="With --where: one figure for each value.")] = "",
    sort: Annotated[
        str, typer.Option("--sort", metavar="COLUMN", help="With --where; -COLUMN: the largest first.")
    ] = "",
    unit: Annotated[
        str, typer.Option("--unit", metavar="COLUMN", help="With --where: the column with the currency of the figures.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="With --where: show only the first N.")] = 0,
    rest: Annotated[bool, typer.Option("--rest", help="With --conversation: the next rows of its last list.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the conversations, newest first.")] = False,
    json: Json = False,
) -> None:
    """Ask your documents: "all receipts that contain tires", "which leases end this year?", "how do I reset it?".

    A list or a count includes everything that matches, says what could not be decided or read, and cites each page.
    With a model you can ask follow-up questions about the last result: "only 2024", "and the largest?", "show the
    rest", "export it".

    --where needs no model: it looks up what is already known about the documents (`tablewright docs tables` lists it).
    Without a model, a question is turned into such conditions if every word of it is known; otherwise the passages
    nearest to it are shown. "show the rest" and "export to FILE" work on the last result.
    """
    from tablewright.formats.tables import target_format
    from tablewright.operations.ask import AskDocuments, ConversationRequest, ask_documents, get_conversation

    if list_:
        list_conversations(json=json)
        return
    flags = {"model": model, "budget": budget}
    figures: dict[Aggregate, str] = {
        "count": "count" if count else "",
        "sum": total,
        "average": average,
        "min": least,
        "max": most,
    }
    if sum(map(bool, (question, where, rest))) > 1:
        raise UsageError("Say a question, --where or --rest, only one of them.")
    if rest and not conversation:
        raise UsageError("--rest needs the --conversation whose list is to be continued.")
    asked_for = [(name, column) for name, column in figures.items() if column]
    if len(asked_for) > 1:
        raise UsageError("Only one of --count, --sum, --average, --min and --max can be asked for at once.")
    if not where and (asked_for or by or sort or limit or show):
        raise UsageError("--count, --sum, --by and the like go with --where.")
    if not (question or where or rest) and (json or not sys.stdin.isatty()):
        raise UsageError("There is no question.", advice='Say it: tablewright ask "…".')

    async def once(services: Services) -> Reply:
        if export is not None:
            target_format(export)  # what cannot be written is said before anything is asked
        figure, of = asked_for[0] if asked_for else ("", "")
        request = AskDocuments(
            question=question,
            conversation=conversation,
            rest=rest,
            agreed=yes,
            where=where,
            figure=figure,
            of="" if count else of,
            by=by,
            show=tuple(show or ()),
            sort=sort,
            unit=unit,
            limit=limit,
        )
        reply = await ask_documents(services, request)
        await write_rows(services, reply, export)
        return reply

    async def chat(services: Services) -> None:
        known = conversation
        if known:
            for turn in (await get_conversation(services, ConversationRequest(conversation=known))).turns:
                output.print_prose(f"> {turn.question}\n{turn.answer}", 20_000)
        output.say("Ask about your documents; an empty line ends.")
        async for said in output.typed_lines():
            try:
                reply = await ask_documents(services, AskDocuments(question=said, conversation=known))
                known = reply.conversation
                print_reply(reply, trace=trace)
                await write_rows(services, reply)
            except TablewrightError as error:
                output.show_error(error)

    if not (question or where or rest):
        with_app(chat, flags)
        return
    reply = with_app(once, flags)
    if json:
        output.print_json(reply)
    else:
        print_reply(reply, trace=trace)


def list_conversations(*, json: bool) -> None:
    from tablewright.operations import ask as operations
    from tablewright.operations.operation import NO_LIMIT

    everything = operations.ListConversations(limit=NO_LIMIT)
    found = with_app(lambda services: operations.list_conversations(services, everything))
    if json:
        output.print_json(found)
        return
    lines = [[each.conversation, each.started_at[:16].replace("T", " "), each.title] for each in found.conversations]
    output.stdout().print(output.grid("", ["Conversation", "Started", "First question"], lines))


async def write_rows(services: Services, reply: Reply, wanted: Path | None = None) -> None:
    """All rows of the reply to the file that was asked for, by the option or in words: "export to x.csv"."""
    target = wanted or (Path(reply.export).expanduser() if reply.export else None)
    if target is not None:
        from tablewright.operations.ask import ExportResult, export_result

        done = await export_result(services, ExportResult(result=reply.result_id), path=target)
        output.say(f"Wrote {count_noun(done.rows, 'row')} to {target}.")


def print_reply(reply: Reply, *, trace: bool) -> None:
    from tablewright.messages.catalogue import translate

    console = output.stdout()
    output.print_prose(reply.answer, 20_000)
    if reply.rows:
        links = {cited.number: link_to(cited) for cited in reply.citations}
        lines: list[list[str | Text]] = []
        for row in reply.rows:
            title = output.linked(row.title, links.get(row.source, ""))
            lines.append([str(row.source or ""), title, str(row.page or ""), *row.values])
        columns = ["Source", "Document", "Page", *reply.columns]
        console.print(output.grid("", columns, lines))
        if reply.more:
            output.say(
                f"{reply.more:,} more: --export FILE writes all, --conversation {reply.conversation} --rest shows more."
            )
    if reply.citations and not reply.rows:
        for cited in reply.citations:
            page = f", page {cited.page}" if cited.page else ""
            quote = " ".join(cited.quote.split())
            output.print_prose(f"[source {cited.number}] {cited.title}{page} ({cited.path}): “{quote[:200]}”", 600)
    if reply.form is not None:
        lead = "Understood so far" if reply.route == "passages" else "Looked up"
        output.say(f"{lead}: {reply.form}.")
    if reply.ledger is not None:
        output.say(reply.completeness_text())
    for said in reply.contradictions:
        output.say(translate("ask", "The documents contradict each other: {what}", reply.language, what=said))
    if reply.degraded:
        output.say(f"Answered without the model: {reply.degraded}")
    for said in reply.relaxed:
        output.say(said)
    if reply.clarification not in ("", reply.answer):
        output.say(reply.clarification)
    if trace:
        output.say(f"Route: {reply.route} ({reply.route_reason}); then {', '.join(reply.fallbacks) or 'nothing'}.")
        for tried in reply.attempts:
            bound = f", {tried.threshold}" if tried.threshold else ""
            note = f"; {tried.note}" if tried.note else ""
            output.say(f"  {tried.tool}({tried.asked}): {count_noun(tried.matches, 'match')}{bound}{note}")
    if reply.result_id or reply.conversation:
        output.say(f'To continue: `tablewright ask --conversation {reply.conversation} "…"`.')


def link_to(cited: Citation) -> str:
    """The file at its page, for terminals that open links."""
    page = f"#page={cited.page}" if cited.page else ""
    return f"{Path(cited.path).as_uri()}{page}"
