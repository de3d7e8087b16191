"""A page as numbered lines, so that a reader can name rows of its tables and lists by their numbers.

The page reader writes a row of a table as one line, its cells between bars, and an item of a list as a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.citations.untrusted import LEFT_OUT, clean, looks_like_prompt_injection
from tablewright.domain.model import Noun

BAR = " | "
SHOWN = 1_500
"""Characters of a line that are shown: more is prose, of which the beginning tells what it is about."""
_RULE = re.compile(r"\s*+\|(?=[\s|:]*+-)[\s|:-]*+")
"""What Markdown puts below the header of a table."""
_FOOTNOTE = re.compile(r"\s{0,4}\[(?:\d{1,3}|[a-z]|(?:nb|note|n) \d{1,3})\]")


class NumberedLine(Noun, frozen=True):
    """`text[start:end]` of its page; numbers begin with 1."""

    number: int
    text: str
    start: int
    end: int

    @property
    def cells(self) -> tuple[str, ...]:
        """Of a row of a table, without the marks of footnotes; a single one for any other line."""
        inner = self.text.strip()
        parts = inner[1:-1].split("|") if is_framed(inner) else f" {self.text} ".split(BAR)
        return tuple(_FOOTNOTE.sub("", cell).strip() for cell in parts)

    @property
    def is_row(self) -> bool:
        return BAR in f" {self.text} " or is_framed(self.text.strip())


def is_framed(line: str) -> bool:
    """Whether it is a row as Markdown writes it: "| a | b |"."""
    return len(line) > 2 and line[0] == line[-1] == "|"


def lines_of(text: str) -> tuple[NumberedLine, ...]:
    found = (match for match in re.finditer(r"[^\n]+", text) if match[0].strip() and not _RULE.fullmatch(match[0]))
    return tuple(
        NumberedLine(number=number, text=match[0], start=match.start(), end=match.end())
        for number, match in enumerate(found, start=1)
    )


def shown(lines: Sequence[NumberedLine]) -> str:
    """The lines with their numbers; what gives orders to machines is left out before a number could hide it."""
    return "\n".join(
        f"[{line.number}] {LEFT_OUT if looks_like_prompt_injection(line.text) else visible(line)}" for line in lines
    )


def visible(line: NumberedLine) -> str:
    text = clean(line.text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"


def chunks(lines: Sequence[NumberedLine], room: int) -> Iterator[tuple[NumberedLine, ...]]:
    """In parts that fit; one that begins inside a table begins with the line above the table and its first row, which
    name what it lists and its columns."""
    part: list[NumberedLine] = []
    size = 0
    above: NumberedLine | None = None
    header: NumberedLine | None = None
    for line in lines:
        length = min(len(line.text), SHOWN) + 8
        if size + length > room and part:
            yield tuple(part)
            part = [each for each in (above, header) if each is not None and line.is_row]
            size = sum(min(len(each.text), SHOWN) + 8 for each in part)
        header = (header or line) if line.is_row else None
        above = above if line.is_row else line
        part.append(line)
        size += length
    if part:
        yield tuple(part)
