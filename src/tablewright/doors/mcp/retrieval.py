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
from tablewright.table.corpus import Aggregate, Comparator, Condition, Quantity, Question
from tablewright.table.typed import typed

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
Things = Annotated[
    str, Key(max_length=200, description='What is looked for, in the singular: "receipt", "solar panel"; empty: all.')
]
ShowLabels = Annotated[list[str] | None, Key(max_length=20, description="Further labels whose values are wanted.")]


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


class ConditionAsked(BaseModel):
    """What a thing must be: a labelled value compared with one or more values."""

    label: str = Key(
        default="", max_length=200, description='As documents label it: "Total", "Width". Empty: anywhere in the text.'
    )
    comparator: Comparator = Key(default="=", description="`between` takes two values; else one of them is enough.")
    values: list[str] = Key(
        min_length=1, max_length=20, description='As one would write them: "50 EUR", "1.2 m", "2024-03-01", "yes".'
    )


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
    looked_at: str
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

    async def search_text(self, query: Query, limit: Hits = 10, documents: Names = None) -> Passages:
        """Find passages of the documents by their words; those with many and rare ones come first."""
        return passages(await self._tablewright.retrieval.search_text(query, limit, names=documents or ()))

    async def search_vector(
        self,
        query: Query,
        limit: Hits = 10,
        scope: Annotated[
            Literal["segment", "summary"], Key(description="Passages, or summaries of long documents' parts.")
        ] = "segment",
        documents: Names = None,
    ) -> Passages:
        """Find passages of the documents that are near in meaning, also where the words are others."""
        found = await self._tablewright.retrieval.search_vector(query, limit, scope=scope, names=documents or ())
        return passages(found)

    async def annotations_search(
        self,
        things: Things = "",
        conditions: Annotated[list[ConditionAsked] | None, Key(max_length=10, description="All must be met.")] = None,
        show: ShowLabels = None,
        after: After = 0,
        limit: Annotated[int, Key(ge=1, le=MOST_THINGS, description="Things a page.")] = 50,
    ) -> Facts:
        """Find every thing in the documents that meets all conditions on its labelled values, such as receipts with a
        Total over 50 EUR. Nothing is ranked or left out: what one page does not hold is on the next, and after the
        matches come those that do not say, as undecided."""
        found = await self._tablewright.retrieval.annotations_search(question(things, conditions, show))
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
            looked_at=found.about,
            completeness=found.completeness,
            reason=found.reason,
        )

    async def annotations_aggregate(
        self,
        aggregate: Literal["count", "sum", "min", "max", "average"],
        of: Annotated[str, Key(max_length=200, description='The label to add up, e.g. "Total"; not for count.')] = "",
        group_by: Annotated[str, Key(max_length=200, description='A label to group by, e.g. "Shop".')] = "",
        things: Things = "",
        conditions: Annotated[list[ConditionAsked] | None, Key(max_length=10, description="All must be met.")] = None,
    ) -> Totals:
        """Count, add up, or find the least, greatest or average value of the things that meet all conditions. Sums are
        exact, and different currencies are never added together."""
        if aggregate != "count" and not of:
            raise UsageError(f"{aggregate} needs `of`: the label whose values are meant.")
        asked = question(things, conditions, None, aggregate=aggregate, of=of, group_by=group_by)
        return totals(await self._tablewright.retrieval.annotations_aggregate(asked))

    async def export_annotations_csv(
        self,
        things: Things = "",
        conditions: Annotated[list[ConditionAsked] | None, Key(max_length=10, description="All must be met.")] = None,
        show: ShowLabels = None,
    ) -> CsvText:
        """The same as annotations_search, as the text of a CSV file with all matches, each with its document and page.
        Nothing is written to disk."""
        text = await self._tablewright.retrieval.export_annotations_csv(question(things, conditions, show))
        if len(text) > LONGEST_EXPORT:
            raise UsageError(
                f"That is {len(text):,} characters, too much for an answer.", advice="Add a condition to narrow it."
            )
        return CsvText(csv=text)


def question(
    things: str,
    conditions: list[ConditionAsked] | None,
    show: list[str] | None,
    *,
    aggregate: Aggregate = "",
    of: str = "",
    group_by: str = "",
) -> Question:
    wanted = tuple(
        Condition(
            of=Quantity(label=each.label.strip()),
            comparator=each.comparator,
            values=tuple(typed(value, each.label) for value in each.values),
            words=f"{each.label} {each.comparator} {' or '.join(each.values)}".strip(),
        )
        for each in conditions or ()
    )
    for each in wanted:
        if each.comparator == "between" and len(each.values) != 2:
            raise UsageError("`between` takes two values.")
    return Question(
        text="; ".join(filter(None, (things, *(each.words for each in wanted)))),
        intent="numeric" if aggregate else "enumeration",
        things=things.strip(),
        conditions=wanted,
        aggregate=aggregate,
        of=Quantity(label=of.strip()) if of.strip() else None,
        group_by=group_by.strip(),
        show=tuple(show or ()),
    )


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
