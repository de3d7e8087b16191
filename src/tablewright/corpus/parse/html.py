"""A web page that was saved: what a visitor reads on it."""

from __future__ import annotations

from lxml import etree

from tablewright.extraction.layout.draft import Parsed, TextDraft, write_lines
from tablewright.sources.read.html import MAX_HTML_CHARS, read_html
from tablewright.sources.read.reader import decode
from tablewright.sources.read.reading import MAX_CHARS
from tablewright.text import one_line

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def parse(content: bytes, name: str) -> Parsed:
    html = decode(content)
    reading = read_html(html, "")
    draft = TextDraft()
    write_lines(draft, reading.text.split("\n"), _headings(html))
    if len(reading.text) >= MAX_CHARS or len(html) > MAX_HTML_CHARS:
        draft.notes.append(f"Only its first {MAX_CHARS:,} characters were read.")
    return draft.done("html", title=reading.title)


def _headings(html: str) -> set[str]:
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    root = etree.fromstring(html[:MAX_HTML_CHARS].replace("\x00", "").encode("utf-8", "replace"), parser)
    return {one_line(" ".join(map(str, found.itertext()))) for found in root.iter(*_HEADINGS)}
