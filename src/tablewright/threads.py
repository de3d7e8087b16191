"""Threads for what blocks, a bounded pool for each kind, so that none waits for another.

asyncio has one pool for everything, of as few as five threads: name lookups that hang on an unresponsive name server,
or functions of others that wait for the network, would take all of them. That pool is left to files and computing here.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

P = ParamSpec("P")
T = TypeVar("T")

Addresses: TypeAlias = list[Any]
"""What `socket.getaddrinfo` returns."""

LOOKUP_THREADS = 32
"""Lookups under way at once, each of another name: a thread cannot be stopped, and the system may try for half a
minute."""
LOOKUP_SECONDS = 5.0
"""For which a lookup is awaited: as long as the system waits for the first answer of a name server."""
LOOKUP_KEPT_SECONDS = 30.0
"""For which an answer counts as new. Names of services that fail over are changed no faster."""
LOOKUPS_KEPT = 2_000
MODEL_THREADS = 4
"""Loading a model, and embedding, take whole cores; more at once would only make each slower."""
FOREIGN_THREADS = 16
"""For functions of search packages and strategies, which mostly wait for the network."""

_models = ThreadPoolExecutor(MODEL_THREADS, thread_name_prefix="models")
_foreign = ThreadPoolExecutor(FOREIGN_THREADS, thread_name_prefix="foreign")


async def run_model(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what loads or asks a model on this machine."""
    return await run_in(_models, partial(function, *args, **kwargs))


async def run_foreign(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function of another package or of the user, which may take any time."""
    return await run_in(_foreign, partial(function, *args, **kwargs))


async def run_in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, work)


class KeptAddresses(NamedTuple):
    found: Addresses
    at: float


class NameLookups:
    """Look up host names, each name once at a time, in threads that nothing else needs. What does not answer within the
    deadline fails, unless an older answer is known."""

    def __init__(
        self,
        seconds: float = LOOKUP_SECONDS,
        *,
        threads: int = LOOKUP_THREADS,
        kept_seconds: float = LOOKUP_KEPT_SECONDS,
    ) -> None:
        self._seconds = seconds
        self._kept_seconds = kept_seconds
        self._free = asyncio.Semaphore(threads)
        self._under_way: dict[tuple[Any, ...], asyncio.Task[Addresses]] = {}
        self._kept: OrderedDict[tuple[Any, ...], KeptAddresses] = OrderedDict()

    async def look_up(
        self,
        host: str | bytes | None,
        port: str | int | None,
        *,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> Addresses:
        """Return what `socket.getaddrinfo` does, and raise what it raises."""
        wanted = (host, port, family, type, proto, flags)
        if is_literal(host):
            return socket.getaddrinfo(*wanted)
        kept = self._kept.get(wanted)
        if kept and time.monotonic() - kept.at < self._kept_seconds:
            return kept.found
        task = self._under_way.get(wanted)
        if task is None:
            task = self._under_way[wanted] = asyncio.create_task(self._ask(wanted))
            task.add_done_callback(partial(self._end, wanted))
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.shield(task)
        except TimeoutError:
            if kept:
                return kept.found
            problem = f"the name server did not answer in {self._seconds:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, problem) from None

    async def _ask(self, wanted: tuple[Any, ...]) -> Addresses:
        """Outlives its deadline: the thread counts until it ends."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()

        def ask() -> None:
            try:
                found, problem = socket.getaddrinfo(*wanted), None
            except Exception as error:  # handed to the one who asked
                found, problem = [], error
            try:
                loop.call_soon_threadsafe(tell, answer, found, problem)
            except RuntimeError:  # the loop is closed by now
                return

        async with asyncio.timeout(self._seconds):
            await self._free.acquire()
        try:
            # A daemon, so that a process that ends does not wait for a name server.
            threading.Thread(target=ask, name="look up", daemon=True).start()
            return await answer
        finally:
            self._free.release()

    def _end(self, wanted: tuple[Any, ...], task: asyncio.Task[Addresses]) -> None:
        del self._under_way[wanted]
        if task.cancelled() or task.exception() is not None:
            return
        self._kept[wanted] = KeptAddresses(task.result(), time.monotonic())
        self._kept.move_to_end(wanted)
        if len(self._kept) > LOOKUPS_KEPT:
            self._kept.popitem(last=False)


def tell(answer: asyncio.Future[Addresses], found: Addresses, problem: Exception | None) -> None:
    if answer.done():
        return
    if problem is None:
        answer.set_result(found)
    else:
        answer.set_exception(problem)


def is_literal(host: str | bytes | None) -> bool:
    """An address, or no host at all: nobody need be asked."""
    try:
        return host is None or bool(ip_address(host.decode() if isinstance(host, bytes) else host.partition("%")[0]))
    except ValueError:
        return False


_lookups: WeakKeyDictionary[asyncio.AbstractEventLoop, NameLookups] = WeakKeyDictionary()


def name_lookups() -> NameLookups:
    """Those of the running loop."""
    return _lookups.setdefault(asyncio.get_running_loop(), NameLookups())


def separate_lookups() -> None:
    """From now on all that looks names up in the running loop, whatever its library, does so in threads of its own."""
    asyncio.get_running_loop().getaddrinfo = name_lookups().look_up  # type: ignore[assignment]
