"""Rows with short texts share a model call; each is checked against its own text."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_offer

from tablewright.domain.model import Field
from tablewright.domain.run import Usage
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.choose_pages import ChoosePages, Offer, pages_for_row
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.settings import Settings
from tablewright.strategies import request_batcher
from tablewright.strategies.request_batcher import build_shared_prompt, split_usage
from tests.answering import ROW, Answering, Cells, columns, form, is_packed, said, text_of
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, running_endpoint
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill

NAMES = ("Acme", "Borealis", "Cobalt", "Dunmore")
BOSSES = {"Acme": "Ann Lee", "Borealis": "Bo Rask", "Cobalt": "Cy Tern", "Dunmore": "Di Vane"}
CEO = "CEO=Who is the chief executive of {Company}?"
TABLE = "Company\n" + "".join(f"{name} Works\n" for name in NAMES)


def page(name: str, more: str = "") -> Page:
    return Page(title=f"{name} Works", body=f"<p>{name} Works makes rotors. {BOSSES[name]} runs the show. {more}</p>")


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web({f"/{name}": page(name) for name in NAMES}) as running:
        for name, each in running.pages.items():
            each.found_by = name[1:].lower()
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        running.otherwise = reading
        yield running


def settings_of(web: SmallWeb, model: Endpoint, home: Path, **settings: str) -> Settings:
    thinking = {"model": "openai:gpt-4o-mini", "model_base_url": model.url, "model_api_key": "k", "attempts": "1"}
    return replace(web.settings(home), **(thinking | settings))


def boss_in(text: str) -> Cells:
    found = re.search(r"rotors\. (\w+ \w+) runs the show", text)
    assert found, text
    return {"CEO": [said(found[1], f"{found[1]} runs the show")]}


# Reads rightly, one row or several.
reading = Answering(boss_in)


def rows_in(asked: Asked) -> list[Cells]:
    """What a good reader finds for each of the rows that are asked together."""
    return [boss_in(text) for text in ROW.split(text_of(asked))[1:]]


def together(rows: Sequence[Cells]) -> Reply:
    return answer({f"row {place}": {"texts": [], "cells": cells} for place, cells in enumerate(rows, start=1)})


def is_shared_reading(asked: Asked) -> bool:
    return is_packed(asked) and bool(columns(asked))


def calls(model: Endpoint) -> list[list[str]]:
    """Of each reading its rows, or its columns where a row is read alone."""
    return [list(form(asked)) if is_packed(asked) else columns(asked) for asked in model.asked if columns(asked)]


async def test_rows_with_short_texts_are_read_in_one_call(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    _, operations, usage = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO)
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())
    assert calls(model) == [["row 1", "row 2", "row 3", "row 4"]]
    for operation, name in zip(operations, NAMES, strict=True):
        assert operation.cell.evidence[0].origin == web.url(f"/{name}")
    assert usage.llm_calls == 2, "a plan for the table and a reading for the four"
    assert sum(operation.cell.cost for operation in operations) == pytest.approx(usage.cost_usd)
    assert max(operation.cell.cost for operation in operations[1:]) > 0, "every row bears its share"


async def test_rows_are_spread_evenly_over_no_more_calls_than_they_need(
    web: SmallWeb, model: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_batcher, "LINGER_SECONDS", 60.0)  # rows on their way come, however slow the machine is
    names = [f"Firm{number}" for number in range(12)]
    web.pages = {
        f"/{name}": Page(
            title=f"{name} Works", body=f"<p>{name} makes rotors. Ann Lee runs the show.</p>", found_by=name.lower()
        )
        for name in names
    }
    table = "Company\n" + "".join(f"{name} Works\n" for name in names)
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, table, CEO)
    assert {operation.cell.value for operation in operations} == {"Ann Lee"}
    assert [len(call) for call in calls(model)] == [6, 6]


async def test_what_a_neighbour_s_text_says_does_not_land_in_a_row(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    def mixing(asked: Asked) -> Reply:
        if not is_shared_reading(asked):
            return reading(asked)
        rows = rows_in(asked)
        return together([rows[1], rows[0], *rows[2:]])

    model.otherwise = mixing
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO)
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())
    assert calls(model) == [["row 1", "row 2", "row 3", "row 4"], ["CEO"], ["CEO"]], "the two that failed, alone"


async def test_a_neighbour_s_answer_does_not_count_because_its_words_stand_in_a_row_s_own_text_too(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages["/Borealis"] = replace(page("Borealis", "Ann Lee once visited."), found_by="borealis")

    def mixing(asked: Asked) -> Reply:
        if not is_shared_reading(asked):
            return reading(asked)
        texts = ROW.split(text_of(asked))[1:]
        return together([boss_in("rotors. Ann Lee runs the show" if "Borealis" in text else text) for text in texts])

    model.otherwise = mixing
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO)
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())


async def test_an_answer_bought_in_a_pack_is_found_by_a_run_with_other_neighbours(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = settings_of(web, model, tmp_path)
    await fill(settings, tmp_path, TABLE, CEO)
    model.asked.clear()
    _, operations, usage = await fill(settings, tmp_path, "Company\nCobalt Works\nAcme Works\n", CEO)
    assert [operation.cell.value for operation in operations] == ["Cy Tern", "Ann Lee"]
    assert (usage.llm_calls, model.asked) == (0, [])


async def test_a_long_text_is_read_alone(
    web: SmallWeb, model: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_batcher, "TEXT_LIMITS", replace(TEXT_LIMITS, shared_call_parts=60))
    web.pages["/Acme"] = replace(page("Acme", "The chief executive says hello. " * 60), found_by="acme")
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO)
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())
    assert sorted(calls(model), key=len) == [["CEO"], ["row 1", "row 2", "row 3"]]


async def test_rows_can_be_asked_each_alone(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO, rows_a_call="1")
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())
    assert calls(model) == [["CEO"]] * 4


async def test_a_pack_that_a_model_cannot_answer_costs_no_row(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.otherwise = lambda asked: answer("no idea") if is_packed(asked) else reading(asked)
    _, operations, _ = await fill(settings_of(web, model, tmp_path), tmp_path, TABLE, CEO)
    assert [operation.cell.value for operation in operations] == list(BOSSES.values())


def test_a_result_of_several_rows_is_listed_once() -> None:
    both, own = Offer(origin="http://list.example/", title="All", snippet="Acme"), Offer("http://a.example/", "A", "x")
    other = replace_offer(both, snippet="Bora")
    task = pages_for_row(Subject(name="Acme"), (Field(name="CEO"),))
    prompts = [ChoosePages().prompt(task.among(offers)) for offers in ([both], [own, both], [other])]
    text = build_shared_prompt(tuple(prompts)).text
    assert [line for line in text.split("\n") if line.startswith("[")] == [
        "[1] All — http://list.example/ — Acme",
        "[1] A — http://a.example/ — x",
        "[2] [1] of ROW 1",
        "[1] [1] of ROW 1 — Bora",
    ]
    assert "[3] of ROW 1" in build_shared_prompt(tuple(prompts)).instructions


def test_what_a_pack_took_is_shared_to_the_last_token() -> None:
    used = Usage(llm_calls=1, input_tokens=403, cached_tokens=202, output_tokens=41, cost_usd=0.04)
    parts = split_usage(used, 4)
    assert [part.input_tokens for part in parts] == [103, 100, 100, 100]
    assert sum(parts[1:], parts[0]) == used


async def test_a_model_that_cannot_read_several_rows_at_once_is_soon_asked_for_each_alone(
    web: SmallWeb, model: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_batcher, "LINGER_SECONDS", 60.0)  # rows on their way come, however slow the machine is

    def muddled(asked: Asked) -> Reply:
        if not is_shared_reading(asked):
            return reading(asked)
        return together([{"CEO": [said("Nobody", "nothing")]} for _ in form(asked)])

    model.otherwise = muddled
    names = [f"Firm{number}" for number in range(20)]
    web.pages = {
        f"/{name}": Page(
            title=f"{name} Works",
            body=f"<p>{name} Works makes rotors. Ann Lee{name[4:]} runs the show.</p>",
            found_by=name.lower(),
        )
        for name in names
    }
    table = "Company\n" + "".join(f"{name} Works\n" for name in names)
    # What is in flight at once is asked before the first answer fails: three calls.
    settings = settings_of(web, model, tmp_path, concurrency="3")
    _, operations, _ = await fill(settings, tmp_path, table, CEO)
    assert all(operation.cell.value == f"Ann Lee{place}" for place, operation in enumerate(operations))
    assert 1 <= sum("row 1" in call for call in calls(model)) <= 3
