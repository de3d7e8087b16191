"""The five ways of looking things up in the user's documents: by words, by meaning, and by the facts they state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.doors.mcp.answers import After, FromOutside, NextAfter, add_tool, hints, next_after
from tablewright.doors.mcp.desk import Desk
from tablewright.errors import UsageError
from tablewright.table.corpus import Category
from tablewright.table.form import form_of

if TYPE_CHECKING:
    from tablewright.app import Aggregated, PassagesFound, Thing

HERE = "wordllama"
"""The embedder that asks nobody."""
MOST_HITS = 50
MOST_THINGS = 200
LONGEST_EXPORT = 1_000_000

Names = Annotated[list[str] | None, Key(description="Only these documents, by id or file name; default: all.")]
Query = Annotated[str, Key(min_length=1, max_length=2_000, description="The words, or the thought, to look for.")]
Hits = Annotated[int, Key(ge=1, le=MOST_HITS, description="At most so many passages.")]
Categories = Annotated[
    list[Category] | None, Key(description="Only documents of one of these categories; default: all documents.")
]
WhereText = Annotated[
    str,
    Key(
        max_length=2_000,
        description='Conditions joined by "and": "kind = receipt and Total > 50 EUR and text contains tires". '
        "Operators: = != < <= > >= contains, in, between … and …, is known, is unknown; list_document_tables names the "
        "kinds and columns. Empty: all documents.",
    ),
]
ShowColumns = Annotated[list[str] | None, Key(max_length=20, description="Further columns whose values are wanted.")]


class PassageFound(BaseModel):
    document_id: str
    title: str
    page: int | None
    heading: str
    text: str
    start: int
    end: int
    score: float


class Passages(FromOutside):
    passages: list[PassageFound]
    completeness: str
    reason: str


class ValueFound(BaseModel):
    label: str = Key(description="As the document labels it.")
    value: str
    page: int | None
    start: int
    end: int


class ThingFound(BaseModel):
    document_id: str
    title: str
    page: int | None
    values: list[ValueFound]


class NotStated(BaseModel):
    document_id: str
    title: str
    why: str


class Facts(FromOutside):
    matches: list[ThingFound]
    matched: int = Key(description="How many match, on all pages.")
    rejected: int
    undecided: list[NotStated] = Key(description="Things that do not say; they come after the last match.")
    undecided_count: int = Key(description="How many do not say, on all pages.")
    next_after: NextAfter
    unreadable: int
    completeness: str
    reason: str


class AmountFound(BaseModel):
    value: str
    unit: str
    documents: list[str] = Key(description=f"Those that hold it, or that it is made of; the first {MOST_THINGS}.")
    document_count: int = Key(
        description="How many these are in all; annotations_search with the same conditions has them all, by pages."
    )


class GroupFound(BaseModel):
    key: str
    count: int
    amounts: list[AmountFound]


class Totals(FromOutside):
    aggregate: str
    groups: list[GroupFound]
    missing: int = Key(description="Matches that do not state what was to be added up.")
    completeness: str
    reason: str


class CsvText(FromOutside):
    csv: str


class RetrievalTools:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tablewright = desk.tablewright

    def add_to(self, server: MCPServer[Any]) -> None:
        looks = hints(reads=True, outside=self._tablewright.settings.embedder.strip() != HERE)
        add_tool(server, self._desk, self.search_text, hints(reads=True))
        add_tool(server, self._desk, self.search_vector, looks)
        add_tool(server, self._desk, self.annotations_search, looks)
        add_tool(server, self._desk, self.annotations_aggregate, looks)
        add_tool(server, self._desk, self.export_annotations_csv, looks)

    async def search_text(
        self, query: Query, limit: Hits = 10, documents: Names = None, categories: Categories = None
    ) -> Passages:
        """Find passages of the documents by their words; those with many and rare ones come first."""
        found = await self._tablewright.retrieval.search_text(
            query, limit, names=documents or (), categories=categories or ()
        )
        return passages(found)

    async def search_vector(
        self,
        query: Query,
        limit: Hits = 10,
        scope: Annotated[
            Literal["segment", "summary"], Key(description="Passages, or summaries of long documents' parts.")
        ] = "segment",
        documents: Names = None,
        categories: Categories = None,
    ) -> Passages:
        """Find passages of the documents that are near in meaning, also where the words are others."""
        found = await self._tablewright.retrieval.search_vector(
            query, limit, scope=scope, names=documents or (), categories=categories or ()
        )
        return passages(found)

    async def annotations_search(
        self,
        where: WhereText = "",
        show: ShowColumns = None,
        after: After = 0,
        limit: Annotated[int, Key(ge=1, le=MOST_THINGS, description="Things a page.")] = 50,
    ) -> Facts:
        """Find every document, or row of a table inside documents, that meets all conditions on its values, such as
        receipts with a Total over 50 EUR. Nothing is ranked or left out: what one page does not hold is on the next,
        and after the matches come those that do not say, as undecided."""
        found = await self._tablewright.retrieval.annotations_search(form_of(where, show=show or ()))
        matched = len(found.matches)
        rest = slice(max(0, after - matched), max(0, after + limit - matched))
        return Facts(
            matches=[thing_found(thing) for thing in found.matches[after : after + limit]],
            matched=matched,
            rejected=found.rejected,
            undecided=[
                NotStated(document_id=each.thing.document_id, title=each.thing.title, why=each.reason)
                for each in found.undecided[rest]
            ],
            undecided_count=len(found.undecided),
            next_after=next_after(after, limit, matched + len(found.undecided)),
            unreadable=found.unreadable,
            completeness=found.completeness,
            reason=found.reason,
        )

    async def annotations_aggregate(
        self,
        aggregate: Literal["count", "sum", "min", "max", "average"],
        of: Annotated[str, Key(max_length=200, description='The column to add up, e.g. "Total"; not for count.')] = "",
        group_by: Annotated[str, Key(max_length=200, description='A column to group by, e.g. "Shop".')] = "",
        where: WhereText = "",
    ) -> Totals:
        """Count, add up, or find the least, greatest or average value of what meets all conditions. Sums are exact, and
        different currencies are never added together."""
        form = form_of(where, aggregate, of, by=group_by)
        return totals(await self._tablewright.retrieval.annotations_aggregate(form))

    async def export_annotations_csv(self, where: WhereText = "", show: ShowColumns = None) -> CsvText:
        """The same as annotations_search, as the text of a CSV file with all matches, each with its document and page.
        Nothing is written to disk."""
        text = await self._tablewright.retrieval.export_annotations_csv(form_of(where, show=show or ()))
        if len(text) > LONGEST_EXPORT:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return CsvText(csv=text)


def passages(found: PassagesFound) -> Passages:
    return Passages(
        passages=[
            PassageFound(
                document_id=hit.document.id,
                title=hit.document.title or hit.document.name,
                page=hit.page,
                heading=hit.heading,
                text=hit.text,
                start=hit.start,
                end=hit.end,
                score=round(float(hit.score), 4),
            )
            for hit in found.hits
        ],
        completeness=found.completeness,
        reason=found.reason,
    )


def thing_found(thing: Thing) -> ThingFound:
    return ThingFound(
        document_id=thing.document_id,
        title=thing.title,
        page=thing.page,
        values=[
            ValueFound(label=each.label, value=each.value.raw, page=each.page, start=each.start, end=each.end)
            for each in thing.values
        ],
    )


def amount_found(value: str, unit: str, things: Sequence[Thing]) -> AmountFound:
    documents = list(dict.fromkeys(thing.document_id for thing in things))
    return AmountFound(value=value, unit=unit, documents=documents[:MOST_THINGS], document_count=len(documents))


def totals(found: Aggregated) -> Totals:
    return Totals(
        aggregate=found.aggregate,
        groups=[
            GroupFound(
                key=group.key,
                count=group.count,
                amounts=[amount_found(str(each.value), each.unit, each.things) for each in group.amounts],
            )
            for group in found.groups
        ],
        missing=len(found.missing),
        completeness=found.completeness,
        reason=found.reason,
    )
