"""What a run tells while it works: one typed feed, read by the command line, the page, the API and MCP alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.model import Cell, Noun, RowId

Stage: TypeAlias = Literal[
    "starting",
    "searching",
    "fetching",
    "computing",
    "working",
    "row_done",
    "row_skipped",
    "complete",
    "cancelled",
    "paused",
]


Routine: TypeAlias = Literal["recheck", "refresh"]
"""What can be done to a table again and again."""


class Progress(Noun, frozen=True):
    stage: Stage
    done: int = 0
    total: int = 0
    row_id: RowId | None = None
    label: str = ""
    detail: str = ""
    cells: Mapping[str, Cell] = {}
    """With `row_done`: the proposed cells of the row, each with its value and confidence."""

    @property
    def fraction(self) -> float:
        """Return how much is done, from 0.0 to 1.0; nothing while nobody knows how much there is."""
        return min(1.0, self.done / self.total) if self.total else float(self.stage == "complete")


class Event(Noun, frozen=True):
    """A piece of a run's feed, as it is kept; whoever watches goes on after the number read last."""

    number: int
    at: str
    progress: Progress
