"""Tools for the user's own documents: add, ask, search; and the five tools that answers are made with.

The five are offered only if asked for (`--retrieval`), because every tool costs each conversation some of its context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from mcp.server.mcpserver import MCPServer
from msgspec import structs

from tablewright.domain.document import document
from tablewright.domain.reply import Reply
from tablewright.domain.run import Progress
from tablewright.doors.mcp.answers import Answer, add_operation, add_tool, compact_reply, hints
from tablewright.doors.mcp.context import Call, ToolContext, step_by_step
from tablewright.errors import UsageError
from tablewright.operations import retrieval
from tablewright.operations.ask import AskDocuments, ask_documents
from tablewright.operations.documents import AddDocuments, DocumentRef, SetKind, add_documents, set_kind
from tablewright.operations.retrieval import SearchText, SearchVector, search_text, search_vector
from tablewright.temporary import temporary_folder

HERE = "wordllama"
"""The embedder in this process."""
LONGEST_EXPORT = 1_000_000
"""Characters."""


class DocumentsToAdd(AddDocuments, frozen=True):
    paths: Annotated[tuple[str, ...], msgspec.Meta(max_length=100, description="Files or folders.")] = ()
    documents: Annotated[
        tuple[DocumentRef, ...],
        msgspec.Meta(
            max_length=100,
            description="Instead of paths: documents already added, by id or name, to correct their kind.",
        ),
    ] = ()


class SearchDocuments(SearchText, frozen=True):
    by: Annotated[Literal["words", "meaning"], msgspec.Meta(description="Match the words, or the meaning.")] = "words"


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

    async def ask(self, call: Call, request: AskDocuments) -> Answer:
        """Ask the user's own documents: "all receipts that contain tires", "how much did we spend in March?". A list or
        a count says how complete it is, what could not be decided or read, and cites each page: keep the citations.
        Follow-ups work in a conversation."""

        async def answer(watch: Callable[[Progress], None]) -> Reply:
            watch(Progress(stage="working", detail="looking in the documents"))
            return await ask_documents(self._tablewright, request, tell=step_by_step(watch))

        empty: Answer = {"answer": "", "rows": [], "citations": []}
        return empty | compact_reply(await self._context.telling(call, answer))

    async def search_documents(self, request: SearchDocuments) -> Answer:
        """Find passages of the user's documents."""
        asked = structs.asdict(request)
        if asked.pop("by") == "words":
            return compact_reply(await search_text(self._tablewright, SearchText(**asked)))
        return compact_reply(await search_vector(self._tablewright, SearchVector(**asked)))


def add_retrieval_tools(server: MCPServer[Any], context: ToolContext) -> None:
    services = context.services
    outside = services.settings.embedder != HERE

    async def export_annotations_csv(request: retrieval.ExportAnnotations) -> Answer:
        """The same as annotations_search as the text of a CSV file, each match with its document and page. Nothing is
        written to disk."""
        with temporary_folder() as folder:
            path = Path(folder) / "annotations.csv"
            await retrieval.export_annotations_csv(services, request, path=path)
            text = path.read_text(encoding="utf-8")
        if len(text) > LONGEST_EXPORT:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return {"csv": text}

    add_operation(server, context, retrieval.search_text)
    for operation in (retrieval.search_vector, retrieval.annotations_search, retrieval.annotations_aggregate):
        add_operation(server, context, operation, outside=outside)
    add_tool(server, context, export_annotations_csv, hints(reads=True, outside=outside))
