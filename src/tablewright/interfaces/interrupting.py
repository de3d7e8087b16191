"""Prepare the event loop of a command or a library call: Ctrl-C ends it at once, and name lookups have threads of their
own."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tablewright.threads import use_own_lookup_threads


class UnawaitedExecutor(ThreadPoolExecutor):
    """A pool that does not wait for its threads. They load models, read pages and call functions of users, which is of
    no use once the loop ends."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


def prepare_loop() -> None:
    """Prepare a loop that is ours alone, before anything else runs in it."""
    asyncio.get_running_loop().set_default_executor(UnawaitedExecutor())
    use_own_lookup_threads()


@contextmanager
def restore_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt at once. asyncio would turn it into a cancellation at the next await, which
    code that blocks the loop never reaches."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def call_on_interrupt(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` on Ctrl-C instead of cancelling what the loop runs, for work that then ends by itself."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
