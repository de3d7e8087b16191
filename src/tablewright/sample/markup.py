"""The few marks in which the pages of the sample world are written, as HTML and as the plain text a reader sees.

Blocks are separated by empty lines, and the first line says what a block is:

    ## A heading               - an item of a list        > a quotation
    Term :: its definition     = Label: value             (lines of a definition list; of an address-like block)
    | cell | cell              || label | value           (a table, headed if a line of |--- follows; an infobox)
    ~ not shown                ~~ in an HTML comment      (what a person does not see on the page)

Anything else is a paragraph. Inside: **bold** and [a link](http://www.site.example/).
"""

from __future__ import annotations

import html
import re

_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


def markup_to_html(body: str) -> str:
    return "\n".join(_block_html(block) for block in _split_blocks(body))


def markup_to_text(body: str) -> str:
    """Return the text a person reads, without the hidden parts."""
    return "\n\n".join(text for block in _split_blocks(body) if (text := _block_text(block)))


def _split_blocks(body: str) -> list[list[str]]:
    return [block.strip().splitlines() for block in re.split(r"\n\s*\n", body.strip()) if block.strip()]


def _block_mark(lines: list[str]) -> str:
    # Longer marks come before those that they begin with.
    marks = ("## ", "### ", "- ", "> ", "= ", "|| ", "| ", "~~ ", "~ ")
    mark = next((mark for mark in marks if lines[0].startswith(mark)), "")
    return mark.strip() or ("::" if " :: " in lines[0] else "")


def _block_html(lines: list[str]) -> str:
    mark = _block_mark(lines)
    rest = [_inline_html(line.removeprefix(mark).strip()) for line in lines]
    match mark:
        case "##" | "###":
            return f"<h{len(mark)}>{rest[0]}</h{len(mark)}>"
        case "-":
            return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in rest) + "\n</ul>"
        case ">":
            return f"<blockquote><p>{' '.join(rest)}</p></blockquote>"
        case "=":
            pairs = [line.partition(": ") for line in rest]
            lines = [f"<strong>{label}:</strong> {value}" if colon else label for label, colon, value in pairs]
            return "<p>" + "<br>\n".join(lines) + "</p>"
        case "::":
            terms = [line.split(" :: ", 1) for line in rest]
            return "<dl>\n" + "\n".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in terms) + "\n</dl>"
        case "||":
            return _markup_table_html([_split_markup_cells(line) for line in lines], headed=False, css="infobox")
        case "|":
            headed = len(lines) > 1 and lines[1].startswith("|---")
            return _markup_table_html(
                [_split_markup_cells(line) for line in lines if not line.startswith("|---")], headed=headed, css="data"
            )
        case "~":
            return f'<div style="display:none" aria-hidden="true">{" ".join(rest)}</div>'
        case "~~":
            return f"<!-- {' '.join(rest)} -->"
        case _:
            return f"<p>{' '.join(rest)}</p>"


def _block_text(lines: list[str]) -> str:
    mark = _block_mark(lines)
    if mark in ("~", "~~"):
        return ""
    if mark in ("|", "||"):
        return "\n".join(
            " | ".join(_strip_marks(cell) for cell in _split_markup_cells(line)) for line in lines if line[:4] != "|---"
        )
    if mark == "::":
        return "\n".join(_strip_marks(line).replace(" :: ", ": ", 1) for line in lines)
    return ("\n" if mark in ("-", "=") else " ").join(_strip_marks(line.removeprefix(mark).strip()) for line in lines)


def _split_markup_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _markup_table_html(rows: list[list[str]], *, headed: bool, css: str) -> str:
    lines = [f'<table class="{css}">']
    for number, cells in enumerate(rows):
        tags = ["th"] * len(cells) if headed and number == 0 else ["td"] * len(cells)
        if not headed:
            tags[0] = "th"
        lines.append(
            "<tr>" + "".join(f"<{tag}>{_inline_html(cell)}</{tag}>" for tag, cell in zip(tags, cells, strict=True))
        )
        lines[-1] += "</tr>"
    return "\n".join([*lines, "</table>"])


def _inline_html(text: str) -> str:
    text = _BOLD.sub(r"<strong>\1</strong>", html.escape(text, quote=False))
    return _LINK.sub(r'<a href="\2">\1</a>', text)


def _strip_marks(text: str) -> str:
    return _LINK.sub(r"\1", _BOLD.sub(r"\1", text))
