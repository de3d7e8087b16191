"""Find things that fit a description, as the rows of a new table; see how complete it is; find more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tablewright.domain.condition import parse_conditions
from tablewright.domain.listing import DEFAULT_ROWS, MAX_ROWS, FindEvent, FoundRows, Listing, ListPlan
from tablewright.domain.model import Struct
from tablewright.domain.naming import check_request_text
from tablewright.domain.run import Estimate
from tablewright.operations.operation import Question, Request, TableRequest, Text, copy_fields, operation
from tablewright.operations.rows import FieldSpecs, read_fields

if TYPE_CHECKING:
    from tablewright.engine.runs.kinds import RunContext
    from tablewright.services import Services
    from tablewright.workflows.find.find import RowFinder

Fill = Annotated[bool, msgspec.Meta(description="Search for cells that no list states.")]


class FindPlanned(Struct, frozen=True):
    """The new table is empty; `POST /tables/{table}/found` finds its rows."""

    table_id: str
    plan: ListPlan
    estimate: Estimate


class FindStarted(Struct, frozen=True):
    """Watch it at `/runs/{run_id}/events`; `plan` is what is looked for."""

    table_id: str
    run_id: str
    plan: ListPlan


class PlanFind(Request, frozen=True, kw_only=True):
    """A description of the things to find. Models and search providers are those of the server's settings."""

    question: Annotated[
        Question, msgspec.Meta(description="What to find.", examples=["Nordic fintechs with more than 100 staff"])
    ]
    fields: Annotated[
        FieldSpecs,
        msgspec.Meta(
            # Each column is a question about every row, and adds to the prompt that reads a page.
            max_length=24,
            description="The columns, starting with the one that names the things: objects, or texts such as "
            "`Staff:number`. Default: the model chooses.",
            examples=[["Name", "Country", "Staff:number"]],
        ),
    ] = ()
    where: Annotated[
        Text, msgspec.Meta(description="Conditions that every row must meet: `Staff > 100 and Country = Norway`.")
    ] = ""
    rows: Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS, description="The most rows.")] = DEFAULT_ROWS


@operation("run")
async def plan_find(services: Services, request: PlanFind) -> FindPlanned:
    """Plan a table of the things that are described, and estimate what finding its rows takes."""
    finder = await open_finder(services)
    async with services.spending():
        listing = await finder.begin(
            check_request_text(request.question),
            fields=read_fields(request.fields),
            conditions=parse_conditions(request.where),
            rows=request.rows,
        )
    likely = await estimate_find(services, TableRequest(table=listing.table_id))
    return FindPlanned(table_id=listing.table_id, plan=listing.plan, estimate=likely)


@operation("read")
async def estimate_find(services: Services, request: TableRequest) -> Estimate:
    """Estimate what finding the rows of a planned table takes."""
    from tablewright.workflows.find.find import estimate_search

    listing = await find_listing(services, request.table)
    return estimate_search(listing, await services.open_tools(("web", "model")), services.policy)


class StartFind(PlanFind, frozen=True, kw_only=True):
    fill: Fill = True


@operation("run")
async def start_find(services: Services, request: StartFind) -> FindStarted:
    """Plan a table and start to find its rows in the background: lists are searched for, read in full and merged,
    then the cells that no list states are searched for."""
    planned = await plan_find(services, copy_fields(PlanFind, request))
    return await find_more(services, FindMore(table=planned.table_id, fill=request.fill))


class FindMore(TableRequest, frozen=True, kw_only=True):
    rows: Annotated[int, msgspec.Meta(ge=0, le=MAX_ROWS, description="The most rows in all; 0: as before.")] = 0
    fill: Fill = True


@operation("run")
async def find_more(services: Services, request: FindMore) -> FindStarted:
    """Find the rows of a planned table, continue an interrupted search, or find more rows."""
    listing = await find_listing(services, request.table)
    run_id = await services.jobs.begin("find", listing.table_id, make_find_spec(listing, request))
    return FindStarted(table_id=listing.table_id, run_id=run_id, plan=listing.plan)


async def find_rows(
    services: Services, request: FindMore, *, watch: Callable[[FindEvent], None] = lambda _: None
) -> FoundRows:
    """Do what `find_more` does in this process, and return what was found."""
    listing = await find_listing(services, request.table)
    found: FoundRows = await services.jobs.perform("find", listing.table_id, make_find_spec(listing, request), watch)
    return found


def make_find_spec(listing: Listing, request: FindMore) -> dict[str, Any]:
    # A listing that was searched before continues; a planned one starts.
    more = listing.status != "planned"
    return {"question": listing.plan.question, "fill": request.fill, "more": more, "rows": request.rows}


@operation("read")
async def get_found(services: Services, request: TableRequest) -> FoundRows:
    """The result of a search for rows so far: how many, how complete, what was read, what was set aside and what could
    not be reached."""
    from tablewright.workflows.find.entities import report_found_rows

    listing = await find_listing(services, request.table)
    return await report_found_rows(services.store, listing, services.rates)


async def find_listing(services: Services, table: str) -> Listing:
    return await services.store.listings.get((await services.table(table)).id)


async def run_find(services: Services, context: RunContext) -> FoundRows:
    """Perform a run that finds the rows of a planned table; after an interruption it continues."""
    finder, request = await open_finder(services, context.tell), context.request
    return await finder.run(context.run.table_id, fill=request["fill"], more=request["more"], rows=request["rows"])


async def open_finder(services: Services, watch: Callable[[FindEvent], None] = lambda _: None) -> RowFinder:
    from tablewright.workflows.find.find import RowFinder

    return RowFinder(
        services.store,
        await services.open_tools(("web", "model")),
        actor=services.actor,
        policy=services.policy,
        rates=services.rates,
        concurrency=services.settings.concurrency,
        watch=watch,
    )
