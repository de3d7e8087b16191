"""Reading a row: what code makes of the units and the calculations in a model's answers."""

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
    answer = CellAnswer(value=value, basis="stated", quotes=[Quoted(text=1, quote=quote)], calculation="")
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


def computed(field: Field, value: str, calculation: str, *quotes: str, is_whole: bool = True) -> tuple[str, str, str]:
    """The value, its calculation as the cell shows it, and what is wrong with the answer."""
    source = Retrieved(origin="https://acme.example", title="Acme", text=f"Acme. {' '.join(quotes)} Turbines.")
    quoted = [Quoted(text=1, quote=quote) for quote in quotes]
    answer = CellAnswer(value=value, basis="computed", quotes=quoted, calculation=calculation)
    found, problem = verified(field, answer, [source], {}, today="2026-11-18", is_whole=is_whole)
    if not found:
        return "", "", problem
    (candidate,) = found
    assert candidate.basis == "computed"
    return candidate.value, candidate.converted_by, problem


AGE = Field(name="Age", type="number", question="How many years has {Company} existed?")
A_LITRE = Field(name="Price a litre", type="money", unit="EUR")


def test_an_age_follows_from_a_year_and_the_current_one_which_code_knows() -> None:
    assert computed(AGE, "38", "this_year - 1987", "Founded in 1987.") == ("39", "2026 - 1987", "")
    assert computed(AGE, "", "this_year - 1987", "Founded in 1987.") == ("39", "2026 - 1987", "")


def test_days_since_a_date_are_counted_by_code() -> None:
    assert computed(AGE, "", "today - 2026-11-01", "Opened on 1 November 2026.")[0] == "17"


def test_a_calculation_with_a_figure_that_no_quote_has_is_refused() -> None:
    value, _, problem = computed(AGE, "", "this_year - 1955", "Founded in 1987.")
    assert value == ""
    assert "1955 does not stand in the quoted texts" in problem


def test_a_result_that_the_calculation_does_not_give_is_refused() -> None:
    assert computed(A_LITRE, "2.80 EUR", "4.20 / 1.5", "1.5 l for €4.20.") == ("2.80 EUR", "4.20 / 1.5", "")
    _, _, problem = computed(A_LITRE, "3.10 EUR", "4.20 / 1.5", "1.5 l for €4.20.")
    assert problem == "the calculation '4.20 / 1.5' gives 2.8, not '3.10 EUR'."


def test_a_sum_over_a_text_that_was_shown_in_part_is_refused() -> None:
    parts = Field(name="Staff", type="number")
    assert computed(parts, "30", "10 + 20", "10 in Ost, 20 in West.")[0] == "30"
    value, _, problem = computed(parts, "30", "10 + 20", "10 in Ost, 20 in West.", is_whole=False)
    assert value == ""
    assert "shown in part" in problem
