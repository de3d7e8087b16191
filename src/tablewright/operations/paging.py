"""Cut lists into pages that start after an entry, even if that entry has been removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tablewright.errors import UsageError
from tablewright.operations.operation import MAX_NUMBER

EntryT = TypeVar("EntryT")
KeyT = TypeVar("KeyT", bound=tuple[Any, ...])


def page_newest_first(
    found: Iterable[EntryT], after: str, limit: int, at: Callable[[EntryT], tuple[str, str]]
) -> tuple[list[EntryT], str | None]:
    """Return the next `limit` entries by their time and id, and where to go on."""
    some, last = take_page(found, read_moment(after), limit, at, backwards=True)
    return some, ",".join(last) if last else None


def page_oldest_first(
    found: Iterable[EntryT], after: str, limit: int, at: Callable[[EntryT], tuple[str, str]]
) -> tuple[list[EntryT], str | None]:
    some, last = take_page(found, read_moment(after), limit, at)
    return some, ",".join(last) if last else None


def page_by_cell(
    found: Iterable[EntryT], after: str, limit: int, at: Callable[[EntryT], tuple[int, str]]
) -> tuple[list[EntryT], str | None]:
    """Order by row and column."""
    some, last = take_page(found, read_cell_position(after), limit, at)
    return some, format_cell_position(*last) if last else None


def page_by_number(
    found: Iterable[EntryT], after: str, limit: int, at: Callable[[EntryT], int]
) -> tuple[list[EntryT], str | None]:
    some, last = take_page(found, (read_position_number(after, after),), limit, lambda each: (at(each),))
    return some, str(last[0]) if last else None


def take_page(
    found: Iterable[EntryT], after: KeyT | None, limit: int, at: Callable[[EntryT], KeyT], *, backwards: bool = False
) -> tuple[list[EntryT], KeyT | None]:
    left = sorted(found, key=at, reverse=backwards)
    if after is not None:
        left = [each for each in left if (at(each) < after if backwards else at(each) > after)]
    some = left[:limit]
    return some, at(some[-1]) if len(left) > limit else None


def read_moment(after: str) -> tuple[str, str] | None:
    # A time and an id.
    said = re.fullmatch(r"(\d{4}-\d\d-\d\dT[\d:.]+Z),(.+)", after, re.DOTALL)
    if after and said is None:
        raise _no_page(after)
    return (said[1], said[2]) if said else None


def read_cell_position(after: str) -> tuple[int, str]:
    row_id, _, field = after.partition(":")
    return read_position_number(row_id, after), field


def format_cell_position(row_id: int, field: str) -> str:
    return f"{row_id}:{field}"


def read_position_number(text: str, after: str | None = None) -> int:
    """Return the number in a position, 0 at the beginning; `after` is the whole position."""
    after = text if after is None else after
    # `isdecimal` alone would allow digits of other scripts.
    if after and not (text.isascii() and text.isdecimal() and int(text) <= MAX_NUMBER):
        raise _no_page(after)
    return int(text) if after else 0


def _no_page(after: str) -> UsageError:
    return UsageError(f"{after!r} is not the `next` of a page.", advice="Begin again without `after`.")
