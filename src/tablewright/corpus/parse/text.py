"""Plain text in any encoding; a table of cells between bars is known as one."""

from __future__ import annotations

from tablewright.corpus.parse.draft import MAX_CHARS, Draft
from tablewright.corpus.parse.parsed import Parsed
from tablewright.corpus.parse.pipes import write_lines
from tablewright.sources.read.characters import visible
from tablewright.sources.read.decode import decode


def parse(content: bytes, name: str) -> Parsed:
    draft = Draft()
    write_lines(draft, text_lines(content))
    return draft.done("txt")


def text_lines(content: bytes) -> list[str]:
    """The lines as they stand, without what no reader sees; several blank lines are one."""
    text = decode(content)[: 2 * MAX_CHARS].replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    kept: list[str] = []
    for line in visible(text.expandtabs(4)).split("\n"):
        line = line.rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return kept
