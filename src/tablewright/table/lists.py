"""Lists in texts: JSON, "a; b", lines, bullets, numbers, or commas. Reads back what `text.show_list` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tablewright.table.model import Label

_LOOKED_AT = 20_000  # of a text that can only be split at commas
_LONGEST = 1_000_000
_THOUSANDS = re.compile(r",\d{3}(?!\d)")
_BULLET = re.compile(r"\s{0,40}(?:[-*•◦‣▪●·–—]\s+|\(?\d{1,3}[.)]\s+|\(?[a-z][.)]\s+)")
_COMMA = re.compile(r",(?!\d{3}(?!\d))\s*|，|、")
_LAST = re.compile(r"(?:and|or|&|und|et|y|e|och|og|en)\s+", re.IGNORECASE)
_TWO_LAST = re.compile(r"(.+?)(?<!\s)\s+(?:and|or|&|und|et|y)\s+(.+)", re.IGNORECASE | re.DOTALL)
_LEAD = re.compile(r"[^\n;]{0,120}:\s*$")
# Words that follow a comma without beginning another item: "Acme, Inc.", "Martin Luther King, Jr."
_BELONGS = re.compile(r"(?:inc|llc|ltd|corp|co|jr|sr|ph\.?d|m\.?d|gmbh|s\.a|plc|esq)\b\.?(?=\s*(?:,|$))", re.IGNORECASE)


def read_list(text: str) -> tuple[tuple[str, ...] | None, Label, str]:
    """The items in order, each once. Splitting at commas is a guess, so it is medium."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        items = json_items(text)
        if items is not None:
            return items, "high", ""
        inner = text[1:-1]
        parts = [part.strip().strip("'\"") for part in _COMMA.split(inner[:_LOOKED_AT])]
        return _some(unique(parts), "medium", "brackets that are not JSON")
    text = text[:_LONGEST]
    lines = [line for line in re.split(r"[\r\n]", text) if line.strip()]
    if len(lines) > 1:
        return _of_lines(lines)
    text = lines[0] if lines else ""
    if mark := next((mark for mark in ";；" if mark in text), ""):
        return _some(unique(text.split(mark)), "high", "")
    if " | " in text or " • " in text or " · " in text:
        return _some(unique(re.split(r"\s[|•·]\s", _BULLET.sub("", text, count=1))), "high", "")
    text = text[:_LOOKED_AT]
    if _COMMA.search(text):
        return _some(unique(_at_commas(text)), "medium", "split at commas")
    return _some(unique([_BULLET.sub("", text, count=1)]), "high", "")


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """The items without outer space, the empty ones and those already there in another case."""
    kept: dict[str, str] = {}
    for item in items:
        item = item.strip()
        if item:
            kept.setdefault(item.casefold(), item)
    return tuple(kept.values())


def _some(items: tuple[str, ...], label: Label, note: str) -> tuple[tuple[str, ...] | None, Label, str]:
    return (items, label, note) if items else (None, "none", "no items")


def json_items(text: str) -> tuple[str, ...] | None:
    """The items, where the text is a JSON array of plain values."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or any(isinstance(item, list | dict) for item in found):
        return None
    return unique(item if isinstance(item, str) else json.dumps(item) for item in found if item is not None)


def _of_lines(lines: list[str]) -> tuple[tuple[str, ...] | None, Label, str]:
    marked = [line for line in lines if _BULLET.match(line)]
    if marked:
        lead = bool(_LEAD.fullmatch(lines[0])) or lines[0] is marked[0]
        sure = lead and len(marked) >= len(lines) - 1
        items = unique(_BULLET.sub("", line, count=1) for line in marked)
        return _some(items, "high" if sure else "medium", "" if sure else "lines without a bullet left out")
    if len(lines) > 2 and _LEAD.fullmatch(lines[0]):
        lines = lines[1:]
    return _some(unique(line.strip().rstrip(",;") for line in lines), "high", "")


def _at_commas(text: str) -> list[str]:
    """a, b and c; brackets and the likes of ", Inc." are kept together."""
    parts: list[str] = []
    depth = start = 0
    for place, mark in enumerate(text):
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(0, depth - 1)
        elif mark in ",，、" and depth == 0 and _separates(text, place):
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    last = _LAST.sub("", parts[-1].strip(), count=1) if _LAST.match(parts[-1].strip()) else parts[-1]
    both = _TWO_LAST.fullmatch(last.strip()) if last == parts[-1] and len(parts) > 1 else None
    return [*parts[:-1], *(both.groups() if both else (last,))]


def _separates(text: str, place: int) -> bool:
    if _THOUSANDS.match(text, place) and text[place - 1 : place].isdecimal():
        return False
    after = text[place + 1 : place + 12].lstrip()
    return not _BELONGS.match(after)
