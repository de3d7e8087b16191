"""A table file that was read through once: its columns, types and size are known, its rows can be streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tablewright.domain.model import Cell, Field

CellBatches = Iterator[Iterable[tuple[Cell, ...]]]


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """`warnings` are sentences for the person who brought the file. Everything that could be wrong with the file was
    looked for before this object existed, so `rows()` can be imported without stopping half-way."""

    name: str
    fields: tuple[Field, ...]
    row_count: int
    batches: Callable[[], CellBatches] = field(repr=False)
    key_field: str = ""
    warnings: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """The cells of each row, aligned with `fields`; can be called again."""
        for batch in self.batches():
            yield from batch
