"""Amounts of money in texts: "£38.50", "USD 1.2bn", "5 million Canadian dollars", "€1.234,56", "from Rs. 500"."""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.domain.model import Money, Noun
from tablewright.values.currencies import AFTER, BEFORE, CENTS_AFTER, LONGEST_MARK, POINT_GROUPS, meanings_of
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
    inside = BEFORE.search(text, start, _first_digit(text, start))  # the sign comes first: -$5
    if inside:
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


def _first_digit(text: str, start: int) -> int:
    digit = re.compile(r"\d").search(text, start)
    return digit.start() if digit else start


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
    """What only the whole text tells: accounting parentheses, a margin, and what is left over."""
    left = (text[: amount.start].strip() + text[amount.end :].strip()).replace(" ", "") if len(text) < 80 else "…"
    if amount.high is None and left in ("()", "-") and amount.money.amount > 0:
        money = structs.replace(amount.money, amount=-amount.money.amount)
        return structs.replace(amount, money=money, clean=True)
    approximate = is_approximate(text, amount.start, amount.end)
    return structs.replace(amount, clean=left in ("", "."), approximate=approximate)
