"""The nouns of finding rows: what is listed, where each thing was seen, and how complete the list is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.condition import Condition
from tablewright.domain.coverage import CountEstimate
from tablewright.domain.model import Evidence, Field, Noun, RowId
from tablewright.domain.run import Progress, Usage

ListingStatus: TypeAlias = Literal["planned", "running", "done", "partial", "cancelled", "failed"]
ReadStatus: TypeAlias = Literal["read", "nothing", "not judged", "blocked", "forbidden", "error"]
"""Of a page: rows were taken from it; it has none; the model could not be asked about it; it could not be opened."""
DEFAULT_ROWS = 50
MOST_ROWS = 2_000


class ListPlan(Noun, frozen=True):
    """What is listed. `fields` begins with the column that names the things; `identity` are the columns that together
    tell two rows apart. `said` is what whoever planned it left out or took for granted, in words."""

    question: str
    things: str
    fields: tuple[Field, ...]
    identity: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    places: str = ""
    """Where such lists stand."""
    queries: tuple[str, ...] = ()
    said: str = ""
    by_model: bool = True

    @property
    def key(self) -> str:
        return self.fields[0].name


class Sighting(Noun, frozen=True):
    """A thing as one place of a page names it. `evidence` is its row or line; `elsewhere` where those of its values
    stand that are not in it, such as under the heading of its table. `list_id` tells rows of one table apart."""

    name: str
    evidence: Evidence
    values: Mapping[str, str] = {}
    elsewhere: Mapping[str, Evidence] = {}
    list_id: str = ""
    url: str = ""
    """Its own page, where the list links to it."""


class ListSource(Noun, frozen=True):
    """A page that was opened, or was to be, and what it lists."""

    origin: str
    domain: str = ""
    title: str = ""
    status: ReadStatus = "read"
    detail: str = ""
    sightings: tuple[Sighting, ...] = ()


class SetAside(Noun, frozen=True):
    """A thing that was found and does not meet a condition."""

    key: str
    name: str
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Listing(Noun, frozen=True):
    """The search for the rows of a table, as far as it has come. `placed` are the keys of things that became rows:
    what its owner removed is not added again."""

    table_id: str
    plan: ListPlan
    rows: int = DEFAULT_ROWS
    status: ListingStatus = "planned"
    problem: str = ""
    """Why it ended early, in words."""
    queries: tuple[str, ...] = ()
    failed_queries: Mapping[str, str] = {}
    """Searches that did not work, and why."""
    waiting: tuple[str, ...] = ()
    """Addresses that are still to be opened: chosen, or the next page of a list."""
    sources: tuple[ListSource, ...] = ()
    compared: tuple[str, ...] = ()
    """The names, with what else tells rows apart, that were compared in meaning; `same_names` are those that mean the
    same."""
    same_names: tuple[tuple[str, ...], ...] = ()
    placed: Mapping[str, RowId] = {}
    aside: tuple[SetAside, ...] = ()
    usage: Usage = Usage()
    updated_at: str = ""


class UndecidedRow(Noun, frozen=True):
    name: str
    reason: str


class FoundRows(Noun, frozen=True, omit_defaults=False):
    """What a search for rows came to. `rows` are in the table; of `undecided` it is not known whether they meet every
    condition; `assumed` is what was taken for granted to decide it, such as a rate of exchange; `left_over` were found
    and are in no row: `wanted` are the rows asked for, or it ended early."""

    table_id: str
    name: str
    question: str
    things: str
    status: ListingStatus
    problem: str
    columns: tuple[str, ...]
    conditions: tuple[str, ...]
    said: str
    wanted: int
    rows: int
    found: int
    undecided: tuple[UndecidedRow, ...]
    assumed: tuple[str, ...]
    aside: tuple[SetAside, ...]
    left_over: int
    estimate: CountEstimate | None
    completeness: str
    queries: tuple[str, ...]
    failed_queries: Mapping[str, str]
    read: tuple[str, ...]
    unreached: Mapping[str, str]
    by_model: bool
    usage: Usage


class FindEvent(Noun, frozen=True):
    """What a search for rows tells while it works."""

    stage: Literal["planned", "searching", "choosing", "reading", "placing", "filling", "done"]
    detail: str = ""
    done: int = 0
    total: int = 0

    @property
    def progress(self) -> Progress:
        text = f"{self.stage}: {self.detail}" if self.detail else self.stage
        return Progress(stage="working", done=self.done, total=self.total, detail=text)
