"""Temporary folders and files that do not outlive their process: those of a killed process are removed at the next
start.

Each folder holds a lock file that its process keeps locked. The system unlocks it when the process ends, however it
ends, so a folder whose file can be locked belongs to no living process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Only folders with this start are looked at; the folder for temporary files has those of all programs.
TEMPORARY_PREFIX = "tablewright-"
LOCK_FILE = ".in-use"
# The start of the names of folders for uploads in progress, next to finished ones.
INCOMING_PREFIX = ".incoming-"
# The ending of files that are still being written.
PART_SUFFIX = ".tablewright-part"


@contextmanager
def temporary_folder(prefix: str = TEMPORARY_PREFIX, folder: Path | None = None) -> Iterator[Path]:
    """Yield a new folder, in the system's folder for temporary files or in `folder`, and remove it afterwards."""
    made, handle = make_temporary_folder(prefix, folder)
    try:
        yield made
    finally:
        remove_temporary_folder(made, handle)


def make_temporary_folder(prefix: str = TEMPORARY_PREFIX, folder: Path | None = None) -> tuple[Path, int]:
    """Return a new folder and the handle that keeps it locked; for `remove_temporary_folder`."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    # Lock the file before it gets its name, so that another process that starts now never sees it unlocked.
    handle = os.open(made / f"{LOCK_FILE}-new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    (made / f"{LOCK_FILE}-new").rename(made / LOCK_FILE)
    return made, handle


def remove_temporary_folder(folder: Path, handle: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(handle)


def remove_abandoned(uploads: Path) -> None:
    """Remove what killed processes left of imports, exports and uploads."""
    remove_abandoned_folders()
    remove_abandoned_folders(uploads, INCOMING_PREFIX)


def remove_abandoned_folders(folder: Path | None = None, prefix: str = TEMPORARY_PREFIX) -> int:
    """Remove the temporary folders that no living process owns; return how many there were. Folders without a lock file
    are not ours, or are just being made."""
    removed = 0
    for lock in Path(folder or tempfile.gettempdir()).glob(f"{prefix}*/{LOCK_FILE}"):
        # Another user's, or removed at this moment.
        with suppress(OSError), lock_own_file(lock):
            shutil.rmtree(lock.parent)
            removed += 1
    return removed


def remove_abandoned_files(pattern: str, folder: Path) -> None:
    """Remove the files of that pattern in `folder` that no living process keeps locked."""
    for file in folder.glob(pattern):
        with suppress(OSError), lock_own_file(file):
            file.unlink()


@contextmanager
def lock_own_file(file: Path) -> Iterator[None]:
    """Hold the lock of a file of ours. Raise OSError if a living process holds it, or the file is another user's."""
    # A link in a shared folder could point to a file of another user.
    handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise PermissionError(f"{file} is another user's")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
