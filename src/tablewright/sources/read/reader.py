"""Bytes from the web as a reading: the text of a page, or why there is none.

Their kind is what the bytes are, whatever their label says; their characters are what a browser would show. A PDF,
and a page that is not small, is read in a worker process: what breaks its reader costs that page only.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import threading
from contextlib import closing

from charset_normalizer import from_bytes

from tablewright.domain.model import Noun
from tablewright.errors import Unreadable as Lost
from tablewright.extras import is_installed
from tablewright.sandbox.limits import MB, ParserDeadline, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.blocked import why_blocked
from tablewright.sources.fetch.fetcher import Fetched
from tablewright.sources.read.html import read_html
from tablewright.sources.read.plain import read_csv, read_json, read_text, read_xml
from tablewright.sources.read.reading import MAX_CHARS, Reading, UnreadablePage

_HEAD = 2048
_MARKUP = re.compile(
    rb"(?:<\?xml[^>]*+>|<!--(?>.*?-->)|\s++)*+<(?:!doctype\s+html|html|head|body|title|meta|base|div|p|h1|table|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = (
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image or a recording"),
    (b"PK\x03\x04", "a ZIP or Office file"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x1f\x8b", "a compressed file"),
    (b"7z\xbc\xaf", "a compressed file"),
    (b"\x7fELF", "a program"),
    (b"wOF", "a font"),
    (b"\x00\x00\x01\x00", "an image"),
)
_NO_TEXT = ("image/", "audio/", "video/", "font/", "model/")


def read(body: bytes, *, content_type: str = "", charset: str = "", url: str = "") -> Reading:
    """Raises `UnreadablePage`, and nothing else, where there is no text to be had."""
    if not body.strip():
        raise UnreadablePage("is empty")
    kind = _kind(body, content_type.partition(";")[0].strip().lower())
    if kind == "pdf":
        return read_pdf(body)
    text = decode(body, charset)
    match kind:
        case "html":
            return read_html(text, url)
        case "json":
            return read_json(text)
        case "xml":
            return read_xml(text)
        case "csv" | "tsv":
            return read_csv(text, tabs=kind == "tsv")
        case _:
            return read_text(text)


def is_pdf(body: bytes) -> bool:
    return b"%PDF-" in body[:1024]


def _kind(body: bytes, label: str) -> str:
    """The bytes decide where they are clear: servers label pages as text and downloads as anything."""
    head = body[:_HEAD]
    if is_pdf(body):
        return "pdf"
    if label == "application/pdf":
        raise UnreadablePage("is a broken PDF")
    for mark, what in _BINARY:
        if head.startswith(mark):
            raise UnreadablePage(f"is {what}, not text")
    if label.startswith(_NO_TEXT) and label != "image/svg+xml":
        raise UnreadablePage(f"is of the type {label}, not text")
    if label in ("text/html", "application/xhtml+xml"):
        return "html"
    if label == "application/json" or label.endswith("+json"):
        return "json"
    if label in ("text/csv", "application/csv"):
        return "csv"
    if label == "text/tab-separated-values":
        return "tsv"
    if label in ("text/xml", "application/xml") or label.endswith("+xml"):
        return "html" if re.search(rb"<html\b", head, re.IGNORECASE) else "xml"
    if label in ("text/plain", "text/markdown", "text/x-markdown"):
        return "text"
    return _sniffed(head)


def _sniffed(head: bytes) -> str:
    if _MARKUP.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    if head.lstrip().startswith(b"<?xml"):
        return "xml"
    if head.lstrip()[:1] in (b"{", b"["):
        return "json"
    unprintable = sum(byte < 9 or 13 < byte < 32 for byte in head)
    wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    if unprintable > 0.05 * len(head) and not wide:
        raise UnreadablePage("is a binary file, not text")
    return "text"


# ── characters ───────────────────────────────────────────────────────────────────────────────────────────────────────

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# As browsers do: these labels mean the larger character set that pages really use.
_MEANT = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-31j": "cp932",
    "x-user-defined": "cp1252",
}
_STATED = re.compile(
    rb"<meta[^<>]{0,400}?charset\s*+=\s*+[\"']?\s*+([\w:.-]{2,40})|<\?xml[^<>]{0,200}?encoding\s*+=\s*+[\"']([\w.-]{2,40})",
    re.I,
)
# A page that can say "utf-16" in ASCII is not in it; the others are codecs of Python, not charsets.
_NOT_ON_PAGES = ("utf-16", "utf-32", "utf-7", "undefined", "idna", "punycode", "unicode", "raw-unicode", "charmap")
_CHARSET_HEAD = 4096
_SAMPLE = 32 * 1024
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def decode(body: bytes, charset: str = "") -> str:
    """By its mark, the header, or what the page says of itself; a charset that does not fit is not believed."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    if body.isascii() and b"\x00" not in body[:_CHARSET_HEAD]:
        return body.decode("ascii")
    if wide := _utf16(body):
        return body.decode(wide, "replace")
    stated = [codec for label in (charset, _stated(body)) if (codec := _codec(label))]
    for codec in (*stated, "utf-8"):
        try:
            return body.decode(codec)
        except (UnicodeDecodeError, ValueError):
            continue
    return body.decode(_damaged(body, stated), "replace")


def _damaged(body: bytes, stated: list[str]) -> str:
    """No charset fits the whole. A few broken bytes in stated text are damage; text in another charset is not."""
    wanted = stated[0] if stated else "utf-8"
    broken = body.decode(wanted, "replace").count("\ufffd")
    if broken <= max(1, len(_NON_ASCII.findall(body)) // 20):
        return wanted
    sample = b"".join(line for line in body[: _SAMPLE * 8].splitlines(keepends=True) if not line.isascii())[:_SAMPLE]
    best = from_bytes(sample, steps=3, chunk_size=512).best() if sample else None
    return best.encoding if best is not None else "cp1252"


def _stated(body: bytes) -> str:
    found = _STATED.search(body[:_CHARSET_HEAD])
    return (found[1] or found[2]).decode("ascii") if found else ""


def _codec(label: str) -> str:
    label = label.strip(" \"'").lower()
    label = _MEANT.get(label, label)
    try:
        found = codecs.lookup(label)
    except (LookupError, ValueError):
        return ""
    return found.name if found._is_text_encoding and not found.name.startswith(_NOT_ON_PAGES) else ""


def _utf16(body: bytes) -> str:
    """UTF-16 without its mark: every other byte of markup is zero."""
    head = body[:_CHARSET_HEAD]
    if len(head) < 4 or b"\x00" not in head:
        return ""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * half and odd < 0.1 * half else ""


# ── PDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

MAX_PAGES = 2_000
SECONDS = 30.0

# PDFium has global state: two threads inside it at once crash the process.
_one_at_a_time = threading.Lock()


def read_pdf(body: bytes) -> Reading:
    if not is_installed("documents"):
        raise UnreadablePage("is a PDF, which only the extra 'documents' can read")
    with _one_at_a_time:
        return _read(body)


def _read(body: bytes) -> Reading:
    from pypdfium2 import PdfiumError

    from tablewright.extraction.layout.draft import TextDraft
    from tablewright.extraction.layout.pdf import PASSWORD_NEEDED, open_pdf, write_pdf_page

    try:
        document = open_pdf(body)
    except PdfiumError as error:
        reason = "is encrypted with a password" if error.err_code == PASSWORD_NEEDED else "is a broken PDF"
        raise UnreadablePage(reason) from error
    draft = TextDraft()
    with closing(document):
        count = len(document)
        patience = ParserDeadline(SECONDS)
        for number in range(min(count, MAX_PAGES)):
            write_pdf_page(draft, document, number)
            if draft.length >= MAX_CHARS or patience.is_over:
                break
        parsed = draft.done("pdf", title=document.get_metadata_value("Title"))
    text = parsed.text[:MAX_CHARS]
    if not text.strip():
        raise UnreadablePage("is a PDF of images, without text" if count else "is a PDF without pages")
    starts = tuple(start for start in parsed.page_starts if start <= len(text))
    return Reading(text=text, title=parsed.title, page_starts=starts)


# ── what was fetched, read ───────────────────────────────────────────────────────────────────────────────────────────

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
