"""Questions that name the thing they ask about."""

from __future__ import annotations

import pytest

from tablewright.decisions.plain_question import column_for, plainly_about
from tablewright.extraction.wanted import wanted


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who leads Halden & Rourke?", ["Halden & Rourke"]),
        ("When was Quillon Robotics founded?", ["Quillon Robotics"]),
        ("Who leads the maker of the lorries that Norra ordered for its harbour?", []),
        ("Which firm of Norra has 25 lorries?", []),
    ],
)
def test_a_question_is_plain_where_it_describes_nothing(question: str, names: list[str]) -> None:
    assert plainly_about(question) == names


def test_the_column_of_a_question_is_the_one_that_a_table_would_have() -> None:
    founded = column_for("When was Quillon Robotics founded?", "Quillon Robotics")
    assert (founded.name, wanted(founded).kind) == ("founded", "date")
    assert wanted(founded).words == ("founded",), "the name of the thing is no part of what is asked about it"
    by = column_for("Who founded Quillon Robotics?", "Quillon Robotics")
    assert (by.name, wanted(by).kind) == ("founded by", "person")
    odd = column_for("What is the mascot of Quillon Robotics?", "Quillon Robotics")
    assert (odd.name, wanted(odd).kind) == ("mascot of", "text")
