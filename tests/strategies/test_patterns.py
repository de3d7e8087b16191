"""Search patterns: one plan for a table, kept for the next one with the same columns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tablewright.domain.model import Field
from tablewright.engine.rows import MAX_SLICE_ROWS
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.plan_patterns import OtherPatternsToPlan, PatternsToPlan, PlanOtherPatterns, PlanPatterns
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.strategies.row_answers import SearchPlans, hash_pattern_request
from tests.answering import Answering, form
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, running_endpoint
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill

FOUNDED = Field(name="Founded", type="number", question="What year was {Company} founded?")
CITY = Field(name="City", question="In which city is {Company}?")
ASKED = PatternsToPlan(key="Company", fields=(FOUNDED, CITY), columns=("Country",), telling=("Country",))


def test_the_key_is_what_the_columns_are_in_whatever_order_and_for_whichever_rows() -> None:
    turned = msgspec.structs.replace(ASKED, fields=(CITY, FOUNDED), sample=Subject(name="Borealis"))
    assert hash_pattern_request(turned, "m") == hash_pattern_request(ASKED, "m")
    assert len(hash_pattern_request(ASKED, "m")) == 64


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(ASKED, fields=(FOUNDED,)),
        msgspec.structs.replace(ASKED, fields=(msgspec.structs.replace(FOUNDED, type="text"), CITY)),
        msgspec.structs.replace(ASKED, fields=(msgspec.structs.replace(FOUNDED, question="Since when?"), CITY)),
    ],
)
def test_another_column_is_another_key(other: PatternsToPlan) -> None:
    assert hash_pattern_request(other, "m") != hash_pattern_request(ASKED, "m")


async def test_patterns_are_kept_under_their_key(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'x.db'}") as store:
        kept = SearchPlans(store.cache)
        assert await kept.get("k") is None
        await kept.set("k", ("%entity founded", "%entity {Country}"))
        await kept.set("of this run", ("%entity",), lasts=False)
        assert (await kept.get("k"), await kept.get("of this run")) == (
            ("%entity founded", "%entity {Country}"),
            ("%entity",),
        )
        later = SearchPlans(store.cache)
        assert (await later.get("k"), await later.get("of this run")) == (
            ("%entity founded", "%entity {Country}"),
            None,
        )


def test_what_a_person_said_of_a_cell_is_told_where_new_patterns_are_planned() -> None:
    noted = OtherPatternsToPlan(
        key="Company",
        fields=(CITY,),
        avoid=("%entity city",),
        sample=Subject(name="Borealis"),
        notes={"City": "A person flagged 'Paris': they moved"},
    )
    assert "Note on City: A person flagged 'Paris': they moved" in PlanOtherPatterns().prompt(noted).text
    assert "What they brought" not in PlanOtherPatterns().prompt(noted).text, "nothing is known of it"


def test_the_rule_tries_another_name_of_a_weak_column_and_never_the_same_again() -> None:
    city = Field(name="Headquarters", question="Where is the headquarters of {Company}?")
    first = PlanPatterns().fallback(PatternsToPlan(key="Company", fields=(city,)))
    tried = list(first)
    for attempt in (2, 3):
        asked = OtherPatternsToPlan(key="Company", fields=(city,), attempt=attempt, avoid=tuple(tried))
        (new,) = PlanOtherPatterns().fallback(asked).patterns
        assert new not in tried
        assert new.startswith("%entity ")
        tried.append(new)


planning = Answering(lambda text: {}, patterns=["%entity profile"])


PAGES = {
    f"/{name}": Page(title=f"{name} Works", body=f"<p>{name} Works makes things.</p>") for name in ("Acme", "Bora")
}


async def test_a_whole_table_is_planned_in_one_call_and_the_next_table_in_none(tmp_path: Path) -> None:
    async with small_web(PAGES) as web, running_endpoint() as model:
        model.otherwise = planning
        table = "Company\n" + "".join(f"{name} Works\n" for name in ("Acme", "Bora"))
        for plans in (1, 0):
            model.asked.clear()
            await fill(with_model(web, model, tmp_path), tmp_path, table, "Founded:number=When was {Company} founded?")
            assert sum(is_plan(asked) for asked in model.asked) == plans
        assert web.queries[0] == "Acme Works profile"


async def test_the_parts_of_a_run_share_its_plan(tmp_path: Path) -> None:
    """A run of more than 40 rows has two slices, and the rows of both begin before the plan is there."""
    rows = MAX_SLICE_ROWS + 2
    page = Page(title="Works", body="<p>Works make things.</p>")
    async with small_web({"/works": page}) as web, running_endpoint() as model:

        async def slowly(asked: Asked) -> Reply:
            await asyncio.sleep(0.5 if is_plan(asked) else 0)
            return planning(asked)

        model.otherwise = slowly
        table = "Company,Country\n" + "".join(f"Firm{number} Works,Land{number}\n" for number in range(rows))
        (tmp_path / "t.csv").write_text(table, encoding="utf-8")
        async with Services.open(with_model(web, model, tmp_path)) as services:
            table_id = (await import_table_file(services, tmp_path / "t.csv")).table.id
            run = await plan_fill(services, table_id, [CITY], "pipeline")
            await services.jobs.run(run)
        assert sum(map(is_plan, model.asked)) == 1


def with_model(web: SmallWeb, model: Endpoint, home: Path) -> Settings:
    thinking = {"model": "openai:gpt-4o-mini", "model_base_url": model.url, "model_api_key": "k"}
    return replace(web.settings(home), attempts="1", **thinking)


def is_plan(asked: Asked) -> bool:
    return "patterns" in form(asked)


async def test_a_plan_that_a_model_failed_to_make_is_not_kept(tmp_path: Path) -> None:
    async with small_web(PAGES) as web, running_endpoint() as model:
        model.otherwise = answer("no JSON at all")
        settings = with_model(web, model, tmp_path)
        await fill(settings, tmp_path, "Company\nAcme Works\n", "Founded:number=When was {Company} founded?")
        model.otherwise = planning
        model.asked.clear()
        await fill(settings, tmp_path, "Company\nAcme Works\n", "Founded:number=When was {Company} founded?")
        assert any(map(is_plan, model.asked))
