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

from tablewright.engine.runs.executor import STOPPED, Halt, RunExecutor
from tablewright.engine.runs.queue_database import APPLICATION_NAME, QUEUE_JSON, queue_client, queue_engine
from tablewright.errors import DiskFull, RunError, TablewrightError, Unreachable
from tablewright.store.records import new_id
from tablewright.store.workers import QUEUE_OWNER_PREFIX

log = logging.getLogger(__name__)

T = TypeVar("T")

# The version of the workflows below; processes of different versions do not touch each other's.
WORKFLOW_VERSION = "3"
RUN_QUEUE = "runs"
SCHEDULED_WORKFLOW = "scheduled"
SLICE_QUEUE = "slices"
# Seconds between two looks at the queue; they cost an idle worker a few percent of a core.
POLL, POLL_RUNS = 0.2, 0.5
# Slices in one process.
MAX_SLICES_HERE = 3
FINISHED_STATUSES = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

_executor: RunExecutor
_loop: asyncio.AbstractEventLoop
_engine: Engine | None
_left = threading.Event()
# By workflow recorded as running in this process: since when it was not found here.
_missed: dict[str, float] = {}


class Leaving(BaseException):
    """Ends a workflow in this process alone: DBOS records nothing but an `Exception`, so for all others it is still
    running, and another process takes it over."""


# A `Halt` as the queue keeps it.
JsonHalt: TypeAlias = "dict[str, Any] | None"


def to_json(halt: Halt | None) -> JsonHalt:
    found: JsonHalt = msgspec.to_builtins(halt)
    return found


def run_in_executor_loop(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
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
    owner = f"{QUEUE_OWNER_PREFIX}{DBOS.workflow_id}"
    kind = take_run(run_id, owner, instead_of)
    if kind == "enrich":
        halt: JsonHalt = None
        # Two rounds do for rows that were left for later; more only after failures of workers. A bound, because a slice
        # that is never done would go round forever.
        for round_no in range(50):
            numbers = list_unfinished(run_id, owner)
            if not numbers or is_final_halt(halt):
                break
            halt = hand_out_slices(run_id, owner, round_no, numbers)
        end_run(run_id, owner, halt)
    elif kind:
        continue_run(run_id, owner)


def is_final_halt(halt: JsonHalt) -> bool:
    return halt is not None and halt["status"] != "stopped"


def hand_out_slices(run_id: str, owner: str, round_no: int, numbers: list[int]) -> JsonHalt:
    """Return why one of the slices halted, if any did."""
    waiting: list[Any] = []
    halt: JsonHalt = None
    key = find_partition(run_id)
    for number in numbers:
        # The same id when the workflow is replayed after a crash, so that a slice is queued once a round.
        with SetWorkflowID(f"{DBOS.workflow_id}-{round_no}-{number}"), SetEnqueueOptions(queue_partition_key=key):
            waiting.append(DBOS.enqueue_workflow(SLICE_QUEUE, slice_workflow, run_id, number, owner))
        # The most slices of a run that wait for a worker, so that a stopped run leaves few behind.
        if len(waiting) >= 32:
            # The oldest first: it is the one most likely to be done.
            halt = await_slice(waiting.pop(0)) or halt
        if halt:
            break
    for handle in waiting:
        halt = await_slice(handle) or halt
    return halt


def await_slice(handle: Any) -> JsonHalt:
    """Return the result of a slice. A worker that is asked to end does not wait for it."""
    while not _left.is_set():
        # Outside the workflow's context, so that looking is not recorded as one of its steps.
        status = contextvars.Context().run(DBOS.get_workflow_status, handle.get_workflow_id())
        if status is not None and status.status in FINISHED_STATUSES:
            try:
                result: JsonHalt = handle.get_result()
                return result
            except Exception as error:
                # The workflow failed, not the slice, which would say so.
                log.warning("Workflow %s failed and is done again: %s", handle.get_workflow_id(), error)
                return to_json(STOPPED)
        _left.wait(POLL)
    raise Leaving


@DBOS.workflow(name="slice")
def slice_workflow(run_id: str, number: int, owner: str) -> JsonHalt:
    halt = run_in_executor_loop(lambda: _executor.fill_slice(run_id, number, owner))
    if _executor.draining and halt == STOPPED:
        wait_to_leave()
    return to_json(halt)


@DBOS.workflow(name=SCHEDULED_WORKFLOW)
def scheduled_workflow(at: datetime, context: dict[str, Any]) -> None:
    """Start a scheduled routine of a table if the last one is over. Remove the schedule if the table is gone."""
    run_id, owner = begin_routine(context)
    if run_id:
        enqueue_run(run_id, owner)
    elif run_id is None:
        DBOS.delete_schedule(f"{context['table_id']}/{context['routine']}")


@DBOS.step(name="begin routine")
def begin_routine(context: dict[str, Any]) -> tuple[str | None, str]:
    """Return the run, if any, and its owner until the workers take it."""
    routine = (context["table_id"], context["routine"], context["spec"])
    return run_in_executor_loop(lambda: _executor.begin_routine(*routine)), _executor.id


@DBOS.step(name="take")
def take_run(run_id: str, owner: str, instead_of: str) -> str:
    return run_in_executor_loop(lambda: _executor.heartbeat.take_for_all(run_id, owner, instead_of))


@DBOS.step(name="partition")
def find_partition(run_id: str) -> str:
    return run_in_executor_loop(lambda: _executor.model_of(run_id))


@DBOS.step(name="unfinished")
def list_unfinished(run_id: str, owner: str) -> list[int]:
    return run_in_executor_loop(lambda: _executor.unfinished(run_id, owner))


@DBOS.step(name="end")
def end_run(run_id: str, owner: str, halt: JsonHalt) -> None:
    run_in_executor_loop(lambda: _executor.end_as(owner, run_id, None if halt is None else msgspec.convert(halt, Halt)))


@DBOS.step(name="go on")
def continue_run(run_id: str, owner: str) -> None:
    # The run has recorded it.
    with suppress(TablewrightError):
        run_in_executor_loop(lambda: _executor.go_on(run_id, owner))
    if _executor.draining:
        wait_to_leave()


def wait_to_leave() -> NoReturn:
    """Keep the workflow counted as running in this process, so that it takes no further ones."""
    _left.wait()
    raise Leaving


async def join_queue(database: str, executor: RunExecutor, *, everywhere: int | None = None) -> None:
    """Join the queue. `everywhere` limits the slices that ask one model at once, over all processes."""
    global _executor, _loop, _engine
    _executor, _loop, _engine = executor, asyncio.get_running_loop(), queue_engine(database, _left)
    _left.clear()
    _missed.clear()
    # DBOS takes a number where there is no limit, so it gets one that is never reached. It blocks, hence the thread.
    await asyncio.to_thread(launch_dbos, database, _engine, executor.id, everywhere or 10_000)


def launch_dbos(database: str, engine: Engine | None, executor_id: str, everywhere: int) -> None:
    # Errors only: what a person should know of a run is logged here and by the executor.
    logging.getLogger("dbos").setLevel(logging.ERROR)
    DBOS(
        config={
            "name": APPLICATION_NAME,
            "system_database_url": database,
            "system_database_engine": engine,
            "serializer": QUEUE_JSON,
            "application_version": WORKFLOW_VERSION,
            "executor_id": executor_id,
            "log_level": "ERROR",
            "notification_listener_polling_interval_sec": 0.2,
            # Schedules are by the minute at the finest.
            "scheduler_polling_interval_sec": 5.0,
        }
    )
    DBOS.launch()
    DBOS.register_queue(RUN_QUEUE, polling_interval_sec=POLL_RUNS)
    DBOS.register_queue(
        SLICE_QUEUE,
        worker_concurrency=MAX_SLICES_HERE,
        partition_concurrency=everywhere,
        polling_interval_sec=POLL,
    )
    cancel_older_workflows()


def cancel_older_workflows() -> None:
    """Cancel what earlier versions queued. Its runs start again, like all whose workflow is over."""
    found = DBOS.list_workflows(
        # Versions whose workflows are not read: pickled ones, and those whose slices returned text.
        app_version=["1", "2"],
        status=["ENQUEUED", "PENDING"],
        load_input=False,
        load_output=False,
    )
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
    # It has no public switch for this; a process that leaves would wait for its database instead.
    _get_dbos_instance()._sys_db._retry_connection_errors = False


async def leave_queue() -> None:
    stop_waiting()
    await asyncio.to_thread(DBOS.destroy)
    if _engine is not None:
        _engine.dispose()


def list_executors() -> set[str]:
    """Return the processes that workflows are recorded as running in."""
    pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    return {workflow.executor_id for workflow in pending if workflow.executor_id}


def take_over(gone: Collection[str], left: Collection[tuple[str, str]]) -> None:
    """Return the work of dead processes to the queue: workflows of workers, and the runs of commands in `left`, each
    with its owner."""
    if gone:
        # DBOS recovers only the workflows of its own process unless it is given others.
        DBOS._recover_pending_workflows(sorted(gone))
    for run_id, owner in left:
        enqueue_run(run_id, owner)


def restart_abandoned() -> None:
    """Restart workflows that this process took from the queue but did not start, or whose end it could not write,
    because the database went away at that moment."""
    dbos, now = _get_dbos_instance(), time.monotonic()
    here_now = set(dbos._active_workflows_set.activeList())
    pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    # Recorded as running in this process, and not among what it runs.
    missed = {each.workflow_id for each in pending if each.executor_id == _executor.id} - here_now
    for workflow_id in _missed.keys() - missed:
        del _missed[workflow_id]
    for workflow_id in missed:
        # Seconds after which a workflow that is recorded as running in this process, and is not, starts again. They
        # count only while the heartbeat has no gap: a starved process may be about to start it.
        if now - max(_missed.setdefault(workflow_id, now), _executor.heartbeat.heard_since) > 6.0:
            log.warning("Workflow %s was cut off and begins again.", workflow_id)
            dbos._sys_db.reenqueue_for_recovery(workflow_id, [_executor.id], INTERNAL_QUEUE_NAME)
            del _missed[workflow_id]


def enqueue_run(run_id: str, owner: str) -> None:
    """Queue a run; however many workers do so, it is queued once."""
    with SetWorkflowID(takeover_id(run_id, owner)):
        DBOS.enqueue_workflow(RUN_QUEUE, run_workflow, run_id, owner)


def takeover_id(run_id: str, owner: str) -> str:
    """Return the id of the workflow that takes a run over from this owner."""
    return f"{run_id}-{hashlib.blake2s(owner.encode(), digest_size=6).hexdigest()}"


def restart_unended(queued: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Start a second workflow for each run whose workflow is over without having ended it. Return the runs whose second
    one is over too."""
    owners = [(run_id, workflow_id, f"{QUEUE_OWNER_PREFIX}{workflow_id}") for run_id, workflow_id in queued]
    names = [name for run_id, workflow_id, owner in owners for name in (workflow_id, takeover_id(run_id, owner))]
    found = DBOS.list_workflows(workflow_ids=names, load_input=False, load_output=False) if names else []
    over = {workflow.workflow_id: workflow.status in FINISHED_STATUSES for workflow in found}
    lost = []
    for run_id, workflow_id, owner in owners:
        # A workflow that is not found was deleted long after its end.
        if over.get(workflow_id, True):
            is_lost = over.get(takeover_id(run_id, owner))
            if is_lost is None:
                log.warning("Run %s was interrupted and continues.", run_id)
                enqueue_run(run_id, owner)
            elif is_lost:
                lost.append((run_id, workflow_id))
    return lost


def delete_finished_workflows(before: datetime) -> None:
    """Delete workflows that were over by then; slices only with their run, which may still ask for them."""
    for name, with_slices in (("run", True), (SCHEDULED_WORKFLOW, False)):
        found = DBOS.list_workflows(
            name=name,
            status=list(FINISHED_STATUSES),
            completed_before=before.isoformat(),
            # Each takes its slices with it; the rest is deleted the next time.
            limit=100,
            load_input=False,
            load_output=False,
        )
        if found:
            DBOS.delete_workflows([workflow.workflow_id for workflow in found], delete_children=with_slices)


async def submit_run(database: str, run_id: str, instead_of: str) -> None:
    """Give a run to the workers, from any process. A run that is stopped and resumed is given to them again."""

    def work() -> None:
        with queue_client(database) as client:
            client.enqueue(
                # A new id each time: a resumed run is a new workflow, not the end of the old one.
                {"workflow_name": "run", "queue_name": RUN_QUEUE, "workflow_id": f"{run_id}-{new_id('w')}"},
                run_id,
                instead_of,
            )

    try:
        await asyncio.to_thread(work)
    except Exception as error:
        raise RunError(f"The queue of the workers cannot be reached: {error}.") from error
