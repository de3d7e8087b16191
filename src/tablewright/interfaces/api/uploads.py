"""Keep uploaded files, or save them for one request."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from fastapi import UploadFile

from tablewright.domain.access import INSTALLATION_OWNER
from tablewright.domain.naming import check_name
from tablewright.errors import UsageError
from tablewright.interfaces.server.context import Visit
from tablewright.operations.documents import UPLOADS
from tablewright.temporary import INCOMING_PREFIX, temporary_folder

# The name of a file may have 255 bytes on most disks, and a character up to four.
MAX_NAME_CHARACTERS = 120


def safe_name(given: str | None, instead: str) -> str:
    """Return the file's name as its sender gave it, shortened; raise UsageError if it has folders or invisible
    characters in it."""
    name = given or ""
    check_name(name, "a file")
    if "/" in name or "\\" in name or name in (".", ".."):
        raise UsageError(
            "The name of a file has no folders in it.", kept="Nothing was kept.", advice="Send the file's name alone."
        )
    clean = name.strip().lstrip(".")
    stem, suffix = Path(clean).stem[:MAX_NAME_CHARACTERS], Path(clean).suffix[:20]
    while len((stem + suffix).encode()) > 2 * MAX_NAME_CHARACTERS:
        stem = stem[:-1]
    return f"{stem}{suffix}" if stem else f"{instead}{suffix}"


def upload_folder(visit: Visit) -> Path:
    """Return the user's own folder: uploading a file that another user has must reveal nothing about theirs."""
    folder = visit.services.settings.home_folder / UPLOADS
    return folder if visit.person.id == INSTALLATION_OWNER.id else folder / visit.person.id


async def keep_uploaded_files(files: Sequence[UploadFile], folder: Path) -> list[str]:
    """Keep all files or none: if one does not fit on the disk, those that came with it are removed."""
    found: list[tuple[Path, bool]] = []
    try:
        for file in files:
            found.append(await keep_uploaded_file(file, folder))
    except OSError:
        for path in (path for path, is_new in found if is_new):
            await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        raise
    return [str(path) for path, _ in found]


async def keep_uploaded_file(file: UploadFile, folder: Path) -> tuple[Path, bool]:
    """Keep a file in a folder named by its content, so that files of the same name do not replace each other. Return
    its place, and True if it is new there."""
    name = safe_name(file.filename, "document")
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(INCOMING_PREFIX, folder) as incoming:
        arrived = incoming / "file"
        await copy_upload(file, arrived)
        # 64 bits of the hash tell the files of one person apart.
        place = folder / (await asyncio.to_thread(hash_file, arrived))[:16]
        is_new = not await asyncio.to_thread(place.exists)
        place.mkdir(exist_ok=True)
        return arrived.replace(place / name).absolute(), is_new


def hash_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


async def save_upload(file: UploadFile, folder: Path) -> str:
    """Save a file in a folder under its own name; return its path."""
    path = folder / safe_name(file.filename, "table.csv")
    await copy_upload(file, path)
    return str(path)


async def copy_upload(upload: UploadFile, path: Path) -> None:
    def copy() -> None:
        with path.open("wb") as stream:
            shutil.copyfileobj(upload.file, stream, 1024 * 1024)

    await asyncio.to_thread(copy)
