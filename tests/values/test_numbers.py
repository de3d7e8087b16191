"""Numbers as they are written in texts."""

from __future__ import annotations

import pytest

from tablewright.values.numbers import Number, normalize_digits, read_first_number, read_numbers


def first(text: str) -> Number:
    number = read_first_number(text)
    assert number is not None
    return number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234,56", 1234.56),
        ("1 234,56", 1234.56),
        ("1\u00a0234,56", 1234.56),
        ("1\u202f234\u202f567", 1234567),
        ("1'234.50", 1234.5),
        ("1’234’567", 1234567),
        ("12,34,567", 1234567),
        ("1,23,456.78", 123456.78),
        ("12.345.678,9", 12345678.9),
        ("1,5", 1.5),
        ("0,123", 0.123),
        ("1,234", 1234),
        ("0.123", 0.123),
        (".5", 0.5),
        ("5.", 5),
    ],
)
def test_separators_of_many_countries(text: str, value: float) -> None:
    number = first(text)
    assert (number.value, number.clean, number.ambiguous) == (value, True, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5k", 5000),
        ("5K", 5000),
        ("1.2M", 1_200_000),
        ("3 B", 3_000_000_000),
        ("1.1 million", 1_100_000),
        ("1.2bn", 1_200_000_000),
        ("4 thousand", 4000),
        ("5 lakh", 500_000),
        ("2 crore", 20_000_000),
        ("1 trillion", 10**12),
        ("3 Mrd.", 3 * 10**9),
        ("1.2e5", 120_000),
        ("1.2 × 10^5", 120_000),
        ("3×10⁻³", 0.003),
        ("10^5", 100_000),
        ("1/2", 0.5),
        ("2 1/2", 2.5),
        ("2-1/2", 2.5),
        ("1 2/3", 5 / 3),
        ("½", 0.5),
        ("2½", 2.5),
        ("-5", -5),
        ("−5", -5),
        ("minus 5", -5),
        ("+44", 44),
        ("-$5.20", -5.2),
        ("$-5", -5),
        ("(1,200)", -1200),
        ("$(1,200)", -1200),
        ("1,200-", -1200),
        ("USD5", 5),
        ("Rs. 500", 500),
        ("١٢٣٫٥", 123.5),
        ("１２３", 123),
        ("twelve", 12),
        ("twenty-five", 25),
        ("two hundred and five", 205),
        ("one thousand two hundred", 1200),
        ("half a million", 500_000),
        ("one and a half million", 1_500_000),
        ("a dozen", 12),
        ("two dozen", 24),
    ],
)
def test_one_number_written_in_many_ways(text: str, value: float) -> None:
    number = first(text)
    assert number.value == pytest.approx(value, rel=1e-15)
    assert number.clean


def test_whole_numbers_stay_whole() -> None:
    for text in ("5", "1,234", "1.2 million", "3k", "twelve", "10^5"):
        assert isinstance(first(text).value, int), text
    assert isinstance(first("5.0").value, float)


@pytest.mark.parametrize(
    "text", ["COVID-19", "H2O", "B2B", "KB00047215", "v2.3.1", "192.168.0.1", "one of many", "no one", "dozens", ""]
)
def test_what_is_no_number_gives_none(text: str) -> None:
    assert read_numbers(text) == ()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10-20", 10, 20),
        ("10–20 kg", 10, 20),
        ("10 to 20", 10, 20),
        ("between 10 and 20", 10, 20),
        ("$5-$10", 5, 10),
        ("10k-20k", 10_000, 20_000),
        ("5–10%", 5, 10),
        ("10-20 million", 10_000_000, 20_000_000),
        ("500 to 2 million", 500, 2_000_000),
        ("-10 to -5", -10, -5),
        ("10 -20", 10, 20),
        ("three to five", 3, 5),
    ],
)
def test_a_range_keeps_both_ends(text: str, low: float, high: float) -> None:
    (number,) = read_numbers(text)
    assert (number.value, number.high) == (low, high)


@pytest.mark.parametrize("text", ["10 and 20", "747-400", "1,2,3", "2010,2012", "24/7"])
def test_numbers_that_are_no_range_are_several(text: str) -> None:
    numbers = read_numbers(text)
    assert len(numbers) > 1
    assert all(number.high is None for number in numbers)


@pytest.mark.parametrize("text", ["about 500", "~500", "over 500", ">500", "500+", "up to $500", "ca. 500", "500 ± 20"])
def test_a_margin_is_seen(text: str) -> None:
    (number,) = read_numbers(text)
    assert (number.value, number.approximate) == (500, True)


def test_a_point_before_three_digits_is_doubtful_unless_the_text_settles_it() -> None:
    assert first("1.234").note == "1.234 may be 1234"
    assert (first("1.234 kg and 0.5 kg").value, first("1.234 kg and 0.5 kg").ambiguous) == (1.234, False)
    assert first("1.234 kg und 3,5 kg").value == 1234


def test_percent_and_scale_are_told() -> None:
    assert first("12 percent").percent
    assert first("ten percent").percent
    assert first("5 million").scale == 10**6


def test_the_span_is_the_place_in_the_text() -> None:
    text = "Since −1,200.5 was reported"
    number = first(text)
    assert text[number.start : number.end] == "−1,200.5"


def test_plain_keeps_every_character_in_its_place() -> None:
    text = "１\u00a0２−٣ ½ 年"
    assert len(normalize_digits(text)) == len(text)
    assert normalize_digits(text) == "1 2-3 ½ 年"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 hundred", 200),
        ("2 tausend", 2_000),
        ("2 lakh", 200_000),
        ("2 mio", 2_000_000),
        ("2 milhões", 2_000_000),
        ("2 crore", 20_000_000),
        ("2 milliards", 2_000_000_000),
        ("2 miliardi", 2_000_000_000),
        ("2 trn", 2_000_000_000_000),
    ],
)
def test_a_word_after_a_number_multiplies_it(text: str, value: float) -> None:
    assert first(text).value == value


@pytest.mark.parametrize("text", ["-$5", "$-5", "–$5", "minus 5", "-USD 5", "a change of -$5"])
def test_a_sign_before_or_after_the_currency_is_that_of_the_number(text: str) -> None:
    assert first(text).value == -5
