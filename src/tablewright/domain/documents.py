"""Types of the user's own documents: the document, its segments, summaries and facts, and the questions asked of it.

Types only: `documents/` reads files into them, `store/` keeps them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.domain.condition import Condition
from tablewright.domain.model import Struct

Category: TypeAlias = Literal["long", "short", "data-heavy", "text-heavy"]
Shape: TypeAlias = Literal["fact", "row"]
Aggregate: TypeAlias = Literal["", "count", "sum", "min", "max", "average"]
Intent: TypeAlias = Literal["enumeration", "numeric", "conceptual"]
Completeness: TypeAlias = Literal["exact", "approximate", "incomplete"]
# The origin of a document's kind. "title" is only a guess: other documents have the same heading.
KindBy: TypeAlias = Literal["", "title", "model", "person"]
Truth: TypeAlias = Literal["match", "no match", "not stated"]


class Document(Struct, frozen=True):
    """A file that was read, from `path`, whose last part is `name`. `kind` is one or two lower-case words ("receipt",
    "data sheet"), or "" while unknown. A file that could not be read has a `problem`, as a sentence, and no text."""

    id: str
    path: str
    name: str
    title: str = ""
    media: str = ""
    """The file format that it was read as: pdf, docx, xlsx, csv, html, md, txt, eml, png."""
    kind: str = ""
    kind_by: KindBy = ""
    heading: str = ""
    """Its own title, or the heading or line at its beginning."""
    categories: tuple[Category, ...] = ()
    file_hash: str = ""
    text_hash: str = ""
    size: int = 0
    pages: int = 0
    page_starts: tuple[int, ...] = ()
    characters: int = 0
    added_at: str = ""
    problem: str = ""

    @property
    def full_title(self) -> str:
        """Return its title with its file: "Lease of a flat (flat-3.pdf)"; the title alone if the file is named so."""
        named = self.name.rpartition(".")[0] or self.name
        return self.title if self.title == named else f"{self.title} ({self.name})" if self.title else self.name

    @property
    def is_sorted(self) -> bool:
        """Return True if a model or a person has named its kind."""
        return self.kind_by in ("model", "person")


class Segment(Struct, frozen=True):
    """A snippet of a document's text, from `start` to `end`. `heading` is the nearest one above it."""

    number: int
    start: int
    end: int
    text: str
    page: int | None = None
    heading: str = ""


class Summary(Struct, frozen=True):
    """The summary of the segments from `first` to `last` of a document."""

    number: int
    first: int
    last: int
    text: str


class ComparableValue(Struct, frozen=True):
    """A value as written (`raw`), with the forms in which it can be compared. `si` is the number converted to `base`,
    the base unit of its kind: 951 mm is 0.951 m. `date` is ISO, and may be only a year or a month. `ambiguity` names
    another possible meaning, or is ""."""

    raw: str
    number: float | None = None
    high: float | None = None
    """The upper end of a range that begins with `number`."""
    unit: str = ""
    si: float | None = None
    si_high: float | None = None
    base: str = ""
    date: str = ""
    currency: str = ""
    truth: bool | None = None
    ambiguity: str = ""


class Property(Struct, frozen=True):
    """A labelled value at `start:end` of the document's text. `context` is surrounding text that belongs to its
    meaning, such as the heading of its block: "Electrical data at idle"."""

    label: str
    value: ComparableValue
    start: int
    end: int
    context: str = ""


class Annotation(Struct, frozen=True):
    """A fact of one property, or a row of several, stated in the passage `start:end`. `by` is the reader that found it:
    "pairs", "table", "sheet", "format" or "model". Rows of the same table share a `table` number, counted from 1."""

    shape: Shape
    properties: tuple[Property, ...]
    start: int
    end: int
    page: int | None = None
    by: str = ""
    table: int = 0


class Question(Struct, frozen=True):
    """A parsed question about things of one kind, named in the singular by `things` ("receipt", "row"). `of` is the
    label to aggregate, `show` the labels of the answer's columns."""

    text: str
    things: str = ""
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate = ""
    of: str = ""
    group_by: str = ""
    show: tuple[str, ...] = ()
