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

from tablewright.domain.model import Noun
from tablewright.domain.run import MOST_SETBACKS, PERSON, Progress, Run, RunStatus, Stage, Usage
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.outbox import shield_to_completion
from tablewright.engine.outcome import Filled, bought, filled, summarize_run
from tablewright.engine.policy import USUAL, Terms
from tablewright.engine.rows import SLICE, RowLimiter
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
from tablewright.jobs.background import BackgroundRunner, set_aside
from tablewright.jobs.kinds import RunContext, Work
from tablewright.jobs.ownership import Ownership, allowance_of, check_authority
from tablewright.journeys import enrich
from tablewright.journeys.enrich import OpenTools
from tablewright.models.budget import NOTHING, Budget, Spend, amount
from tablewright.sources.breaker import CircuitBreaker
from tablewright.store.records import new_id, now
from tablewright.store.runs import Slice, Totals
from tablewright.store.store import Store
from tablewright.store.workers import QUEUED
from tablewright.strategies.strategy import find_strategy

log = logging.getLogger(__name__)

LOOK = 0.4
"""Seconds between two looks for runs that were asked to stop."""
ROUNDS = 2
"""Slices with rows that were left for later are finished in the second."""
LOST = "The workers could not continue it; their log says why. Resume the run to try again."
MANY = 1_000

LINGER = 5.0
"""Seconds that the tools of a run stay open between two of its slices."""
OpenRun: TypeAlias = "Callable[[Mapping[str, str], AsyncExitStack, str], Awaitable[RunTools]]"
"""Opens the tools for a run of these settings and this person; they close with the stack."""


class Halt(Noun, frozen=True):
    """Why a run does not go on: it was stopped, or every slice would meet the same `problem`."""

    status: Literal["stopped", "paused", "failed"]
    problem: str = ""


STOPPED = Halt(status="stopped")


@dataclass(frozen=True, kw_only=True)
class RunTools:
    open: OpenTools
    terms: Terms = USUAL
    budget: Budget | None = None
    most_rows: int | None = None
    """The most rows of the run at once, in one process."""


@dataclass(kw_only=True)
class Ongoing:
    """A sliced run that this process works on."""

    run: Run
    proposal_id: str
    tools: RunTools
    gate: RowLimiter
    breaker: CircuitBreaker
    stack: AsyncExitStack
    users: int = 0
    idle_since: float = 0.0
    plan: FillPlan | None = None
    fills: set[Fill] = field(default_factory=set)
    deferred: set[int] = field(default_factory=set)
    """Slices that left rows for later once."""
    stopping: bool = False


class RunExecutor:
    """`async with RunExecutor(…) as executor`. While it is open, the process counts as alive."""

    def __init__(self, store: Store, open_run: OpenRun, kinds: Mapping[str, Work] | None = None) -> None:
        self._store = store
        self._open_run = open_run
        self._work = dict(kinds or {})
        self.ownership = Ownership(store, kinds=self._work.keys())
        self._ongoing: dict[str, Ongoing] = {}
        self._written: dict[str, Spend] = {}
        """By run: the usage of finished slices that its budget has already counted."""
        self._whole = BackgroundRunner(store, self.ownership)
        self._opening = asyncio.Lock()
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._living = AsyncExitStack()

    @property
    def id(self) -> str:
        return self.ownership.id

    async def __aenter__(self) -> RunExecutor:
        await self._living.enter_async_context(self.ownership.living())
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        await self._close_idle(after=0.0)
        await self._living.aclose()

    # ── a sliced run ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def execute(self, run_id: str) -> None:
        """Do all that is left of a run, in this process alone."""
        halt: Halt | None = None
        try:
            async with self._taking_part(run_id) as ongoing:
                numbers: deque[int] = deque()

                async def lane() -> None:
                    nonlocal halt
                    while numbers and not (halt or self._draining or ongoing.stopping):
                        halt = await self.fill_slice(run_id, numbers.popleft(), self.id) or halt

                try:
                    lanes = 3 + ongoing.run.spec["concurrency"] // SLICE
                    for _ in range(ROUNDS):
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
            if not self._draining:  # else another process continues it
                await shield_to_completion(self.end_as(self.id, run_id, halt))

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
            return None
        except Unreachable:
            raise
        except (AuthorityLost, DiskFull) as problem:
            return Halt(status="paused", problem=str(problem))
        except BadSetting as error:
            where = "" if self.ownership.kind == "command" else f"On {platform.node()}: "
            return Halt(status="failed", problem=f"{where}{error}")
        except TablewrightError as error:
            return Halt(status="failed", problem=str(error))
        except Exception as error:
            log.exception("Slice %s of run %s failed.", number, run_id)
            return Halt(status="failed", problem=unforeseen(error))

    async def _try(self, ongoing: Ongoing, part: Slice) -> Halt | None:
        """As `fill_slice`. A slice that is not done is given back: this process was not lost with it."""
        halt: Halt | None = None
        if part.setbacks >= MOST_SETBACKS:
            halt = Halt(status="failed", problem=set_aside(rows_of(part)))
        elif not ongoing.breaker.outage and await self._fill_or_give_back(ongoing, part):
            return None
        elif ongoing.breaker.outage:
            halt = Halt(status="paused", problem=str(ongoing.breaker.outage))
        elif ongoing.stopping or self._draining or part.number in ongoing.deferred:
            halt = STOPPED
        else:
            ongoing.deferred.add(part.number)
        await self._store.slices.give_back(part.run_id, part.owner)
        return halt

    async def _fill_or_give_back(self, ongoing: Ongoing, part: Slice) -> bool:
        try:
            return await self._fill(ongoing, part)
        except DiskFull:
            with suppress(StoreError):  # the disk may be too full even for that
                await self._store.slices.give_back(part.run_id, part.owner)
            raise

    async def _fill(self, ongoing: Ongoing, part: Slice) -> bool:
        tools = ongoing.tools
        if ongoing.plan is None:
            strategy = self.ownership.strategies.get(part.run_id)
            ongoing.plan = await enrich.reopen(self._store, ongoing.run, strategy, tools.terms)
        fill = await enrich.open_slice(self._store, ongoing.plan, part.left, tools.open, ongoing.breaker)
        ongoing.fills.add(fill)
        try:
            async with allowance_of(self._store, ongoing.run.person if fill.asks_others else "", self.ownership):
                return await fill.run_slice(
                    part, ongoing.proposal_id, ongoing.gate.of_next_slice(), defers=part.number not in ongoing.deferred
                )
        finally:
            ongoing.fills.discard(fill)
            self._written[part.run_id] = self._written.get(part.run_id, NOTHING) + amount(fill.written)

    # ── how a run ends ───────────────────────────────────────────────────────────────────────────────────────────────

    async def end_as(self, owner: str, run_id: str, halt: Halt | None = None) -> None:
        """End a run: what was found becomes a proposal. Nothing happens if it has ended, or is another owner's by now,
        because this one slept and was taken for dead."""
        try:
            run = await self._store.runs.get(run_id)
        except NotFound:  # removed with its table
            return
        if run.owner != owner or run.status != "running":
            return
        if run.is_sliced:
            await self._end_fill(run, halt)
            return
        with suppress(NotFound):  # some runs propose nothing
            await self._store.proposals.finish(await self._store.proposals.of_run(run_id), "Stopped before the end.")
        problem = halt.problem if halt else ""
        await self._store.runs.finish(
            run_id, "failed" if problem else "cancelled", run.usage, problem or None, owner=owner
        )

    async def _end_fill(self, run: Run, halt: Halt | None) -> None:
        totals = await self._store.slices.totals(run.id)
        cap = await self._cap(run.id, totals)
        problem = halt.problem if halt else ""
        status: RunStatus = "over_budget" if cap else "done"
        if halt is not None and halt.status != "stopped":
            status = halt.status
        elif totals.unfinished:
            status = "cancelled"
        stage: Stage = status if status in ("cancelled", "paused") else "complete"
        proposal = await self._store.proposals.get(await self._store.proposals.of_run(run.id), counted=False)
        name = run.spec["strategy"]
        with suppress(TablewrightError):  # it may be on another machine only
            name = (self.ownership.strategies.get(run.id) or find_strategy(name)).display_name
        summary = summarize_run(name, proposal.fields, totals.tally, status, cap)
        await self._store.proposals.finish(proposal.id, summary)
        last = Progress(stage=stage, done=run.done, total=run.total, detail=problem or summary)
        usage = totals.usage + Usage(seconds=run.seconds_worked(now()))
        spec = run.spec | bought(totals.tally)
        await self._store.runs.finish(run.id, status, usage, problem or None, spec=spec, news=[last], owner=run.owner)
        log.info("The run ended as %s: %s", status, problem or summary, extra={"run": run.id})

    async def end_now(self, run_id: str) -> None:
        """End a run that was asked to stop. What the process that works on it finds from now on is lost."""
        run = await self._store.runs.get(run_id)
        if run.stopping and run.status == "running":
            await self._store.slices.give_back(run_id)
            await self.end_as(run.owner, run_id)

    async def outcome(self, run_id: str) -> Filled:
        """Return the result of a sliced run that has ended."""
        run = await self._store.runs.get(run_id)
        if run.status == "running":
            raise UsageError(f"Run {run_id} has not ended.", advice=f"Watch it: tablewright runs watch {run_id}.")
        totals = await self._store.slices.totals(run_id)
        proposal_id = await self._store.proposals.of_run(run_id)
        cap = await self._cap(run_id, totals)
        return filled(run_id, proposal_id, run.status, totals.tally, run.usage, cap, run.error or "")

    async def _cap(self, run_id: str, totals: Totals) -> str:
        """Return the cap that was reached, or ""."""
        if not totals.tally.left:
            return ""
        async with self._taking_part(run_id) as ongoing:
            budget = ongoing.tools.budget
            told = budget.exhausted or budget.in_words if budget else ""
            return told or await self._store.ledger.dollars_in_words(ongoing.run.person)

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
        halt = STOPPED if run.stopping else Halt(status="failed", problem=LOST)
        await self.end_as(f"{QUEUED}{workflow_id}", run_id, halt)

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
            if not ongoing.users:  # it may have been stopped and resumed since
                run = await self._store.runs.get(run_id)
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

    async def _close_idle(self, *, after: float = LINGER) -> None:
        async with self._opening:  # a run that is being closed gets no new slice
            for run_id, ongoing in tuple(self._ongoing.items()):
                if not ongoing.users and time.monotonic() - ongoing.idle_since >= after:
                    del self._ongoing[run_id]
                    await ongoing.stack.aclose()

    async def _open(self, run_id: str) -> Ongoing:
        run = await self._store.runs.get(run_id)
        stack = AsyncExitStack()
        try:
            tools = await self._open_run(run.spec.get("settings", {}), stack, run.person)
            if tools.budget is None or tools.budget.spent == NOTHING:
                self._written.pop(run_id, None)
            ongoing = Ongoing(
                run=run,
                proposal_id=await self._store.proposals.of_run(run_id),
                tools=tools,
                gate=RowLimiter(min(run.spec["concurrency"], tools.most_rows or MANY)),
                breaker=tools.terms.breaker,
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
            by_all = amount(await self._store.slices.usage(ongoing.run.id))
            counted = self._written.get(ongoing.run.id, NOTHING)
            budget.elsewhere = by_all - sum((amount(fill.written) for fill in ongoing.fills), counted)

    # ── what is done as a whole ──────────────────────────────────────────────────────────────────────────────────────

    async def perform(
        self,
        kind: str,
        table_id: str,
        spec: dict[str, Any],
        *,
        seen: Store | None = None,
        watch: Callable[[Any], None] = lambda _: None,
    ) -> Any:
        """Start a run of that kind and do it here. `seen` is the store as the user who starts it sees it."""
        run_id = await (seen or self._store).runs.start(table_id, kind, spec, owner=self.id)
        return await self._do(RunContext(await self._store.runs.get(run_id), watch))

    async def begin_routine(self, table_id: str, routine: str, spec: dict[str, Any]) -> str | None:
        """Start a scheduled run and return its id; "" while the last one is running, or is paused because its author
        may still not run it; None if the table is gone."""
        try:
            running = await self._store.runs.all(table_id, status="running")
            if any(run.kind == routine for run in running):
                return ""
            person = spec.get(PERSON, "")
            if await self._store.users.lost_authority(person, table_id):  # one run says so, by pausing at once
                before = await self._store.runs.all(table_id, status="paused")
                if any((run.kind, run.person) == (routine, person) for run in before):
                    return ""
            return await self._store.runs.start(table_id, routine, spec, owner=self.id)
        except NotFound:
            return None

    async def _do(self, context: RunContext) -> Any:
        self._idle.clear()
        try:
            return await self._whole.do(context, self._work[context.run.kind])
        finally:
            self._note_idle()

    # ── in the background ────────────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        """Look for requests to stop, and for what other processes have spent."""
        while True:
            await asyncio.sleep(LOOK)
            if not (self._ongoing or self._whole.run_ids):
                continue
            with suppress(TablewrightError):
                for run_id in await self._store.runs.stopping([*self._ongoing, *self._whole.run_ids]):
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


def rows_of(part: Slice) -> str:
    """Return the rows that are not done, in words."""
    rows = part.left.row_ids
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {min(rows)} to {max(rows)}" if rows else "it"
