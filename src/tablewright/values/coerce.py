"""Convert the text of a model, a page or a person into a value of the field's type, or into nothing.

`coerce_value` never raises and never invents. Its label says how certain the reading is, not whether the value is true:
high, the text says exactly this; medium, something was left out, completed or chosen; low, a guess; none, no value.
`note` explains the choice. The grammars of each type are in the other modules of `values/`.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from tablewright.domain.model import Field, Label, Money, Struct, Value
from tablewright.domain.text import format_value
from tablewright.values.answers import (
    ReadValue,
    find_removed_around,
    find_removed_outside,
    is_not_found,
    is_plain_answer,
    keep_worded_parts,
    says_nothing_was_found,
    strip_preamble,
)
from tablewright.values.choices import (
    find_exact_option,
    normalize_items,
    read_boolean,
    read_json_list,
    read_list,
    read_option,
)
from tablewright.values.dates import ISO_DAY, read_dates
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.quantities import read_money_value, read_number_value

__all__ = [
    "NOTHING_FOUND",
    "VALUE_LIMITS",
    "CoercedValue",
    "coerce_value",
    "is_not_found",
    "strip_preamble",
]

NOTHING_FOUND = "the text says that nothing was found"


class TextLimits(NamedTuple):
    """Characters of texts that become values."""

    text: int = 2000
    """Of a text value: a cell is read at a glance, and longer answers are prose around a value."""
    typed: int = 100_000
    """Of a value that a person types, who may type longer ones than a model may answer."""
    listed: int = 400
    """Of removed text in a note, which is read at a glance; the cell's raw value has the whole text."""
    answer: int = 6_000
    """Of an answer that is read: no value begins later."""
    list_head: int = 20_000
    """Of a long list that may begin with a preamble, and whose items are read again."""
    url: int = 2048
    """Of an address: browsers and servers refuse longer ones."""


VALUE_LIMITS = TextLimits()


class CoercedValue(Struct, frozen=True):
    """A value read from `raw_value`, the unchanged text. `label` is "none" exactly if `value` is None.

    `reason` says why the label is not "high". `removed` are the parts of the text that the value does not keep.
    """

    value: Value
    raw_value: str
    label: Label
    reason: str = ""
    removed: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The reason and the removed text, as a cell shows them."""
        return "; ".join(filter(None, (self.reason, list_removed(self.removed))))


def list_removed(parts: Iterable[str]) -> str:
    """Return the removed text for a note, or "". A long text is cut, and the length of the rest is given."""
    listed: list[str] = []
    left, room = 0, VALUE_LIMITS.listed
    for part in (" ".join(part.split()) for part in parts):
        if shown := part[:room]:
            listed.append(f"“{shown}”")
        left += len(part) - len(shown)
        room -= len(shown)
    more = f" and {left:,} more characters" if left else ""
    return f"left out: {', '.join(listed)}{more}" if listed else ""


def coerce_value(raw: Value, field: Field) -> CoercedValue:
    """Return `raw` as a value of this field."""
    if type(raw) is not str:
        if field.type == "number" and type(raw) in (int, float) and -1e15 < raw < 1e15:  # type: ignore[operator]
            return CoercedValue(value=raw, raw_value=format_value(raw), label="high")
        return _coerce_typed(raw, field)
    if (value := _read_simple_value(raw, field)) is not None:
        return CoercedValue(value=value, raw_value=raw, label="high")
    return _from_reading(raw, _read_list_answer(raw, field.name) if field.type == "list" else _coerce_text(raw, field))


def _from_reading(raw: str, read: ReadValue[Any]) -> CoercedValue:
    # Without a value nothing was removed: the raw text is the whole answer.
    removed = () if read.value is None else read.removed
    return CoercedValue(value=read.value, raw_value=raw, label=read.label, reason=read.reason, removed=removed)


def _coerce_text(raw: str, field: Field) -> ReadValue[Any]:
    text = _strip_field_label(raw[: VALUE_LIMITS.answer], field.name)
    if field.type == "boolean":
        if says_nothing_was_found(text):
            return ReadValue(None, "none", NOTHING_FOUND)
    elif is_not_found(text) and not (field.type == "select" and find_exact_option(text, field.options) is not None):
        return ReadValue(None, "none", NOTHING_FOUND)
    read = _read_as_field_type(text, field)
    wrapping = find_removed_around(raw[: VALUE_LIMITS.answer], text)
    if read.label == "high" and (rival := _find_rival_value(wrapping, read.value, field)):
        read = read._replace(label="medium", reason=f"several values: {format_value(read.value)}, {rival}")
    return read._replace(removed=(*wrapping, *read.removed, *keep_worded_parts(raw[VALUE_LIMITS.answer :])))


def _read_as_field_type(text: str, field: Field) -> ReadValue[Any]:
    match field.type:
        case "boolean":
            return read_boolean(text)
        case "number":
            return _with_removed_text(text, read_number_value(text, field.unit))
        case "money":
            return _with_removed_text(text, read_money_value(text, field.unit))
        case "date":
            return _read_date_answer(text)
        case "url":
            return read_web_address(text)
        case "select" if field.options:
            return read_option(text, field.options)
        case _:
            return _read_text_answer(text, field.name)


def _find_rival_value(wrapping: tuple[str, ...], value: Value, field: Field) -> str:
    """Return another number, amount or date in the text around the answer, or ""."""
    for part in wrapping:
        part = re.sub(re.escape(field.name), " ", part, flags=re.IGNORECASE) if field.name else part
        match field.type:
            case "number":
                found = [format_value(number.value) for number in read_numbers(part) if number.value != value]
            case "money":
                found = [str(amount.money) for amount in read_amounts(part) if amount.money.currency]
            case "date":
                found = [date.iso for date in read_dates(part) if date.iso != value]
            case _:
                return ""
        if found:
            return found[0]
    return ""


# ── simple cases, tried before any grammar: each of a million cells must cost a few microseconds only ────────────────

_SIMPLE_NUMBER = re.compile(
    r"-?(?:(?:0|[1-9]\d{0,14})(?:\.(?:\d{1,2}|\d{4,15}))?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,12})?)"
)
_SIMPLE_URL = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}(?:/[\w/=&%+~-]*)?")


def _read_simple_value(raw: str, field: Field) -> Value:
    match field.type:
        case "number":
            if field.unit or not _SIMPLE_NUMBER.fullmatch(raw):
                return None
            return float(raw.replace(",", "")) if "." in raw else int(raw.replace(",", ""))
        case "date":
            return raw if raw.isascii() and ISO_DAY.fullmatch(raw) and _is_calendar_day(raw) else None
        case "url":
            return raw if len(raw) < 500 and raw.isascii() and _SIMPLE_URL.fullmatch(raw) else None
        case "text":
            return raw if is_plain_answer(raw) else None
        case "select":
            return find_exact_option(raw, field.options)
    return None


def _is_calendar_day(iso: str) -> bool:
    try:
        return bool(datetime.date.fromisoformat(iso))
    except ValueError:
        return False


# ── the answer inside the text ───────────────────────────────────────────────────────────────────────────────────────


def _strip_field_label(text: str, name: str) -> str:
    """Return the text without preamble and without the field's own name: "Founded: 1998", "The price is £5"."""
    text = strip_preamble(text)
    while name:
        label = _field_label_pattern(name).match(text)
        rest = strip_preamble(text[label.end() :]) if label else ""
        if not rest:
            break
        text = rest
    return text


@lru_cache(maxsize=1024)
def _field_label_pattern(name: str) -> re.Pattern[str]:
    spelled = re.escape(name.strip().replace("_", " ")).replace(r"\ ", r"[\s_]+")
    return re.compile(rf"\A(?:the\s+)?{spelled}\s*+(?::(?!//)|=|\b(?:is|was|are)\b\s*+:?)\s*+(?=\S)", re.IGNORECASE)


# ── lists, text and dates ────────────────────────────────────────────────────────────────────────────────────────────


def _read_list_answer(raw: str, name: str) -> ReadValue[Any]:
    """Return the items, read again until they no longer change: an item may also have a preamble or quotes."""
    removed: list[str] = []
    read = read_json_list(raw)
    if read is None:
        text = _strip_list_wrapping(raw, name, removed)
        if is_not_found(text) and read_json_list(text) is None:
            return ReadValue(None, "none", NOTHING_FOUND)
        read = read_list(text)
    removed += read.removed
    items = read.value
    # Wrapping inside wrapping: real texts have one or two layers, and each round reads the whole list again.
    for _ in range(4):
        if not items or len(text := format_value(items)) > VALUE_LIMITS.list_head:
            break
        text = _strip_list_wrapping(text, name, removed)
        if is_not_found(text):
            return ReadValue(None, "none", NOTHING_FOUND)
        again = read_list(text)
        if again.value is None or again.value == items or len(again.value) > len(items):
            break
        items = again.value
        removed += again.removed
    return ReadValue(items, read.label, read.reason, tuple(removed))


def _strip_list_wrapping(text: str, name: str, removed: list[str]) -> str:
    """Return the list without the wrapping in its first characters; the rest is not examined."""
    head, tail = text[: VALUE_LIMITS.list_head], text[VALUE_LIMITS.list_head :]
    answer = _strip_field_label(head, name)
    removed += find_removed_around(head, answer)
    return answer + head[len(head.rstrip()) :] + tail if tail else answer


def _read_text_answer(text: str, name: str) -> ReadValue[Any]:
    if len(text) <= VALUE_LIMITS.text:
        return ReadValue(text, "high")
    kept = text
    while len(kept) > VALUE_LIMITS.text:
        kept = _strip_field_label(_cut_to_max_text(kept), name)
    if is_not_found(kept):
        return ReadValue(None, "none", NOTHING_FOUND)
    return ReadValue(kept, "medium", f"cut to {VALUE_LIMITS.text} characters", find_removed_around(text, kept))


def _cut_to_max_text(text: str) -> str:
    """Cut to at most `VALUE_LIMITS.text`, at the end of a word or of a character with all its marks."""
    space = max(text.rfind(mark, VALUE_LIMITS.text * 4 // 5, VALUE_LIMITS.text + 1) for mark in " \n\t")
    if space > 0:
        return text[:space].rstrip()
    place = VALUE_LIMITS.text
    # A zero-width joiner (U+200D) ties the next character to this one. Texts of marks alone must not be searched whole.
    while place > VALUE_LIMITS.text - 40 and (_joins_previous_character(text[place]) or text[place - 1] == "\u200d"):
        place -= 1
    return text[:place]


def _joins_previous_character(character: str) -> bool:
    """Return True for a character that belongs to the one before it: an accent, a joiner, a skin tone, the second half
    of a surrogate pair."""
    joins = character in ("\u200d", "\ufe0e", "\ufe0f") or "\U0001f3fb" <= character <= "\U0001f3ff"
    return joins or "\udc00" <= character <= "\udfff" or unicodedata.category(character) in ("Mn", "Me", "Mc")


def _read_date_answer(text: str) -> ReadValue[Any]:
    dates = read_dates(text)
    if not dates:
        return ReadValue(None, "none", "no date, or one the calendar does not have")
    first = dates[0]
    removed = find_removed_outside(text, first.start, first.end)
    others = {date.iso for date in dates[1:]} - {first.iso}
    if first.doubtful:
        return ReadValue(first.iso, "low", first.note, removed)
    if first.is_period:
        reason = f"{text[first.start : first.end]} is a period; its beginning is kept"
        return ReadValue(first.iso, "medium", reason, removed)
    if first.note:
        return ReadValue(first.iso, "medium", first.note, removed)
    if others:
        return ReadValue(first.iso, "low", f"several dates: {first.iso}, {min(others)}", removed)
    if not first.clean:
        return ReadValue(first.iso, "medium", "taken out of a longer text", removed)
    return ReadValue(first.iso, "high", removed=removed)


def _with_removed_text(text: str, read: ReadValue[Any]) -> ReadValue[Any]:
    removed = () if read.value is None else (*find_removed_outside(text, read.start, read.end), *read.removed)
    return ReadValue(read.value, read.label, read.reason, removed)


# ── values that already have a type ──────────────────────────────────────────────────────────────────────────────────


def _coerce_typed(raw: Any, field: Field) -> CoercedValue:
    text = _show_raw_value(raw)
    if text is None:
        return CoercedValue(
            value=None, raw_value="", label="none", reason="no value" if raw is None else "a value of no known type"
        )
    typed = _accept_field_type(raw, field)
    return _from_reading(text, typed if typed else _coerce_other_type(raw, text, field))


def _show_raw_value(raw: Any) -> str | None:
    try:
        match raw:
            case list() | tuple():
                return format_value(tuple(item if isinstance(item, str) else str(item) for item in raw))
            case datetime.date():
                return raw.isoformat()
            case None | bool() | str() | int() | float() | Money():
                return format_value(raw) if raw is not None else None
    except (ValueError, OverflowError, RecursionError):
        # nan, or an integer of thousands of digits.
        return str(raw) if isinstance(raw, float) else None
    return None


def _accept_field_type(raw: Any, field: Field) -> ReadValue[Any] | None:
    """Return the reading of a value that already has the field's type, or None."""
    match field.type, raw:
        case "boolean", bool():
            return ReadValue(raw, "high")
        case "boolean", int() | float() if raw in (0, 1):
            return ReadValue(bool(raw), "high")
        case (("number" | "money"), bool()):
            return ReadValue(None, "none", f"{format_value(raw)} is not a number")
        case (("number" | "money" | "text" | "date"), float()) if not math.isfinite(raw):
            return ReadValue(None, "none", "not a finite number")
        case "number", int() | float():
            return ReadValue(raw, "high")
        case "money", Money():
            if not math.isfinite(raw.amount):
                return ReadValue(None, "none", "not a finite number")
            read = read_money_value(raw, field.unit)
            return ReadValue(read.value, read.label, read.reason)
        case "list", list() | tuple():
            items = normalize_items(item if isinstance(item, str) else str(item) for item in raw)
            return ReadValue(items.value or (), "high", removed=items.removed)
        case _:
            return None


def _coerce_other_type(raw: Any, text: str, field: Field) -> ReadValue[Any]:
    if isinstance(raw, list | tuple) and len(raw) == 1 and field.type != "text":
        text = str(raw[0])
    coerced = coerce_value(text, field)
    return ReadValue(coerced.value, coerced.label, coerced.reason, coerced.removed)


def _compile_addresses() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of a whole address, and of one without a scheme in a text."""
    label = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
    host = rf"(?:{label}\.){{1,10}}(?:[^\W\d_]{{2,63}}|xn--[a-z0-9-]{{2,59}})\.?"
    numeric = r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]|localhost"
    tail = r"(?::\d{1,5})?(?:[/?#][^\s<>\"`{}|\\^]*)?"
    user = r"(?:[^\s/@:]{1,64}(?::[^\s/@]{0,64})?@)?"
    return (
        re.compile(rf"(https?)://({user})({host}|{numeric})({tail})", re.IGNORECASE),
        re.compile(rf"(?<![\w@.:/-])({host})({tail})(?![\w@])", re.IGNORECASE),
    )


_ADDRESS, _BARE_ADDRESS = _compile_addresses()


def read_web_address(text: str) -> ReadValue[str]:
    """Return an http address: a clean one is high; one completed, or taken out of other text, medium."""
    stripped = text.strip()
    if len(stripped) <= VALUE_LIMITS.url and (whole := _ADDRESS.fullmatch(stripped)) and (url := _join_url(whole)):
        if url.casefold() == stripped.casefold():
            return ReadValue(url, removed=_find_removed_around_url(text, url))
        return ReadValue(url, "medium", "punctuation at the end left out", _find_removed_around_url(text, url))
    other_scheme = re.match(r"<?(?!https?:)[a-z][a-z0-9+.-]{1,20}:(?!\d)", stripped, re.IGNORECASE)
    if other_scheme and not re.match(r"<?[^\W\d_]+:\s", stripped):
        return ReadValue(None, "none", "only http and https addresses are kept")
    head = stripped[:4000]
    if link := re.search(r"\[[^\]\n]{0,300}\]\(\s?<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)>?[^)\n]{0,200}\)", head):
        head = link[1]
    if re.match(r"(?:javascript|data|vbscript|file|mailto|blob):", head, re.IGNORECASE):
        return ReadValue(None, "none", "only http and https addresses are kept")
    if found := _ADDRESS.search(head):
        if url := _join_url(found):
            return ReadValue(url, "medium", "taken out of a longer text", _find_removed_around_url(text, url))
    elif (bare := _BARE_ADDRESS.search(head)) and _is_plausible_domain(bare[1], alone=bare[0] == head):
        url = f"https://{_lower_host(bare[1])}{_trim_punctuation(bare[2])}"
        return ReadValue(url, "medium", "https:// put before it", _find_removed_around_url(text, url))
    return ReadValue(None, "none", "no web address")


def _find_removed_around_url(text: str, url: str) -> tuple[str, ...]:
    removed = find_removed_around(text, url)
    # The address has "https://" and the text has not.
    if removed == keep_worded_parts(text):
        return find_removed_around(text, url.partition("://")[2])
    return removed


def _join_url(found: re.Match[str]) -> str:
    if found[3][0].isdigit() and any(int(part) > 255 for part in found[3].split(".") if part.isdecimal()):
        return ""
    return f"{found[1].lower()}://{found[2]}{_lower_host(found[3])}{_trim_punctuation(found[4])}"


def _lower_host(host: str) -> str:
    return host.rstrip(".").lower()


def _trim_punctuation(tail: str) -> str:
    """Strip the punctuation of the sentence around it; a closing bracket stays if it was opened inside."""
    while tail and tail[-1] in ".,;:!?'\"”’*_)]}>»":
        if tail[-1] in ")]" and tail.count(tail[-1]) <= tail.count({")": "(", "]": "["}[tail[-1]]):
            break
        if tail[-1] == "_" and len(tail) > 1 and not tail.endswith("__"):
            break
        tail = tail[:-1]
    return tail


def _is_plausible_domain(host: str, *, alone: bool) -> bool:
    """Return True for "example.com", but not for "e.g.", "report.pdf" or the end of a sentence ("end.Next")."""
    ending = host.rstrip(".").rpartition(".")[2]
    # Endings of files, and of abbreviations such as "e.g.".
    others = "pdf doc docx xls xlsx csv txt jpg jpeg png gif html htm xml json zip py js md e g i etc"
    if ending.casefold() in others.split():
        return False
    return alone or (ending == ending.lower() or host == host.upper())
