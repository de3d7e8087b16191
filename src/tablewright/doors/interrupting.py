"""The event loop of a command or of a call of the library: Ctrl-C is felt at once, and name lookups have threads of
their own."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tablewright.threads import separate_lookups


class Impatient(ThreadPoolExecutor):
    """Its threads load models, read pages and call functions of users, which nobody needs any more once the loop ends:
    it does not wait."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


def prepare_loop() -> None:
    """For a loop that is ours alone, before anything else runs in it."""
    asyncio.get_running_loop().set_default_executor(Impatient())
    separate_lookups()


@contextmanager
def interruptible() -> Iterator[None]:
    """asyncio makes the first Ctrl-C a cancellation at the next await, which whoever blocks the loop never reaches."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def on_interrupt(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` on Ctrl-C, where the work ends by itself, instead of cancelling what the loop runs."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
