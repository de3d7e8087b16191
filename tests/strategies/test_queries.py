"""What is sent to a search engine of a row."""

from __future__ import annotations

from tablewright.decisions.plan_patterns import ENTITY
from tablewright.domain.model import Field, Row, given
from tablewright.extraction.about import Subject
from tablewright.strategies.subject import MOST_OF_QUERY, queries_for


def test_a_query_is_short_however_long_the_cells_are() -> None:
    row = Row(id=1, key="Acme", cells={"Note": given("word " * 200_000), "Seat": given("Aldermoor")})
    asked = [Field(name="Staff", question="How many work at {Seat}, {Note}?")]
    [long] = queries_for(["{Note}" * 600], Subject(name="Acme"), row, asked)
    assert len(long) == MOST_OF_QUERY
    assert queries_for([f"{ENTITY} {{Seat}}", f"{ENTITY}  {{seat}}"], Subject(name="Acme"), row, asked) == [
        "Acme Aldermoor"
    ]
