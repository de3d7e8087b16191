"""Start, watch, stop and resume runs, in this process or another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.domain.access import INSTALLATION_OWNER, ActingUser
from tablewright.domain.run import ACTOR, Event, ProgressCallback, Routine, Run, ignore_progress
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import RunPolicy
from tablewright.engine.runs.kinds import RUN_KINDS, RunContext, Work
from tablewright.engine.runs.ownership import explain_paused_schedule
from tablewright.engine.write_buffer import shield_to_completion
from tablewright.errors import NotFound, RunError, TablewrightError, UsageError
from tablewright.settings import JOBS_FILE, SAMPLE_WEB_SETTINGS, Settings
from tablewright.store.database import make_private_file
from tablewright.store.runs import MAX_EVENTS_READ
from tablewright.store.store import Store
from tablewright.store.workers import (
    GONE_AFTER_SECONDS,
    QUEUE_OWNER_PREFIX,
    UNREGISTERED_SUFFIX,
    Worker,
    WorkerKind,
    is_owner_gone,
    is_worker_alive,
)

if TYPE_CHECKING:
    from tablewright.engine.runs.executor import RunExecutor, RunTools
    from tablewright.engine.runs.schedules import Schedule, Schedules
    from tablewright.strategies.toolbox import Overrides, Toolbox

# The executor takes a second to import; a process that starts no run does not wait for it.

# Seconds between two checks that some process works on an awaited run.
LOOK_SECONDS = 3.0
# Seconds that other processes have to stop a run.
GRACE_SECONDS = 3.0


@dataclass(eq=False)
class AwaitedRun:
    """A run whose caller waits for its result; without an id while it is being started."""

    run_id: str = ""
    is_stopped: bool = False


class Toolboxes:
    """The tools of the settings, opened once for all who act, and those of the sample web. A table that came with
    Tablewright is about a fictional world, so it is looked up in the sample web."""

    def __init__(self, settings: Settings, store: Store, stack: AsyncExitStack) -> None:
        self.settings = settings
        self.provided: Overrides | None = None
        self.on_missing_model: Callable[[], None] | None = None
        """Called once, when a model would be asked and none is configured."""
        self.opened: Toolbox | None = None
        self._sample: Toolbox | None = None
        self._store = store
        self._stack = stack

    def use_settings(self, settings: Settings) -> None:
        """Use other settings from now on. Tools that are open close with this process: they may be in use."""
        self.settings = settings
        self.opened = self._sample = None

    @property
    def usual(self) -> Toolbox:
        if self.opened is None:
            self.opened = self.build(self.settings)
        return self.opened

    @property
    def sample(self) -> Toolbox:
        if self._sample is None:
            self._sample = self.build(self.settings, is_sample=True)
        return self._sample

    def build(self, settings: Settings, stack: AsyncExitStack | None = None, *, is_sample: bool = False) -> Toolbox:
        """Return tools for these settings; they close with `stack`, else with this process."""
        from tablewright.strategies.toolbox import NO_OVERRIDES, Toolbox

        stack = stack or self._stack
        if is_sample:
            return Toolbox(replace(settings, **SAMPLE_WEB_SETTINGS), self._store, stack)
        return Toolbox(settings, self._store, stack, self.on_missing_model, self.provided or NO_OVERRIDES)


class Jobs:
    def __init__(
        self,
        store: Store,
        toolboxes: Toolboxes,
        stack: AsyncExitStack,
        services_for: Callable[[Run], AbstractAsyncContextManager[Any]],
    ) -> None:
        """`services_for` opens the services in the name of the user who started a run."""
        self._store = store
        self._toolboxes = toolboxes
        self._stack = stack
        self._services_for = services_for
        self._executor: RunExecutor | None = None
        self._making_executor = asyncio.Lock()
        self._background: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._awaited: list[AwaitedRun] = []
        self._handed_over: set[str] = set()
        self._broken_off: dict[str, TablewrightError] = {}
        """By run: why the work on it here is over. The run itself cannot say so while the disk is full."""
        self._of_all: Jobs | None = None

    def seen_by(self, store: Store) -> Jobs:
        """Return the same jobs as the user of this store sees them; the runs it starts are that user's."""
        # A shallow copy: tasks, executor and toolboxes are shared by all who act in this process.
        seen = copy(self)
        seen._store = store
        seen._of_all = self._of_all or self
        return seen

    async def run(self, fill: FillRun, settings: Mapping[str, str] | None = None) -> RunResult:
        """Run a fill to its end and return its result. Any process can watch, stop and resume it; workers do it where
        some are up. A cancelled caller stops it; so does `stop`."""
        awaited = AwaitedRun()
        self._awaited.append(awaited)
        run_id = ""
        try:
            run_id = awaited.run_id = await self.start(fill, settings)
            # It may have been stopped while it was being started and had no id.
            if awaited.is_stopped:
                await self._ask_to_stop(run_id)
            await self.wait(run_id, fill.watch)
            filled = await self.result(run_id)
        except NotFound as error:
            raise RunError(f"Run {run_id} has stopped: its table was removed.") from error
        except asyncio.CancelledError:
            if run_id:
                await shield_to_completion(self._end_awaited(run_id))
            raise
        finally:
            self._awaited.remove(awaited)
        if filled.status == "failed":
            run = await self._store.runs.get(run_id)
            raise RunError(
                run.error or f"Run {run_id} failed.",
                kept=f"What it had found is kept in proposal {filled.proposal_id}.",
                advice=f"Resume it: tablewright runs resume {run_id}.",
            )
        return filled

    async def _end_awaited(self, run_id: str) -> None:
        if self._known is not None:
            # At once here; the request in the database reaches other processes.
            self._known.stop(run_id)
        # It has ended by itself, or its table is gone.
        with suppress(TablewrightError):
            await self.cancel(run_id)
            await self.wait(run_id)

    async def perform(
        self,
        kind: str,
        table_id: str,
        spec: dict[str, Any],
        watch: Callable[[Any], None] = lambda _: None,
        work: Work | None = None,
    ) -> Any:
        """Do a run of a kind of `RUN_KINDS` here, and return its result. Others can watch, stop and resume it. `work`
        does it in place of the kind's function, which continues it after an interruption."""
        await self._check_spending(kind)
        executor = await self._open_executor()
        return await executor.perform(kind, table_id, self._signed(spec), seen=self._store, watch=watch, work=work)

    async def _check_spending(self, kind: str) -> None:
        if RUN_KINDS[kind].spends:
            await self._store.ledger.refuse_spent()

    def _signed(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        return {ACTOR: self._store.database.acting.actor, **spec}

    @asynccontextmanager
    async def paid_by_acting(self) -> AsyncIterator[None]:
        """Charge what is bought inside to the acting user; the owner of the installation has no limit."""
        person = self._store.database.acting.person
        if person is None or person.id == INSTALLATION_OWNER.id:
            yield
            return
        from tablewright.engine.runs.ownership import open_user_allowance

        async with open_user_allowance(self._store, person.id, (await self._open_executor()).heartbeat):
            yield

    async def begin(self, kind: str, table_id: str, spec: dict[str, Any]) -> str:
        """Start a run of a kind of `RUN_KINDS`, by the workers or in the background here, and return its id."""
        executor = await self._open_executor()
        await self._check_spending(kind)
        run_id = await self._store.runs.start(table_id, kind, self._signed(spec), owner=executor.id)
        await self._hand_over(run_id)
        return run_id

    async def start(self, fill: FillRun, settings: Mapping[str, str] | None = None) -> str:
        """Start a fill and return its run's id. `settings` are for this run in place of those of this process, such as
        a budget of its own."""
        # Settings are recorded with the run, so that every process that continues it works alike.
        used = {**self._toolboxes.settings.shared, **(settings or {})}
        if await self._store.imports.is_sample(fill.table_id):
            used |= SAMPLE_WEB_SETTINGS
        if fill.is_external:
            await self._store.ledger.refuse_spent()
        executor = await self._open_executor()
        run_id = await fill.begin(executor.id, settings=used)
        if fill.given_strategy is not None:
            executor.heartbeat.strategies[run_id] = fill.given_strategy
        if fill.is_external and fill.given_strategy is None:
            await self._hand_over(run_id)
        else:
            # A formula is done here before a worker hears of it; an object exists only here.
            self._in_background(self._go_on_unheard(run_id), self._background)
        return run_id

    async def resume(self, run_id: str, *, with_current_settings: bool = False) -> None:
        """Resume a run with the settings it was started with, or with the present model and search if those were what
        failed. It continues in the name of the acting user if the one who started it may no longer run it."""
        run = await self._store.runs.get(run_id)
        now: dict[str, str] = {}
        if with_current_settings and "settings" in run.spec:
            choosing = ("model", "model_base_url", "model_fallback", "model_timeout", "search", "sources")
            now = {name: self._toolboxes.settings.shared[name] for name in choosing}
            if run.table_id and await self._store.imports.is_sample(run.table_id):
                now |= SAMPLE_WEB_SETTINGS
        await (await self._open_executor()).heartbeat.take(run_id, now, self._store.database.acting)
        await self._hand_over(run_id)

    async def _hand_over(self, run_id: str) -> None:
        executor = await self._open_executor()
        # It may have been handed over before it was interrupted; workers may be gone since.
        self._handed_over.discard(run_id)
        self._broken_off.pop(run_id, None)
        if run_id not in executor.heartbeat.strategies and await self._submit(run_id, executor.id):
            self._handed_over.add(run_id)
        else:
            self._in_background(self._go_on_unheard(run_id), self._background)

    def is_handed_over(self, run_id: str) -> bool:
        """Return True if this process gave the run to the workers."""
        return run_id in self._handed_over

    def _in_background(self, work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        among.add(task)
        task.add_done_callback(among.discard)

    async def _go_on_unheard(self, run_id: str) -> None:
        try:
            await (await self._open_executor()).go_on(run_id)
        except TablewrightError as error:
            self._broken_off[run_id] = error

    async def leave(self) -> None:
        """Finish the rows in progress of background runs; another process continues them."""
        if self._background and self._executor is not None:
            ending = asyncio.create_task(self._store.database.stop_waiting_when_away())
            await self._executor.drain()
            await asyncio.gather(*self._background, return_exceptions=True)
            ending.cancel()

    async def all(
        self,
        table_id: str | None = None,
        *,
        limit: int = 50,
        before: tuple[str, str] | None = None,
    ) -> list[Run]:
        """Return runs, newest first, after the one with the start and id of `before`."""
        found = await self._store.runs.all(table_id, limit=limit, before=before)
        return [await self._up_to_date(run) for run in found]

    async def get(self, run_id: str) -> Run:
        """Return a run with its usage so far."""
        return await self._up_to_date(await self._store.runs.get(run_id))

    async def is_interrupted(self, run: Run) -> bool:
        """Return True if the run has not ended and no living process works on it."""
        return run.status == "running" and is_owner_gone(run.owner, await self.workers())

    async def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a run after a number until it ends, whichever process does it."""
        await self._store.runs.get(run_id)
        async for event in follow_events(self._store, run_id, after=after):
            yield event

    async def wait(self, run_id: str, watch: ProgressCallback = ignore_progress, *, after: int = 0) -> None:
        """Wait until a run ends. Raise RunError if no process is left to end it, and the error of this process if it
        could not end it."""

        async def pass_on() -> None:
            async for event in follow_events(self._store, run_id, after=after):
                watch(event.progress)

        watching = asyncio.create_task(pass_on())
        try:
            alone = 0
            while not (await asyncio.wait([watching], timeout=LOOK_SECONDS))[0]:
                if run_id in self._broken_off and (await self._store.runs.get(run_id)).status == "running":
                    raise self._broken_off[run_id]
                # Counted over several looks: between two owners a run has none for a moment.
                alone = alone + 1 if await self._is_left(run_id) else 0
                if alone * LOOK_SECONDS > GONE_AFTER_SECONDS:
                    raise RunError(
                        f"No process works on run {run_id} any more.",
                        kept="What was found is kept.",
                        advice=f"Start a worker: tablewright worker. Or resume it: `tablewright runs resume {run_id}`.",
                    )
            await watching
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _is_left(self, run_id: str) -> bool:
        run = await self._store.runs.get(run_id)
        if run_id in self._handed_over or run.owner.startswith(QUEUE_OWNER_PREFIX):
            return not any(worker.serves for worker in await self.workers())
        return await self.is_interrupted(run)

    async def cancel(self, run_id: str) -> None:
        """Stop a run within a second, and keep what was found. Unresponsive processes are not awaited."""
        await self._request_stop(run_id, pause=False)

    async def pause(self, run_id: str) -> None:
        """Stop a run like `cancel`, but leave it paused: it is to be resumed."""
        await self._request_stop(run_id, pause=True)

    async def _request_stop(self, run_id: str, *, pause: bool) -> None:
        run = await self._store.runs.get(run_id)
        interrupted = await self.is_interrupted(run)
        # Its process sends no heartbeat and looks for no request to stop.
        if run.status == "running" and run.owner.endswith(UNREGISTERED_SUFFIX) and not interrupted:
            raise UsageError(
                f"Run {run_id} is part of a run or a question of process {run.owner}, and stops only with it.",
                advice="`tablewright runs list` shows what runs.",
            )
        await self._store.runs.ask_to_stop(run_id, pause=pause)
        # No process is left that could see the request, so it is ended here.
        if interrupted:
            await (await self._open_executor()).end_as(run.owner, run_id)
        else:
            self._in_background(self._end_late(run_id), self._ending)

    async def _end_late(self, run_id: str) -> None:
        await asyncio.sleep(GRACE_SECONDS)
        # With its patience, if the database is away.
        run = await (self._of_all or self)._store.runs.get(run_id)
        if run.status == "running" and run.stopping and not run.is_held:
            await (await self._open_executor()).end_now(run_id)

    def stop(self) -> None:
        """Stop what this process does or waits for; what was found is kept."""
        if self._known is not None:
            self._known.stop_all()
        for awaited in self._awaited:
            awaited.is_stopped = True
            if awaited.run_id:
                self._in_background(self._ask_to_stop(awaited.run_id), self._ending)

    async def _ask_to_stop(self, run_id: str) -> None:
        # It has ended by itself.
        with suppress(TablewrightError):
            await self.cancel(run_id)

    async def result(self, run_id: str) -> RunResult:
        """Return the result of an `enrich` run that has ended."""
        await self._store.runs.get(run_id)
        return await (await self._open_executor()).outcome(run_id)

    async def workers(self) -> list[Worker]:
        """Return the processes that are at work."""
        # A long-lived process has listened for a while and can judge silence; a command has just come and trusts what
        # is recorded.
        if self._executor is not None and self.serves_others:
            return await self._executor.heartbeat.alive()
        return [worker for worker in await self._store.workers.all() if is_worker_alive(worker)]

    async def depth(self) -> int:
        """Count the waiting and running runs of all processes."""
        # The limit is for the memory: a queue that long needs no exact length.
        return len(await self._store.runs.all(status="running", limit=10_000))

    async def work(self, stop: asyncio.Event, *, kind: WorkerKind = "worker") -> None:
        """Work on queued runs, together with all other workers, until `stop` is set."""
        from tablewright.engine.runs.worker import run_worker_loop

        everywhere = self._toolboxes.settings.slices_everywhere
        await run_worker_loop(
            self._store, await self._open_executor(), self._queue, stop, kind=kind, everywhere=everywhere
        )

    async def schedule(self, table_id: str, routine: Routine, every: str, spec: dict[str, Any]) -> Schedule:
        """Schedule a routine of a table; a worker runs it when it is time."""
        return await self._schedules.put(table_id, routine, every, spec)

    async def schedules(self, table_id: str = "") -> list[Schedule]:
        """Return the schedules of a table, or all. One is paused if its author may no longer run it."""
        found = await self._schedules.all(table_id)
        return [
            msgspec.structs.replace(each, paused=explain_paused_schedule(lost) if lost else "")
            for each in found
            for lost in [await self._store.users.lost_authority(each.person, each.table_id)]
        ]

    async def unschedule(self, table_id: str) -> int:
        """Remove the schedules of a table, and return how many there were."""
        return await self._schedules.remove(table_id)

    @property
    def _schedules(self) -> Schedules:
        from tablewright.engine.runs.schedules import Schedules

        return Schedules(self._queue, self._store.database.patience)

    @property
    def _queue(self) -> str:
        """Return the address of the queue's database. A file is made private before DBOS creates it."""
        if not self._toolboxes.settings.database_url:
            # DBOS would create it readable for all.
            make_private_file(self._toolboxes.settings.home_folder / JOBS_FILE)
        return self._toolboxes.settings.jobs_database

    async def open_run(self, recorded: Mapping[str, str], stack: AsyncExitStack, person: str = "") -> RunTools:
        """Open the tools of a run: with its recorded settings, the documents its user sees, and this process's keys."""
        from tablewright.engine.runs.executor import RunTools
        from tablewright.strategies.toolbox import Toolbox

        usual = self._toolboxes.settings
        settings = usual.with_shared(recorded)
        # Open tools are shared only within a command: elsewhere each run has its own budget, and the documents that its
        # user sees.
        own = settings == usual and not self.serves_others and not person
        toolbox = self._toolboxes.usual if own else Toolbox(settings, self._store, stack)
        seen = None
        if person:
            owner = await self._store.users.by_id(person)
            seen = self._store.seen_by(ActingUser(person=owner, actor=owner.name, door="worker"))
        return RunTools(
            open=partial(toolbox.open, seen=seen),
            policy=RunPolicy.from_settings(settings),
            budget=toolbox.budget,
            most_calls=settings.model_concurrency,
        )

    @property
    def serves_others(self) -> bool:
        """Return True if this process works on runs of others too, each with its own tools."""
        return self._known is not None and self._known.heartbeat.kind != "command"

    @property
    def _known(self) -> RunExecutor | None:
        return (self._of_all or self)._executor

    async def _open_executor(self) -> RunExecutor:
        if self._of_all is not None:
            return await self._of_all._open_executor()
        # Else two concurrent starts would make two, each with a heartbeat.
        async with self._making_executor:
            if self._executor is None:
                from tablewright.engine.runs.executor import RunExecutor

                kinds = dict.fromkeys(RUN_KINDS, self._do)
                executor = RunExecutor(self._store, self.open_run, kinds)
                self._executor = await self._stack.enter_async_context(executor)
        return self._executor

    async def _do(self, context: RunContext) -> Any:
        async with self._services_for(context.run) as services:
            return await RUN_KINDS[context.run.kind].function(services, context)

    async def _submit(self, run_id: str, instead_of: str) -> bool:
        # Without a worker a queued run would wait; it is done here instead.
        if not any(worker.serves for worker in await self.workers()):
            return False
        from tablewright.engine.runs.queue import submit_run

        await submit_run(self._queue, run_id, instead_of)
        return True

    async def _up_to_date(self, run: Run) -> Run:
        if run.status != "running" or run.kind != "enrich":
            return run
        return msgspec.structs.replace(run, usage=await self._store.slices.usage(run.id))


async def follow_events(store: Store, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
    """Yield the events of a run after number `after`, until it ends."""
    while True:
        run = await store.runs.get(run_id)
        # The status was read before the events: if it says that the run has ended, all events are there.
        while events := await store.feed.read(run_id, after=after):
            for event in events:
                yield event
                after = event.number
            # A page that is not full is the last one for now.
            if len(events) < MAX_EVENTS_READ:
                break
        if run.status != "running":
            return
        # Longer: people see news later; shorter: each watcher costs the database more queries.
        await asyncio.sleep(0.2)
