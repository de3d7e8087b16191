"""The queue that workers share, on DBOS: it distributes slices over any number of processes and machines.

A run is a workflow that hands out its slices as workflows, and ends when all are done. Our own tables have what is done
of a slice, so a workflow that starts again, here or in another worker, does only the rest.

DBOS runs workflows in threads and has one instance per process; our tools live in one event loop. So each workflow asks
the executor, in its loop, and waits.

A database that is away ends nothing: DBOS waits for it (`queue_database`), and so does each workflow. What it could not
write all the same is found and restarted by a worker (`worker`).
"""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from datetime import datetime
from typing import Any, NoReturn, TypeAlias, TypeVar

import msgspec
from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from dbos._dbos import _get_dbos_instance
from dbos._utils import INTERNAL_QUEUE_NAME
from sqlalchemy import Engine

from tablewright.errors import DiskFull, RunError, TablewrightError, Unreachable
from tablewright.jobs.executor import STOPPED, Halt, RunExecutor
from tablewright.jobs.queue_database import JSON, NAME, queue_client, queue_engine
from tablewright.store.records import new_id
from tablewright.store.workers import QUEUED

log = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = "3"
"""The version of the workflows below; processes of different versions do not touch each other's."""
OLDER = ["1", "2"]
"""Versions whose workflows are not read: pickled ones, and those whose slices returned text."""
RUNS = "runs"
SCHEDULED = "scheduled"
SLICES = "slices"
POLL, POLL_RUNS = 0.2, 0.5
"""Seconds between two looks at the queue; they cost an idle worker a few percent of a core."""
AHEAD = 32
"""The most slices of a run that wait for a worker, so that a stopped run leaves few behind."""
AT_ONCE = 3
"""Slices in one process."""
OVER = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
MOST_TRIES = 50
MOST_EVERYWHERE = 10_000
MOST_FORGOTTEN = 100
ABANDONED = 6.0
"""Seconds after which a workflow that is recorded as running in this process, and is not, starts again. They count only
while the heartbeat has no gap: a starved process may be about to start it."""

_executor: RunExecutor
_loop: asyncio.AbstractEventLoop
_engine: Engine | None
_left = threading.Event()
_missed: dict[str, float] = {}
"""By workflow recorded as running in this process: since when it was not found here."""


class Leaving(BaseException):
    """Ends a workflow in this process alone: DBOS records nothing but an `Exception`, so for all others it is still
    running, and another process takes it over."""


JsonHalt: TypeAlias = "dict[str, Any] | None"
"""A `Halt` as the queue keeps it."""


def to_json(halt: Halt | None) -> JsonHalt:
    found: JsonHalt = msgspec.to_builtins(halt)
    return found


def here(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do it in the executor's event loop, and again if the database was away for too long, or is full."""
    while True:
        try:
            return asyncio.run_coroutine_threadsafe(work(), _loop).result()
        except (DiskFull, Unreachable):
            if _left.wait(POLL):
                raise Leaving from None


@DBOS.workflow(name="run")
def run_workflow(run_id: str, instead_of: str) -> None:
    """Do a run that `instead_of` owned until now."""
    owner = f"{QUEUED}{DBOS.workflow_id}"
    kind = take(run_id, owner, instead_of)
    if kind == "enrich":
        halt: JsonHalt = None
        for round_no in range(MOST_TRIES):
            numbers = unfinished(run_id, owner)
            if not numbers or is_over(halt):
                break
            halt = hand_out(run_id, owner, round_no, numbers)
        end(run_id, owner, halt)
    elif kind:
        go_on(run_id, owner)


def is_over(halt: JsonHalt) -> bool:
    return halt is not None and halt["status"] != "stopped"


def hand_out(run_id: str, owner: str, round_no: int, numbers: list[int]) -> JsonHalt:
    """Return why one of the slices halted, if any did."""
    waiting: list[Any] = []
    halt: JsonHalt = None
    key = partition(run_id)
    for number in numbers:
        with SetWorkflowID(f"{DBOS.workflow_id}-{round_no}-{number}"), SetEnqueueOptions(queue_partition_key=key):
            waiting.append(DBOS.enqueue_workflow(SLICES, slice_workflow, run_id, number, owner))
        if len(waiting) >= AHEAD:
            halt = result_of(waiting.pop(0)) or halt
        if halt:
            break
    for handle in waiting:
        halt = result_of(handle) or halt
    return halt


def result_of(handle: Any) -> JsonHalt:
    """Return the result of a slice. A worker that is asked to end does not wait for it."""
    while not _left.is_set():
        # Outside the workflow's context, so that looking is not recorded as one of its steps.
        status = contextvars.Context().run(DBOS.get_workflow_status, handle.get_workflow_id())
        if status is not None and status.status in OVER:
            try:
                result: JsonHalt = handle.get_result()
                return result
            except Exception as error:  # the workflow failed, not the slice, which would say so
                log.warning("Workflow %s failed and is done again: %s", handle.get_workflow_id(), error)
                return to_json(STOPPED)
        _left.wait(POLL)
    raise Leaving


@DBOS.workflow(name="slice")
def slice_workflow(run_id: str, number: int, owner: str) -> JsonHalt:
    halt = here(lambda: _executor.fill_slice(run_id, number, owner))
    if _executor.draining and halt == STOPPED:
        wait_to_leave()
    return to_json(halt)


@DBOS.workflow(name=SCHEDULED)
def scheduled_workflow(at: datetime, context: dict[str, Any]) -> None:
    """Start a scheduled routine of a table if the last one is over. Remove the schedule if the table is gone."""
    run_id, owner = begin_routine(context)
    if run_id:
        enqueue(run_id, owner)
    elif run_id is None:
        DBOS.delete_schedule(f"{context['table_id']}/{context['routine']}")


@DBOS.step(name="begin routine")
def begin_routine(context: dict[str, Any]) -> tuple[str | None, str]:
    """Return the run, if any, and its owner until the workers take it."""
    routine = (context["table_id"], context["routine"], context["spec"])
    return here(lambda: _executor.begin_routine(*routine)), _executor.id


@DBOS.step(name="take")
def take(run_id: str, owner: str, instead_of: str) -> str:
    return here(lambda: _executor.ownership.take_for_all(run_id, owner, instead_of))


@DBOS.step(name="partition")
def partition(run_id: str) -> str:
    return here(lambda: _executor.model_of(run_id))


@DBOS.step(name="unfinished")
def unfinished(run_id: str, owner: str) -> list[int]:
    return here(lambda: _executor.unfinished(run_id, owner))


@DBOS.step(name="end")
def end(run_id: str, owner: str, halt: JsonHalt) -> None:
    here(lambda: _executor.end_as(owner, run_id, None if halt is None else msgspec.convert(halt, Halt)))


@DBOS.step(name="go on")
def go_on(run_id: str, owner: str) -> None:
    with suppress(TablewrightError):  # the run has recorded it
        here(lambda: _executor.go_on(run_id, owner))
    if _executor.draining:
        wait_to_leave()


def wait_to_leave() -> NoReturn:
    """Keep the workflow counted as running in this process, so that it takes no further ones."""
    _left.wait()
    raise Leaving


async def join(database: str, executor: RunExecutor, *, everywhere: int | None = None) -> None:
    """Join the queue. `everywhere` limits the slices that ask one model at once, over all processes."""
    global _executor, _loop, _engine
    _executor, _loop, _engine = executor, asyncio.get_running_loop(), queue_engine(database, _left)
    _left.clear()
    _missed.clear()
    await asyncio.to_thread(launch, database, _engine, executor.id, everywhere or MOST_EVERYWHERE)


def launch(database: str, engine: Engine | None, executor_id: str, everywhere: int) -> None:
    logging.getLogger("dbos").setLevel(logging.ERROR)
    DBOS(
        config={
            "name": NAME,
            "system_database_url": database,
            "system_database_engine": engine,
            "serializer": JSON,
            "application_version": VERSION,
            "executor_id": executor_id,
            "log_level": "ERROR",
            "notification_listener_polling_interval_sec": 0.2,
            "scheduler_polling_interval_sec": 5.0,
        }
    )
    DBOS.launch()
    DBOS.register_queue(RUNS, polling_interval_sec=POLL_RUNS)
    DBOS.register_queue(
        SLICES,
        worker_concurrency=AT_ONCE,
        partition_concurrency=everywhere,
        polling_interval_sec=POLL,
    )
    leave_out_older()


def leave_out_older() -> None:
    """Cancel what earlier versions queued. Its runs start again, like all whose workflow is over."""
    found = DBOS.list_workflows(app_version=OLDER, status=["ENQUEUED", "PENDING"], load_input=False, load_output=False)
    if found:
        DBOS.cancel_workflows([workflow.workflow_id for workflow in found])
    for schedule in DBOS.list_schedules():
        if not isinstance(schedule["context"], dict):
            name = schedule["schedule_name"]
            log.warning("Schedule %s is of an earlier version and was removed: set it again.", name)
            DBOS.delete_schedule(name)


def stop_waiting() -> None:
    """Stop waiting for a database that is away. What DBOS could not write is found and restarted later."""
    _left.set()
    _get_dbos_instance()._sys_db._retry_connection_errors = False


async def leave() -> None:
    stop_waiting()
    await asyncio.to_thread(DBOS.destroy)
    if _engine is not None:
        _engine.dispose()


def executors() -> set[str]:
    """Return the processes that workflows are recorded as running in."""
    pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    return {workflow.executor_id for workflow in pending if workflow.executor_id}


def take_over(gone: Collection[str], left: Collection[tuple[str, str]]) -> None:
    """Return the work of dead processes to the queue: workflows of workers, and the runs of commands in `left`, each
    with its owner."""
    if gone:
        DBOS._recover_pending_workflows(sorted(gone))
    for run_id, owner in left:
        enqueue(run_id, owner)


def begin_abandoned() -> None:
    """Restart workflows that this process took from the queue but did not start, or whose end it could not write,
    because the database went away at that moment."""
    dbos, now = _get_dbos_instance(), time.monotonic()
    here_now = set(dbos._active_workflows_set.activeList())
    pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    missed = {each.workflow_id for each in pending if each.executor_id == _executor.id} - here_now
    for workflow_id in _missed.keys() - missed:
        del _missed[workflow_id]
    for workflow_id in missed:
        if now - max(_missed.setdefault(workflow_id, now), _executor.ownership.heard_since) > ABANDONED:
            log.warning("Workflow %s was cut off and begins again.", workflow_id)
            dbos._sys_db.reenqueue_for_recovery(workflow_id, [_executor.id], INTERNAL_QUEUE_NAME)
            del _missed[workflow_id]


def enqueue(run_id: str, owner: str) -> None:
    """Queue a run; however many workers do so, it is queued once."""
    with SetWorkflowID(taking_over(run_id, owner)):
        DBOS.enqueue_workflow(RUNS, run_workflow, run_id, owner)


def taking_over(run_id: str, owner: str) -> str:
    """Return the id of the workflow that takes a run over from this owner."""
    return f"{run_id}-{hashlib.blake2s(owner.encode(), digest_size=6).hexdigest()}"


def begin_unended(queued: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Start a second workflow for each run whose workflow is over without having ended it. Return the runs whose second
    one is over too."""
    owners = [(run_id, workflow_id, f"{QUEUED}{workflow_id}") for run_id, workflow_id in queued]
    names = [name for run_id, workflow_id, owner in owners for name in (workflow_id, taking_over(run_id, owner))]
    found = DBOS.list_workflows(workflow_ids=names, load_input=False, load_output=False) if names else []
    over = {workflow.workflow_id: workflow.status in OVER for workflow in found}
    lost = []
    for run_id, workflow_id, owner in owners:
        if over.get(workflow_id, True):
            is_lost = over.get(taking_over(run_id, owner))
            if is_lost is None:
                log.warning("Run %s was interrupted and continues.", run_id)
                enqueue(run_id, owner)
            elif is_lost:
                lost.append((run_id, workflow_id))
    return lost


def forget(before: datetime) -> None:
    """Delete workflows that were over by then; slices only with their run, which may still ask for them."""
    for name, with_slices in (("run", True), (SCHEDULED, False)):
        found = DBOS.list_workflows(
            name=name,
            status=list(OVER),
            completed_before=before.isoformat(),
            limit=MOST_FORGOTTEN,
            load_input=False,
            load_output=False,
        )
        if found:
            DBOS.delete_workflows([workflow.workflow_id for workflow in found], delete_children=with_slices)


async def submit(database: str, run_id: str, instead_of: str) -> None:
    """Give a run to the workers, from any process. A run that is stopped and resumed is given to them again."""

    def work() -> None:
        with queue_client(database) as client:
            client.enqueue(
                {"workflow_name": "run", "queue_name": RUNS, "workflow_id": f"{run_id}-{new_id('w')}"},
                run_id,
                instead_of,
            )

    try:
        await asyncio.to_thread(work)
    except Exception as error:
        raise RunError(f"The queue of the workers cannot be reached: {error}.") from error
