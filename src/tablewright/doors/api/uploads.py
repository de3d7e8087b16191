"""Files that people send, on their way into a table or the collection of documents."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from fastapi import UploadFile

from tablewright.app import Tablewright
from tablewright.domain.access import OWNER
from tablewright.domain.corpus import Document
from tablewright.domain.naming import check_name
from tablewright.doors.server.context import Visit
from tablewright.errors import UsageError

FOLDER = "uploads"
"""In the home folder: the files that were handed in, each in a folder of its person and its content."""
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
    folder = visit.tablewright.settings.home_folder / FOLDER
    return folder if visit.person.id == OWNER.id else folder / visit.person.id


async def forget(tablewright: Tablewright, documents: Sequence[Document]) -> None:
    """Removes documents from the collection, and the files that were handed in with them."""
    await tablewright.remove_documents([each.id for each in documents])
    folder = (tablewright.settings.home_folder / FOLDER).absolute()
    for each in documents:
        place = Path(each.path).parent
        if place != folder and place.is_relative_to(folder):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)


async def save(upload: UploadFile, path: Path) -> None:
    def copy() -> None:
        with path.open("wb") as stream:
            shutil.copyfileobj(upload.file, stream, 1024 * 1024)

    await asyncio.to_thread(copy)
