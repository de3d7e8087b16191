"""The rows of a run: select them, read them window by window, divide them into slices, and recall earlier attempts.

Also the limit on rows in progress. It only reads the store; `fill.py` answers the rows."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import TracebackType

import msgspec

from tablewright.domain.edits import read_flag_note
from tablewright.domain.model import Attempt, Cell, Field, Row, RowId, Struct
from tablewright.domain.proposal import CellAt
from tablewright.domain.text import cell_text, format_value, shorten_text
from tablewright.llm.text_budget import split_batches
from tablewright.store.feedback import Remark
from tablewright.store.runs import SliceWork
from tablewright.store.store import Store
from tablewright.store.tables import RowWindow
from tablewright.strategies.strategy import FIRST_ATTEMPT, Feedback, Strategy, Task

# Rows read at once: enough to keep the database idle, few enough for the memory.
WINDOW_ROWS = 2_000
# Handing out a slice takes tens of milliseconds, and a worker that dies delays the rows of its slices, so a slice has
# at most 40 rows. A small run has smaller ones, about 96 in all, so that several workers share it and finish together;
# but none smaller than the rows in progress at once, or a worker would wait for its next slice.
MAX_SLICE_ROWS = 40
SMALL_SLICE = 5


async def read_windows(
    store: Store,
    table_id: str,
    row_ids: Sequence[RowId] | None = None,
    *,
    fields: Collection[str] | None = None,
    most: int | None = None,
) -> AsyncIterator[RowWindow]:
    """Yield these rows of a table, or all, a window at a time, and at most so many."""
    if row_ids is not None:
        for some in split_batches(row_ids[:most], most=WINDOW_ROWS):
            window = await store.tables.rows(table_id, some, fields=fields)
            if window.rows:
                yield window
        return
    # Continue after the last id, not by offset: rows may be removed while the run reads.
    after = read = 0
    while limit := WINDOW_ROWS if most is None else min(WINDOW_ROWS, most - read):
        window = await store.tables.window(table_id, after=after, limit=limit, fields=fields)
        if not window.rows:
            return
        yield window
        after = window.rows[-1].id
        read += len(window.rows)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a run. `only` are the cells to fill, whatever their status; without it, those that need work."""

    store: Store
    strategy: Strategy
    task: Task
    row_ids: Sequence[RowId] | None
    only: Collection[CellAt] | None
    max_rows: int | None

    async def count(self) -> int:
        if self.row_ids is not None:
            count = len(self.row_ids)
        else:
            count = await self.store.tables.count(self.task.table.id)
        return count if self.max_rows is None else min(count, self.max_rows)

    async def windows(self, recall: Callable[[Sequence[Row]], Awaitable[None]]) -> AsyncIterator[list[tuple[Row, int]]]:
        """Yield windows of the rows to work on, each row with the number of the last change when it was read. `recall`
        gets them first, as they are in the table."""
        looked_at = self.strategy.columns(self.task)
        # Reading only the needed columns spares the values and evidence of all others.
        columns = None if looked_at is None else {*looked_at, *self._needed_columns}
        async for window in self._read(columns):
            await recall(window.rows)
            yield [(self._reopened(row), window.as_of) for row in window.rows]

    async def open_cells(self) -> tuple[int, dict[str, int]]:
        """Count the rows that need work, and the cells of each field."""
        rows, cells = 0, {field.name: 0 for field in self.task.fields}
        async for window in self._read(self._needed_columns):
            for row in map(self._reopened, window.rows):
                open_fields = [name for name in cells if row.cell(name).needs_work]
                if open_fields and not self.lacks(row, open_fields):
                    rows += 1
                    for name in open_fields:
                        cells[name] += 1
        return rows, cells

    async def slices(self, at_once: int, *, computed: bool = False) -> list[SliceWork]:
        """Divide the work into slices for several workers. Computing a row takes less time than handing out a slice, so
        a computed run has few slices of whole windows."""
        if self.row_ids is None:
            row_ids = await self.store.tables.row_ids(self.task.table.id, limit=self.max_rows)
        else:
            row_ids = list(self.row_ids)[: self.max_rows]
        of_row: dict[RowId, list[CellAt]] = {}
        for at in self.only or ():
            of_row.setdefault(at[0], []).append(at)
        todos = []
        if computed:
            size = min(10 * WINDOW_ROWS, max(WINDOW_ROWS, math.ceil(len(row_ids) / 8)))
        else:
            size = min(MAX_SLICE_ROWS, max(SMALL_SLICE, at_once, math.ceil(len(row_ids) / 96)))
        for some in split_batches(row_ids, most=size):
            only = None if self.only is None else tuple(at for row_id in some for at in of_row[row_id])
            todos.append(SliceWork(row_ids=some, only=only))
        return todos

    def lacks(self, row: Row, open_fields: Collection[str]) -> str:
        """Return why a row cannot be answered, or "": the column that names it is empty, unless the questions name only
        other columns."""
        if not open_fields or not self.strategy.needs_identity:
            return ""
        key = self.task.table.key_field
        lacking: dict[str, None] = {}
        for field in self.task.fields:
            if field.name in open_fields:
                # A question that names other columns as well as the key can be answered only with the key.
                inputs = (key,) if not field.depends_on or key in field.depends_on else field.depends_on
                if any(name and cell_text(row.cell(name)) for name in inputs):
                    return ""
                lacking |= dict.fromkeys(filter(None, inputs))
        if not lacking:
            return "the table has no column that names its rows"
        return f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} empty"

    @property
    def _needed_columns(self) -> set[str]:
        """The row's name, the asked fields and what their questions name."""
        asked = {name for field in self.task.fields for name in (field.name, *field.depends_on)}
        return {self.task.table.key_field, *asked}

    def _read(self, columns: set[str] | None) -> AsyncIterator[RowWindow]:
        return read_windows(self.store, self.task.table.id, self.row_ids, fields=columns, most=self.max_rows)

    def _reopened(self, row: Row) -> Row:
        """Return the row as the strategy should see it: with `only`, exactly these cells need work."""
        if self.only is None:
            return row
        cells = dict(row.cells)
        for field in self.task.fields:
            cell = row.cell(field.name)
            if (row.id, field.name) in self.only:
                # Flagged cells need work and keep their value, which the strategy may compare.
                cells[field.name] = msgspec.structs.replace(cell, status="FLAGGED")
            elif cell.needs_work:
                cells[field.name] = msgspec.structs.replace(cell, status="FAILED", reason="not_found")
        return msgspec.structs.replace(row, cells=cells)


# ── how many rows at once ───────────────────────────────────────────────────────────────────────────────────────────


class RowLimiter:
    """Limits the rows of a run in progress, and lets them begin in the order of the table: no row of a slice begins
    while a row of an earlier one has not. So slices end one after the other, and the process gets new ones in time.
    """

    def __init__(self, size: int = 0) -> None:
        self._size = self._free = size
        self._arrivals = count()
        self._to_begin: dict[int, float] = {}
        """By slice of this process, how many of its rows have not begun; infinite while it is being opened."""
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def resize(self, size: int) -> None:
        self._free += size - self._size
        self._size = size
        self._admit()

    def expect(self, slice_no: int, rows: float = math.inf) -> SliceEntry:
        """Hold the rows of later slices back for those of this one, until it has begun them or is forgotten."""
        self._to_begin[slice_no] = rows
        return SliceEntry(self, slice_no)

    def forget(self, slice_no: int) -> None:
        self._to_begin.pop(slice_no, None)
        self._admit()

    async def enter(self, slice_no: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # The number of arrival decides between rows of a slice; futures cannot be compared.
        heapq.heappush(self._waiting, (slice_no, next(self._arrivals), turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            # The place was given to a task that no longer wants it: pass it on, or it is lost.
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        self._free += 1
        self._admit()

    def _admit(self) -> None:
        while self._free > 0 and self._waiting and self._waiting[0][0] <= min(self._to_begin, default=math.inf):
            slice_no, _, turn = heapq.heappop(self._waiting)
            # A cancelled task is still in the heap.
            if turn.done():
                continue
            self._free -= 1
            turn.set_result(None)
            if slice_no in self._to_begin:
                self._to_begin[slice_no] -= 1
                if self._to_begin[slice_no] <= 0:
                    del self._to_begin[slice_no]


class SliceEntry:
    """The limiter for the rows of one slice: `async with entry`, as often as there are rows."""

    def __init__(self, limiter: RowLimiter, slice_no: int) -> None:
        self._limiter = limiter
        self._slice_no = slice_no

    async def __aenter__(self) -> None:
        await self._limiter.enter(self._slice_no)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limiter.leave()


# ── the history of a row: what earlier runs tried, and what people said of its cells ─────────────────────────────────

# Of a value or a note in a remark, which is part of every prompt.
MAX_REMARK_CHARACTERS = 160


class RunHistory:
    """Recalls, window by window, what earlier runs tried and what people said."""

    def __init__(self, store: Store, table_id: str, fields: Sequence[Field], *, again: bool) -> None:
        """`again`: the user asked for another look, so earlier queries and pages are avoided."""
        self._store = store
        self._table_id = table_id
        self._names = tuple(field.name for field in fields)
        self._again = again
        self._of_row: dict[RowId, RowHistory] = {}

    async def load(self, rows: Sequence[Row], run_id: str) -> None:
        """Load the history of these rows, as they are in the table, from before the run started."""
        row_ids = [row.id for row in rows]
        # Most rows of a new table were never tried, and need no query.
        tried = [row.id for row in rows if self._again or self._is_tried(row)]
        attempts, corrections = self._store.attempts, self._store.corrections
        earlier = await attempts.of_rows(self._table_id, tried, columns=self._names, before=run_id) if tried else {}
        remarks = await corrections.remarks(self._table_id, row_ids, self._names)
        # A refused proposal may have had good values. Only a user who asks again refuses these values.
        refused = await corrections.refused(self._table_id, row_ids, self._names) if self._again else {}
        self._of_row = {
            row.id: RowHistory(
                attempts=tuple(earlier.get(row.id, ())),
                remarks={
                    name: [
                        *refused.get((row.id, name), ()),
                        *self._remarks(row.cell(name), remarks.get((row.id, name))),
                    ]
                    for name in self._names
                },
                flagged=frozenset(name for name in self._names if row.cell(name).status == "FLAGGED"),
            )
            for row in rows
        }

    def first(self, row: Row) -> Feedback:
        """Return the feedback for the first attempt at the row, about its open cells."""
        # Used once: windows replace each other, and the histories of done rows would only take memory.
        known = self._of_row.pop(row.id, None)
        if known is None:
            return FIRST_ATTEMPT
        is_open = {name for name in self._names if row.cell(name).needs_work}
        earlier = tuple(attempt for attempt in known.attempts if is_open.intersection(attempt.columns))
        # The newest remarks are last, and they are the ones that hold.
        said = {name: remarks[-3:] for name, remarks in known.remarks.items() if remarks and name in is_open}
        rejected = {name for name, remarks in said.items() if is_rejected(remarks, flagged=name in known.flagged)}
        asked_again = self._again or bool(rejected)
        return Feedback(
            earlier=earlier,
            avoided=tuple(each for each in earlier if asked_again and is_unproductive(each, is_open, rejected)),
            notes={name: ". ".join(map(describe_remark, remarks)) for name, remarks in said.items()},
        )

    def _is_tried(self, row: Row) -> bool:
        return any(cell.attempt > 0 or cell.status == "FLAGGED" for cell in map(row.cell, self._names))

    def _remarks(self, cell: Cell, known: Sequence[Remark] | None) -> list[Remark]:
        said = list(known or ())
        # It came with its table.
        if cell.status == "FLAGGED" and not (said and said[-1].action == "flagged"):
            said.append(Remark(action="flagged", value=cell.value, note=read_flag_note(cell)))
        return said


class RowHistory(Struct, frozen=True, gc=True):
    attempts: tuple[Attempt, ...]
    remarks: Mapping[str, Sequence[Remark]]
    flagged: frozenset[str]


def is_rejected(remarks: Sequence[Remark], *, flagged: bool) -> bool:
    """Return True if a person refused what was found. A flag set by a recheck does not count: the page that changed is
    the first place to look."""
    return (flagged and remarks[-1].by_person) or any(remark.action == "refused" for remark in remarks)


def is_unproductive(attempt: Attempt, is_open: Collection[str], rejected: Collection[str]) -> bool:
    """Return True if the attempt found nothing still wanted. Good values without a decision may be found again."""
    weak = {column.name for column in attempt.assessment.weak}
    return all(name in weak or name in rejected for name in attempt.columns if name in is_open)


def describe_remark(remark: Remark) -> str:
    value = (
        f"'{shorten_text(format_value(remark.value), MAX_REMARK_CHARACTERS)}'"
        if remark.value is not None
        else "the empty cell"
    )
    if remark.action == "replaced":
        return f"A person replaced {value} by '{shorten_text(format_value(remark.replacement), MAX_REMARK_CHARACTERS)}'"
    if remark.action in ("removed", "refused"):
        return f"A person {remark.action} {value}"
    flagged = f"A person flagged {value}" if remark.by_person else f"A check of its source flagged {value}"
    return f"{flagged}: {shorten_text(remark.note, MAX_REMARK_CHARACTERS)}" if remark.note else flagged
