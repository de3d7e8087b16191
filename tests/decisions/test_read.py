"""Reading a row: what code makes of the units of a model's answers."""

from __future__ import annotations

import pytest

from tablewright.decisions.read import CellAnswer, Quoted, verified
from tablewright.table.coerce import coerce
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved

SPEED = Field(name="Speed", type="number", unit="km/h")


def answered(value: str, quote: str) -> tuple[list[str], str]:
    """The values that were proved, and what is wrong with the answer."""
    source = Retrieved(origin="https://ships.example/maren", title="Maren", text=f"The Maren. {quote}")
    answer = CellAnswer(value=value, basis="stated", quotes=[Quoted(text=1, quote=quote)])
    candidates, problem = verified(SPEED, answer, [source], {})
    return [candidate.value for candidate in candidates], problem


@pytest.mark.parametrize("quote", ["Max speed 42.6 km/h.", "Max speed 23 kn.", "Vitesse : 23 nœuds."])
def test_a_bare_number_is_in_the_unit_of_its_column_and_as_sure_as_one_with_it(quote: str) -> None:
    values, problem = answered("42.6", quote)
    assert (values, problem) == (["42.6 km/h"], "")
    assert coerce(values[0], SPEED).label == "high"


def test_a_figure_in_another_unit_than_the_quote_gives_is_refused_and_says_so() -> None:
    values, problem = answered("23", "Max speed 23 kn.")
    assert values == []
    assert problem.startswith("'23 km/h' is not in the quote “Max speed 23 kn.”.")
