"""Table files: `read_table` understands one, `open_writer` makes one."""

from tablewright.table.files.incoming import Incoming
from tablewright.table.files.markdown import to_markdown
from tablewright.table.files.read import read_table
from tablewright.table.files.write import Writer, format_of, open_writer, target_format, to_csv

__all__ = ["Incoming", "Writer", "format_of", "open_writer", "read_table", "target_format", "to_csv", "to_markdown"]
