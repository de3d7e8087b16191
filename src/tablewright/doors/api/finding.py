"""Finding rows: a description of things becomes a table of them."""

from __future__ import annotations

from typing import Annotated

from fastapi.responses import Response
from pydantic import ConfigDict, StringConstraints
from pydantic import Field as Value

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.listing import DEFAULT_ROWS, MOST_ROWS, FoundRows, ListPlan
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.fields import AskedField
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import Body, Question, TableId, Text, resource
from tablewright.doors.api.schemas import EXAMPLES, described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting

router = resource("find")


class FindStarted(Noun, frozen=True):
    """Watch it at `/runs/{run_id}/events`; `plan` is what is looked for."""

    table_id: str
    run_id: str
    plan: ListPlan


EXAMPLES[FindStarted] = {
    "table_id": "nordic-fintech-companies",
    "run_id": "r7kq2mwx3p",
    "plan": {"question": "Nordic fintechs", "things": "Nordic fintech companies", "fields": [{"name": "Name"}]},
}


class AskedRows(Body):
    """What to find. Models and search providers are those of the server's settings."""

    question: Question
    columns: list[AskedField | Annotated[Text, StringConstraints(min_length=1)]] = Value(
        [], max_length=24, description="The one that names the things first; each an object, or a text: `Staff:number`."
    )
    where: Text = Value("", description="Conditions that every row must meet: `Staff > 100 and Country = Norway`.")
    rows: int = Value(DEFAULT_ROWS, ge=1, le=MOST_ROWS, description="The most rows.")
    fill: bool = Value(True, description="Search for cells that no list states.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "Nordic fintechs with more than 100 staff", "columns": ["Name", "Country", "Staff:number"]}
            ]
        },
    )


class AskedMore(Body):
    rows: int = Value(0, ge=0, le=MOST_ROWS, description="The most rows in all; 0: as before.")
    fill: bool = Value(True, description="Search for cells that no list states.")


@router.post("/find", status_code=202, response_model=described(FindStarted))
async def find_rows(visit: Visiting, asked: AskedRows, once: OnlyOnce) -> Response:
    """Plans a table and starts to find its rows in the background: lists are searched for, read in full and merged,
    then the cells that no list states are searched for."""
    visit.must_run()

    async def work() -> Json:
        listing = await visit.services.begin_find(
            asked.question,
            fields=[parse_field(each) if isinstance(each, str) else each.field() for each in asked.columns],
            where=asked.where,
            rows=asked.rows,
        )
        run_id = await visit.services.start_find(listing.table_id, fill=asked.fill)
        return Json(FindStarted(table_id=listing.table_id, run_id=run_id, plan=listing.plan), 202)

    return await once.answer(work)


@router.get("/tables/{table_id}/found", response_model=described(FoundRows))
async def get_found(visit: Visiting, table_id: TableId) -> Json:
    """The result of a search for rows so far: how many, how complete, what was read, what was set aside and what could
    not be reached."""
    table = await seen_table(visit, table_id)
    return Json(await visit.services.found_rows(table.id))


@router.post("/tables/{table_id}/found", status_code=202, response_model=described(FindStarted))
async def find_more(visit: Visiting, table_id: TableId, asked: AskedMore, once: OnlyOnce) -> Response:
    """Finds more rows for a table, or continues an interrupted search."""
    visit.must_run()
    table = await seen_table(visit, table_id)

    async def work() -> Json:
        plan = await visit.services.list_plan(table.id)
        run_id = await visit.services.start_find(table.id, fill=asked.fill, more=True, rows=asked.rows)
        return Json(FindStarted(table_id=table.id, run_id=run_id, plan=plan), 202)

    return await once.answer(work)
