"""Turn bytes from the web into plain text: `read_bytes` returns a `Reading` or raises `UnreadablePage`."""

from tablewright.web.read.reader import read_bytes
from tablewright.web.read.reading import Reading, UnreadablePage

__all__ = ["Reading", "UnreadablePage", "read_bytes"]
