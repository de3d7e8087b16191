"""Render a tidy report as Markdown that is also readable as plain text. Retrieved words are never markup. No I/O."""

from __future__ import annotations

import re

from tablewright.domain.research import Report
from tablewright.formats.reports.outline import (
    Block,
    Heading,
    Item,
    OutlineTable,
    Paragraph,
    Runs,
    TextRun,
    outline_report,
)
from tablewright.formats.tables.markdown import escape_markdown


def render_markdown_report(report: Report) -> str:
    lines: list[str] = []
    before: type[Block] | None = None
    for block in outline_report(report):
        if before and not (before is Item and isinstance(block, Item)):
            lines.append("")
        lines += _write_block_lines(block)
        before = type(block)
    return "\n".join([*lines, ""])


def _write_block_lines(block: Block) -> list[str]:
    match block:
        case Heading():
            return [f"{'#' * block.level} {_escape_words(block.text)}"]
        case Paragraph():
            return [_join_runs(block.runs)]
        case Item():
            number = f"[{block.number}] " if block.number else ""
            # Two spaces at the end keep each quote a line of its own.
            return [f"- {number}{_join_runs(block.runs)}", *(f"  > {_join_runs(quote)}  " for quote in block.quotes)]
        case OutlineTable():
            rows = [[_join_runs(cell) for cell in row] for row in block.rows]
            header = [_escape_words(name) for name in block.header]
            return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def _join_runs(runs: Runs) -> str:
    return " ".join(_write_markdown_run(run) for run in runs if run.text)


def _write_markdown_run(run: TextRun) -> str:
    if run.cites:
        return run.text
    if run.link == run.text:
        return f"<{run.link}>"
    text = _escape_words(run.text)
    if run.look:
        mark = "**" if run.look == "bold" else "*"
        text = f"{mark}{text}{mark}"
    return f"[{text}]({_escape_url(run.link)})" if run.link else text


def _escape_words(text: str) -> str:
    """Escape text so that it stays plain at any place of a line."""
    # A dollar sign that some viewers take as the end of a formula.
    text = re.sub(r"(?<=\S)\$(?!\d)", r"\\$", escape_markdown(text))
    # Parts of addresses that viewers turn into links without being asked.
    text = re.sub(r"(?<=\bwww)\.|:(?=//)", r"\\\g<0>", text, flags=re.IGNORECASE)
    # Marks that make a heading, list or quotation only at the start of a line.
    return re.sub(
        r"^(?:[#+=-]|\d{1,9}(?=[.)](?:\s|$)))",
        lambda found: f"{found[0]}\\" if found[0].isdecimal() else f"\\{found[0]}",
        text,
    )


def _escape_url(url: str) -> str:
    # Characters that end a link or begin emphasis or a formula in some viewers, though an address may hold them.
    return re.sub(r"[()*~$]", lambda mark: f"%{ord(mark[0]):02X}", url).replace("&", "&amp;")
