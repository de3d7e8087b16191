"""Number the lines of a page, so that a model can refer to rows of its tables and lists by number.

The page reader writes a table row as one line, its cells between bars, and a list item as a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.citations.quotes import LEFT_OUT, looks_like_prompt_injection, remove_marks
from tablewright.domain.model import Struct
from tablewright.extraction.layout.pairs import is_table_row, is_table_rule, split_bar_cells
from tablewright.llm.text_budget import TEXT_LIMITS, cut_text, split_batches


class NumberedLine(Struct, frozen=True):
    """`text[start:end]` of its page; numbers begin with 1."""

    number: int
    text: str
    start: int
    end: int

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table row without footnote marks; any other line is a single cell."""
        cells = [cell.text for cell in split_bar_cells(self.text, 0)] if self.is_row else [self.text]
        # Wikipedia's marks: "[12]", "[a]", "[note 3]".
        return tuple(re.sub(r"\s{0,4}\[(?:\d{1,3}|[a-z]|(?:nb|note|n) \d{1,3})\]", "", cell).strip() for cell in cells)

    @property
    def is_row(self) -> bool:
        return is_table_row(self.text)


def split_numbered_lines(text: str) -> tuple[NumberedLine, ...]:
    found = (match for match in re.finditer(r"[^\n]+", text) if match[0].strip() and not is_table_rule(match[0]))
    return tuple(
        NumberedLine(number=number, text=match[0], start=match.start(), end=match.end())
        for number, match in enumerate(found, start=1)
    )


def render_numbered_lines(lines: Sequence[NumberedLine]) -> str:
    """Return the lines with their numbers for a prompt.

    Prompt injection is removed first: a number in front of it could hide it from the check."""
    limit = TEXT_LIMITS.page_line
    return "\n".join(
        f"[{line.number}] "
        f"{LEFT_OUT if looks_like_prompt_injection(line.text) else cut_text(remove_marks(line.text), limit, ' …')}"
        for line in lines
    )


def split_lines_to_fit(lines: Sequence[NumberedLine], room: int) -> Iterator[tuple[NumberedLine, ...]]:
    """Yield the lines in parts that fit into `room`.

    A part that begins inside a table repeats the line above the table and its first row, which name the columns."""
    opening: dict[int, tuple[NumberedLine, ...]] = {}
    above: tuple[NumberedLine, ...] = ()
    header: tuple[NumberedLine, ...] = ()
    for line in lines:
        opening[line.number] = (*above, *header) if line.is_row else ()
        header = (header or (line,)) if line.is_row else ()
        above = above if line.is_row else (line,)
    return split_batches(
        lines,
        lambda line: min(len(line.text), TEXT_LIMITS.page_line) + TEXT_LIMITS.around_line,
        room=room,
        opening=lambda line: opening[line.number],
    )
