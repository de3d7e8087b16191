"""The conductor: works on durable runs in this process, slice by slice, and sees to it that they end.

What is to be done, what of it is done and who does it stands in the database. So a run whose process dies goes on in
another, with the rows that are not done; what it bought is in the cache, and is not bought again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from tablewright.engine.fill import SLICE, USUAL, Fill, Terms
from tablewright.engine.outcome import Filled, bought, filled
from tablewright.errors import Cancelled, NotFound, Superseded, TablewrightError, UsageError
from tablewright.journeys import enrich
from tablewright.journeys.enrich import OpenTools
from tablewright.models.budget import Amount, Budget
from tablewright.store.records import new_id
from tablewright.store.runs import Run, RunStatus
from tablewright.store.slices import Slice, Todo
from tablewright.store.store import Store
from tablewright.store.workers import QUEUED, SILENCE, Worker, WorkerKind, is_alive, is_gone, new_worker_id
from tablewright.table.feed import Progress
from tablewright.table.usage import Meter, Usage, metered

T = TypeVar("T")

BEAT = 2.0
"""Seconds between two signs of life."""
LOOK = 0.4
"""Seconds between two looks at whether somebody asked a run to stop."""
NEWS = 0.4
STOPPED = "stopped"
MANY = 1_000

LINGER = 5.0
"""Seconds for which the tools of a run stay open between two of its slices."""
OpenRun: TypeAlias = "Callable[[Mapping[str, str], AsyncExitStack], Awaitable[RunTools]]"
"""The tools for a run of these settings, which are closed with the stack."""
Work: TypeAlias = "Callable[[Run, Doing], Awaitable[Any]]"
"""Something that is done as a whole: begun again, it finds by itself what it had done already."""


@dataclass(frozen=True, kw_only=True)
class RunTools:
    open: OpenTools
    terms: Terms = USUAL
    budget: Budget | None = None
    most_rows: int | None = None
    """At once, in one process."""


@dataclass(kw_only=True)
class Ongoing:
    """A sliced run, as far as this process works on it."""

    run: Run
    proposal_id: str
    tools: RunTools
    gate: asyncio.Semaphore
    stack: AsyncExitStack
    users: int = 0
    idle_since: float = 0.0
    fills: set[Fill] = field(default_factory=set)
    stopping: bool = False


@dataclass
class Doing:
    """Something that is done as a whole, while it is done."""

    task: asyncio.Future[Any] | None = None
    news: list[Progress] = field(default_factory=list)
    halt: Callable[[], None] | None = None
    """How to stop it so that what it has come to counts; else it is broken off."""
    spec: dict[str, Any] | None = None
    """What is to be kept of what it was to do, where that is not all."""

    def tell(self, progress: Progress) -> None:
        self.news.append(progress)

    def stop(self) -> None:
        if self.halt is not None:
            self.halt()
        elif self.task is not None:
            self.task.cancel()


class Conductor:
    """`async with Conductor(…) as conductor`. As long as it is open, the process is known to be alive."""

    def __init__(
        self, store: Store, open_run: OpenRun, *, kind: WorkerKind = "command", works: Mapping[str, Work] | None = None
    ) -> None:
        self.id = new_worker_id()
        self._store = store
        self._open_run = open_run
        self.kind = kind
        self._works = dict(works or {})
        self._ongoing: dict[str, Ongoing] = {}
        self._whole: dict[str, Doing] = {}
        self._opening = asyncio.Lock()
        self._draining = False
        self._unheard = time.monotonic()
        """When this process last came back from where it could hear of nobody."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Conductor:
        await self._store.workers.beat(self.id, self.kind)
        self._tasks = [asyncio.create_task(self._live()), asyncio.create_task(self._look())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._close_idle(after=0.0)
        with suppress(TablewrightError):
            await self._store.workers.leave([self.id])

    # ── a sliced run ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def conduct(self, run_id: str) -> None:
        """All that is left of a run, in this process alone."""
        problem = ""
        async with self._taking_part(run_id) as ongoing:
            numbers = deque((await self._store.slices.totals(run_id)).unfinished)

            async def lane() -> None:
                nonlocal problem
                while numbers and not (problem or self._draining or ongoing.stopping):
                    problem = await self.fill_slice(run_id, numbers.popleft(), self.id) or problem

            try:
                lanes = 2 + ongoing.run.spec["concurrency"] // SLICE
                await asyncio.gather(*(lane() for _ in range(lanes)))
            except asyncio.CancelledError:
                ongoing.stopping = True
                raise
            finally:
                if not self._draining:  # else it is left to whoever comes next
                    await self.end_as(self.id, run_id, "" if problem == STOPPED else problem)

    async def fill_slice(self, run_id: str, number: int, owner: str) -> str:
        """Empty when it is done; else why not, in words. `owner` is whose run it is thought to be: what somebody else
        took in the meantime is left to them."""
        async with self._taking_part(run_id) as ongoing:
            run = await self._store.runs.get(run_id)
            if ongoing.stopping or run.stopping or self._draining or run.owner != owner:
                return STOPPED
            part = await self._store.slices.claim(run_id, number, f"{self.id}/{new_id('s')}")
            if part.finished:
                return ""
            fill = await self._fill(ongoing, part)
            ongoing.fills.add(fill)
            try:
                return "" if await fill.run_slice(part, ongoing.proposal_id, ongoing.gate) else STOPPED
            except Superseded:
                return ""
            except TablewrightError as error:
                return str(error)
            finally:
                ongoing.fills.discard(fill)

    async def end(self, run_id: str, problem: str = "") -> Filled:
        """What was found becomes a proposal, and the run says how it ended; a second time nothing changes."""
        run = await self._store.runs.get(run_id)
        totals = await self._store.slices.totals(run_id)
        async with self._taking_part(run_id) as ongoing:
            cap = ongoing.tools.budget.in_words if ongoing.tools.budget and totals.tally.left else ""
            if run.status != "running":
                return filled(run_id, ongoing.proposal_id, run.status, totals.tally, run.usage, cap)
            cancelled = bool(totals.unfinished) and not problem
            status: RunStatus = "failed" if problem else "cancelled" if cancelled else "over_budget" if cap else "done"
            nothing = await enrich.reopen(self._store, run, Todo(row_ids=()), open_tools=ongoing.tools.open)
            summary = nothing.summary(totals.tally, cap=cap, cancelled=cancelled)
        usage = totals.usage + Usage(seconds=seconds_since(run.started_at))
        await self._store.proposals.finish(ongoing.proposal_id, summary)
        stage: Any = "cancelled" if cancelled else "complete"
        last = Progress(stage=stage, done=run.done, total=run.total, detail=problem or summary)
        await self._store.feed.add(run_id, [last])
        spec = run.spec | bought(totals.tally)
        await self._store.runs.finish(run_id, status, usage, problem or None, spec=spec)
        return filled(run_id, ongoing.proposal_id, status, totals.tally, usage, cap)

    async def take_for_all(self, run_id: str, instead_of: str) -> str:
        """Makes it a run of all workers; its kind, or nothing where somebody else has taken it in the meantime."""
        if not await self._store.runs.take(run_id, QUEUED, instead_of=instead_of):
            return ""
        return (await self._store.runs.get(run_id)).kind

    async def unfinished(self, run_id: str) -> list[int]:
        """The slices that are to be handed out."""
        run = await self._store.runs.get(run_id)
        if run.stopping or run.owner != QUEUED:
            return []
        return list((await self._store.slices.totals(run_id)).unfinished)

    async def end_as(self, owner: str, run_id: str, problem: str) -> None:
        """Not where somebody else has taken it, because the owner was asleep and thought dead."""
        if (await self._store.runs.get(run_id)).owner == owner:
            await self.end(run_id, problem)

    async def model_of(self, run_id: str) -> str:
        return str((await self._store.runs.get(run_id)).spec.get("model") or "builtin")

    async def go_on(self, run_id: str) -> None:
        """With a run of whatever kind that is this process's."""
        run = await self._store.runs.get(run_id)
        if run.kind == "enrich":
            await self.conduct(run_id)
        else:
            await self._do(run, self._works[run.kind])

    async def give_up(self, run_id: str) -> None:
        """Ends a run that nobody works on any more, with what it had come to."""
        run = await self._store.runs.get(run_id)
        if run.kind == "enrich" and self.can_go_on(run):
            await self.end(run_id)
        else:
            await self._store.runs.finish(run_id, "cancelled", run.usage)

    async def is_left(self, run_id: str) -> bool:
        """Whether nobody is alive who works on a run that has not ended."""
        run = await self._store.runs.get(run_id)
        return run.status == "running" and is_gone(run.owner, await self.alive())

    async def alive(self) -> list[Worker]:
        """Who is at work. After the database was away nobody has been heard for a while: then silence says nothing."""
        steady = time.monotonic() - self._unheard > SILENCE
        return [each for each in await self._store.workers.all() if is_alive(each, trust_silence=steady)]

    async def left(self) -> list[tuple[str, str]]:
        """The runs that nobody alive works on, and who had them."""
        alive = await self.alive()
        running = await self._store.runs.all(status="running")
        return [(run.id, run.owner) for run in running if is_gone(run.owner, alive) and self.can_go_on(run)]

    def can_go_on(self, run: Run) -> bool:
        """Whether it was begun as one that another process can go on with."""
        return "retry" in run.spec if run.kind == "enrich" else run.kind in self._works

    async def take(self, run_id: str) -> None:
        """To go on with a run that was interrupted, stopped or failed."""
        run = await self._store.runs.get(run_id)
        if run.status == "running" and run.owner != self.id and not await self.is_left(run_id):
            raise UsageError(f"Run {run_id} is being worked on.", advice=f"Watch it: tablewright runs watch {run_id}.")
        if run.status in ("done", "over_budget"):
            why = "is done" if run.status == "done" else "stopped at its cap"
            advice = "Run the same command again with a new --budget: it goes on with the cells that are left."
            raise UsageError(f"Run {run_id} {why}.", advice="" if run.status == "done" else advice)
        if not self.can_go_on(run):
            raise UsageError(
                f"Run {run_id} cannot go on: it was not begun as one that can.",
                advice="Run it again: what was bought is not paid for again.",
            )
        if run.kind == "enrich":
            await self._store.proposals.reopen(await self._store.proposals.of_run(run_id))
        if not await self._store.runs.take(run_id, self.id, instead_of=run.owner, anew=True):
            raise UsageError(f"Run {run_id} is being worked on.", advice=f"Watch it: tablewright runs watch {run_id}.")

    @property
    def draining(self) -> bool:
        return self._draining

    async def drain(self) -> None:
        """No further row is begun. Returns when those under way are done, and written."""
        self._draining = True
        for ongoing in self._ongoing.values():
            for fill in ongoing.fills:
                fill.drain()
        for doing in self._whole.values():
            doing.stop()
        await self._idle.wait()

    @asynccontextmanager
    async def _taking_part(self, run_id: str) -> AsyncIterator[Ongoing]:
        """The tools of a run are opened with its first slice here, and stay open a little after each."""
        async with self._opening:
            ongoing = self._ongoing.get(run_id) or await self._open(run_id)
            if not ongoing.users:  # it may have been stopped and resumed since
                ongoing.stopping = (await self._store.runs.get(run_id)).stopping
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
        if not self._whole and not any(ongoing.users for ongoing in self._ongoing.values()):
            self._idle.set()

    async def _close_idle(self, *, after: float = LINGER) -> None:
        for run_id, ongoing in tuple(self._ongoing.items()):
            if not ongoing.users and time.monotonic() - ongoing.idle_since >= after:
                del self._ongoing[run_id]
                await ongoing.stack.aclose()

    async def _open(self, run_id: str) -> Ongoing:
        run = await self._store.runs.get(run_id)
        stack = AsyncExitStack()
        try:
            tools = await self._open_run(run.spec.get("settings", {}), stack)
            ongoing = Ongoing(
                run=run,
                proposal_id=await self._store.proposals.of_run(run_id),
                tools=tools,
                gate=asyncio.Semaphore(min(run.spec["concurrency"], tools.most_rows or MANY)),
                stack=stack,
                stopping=run.stopping,
            )
            await self._see_spending(ongoing)
        except BaseException:
            await stack.aclose()
            raise
        return ongoing

    async def _fill(self, ongoing: Ongoing, part: Slice) -> Fill:
        return await enrich.reopen(
            self._store, ongoing.run, part.left, open_tools=ongoing.tools.open, terms=ongoing.tools.terms
        )

    async def _see_spending(self, ongoing: Ongoing) -> None:
        """The cap holds for all who work on a run together, and for what it took before it was interrupted."""
        budget = ongoing.tools.budget
        if budget is not None:
            spent = await self._store.slices.spent_by_others(ongoing.run.id, self.id)
            tokens = spent.input_tokens + spent.output_tokens
            budget.elsewhere = Amount(spent.cost_usd, tokens, spent.llm_calls)

    # ── what is done as a whole ──────────────────────────────────────────────────────────────────────────────────────

    async def perform(
        self, kind: str, table_id: str, spec: dict[str, Any], work: Callable[[Run, Doing], Awaitable[T]]
    ) -> T:
        """Begins a run of that kind and does it."""
        run_id = await self._store.runs.start(table_id, kind, spec, owner=self.id)
        return await self._do(await self._store.runs.get(run_id), work)

    async def do_routine(self, table_id: str, routine: str, spec: dict[str, Any]) -> bool:
        """Whether there still is such a table. What goes wrong stands in the run's record."""
        try:
            await self._store.tables.find(table_id)
        except NotFound:
            return False
        with suppress(TablewrightError):
            await self.perform(routine, table_id, spec, self._works[routine])
        return True

    async def _do(self, run: Run, work: Callable[[Run, Doing], Awaitable[T]]) -> T:
        doing = Doing()
        started, meter = time.monotonic(), Meter()
        with metered(meter):
            task: asyncio.Future[T] = asyncio.ensure_future(work(run, doing))
        telling = asyncio.create_task(self._pass_on(run.id, doing.news))
        doing.task = task
        self._whole[run.id] = doing
        self._idle.clear()
        status: RunStatus = "failed"
        problem: str | None = None
        try:
            result = await task
            status = "done"
            return result
        except asyncio.CancelledError:
            status = "cancelled"
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():  # not the work was stopped, but who waits for it
                raise
            raise Cancelled(
                f"Run {run.id} was stopped.",
                kept="What it had come to is kept.",
                advice=f"Go on with it: tablewright runs resume {run.id}.",
            ) from None
        except TablewrightError as error:
            status = "cancelled" if error.exit_code == 130 else "failed"
            problem = str(error)
            raise
        finally:
            del self._whole[run.id]
            self._note_idle()
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await self._store.feed.add(run.id, doing.news)
            usage = run.usage + meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            if not self._draining:  # else it is left to whoever comes next
                await self._store.runs.finish(run.id, status, usage, problem, spec=doing.spec)

    async def _pass_on(self, run_id: str, news: list[Progress]) -> None:
        while True:
            await asyncio.sleep(NEWS)
            if some := tuple(news):
                await self._store.feed.add(run_id, some)
                del news[: len(some)]

    # ── in the background ────────────────────────────────────────────────────────────────────────────────────────────

    async def _live(self) -> None:
        heard = time.monotonic()
        while True:
            await asyncio.sleep(BEAT)
            with suppress(TablewrightError):
                await self._store.workers.beat(self.id, self.kind)
                if time.monotonic() - heard > 3 * BEAT:
                    self._unheard = time.monotonic()
                heard = time.monotonic()

    async def _look(self) -> None:
        """At whether somebody asked a run to stop, and at what others have spent."""
        while True:
            await asyncio.sleep(LOOK)
            if not (self._ongoing or self._whole):
                continue
            with suppress(TablewrightError):
                for run_id in await self._store.runs.stopping([*self._ongoing, *self._whole]):
                    self.stop(run_id)
                for ongoing in tuple(self._ongoing.values()):
                    await self._see_spending(ongoing)
            await self._close_idle()

    def stop_all(self) -> None:
        for run_id in (*self._ongoing, *self._whole):
            self.stop(run_id)

    def stop(self, run_id: str) -> None:
        """Here and at once; others see it in the database."""
        if ongoing := self._ongoing.get(run_id):
            ongoing.stopping = True
            for fill in ongoing.fills:
                fill.cancel()
        if doing := self._whole.get(run_id):
            doing.stop()


def seconds_since(stamp: str) -> float:
    return round((datetime.now(UTC) - datetime.fromisoformat(stamp)).total_seconds(), 3)
