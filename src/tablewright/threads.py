"""Bounded thread pools for blocking work, one for each kind, so that none waits for another.

asyncio has one pool for everything, of as few as five threads: name lookups that hang on an unresponsive name server,
or functions of plugins that wait for the network, would take all of them. That pool is left to files and computing
here.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any, Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

Params = ParamSpec("Params")
Result = TypeVar("Result")

# What `socket.getaddrinfo` returns.
Addresses: TypeAlias = list[Any]


@dataclass(frozen=True)
class ThreadLimits:
    # Concurrent lookups of different names: a thread cannot be stopped, and the system may try for half a minute.
    lookups: int = 32
    # As long as the system waits for the first answer of a name server.
    lookup_seconds: float = 5.0
    # Names of services that fail over change no faster.
    lookup_kept_seconds: float = 30.0
    # Loading a model, and embedding, take whole cores; more at once would only make each slower.
    models: int = 4
    # For functions of search packages and strategies, which mostly wait for the network.
    foreign: int = 16


THREAD_LIMITS = ThreadLimits()
_models = ThreadPoolExecutor(THREAD_LIMITS.models, thread_name_prefix="models")
_foreign = ThreadPoolExecutor(THREAD_LIMITS.foreign, thread_name_prefix="foreign")


async def run_in_model_thread(
    function: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Run a function that loads or asks a model on this machine."""
    return await run_in_pool(_models, partial(function, *args, **kwargs))


async def run_in_foreign_thread(
    function: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Run a function of another package or of the user, which may take any time."""
    return await run_in_pool(_foreign, partial(function, *args, **kwargs))


async def run_in_pool(pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
    # The context says which run and which budget the work belongs to.
    return await asyncio.get_running_loop().run_in_executor(pool, copy_context().run, work)


class SingleFlight(Generic[Result]):
    """Share one request among all callers that need the same at the same time."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[Result]] = {}

    def join(self, name: Hashable) -> asyncio.Future[Result] | None:
        """Return the result of the request in progress, or None. A cancelled caller does not cancel it for others."""
        task = self._waiting.get(name)
        return asyncio.shield(task) if task else None

    def start(self, name: Hashable, request: Coroutine[Any, Any, Result]) -> asyncio.Future[Result]:
        task = self._waiting[name] = asyncio.create_task(request)
        task.add_done_callback(lambda done: self._forget(name, done))
        return asyncio.shield(task)

    def _forget(self, name: Hashable, done: asyncio.Task[Result]) -> None:
        del self._waiting[name]
        if not done.cancelled():
            # Retrieved, so that asyncio does not warn if all callers were cancelled.
            done.exception()

    async def close(self) -> None:
        """Cancel the requests in progress."""
        waiting = list(self._waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


class CachedAddresses(NamedTuple):
    found: Addresses
    at: float


class NameLookups:
    """Look up host names, each name once at a time, in threads of their own. A lookup that misses the deadline fails,
    unless an older answer is known."""

    def __init__(
        self,
        seconds: float = THREAD_LIMITS.lookup_seconds,
        *,
        threads: int = THREAD_LIMITS.lookups,
        kept_seconds: float = THREAD_LIMITS.lookup_kept_seconds,
    ) -> None:
        self._seconds = seconds
        self._kept_seconds = kept_seconds
        self._free = asyncio.Semaphore(threads)
        self._asking: SingleFlight[Addresses] = SingleFlight()
        self._kept: OrderedDict[tuple[Any, ...], CachedAddresses] = OrderedDict()

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
        """Return what `socket.getaddrinfo` returns, and raise what it raises."""
        wanted = (host, port, family, type, proto, flags)
        # Answered at once: it must not wait for a free thread.
        if needs_no_lookup(host):
            return socket.getaddrinfo(*wanted)
        kept = self._kept.get(wanted)
        if kept and time.monotonic() - kept.at < self._kept_seconds:
            return kept.found
        try:
            async with asyncio.timeout(self._seconds):
                # Several callers may wait for it, each with a deadline of its own.
                return await (self._asking.join(wanted) or self._asking.start(wanted, self._ask(wanted)))
        except TimeoutError:
            if kept:
                return kept.found
            problem = f"the name server did not answer in {self._seconds:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, problem) from None

    async def _ask(self, wanted: tuple[Any, ...]) -> Addresses:
        """Look a name up. It outlives its deadline: its thread counts until it ends."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()

        def ask() -> None:
            try:
                found, problem = socket.getaddrinfo(*wanted), None
            except Exception as error:
                # Passed on to the caller.
                found, problem = [], error
            try:
                # The lookup may end long after its caller has given up.
                loop.call_soon_threadsafe(resolve_future, answer, found, problem)
            except RuntimeError:
                # The loop is closed by now.
                return

        async with asyncio.timeout(self._seconds):
            await self._free.acquire()
        try:
            # A daemon, so that a process that ends does not wait for a name server.
            threading.Thread(target=ask, name="look up", daemon=True).start()
            addresses = await answer
        finally:
            self._free.release()
        self._kept[wanted] = CachedAddresses(addresses, time.monotonic())
        self._kept.move_to_end(wanted)
        # More hosts than a run visits in the time that answers are kept.
        if len(self._kept) > 2_000:
            self._kept.popitem(last=False)
        return addresses


def resolve_future(answer: asyncio.Future[Addresses], found: Addresses, problem: Exception | None) -> None:
    if answer.done():
        return
    if problem is None:
        answer.set_result(found)
    else:
        answer.set_exception(problem)


def needs_no_lookup(host: str | bytes | None) -> bool:
    """Return True for an address or for no host: neither needs a lookup."""
    try:
        return host is None or bool(ip_address(host.decode() if isinstance(host, bytes) else host.partition("%")[0]))
    except ValueError:
        return False


# Tasks and semaphores belong to one loop; tests and the library make several.
_lookups: WeakKeyDictionary[asyncio.AbstractEventLoop, NameLookups] = WeakKeyDictionary()


def name_lookups() -> NameLookups:
    """Return the lookups of the running loop."""
    return _lookups.setdefault(asyncio.get_running_loop(), NameLookups())


def use_own_lookup_threads() -> None:
    """Make every name lookup in the running loop, of any library, use threads of its own."""
    asyncio.get_running_loop().getaddrinfo = name_lookups().look_up  # type: ignore[assignment]
