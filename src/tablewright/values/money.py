"""Read and convert amounts of money in texts: "£38.50", "USD 1.2bn", "5 million Canadian dollars", "€1.234,56", "from
Rs. 500"."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from tablewright.domain.documents import ComparableValue
from tablewright.domain.model import Money, Struct
from tablewright.domain.text import format_float
from tablewright.errors import BadFile
from tablewright.messages.catalogue import localize_figure, translate
from tablewright.values.currencies import (
    CENTS_AFTER,
    CURRENCY_AFTER,
    CURRENCY_BEFORE,
    CURRENCY_CODES,
    MAX_MARK_CHARACTERS,
    POINT_GROUPED_CURRENCIES,
    currency_meanings,
)
from tablewright.values.numbers import (
    MAX_TEXT_CHARACTERS,
    Number,
    apply_letter_scale,
    find_plain_numbers,
    is_approximate,
    multiply_exactly,
    normalize_digits,
    shared_scale,
    spans_range,
)


class MoneyText(Struct, frozen=True):
    """An amount at `start:end`, currency included. In a range, `money` is the lower bound and `high` the upper.

    `clean`: the text has nothing else. `note` says what had to be chosen.
    """

    money: Money
    start: int
    end: int
    high: int | float | None = None
    clean: bool = False
    approximate: bool = False
    note: str = ""

    @property
    def ends(self) -> tuple[int | float, ...]:
        return (self.money.amount,) if self.high is None else (self.money.amount, self.high)


def read_money(text: str, currency: str = "") -> MoneyText | None:
    """Return the first amount that names its currency, else the first number. `currency` is the expected one."""
    amounts = read_amounts(text, currency)
    return next((amount for amount in amounts if amount.money.currency), amounts[0] if amounts else None)


def read_amounts(text: str, currency: str = "") -> tuple[MoneyText, ...]:
    """Return every number of the text as an amount, with or without a currency."""
    text = normalize_digits(text[:MAX_TEXT_CHARACTERS])
    amounts: list[MoneyText] = []
    last: tuple[MoneyText, Number] | None = None
    for number in find_plain_numbers(text):
        if number.percent:
            continue
        number = apply_letter_scale(text, number)
        amount = _read_amount_at(text, number, currency, last[0].end if last else 0)
        wide = _join_amount_range(text, *last, amount, number) if last else None
        if wide:
            amounts[-1], last = wide, None
        else:
            amounts.append(amount)
            last = amount, number
    return tuple(_mark_clean_amount(text, amount) for amount in amounts)


def _read_amount_at(text: str, number: Number, wanted: str, earlier: int) -> MoneyText:
    start, end, value, note = number.start, number.end, number.value, number.note
    # "5,-"
    if text[end : end + 1] in (".", ",") and (tail := re.match(r".(?:[-–—]+|\s?=)(?!\d)", text[end:])):
        end += tail.end()
    prefix, start, end, negative = _find_currency_prefix(text, start, end, earlier)
    mark = ""
    if suffix := CENTS_AFTER.match(text, end):
        mark, end, value = suffix["mark"], suffix.end(), value / 100
    elif suffix := CURRENCY_AFTER.match(text, end):
        mark, end = suffix["mark"], suffix.end()
    if prefix and len(currency_meanings(mark)) != 1:
        mark = prefix
    value = -abs(value) if negative else value
    currency, doubt = _choose_currency(mark, wanted)
    if number.note and "may be" in number.note and currency in POINT_GROUPED_CURRENCIES and isinstance(value, float):
        value, note = round(value * 1000), f"{text[number.start : number.end]} may be a fraction"
    if note == "m read as million":
        note = ""
    return MoneyText(money=Money(amount=value, currency=currency), start=start, end=end, note=note or doubt)


def _find_currency_prefix(text: str, start: int, end: int, earlier: int) -> tuple[str, int, int, bool]:
    """Return the currency before a number, the start and end of the amount, and True if negative, as "$(1,200)"."""
    digit = next((place for place in range(start, end) if text[place].isdecimal()), start)
    if inside := CURRENCY_BEFORE.search(text, start, digit):  # the sign comes first: -$5
        return inside["mark"], start, end, False
    bracketed = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
    place = start - 1 if bracketed else start
    before = CURRENCY_BEFORE.search(text, max(earlier, place - MAX_MARK_CHARACTERS), place)
    if before is None:
        return "", start, end, False
    if bracketed:
        end += 1
    mark, start = before["mark"], before.start()
    closer = (
        CURRENCY_BEFORE.search(text, max(earlier, start - MAX_MARK_CHARACTERS), start)
        if len(currency_meanings(mark)) > 1
        else None
    )
    if closer and set(currency_meanings(closer["mark"])) <= set(currency_meanings(mark)):  # USD $5
        mark, start = closer["mark"], closer.start()
    return mark, start, end, bracketed


def _choose_currency(mark: str, wanted: str) -> tuple[str, str]:
    """Return the currency that a mark means, and a note on what is doubtful."""
    meanings = currency_meanings(mark) if mark else ()
    if not meanings:
        return "", ""
    if wanted in meanings or len(meanings) == 1 or mark in ("£",):
        return (wanted if wanted in meanings else meanings[0]), ""
    return meanings[0], f"{mark} may be {', '.join(meanings[:3])}"


def _join_amount_range(
    text: str, low: MoneyText, low_number: Number, high: MoneyText, high_number: Number
) -> MoneyText | None:
    if not spans_range(text, low_number.start, low.end, high_number.start):
        return None
    currency = low.money.currency or high.money.currency
    if high.money.currency not in ("", currency):
        return None
    if not low.money.currency and high.start < high_number.start:  # "Model 45 – £189": the mark before is of one alone
        return None
    bottom = multiply_exactly(low.money.amount, shared_scale(low_number, high_number))
    if bottom >= high.money.amount:
        return None
    money = Money(amount=bottom, currency=currency)
    return structs.replace(low, money=money, high=high.money.amount, end=high.end, note=low.note or high.note)


def _mark_clean_amount(text: str, amount: MoneyText) -> MoneyText:
    """Return the amount with what depends on the whole text: accounting parentheses, a margin, and if it is clean."""
    left = (text[: amount.start].strip() + text[amount.end :].strip()).replace(" ", "") if len(text) < 80 else "…"
    if amount.high is None and left in ("()", "-") and amount.money.amount > 0:
        money = structs.replace(amount.money, amount=-amount.money.amount)
        return structs.replace(amount, money=money, clean=True)
    approximate = is_approximate(text, amount.start, amount.end)
    return structs.replace(amount, clean=left in ("", "."), approximate=approximate)


# The share by which an exchange rate may be wrong: a converted amount nearer to a limit than this is undecided.
RATE_TOLERANCE = 0.05


class ExchangeRates(Struct, frozen=True):
    """`per_euro`: units of each currency for one euro, on that `date`."""

    date: str
    per_euro: Mapping[str, float]

    def convert(self, amount: float, currency: str, wanted: str) -> float | None:
        """Return the converted amount, or None if one of the currencies is unknown."""
        if currency not in self.per_euro or wanted not in self.per_euro:
            return None
        return amount / self.per_euro[currency] * self.per_euro[wanted]

    def rate_text(self, currency: str, wanted: str, language: str = "") -> str:
        """Return the rate as "1 EUR = 0.829 GBP"."""
        rate = self.convert(1.0, currency, wanted)
        return (
            f"1 {currency} = {localize_figure(format_float(float(f'{rate:.3g}')), language)} {wanted}" if rate else ""
        )

    def in_currency_of(
        self, value: ComparableValue, limits: Sequence[ComparableValue], language: str = ""
    ) -> ComparableValue:
        """Return an amount in the currency of its limits, as the range of possible amounts, described as "9,800 JPY,
        about 50 GBP". Return the value unchanged if there is nothing to convert or the rate is unknown."""
        wanted = next((each.currency for each in limits if each.currency), "")
        if not value.currency or not wanted or value.currency == wanted or value.number is None:
            return value
        low = self.convert(value.number, value.currency, wanted)
        high = self.convert(value.number if value.high is None else value.high, value.currency, wanted)
        if low is None or high is None:
            return value
        # What a document says stays as it is written there.
        is_ours = value.raw == str(Money(amount=value.number, currency=value.currency))
        raw = localize_figure(value.raw, language) if is_ours else value.raw
        raw = f"{raw}, {self.about(low, wanted, language)}"
        low, high = low * (1 - RATE_TOLERANCE), high * (1 + RATE_TOLERANCE)
        return structs.replace(value, raw=raw, number=low, high=high, currency=wanted)

    def about(self, amount: float, currency: str, language: str = "") -> str:
        """Return "about 50 GBP", with no more digits than an approximate rate justifies."""
        # An approximate rate says nothing about the decimals of ten and more.
        amount = round(amount) if amount >= 10 else float(f"{amount:.2g}")
        return translate(
            "shortlist", "about {amount}", language, amount=f"{localize_figure(f'{amount:,}', language)} {currency}"
        )

    def about_money(self, price: Money, currency: str, language: str = "") -> str:
        """Return a price in another currency, "about 44 CHF", or "" if it is in that one or the rate is unknown."""
        there = self.convert(price.amount, price.currency, currency) if currency not in ("", price.currency) else None
        return self.about(there, currency, language) if there is not None else ""

    def used(self, pairs: Iterable[str], language: str = "") -> str:
        """Return a note for readers: "Prices in other currencies are compared at rates of …"."""
        return translate(
            "shortlist",
            "Prices in other currencies are compared at rates of {date}, so about: {rates}.",
            language,
            date=self.date,
            rates=", ".join(pairs),
        )


# Units of a currency for one euro about that day, rounded. They were written down by hand and come from no feed, so
# nothing decides by them alone (`RATE_TOLERANCE`). To renew them, replace the numbers and the date by a central bank's
# reference rates of one day; users do the same with `--rates FILE`.
BUNDLED_RATES = ExchangeRates(
    date="2024-12-31",
    per_euro={
        "EUR": 1.0, "USD": 1.039, "GBP": 0.829, "CHF": 0.941, "JPY": 163.1, "SEK": 11.46, "NOK": 11.80, "DKK": 7.458,
        "PLN": 4.275, "CZK": 25.19, "HUF": 411.4, "RON": 4.974, "BGN": 1.956, "ISK": 143.9, "TRY": 36.74, "AUD": 1.677,
        "NZD": 1.853, "CAD": 1.495, "MXN": 21.55, "BRL": 6.425, "CNY": 7.583, "HKD": 8.069, "SGD": 1.416, "KRW": 1532.0,
        "INR": 88.93, "IDR": 16821.0, "MYR": 4.645, "PHP": 60.30, "THB": 35.68, "ILS": 3.789, "ZAR": 19.62,
    },
)  # fmt: skip


def read_rates(path: Path) -> ExchangeRates:
    """Read a CSV file with a line `date,YYYY-MM-DD`, then a line `CODE,UNITS FOR ONE EURO` for each currency."""
    try:
        lines = [line for line in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"The rates in {path} cannot be read: {error}.") from None
    advice = "Its first line is `date,2026-11-17`; then one line for each currency, such as `GBP,0.84` for one euro."
    if not lines or [each.strip().lower() for each in lines[0][:1]] != ["date"] or len(lines[0]) != 2:
        raise BadFile(f"{path} does not begin with the date of its rates.", advice=advice)
    rates = {"EUR": 1.0}
    for line in lines[1:]:
        try:
            code, rate = line[0].strip().upper(), float(line[1])
        except (IndexError, ValueError):
            raise BadFile(f"{path} has a line that is no rate: {','.join(line)}.", advice=advice) from None
        if code not in CURRENCY_CODES or not 0 < rate < 1e9:
            raise BadFile(f"{path} has a line that is no rate: {','.join(line)}.", advice=advice)
        rates[code] = rate
    return ExchangeRates(date=lines[0][1].strip(), per_euro=rates)
