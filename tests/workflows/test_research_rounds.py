"""How long research looks for what is missing: as long as the answer needs it and searches are left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.research import Research
from tablewright.formats.reports.write import render_report
from tablewright.services import Services
from tests.llm.endpoint import Endpoint
from tests.operating import begin_research, run_research
from tests.pages import SmallWeb
from tests.workflows.researching import CHALLENGES, audit, by_decision, gap, reflected
from tests.workflows.test_research_with_model import ANSWERS, CLAIM, asked_for, two_sites, with_model

__all__ = ["two_sites"]
# Fills no gap, and asks for no further search.
ENOUGH = reflected()
NO_OTHER = "no other search would fill what is missing"
OPEN = gap("what bills say", "invoices")


def again(query: str, **parts: Any) -> Mapping[str, Any]:
    """The same gap, with another query."""
    return reflected(answered="partly", gaps=[gap("what bills say", query, earlier=1, **parts)])


@pytest.mark.parametrize(
    ("later", "max_tasks", "queries", "why"),
    [
        ((again("invoices paid"), again("bills"), ENOUGH), 15, ["invoices", "invoices paid", "bills"], NO_OTHER),
        ((again("invoices paid", priority=2),), 15, ["invoices"], "the answer does not depend on what is still open"),
        ((again("Invoices"),), 15, ["invoices"], NO_OTHER),
        ((again(""),), 15, ["invoices"], NO_OTHER),
        ((again("invoices paid"),), 5, ["invoices", "invoices paid"], "no search was left"),
    ],
)
async def test_gaps_are_filled_as_long_as_the_answer_depends_on_them_and_new_searches_are_left(
    two_sites: SmallWeb,
    endpoint: Endpoint,
    tmp_path: Path,
    later: tuple[Mapping[str, Any], ...],
    max_tasks: int,
    queries: list[str],
    why: str,
) -> None:
    replies = iter((reflected(answered="partly", gaps=[OPEN]), *later))
    endpoint.otherwise = by_decision(ANSWERS | {"Reflected": lambda _: next(replies)})
    found = await run_with(max_tasks, with_model(two_sites, endpoint, tmp_path))
    made = [task.search_query for each in found.rounds if each.kind == "fill" for task in each.tasks]
    assert made == queries
    kinds = ["discover", *["fill"] * len(queries), "verify"]
    assert [each.kind for each in found.rounds] == kinds
    assert [each.index for each in found.rounds] == list(range(1, len(kinds) + 1))
    *before, last, _ = found.rounds
    assert not any(each.ended for each in before)
    assert last.ended == why
    assert next(replies, None) is None
    assert found.report is not None
    text = render_report(found.report, "md").decode()
    assert f"### Round {len(kinds) - 1}: gap-filling" in text
    assert last.ended in text


async def run_with(max_tasks: int, settings: Any) -> Research:
    async with Services.open(settings) as app:
        begun = await begin_research(app, CHALLENGES, max_tasks=max_tasks)
        found = await run_research(app, begun.id)
        await audit(app, found)
        return found


async def test_further_rounds_search_only_for_what_the_answer_depends_on(
    two_sites: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    lesser = gap("what farmers earn", "earnings", priority=2)
    first = reflected(answered="partly", gaps=[OPEN, lesser])
    second = reflected(
        answered="partly",
        gaps=[OPEN | {"earlier": 1, "query": "bills"}, lesser | {"earlier": 2, "query": "income"}],
    )
    replies = iter((first, second, reflected(filled=[{"gap": 1, "note": 2}])))
    endpoint.otherwise = by_decision(ANSWERS | {"Reflected": lambda _: next(replies)})
    found = await run_with(15, with_model(two_sites, endpoint, tmp_path))
    fills = [[task.search_query for task in each.tasks] for each in found.rounds if each.kind == "fill"]
    assert fills == [["invoices", "earnings"], ["bills"]]
    told = asked_for(endpoint, "Reflected")
    assert "Up to 12 searches can be made for gaps." in told[0]
    assert "Round 2 is over and brought no new note. Up to 10 searches can be made for gaps of priority 1" in told[1]
    assert "Round 3 is over. Up to 9 searches" in told[2]


async def test_a_round_that_brings_nothing_for_a_lesser_gap_is_not_reflected_on(
    two_sites: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    lesser = reflected(answered="partly", gaps=[gap("what farmers earn", "earnings", priority=2)])
    endpoint.otherwise = by_decision(ANSWERS | {"Reflected": lesser})
    found = await run_with(15, with_model(two_sites, endpoint, tmp_path))
    assert len(asked_for(endpoint, "Reflected")) == 1
    assert found.rounds[1].ended == "the answer does not depend on what is still open"


async def test_claims_stay_until_a_later_reflection_names_others(
    two_sites: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    """What is to be checked is in the memo: who reflects on a later round need not say it again."""
    later = CLAIM | {"claim": "Electricity is a third of all costs."}
    replies = iter(
        (
            reflected(answered="partly", gaps=[OPEN], claims=[CLAIM]),
            again("invoices paid"),
            reflected(answered="yes", claims=[later]),
        )
    )
    unknown = {"findings": [], "verdict": "not checked", "reason": "", "unsaid": ""}
    endpoint.otherwise = by_decision(ANSWERS | {"Reflected": lambda _: next(replies), "ClaimRuling": unknown})
    found = await run_with(15, with_model(two_sites, endpoint, tmp_path))
    kept = [[claim.claim_text for claim in each.memo.claims_to_verify] for each in found.rounds]
    assert kept == [[CLAIM["claim"]]] * 2 + [[later["claim"]]] * 2
