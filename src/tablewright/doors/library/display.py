"""How results look in a notebook: values coloured by how sure they are, their quotes on hover. Everything that was
retrieved is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tablewright.domain.model import Cell, Label, Table
from tablewright.domain.reply import Reply
from tablewright.domain.text import cell_text

MOST_ROWS = 50
COLOURS: dict[Label, str] = {"high": "#1b7f3b", "medium": "#9a6700", "low": "#b42318", "none": "inherit"}


def table_html(table: Table, notes: Sequence[str] = ()) -> str:
    fields = table.shown_fields
    head = "".join(f"<th>{escape(field.name)}</th>" for field in fields)
    rows = [
        f"<tr>{''.join(cell_html(row.cell(field.name)) for field in fields)}</tr>" for row in table.rows[:MOST_ROWS]
    ]
    more = len(table.rows) - len(rows)
    below = [f"{more:,} more rows"] if more > 0 else []
    said = "".join(f"<p>{escape(each)}</p>" for each in (*below, *notes))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{said}"


def cell_html(cell: Cell) -> str:
    colour = "inherit" if cell.is_given else COLOURS[cell.confidence_label]
    marks = [word for word, applies in (("flagged", cell.status == "FLAGGED"), ("stale", cell.stale)) if applies]
    shown = escape(cell_text(cell)) + "".join(f" <small>({mark})</small>" for mark in marks)
    return f'<td style="color: {colour}" title="{escape(why(cell))}">{shown}</td>'


def why(cell: Cell) -> str:
    """What is shown on hover."""
    if cell.is_given:
        return ""
    if cell.value is None:
        return " ".join(filter(None, (cell.reason and cell.reason.replace("_", " "), cell.error)))
    sure = f"{cell.confidence_label} ({cell.confidence or 0:.2f}), {cell.shown_basis or 'no basis'}"
    quotes = [f"“{each.quote}” {each.title or each.origin}" for each in cell.evidence]
    return "\n".join([sure, *quotes])


def reply_html(reply: Reply) -> str:
    sources = "".join(
        f"<li value={each.number}>{escape(each.title)}{f', page {each.page}' if each.page else ''}: "
        f"<q>{escape(each.quote)}</q></li>"
        for each in reply.citations
    )
    rows = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row.values)}</tr>" for row in reply.rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in reply.columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    trust = escape(": ".join(filter(None, (reply.completeness, reply.reason))))
    answer = escape(reply.answer).replace("\n", "<br>")
    return f"<p>{answer}</p>{table}<p><em>{trust}</em></p><ol>{sources}</ol>"
