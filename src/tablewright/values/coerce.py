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
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from tablewright.domain.model import Field, Label, Money, Noun, Value
from tablewright.domain.text import show
from tablewright.values.answers import (
    ReadValue,
    find_removed_around,
    find_removed_outside,
    is_not_found,
    is_plain_answer,
    says_nothing_was_found,
    strip_preamble,
    with_words,
)
from tablewright.values.choices import as_list, exact_option, read_boolean, read_json_list, read_list, read_option
from tablewright.values.dates import ISO_DAY, read_dates
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.quantities import read_money_value, read_number_value

__all__ = ["LONGEST_TEXT", "LONGEST_TYPED", "NOTHING_FOUND", "Coerced", "coerce", "is_not_found", "strip_preamble"]

NOTHING_FOUND = "the text says that nothing was found"
LONGEST_TEXT = 2000
LONGEST_TYPED = 100_000
"""Characters of a value that a person types in."""
LONGEST_LISTED = 400
"""Characters of removed text that a note lists. A note is read at a glance; the cell's raw value has the whole text."""
_LOOKED_AT = 6_000  # characters of an answer; what follows cannot be one
_LIST_HEAD = 20_000  # of a long list, where a preamble may stand and where the items are read again
_MOST_LAYERS = 4  # of wrapping around a list within wrapping; found text has one or two


class Coerced(Noun, frozen=True):
    """`raw_value` is the text as it came. `label` is "none" exactly when `value` is None.

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
    """Return the removed text as a note says it, "" for none; where it is long, its beginning and the length of the
    rest."""
    listed: list[str] = []
    left, room = 0, LONGEST_LISTED
    for part in (" ".join(part.split()) for part in parts):
        if shown := part[:room]:
            listed.append(f"“{shown}”")
        left += len(part) - len(shown)
        room -= len(shown)
    more = f" and {left:,} more characters" if left else ""
    return f"left out: {', '.join(listed)}{more}" if listed else ""


def coerce(raw: Value, field: Field) -> Coerced:
    """Return the value that `raw` is for this field."""
    if type(raw) is not str:
        if field.type == "number" and type(raw) in (int, float) and -1e15 < raw < 1e15:  # type: ignore[operator]
            return Coerced(value=raw, raw_value=show(raw), label="high")
        return _from_typed(raw, field)
    quick = _QUICK.get(field.type)
    if quick and (value := quick(raw, field)) is not None:
        return Coerced(value=value, raw_value=raw, label="high")
    if field.type == "select" and (option := exact_option(raw, field.options)) is not None:
        return Coerced(value=option, raw_value=raw, label="high")
    return _coerced(raw, _list(raw, field.name) if field.type == "list" else _from_text(raw, field))


def _coerced(raw: str, read: ReadValue[Any]) -> Coerced:
    removed = () if read.value is None else read.removed  # no value keeps nothing, and its raw text is the whole answer
    return Coerced(value=read.value, raw_value=raw, label=read.label, reason=read.reason, removed=removed)


def _from_text(raw: str, field: Field) -> ReadValue[Any]:
    text = _answer(raw[:_LOOKED_AT], field.name)
    if field.type == "boolean":
        if says_nothing_was_found(text):
            return ReadValue(None, "none", NOTHING_FOUND)
    elif is_not_found(text) and not (field.type == "select" and exact_option(text, field.options) is not None):
        return ReadValue(None, "none", NOTHING_FOUND)
    read = _read_answer(text, field)
    wrapping = find_removed_around(raw[:_LOOKED_AT], text)
    if read.label == "high" and (rival := _rival_in(wrapping, read.value, field)):
        read = read._replace(label="medium", reason=f"several values: {show(read.value)}, {rival}")
    return read._replace(removed=(*wrapping, *read.removed, *with_words(raw[_LOOKED_AT:])))


def _read_answer(text: str, field: Field) -> ReadValue[Any]:
    match field.type:
        case "boolean":
            return read_boolean(text)
        case "number":
            return _quantity(text, read_number_value(text, field.unit))
        case "money":
            return _quantity(text, read_money_value(text, field.unit))
        case "date":
            return _date(text)
        case "url":
            return read_url(text)
        case "select" if field.options:
            return read_option(text, field.options)
        case _:
            return _text(text, field.name)


def _rival_in(wrapping: tuple[str, ...], value: Value, field: Field) -> str:
    """Return another number, amount or date that stands in the text around the answer, or ""."""
    for part in wrapping:
        part = re.sub(re.escape(field.name), " ", part, flags=re.IGNORECASE) if field.name else part
        match field.type:
            case "number":
                found = [show(number.value) for number in read_numbers(part) if number.value != value]
            case "money":
                found = [str(amount.money) for amount in read_amounts(part) if amount.money.currency]
            case "date":
                found = [date.iso for date in read_dates(part) if date.iso != value]
            case _:
                return ""
        if found:
            return found[0]
    return ""


# ── the plain cases, before any grammar: a cell of a million must not cost more than a few microseconds ──────────────

_QUICK_NUMBER = re.compile(
    r"-?(?:(?:0|[1-9]\d{0,14})(?:\.(?:\d{1,2}|\d{4,15}))?|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d{1,12})?)"
)
_QUICK_URL = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}(?:/[\w/=&%+~-]*)?")


def _quick_number(raw: str, field: Field) -> int | float | None:
    if field.unit or not _QUICK_NUMBER.fullmatch(raw):
        return None
    digits = raw.replace(",", "")
    return float(digits) if "." in raw else int(digits)


def _quick_date(raw: str, field: Field) -> str | None:
    if not (raw.isascii() and ISO_DAY.fullmatch(raw)):
        return None
    try:
        return datetime.date.fromisoformat(raw).isoformat()
    except ValueError:
        return None


_QUICK: dict[str, Callable[[str, Field], Value]] = {
    "number": _quick_number,
    "date": _quick_date,
    "url": lambda raw, field: raw if len(raw) < 500 and raw.isascii() and _QUICK_URL.fullmatch(raw) else None,
    "text": lambda raw, field: raw if is_plain_answer(raw) else None,
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


def _list(raw: str, name: str) -> ReadValue[Any]:
    """The items, read until they read back as they are: an item too may come with a preamble or in quotes."""
    removed: list[str] = []
    read = read_json_list(raw)
    if read is None:
        text = _without_wrapping(raw, name, removed)
        if is_not_found(text) and read_json_list(text) is None:
            return ReadValue(None, "none", NOTHING_FOUND)
        read = read_list(text)
    removed += read.removed
    items = read.value
    for _ in range(_MOST_LAYERS):
        if not items or len(text := show(items)) > _LIST_HEAD:
            break
        text = _without_wrapping(text, name, removed)
        if is_not_found(text):
            return ReadValue(None, "none", NOTHING_FOUND)
        again = read_list(text)
        if again.value is None or again.value == items or len(again.value) > len(items):
            break
        items = again.value
        removed += again.removed
    return ReadValue(items, read.label, read.reason, tuple(removed))


def _without_wrapping(text: str, name: str, removed: list[str]) -> str:
    """Without what stands around the list in its first characters; the rest is not looked at."""
    head, tail = text[:_LIST_HEAD], text[_LIST_HEAD:]
    answer = _answer(head, name)
    removed += find_removed_around(head, answer)
    return answer + head[len(head.rstrip()) :] + tail if tail else answer


def _text(text: str, name: str) -> ReadValue[Any]:
    if len(text) <= LONGEST_TEXT:
        return ReadValue(text, "high")
    kept = text
    while len(kept) > LONGEST_TEXT:
        kept = _answer(_cut(kept), name)
    if is_not_found(kept):
        return ReadValue(None, "none", NOTHING_FOUND)
    return ReadValue(kept, "medium", f"cut to {LONGEST_TEXT} characters", find_removed_around(text, kept))


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
    """Return what belongs to the character before it: an accent, a joiner, a skin tone, the second half of a
    surrogate."""
    joins = character in ("\u200d", "\ufe0e", "\ufe0f") or "\U0001f3fb" <= character <= "\U0001f3ff"
    return joins or "\udc00" <= character <= "\udfff" or unicodedata.category(character) in ("Mn", "Me", "Mc")


def _date(text: str) -> ReadValue[Any]:
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


def _quantity(text: str, read: ReadValue[Any]) -> ReadValue[Any]:
    removed = () if read.value is None else (*find_removed_outside(text, read.start, read.end), *read.removed)
    return ReadValue(read.value, read.label, read.reason, removed)


# ── values that already have a type ──────────────────────────────────────────────────────────────────────────────────


def _from_typed(raw: Any, field: Field) -> Coerced:
    text = _shown(raw)
    if text is None:
        return Coerced(
            value=None, raw_value="", label="none", reason="no value" if raw is None else "a value of no known type"
        )
    typed = _passed_through(raw, field)
    return _coerced(text, typed if typed else _from_other_type(raw, text, field))


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


def _passed_through(raw: Any, field: Field) -> ReadValue[Any] | None:
    """The reading of a value that is of the field's type already."""
    match field.type, raw:
        case "boolean", bool():
            return ReadValue(raw, "high")
        case "boolean", int() | float() if raw in (0, 1):
            return ReadValue(bool(raw), "high")
        case (("number" | "money"), bool()):
            return ReadValue(None, "none", f"{show(raw)} is not a number")
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
            items = as_list(item if isinstance(item, str) else str(item) for item in raw)
            return ReadValue(items.value or (), "high", removed=items.removed)
        case _:
            return None


def _from_other_type(raw: Any, text: str, field: Field) -> ReadValue[Any]:
    if isinstance(raw, list | tuple) and len(raw) == 1 and field.type != "text":
        text = str(raw[0])
    coerced = coerce(text, field)
    return ReadValue(coerced.value, coerced.label, coerced.reason, coerced.removed)


_LONGEST = 2048
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = rf"(?:{_LABEL}\.){{1,10}}(?:[^\W\d_]{{2,63}}|xn--[a-z0-9-]{{2,59}})\.?"
_NUMERIC_HOST = r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]|localhost"
_TAIL = r"(?::\d{1,5})?(?:[/?#][^\s<>\"`{}|\\^]*)?"
_CLEAN = re.compile(
    rf"(https?)://((?:[^\s/@:]{{1,64}}(?::[^\s/@]{{0,64}})?@)?)({_HOST}|{_NUMERIC_HOST})({_TAIL})", re.IGNORECASE
)
_BARE = re.compile(rf"(?<![\w@.:/-])({_HOST})({_TAIL})(?![\w@])", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"\s*<?(?!https?:)[a-z][a-z0-9+.-]{1,20}:(?!\d)", re.IGNORECASE)
_HIDDEN_SCHEME = re.compile(r"\b(?:javascript|data|vbscript|file|mailto|blob):", re.IGNORECASE)
_LINK = re.compile(r"\[[^\]\n]{0,300}\]\(\s?<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)>?[^)\n]{0,200}\)")
_FILE_NAMES = frozenset(
    "pdf doc docx xls xlsx csv txt jpg jpeg png gif html htm xml json zip py js md e g i etc".split()
)


def read_url(text: str) -> ReadValue[str]:
    """Return an http address: a clean one is high; one completed, or taken out of other text, medium."""
    stripped = text.strip()
    if (whole := _CLEAN.fullmatch(stripped, 0, _LONGEST)) and len(stripped) <= _LONGEST and (url := _join_url(whole)):
        if url.casefold() == stripped.casefold():
            return ReadValue(url, removed=_removed_around_url(text, url))
        return ReadValue(url, "medium", "punctuation at the end left out", _removed_around_url(text, url))
    if _OTHER_SCHEME.match(stripped) and not re.match(r"\s*<?[^\W\d_]+:\s", stripped):
        return ReadValue(None, "none", "only http and https addresses are kept")
    head = stripped[:4000]
    if link := _LINK.search(head):
        head = link[1]
    if _HIDDEN_SCHEME.match(head):
        return ReadValue(None, "none", "only http and https addresses are kept")
    if found := _CLEAN.search(head, 0, len(head)):
        if url := _join_url(found):
            return ReadValue(url, "medium", "taken out of a longer text", _removed_around_url(text, url))
    elif (bare := _BARE.search(head)) and _is_domain(bare[1], alone=bare[0] == head):
        url = f"https://{_lower_host(bare[1])}{_trim_punctuation(bare[2])}"
        return ReadValue(url, "medium", "https:// put before it", _removed_around_url(text, url))
    return ReadValue(None, "none", "no web address")


def _removed_around_url(text: str, url: str) -> tuple[str, ...]:
    removed = find_removed_around(text, url)
    if removed == with_words(text):  # the address has "https://" and the text has not
        return find_removed_around(text, url.partition("://")[2])
    return removed


def _join_url(found: re.Match[str]) -> str:
    if found[3][0].isdigit() and any(int(part) > 255 for part in found[3].split(".") if part.isdecimal()):
        return ""
    return f"{found[1].lower()}://{found[2]}{_lower_host(found[3])}{_trim_punctuation(found[4])}"


def _lower_host(host: str) -> str:
    return host.rstrip(".").lower()


def _trim_punctuation(tail: str) -> str:
    """Without the punctuation of the sentence around it; a closing bracket stays where it was opened inside."""
    while tail and tail[-1] in ".,;:!?'\"”’*_)]}>»":
        if tail[-1] in ")]" and tail.count(tail[-1]) <= tail.count({")": "(", "]": "["}[tail[-1]]):
            break
        if tail[-1] == "_" and len(tail) > 1 and not tail.endswith("__"):
            break
        tail = tail[:-1]
    return tail


def _is_domain(host: str, *, alone: bool) -> bool:
    """example.com, but not e.g., report.pdf or the full stop of a sentence (end.Next)."""
    ending = host.rstrip(".").rpartition(".")[2]
    if ending.casefold() in _FILE_NAMES:
        return False
    return alone or (ending == ending.lower() or host == host.upper())
