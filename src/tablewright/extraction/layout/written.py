"""How lines, laid-out pages and tables are written: forms as "Label: value" lines, tables as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from tablewright.extraction.layout.draft import TextDraft, names_columns
from tablewright.extraction.layout.lines import LineCell, cells_between_bars, is_rule
from tablewright.extraction.layout.placed import Columns
from tablewright.text.characters import one_line

FENCE = re.compile(r"\s{0,20}(?:```|~~~)")


def write_layout(draft: TextDraft, page: Sequence[str | Columns], headings: Collection[str] = ()) -> None:
    for _, parts in groupby(page, key=type):
        for part in (run := list(parts)):
            if isinstance(part, Columns):
                write_table(draft, part.rows)
        write_lines(draft, [shown for part in run if isinstance(part, str) and (shown := one_line(part))], headings)


def write_lines(draft: TextDraft, lines: Sequence[str], headings: Collection[str] = ()) -> None:
    """Writes the lines as they are; those with cells between bars, "a | b" or "| a | b |", become a table too."""
    fenced = ruled = False
    table: list[tuple[LineCell, ...]] = []
    for line in lines:
        fence = bool(FENCE.match(line))
        fenced ^= fence
        start, end = draft.line(line)
        if line in headings:
            draft.mark_heading(start, end)
        if not fenced and not fence and "|" in line and end - start == len(line):
            if is_rule(line):
                ruled = ruled or len(table) == 1
                continue
            cells = cells_between_bars(line, start)
            if len(cells) > 1 and (not table or abs(len(table[-1]) - len(cells)) <= ruled):
                table.append(cells)
                continue
        _end_table(draft, table, ruled=ruled)
        table, ruled = [], False
    _end_table(draft, table, ruled=ruled)


def _end_table(draft: TextDraft, table: Sequence[Sequence[LineCell]], *, ruled: bool) -> None:
    if len(table) > 1:
        head = ruled or names_columns([[cell.text for cell in row] for row in table])
        draft.grid([tuple((cell.start, cell.end) for cell in row) for row in table], head=head)


def write_table(draft: TextDraft, rows: Sequence[Sequence[str]]) -> None:
    if _is_form(rows):
        for line in _form_lines(rows):
            draft.line(line)
    elif len(rows) == 1:
        draft.line(one_line(" ".join(cell for cell in rows[0] if cell)))
    else:
        for row in rows:
            draft.row(row)
        draft.end_table(head=names_columns(rows))


def _is_form(rows: Sequence[Sequence[str]]) -> bool:
    """At least every third cell is a label with a colon, alone in its cell or before its value."""
    cells = [cell for row in rows for cell in row if cell]
    labels = sum(cell.endswith(":") or ": " in cell[:60] for cell in cells)
    return labels * 3 >= len(cells)


def _form_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """One line for each label with its value, so that the value of one is not read as the next label's."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    at = 0
    while at < len(shown):
        if at + 1 < len(shown) and _labels_above(shown[at], shown[at + 1]):
            for label, value in zip(shown[at], shown[at + 1], strict=True):
                if label or value:
                    yield f"{label} {value}".strip()
            at += 2
        else:
            yield from _labels_beside(shown[at])
            at += 1


def _labels_above(row: Sequence[str], below: Sequence[str]) -> bool:
    labels = [cell for cell in row if cell]
    return len(labels) > 1 and all(cell.endswith(":") for cell in labels) and not any(":" in cell for cell in below)


def _labels_beside(row: Sequence[str]) -> list[str]:
    out: list[str] = []
    open_label = False
    for cell in row:
        if not cell:
            open_label = False  # its value is the empty cell
        elif open_label and not cell.endswith(":"):
            out[-1] += f" {cell}"
            open_label = False
        else:
            out.append(cell)
            open_label = cell.endswith(":")
    return out
