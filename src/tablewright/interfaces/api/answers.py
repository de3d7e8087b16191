"""Replies of the REST API: JSON of structs, files, and one shape for errors."""

from __future__ import annotations

import asyncio
import gzip
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from fastapi import Request
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from tablewright.domain.complete_json import encode_complete
from tablewright.domain.model import Struct
from tablewright.interfaces.api.schemas import EXAMPLES, reply_model
from tablewright.interfaces.server.origin import READ_METHODS


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
        super().__init__(content if isinstance(content, bytes) else encode_complete(content), status_code)


def encode_in_pieces(page: msgspec.Struct) -> bytes:
    """Encode entry by entry, because encoding holds the interpreter lock."""
    keys = {name: getattr(page, name) for name in page.__struct_fields__}
    lists = {name: value for name, value in keys.items() if isinstance(value, tuple)}
    return encode_complete(
        keys | {name: [msgspec.Raw(encode_complete(each)) for each in value] for name, value in lists.items()}
    )


async def finish_reply(asked: Request, reply: Json) -> Response:
    """Return a reply as the client takes it: 304 without a body if it has this one already, or compressed."""
    body = bytes(reply.body)
    if asked.method in READ_METHODS:
        # Weak, because the same reply may be sent compressed or not.
        tag = f'W/"{blake2b(body, digest_size=12).hexdigest()}"'
        if tag in map(str.strip, asked.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers={"ETag": tag})
        reply.headers["ETag"] = tag
    # A smaller reply is sent as quickly as it is compressed.
    if len(body) >= 32 * 1024:
        reply.headers["Vary"] = "Accept-Encoding"
        if takes_gzip(asked):
            # In a thread: compressing does not hold the interpreter lock.
            reply.body = await asyncio.to_thread(gzip.compress, body, 1)
            reply.headers["Content-Encoding"] = "gzip"
            reply.headers["Content-Length"] = str(len(reply.body))
    return reply


def takes_gzip(asked: Request) -> bool:
    accepted = asked.headers.get("accept-encoding", "").lower()
    return re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", accepted) is not None


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


async def send_written_file(asked: Request, format: str, write: Callable[[Path], Awaitable[Any]]) -> FileResponse:
    """Send a file that `write` makes for this reply as a download, and remove it afterwards. What `write` returns names
    the file, and a header has its `warnings`."""
    folder = tempfile.TemporaryDirectory(prefix="tablewright-")
    path = Path(folder.name) / f"file.{format}"
    try:
        written = await write(path)
        headers = {"Vary": "Accept-Encoding"}
        # The other formats are compressed already.
        if MEDIA[format].startswith(("text/", "application/json", "application/x-ndjson")) and takes_gzip(asked):
            path = await asyncio.to_thread(compress_file, path)
            headers["Content-Encoding"] = "gzip"
    except BaseException:
        folder.cleanup()
        raise
    clean = (
        "".join(each if each.isprintable() and each not in '/\\"' else "_" for each in written.name)[:100] or "table"
    )
    if warnings := " ".join(getattr(written, "warnings", ())):
        headers["Tablewright-Warning"] = warnings
    return FileResponse(
        path,
        media_type=MEDIA[format],
        filename=f"{clean}.{format}",
        headers=headers,
        background=BackgroundTask(folder.cleanup),
    )


def compress_file(path: Path) -> Path:
    compressed = path.with_name(f"{path.name}.gz")
    with path.open("rb") as source, gzip.open(compressed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1024 * 1024)
    return compressed


def describe_file_responses(*formats: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a file in one of these formats."""
    raw = {"type": "string", "format": "binary"}
    content = {MEDIA[each].partition(";")[0]: {"schema": {} if each == "json" else raw} for each in formats}
    return {200: {"description": "The file.", "content": content}}
