"""The parts of a document (segments, summaries, annotations) have ids that say whose they are and which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, false, or_, select

from tablewright.store.schema import documents

T = TypeVar("T")

SHIFT = 24
MOST = 1 << SHIFT
"""Parts of one kind that a document can have."""
AT_ONCE = 2_000
"""Ids in one statement."""


def part_id(document_no: int, number: int) -> int:
    return document_no << SHIFT | number


def document_no(part: int) -> int:
    return part >> SHIFT


def number_of(part: int) -> int:
    return part & (MOST - 1)


def parts_of(column: ColumnElement[int], document_nos: Sequence[int]) -> ColumnElement[bool]:
    """Those of these documents, found by the order of their ids."""
    return or_(false(), *(column.between(no << SHIFT, (no << SHIFT) + MOST - 1) for no in document_nos))


def existing(connection: Connection, ids: Collection[str]) -> set[str]:
    """Those of the documents that are there, and stay until this is written: nothing about one may outlive it."""
    found: set[str] = set()
    for some in in_batches(sorted(set(ids))):
        query = select(documents.c.id).where(documents.c.id.in_(some)).with_for_update(read=True)
        found.update(connection.scalars(query))
    return found


def in_batches(ids: Sequence[T], size: int = AT_ONCE) -> Iterator[Sequence[T]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def grown(blocks: Sequence[T], size: Callable[[T], int], merge: Callable[[Sequence[T]], T]) -> tuple[T, ...]:
    """Blocks of an index in memory, the last just added. Blocks of like size become one, so that there are few and
    none is copied often."""
    kept: list[Any] = list(blocks)
    while len(kept) > 1 and size(kept[-2]) < 2 * size(kept[-1]):
        last = kept.pop()
        kept[-1] = merge((kept[-1], last))
    return tuple(kept)
