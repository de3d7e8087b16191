"""The verbs as plain functions. They also work where an event loop runs already, as in a notebook: then the work is
done in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from tablewright.doors.interrupting import interruptible, prepare_loop
from tablewright.doors.library import aio

P = ParamSpec("P")
T = TypeVar("T")


def waiting(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(verb)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        work = verb(*args, **kwargs)
        # Run outside of any `except`: an error of the work must not be shown as one that came while handling another.
        return in_a_thread(work) if is_loop_running() else asyncio.run(impatient(work))

    return call


async def impatient(work: Coroutine[Any, Any, T]) -> T:
    prepare_loop()
    return await work


def is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Whoever breaks off the wait stops the work, and waits until it has ended."""
    runner = asyncio.Runner()
    ended = threading.Event()  # `Thread.join` returns at once when it is called again after an interruption
    done: list[T | BaseException] = []
    task: list[asyncio.Task[T]] = []

    async def watched() -> T:
        task.append(asyncio.ensure_future(impatient(work)))
        return await task[0]

    def run() -> None:
        with runner:
            try:
                done.append(runner.run(watched()))
            except BaseException as error:  # handed to whoever waits, whatever it is
                done.append(error)
        ended.set()

    thread = threading.Thread(target=run, name="tablewright", daemon=True)
    try:
        thread.start()
        with interruptible():
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


ask = waiting(aio.ask)
enrich = waiting(aio.enrich)
extract = waiting(aio.extract)
find = waiting(aio.find)
research = waiting(aio.research)
transform = waiting(aio.transform)
