"""The five retrieval tools that answers about documents are made with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tablewright.domain.documents import Category, Completeness
from tablewright.domain.model import Struct
from tablewright.domain.reply import Form, make_lookup_form
from tablewright.operations.ask import Exported, Figure, FigureColumn, GroupColumn, ShownColumns, Where, open_asker
from tablewright.operations.documents import DocumentRef, find_document
from tablewright.operations.operation import USUAL_LIMIT, After, Limit, Page, Request, copy_fields, operation
from tablewright.operations.paging import page_by_number

if TYPE_CHECKING:
    from tablewright.documents.results import Aggregated, FoundItem, FoundItems
    from tablewright.documents.search import SearchHits
    from tablewright.services import Services


Query = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=2_000, pattern=r"^[^\x00]+$", description="What to look for."),
]
OnlyDocuments = Annotated[
    tuple[DocumentRef, ...], msgspec.Meta(max_length=100, description="Only these documents, by id or file name.")
]
OnlyCategories = Annotated[tuple[Category, ...], msgspec.Meta(description="Only documents of one of these categories.")]


class PassageFound(Struct, frozen=True):
    """A passage at `start:end` of the stored text, or a summary with the part of the text that it is about."""

    document_id: str
    name: str
    title: str
    page: int | None
    heading: str
    text: str
    start: int
    end: int
    score: float


class Passages(Struct, frozen=True):
    """The best first. `reason` says why these may not be all."""

    passages: tuple[PassageFound, ...]
    completeness: Completeness
    reason: str


class StatedValue(Struct, frozen=True):
    column: str
    value: str
    page: int | None
    start: int
    end: int


class Match(Struct, frozen=True):
    document_id: str
    title: str
    page: int | None
    values: tuple[StatedValue, ...]


class NotDecided(Match, frozen=True):
    """A document, or row, that does not state what decides; `why` says what is missing."""

    why: str


class Matches(Page, frozen=True):
    """`matched`, `rejected`, `not_decided` and `unreadable` count all. The pages list the matches first, then those
    that are undecided."""

    matches: tuple[Match, ...]
    undecided: tuple[NotDecided, ...]
    matched: int
    rejected: int
    not_decided: int
    unreadable: int
    completeness: Completeness
    reason: str


class FigureFound(Struct, frozen=True):
    """`count` is of how many it is made, or how many have it; `documents` are the first of these."""

    value: str
    unit: str
    count: int
    documents: tuple[str, ...]


class FigureGroup(Struct, frozen=True):
    key: str
    count: int
    figures: tuple[FigureFound, ...]


class Figures(Struct, frozen=True):
    """A figure for each currency or unit; `missing` matches do not state what was to be added up."""

    groups: tuple[FigureGroup, ...]
    missing: int
    completeness: Completeness
    reason: str


# ── passages ────────────────────────────────────────────────────────────────────────────────────────────────────────


class SearchText(Request, frozen=True):
    query: Query
    limit: Limit = 10
    documents: OnlyDocuments = ()
    categories: OnlyCategories = ()


@operation("read")
async def search_text(services: Services, request: SearchText) -> Passages:
    """Passages with any of the words; those with more and rarer words first."""
    search = (await services.toolbox.open_corpus(services.store)).search
    ids = await document_ids(services, request.documents)
    return show_passages(
        await search.search_text(request.query, request.limit, documents=ids, categories=request.categories)
    )


class SearchVector(SearchText, frozen=True):
    scope: Annotated[Literal["segment", "summary"], msgspec.Meta(description="summary: parts of long documents.")] = (
        "segment"
    )


@operation("run")
async def search_vector(services: Services, request: SearchVector) -> Passages:
    """Passages, or summaries of long documents, that are near in meaning."""
    search = (await services.toolbox.open_corpus(services.store)).search
    ids = await document_ids(services, request.documents)
    return show_passages(
        await search.search_vector(
            request.query, request.limit, scope=request.scope, documents=ids, categories=request.categories
        )
    )


async def document_ids(services: Services, names: Sequence[str]) -> list[str] | None:
    return [(await find_document(services, name)).id for name in names] or None


def show_passages(found: SearchHits) -> Passages:
    return Passages(
        passages=tuple(
            copy_fields(
                PassageFound,
                hit,
                document_id=hit.document.id,
                name=hit.document.name,
                title=hit.document.title,
                score=round(float(hit.score), 4),
            )
            for hit in found.hits
        ),
        completeness=found.completeness,
        reason=found.reason,
    )


# ── annotations ─────────────────────────────────────────────────────────────────────────────────────────────────────


class ExportAnnotations(Request, frozen=True):
    where: Where = ""
    show: ShownColumns = ()


class SearchAnnotations(ExportAnnotations, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def annotations_search(services: Services, request: SearchAnnotations) -> Matches:
    """Every document, or row of a table inside documents, that meets all conditions. Nothing is ranked or left out."""
    found, _ = await answer_form(services, make_lookup_form(request.where, show=request.show))
    every = [show_match(each) for each in found.matches]
    every += [show_match(each.thing, each.reason) for each in found.undecided]
    numbered, more = page_by_number(enumerate(every, start=1), request.after, request.limit, lambda each: each[0])
    some = [each for _, each in numbered]
    return copy_fields(
        Matches,
        found,
        matches=tuple(each for each in some if not isinstance(each, NotDecided)),
        undecided=tuple(each for each in some if isinstance(each, NotDecided)),
        matched=len(found.matches),
        not_decided=len(found.undecided),
        next=more,
    )


class AggregateAnnotations(Request, frozen=True):
    figure: Figure
    of: FigureColumn = ""
    by: GroupColumn = ""
    where: Where = ""


@operation("read")
async def annotations_aggregate(services: Services, request: AggregateAnnotations) -> Figures:
    """Count, add up, or find the least, greatest or average value of what meets all conditions. Sums are exact, and
    different currencies are never added together."""
    _, aggregated = await answer_form(
        services, make_lookup_form(request.where, request.figure, request.of, by=request.by)
    )
    assert aggregated is not None  # there is a figure
    return show_figures(aggregated)


@operation("read")
async def export_annotations_csv(services: Services, request: ExportAnnotations, *, path: Path) -> Exported:
    """All matches as a CSV file, each with its document, page and passage; without `show`, with all that they state."""
    from tablewright.documents.results import write_annotations_csv

    form = make_lookup_form(request.where, show=request.show)
    found, _ = await answer_form(services, form, every_column=not request.show)
    path.write_bytes(write_annotations_csv(found).encode())
    return Exported(name="annotations", rows=len(found.matches))


async def answer_form(
    services: Services, form: Form, *, every_column: bool = False
) -> tuple[FoundItems, Aggregated | None]:
    from tablewright.conditions.evaluate import NameSpellings
    from tablewright.workflows.ask.query import evaluate_plan
    from tablewright.workflows.ask.where import name_every_column, resolve_form

    asker = await open_asker(services)
    things = await asker.inventory(await services.store.documents.all())
    if every_column:
        form = await name_every_column(services.store, form, things)
    plan, scope = await resolve_form(services.store, asker.context.corpus, form, things)
    return evaluate_plan(plan, scope, NameSpellings())


def show_match(found: FoundItem, why: str = "") -> Match:
    match = copy_fields(
        Match,
        found,
        values=tuple(copy_fields(StatedValue, each, column=each.asked, value=each.value.raw) for each in found.values),
    )
    return NotDecided(**msgspec.structs.asdict(match), why=why) if why else match


def show_figures(found: Aggregated) -> Figures:
    groups = tuple(
        copy_fields(
            FigureGroup,
            group,
            figures=tuple(
                FigureFound(
                    value=str(each.value),
                    unit=each.unit,
                    count=len(each.things),
                    # Documents named for one figure; `annotations_search` with the same conditions lists all.
                    documents=tuple(dict.fromkeys(thing.document_id for thing in each.things))[:200],
                )
                for each in group.amounts
            ),
        )
        for group in found.groups
    )
    return copy_fields(Figures, found, groups=groups, missing=len(found.missing))
