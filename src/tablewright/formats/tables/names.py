"""Column names: cleaned, never empty, never two that differ only in their spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tablewright.domain.model import column_key
from tablewright.formats.tables.limits import MAX_NAME_CHARS

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u2060\ufeff]")
_SPACE = re.compile(r"[\t\n\r\x0b\x0c\x85\u2028\u2029]+")
_BRACES = str.maketrans("{}", "()")


def column_names(headers: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names for these headers, and a sentence for each name that had to differ from its header."""
    warnings: list[str] = []
    cleaned = [_clean(header, warnings) for header in headers]
    taken = {column_key(name) for name in cleaned if name}
    seen: dict[str, int] = {}
    names: list[str] = []
    for position, name in enumerate(cleaned, start=1):
        if not name:
            name = free_name(f"Column {position}", taken)
        elif column_key(name) in seen:
            seen[column_key(name)] += 1
            name = free_name(name, taken, start=seen[column_key(name)])
        else:
            seen[column_key(name)] = 1
        taken.add(column_key(name))
        names.append(name)
    warnings += _duplicates(cleaned, names)
    return tuple(names), tuple(warnings)


def _clean(header: str, warnings: list[str]) -> str:
    spaced = _SPACE.sub(" ", header).strip("\ufeff ")
    name = _CONTROL.sub("", spaced).strip()
    if name and name != spaced.strip():
        warnings.append(f"The name of the column {_quoted(name)} had invisible characters; they are left out.")
    if "{" in name or "}" in name:
        plain = name.translate(_BRACES)
        warnings.append(f"The column {_quoted(name)} is now {_quoted(plain)}: braces mark columns in questions.")
        name = plain
    if len(name) > MAX_NAME_CHARS:
        warnings.append(f"The name of the column {_quoted(name)} was cut to {MAX_NAME_CHARS} characters.")
        name = name[:MAX_NAME_CHARS].rstrip()
    return name


def free_name(name: str, taken: set[str], start: int = 1) -> str:
    """`name` itself, or `name 2`, `name 3`, …: the first that no other column has."""
    number = start
    candidate = name if start == 1 else _numbered(name, start)
    while column_key(candidate) in taken:
        number += 1
        candidate = _numbered(name, number)
    return candidate


def _numbered(name: str, number: int) -> str:
    ending = f" {number}"
    return name[: MAX_NAME_CHARS - len(ending)] + ending


def _duplicates(cleaned: Sequence[str], names: Sequence[str]) -> list[str]:
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(cleaned):
        if name:
            groups.setdefault(column_key(name), []).append(index)
    sentences = []
    for indices in groups.values():
        if len(indices) == 2:
            sentences.append(
                f"2 columns are called {_quoted(cleaned[indices[0]])}; the second is now {_quoted(names[indices[1]])}."
            )
        elif len(indices) > 2:
            first, last = _quoted(names[indices[1]]), _quoted(names[indices[-1]])
            called = _quoted(cleaned[indices[0]])
            sentences.append(f"{len(indices)} columns are called {called}; the others are now {first} to {last}.")
    return sentences


def _quoted(name: str) -> str:
    return f"'{name}'" if len(name) <= 60 else f"'{name[:57]}…'"
