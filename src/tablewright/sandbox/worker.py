"""A process of its own that runs one function after another on bytes nobody vouches for: what breaks here breaks
nothing else.

It is started as `python -m tablewright.sandbox.worker`, reads calls from its standard input and writes the outcomes to
its standard output, each after its length in eight bytes. The caller names the functions: nothing in a file is run.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, BinaryIO, get_type_hints

import msgspec

from tablewright.errors import TablewrightError

LENGTH = struct.Struct(">Q")
_ORPHANED_AFTER = 5
"""Seconds beyond the limit: who waits for the outcome ends this process before, unless nobody is left to wait."""
OUT_OF_MEMORY = 3


class SandboxCall(msgspec.Struct, frozen=True, array_like=True):
    function: str
    arguments: msgspec.Raw
    seconds: float


class SandboxOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the function returned, or the error that it raised: its class in `tablewright.errors`, and its sentences."""

    made: msgspec.Raw = msgspec.Raw()
    error: str = ""
    what: str = ""
    kept: str = ""
    advice: str = ""


def name_of(function: Callable[..., object]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


@cache
def find(name: str) -> Callable[..., object]:
    module, _, function = name.partition(":")
    found: Callable[..., object] = getattr(import_module(module), function)
    return found


@cache
def argument_types(function: Callable[..., object]) -> Any:
    hints = get_type_hints(function)
    return tuple[tuple(hints[name] for name in signature(function).parameters)]  # type: ignore[misc]


def outcome_of(call: SandboxCall) -> SandboxOutcome:
    function = find(call.function)
    arguments = msgspec.msgpack.decode(call.arguments, type=argument_types(function))
    try:
        return SandboxOutcome(made=msgspec.Raw(msgspec.msgpack.encode(function(*arguments))))
    except TablewrightError as problem:
        return SandboxOutcome(error=type(problem).__name__, what=problem.what, kept=problem.kept, advice=problem.advice)


def serve(calls: BinaryIO, outcomes: BinaryIO) -> None:
    decoder = msgspec.msgpack.Decoder(SandboxCall)
    encoder = msgspec.msgpack.Encoder()
    outcomes.write(LENGTH.pack(0))  # ready
    outcomes.flush()
    while len(head := calls.read(LENGTH.size)) == LENGTH.size:
        call = decoder.decode(calls.read(LENGTH.unpack(head)[0]))
        signal.setitimer(signal.ITIMER_REAL, call.seconds + _ORPHANED_AFTER)
        try:
            outcome = encoder.encode(outcome_of(call))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what is left of the memory is not to be trusted with the next call
        signal.setitimer(signal.ITIMER_REAL, 0)
        outcomes.write(LENGTH.pack(len(outcome)))
        outcomes.write(outcome)
        outcomes.flush()


def limit(memory: int, written: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return  # a system that cannot; the limit of time remains


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    outcomes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the outcomes
    limit(int(sys.argv[1]), int(sys.argv[2]))
    find(sys.argv[3])  # loaded before the first call: its seconds are for the work
    try:
        serve(sys.stdin.buffer, outcomes)
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
