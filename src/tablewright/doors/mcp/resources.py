"""Resources: tables as CSV and JSON, reports and conversations as Markdown, documents as text; all but conversations
are listed as they are at the moment."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource

from tablewright.doors.mcp.answers import NOTICE, in_sentences
from tablewright.doors.mcp.context import ToolContext
from tablewright.errors import NotFound, TablewrightError, UsageError
from tablewright.formats.reports.write import render
from tablewright.operations.ask import ConversationRequest, ExportResult, export_result, get_conversation
from tablewright.operations.documents import DocumentRequest, get_document_text
from tablewright.operations.files import export_file
from tablewright.operations.operation import NO_LIMIT
from tablewright.operations.research import GetResearch, ListResearch, get_research, list_research

P = ParamSpec("P")

MOST_LISTED = 100
MOST_ROWS = 20_000
META = {"tablewright/untrusted": NOTICE}
"""Goes with every content, for it is somebody else's words."""
SCHEME = "tablewright://"


class Resources:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._tablewright = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        for template, function, mime_type in (
            ("tables/{table}", self.table_csv, "text/csv"),
            ("tables/{table}/json", self.table_json, "application/json"),
            ("results/{result_id}", self.result_csv, "text/csv"),
            ("research/{research_id}", self.research_report, "text/markdown"),
            ("documents/{document}", self.document_text, "text/plain"),
            ("conversations/{conversation}", self.conversation_text, "text/markdown"),
        ):
            described = f"{function.__doc__} {NOTICE}"
            add = server.resource(SCHEME + template, mime_type=mime_type, description=described, meta=META)
            add(reading(function, self._context))

    async def table_csv(self, table: str) -> str:
        """A table as CSV, by its id or name."""
        return await self._exported(table, "table.csv")

    async def table_json(self, table: str) -> str:
        """A table as JSON, each cell with its confidence and its evidence."""
        return await self._exported(table, "table.json", evidence=True)

    async def result_csv(self, result_id: str) -> str:
        """All rows of an answer about documents as CSV, by its `result_id`."""
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            file = Path(folder) / "rows.csv"
            await export_result(self._tablewright, ExportResult(result=result_id), path=file)
            return file.read_text(encoding="utf-8-sig")

    async def research_report(self, research_id: str) -> str:
        """The report of a finished research as Markdown, with its references."""
        found = await get_research(self._tablewright, GetResearch(research=research_id))
        if found.report is None:
            raise NotFound(f"Research {found.research_id} has no report yet; it is {found.status}.")
        return render(found.report, "md").decode()

    async def document_text(self, document: str) -> str:
        """The whole text of one of the user's documents, by its id or file name."""
        return (await get_document_text(self._tablewright, DocumentRequest(document=document))).text

    async def conversation_text(self, conversation: str) -> str:
        """What was asked and answered in a conversation about documents, by its id."""
        found = await get_conversation(self._tablewright, ConversationRequest(conversation=conversation))
        return "\n\n".join(f"> {turn.question}\n\n{turn.answer}" for turn in found.turns)

    async def all(self) -> list[Resource]:
        """The newest of each kind; the tools list them all."""
        tables = await self._tablewright.tables()
        researches = (await list_research(self._tablewright, ListResearch(limit=NO_LIMIT))).researches
        reports = [each for each in researches if each.status in ("done", "partial")]
        documents = await self._tablewright.store.documents.all(readable=True)
        return [
            *(listed("tables", each.id, each.name, "text/csv") for each in tables[:MOST_LISTED]),
            *(listed("research", each.research_id, each.question, "text/markdown") for each in reports[:MOST_LISTED]),
            *(listed("documents", each.id, each.name, "text/plain") for each in documents[:MOST_LISTED]),
        ]

    async def _exported(self, table: str, name: str, *, evidence: bool = False) -> str:
        head = await self._tablewright.table(table)
        count = await self._tablewright.count(head.id)
        if count > MOST_ROWS:
            raise UsageError(f"The table has {count:,} rows, too many for one resource. show_table has them by pages.")
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            file = Path(folder) / name
            await export_file(self._tablewright, head.id, file, evidence=evidence)
            return file.read_text(encoding="utf-8-sig")


def listed(kind: str, id: str, title: str, mime_type: str) -> Resource:
    return Resource(uri=f"{SCHEME}{kind}/{quote(id, safe='')}", name=id, title=title[:200], mime_type=mime_type)


def reading(function: Callable[P, Awaitable[str]], context: ToolContext) -> Callable[P, Awaitable[str]]:
    @wraps(function)
    async def read(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await function(*args, **kwargs)
        except NotFound as error:
            raise ResourceNotFoundError(in_sentences(error, context.hide)) from error
        except TablewrightError as error:
            raise ResourceError(in_sentences(error, context.hide)) from error

    return read
