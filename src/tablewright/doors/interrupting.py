"""Ctrl-C, felt at once by whoever waits."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


class Impatient(ThreadPoolExecutor):
    """Its threads load models, read pages and call functions of users, which nobody needs any more once the loop ends:
    it does not wait."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


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
