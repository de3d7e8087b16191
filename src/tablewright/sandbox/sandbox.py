"""Run functions on untrusted bytes, in worker processes with limits of time and memory.

A file that crashes its reader, hangs it or fills its memory affects only itself: the worker ends, the caller gets an
error that names the file, and the next call gets a new worker.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar, get_type_hints

import msgspec

from tablewright import errors
from tablewright.errors import RunError, TablewrightError, Unreadable
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits, SandboxWording
from tablewright.sandbox.worker import (
    MESSAGE_LENGTH,
    OUT_OF_MEMORY_EXIT_CODE,
    SandboxCall,
    SandboxOutcome,
    qualified_function_name,
)

DEFAULT_LIMITS = SandboxLimits()
READING = SandboxWording()

# Calls of one kind of work at once in this process, over all sandboxes, because each needs memory of its own: when many
# people upload large files, they wait for each other. One person never takes the last place.
MAX_CALLS_AT_ONCE = max(4, os.cpu_count() or 1)

Result = TypeVar("Result")


class _WorkLimiter:
    """Counts the calls in progress in this process, across event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[tuple[str, str]] = Counter()

    @asynccontextmanager
    async def turn(self, work: str, person: str) -> AsyncIterator[None]:
        while not self._take(work, person):  # noqa: ASYNC110  # an asyncio event would belong to one loop; there may be several
            # Shorter: a waiting call costs more of a core; longer: free places stay unused.
            await asyncio.sleep(0.02)
        try:
            yield
        finally:
            with self._lock:
                self._taken.subtract({(work, ""), (work, person)})

    def _take(self, work: str, person: str) -> bool:
        with self._lock:
            free = self._taken[work, ""] < MAX_CALLS_AT_ONCE and (
                not person or self._taken[work, person] < max(1, MAX_CALLS_AT_ONCE - 1)
            )
            if free:
                self._taken.update({(work, ""), (work, person)})
            return free


_limiter = _WorkLimiter()


class Sandbox:
    """At most `workers` processes, started on demand and kept until `close`. Cancelling a call ends its process at
    once. `person` is the user whose work it is, if several people share this process."""

    def __init__(self, limits: SandboxLimits = DEFAULT_LIMITS, *, workers: int = 0, person: str = "") -> None:
        self._limits = limits
        self._person = person
        self._idle: list[_Worker] = []
        self._places = asyncio.Semaphore(workers or os.cpu_count() or 1)

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().end()

    async def run(
        self,
        about: str,
        function: Callable[..., Result],
        *args: Any,
        raising: type[TablewrightError] = Unreadable,
        wording: SandboxWording = READING,
    ) -> Result:
        """Return what the function returns for these arguments. It must be a function of a module, with type hints for
        its arguments and its result. Errors that it raises on purpose are raised here too; if its process is lost, an
        error of the class `raising` says so of `about`, in the words of `wording`."""
        async with self._places, _limiter.turn(qualified_function_name(function), self._person):
            worker = (
                self._idle.pop() if self._idle else await _Worker.start(self._limits, qualified_function_name(function))
            )
            try:
                outcome = await worker.call(about, qualified_function_name(function), args, raising, wording)
            finally:
                # A lost worker may still be busy with the call that was given up.
                # After a thousand calls a new worker replaces it, which limits the damage of memory leaks in libraries.
                if worker.is_lost or worker.calls >= 1_000:
                    await worker.end()
                else:
                    self._idle.append(worker)
        if outcome.error:
            raise getattr(errors, outcome.error)(outcome.what, kept=outcome.kept, advice=outcome.advice)
        made: Result = msgspec.msgpack.decode(outcome.made, type=get_type_hints(function)["return"])
        return made


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a process needs to start and to find its libraries; no key, and no setting but the
    plugin folders."""
    # What a process needs to find its libraries, its models of text recognition and the plugins: a list of what is
    # passed on, since no list of secrets would be complete.
    passed_on = (
        "PATH HOME LANG LANGUAGE TMPDIR TEMP TMP SYSTEMROOT VIRTUAL_ENV LD_LIBRARY_PATH DYLD_LIBRARY_PATH "
        "TESSDATA_PREFIX TABLEWRIGHT_PLUGINS"
    ).split()
    return {
        name: value for name, value in environment.items() if name in passed_on or name.startswith(("LC_", "PYTHON"))
    }


class _Worker:
    def __init__(self, process: Process, limits: SandboxLimits) -> None:
        self._process = process
        self._limits = limits
        self.is_lost = False
        self.calls = 0

    @classmethod
    async def start(cls, limits: SandboxLimits, function: str) -> _Worker:
        """Start a process and wait until it is ready, so that its start does not use the time of the first call."""
        # -P: files in the current folder must not be imported as modules
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-P",
                "-m",
                "tablewright.sandbox.worker",
                str(limits.memory),
                str(limits.written),
                function,
            ),
            stdin=PIPE,
            stdout=PIPE,
            # Libraries print warnings about damaged files, which would fill a pipe that is never read.
            stderr=DEVNULL,
            # Outcomes may be many megabytes: the usual 64 KiB would pause the pipe for each piece of them.
            limit=MEBIBYTE,
            # One arena and one thread per worker keep its memory within the limit.
            env=without_secrets(os.environ) | {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"},
        )
        worker = cls(process, limits)
        try:
            # Importing a reader takes seconds on a busy machine; one that takes a minute is broken.
            async with asyncio.timeout(60.0):
                await worker._receive()
        except BaseException as error:
            await worker.end()
            if isinstance(error, TimeoutError | asyncio.IncompleteReadError):
                raise RunError(
                    "The worker process does not start.", advice="Run tablewright doctor, or install again."
                ) from None
            raise
        return worker

    async def call(
        self,
        about: str,
        function: str,
        args: tuple[Any, ...],
        raising: type[TablewrightError],
        wording: SandboxWording,
    ) -> SandboxOutcome:
        # Until the outcome has arrived: an interrupted worker must not be reused.
        self.is_lost = True
        self.calls += 1
        seconds = self._limits.seconds
        try:
            async with asyncio.timeout(seconds):
                outcome = await self._ask(SandboxCall(function, msgspec.Raw(msgspec.msgpack.encode(args)), seconds))
        except TimeoutError:
            raise raising(
                f"{about} took longer than {seconds:g} s to {wording.verb} and was given up.", advice=wording.advice
            ) from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise raising(
                self._describe_loss(about, await self._process.wait(), wording), advice=wording.advice
            ) from None
        self.is_lost = False
        return outcome

    async def _ask(self, call: SandboxCall) -> SandboxOutcome:
        assert self._process.stdin is not None
        message = msgspec.msgpack.encode(call)
        self._process.stdin.write(MESSAGE_LENGTH.pack(len(message)))
        self._process.stdin.write(message)
        await self._process.stdin.drain()
        return msgspec.msgpack.decode(await self._receive(), type=SandboxOutcome)

    async def _receive(self) -> bytes:
        assert self._process.stdout is not None
        head = await self._process.stdout.readexactly(MESSAGE_LENGTH.size)
        return await self._process.stdout.readexactly(MESSAGE_LENGTH.unpack(head)[0])

    def _describe_loss(self, about: str, code: int, wording: SandboxWording) -> str:
        most = f"the {self._limits.memory / 1e9:.1f} GB it may take"
        if code in (OUT_OF_MEMORY_EXIT_CODE, -signal.SIGKILL):
            return f"{about} needs more memory to be {wording.participle} than {most}."
        # C++ and Rust libraries abort when memory runs out, and seldom otherwise.
        if code == -signal.SIGABRT:
            return f"{about} made its {wording.worker} give up; it most likely needs more memory than {most}."
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{about} made its {wording.worker} crash ({reason})."

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
