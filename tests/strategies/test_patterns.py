"""Search patterns: one plan for a table, kept for the next one with the same columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tablewright.domain.model import Field, WeakColumn
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.plan_patterns import PatternsToPlan, PlanPatterns
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.strategies.row_answers import PatternCache, hash_pattern_request
from tests.answering import Answering, form
from tests.llm.endpoint import Asked, Endpoint, answer, running_endpoint
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
        msgspec.structs.replace(ASKED, attempt=2, avoid=("%entity Founded",)),
        msgspec.structs.replace(ASKED, weak=(WeakColumn(name="City", weakness="missing", reason="nothing"),)),
    ],
)
def test_another_column_or_other_feedback_is_another_key(other: PatternsToPlan) -> None:
    assert hash_pattern_request(other, "m") != hash_pattern_request(ASKED, "m")


def test_rows_that_are_weak_for_the_same_kind_of_reason_share_a_plan() -> None:
    weak = [
        msgspec.structs.replace(ASKED, weak=(WeakColumn(name="City", weakness="missing", reason=f"{site} is down"),))
        for site in ("a.example", "b.example")
    ]
    assert hash_pattern_request(weak[0], "m") == hash_pattern_request(weak[1], "m")


async def test_patterns_are_kept_under_their_key(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'x.db'}") as store:
        kept = PatternCache(store.cache)
        assert await kept.get("k") is None
        await kept.set("k", ("%entity founded", "%entity {Country}"))
        assert await kept.get("k") == ("%entity founded", "%entity {Country}")


def test_what_a_person_said_of_a_cell_is_told_where_new_patterns_are_planned() -> None:
    again = msgspec.structs.replace(ASKED, avoid=("%entity city",), sample=Subject(name="Borealis"))
    noted = msgspec.structs.replace(again, notes={"City": "A person flagged 'Paris': they moved"})
    assert "Note on City: A person flagged 'Paris': they moved" in PlanPatterns().prompt(noted).text
    assert "What they brought" not in PlanPatterns().prompt(noted).text, "nothing is known of it"
    assert hash_pattern_request(noted, "m") != hash_pattern_request(again, "m")


def test_the_rule_tries_another_name_of_a_weak_column_and_never_the_same_again() -> None:
    city = Field(name="Headquarters", question="Where is the headquarters of {Company}?")
    first = PlanPatterns().fallback(PatternsToPlan(key="Company", fields=(city,)))
    tried = list(first)
    for attempt in (2, 3):
        asked = PatternsToPlan(key="Company", fields=(city,), attempt=attempt, avoid=tuple(tried))
        (new,) = PlanPatterns().fallback(asked)
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
