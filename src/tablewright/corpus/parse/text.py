"""Plain text in any encoding; a table of cells between bars is known as one, and a form feed ends a page."""

from __future__ import annotations

from tablewright.extraction.layout.draft import MAX_CHARS, Parsed, TextDraft, write_lines
from tablewright.sources.read.reader import decode
from tablewright.text import visible


def parse(content: bytes, name: str) -> Parsed:
    draft = TextDraft()
    pages = _decoded(content).split("\f")
    while len(pages) > 1 and not pages[-1].strip():
        pages.pop()
    for page in pages:
        if len(pages) > 1:
            draft.page()
        write_lines(draft, _lines(page))
    return draft.done("txt")


def text_lines(content: bytes) -> list[str]:
    """The lines as they stand, without what no reader sees; several blank lines are one."""
    return _lines(_decoded(content).replace("\f", "\n"))


def _decoded(content: bytes) -> str:
    return decode(content)[: 2 * MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n")


def _lines(text: str) -> list[str]:
    kept: list[str] = []
    for line in visible(text.expandtabs(4)).split("\n"):
        line = line.rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept
