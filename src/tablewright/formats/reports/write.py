"""Render a report in one of five formats; the entry point of this package. No I/O."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import msgspec

from tablewright.domain.research import Report, ReportFormat
from tablewright.domain.text import to_json_document
from tablewright.errors import BadFile, UsageError
from tablewright.formats.reports.docx import render_docx_report
from tablewright.formats.reports.html import render_html_report
from tablewright.formats.reports.markdown import render_markdown_report
from tablewright.formats.reports.tidy import map_texts, tidy_report

REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


def render_report(report: Report, format: ReportFormat) -> bytes:
    """Return the report as a file: JSON holds it exactly, the other formats show only what is safe to show."""
    match format:
        case "md":
            return render_markdown_report(tidy_report(report)).encode()
        case "html":
            return render_html_report(tidy_report(report)).encode()
        case "docx":
            return render_docx_report(tidy_report(report))
        case "pdf":
            _require_reportlab()
            from tablewright.formats.reports.pdf import render_pdf_report

            return render_pdf_report(tidy_report(report))
        case "json":
            encodable = map_texts(report, lambda text: text.encode("utf-8", "replace").decode())
            return msgspec.json.format(msgspec.json.encode(to_json_document(encodable)), indent=2) + b"\n"
    raise _unknown_report_format(f"{format!r} is no format a report can be written in.")


def report_format(path: Path) -> ReportFormat:
    """Return the format of a file name. Raise an error if it cannot be written here, before anything is spent."""
    ending = path.suffix.lower().removeprefix(".")
    ending = {"markdown": "md", "htm": "html"}.get(ending, ending)
    if format := next((each for each in REPORT_FORMATS if each == ending), None):
        if format == "pdf":
            _require_reportlab()
        return format
    raise _unknown_report_format(f"The name {path.name} does not say in which format to write the report.")


def _require_reportlab() -> None:
    if find_spec("reportlab") is None:
        raise UsageError(
            "Writing a PDF needs reportlab, which is not installed; nothing was done.",
            advice="Install it: pip install 'tablewright[pdf]'. Or write .html, .docx or .md.",
        )


def _unknown_report_format(what: str) -> BadFile:
    return BadFile(what, advice=f"Use one of {', '.join(f'.{format}' for format in REPORT_FORMATS)}.")
