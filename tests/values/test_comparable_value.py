"""What a written value can be compared as."""

from __future__ import annotations

import pytest

from tablewright.values.comparable_value import parse_comparable
from tablewright.values.units import find_label_unit


@pytest.mark.parametrize(
    ("raw", "label", "si", "base"),
    [
        ("1,240", "Height (mm)", 1.24, "m"),
        ("640 mm", "", 0.64, "m"),
        ("88.5 cm", "Height (mm)", 0.885, "m"),
        ("45.9 C", "", 45.9, "°C"),
        ("81.5", "Core (C)", 81.5, "°C"),
        ("68 °F", "", 20, "°C"),
        ("-0.25 %/C", "", -0.25, "%/°C"),
        ("-0.31 %/K", "", -0.31, "%/°C"),
        ("-0.41", "Temp. coefficient (%/C)", -0.41, "%/°C"),
        ("275.1 Wp", "", 275.1, "W"),
        ("1.5 kW", "", 1500, "W"),
        ("7.8 %", "", 7.8, "%"),
        ("5500 lbs", "", 2494.758035, "kg"),
        ("3 lb 4 oz", "", 1.4741752025, "kg"),
        ("1000 W/m2", "", 1000, "W/m²"),
        ("16 GB", "", 16e9, "B"),
        ("25", "Weight [kg]", 25, "kg"),
        ("90", "Speed, km/h", 25, "m/s"),
        ("793 ft msl", "", 241.7064, "m"),
    ],
)
def test_a_measure_is_compared_in_the_base_unit_of_its_kind(raw: str, label: str, si: float, base: str) -> None:
    value = parse_comparable(raw, label)
    assert value.si == pytest.approx(si)
    assert (value.base, value.raw) == (base, raw)


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ("72", 72),
        ("1,234.5", 1234.5),
        ("(1,200)", -1200),
        ("12.50-", -12.5),
        ("58, Male", 58),
        ("1 None", 1),
        ("-3", -3),
    ],
)
def test_a_plain_number_has_no_unit_to_convert(raw: str, number: float) -> None:
    value = parse_comparable(raw)
    assert (value.number, value.si, value.base) == (number, None, "")


def test_a_range_has_two_ends() -> None:
    value = parse_comparable("10–20 kg")
    assert (value.si, value.si_high, value.base) == (10, 20, "kg")


@pytest.mark.parametrize(
    "raw",
    ["52-0471-096", "K4172Q", "000571904236", "04-6618 7719", "604-51877320, 51879044", "27-3305", "500-K0007",
     "9541207733016", "TR-310-B2-C4", "18:32:36", "30 inches Hg", "1240 x 640 mm", "solid oak, 72 slats", "10.0.0.1"],
)  # fmt: skip
def test_what_is_no_single_quantity_has_no_number(raw: str) -> None:
    assert parse_comparable(raw).number is None


@pytest.mark.parametrize(
    ("raw", "label", "number", "currency"),
    [
        ("RM417.30", "", 417.3, "MYR"),
        ("RM  53.60", "", 53.6, "MYR"),
        ("4.11 USD", "", 4.11, "USD"),
        ("1.234,56 €", "", 1234.56, "EUR"),
        ("80.90", "AMT (RM)", 80.9, "MYR"),
        ("1.5 million", "Revenue (USD)", 1_500_000, "USD"),
        ("€ 1,200.50 per month", "", 1200.5, "EUR"),
    ],
)
def test_money_has_its_currency(raw: str, label: str, number: float, currency: str) -> None:
    value = parse_comparable(raw, label)
    assert (value.number, value.currency, value.si) == (number, currency, None)


def test_a_sign_of_many_currencies_says_so() -> None:
    assert "AUD" in parse_comparable("$4.11").ambiguity


@pytest.mark.parametrize(
    ("raw", "label", "date"),
    [
        ("25/12/2018", "", "2018-12-25"),
        ("12/25/2018", "", "2018-12-25"),
        ("15 JUN 18 08:34:31 PM", "", "2018-06-15"),
        ("August 3 , 2014", "", "2014-08-03"),
        ("12/01/2007, Annual", "", "2007-01-12"),
        ("May 2021", "", "2021-05"),
        ("2014", "Year of manufacture", "2014"),
        ("2014", "Seats", ""),
    ],
)
def test_dates_are_kept_as_far_as_they_are_known(raw: str, label: str, date: str) -> None:
    assert parse_comparable(raw, label).date == date


def test_a_date_of_two_readings_tells_the_other_unless_the_order_is_known() -> None:
    assert parse_comparable("03/05/2018").ambiguity == "day or month first: 2018-05-03 or 2018-03-05"
    assert (
        parse_comparable("03/05/2018", day_first=False).date,
        parse_comparable("03/05/2018", day_first=False).ambiguity,
    ) == (
        "2018-03-05",
        "",
    )
    assert (
        parse_comparable("03/05/2018", day_first=True).date,
        parse_comparable("03/05/2018", day_first=True).ambiguity,
    ) == (
        "2018-05-03",
        "",
    )


@pytest.mark.parametrize(("raw", "truth"), [("Yes", True), ("N", False), ("no", False), ("✓", True), ("None", None)])
def test_yes_and_no_are_truths(raw: str, truth: bool | None) -> None:
    assert parse_comparable(raw).truth is truth


def test_a_long_text_keeps_the_measure_it_begins_with() -> None:
    hours = "2411 hours (total), " + "and so on, " * 30
    assert (parse_comparable(hours).number, parse_comparable(hours).unit, parse_comparable(hours).raw) == (
        2411,
        "h",
        hours,
    )
    assert parse_comparable("In 2411 hours (total), " + "and so on, " * 30).number is None


@pytest.mark.parametrize(
    ("label", "unit"),
    [("Height (mm)", "mm"), ("Speed (idle)", ""), ("Price in EUR", "EUR"), ("Size (L x W)", ""), ("", "")],
)
def test_a_label_may_give_the_unit(label: str, unit: str) -> None:
    assert find_label_unit(label) == unit
