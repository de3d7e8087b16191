"""Replies of the REST API: JSON of structs, files, and one shape for errors."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from tablewright.domain.model import Struct
from tablewright.domain.text import to_json_document
from tablewright.interfaces.api.schemas import EXAMPLES, reply_model


class ErrorDetail(Struct, frozen=True):
    """`type` is the name of the error, `message` says what happened, `kept` what survives, `advice` what to do next;
    the last two may be empty."""

    type: str
    message: str
    kept: str
    advice: str


class Problem(Struct, frozen=True):
    """The reply to every request that is refused or fails."""

    error: ErrorDetail


EXAMPLES[Problem] = {
    "error": {
        "type": "NotFound",
        "message": "There is no table 'sales-3fk'.",
        "kept": "",
        "advice": "",
    }
}

# Two classes for all operations: the body says which error it is, so a list for each would say nothing more.
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": reply_model(Problem),
        "description": "The request is wrong (400, 422), the token is missing (401) or not enough (403), the "
        "thing does not exist (404), something else came first (409), or it is too much (413, 429).",
    },
    "5XX": {
        "model": reply_model(Problem),
        "description": "The request was fine but failed; `kept` and `advice` say how to continue.",
    },
}


class Json(Response):
    """A struct, or builtins with structs in them, with every key; bytes are sent as they are."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content if isinstance(content, bytes) else encode_json(content), status_code)


def encode_in_pieces(page: msgspec.Struct) -> bytes:
    """Encode entry by entry, because encoding holds the interpreter lock (20 MB: 0.2 s)."""
    keys = {name: getattr(page, name) for name in page.__struct_fields__}
    lists = {name: value for name, value in keys.items() if isinstance(value, tuple)}
    return encode_json(
        keys | {name: [msgspec.Raw(encode_json(each)) for each in value] for name, value in lists.items()}
    )


def encode_json(content: Any) -> bytes:
    plain = to_json_document(content)
    try:
        return msgspec.json.encode(plain)
    except (OverflowError, UnicodeEncodeError):
        return msgspec.json.encode(make_encodable(plain))


def make_encodable(value: Any) -> Any:
    """Return the value with floats for integers too large for JSON readers, and without half characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {make_encodable(key): make_encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_encodable(item) for item in value]
    # A program that reads numbers as JavaScript does sees another number beyond this.
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        try:
            return float(value)
        except OverflowError:
            return str(value)
    return value


# Written out, because the mimetypes of the machine differ from one to the next.
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


async def send_written_file(name: str, format: str, write: Callable[[Path], Awaitable[Any]]) -> FileResponse:
    """Send a file that `write` makes for this reply as a download, and remove it afterwards. A header has the
    `warnings` of what `write` returns, which also names the file if `name` is empty."""
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
        headers={"Tablewright-Warning": warnings} if warnings else None,
        background=BackgroundTask(folder.cleanup),
    )


def describe_file_responses(*formats: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a file in one of these formats."""
    raw = {"type": "string", "format": "binary"}
    content = {MEDIA[each].partition(";")[0]: {"schema": {} if each == "json" else raw} for each in formats}
    return {200: {"description": "The file.", "content": content}}
