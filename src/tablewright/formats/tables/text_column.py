"""The type of a column whose values are text (CSV), and its cells.

Strict and column-wide: a type is taken only when every value is of it, so the owner's text is never bent. What a value
looked like is kept in `raw_value` wherever showing the value would not give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from math import isfinite

from tablewright.domain.model import PENDING, Cell, FieldType, given
from tablewright.domain.text import show, show_float

_DIGITS = re.compile(r"[0-9]")
# A plus sign before seven digits or more is a telephone number, not a quantity.
_SIGN = r"(?:-|\+(?![0-9]{7}))?"
_WHOLE = r"(?:0|[1-9][0-9]*)"
_COMMA_GROUPS = r"(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})*)"
_POINT_GROUPS = r"(?:0|[1-9][0-9]{0,2}(?:\.[0-9]{3})*)"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(rf"\A\s*(?:{body})\s*")


NUMBER_STYLES = {
    "plain": _pattern(rf"{_SIGN}(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-][0-9]{{2,3}})?"),
    "grouped": _pattern(rf"{_SIGN}{_COMMA_GROUPS}(?:\.[0-9]+)?"),
    "comma": _pattern(rf"{_SIGN}{_WHOLE}(?:,[0-9]+)?"),
    "grouped comma": _pattern(rf"{_SIGN}{_POINT_GROUPS}(?:,[0-9]+)?"),
}
_ISO_DATE = _pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PATTERNS = {
    **NUMBER_STYLES,
    "true/false": _pattern(r"(?i:true|false)"),
    "yes/no": _pattern(r"(?i:yes|no)"),
    "date": _ISO_DATE,
    "url": _pattern(r"(?i:https?)://[^\s/?#]\S*"),
    "email": _pattern(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>.]+"),
}
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_YEAR = re.compile(r"\s*(?:1[5-9]|20|21)[0-9]{2}\s*")
# Numbers that are texts in a typed file (a workbook, JSON) are texts because their owner wanted them so.
NOT_NUMBERS = frozenset(_PATTERNS) - frozenset(NUMBER_STYLES)

MAX_DIGITS = 15


class TextColumn:
    """`read_text` makes the cell of a text; `kinds` are those to consider besides text. With `commas_group` a column of
    nothing but "1,234" holds thousands; without, it may as well hold decimals, and is text."""

    def __init__(
        self,
        read_text: Callable[[str], Cell] = given,
        kinds: frozenset[str] = frozenset(_PATTERNS),
        *,
        commas_group: bool = False,
    ) -> None:
        self._read_text = read_text
        self._commas_group = commas_group
        self._possible = [kind for kind in _PATTERNS if kind in kinds]
        self.filled = False
        self.infinite = self.mended = 0  # what is not text is refused before it is read

    def see(self, values: Sequence[str]) -> None:
        """Takes the next values into account: the kinds that one of them is not, drop out."""
        if not self._possible:
            return
        filled = [value for value in set(values) if value and not value.isspace()]
        if filled:
            self.filled = True
            self._possible = [kind for kind in self._possible if _all_are(kind, filled)]

    @property
    def kind(self) -> str:
        """The one kind that all values seen are of, or "text"."""
        if not self.filled or not self._possible:
            return "text"
        if "plain" in self._possible:
            return "plain"
        if "grouped" in self._possible and len(self._possible) > 1 and not self._commas_group:
            return "text"
        return self._possible[0]

    @property
    def type(self) -> FieldType:
        kind = self.kind
        if kind in NUMBER_STYLES:
            return "number"
        if kind in ("true/false", "yes/no"):
            return "boolean"
        return "date" if kind == "date" else "url" if kind == "url" else "text"

    def same_kind(self, header: str) -> bool:
        """Whether a header is itself a value like those below it (a year may head a column of numbers)."""
        kind = self.kind
        if kind == "text" or not header or header.isspace():
            return False
        return _all_are(kind, [header]) and not (kind in NUMBER_STYLES and _YEAR.fullmatch(header))

    def other_kind(self, header: str) -> bool:
        """Whether a header is certainly no value of the column below it."""
        return self.kind != "text" and bool(header.strip()) and not _all_are(self.kind, [header])

    def cells(self, values: Sequence[str]) -> list[Cell]:
        read = _READERS.get(self.kind, self._read_text)
        distinct = set(values)
        if len(distinct) * 2 > len(values):
            return [read(value) if value and not value.isspace() else PENDING for value in values]
        made = {value: read(value) if value and not value.isspace() else PENDING for value in distinct}
        return [made[value] for value in values]


def _all_are(kind: str, values: list[str]) -> bool:
    if not all(map(_PATTERNS[kind].fullmatch, values)):
        return False
    if kind in NUMBER_STYLES:
        return all((len(value) <= MAX_DIGITS or _is_exact(value)) and _is_finite(value) for value in values)
    return kind != "date" or all(map(is_iso_date, values))


def _is_exact(text: str) -> bool:
    """Whether a long number is no more than a float can hold: at most 15 digits, or just what the float shows."""
    digits = "".join(_DIGITS.findall(text.partition("e")[0]))
    if len(digits.lstrip("0")) <= MAX_DIGITS:
        return True
    return "." in text and "," not in text and show_float(float(text)) == text.strip()


def _is_finite(text: str) -> bool:
    return "e" not in text or isfinite(float(text))


def is_iso_date(text: str) -> bool:
    if not _ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _plain_cell(text: str) -> Cell:
    if "." in text or "e" in text:
        number = float(text)
        return given(number, None if show_float(number) == text else text)
    value = int(text)
    return given(value, None if str(value) == text else text)


def _number_cell(plain: Callable[[str], str]) -> Callable[[str], Cell]:
    def read(text: str) -> Cell:
        number = plain(text)
        value = float(number) if "." in number else int(number)
        return given(value, None if show(value) == text else text)

    return read


def _boolean_cell(text: str) -> Cell:
    value = _BOOLEANS[text.strip().lower()]
    return given(value, None if show(value) == text else text)


def _stripped_cell(text: str) -> Cell:
    value = text.strip()
    return given(value, None if value == text else text)


_READERS: dict[str, Callable[[str], Cell]] = {
    "plain": _plain_cell,
    "grouped": _number_cell(lambda text: text.replace(",", "")),
    "comma": _number_cell(lambda text: text.replace(",", ".")),
    "grouped comma": _number_cell(lambda text: text.replace(".", "").replace(",", ".")),
    "true/false": _boolean_cell,
    "yes/no": _boolean_cell,
    "date": _stripped_cell,
    "url": _stripped_cell,
}
