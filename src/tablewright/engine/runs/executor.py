"""The executor: works on runs in this process, slice by slice, and ends them.

The database has what is to be done, what of it is done, and which process does it. So a run whose process dies goes on
in another with the rows that are left; what it bought is in the cache and is not bought again.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias

from tablewright.domain.model import Struct
from tablewright.domain.run import MAX_SETBACKS, PAUSED_PROBLEM, PERSON, Progress, Run, RunStatus, Stage, Usage
from tablewright.engine import planning
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult, make_run_result, summarize_run, tally_spec
from tablewright.engine.policy import DEFAULT_POLICY, FillPlan, RunPolicy
from tablewright.engine.rows import MAX_SLICE_ROWS, RowLimiter
from tablewright.engine.runs.background import BackgroundRunner, explain_set_aside
from tablewright.engine.runs.kinds import RunContext, Work
from tablewright.engine.runs.ownership import Heartbeat, check_authority, open_user_allowance
from tablewright.engine.write_buffer import shield_to_completion
from tablewright.errors import (
    AuthorityLost,
    BadSetting,
    DiskFull,
    NotFound,
    StoreError,
    Superseded,
    TablewrightError,
    Unreachable,
    UsageError,
    unforeseen,
)
from tablewright.llm.budget import NO_SPEND, Budget, Spend, spend_of_usage
from tablewright.store.records import new_id, utc_now
from tablewright.store.runs import Slice, SliceTotals
from tablewright.store.store import Store
from tablewright.store.workers import QUEUE_OWNER_PREFIX
from tablewright.strategies.strategy import ModelCalls, OpenTools, find_strategy
from tablewright.web.breaker import CircuitBreaker

log = logging.getLogger(__name__)

# Seconds between two looks for runs that were asked to stop.
LOOK_SECONDS = 0.4

# Seconds that the tools of a run stay open between two of its slices.
LINGER_SECONDS = 5.0
# Opens the tools for a run of these settings and this person; they close with the stack.
OpenRun: TypeAlias = "Callable[[Mapping[str, str], AsyncExitStack, str], Awaitable[RunTools]]"


class Halt(Struct, frozen=True):
    """Why a run does not go on: it was stopped, or every slice would meet the same `problem`."""

    status: Literal["stopped", "paused", "failed"]
    problem: str = ""


STOPPED = Halt(status="stopped")


@dataclass(kw_only=True)
class UnwrittenEnd:
    """The end of a run that could not be written, and when to try again (by `time.monotonic`)."""

    write: Callable[[], Awaitable[None]]
    due: float
    pause: float = 1.0
    """Seconds to the next attempt, doubled each time up to a minute: a full disk may stay full for hours."""


@dataclass(frozen=True, kw_only=True)
class RunTools:
    open: OpenTools
    policy: RunPolicy = DEFAULT_POLICY
    budget: Budget | None = None
    most_calls: int | None = None
    """The most model calls of the run in flight at once, in one process."""


@dataclass(kw_only=True)
class Ongoing:
    """A sliced run that this process works on."""

    run: Run
    proposal_id: str
    tools: RunTools
    calls: ModelCalls
    breaker: CircuitBreaker
    stack: AsyncExitStack
    gate: RowLimiter = field(default_factory=RowLimiter)
    """Limits the rows in progress; the first slice tells it how many there may be."""
    users: int = 0
    idle_since: float = 0.0
    plan: FillPlan | None = None
    fills: set[FillRun] = field(default_factory=set)
    deferred: set[int] = field(default_factory=set)
    """Slices that left rows for later once."""
    stopping: bool = False


class RunExecutor:
    """`async with RunExecutor(…) as executor`. While it is open, the process counts as alive."""

    def __init__(self, store: Store, open_run: OpenRun, kinds: Mapping[str, Work] | None = None) -> None:
        self._store = store
        self._open_run = open_run
        self._work = dict(kinds or {})
        self.heartbeat = Heartbeat(store, kinds=self._work.keys())
        self._ongoing: dict[str, Ongoing] = {}
        self._written: dict[str, Spend] = {}
        """By run: the usage of finished slices that its budget has already counted."""
        self._unended: dict[str, UnwrittenEnd] = {}
        """By run: the end that could not be written, because the disk was full or the database away."""
        self._whole = BackgroundRunner(store, self.heartbeat, self._end_or_postpone)
        self._opening = asyncio.Lock()
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._living = AsyncExitStack()

    @property
    def id(self) -> str:
        return self.heartbeat.id

    async def __aenter__(self) -> RunExecutor:
        await self._living.enter_async_context(self.heartbeat.living())
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        # Tools before the heartbeat: while they close, the process still counts as alive.
        await self._close_idle(after=0.0)
        await self._living.aclose()

    # ── a sliced run ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def execute(self, run_id: str) -> None:
        """Do all that is left of a run, in this process alone."""
        self._unended.pop(run_id, None)
        halt: Halt | None = None
        try:
            async with self._taking_part(run_id) as ongoing:
                numbers: deque[int] = deque()

                async def lane() -> None:
                    nonlocal halt
                    while numbers and not (halt or self._draining or ongoing.stopping):
                        number = numbers.popleft()
                        # Before anything is awaited: slices may take different times to open.
                        ongoing.gate.expect(number)
                        try:
                            halt = await self.fill_slice(run_id, number, self.id) or halt
                        finally:
                            ongoing.gate.forget(number)

                try:
                    # Enough slices at once to keep all its rows in progress, and three more, so that a slice with one
                    # slow row at its end leaves no row idle.
                    lanes = 3 + ongoing.run.spec.get("rows_at_once", 0) // MAX_SLICE_ROWS
                    # Slices with rows that were left for later are finished in the second round.
                    for _ in range(2):
                        numbers.extend((await self._store.slices.totals(run_id)).unfinished)
                        if halt or not numbers:
                            break
                        await asyncio.gather(*(lane() for _ in range(lanes)))
                except asyncio.CancelledError:
                    ongoing.stopping = True
                    raise
        except DiskFull as problem:
            halt = Halt(status="paused", problem=str(problem))
        except TablewrightError as error:
            halt = Halt(status="failed", problem=str(error))
        finally:
            # Else another process continues it.
            if not self._draining:
                await shield_to_completion(self._end_or_postpone(run_id, lambda: self.end_as(self.id, run_id, halt)))

    async def fill_slice(self, run_id: str, number: int, owner: str) -> Halt | None:
        """Return None if it is done, or left for a later round. `owner` is expected to have the run: if another process
        took it, the slice is left to that one."""
        try:
            async with self._taking_part(run_id) as ongoing:
                run = await self._store.runs.get(run_id)
                if ongoing.stopping or self._draining or not run.goes_on_as(owner):
                    return STOPPED
                await check_authority(self._store, run)
                part = await self._store.slices.claim(run_id, number, f"{self.id}/{new_id('s')}")
                return None if part.finished else await self._try(ongoing, part)
        except Superseded:
            # Another process has claimed the slice and does it.
            return None
        except Unreachable:
            # The queue repeats the slice once the database is there (`queue.run_in_executor_loop`).
            raise
        except (AuthorityLost, DiskFull) as problem:
            return Halt(status="paused", problem=str(problem))
        except BadSetting as error:
            # Workers on several machines may have different settings: the message says which one to correct.
            where = "" if self.heartbeat.kind == "command" else f"On {platform.node()}: "
            return Halt(status="failed", problem=f"{where}{error}")
        except TablewrightError as error:
            return Halt(status="failed", problem=str(error))
        except Exception as error:
            log.exception("Slice %s of run %s failed.", number, run_id)
            return Halt(status="failed", problem=unforeseen(error))

    async def _try(self, ongoing: Ongoing, part: Slice) -> Halt | None:
        """Fill a claimed slice; give it back if it is not done, since its process is alive."""
        halt: Halt | None = None
        # Counted when a slice is claimed: a row that kills its process would kill one after the other.
        if part.setbacks >= MAX_SETBACKS:
            halt = Halt(status="failed", problem=explain_set_aside(describe_open_rows(part)))
        elif not ongoing.breaker.outage and await self._fill_or_give_back(ongoing, part):
            return None
        elif ongoing.breaker.outage:
            halt = Halt(status="paused", problem=str(ongoing.breaker.outage))
        elif ongoing.stopping or self._draining or part.number in ongoing.deferred:
            halt = STOPPED
        else:
            # The first time its rows are left for later, which is no reason to halt the run.
            ongoing.deferred.add(part.number)
        await self._store.slices.give_back(part.run_id, part.owner)
        return halt

    async def _fill_or_give_back(self, ongoing: Ongoing, part: Slice) -> bool:
        try:
            return await self._fill(ongoing, part)
        except DiskFull:
            # The disk may be too full even for that.
            with suppress(StoreError):
                await self._store.slices.give_back(part.run_id, part.owner)
            raise

    async def _fill(self, ongoing: Ongoing, part: Slice) -> bool:
        tools = ongoing.tools
        if ongoing.plan is None:
            strategy = self.heartbeat.strategies.get(part.run_id)
            ongoing.plan = await planning.load_fill_plan(self._store, ongoing.run, strategy, tools.policy)
        fill = await planning.open_slice(
            self._store, ongoing.plan, part.left, tools.open, ongoing.breaker, ongoing.calls
        )
        ongoing.gate.resize(fill.rows_at_once)
        entry = ongoing.gate.expect(part.number, len(part.left.row_ids))
        ongoing.fills.add(fill)
        try:
            async with open_user_allowance(self._store, ongoing.run.person if fill.is_external else "", self.heartbeat):
                defers = part.number not in ongoing.deferred
                return await fill.run_slice(part, ongoing.proposal_id, entry, defers=defers)
        finally:
            ongoing.gate.forget(part.number)
            ongoing.fills.discard(fill)
            # Also after an error: the budget must see what was bought, whichever way the slice ended.
            self._written[part.run_id] = self._written.get(part.run_id, NO_SPEND) + spend_of_usage(fill.written)

    async def _end_or_postpone(self, run_id: str, write: Callable[[], Awaitable[None]]) -> None:
        """Write the end of a run. If that fails for lack of room or of a database, raise the error and write it later:
        a long-lived process owns the run, so that no other would ever end it."""
        try:
            await write()
        except (DiskFull, Unreachable) as problem:
            # The caller gets the error at once; a disk may stay full for hours.
            self._unended[run_id] = UnwrittenEnd(write=write, due=time.monotonic() + UnwrittenEnd.pause)
            log.warning("The end of the run cannot be written and is retried: %s", problem, extra={"run": run_id})
            raise

    async def _write_postponed_ends(self) -> None:
        # A copy, because an end that is written leaves the mapping.
        for run_id, end in tuple(self._unended.items()):
            if time.monotonic() < end.due:
                continue
            try:
                await end.write()
            except (DiskFull, Unreachable):
                end.pause = min(2 * end.pause, 60.0)
                end.due = time.monotonic() + end.pause
            else:
                self._unended.pop(run_id, None)
                log.info("The end of the run is written now.", extra={"run": run_id})

    # ── how a run ends ───────────────────────────────────────────────────────────────────────────────────────────────

    async def end_as(self, owner: str, run_id: str, halt: Halt | None = None) -> None:
        """End a run: what was found becomes a proposal. Nothing happens if it has ended, or is another owner's by now,
        because this one slept and was taken for dead."""
        try:
            run = await self._store.runs.get(run_id)
        except NotFound:
            # Removed with its table.
            return
        if run.owner != owner or run.status != "running":
            return
        if run.is_sliced:
            await self._end_fill(run, halt)
            return
        # Some runs propose nothing.
        with suppress(NotFound):
            await self._store.proposals.finish(await self._store.proposals.of_run(run_id), "Stopped before the end.")
        problem = halt.problem if halt else PAUSED_PROBLEM if run.pausing else ""
        status: RunStatus = "failed" if halt and problem else run.stopped_status
        await self._store.runs.finish(run_id, status, run.usage, problem or None, owner=owner)

    async def _end_fill(self, run: Run, halt: Halt | None) -> None:
        totals = await self._store.slices.totals(run.id)
        cap = await self._cap(run.id, totals)
        problem = halt.problem if halt else ""
        status: RunStatus = "over_budget" if cap else "done"
        # A problem says more than a cap or an unfinished slice, so it comes first.
        if halt is not None and halt.status != "stopped":
            status = halt.status
        elif totals.unfinished:
            status = run.stopped_status
        problem = problem or (PAUSED_PROBLEM if status == "paused" else "")
        stage: Stage = status if status in ("cancelled", "paused") else "complete"
        proposal = await self._store.proposals.get(await self._store.proposals.of_run(run.id), counted=False)
        name = run.spec["strategy"]
        # It may be on another machine only.
        with suppress(TablewrightError):
            name = (self.heartbeat.strategies.get(run.id) or find_strategy(name)).display_name
        summary = summarize_run(name, proposal.fields, totals.tally, status, cap)
        await self._store.proposals.finish(proposal.id, summary)
        last = Progress(stage=stage, done=run.done, total=run.total, detail=problem or summary)
        usage = totals.usage + Usage(seconds=run.seconds_worked(utc_now()))
        spec = run.spec | tally_spec(totals.tally)
        # The run ends last: its proposal is complete when watchers see the end.
        await self._store.runs.finish(run.id, status, usage, problem or None, spec=spec, news=[last], owner=run.owner)
        log.info("The run ended as %s: %s", status, problem or summary, extra={"run": run.id})

    async def end_now(self, run_id: str) -> None:
        """End a run that was asked to stop. What the process that works on it finds from now on is lost."""
        run = await self._store.runs.get(run_id)
        if run.stopping and run.status == "running":
            # Claims are revoked first, so that a late write of that process finds no slice of its own.
            await self._store.slices.give_back(run_id)
            await self.end_as(run.owner, run_id)

    async def outcome(self, run_id: str) -> RunResult:
        """Return the result of a sliced run that has ended."""
        run = await self._store.runs.get(run_id)
        if run.status == "running":
            raise UsageError(f"Run {run_id} has not ended.", advice=f"Watch it: tablewright runs watch {run_id}.")
        totals = await self._store.slices.totals(run_id)
        proposal_id = await self._store.proposals.of_run(run_id)
        cap = await self._cap(run_id, totals)
        return make_run_result(run_id, proposal_id, run.status, totals.tally, run.usage, cap, run.error or "")

    async def _cap(self, run_id: str, totals: SliceTotals) -> str:
        """Return the cap that was reached, or ""."""
        # A budget that was reached with the very last row has stopped nothing.
        if not totals.tally.left:
            return ""
        async with self._taking_part(run_id) as ongoing:
            budget = ongoing.tools.budget
            cap = budget.exhausted or budget.first_cap if budget else ""
            return cap or await self._store.ledger.describe_dollar_limit(ongoing.run.person)

    async def unfinished(self, run_id: str, owner: str) -> list[int]:
        """Return the slices that are to be handed out."""
        if not (await self._store.runs.get(run_id)).goes_on_as(owner):
            return []
        return list((await self._store.slices.totals(run_id)).unfinished)

    async def model_of(self, run_id: str) -> str:
        return str((await self._store.runs.get(run_id)).spec.get("model") or "builtin")

    async def go_on(self, run_id: str, owner: str = "") -> None:
        """Continue a run of this process, or of the `owner` in whose place it works."""
        run = await self._store.runs.get(run_id)
        if self._draining or run.status != "running" or run.owner != (owner or self.id):
            return
        if run.kind == "enrich":
            await self.execute(run_id)
        else:
            await self._do(RunContext(run))

    async def lose(self, run_id: str, workflow_id: str) -> None:
        """End a run whose workflow is over without having ended it."""
        run = await self._store.runs.get(run_id)
        lost = "The workers could not continue it; their log says why. Resume the run to try again."
        halt = STOPPED if run.stopping else Halt(status="failed", problem=lost)
        await self.end_as(f"{QUEUE_OWNER_PREFIX}{workflow_id}", run_id, halt)

    @property
    def draining(self) -> bool:
        return self._draining

    async def drain(self) -> None:
        """Start no further row, and return when those in progress are done and written."""
        self._draining = True
        for ongoing in self._ongoing.values():
            for fill in ongoing.fills:
                fill.drain()
        self._whole.drain()
        await self._idle.wait()

    @asynccontextmanager
    async def _taking_part(self, run_id: str) -> AsyncIterator[Ongoing]:
        """Open the tools of a run with its first slice here; they stay open for `LINGER` after each."""
        async with self._opening:
            ongoing = self._ongoing.get(run_id) or await self._open(run_id)
            # It may have been stopped and resumed since.
            if not ongoing.users:
                run = await self._store.runs.get(run_id)
                # A resumed run may have other settings, so its tools are opened again.
                if run.since != ongoing.run.since:
                    await ongoing.stack.aclose()
                    ongoing = await self._open(run_id)
                ongoing.stopping = run.stopping
            self._ongoing[run_id] = ongoing
            ongoing.users += 1
            self._idle.clear()
        try:
            yield ongoing
        finally:
            ongoing.users -= 1
            ongoing.idle_since = time.monotonic()
            self._note_idle()

    def _note_idle(self) -> None:
        if not self._whole.run_ids and not any(ongoing.users for ongoing in self._ongoing.values()):
            self._idle.set()

    async def _close_idle(self, *, after: float = LINGER_SECONDS) -> None:
        # A run that is being closed gets no new slice.
        async with self._opening:
            for run_id, ongoing in tuple(self._ongoing.items()):
                if not ongoing.users and time.monotonic() - ongoing.idle_since >= after:
                    del self._ongoing[run_id]
                    await ongoing.stack.aclose()

    async def _open(self, run_id: str) -> Ongoing:
        run = await self._store.runs.get(run_id)
        stack = AsyncExitStack()
        try:
            tools = await self._open_run(run.spec.get("settings", {}), stack, run.person)
            # A new budget has counted nothing of this process yet, so nothing is to be subtracted for it.
            if tools.budget is None or tools.budget.spent == NO_SPEND:
                self._written.pop(run_id, None)
            ongoing = Ongoing(
                run=run,
                proposal_id=await self._store.proposals.of_run(run_id),
                tools=tools,
                # Without a limit of the model, the run's own concurrency alone decides; 1,000 means none.
                calls=ModelCalls(min(run.spec["concurrency"], tools.most_calls or 1_000)),
                breaker=tools.policy.breaker,
                stack=stack,
                stopping=run.stopping,
            )
            await self._see_spending(ongoing)
            log.info("This process works on the run, of %s rows.", run.total, extra={"run": run_id})
        except BaseException:
            await stack.aclose()
            raise
        return ongoing

    async def _see_spending(self, ongoing: Ongoing) -> None:
        """Count what all processes spent on the run, also before an interruption, towards its cap."""
        budget = ongoing.tools.budget
        if budget is not None:
            # What this process spent is in the stored usage too, and in its own budget: it would count twice.
            by_all = spend_of_usage(await self._store.slices.usage(ongoing.run.id))
            counted = self._written.get(ongoing.run.id, NO_SPEND)
            budget.spent_by_others = by_all - sum((spend_of_usage(fill.written) for fill in ongoing.fills), counted)

    # ── what is done as a whole ──────────────────────────────────────────────────────────────────────────────────────

    async def perform(
        self,
        kind: str,
        table_id: str,
        spec: dict[str, Any],
        *,
        seen: Store | None = None,
        watch: Callable[[Any], None] = lambda _: None,
        work: Work | None = None,
    ) -> Any:
        """Start a run of that kind and do it here. `seen` is the store as the user who starts it sees it. `work` does
        it in place of the kind's function, which continues it after an interruption."""
        run_id = await (seen or self._store).runs.start(table_id, kind, spec, owner=self.id)
        return await self._do(RunContext(await self._store.runs.get(run_id), watch), work)

    async def begin_routine(self, table_id: str, routine: str, spec: dict[str, Any]) -> str | None:
        """Start a scheduled run and return its id; "" while the last one is running, or is paused because its author
        may still not run it; None if the table is gone."""
        try:
            running = await self._store.runs.all(table_id, status="running")
            # A schedule that is due before the last run has ended would pile up runs.
            if any(run.kind == routine for run in running):
                return ""
            person = spec.get(PERSON, "")
            # One run says so, by pausing at once.
            if await self._store.users.lost_authority(person, table_id):
                before = await self._store.runs.all(table_id, status="paused")
                if any((run.kind, run.person) == (routine, person) for run in before):
                    return ""
            return await self._store.runs.start(table_id, routine, spec, owner=self.id)
        except NotFound:
            return None

    async def _do(self, context: RunContext, work: Work | None = None) -> Any:
        self._idle.clear()
        try:
            return await self._whole.do(context, work or self._work[context.run.kind])
        finally:
            self._note_idle()

    # ── in the background ────────────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        """Look for requests to stop, and for what other processes have spent."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(TablewrightError):
                await self._write_postponed_ends()
            # An idle process asks the database nothing.
            if not (self._ongoing or self._whole.run_ids):
                continue
            with suppress(TablewrightError):
                for run_id in await self._store.runs.find_stopping([*self._ongoing, *self._whole.run_ids]):
                    self.stop(run_id)
                for ongoing in tuple(self._ongoing.values()):
                    await self._see_spending(ongoing)
            await self._close_idle()

    def stop_all(self) -> None:
        for run_id in (*self._ongoing, *self._whole.run_ids):
            self.stop(run_id)

    def stop(self, run_id: str) -> None:
        """Stop a run here, at once; other processes see the request in the database."""
        if ongoing := self._ongoing.get(run_id):
            ongoing.stopping = True
            for fill in ongoing.fills:
                fill.cancel()
        self._whole.stop(run_id)


def describe_open_rows(part: Slice) -> str:
    """Return the rows that are not done, in words."""
    rows = part.left.row_ids
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {min(rows)} to {max(rows)}" if rows else "it"
