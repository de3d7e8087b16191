"""One report, five kinds of file."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import msgspec

from tablewright.domain.document import document
from tablewright.domain.research import Report, ReportFormat
from tablewright.errors import BadFile, UsageError
from tablewright.formats.reports.docx import to_docx
from tablewright.formats.reports.html import to_html
from tablewright.formats.reports.markdown import to_markdown
from tablewright.formats.reports.tidy import rewritten, tidy

REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
_ENDINGS: dict[str, ReportFormat] = {**{name: name for name in REPORT_FORMATS}, "markdown": "md", "htm": "html"}


def render(report: Report, format: ReportFormat) -> bytes:
    """JSON holds the report exactly, for programs; the others are for people, and show only what is safe to show."""
    match format:
        case "md":
            return to_markdown(tidy(report)).encode()
        case "html":
            return to_html(tidy(report)).encode()
        case "docx":
            return to_docx(tidy(report))
        case "pdf":
            _can_write_pdf()
            from tablewright.formats.reports.pdf import to_pdf

            return to_pdf(tidy(report))
        case "json":
            encodable = rewritten(report, lambda text: text.encode("utf-8", "replace").decode())
            return msgspec.json.format(msgspec.json.encode(document(encodable)), indent=2) + b"\n"
    raise _unknown(f"{format!r} is no format a report can be written in.")


def report_format(path: Path) -> ReportFormat:
    """The format that a file's name asks for. Refused where it cannot be written here, before anything is spent."""
    ending = path.suffix.lower().removeprefix(".")
    if format := _ENDINGS.get(ending):
        if format == "pdf":
            _can_write_pdf()
        return format
    raise _unknown(f"The name {path.name} does not say in which format to write the report.")


def _can_write_pdf() -> None:
    if find_spec("reportlab") is None:
        raise UsageError(
            "Writing a PDF needs reportlab, which is not installed; nothing was done.",
            advice="Install it: pip install 'tablewright[pdf]'. Or write .html, .docx or .md.",
        )


def _unknown(what: str) -> BadFile:
    return BadFile(what, advice=f"Use one of {', '.join(f'.{format}' for format in REPORT_FORMATS)}.")
