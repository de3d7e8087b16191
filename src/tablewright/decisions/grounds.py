"""The grounds of a computation: what a model may put into it, and into a cell, without having made it up.

Numbers stand in the formula's words or in the row, are plain (100, 12, 60), or are factors between units that are
spoken of. Words stand in the same places, or are a change of case or an abbreviation of what stands there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Protocol, TypeAlias

from tablewright.table.measures import Measure, in_unit, read_measures
from tablewright.table.model import Noun, Value
from tablewright.table.numbers import read_numbers
from tablewright.table.rowkey import fold, tokenize
from tablewright.table.template import PLACEHOLDER
from tablewright.table.units import parse_unit

NEAR = 0.001  # a factor may be rounded: 2.205 pounds a kilogram, not 2.2
PLAIN = frozenset({*range(11), 0.01, 0.1, 0.5, 12, 24, 52, 60, 100, 180, 360, 365, 1_000, 3_600})
SCALES = {"million": 10**6, "billion": 10**9}
TEMPERATURE = (32, 1.8, 5 / 9, 273.15)
YES_OR_NO = frozenset({"yes", "no", "true", "false"})
LONGEST_WORD = 40
MOST_WORDS = 400


class Expression(Protocol):
    """A formula that was read. `attempt` gives None for what cannot be evaluated."""

    template: str
    columns: tuple[str, ...]
    constants: tuple[str | int | float, ...]
    copies: bool

    def attempt(self, values: Mapping[str, Value]) -> Value: ...


Read: TypeAlias = Callable[[str], Expression]
"""Reads an expression in the language of formulas; raises UsageError for what is none."""


class Grounds(Noun, frozen=True):
    """`words` are the formula's own, `values` the row's, `labels` the answers that the field allows.

    `units` is further text that names units: the field's, the columns'.
    """

    words: str
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    units: str = ""

    def made_up_numbers(self, constants: Iterable[str | int | float]) -> list[str]:
        known = {*PLAIN, *(form for number in numbers_in(self._bare_words) for form in forms(number)), *self._row}
        known |= {scale for word, scale in SCALES.items() if word in f"{self.words} {self.units}".casefold()}
        factors = self._factors()
        return [
            f"{number:.12g}"
            for number in constants
            if not isinstance(number, str | bool)
            and not any(close(number, other) for other in known)
            and not any(close(number, factor, NEAR) for _, factor, _ in factors)
            and not close(number, math.pi, NEAR)
        ]

    def known_factors(self) -> str:
        """ "1 ft = 30.48 cm", for somebody who used another."""
        return ", ".join(
            f"1 {one} = {factor:.7g} {other}" for one, factor, other in self._factors() if one and factor > 1
        )

    def has_number(self, number: float) -> bool:
        """Whether it stands in the row or in the formula, as it is."""
        return self.row_has(number) or any(close(number, other) for other in numbers_in(self._bare_words))

    def row_has(self, number: float) -> bool:
        return any(close(number, other) for other in self._row)

    @property
    def _row(self) -> set[float]:
        return {number for value in self.values for number in numbers_in(value)}

    @property
    def _bare_words(self) -> str:
        return PLACEHOLDER.sub(" ", self.words)

    def _factors(self) -> list[tuple[str, float, str]]:
        text = " ".join((self.words, self.units, *self.values))
        units = tuple(dict.fromkeys(word for word in _WORD.findall(text)[:MOST_WORDS] if is_unit(word)))
        return list(factors_between(units))

    def made_up_words(self, text: str) -> list[str]:
        sources = [tokenize(fold(source)) for source in (self.words, *self.values, *self.labels)]
        known = {word for source in sources for word in source}
        of_row = self._row_words
        return [
            word
            for word in tokenize(fold(text))
            if word not in known and (word.isdigit() or not is_shortened(word, of_row))
        ]

    def drawn_from_row(self, text: str) -> bool:
        """Whether any word of it comes from the row, not only from the formula and the field's options."""
        of_row = self._row_words
        return any(word in of_row or is_shortened(word, of_row) for word in tokenize(fold(text)))

    def stands_in_row(self, text: str) -> bool:
        """Whether every word of it does, whole."""
        return set(tokenize(fold(text))) <= set(self._row_words)

    def is_label(self, text: str) -> bool:
        """Whether it is a yes or no, or made of nothing but words that the formula or the field offers to choose from.
        That the "no" to a question begins like Norway does not make it a part of the row."""
        offered = {word for source in (self._bare_words, *self.labels) for word in tokenize(fold(source))}
        return set(tokenize(fold(text))) <= offered | YES_OR_NO

    @property
    def _row_words(self) -> list[str]:
        return [word for value in self.values for word in tokenize(fold(value))][:MOST_WORDS]


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)?|°[A-Z]?|%")


def numbers_in(text: str) -> set[float]:
    """As people write them, and every run of digits: 5 and 11 of 5'11", 2019 of 2019-05-01."""
    read = {float(value) for number in read_numbers(text) for value in (number.value, number.high) if value is not None}
    return read | {float(digits) for digits in _DIGITS.findall(text)}


def forms(number: float) -> tuple[float, ...]:
    """With what a percentage makes of it: 19 % is 0.19 and 1.19, and 0.81 is what it leaves."""
    share = number / 100
    return number, share, 1 + share, 1 - share, 100 + number, 100 - number


def close(one: float, other: float, within: float = 1e-9) -> bool:
    return abs(one - other) <= within * max(abs(one), abs(other))


# ── units ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_CONVERSION = re.compile(r"([^\W\d_]+(?:/[^\W\d_]+)?|°[A-Z])\s+(?:to|into|in|as)\s+([^\W\d_]+(?:/[^\W\d_]+)?|°[A-Z])")
_NO_UNIT = frozenset({"a", "as", "at", "to", "is", "if", "then", "else", "or", "and"})


def is_unit(word: str) -> bool:
    return word.casefold() not in _NO_UNIT and parse_unit(word) is not None


@lru_cache(maxsize=256)
def factors_between(units: tuple[str, ...]) -> tuple[tuple[str, float, str], ...]:
    """Each with the units it leads between; the squares and cubes, for areas and volumes, without."""
    found: list[tuple[str, float, str]] = []
    for one in units:
        for other in units:
            unit, target = parse_unit(one), parse_unit(other)
            if unit is None or target is None or unit.pint == target.pint:
                continue
            if unit.kind == target.kind == "temperature":
                found += [("", factor, "") for factor in TEMPERATURE]
            elif factor := converted(1, one, other):
                found += [(one, factor, other), ("", factor**2, ""), ("", factor**3, "")]
    return tuple(found)


def converted(amount: float, unit: str, target: str) -> float | None:
    measure = in_unit(Measure(value=amount, start=0, end=0, unit=unit), target)
    return None if measure is None else float(measure.value)


def conversion_in(words: str) -> tuple[str, str] | None:
    """ "from feet to cm": the two units, if that is what the words ask for."""
    for one, other in _CONVERSION.findall(words):
        if is_unit(one) and is_unit(other) and converted(1, one, other) is not None:
            return one, other
    return None


def own_measure(text: str, unit: str) -> Measure | None:
    """The one quantity that a text states with a unit of its own, other than the one that is expected."""
    measures = read_measures(text, unit)
    if len(measures) != 1 or measures[0].high is not None or measures[0].sizes:
        return None
    return measures[0] if is_other(measures[0].unit, unit) else None


def is_other(one: str, unit: str) -> bool:
    own, expected = parse_unit(one) if one else None, parse_unit(unit)
    return own is not None and expected is not None and own.pint != expected.pint


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_shortened(word: str, words: list[str]) -> bool:
    """The beginning of a word, or words that follow each other written as one: whole or by their first letters."""
    if len(word) > LONGEST_WORD:
        return False
    return any(
        other.startswith(word) or (other[0] == word[0] and is_joined(word, words, place))
        for place, other in enumerate(words)
    )


def is_joined(word: str, words: list[str], place: int) -> bool:
    reached = {0}
    for other in words[place : place + len(word)]:
        reached = {at + len(piece) for at in reached for piece in (other, other[0]) if word.startswith(piece, at)}
        if len(word) in reached:
            return True
    return False
