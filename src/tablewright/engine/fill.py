"""The engine: fills the cells that need work, row by row, and keeps what it finds as a proposal.

Rows are read window by window and answered by a few workers side by side; findings are checked against their field's
type and written in batches. A run that is cancelled, or fails half-way, leaves a proposal with what it had found.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from tablewright.engine.progress import Progress, Stage, Watch, ignore
from tablewright.errors import TablewrightError
from tablewright.store.proposals import Operation
from tablewright.store.records import now
from tablewright.store.runs import RunStatus
from tablewright.store.store import Store
from tablewright.strategies.strategy import Answer, Strategy, Task, checked_params
from tablewright.strategies.tools import NO_TOOLS, Tools
from tablewright.table.coerce import Coerced, coerce
from tablewright.table.model import Cell, Field, Finding, Label, Noun, Row, RowId, Step, StepType, Table, Value
from tablewright.table.text import cell_text, shortened, show
from tablewright.table.usage import Meter, Usage, metered

T = TypeVar("T")

BATCH = 2_000
FLUSH_SECONDS = 1.0
QUOTED = 160  # characters of a quote in the trace

STAGES: dict[StepType, Stage] = {"search": "searching", "fetch": "fetching", "compute": "computing"}
NOTHING: Mapping[str, Cell] = {}
COERCED: dict[Label, float] = {"high": 1.0, "medium": 0.7, "low": 0.4, "none": 0.0}


class Filled(Noun, frozen=True):
    """What a run came to."""

    run_id: str
    proposal_id: str
    status: RunStatus
    rows: int
    found: int
    empty: int
    skipped: int
    usage: Usage


class Fill:
    """One run over one table. `cancel()` may be called at any time, from the same event loop."""

    def __init__(
        self,
        store: Store,
        table: Table,
        fields: Sequence[Field],
        strategy: Strategy,
        *,
        params: Mapping[str, str] | None = None,
        tools: Tools = NO_TOOLS,
        row_ids: Sequence[RowId] | None = None,
        max_rows: int | None = None,
        concurrency: int | None = None,
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._table = table
        self._fields = tuple(fields)
        self._strategy = strategy
        self._task = Task(table=table, fields=self._fields, params=checked_params(strategy, params or {}))
        self._tools = tools
        self._row_ids = row_ids
        self._max_rows = max_rows
        self._is_ours = type(strategy).__module__.partition(".")[0] == "tablewright"
        self._must_prove = not self._is_ours and strategy.kind == "enrichment"
        self._concurrency = concurrency or strategy.rows_at_once(self._task)
        self._watch = watch
        self._cancelled = False
        self._workers: list[asyncio.Task[None]] = []
        self._buffer: list[Operation] = []
        self._flushed_at, self._now = time.monotonic(), now()
        self._writing = asyncio.Lock()
        self._done = self._total = self._found = self._empty = self._skipped = 0

    def cancel(self) -> None:
        self._cancelled = True
        for worker in self._workers:
            worker.cancel()

    async def run(self) -> Filled:
        answer = self._strategy.prepare(self._task, self._tools)
        started = time.monotonic()
        self._total = await self._expected_rows()
        spec = {
            "strategy": self._strategy.name,
            "params": self._task.params,
            "fields": [field.name for field in self._fields],
        }
        self._run_id = await self._store.runs.start(self._table.id, "enrich", spec)
        self._proposal_id = await self._store.proposals.create(self._table.id, self._run_id, self._fields)
        self._tell("starting")
        status: RunStatus = "failed"
        problem: str | None = None
        meter = Meter()
        try:
            with metered(meter):
                await self._work(answer)
            status = "cancelled" if self._cancelled else "done"
        except asyncio.CancelledError:
            self._cancelled, status = True, "cancelled"
            raise
        except TablewrightError as error:
            problem = str(error)
            raise
        finally:
            usage = meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            await self._flush()
            await self._store.proposals.finish(self._proposal_id, self._reasoning())
            await self._store.runs.finish(self._run_id, status, usage, problem)
        self._tell("cancelled" if self._cancelled else "complete", detail=self._reasoning())
        return Filled(
            run_id=self._run_id,
            proposal_id=self._proposal_id,
            status=status,
            rows=self._done,
            found=self._found,
            empty=self._empty,
            skipped=self._skipped,
            usage=usage,
        )

    async def _work(self, answer: Answer) -> None:
        windows = self._windows()
        reading = asyncio.Lock()
        waiting: deque[tuple[Row, int]] = deque()

        async def worker() -> None:
            while not self._cancelled:
                if not waiting:
                    async with reading:
                        if not waiting:
                            waiting.extend(await anext(windows, []))
                    if not waiting:
                        return
                await self._answer_row(answer, *waiting.popleft())

        self._workers = [asyncio.create_task(worker()) for _ in range(self._concurrency)]
        try:
            await asyncio.wait(self._workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            # One that fails has met something that all will meet, such as a full disk.
            for each in self._workers:
                each.cancel()
            results = await asyncio.gather(*self._workers, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _windows(self) -> AsyncIterator[list[tuple[Row, int]]]:
        """The rows to work on, some at a time, each with where the log stood when it was read."""
        tables, table_id, columns = self._store.tables, self._table.id, self._columns()
        left = self._total
        if self._row_ids is not None:
            for start in range(0, left, BATCH):
                wanted = self._row_ids[start : min(start + BATCH, left)]
                window = await tables.rows(table_id, wanted, fields=columns)
                if window.rows:
                    yield [(row, window.as_of) for row in window.rows]
            return
        after = 0
        while left > 0:
            window = await tables.window(table_id, after=after, limit=min(BATCH, left), fields=columns)
            if not window.rows:
                return
            yield [(row, window.as_of) for row in window.rows]
            after = window.rows[-1].id
            left -= len(window.rows)

    def _columns(self) -> set[str] | None:
        """What must be read of each row: what the strategy looks at, the row's name and the asked fields."""
        looked_at = self._strategy.columns(self._task)
        if looked_at is None:
            return None
        return {*looked_at, self._table.key_field, *(field.name for field in self._fields)}

    async def _expected_rows(self) -> int:
        count = len(self._row_ids) if self._row_ids is not None else await self._store.tables.count(self._table.id)
        return count if self._max_rows is None else min(count, self._max_rows)

    async def _answer_row(self, answer: Answer, row: Row, as_of: int) -> None:
        open_fields = {field.name: field for field in self._fields if row.cell(field.name).needs_work}
        label = cell_text(row.cell(self._table.key_field)) if self._table.key_field else ""
        if not open_fields or (self._strategy.needs_identity and not label):
            self._done += 1
            self._skipped += 1
            why = "it has no name" if open_fields else "nothing to do"
            self._tell("row_skipped", row_id=row.id, label=label, detail=why)
            return
        told: list[tuple[Step, str]] = []

        def tell(step: Step, field: str = "") -> None:
            told.append((step, field))
            self._tell_step(step, row.id, label)

        problem = "the strategy gave no answer"
        findings: dict[str, Finding] = {}
        meter = Meter()
        try:
            with metered(meter):
                findings = {finding.field: finding for finding in await answer(row, tell)}
            if not self._is_ours:
                findings = {name: well_formed(finding, Finding) for name, finding in findings.items()}
                told = [(well_formed(step, Step), of) for step, of in told]
        except Exception as error:  # a bug in a strategy costs its row, not the run
            problem = f"{type(error).__name__}: {error}"
            findings, told = {}, [(step, of) for step, of in told if self._is_ours or is_well_formed(step)]
            tell(Step(type="error", detail=problem))
        cost = meter.usage.cost_usd / len(open_fields)
        cells = {}
        for name, field in open_fields.items():
            finding = findings.get(name) or Finding(field=name, reason="error", error=problem)
            if self._must_prove and finding.value is not None and not any(each.quote for each in finding.evidence):
                finding = Finding(field=name, reason="error", error="a value without a quote that states it")
            for step in finding.steps:
                self._tell_step(step, row.id, label)
            steps = (*(step for step, of in told if of in ("", name)), *finding.steps)
            cells[name] = self._propose(row, field, finding, steps, as_of, cost)
        self._done += 1
        self._tell("row_done", row_id=row.id, label=label, cells=cells)
        if len(self._buffer) >= BATCH or time.monotonic() - self._flushed_at > FLUSH_SECONDS:
            await self._flush()

    def _propose(
        self, row: Row, field: Field, finding: Finding, steps: tuple[Step, ...], as_of: int, cost: float
    ) -> Cell:
        attempt = row.cell(field.name).attempt + 1
        cell = proposed_cell(field, finding, run_id=self._run_id, attempt=attempt, at=self._now, cost=cost)
        if cell.status == "ENRICHED":
            self._found += 1
        else:
            self._empty += 1
        if cell.value is not None:
            steps = (*steps, Step(type="answer", detail=answered(cell)))
        self._buffer.append(Operation(row_id=row.id, field=field.name, cell=cell, steps=steps, as_of=as_of))
        return cell

    async def _flush(self) -> None:
        """A batch leaves the buffer when it is written. If this is cancelled in between it is written again, which
        changes nothing: the same attempt counts once."""
        async with self._writing:
            batch = tuple(self._buffer)
            self._flushed_at, self._now = time.monotonic(), now()
            await self._store.proposals.add(self._proposal_id, batch)
            del self._buffer[: len(batch)]

    def _reasoning(self) -> str:
        questions = "; ".join(field.question for field in self._fields if field.question)
        unit = "rows" if len(self._fields) == 1 else f"cells in {self._done} rows"
        found = f"found {self._found} of {self._found + self._empty} {unit}"
        stopped = ", cancelled before the end" if self._cancelled else ""
        return f"{self._strategy.display_name}: {questions} — {found}{stopped}"

    def _tell_step(self, step: Step, row_id: RowId, label: str) -> None:
        stage = STAGES.get(step.type)
        if stage is not None:
            self._tell(stage, row_id=row_id, label=label, detail=step.detail)

    def _tell(
        self,
        stage: Stage,
        *,
        row_id: RowId | None = None,
        label: str = "",
        detail: str = "",
        cells: Mapping[str, Cell] = NOTHING,
    ) -> None:
        self._watch(
            Progress(
                stage=stage,
                done=self._done,
                total=self._total,
                row_id=row_id,
                label=label,
                detail=detail,
                cells=cells,
            )
        )


def well_formed(value: T, kind: type[T]) -> T:
    """What another package returned, if it has the form it says; raises msgspec.ValidationError or TypeError."""
    return msgspec.convert(msgspec.to_builtins(value), kind)


def is_well_formed(step: Step) -> bool:
    try:
        return bool(well_formed(step, Step))
    except (msgspec.ValidationError, TypeError):
        return False


def answered(cell: Cell) -> str:
    """The answer and why: who says so, in which words, who agrees and who does not."""
    said = f"{show(cell.value)} ({cell.error})" if cell.error else show(cell.value)
    if not cell.evidence or not cell.evidence[0].domain:
        return said
    first, *others = cell.evidence
    said += f" — {first.domain}: “{shortened(first.quote, QUOTED)}”"
    if others:
        said += f"; so says {' and '.join(evidence.domain for evidence in others)}"
    for other in cell.conflict:
        who = other.evidence[0].domain if other.evidence else "another source"
        said += f"; {who} says {show(other.value)}"
    return said


def fits(value: Value, field: Field) -> bool:
    """Whether a computed value is of its field's type already."""
    if field.type == "text":
        return isinstance(value, str)
    return field.type == "number" and type(value) in (int, float) and not field.unit


def proposed_cell(field: Field, finding: Finding, *, run_id: str, attempt: int, at: str, cost: float = 0.0) -> Cell:
    """The finding as a cell of its field: coerced to the type, or FAILED with the reason."""
    if finding.value is None:
        return Cell(
            raw_value=finding.raw_value,
            status="FAILED",
            reason=finding.reason or "not_found",
            evidence=finding.evidence,
            cost=cost,
            attempt=attempt,
            run_id=run_id,
            updated_at=at,
            error=finding.error,
        )
    if finding.exact and finding.raw_value is not None and fits(finding.value, field):
        coerced = Coerced(value=finding.value, raw_value=finding.raw_value, label="high")
    else:
        coerced = coerce(finding.value, field)
    if coerced.value is None:
        return Cell(
            raw_value=finding.raw_value or coerced.raw_value,
            status="FAILED",
            reason="error",
            evidence=finding.evidence,
            cost=cost,
            attempt=attempt,
            run_id=run_id,
            updated_at=at,
            error=coerced.note or f"{coerced.raw_value[:60]!r} is not a {field.type}",
        )
    return Cell(
        value=coerced.value,
        raw_value=coerced.raw_value if finding.raw_value is None else finding.raw_value,
        status="ENRICHED",
        confidence=round(min(1.0, max(0.0, finding.confidence)) * COERCED[coerced.label], 4),
        evidence=finding.evidence,
        conflict=finding.conflict,
        cost=cost,
        attempt=attempt,
        run_id=run_id,
        updated_at=at,
        error=coerced.note or None,
    )
