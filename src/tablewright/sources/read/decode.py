"""Bytes of the web as text: what a browser would show, never an error."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

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
_HEAD = 4096
_SAMPLE = 32 * 1024
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def decode(body: bytes, charset: str = "") -> str:
    """By its mark, the header, or what the page says of itself; a charset that does not fit is not believed."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    if body.isascii() and b"\x00" not in body[:_HEAD]:
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
    found = _STATED.search(body[:_HEAD])
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
    head = body[:_HEAD]
    if len(head) < 4 or b"\x00" not in head:
        return ""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * half and odd < 0.1 * half else ""
