"""Amounts of money in texts."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field, Money
from tablewright.values.coerce import coerce_value
from tablewright.values.money import BUNDLED_RATES, read_amounts, read_money


def money(amount: float, currency: str = "") -> Money:
    return Money(amount=amount, currency=currency)


@pytest.mark.parametrize(
    ("text", "amount", "currency", "label"),
    [
        ("£38.50", 38.5, "GBP", "high"),
        ("38.50 pounds", 38.5, "GBP", "high"),
        ("€1.234,56", 1234.56, "EUR", "high"),
        ("1.234,56 €", 1234.56, "EUR", "high"),
        ("USD 1.2bn", 1_200_000_000, "USD", "high"),
        ("1,200.50 USD", 1200.5, "USD", "high"),
        ("USD $5", 5, "USD", "high"),
        ("$5 CAD", 5, "CAD", "high"),
        ("US$ 5", 5, "USD", "high"),
        ("A$5", 5, "AUD", "high"),
        ("C$5", 5, "CAD", "high"),
        ("NZ$5", 5, "NZD", "high"),
        ("HK$5", 5, "HKD", "high"),
        ("R$ 1.234,56", 1234.56, "BRL", "high"),
        ("CHF 1'234.50", 1234.5, "CHF", "high"),
        ("Fr. 20.-", 20, "CHF", "high"),
        ("5,- €", 5, "EUR", "high"),
        ("5 Canadian dollars", 5, "CAD", "high"),
        ("₹12,34,567", 1234567, "INR", "high"),
        ("RM 80.90", 80.9, "MYR", "high"),
        ("12,50 zł", 12.5, "PLN", "high"),
        ("50p", 0.5, "GBP", "high"),
        ("(£1,200)", -1200, "GBP", "high"),
        ("-€5", -5, "EUR", "high"),
        ("$5", 5, "USD", "medium"),
        ("5 million dollars", 5_000_000, "USD", "medium"),
        ("$5m", 5_000_000, "USD", "medium"),
        ("Rs. 500", 500, "INR", "medium"),
        ("¥500", 500, "JPY", "medium"),
        ("500 kr", 500, "SEK", "medium"),
        ("€1.234", 1234, "EUR", "medium"),
        ("from £38.50", 38.5, "GBP", "medium"),
        ("£5-£10", 5, "GBP", "medium"),
        ("€5–10 million", 5_000_000, "EUR", "medium"),
        ("€20 per month", 20, "EUR", "medium"),
        ("In 2019, revenue was €5 million", 5_000_000, "EUR", "medium"),
        ("500", 500, "", "medium"),
        ("free", 0, "", "medium"),
        ("It costs £5 or sometimes £6", 5, "GBP", "medium"),
    ],
)
def test_an_amount_and_its_currency(text: str, amount: float, currency: str, label: str) -> None:
    coerced = coerce_value(text, Field(name="price", type="money"))
    assert (coerced.value, coerced.label) == (money(amount, currency), label)


@pytest.mark.parametrize(
    ("text", "unit", "value", "label"),
    [
        ("5", "EUR", money(5, "EUR"), "high"),
        ("5.50", "€", money(5.5, "EUR"), "high"),
        ("about 5", "EUR", money(5, "EUR"), "medium"),
        ("$5", "CAD", money(5, "CAD"), "high"),
        ("500 kr", "NOK", money(500, "NOK"), "high"),
        ("¥500", "CNY", money(500, "CNY"), "high"),
        ("$5", "EUR", money(5, "USD"), "low"),
        ("no price given", "EUR", None, "none"),
    ],
)
def test_the_unit_of_the_field_settles_the_currency(text: str, unit: str, value: Money | None, label: str) -> None:
    coerced = coerce_value(text, Field(name="price", type="money", unit=unit))
    assert (coerced.value, coerced.label) == (value, label)


def test_another_currency_is_kept_and_never_converted() -> None:
    coerced = coerce_value(money(5, "USD"), Field(name="price", type="money", unit="EUR"))
    assert coerced.value == money(5, "USD")
    assert coerced.note == "USD, not EUR; nothing was converted"


@pytest.mark.parametrize("text", ["TOP 10", "ALL 5 items", "try 5 times", "a pen 3"])
def test_words_that_look_like_codes_are_no_currencies(text: str) -> None:
    amount = read_money(text)
    assert amount is not None
    assert amount.money.currency == ""


def test_the_span_holds_the_currency() -> None:
    text = "Prices: from US$ 5 to US$ 10, later 7 EUR"
    assert [text[amount.start : amount.end] for amount in read_amounts(text)] == ["US$ 5 to US$ 10", "7 EUR"]
    assert read_amounts(text)[0].high == 10


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Model 45 – ¥31,900", [(45, None, ""), (31_900, None, "JPY")]),
        ("Otter 54 - £189.00", [(54, None, ""), (189, None, "GBP")]),
        ("Alm 24 – 119,95 €", [(24, 119.95, "EUR")]),
        ("£54 – £189", [(54, 189, "GBP")]),
        ("£54 – 189", [(54, 189, "GBP")]),
    ],
)
def test_a_mark_before_the_second_figure_alone_makes_no_range(
    text: str, read: list[tuple[float, float | None, str]]
) -> None:
    assert [(each.money.amount, each.high, each.money.currency) for each in read_amounts(text)] == read


def test_a_range_keeps_the_doubt_about_its_currency() -> None:
    (amount,) = read_amounts("$10–20")
    assert (amount.ends, amount.note) == ((10, 20), "$ may be USD, AUD, CAD")


def test_an_amount_survives_its_conversion_into_every_currency_and_back() -> None:
    for currency in BUNDLED_RATES.per_euro:
        there = BUNDLED_RATES.convert(100, "EUR", currency)
        assert there is not None
        assert there > 0
        assert BUNDLED_RATES.convert(there, currency, "EUR") == pytest.approx(100)


def test_currencies_that_are_tied_to_the_euro_have_that_rate() -> None:
    # The lev was fixed by law; the krone may leave its central rate by 2.25 percent.
    assert BUNDLED_RATES.convert(100, "EUR", "BGN") == pytest.approx(195.583, rel=0.001)
    assert BUNDLED_RATES.convert(100, "EUR", "DKK") == pytest.approx(746.038, rel=0.0225)
