"""The five tools that answers about documents are made with, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from fastapi.responses import Response

from tablewright.domain.corpus import Category
from tablewright.domain.form import form_of
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Limit, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.server.context import Visit, Visiting
from tablewright.operations.documents import find_document

if TYPE_CHECKING:
    from tablewright.services import SearchHits

router = resource("retrieval", prefix="/retrieval")

Words = Annotated[str, Query(min_length=1, max_length=2_000, pattern=r"^[^\x00]+$", description="What to look for.")]
Categories = Annotated[list[Category] | None, Query(description="Only documents of one of these categories.")]
DocumentIds = Annotated[list[str] | None, Query(max_length=100, description="Only these documents, by id.")]
WhereText = Annotated[
    str, Query(max_length=2_000, pattern=r"^[^\x00]*$", description='"kind = receipt and Total > 50 EUR"; empty: all.')
]
Columns = Annotated[list[str] | None, Query(max_length=50, description="Further columns.")]
Column = Annotated[str, Query(max_length=300, pattern=r"^[^\x00]*$")]
Skip = Annotated[int, Query(ge=0, le=10_000_000, description="So many matches come before these.")]


class PassageFound(Noun, frozen=True):
    document_id: str
    name: str
    page: int | None
    heading: str
    text: str
    start: int
    end: int
    score: float


class Passages(Noun, frozen=True):
    """The best first. `reason` says why these may not be all."""

    passages: tuple[PassageFound, ...]
    completeness: str
    reason: str


class StatedValue(Noun, frozen=True):
    column: str
    value: str
    page: int | None
    start: int
    end: int


class Match(Noun, frozen=True):
    document_id: str
    title: str
    page: int | None
    values: tuple[StatedValue, ...]


class NotDecided(Noun, frozen=True):
    document_id: str
    title: str
    why: str


class Matches(Noun, frozen=True):
    """`matched`, `rejected` and `unreadable` count all; `undecided` are those that do not say."""

    matches: tuple[Match, ...]
    matched: int
    rejected: int
    undecided: tuple[NotDecided, ...]
    unreadable: int
    completeness: str
    reason: str


class Figure(Noun, frozen=True):
    value: str
    unit: str
    count: int


class FigureGroup(Noun, frozen=True):
    key: str
    count: int
    figures: tuple[Figure, ...]


class Figures(Noun, frozen=True):
    """A figure for each currency or unit; `missing` matches do not state what was to be added up."""

    groups: tuple[FigureGroup, ...]
    missing: int
    completeness: str
    reason: str


@router.get("/search_text", response_model=described(Passages))
async def search_text(
    visit: Visiting, query: Words, limit: Limit = 10, categories: Categories = None, documents: DocumentIds = None
) -> Json:
    """Passages with any of the words; those with more and rarer words first."""
    names = await visible(visit, documents)
    found = await visit.services.retrieval.search_text(query, limit, names=names, categories=categories or ())
    return Json(passages(found))


@router.get("/search_vector", response_model=described(Passages))
async def search_vector(
    visit: Visiting,
    query: Words,
    limit: Limit = 10,
    scope: Literal["segment", "summary"] = "segment",
    categories: Categories = None,
    documents: DocumentIds = None,
) -> Json:
    """Passages, or summaries of long documents, that are near in meaning."""
    visit.must_run()
    names = await visible(visit, documents)
    retrieval = visit.services.retrieval
    return Json(
        passages(await retrieval.search_vector(query, limit, scope=scope, names=names, categories=categories or ()))
    )


@router.get("/annotations_search", response_model=described(Matches))
async def annotations_search(
    visit: Visiting, where: WhereText = "", show: Columns = None, limit: Limit = 100, skip: Skip = 0
) -> Json:
    """Every document, or row of a table inside documents, that meets all conditions. Nothing is ranked or left out."""
    found = await visit.services.retrieval.annotations_search(form_of(where, show=show or ()))
    return Json(
        Matches(
            matches=tuple(
                Match(
                    document_id=thing.document_id,
                    title=thing.title,
                    page=thing.page,
                    values=tuple(
                        StatedValue(
                            column=each.asked, value=each.value.raw, page=each.page, start=each.start, end=each.end
                        )
                        for each in thing.values
                    ),
                )
                for thing in found.matches[skip : skip + limit]
            ),
            matched=len(found.matches),
            rejected=found.rejected,
            undecided=tuple(
                NotDecided(document_id=each.thing.document_id, title=each.thing.title, why=each.reason)
                for each in found.undecided[:limit]
            ),
            unreadable=found.unreadable,
            completeness=found.completeness,
            reason=found.reason,
        )
    )


@router.get("/annotations_aggregate", response_model=described(Figures))
async def annotations_aggregate(
    visit: Visiting,
    aggregate: Literal["count", "sum", "min", "max", "average"],
    of: Column = "",
    group_by: Column = "",
    where: WhereText = "",
) -> Json:
    """Aggregates the matches. Sums are exact, and different currencies are never added together."""
    found = await visit.services.retrieval.annotations_aggregate(form_of(where, aggregate, of, by=group_by))
    groups = tuple(
        FigureGroup(
            key=group.key,
            count=group.count,
            figures=tuple(
                Figure(value=str(each.value), unit=each.unit, count=len(each.things)) for each in group.amounts
            ),
        )
        for group in found.groups
    )
    return Json(
        Figures(groups=groups, missing=len(found.missing), completeness=found.completeness, reason=found.reason)
    )


@router.get(
    "/export_annotations_csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "All matches, a line each."}},
)
async def export_annotations_csv(visit: Visiting, where: WhereText = "", show: Columns = None) -> Response:
    """All matches as a CSV file, each with its document, page and passage."""
    text = await visit.services.retrieval.export_annotations_csv(form_of(where, show=show or ()))
    head = {"Content-Disposition": 'attachment; filename="annotations.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=head)


async def visible(visit: Visit, documents: list[str] | None) -> list[str]:
    return [(await find_document(visit.services, each)).id for each in documents or ()]


def passages(found: SearchHits) -> Passages:
    return Passages(
        passages=tuple(
            PassageFound(
                document_id=hit.document.id,
                name=hit.document.name,
                page=hit.page,
                heading=hit.heading,
                text=hit.text,
                start=hit.start,
                end=hit.end,
                score=round(float(hit.score), 4),
            )
            for hit in found.hits
        ),
        completeness=found.completeness,
        reason=found.reason,
    )
