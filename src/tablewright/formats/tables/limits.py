"""What a table file may be at most. Beyond a limit the file is refused with a sentence, never cut in silence."""

from __future__ import annotations

MAX_COLUMNS = 16_384
MAX_FIELD_CHARS = 10 * 1024 * 1024
MAX_LINE_CHARS = 64 * 1024 * 1024
MAX_NAME_CHARS = 300

MAX_UNZIPPED_BYTES = 2 * 1024**3
UNZIP_RATIO = 200
UNZIP_RATIO_FREE_BYTES = 50 * 1024**2
MAX_ZIP_MEMBERS = 10_000
# calamine keeps a sheet as one dense block of about 32 bytes a cell: two cells in opposite corners would need 500 GB.
MAX_SHEET_CELLS = 40_000_000

BATCH_CELLS = 20_000
BATCH_CHARS = 4 * 1024 * 1024

EXCEL_ROWS = 1_048_576
EXCEL_COLUMNS = 16_384
EXCEL_CELL_CHARS = 32_767
SHEETS_CELL_CHARS = 50_000  # of Google Sheets
MAX_NOTES = 50_000
