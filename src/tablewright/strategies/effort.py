"""The expected use of services by a strategy, for estimates."""

from __future__ import annotations

from tablewright.domain.model import Struct


class Effort(Struct, frozen=True):
    """The expected use of services; fractions if they are not always needed."""

    calls: float = 0.0
    """Calls of a model."""
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    searches: float = 0.0
    pages: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        return Effort(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def __mul__(self, times: float) -> Effort:
        return Effort(**{name: getattr(self, name) * times for name in self.__struct_fields__})


class Expected(Struct, frozen=True):
    """The expected effort of a strategy: for one row, and once for the table, however many rows it has.

    `again` is the effort of a further attempt at the weak columns of a row.
    """

    row: Effort = Effort()
    once: Effort = Effort()
    again: Effort = Effort()
