"""Finding rows: lists on small webs, read by a model that answers as it is told, and without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tablewright.domain.edits import RemoveRow
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.listing import FoundRows, Listing, ListPlan, ListSource, Mention
from tablewright.domain.model import Evidence, Field, Table
from tablewright.domain.text import cell_text
from tablewright.errors import ModelError, NotFound, SearchError, UsageError
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.workflows.find.entities import (
    group_mentions,
    label_mention,
    make_entity_cells,
    mention_evidence,
    put_name_first,
)
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, refusal, running_endpoint
from tests.operating import add_documents, begin_find, find_rows, found_rows, remove_documents, start_find
from tests.pages import Page, SmallWeb, small_web
from tests.patience import PATIENCE

MILLS = "Wind mills of the coast with at least 3 floors"


def table(*rows: str) -> str:
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.split(' | '))}</tr>" for row in rows[1:])
    head = "".join(f"<th>{cell}</th>" for cell in rows[0].split(" | "))
    return f"<table><tr>{head}</tr>{lines}</table>"


COAST = table("Mill | Town | Floors", "Old Kate | Sandby | 4", "Long Ann | Saltholm | 2", "De Kraai | Sandby | ")
REGISTER = table(
    "Name | Floors | Owner", "Old Kate | 4 | the parish", "De Kraai | 3 | J. Vos", "Grey Sister | 5 | a bank"
)
PAGES = {
    "/coast": Page("Mills of the coast", f"<p>All wind mills of the coast.</p>{COAST}"),
    "/kraai": Page("De Kraai", "<p>De Kraai is a wind mill in Sandby. It has 3 floors.</p>"),
}
OTHERS = {"/register": Page("Register of wind mills", f"<p>Mills that are listed.</p>{REGISTER}")}


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web(PAGES) as here, small_web(OTHERS) as there:
        here.others.append(there)
        yield here


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        running.otherwise = Reader()
        yield running


class Reader:
    """A model that plans mills, opens every list and maps the columns that it sees in the header."""

    def __init__(self, tokens: int = 10, **replies: Callable[[str], Any]) -> None:
        """`tokens` are what each request counts for."""
        self.tokens = tokens
        self.replies = {
            "ListReply": lambda _: PLAN,
            "Choice": lambda text: {"numbers": list(range(1, text.count("http://") + 1))},
            "ListsReply": mapped,
            "NextSearches": lambda _: {"queries": []},
            "Patterns": lambda _: {"patterns": ["%entity"]},
            "ValueGroups": lambda _: {"groups": []},
        } | replies
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        name = asked.body["response_format"]["json_schema"]["name"]
        text = "\n".join(message["content"] for message in asked.body["messages"])
        self.asked.append(name)
        if name in self.replies:
            return answer(self.replies[name](text), read=self.tokens)
        return answer(read_floors(text, asked.body["response_format"]["json_schema"]["schema"]))


def column(name: str, type: str = "text", question: str = "") -> dict[str, str]:
    return {"name": name, "type": type, "question": question, "unit": ""}


PLAN = {
    "things": "wind mills of the coast",
    "columns": [column("Name"), column("Floors", "number", "How many floors does {Name} have?")],
    "identity": ["Name"],
    "conditions": [{"column": "Floors", "operator": ">=", "values": ["3"]}],
    "places": "Registers of mills.",
    "queries": ["wind mills list", "register of mills"],
    "say": "",
}


def mapped(text: str) -> dict[str, Any]:
    """Each table of the page, by the words of its header."""
    lines = [line.partition("] ") for line in text.split("\n") if line.startswith("[")]
    rows = {int(number[1:]): cells.split(" | ") for number, _, cells in lines if " | " in cells}
    if not rows:
        return {"tables": [], "things": [], "next": []}
    first = min(rows)
    ours = {"Mill": "Name", "Name": "Name", "Floors": "Floors"}
    columns = [
        {"column": ours[cell], "cell": place, "unit": ""}
        for place, cell in enumerate(rows[first], start=1)
        if cell in ours
    ]
    run = {"first": first + 1, "last": max(rows), "columns": columns, "same": [], "without": []}
    return {"tables": [run], "things": [], "next": []}


def read_floors(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The answer for a row, or several: three floors where a page says so."""
    quote = "It has 3 floors."
    says = quote in text
    cells = {
        "Floors": [
            {
                "value": "3",
                "basis": "stated",
                "quotes": [{"text": 1, "quote": quote}],
                "calculation": "",
                "alternatives": [],
            }
        ]
        if says
        else []
    }
    row = {"texts": [{"text": 1, "same_row": "same", "reason": "its own page"}], "cells": cells}
    return dict.fromkeys(schema["properties"], row) if "row 1" in schema["properties"] else row


def settings(web: SmallWeb, endpoint: Endpoint | None, home: Path, **more: str) -> Settings:
    given = web.settings(home)
    asks = {"model": "openai:m", "model_base_url": endpoint.url, "model_api_key": "x"} if endpoint else {}
    return replace(given, attempts="1", **asks, **more)


async def found(app: Services, question: str = MILLS, **options: Any) -> tuple[FoundRows, Table]:
    fill = options.pop("fill", True)
    planned = await begin_find(app, question, **options)
    rows = await find_rows(app, planned.table_id, fill=fill)
    return rows, await app.load(planned.table_id)


def names(table: Table) -> list[str]:
    return [cell_text(row.cell(table.key_field)) for row in table.rows]


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_rows_of_several_lists_become_one_table_with_the_line_of_each_as_evidence(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, mills = await found(app)
        kate = next(row for row in mills.rows if cell_text(row.cell("Name")) == "Old Kate")
        quotes = [each.quote for each in kate.cell("Floors").evidence]
        texts = [await app.stored_text(each.content_hash) for each in kate.cell("Floors").evidence]
    assert sorted(names(mills)) == ["De Kraai", "Grey Sister", "Old Kate"]
    assert quotes == ["Old Kate | Sandby | 4", "Old Kate | 4 | the parish"]
    assert all(quote in (text or "") for quote, text in zip(quotes, texts, strict=True))
    assert kate.cell("Floors").value == 4
    assert (kate.cell("Floors").confidence or 0) > 0.95
    assert result.status == "done"


def test_of_a_thing_in_prose_the_line_with_the_value_is_its_first_evidence() -> None:
    named, stated = (Evidence(origin="http://a.example/", quote=quote) for quote in ("Old Kate", "Four floors."))
    sighting = Mention(name="Old Kate", evidence=named, values={"Floors": "4"}, elsewhere={"Floors": stated})
    assert mention_evidence(Field(name="Floors", type="number"), "4", sighting) == (stated, named)
    in_row = Mention(name="Old Kate", evidence=stated, values={"Floors": "4"}, elsewhere={"Floors": named})
    assert mention_evidence(Field(name="Floors", type="number"), "4", in_row) == (stated, named)


async def test_a_list_that_two_addresses_lead_to_is_read_once(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    moved = Page("Wind mills", "", status=301, headers={"Location": "/coast"}, snippet="All wind mills of the coast.")
    web.pages = {"/mills": moved, **PAGES}
    reader = Reader()
    endpoint.otherwise = reader
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, _ = await found(app, fill=False)
        listing = await app.store.listings.get(result.table_id)
    assert {source.detail for source in listing.sources} == {"", f"the same page as {web.url('/coast')}"}
    assert reader.asked.count("ListsReply") == len(listing.sources) - 1
    assert sorted(result.read) == sorted(source.origin for source in listing.sources)


async def test_two_names_are_one_thing_where_the_model_says_so(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    renamed = REGISTER.replace("De Kraai", "The Crow (Kraai mill)")
    web.others[0].pages["/register"] = Page("Register of wind mills", renamed)

    def grouped(text: str) -> dict[str, Any]:
        numbers = [int(line[1 : line.index("]")]) for line in text.split("\n") if "Kraai" in line and line[0] == "["]
        return {"groups": [{"name": "De Kraai", "numbers": numbers}]}

    for groups, expected in ((grouped, 3), (lambda _: {"groups": []}, 4)):
        endpoint.otherwise = Reader(ValueGroups=groups)
        async with Services.open(settings(web, endpoint, tmp_path / str(expected))) as app:
            result, _ = await found(app)
        assert result.rows == expected


def sighted(page: str, name: str, season: str) -> ListSource:
    origin = f"http://{page}.example/"
    line = Evidence(origin=origin, quote=f"{name} | {season}", domain=f"{page}.example")
    return ListSource(origin=origin, sightings=(Mention(name=name, evidence=line, values={"Season": season}),))


def test_whether_rows_of_two_pages_are_one_is_the_models_word_though_their_cells_are_worded_differently() -> None:
    fields = (Field(name="Crew"), Field(name="Season"))
    plan = ListPlan(question="regattas", things="regattas", fields=fields, identity=("Crew", "Season"))
    sources = (sighted("a", "Sandby Rowers", "Spring regatta"), sighted("b", "Rowers of Sandby", "Regatta in spring"))
    labels = tuple(label_mention(source.sightings[0], plan) for source in sources)
    listing = Listing(table_id="t", plan=plan, sources=sources, compared=labels)
    assert labels == ("Sandby Rowers · Spring regatta", "Rowers of Sandby · Regatta in spring")
    assert [len(thing.mentions) for thing in group_mentions(structs.replace(listing, same_names=(labels,)))] == [2]
    assert [len(thing.mentions) for thing in group_mentions(listing)] == [1, 1]
    # The row is called what the model calls it, whichever page was read first, and says what that page says.
    second = structs.replace(listing, same_names=(put_name_first(labels[1], labels),))
    (thing,) = group_mentions(second)
    cells = make_entity_cells(thing, plan, "")
    assert (thing.name, cells["Season"].value) == ("Rowers of Sandby", "Regatta in spring")
    # Asked about the names alone, the model has not compared the seasons.
    names_alone = ("Sandby Rowers", "Rowers of Sandby")
    by_name = structs.replace(listing, compared=names_alone, same_names=(names_alone,))
    assert [len(thing.mentions) for thing in group_mentions(by_name)] == [1, 1]


@pytest.mark.parametrize("first", ["Marlow Bells Inc.", "Marlow Bells Ltd"])
def test_two_firms_of_one_name_in_a_list_stay_two(first: str) -> None:
    """Another page that names one of them by its full name is of that one, whichever the list has first."""
    plan = ListPlan(question="bell founders", things="bell founders", fields=(Field(name="Name"),), identity=("Name",))
    firms = sorted(("Marlow Bells Inc.", "Marlow Bells Ltd", "Sandby Bells"), key=lambda name: name != first)

    def line(page: str, name: str) -> Mention:
        evidence = Evidence(origin=f"http://{page}.example/", quote=name, domain=f"{page}.example")
        return Mention(name=name, evidence=evidence, list_id=page)

    register = ListSource(origin="http://a.example/", sightings=tuple(line("a", name) for name in firms))
    guide = ListSource(origin="http://b.example/", sightings=(line("b", "Marlow Bells Ltd"),))
    for compared in ((), tuple(firms)):
        listing = Listing(table_id="t", plan=plan, sources=(register, guide), compared=compared)
        assert sorted(thing.name for thing in group_mentions(listing)) == sorted(firms)
    sites = {thing.name: len(thing.domains) for thing in group_mentions(listing)}
    assert sites == {"Marlow Bells Inc.": 1, "Marlow Bells Ltd": 2, "Sandby Bells": 1}


async def test_a_row_that_fails_a_condition_is_set_aside_with_the_reason_and_its_line(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, mills = await found(app)
    (aside,) = result.aside
    assert aside.name == "Long Ann"
    assert aside.reason == "Floors is 2; wanted: Floors >= 3"
    assert aside.evidence[0].quote == "Long Ann | Saltholm | 2"
    assert "Long Ann" not in names(mills)


async def test_a_cell_that_no_list_states_is_looked_for_and_decides_the_condition(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.others.clear()
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, mills = await found(app)
    kraai = next(row for row in mills.rows if cell_text(row.cell("Name")) == "De Kraai")
    assert kraai.cell("Floors").value == 3
    assert kraai.cell("Floors").evidence[0].quote == "It has 3 floors."
    assert result.undecided == ()


async def test_only_missing_columns_are_looked_for_and_the_known_cells_tell_which_row_it_is(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.others.clear()
    planned: list[str] = []

    def read_towns(text: str) -> dict[str, Any]:
        reply = mapped(text)
        for run in reply["tables"]:
            run["columns"].append({"column": "Town", "cell": 2, "unit": ""})
        return reply

    def plan_patterns(text: str) -> dict[str, Any]:
        planned.append(text)
        return {"patterns": ["%entity {Town}"]}

    columns = [*PLAN["columns"], column("Town", question="Where is {Name}?")]
    endpoint.otherwise = Reader(
        ListReply=lambda _: PLAN | {"columns": columns}, ListsReply=read_towns, Patterns=plan_patterns
    )
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        await found(app)
    (pattern,) = planned
    assert "- Floors (number)" in pattern
    assert "- Town (text)" not in pattern
    assert "Town: Sandby" in pattern
    read = [str(asked.body["messages"][-1]["content"]) for asked in endpoint.asked if "RowReply" in str(asked.body)]
    assert "Town: Sandby" in read[-1]


async def test_without_filling_a_row_of_which_a_condition_is_not_known_stays_and_is_named(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.others.clear()
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, mills = await found(app, fill=False)
    assert names(mills) == ["Old Kate", "De Kraai"]
    assert [(each.name, each.reason) for each in result.undecided] == [("De Kraai", "Floors was not looked for yet")]


async def test_completeness_is_estimated_only_from_sites_that_share_enough(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, _ = await found(app)
    assert result.estimate is not None
    assert result.estimate.high > result.estimate.found
    assert "2 independent sites" in result.completeness
    web.others.clear()
    async with Services.open(settings(web, endpoint, tmp_path / "again")) as app:
        result, _ = await found(app)
    assert result.estimate is None
    assert result.completeness == "How many are missing cannot be estimated: no two sites list several of them."


async def test_rows_that_were_set_aside_are_searched_for_again(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    """The first list has as many as are wanted, until its cells are known."""
    given = settings(web, endpoint, tmp_path)
    register = web.others.pop()
    web.pages["/coast"] = Page("Mills of the coast", table("Mill | Town", "De Kraai | Sandby"))
    web.pages["/kraai"] = Page("De Kraai", "<p>De Kraai is a wind mill in Sandby. It has 3 floors.</p>")
    plan = {**PLAN, "conditions": [{"column": "Floors", "operator": ">", "values": ["3"]}]}
    asked = []

    def more(text: str) -> dict[str, Any]:
        asked.append(text)
        web.others.append(register)
        return {"queries": ["register of listed mills"] if len(asked) == 1 else []}

    endpoint.otherwise = Reader(ListReply=lambda _: plan, NextSearches=more)
    async with Services.open(given) as app:
        result, mills = await found(app, rows=1)
    assert names(mills) == ["Old Kate"]
    assert [each.name for each in result.aside] == ["De Kraai"]


async def test_more_goes_on_with_new_searches_and_leaves_out_what_its_owner_removed(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    given = settings(web, endpoint, tmp_path)
    register = web.others.pop()
    async with Services.open(given) as app:
        planned = await begin_find(app, MILLS)
        await find_rows(app, planned.table_id)
        kate = next(row for row in (await app.load(planned.table_id)).rows if cell_text(row.cell("Name")) == "Old Kate")
        await app.changes.edit(planned.table_id, [RemoveRow(row_id=kate.id)])
        web.others.append(register)
        endpoint.otherwise = Reader(NextSearches=lambda text: {"queries": ["listed mills"]})
        await find_rows(app, planned.table_id)
        after = names(await app.load(planned.table_id))
    assert "Grey Sister" in after
    assert "Old Kate" not in after


async def test_pages_that_were_read_are_not_read_again_after_the_model_was_away(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    reader = Reader()
    read = []

    def failing(asked: Asked) -> Reply | Any:
        name = asked.body["response_format"]["json_schema"]["name"]
        if name == "ListsReply":
            read.append(name)
            return refusal(401, "no such key")
        return reader(asked)

    endpoint.otherwise = failing
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        planned = await begin_find(app, MILLS)
        with pytest.raises(ModelError, match="could not be asked about"):
            await find_rows(app, planned.table_id)
        assert (await found_rows(app, planned.table_id)).status == "failed"
        opened = web.requests["/coast"]
        endpoint.otherwise = reader
        result = await find_rows(app, planned.table_id)
    assert result.status == "done"
    assert result.rows == 3
    assert web.requests["/coast"] == opened == 1
    assert read


async def test_an_outage_of_the_search_is_no_empty_list(web: SmallWeb, endpoint: Endpoint, tmp_path: Path) -> None:
    """Once the search answers, the same searches are made."""
    endpoint.otherwise = Reader()
    web.search_status = 503
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        planned = await begin_find(app, MILLS)
        with pytest.raises(SearchError, match="No search worked") as failed:
            await find_rows(app, planned.table_id)
        assert f"find --more {planned.table_id}" in failed.value.advice
        result = await found_rows(app, planned.table_id)
        assert result.status == "failed"
        assert set(result.failed_queries) == set(PLAN["queries"])
        web.search_status = 200
        result = await find_rows(app, planned.table_id, fill=False)
    assert (result.status, dict(result.failed_queries)) == ("done", {})
    assert result.found


async def test_a_search_that_is_stopped_keeps_what_was_found_and_goes_on(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    reading = asyncio.Event()
    reader = Reader()

    def slow(asked: Asked) -> Reply:
        if asked.body["response_format"]["json_schema"]["name"] in ("RowReply", "Rows"):
            reading.set()
            return Reply(never=True)
        return reader(asked)

    web.others.clear()
    endpoint.otherwise = slow
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        planned = await begin_find(app, MILLS)
        run_id = await start_find(app, planned.table_id)
        await asyncio.wait_for(reading.wait(), PATIENCE)
        await app.jobs.cancel(run_id)
        async for _ in app.jobs.watch(run_id):
            pass
        stopped = await found_rows(app, planned.table_id)
        endpoint.otherwise = reader
        result = await find_rows(app, planned.table_id)
    assert stopped.status == "cancelled"
    assert stopped.rows == 2
    assert result.status == "done"
    assert result.rows == 2


async def test_a_spent_budget_ends_in_a_partial_list_that_says_so(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = Reader(tokens=1_500)
    async with Services.open(settings(web, endpoint, tmp_path, budget_tokens="6000")) as app:
        planned = await begin_find(app, MILLS)
        result = await find_rows(app, planned.table_id)
    assert result.status == "partial"
    assert "cap" in result.problem or "budget" in result.problem


async def test_as_many_rows_are_placed_as_were_asked_for_and_the_rest_is_counted(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        result, mills = await found(app, rows=1)
        assert names(mills) == ["Old Kate"]  # which both sites list
        assert result.left_over == 2
        more = await find_rows(app, result.table_id, rows=10)
    assert more.rows == 3
    assert more.left_over == 0


async def test_a_plan_that_forgets_an_asked_column_goes_back_once(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    fields = [parse_field(text) for text in ("Name", "Town", "Floors:number")]
    plans = [PLAN, {**PLAN, "columns": [column("Name"), column("Town"), column("Floors", "number")]}]
    endpoint.otherwise = Reader(ListReply=lambda _: plans.pop(0))
    async with Services.open(settings(web, endpoint, tmp_path)) as app:
        planned = await begin_find(app, MILLS, fields=fields)
    assert [field.name for field in planned.plan.fields] == ["Name", "Town", "Floors"]
    said = json.dumps([asked.body["messages"] for asked in endpoint.asked])
    assert "the column 'Town' is asked for and missing." in said


# ── without a model ──────────────────────────────────────────────────────────────────────────────────────────────────


async def test_without_a_model_tables_headed_as_the_columns_are_taken_and_called_that(
    web: SmallWeb, tmp_path: Path
) -> None:
    fields = [parse_field(text) for text in ("Name", "Floors:number")]
    async with Services.open(settings(web, None, tmp_path)) as app:
        result, mills = await found(app, fields=fields, where="Floors >= 4", fill=False, question="wind mills")
    assert not result.by_model
    assert names(mills) == ["Old Kate", "Grey Sister"]
    assert [each.name for each in result.aside] == ["De Kraai"]
    assert all(row.cell("Name").confidence_label == "medium" for row in mills.rows)


async def test_prices_in_other_currencies_are_compared_at_rates_with_their_date(web: SmallWeb, tmp_path: Path) -> None:
    """What is too near to a limit for a rate that changes stays, and is named; the column's type follows from it."""
    prices = table("Name | Price", "Vane | 31 EUR", "Sail | 155 EUR", "Cap | 48 EUR", "Brake | £22", "Wheel | £90")
    web.pages["/coast"] = Page("Parts of mills", prices)
    fields, where = [parse_field("Name"), parse_field("Price")], "Price < 40 GBP"
    async with Services.open(settings(web, None, tmp_path)) as app:
        result, parts = await found(app, "mill parts", fields=fields, where=where, fill=False)
    assert names(parts) == ["Vane", "Cap", "Brake"]
    assert [each.name for each in result.aside] == ["Sail", "Wheel"]
    assert result.aside[0].reason == "Price is 155 EUR, about 128 GBP; wanted: Price < 40 GBP"
    (near,) = result.undecided
    assert near.name == "Cap"
    assert near.reason == "Price is 48 EUR, about 40 GBP, and rates change; wanted: Price < 40 GBP"
    assert result.assumed == (
        "Prices in other currencies are compared at rates of 2024-12-31, so about: 1 EUR = 0.829 GBP.",
    )


async def test_a_limit_without_a_unit_is_meant_in_the_unit_of_its_column(web: SmallWeb, tmp_path: Path) -> None:
    web.pages["/coast"] = Page("Heights of mills", table("Name | Height", "Stump | 900 cm", "Spire | 12 m"))
    fields, where = [parse_field("Name"), parse_field("Height:number(m)")], "Height > 10"
    async with Services.open(settings(web, None, tmp_path)) as app:
        result, mills = await found(app, "mill heights", fields=fields, where=where, fill=False)
    assert names(mills) == ["Spire"]
    assert [(each.name, each.reason) for each in result.aside] == [("Stump", "Height is 9 m; wanted: Height > 10")]


async def test_without_a_model_no_column_is_made_up(web: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(settings(web, None, tmp_path)) as app:
        planned = await begin_find(app, "wind mills and their owners")
    assert [field.name for field in planned.plan.fields] == ["Name"]
    assert planned.plan.conditions == ()


async def test_what_cannot_be_found_is_refused_before_anything_is_spent(web: SmallWeb, tmp_path: Path) -> None:
    async with Services.open(settings(web, None, tmp_path)) as app:
        with pytest.raises(UsageError, match="Nothing to find was given"):
            await begin_find(app, " ")
        with pytest.raises(UsageError, match="asked for twice"):
            await begin_find(app, "mills", fields=[parse_field("Name"), parse_field("name")])
        with pytest.raises(NotFound):
            await found_rows(app, "mills")
    assert web.queries == []


async def test_lists_in_documents_are_found_too_and_forgotten_with_them(tmp_path: Path) -> None:
    (tmp_path / "mills.md").write_text(
        "# Wind mills\n\n| Name | Floors |\n|---|---|\n| Old Kate | 4 |\n| Long Ann | 2 |\n"
    )
    given = Settings(home=str(tmp_path / "home"), sources="docs", search="sample")
    fields = [parse_field(text) for text in ("Name", "Floors:number")]
    async with Services.open(given) as app:
        await add_documents(app, [tmp_path / "mills.md"], workers=1)
        result, mills = await found(app, "wind mills", fields=fields, where="Floors > 3", fill=False)
        assert names(mills) == ["Old Kate"]
        assert [each.name for each in result.aside] == ["Long Ann"]
        await remove_documents(app, ["mills.md"])
        after = await found_rows(app, result.table_id)
    assert after.read == ()
    assert after.aside == ()
    assert after.found == 0


@pytest.mark.parametrize("where", ["Opened in month March", "Floors > many", "Builder = Cornish", "Floors < {Height}"])
async def test_a_condition_that_nothing_can_meet_is_refused_before_anything_is_searched(
    where: str, tmp_path: Path
) -> None:
    given = Settings(home=str(tmp_path / "home"), search="sample")
    fields = [parse_field(text) for text in ("Name", "Floors:number", "Opened:date")]
    async with Services.open(given) as app:
        with pytest.raises(UsageError):
            await begin_find(app, "wind mills", fields=fields, where=where)
