"""What a site answered, and the limits within which its body is read."""

from __future__ import annotations

import codecs
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from tablewright.sources.fetch.guard import ForbiddenAddress

REDIRECTS = frozenset({301, 302, 303, 307, 308})
ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_READABLE = frozenset({"application/xhtml+xml", "application/pdf", "application/json", "application/xml"})
_UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Types that say nothing; the first bytes of the body do."""
_SNIFFED = 1024


@dataclass(frozen=True)
class FetchResponse:
    status: int
    headers: httpx2.Headers
    body: bytes = b""
    content_type: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def location(self) -> str:
        """Where it redirects to; empty if it does not."""
        return str(self.headers.get("location", "")) if self.status in REDIRECTS else ""

    @property
    def charset(self) -> str:
        """What the header says of the encoding, if that is one we know."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return known_charset(value.strip(" \t\"'"))
        return ""

    @property
    def retry_after(self) -> float | None:
        """The seconds after which it may be asked again, if it says so."""
        told = self.headers.get("retry-after", "").strip()
        if told.isascii() and told.isdecimal():
            return float(told)
        try:
            at = parsedate_to_datetime(told)
            return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
        except (ValueError, OverflowError):
            return None


async def read_start(response: httpx2.Response, most: int) -> FetchResponse:
    """As much of the body as is of use; the rest is left where it is."""
    body = b"" if response.status_code in REDIRECTS else (await read_body(response, most))[:most]
    return FetchResponse(response.status_code, response.headers, body)


async def read_page(response: httpx2.Response, most: int) -> FetchResponse:
    """The whole body of a page. Raises Forbidden if it is too large or of a type that is not read."""
    told = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if told not in _UNTOLD and not is_readable(told):
        raise ForbiddenAddress(f"its type is {told}, which is not read")
    length = response.headers.get("content-length", "")
    too_large = f"it is larger than {most / 1_000_000:g} MB"
    if length.isdecimal() and int(length) > most:
        raise ForbiddenAddress(too_large)
    body = await read_body(response, most)
    if len(body) > most:
        raise ForbiddenAddress(too_large)
    content_type = sniff(body) if told in _UNTOLD else told
    if not content_type:
        raise ForbiddenAddress(f"its type is {told or 'not told'}, and it looks like neither a page nor a PDF")
    return FetchResponse(response.status_code, response.headers, body, content_type)


async def read_body(response: httpx2.Response, most: int) -> bytes:
    """Stops as soon as there are more than `most` bytes, counted after decompression, which goes piece by piece."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ENCODINGS:  # and not two of them either: the bytes between the two would go uncounted
        raise httpx2.DecodingError(f"it is compressed as {encoding}, which was not asked for")
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > most:
                break
    return bytes(body)


def is_readable(content_type: str) -> bool:
    if content_type.startswith("text/") or content_type in _READABLE:
        return True
    return content_type.startswith("application/") and content_type.endswith(("+json", "+xml"))


def sniff(body: bytes) -> str:
    """The type of a body whose sender does not tell; empty if it is neither PDF nor text."""
    start = body[:_SNIFFED]
    if b"%PDF-" in start:
        return "application/pdf"
    if b"\0" in start:
        return ""
    return "text/html" if b"<html" in start.lower() or b"<!doctype html" in start.lower() else "text/plain"


def known_charset(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
