"""The nouns of the user's own documents: what a file becomes once it is read, and what can be asked of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.domain.condition import Condition
from tablewright.domain.model import Noun

Category: TypeAlias = Literal["long", "short", "data-heavy", "text-heavy"]
Shape: TypeAlias = Literal["fact", "row"]
Aggregate: TypeAlias = Literal["", "count", "sum", "min", "max", "average"]
Intent: TypeAlias = Literal["enumeration", "numeric", "conceptual"]
Completeness: TypeAlias = Literal["exact", "approximate", "incomplete"]
KindBy: TypeAlias = Literal["", "title", "model", "person"]
"""Who said what a document is. "title": nobody, the words that head it head others too."""
Truth: TypeAlias = Literal["match", "no match", "not stated"]


class Document(Noun, frozen=True):
    """A file that was read. `path` is where it was found, `name` its last part. `kind` is what it seems to be, one
    lower-case word or two ("receipt", "invoice", "data sheet"), or empty where nobody has said it.

    One that could not be read has a `problem`, in words for people, and no text."""

    id: str
    path: str
    name: str
    title: str = ""
    media: str = ""
    """The ending that says how it was read: pdf, docx, xlsx, csv, html, md, txt, eml, png."""
    kind: str = ""
    kind_by: KindBy = ""
    heading: str = ""
    """Its own title, or the heading or line that it begins with."""
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
    def is_sorted(self) -> bool:
        """Return True if a model or a person has said what it is."""
        return self.kind_by in ("model", "person")


class Segment(Noun, frozen=True):
    """A snippet of a document's text, from `start` to `end`. `heading` is the nearest one above it."""

    number: int
    start: int
    end: int
    text: str
    page: int | None = None
    heading: str = ""


class Summary(Noun, frozen=True):
    """What a macro-chunk of a document is about: the segments from `first` to `last`."""

    number: int
    first: int
    last: int
    text: str


class Typed(Noun, frozen=True):
    """A value as it is written (`raw`), and what it can be compared as. `si` is the number in the base unit of its
    kind, `base` that unit: 951 mm is 0.951 in m. `date` is ISO; a month or a year is kept as far as it is known.
    `ambiguity` says what else it could mean, in words; empty where it is clear."""

    raw: str
    number: float | None = None
    high: float | None = None
    """The end of a range that begins with `number`."""
    unit: str = ""
    si: float | None = None
    si_high: float | None = None
    base: str = ""
    date: str = ""
    currency: str = ""
    truth: bool | None = None
    ambiguity: str = ""


class Property(Noun, frozen=True):
    """One labelled value. It stands at `start:end` of the document's text. `context` is what is said above or around
    it that belongs to its meaning, such as the heading of its block: "Electrical data at idle"."""

    label: str
    value: Typed
    start: int
    end: int
    context: str = ""


class Annotation(Noun, frozen=True):
    """A fact of one property, or a row of several. `start:end` is the passage that states it, `by` who found it:
    "pairs", "table", "sheet", "format" or "model". Rows of one table have the same `table`, counted from 1."""

    shape: Shape
    properties: tuple[Property, ...]
    start: int
    end: int
    page: int | None = None
    by: str = ""
    table: int = 0


class Question(Noun, frozen=True):
    """A question to things of a kind, taken apart. `things` is what they are called, in the singular ("receipt",
    "row"); `of` is the label that the aggregate is of, and `show` are the labels of the answer's columns."""

    text: str
    things: str = ""
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate = ""
    of: str = ""
    group_by: str = ""
    show: tuple[str, ...] = ()
