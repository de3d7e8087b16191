"""Tools for the user's own documents: add, ask, search."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.corpus import Category
from tablewright.domain.document import document
from tablewright.domain.feed import Progress
from tablewright.domain.form import form_of
from tablewright.domain.reply import Reply
from tablewright.doors.mcp.answers import Answer, add_tool, hints
from tablewright.doors.mcp.context import Call, ToolContext, step_by_step
from tablewright.errors import UsageError
from tablewright.operations.documents import AddDocuments, DocumentRef, SetKind, add_documents, set_kind

if TYPE_CHECKING:
    from tablewright.services import SearchHits

HERE = "wordllama"
"""The embedder that asks nobody."""
MOST_HITS = 50

WhereText = Annotated[
    str,
    Key(
        max_length=2_000,
        description='Conditions instead of a question, with no model call: "kind = receipt and Total > 50 EUR and text '
        'contains tires". Operators: = != < <= > >= contains, in, between … and …, is known, is unknown.',
    ),
]


class DocumentsToAdd(AddDocuments, frozen=True):
    paths: Annotated[tuple[str, ...], msgspec.Meta(max_length=100, description="Files or folders.")] = ()
    documents: Annotated[
        tuple[DocumentRef, ...],
        msgspec.Meta(
            max_length=100,
            description="Instead of paths: documents already added, by id or name, to correct their kind.",
        ),
    ] = ()


class DocumentTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._tablewright = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        asks_others = self._tablewright.settings.embedder != HERE
        add_tool(server, self._context, self.add_documents, hints(again=True))
        add_tool(server, self._context, self.ask, hints(outside=True))
        add_tool(server, self._context, self.search_documents, hints(reads=True, outside=asks_others))

    async def add_documents(
        self,
        call: Call,
        request: DocumentsToAdd,
    ) -> Answer:
        """Add files from folders that the owner allows to the user's collection: PDF, DOCX, XLSX, CSV, HTML, text,
        e-mail. Only what is new or has changed is read."""
        named, kind = request.documents, request.kind
        if bool(request.paths) == bool(named) or (named and not kind.strip()):
            raise UsageError("Give `paths` to add, or `documents` with their `kind`.")
        if named:
            return dict(document(await set_kind(self._tablewright, SetKind(documents=named, kind=kind))))
        found = [await asyncio.to_thread(self._context.folders.find, path) for path in request.paths]
        done = await self._context.telling(
            call,
            lambda watch: add_documents(
                self._tablewright,
                AddDocuments(paths=tuple(map(str, found)), kind=kind),
                watch=lambda news: watch(
                    Progress(stage="working", done=news.done, total=news.total, label=news.path.rpartition("/")[2])
                ),
            ),
        )
        return dict(document(done))

    async def ask(
        self,
        call: Call,
        question: Annotated[str, Key(max_length=4_000)] = "",
        conversation: Annotated[str, Key(description="From an earlier answer, to continue that conversation.")] = "",
        rest: Annotated[bool, Key(description="Return the next rows of the last list instead of asking.")] = False,
        where: WhereText = "",
        figure: Literal["", "count", "sum", "average", "min", "max"] = "",
        of: Annotated[str, Key(max_length=200, description="The column to compute the figure from.")] = "",
        by: Annotated[str, Key(max_length=200, description="One figure for each value of this column.")] = "",
        show: Annotated[list[str] | None, Key(max_length=20, description="More columns to show.")] = None,
        sort: Annotated[str, Key(max_length=200, description="A column; -COLUMN: largest first.")] = "",
    ) -> Answer:
        """Ask the user's own documents: "all receipts that contain tires", "how much did we spend in March?". A list or
        a count says how complete it is, what could not be decided or read, and cites each page: keep the citations.
        Follow-ups work in a conversation."""
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

        return answered(await self._context.telling(call, answer))

    async def search_documents(
        self,
        query: Annotated[str, Key(min_length=1, max_length=2_000)],
        by: Annotated[Literal["words", "meaning"], Key(description="Match the words, or the meaning.")] = "words",
        limit: Annotated[int, Key(ge=1, le=MOST_HITS)] = 10,
        documents: Annotated[list[str] | None, Key(description="Only these, by id or file name.")] = None,
        categories: list[Category] | None = None,
    ) -> Answer:
        """Find passages of the user's documents."""
        retrieval, names, some = self._tablewright.retrieval, documents or (), categories or ()
        if by == "words":
            return passages(await retrieval.search_text(query, limit, names=names, categories=some))
        return passages(await retrieval.search_vector(query, limit, names=names, categories=some))


def answered(reply: Reply) -> Answer:
    """Without what is empty; its citations have the document's id and name, not where it lies."""
    said: Answer = {
        "answer": reply.answer,
        "completeness": reply.completeness,
        "reason": reply.reason,
        "count": reply.count,
        "columns": ["document", *reply.columns, "source"] if reply.rows else [],
        "rows": [[row.title, *row.values, row.source] for row in reply.rows],
        "more": reply.more,
        "citations": [
            {"number": each.number, "document_id": each.document_id, "title": each.title, "page": each.page}
            | {"quote": each.quote}
            for each in reply.citations
        ],
        "ledger": reply.ledger.text(reply.language) if reply.ledger else "",
        "relaxed": reply.relaxed,
        "contradictions": reply.contradictions,
        "form": str(reply.form or ""),
        "not_understood": reply.not_understood,
        "clarification": reply.clarification,
        "degraded": reply.degraded,
        "result_id": reply.result_id,
        "tried": [f"{each.tool}({each.asked}): {each.matches}" for each in reply.attempts],
        "conversation": reply.conversation,
    }
    kept = ("answer", "rows", "citations", "completeness")
    return {name: document(value) for name, value in said.items() if value or name in kept}


def passages(found: SearchHits) -> Answer:
    return {
        "passages": [
            {
                "document_id": hit.document.id,
                "title": hit.document.title or hit.document.name,
                "page": hit.page,
                "heading": hit.heading,
                "text": hit.text,
            }
            for hit in found.hits
        ],
        "completeness": found.completeness,
        "reason": found.reason,
    }
