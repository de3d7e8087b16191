"""Limits of table files. A file beyond a limit is refused with a sentence, never cut silently."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableLimits:
    # As many as Excel has.
    columns: int = 16_384
    # Longer values and lines are damaged files: an unclosed quote, or no table at all.
    value_characters: int = 10 * 1024 * 1024
    line_characters: int = 64 * 1024 * 1024
    # A header longer than this is a paragraph that slipped into the first line; names are shown in menus and questions.
    name_characters: int = 300
    # A float holds 15 decimal digits exactly; a longer number stays text.
    digits: int = 15

    # A zip bomb unpacks to gigabytes, or to hundreds of times its size; a small file may do so harmlessly.
    unzipped_bytes: int = 2 * 1024**3
    unzip_ratio: int = 200
    unzip_free_bytes: int = 50 * 1024**2
    # A workbook has a part for each sheet, drawing and comment list: hundreds at most.
    zip_members: int = 10_000
    # calamine keeps a sheet as one dense block of about 32 bytes a cell: two cells in opposite corners would need 500
    # GB.
    sheet_cells: int = 40_000_000

    # Cells and characters in memory at a time while a file streams by.
    batch_cells: int = 20_000
    batch_characters: int = 4 * 1024 * 1024
    # Bytes decoded at a time. Larger: more memory; smaller: more calls of the decoder over the whole file.
    decoded_bytes: int = 1024 * 1024
    # Small, since every chunk inflates to at most as much and is searched for tags with what was left of the last one.
    inflated_bytes: int = 256 * 1024
    # Enough to detect the encoding; the detector's time grows with the sample.
    encoding_bytes: int = 64 * 1024
    # Enough for 200 long lines. Larger: every candidate separator reads it again; smaller: a long header or a few long
    # quoted texts would fill it.
    dialect_characters: int = 256 * 1024

    # Limits of Excel itself, and of Google Sheets.
    excel_rows: int = 1_048_576
    excel_columns: int = 16_384
    excel_cell_characters: int = 32_767
    sheets_cell_characters: int = 50_000
    # xlsxwriter holds all notes in memory until the file is closed.
    excel_notes: int = 50_000


TABLE_LIMITS = TableLimits()
