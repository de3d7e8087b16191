"""Quantities with units, and their conversion."""

from __future__ import annotations

import subprocess
import sys

import pint
import pytest

from tablewright.values.measures import Measure, convert_measure, read_measures
from tablewright.values.units import AMBIGUOUS_UNITS, get_unit, list_spelled_units, parse_unit


def converted(text: str, unit: str) -> float | None:
    (measure,) = read_measures(text, unit)
    found = convert_measure(measure, unit)
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1,5 m", "cm", 150),
        ("3 ft 9 in", "m", 1.143),
        ("5'11\"", "cm", 180.34),
        ("5′11″", "cm", 180.34),
        ("5'2\"", "in", 62),
        ("6'2''", "in", 74),
        ("6 ft 2", "cm", 187.96),
        ("6'5'", "in", 77),
        ("6'8.5\"", "in", 80.5),
        ("6 ft. 8 in.", "in", 80),
        ("6-foot-8", "in", 80),
        ("6-foot-8-inch", "in", 80),
        ("1m80", "cm", 180),
        ("6-inch", "cm", 15.24),
        ('¾"', "mm", 19.05),
        ("1 1/2 in", "mm", 38.1),
        ("2.6 lb", "kg", 1.179340162),
        ("5 lb 3 oz", "oz", 83),
        ("72 °F", "°C", 22.2222222222),
        ("32 C", "F", 89.6),
        ("300 K", "°C", 26.85),
        ("1 h 30 min", "min", 90),
        ("1h30", "min", 90),
        ("2 days 3 hours", "h", 51),
        ("1:30:00", "min", 90),
        ("PT1H30M", "min", 90),
        ("2:30", "s", 150),
        ("5 years", "months", 60),
        ("five years", "years", 5),
        ("12 V", "mV", 12000),
        ("400 W", "kW", 0.4),
        ("1.5 kWh", "Wh", 1500),
        ("16 GB", "MB", 16000),
        ("1 GiB", "MiB", 1024),
        ("16 Gb", "GB", 16),
        ("16 Gb", "Gbit", 16),
        ("2 kilos", "g", 2000),
        ("2.4 GHz", "MHz", 2400),
        ("300 km/h", "m/s", 83.3333333333),
        ("60 miles per hour", "mph", 60),
        ("35 mpg", "km/L", 14.8800297601),
        ("35 mpg", "L/100km", 6.72041666667),
        ("5,000 rpm", "Hz", 83.3333333333),
        ("100 sq ft", "m²", 9.290304),
        ("3 cubic metres", "L", 3000),
        ("1000 W/m2", "kW/m²", 1),
        ("-0.448 %/C", "%/°C", -0.448),
        ("1 Gbit/s", "Mbps", 1000),
        ("10 mg/dL", "g/L", 0.1),
        ("3 million tonnes", "t", 3_000_000),
        ("12 oz", "g", 340.1942775),
        ("12 oz", "ml", 354.88235475),
        ("5m", "m", 5),
        ("90 degrees", "°C", 90),
        ("90 degrees", "°", 90),
        ("500 employees", "employees", 500),
        ("1 seat", "seats", 1),
    ],
)
def test_a_quantity_in_another_unit(text: str, unit: str, value: float) -> None:
    assert converted(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("400 W", "kg"),
        ("16 GB", "%"),
        ("20 Nm", "J"),
        ("5 °", "%"),
        ("60 dB", "%"),
        ("5 kg", "employees"),
        ("5 ft", "ft²"),
    ],
)
def test_different_things_do_not_convert(text: str, unit: str) -> None:
    assert converted(text, unit) is None


@pytest.mark.parametrize(
    ("text", "unit", "sizes"),
    [
        ("1134 × 1722 mm", "m", (1.134, 1.722)),
        ("10 x 20 x 30 cm", "cm", (10, 20, 30)),
        ('24" x 36"', "in", (24, 36)),
        ("1886 mm (L) x 951 mm (W)", "mm", (1886, 951)),
        ("1.5 m in length by 1.25 m in width", "m", (1.5, 1.25)),
    ],
)
def test_several_dimensions_are_one_measure(text: str, unit: str, sizes: tuple[float, ...]) -> None:
    (measure,) = read_measures(text, unit)
    found = convert_measure(measure, unit)
    assert found is not None
    assert found.sizes == sizes
    assert found.value == sizes[0]


def test_a_range_converts_at_both_ends() -> None:
    (measure,) = read_measures("10–20 kg")
    assert convert_measure(measure, "g") == Measure(value=10_000, high=20_000, unit="g", start=0, end=8)
    (economy,) = read_measures("20 mpg to 40 mpg")
    found = convert_measure(economy, "L/100km")
    assert found is not None
    assert found.high is not None
    assert found.value < found.high


def test_every_quantity_of_a_text_is_found_in_its_place() -> None:
    text = "It is 1.2 m (3 ft 11 in) tall and weighs about 20kg."
    found = [(text[measure.start : measure.end], measure.unit) for measure in read_measures(text)]
    assert found == [("1.2 m", "m"), ("3 ft 11 in", "in"), ("20kg", "kg")]


@pytest.mark.parametrize("text", ["5 in 2019", "3 in stock", "2 in the box"])
def test_in_is_not_always_inches(text: str) -> None:
    assert read_measures(text)[0].unit == ""


@pytest.mark.parametrize(("text", "unit"), [("5 tons", "kg"), ("3 gallons", "L"), ("2 pints", "L")])
def test_a_unit_of_several_meanings_is_noted(text: str, unit: str) -> None:
    assert read_measures(text, unit)[0].note


def test_pint_knows_every_unit_of_the_table() -> None:
    registry: pint.UnitRegistry[float] = pint.UnitRegistry()
    for unit, _ in list_spelled_units():
        registry.parse_expression(unit.pint)


def test_every_unit_reads_back_from_its_symbol_and_spellings() -> None:
    for unit, spellings in list_spelled_units():
        assert parse_unit(unit.symbol) is not None, unit.symbol
        for spelling in spellings:
            found = parse_unit(spelling)
            assert found is not None, spelling
            assert found.kind == unit.kind or spelling in AMBIGUOUS_UNITS or spelling.casefold() in AMBIGUOUS_UNITS, (
                spelling
            )
    for symbols, _ in AMBIGUOUS_UNITS.values():
        for symbol in symbols:
            get_unit(symbol)


def test_reading_without_converting_leaves_pint_alone() -> None:
    """Its import takes 0.2 s."""
    code = (
        "import sys; from tablewright.values.coerce import coerce_value; from tablewright.domain.model import Field\n"
        "assert coerce_value('12 kg', Field(name='w', type='number', unit='kg')).label == 'high'\n"
        "coerce_value('3 May 2021', Field(name='d', type='date'))\n"
        "assert not {'pint', 'dateparser'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("6 ft 2 in", 74, "in"),
        ("0 ft 6 in", 6, "in"),
        ("2 yd 1 ft", 7, "ft"),
        ("2 yd 3 in", 75, "in"),
        ("1 mi 100 yd", 1_860, "yd"),
        ("1 mi 10 ft", 5_290, "ft"),
        ("7 lb 8 oz", 120, "oz"),
        ("11 st 4 lb", 158, "lb"),
        ("2 years 6 months", 30, "mo"),
        ("3 weeks 2 days", 23, "d"),
        ("2 days 5 hours", 53, "h"),
        ("1 day 30 min", 1_470, "min"),
        ("2 h 15 min", 135, "min"),
        ("1 h 30 s", 3_630, "s"),
        ("5 min 10 s", 310, "s"),
        ("1 m 80 cm", 180, "cm"),
        ("2 m 5 mm", 2_005, "mm"),
        ("3 km 200 m", 3_200, "m"),
        ("2 cm 5 mm", 25, "mm"),
        ("2 kg 500 g", 2_500, "g"),
        ("1 t 200 kg", 1_200, "kg"),
    ],
)
def test_a_quantity_in_two_units_is_one_measure_in_the_smaller_one(text: str, value: float, unit: str) -> None:
    assert [(measure.value, measure.unit) for measure in read_measures(text)] == [(value, unit)]
