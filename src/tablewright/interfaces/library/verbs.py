"""The verbs as plain functions. If an event loop is already running, as in a notebook, the work is done in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from tablewright.interfaces.interrupting import prepare_loop, restore_interrupt
from tablewright.interfaces.library import aio

Params = ParamSpec("Params")
ResultT = TypeVar("ResultT")


def make_sync(verb: Callable[Params, Coroutine[Any, Any, ResultT]]) -> Callable[Params, ResultT]:
    @wraps(verb)
    def call(*args: Params.args, **kwargs: Params.kwargs) -> ResultT:
        work = verb(*args, **kwargs)
        # Run outside of any `except`: an error of the work must not be shown as one that came while handling another.
        return run_in_thread(work) if is_loop_running() else asyncio.run(run_impatiently(work))

    return call


async def run_impatiently(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    prepare_loop()
    return await work


def is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_in_thread(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run the work in a thread. An interrupted caller cancels it, and waits until it has ended."""
    runner = asyncio.Runner()
    ended = threading.Event()  # `Thread.join` returns at once when it is called again after an interruption
    done: list[ResultT | BaseException] = []
    task: list[asyncio.Task[ResultT]] = []

    async def watched() -> ResultT:
        task.append(asyncio.ensure_future(run_impatiently(work)))
        return await task[0]

    def run() -> None:
        with runner:
            try:
                done.append(runner.run(watched()))
            except BaseException as error:  # handed to the waiting caller
                done.append(error)
        ended.set()

    thread = threading.Thread(target=run, name="tablewright", daemon=True)
    try:
        thread.start()
        with restore_interrupt():
            ended.wait()
    except BaseException:
        if task:
            task[0].get_loop().call_soon_threadsafe(task[0].cancel)
        if thread.is_alive():
            ended.wait()
        raise
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


ask = make_sync(aio.ask)
enrich = make_sync(aio.enrich)
extract = make_sync(aio.extract)
find = make_sync(aio.find)
research = make_sync(aio.research)
transform = make_sync(aio.transform)
