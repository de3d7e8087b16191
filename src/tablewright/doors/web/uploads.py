"""Files that people hand in: kept in the home folder under their content, then read into the collection."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from nicegui.elements.upload_files import FileUpload

from tablewright.doors.api.uploads import FOLDER, safe_name
from tablewright.doors.server.context import Visit
from tablewright.doors.web.live import Undertaking, undertakings

if TYPE_CHECKING:
    from tablewright.app import Ingested

KEY = "ingest"

_waiting: WeakKeyDictionary[Any, list[Path]] = WeakKeyDictionary()


async def receive(visit: Visit, file: FileUpload) -> Undertaking:
    """Keeps the file and has it read; files that come meanwhile are read after it."""
    waiting = _waiting.setdefault(visit.tablewright.jobs, [])
    waiting.append(await keep(visit.tablewright.settings.home_folder / FOLDER, file))

    async def read(undertaking: Undertaking) -> list[Ingested]:
        results: list[Ingested] = []
        while waiting:
            paths, waiting[:] = list(waiting), []

            def watch(news: Any, undertaking: Undertaking = undertaking) -> None:
                undertaking.done, undertaking.total = news.done, news.total
                undertaking.said = f"Reading {Path(news.path).name}" if news.path else "Reading"

            results.append(await visit.tablewright.add_documents(paths, watch=watch))
        return results

    return undertakings(visit).begin(KEY, "Reading", read)


async def keep(folder: Path, file: FileUpload) -> Path:
    """In a folder named by the content, so that nobody's file takes the place of another of the same name."""
    digest = hashlib.sha256()
    async for part in file.iterate():
        digest.update(part)
    path = folder / digest.hexdigest()[:16] / safe_name(file.name, "document")
    if not await asyncio.to_thread(path.exists):
        await file.save(path)
    return path
