"""Research: a path of its own through searches and pages, exploratory or comprehensive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.app import Tablewright
from tablewright.errors import UsageError
from tablewright.extraction.about import Subject
from tablewright.strategies.exploration import Exploration, Limits
from tablewright.strategies.notebook import Notebook
from tablewright.table.fieldspec import parse_field

from ..models.endpoint import Asked, Endpoint, Reply, answer, refusal
from ..pages import Page, SmallWeb, small_web
from .running import fill, notes
from .test_lookup import call, model, offered, sent, thinking

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
        web.settings(tmp_path),
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


async def test_a_model_opens_the_page_of_its_choice_and_sees_the_passages_that_matter(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.replies = [call("fetch_page", number=1), call("answer", value="1987", quote="was founded in 1987")]
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert (usage.llm_calls, usage.searches, usage.fetches) == (2, 1, 1)
    assert offered(model.asked[0]) == ["search_web", "fetch_page", "answer"]
    shown = model.asked[1].body["messages"][-1]["content"]
    assert "Acme Turbines was founded in 1987." in shown, "it stands at the end of a page of 4,000 characters"
    assert len(shown) < 2_200


async def test_an_answer_from_memory_is_refused_and_left_out(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    web.pages, web.others = {"/acme": Page(title="Acme Turbines", body="<p>All about turbines.</p>")}, []
    model.otherwise = call("answer", value="1955", quote="everybody knows that it was founded in 1955")
    cells, operations, _ = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research"
    )
    assert cells["Founded"].value is None
    assert "The model said “1955”, but no text says '1955'; left out." in notes(operations[0], "thinking")


async def test_giving_up_at_once_is_answered_with_another_page(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.replies = [
        call("answer", value="", quote=""),
        call("answer", value="1987", quote="was founded in 1987"),
    ]
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert usage.fetches >= 1
    assert "Not found so far. Read this:" in sent(model.asked[1])


async def test_comprehensive_makes_the_model_compare_before_its_answer_counts(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    def reply(asked: Asked) -> Reply:
        if "rating" in asked.body["response_format"]["json_schema"]["schema"].get("properties", {}):
            return answer({"rating": "medium", "weak": ["Founded"]})
        return call("answer", value="1987", quote="Founded: 1987")

    model.replies = [call("fetch_page", number=2)]
    model.otherwise = reply
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
    assert any("You said '1987'. Compare:" in sent(asked) for asked in model.asked)
    assert [other.value for other in cells["Founded"].conflict] == [1978]
    assert notes(operations[0], "coverage") == [
        "medium: 1 of 1 answered; weak or missing: Founded; sources disagree on Founded"
    ]


async def test_a_model_can_open_only_what_a_search_returned(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.replies = [call("fetch_page", number=77), call("fetch_page", number=1)]
    model.otherwise = call("answer", value="1987", quote="was founded in 1987")
    cells, _, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert "There is no result 77." in sent(model.asked[1])


async def test_a_model_that_only_ever_searches_comes_to_an_end(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    count = 0

    def search_on(asked: Asked) -> Reply:
        nonlocal count
        count += 1
        return call("search_web", query=f"Acme Turbines {count}")

    model.otherwise = search_on
    cells, operations, usage = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research"
    )
    assert cells["Founded"].value == 1987, "the rules finish what the model did not"
    assert usage.searches + usage.fetches <= 5
    assert usage.llm_calls <= 6
    assert any("did not come to an answer" in note for note in notes(operations[0], "thinking"))


async def test_a_model_that_asks_for_the_same_again_and_again_must_answer(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    def repeat(asked: Asked) -> Reply:
        if "search_web" in offered(asked):
            return call("search_web", query="Acme Turbines Founded year")
        return call("answer", value="1987", quote="was founded in 1987")

    model.otherwise = repeat
    cells, _, usage = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987
    assert usage.llm_calls <= 5


async def test_with_cascade_a_model_is_asked_only_where_the_reader_is_not_sure(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = call("answer", value="", quote="")
    settings = replace(thinking(web.settings(tmp_path), model), cascade="yes")
    cells, _, usage = await fill(settings, tmp_path, TABLE, FOUNDED, strategy="research")
    assert (cells["Founded"].value, usage.llm_calls) == (1987, 0)
    cells, _, usage = await fill(settings, tmp_path, TABLE, "Boss=Who leads {Company}?", strategy="research")
    assert cells["Boss"].value is None
    assert usage.llm_calls > 0


async def test_with_cascade_the_model_sees_what_the_rules_have_read(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages["/acme"] = Page(
        title="Acme Turbines", body="<p>Its helm is held by Ada Lind since spring.</p>", snippet="x"
    )
    model.otherwise = call("answer", value="Ada Lind", quote="Its helm is held by Ada Lind")
    settings = replace(thinking(web.settings(tmp_path), model), cascade="yes")
    cells, _, _ = await fill(settings, tmp_path, TABLE, "Boss=Who leads {Company}?", strategy="research")
    assert "Its helm is held by Ada Lind" in sent(model.asked[0])
    assert cells["Boss"].value == "Ada Lind"


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


async def test_a_model_that_is_down_leaves_the_path_of_the_rules(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = refusal(401, "bad key")
    cells, _, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research")
    assert cells["Founded"].value == 1987


async def test_a_page_that_refuses_is_said_and_another_is_tried(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    web.pages["/acme"].status = 403
    model.replies = [call("fetch_page", number=1), call("fetch_page", number=2), call("fetch_page", number=3)]
    model.otherwise = call("answer", value="1987", quote="Founded: 1987")
    cells, operations, _ = await fill(
        thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, strategy="research"
    )
    assert cells["Founded"].value == 1987
    assert any(web.url("/acme") in note for note in notes(operations[0], "error"))


async def test_a_row_without_a_name_is_skipped_and_a_question_about_an_empty_column_does_not_apply(
    web: SmallWeb, tmp_path: Path
) -> None:
    _, operations, _ = await fill(
        web.settings(tmp_path),
        tmp_path,
        "Product,Maker\nTurbine,\n,Acme Turbines\n",
        "Founded:number=What year was {Maker} founded?",
        strategy="research",
    )
    assert [(operation.row_id, operation.cell.reason) for operation in operations] == [(1, "not_applicable")]


async def test_limits_hold_for_several_calls_in_one_turn(web: SmallWeb, tmp_path: Path) -> None:
    async with Tablewright.open(web.settings(tmp_path)) as tablewright:
        tools = await tablewright._open_tools(("web",))
        assert tools.web is not None
        field = parse_field(FOUNDED)
        subject = Subject(name="Acme Turbines", column="Company")
        notebook = Notebook(subject, (field,), tools, tools.web, lambda step, field="": None)
        exploration = Exploration(notebook, field, (), Limits(steps=2, searches=2, pages=0))
        for query in ("Acme one", "Acme two", "Acme three"):
            told = await exploration.search(query)
        assert told == "No more searches. Answer from what you have."
        assert (len(notebook.queries), await exploration.open(1)) == (2, "No more pages. Answer from what you have.")
