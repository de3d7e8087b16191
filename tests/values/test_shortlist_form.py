"""The form of the adviser, its commands, rates of exchange and what is personal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.domain.condition import describe_condition
from tablewright.errors import BadFile, UsageError
from tablewright.text import remove_personal_data
from tablewright.values.money import BUNDLED_RATES, read_rates
from tablewright.values.shortlist_form import (
    SHORTLIST_COMMANDS,
    format_form_message,
    parse_command,
    parse_form,
    parse_wish,
)


def test_a_filled_form_is_read_back_as_it_was_filled_in() -> None:
    filled = {"product": "electric kettle", "budget": "£30 to £50", "must": "Capacity >= 1 l; cordless", "region": "UK"}
    requirements, columns = parse_form((parse_command(format_form_message(filled)) or pytest.fail("no command")).rest)
    assert (requirements.product_type, requirements.region) == ("electric kettle", "UK")
    budget, capacity, cordless = requirements.wishes
    assert (budget.column, budget.operator, budget.values) == ("Price", "between", ("30 GBP", "50 GBP"))
    assert (capacity.column, capacity.values, capacity.hard) == ("Capacity", ("1 l",), True)
    assert (cordless.words, cordless.column) == ("cordless", "")
    assert [(field.name, field.type) for field in columns] == [("Capacity", "number")]


@pytest.mark.parametrize(
    ("text", "type", "unit"),
    [
        ("Capacity >= 1.5 l", "number", "L"),
        ("Keep warm = yes", "boolean", ""),
        ("Delivery < 5 EUR", "money", ""),
        ("Material contains steel", "text", ""),
        ("Made after > 2024-01-01", "date", ""),
    ],
)
def test_a_condition_makes_a_column_of_the_type_of_its_value(text: str, type: str, unit: str) -> None:
    wish, field = parse_wish(text, "nice")
    assert field is not None
    assert (field.type, field.unit, wish.hard) == (type, unit, False)
    assert "{Product}" in field.question


def test_what_is_avoided_must_not_hold() -> None:
    assert describe_condition(parse_wish("Material contains plastic", "avoid")[0]) == "Material not contains plastic"
    assert describe_condition(parse_wish("Weight > 2 kg", "avoid")[0]) == "Weight <= 2 kg"
    with pytest.raises(UsageError, match="cannot be avoided"):
        parse_wish("Weight between 1 kg and 2 kg", "avoid")


@pytest.mark.parametrize(
    "text", ["budget: 50 GBP", "product: kettle | budget: cheap", "product: kettle | colour: red", "just words"]
)
def test_a_form_that_cannot_be_read_says_how_it_is_written(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_form(text)
    assert "/form" in str(refused.value) or "50 GBP" in str(refused.value)


def test_only_what_begins_with_a_stroke_is_a_command() -> None:
    assert parse_command("more kettles please") is None
    assert {command.verb for verb in SHORTLIST_COMMANDS if (command := parse_command(f"/{verb} 1"))} == set(
        SHORTLIST_COMMANDS
    )
    with pytest.raises(UsageError, match="no command /sing"):
        parse_command("/sing a song")


def test_rates_are_read_from_a_file_with_their_date(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    path.write_text("date,2026-11-16\nGBP,0.84\nUSD,1.05\n", encoding="utf-8")
    rates = read_rates(path)
    assert rates.date == "2026-11-16"
    assert rates.convert(84, "GBP", "USD") == pytest.approx(105)
    assert rates.convert(84, "GBP", "JPY") is None
    assert BUNDLED_RATES.convert(1, "EUR", "EUR") == 1
    for wrong in ("GBP,0.84\n", "date,2026-11-16\nGBP,much\n", "date,2026-11-16\nXYZ,1\n", ""):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(BadFile):
            read_rates(path)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("kettle for jo.smith@example.org please", "kettle for please"),
        ("kettle call +44 20 7946 0958", "kettle call"),
        ("kettle GB33 BUKB 2020 1555 5555 55", "kettle"),
        ("kettle 1.7 l under 50 GBP, 2200 W", "kettle 1.7 l under 50 GBP, 2200 W"),
        ("Zorbler 1200-300 X", "Zorbler 1200-300 X"),
    ],
)
def test_personal_data_is_taken_out_of_what_is_searched_for(text: str, left: str) -> None:
    assert remove_personal_data(text) == left
