"""Answers as values: whatever text a model, a page or a person gives becomes a value of the field's type, or nothing.

`coerce` never raises and never invents. Its label says how sure the reading is, not how true the value is:
high, the text says just this; medium, something was left out, completed or chosen; low, it is a guess; none, no value.
What was chosen stands in `note`. The grammars are in the modules beside this one.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from tablewright.table.answers import is_not_found, is_plain_answer, says_nothing_was_found, strip_preamble
from tablewright.table.choices import exact_option, read_boolean, read_option
from tablewright.table.dates import read_dates
from tablewright.table.lists import json_items, read_list, unique
from tablewright.table.model import Field, Label, Money, Noun, Value
from tablewright.table.quantities import read_money_value, read_number_value
from tablewright.table.text import show
from tablewright.table.urls import read_url

__all__ = ["LONGEST_TEXT", "LONGEST_TYPED", "NOTHING_FOUND", "Coerced", "coerce", "is_not_found", "strip_preamble"]

NOTHING_FOUND = "the text says that nothing was found"
LONGEST_TEXT = 2000
LONGEST_TYPED = 100_000
"""Characters of a value that a person types in."""
_LOOKED_AT = 6_000  # characters of an answer; what follows cannot be one
_LIST_HEAD = 20_000  # of a long list, where a preamble may stand and where the items are read again

Verdict: TypeAlias = tuple[Value, Label, str]


class Coerced(Noun, frozen=True):
    """`raw_value` is the text as it came. `label` is "none" exactly when `value` is None."""

    value: Value
    raw_value: str
    label: Label
    note: str = ""


def coerce(raw: Value, field: Field) -> Coerced:
    """The value that `raw` is for this field."""
    if type(raw) is not str:
        if field.type == "number" and type(raw) in (int, float) and -1e15 < raw < 1e15:  # type: ignore[operator]
            return Coerced(value=raw, raw_value=show(raw), label="high")
        return _from_typed(raw, field)
    quick = _QUICK.get(field.type)
    if quick and (value := quick(raw, field)) is not None:
        return Coerced(value=value, raw_value=raw, label="high")
    if field.type == "select" and (option := exact_option(raw, field.options)) is not None:
        return Coerced(value=option, raw_value=raw, label="high")
    value, label, note = _from_text(raw, field)
    return Coerced(value=value, raw_value=raw, label=label, note=note)


def _from_text(raw: str, field: Field) -> Verdict:
    if field.type == "list":
        return _list(raw, field.name)
    text = _answer(raw[:_LOOKED_AT], field.name)
    if field.type == "boolean":
        return (None, "none", NOTHING_FOUND) if says_nothing_was_found(text) else read_boolean(text)
    if is_not_found(text):
        options_win = field.type == "select" and exact_option(text, field.options) is not None
        if not options_win:
            return None, "none", NOTHING_FOUND
    match field.type:
        case "number":
            return read_number_value(text, field.unit)
        case "money":
            return read_money_value(text, field.unit)
        case "date":
            return _date(text)
        case "url":
            return read_url(text)
        case "select" if field.options:
            return read_option(text, field.options)
        case _:
            return _text(text, field.name)


# ── the plain cases, before any grammar: a cell of a million must not cost more than a few microseconds ──────────────

_QUICK_NUMBER = re.compile(
    r"-?(?:(?:0|[1-9]\d{0,14})(?:\.(?:\d{1,2}|\d{4,15}))?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,12})?)"
)
_QUICK_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_QUICK_URL = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}(?:/[\w/=&%+~-]*)?")


def _quick_number(raw: str, field: Field) -> int | float | None:
    if field.unit or not _QUICK_NUMBER.fullmatch(raw):
        return None
    digits = raw.replace(",", "")
    return float(digits) if "." in raw else int(digits)


def _quick_date(raw: str, field: Field) -> str | None:
    if not (raw.isascii() and _QUICK_DATE.fullmatch(raw)):
        return None
    try:
        return datetime.date.fromisoformat(raw).isoformat()
    except ValueError:
        return None


def _quick_url(raw: str, field: Field) -> str | None:
    return raw if len(raw) < 500 and raw.isascii() and _QUICK_URL.fullmatch(raw) else None


def _quick_text(raw: str, field: Field) -> str | None:
    return raw if is_plain_answer(raw) else None


_QUICK: dict[str, Callable[[str, Field], Value]] = {
    "number": _quick_number,
    "date": _quick_date,
    "url": _quick_url,
    "text": _quick_text,
}

# ── the answer inside the text ───────────────────────────────────────────────────────────────────────────────────────


def _answer(text: str, name: str) -> str:
    """Without preamble, and without the field's own name before it: "Founded: 1998", "The price is £5"."""
    text = strip_preamble(text)
    while name:
        label = _label_of(name).match(text)
        rest = strip_preamble(text[label.end() :]) if label else ""
        if not rest:
            break
        text = rest
    return text


@lru_cache(maxsize=1024)
def _label_of(name: str) -> re.Pattern[str]:
    spelled = re.escape(name.strip().replace("_", " ")).replace(r"\ ", r"[\s_]+")
    return re.compile(rf"\A(?:the\s+)?{spelled}\s*+(?::(?!//)|=|\b(?:is|was|are)\b\s*+:?)\s*+(?=\S)", re.IGNORECASE)


# ── lists, text and dates ────────────────────────────────────────────────────────────────────────────────────────────


def _list(raw: str, name: str) -> Verdict:
    """The items, read until they read back as they are: an item too may come with a preamble or in quotes."""
    items = json_items(raw)
    label: Label = "high"
    note = ""
    if items is None:
        text = _answer(raw[:_LIST_HEAD], name) + raw[_LIST_HEAD:]
        if is_not_found(text) and json_items(text) is None:
            return None, "none", NOTHING_FOUND
        items, label, note = read_list(text)
    while items and len(text := show(items)) <= _LIST_HEAD:
        text = _answer(text, name)
        if is_not_found(text):
            return None, "none", NOTHING_FOUND
        again = read_list(text)[0]
        if not again or again == items or len(again) > len(items):
            break
        items = again
    return items, label, note


def _text(text: str, name: str) -> Verdict:
    if len(text) <= LONGEST_TEXT:
        return text, "high", ""
    while len(text) > LONGEST_TEXT:
        text = _answer(_cut(text), name)
    if is_not_found(text):
        return None, "none", NOTHING_FOUND
    return text, "medium", f"cut to {LONGEST_TEXT} characters"


_JOINED_TO_THE_NEXT = "\u200d"


def _cut(text: str) -> str:
    """At most `LONGEST_TEXT` characters, up to the end of a word, or of a character with all its marks."""
    space = max(text.rfind(mark, LONGEST_TEXT * 4 // 5, LONGEST_TEXT + 1) for mark in " \n\t")
    if space > 0:
        return text[:space].rstrip()
    place = LONGEST_TEXT
    while place > LONGEST_TEXT - 40 and (_is_mark(text[place]) or text[place - 1] == _JOINED_TO_THE_NEXT):
        place -= 1
    return text[:place]


def _is_mark(character: str) -> bool:
    """What belongs to the character before it: an accent, a joiner, a skin tone, the second half of a surrogate."""
    joins = character in ("\u200d", "\ufe0e", "\ufe0f") or "\U0001f3fb" <= character <= "\U0001f3ff"
    return joins or "\udc00" <= character <= "\udfff" or unicodedata.category(character) in ("Mn", "Me", "Mc")


def _date(text: str) -> Verdict:
    dates = read_dates(text)
    if not dates:
        return None, "none", "no date, or one the calendar does not have"
    first = dates[0]
    others = {date.iso for date in dates[1:]} - {first.iso}
    if first.doubtful:
        return first.iso, "low", first.note
    if first.note:
        return first.iso, "medium", first.note
    if others:
        return first.iso, "low", f"several dates: {first.iso}, {min(others)}"
    return (first.iso, "high", "") if first.clean else (first.iso, "medium", "taken out of a longer text")


# ── values that already have a type ──────────────────────────────────────────────────────────────────────────────────


def _from_typed(raw: Any, field: Field) -> Coerced:
    text = _shown(raw)
    if text is None:
        return Coerced(
            value=None, raw_value="", label="none", note="no value" if raw is None else "a value of no known type"
        )
    typed = _passed_through(raw, field)
    value, label, note = typed if typed else _from_other_type(raw, text, field)
    return Coerced(value=value, raw_value=text, label=label, note=note)


def _shown(raw: Any) -> str | None:
    try:
        match raw:
            case list() | tuple():
                return show(tuple(item if isinstance(item, str) else str(item) for item in raw))
            case datetime.date():
                return raw.isoformat()
            case None | bool() | str() | int() | float() | Money():
                return show(raw) if raw is not None else None
    except (ValueError, OverflowError, RecursionError):
        return str(raw) if isinstance(raw, float) else None  # nan, or an int of thousands of digits
    return None


def _passed_through(raw: Any, field: Field) -> Verdict | None:
    """The verdict on a value that is of the field's type already."""
    match field.type, raw:
        case "boolean", bool():
            return raw, "high", ""
        case "boolean", int() | float() if raw in (0, 1):
            return bool(raw), "high", ""
        case (("number" | "money"), bool()):
            return None, "none", f"{show(raw)} is not a number"
        case (("number" | "money" | "text" | "date"), float()) if not math.isfinite(raw):
            return None, "none", "not a finite number"
        case "number", int() | float():
            return raw, "high", ""
        case "money", Money():
            if not math.isfinite(raw.amount):
                return None, "none", "not a finite number"
            return read_money_value(raw, field.unit)
        case "list", list() | tuple():
            return unique(item if isinstance(item, str) else str(item) for item in raw), "high", ""
        case _:
            return None


def _from_other_type(raw: Any, text: str, field: Field) -> Verdict:
    if isinstance(raw, list | tuple) and len(raw) == 1 and field.type != "text":
        text = str(raw[0])
    return _verdict(coerce(text, field))


def _verdict(coerced: Coerced) -> Verdict:
    return coerced.value, coerced.label, coerced.note
