"""What a model says is proved item by item: what holds is kept, the rest goes back to it with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from tablewright.citations.untrusted import clean_line, looks_like_prompt_injection
from tablewright.domain.text import shortened

Item = TypeVar("Item")
Proved = TypeVar("Proved")
NAMED = 80
"""Characters of an item that name it in front of its fault."""


class Unproved(Exception):
    """What code cannot prove; the text says why, in words that a model can act on."""


def prove_statement(text: str) -> str:
    """Return what a model states as one clean line. Raises Unproved where it states nothing or gives orders."""
    if not (line := clean_line(text)):
        raise Unproved("it is empty.")
    if looks_like_prompt_injection(line):
        raise Unproved("it gives orders to machines.")
    return line


def prove_each(
    items: Iterable[Item], prove: Callable[[Item], Proved], name: Callable[[Item], str] | None = None
) -> tuple[list[Proved], list[tuple[Item, str]]]:
    """Return what was proved, and each item that could not be, with its fault. `name` says how an item begins, where
    the fault alone does not tell which one is meant."""
    proved: list[Proved] = []
    failed: list[tuple[Item, str]] = []
    for item in items:
        try:
            proved.append(prove(item))
        except Unproved as fault:
            failed.append((item, f"{shortened(name(item), NAMED)!r}: {fault}" if name else str(fault)))
    return proved, failed
