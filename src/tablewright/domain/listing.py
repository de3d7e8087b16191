"""Types of finding rows (plan, mentions, listing), and the estimate of how complete a list is.

No I/O: `workflows/find` searches and reads, `store/` keeps the listing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from tablewright.domain.condition import Condition
from tablewright.domain.model import Evidence, Field, RowId, Struct
from tablewright.domain.run import Progress, Usage
from tablewright.domain.text import count_noun

ListingStatus: TypeAlias = Literal["planned", "running", "done", "partial", "cancelled", "failed"]
# Result of opening a page: rows were taken; it has none; the model could not be asked about it; or it was not opened.
ReadStatus: TypeAlias = Literal["read", "nothing", "not judged", "blocked", "forbidden", "error"]
# Rows that a search looks for unless the user says otherwise; the maximum bounds what one search can cost.
DEFAULT_ROWS = 50
MAX_ROWS = 2_000


class ListPlan(Struct, frozen=True):
    """A plan for finding rows. `fields` begins with the column that names the things; `identity` are the columns that
    together distinguish rows. `said` lists, as a text, what the planner omitted or assumed."""

    question: str
    things: str
    fields: tuple[Field, ...]
    identity: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    places: str = ""
    """Kinds of places where such lists are found."""
    queries: tuple[str, ...] = ()
    said: str = ""
    by_model: bool = True

    @property
    def key(self) -> str:
        return self.fields[0].name


class Mention(Struct, frozen=True):
    """A thing as one place of a page names it. `evidence` is its row or line; `elsewhere` is the evidence for values
    outside that line, such as in the heading of its table. `list_id` identifies the table that it is a row of."""

    name: str
    evidence: Evidence
    values: Mapping[str, str] = {}
    elsewhere: Mapping[str, Evidence] = {}
    list_id: str = ""
    url: str = ""
    """Its own page, if the list links to it."""


class ListSource(Struct, frozen=True):
    """A page that was opened or could not be, with the things that it lists."""

    origin: str
    domain: str = ""
    title: str = ""
    status: ReadStatus = "read"
    detail: str = ""
    sightings: tuple[Mention, ...] = ()


class ExcludedThing(Struct, frozen=True):
    """A thing that was found but does not meet a condition."""

    key: str
    name: str
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Listing(Struct, frozen=True):
    """The state of a search for rows. `placed` are the keys of things that became rows, so that a row which the owner
    removed is not added again."""

    table_id: str
    plan: ListPlan
    rows: int = DEFAULT_ROWS
    status: ListingStatus = "planned"
    problem: str = ""
    """Why it ended early, as a sentence."""
    queries: tuple[str, ...] = ()
    failed_queries: Mapping[str, str] = {}
    """Failed searches, with the reason."""
    waiting: tuple[str, ...] = ()
    """Addresses still to be opened: chosen results and next pages of lists."""
    sources: tuple[ListSource, ...] = ()
    compared: tuple[str, ...] = ()
    """The names (with other identifying values) that a model has compared; `same_names` are groups with one meaning."""
    same_names: tuple[tuple[str, ...], ...] = ()
    placed: Mapping[str, RowId] = {}
    aside: tuple[ExcludedThing, ...] = ()
    usage: Usage = Usage()
    updated_at: str = ""


class UndecidedRow(Struct, frozen=True):
    name: str
    reason: str


class FoundRows(Struct, frozen=True, omit_defaults=False):
    """Results of a search for rows. `rows` counts those in the table; `undecided` are rows that may not meet every
    condition; `assumed` lists assumptions made to decide, such as an exchange rate; `left_over` counts things that were
    found but are in no row, because `wanted` rows were reached or the search ended early."""

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
    aside: tuple[ExcludedThing, ...]
    left_over: int
    estimate: CountEstimate | None
    completeness: str
    queries: tuple[str, ...]
    failed_queries: Mapping[str, str]
    read: tuple[str, ...]
    unreached: Mapping[str, str]
    by_model: bool
    usage: Usage


class FindEvent(Struct, frozen=True):
    """Progress of a search for rows."""

    stage: Literal["planned", "searching", "choosing", "reading", "placing", "filling", "done"]
    detail: str = ""
    done: int = 0
    total: int = 0

    @property
    def progress(self) -> Progress:
        text = f"{self.stage}: {self.detail}" if self.detail else self.stage
        return Progress(stage="working", done=self.done, total=self.total, detail=text)


class CountEstimate(Struct, frozen=True):
    """An estimate of the total number of things: `likely`, between `low` and `high`, never fewer than `found`."""

    found: int
    likely: int
    low: int
    high: int
    passes: int

    def __str__(self) -> str:
        made = f"{self.found:,} found in {count_noun(self.passes, 'pass')}"
        return f"{made}; likely about {self.likely:,} ({self.low:,} to {self.high:,})"


def estimate_total_count(seen: Sequence[Collection[str]]) -> CountEstimate | None:
    """Estimate how many things there are from the keys that each independent pass found; empty passes do not count.

    Two passes that found n₁ and n₂ things, m of them both: Chapman's N = (n₁+1)(n₂+1)/(m+1) - 1. With more passes, of
    which Q₁ things were found by exactly one and Q₂ by exactly two, bias-corrected Chao2:
    N = found + (t-1)/t · Q₁(Q₁-1) / (2(Q₂+1)) for t passes. The interval is Chao's: the number of things not seen is
    taken as log-normal, so its lower end is never below what was found. Where nothing is left over (N = found), it is
    that of the chance exp(-sightings/found) of having missed a thing.

    If some things are much harder to find than others, it is a lower bound. Return None if fewer than two passes found
    something, or fewer than two things were found twice (unless everything was), since it would be a guess.
    """
    passes = [frozenset(each) for each in seen if each]
    times = Counter(key for each in passes for key in each)
    shared = sum(1 for count in times.values() if count > 1)
    # With fewer things found twice, the estimate would be little more than a guess.
    if len(passes) < 2 or (shared < 2 and shared < len(times)):
        return None
    missed, variance = _estimate_chapman(*passes) if len(passes) == 2 else _estimate_chao2(times, len(passes))
    low, high = _confidence_interval(len(times), missed, variance, sum(times.values()))
    found = len(times)
    likely = min(max(round(found + missed), low), high)
    return CountEstimate(found=found, likely=likely, low=low, high=high, passes=len(passes))


def _estimate_chapman(one: frozenset[str], other: frozenset[str]) -> tuple[float, float]:
    first, second, both = len(one), len(other), len(one & other)
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    return total - len(one | other), variance


def _estimate_chao2(times: Counter[str], passes: int) -> tuple[float, float]:
    once = sum(1 for count in times.values() if count == 1)
    twice = sum(1 for count in times.values() if count == 2)
    share = (passes - 1) / passes
    missed = share * once * (once - 1) / (2 * (twice + 1))
    variance = (
        missed
        + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return missed, variance


def _confidence_interval(found: int, missed: float, variance: float, sightings: int) -> tuple[int, int]:
    # In standard deviations, half the width of a 95 % interval.
    half_width = 1.96
    if missed <= 0 or variance <= 0:
        chance = math.exp(-sightings / found)
        wide = half_width * math.sqrt(found * chance)
        return found, max(found, round((found + wide) / (1 - chance)))
    factor = math.exp(half_width * math.sqrt(math.log(1 + variance / missed**2)))
    return round(found + missed / factor), math.ceil(found + missed * factor)
