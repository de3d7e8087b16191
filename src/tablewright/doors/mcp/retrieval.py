"""The five tools that answers about documents are made with, one by one: offered where they are asked for
(`--retrieval`), because every tool costs each conversation some of its context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.corpus import Category
from tablewright.domain.form import form_of
from tablewright.doors.mcp.answers import Answer, add_tool, hints, page_of
from tablewright.doors.mcp.context import ToolContext
from tablewright.doors.mcp.documents import HERE, MOST_HITS, passages
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.services import FoundItem

MOST_THINGS = 200
LONGEST_EXPORT = 1_000_000

Names = Annotated[list[str] | None, Key(description="Only these documents, by id or file name.")]
Query = Annotated[str, Key(min_length=1, max_length=2_000)]
Hits = Annotated[int, Key(ge=1, le=MOST_HITS)]
WhereText = Annotated[str, Key(max_length=2_000, description="Conditions as in `ask`; empty: all documents.")]
ShowColumns = Annotated[list[str] | None, Key(max_length=20, description="Further columns.")]


class RetrievalTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._retrieval = context.services.retrieval

    def add_to(self, server: MCPServer[Any]) -> None:
        looks = hints(reads=True, outside=self._context.services.settings.embedder != HERE)
        add_tool(server, self._context, self.search_text, hints(reads=True))
        for tool in (
            self.search_vector,
            self.annotations_search,
            self.annotations_aggregate,
            self.export_annotations_csv,
        ):
            add_tool(server, self._context, tool, looks)

    async def search_text(
        self, query: Query, limit: Hits = 10, documents: Names = None, categories: list[Category] | None = None
    ) -> Answer:
        """Passages with any of the words; those with many and rare ones first."""
        return passages(
            await self._retrieval.search_text(query, limit, names=documents or (), categories=categories or ())
        )

    async def search_vector(
        self,
        query: Query,
        limit: Hits = 10,
        scope: Annotated[
            Literal["segment", "summary"], Key(description="Passages, or summaries of long documents' parts.")
        ] = "segment",
        documents: Names = None,
        categories: list[Category] | None = None,
    ) -> Answer:
        """Passages that are near in meaning, also where the words are others."""
        return passages(
            await self._retrieval.search_vector(
                query, limit, scope=scope, names=documents or (), categories=categories or ()
            )
        )

    async def annotations_search(
        self,
        where: WhereText = "",
        show: ShowColumns = None,
        after: Annotated[int, Key(ge=0)] = 0,
        limit: Annotated[int, Key(ge=1, le=MOST_THINGS)] = 50,
    ) -> Answer:
        """Every document, or row of a table inside documents, that meets all conditions. Nothing is ranked or left out:
        after the matches come those that do not say, as undecided."""
        found = await self._retrieval.annotations_search(form_of(where, show=show or ()))
        every = [thing_found(thing) for thing in found.matches]
        every += [thing_found(each.thing) | {"undecided": each.reason} for each in found.undecided]
        some, pages = page_of(every, after, limit)
        return {
            "things": some,
            **pages,
            "matched": len(found.matches),
            "rejected": found.rejected,
            "undecided": len(found.undecided),
            "unreadable": found.unreadable,
            "completeness": found.completeness,
            "reason": found.reason,
        }

    async def annotations_aggregate(
        self,
        aggregate: Literal["count", "sum", "min", "max", "average"],
        of: Annotated[str, Key(max_length=200, description="The column; not for count.")] = "",
        group_by: Annotated[str, Key(max_length=200)] = "",
        where: WhereText = "",
    ) -> Answer:
        """Count, add up, or find the least, greatest or average value of what meets all conditions. Sums are exact;
        different currencies are never added together."""
        found = await self._retrieval.annotations_aggregate(form_of(where, aggregate, of, by=group_by))
        return {
            "aggregate": found.aggregate,
            "groups": [
                {
                    "key": group.key,
                    "count": group.count,
                    "amounts": [
                        {"value": str(each.value), "unit": each.unit, "documents": documents_of(each.things)}
                        for each in group.amounts
                    ],
                }
                for group in found.groups
            ],
            "missing": len(found.missing),
            "completeness": found.completeness,
            "reason": found.reason,
        }

    async def export_annotations_csv(self, where: WhereText = "", show: ShowColumns = None) -> Answer:
        """The same as annotations_search as the text of a CSV file, each match with its document and page. Nothing is
        written to disk."""
        text = await self._retrieval.export_annotations_csv(form_of(where, show=show or ()))
        if len(text) > LONGEST_EXPORT:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return {"csv": text}


def thing_found(thing: FoundItem) -> Answer:
    return {
        "document_id": thing.document_id,
        "title": thing.title,
        "page": thing.page,
        "values": {each.label: each.value.raw for each in thing.values},
    }


def documents_of(things: Sequence[FoundItem]) -> list[str]:
    """The first of them; annotations_search with the same conditions has all."""
    return list(dict.fromkeys(thing.document_id for thing in things))[:MOST_THINGS]
