"""A JSON document read value by value, so that a long array is never held whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import Any, TextIO

from tablewright.errors import BadFile

_SPACE = re.compile(r"[ \t\n\r]*")


class DuplicateKey(ValueError):
    """An object that has one key twice: whichever value were taken, the other would be lost."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key[:60]!r} appears twice in one object")


class LongFloat(float):
    """A number that is written with more digits than a float holds, and what was written."""

    literal: str


def read_float(literal: str) -> float | str:
    """The number; or what was written, where it is beyond every float."""
    number = float(literal)
    if not isfinite(number):
        return literal
    # "and number": a tiny literal such as 1e-400 becomes 0.0, which is not what was written.
    # No literal of so few characters says more than a float holds.
    if (len(literal) <= 17 and number) or _significant_digits(literal) == _significant_digits(repr(number)):
        return number
    long = LongFloat(number)
    long.literal = literal
    return long


def _significant_digits(literal: str) -> str:
    return literal.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise DuplicateKey(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return made


DECODER = json.JSONDecoder(parse_float=read_float, object_pairs_hook=reject_duplicate_keys)


class JsonStream:
    def __init__(self, file: str, stream: TextIO) -> None:
        self._file = file
        self._stream = stream
        self._buffer = ""
        self._at = 0
        self._lines_before = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is no space; "" at the end of the file."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # What is wrong well before the end of what was read so far, more text will not mend.
                if (error.pos < len(self._buffer) - 100 and "Unterminated" not in error.msg) or not self._more():
                    raise self._bad(error.msg, error.pos) from None
                continue
            except DuplicateKey as error:
                raise self._bad(str(error), self._at) from None
            except (RecursionError, ValueError):
                raise self._bad("a value is nested too deeply or too large", self._at) from None
            if len(self._buffer) - end < 4 and self._more():
                continue  # "12", "12." and "12e+" may be the beginning of a longer number
            self._at = end
            return value

    def array(self) -> Iterator[Any]:
        self._take("[")
        if self.peek() == "]":
            self._take("]")
            return
        while True:
            yield self.value()
            if self.peek() != ",":
                self._take("]")
                return
            self._take(",")

    def object_keys(self) -> Iterator[str]:
        """The keys of an object; the caller takes the value of each before the next."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise self._bad("a key is not a text", self._at)
            self._take(":")
            yield key
            if self.peek() != ",":
                self._take("}")
                return
            self._take(",")

    def end(self) -> None:
        if rest := self.peek():
            raise self._bad(f"something follows its end: {rest!r}", self._at)

    def _take(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            raise self._bad(f"{wanted!r} expected" if found else "it ends too early", self._at)
        self._at += 1

    def _more(self) -> bool:
        """Reads on, dropping what was taken; at the end of the file nothing moves."""
        waiting = len(self._buffer) - self._at
        # A value is decoded in one piece, so this bounds the memory; a row of real data is far below.
        if waiting > 256 * 1024**2:
            raise self._bad("one value is too large", self._at)
        # Characters read at a time. Larger: more memory for a file of short values; smaller: more calls.
        chunk = "" if self._ended else self._stream.read(max(256 * 1024, waiting))  # doubling keeps a long value linear
        if not chunk:
            self._ended = True
            return False
        self._lines_before += self._buffer.count("\n", 0, self._at)
        self._buffer, self._at = self._buffer[self._at :] + chunk, 0
        return True

    def _bad(self, what: str, at: int) -> BadFile:
        line = self._lines_before + self._buffer.count("\n", 0, at) + 1
        return BadFile(f"{self._file} is not valid JSON: {what} (line {line:,}).")
