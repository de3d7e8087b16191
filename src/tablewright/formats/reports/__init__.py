"""A research report as a file: `render` makes it, `report_format` reads from a name which kind is wanted."""

from tablewright.formats.reports.write import ReportFormat, render, report_format

__all__ = ["ReportFormat", "render", "report_format"]
