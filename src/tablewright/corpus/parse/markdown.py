"""Markdown as it is written, with its headings and tables."""

from __future__ import annotations

import re

from tablewright.corpus.parse.text import text_lines
from tablewright.extraction.layout.draft import FENCE, Parsed, TextDraft, write_lines

_HEADING = re.compile(r" {0,3}#{1,6} +(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})")
_FRONT_MATTER_TITLE = re.compile(r"title:\s*[\"']?(.+?)[\"']?", re.IGNORECASE)


def parse(content: bytes, name: str) -> Parsed:
    lines = text_lines(content)
    draft = TextDraft()
    write_lines(draft, lines)
    title = ""
    at, fenced = 0, False
    for number, line in enumerate(lines):
        fenced ^= bool(FENCE.match(line))
        if place := None if fenced else _heading(line, lines[number + 1] if number + 1 < len(lines) else ""):
            draft.mark_heading(at + place[0], at + place[1])
            title = title or line[place[0] : place[1]]
        at += len(line) + 1
    return draft.done("md", title=_front_matter_title(lines) or title)


def _heading(line: str, below: str) -> tuple[int, int] | None:
    if match := _HEADING.fullmatch(line):
        bare = line.rstrip("#")
        end = len(bare.rstrip()) if bare.endswith(" ") else len(line)  # "# Title ##" is closed, "# C#" is not
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
        if match := _FRONT_MATTER_TITLE.fullmatch(line):
            return match[1]
    return ""
