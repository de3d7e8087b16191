"""A file on disk, parsed; this runs in a worker process."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tablewright.corpus.parse.parser import parse
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed


def parse_file(path: str, size: int) -> Parsed:
    """`size` is how many bytes it may have."""
    return parse(read_file(Path(path), size), Path(path).name)


def read_file(path: Path, size: int) -> bytes:
    """The whole file. Looked at before it is opened: opening a pipe would wait for somebody to write into it."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise Unreadable(f"{path.name} is a folder.", advice="Name the files in it.")
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(f"{path.name} is no file but a pipe, a socket or a device.")
        if about.st_size > size:
            raise Unreadable(
                f"{path.name} is too large: {about.st_size / 1e6:,.0f} MB of at most {size / 1e6:,.0f} MB.",
                advice="Divide it, or save it without its images.",
            )
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # nor may it become a pipe meanwhile
        with os.fdopen(descriptor, "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise Unreadable(f"{path.name} is not there any more.", advice="Check where it was moved.") from None
    except PermissionError:
        raise Unreadable(f"{path.name} may not be read by you.", advice="Change its permissions.") from None
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror or error}.") from None
