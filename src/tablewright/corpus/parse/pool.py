"""Files parsed in worker processes, several at once. One that crashes, hangs or fills its worker costs itself only."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeAlias, get_type_hints

import msgspec
from typing_extensions import TypeVar

from tablewright.corpus.parse.limits import Limits
from tablewright.corpus.parse.parsed import Parsed
from tablewright.corpus.parse.worker import LENGTH, OUT_OF_MEMORY, Answer, Request, named, whole
from tablewright.errors import RunError, Unreadable

MODULE = "tablewright.corpus.parse.worker"
DEFAULT = Limits()
_BUFFER = 1024 * 1024
_START_SECONDS = 60.0

T = TypeVar("T", default=Parsed)

Outcome: TypeAlias = tuple[Path, T | Unreadable]


async def parse_files(
    paths: Sequence[Path],
    *,
    workers: int = 0,
    limits: Limits = DEFAULT,
    then: Callable[[Parsed], T] = whole,  # type: ignore[assignment]
) -> AsyncIterator[Outcome[T]]:
    """Each file as soon as it is done, and what `then` makes of it: a function of some module, which runs in the worker
    too. Ending the iteration, or cancelling it, ends the workers at once."""
    waiting = iter(paths)
    finished: asyncio.Queue[Outcome[T] | None] = asyncio.Queue(maxsize=2)  # what nobody takes yet is not piled up
    count = min(workers or os.cpu_count() or 1, len(paths))
    tasks = [asyncio.create_task(_work(waiting, finished, limits, then)) for _ in range(count)]
    running = count
    try:
        while running:
            outcome = await finished.get()
            if outcome is None:
                running -= 1
            else:
                yield outcome
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _work(
    waiting: Iterator[Path], finished: asyncio.Queue[Outcome[T] | None], limits: Limits, then: Callable[[Parsed], T]
) -> None:
    """One worker process at a time, a new one where the last was lost, for as long as there are files."""
    worker: _Worker[T] | None = None
    try:
        for path in waiting:
            worker = worker or await _Worker.started(limits, then)
            outcome = await worker.parse(path)
            if worker.is_lost:
                await worker.end()
                worker = None
            await finished.put((path, outcome))
        await finished.put(None)
    except Exception:
        await finished.put(None)
        raise
    finally:
        if worker is not None:
            await worker.end()


class _Worker(Generic[T]):
    def __init__(self, process: Process, limits: Limits, then: Callable[[Parsed], T]) -> None:
        self._process = process
        self._limits = limits
        self._made: type[T] = get_type_hints(then)["return"]
        self.is_lost = False

    @classmethod
    async def started(cls, limits: Limits, then: Callable[[Parsed], T]) -> _Worker[T]:
        """Ready: the time it takes to start is not the first file's."""
        # -P: what lies in the current folder must not be taken for a module
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", MODULE, str(limits.memory), named(then)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=_BUFFER,
            env={**os.environ, "MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"},
        )
        worker = cls(process, limits, then)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker._received()
        except BaseException as error:
            await worker.end()
            if isinstance(error, TimeoutError | asyncio.IncompleteReadError):
                raise RunError(
                    "The process that reads files does not start.", advice="Run tablewright doctor, or install again."
                ) from None
            raise
        return worker

    async def parse(self, path: Path) -> T | Unreadable:
        self.is_lost = True  # until the answer is here: who is interrupted half-way may not be asked again
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await self._ask(Request(path=str(path), limits=self._limits))
        except TimeoutError:
            return Unreadable(
                f"{path.name} took longer than {self._limits.seconds:g} s to read and was given up.",
                advice="It may be damaged or made to keep readers busy; save it again, or divide it.",
            )
        except (asyncio.IncompleteReadError, ConnectionError):
            return self._loss(path.name, await self._process.wait())
        self.is_lost = False
        if answer.what:
            return Unreadable(answer.what, advice=answer.advice)
        return msgspec.msgpack.decode(answer.made, type=self._made)

    async def _ask(self, request: Request) -> Answer:
        assert self._process.stdin is not None
        message = msgspec.msgpack.encode(request)
        self._process.stdin.write(LENGTH.pack(len(message)) + message)
        await self._process.stdin.drain()
        return msgspec.msgpack.decode(await self._received(), type=Answer)

    async def _received(self) -> bytes:
        assert self._process.stdout is not None
        head = await self._process.stdout.readexactly(LENGTH.size)
        return await self._process.stdout.readexactly(LENGTH.unpack(head)[0])

    def _loss(self, name: str, code: int) -> Unreadable:
        advice = "It may be damaged or made to do so; save it again, or divide it."
        if code in (OUT_OF_MEMORY, -signal.SIGKILL):
            most = f"{self._limits.memory / 1e9:.1f} GB"
            return Unreadable(f"{name} needs more memory to be read than the {most} it may take.", advice=advice)
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Unreadable(f"{name} made its reader crash ({reason}).", advice=advice)

    async def end(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
