"""Rates of exchange, to compare prices in different currencies. They are approximate, and whatever is compared by them
says so with their date."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from tablewright.domain.corpus import Typed
from tablewright.domain.model import Money, Noun
from tablewright.domain.text import show_float
from tablewright.errors import BadFile
from tablewright.messages.messages import figure, message
from tablewright.values.currencies import CODES

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
        return message("rates: about", language, amount=f"{figure(f'{amount:,}', language)} {currency}")

    def about_money(self, price: Money, currency: str, language: str = "") -> str:
        """A price in another currency: "about 44 CHF"; "" where it is in that one, or no rate is known."""
        there = self.convert(price.amount, price.currency, currency) if currency not in ("", price.currency) else None
        return self.about(there, currency, language) if there is not None else ""

    def used(self, pairs: Iterable[str], language: str = "") -> str:
        """What a reader should know: "Prices in other currencies are compared at rates of …"."""
        return message("rates: used", language, date=self.date, rates=", ".join(pairs))


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
