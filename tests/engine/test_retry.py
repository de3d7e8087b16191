"""The feedback loop: a second look where the first was weak, there alone, in another way."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_feedback

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Assessment, Attempt, Conflict, Evidence, Field, Finding, Row, WeakColumn
from tablewright.engine.policy import RetryPolicy
from tablewright.engine.retry import RetryLoop, assess_findings, merge_findings
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import load_fill_report, plan_fill
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.strategy import FIRST_ATTEMPT, Feedback, StepFeed, Tell, Trace
from tests.answering import Answering, Cells, columns, form, said, text_of
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, running_endpoint
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill, notes

# ── the gate ─────────────────────────────────────────────────────────────────────────────────────────────────────────

FIELDS = tuple(Field(name=name) for name in ("Founded", "City", "CEO", "Size", "Site", "Fax"))


def test_what_is_empty_unsure_or_disputed_is_weak_and_says_why() -> None:
    found = {
        "Founded": Finding(field="Founded", value=1987, confidence=0.9),
        "City": Finding(field="City", value="Leeds", confidence=0.55),
        "CEO": Finding(field="CEO", reason="not_found", error="Read without finding it: 2 pages of a.example."),
        "Size": Finding(
            field="Size",
            value=64,
            confidence=0.5,
            evidence=(Evidence(origin="http://a.example", domain="a.example"),),
            conflict=(Conflict(value=70, evidence=(Evidence(origin="d", title="Report"),)), Conflict(value=71)),
        ),
        "Site": Finding(field="Site", reason="blocked", error="a.example: 403."),
        "Fax": Finding(field="Fax", reason="not_applicable"),
    }
    assessment = assess_findings(FIELDS, found, 0.6)
    assert not assessment.passed
    assert [(weak.name, weak.weakness, weak.confidence) for weak in assessment.weak] == [
        ("City", "unsure", 0.55),
        ("CEO", "missing", 0.0),
        ("Size", "disputed", 0.5),
        ("Site", "blocked", 0.0),
    ]
    reasons = {weak.name: weak.reason for weak in assessment.weak}
    assert reasons["City"] == "low confidence (0.55) in Leeds"
    assert reasons["Size"] == "low confidence (0.50) in 64 of a.example: Report says 70; another source says 71"
    assert "2 pages of a.example" in reasons["CEO"]
    assert len(assessment.suggestions) == 4


def test_a_row_that_is_good_enough_passes() -> None:
    found = {field.name: Finding(field=field.name, value="x", confidence=0.6) for field in FIELDS}
    assert assess_findings(FIELDS, found, 0.6).passed
    assert not assess_findings(FIELDS, found, 0.61).passed


# ── the policy ───────────────────────────────────────────────────────────────────────────────────────────────────────


def attempt(number: int, **weak: float) -> Attempt:
    columns = [WeakColumn(name=name, weakness="unsure", reason="?", confidence=sure) for name, sure in weak.items()]
    return Attempt(
        number=number,
        columns=tuple(weak),
        patterns=(f"%entity {number}",),
        urls=(f"http://a.example/{number}",),
        assessment=Assessment(weak=tuple(columns)),
    )


@pytest.mark.parametrize(
    ("history", "again"),
    [
        ([attempt(1)], ()),
        ([attempt(1, CEO=0.0)], ("CEO",)),
        ([attempt(1, CEO=0.0), attempt(2, CEO=0.0)], ()),
        ([attempt(1, CEO=0.0), attempt(2, CEO=0.3)], ("CEO",)),
        ([attempt(1, CEO=0.0, City=0.2), attempt(2, City=0.2)], ()),
        ([attempt(1, CEO=0.0, City=0.2), attempt(2, CEO=0.1, City=0.2)], ("CEO",)),
        ([attempt(1, CEO=0.1), attempt(2, CEO=0.2), attempt(3, CEO=0.3)], ()),
    ],
)
def test_a_column_is_tried_again_while_it_gets_better(history: list[Attempt], again: tuple[str, ...]) -> None:
    assert RetryPolicy().columns_to_retry(history) == again


def test_without_the_wish_for_improvement_all_attempts_are_made() -> None:
    stubborn = RetryPolicy(require_improvement=False)
    assert stubborn.columns_to_retry([attempt(1, CEO=0.0), attempt(2, CEO=0.0)]) == ("CEO",)
    assert not stubborn.columns_to_retry([attempt(1, CEO=0.0), attempt(2, CEO=0.0), attempt(3, CEO=0.0)])


def test_feedback_names_the_weak_columns_and_everything_that_was_tried() -> None:
    history = [attempt(1, CEO=0.0, City=0.2), attempt(2, City=0.2)]
    feedback = Feedback(previous=tuple(history), is_last=True)
    assert (feedback.attempt, feedback.focus, feedback.is_last) == (3, ("City",), True)
    assert feedback.avoid_patterns == ("%entity 1", "%entity 2")
    assert feedback.avoid_urls == ("http://a.example/1", "http://a.example/2")
    assert feedback.previous == tuple(history)
    some = replace_feedback(feedback, previous=(attempt(1, CEO=0.0, City=0.2),), only=("City",))
    assert (some.focus, some.wants("CEO")) == (("City",), False)


def test_what_earlier_runs_tried_is_avoided_only_by_who_asks_again() -> None:
    old = Attempt(
        number=1,
        columns=("CEO",),
        patterns=("%entity old",),
        queries=("Acme old",),
        urls=("http://a.example/read", "http://a.example/down"),
        refused=("http://a.example/down",),
    )
    plain = Feedback(earlier=(old,), previous=(attempt(1, CEO=0.0),))
    assert (plain.attempt, plain.avoid_queries, plain.avoid_urls) == (2, (), ("http://a.example/1",))
    again = Feedback(earlier=(old,), previous=plain.previous, avoided=(old,))
    assert (again.attempt, again.focus) == (2, ("CEO",)), "the attempts of this run alone are counted"
    assert again.avoid_patterns == ("%entity old", "%entity 1")
    assert again.avoid_queries == ("Acme old",)
    assert again.avoid_urls == ("http://a.example/read", "http://a.example/1"), "what was down then may be up now"


# ── the merge ────────────────────────────────────────────────────────────────────────────────────────────────────────


def finding(value: str | None, sure: float = 0.0, **more: Any) -> Finding:
    evidence = (Evidence(origin=f"http://{value}.example"),) if value else ()
    return Finding(field="City", value=value, confidence=sure, evidence=evidence, **more)


def test_the_better_finding_of_two_stays() -> None:
    assert merge_findings(None, finding("Leeds", 0.5)) == finding("Leeds", 0.5)
    assert merge_findings(finding("Leeds", 0.5), finding(None)) == finding("Leeds", 0.5)
    assert merge_findings(finding(None, reason="blocked"), finding("Leeds", 0.3)) == finding("Leeds", 0.3)
    assert merge_findings(finding("Leeds", 0.5), finding("Leeds", 0.8)) == finding("Leeds", 0.8)
    assert merge_findings(finding("Leeds", 0.8), finding("Leeds", 0.5)) == finding("Leeds", 0.8)


def test_two_findings_that_differ_stand_side_by_side() -> None:
    both = merge_findings(finding("Leeds", 0.5), finding("York", 0.7))
    assert both.value == "York"
    assert [(other.value, other.evidence[0].origin) for other in both.conflict] == [("Leeds", "http://Leeds.example")]
    assert merge_findings(both, finding("Leeds", 0.4)) == both, "a disagreement is recorded once"


# ── the loop, on a small web ─────────────────────────────────────────────────────────────────────────────────────────

FOUNDED = "Founded:number=What year was {Company} founded?"
CEO = "CEO=Who is the chief executive of {Company}?"
TABLE = "Company\nAcme Turbines\n"
OWN = Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987.</p>")
PEOPLE = Page(
    title="Acme Turbines: our people",
    body="<p>Our people. The chief executive of Acme Turbines is Ann Lee.</p><p>Chief executive: Ann Lee</p>",
    found_by="profile",
)


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web({"/acme": OWN, "/people": PEOPLE}) as running:
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        running.otherwise = reading
        yield running


def thinking(settings: Settings, model: Endpoint, **more: str) -> Settings:
    return replace(settings, model="openai:gpt-4o-mini", model_base_url=model.url, model_api_key="k", **more)


KNOWN = {"Founded": ("1987", "founded in 1987"), "CEO": ("Ann Lee", "chief executive of Acme Turbines is Ann Lee")}


def known_in(text: str) -> Cells:
    return {name: [said(value, quote)] for name, (value, quote) in KNOWN.items() if quote in text}


def reading(asked: Asked) -> Reply:
    again = "RETRY" in text_of(asked)
    return Answering(known_in, patterns=["%entity profile" if again else "%entity company"])(asked)


async def test_the_second_attempt_is_for_the_weak_column_alone_with_new_patterns_and_new_pages(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    cells, operations, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED, CEO)
    assert (cells["Founded"].value, cells["Founded"].attempt) == (1987, 1)
    assert (cells["CEO"].value, cells["CEO"].attempt) == ("Ann Lee", 2)
    assert cells["CEO"].evidence[0].origin == web.url("/people")

    first, second = [text_of(asked) for asked in model.asked if "patterns" in form(asked)]
    assert "RETRY" not in first
    assert "- Founded (number): " in first
    assert "- CEO (text): " in first
    assert "[CONTEXT: RETRY ATTEMPT 2]" in second
    assert "Patterns used before:\n- %entity company\n" in second
    assert "CEO: nothing found. Read without finding it: 1 page of" in second
    asked_for = second.partition("for these columns only:")[2]
    assert "- CEO (text): Who is the chief executive of {Company}?" in asked_for
    assert "Founded" not in second

    reads = [asked for asked in model.asked if columns(asked)]
    assert [columns(asked) for asked in reads] == [["Founded", "CEO"], ["CEO"]]
    assert "founded in 1987" not in text_of(reads[1]), "the page of the first attempt is not read again"
    assert web.requests["/acme"] == web.requests["/people"] == 1
    assert web.queries[-1] == "Acme Turbines profile"

    founded, ceo = sorted(operations, key=lambda operation: operation.field, reverse=True)
    assert not any("Attempt 2" in note for note in notes(founded, "thinking"))
    assert [note for note in notes(ceo, "thinking") if note.startswith("Attempt 2, for CEO only. CEO: nothing found.")]
    assert "Searched “Acme Turbines profile”" in notes(ceo, "search")[-1]
    assert "profile" not in " ".join(notes(founded, "search"))


async def test_without_a_model_another_name_of_the_column_is_searched_for(web: SmallWeb, tmp_path: Path) -> None:
    cells, _, usage = await fill(web.settings(tmp_path), tmp_path, TABLE, FOUNDED, CEO)
    assert (cells["Founded"].value, cells["CEO"].value, cells["CEO"].attempt) == (1987, "Ann Lee", 2)
    once, _, less = await fill(replace(web.settings(tmp_path / "once"), attempts="1"), tmp_path, TABLE, FOUNDED, CEO)
    assert (once["Founded"].value, once["CEO"].value) == (1987, None)
    assert less.searches < usage.searches


async def test_an_attempt_that_makes_nothing_better_is_the_last(web: SmallWeb, tmp_path: Path) -> None:
    fax = "Fax=What is the fax number of {Company}?"
    cells, operations, _ = await fill(web.settings(tmp_path), tmp_path, TABLE, fax)
    assert (cells["Fax"].value, cells["Fax"].reason, cells["Fax"].attempt) == (None, "not_found", 2)
    stubborn = replace(web.settings(tmp_path / "b"), require_improvement="no", attempts="4")
    cells, more, _ = await fill(stubborn, tmp_path, TABLE, fax)
    assert cells["Fax"].attempt == 4
    assert len(set(notes(more[0], "search"))) > len(set(notes(operations[0], "search")))


async def test_a_stronger_model_reads_everything_again_on_the_last_attempt(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>Acme Turbines makes rotors. Ann Lee runs it all.</p>")}

    def strong(asked: Asked) -> Reply:
        if asked.body["model"] == "gpt-4o":
            return Answering(lambda text: {"CEO": [said("Ann Lee", "Ann Lee runs it all")]})(asked)
        return reading(asked)

    model.otherwise = strong
    settings = thinking(web.settings(tmp_path), model, model_strong="openai:gpt-4o")
    cells, _, _ = await fill(settings, tmp_path, TABLE, CEO)
    assert (cells["CEO"].value, cells["CEO"].attempt) == ("Ann Lee", 3)
    assert [asked.body["model"] for asked in model.asked if columns(asked)] == ["gpt-4o-mini", "gpt-4o"]


async def test_every_attempt_is_kept_with_what_it_tried(web: SmallWeb, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    async with Services.open(web.settings(tmp_path)) as services:
        table = (await import_table_file(services, tmp_path / "t.csv")).table
        run = await plan_fill(services, table.id, [parse_field(FOUNDED), parse_field(CEO)], "pipeline")
        filled = await run.run()
        report = await load_fill_report(services, filled)
        first, second = report["rows"][0]["attempts"]
        assert (first["number"], first["columns"]) == (1, ["Founded", "CEO"])
        assert [weak["name"] for weak in first["assessment"]["weak"]] == ["CEO"]
        assert first["urls"] == [web.url("/acme")]
        assert (second["columns"], second["urls"]) == (["CEO"], [web.url("/people")])
        assert second["results"] == {"CEO": "Ann Lee"}
        assert set(first["patterns"]).isdisjoint(second["patterns"])
        await remove_table(services, TableRequest(table=table.id))
        assert not await services.store.attempts.of_run(filled.run_id)


class Failing:
    """Finds one of two at once, and fails when it looks again."""

    has_stronger = False

    def __init__(self, *, remembers: bool, second: Finding | None) -> None:
        self.remembers, self.is_exhausted = remembers, False
        self.second = second

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.attempt(FIRST_ATTEMPT)

    def begin(self, row: Row, tell: Tell) -> Failing:
        return self

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        if feedback.attempt == 1:
            return [finding("Leeds", 0.5), Finding(field="CEO", value="Ann Lee", confidence=0.9)]
        if self.second is None:
            raise OSError("the disk is full")
        return [self.second]


async def looked_at(answer: Failing) -> dict[str, Finding]:
    fields = [Field(name="City"), Field(name="CEO")]
    retry = RetryLoop(answer, fields, RetryPolicy(), record=lambda row_id, attempt: None)
    return {each.field: each for each in await retry(Row(id=1), Trace(Row(id=1), StepFeed()))}


async def test_an_attempt_that_fails_leaves_what_was_found_before() -> None:
    found = await looked_at(Failing(remembers=True, second=None))
    assert {name: each.value for name, each in found.items()} == {"City": "Leeds", "CEO": "Ann Lee"}


async def test_work_that_remembers_has_weighed_the_earlier_findings_itself() -> None:
    disputed = finding("Leeds", 0.4, conflict=(Conflict(value="York"),))
    found = await looked_at(Failing(remembers=True, second=disputed))
    assert (found["City"].confidence, [other.value for other in found["City"].conflict]) == (0.4, ["York"])
    found = await looked_at(Failing(remembers=False, second=finding("York", 0.4)))
    assert (found["City"].value, [other.value for other in found["City"].conflict]) == ("Leeds", ["York"])


NAMES = ("Motto", "Anthem", "Mascot", "Colours")


def planning(asked: Asked) -> Reply:
    """Finds when it was founded and no more, and plans a look for each column that it is asked for."""
    again = text_of(asked).partition("these columns only:")[2]
    names = re.findall(r"^- (\w+) ", again, re.MULTILINE)
    patterns = [f"%entity {name.lower()} x" for name in names] or ["%entity about"]
    return Answering(known_in, patterns=patterns)(asked)


async def test_every_weak_column_gets_its_search(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    model.otherwise = planning
    settings = thinking(web.settings(tmp_path), model, attempts="2")
    await fill(settings, tmp_path, TABLE, FOUNDED, *(f"{name}:text" for name in NAMES))
    for name in NAMES:
        assert f"Acme Turbines {name.lower()} x" in web.queries
    assert sum("patterns" in form(asked) for asked in model.asked) == 2, "one plan for all weak columns of the row"


async def test_a_row_of_which_nothing_was_found_is_planned_for_in_one_call(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    model.otherwise = planning
    settings = thinking(web.settings(tmp_path), model, attempts="2")
    await fill(settings, tmp_path, TABLE, *(f"{name}:text" for name in NAMES))
    _, second = [text_of(asked) for asked in model.asked if "patterns" in form(asked)]
    assert "RETRY" in second
    assert all(f"- {name} (text)" in second for name in NAMES)
    assert web.queries == ["Acme Turbines about", *(f"Acme Turbines {name.lower()} x" for name in NAMES)]


async def test_a_row_is_searched_for_by_another_form_of_its_name(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    """Each row has a plan of its own, and results under the other name are about the row."""
    own = Page(title="Turbinas Acme", body="<p>Turbinas Acme was founded in 1987.</p>", found_by="turbinas")
    web.pages = {"/own": own, "/other": Page(title="Borealis", body="<p>Borealis makes turbines.</p>")}

    def rename(asked: Asked) -> Reply:
        if "name" not in form(asked):
            return reading(asked)
        assert "Acme Turbines" in text_of(asked)
        return answer({"name": "Turbinas Acme", "patterns": ["%entity history"]})

    model.otherwise = rename
    cells, _, _ = await fill(thinking(web.settings(tmp_path), model), tmp_path, TABLE, FOUNDED)
    assert (web.queries[-1], cells["Founded"].value) == ("Turbinas Acme history", 1987)


async def test_a_cell_that_was_filled_before_is_not_in_the_way(web: SmallWeb, tmp_path: Path) -> None:
    table = "Company,Founded\nAcme Turbines,1901\n"
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, table, "Founded:number", CEO)
    assert {name: cell.value for name, cell in cells.items()} == {"CEO": "Ann Lee"}
