"""Files that people send, on their way into a table or the collection of documents."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from fastapi import UploadFile

from tablewright.domain.access import OWNER
from tablewright.domain.naming import check_name
from tablewright.doors.server.context import Visit
from tablewright.errors import UsageError
from tablewright.operations.documents import UPLOADS
from tablewright.temporary import INCOMING, temporary_folder

LONGEST = 120


def safe_name(given: str | None, instead: str) -> str:
    """A file's name as its sender gave it, cut where it is long. One with folders in it is refused, and one with
    characters that cannot be seen."""
    name = given or ""
    check_name(name, "a file")
    if "/" in name or "\\" in name or name in (".", ".."):
        raise UsageError(
            "The name of a file has no folders in it.", kept="Nothing was kept.", advice="Send the file's name alone."
        )
    clean = name.strip().lstrip(".")
    stem, suffix = Path(clean).stem[:LONGEST], Path(clean).suffix[:20]
    while len((stem + suffix).encode()) > 2 * LONGEST:
        stem = stem[:-1]
    return f"{stem}{suffix}" if stem else f"{instead}{suffix}"


def folder_of(visit: Visit) -> Path:
    """Each person has their own: who hands in what somebody else has is told nothing of theirs."""
    folder = visit.services.settings.home_folder / UPLOADS
    return folder if visit.person.id == OWNER.id else folder / visit.person.id


async def keep_files(files: Sequence[UploadFile], folder: Path) -> list[str]:
    """Keep all files or none: where one does not fit on the disk, those that came with it go again."""
    found: list[tuple[Path, bool]] = []
    try:
        for file in files:
            found.append(await keep_file(file, folder))
    except OSError:
        for path in (path for path, is_new in found if is_new):
            await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        raise
    return [str(path) for path, _ in found]


async def keep_file(file: UploadFile, folder: Path) -> tuple[Path, bool]:
    """Keep a file in a folder named by its content, so that nobody's takes the place of another of the same name.
    Return where it is, and whether it is new there."""
    name = safe_name(file.filename, "document")
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(INCOMING, folder) as incoming:
        arrived = incoming / "file"
        await save(file, arrived)
        place = folder / (await asyncio.to_thread(digest, arrived))[:16]
        is_new = not await asyncio.to_thread(place.exists)
        place.mkdir(exist_ok=True)
        return arrived.replace(place / name).absolute(), is_new


def digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


async def save_upload(file: UploadFile, folder: Path) -> str:
    """Save a file in a folder under its own name; return its path."""
    path = folder / safe_name(file.filename, "table.csv")
    await save(file, path)
    return str(path)


async def save(upload: UploadFile, path: Path) -> None:
    def copy() -> None:
        with path.open("wb") as stream:
            shutil.copyfileobj(upload.file, stream, 1024 * 1024)

    await asyncio.to_thread(copy)
