"""The five tools that answers about documents are made with, one by one: offered where they are asked for
(`--retrieval`), because every tool costs each conversation some of its context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from tablewright.domain.document import document
from tablewright.doors.mcp.answers import Answer, add_tool, hints
from tablewright.doors.mcp.context import ToolContext
from tablewright.doors.mcp.documents import HERE
from tablewright.errors import UsageError
from tablewright.operations import retrieval
from tablewright.temporary import temporary_folder

LONGEST_EXPORT = 1_000_000
"""Characters."""


class RetrievalTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        looks = hints(reads=True, outside=self._services.settings.embedder != HERE)
        add_tool(server, self._context, self.search_text, hints(reads=True))
        for tool in (
            self.search_vector,
            self.annotations_search,
            self.annotations_aggregate,
            self.export_annotations_csv,
        ):
            add_tool(server, self._context, tool, looks)

    async def search_text(self, request: retrieval.SearchText) -> Answer:
        """Passages with any of the words; those with many and rare ones first."""
        return dict(document(await retrieval.search_text(self._services, request)))

    async def search_vector(self, request: retrieval.SearchVector) -> Answer:
        """Passages that are near in meaning, also where the words are others."""
        return dict(document(await retrieval.search_vector(self._services, request)))

    async def annotations_search(self, request: retrieval.SearchAnnotations) -> Answer:
        """Every document, or row of a table inside documents, that meets all conditions. Nothing is ranked or left out:
        after the matches come those that do not say, as undecided."""
        return dict(document(await retrieval.annotations_search(self._services, request)))

    async def annotations_aggregate(self, request: retrieval.AggregateAnnotations) -> Answer:
        """Count, add up, or find the least, greatest or average value of what meets all conditions. Sums are exact;
        different currencies are never added together."""
        return dict(document(await retrieval.annotations_aggregate(self._services, request)))

    async def export_annotations_csv(self, request: retrieval.ExportAnnotations) -> Answer:
        """The same as annotations_search as the text of a CSV file, each match with its document and page. Nothing is
        written to disk."""
        with temporary_folder() as folder:
            path = Path(folder) / "annotations.csv"
            await retrieval.export_annotations_csv(self._services, request, path=path)
            text = path.read_text(encoding="utf-8")
        if len(text) > LONGEST_EXPORT:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return {"csv": text}
