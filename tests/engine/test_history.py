"""A run learns from the runs before it and from the people who looked at what they found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.edits import SetCell, mark_cell_flagged
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Attempt, Evidence, Field, Finding, Row, Step, Table, make_given_cell
from tablewright.engine import planning
from tablewright.engine.changes import TableChanges
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.planning import find_cells_to_fill
from tablewright.engine.policy import DEFAULT_POLICY, SINGLE_ATTEMPT, FillPlan, RetryPolicy
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.store.store import Store
from tablewright.strategies.strategy import FIRST_ATTEMPT, Answer, Feedback, Kind, Need, Strategy, Task, Tell, Tools
from tests.pages import Page, small_web

CITY = Field(name="City", question="Where is {Name}?")
FLOORS = Field(name="Floors", type="number", question="How many floors has {Name}?")


class Looking(Strategy):
    """Looks again at what was weak, and keeps what it is told. `says` is what it finds, by column, attempt by attempt;
    the last is found from then on."""

    name, display_name, concurrency, needs_identity = "looking", "Looking", 2, True

    def __init__(self, says: dict[str, list[tuple[str | None, float]]]) -> None:
        self.says = says
        self.told: list[tuple[int, Feedback]] = []
        self.examples: list[dict[str, tuple[str, ...]]] = []

    def needs(self, task: Task) -> Collection[Need]:
        return ("web",)

    def prepare(self, task: Task, tools: Tools) -> Any:
        self.examples.append(dict(task.examples))
        return LookingAnswer(self, task)

    def find(self, task: Task, row: Row, tell: Tell, number: int) -> list[Finding]:
        tell(Step(type="search", detail="searched", data={"query": f"query {number}", "pattern": f"%entity {number}"}))
        tell(Step(type="fetch", detail="opened", data={"url": f"http://a.example/{row.id}/{number}"}))
        findings = []
        for field in task.fields:
            if row.cell(field.name).needs_work:
                value, sure = self.says[field.name][min(number, len(self.says[field.name])) - 1]
                evidence = (Evidence(origin="http://a.example", quote=value),) if value else ()
                reason = None if value else "not_found"
                finding = Finding(field=field.name, value=value, confidence=sure, evidence=evidence, reason=reason)
                findings.append(finding)
        return findings


class LookingAnswer:
    has_stronger = False

    def __init__(self, strategy: Looking, task: Task) -> None:
        self._strategy, self._task = strategy, task

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST_ATTEMPT)

    def begin(self, row: Row, tell: Tell) -> LookingWork:
        return LookingWork(self._strategy, self._task, row, tell)


class LookingWork:
    remembers = False
    is_exhausted = False

    def __init__(self, strategy: Looking, task: Task, row: Row, tell: Tell) -> None:
        self._strategy, self._task, self._row, self._tell = strategy, task, row, tell

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        self._strategy.told.append((self._row.id, feedback))
        found = self._strategy.find(self._task, self._row, self._tell, feedback.attempt)
        return [finding for finding in found if feedback.wants(finding.field)]


class Plain(Looking):
    """The same, by an answer that knows nothing of attempts: each call for a row is the next look at it."""

    name, display_name = "plain", "Plain"

    def __init__(self, says: dict[str, list[tuple[str | None, float]]], *, kind: Kind = "enrichment", web: bool = True):
        super().__init__(says)
        self.kind = kind
        self.opened: list[list[str]] = []
        self._web = web

    def needs(self, task: Task) -> Collection[Need]:
        return ("web",) if self._web else ()

    def prepare(self, task: Task, tools: Tools) -> Answer:
        calls: dict[int, int] = {}

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            calls[row.id] = calls.get(row.id, 0) + 1
            self.opened.append([field.name for field in task.fields if row.cell(field.name).needs_work])
            return self.find(task, row, tell, calls[row.id])

        return answer


async def towers(store: Store) -> Table:
    return await store.tables.create(
        "towers", (Field(name="Name"),), [(make_given_cell("A"),), (make_given_cell("B"),)], key_field="Name"
    )


async def run(
    store: Store,
    table_id: str,
    strategy: Strategy,
    *fields: Field,
    again: bool = False,
    retry: RetryPolicy = SINGLE_ATTEMPT,
) -> RunResult:
    table = await store.tables.find(table_id)
    only = await find_cells_to_fill(store, table, fields) if again else None
    return await FillRun(store, FillPlan(table, fields, strategy, only=only, again=again, retry=retry)).run()


async def cells(store: Store, filled: RunResult) -> dict[tuple[int, str], Any]:
    return {(each.row_id, each.field): each.cell for each in await store.proposals.operations(filled.proposal_id)}


# ── what earlier runs tried ──────────────────────────────────────────────────────────────────────────────────────────


async def test_who_asks_again_looks_where_no_run_has_looked(store: Store) -> None:
    table = await towers(store)
    strategy = Looking({"City": [(None, 0.0)]})
    first = await run(store, table.id, strategy, CITY)
    assert all(feedback == FIRST_ATTEMPT for _, feedback in strategy.told), (
        "on a plain first run there is nothing to tell"
    )
    await TableChanges(store, "ann").apply(first.proposal_id)

    await run(store, table.id, strategy, CITY)
    assert len(strategy.told) == 2, "what was looked for in vain is not looked for again by itself"

    await run(store, table.id, strategy, CITY, again=True)
    (row_id, told), _ = sorted(strategy.told[2:], key=lambda each: each[0])
    assert (row_id, told.attempt, told.previous) == (1, 1, ())
    assert (told.avoid_queries, told.avoid_patterns) == (("query 1",), ("%entity 1",))
    assert told.avoid_urls == ("http://a.example/1/1",)
    assert told.earlier[0].assessment.weak[0].reason == "nothing found."


async def test_another_look_avoids_also_what_was_never_applied(store: Store) -> None:
    table = await towers(store)
    strategy = Looking({"City": [(None, 0.0)]})
    await TableChanges(store, "ann").reject((await run(store, table.id, strategy, CITY)).proposal_id)
    await run(store, table.id, strategy, CITY)
    assert all(feedback == FIRST_ATTEMPT for _, feedback in strategy.told)
    await run(store, table.id, strategy, CITY, again=True)
    assert len(strategy.told[-1][1].earlier) == 2
    assert strategy.told[-1][1].avoid_queries == ("query 1",)


async def test_what_was_found_is_avoided_by_another_look_only_once_it_is_refused(store: Store) -> None:
    table = await towers(store)
    strategy, changes = Looking({"City": [("Paris", 0.9)]}), TableChanges(store, "ann")
    filled = await run(store, table.id, strategy, CITY)
    await run(store, table.id, strategy, CITY, again=True)
    undecided = strategy.told[-1][1]
    assert (len(undecided.earlier), undecided.avoid_urls, undecided.notes) == (1, (), {})
    await changes.reject(filled.proposal_id)
    await run(store, table.id, strategy, CITY)
    assert strategy.told[-1][1] == FIRST_ATTEMPT, "a plain run does not know whether the value was meant"
    await run(store, table.id, strategy, CITY, again=True)
    refused = strategy.told[-1][1]
    assert refused.notes == {"City": "A person refused 'Paris'"}
    assert refused.avoid_queries == ("query 1",)


async def test_the_attempts_of_other_columns_are_not_told(store: Store) -> None:
    table = await towers(store)
    strategy = Looking({"City": [(None, 0.0)], "Floors": [(None, 0.0)]})
    await TableChanges(store, "ann").apply((await run(store, table.id, strategy, FLOORS)).proposal_id)
    await run(store, table.id, strategy, CITY, again=True)
    assert strategy.told[-1][1] == FIRST_ATTEMPT


async def test_further_attempts_of_a_run_know_the_earlier_ones_too(store: Store) -> None:
    table = await towers(store)
    strategy = Looking({"City": [(None, 0.0)]})
    await run(store, table.id, strategy, CITY)
    await run(store, table.id, strategy, CITY, again=True, retry=RetryPolicy())
    told = [feedback for row_id, feedback in strategy.told if row_id == 1]
    assert [(each.attempt, len(each.earlier), len(each.previous)) for each in told] == [(1, 0, 0), (1, 1, 0), (2, 1, 1)]
    assert told[-1].avoid_queries == ("query 1",)
    assert told[-1].focus == ("City",)


async def test_an_attempt_that_fails_is_kept_too(store: Store) -> None:
    table = await towers(store)

    class Broken(Looking):
        def find(self, task: Task, row: Row, tell: Tell, number: int) -> list[Finding]:
            super().find(task, row, tell, number)
            raise OSError("no route")

    filled = await run(store, table.id, Broken({"City": [("Oslo", 0.9)]}), CITY)
    assert {cell.error for cell in (await cells(store, filled)).values()} == {"OSError: no route"}
    kept = (await store.attempts.of_run(filled.run_id))[1]
    assert [(each.queries, each.assessment.weak[0].reason) for each in kept] == [(("query 1",), "no answer was given")]


# ── what people said ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_flag_is_told_with_its_note_and_what_it_refused_is_looked_for_elsewhere(store: Store) -> None:
    table = await towers(store)
    strategy, changes = Looking({"City": [("Paris", 0.9)]}), TableChanges(store, "ann")
    await changes.apply((await run(store, table.id, strategy, CITY)).proposal_id)
    await changes.flag(table.id, 1, "City", "wrong city")
    await run(store, table.id, strategy, CITY)
    ((row_id, told),) = strategy.told[2:]
    assert (row_id, told.notes) == (1, {"City": "A person flagged 'Paris': wrong city"})
    assert told.avoid_urls == ("http://a.example/1/1",)


async def test_a_page_that_changed_is_read_again(store: Store) -> None:
    """A recheck flags what a page no longer says; what it says now may be the answer."""
    table = await towers(store)
    strategy = Looking({"City": [("Paris", 0.9)]})
    await TableChanges(store, "ann").apply((await run(store, table.id, strategy, CITY)).proposal_id)
    cell = (await store.tables.rows(table.id, [1])).rows[0].cell("City")
    gone = SetCell(row_id=1, field="City", cell=mark_cell_flagged(cell, "“Paris” is no longer on a.example"))
    await store.log.commit(table.id, [gone], kind="recheck")
    await run(store, table.id, strategy, CITY)
    told = strategy.told[-1][1]
    assert told.notes == {"City": "A check of its source flagged 'Paris': “Paris” is no longer on a.example"}
    assert (len(told.earlier), told.avoid_urls) == (1, ())


async def test_what_a_person_replaced_or_removed_is_told_when_the_cell_is_asked_for(store: Store) -> None:
    table = await towers(store)
    strategy, changes = Looking({"City": [("Paris", 0.9)]}), TableChanges(store, "ann")
    await changes.apply((await run(store, table.id, strategy, CITY)).proposal_id)
    await changes.set_value(table.id, 1, "City", "Lyon")
    await changes.flag(table.id, 1, "City")
    await changes.set_value(table.id, 2, "City", "")
    await run(store, table.id, strategy, CITY)
    told = {row_id: feedback.notes["City"] for row_id, feedback in strategy.told[2:]}
    assert told == {
        1: "A person replaced 'Paris' by 'Lyon'. A person flagged 'Lyon'",
        2: "A person removed 'Paris'",
    }


async def test_a_run_begins_with_the_examples_of_its_columns_and_keeps_them(store: Store) -> None:
    table = await towers(store)
    strategy, changes = Looking({"City": [("Paris", 0.9)]}), TableChanges(store, "ann")
    await changes.apply((await run(store, table.id, strategy, CITY)).proposal_id)
    await changes.set_value(table.id, 1, "City", "Lyon (France)")
    await changes.set_value(table.id, 2, "City", "")
    filled = await run(store, table.id, strategy, CITY)
    assert strategy.examples == [{}, {"City": ("Lyon (France)",)}]
    assert (await store.runs.get(filled.run_id)).spec["examples"] == {"City": ["Lyon (France)"]}


async def test_all_slices_of_a_durable_run_have_the_examples_and_the_history_it_began_with(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await towers(store)
    strategy, changes = Looking({"City": [(None, 0.0)]}), TableChanges(store, "ann")
    monkeypatch.setattr(planning, "find_strategy", lambda name: strategy)
    await changes.apply((await run(store, table.id, strategy, CITY)).proposal_id)
    await changes.set_value(table.id, 2, "City", "Lyon (France)")

    table = await store.tables.find(table.id)
    only = await find_cells_to_fill(store, table, [CITY])
    run_id = await FillRun(store, FillPlan(table, [CITY], strategy, only=only, again=True)).begin("here")
    await changes.set_value(table.id, 2, "City", "Lyon")
    part = await store.slices.claim(run_id, 1, "here")
    plan = await planning.load_fill_plan(store, await store.runs.get(run_id), strategy, DEFAULT_POLICY)
    fill = await planning.open_slice(store, plan, part.left, planning.open_no_tools)
    assert await fill.run_slice(part, await store.proposals.of_run(run_id), nullcontext())
    assert strategy.examples[-1] == {"City": ("Lyon (France)",)}
    assert strategy.told[-1][1].avoid_queries == ("query 1",)


# ── attempts by every strategy ───────────────────────────────────────────────────────────────────────────────────────


async def test_a_strategy_that_knows_nothing_of_attempts_is_called_again_for_the_weak_columns(store: Store) -> None:
    table = await towers(store)
    strategy = Plain({"City": [("Oslo", 0.9)], "Floors": [(None, 0.0), ("12", 0.8)]})
    found = await cells(store, await run(store, table.id, strategy, CITY, FLOORS, retry=RetryPolicy()))
    assert (found[1, "City"].value, found[1, "City"].attempt) == ("Oslo", 1)
    assert (found[1, "Floors"].value, found[1, "Floors"].attempt) == (12, 2)
    assert sorted(strategy.opened) == [["City", "Floors"], ["City", "Floors"], ["Floors"], ["Floors"]]


@pytest.mark.parametrize(("kind", "web"), [("action", True), ("enrichment", False)])
async def test_what_acts_or_asks_nobody_is_not_repeated_but_kept(store: Store, kind: Kind, web: bool) -> None:
    table = await towers(store)
    strategy = Plain({"City": [(None, 0.0)]}, kind=kind, web=web)
    filled = await run(store, table.id, strategy, CITY, retry=RetryPolicy(require_improvement=False))
    assert len(strategy.opened) == 2, "once a row"
    kept = await store.attempts.of_run(filled.run_id)
    assert [each.queries for each in kept[1]] == [("query 1",)]


async def test_a_value_that_its_column_cannot_hold_is_tried_again_and_gives_way(store: Store) -> None:
    table = await towers(store)
    strategy = Plain({"Floors": [("a great many", 0.95), ("12", 0.7)]})
    filled = await run(store, table.id, strategy, FLOORS, retry=RetryPolicy())
    found = (await cells(store, filled))[1, "Floors"]
    assert (found.value, found.conflict, found.attempt) == (12, (), 2)
    first, second = (await store.attempts.of_run(filled.run_id))[1]
    assert [(weak.weakness, weak.confidence) for weak in first.assessment.weak] == [("unsure", 0.0)]
    assert "number" in first.assessment.weak[0].reason
    assert second.assessment.passed


# ── the whole way, on a small web ────────────────────────────────────────────────────────────────────────────────────


async def filled_once(services: Services, folder: Path, strategy: str, **how: Any) -> list[Attempt]:
    """The attempts at the one row of the table, which is made where it is not there yet."""
    if not await services.tables():
        (folder / "firms.csv").write_text("Company\nAcme Turbines\n", encoding="utf-8")
        await import_table_file(services, folder / "firms.csv")
    fax = [parse_field("Fax=What is the fax number of {Company}?")]
    run = await plan_fill(services, "firms", fax, strategy, how=FillOptions(attempts=1, **how))
    return (await services.store.attempts.of_run((await run.run()).run_id))[1]


ACME = {"/acme": Page(title="Acme Turbines", body="<p>Acme Turbines makes rotors.</p>")}


@pytest.mark.parametrize("strategy", ["pipeline", "lookup", "research"])
async def test_every_web_strategy_leaves_a_history_also_of_one_attempt(strategy: str, tmp_path: Path) -> None:
    async with small_web(ACME) as web, Services.open(web.settings(tmp_path)) as services:
        (attempt,) = await filled_once(services, tmp_path, strategy)
        assert attempt.queries
        assert attempt.urls == (() if strategy == "lookup" else (web.url("/acme"),))


async def test_the_page_that_was_read_in_vain_is_not_opened_by_another_look(tmp_path: Path) -> None:
    async with small_web(ACME) as web, Services.open(web.settings(tmp_path)) as services:
        await filled_once(services, tmp_path, "pipeline")
        (plain,) = await filled_once(services, tmp_path, "pipeline")
        (again,) = await filled_once(services, tmp_path, "pipeline", again=True)
        assert (plain.urls, again.urls) == ((web.url("/acme"),), ())
