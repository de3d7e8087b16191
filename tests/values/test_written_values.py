"""Values as people write them: no more digits than their source has, units in the singular, none as 0."""

from __future__ import annotations

import pytest

from tablewright.citations.evidence import find_proving_rule, limit_to_source_precision
from tablewright.domain.model import Field
from tablewright.values.units import format_with_unit

KEEP_WARM = Field(name="Keep warm", type="number", unit="min")
WEIGHT = Field(name="Weight", type="number", unit="kg")
AGE = Field(name="Age", type="number", unit="years")


@pytest.mark.parametrize(
    ("figure", "unit", "shown"),
    [
        ("1", "years", "1 year"),
        ("2", "years", "2 years"),
        ("1", "Jahre", "1 Jahr"),
        ("1", "inches", "1 inch"),
        ("1", "month", "1 month"),
        ("1", "kg", "1 kg"),
        ("1", "", "1"),
    ],
)
def test_of_one_thing_the_unit_stands_in_the_singular(figure: str, unit: str, shown: str) -> None:
    assert format_with_unit(figure, unit) == shown


@pytest.mark.parametrize("quote", ["Keep warm: no", "Keep warm | none", "It has no keep warm function"])
def test_what_is_not_there_is_0_in_a_number_column(quote: str) -> None:
    assert find_proving_rule("0", quote, KEEP_WARM) == "none, as 0"
    assert not find_proving_rule("5", quote, KEEP_WARM)


def test_a_denial_of_something_else_is_not_0() -> None:
    assert not find_proving_rule("0", "There is no lid", KEEP_WARM)


def test_a_converted_value_has_no_more_digits_than_its_source() -> None:
    assert limit_to_source_precision("0.878835 kg", "It weighs 1 lb 15 oz.", WEIGHT) == "0.8788 kg"
    assert limit_to_source_precision("0.88 kg", "It weighs 1 lb 15 oz.", WEIGHT) == "0.88 kg"
    assert limit_to_source_precision("0.87884 kg", "Weight: 0.87884 kg", WEIGHT) == "0.87884 kg"


def test_a_number_before_a_word_that_is_no_unit_does_not_break_a_column_of_years() -> None:
    assert not find_proving_rule("48", "Today 64 of us work there.", AGE)
