"""Limits of table files. A file beyond a limit is refused with a sentence, never cut silently."""

from __future__ import annotations

# As many as Excel has.
MAX_COLUMNS = 16_384
# Longer values and lines are damaged files: an unclosed quote, or no table at all.
MAX_FIELD_CHARS = 10 * 1024 * 1024
MAX_LINE_CHARS = 64 * 1024 * 1024
# A header longer than this is a paragraph that slipped into the first line; names are shown in menus and questions.
MAX_NAME_CHARS = 300

# A zip bomb unpacks to gigabytes, or to hundreds of times its size; a small file may do so harmlessly.
MAX_UNZIPPED_BYTES = 2 * 1024**3
UNZIP_RATIO = 200
UNZIP_RATIO_FREE_BYTES = 50 * 1024**2
# A workbook has a part for each sheet, drawing and comment list: hundreds at most.
MAX_ZIP_MEMBERS = 10_000
# calamine keeps a sheet as one dense block of about 32 bytes a cell: two cells in opposite corners would need 500 GB.
MAX_SHEET_CELLS = 40_000_000

# Cells and characters in memory at a time while a file streams by.
BATCH_CELLS = 20_000
BATCH_CHARS = 4 * 1024 * 1024

# Limits of Excel itself, and of Google Sheets.
EXCEL_ROWS = 1_048_576
EXCEL_COLUMNS = 16_384
EXCEL_CELL_CHARS = 32_767
SHEETS_CELL_CHARS = 50_000
# xlsxwriter holds all notes in memory until the file is closed.
MAX_NOTES = 50_000
