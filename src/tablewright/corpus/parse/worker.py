"""A process of its own that parses one file after the other: what breaks here breaks nothing else.

It is started as `python -m tablewright.corpus.parse.worker`, reads requests from its standard input and writes the
answers to its standard output, each after its length in eight bytes. Nothing in a file is ever run.
"""

from __future__ import annotations

import os
import signal
import stat
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import msgspec

from tablewright.corpus.parse.limits import Limits
from tablewright.corpus.parse.parsed import Parsed
from tablewright.corpus.parse.parser import parse
from tablewright.errors import Unreadable
from tablewright.table.model import Noun

LENGTH = struct.Struct(">Q")
_ORPHANED_AFTER = 5
"""Seconds beyond the limit: who waits for the answer ends this process before, unless nobody is left to wait."""
OUT_OF_MEMORY = 3


class Request(Noun, frozen=True):
    path: str
    limits: Limits


class Answer(Noun, frozen=True):
    """What was made of the file; or why nothing was, and what one could do."""

    made: msgspec.Raw = msgspec.Raw()
    what: str = ""
    advice: str = ""


def whole(parsed: Parsed) -> Parsed:
    """What is made of a parsed file where nothing else is asked for."""
    return parsed


def named(function: Callable[[Parsed], object]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def found(name: str) -> Callable[[Parsed], object]:
    module, _, function = name.partition(":")
    made: Callable[[Parsed], object] = getattr(import_module(module), function)
    return made


def answer_to(request: Request, then: Callable[[Parsed], object] = whole) -> Answer:
    path = Path(request.path)
    try:
        made = then(parse(read_file(path, request.limits), path.name))
        return Answer(made=msgspec.Raw(msgspec.msgpack.encode(made)))
    except Unreadable as problem:
        return Answer(what=problem.what, advice=problem.advice)


def read_file(path: Path, limits: Limits) -> bytes:
    """The whole file. Looked at before it is opened: opening a pipe would wait for somebody to write into it."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise Unreadable(f"{path.name} is a folder.", advice="Name the files in it.")
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(f"{path.name} is no file but a pipe, a socket or a device.")
        if about.st_size > limits.size:
            raise Unreadable(
                f"{path.name} is too large: {about.st_size / 1e6:,.0f} MB of at most {limits.size / 1e6:,.0f} MB.",
                advice="Divide it, or save it without its images.",
            )
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # nor may it become a pipe meanwhile
        with os.fdopen(descriptor, "rb") as file:
            return file.read(limits.size)
    except FileNotFoundError:
        raise Unreadable(f"{path.name} is not there any more.", advice="Check where it was moved.") from None
    except PermissionError:
        raise Unreadable(f"{path.name} may not be read by you.", advice="Change its permissions.") from None
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror or error}.") from None


def serve(requests: BinaryIO, answers: BinaryIO, then: Callable[[Parsed], object]) -> None:
    decoder = msgspec.msgpack.Decoder(Request)
    encoder = msgspec.msgpack.Encoder()
    answers.write(LENGTH.pack(0))  # ready
    answers.flush()
    while len(head := requests.read(LENGTH.size)) == LENGTH.size:
        request = decoder.decode(requests.read(LENGTH.unpack(head)[0]))
        signal.setitimer(signal.ITIMER_REAL, request.limits.seconds + _ORPHANED_AFTER)
        try:
            answer = encoder.encode(answer_to(request, then))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what is left of the memory is not to be trusted with the next file
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def limit_memory(memory: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return  # a system that cannot; the limit of time remains


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the answers
    limit_memory(int(sys.argv[1]))
    try:
        serve(sys.stdin.buffer, answers, found(sys.argv[2]))
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
