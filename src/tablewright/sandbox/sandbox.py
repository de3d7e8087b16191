"""Work on bytes that nobody vouches for, in worker processes with limits of time and memory.

A file that crashes its reader, keeps it busy or fills its memory costs itself only: the worker ends, the caller gets an
error with a sentence, and the next call gets a new worker.
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
from tablewright.sandbox.limits import SandboxLimits, SandboxWording
from tablewright.sandbox.worker import LENGTH, OUT_OF_MEMORY, SandboxCall, SandboxOutcome, name_of

MODULE = "tablewright.sandbox.worker"
DEFAULT = SandboxLimits()
READING = SandboxWording()
_BUFFER = 1024 * 1024
_START_SECONDS = 60.0
_MOST_CALLS = 1_000
"""Of one worker; then a new one takes over, whatever the libraries in it have leaked."""

NEEDED = frozenset(
    "PATH HOME LANG LANGUAGE TMPDIR TEMP TMP SYSTEMROOT VIRTUAL_ENV LD_LIBRARY_PATH DYLD_LIBRARY_PATH "
    "TESSDATA_PREFIX TABLEWRIGHT_PLUGINS".split()
)

AT_ONCE = max(4, os.cpu_count() or 1)
"""Workers of all sandboxes of this process that do the same kind of work, each with its own share of memory: many
people who hand in large files at the same moment wait for each other, and none of them takes the last place too."""
_NEXT_LOOK = 0.02

T = TypeVar("T")


class _Turns:
    """Who works on what in this process, in whichever event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[tuple[str, str]] = Counter()

    @asynccontextmanager
    async def turn(self, work: str, person: str) -> AsyncIterator[None]:
        while not self._take(work, person):  # noqa: ASYNC110  # an event belongs to one loop, and there may be several
            await asyncio.sleep(_NEXT_LOOK)
        try:
            yield
        finally:
            with self._lock:
                self._taken.subtract({(work, ""), (work, person)})

    def _take(self, work: str, person: str) -> bool:
        with self._lock:
            free = self._taken[work, ""] < AT_ONCE and (not person or self._taken[work, person] < max(1, AT_ONCE - 1))
            if free:
                self._taken.update({(work, ""), (work, person)})
            return free


_TURNS = _Turns()


class Sandbox:
    """At most `workers` processes, started when there is work for them and kept until `close`. A call that is cancelled
    ends its process at once. `person` is whose work it is, where several people share this process."""

    def __init__(self, limits: SandboxLimits = DEFAULT, *, workers: int = 0, person: str = "") -> None:
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
        function: Callable[..., T],
        *args: Any,
        raising: type[TablewrightError] = Unreadable,
        wording: SandboxWording = READING,
    ) -> T:
        """Return what the function returns for these arguments: a function of some module, with types for its arguments
        and for what it returns. An error that it raises on purpose is raised here too; where its process is lost, that
        is said of `about` in an error of the class `raising`, in the words of `wording`."""
        async with self._places, _TURNS.turn(name_of(function), self._person):
            worker = self._idle.pop() if self._idle else await _Worker.started(self._limits, name_of(function))
            try:
                outcome = await worker.call(about, name_of(function), args, raising, wording)
            finally:
                if worker.is_lost or worker.calls >= _MOST_CALLS:
                    await worker.end()
                else:
                    self._idle.append(worker)
        if outcome.error:
            raise getattr(errors, outcome.error)(outcome.what, kept=outcome.kept, advice=outcome.advice)
        made: T = msgspec.msgpack.decode(outcome.made, type=get_type_hints(function)["return"])
        return made


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a process needs to start and to find its libraries; no key, and no setting but where plugins are."""
    return {name: value for name, value in environment.items() if name in NEEDED or name.startswith(("LC_", "PYTHON"))}


class _Worker:
    def __init__(self, process: Process, limits: SandboxLimits) -> None:
        self._process = process
        self._limits = limits
        self.is_lost = False
        self.calls = 0

    @classmethod
    async def started(cls, limits: SandboxLimits, function: str) -> _Worker:
        """Ready: the time it takes to start is not the first call's."""
        # -P: what lies in the current folder must not be taken for a module
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", MODULE, str(limits.memory), str(limits.written), function),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=_BUFFER,
            env=without_secrets(os.environ) | {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"},
        )
        worker = cls(process, limits)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker._received()
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
        self.is_lost = True  # until the outcome is here: who is interrupted half-way may not be asked again
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
            raise raising(self._loss(about, await self._process.wait(), wording), advice=wording.advice) from None
        self.is_lost = False
        return outcome

    async def _ask(self, call: SandboxCall) -> SandboxOutcome:
        assert self._process.stdin is not None
        message = msgspec.msgpack.encode(call)
        self._process.stdin.write(LENGTH.pack(len(message)))
        self._process.stdin.write(message)
        await self._process.stdin.drain()
        return msgspec.msgpack.decode(await self._received(), type=SandboxOutcome)

    async def _received(self) -> bytes:
        assert self._process.stdout is not None
        head = await self._process.stdout.readexactly(LENGTH.size)
        return await self._process.stdout.readexactly(LENGTH.unpack(head)[0])

    def _loss(self, about: str, code: int, wording: SandboxWording) -> str:
        most = f"the {self._limits.memory / 1e9:.1f} GB it may take"
        if code in (OUT_OF_MEMORY, -signal.SIGKILL):
            return f"{about} needs more memory to be {wording.participle} than {most}."
        if code == -signal.SIGABRT:  # how libraries in C++ and Rust end when they get no more memory, and seldom else
            return f"{about} made its {wording.worker} give up; it most likely needs more memory than {most}."
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{about} made its {wording.worker} crash ({reason})."

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
