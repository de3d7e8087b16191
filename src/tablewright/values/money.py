"""Amounts of money in texts: "£38.50", "USD 1.2bn", "5 million Canadian dollars", "€1.234,56", "from Rs. 500"."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from tablewright.domain.corpus import Typed
from tablewright.domain.model import Money, Noun
from tablewright.domain.text import show_float
from tablewright.errors import BadFile
from tablewright.messages.catalogue import figure, translate
from tablewright.values.currencies import AFTER, BEFORE, CENTS_AFTER, CODES, LONGEST_MARK, POINT_GROUPS, meanings_of
from tablewright.values.numbers import (
    LOOKED_AT,
    Number,
    is_approximate,
    letter_scaled,
    numbers_in,
    plain,
    shared_scale,
    spans_range,
    times,
)


class MoneyText(Noun, frozen=True):
    """An amount at `start:end`, its currency included. In a range `money` is the lower bound and `high` the upper.

    `clean`: nothing else stands in the text. `note` says what had to be chosen.
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
    """The first amount that names its currency, or else the first number. `currency` is the one hoped for."""
    amounts = read_amounts(text, currency)
    return next((amount for amount in amounts if amount.money.currency), amounts[0] if amounts else None)


def read_amounts(text: str, currency: str = "") -> tuple[MoneyText, ...]:
    """Every number of the text as an amount; those without a currency have none."""
    text = plain(text[:LOOKED_AT])
    amounts: list[MoneyText] = []
    last: tuple[MoneyText, Number] | None = None
    for number in numbers_in(text):
        if number.percent:
            continue
        number = letter_scaled(text, number)
        amount = _amount(text, number, currency, last[0].end if last else 0)
        wide = _range(text, *last, amount, number) if last else None
        if wide:
            amounts[-1], last = wide, None
        else:
            amounts.append(amount)
            last = amount, number
    return tuple(_finished(text, amount) for amount in amounts)


_CENTLESS = re.compile(r"[.,](?:[-–—]+|\s?=)(?!\d)")  # "5,-"


def _amount(text: str, number: Number, wanted: str, earlier: int) -> MoneyText:
    start, end, value, note = number.start, number.end, number.value, number.note
    if tail := _CENTLESS.match(text, end):
        end = tail.end()
    prefix, start, end, negative = _prefix(text, start, end, earlier)
    mark = ""
    if suffix := CENTS_AFTER.match(text, end):
        mark, end, value = suffix["mark"], suffix.end(), value / 100
    elif suffix := AFTER.match(text, end):
        mark, end = suffix["mark"], suffix.end()
    if prefix and len(meanings_of(mark)) != 1:
        mark = prefix
    value = -abs(value) if negative else value
    currency, doubt = _chosen(mark, wanted)
    if number.note and "may be" in number.note and currency in POINT_GROUPS and isinstance(value, float):
        value, note = round(value * 1000), f"{text[number.start : number.end]} may be a fraction"
    if note == "m read as million":
        note = ""
    return MoneyText(money=Money(amount=value, currency=currency), start=start, end=end, note=note or doubt)


def _prefix(text: str, start: int, end: int, earlier: int) -> tuple[str, int, int, bool]:
    """The currency before a number, and where the amount then starts and ends; "$(1,200)" is negative."""
    digit = _A_DIGIT.search(text, start)
    if inside := BEFORE.search(text, start, digit.start() if digit else start):  # the sign comes first: -$5
        return inside["mark"], start, end, False
    bracketed = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
    place = start - 1 if bracketed else start
    before = BEFORE.search(text, max(earlier, place - LONGEST_MARK), place)
    if before is None:
        return "", start, end, False
    if bracketed:
        end += 1
    mark, start = before["mark"], before.start()
    closer = BEFORE.search(text, max(earlier, start - LONGEST_MARK), start) if len(meanings_of(mark)) > 1 else None
    if closer and set(meanings_of(closer["mark"])) <= set(meanings_of(mark)):  # USD $5
        mark, start = closer["mark"], closer.start()
    return mark, start, end, bracketed


_A_DIGIT = re.compile(r"\d")


def _chosen(mark: str, wanted: str) -> tuple[str, str]:
    """The currency a mark stands for, and what was doubtful about it."""
    meanings = meanings_of(mark) if mark else ()
    if not meanings:
        return "", ""
    if wanted in meanings or len(meanings) == 1 or mark in ("£",):
        return (wanted if wanted in meanings else meanings[0]), ""
    return meanings[0], f"{mark} may be {', '.join(meanings[:3])}"


def _range(text: str, low: MoneyText, low_number: Number, high: MoneyText, high_number: Number) -> MoneyText | None:
    if not spans_range(text, low_number.start, low.end, high_number.start):
        return None
    currency = low.money.currency or high.money.currency
    if high.money.currency not in ("", currency):
        return None
    if not low.money.currency and high.start < high_number.start:  # "Model 45 – £189": the mark before is of one alone
        return None
    bottom = times(low.money.amount, shared_scale(low_number, high_number))
    if bottom >= high.money.amount:
        return None
    money = Money(amount=bottom, currency=currency)
    return structs.replace(low, money=money, high=high.money.amount, end=high.end, note=low.note or high.note)


def _finished(text: str, amount: MoneyText) -> MoneyText:
    """Return what only the whole text tells: accounting parentheses, a margin, and what is left over."""
    left = (text[: amount.start].strip() + text[amount.end :].strip()).replace(" ", "") if len(text) < 80 else "…"
    if amount.high is None and left in ("()", "-") and amount.money.amount > 0:
        money = structs.replace(amount.money, amount=-amount.money.amount)
        return structs.replace(amount, money=money, clean=True)
    approximate = is_approximate(text, amount.start, amount.end)
    return structs.replace(amount, clean=left in ("", "."), approximate=approximate)


# Units of a currency for one euro about that day, rounded. They were written down by hand and come from no feed, so
# nothing decides by them alone (APPROXIMATE). To renew them, replace the numbers and
# the date by a central bank's reference rates of one day; users do the same with `--rates FILE`.
_DATE = "2024-12-31"
_PER_EURO = {
    "EUR": 1.0, "USD": 1.039, "GBP": 0.829, "CHF": 0.941, "JPY": 163.1, "SEK": 11.46, "NOK": 11.80, "DKK": 7.458,
    "PLN": 4.275, "CZK": 25.19, "HUF": 411.4, "RON": 4.974, "BGN": 1.956, "ISK": 143.9, "TRY": 36.74, "AUD": 1.677,
    "NZD": 1.853, "CAD": 1.495, "MXN": 21.55, "BRL": 6.425, "CNY": 7.583, "HKD": 8.069, "SGD": 1.416, "KRW": 1532.0,
    "INR": 88.93, "IDR": 16821.0, "MYR": 4.645, "PHP": 60.30, "THB": 35.68, "ILS": 3.789, "ZAR": 19.62,
}  # fmt: skip

APPROXIMATE = 0.05
"""The part by which a rate of exchange may be off: what is nearer to a limit is not known to be within it."""


LEAST_WHOLE = 10
"""The amount from which a converted one is told without its decimals."""


class Rates(Noun, frozen=True):
    """`per_euro`: units of each currency for one euro, on that `date`."""

    date: str
    per_euro: Mapping[str, float]

    def convert(self, amount: float, currency: str, wanted: str) -> float | None:
        """None where one of the two is not known."""
        if currency not in self.per_euro or wanted not in self.per_euro:
            return None
        return amount / self.per_euro[currency] * self.per_euro[wanted]

    def rate_text(self, currency: str, wanted: str, language: str = "") -> str:
        """ "1 EUR = 0.829 GBP"."""
        rate = self.convert(1.0, currency, wanted)
        return f"1 {currency} = {figure(show_float(float(f'{rate:.3g}')), language)} {wanted}" if rate else ""

    def in_currency_of(self, value: Typed, limits: Sequence[Typed], language: str = "") -> Typed:
        """An amount in the currency of what it is compared with: the stretch that it may lie in, and in words "9,800
        JPY, about 50 GBP". The value itself where nothing is to be converted, or nobody knows the rate."""
        wanted = next((each.currency for each in limits if each.currency), "")
        if not value.currency or not wanted or value.currency == wanted or value.number is None:
            return value
        low = self.convert(value.number, value.currency, wanted)
        high = self.convert(value.number if value.high is None else value.high, value.currency, wanted)
        if low is None or high is None:
            return value
        raw = f"{value.raw}, {self.about(low, wanted, language)}"
        low, high = low * (1 - APPROXIMATE), high * (1 + APPROXIMATE)
        return structs.replace(value, raw=raw, number=low, high=high, currency=wanted)

    def about(self, amount: float, currency: str, language: str = "") -> str:
        """Rates are approximate, so no more digits are told than mean something."""
        amount = round(amount) if amount >= LEAST_WHOLE else float(f"{amount:.2g}")
        return translate(
            "shortlist", "about {amount}", language, amount=f"{figure(f'{amount:,}', language)} {currency}"
        )

    def about_money(self, price: Money, currency: str, language: str = "") -> str:
        """A price in another currency: "about 44 CHF"; "" where it is in that one, or no rate is known."""
        there = self.convert(price.amount, price.currency, currency) if currency not in ("", price.currency) else None
        return self.about(there, currency, language) if there is not None else ""

    def used(self, pairs: Iterable[str], language: str = "") -> str:
        """Return what a reader should know: "Prices in other currencies are compared at rates of …"."""
        return translate(
            "shortlist",
            "Prices in other currencies are compared at rates of {date}, so about: {rates}.",
            language,
            date=self.date,
            rates=", ".join(pairs),
        )


BUNDLED = Rates(date=_DATE, per_euro=_PER_EURO)


def read_rates(path: Path) -> Rates:
    """A CSV file: the first line `date,YYYY-MM-DD`, then a line `CODE,UNITS FOR ONE EURO` for each currency."""
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
        if code not in CODES or not 0 < rate < 1e9:
            raise BadFile(f"{path} has a line that is no rate: {','.join(line)}.", advice=advice)
        rates[code] = rate
    return Rates(date=lines[0][1].strip(), per_euro=rates)
