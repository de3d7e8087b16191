"""The engine: fills the cells that need work, row by row, and keeps what it finds as a proposal.

Rows are read window by window and answered by a few workers side by side; findings are checked against their field's
type and written in batches. A run that is cancelled, or fails half-way, leaves a proposal with what it had found. Once
the money is spent no further row is begun; the cells that are left say so, and the next run goes on with them.

A row that could not reach the search, the model or any page is held back and tried once more at the end. While the
outage lasts nothing is proposed for it, so that its cells stay PENDING, and the run is paused (`sources/breaker.py`).

`run` does all of it here and now. A durable run is begun by `begin`, which writes down what is to be done, slice by
slice; whoever claims a slice, in whatever process, does it by `run_slice`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.domain.model import Attempt, Cell, Field, Finding, Row, RowId, Step, StepType, Table
from tablewright.domain.proposal import CellAt
from tablewright.domain.run import (
    OWN_STRATEGY,
    Meter,
    Progress,
    RunStatus,
    RunTally,
    Stage,
    Usage,
    Watch,
    ignore_progress,
    metered,
)
from tablewright.domain.text import cell_text
from tablewright.engine.outbox import Outbox, OutboxBatch, shield_to_completion, wait_for_workers
from tablewright.engine.outcome import (
    Filled,
    Proposing,
    RowAnswer,
    bought,
    brief,
    filled,
    is_settled,
    is_well_formed,
    summarize_run,
    well_formed,
)
from tablewright.engine.policy import ONCE, USUAL, RetryPolicy, Terms
from tablewright.engine.rows import Rows, RunHistory
from tablewright.errors import OverQuota, StoreError, TablewrightError
from tablewright.models.budget import open_allowance
from tablewright.observe import span, working_on
from tablewright.secrets import masked
from tablewright.sources.breaker import CircuitBreaker, Part, RowFailures, row_failures
from tablewright.sources.provenance import telling
from tablewright.store.runs import Slice
from tablewright.store.store import Store
from tablewright.store.workers import this_process
from tablewright.strategies.strategy import (
    NO_TOOLS,
    Answer,
    FunctionStrategy,
    Strategy,
    Task,
    Tools,
    Trace,
    TracedAnswer,
    checked_params,
    close_answer,
    find_strategy,
)
from tablewright.strategies.subject import provenance_of

if TYPE_CHECKING:
    from tablewright.domain.run import Estimate

STAGES: dict[StepType, Stage] = {"search": "searching", "fetch": "fetching", "compute": "computing"}
NOTHING: Mapping[str, Cell] = {}


@dataclass(frozen=True)
class Held:
    """A row that could not reach something, and how it is written down after all."""

    row: Row
    as_of: int
    parts: frozenset[Part]
    conclude: Callable[[], None]


@dataclass(frozen=True)
class FillPlan:
    """The cells to fill, and how."""

    table: Table
    fields: Sequence[Field]
    strategy: str | Strategy = ""
    """A name or an object; "" leaves the choice to `journeys.enrich.plan`."""
    params: Mapping[str, str] = field(default_factory=dict)
    row_ids: Sequence[RowId] | None = None
    only: Collection[CellAt] | None = None
    """Exactly these cells, whatever their status; without it, those that need work. They have been filled before: if
    nobody could be asked, or the money ran out, they are left as they are."""
    again: bool = False
    """Avoid the queries and pages of earlier runs."""
    examples: Mapping[str, tuple[str, ...]] | None = None
    """Those that the run began with; None if it begins now."""
    max_rows: int | None = None
    concurrency: int | None = None
    retry: RetryPolicy = ONCE
    terms: Terms = USUAL


class Fill:
    """One run over one table. `cancel()` may be called at any time, from the same event loop."""

    def __init__(
        self,
        store: Store,
        plan: FillPlan,
        tools: Tools = NO_TOOLS,
        *,
        breaker: CircuitBreaker | None = None,
        watch: Watch = ignore_progress,
    ) -> None:
        """The slices of a run share a `breaker`."""
        table = plan.table
        strategy = find_strategy(plan.strategy) if isinstance(plan.strategy, str) else plan.strategy
        self._store = store
        self._plan = plan
        self._table = table
        self._fields = tuple(plan.fields)
        self._strategy = strategy
        self._task = Task(table=table, fields=self._fields, params=checked_params(strategy, plan.params))
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
        self._is_ours = type(strategy).__module__.partition(".")[0] == "tablewright"
        self._asks_others = not self._is_ours or bool(strategy.needs(self._task))
        self.given_strategy = None if isinstance(plan.strategy, str) else plan.strategy
        """The strategy if it was given as an object, which only this process has."""
        self._is_computed = not self._asks_others and not isinstance(strategy, FunctionStrategy)
        self._concurrency = plan.concurrency or strategy.rows_at_once(self._task)
        self._can_repeat = strategy.kind == "enrichment" and strategy.repeats and bool(strategy.needs(self._task))
        self._examples = plan.examples
        self._history = RunHistory(store, table.id, self._fields, again=plan.again) if self._asks_others else None
        self._breaker = breaker or plan.terms.breaker
        self._watched_tools = tools.watched_by(self._breaker)
        self._held: dict[RowId, Held] = {}
        self._attempts: dict[RowId, list[Attempt]] = {}
        self._is_second_pass = self._left_rows = self._defers = False
        self.watch = watch
        self._cancelled = self._draining = False
        self._workers: list[asyncio.Task[None]] = []
        self._outbox = Outbox(self._write)
        self._proposing = Proposing(
            self._outbox,
            self._cap,
            must_prove=not self._is_ours and strategy.kind == "enrichment",
            keeps=plan.only is not None,
            asks_others=self._asks_others,
        )
        self._answer: Answer | None = None
        self._run_id = self._proposal_id = ""
        self._total = 0
        self._meter = Meter()
        self._slice: Slice | None = None
        self._gate: AbstractAsyncContextManager[Any] = nullcontext()
        self._done_rows: list[RowId] = []
        self.written = Usage()
        """What it took, as far as that is written down with its slice."""

    def cancel(self) -> None:
        self._cancelled = True
        for worker in self._workers:
            worker.cancel()

    def drain(self) -> None:
        """No further row is begun; those under way are answered to the end."""
        self._draining = True

    async def run(self) -> Filled:
        answer = await self._prepared()
        started = time.monotonic()
        self._total = await self._rows.count()
        status: RunStatus = "failed"
        problem: str | None = None
        try:
            await shield_to_completion(self._start())
            self._tell("starting")
            with metered(self._meter), working_on(self._run_id):
                await self._work(answer)
            await self._outbox.flush()
            problem = self.outage or None
            status = "cancelled" if self._cancelled else "paused" if problem else self._ended()
        except asyncio.CancelledError:
            self._cancelled, status = True, "cancelled"
            raise
        except TablewrightError as error:
            problem = str(error)
            raise
        finally:
            usage = self._meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            name, cap = self._strategy.display_name, self._cap()
            reasoning = str(self._outbox.refused or summarize_run(name, self._fields, self._tally, status, cap))
            if self._proposal_id:
                await shield_to_completion(self._end(status, reasoning, usage, problem))
        last: Stage = "cancelled" if self._cancelled else "paused" if status == "paused" else "complete"
        self._tell(last, detail=problem or reasoning)
        return filled(self._run_id, self._proposal_id, status, self._tally, usage, self._cap(), problem or "")

    async def _start(self) -> None:
        owner = this_process()
        self._run_id = await self._store.runs.start(self._table.id, "enrich", self._spec(), owner=owner)
        self._proposing.run_id = self._run_id
        self._proposal_id = await self._store.proposals.create(self._table.id, self._run_id, self._fields)

    async def _end(self, status: RunStatus, reasoning: str, usage: Usage, problem: str | None) -> None:
        with suppress(OverQuota):  # which is said already
            await self._outbox.flush()
        await self._store.proposals.finish(self._proposal_id, reasoning)
        spec = self._spec() | bought(self._tally)
        await self._store.runs.finish(self._run_id, status, usage, problem, spec=spec)

    async def begin(self, owner: str, **told: Any) -> str:
        """A durable run over the same rows; nothing of it is done yet. `told` is kept with what is to be done."""
        await self._learn()
        todos = await self._rows.slices(self._concurrency, computed=self._is_computed)
        spec = {**self._spec(), **told, "retry": msgspec.to_builtins(self._plan.retry)}
        if self.given_strategy is not None:
            spec[OWN_STRATEGY] = True
        return await self._store.runs.start_sliced(self._table.id, "enrich", spec, self._fields, todos, owner)

    async def run_slice(
        self, part: Slice, proposal_id: str, gate: AbstractAsyncContextManager[None], *, defers: bool = False
    ) -> bool:
        """What is left of a slice, in which this fill's rows are; whether all of it is done then. At most so many rows
        of all slices are worked on at once as the gate lets in. With `defers`, rows that could not reach something that
        is failing are left for later, when other slices will have shown whether it is down."""
        self._defers = defers
        answer = await self._prepared()
        self._slice = part
        if not self._is_computed:  # else it waits for nothing, so it need not take turns row by row
            self._gate = gate
        self._run_id, self._proposal_id = part.run_id, proposal_id
        self._proposing.run_id = self._run_id
        self._total = await self._rows.count()
        ticking = asyncio.create_task(self._outbox.tick())
        try:
            with metered(self._meter), working_on(self._run_id):
                await self._work(answer)
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            await self._outbox.flush()
        if self._cancelled or self._draining or self.outage or self._held:
            return False
        await self._outbox.flush(finished=True)
        return True

    @property
    def table_id(self) -> str:
        return self._table.id

    @property
    def asks_others(self) -> bool:
        """Whether it asks somebody outside, so that doing it twice would cost money or time; else it is computed."""
        return self._asks_others

    def _spec(self) -> dict[str, Any]:
        return {
            **self._shape(),
            "fields": [field.name for field in self._fields],
            "concurrency": self._concurrency,
            "again": self._plan.again,
            "max_rows": self._plan.max_rows,
            "examples": self._task.examples,
        }

    @property
    def _tally(self) -> RunTally:
        before = self._slice.tally if self._slice else RunTally()
        return before + self._proposing.tally

    async def run_within(self, seconds: float | None) -> Filled:
        """As `run`, and cancelled when they are over; None: as long as it takes."""
        if seconds is None:
            return await self.run()
        late = asyncio.get_running_loop().call_later(seconds, self.cancel)
        try:
            return await self.run()
        finally:
            late.cancel()

    @property
    def costs_money(self) -> bool:
        """Whether something works for it that has a price: a model, or the search."""
        models = [model for model in (self._tools.model, self._tools.strong) if model is not None]
        if not models:
            return self._tools.web is not None and self._plan.terms.search_price > 0
        from tablewright.engine.estimate import is_paid  # half a second that a computation does not wait for

        return any(is_paid(model) for model in models) or self._plan.terms.search_price > 0

    async def estimate(self) -> Estimate:
        """What `run` is likely to take; nothing is spent for it."""
        from tablewright.engine.estimate import Job, estimate
        from tablewright.strategies.estimates import guessed

        rows, cells = await self._rows.open_cells()
        count = sum(cells.values())
        a_row = max(1, round(count / rows)) if rows else len(self._fields)
        likely = sorted(self._fields, key=lambda field: -cells[field.name])[:a_row]
        task = self._task
        if a_row < len(self._fields):
            fields = tuple(field for field in self._fields if field in likely)
            task = Task(table=self._table, fields=fields, params=self._task.params)
        expected = self._strategy.expected(task, self._tools)
        if expected is None:
            expected = guessed(task, self._tools, self._strategy.needs(task))
        past = await self._store.runs.alike("enrich", self._shape())
        return estimate(
            Job(
                rows=rows,
                cells=count,
                expected=expected,
                terms=self._plan.terms,
                attempts=self._plan.retry.attempts,
                concurrency=self._concurrency,
                past=[run for run in past if round(run.spec["cells"] / max(1, run.spec["rows"])) == a_row],
            ),
            self._tools,
        )

    def _shape(self) -> dict[str, Any]:
        """What two runs have in common that take about the same for a row with as many open cells."""
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
        """Once, when the run begins: what its prompts say must not change while it goes on."""
        if self._examples is None:
            names = [field.name for field in self._fields]
            found = await self._store.corrections.examples(self._table.id, names) if self._asks_others else {}
            self._examples = found
        self._task = msgspec.structs.replace(self._task, examples=self._examples)

    async def _prepared(self) -> TracedAnswer:
        await self._learn()
        self._answer = self._strategy.prepare(self._task, self._watched_tools)
        return self._repeated(self._answer)

    def _repeated(self, answer: Answer) -> TracedAnswer:
        """With the feedback loop around it, also for one attempt: a later run is told what was tried. What is computed
        gives the same again, and what acts outside the table is not done twice."""
        if self._history is None:
            return answer
        from tablewright.engine.retry import Retry  # with the reader, which takes a fifth of a second to load

        return Retry(
            answer,
            self._fields,
            self._plan.retry if self._can_repeat else ONCE,
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
        again = [held for held in self._held.values() if held.parts != {"web"}]  # a page that failed is not asked again
        if again and not self._stops:
            self._is_second_pass = True
            await self._recall((await self._store.tables.rows(self._table.id, [held.row.id for held in again])).rows)
            for held in again:
                del self._held[held.row.id]
                self._attempts.pop(held.row.id, None)
            await self._answer_rows(answer, in_one_window([(held.row, held.as_of) for held in again]))
        if not (self._cancelled or self._draining):
            self._settle()

    @property
    def _stops(self) -> bool:
        """Whether no further row is begun."""
        return bool(self._cancelled or self._draining or self._breaker.outage)

    @property
    def outage(self) -> str:
        """What kept rows from being answered, in words; nothing where all are."""
        return str(self._breaker.outage) if self._breaker.outage and (self._held or self._left_rows) else ""

    def _settle(self) -> None:
        """Rows that are still held are written down as they are, unless what they could not reach is dead."""
        lacking = Counter(part for held in self._held.values() for part in held.parts)
        for part, rows in sorted(lacking.items()):
            if self._breaker.is_dead(part, rows):
                self._breaker.open(part)
        for held in () if self._breaker.outage else tuple(self._held.values()):
            if not (self._defers and any(map(self._breaker.is_failing, held.parts))):
                held.conclude()
                del self._held[held.row.id]

    async def _answer_rows(self, answer: TracedAnswer, windows: AsyncIterator[list[tuple[Row, int]]]) -> None:
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

        self._workers = [asyncio.create_task(worker()) for _ in range(self._concurrency)]
        await wait_for_workers(self._workers)

    async def _recall(self, rows: Sequence[Row]) -> None:
        """What is known of the rows from before."""
        if self._history is not None:
            names = [field.name for field in self._fields]
            left = [row for row in rows if self._only is not None or any(row.cell(name).needs_work for name in names)]
            await self._history.load(left, self._run_id)

    async def _answer_row(self, answer: TracedAnswer, row: Row, as_of: int) -> None:
        open_fields = {field.name: field for field in self._fields if row.cell(field.name).needs_work}
        label = self._label(row)
        if lacking := self._rows.lacks(row, open_fields):
            self._proposing.skip(row, label, lacking)
        if lacking or not open_fields:
            self._count_row(row, "skipped")
            self._tell("row_skipped", row_id=row.id, label=label, detail=lacking or "nothing to do")
            return
        if self._cap():
            self._proposing.leave(row, open_fields, as_of)
            self._count_row(row)
            self._tell("row_skipped", row_id=row.id, label=label, detail=f"the cap of {self._cap()} is reached")
            await self._outbox.flush_in_time()
            return
        trace = Trace()
        problem = "the strategy gave no answer"
        findings: dict[str, Finding] = {}
        meter, failures = Meter(), RowFailures()
        try:
            if self._asks_others:
                with (
                    metered(meter),
                    row_failures(row.id) as failures,
                    telling(provenance_of(self._task, row)),
                    span("row", row=str(row.id)),
                ):
                    found = await self._answer_followed(answer, row, trace)
            else:  # what is computed takes nobody's time or money, and nobody can be away
                found = await answer(row, trace)
            told = trace.told
            findings = {finding.field: finding for finding in found}
            if not self._is_ours:
                findings = {name: well_formed(finding, Finding) for name, finding in findings.items()}
                told = [(well_formed(step, Step), of) for step, of in told]
        except StoreError:  # not the row failed, but what all rows stand on
            raise
        except Exception as error:  # a bug in a strategy costs its row, not the run
            problem = masked(f"{type(error).__name__}: {error}")
            trace(Step(type="error", detail=problem))
            findings, told = {}, [(step, of) for step, of in trace.told if self._is_ours or is_well_formed(step)]
        self._tell_steps(trace.take_new(), row)

        def conclude() -> None:
            given = RowAnswer(row, as_of, open_fields, findings, told, problem, meter.usage)
            self._conclude(given, unreached=failures.cause)

        complete = all(name in findings and is_settled(findings[name]) for name in open_fields)
        parts = failures.parts(complete=complete)
        if parts and (not self._is_second_pass or any(map(self._breaker.is_failing, parts))):
            self._held[row.id] = Held(row, as_of, parts, conclude)
            return
        conclude()
        await self._outbox.flush_in_time()

    def _conclude(self, answer: RowAnswer, *, unreached: str) -> None:
        row, label = answer.row, self._label(answer.row)
        cells = self._proposing.conclude(answer, unreached=unreached)
        for attempt in self._attempts.pop(row.id, ()):
            self._outbox.tried(row.id, attempt)
        found = (answer.findings[name] for name in answer.open_fields if name in answer.findings)
        self._tell_steps([step for finding in found for step in finding.steps], row)
        self._count_row(row)
        self._tell("row_done", row_id=row.id, label=label, cells=cells)

    def _label(self, row: Row) -> str:
        return cell_text(row.cell(self._table.key_field)) if self._table.key_field else ""

    def _count_row(self, row: Row, as_what: str = "") -> None:
        self._proposing.count_row(as_what)
        if self._slice is not None:
            self._done_rows.append(row.id)

    def _cap(self) -> str:
        """The cap on spending in words, once it is reached."""
        return self._tools.budget.exhausted if self._tools.budget else ""

    def _ended(self) -> RunStatus:
        """How a run ended that came to its end: perhaps the money was spent before the work was done."""
        return "over_budget" if self._proposing.counts["left"] and self._cap() else "done"

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

    def _write(self, batch: OutboxBatch, finished: bool) -> Coroutine[Any, Any, None]:
        if self._is_computed and not finished:  # a formula fills rows faster than anybody can follow them one by one
            batch.events.append(Progress(stage="computing"))
        return self._written_down(batch, self._state(finished), self._meter.usage)

    async def _written_down(self, batch: OutboxBatch, state: Slice | None, used: Usage) -> None:
        await self._store.attempts.add(self._run_id, batch.attempts)
        if state is None:
            await self._store.proposals.add(self._proposal_id, batch.cells)
        else:
            allowance = open_allowance()
            spent = allowance.spent_so_far if allowance is not None else None
            await self._store.slices.keep(state, self._proposal_id, batch.cells, batch.events, spent)
        self.written = used

    async def _answer_followed(self, answer: TracedAnswer, row: Row, trace: Trace) -> Sequence[Finding]:
        """Answer a row, and pass its steps on while that goes on."""

        async def follow() -> None:
            while True:
                self._tell_steps(await trace.next_steps(), row)

        following = asyncio.create_task(follow())
        try:
            return await answer(row, trace)
        finally:
            following.cancel()

    def _tell_steps(self, steps: Iterable[Step], row: Row) -> None:
        for step in steps:
            if (stage := STAGES.get(step.type)) is not None:
                self._tell(stage, row_id=row.id, label=self._label(row), detail=step.detail)

    def _tell(
        self,
        stage: Stage,
        *,
        row_id: RowId | None = None,
        label: str = "",
        detail: str = "",
        cells: Mapping[str, Cell] = NOTHING,
    ) -> None:
        news = Progress(
            stage=stage,
            done=self._proposing.counts["rows"],
            total=self._total,
            row_id=row_id,
            label=label,
            detail=detail,
            cells=cells,
        )
        self.watch(news)
        if self._slice is not None and not self._is_computed:
            self._keep_news(news)

    def _keep_news(self, news: Progress) -> None:
        """For those who watch from elsewhere: each row with its values, and what is being done right now."""
        brief_cells = {name: brief(cell) for name, cell in news.cells.items()}
        self._outbox.tell(msgspec.structs.replace(news, cells=brief_cells))


async def in_one_window(rows: list[tuple[Row, int]]) -> AsyncIterator[list[tuple[Row, int]]]:
    yield rows
