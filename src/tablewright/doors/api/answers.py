"""What every route answers with: JSON of our nouns, pages of a list, files, and one shape for errors."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from tablewright.domain.document import document
from tablewright.domain.model import Noun
from tablewright.doors.api.schemas import EXAMPLES, described

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])

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
    """A noun, or builtins with nouns in them, with every key; or such as was encoded already."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content if isinstance(content, bytes) else encoded(content), status_code)


def in_pieces(page: msgspec.Struct) -> bytes:
    """Entry by entry: whatever is encoded at once stops all threads (20 MB: 0.2 s)."""
    keys = {name: getattr(page, name) for name in page.__struct_fields__}
    lists = {name: value for name, value in keys.items() if isinstance(value, tuple)}
    return encoded(keys | {name: [msgspec.Raw(encoded(each)) for each in value] for name, value in lists.items()})


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


MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


WARNING_HEADER = "Tablewright-Warning"


async def file_answer(name: str, format: str, write: Callable[[Path], Awaitable[Any]]) -> FileResponse:
    """A file that is written for this answer, sent piece by piece as a download, and then removed. What should be known
    of it (`warnings` of what `write` returns) is in a header. Without a `name`, what `write` returns has it."""
    folder = tempfile.TemporaryDirectory(prefix="tablewright-")
    path = Path(folder.name) / f"file.{format}"
    try:
        written = await write(path)
    except BaseException:
        folder.cleanup()
        raise
    name = name or written.name
    clean = "".join(each if each.isprintable() and each not in '/\\"' else "_" for each in name)[:100] or "table"
    warnings = " ".join(getattr(written, "warnings", ()))
    return FileResponse(
        path,
        media_type=MEDIA[format],
        filename=f"{clean}.{format}",
        headers={WARNING_HEADER: warnings} if warnings else None,
        background=BackgroundTask(folder.cleanup),
    )


def file_responses(*formats: str) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: the file in one of these formats."""
    raw = {"type": "string", "format": "binary"}
    content = {MEDIA[each].partition(";")[0]: {"schema": {} if each == "json" else raw} for each in formats}
    return {200: {"description": "The file.", "content": content}}
