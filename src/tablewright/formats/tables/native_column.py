"""The type of a column whose values already have types (a workbook, JSON, Parquet), and its cells.

As strict as for text: one type for all values, or text. Texts that look like numbers stay texts, because their owner
could have stored numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from tablewright.domain.model import PENDING, Cell, FieldType, Money, Value, given
from tablewright.domain.text import show
from tablewright.errors import BadFile
from tablewright.formats.tables.json_stream import LongFloat
from tablewright.formats.tables.limits import MAX_FIELD_CHARS
from tablewright.formats.tables.text_column import MAX_DIGITS, NOT_NUMBERS, TextColumn

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
            return [PENDING if is_empty(value) else _number_cell(value) for value in values]
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
    """What a value is as text: dates in ISO form, nested things as compact JSON."""
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


def _number_cell(value: int | float | Decimal) -> Cell:
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
