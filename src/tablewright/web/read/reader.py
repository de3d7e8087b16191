"""Turn bytes from the web into a reading: the text of a page, or the reason why there is none.

The bytes decide their kind, whatever their label says; characters are decoded as a browser does. A PDF, and a page that
is not small, is read in a worker process, so that a page that breaks its reader affects no other.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from charset_normalizer import from_bytes

from tablewright.domain.model import Struct
from tablewright.errors import Unreadable as Lost
from tablewright.extras import is_installed
from tablewright.sandbox.limits import MEBIBYTE, ParserDeadline, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.text import detect_unmarked_utf16, find_byte_order_mark
from tablewright.web.fetch.blocked import explain_block
from tablewright.web.read.html import read_html
from tablewright.web.read.plain import read_csv_text, read_json_text, read_plain_text, read_xml_text
from tablewright.web.read.reading import PAGE_LIMITS, Reading, UnreadablePage

if TYPE_CHECKING:
    # The processes that read files would start more slowly with all that fetches pages.
    from tablewright.web.fetch.fetcher import Fetched

# PDFium has global state: two threads inside it at once crash the process.
_one_pdf_at_a_time = threading.Lock()


def read_bytes(body: bytes, *, content_type: str = "", charset: str = "", url: str = "") -> Reading:
    """Return the reading. Raise `UnreadablePage`, and nothing else, if there is no text."""
    if not body.strip():
        raise UnreadablePage("is empty")
    kind = _detect_content_kind(body, content_type.partition(";")[0].strip().lower())
    if kind == "pdf":
        with _one_pdf_at_a_time:
            return read_pdf_text(body)
    text = decode_bytes(body, charset)
    match kind:
        case "html":
            return read_html(text, url)
        case "json":
            return read_json_text(text)
        case "xml":
            return read_xml_text(text)
        case "csv" | "tsv":
            return read_csv_text(text, tabs=kind == "tsv")
        case _:
            return read_plain_text(text)


def is_pdf_content(body: bytes) -> bool:
    return b"%PDF-" in body[:1024]


def _detect_content_kind(body: bytes, label: str) -> str:
    """Return the kind of content. Unmistakable bytes decide: servers label pages as text and downloads as anything."""
    head = body[:2_048]
    if is_pdf_content(body):
        return "pdf"
    if label == "application/pdf":
        raise UnreadablePage("is a broken PDF")
    # First bytes of formats that cannot be read.
    for what, marks in (
        ("an image", (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x00\x00\x01\x00")),
        ("an image or a recording", b"RIFF"),
        ("a ZIP or Office file", b"PK\x03\x04"),
        ("an old Office file", b"\xd0\xcf\x11\xe0"),
        ("a compressed file", (b"\x1f\x8b", b"7z\xbc\xaf")),
        ("a program", b"\x7fELF"),
        ("a font", b"wOF"),
    ):
        if head.startswith(marks):
            raise UnreadablePage(f"is {what}, not text")
    if label.startswith(("image/", "audio/", "video/", "font/", "model/")) and label != "image/svg+xml":
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
    return _sniff_text_kind(head)


def _sniff_text_kind(head: bytes) -> str:
    # A page may begin with comments and an XML declaration.
    if re.match(
        rb"(?:<\?xml[^>]*+>|<!--(?>.*?-->)|\s++)*+<(?:!doctype\s+html|html|head|body|title|meta|base|div|p|h1|table|script)\b",
        head.removeprefix(b"\xef\xbb\xbf"),
        re.IGNORECASE | re.DOTALL,
    ):
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


def decode_bytes(body: bytes, charset: str = "") -> str:
    """Return the text by byte order mark, header or the page's own statement, unless that charset does not fit."""
    mark, marked = find_byte_order_mark(body)
    if mark:
        return body[len(mark) :].decode(marked, "replace")
    if body.isascii() and b"\x00" not in body[: PAGE_LIMITS.charset_bytes]:
        return body.decode("ascii")
    if wide := detect_unmarked_utf16(body[: PAGE_LIMITS.charset_bytes]):
        return body.decode(wide, "replace")
    stated = [codec for label in (charset, _stated_charset(body)) if (codec := _find_codec(label))]
    for codec in (*stated, "utf-8"):
        try:
            return body.decode(codec)
        except (UnicodeDecodeError, ValueError):
            continue
    return body.decode(_codec_for_damaged(body, stated), "replace")


def _codec_for_damaged(body: bytes, stated: list[str]) -> str:
    """Return the codec for a body that no charset fits: the stated one for a few broken bytes, else a guess."""
    declared = stated[0] if stated else "utf-8"
    broken = body.decode(declared, "replace").count("\ufffd")
    if broken <= max(1, len(re.findall(rb"[\x80-\xff]", body)) // 20):
        return declared
    lines = body[:262_144].splitlines(keepends=True)
    # Guessing takes a second per megabyte.
    sample = b"".join(line for line in lines if not line.isascii())[:32_768]
    best = from_bytes(sample, steps=3, chunk_size=512).best() if sample else None
    return best.encoding if best is not None else "cp1252"


def _stated_charset(body: bytes) -> str:
    found = re.search(
        rb"<meta[^<>]{0,400}?charset\s*+=\s*+[\"']?\s*+([\w:.-]{2,40})|<\?xml[^<>]{0,200}?encoding\s*+=\s*+[\"']([\w.-]{2,40})",
        body[: PAGE_LIMITS.charset_bytes],
        re.I,
    )
    return (found[1] or found[2]).decode("ascii") if found else ""


def _find_codec(label: str) -> str:
    label = label.strip(" \"'").lower()
    # As in browsers: these labels mean the larger character set that pages really use.
    larger = {
        "cp1252": "ascii us-ascii iso-8859-1 iso8859-1 latin-1 latin1 x-user-defined",
        "cp1254": "iso-8859-9",
        "gb18030": "gb2312 gbk x-gbk",
        "cp932": "shift_jis shift-jis x-sjis sjis windows-31j",
        "cp949": "ks_c_5601-1987 euc-kr",
        "big5hkscs": "big5",
    }
    label = next((codec for codec, labels in larger.items() if label in labels.split()), label)
    try:
        found = codecs.lookup(label)
    except (LookupError, ValueError):
        return ""
    # A page that states "utf-16" in ASCII is not in UTF-16; the others are codecs of Python, not charsets.
    others = ("utf-16", "utf-32", "utf-7", "undefined", "idna", "punycode", "unicode", "raw-unicode", "charmap")
    return found.name if found._is_text_encoding and not found.name.startswith(others) else ""


# ── PDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_pdf_text(body: bytes) -> Reading:
    if not is_installed("documents"):
        raise UnreadablePage("is a PDF, which only the extra 'documents' can read")
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
        # Less than the worker may take: pages read by then are kept, instead of all being lost.
        patience = ParserDeadline(30.0)
        for number in range(min(count, 2_000)):
            write_pdf_page(draft, document, number)
            if draft.length >= PAGE_LIMITS.characters or patience.is_over:
                break
        parsed = draft.finish("pdf", title=document.get_metadata_value("Title"))
    text = parsed.text[: PAGE_LIMITS.characters]
    if not text.strip():
        raise UnreadablePage("is a PDF of images, without text" if count else "is a PDF without pages")
    starts = tuple(start for start in parsed.page_starts if start <= len(text))
    return Reading(text=text, title=parsed.title, page_starts=starts)


# ── what was fetched, read ───────────────────────────────────────────────────────────────────────────────────────────

# A page of 12 million characters takes about a gigabyte.
LIMITS = SandboxLimits(seconds=60, memory=2_000 * MEBIBYTE)


class FetchReading(Struct, frozen=True):
    reading: Reading | None = None
    unreadable: str = ""
    blocked: str = ""


async def read_fetched(fetched: Fetched, sandbox: Sandbox) -> FetchReading:
    arguments = (
        fetched.body,
        fetched.content_type,
        fetched.charset,
        fetched.final_url,
        fetched.status,
        dict(fetched.headers),
    )
    # A thread of this process reads so few bytes: no reader takes long over them.
    if len(fetched.body) <= 64 * 1024 and not is_pdf_content(fetched.body):
        return await asyncio.to_thread(read_response, *arguments)
    try:
        return await sandbox.run("it", read_response, *arguments)
    except Lost as problem:
        return FetchReading(unreadable=problem.what.rstrip("."))


def read_response(
    body: bytes, content_type: str, charset: str, url: str, status: int, headers: dict[str, str]
) -> FetchReading:
    try:
        reading = read_bytes(body, content_type=content_type, charset=charset, url=url)
    except UnreadablePage as problem:
        return FetchReading(unreadable=str(problem))
    # A wall is a small page.
    html = decode_bytes(body[:200_000], charset) if "html" in content_type else ""
    if reason := explain_block(status, headers, html, reading.text):
        return FetchReading(blocked=reason)
    return FetchReading(reading=reading)
