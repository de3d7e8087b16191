"""What was fetched, read: the text of a page, or why there is none.

A PDF, and a page that is not small, is read in a worker process; what breaks its reader costs that page only.
"""

from __future__ import annotations

import asyncio

from tablewright.domain.model import Noun
from tablewright.errors import Unreadable as Lost
from tablewright.sandbox.limits import MB, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.blocked import why_blocked
from tablewright.sources.fetch.fetcher import Fetched
from tablewright.sources.read.decode import decode
from tablewright.sources.read.reader import is_pdf, read
from tablewright.sources.read.reading import Reading, UnreadablePage

LIMITS = SandboxLimits(seconds=60, memory=2_000 * MB)
SMALL = 64 * 1024
"""Bytes that are read in a thread of this process: no reader takes long over so few."""
_LOOKED_AT = 200_000


class Opened(Noun, frozen=True):
    reading: Reading | None = None
    unreadable: str = ""
    blocked: str = ""


async def open_fetched(fetched: Fetched, sandbox: Sandbox) -> Opened:
    arguments = (
        fetched.body,
        fetched.content_type,
        fetched.charset,
        fetched.final_url,
        fetched.status,
        dict(fetched.headers),
    )
    if len(fetched.body) <= SMALL and not is_pdf(fetched.body):
        return await asyncio.to_thread(opened, *arguments)
    try:
        return await sandbox.run("it", opened, *arguments)
    except Lost as problem:
        return Opened(unreadable=problem.what.rstrip("."))


def opened(body: bytes, content_type: str, charset: str, url: str, status: int, headers: dict[str, str]) -> Opened:
    try:
        reading = read(body, content_type=content_type, charset=charset, url=url)
    except UnreadablePage as problem:
        return Opened(unreadable=str(problem))
    html = decode(body[:_LOOKED_AT], charset) if "html" in content_type else ""
    if reason := why_blocked(status, headers, html, reading.text):
        return Opened(blocked=reason)
    return Opened(reading=reading)
