"""Fill columns: what a run would take, and start one."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi.responses import Response
from pydantic import ConfigDict, StringConstraints
from pydantic import Field as Value

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Noun, Table
from tablewright.doors.api.answers import Json
from tablewright.doors.api.fields import AskedField
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import MOST_ROWS, Body, Name, TableId, resource
from tablewright.doors.api.inputs import Text as LongText
from tablewright.doors.api.schemas import EXAMPLES, described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import UsageError
from tablewright.services import Fill, RetryPolicy, retry_policy

router = resource("runs")


class Started(Noun, frozen=True):
    """Watch it at `/runs/{run_id}/events`; what it finds is a proposal."""

    run_id: str
    table_id: str


class Likely(Noun, frozen=True):
    low: float
    likely: float
    high: float


class EstimateShown(Noun, frozen=True):
    """`cost_usd` is null where the price of the model is not known; `from_rows` are the rows of earlier runs that it is
    learned from."""

    rows: int
    cells: int
    model: str
    calls: Likely
    input_tokens: Likely
    output_tokens: Likely
    searches: int
    pages: int
    cost_usd: Likely | None
    seconds: float
    from_rows: int


EXAMPLES[Started] = {"run_id": "r7kq2mwx3p", "table_id": "companies-3fkq9"}


class AskedRun(Body):
    """What to fill, and how. Models and search providers are those of the server's settings."""

    fields: list[AskedField | Annotated[LongText, StringConstraints(min_length=1)]] = Value(
        min_length=1,
        max_length=100,
        description="Columns to fill, each an object, or a text such as `Founded:number=What year was it founded?`.",
    )
    strategy: Name = Value(
        "", description="One of `/strategies`. Default: a formula is computed, a question is answered from the web."
    )
    params: dict[Name, LongText] = Value({}, description="Parameters of the strategy.")
    thoroughness: Literal["", "exploratory", "comprehensive"] = ""
    rows: list[Annotated[int, Value(ge=1, le=MOST_ROWS)]] | None = Value(
        None, min_length=1, max_length=100_000, description="Only the rows of these numbers."
    )
    max_rows: int | None = Value(None, ge=1, le=MOST_ROWS, description="Only the first rows.")
    again: bool = Value(False, description="Whether to look elsewhere for what earlier runs did not find.")
    concurrency: int | None = Value(None, ge=1, le=1_000, description="Rows at once.")
    attempts: int | None = Value(None, ge=1, le=10, description="How often a row is tried while cells are weak.")
    threshold: float | None = Value(None, ge=0, le=1, description="The confidence below which a cell is weak.")
    budget: float | None = Value(None, ge=0, le=1e6, description="The most dollars; not more than the server allows.")
    sources: Literal["", "web", "docs", "web,docs", "docs,web"] = Value("", description="Where to look for evidence.")
    evidence: Literal["", "strict", "judged"] = Value(
        "", description="strict refuses values that a model concluded from quotes instead of reading them there."
    )
    cascade: bool | None = Value(None, description="Ask the model only where the built-in reader is not sure.")
    offline: bool = Value(
        False, description="Make no requests; replay earlier runs. A server that is offline stays offline."
    )
    acts: bool = Value(False, description="Must be true for a strategy that has an effect outside the table.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "fields": [
                        {"name": "Founded", "type": "number", "question": "What year was {Company} founded?"},
                        "Website:url=What is the website of {Company}?",
                    ],
                    "max_rows": 10,
                    "budget": 0.5,
                }
            ]
        },
    )

    def settings(self, visit: Visit) -> dict[str, str]:
        """What of the settings holds for this run instead."""
        own = visit.services.settings
        asked: dict[str, str] = {}
        if self.budget is not None:
            asked["budget"] = str(self.budget if own.budget is None else min(self.budget, own.budget))
        if self.sources:
            asked["sources"] = self.sources
        if self.evidence:
            asked["evidence"] = self.evidence
        if self.cascade is not None:
            asked["cascade"] = "yes" if self.cascade else "no"
        if self.offline:
            asked["offline"] = "yes"
        return asked

    async def planned(self, visit: Visit, table: Table) -> Fill:
        services = visit.services
        if self.rows is not None and self.max_rows is not None:
            raise UsageError("`rows` and `max_rows` exclude each other.")
        params = dict(self.params)
        if self.thoroughness:
            params["thoroughness"] = self.thoroughness
        fields = [parse_field(each) if isinstance(each, str) else each.field() for each in self.fields]
        return await services.plan_enrich(
            table.id,
            fields,
            self.strategy,
            params=params,
            row_ids=self.rows,
            again=self.again,
            max_rows=self.max_rows,
            concurrency=self.concurrency,
            retry=self.retry(retry_policy(services.settings)),
            sources=self.sources,
        )

    def retry(self, usual: RetryPolicy) -> RetryPolicy:
        return RetryPolicy(
            attempts=self.attempts or usual.attempts,
            threshold=usual.threshold if self.threshold is None else self.threshold,
            require_improvement=usual.require_improvement,
        )


@router.post("/tables/{table_id}/estimate", response_model=described(EstimateShown))
async def estimate_run(visit: Visiting, table_id: TableId, asked: AskedRun) -> Json:
    """Estimates a run: nothing is spent and nothing is stored."""
    table = await seen_table(visit, table_id)
    return Json(await (await asked.planned(visit, table)).estimate())


@router.post("/tables/{table_id}/runs", status_code=202, response_model=described(Started))
async def start_run(visit: Visiting, table_id: TableId, asked: AskedRun, once: OnlyOnce) -> Response:
    """Fills columns in the background. What is found is a proposal: nothing changes before it is applied."""
    visit.must_run()
    table = await seen_table(visit, table_id)

    async def work() -> Json:
        if asked.strategy and visit.services.acts(asked.strategy) and not asked.acts:
            raise UsageError(
                f"{asked.strategy} acts outside the table, for every row.", advice='Say `"acts": true` to start it.'
            )
        fill = await asked.planned(visit, table)
        run_id = await visit.services.jobs.start(fill, asked.settings(visit))
        return Json(Started(run_id=run_id, table_id=table.id), 202)

    return await once.answer(work)
