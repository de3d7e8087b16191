"""Temporary folders that do not outlive their process: those of one that was killed are removed at the next start.

Each holds a lock file that its process keeps locked. The system unlocks it when the process ends, however it ends, so a
folder whose file can be locked belongs to no living process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "tablewright-"
LOCK = ".in-use"
INCOMING = ".incoming-"
"""Before the names of folders for uploads that are still arriving, among those that have arrived."""
PART = ".tablewright-part"
"""How files end that are still being written."""


@contextmanager
def temporary_folder(prefix: str = PREFIX, folder: Path | None = None) -> Iterator[Path]:
    """Yield a new folder, in the system's folder for temporary files or in `folder`, and remove it afterwards."""
    made, handle = make_temporary_folder(prefix, folder)
    try:
        yield made
    finally:
        remove_temporary_folder(made, handle)


def make_temporary_folder(prefix: str = PREFIX, folder: Path | None = None) -> tuple[Path, int]:
    """Return a new folder and the handle that keeps it locked; for `remove_temporary_folder`."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=folder))
    # Locked before it has its name: another process that starts now never sees it unlocked.
    handle = os.open(made / f"{LOCK}-new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    (made / f"{LOCK}-new").rename(made / LOCK)
    return made, handle


def remove_temporary_folder(folder: Path, handle: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(handle)


def remove_abandoned(uploads: Path) -> None:
    """Remove what processes left that were killed while they imported, exported or received a file."""
    remove_abandoned_folders()
    remove_abandoned_folders(uploads, INCOMING)


def remove_abandoned_folders(folder: Path | None = None, prefix: str = PREFIX) -> int:
    """Remove the temporary folders that no living process owns; return how many there were. Folders without a lock file
    are not ours, or are just being made."""
    removed = 0
    for lock in Path(folder or tempfile.gettempdir()).glob(f"{prefix}*/{LOCK}"):
        with suppress(OSError), locked(lock):  # another user's, or removed in this moment
            shutil.rmtree(lock.parent)
            removed += 1
    return removed


def remove_abandoned_files(pattern: str, folder: Path) -> None:
    """Remove the files of that pattern in `folder` that no living process keeps locked."""
    for file in folder.glob(pattern):
        with suppress(OSError), locked(file):
            file.unlink()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a file of ours; OSError if a living process holds it, or the file is another user's."""
    handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise PermissionError(f"{file} is another user's")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
