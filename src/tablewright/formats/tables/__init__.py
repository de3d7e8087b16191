"""Table files: `read_table` understands one, `open_writer` makes one."""

from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.markdown import to_markdown
from tablewright.formats.tables.read import read_table
from tablewright.formats.tables.write import Writer, format_of, open_writer, target_format, to_csv

__all__ = ["Incoming", "Writer", "format_of", "open_writer", "read_table", "target_format", "to_csv", "to_markdown"]
