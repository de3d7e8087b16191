"""Tools for the user's own documents: add, list, ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.doors.mcp.answers import After, FromOutside, NextAfter, add_tool, hints, next_after
from tablewright.doors.mcp.desk import Call, Desk, step_by_step
from tablewright.doors.mcp.retrieval import ShowColumns, WhereText
from tablewright.errors import UsageError
from tablewright.table.feed import Progress
from tablewright.table.form import form_of
from tablewright.table.reply import Reply

MOST_LISTED = 500


class DocumentListed(BaseModel):
    id: str
    name: str
    path: str
    title: str
    kind: str
    pages: int
    problem: str = Key(description="Why it could not be read; empty: it was.")


class Documents(FromOutside):
    documents: list[DocumentListed]
    total: int = Key(description="How many there are on all pages.")
    next_after: NextAfter


class Added(FromOutside):
    added: int
    changed: int
    unchanged: int
    same: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    pages: int
    passages: int
    facts: int
    classified: int = Key(description="Documents of which the model said what they are.")
    seconds: float


class ColumnKnown(BaseModel):
    name: str
    type: str
    known: int = Key(description="How many documents or rows state it.")


class DocumentTable(BaseModel):
    name: str = Key(description="The kind of the documents, or the name of a table inside documents, such as T1.")
    is_table: bool = Key(description="Whether its members are rows of tables inside documents: `table = T1`.")
    members: int
    columns: list[ColumnKnown]
    table_id: str = Key(description="The table that holds what was read of this kind, once something was.")
    examples: list[str]


class DocumentTables(FromOutside):
    tables: list[DocumentTable]


class Cited(BaseModel):
    number: int
    document_id: str
    title: str
    path: str
    page: int | None
    quote: str


class AnswerRow(BaseModel):
    document_id: str
    title: str
    page: int | None
    values: list[str]
    source: int


class Asked(FromOutside):
    answer: str
    citations: list[Cited]
    columns: list[str]
    rows: list[AnswerRow]
    more: int = Key(description="Rows that come after these; `ask` with `rest` in the same conversation.")
    count: int | None
    completeness: str = Key(description="exact, approximate or incomplete; `reason` says why it is not exact.")
    reason: str
    ledger: str = Key(description="How many things matched, did not, could not be read or decided.")
    relaxed: list[str]
    contradictions: list[str] = Key(description="Where documents contradict each other.")
    form: str = Key(description="Without a model: the conditions that were looked up, or what of them was understood.")
    not_understood: list[str] = Key(description="Without a model: words of the question that were not understood.")
    route: str
    tried: list[str]
    clarification: str = Key(description="What to ask the user back, if anything.")
    conversation: str = Key(description="Pass it to the next `ask` to go on.")


class ConversationListed(BaseModel):
    conversation: str = Key(description="Pass it to `ask` to go on with it.")
    started_at: str
    title: str = Key(description="Its first question.")


class Conversations(FromOutside):
    conversations: list[ConversationListed]
    total: int
    next_after: NextAfter


class DocumentTools:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tablewright = desk.tablewright

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._desk, self.list_documents, hints(reads=True))
        add_tool(server, self._desk, self.list_document_tables, hints(reads=True))
        add_tool(server, self._desk, self.add_documents, hints(again=True))
        add_tool(server, self._desk, self.ask, hints(outside=True))
        add_tool(server, self._desk, self.list_conversations, hints(reads=True))

    async def list_documents(
        self,
        kind: Annotated[str, Key(description='Only this kind, e.g. "receipt".')] = "",
        unreadable: Annotated[bool, Key(description="Only those that could not be read.")] = False,
        after: After = 0,
        limit: Annotated[int, Key(ge=1, le=MOST_LISTED, description="Documents a page.")] = 100,
    ) -> Documents:
        """List the user's own documents that were added, page by page, with what kind they are and whether they could
        be read."""
        found = await self._tablewright.documents(kind=kind, readable=False if unreadable else None)
        listed = [
            DocumentListed(
                id=each.id,
                name=each.name,
                path=self._desk.hide(each.path),
                title=each.title,
                kind=each.kind or each.media,
                pages=each.pages,
                problem=each.problem,
            )
            for each in found[after : after + limit]
        ]
        return Documents(documents=listed, total=len(found), next_after=next_after(after, limit, len(found)))

    async def list_document_tables(self) -> DocumentTables:
        """List what `ask` can look up by `where`: the kinds of the user's documents, and the tables inside them, each
        with the columns that are known of it."""
        tables = [
            DocumentTable(
                name=group.name,
                is_table=group.is_table,
                members=group.members,
                columns=[ColumnKnown(name=each.name, type=each.type, known=each.known) for each in group.columns],
                table_id=group.table_id,
                examples=list(group.examples),
            )
            for group in await self._tablewright.known_of_documents()
        ]
        return DocumentTables(tables=tables)

    async def add_documents(
        self,
        paths: Annotated[
            list[str],
            Key(min_length=1, max_length=100, description="Files or folders, in folders that the owner allows."),
        ],
        call: Call,
        kind: Annotated[str, Key(max_length=60, description="What all of them are, e.g. receipt.")] = "",
    ) -> Added:
        """Read files into the user's collection: PDF, DOCX, XLSX, CSV, HTML, Markdown, text, e-mail. Only what is new
        or has changed is read. The files themselves are not touched."""
        found = [await asyncio.to_thread(self._desk.folders.find, path) for path in paths]
        done = await self._desk.telling(
            call,
            lambda watch: self._tablewright.add_documents(
                found,
                kind=kind,
                watch=lambda news: watch(
                    Progress(stage="working", done=news.done, total=news.total, label=news.path.rpartition("/")[2])
                ),
            ),
        )
        return Added(
            added=done.added,
            changed=done.changed,
            unchanged=done.unchanged,
            same=list(done.same),
            unreadable=list(done.unreadable),
            pages=done.pages,
            passages=done.segments,
            facts=done.facts,
            classified=done.classified,
            seconds=done.seconds,
        )

    async def ask(
        self,
        call: Call,
        question: Annotated[str, Key(max_length=4_000, description="In words; or leave it out and give `where`.")] = "",
        conversation: Annotated[str, Key(description="From an earlier answer, to go on from it.")] = "",
        rest: Annotated[bool, Key(description="Only the next rows of the last list of the conversation.")] = False,
        where: WhereText = "",
        figure: Annotated[
            Literal["", "count", "sum", "average", "min", "max"], Key(description="With `where`: what it comes to.")
        ] = "",
        of: Annotated[str, Key(max_length=200, description="With `figure`: the column; not for count.")] = "",
        by: Annotated[str, Key(max_length=200, description="With `figure`: one for each value of this column.")] = "",
        show: ShowColumns = None,
        sort: Annotated[str, Key(max_length=200, description="With `where`: a column; -COLUMN: largest first.")] = "",
    ) -> Asked:
        """Ask the user's own documents: "all receipts that contain tires", "how much did we spend in March?", "how do
        I reset it?". A list or a count has all that match, says what could not be decided or read, and cites each
        page. Cite the sources when you repeat the answer. Follow-ups work in a conversation: "only 2024", "new topic".
        With `where` instead of a question no model is asked: the conditions are looked up as they stand."""
        if sum((bool(question.strip()), bool(where.strip() or figure), rest)) != 1:
            raise UsageError("Give a question, or `where`, or `rest`: one of them.")

        async def answer(watch: Callable[[Progress], None]) -> Reply:
            watch(Progress(stage="working", detail="looking in the documents"))
            if rest:
                return await self._tablewright.more_rows(conversation)
            if where.strip() or figure:
                form = form_of(where, figure, of, by=by, show=show or (), sort=sort)
                return await self._tablewright.query_documents(form, conversation=conversation)
            return await self._tablewright.ask(question, conversation=conversation, tell=step_by_step(watch))

        return asked(await self._desk.telling(call, answer), self._desk.hide)

    async def list_conversations(
        self, after: After = 0, limit: Annotated[int, Key(ge=1, le=MOST_LISTED, description="So many a page.")] = 50
    ) -> Conversations:
        """List the earlier conversations about the user's documents, the newest first."""
        found = await self._tablewright.conversations()
        listed = [
            ConversationListed(conversation=each.id, started_at=each.started_at, title=each.title)
            for each in found[after : after + limit]
        ]
        return Conversations(conversations=listed, total=len(found), next_after=next_after(after, limit, len(found)))


def asked(reply: Reply, hide: Callable[[str], str]) -> Asked:
    return Asked(
        answer=reply.answer,
        citations=[
            Cited(
                number=each.number,
                document_id=each.document_id,
                title=each.title,
                path=hide(each.path),
                page=each.page,
                quote=each.quote,
            )
            for each in reply.citations
        ],
        columns=list(reply.columns),
        rows=[
            AnswerRow(
                document_id=row.document_id, title=row.title, page=row.page, values=list(row.values), source=row.source
            )
            for row in reply.rows
        ],
        more=reply.more,
        count=reply.count,
        completeness=reply.completeness,
        reason=reply.reason,
        ledger=str(reply.ledger) if reply.ledger else "",
        relaxed=list(reply.relaxed),
        contradictions=list(reply.contradictions),
        form=str(reply.form) if reply.form else "",
        not_understood=list(reply.not_understood),
        route=reply.route,
        tried=[f"{each.tool}({each.asked}): {each.matches}" for each in reply.attempts],
        clarification=reply.clarification,
        conversation=reply.conversation,
    )
