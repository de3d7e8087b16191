"""Infer the type of a column and make its cells, from texts (CSV) or typed values (a workbook, JSON, Parquet).

A type is used only if every value of the column has it, so the owner's text is never altered. `raw_value` keeps the
original text if showing the value would give another one. Texts of a typed file that look like numbers stay texts,
because their owner could have stored numbers. Pure functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from tablewright.domain.model import PENDING, Cell, FieldType, Money, make_given_cell
from tablewright.domain.text import format_float, format_value
from tablewright.errors import BadFile
from tablewright.formats.tables.json_stream import LongFloat
from tablewright.formats.tables.limits import TABLE_LIMITS

# Characters that no database stores: NULs and halves of surrogate pairs.
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


class NativeColumn:
    """A column of typed values."""

    def __init__(self) -> None:
        self._families: set[str] = set()
        # Numbers that are texts in a typed file (a workbook, JSON) are texts because their owner wanted them so.
        self._texts = TextColumn(_read_text_cell, frozenset(_PATTERNS) - frozenset(NUMBER_STYLES))
        self.infinite = 0
        self.mended = 0

    @property
    def filled(self) -> bool:
        return bool(self._families)

    def see(self, values: Sequence[Any]) -> None:
        for kind in set(map(type, values)):
            if kind is str:
                texts = [value for value in values if type(value) is str and not is_empty_value(value)]
                if texts:
                    # A typed file has no line length to check, so its values are measured here, as the csv module
                    # measures a field.
                    if max(map(len, texts)) > TABLE_LIMITS.value_characters:
                        raise BadFile(
                            f"A value is longer than {TABLE_LIMITS.value_characters // 1024**2} million characters."
                        )
                    self._families.add("text")
                    # A column of texts still learns its kind: JSON has no type for a date, an address or an e-mail
                    # address.
                    self._texts.see(texts)
                    self.mended += sum(map(has_invalid_characters, texts))
            elif kind is bool:
                self._families.add("boolean")
            elif kind is not type(None):
                these = [value for value in values if type(value) is kind]
                self._families.update({_type_family(value) for value in these} - {""})
                if issubclass(kind, float | Decimal):
                    self.infinite += sum(map(is_empty_value, these))
                elif issubclass(kind, bytes | list | tuple | dict):
                    self.mended += sum(map(has_invalid_characters, map(_decode_nested, these)))

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
            # A total or a corrected amount is often a plain number between formatted ones; it is still an amount.
            case ["money"] | ["money", "number"]:
                return "money"
            case ["text"]:
                return self._texts.type
            # Workbooks hold a date before 1900 only as text.
            case ["date", "text"] if self._texts.type == "date":
                return "date"
        return "text"

    def same_kind(self, header: Any) -> bool:
        if is_empty_value(header):
            return False
        if isinstance(header, str):
            return self._families == {"text"} and self._texts.same_kind(header)
        family = _type_family(header)
        # Texts and booleans are not compared here: both are common as headers and as values.
        # Numbers in this range may be years, and a year may be the header of a column of numbers.
        is_year = isinstance(header, int | float) and header in range(1500, 2200)
        return self._families == {family} and family in ("number", "date") and not is_year

    def other_kind(self, header: Any) -> bool:
        if isinstance(header, str) and self._families == {"text"}:
            return self._texts.other_kind(header)
        return isinstance(header, str) and bool(header.strip()) and self.type in ("number", "boolean", "date")

    def cells(self, values: Sequence[Any]) -> list[Cell]:
        wanted = self.type
        if self._families == {"text"}:
            return self._texts.cells([value if type(value) is str else "" for value in values])
        return [PENDING if is_empty_value(value) else _read_native_cell(value, wanted) for value in values]


def _read_native_cell(value: Any, wanted: FieldType) -> Cell:
    if wanted == "number":
        return _read_native_number(value)
    if wanted == "money":
        # A plain number among amounts has no stated currency.
        return make_given_cell(value if isinstance(value, Money) else Money(amount=float(value)))
    if wanted == "boolean":
        return make_given_cell(bool(value))
    if wanted == "list":
        return make_given_cell(tuple(map(replace_invalid_characters, value)))
    return make_given_cell(format_native_value(value))


def is_empty_value(value: Any) -> bool:
    """Return True for None, blank text, an empty list, or a float that is not finite."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, Decimal):
        return not value.is_finite()
    return isinstance(value, list | tuple) and not value


def format_header(value: Any) -> str:
    return "" if is_empty_value(value) else format_native_value(value)


def format_native_value(value: Any) -> str:
    """Return what a value is as text: dates in ISO form, nested things as compact JSON."""
    if isinstance(value, str):
        return replace_invalid_characters(value)
    if isinstance(value, LongFloat):
        return value.literal
    if isinstance(value, bool | int | float | Money):
        return format_value(value)
    if isinstance(value, datetime):
        # A workbook has no type for a date alone: midnight is how a date comes back from it.
        midnight = value.time() == time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return format_value(tuple(map(replace_invalid_characters, value)))
    if isinstance(value, bytes | dict | list | tuple):
        return replace_invalid_characters(_decode_nested(value))
    return str(value)


def _decode_nested(value: Any) -> str:
    """Return bytes or a nested value as text; bytes that are not UTF-8 become lone surrogates."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_decode_part)


def _decode_part(value: Any) -> str:
    return _decode_nested(value) if isinstance(value, bytes) else format_native_value(value)


def has_invalid_characters(text: str) -> bool:
    return _NOT_TEXT.search(text) is not None


def replace_invalid_characters(text: str) -> str:
    """Replace NULs and halves of surrogate pairs, which no database stores, with U+FFFD."""
    return _NOT_TEXT.sub("\ufffd", text) if _NOT_TEXT.search(text) else text


def _type_family(value: Any) -> str:
    """Return the type that a value would give its column; "other" for what can only be shown as text."""
    if is_empty_value(value):
        return ""
    # Before int, of which bool is a subclass.
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "number" if abs(value) < 10**TABLE_LIMITS.digits else "other"
    if isinstance(value, float):
        return "number"
    if isinstance(value, Decimal):
        # Beyond these exponents a float shows as 1e+20 or 1e-20, which is not what the owner wrote.
        return (
            "number" if len(value.as_tuple().digits) <= TABLE_LIMITS.digits and -20 < value.adjusted() < 20 else "other"
        )
    if isinstance(value, datetime | date):
        return "date"
    if isinstance(value, Money):
        return "money"
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "list"
    return "text" if isinstance(value, str) else "other"


def _read_native_number(value: int | float | Decimal) -> Cell:
    if isinstance(value, Decimal):
        # Parquet decimals have a fixed scale: 5.00 is shown as 5, and its text is kept as the raw value.
        number: int | float = int(value) if value == value.to_integral_value() else float(value)
        return make_given_cell(number, None if format_value(number) == str(value) else str(value))
    if isinstance(value, LongFloat):
        number = float(value)
        return make_given_cell(
            int(number) if number.is_integer() and abs(number) < 10**TABLE_LIMITS.digits else number, value.literal
        )
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**TABLE_LIMITS.digits:
        return make_given_cell(int(value))
    return make_given_cell(value)


def _read_text_cell(text: str) -> Cell:
    return make_given_cell(replace_invalid_characters(text))


# A plus sign before seven digits or more is a telephone number, not a quantity.
_SIGN = r"(?:-|\+(?![0-9]{7}))?"
# No leading zero: "007" and postal codes are identifiers, which would lose their zeros as numbers.
_WHOLE = r"(?:0|[1-9][0-9]*)"


# `\A` without `\Z`: every caller uses fullmatch, and only the space around a value may differ.
def _compile_padded(body: str) -> re.Pattern[str]:
    return re.compile(rf"\A\s*(?:{body})\s*")


NUMBER_STYLES = {
    # Exponents as programs print them; "1e5" without a sign is as likely a part number.
    "plain": _compile_padded(rf"{_SIGN}(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-][0-9]{{2,3}})?"),
    "grouped": _compile_padded(rf"{_SIGN}(?:0|[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})*)(?:\.[0-9]+)?"),
    "comma": _compile_padded(rf"{_SIGN}{_WHOLE}(?:,[0-9]+)?"),
    "grouped comma": _compile_padded(rf"{_SIGN}(?:0|[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})*)(?:,[0-9]+)?"),
}
_ISO_DATE = _compile_padded(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PATTERNS = {
    **NUMBER_STYLES,
    # Two kinds, not one: a column that mixes "true" and "yes" would show one of them as the other.
    "true/false": _compile_padded(r"(?i:true|false)"),
    "yes/no": _compile_padded(r"(?i:yes|no)"),
    "date": _ISO_DATE,
    # Coarse on purpose: a kind must hold for the whole column, so a stray match decides nothing.
    "url": _compile_padded(r"(?i:https?)://[^\s/?#]\S*"),
    "email": _compile_padded(r"[^\s@,;<>]+@[^\s@,;<>]+\.[^\s@,;<>.]+"),
}


class TextColumn:
    """A column of texts. `read_text` makes the cell of a text; `kinds` are tried besides text. With `commas_group`,
    a column of only "1,234" holds thousands; without, it may hold decimals as well, and stays text."""

    def __init__(
        self,
        read_text: Callable[[str], Cell] = make_given_cell,
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
        """Drop the kinds that one of the next values is not."""
        # Most columns of text are settled by their first batch; from then on they cost nothing.
        if not self._possible:
            return
        filled = [value for value in set(values) if value and not value.isspace()]
        if filled:
            self.filled = True
            self._possible = [kind for kind in self._possible if _are_all_of_kind(kind, filled)]

    @property
    def kind(self) -> str:
        """The kind of all values seen, or "text"."""
        if not self.filled or not self._possible:
            return "text"
        # "5" fits every style; without a separator in any value the plain reading is the only one that loses nothing.
        if "plain" in self._possible:
            return "plain"
        # All values look like "1,234": thousands and decimals are both possible, and a wrong guess is off by a
        # thousand.
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
        # Years, as in a typed column: in a column of numbers such a header is a name, not a value.
        return _are_all_of_kind(kind, [header]) and not (
            kind in NUMBER_STYLES and re.fullmatch(r"\s*(?:1[5-9]|20|21)[0-9]{2}\s*", header)
        )

    def other_kind(self, header: str) -> bool:
        """Return True if a header is certainly no value of the column below it."""
        return self.kind != "text" and bool(header.strip()) and not _are_all_of_kind(self.kind, [header])

    def cells(self, values: Sequence[str]) -> list[Cell]:
        read = {
            "plain": _read_plain_number,
            "grouped": _number_reader(lambda text: text.replace(",", "")),
            "comma": _number_reader(lambda text: text.replace(",", ".")),
            "grouped comma": _number_reader(lambda text: text.replace(".", "").replace(",", ".")),
            "true/false": _read_boolean_text,
            "yes/no": _read_boolean_text,
            "date": _read_stripped,
            "url": _read_stripped,
        }.get(self.kind, self._read_text)
        distinct = set(values)
        # Sharing one cell among equal values saves time and memory only if values repeat.
        if len(distinct) * 2 > len(values):
            return [read(value) if value and not value.isspace() else PENDING for value in values]
        made = {value: read(value) if value and not value.isspace() else PENDING for value in distinct}
        return [made[value] for value in values]


def _are_all_of_kind(kind: str, values: list[str]) -> bool:
    if not all(map(_PATTERNS[kind].fullmatch, values)):
        return False
    if kind in NUMBER_STYLES:
        # The length is tested first, because it settles almost every value without parsing it.
        return all(
            (len(value) <= TABLE_LIMITS.digits or _fits_float(value)) and ("e" not in value or isfinite(float(value)))
            for value in values
        )
    return kind != "date" or all(map(is_iso_date, values))


def _fits_float(text: str) -> bool:
    """Return True if a long number is no more than a float can hold: at most 15 digits, or just what the float
    shows."""
    digits = re.sub(r"[^0-9]", "", text.partition("e")[0])
    if len(digits.lstrip("0")) <= TABLE_LIMITS.digits:
        return True
    return "." in text and "," not in text and format_float(float(text)) == text.strip()


def is_iso_date(text: str) -> bool:
    if not _ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _read_plain_number(text: str) -> Cell:
    if "." in text or "e" in text:
        number = float(text)
        return make_given_cell(number, None if format_float(number) == text else text)
    value = int(text)
    return make_given_cell(value, None if str(value) == text else text)


def _number_reader(plain: Callable[[str], str]) -> Callable[[str], Cell]:
    def read(text: str) -> Cell:
        number = plain(text)
        value = float(number) if "." in number else int(number)
        return make_given_cell(value, None if format_value(value) == text else text)

    return read


def _read_boolean_text(text: str) -> Cell:
    value = text.strip().lower() in ("true", "yes")
    return make_given_cell(value, None if format_value(value) == text else text)


def _read_stripped(text: str) -> Cell:
    value = text.strip()
    return make_given_cell(value, None if value == text else text)
