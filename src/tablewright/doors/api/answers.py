"""What every route answers with: JSON of our nouns, pages of a list, files, and one shape for errors."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from tablewright.domain.document import document
from tablewright.domain.model import Noun
from tablewright.doors.api.inputs import MOST_ROWS
from tablewright.doors.api.schemas import EXAMPLES, described
from tablewright.errors import UsageError

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])

MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z),(.+)", re.DOTALL)
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
    """A noun, or builtins with nouns in them, with every key; or such as was encoded already."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content if isinstance(content, bytes) else encoded(content), status_code)


async def large(make: Callable[[], msgspec.Struct]) -> Json:
    """Made and encoded in a thread: a thousand rows with their sources take a second, in which nobody else would be
    answered."""
    return Json(await asyncio.to_thread(lambda: in_pieces(make())))


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


def newest_first(
    found: Iterable[T], after: str, limit: int, at: Callable[[T], tuple[str, str]]
) -> tuple[list[T], str | None]:
    """The next `limit` of them by their time and id, and what to go on after."""
    some, last = page_of(found, moment(after), limit, at, backwards=True)
    return some, ",".join(last) if last else None


def oldest_first(
    found: Iterable[T], after: str, limit: int, at: Callable[[T], tuple[str, str]]
) -> tuple[list[T], str | None]:
    some, last = page_of(found, moment(after), limit, at)
    return some, ",".join(last) if last else None


def by_place(
    found: Iterable[T], after: str, limit: int, at: Callable[[T], tuple[int, str]]
) -> tuple[list[T], str | None]:
    """By row and column."""
    some, last = page_of(found, place(after), limit, at)
    return some, place_text(*last) if last else None


def by_number(found: Iterable[T], after: str, limit: int, at: Callable[[T], int]) -> tuple[list[T], str | None]:
    some, last = page_of(found, (number(after, after),), limit, lambda each: (at(each),))
    return some, str(last[0]) if last else None


def page_of(
    found: Iterable[T], after: K | None, limit: int, at: Callable[[T], K], *, backwards: bool = False
) -> tuple[list[T], K | None]:
    """What comes after `after`, whether or not that is still there: whoever works through a list takes out of it what
    they have seen."""
    left = sorted(found, key=at, reverse=backwards)
    if after is not None:
        left = [each for each in left if (at(each) < after if backwards else at(each) > after)]
    some = left[:limit]
    return some, at(some[-1]) if len(left) > limit else None


def moment(after: str) -> tuple[str, str] | None:
    said = MOMENT.fullmatch(after)
    if after and said is None:
        raise no_next(after)
    return (said[1], said[2]) if said else None


def place(after: str) -> tuple[int, str]:
    row_id, _, field = after.partition(":")
    return number(row_id, after), field


def place_text(row_id: int, field: str) -> str:
    return f"{row_id}:{field}"


def number(text: str, after: str) -> int:
    """Rows and what else is counted begin with 1."""
    if after and not (text.isascii() and text.isdecimal() and int(text) <= MOST_ROWS):
        raise no_next(after)
    return int(text) if after else 0


def no_next(after: str) -> UsageError:
    return UsageError(f"{after!r} is not the `next` of a page.", advice="Begin again without `after`.")


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
