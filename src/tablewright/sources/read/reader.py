"""Bytes from the web as a reading: which kind they are, whatever their label says, and who reads that kind."""

from __future__ import annotations

import re

from tablewright.sources.read.decode import decode
from tablewright.sources.read.html import read_html
from tablewright.sources.read.pdf import read_pdf
from tablewright.sources.read.plain import read_csv, read_json, read_text, read_xml
from tablewright.sources.read.reading import Reading, UnreadablePage

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
