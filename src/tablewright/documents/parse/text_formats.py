"""Parse formats that are text: plain text, Markdown, CSV, saved web pages and e-mails.

Each parser takes the bytes of a file and its name, and returns `Parsed` with the tables and headings that the format
marks. They are together because all of them are a decoder and a few lines over `TextDraft`.
"""

from __future__ import annotations

import csv
import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from lxml import etree

from tablewright.extraction.layout.draft import DRAFT_LIMITS, FENCE, Parsed, TextDraft, is_header_row, write_lines
from tablewright.formats.tables.delimited import ONE_COLUMN, read_records
from tablewright.text import clean_one_line, remove_invisible
from tablewright.web.read.html import read_html
from tablewright.web.read.reader import decode_bytes
from tablewright.web.read.reading import PAGE_LIMITS
from tablewright.web.read.reading import UnreadablePage as NothingToRead

# ── plain text ───────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_plain_text(content: bytes, name: str) -> Parsed:
    draft = TextDraft()
    pages = _decode_text(content).split("\f")
    while len(pages) > 1 and not pages[-1].strip():
        pages.pop()
    for page in pages:
        if len(pages) > 1:
            draft.start_page()
        write_lines(draft, _strip_lines(page))
    return draft.finish("txt")


def decode_lines(content: bytes) -> list[str]:
    """Return the lines without invisible characters; several blank lines become one."""
    return _strip_lines(_decode_text(content).replace("\f", "\n"))


def _decode_text(content: bytes) -> str:
    return decode_bytes(content)[: 2 * DRAFT_LIMITS.characters].replace("\r\n", "\n").replace("\r", "\n")


def _strip_lines(text: str) -> list[str]:
    kept: list[str] = []
    for line in remove_invisible(text.expandtabs(4)).split("\n"):
        line = line.rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# A line of = or - below a line makes it a heading.
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})")


def parse_markdown(content: bytes, name: str) -> Parsed:
    lines = decode_lines(content)
    draft = TextDraft()
    write_lines(draft, lines)
    at, fenced = 0, False
    for number, line in enumerate(lines):
        fenced ^= bool(FENCE.match(line))
        if place := None if fenced else _find_heading(line, lines[number + 1] if number + 1 < len(lines) else ""):
            draft.mark_heading(at + place[0], at + place[1])
        at += len(line) + 1
    return draft.finish("md", title=_front_matter_title(lines) or draft.find_title())


def _find_heading(line: str, below: str) -> tuple[int, int] | None:
    if match := re.fullmatch(r" {0,3}#{1,6} +(\S.*)", line):
        bare = line.rstrip("#")
        # "# Title ##" is closed, "# C#" is not.
        end = len(bare.rstrip()) if bare.endswith(" ") else len(line)
        return match.start(1), end if end > match.start(1) else len(line)
    if below and line.strip() and "|" not in line and _UNDERLINE.fullmatch(below) and not _UNDERLINE.fullmatch(line):
        return len(line) - len(line.lstrip()), len(line)
    return None


def _front_matter_title(lines: list[str]) -> str:
    if lines[:1] != ["---"]:
        return ""
    for line in lines[1:50]:
        if line == "---":
            break
        if match := re.fullmatch(r"title:\s*[\"']?(.+?)[\"']?", line, re.IGNORECASE):
            return match[1]
    return ""


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_csv(content: bytes, name: str) -> Parsed:
    text = decode_bytes(content).replace("\0", "")
    tabs = name.lower().endswith((".tsv", ".tab"))
    dialect, records = read_records(text, tabs=tabs)
    if dialect.delimiter == ONE_COLUMN:
        return parse_plain_text(content, name)
    draft = TextDraft()
    first: list[list[str]] = []
    try:
        for record in records:
            draft.add_row(record)
            if len(first) < 2 and any(map(str.strip, record)):
                first.append([clean_one_line(cell) for cell in record])
            if draft.is_full:
                break
    except csv.Error as error:
        draft.notes.append(f"It was read only as far as it is well formed ({error}).")
    draft.end_table(head=is_header_row(first))
    return draft.finish("tsv" if dialect.delimiter == "\t" else "csv")


# ── web pages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_html(content: bytes, name: str) -> Parsed:
    html = decode_bytes(content)
    reading = read_html(html, "")
    draft = TextDraft()
    write_lines(draft, reading.text.split("\n"), _collect_headings(html))
    if len(reading.text) >= PAGE_LIMITS.characters or len(html) > PAGE_LIMITS.html_characters:
        draft.notes.append(f"Only its first {PAGE_LIMITS.characters:,} characters were read.")
    return draft.finish("html", title=reading.title)


def _collect_headings(html: str) -> set[str]:
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html[: PAGE_LIMITS.html_characters].replace("\x00", "").encode("utf-8", "replace"), parser)
    return {
        clean_one_line(" ".join(map(str, found.itertext()))) for found in root.iter("h1", "h2", "h3", "h4", "h5", "h6")
    }


# ── e-mails ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_mail(content: bytes, name: str) -> Parsed:
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(content)
    draft = TextDraft()
    for header in ("From", "To", "Cc", "Date", "Subject"):
        if value := _read_header(message, header):
            draft.add_line(f"{header}: {value}")
    draft.add_line("")
    write_lines(draft, _read_mail_body(message))
    names = [clean_one_line(part.get_filename() or part.get_content_type()) for part in message.iter_attachments()]
    if names:
        # More names say nothing more; the note is shown on the page.
        listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
        draft.notes.append(f"Attached and not read: {listed}. Save what you need and add it by itself.")
    return draft.finish("eml", title=_read_header(message, "Subject"))


def _read_header(message: EmailMessage, header: str) -> str:
    try:
        return clean_one_line(str(message.get(header, "")))
    except (ValueError, IndexError, AttributeError, TypeError):
        # The standard library over malformed addresses.
        return ""


def _read_mail_body(message: EmailMessage) -> list[str]:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return []
    payload = part.get_payload(decode=True)
    body = payload if isinstance(payload, bytes) else b""
    text = decode_bytes(body, part.get_content_charset() or "")
    if part.get_content_subtype() != "html":
        return decode_lines(text.encode("utf-8", "replace"))
    try:
        return read_html(text, "").text.split("\n")
    except NothingToRead:
        return []
