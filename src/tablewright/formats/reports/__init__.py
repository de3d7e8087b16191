"""A research report as a file: `render` makes it, `report_format` reads from a name which kind is wanted."""

from tablewright.formats.reports.write import render, report_format

__all__ = ["render", "report_format"]
