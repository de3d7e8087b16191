"""The type of a column, and its cells: of texts (CSV), and of values that have types (a workbook, JSON, Parquet).

Strict and column-wide: a type is taken only when every value is of it, so the owner's text is never bent. What a value
looked like is kept in `raw_value` wherever showing the value would not give the same text. Texts of a typed file that
look like numbers stay texts, because their owner could have stored numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from tablewright.domain.model import PENDING, Cell, FieldType, Money, Value, given
from tablewright.domain.text import show, show_float
from tablewright.errors import BadFile
from tablewright.formats.tables.json_stream import LongFloat
from tablewright.formats.tables.limits import MAX_FIELD_CHARS

_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_MIDNIGHT = time()
_YEARS = range(1500, 2200)


class NativeColumn:
    def __init__(self) -> None:
        self._families: set[str] = set()
        self._texts = TextColumn(_text_cell, NOT_NUMBERS)
        self.infinite = 0
        self.mended = 0

    @property
    def filled(self) -> bool:
        return bool(self._families)

    def see(self, values: Sequence[Any]) -> None:
        for kind in set(map(type, values)):
            if kind is str:
                texts = [value for value in values if type(value) is str and not is_empty(value)]
                if texts:
                    if max(map(len, texts)) > MAX_FIELD_CHARS:
                        raise BadFile(f"A value is longer than {MAX_FIELD_CHARS // 1024**2} million characters.")
                    self._families.add("text")
                    self._texts.see(texts)
                    self.mended += sum(map(is_broken, texts))
            elif kind is bool:
                self._families.add("boolean")
            elif kind is not type(None):
                these = [value for value in values if type(value) is kind]
                self._families.update({_family(value) for value in these} - {""})
                if issubclass(kind, float | Decimal):
                    self.infinite += sum(map(is_empty, these))
                elif issubclass(kind, bytes | list | tuple | dict):
                    self.mended += sum(map(is_broken, map(_as_written, these)))

    @property
    def type(self) -> FieldType:
        match sorted(self._families):
            case ["number"]:
                return "number"
            case ["boolean"]:
                return "boolean"
            case ["date"]:
                return "date"
            case ["list"]:
                return "list"
            case ["money"] | ["money", "number"]:
                return "money"
            case ["text"]:
                return self._texts.type
            case ["date", "text"] if self._texts.type == "date":
                return "date"
        return "text"

    def same_kind(self, header: Any) -> bool:
        if is_empty(header):
            return False
        if isinstance(header, str):
            return self._families == {"text"} and self._texts.same_kind(header)
        family = _family(header)
        return self._families == {family} and family in ("number", "date") and not _is_year(header)

    def other_kind(self, header: Any) -> bool:
        if isinstance(header, str) and self._families == {"text"}:
            return self._texts.other_kind(header)
        return isinstance(header, str) and bool(header.strip()) and self.type in ("number", "boolean", "date")

    def cells(self, values: Sequence[Any]) -> list[Cell]:
        wanted = self.type
        if self._families == {"text"}:
            return self._texts.cells([value if type(value) is str else "" for value in values])
        if wanted == "number":
            return [PENDING if is_empty(value) else _native_number_cell(value) for value in values]
        if wanted == "money":
            return [PENDING if is_empty(value) else given(_money(value)) for value in values]
        if wanted in ("boolean", "list"):
            return [PENDING if is_empty(value) else given(_value(value)) for value in values]
        return [PENDING if is_empty(value) else given(text_of(value)) for value in values]


def is_empty(value: Any) -> bool:
    """Nothing, blank text, an empty list, or a float that is no number."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, Decimal):
        return not value.is_finite()
    return isinstance(value, list | tuple) and not value


def header_text(value: Any) -> str:
    return "" if is_empty(value) else text_of(value)


def text_of(value: Any) -> str:
    """Return what a value is as text: dates in ISO form, nested things as compact JSON."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, LongFloat):
        return value.literal
    if isinstance(value, bool | int | float | Money):
        return show(value)
    if isinstance(value, datetime):
        midnight = value.time() == _MIDNIGHT and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return show(tuple(map(plain_text, value)))
    if isinstance(value, bytes | dict | list | tuple):
        return plain_text(_as_written(value))
    return str(value)


def _as_written(value: Any) -> str:
    """Bytes, or a value of many parts, with what no text has in it: bytes that are no UTF-8 are lone surrogates."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_part)


def _part(value: Any) -> str:
    return _as_written(value) if isinstance(value, bytes) else text_of(value)


def is_broken(text: str) -> bool:
    return _NOT_TEXT.search(text) is not None


def plain_text(text: str) -> str:
    """The text without what no database keeps: NULs and halves of surrogate pairs become U+FFFD."""
    return _NOT_TEXT.sub("\ufffd", text) if _NOT_TEXT.search(text) else text


def _family(value: Any) -> str:
    """The type a value would give its column; "other" is what can only be shown as text."""
    if is_empty(value):
        return ""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "number" if abs(value) < 10**MAX_DIGITS else "other"
    if isinstance(value, float):
        return "number"
    if isinstance(value, Decimal):
        return "number" if len(value.as_tuple().digits) <= MAX_DIGITS and -20 < value.adjusted() < 20 else "other"
    if isinstance(value, datetime | date):
        return "date"
    if isinstance(value, Money):
        return "money"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "list"
    return "text" if isinstance(value, str) else "other"


def _is_year(value: Any) -> bool:
    return isinstance(value, int | float) and value in _YEARS


def _native_number_cell(value: int | float | Decimal) -> Cell:
    if isinstance(value, Decimal):
        number: int | float = int(value) if value == value.to_integral_value() else float(value)
        return given(number, None if show(number) == str(value) else str(value))
    if isinstance(value, LongFloat):
        number = float(value)
        return given(int(number) if number.is_integer() and abs(number) < 10**MAX_DIGITS else number, value.literal)
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**MAX_DIGITS:
        return given(int(value))
    return given(value)


def _text_cell(text: str) -> Cell:
    return given(plain_text(text))


def _money(value: Money | int | float | Decimal) -> Money:
    """A number among amounts is an amount whose currency is not stated."""
    return value if isinstance(value, Money) else Money(amount=float(value))


def _value(value: Any) -> Value:
    return tuple(map(plain_text, value)) if isinstance(value, list | tuple) else bool(value)


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
        """Return True if a header is itself a value like those below it (a year may head a column of numbers)."""
        kind = self.kind
        if kind == "text" or not header or header.isspace():
            return False
        return _all_are(kind, [header]) and not (kind in NUMBER_STYLES and _YEAR.fullmatch(header))

    def other_kind(self, header: str) -> bool:
        """Return True if a header is certainly no value of the column below it."""
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
    """Return True if a long number is no more than a float can hold: at most 15 digits, or just what the float
    shows."""
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
