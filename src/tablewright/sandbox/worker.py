"""A separate process that runs functions on untrusted bytes: what breaks here breaks nothing else.

It is started as `python -m tablewright.sandbox.worker`, reads calls from its standard input and writes the outcomes to
its standard output, each preceded by its length in eight bytes. The caller names the functions: nothing in a file is
run.
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

# Eight bytes, since an outcome may be longer than four bytes can count.
MESSAGE_LENGTH = struct.Struct(">Q")
# Not 1 or 2, with which Python itself ends.
OUT_OF_MEMORY_EXIT_CODE = 3


class SandboxCall(msgspec.Struct, frozen=True, array_like=True):
    function: str
    arguments: msgspec.Raw
    seconds: float


class SandboxOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the function, or the error it raised: its class in `tablewright.errors`, and its sentences."""

    made: msgspec.Raw = msgspec.Raw()
    error: str = ""
    what: str = ""
    kept: str = ""
    advice: str = ""


def qualified_function_name(function: Callable[..., object]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


@cache
def import_function(name: str) -> Callable[..., object]:
    module, _, function = name.partition(":")
    found: Callable[..., object] = getattr(import_module(module), function)
    return found


@cache
def argument_types(function: Callable[..., object]) -> Any:
    hints = get_type_hints(function)
    return tuple[tuple(hints[name] for name in signature(function).parameters)]  # type: ignore[misc]


def run_sandbox_call(call: SandboxCall) -> SandboxOutcome:
    function = import_function(call.function)
    arguments = msgspec.msgpack.decode(call.arguments, type=argument_types(function))
    try:
        return SandboxOutcome(made=msgspec.Raw(msgspec.msgpack.encode(function(*arguments))))
    except TablewrightError as problem:
        return SandboxOutcome(error=type(problem).__name__, what=problem.what, kept=problem.kept, advice=problem.advice)


def serve_calls(calls: BinaryIO, outcomes: BinaryIO) -> None:
    decoder = msgspec.msgpack.Decoder(SandboxCall)
    encoder = msgspec.msgpack.Encoder()
    # Ready.
    outcomes.write(MESSAGE_LENGTH.pack(0))
    outcomes.flush()
    while len(head := calls.read(MESSAGE_LENGTH.size)) == MESSAGE_LENGTH.size:
        call = decoder.decode(calls.read(MESSAGE_LENGTH.unpack(head)[0]))
        # The kernel's timer ends the process even if a library in C never returns to Python. It has five seconds more,
        # because the caller, if it still exists, ends the process earlier and says why.
        signal.setitimer(signal.ITIMER_REAL, call.seconds + 5)
        try:
            outcome = encoder.encode(run_sandbox_call(call))
        except MemoryError:
            # The remaining memory cannot be trusted with the next call.
            os._exit(OUT_OF_MEMORY_EXIT_CODE)
        signal.setitimer(signal.ITIMER_REAL, 0)
        outcomes.write(MESSAGE_LENGTH.pack(len(outcome)))
        outcomes.write(outcome)
        outcomes.flush()


def limit_resources(memory: int, written: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
        # No core dumps: they would have the untrusted bytes, and the size of the memory.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        # Unsupported system; the time limit remains.
        return


def run_sandbox_worker() -> None:
    # The parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The outcomes keep the standard output under another number.
    outcomes = os.fdopen(os.dup(1), "wb")
    # A library that prints must not write into the outcomes.
    os.dup2(2, 1)
    limit_resources(int(sys.argv[1]), int(sys.argv[2]))
    # Import before the first call, whose seconds are for the work.
    import_function(sys.argv[3])
    try:
        serve_calls(sys.stdin.buffer, outcomes)
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    run_sandbox_worker()
