"""Lookup: search results alone, at most two searches, the snippet is the source."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.services import Services
from tablewright.settings import Settings
from tests.answering import Answering, Cells, columns, form, is_packed, said, sent
from tests.llm.endpoint import Endpoint, answer, running_endpoint
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill, notes

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


def year(text: str) -> Cells:
    """Reads the year where it is stated."""
    return {"Founded": [said("1987", "founded in 1987")]} if "founded in 1987" in text else {}


PATTERNS = ("%entity history", "%entity founding year", "%entity origins")


async def test_a_snippet_answers_and_no_page_is_opened(web: SmallWeb, tmp_path: Path) -> None:
    cells, operations, usage = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].value, usage.searches, usage.fetches) == (1987, 1, 0)
    assert web.requests["/acme"] == 0
    assert notes(operations[0], "search") == ["Searched “Acme Turbines Founded year”: 2 results."]
    assert "(search result) says 1987" in notes(operations[0], "thinking")[0]


async def test_the_snippet_is_stored_and_its_quote_can_be_looked_up(web: SmallWeb, tmp_path: Path) -> None:
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="lookup")
    (evidence,) = cells["Founded"].evidence
    assert evidence.origin == web.url("/acme")
    async with Services.open(web.settings(tmp_path)) as services:
        text = await services.stored_text(evidence.content_hash)
    assert text is not None
    assert text[evidence.start : evidence.end] == evidence.quote
    assert "founded in 1987" in evidence.quote


async def test_without_an_answer_one_other_query_is_tried_and_no_more(web: SmallWeb, tmp_path: Path) -> None:
    web.pages = {"/jobs": JOBS}
    settings = replace(web.settings(tmp_path), attempts="1")
    cells, _, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert cells["Founded"].error == "None of 1 search results says it in its snippet."
    assert usage.searches == 2
    assert len(set(web.queries)) == 2


async def test_a_model_is_asked_once_for_a_search_over_its_snippets(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = Answering(year, patterns=PATTERNS)
    cells, operations, usage = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert (cells["Founded"].value, cells["Founded"].basis) == (1987, "stated")
    assert (usage.llm_calls, usage.searches, usage.fetches) == (2, 1, 0)
    plan, reading = model.asked
    assert "patterns" in form(plan)
    assert columns(reading) == ["Founded"]
    assert "Company: Acme Turbines" in sent(reading)
    assert "| search result>>" in sent(reading)
    assert operations[0].steps[-1].detail.startswith("1987 — ")


async def test_the_next_pattern_is_searched_where_the_first_brought_nothing_and_only_new_snippets_are_read(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS, "/acme": replace(OWN, found_by="founding")}
    model.otherwise = Answering(year, patterns=PATTERNS)
    cells, operations, usage = await fill(
        replace(thinking(web.settings(tmp_path), model), attempts="1"), tmp_path, TABLE, FOUNDED, strategy="lookup"
    )
    assert cells["Founded"].value == 1987
    assert web.queries == ["Acme Turbines history", "Acme Turbines founding year"]
    assert (usage.llm_calls, len(notes(operations[0], "search"))) == (3, 2)
    last = sent(model.asked[-1])
    assert "founded in 1987" in last
    assert "Work with us" not in last, "it was read before"


async def test_a_cell_has_no_more_than_two_searches_over_all_attempts(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS}
    model.otherwise = Answering(year, patterns=PATTERNS)
    settings = replace(thinking(web.settings(tmp_path), model), attempts="3")
    cells, operations, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].reason, usage.searches) == ("not_found", 2)
    assert "RETRY ATTEMPT" not in "".join(map(sent, model.asked)), "no search is planned that may not be made"
    assert not any(note.startswith("Attempt 2") for note in notes(operations[0], "thinking"))


async def test_rows_share_a_model_call(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    names = {"Acme": 1987, "Borealis": 1990, "Cobalt": 1993}
    web.pages = {
        f"/{name}": Page(title=f"{name} Works", body=f"<p>{name} Works, founded in {year}.</p>", found_by=name.lower())
        for name, year in names.items()
    }

    def own_year(text: str) -> Cells:
        stated = re.search(r"founded in (\d{4})", text)
        return {"Founded": [said(stated[1], stated[0])]} if stated else {}

    model.otherwise = Answering(own_year, patterns=PATTERNS)
    table = "Company\n" + "".join(f"{name} Works\n" for name in names)
    settings = thinking(web.settings(tmp_path), model)
    _, operations, usage = await fill(settings, tmp_path, table, FOUNDED, strategy="lookup")
    assert [operation.cell.value for operation in operations] == list(names.values())
    assert [is_packed(asked) for asked in model.asked] == [False, True]
    assert usage.llm_calls == 2


async def test_another_attempt_searches_with_patterns_that_were_not_tried(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS, "/acme": replace(OWN, found_by="established")}
    first = Answering(year, patterns=PATTERNS[:1])
    again = Answering(year, patterns=["%entity history", "%entity established"])
    model.otherwise = lambda asked: (again if "RETRY ATTEMPT" in sent(asked) else first)(asked)
    settings = replace(thinking(web.settings(tmp_path), model), attempts="2")
    cells, _, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert cells["Founded"].value == 1987
    assert web.queries == ["Acme Turbines history", "Acme Turbines established"]


async def test_an_answer_that_no_snippet_states_is_refused_asked_again_and_left_out(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/jobs": JOBS}
    model.otherwise = Answering(lambda text: {"Founded": [said("1955", "founded in 1955")]}, patterns=PATTERNS)
    settings = replace(thinking(web.settings(tmp_path), model), attempts="1")
    cells, operations, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    problem = "the quote “founded in 1955” is not in text 1."
    assert f"It fails a check: Founded: {problem}" in sent(model.asked[2])
    assert any(problem in note and "left out" in note for note in notes(operations[0], "thinking"))
    assert problem in (cells["Founded"].error or "")
    assert len(model.asked) == 3, "the second search brought nothing new to read"


@pytest.mark.parametrize("nonsense", ["", "no json at all", '{"cells": {}, "patterns": 4}', "[1]"])
async def test_a_model_that_answers_nonsense_costs_nothing_but_its_calls(
    web: SmallWeb, model: Endpoint, tmp_path: Path, nonsense: str
) -> None:
    model.otherwise = answer(nonsense)
    settings = thinking(web.settings(tmp_path), model)
    cells, operations, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert cells["Founded"].value == 1987
    assert "Read without the model" in (cells["Founded"].error or "")
    assert any("Decided without the model." in note for note in notes(operations[0], "thinking"))
    assert usage.llm_calls <= 4


async def test_each_field_has_a_trace_of_its_own(web: SmallWeb, tmp_path: Path) -> None:
    _, operations, _ = await fill(
        web.settings(tmp_path), tmp_path, TABLE, FOUNDED, "Boss=Who leads {Company}?", strategy="lookup"
    )
    by_field = {operation.field: notes(operation, "search") for operation in operations}
    assert all("Founded" in note or "founded" in note for note in by_field["Founded"])
    assert all("Boss" in note or "leads" in note or "oss" in note for note in by_field["Boss"][:1])
    assert not set(by_field["Founded"]) & set(by_field["Boss"])


async def test_a_run_is_played_again_offline(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    settings = thinking(web.settings(tmp_path), model)
    model.otherwise = Answering(year, patterns=PATTERNS)
    first, _, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="lookup")
    bought = len(model.asked)
    again, _, usage = await fill(replace(settings, offline="yes"), tmp_path, TABLE, FOUNDED, strategy="lookup")
    assert again["Founded"].value == first["Founded"].value == 1987
    assert (len(model.asked), usage.llm_calls, usage.searches) == (bought, 0, 0)
