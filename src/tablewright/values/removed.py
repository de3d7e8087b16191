"""Text that a value does not keep: found, and listed in the note of the value, so that no letter is lost unseen."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_LISTED = 400
"""Characters of removed text that a note lists. A note is read at a glance; the cell's raw value has the whole text."""


def find_removed_around(text: str, kept: str) -> tuple[str, ...]:
    """Return the parts of `text` before and after `kept`, which may lack some of its marks or differ in case."""
    if kept == text:
        return ()
    start = text.rfind(kept)  # a preamble stands before the answer and may name it too
    if start >= 0:
        return with_words(text[:start], text[start + len(kept) :])
    places = [(place, letter) for place, mark in enumerate(text) if mark.isalnum() for letter in mark.casefold()]
    wanted = "".join(mark.casefold() for mark in kept if mark.isalnum())
    start = "".join(letter for _, letter in places).rfind(wanted)
    if start < 0 or not wanted:
        return with_words(text)
    return with_words(text[: places[start][0]], text[places[start + len(wanted) - 1][0] + 1 :])


def find_removed_outside(text: str, start: int, end: int) -> tuple[str, ...]:
    """Return the parts of `text` before `start` and after `end`."""
    return with_words(text[:start], text[end:])


def with_words(*parts: str) -> tuple[str, ...]:
    """Return the parts that have a letter or a digit, without outer space."""
    return tuple(part.strip() for part in parts if any(map(str.isalnum, part)))


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
