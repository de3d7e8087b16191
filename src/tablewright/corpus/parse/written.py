"""How a page that was laid out, or a table, is written: forms as "Label: value" lines, tables as rows of cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tablewright.corpus.parse.draft import TextDraft, names_columns
from tablewright.corpus.parse.layout import Columns
from tablewright.sources.read.characters import one_line


def write_layout(draft: TextDraft, page: Sequence[str | Columns], headings: Collection[str] = ()) -> None:
    for part in page:
        if not isinstance(part, str):
            write_table(draft, part.rows)
        elif shown := one_line(part):
            if shown in headings:
                draft.heading(shown)
            else:
                draft.line(shown)


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
