"""What is sent to a search engine of a row."""

from __future__ import annotations

from tablewright.domain.model import Field, Row, make_given_cell
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.plan_patterns import ENTITY_PLACEHOLDER
from tablewright.strategies.subject import MAX_QUERY_CHARACTERS, fill_patterns


def test_a_query_is_short_however_long_the_cells_are() -> None:
    row = Row(
        id=1, key="Acme", cells={"Note": make_given_cell("word " * 200_000), "Seat": make_given_cell("Aldermoor")}
    )
    asked = [Field(name="Staff", question="How many work at {Seat}, {Note}?")]
    [long] = fill_patterns(["{Note}" * 600], Subject(name="Acme"), row, asked)
    assert len(long) == MAX_QUERY_CHARACTERS
    assert fill_patterns(
        [f"{ENTITY_PLACEHOLDER} {{Seat}}", f"{ENTITY_PLACEHOLDER}  {{seat}}"], Subject(name="Acme"), row, asked
    ) == ["Acme Aldermoor"]
