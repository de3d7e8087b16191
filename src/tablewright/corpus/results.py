"""What a question to all facts finds: the things that match, those that do not say, and how far that can be trusted.

- `incomplete`: some things do not state what decides, or some documents could not be read; there may be more matches.
- `approximate`: all were decided, but something was taken for granted on the way: a label that says less than was
  asked for, a date that can be read in two ways, words in a text where no label says it.
- `exact`: neither.
"""

from __future__ import annotations

from tablewright.domain.corpus import Completeness, Question, Typed
from tablewright.domain.model import Noun


class StatedFact(Noun, frozen=True):
    """A value that answers to the `asked` label, as it is labelled in the document, and where it stands. One that was
    computed has its `calculation`, and in `parts` where the figures of it stand."""

    asked: str
    label: str
    value: Typed
    start: int
    end: int
    context: str = ""
    page: int | None = None
    calculation: str = ""
    parts: tuple[tuple[int, int], ...] = ()


class FoundItem(Noun, frozen=True):
    """A document, or one row of a spreadsheet (`row` is the id of its annotation). `values` are what decided, and what
    is to be shown; several of one label where several rows of a document state it. `start:end` is where the first of
    them stands."""

    document_id: str
    title: str
    row: int = 0
    page: int | None = None
    start: int = 0
    end: int = 0
    values: tuple[StatedFact, ...] = ()

    def all_of(self, asked: str) -> list[StatedFact]:
        return [stated for stated in self.values if stated.asked == asked]


class UndecidedItem(Noun, frozen=True):
    thing: FoundItem
    reason: str


class FoundItems(Noun, frozen=True):
    question: Question
    matches: tuple[FoundItem, ...]
    rejected: int
    undecided: tuple[UndecidedItem, ...]
    unreadable: int
    completeness: Completeness
    reason: str

    @property
    def universe(self) -> int:
        """How many things were looked at."""
        return len(self.matches) + self.rejected + len(self.undecided)
