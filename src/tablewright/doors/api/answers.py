"""What every route answers with: JSON of our nouns, pages of a list, files, and one shape for errors."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from tablewright.doors.api.described import described
from tablewright.doors.api.examples import EXAMPLES
from tablewright.errors import NotFound
from tablewright.table.document import document
from tablewright.table.model import Noun

T = TypeVar("T")

FURTHEST = 2**53
"""Beyond this a program that reads numbers as JavaScript does would see another number."""


class ErrorDetail(Noun, frozen=True):
    """`type` is the name of the error, `message` says what happened, `kept` what survives, `advice` what to do next;
    the last two may be empty."""

    type: str
    message: str
    kept: str
    advice: str


class Problem(Noun, frozen=True):
    """What every request that is refused, or fails, is answered with."""

    error: ErrorDetail


class Page(Noun, frozen=True):
    """`next` is what to pass as `after` for what follows; null at the end."""

    next: str | None


EXAMPLES[Problem] = {
    "error": {
        "type": "NotFound",
        "message": "There is no table 'sales-3fk'.",
        "kept": "",
        "advice": "",
    }
}

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": described(Problem),
        "description": "The request is wrong (400, 422), nobody knows who asks (401), they may not (403), it is not "
        "there (404), something else came first (409), or it is too much (413, 429).",
    },
    "5XX": {
        "model": described(Problem),
        "description": "The request was fine, doing it failed; `kept` and `advice` say how to go on.",
    },
}


class Json(Response):
    """A noun, or builtins with nouns in them, with every key."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(encoded(content), status_code)


def encoded(content: Any) -> bytes:
    plain = document(content)
    try:
        return msgspec.json.encode(plain)
    except (OverflowError, UnicodeEncodeError):
        return msgspec.json.encode(speakable(plain))


def speakable(value: Any) -> Any:
    """With numbers that are too large for JSON's readers as floats, and no half characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {speakable(key): speakable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [speakable(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > FURTHEST:
        try:
            return float(value)
        except OverflowError:
            return str(value)
    return value


def page_of(
    found: Sequence[T], after: str, limit: int, name: Callable[[T], str], what: str
) -> tuple[list[T], str | None]:
    """The next `limit` after the one called `after`, and the name to go on with."""
    start = 0
    if after:
        places = [place for place, each in enumerate(found) if name(each) == after]
        if not places:
            raise NotFound(f"There is no {what} {after!r} to go on after.", advice="Begin again without `after`.")
        start = places[0] + 1
    some = list(found[start : start + limit])
    more = len(found) > start + limit
    return some, name(some[-1]) if some and more else None


MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


async def file_answer(name: str, format: str, write: Callable[[Path], Awaitable[Any]]) -> FileResponse:
    """A file that is written for this answer, sent piece by piece as a download, and then removed."""
    folder = tempfile.TemporaryDirectory(prefix="tablewright-")
    path = Path(folder.name) / f"file.{format}"
    try:
        await write(path)
    except BaseException:
        folder.cleanup()
        raise
    clean = "".join(each if each.isprintable() and each not in '/\\"' else "_" for each in name)[:100] or "table"
    return FileResponse(
        path, media_type=MEDIA[format], filename=f"{clean}.{format}", background=BackgroundTask(folder.cleanup)
    )


def file_responses(*formats: str) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: the file in one of these formats."""
    raw = {"type": "string", "format": "binary"}
    content = {MEDIA[each].partition(";")[0]: {"schema": {} if each == "json" else raw} for each in formats}
    return {200: {"description": "The file.", "content": content}}
