"""Files that people hand in: where they drop them; those for the collection are kept in the home folder under their
content, then read."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from tablewright.doors.api.uploads import folder_of, safe_name
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import inline
from tablewright.doors.web.frame import say
from tablewright.doors.web.live import Undertaking, undertakings
from tablewright.doors.web.words import t
from tablewright.operations.documents import AddDocuments, DocumentsAdded, add_documents
from tablewright.temporary import INCOMING, temporary_folder

NO_SPACE, TOO_LARGE = 507, 413
"""The status of an upload that ran into a full disk, and of one that is larger than the server takes."""
ON_THEIR_WAY = """
<div><div v-for="file in props.files" :key="file.__key" class="tw-file">
  <span>{{ file.name }}</span>
  <span class="tw-muted">{{ file.__status === "uploaded" ? "arrived" : file.__progressLabel }}</span>
</div></div>
"""


def file_drop(
    label: str,
    kinds: str,
    *,
    largest: int,
    several: bool,
    take: Callable[[events.UploadEventArguments], Awaitable[None]],
    refuse: Callable[[], None],
) -> ui.upload:
    """Where files are dropped or chosen. The framework's own buttons have no names, so these are ours."""

    def lost(event: events.GenericEventArguments) -> None:
        if event.args == NO_SPACE:
            say(t("The disk of the server is full. Nothing of the file was kept. Free some space first."), good=False)
        else:
            say(t("The upload was interrupted. Choose the file again."), good=False)
        uploader.run_method("removeQueuedFiles")

    uploader = ui.upload(
        multiple=several,
        auto_upload=True,
        max_files=None if several else 1,
        max_file_size=largest,
        on_upload=take,
        on_rejected=refuse,
    ).props(f'flat accept="{kinds}"')
    with uploader.add_slot("header"), ui.element("div").classes("tw-row"):
        with ui.element("label").classes("tw-choose"):
            ui.icon("upload_file", size="24px").props('aria-hidden="true"')
            inline(label)
            chosen = ui.element("input").props(f'type=file accept="{kinds}"').classes("q-uploader__input absolute-full")
            chosen.props.set_bool("multiple", several)
            chosen.on("change", js_handler="(event) => props.addFiles([...event.target.files])")
        stop = ui.button(t("Stop"), icon="close", on_click=lambda: uploader.run_method("abort")).props("flat dense")
        stop.set_visibility(False)
    uploader.add_slot("list", ON_THEIR_WAY)
    uploader.on("start", lambda: stop.set_visibility(True), args=[])
    uploader.on("finish", lambda: stop.set_visibility(False), args=[])
    uploader.on("failed", lost, js_handler="(told) => emit(told?.xhr?.status ?? 0)")
    if not several:  # ready for the next one, but not before the browser knows that this one has arrived
        uploader.on("uploaded", lambda: uploader.run_method("reset"), args=[])
    return uploader


def made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# ── for the collection ───────────────────────────────────────────────────────────────────────────────────────────────

_waiting: WeakKeyDictionary[Any, dict[str, list[tuple[Path, str]]]] = WeakKeyDictionary()
"""Of each server, by person: the files, and what their owner says that they are."""


def reading_key(visit: Visit) -> str:
    return f"ingest {visit.person.id}"


async def receive(visit: Visit, file: FileUpload, kind: str = "") -> Undertaking:
    """Keeps the file and has it read; files that come meanwhile are read after it."""
    waiting = _waiting.setdefault(visit.server, {}).setdefault(visit.person.id, [])
    waiting.append((await keep(folder_of(visit), file), kind.strip()))

    async def read(undertaking: Undertaking) -> list[DocumentsAdded]:
        results: list[DocumentsAdded] = []
        while waiting:
            first = waiting[0][1]
            paths = [path for path, kind in waiting if kind == first]
            waiting[:] = [each for each in waiting if each[1] != first]

            def watch(news: Any, undertaking: Undertaking = undertaking) -> None:
                undertaking.done, undertaking.total = news.done, news.total
                undertaking.said = f"Reading {Path(news.path).name}" if news.path else "Reading"

            request = AddDocuments(paths=tuple(map(str, paths)), kind=first)
            results.append(await add_documents(visit.services, request, watch=watch))
        return results

    return undertakings(visit).begin(reading_key(visit), "Reading", read)


async def keep(folder: Path, file: FileUpload) -> Path:
    """In a folder named by the content, so that nobody's file takes the place of another of the same name."""
    digest = hashlib.sha256()
    async for part in file.iterate():
        digest.update(part)
    path = folder / digest.hexdigest()[:16] / safe_name(file.name, "document")
    if not await asyncio.to_thread(path.exists):
        with temporary_folder(INCOMING, await asyncio.to_thread(made, folder)) as incoming:
            arrived = incoming / "file"
            await file.save(arrived)
            await asyncio.to_thread(path.parent.mkdir, exist_ok=True)
            arrived.replace(path)  # whole or not at all: half a file would be taken for the same next time
    return path
