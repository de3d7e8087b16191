"""What code answers from the members of a kind: groups by their figure, order, and what their kind is."""

from __future__ import annotations

from typing import Any

from tablewright.corpus.found import Stated
from tablewright.decisions.plan_question import QuestionPlan, texts_for
from tablewright.journeys.ask.query import Scope, Spellings, answer
from tablewright.journeys.ask.things import Member
from tablewright.table.corpus import Document
from tablewright.table.model import column_key
from tablewright.table.typed import typed


def member(name: str, **values: str) -> Member:
    return Member(
        document=Document(id=name, name=name, path=name),
        title=name,
        values={
            column_key(label): (Stated(asked=label, label=label, value=typed(raw), start=0, end=0),)
            for label, raw in values.items()
        },
    )


def plan(**asked: Any) -> QuestionPlan:
    columns = [
        {"name": name, "type": "text", "question": f"What is its {name}?", "unit": ""} for name in asked.pop("columns")
    ]
    return QuestionPlan.model_validate(
        texts_for("").model_dump() | {"action": "table", "of": ["order"], "columns": columns} | asked
    )


ORDERS = Scope(
    members=[
        member("1", supplier="Aldine", date="2024-03-01"),
        member("2", supplier="Bask"),
        member("3", supplier="Aldine", date="2024-01-05"),
        member("4", supplier="Corso", date="2024-02-01"),
        member("5", supplier="Corso", date="2024-02-02"),
    ]
)


def test_the_largest_groups_are_those_with_the_largest_figure_and_all_that_share_it() -> None:
    asked = plan(columns=["supplier"], aggregate="count", group_by="supplier", descending=True, limit=1)
    found, aggregated = answer(asked, ORDERS, Spellings())
    assert aggregated is not None
    assert [(group.key, group.count) for group in aggregated.groups] == [("Aldine", 2), ("Corso", 2)]
    assert ([thing.title for thing in found.matches], found.completeness) == (["1", "3", "4", "5"], "exact")


def test_what_does_not_state_the_order_stands_at_the_end_of_a_whole_list() -> None:
    found, _ = answer(plan(columns=["date"], order_by="date"), ORDERS, Spellings())
    assert [thing.title for thing in found.matches] == ["3", "4", "5", "1", "2"]
    assert (found.undecided, found.completeness) == ((), "exact")


def test_of_the_first_few_nobody_knows_where_it_belongs() -> None:
    found, _ = answer(plan(columns=["date"], order_by="date", limit=2), ORDERS, Spellings())
    assert [thing.title for thing in found.matches] == ["3", "4"]
    assert [each.reason for each in found.undecided] == ["date is not stated"]
    assert found.completeness == "incomplete"
