"""Bytes from the web as plain text: `read` gives a `Reading` or raises `UnreadablePage`."""

from tablewright.sources.read.reader import read
from tablewright.sources.read.reading import Reading, UnreadablePage

__all__ = ["Reading", "UnreadablePage", "read"]
