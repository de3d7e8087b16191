"""Bytes from the web as plain text: `read` gives a `Reading` or raises `Unreadable`."""

from tablewright.sources.read.reader import read
from tablewright.sources.read.reading import Reading, Unreadable

__all__ = ["Reading", "Unreadable", "read"]
