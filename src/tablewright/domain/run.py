"""Runs: their request, state, usage, tally and progress events; also meters that add up usage within a task.

No I/O: `store/` keeps runs, `engine/` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright.domain.model import Cell, RowId, StepType, Struct

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

STAGE_OF_STEP: dict[StepType, Stage] = {"search": "searching", "fetch": "fetching", "compute": "computing"}

# Work that a schedule can repeat on a table.
Routine: TypeAlias = Literal["recheck", "refresh"]

# The status of a run in the database.
RunStatus: TypeAlias = Literal["running", "done", "failed", "cancelled", "over_budget", "paused"]
# The status of a run as it is shown: one that was asked to stop, or whose process is gone, is still `running` in the
# database.
RunState: TypeAlias = Literal[RunStatus, "stopping", "interrupted"]

# Keys of the spec: the `Since` of a run, and the process that does it without slices.
SINCE = "since"
HOLDER = "holder"
# Keys of the spec: the id of the user for whom a schedule runs, and the name of the user who started the run.
PERSON, ACTOR = "person", "actor"
# Key of the spec: the number of processes that were lost with a run without slices.
SETBACKS = "setbacks"
# After so many lost processes the work is set aside: it would probably kill the next one too.
MAX_SETBACKS = 2
# Key of the spec: true if only the program that started the run has its strategy.
OWN_STRATEGY = "own_strategy"
# Key of the spec of an ended run: its `RunTally`.
TALLY = "tally"


class Since(Struct, frozen=True):
    """The time when a process last started to work on a run, and the rows done and seconds worked by then."""

    at: str
    done: int = 0
    seconds: float = 0.0


class Usage(Struct, frozen=True, omit_defaults=False):
    """Resources used, in the units of bills and waiting time."""

    llm_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    """The part of `input_tokens` that the provider served from its prompt cache, at a lower price."""
    output_tokens: int = 0
    searches: int = 0
    fetches: int = 0
    cache_hits: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})


class UsageMeter:
    """The usage of one piece of work."""

    def __init__(self) -> None:
        self.usage = Usage()


_meters: ContextVar[tuple[UsageMeter, ...]] = ContextVar("meters", default=())


@contextmanager
def measure_usage(meter: UsageMeter | None = None) -> Iterator[UsageMeter]:
    """Count all usage inside, in this task and the tasks that it starts; meters may be nested."""
    meter = meter or UsageMeter()
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)


def record_usage(usage: Usage) -> None:
    """Add usage to all open meters. Called by whatever uses a paid or limited resource."""
    for meter in _meters.get():
        meter.usage += usage


# ── estimates ───────────────────────────────────────────────────────────────────────────────────────────────────────


class EstimateRange(Struct, frozen=True, omit_defaults=False):
    low: float
    likely: float
    high: float


class Estimate(Struct, frozen=True, omit_defaults=False):
    rows: int
    """Rows and cells that need work."""
    cells: int
    model: str
    """"" without one."""
    calls: EstimateRange
    input_tokens: EstimateRange
    output_tokens: EstimateRange
    searches: int
    pages: int
    cost_usd: EstimateRange | None
    """None if the model's price is unknown."""
    seconds: float
    from_rows: int
    """The number of rows of earlier runs that it is based on; with 0, it is the strategy's default."""


# The error of a run that a person paused, as opposed to one that an outage did.
PAUSED_PROBLEM = "It was paused on request."


class Run(Struct, frozen=True):
    id: str
    table_id: str
    kind: str
    status: RunStatus
    spec: dict[str, Any]
    started_at: str
    finished_at: str | None = None
    usage: Usage = Usage()
    error: str | None = None
    owner: str = ""
    stopping: bool = False
    """It was asked to stop or pause."""
    pausing: bool = False
    """It was asked to pause."""
    total: int = 0
    done: int = 0
    last_event: int = 0
    person: str = ""
    """The id of the user who started it; "" for the owner of the installation."""

    @property
    def since(self) -> Since:
        return msgspec.convert(self.spec.get(SINCE) or {"at": self.started_at}, Since)

    @property
    def is_sliced(self) -> bool:
        """True if its rows are handed out in slices, so that another process can continue it."""
        return self.kind == "enrich" and "retry" in self.spec

    @property
    def has_own_strategy(self) -> bool:
        """True if only the program that started it has its strategy."""
        return bool(self.spec.get(OWN_STRATEGY))

    def goes_on_as(self, owner: str) -> bool:
        """Return True if this owner is to continue it."""
        return self.status == "running" and not self.stopping and self.owner == owner

    @property
    def was_paused_by_person(self) -> bool:
        return self.status == "paused" and self.error == PAUSED_PROBLEM

    @property
    def stopped_status(self) -> RunStatus:
        """The status of a run that ends because it was asked to."""
        return "paused" if self.pausing else "cancelled"

    @property
    def is_held(self) -> bool:
        """True if a process does it without slices and will end it."""
        return bool(self.spec.get(HOLDER))

    @property
    def setbacks(self) -> int:
        """The number of processes lost since its last progress."""
        return 0 if self.done > self.since.done else int(self.spec.get(SETBACKS, 0))

    def seconds_worked(self, until: str) -> float:
        """Return the seconds up to a time, without those in which no process worked on it."""
        return round(self.since.seconds + seconds_between(self.since.at, until), 3)


def seconds_between(start: str, end: str) -> float:
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


# Skipped rows that a summary names; the others are only counted.
MAX_NAMED_ROWS = 5


class SkippedRow(Struct, frozen=True, omit_defaults=False):
    row_id: RowId
    label: str = ""
    why: str = ""


class RunTally(Struct, frozen=True, omit_defaults=False):
    """Counts of rows and cells of a run; `bought` ones asked a model, a search provider or the web."""

    rows: int = 0
    found: int = 0
    empty: int = 0
    skipped: int = 0
    left: int = 0
    unasked: int = 0
    bought_rows: int = 0
    bought_cells: int = 0
    degraded: int = 0
    incomplete: int = 0
    skipped_rows: tuple[SkippedRow, ...] = ()
    cause: str = ""
    """Why the first of the `unasked` cells could not be looked for."""

    def __add__(self, other: RunTally) -> RunTally:
        both = RunTally(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})
        return msgspec.structs.replace(
            both, skipped_rows=both.skipped_rows[:MAX_NAMED_ROWS], cause=self.cause or other.cause
        )


class Progress(Struct, frozen=True):
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
        """The completed share, from 0.0 to 1.0; 0.0 while the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else float(self.stage == "complete")

    def drop_evidence(self) -> Progress:
        """Return it as events of a run keep it: the evidence of its cells may be long, and is in the proposal."""
        cells = {name: msgspec.structs.replace(cell, evidence=(), conflict=()) for name, cell in self.cells.items()}
        return msgspec.structs.replace(self, cells=cells)


class Event(Struct, frozen=True):
    """A stored progress event of a run. A watcher continues after the last number that it read."""

    number: int
    at: str
    progress: Progress


ProgressCallback: TypeAlias = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Discard progress."""
