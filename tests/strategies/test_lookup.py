"""Lookup: search results alone, at most two searches, the snippet is the source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.app import Tablewright
from tablewright.settings import Settings

from ..models.endpoint import Asked, Endpoint, Reply, answer, refusal, running_endpoint
from ..pages import Page, SmallWeb, small_web
from .running import fill, notes

TABLE = "Company\nAcme Turbines\n"
FOUNDED = "Founded:number=What year was {Company} founded?"
OWN = Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987 by two engineers.</p>")
JOBS = Page(title="Acme Turbines jobs", body="<p>Work with us at Acme Turbines.</p>")


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web({"/acme": OWN, "/jobs": JOBS}) as running:
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running


def thinking(settings: Settings, model: Endpoint) -> Settings:
    return replace(settings, model="openai:gpt-4o-mini", model_base_url=model.url, model_api_key="k")


def call(name: str, **arguments: Any) -> Reply:
    return answer({"name": name, "arguments": arguments})


def sent(asked: Asked) -> str:
    return "\n".join(str(message["content"]) for message in asked.body["messages"])


def offered(asked: Asked) -> list[str]:
    schema = asked.body["response_format"]["json_schema"]["schema"]
    return [each["properties"]["name"]["const"] for each in schema.get("anyOf", [schema])]


async def test_a_snippet_answers_and_no_page_is_opened(web: SmallWeb, tmp_path: Path) -> None:
    cells, operations, usage = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].value, usage.searches, usage.fetches) == (1987, 1, 0)
    assert web.requests["/acme"] == 0
    assert notes(operations[0], "search") == [
        "Searched “Acme Turbines Founded year”: 2 results, 2 about Acme Turbines."
    ]
    assert "(search result) says 1987" in notes(operations[0], "thinking")[0]


async def test_the_snippet_is_stored_and_its_quote_can_be_looked_up(web: SmallWeb, tmp_path: Path) -> None:
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="lookup")
    (evidence,) = cells["Founded"].evidence
    assert evidence.origin == web.url("/acme")
    async with Tablewright.open(web.settings(tmp_path)) as tablewright:
        text = await tablewright.stored_text(evidence.content_hash)
    assert text is not None
    assert text[evidence.start : evidence.end] == evidence.quote
    assert "founded in 1987" in evidence.quote


async def test_without_an_answer_one_refined_query_is_tried_and_no_more(web: SmallWeb, tmp_path: Path) -> None:
    web.pages = {"/jobs": JOBS}
    cells, _, usage = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert cells["Founded"].error == "None of 1 search results says it in its snippet."
    assert usage.searches == 2
    assert len(set(web.queries)) == 2


async def test_a_model_sees_the_results_and_can_only_search_or_answer(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = call("answer", value="1987", quote="was founded in 1987")
    cells, operations, usage = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert cells["Founded"].value == 1987
    assert (usage.llm_calls, usage.searches, usage.fetches) == (1, 1, 0)
    (asked,) = model.asked
    assert offered(asked) == ["search_web", "answer"]
    assert "What year was Acme Turbines founded?" in sent(asked)
    assert "<<TEXT 1" in sent(asked)
    assert operations[0].steps[-1].detail.startswith("1987 — ")


async def test_a_model_may_search_once_more_and_then_must_answer(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS, "/other": Page(title="Acme Turbines history", body="<p>A long story since 1987.</p>")}
    model.replies = [call("search_web", query="Acme Turbines history since"), call("answer", value="", quote="")]
    cells, operations, usage = await fill(
        replace(thinking(web.settings(tmp_path), model), attempts="1"), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert (usage.llm_calls, usage.searches) == (2, 2)
    assert offered(model.asked[1]) == ["answer"]
    assert cells["Founded"].reason == "not_found"
    assert len(notes(operations[0], "search")) == 2


async def test_a_model_that_gives_up_is_shown_the_refined_search_before_that_counts(
    web: SmallWeb, model: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = {"url": web.url("/jobs"), "title": "Acme Turbines jobs", "content": "Work with us."}
    past = {"url": web.url("/past"), "title": "Acme Turbines: the past", "content": "It all began in 1987, they say."}
    monkeypatch.setattr(web, "found", lambda query: [jobs] if query == "Acme Turbines Founded year" else [past])
    model.replies = [call("answer", value="", quote="")]
    model.otherwise = call("answer", value="1987", quote="It all began in 1987")
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (usage.searches, usage.llm_calls) == (2, 2)
    assert "Not found so far. Read this:" in sent(model.asked[1])
    assert "It all began in 1987, they say." in sent(model.asked[1])
    assert cells["Founded"].value == 1987


async def test_a_model_may_not_search_more_than_twice_in_all(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.replies = [call("search_web", query="Acme one"), call("search_web", query="Acme two")]
    model.otherwise = call("answer", value="", quote="")
    web.pages = {"/jobs": JOBS}
    _, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert usage.searches == 2


async def test_an_answer_that_no_snippet_states_is_refused_asked_again_and_left_out(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS}
    model.otherwise = call("answer", value="1955", quote="founded in 1955")
    cells, operations, usage = await fill(
        replace(thinking(web.settings(tmp_path), model), attempts="1"), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert "no text says '1955'" in sent(model.asked[1])
    assert notes(operations[0], "thinking") == [
        "The model said “1955”, but no text says '1955'; asked again.",
        "The model said “1955”, but no text says '1955'; left out.",
    ]
    assert usage.llm_calls == 2


async def test_a_model_that_fails_leaves_the_rule_to_answer(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.otherwise = refusal(401, "bad key")
    cells, operations, _ = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert cells["Founded"].value == 1987
    assert any("The built-in rules go on." in note for note in notes(operations[0], "thinking"))


@pytest.mark.parametrize("nonsense", ["", "no json at all", '{"name": "rm", "arguments": {}}', '{"name": 3}', "[1]"])
async def test_a_model_that_answers_nonsense_costs_nothing_but_its_calls(
    web: SmallWeb, model: Endpoint, tmp_path: Path, nonsense: str
) -> None:
    model.otherwise = answer(nonsense)
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert cells["Founded"].value == 1987
    assert usage.llm_calls <= 3


async def test_without_a_result_about_the_row_no_model_is_asked(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    cells, _, usage = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, "Company\nZephyr Looms\n", FOUNDED, strategy="lookup"
    )
    assert (cells["Founded"].reason, usage.llm_calls) == ("not_found", 0)


async def test_each_field_has_a_trace_of_its_own(web: SmallWeb, tmp_path: Path) -> None:
    _, operations, _ = await fill(
        web.settings(tmp_path), tmp_path, TABLE, FOUNDED, "Boss=Who leads {Company}?", strategy="lookup"
    )
    by_field = {operation.field: notes(operation, "search") for operation in operations}
    assert all("Founded" in note or "founded" in note for note in by_field["Founded"])
    assert all("Boss" in note or "leads" in note or "oss" in note for note in by_field["Boss"][:1])
    assert not set(by_field["Founded"]) & set(by_field["Boss"])


async def test_a_run_is_played_again_offline_with_the_models_own_searches(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = thinking(web.settings(tmp_path), model)
    model.replies = [call("search_web", query="Acme Turbines engineers")]
    model.otherwise = call("answer", value="1987", quote="was founded in 1987")
    first, _, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    bought = len(model.asked)
    again, _, usage = await fill(replace(settings, offline="yes"), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert again["Founded"].value == first["Founded"].value == 1987
    assert (len(model.asked), usage.llm_calls, usage.searches) == (bought, 0, 0)
