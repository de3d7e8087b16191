"""What a run would take, before anything is spent; earlier runs of the same shape tell it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Table, make_given_cell
from tablewright.domain.run import Estimate
from tablewright.engine.estimate import EstimateRequest, estimate_run
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import FillPlan, RunPolicy
from tablewright.llm.build import build_model
from tablewright.llm.local import SERVERS
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.strategies import estimates
from tablewright.strategies.computation import ComputationStrategy
from tablewright.strategies.effort import Effort, Expected
from tablewright.strategies.strategy import NO_TOOLS, Answer, Need, Strategy, Task, Tools
from tablewright.strategies.transform import TransformStrategy
from tests.engine.works import A_CALL, FOUNDED, READ, TABLE, WRITTEN, YEARS, thinking
from tests.llm.endpoint import Endpoint
from tests.llm.tiny_gguf import write_tiny_model
from tests.pages import SmallWeb

SEAT = "Seat=Where is {Company} based?"


class Desk:
    """An app with the thirty works in it."""

    def __init__(self, services: Services, table_id: str) -> None:
        self.services = services
        self.table_id = table_id

    async def plan(self, *fields: str, strategy: str = "lookup", **more: Any) -> FillRun:
        asked = [parse_field(text) for text in fields or (FOUNDED,)]
        return await plan_fill(self.services, self.table_id, asked, strategy, how=FillOptions(**more))

    async def estimate(self, *fields: str, strategy: str = "lookup", **more: Any) -> Estimate:
        return await (await self.plan(*fields, strategy=strategy, **more)).estimate()

    async def fill(self, *fields: str, strategy: str = "lookup", **more: Any) -> RunResult:
        return await (await self.plan(*fields, strategy=strategy, **more)).run()


async def desk(services: Services, folder: Path, table: str = TABLE) -> Desk:
    (folder / "works.csv").write_text(table, encoding="utf-8")
    return Desk(services, (await import_table_file(services, folder / "works.csv")).table.id)


# ── what is to be done ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_estimate_asks_nobody_and_leaves_no_run(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        likely = await (await desk(services, tmp_path)).estimate(FOUNDED, SEAT)
        assert await services.store.proposals.all() == []
    assert (likely.rows, likely.cells, likely.model) == (30, 60, "openai:gpt-4o-mini")
    assert likely.calls.low < likely.calls.likely < likely.calls.high
    assert likely.cost_usd is not None
    assert 0 < likely.cost_usd.low < likely.cost_usd.likely < likely.cost_usd.high
    assert likely.searches >= 60
    assert likely.seconds > 1
    assert (model.asked, web.queries, sum(web.requests.values())) == ([], [], 0)


async def test_only_what_needs_work_is_counted(web: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(web.settings(tmp_path)) as services:
        works = await desk(services, tmp_path, "Company,Town\nBardane Works,\nBarmont Works,Bath\n,Leeds\n")
        assert [(each.rows, each.cells) for each in [await works.estimate(FOUNDED, "Town=Where is {Company}?")]] == [
            (2, 3)
        ]
        filled = await works.fill()
        await services.changes.apply(filled.proposal_id)
        assert ((await works.estimate()).rows, (await works.estimate()).searches) == (0, 0)
        await services.changes.flag(works.table_id, 2, "Founded")
        assert (await works.estimate()).rows == 1
        assert (await works.estimate(SEAT, max_rows=1)).rows == 1
        assert (await works.estimate(SEAT, rows=(2, 3))).rows == 1


# ── how well it does ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("strategy", "params", "least"),
    [
        ("lookup", {}, 1 / 8),  # the busier the machine, the fewer rows meet in a call
        ("research", {}, 1 / 1.6),
        ("research", {"thoroughness": "comprehensive"}, 1 / 1.6),
    ],
)
async def test_the_strategys_own_word_is_near_what_a_run_takes(
    web: SmallWeb, model: Endpoint, tmp_path: Path, strategy: str, params: Mapping[str, str], least: float
) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        works = await desk(services, tmp_path)
        likely = await works.estimate(strategy=strategy, params=params)
        used = (await works.fill(strategy=strategy, params=params)).usage
    assert likely.from_rows == 0
    assert least < likely.calls.likely / used.llm_calls < 1.6
    assert 1 / 2 < likely.searches / used.searches < 2


async def test_earlier_runs_of_the_same_shape_correct_it(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        works = await desk(services, tmp_path)
        used = (await works.fill(max_rows=10)).usage
        likely = await works.estimate()
        other_shape = await works.estimate(FOUNDED, SEAT)
        other_way = await works.estimate(strategy="research")
    assert likely.from_rows == 10
    calls = likely.calls.likely
    assert used.llm_calls < calls <= 3 * used.llm_calls, "the plan is made once"
    assert likely.input_tokens.likely == pytest.approx(calls * READ, rel=0.2)
    assert likely.output_tokens.likely == pytest.approx(calls * WRITTEN, rel=0.2)
    assert likely.cost_usd is not None
    assert likely.cost_usd.likely == pytest.approx(calls * A_CALL, rel=0.2)
    assert likely.seconds == pytest.approx(3 * used.seconds, abs=0.1)
    assert (other_shape.from_rows, other_way.from_rows) == (0, 0)


async def test_four_rows_are_too_few_to_learn_from(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        works = await desk(services, tmp_path)
        await works.fill(max_rows=4)
        assert (await works.estimate()).from_rows == 0


async def test_a_run_that_was_played_again_tells_nothing_of_the_price(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        works = await desk(services, tmp_path)
        first = await works.fill(max_rows=10)
        again = await works.fill(max_rows=10)
        likely = await works.estimate()
    assert (first.usage.llm_calls > 0, again.usage.llm_calls) == (True, 0)
    assert likely.from_rows == 10
    assert likely.calls.likely > first.usage.llm_calls


async def test_the_newest_run_weighs_more(web: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(web.settings(tmp_path)) as services:
        works = await desk(services, tmp_path)
        web.pages, known = {}, web.pages
        await works.fill(rows=tuple(range(1, 11)))
        web.pages = known
        await works.fill(rows=tuple(range(11, 21)))
        likely = await works.estimate()
    without, found = 40, 10
    assert (without + found) / 20 * 30 > likely.searches > found / 10 * 30


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_without_a_known_price_it_says_so(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    settings = thinking(web.settings(tmp_path), model, model="openai:somebody-elses")
    async with Services.open(settings) as services:
        run = await (await desk(services, tmp_path)).plan()
        assert not run.costs_money
        assert (await run.estimate()).cost_usd is None


async def test_searches_have_their_price(web: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(replace(web.settings(tmp_path), search_price="0.01")) as services:
        run = await (await desk(services, tmp_path)).plan()
        likely = await run.estimate()
    assert run.costs_money
    assert (likely.model, likely.calls.high) == ("", 0)
    assert likely.cost_usd is not None
    assert likely.cost_usd.likely == pytest.approx(0.01 * 30 * estimates.Assumed.BY_RULE["lookup"].searches)


async def test_what_is_played_offline_takes_nothing(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model, offline="yes")) as services:
        likely = await (await desk(services, tmp_path)).estimate()
    assert (likely.rows, likely.calls.high, likely.searches) == (30, 0, 0)


async def test_a_local_model_is_not_loaded_for_it(web: SmallWeb, tmp_path: Path) -> None:
    file = write_tiny_model(tmp_path / "tiny.gguf")
    async with Services.open(replace(web.settings(tmp_path), model=f"local:{file}")) as services:
        run = await (await desk(services, tmp_path)).plan()
        likely = await run.estimate()
        assert not run.costs_money
    assert likely.cost_usd is not None
    assert likely.cost_usd.high == 0
    assert likely.seconds > 30 * estimates.Assumed.LOCAL_CALL_SECONDS
    assert not SERVERS.running


async def test_with_cascade_it_is_less(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    calls = []
    for cascade in ("no", "yes"):
        async with Services.open(thinking(web.settings(tmp_path), model, cascade=cascade)) as services:
            calls.append((await (await desk(services, tmp_path)).estimate()).calls.likely)
    assert calls[1] < calls[0]


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

WORKS = Table(id="works", name="works", fields=(Field(name="Company"), Field(name="Price")), key_field="Company")


@pytest.fixture
def asked(model: Endpoint, tmp_path: Path) -> Tools:
    built = build_model(thinking(Settings(home=str(tmp_path)), model))
    assert built is not None
    return Tools(model=built)


def task(*fields: str, **params: str) -> Task:
    return Task(table=WORKS, fields=tuple(map(parse_field, fields)), params=params)


def test_the_pipeline_asks_once_for_all_columns_of_a_row(asked: Tools) -> None:
    one, four = (
        estimates.estimate_pipeline(task(*[FOUNDED, SEAT, "Chair=", "Staff:number="][:count]), asked)
        for count in (1, 4)
    )
    assert one.row.calls < four.row.calls < 1, "what is judged is asked about a second time"
    assert one.once.calls == four.once.calls == 1
    assert one.row.input_tokens < four.row.input_tokens < 2 * one.row.input_tokens
    assert one.row.output_tokens < four.row.output_tokens < 4 * one.row.output_tokens
    alone = estimates.estimate_pipeline(task(FOUNDED, rows_a_call="1"), asked)
    assert one.row.calls < alone.row.calls
    about_two_things = estimates.estimate_pipeline(
        task(FOUNDED, "Maker seat=Where is the maker of {Price} based?"), asked
    )
    assert about_two_things.once.calls == 2
    assert estimates.estimate_pipeline(task(FOUNDED), NO_TOOLS).row.calls == 0


# The part of a call that a row with a short text takes.
SHARED = 1 / (estimates.Assumed.BATCH_FULL * TEXT_LIMITS.rows_per_call)


def test_a_formula_takes_nothing_and_one_in_words_a_call(asked: Tools) -> None:
    computation = ComputationStrategy()
    assert computation.expected(task("Twice:number={Price} * 2"), asked) == Expected()
    words = computation.expected(task("Gross:number={Price} plus 19% VAT"), asked)
    assert words.once.calls == pytest.approx(1 + estimates.Assumed.ASKED_TWICE)
    assert words.row.calls == pytest.approx(SHARED * estimates.Assumed.NO_FORMULA * (1 + estimates.Assumed.ASKED_TWICE))


def test_writing_from_the_row_takes_one_call_for_all_its_columns(asked: Tools) -> None:
    one, two = (
        TransformStrategy().expected(task(*["German=Translate {Company} to German", "Kind=What is it?"][:count]), asked)
        for count in (1, 2)
    )
    assert one.row.calls == two.row.calls == pytest.approx(SHARED * (1 + estimates.Assumed.ASKED_TWICE))
    assert one.row.input_tokens < two.row.input_tokens
    assert one.row.output_tokens == pytest.approx(two.row.output_tokens / 2, rel=0.1)


class Silent(Strategy):
    """Of another package: it does not say what it takes."""

    name, display_name = "silent", "Silent"

    def needs(self, task: Task) -> Sequence[Need]:
        return ("web", "model")

    def prepare(self, task: Task, tools: Tools) -> Answer:
        raise NotImplementedError


async def test_a_strategy_that_does_not_say_gets_a_neutral_guess(store: Store, asked: Tools) -> None:
    table = await store.tables.create(
        "works", WORKS.fields, [(make_given_cell(name), make_given_cell(1)) for name in YEARS]
    )
    named = Table(id=table.id, name="works", fields=WORKS.fields, key_field="Company")
    likely = await FillRun(
        store, FillPlan(named, [parse_field(FOUNDED), parse_field(SEAT)], Silent()), tools=asked
    ).estimate()
    assert (likely.rows, likely.calls.likely, likely.searches, likely.pages) == (30, 60, 60, 60)


def test_further_attempts_and_a_stronger_model_cost_more(asked: Tools, model: Endpoint, tmp_path: Path) -> None:
    call = Effort(calls=1, input_tokens=1_000, output_tokens=100)
    likely = Expected(row=call, once=call, again=call)

    def cost(attempts: int, tools: Tools) -> tuple[float, float]:
        job = EstimateRequest(
            rows=100, cells=100, expected=likely, policy=RunPolicy(), attempts=attempts, concurrency=4
        )
        made = estimate_run(job, tools)
        assert made.cost_usd is not None
        return made.calls.likely, made.cost_usd.likely

    strong = build_model(thinking(Settings(home=str(tmp_path)), model, model="openai:gpt-4o"))
    (calls, paid), (more_calls, more_paid) = cost(1, asked), cost(3, asked)
    weak = 100 * estimates.Assumed.WEAK_ROWS
    assert (calls, more_calls) == (101, round(101 + weak + weak * estimates.Assumed.STILL_WEAK))
    assert more_paid / paid == pytest.approx(more_calls / calls, rel=0.01)
    assert cost(3, replace(asked, strong=strong))[1] > 2 * more_paid
