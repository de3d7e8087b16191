"""The folder for everything that is kept. It is its owner's alone: nobody else on the machine can list or read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tablewright.errors import StoreError

DATABASES = ("tablewright.db", "jobs.db")
FOLDERS = ("models", "uploads")
BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps beside a database has all that is in it."""


def make_home(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            advice="Set TABLEWRIGHT_HOME to a folder that you can write to.",
        ) from None
    if not os.access(folder, os.W_OK):
        raise StoreError(f"The folder {folder} is read-only.", advice="Set TABLEWRIGHT_HOME to another folder.")
    with suppress(OSError):  # somebody else may have removed a file meanwhile
        for path in ours(folder):
            make_private(path)


def ours(folder: Path) -> Iterator[Path]:
    """What is there and was made by Tablewright; the folder too, unless it holds other things only."""
    found = [folder / f"{name}{end}" for name in DATABASES for end in BESIDE if (folder / f"{name}{end}").is_file()]
    found += [folder / name for name in FOLDERS if (folder / name).is_dir()]
    if found or not any(folder.iterdir()):
        yield folder
    yield from found


def make_private(path: Path) -> None:
    """Takes away what others may do with it. What is somebody else's, or shared by its kind (as /tmp is), stays."""
    found = path.stat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not found.st_mode & stat.S_ISVTX:
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def make_private_file(path: Path) -> None:
    """A new file, before some library makes it readable for all. SQLite gives the files beside it the same rights.
    Where it cannot be made, whoever opens it says why."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
