"""The engine: fills the cells that need work, row by row, and keeps what it finds as a proposal.

Rows are read window by window and answered by several workers at once; findings are checked against their field's type
and written in batches. A run that is cancelled or fails leaves a proposal with the findings so far. Once the budget is
spent, no further row is started; the remaining cells say so, and the next run continues with them.

A row that could not reach the search, the model or any page is deferred and tried once more at the end. During an
outage nothing is proposed for it, so that its cells stay PENDING, and the run is paused (`web/breaker.py`).

`run` does everything in this process. A durable run is started by `begin`, which stores the work slice by slice; the
process that claims a slice does it with `run_slice`. Only this module and `runs/executor.py` may start a strategy.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.domain.model import Attempt, Cell, Finding, Row, RowId, Step
from tablewright.domain.run import (
    OWN_STRATEGY,
    STAGE_OF_STEP,
    Progress,
    ProgressCallback,
    RunStatus,
    RunTally,
    Stage,
    Usage,
    UsageMeter,
    ignore_progress,
    measure_usage,
)
from tablewright.domain.text import cell_text
from tablewright.engine.outcome import (
    ProposalBuilder,
    RowAnswer,
    RunResult,
    is_settled,
    is_valid_step,
    make_run_result,
    summarize_run,
    tally_spec,
    validate_foreign,
)
from tablewright.engine.policy import SINGLE_ATTEMPT, FillPlan
from tablewright.engine.rows import Rows, RunHistory
from tablewright.engine.write_buffer import WriteBatch, WriteBuffer, shield_to_completion, wait_for_workers
from tablewright.errors import OverQuota, StoreError, TablewrightError
from tablewright.llm.budget import current_allowance
from tablewright.observe import trace_span, working_on
from tablewright.secrets import mask_secrets
from tablewright.store.runs import Slice
from tablewright.store.store import Store
from tablewright.store.workers import unregistered_owner
from tablewright.strategies.strategy import (
    NO_TOOLS,
    Answer,
    FunctionStrategy,
    ModelCalls,
    StepFeed,
    Task,
    Tools,
    Trace,
    TracedAnswer,
    check_params,
    close_answer,
    find_strategy,
)
from tablewright.web.breaker import CircuitBreaker, Part, RowFailures, track_row_failures
from tablewright.web.provenance import Provenance, track_provenance

if TYPE_CHECKING:
    from tablewright.domain.run import Estimate


@dataclass(frozen=True)
class DeferredRow:
    """A row that could not reach a service, and how to conclude it without that service."""

    row: Row
    as_of: int
    parts: frozenset[Part]
    conclude: Callable[[], None]


class FillRun:
    """One run over one table. `cancel()` may be called at any time from the same event loop."""

    def __init__(
        self,
        store: Store,
        plan: FillPlan,
        tools: Tools = NO_TOOLS,
        *,
        breaker: CircuitBreaker | None = None,
        calls: ModelCalls | None = None,
        watch: ProgressCallback = ignore_progress,
    ) -> None:
        """The slices of a run share a `breaker`, and the limit of model `calls` in flight."""
        table = plan.table
        strategy = find_strategy(plan.strategy) if isinstance(plan.strategy, str) else plan.strategy
        self._store = store
        self._plan = plan
        self._table = table
        self._fields = tuple(plan.fields)
        self._strategy = strategy
        self._task = Task(
            table=table,
            fields=self._fields,
            params=check_params(strategy, plan.params),
            text_sizes=tuple(plan.text_sizes),
        )
        self._tools = tools
        self._only = plan.only
        self._rows = Rows(
            store=store,
            strategy=strategy,
            task=self._task,
            row_ids=plan.row_ids if plan.only is None else sorted({row_id for row_id, _ in plan.only}),
            only=plan.only,
            max_rows=plan.max_rows,
        )
        # Findings of our own strategies have the right types by construction; checking each would slow down every row.
        is_function = isinstance(strategy, FunctionStrategy)
        self._is_ours = type(strategy).__module__.partition(".")[0] == "tablewright" and not is_function
        self._is_external = not self._is_ours or bool(strategy.needs(self._task))
        self.given_strategy = None if isinstance(plan.strategy, str) else plan.strategy
        """The strategy if it was given as an object, which only this process has."""
        self._concurrency = plan.concurrency or strategy.calls_at_once(self._task)
        # A row is tried again only where another search or another prompt can answer otherwise: actions outside the
        # table would happen twice.
        self._can_repeat = strategy.kind == "enrichment" and strategy.repeats and bool(strategy.needs(self._task))
        self._examples = plan.examples
        self._history = RunHistory(store, table.id, self._fields, again=plan.again) if self._is_external else None
        self._breaker = breaker or plan.policy.breaker
        calls = calls or ModelCalls(self._concurrency)
        self._watched_tools = tools.watched_by(self._breaker, calls)
        self.rows_at_once = strategy.rows_at_once(self._task, calls.size)
        self._deferred: dict[RowId, DeferredRow] = {}
        self._steps = StepFeed()
        self._attempts: dict[RowId, list[Attempt]] = {}
        self._is_second_pass = self._left_rows = self._defers = False
        self.watch = watch
        self._cancelled = self._draining = False
        self._workers: list[asyncio.Task[None]] = []
        self._buffer = WriteBuffer(self._write)
        self._proposals = ProposalBuilder(
            self._buffer,
            self._cap,
            marks_unquoted=not self._is_ours and strategy.kind == "enrichment",
            strict=tools.strict,
            keeps=plan.only is not None,
            is_external=self._is_external,
        )
        self._answer: Answer | None = None
        self._run_id = self._proposal_id = ""
        self._total = 0
        self._meter = UsageMeter()
        self._slice: Slice | None = None
        self._gate: AbstractAsyncContextManager[Any] = nullcontext()
        self._done_rows: list[RowId] = []
        self.written = Usage()
        """The usage that is stored with the slice by now."""

    def cancel(self) -> None:
        self._cancelled = True
        for worker in self._workers:
            worker.cancel()

    def drain(self) -> None:
        """Start no further row; rows in progress are finished."""
        self._draining = True

    async def run(self) -> RunResult:
        answer = await self._prepared()
        started = time.monotonic()
        self._total = await self._rows.count()
        status: RunStatus = "failed"
        problem: str | None = None
        try:
            # Run and proposal are created together; a cancellation in between would leave a run that never ends.
            await shield_to_completion(self._start())
            self._tell("starting")
            with measure_usage(self._meter), working_on(self._run_id):
                await self._work(answer)
            await self._buffer.flush()
            problem = self.outage or None
            # A run that was stopped is cancelled, even if a service went away at the same time.
            status = "cancelled" if self._cancelled else "paused" if problem else self._ended()
        except asyncio.CancelledError:
            # The caller was cancelled rather than the run: it ends the same way, with what it found.
            self._cancelled, status = True, "cancelled"
            raise
        except TablewrightError as error:
            problem = str(error)
            raise
        finally:
            # Also after an error: what was bought is paid for.
            usage = self._meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            name, cap = self._strategy.display_name, self._cap()
            reasoning = str(self._buffer.refused or summarize_run(name, self._fields, self._tally, status, cap))
            if self._proposal_id:
                await shield_to_completion(self._end(status, reasoning, usage, problem))
        last: Stage = "cancelled" if self._cancelled else "paused" if status == "paused" else "complete"
        # Last of all: a watcher may read the proposal as soon as it hears of the end.
        self._tell(last, detail=problem or reasoning)
        return make_run_result(self._run_id, self._proposal_id, status, self._tally, usage, self._cap(), problem or "")

    async def _start(self) -> None:
        owner = unregistered_owner()
        self._run_id = await self._store.runs.start(self._table.id, "enrich", self._spec(), owner=owner)
        self._proposals.run_id = self._run_id
        self._proposal_id = await self._store.proposals.create(self._table.id, self._run_id, self._fields)

    async def _end(self, status: RunStatus, reasoning: str, usage: Usage, problem: str | None) -> None:
        # The summary already says so.
        with suppress(OverQuota):
            await self._buffer.flush()
        await self._store.proposals.finish(self._proposal_id, reasoning)
        spec = self._spec() | tally_spec(self._tally)
        await self._store.runs.finish(self._run_id, status, usage, problem, spec=spec)

    async def begin(self, owner: str, **recorded: Any) -> str:
        """Store a durable run over the same rows and return its id. `recorded` is kept with its description."""
        await self._learn()
        todos = await self._rows.slices(self.rows_at_once, computed=not self._is_external)
        spec = {**self._spec(), **recorded, "retry": msgspec.to_builtins(self._plan.retry)}
        # No other process can continue a run whose strategy is an object of this one.
        if self.given_strategy is not None:
            spec[OWN_STRATEGY] = True
        return await self._store.runs.start_sliced(self._table.id, "enrich", spec, self._fields, todos, owner)

    async def run_slice(
        self, part: Slice, proposal_id: str, gate: AbstractAsyncContextManager[None], *, defers: bool = False
    ) -> bool:
        """Do the rest of a slice with the rows of this run, and return True if all of it is done. The gate limits the
        rows in progress over all slices. With `defers`, rows that could not reach a failing service are left for
        later, when other slices will have shown whether it is down."""
        self._defers = defers
        answer = await self._prepared()
        self._slice = part
        # A computed row waits for nothing, so it need not take turns.
        if self._is_external:
            self._gate = gate
        self._run_id, self._proposal_id = part.run_id, proposal_id
        self._proposals.run_id = self._run_id
        self._total = await self._rows.count()
        # A slow row writes nothing for a long time; its events are written all the same.
        ticking = asyncio.create_task(self._buffer.tick())
        try:
            with measure_usage(self._meter), working_on(self._run_id):
                await self._work(answer)
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            await self._buffer.flush()
        if self._cancelled or self._draining or self.outage or self._deferred:
            return False
        # Only what is stored makes the slice done, so the mark goes with the last batch.
        await self._buffer.flush(finished=True)
        return True

    @property
    def table_id(self) -> str:
        return self._table.id

    @property
    def is_external(self) -> bool:
        """True if it uses services outside this process, so that repeating it would cost money or time."""
        return self._is_external

    def _spec(self) -> dict[str, Any]:
        return {
            **self._shape(),
            "fields": [field.name for field in self._fields],
            "concurrency": self._concurrency,
            "rows_at_once": self.rows_at_once,
            "again": self._plan.again,
            "max_rows": self._plan.max_rows,
            "examples": self._task.examples,
        }

    @property
    def _tally(self) -> RunTally:
        before = self._slice.tally if self._slice else RunTally()
        return before + self._proposals.tally

    async def run_within(self, seconds: float | None) -> RunResult:
        """Run, and cancel after this many seconds; None sets no limit."""
        if seconds is None:
            return await self.run()
        late = asyncio.get_running_loop().call_later(seconds, self.cancel)
        try:
            return await self.run()
        finally:
            late.cancel()

    @property
    def costs_money(self) -> bool:
        """True if its model or its search has a price."""
        models = [model for model in (self._tools.model, self._tools.strong) if model is not None]
        if not models:
            return self._tools.web is not None and self._plan.policy.search_price > 0
        # Takes half a second, which a computation need not wait for.
        from tablewright.engine.estimate import is_paid

        return any(is_paid(model) for model in models) or self._plan.policy.search_price > 0

    async def estimate(self) -> Estimate:
        """Return what `run` is likely to take; spend nothing."""
        from tablewright.engine.estimate import EstimateRequest, estimate_run
        from tablewright.strategies.estimates import estimate_unknown_strategy

        rows, cells = await self._rows.open_cells()
        count = sum(cells.values())
        a_row = max(1, round(count / rows)) if rows else len(self._fields)
        # The columns with the most open cells stand for those of an average row.
        likely = sorted(self._fields, key=lambda field: -cells[field.name])[:a_row]
        task = self._task
        if a_row < len(self._fields):
            fields = tuple(field for field in self._fields if field in likely)
            task = msgspec.structs.replace(task, fields=fields)
        expected = self._strategy.expected(task, self._tools)
        if expected is None:
            expected = estimate_unknown_strategy(task, self._tools, self._strategy.needs(task))
        # Only runs with as many open cells a row tell what such a row takes (see `a_row`). The sizes of the texts tell
        # more than runs that read others.
        past = await self._store.runs.find_similar("enrich", self._shape()) if not task.text_sizes else []
        return estimate_run(
            EstimateRequest(
                rows=rows,
                cells=count,
                expected=expected,
                policy=self._plan.policy,
                attempts=self._plan.retry.attempts,
                concurrency=self._concurrency,
                past=[run for run in past if round(run.spec["cells"] / max(1, run.spec["rows"])) == a_row],
            ),
            self._tools,
        )

    def _shape(self) -> dict[str, Any]:
        """Return the properties of a run that determine what a row with a given number of open cells takes."""
        tools = self._tools
        return {
            "strategy": self._strategy.name,
            "params": self._task.params,
            "model": tools.model.name if tools.model else "",
            "strong": tools.strong.name if tools.strong else "",
            "cascade": tools.cascade,
            "attempts": self._plan.retry.attempts,
        }

    async def _learn(self) -> None:
        """Load the examples once, when the run starts: its prompts must not change while it runs."""
        if self._examples is None:
            names = [field.name for field in self._fields]
            found = await self._store.corrections.examples(self._table.id, names) if self._is_external else {}
            self._examples = found
        self._task = msgspec.structs.replace(self._task, examples=self._examples)

    async def _prepared(self) -> TracedAnswer:
        await self._learn()
        self._answer = self._strategy.prepare(self._task, self._watched_tools)
        return self._repeated(self._answer)

    def _repeated(self, answer: Answer) -> TracedAnswer:
        """Return the answer inside the feedback loop, also for one attempt: later runs learn what was tried. A computed
        answer is used as it is, since it would be the same again; actions outside the table are not repeated."""
        if self._history is None:
            return answer
        # Loads the reader, which takes a fifth of a second.
        from tablewright.engine.retry import RetryLoop

        return RetryLoop(
            answer,
            self._fields,
            self._plan.retry if self._can_repeat else SINGLE_ATTEMPT,
            record=lambda row_id, attempt: self._attempts.setdefault(row_id, []).append(attempt),
            is_spent=lambda: bool(self._cap() or self._breaker.outage),
            first=self._history.first,
        )

    async def _work(self, answer: TracedAnswer) -> None:
        try:
            await self._answer_all(answer)
        finally:
            if self._answer is not None:
                await shield_to_completion(close_answer(self._answer))

    async def _answer_all(self, answer: TracedAnswer) -> None:
        await self._answer_rows(answer, self._rows.windows(self._recall))
        again = [
            deferred for deferred in self._deferred.values() if deferred.parts != {"web"}
        ]  # a page that failed is not asked again
        if again and not self._stops:
            self._is_second_pass = True
            await self._recall(
                (await self._store.tables.rows(self._table.id, [deferred.row.id for deferred in again])).rows
            )
            for deferred in again:
                del self._deferred[deferred.row.id]
                self._attempts.pop(deferred.row.id, None)
            await self._answer_rows(answer, in_one_window([(deferred.row, deferred.as_of) for deferred in again]))
        if not (self._cancelled or self._draining):
            self._settle()

    @property
    def _stops(self) -> bool:
        """True if no further row is started."""
        return bool(self._cancelled or self._draining or self._breaker.outage)

    @property
    def outage(self) -> str:
        """Why rows are unanswered, or ""."""
        return str(self._breaker.outage) if self._breaker.outage and (self._deferred or self._left_rows) else ""

    def _settle(self) -> None:
        """Conclude the rows that are still deferred, unless the service they could not reach is down."""
        lacking = Counter(part for deferred in self._deferred.values() for part in deferred.parts)
        for part, rows in sorted(lacking.items()):
            if self._breaker.never_answered(part, rows):
                self._breaker.trip(part)
        # During an outage nothing is concluded: the cells stay PENDING and the run is resumed.
        for deferred in () if self._breaker.outage else tuple(self._deferred.values()):
            if not (self._defers and any(map(self._breaker.is_failing, deferred.parts))):
                deferred.conclude()
                del self._deferred[deferred.row.id]

    async def _answer_rows(self, answer: TracedAnswer, windows: AsyncIterator[list[tuple[Row, int]]]) -> None:
        # One worker reads the next window; the others wait for it instead of reading windows of their own, so that one
        # window at a time is in the memory.
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
                async with self._gate:
                    if waiting and self._stops:
                        self._left_rows = True
                        return
                    if waiting:
                        await self._answer_row(answer, *waiting.popleft())

        self._workers = [asyncio.create_task(worker()) for _ in range(self.rows_at_once)]
        follower = asyncio.create_task(self._follow_steps())
        try:
            await wait_for_workers(self._workers)
        finally:
            follower.cancel()
            self._tell_new_steps()

    async def _follow_steps(self) -> None:
        while True:
            await self._steps.wait_for_new()
            self._tell_new_steps()

    def _tell_new_steps(self) -> None:
        for row, step in self._steps.take_new():
            self._tell_step(step, row)

    async def _recall(self, rows: Sequence[Row]) -> None:
        """Load the history of these rows."""
        if self._history is not None:
            names = [field.name for field in self._fields]
            left = [row for row in rows if self._only is not None or any(row.cell(name).needs_work for name in names)]
            await self._history.load(left, self._run_id)

    async def _answer_row(self, answer: TracedAnswer, row: Row, as_of: int) -> None:
        # Everything that needs no service comes first: a row that is done or lacks its name costs nothing.
        open_fields = {field.name: field for field in self._fields if row.cell(field.name).needs_work}
        label = self._label(row)
        if lacking := self._rows.lacks(row, open_fields):
            self._proposals.skip(row, label, lacking)
        if lacking or not open_fields:
            self._count_row(row, "skipped")
            self._tell("row_skipped", row_id=row.id, label=label, detail=lacking or "nothing to do")
            return
        if self._cap():
            self._proposals.leave(row, open_fields, as_of)
            self._count_row(row)
            self._tell("row_skipped", row_id=row.id, label=label, detail=f"the cap of {self._cap()} is reached")
            await self._buffer.flush_in_time()
            return
        self._watched_tools.calls.begin_row()
        trace = Trace(row, self._steps)
        problem = "the strategy gave no answer"
        findings: dict[str, Finding] = {}
        meter, failures = UsageMeter(), RowFailures()
        try:
            if self._is_external:
                with (
                    measure_usage(meter),
                    track_row_failures(row.id) as failures,
                    self._track_provenance(row),
                    trace_span("row", row=str(row.id)),
                ):
                    found = await answer(row, trace)
            else:
                # A computation costs nothing and cannot meet an outage.
                found = await answer(row, trace)
            steps = trace.steps
            findings = {finding.field: finding for finding in found}
            if not self._is_ours:
                findings = {name: validate_foreign(finding, Finding) for name, finding in findings.items()}
                # A plugin may return anything, which must not reach the store.
                steps = [(validate_foreign(step, Step), of) for step, of in steps]
        except StoreError:
            # The store failed, not this row.
            raise
        except Exception as error:
            # A bug in a strategy costs its row, not the run.
            problem = mask_secrets(f"{type(error).__name__}: {error}")
            trace(Step(type="error", detail=problem))
            findings, steps = {}, [(step, of) for step, of in trace.steps if self._is_ours or is_valid_step(step)]

        # Before the row is reported as done.
        self._tell_new_steps()

        def conclude() -> None:
            given = RowAnswer(row, as_of, open_fields, findings, steps, problem, meter.usage)
            self._conclude(given, unreached=failures.cause)

        # A row that has all its answers does not wait for a service that failed on the way.
        complete = all(name in findings and is_settled(findings[name]) for name in open_fields)
        parts = failures.parts(complete=complete)
        if parts and (not self._is_second_pass or any(map(self._breaker.is_failing, parts))):
            self._deferred[row.id] = DeferredRow(row, as_of, parts, conclude)
            return
        conclude()
        await self._buffer.flush_in_time()

    def _track_provenance(self, row: Row) -> AbstractContextManager[Provenance | None]:
        """Note what of a row may be sent to the web, if there is one."""
        if self._tools.web is None:
            return nullcontext()
        # Loads the reader of pages, for which other strategies need not wait.
        from tablewright.strategies.subject import provenance_of

        return track_provenance(provenance_of(self._task, row))

    def _conclude(self, answer: RowAnswer, *, unreached: str) -> None:
        row, label = answer.row, self._label(answer.row)
        cells = self._proposals.conclude(answer, unreached=unreached)
        for attempt in self._attempts.pop(row.id, ()):
            self._buffer.tried(row.id, attempt)
        found = (answer.findings[name] for name in answer.open_fields if name in answer.findings)
        for finding in found:
            for step in finding.steps:
                self._tell_step(step, row)
        self._count_row(row)
        self._tell("row_done", row_id=row.id, label=label, cells=cells)

    def _label(self, row: Row) -> str:
        return cell_text(row.cell(self._table.key_field)) if self._table.key_field else ""

    def _count_row(self, row: Row, as_what: str = "") -> None:
        self._proposals.count_row(as_what)
        if self._slice is not None:
            self._done_rows.append(row.id)

    def _cap(self) -> str:
        """Return the cap on spending that was reached, as text, or ""."""
        return self._tools.budget.exhausted if self._tools.budget else ""

    def _ended(self) -> RunStatus:
        """Return the final status: `over_budget` or `done`."""
        return "over_budget" if self._proposals.counts["left"] and self._cap() else "done"

    def _state(self, finished: bool) -> Slice | None:
        if self._slice is None:
            return None
        return msgspec.structs.replace(
            self._slice,
            done=(*self._slice.done, *self._done_rows),
            finished=finished,
            tally=self._tally,
            usage=self._slice.usage + self._meter.usage,
        )

    def _write(self, batch: WriteBatch, finished: bool) -> Coroutine[Any, Any, None]:
        # A formula fills rows too fast to report them one by one.
        if not self._is_external and not finished:
            batch.events.append(Progress(stage="computing"))
        return self._written_down(batch, self._state(finished), self._meter.usage)

    async def _written_down(self, batch: WriteBatch, state: Slice | None, used: Usage) -> None:
        # Attempts first: a row is marked as done only with its cells, so a process that dies in between loses neither.
        await self._store.attempts.add(self._run_id, batch.attempts)
        if state is None:
            await self._store.proposals.add(self._proposal_id, batch.cells)
        else:
            allowance = current_allowance()
            spent = allowance.spent_so_far if allowance is not None else None
            await self._store.slices.keep(state, self._proposal_id, batch.cells, batch.events, spent)
        self.written = used

    def _tell_step(self, step: Step, row: Row) -> None:
        if (stage := STAGE_OF_STEP.get(step.type)) is not None:
            self._tell(stage, row_id=row.id, label=self._label(row), detail=step.detail)

    def _tell(
        self,
        stage: Stage,
        *,
        row_id: RowId | None = None,
        label: str = "",
        detail: str = "",
        cells: Mapping[str, Cell] | None = None,
    ) -> None:
        news = Progress(
            stage=stage,
            done=self._proposals.counts["rows"],
            total=self._total,
            row_id=row_id,
            label=label,
            detail=detail,
            cells=cells or {},
        )
        self.watch(news)
        if self._slice is not None and self._is_external:
            # For watchers in other processes.
            self._buffer.tell(news.drop_evidence())


async def in_one_window(rows: list[tuple[Row, int]]) -> AsyncIterator[list[tuple[Row, int]]]:
    yield rows
