"""Research: a path of its own through searches and pages, exploratory or comprehensive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Basis
from tablewright.domain.retrieved import Retrieved
from tablewright.errors import UsageError
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject
from tablewright.services import Services
from tablewright.strategies.exploration import Exploration, ExplorationLimits
from tablewright.strategies.investigation import RowInvestigation
from tests.answering import Answering, answers, call, form, offered, said, sent, text_of
from tests.llm.endpoint import Asked, Endpoint, Reply, answer
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill, notes
from tests.strategies.test_lookup import model, thinking

__all__ = ["model"]  # the fixture

TABLE = "Company\nAcme Turbines\n"
FOUNDED = "Founded:number=What year was {Company} founded?"
FILLER = "<p>" + "The works stand by the river and make turbines of every size. " * 60 + "</p>"


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    """Three sites; the last contradicts the others."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(
            small_web(
                {
                    "/acme": Page(
                        title="Acme Turbines",
                        body=f"{FILLER}<p>Acme Turbines was founded in 1987.</p>",
                        snippet="Acme Turbines makes turbines.",
                    )
                }
            )
        )
        second = await stack.enter_async_context(
            small_web(
                {"/register": Page(title="Acme Turbines | Register", body="<p>Founded: 1987</p>", snippet="A record.")}
            )
        )
        third = await stack.enter_async_context(
            small_web(
                {"/blog": Page(title="Acme Turbines: a visit", body="<p>Founded: 1978</p>", snippet="We went there.")}
            )
        )
        first.others = [second, third]
        yield first


STATED = answers(said("1987", "was founded in 1987"))
NOTHING = answers()


def steering(*turns: Reply, otherwise: Reply = NOTHING) -> Callable[[Asked], Reply]:
    """Plans and rates as asked, and takes these turns on its way, then the last again and again."""
    planning = Answering(lambda text: {}, patterns=["%entity Founded year", "%entity history", "%entity profile"])
    left = list(turns)

    def reply(asked: Asked) -> Reply:
        if {"patterns", "rating", "checked", "cells"} & set(form(asked)):
            return planning(asked)
        return left.pop(0) if left else otherwise

    return reply


def turns(model: Endpoint) -> list[Asked]:
    """What the model was asked on its way."""
    return [asked for asked in model.asked if "answer" in offered(asked)]


async def test_exploratory_reads_until_it_is_found(web: SmallWeb, tmp_path: Path) -> None:
    cells, operations, usage = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert usage.searches + usage.fetches <= 5
    assert notes(operations[0], "fetch")[0].startswith("Read “Acme Turbines")
    assert not notes(operations[0], "coverage")


async def test_comprehensive_asks_from_three_angles_compares_and_rates(web: SmallWeb, tmp_path: Path) -> None:
    cells, operations, usage = await fill(
        replace(web.settings(tmp_path), attempts="1"),
        tmp_path,
        TABLE,
        FOUNDED,
        strategy="research",
        thoroughness="comprehensive",
    )
    cell = cells["Founded"]
    assert cell.value == 1987
    assert usage.searches >= 3
    assert usage.fetches >= 3
    assert len(set(notes(operations[0], "search"))) >= 3
    assert [(other.value, other.evidence[0].quote) for other in cell.conflict] == [(1978, "Founded: 1978")]
    (coverage,) = notes(operations[0], "coverage")
    assert coverage.startswith(("high", "medium", "low"))
    assert "sources disagree on Founded" in coverage
    assert "says 1978" in operations[0].steps[-1].detail


async def test_what_cannot_be_found_is_looked_for_within_the_limit(web: SmallWeb, tmp_path: Path) -> None:
    cells, _, usage = await fill(
        replace(web.settings(tmp_path), attempts="1"),
        tmp_path,
        TABLE,
        "Boss=Who is the chief executive of {Company}?",
        strategy="research",
        max_steps="4",
    )
    assert (cells["Boss"].value, cells["Boss"].reason) == (None, "not_found")
    assert usage.searches + usage.fetches <= 4
    assert "Read without finding it" in (cells["Boss"].error or "")


@pytest.mark.parametrize(("name", "value"), [("thoroughness", "sloppy"), ("max_steps", "99"), ("depth", "3")])
async def test_a_parameter_that_makes_no_sense_is_refused_before_anything_is_spent(
    web: SmallWeb, tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(UsageError, match=name):
        await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, strategy="research", **{name: value})
    assert not web.queries


async def test_a_model_opens_the_page_of_its_choice_and_sees_it_whole(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = steering(call("fetch_page", number=1), STATED)
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert (cells["Founded"].value, cells["Founded"].basis) == (1987, "stated")
    assert (usage.llm_calls, usage.searches, usage.fetches) == (3, 1, 1)
    first, second = turns(model)
    assert offered(first) == ["search_web", "fetch_page", "answer"]
    assert "Company: Acme Turbines" in sent(first)
    shown = second.body["messages"][-1]["content"]
    assert "Acme Turbines was founded in 1987." in shown
    assert shown.count("The works stand by the river") == 60


@pytest.mark.parametrize("found_by", ["", "nothing"], ids=["found itself too", "found by the redirect alone"])
async def test_a_result_that_leads_to_another_address_is_read_once_and_cited_there(
    found_by: str, web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    moved = Page(title="Acme Turbines", body="", status=301, headers={"Location": "/acme"}, snippet="Acme Turbines.")
    web.pages, web.others = {"/home": moved, "/acme": replace(web.pages["/acme"], found_by=found_by)}, []
    model.otherwise = steering(call("fetch_page", number=1), call("fetch_page", number=2), STATED)
    settings = thinking(web.settings(tmp_path), model)
    cells, operations, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert {each.origin for each in cells["Founded"].evidence} == {web.url("/acme")}
    assert len(notes(operations[0], "fetch")) == 1


async def test_an_answer_from_memory_is_refused_and_left_out(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    web.pages, web.others = {"/acme": Page(title="Acme Turbines", body="<p>All about turbines.</p>")}, []
    model.otherwise = steering(otherwise=answers(said("1955", "everybody knows it was founded in 1955")))
    settings = replace(thinking(web.settings(tmp_path), model), attempts="1")
    cells, operations, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value is None
    problem = "the quote “everybody knows it was founded in 1955” is not in text 1."
    assert problem in (cells["Founded"].error or "")
    told = [note for note in notes(operations[0], "thinking") if problem in note]
    assert told[0].startswith("The model's answer fails a check, asked again")
    assert told[-1].startswith("The model's answer fails a check, left out")


async def test_giving_up_at_once_is_answered_with_another_page(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.otherwise = steering(NOTHING, STATED)
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert usage.fetches >= 1
    assert "Not found so far. Read this:" in sent(turns(model)[1])


async def test_comprehensive_makes_the_model_compare_before_its_answer_counts(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    both = answers(said("1987", "Founded: 1987", text=2), said("1978", "Founded: 1978", text=3))
    model.otherwise = steering(call("fetch_page", number=2), answers(said("1987", "Founded: 1987", text=2)), both)
    cells, operations, usage = await fill(
        replace(thinking(web.settings(tmp_path), model), attempts="1"),
        tmp_path,
        TABLE,
        FOUNDED,
        strategy="research",
        thoroughness="comprehensive",
    )
    assert cells["Founded"].value == 1987
    assert usage.searches >= 3
    assert usage.fetches == 3
    said_back = [str(asked.body["messages"][-1]["content"]) for asked in turns(model)]
    compared = next(text for text in said_back if "You said '1987'. Compare:" in text)
    assert compared.startswith("You said '1987'"), "nothing failed, so it is not called an error"
    assert [other.value for other in cells["Founded"].conflict] == [1978]
    assert notes(operations[0], "coverage")[0].startswith("medium: 1 of 1 answered")


async def test_an_answer_whose_coverage_is_low_is_weak_and_looked_for_again(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    judged: list[str] = []
    steered = steering(otherwise=answers(said("1987", "Founded: 1987", text=2)))

    def rate(asked: Asked) -> Reply:
        if "rating" not in form(asked):
            return steered(asked)
        judged.append(text_of(asked))
        return answer({"rating": "low", "weak": ["Founded"]})

    model.otherwise = rate
    settings = replace(thinking(web.settings(tmp_path), model), attempts="2")
    cells, operations, _ = await fill(
        settings, tmp_path, TABLE, FOUNDED, strategy="research", thoroughness="comprehensive"
    )
    assert (cells["Founded"].value, cells["Founded"].attempt) == (1987, 2)
    assert "What year was {Company} founded?" in judged[0]
    assert "“Founded: 1987”" in judged[0]
    assert (cells["Founded"].confidence or 1) < 0.6
    assert "judged to answer the question hardly or not" in (cells["Founded"].error or "")
    assert any(note.startswith("Attempt 2") for note in notes(operations[0], "thinking"))


KNOWN_FOR = "Known for=What is {Company} known for?"


async def test_a_text_put_together_from_several_pages_stands_on_quotes_of_each(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages["/acme"] = Page(title="Acme Turbines", body="<p>Its rotors turn in half of the dams of the north.</p>")
    web.others[0].pages["/register"] = Page(title="Acme Turbines | Award", body="<p>The most silent turbine.</p>")
    text = "Rotors for dams in the north, and very quiet turbines."
    whole = {
        "value": text,
        "basis": "judged",
        "calculation": "",
        "alternatives": [],
        "quotes": [
            {"text": 1, "quote": "Its rotors turn in half of the dams of the north."},
            {"text": 2, "quote": "The most silent turbine."},
        ],
    }
    model.otherwise = steering(call("fetch_page", number=1), call("fetch_page", number=2), otherwise=answers(whole))
    cells, operations, _ = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, KNOWN_FOR, strategy="research"
    )
    cell = cells["Known for"]
    assert (cell.value, cell.basis, cell.confidence) == (text, "judged", 0.82)
    assert [evidence.origin for evidence in cell.evidence] == [web.url("/acme"), web.others[0].url("/register")]
    assert any(note.startswith("The quotes support") for note in notes(operations[0], "thinking"))


async def test_a_model_can_open_only_what_a_search_returned(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.otherwise = steering(call("fetch_page", number=77), call("fetch_page", number=1), otherwise=STATED)
    cells, _, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert "There is no result 77." in sent(turns(model)[1])


async def test_a_model_that_only_ever_searches_comes_to_an_end(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    count = 0

    def search_on(asked: Asked) -> Reply:
        nonlocal count
        if "answer" not in offered(asked):
            return steering()(asked)
        count += 1
        return call("search_web", query=f"Acme Turbines {count}")

    model.otherwise = search_on
    settings = replace(thinking(web.settings(tmp_path), model), attempts="1")
    cells, operations, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research")
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert usage.searches + usage.fetches <= 5
    assert len(turns(model)) <= 7
    assert any("did not come to an answer" in note for note in notes(operations[0], "thinking"))


@pytest.mark.parametrize("steps", [1, 2, 4])
async def test_searches_and_pages_together_are_no_more_than_max_steps(
    web: SmallWeb, model: Endpoint, tmp_path: Path, steps: int
) -> None:
    model.otherwise = steering(
        *(call("fetch_page", number=number) for number in (1, 2, 3)), call("search_web", query="Acme Turbines news")
    )
    settings = replace(thinking(web.settings(tmp_path), model), attempts="1")
    _, _, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research", max_steps=str(steps))
    assert usage.searches + usage.fetches == steps


async def test_another_attempt_knows_what_was_searched_and_opens_other_pages(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages["/acme"].found_by = "established"
    web.others[0].pages["/register"].body = "<p>Nothing yet.</p>"
    web.others.pop()
    first = steering(call("fetch_page", number=1))
    again = steering(call("fetch_page", number=1), otherwise=STATED)
    retried = Answering(lambda text: {}, patterns=["%entity established"])

    def reply(asked: Asked) -> Reply:
        if "RETRY ATTEMPT" in sent(asked):
            return retried(asked)
        return (again if "Searched before without success" in sent(asked) else first)(asked)

    model.otherwise = reply
    settings = replace(thinking(web.settings(tmp_path), model), attempts="2")
    cells, _, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research", max_steps="2")
    assert cells["Founded"].value == 1987
    assert web.others[0].requests["/register"] == web.requests["/acme"] == 1
    assert web.queries == ["Acme Turbines Founded year", "Acme Turbines established"]


async def test_a_model_that_asks_for_the_same_again_and_again_must_answer(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    def repeat(asked: Asked) -> Reply:
        if "answer" not in offered(asked):
            return steering()(asked)
        if "search_web" in offered(asked):
            return call("search_web", query="Acme Turbines Founded year")
        return STATED

    model.otherwise = repeat
    cells, _, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert len(turns(model)) <= 5


async def test_with_cascade_a_model_is_asked_only_where_the_reader_is_not_sure(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = steering()
    settings = replace(thinking(web.settings(tmp_path), model), cascade="yes", attempts="1")
    cells, _, _ = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research")
    assert (cells["Founded"].value, turns(model)) == (1987, [])
    cells, _, _ = await fill(settings, tmp_path, TABLE, "Boss=Who leads {Company}?", strategy="research")
    assert cells["Boss"].value is None
    assert turns(model)


async def test_every_column_that_a_question_names_is_searched_for(web: SmallWeb, tmp_path: Path) -> None:
    table = "Company,Market\nAcme Turbines,France\nAcme Turbines,Japan\n"
    await fill(
        web.settings(tmp_path),
        tmp_path,
        table,
        "Seats:number=How many seats has {company} in {market}?",
        strategy="research",
    )
    for market in ("France", "Japan"):
        assert any(query.startswith("Acme Turbines") and market in query for query in web.queries)
    assert all("France" in query or "Japan" in query for query in web.queries)


async def test_a_page_that_refuses_is_said_and_another_is_tried(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    web.pages["/acme"].status = 403
    model.otherwise = steering(
        call("fetch_page", number=1), call("fetch_page", number=2), otherwise=answers(said("1987", "Founded: 1987"))
    )
    cells, operations, _ = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research"
    )
    assert cells["Founded"].value == 1987
    assert any(web.url("/acme") in note for note in notes(operations[0], "error"))


async def test_a_row_is_skipped_only_if_what_the_question_is_about_is_empty(web: SmallWeb, tmp_path: Path) -> None:
    _, operations, _ = await fill(
        web.settings(tmp_path),
        tmp_path,
        "Product,Maker\nTurbine,\n,Acme Turbines\n",
        "Founded:number=What year was {Maker} founded?",
        strategy="research",
    )
    assert [(operation.row_id, operation.cell.value) for operation in operations] == [(2, 1987)]


async def test_limits_hold_for_several_calls_in_one_turn(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        tools = await services.open_tools(("web", "model"))
        assert tools.web is not None
        field = parse_field(FOUNDED)
        subject = Subject(name="Acme Turbines", column="Company")
        investigation = RowInvestigation(subject, (field,), tools, tools.web, lambda step, field="": None)
        await investigation.search("Acme")
        exploration = Exploration(investigation, field, (), ExplorationLimits(steps=2, searches=2, pages=0))
        for query in ("Acme one", "Acme two"):
            told = await exploration.search(query)
        assert told == "No more searches. Answer from what you have."
        assert (len(investigation.queries), await exploration.open(1)) == (
            2,
            "No more pages. Answer from what you have.",
        )


@pytest.mark.parametrize(("basis", "value"), [("stated", "1987"), (None, None)], ids=["a model's", "the rules'"])
async def test_an_unsure_answer_of_a_model_stays_if_the_model_fails_later(
    web: SmallWeb, model: Endpoint, tmp_path: Path, basis: Basis | None, value: str | None
) -> None:
    async with Services.open(thinking(web.settings(tmp_path), model)) as services:
        tools = await services.open_tools(("web", "model"))
        assert tools.web is not None
        field, page = parse_field(FOUNDED), Retrieved(origin="http://a.example", text="Acme began in 1987.")
        investigation = RowInvestigation(
            Subject(name="Acme", column="Company"), (field,), tools, tools.web, lambda step, field="": None
        )
        read = Candidate(
            field="Founded", value="1987", source=0, start=0, end=len(page.text), score=0.55, how="text", basis=basis
        )
        investigation.take(field, [read], [page])
        investigation.degrade(field, "It did not answer.")
        finding = await investigation.finding(field)
    assert finding.value == value
    assert [other.value for other in finding.conflict] == ([] if value else [1987])


async def test_comprehensive_compares_three_sites_from_three_angles_however_few_are_planned_or_opened(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages |= {
        f"/{name}": Page(title=f"Acme Turbines {name}", body=f"<p>Acme Turbines, {name}: founded in 1987.</p>")
        for name in ("news", "history", "jobs")
    }
    steered = steering(call("fetch_page", number=1), call("fetch_page", number=2), otherwise=STATED)
    planning = Answering(lambda text: {}, patterns=["%entity Founded year"])
    model.otherwise = lambda asked: (planning if "patterns" in form(asked) else steered)(asked)
    await fill(
        replace(thinking(web.settings(tmp_path), model), attempts="1"),
        tmp_path,
        TABLE,
        FOUNDED,
        strategy="research",
        thoroughness="comprehensive",
    )
    assert len(set(web.queries)) >= 3
    assert (web.others[0].requests["/register"], web.others[1].requests["/blog"]) == (1, 1)
