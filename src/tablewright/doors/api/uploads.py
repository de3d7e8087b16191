"""Files that people send, on their way into a table or the collection of documents."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path, PurePosixPath, PureWindowsPath

from fastapi import UploadFile

LONGEST = 120


def safe_name(given: str | None, instead: str) -> str:
    """The last part of a file's name, whatever its sender called it: no folders, no control characters."""
    last = PureWindowsPath(PurePosixPath(given or "").name).name
    clean = "".join(each if each.isprintable() else "_" for each in last).encode("utf-8", "replace").decode()
    clean = clean.strip().lstrip(".")
    stem, suffix = Path(clean).stem[:LONGEST], Path(clean).suffix[:20]
    while len((stem + suffix).encode()) > 2 * LONGEST:
        stem = stem[:-1]
    return f"{stem}{suffix}" if stem else f"{instead}{suffix}"


async def save(upload: UploadFile, path: Path) -> None:
    def copy() -> None:
        with path.open("wb") as stream:
            shutil.copyfileobj(upload.file, stream, 1024 * 1024)

    await asyncio.to_thread(copy)
