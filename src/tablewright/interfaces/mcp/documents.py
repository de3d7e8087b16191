"""Tools for the user's own documents: add, ask, and the five retrieval tools that answers are made with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from mcp.server.mcpserver import MCPServer

from tablewright.domain.reply import Reply
from tablewright.domain.run import Progress
from tablewright.domain.text import to_json_document
from tablewright.errors import UsageError
from tablewright.interfaces.mcp.answers import Answer, add_operation_tool, add_tool, compact_reply, tool_hints
from tablewright.interfaces.mcp.context import Call, ToolContext, report_steps
from tablewright.operations import retrieval
from tablewright.operations.ask import AskDocuments, ask_documents
from tablewright.operations.documents import AddDocuments, DocumentRef, SetKind, add_documents, set_kind
from tablewright.temporary import temporary_folder


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
        self._services = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._context, self.add_documents, tool_hints(again=True))
        add_tool(server, self._context, self.ask, tool_hints(outside=True))
        # The only embedder that runs in this process; others send texts elsewhere.
        outside = self._services.settings.embedder != "wordllama"
        add_operation_tool(server, self._context, retrieval.search_text)
        for operation in (retrieval.search_vector, retrieval.annotations_search, retrieval.annotations_aggregate):
            add_operation_tool(server, self._context, operation, outside=outside)
        add_tool(server, self._context, self.export_annotations_csv, tool_hints(reads=True, outside=outside))

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
            return dict(to_json_document(await set_kind(self._services, SetKind(documents=named, kind=kind))))
        found = [await asyncio.to_thread(self._context.folders.find, path) for path in request.paths]
        done = await self._context.report_while(
            call,
            lambda watch: add_documents(
                self._services,
                AddDocuments(paths=tuple(map(str, found)), kind=kind),
                watch=lambda news: watch(
                    Progress(stage="working", done=news.done, total=news.total, label=news.path.rpartition("/")[2])
                ),
            ),
        )
        return dict(to_json_document(done))

    async def ask(self, call: Call, request: AskDocuments) -> Answer:
        """Ask the user's own documents: "all receipts that contain tires", "how much did we spend in March?". A list or
        a count says how complete it is, what could not be decided or read, and cites each page: keep the citations.
        Follow-ups work in a conversation."""

        async def answer(watch: Callable[[Progress], None]) -> Reply:
            watch(Progress(stage="working", detail="looking in the documents"))
            return await ask_documents(self._services, request, tell=report_steps(watch))

        empty: Answer = {"answer": "", "rows": [], "citations": []}
        return empty | compact_reply(await self._context.report_while(call, answer))

    async def export_annotations_csv(self, request: retrieval.ExportAnnotations) -> Answer:
        """The same as annotations_search as the text of a CSV file, each match with its document and page. Nothing is
        written to disk."""
        with temporary_folder() as folder:
            path = Path(folder) / "annotations.csv"
            await retrieval.export_annotations_csv(self._services, request, path=path)
            text = path.read_text(encoding="utf-8")
        # A longer reply fills the context of an assistant.
        if len(text) > 1_000_000:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return {"csv": text}
