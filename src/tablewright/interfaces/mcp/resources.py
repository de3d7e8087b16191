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

from tablewright.errors import NotFound, TablewrightError, UsageError
from tablewright.formats.reports.write import render_report
from tablewright.interfaces.mcp.answers import NOTICE, error_sentences
from tablewright.interfaces.mcp.context import ToolContext
from tablewright.operations.ask import ConversationRequest, ExportResult, export_result, get_conversation
from tablewright.operations.documents import DocumentRequest, get_document_text
from tablewright.operations.files import export_table_file
from tablewright.operations.operation import NO_LIMIT, ListRequest
from tablewright.operations.research import GetResearch, get_research, list_research

Params = ParamSpec("Params")

# Resources of a kind: clients show them all in one list.
MAX_LISTED = 100
# A scheme of our own: clients must not take it for an address on the web.
SCHEME = "tablewright://"


class Resources:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services

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
            # Every content is foreign text.
            meta = {"tablewright/untrusted": NOTICE}
            add = server.resource(SCHEME + template, mime_type=mime_type, description=described, meta=meta)
            add(wrap_resource(function, self._context))

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
            await export_result(self._services, ExportResult(result=result_id), path=file)
            return file.read_text(encoding="utf-8-sig")

    async def research_report(self, research_id: str) -> str:
        """The report of a finished research as Markdown, with its references."""
        found = await get_research(self._services, GetResearch(research=research_id))
        if found.report is None:
            raise NotFound(f"Research {found.research_id} has no report yet; it is {found.status}.")
        return render_report(found.report, "md").decode()

    async def document_text(self, document: str) -> str:
        """The whole text of one of the user's documents, by its id or file name."""
        return (await get_document_text(self._services, DocumentRequest(document=document))).text

    async def conversation_text(self, conversation: str) -> str:
        """The questions and answers of a conversation about documents, by its id."""
        found = await get_conversation(self._services, ConversationRequest(conversation=conversation))
        return "\n\n".join(f"> {turn.question}\n\n{turn.answer}" for turn in found.turns)

    async def all(self) -> list[Resource]:
        """Return the newest resources of each kind; the tools list them all."""
        tables = await self._services.tables()
        researches = (await list_research(self._services, ListRequest(limit=NO_LIMIT))).researches
        reports = [each for each in researches if each.status in ("done", "partial")]
        documents = await self._services.store.documents.all(readable=True)
        return [
            *(list_resource("tables", each.id, each.name, "text/csv") for each in tables[:MAX_LISTED]),
            *(
                list_resource("research", each.research_id, each.question, "text/markdown")
                for each in reports[:MAX_LISTED]
            ),
            *(list_resource("documents", each.id, each.name, "text/plain") for each in documents[:MAX_LISTED]),
        ]

    async def _exported(self, table: str, name: str, *, evidence: bool = False) -> str:
        head = await self._services.table(table)
        count = await self._services.count(head.id)
        # A client reads a resource at once; show_table has more rows by pages.
        if count > 20_000:
            raise UsageError(f"The table has {count:,} rows, too many for one resource. show_table has them by pages.")
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            file = Path(folder) / name
            await export_table_file(self._services, head.id, file, evidence=evidence)
            return file.read_text(encoding="utf-8-sig")


def list_resource(kind: str, id: str, title: str, mime_type: str) -> Resource:
    return Resource(uri=f"{SCHEME}{kind}/{quote(id, safe='')}", name=id, title=title[:200], mime_type=mime_type)


def wrap_resource(function: Callable[Params, Awaitable[str]], context: ToolContext) -> Callable[Params, Awaitable[str]]:
    @wraps(function)
    async def read(*args: Params.args, **kwargs: Params.kwargs) -> str:
        try:
            return await function(*args, **kwargs)
        except NotFound as error:
            raise ResourceNotFoundError(error_sentences(error, context.hide)) from error
        except TablewrightError as error:
            raise ResourceError(error_sentences(error, context.hide)) from error

    return read
