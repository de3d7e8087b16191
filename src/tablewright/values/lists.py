"""Lists in texts: JSON, "a; b", lines, bullets, numbers, or commas. Reads back what `text.show_list` writes.

Every reader passes over the text once, so a list of any length takes time in proportion to it, and no letter is lost:
what an item does not keep is in `removed`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from tablewright.domain.model import Label
from tablewright.values.answers import with_words

_BULLET = re.compile(r"\s{0,40}[-*•◦‣▪●·–—]\s+")
_NUMBERED = re.compile(r"\s{0,40}\(?(?:(?P<number>\d{1,3})|(?P<letter>[a-z]))[.)]\s+")
_COMMA = re.compile(r",(?!\d{3}(?!\d))\s*|，|、")
# What counts in a text with commas. Words such as "Inc." after a comma do not begin another item.
_COMMA_OR_BRACKET = re.compile(
    r"(?P<opens>[(\[{])|(?P<closes>[)\]}])"
    r"|(?P<comma>(?:(?<=\d),(?!\d{3}(?!\d))|(?<!\d),)"
    r"(?!\s{0,10}(?:inc|llc|ltd|corp|co|jr|sr|ph\.?d|m\.?d|gmbh|s\.a|plc|esq)\b\.?(?=\s*+(?:,|$)))|[，、])",
    re.IGNORECASE,
)
_LAST = re.compile(r"(?:and|or|&|und|et|y|e|och|og|en)\s+", re.IGNORECASE)
_BETWEEN_LAST = re.compile(r"(?<=\S)\s++(?:and|or|&|und|et|y)\s++(?=\S)", re.IGNORECASE)
_LEAD = re.compile(r"[^\n;]{0,120}:\s*$")
_LETTER_STEP = 1_000  # apart from all numbers of lines, which have three digits


class ListText(NamedTuple):
    """The items of a text in order, each once. `removed` is the text that stands in none of them; `reason` says why the
    reading is not certain."""

    items: tuple[str, ...] | None
    label: Label = "high"
    reason: str = ""
    removed: tuple[str, ...] = ()


def read_list(text: str) -> ListText:
    """Return the items of a text. Splitting at commas is a guess, so it is medium."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        if (read := read_json_list(text)) is not None:
            return read
        parts = [part.strip().strip("'\"") for part in _COMMA.split(text[1:-1])]
        return as_list(parts, label="medium", reason="brackets that are not JSON")
    lines = [line for line in re.split(r"[\r\n]", text) if line.strip()]
    if len(lines) > 1:
        return _of_lines(lines)
    text = lines[0] if lines else ""
    if mark := next((mark for mark in ";；" if mark in text), ""):
        return as_list(text.split(mark))
    if " | " in text or " • " in text or " · " in text:
        return as_list(re.split(r"\s[|•·]\s", _without_bullet(text)))
    if _COMMA.search(text):
        return _at_commas(text)
    return as_list([_without_bullet(text)])


def as_list(items: Iterable[str], removed: Sequence[str] = (), *, label: Label = "high", reason: str = "") -> ListText:
    """Return the items without outer space, the empty ones, and those already there in another case."""
    kept: dict[str, str] = {}
    repeated: list[str] = []
    for item in items:
        if not (item := item.strip()):
            continue
        if (folded := item.casefold()) in kept:
            repeated.append(item)
        else:
            kept[folded] = item
    if not kept:
        return ListText(items=None, label="none", reason="no items")
    return ListText(items=tuple(kept.values()), label=label, reason=reason, removed=with_words(*removed, *repeated))


def read_json_list(text: str) -> ListText | None:
    """Return the items where the text is a JSON array of plain values. Numbers stay as they are written."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or any(isinstance(item, list | dict) for item in found):
        return None
    nulls = ["null"] * found.count(None)
    read = as_list((item if isinstance(item, str) else json.dumps(item) for item in found if item is not None), nulls)
    return read if read.items else ListText(items=(), removed=tuple(nulls))


def _without_bullet(text: str) -> str:
    """Without the bullet before it. A number or letter before a single item is kept: it may be part of a name."""
    bullet = _BULLET.match(text)
    return text[bullet.end() :] if bullet else text


def _of_lines(lines: list[str]) -> ListText:
    bullets = [_BULLET.match(line) for line in lines]
    numbers = [_NUMBERED.match(line) for line in lines]
    if not _counts_up([number for number in numbers if number]):
        numbers = [None] * len(lines)
    marks = [bullet or number for bullet, number in zip(bullets, numbers, strict=True)]
    marked = [(line, mark) for line, mark in zip(lines, marks, strict=True) if mark]
    if marked:
        unmarked = [line for line, mark in zip(lines, marks, strict=True) if not mark]
        has_lead = bool(_LEAD.fullmatch(lines[0])) or marks[0] is not None
        is_sure = has_lead and len(unmarked) <= 1
        return as_list(
            [line[mark.end() :] for line, mark in marked],
            label="high" if is_sure else "medium",
            reason="" if is_sure else "lines without a bullet left out",
            removed=[*unmarked, *(mark[0] for _, mark in marked)],
        )
    lead = lines[:1] if len(lines) > 2 and _LEAD.fullmatch(lines[0]) else []
    return as_list((line.strip().rstrip(",;") for line in lines[len(lead) :]), removed=lead)


def _counts_up(marks: Sequence[re.Match[str]]) -> bool:
    """Whether the lines are numbered 1, 2, 3 or a, b, c; else a number before a line belongs to it: "1. FC"."""
    places = [int(mark["number"]) if mark["number"] else _LETTER_STEP * ord(mark["letter"]) for mark in marks]
    steps = {after - before for before, after in pairwise(places)}
    return steps in ({1}, {_LETTER_STEP})


def _at_commas(text: str) -> ListText:
    """a, b and c; brackets, thousands and the likes of ", Inc." are kept together."""
    parts: list[str] = []
    depth = start = 0
    for mark in _COMMA_OR_BRACKET.finditer(text):
        if mark["opens"]:
            depth += 1
        elif mark["closes"]:
            depth = max(0, depth - 1)
        elif depth == 0:
            parts.append(text[start : mark.start()])
            start = mark.end()
    last = text[start:].strip()
    removed: list[str] = []
    if parts and (joint := _LAST.match(last)):
        removed.append(joint[0])
        parts.append(last[joint.end() :])
    elif parts and (joint := _BETWEEN_LAST.search(last)):
        removed.append(joint[0])
        parts += [last[: joint.start()], last[joint.end() :]]
    else:
        parts.append(last)
    return as_list(parts, label="medium", reason="split at commas", removed=removed)
