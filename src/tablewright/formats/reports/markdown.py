"""A report as Markdown that reads well as it stands, too. Retrieved words are never markup, wherever they come."""

from __future__ import annotations

import re

from tablewright.domain.research import Report
from tablewright.formats.reports.outline import Block, Heading, Item, OutlineTable, Paragraph, Runs, TextRun, outline
from tablewright.formats.tables.markdown import escape_markdown

_LINE_START = re.compile(r"^(?:[#+=-]|\d{1,9}(?=[.)](?:\s|$)))")
_CLOSES_MATH = re.compile(r"(?<=\S)\$(?!\d)")
_AUTOLINK = re.compile(r"(?<=\bwww)\.|:(?=//)", re.IGNORECASE)
_UNSAFE_IN_ADDRESS = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "()*~$"} | {"&": "&amp;"})


def to_markdown(report: Report) -> str:
    lines: list[str] = []
    before: type[Block] | None = None
    for block in outline(report):
        if before and not (before is Item and isinstance(block, Item)):
            lines.append("")
        lines += _lines(block)
        before = type(block)
    return "\n".join([*lines, ""])


def _lines(block: Block) -> list[str]:
    match block:
        case Heading():
            return [f"{'#' * block.level} {_text(block.text)}"]
        case Paragraph():
            return [_inline(block.runs)]
        case Item():
            number = f"[{block.number}] " if block.number else ""
            return [f"- {number}{_inline(block.runs)}", *(f"  > {_inline(quote)}  " for quote in block.quotes)]
        case OutlineTable():
            rows = [[_inline(cell) for cell in row] for row in block.rows]
            header = [_text(name) for name in block.header]
            return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def _inline(runs: Runs) -> str:
    return " ".join(_run(run) for run in runs if run.text)


def _run(run: TextRun) -> str:
    if run.cites:
        return run.text
    if run.link == run.text:
        return f"<{run.link}>"
    text = _text(run.text)
    if run.look:
        mark = "**" if run.look == "bold" else "*"
        text = f"{mark}{text}{mark}"
    return f"[{text}]({_address(run.link)})" if run.link else text


def _text(text: str) -> str:
    """Words that stay words wherever on a line they come to stand."""
    text = _CLOSES_MATH.sub(r"\\$", escape_markdown(text))
    text = _AUTOLINK.sub(r"\\\g<0>", text)
    return _LINE_START.sub(lambda found: f"{found[0]}\\" if found[0].isdecimal() else f"\\{found[0]}", text)


def _address(url: str) -> str:
    return url.translate(_UNSAFE_IN_ADDRESS)
