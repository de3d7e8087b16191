"""Table files: `read_table` understands one, `open_writer` makes one."""

from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.markdown import render_markdown_table
from tablewright.formats.tables.read import read_table
from tablewright.formats.tables.write import Writer, format_from_name, open_writer, render_csv, target_format

__all__ = [
    "Incoming",
    "Writer",
    "format_from_name",
    "open_writer",
    "read_table",
    "render_csv",
    "render_markdown_table",
    "target_format",
]
