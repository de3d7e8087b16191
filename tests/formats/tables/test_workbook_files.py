"""Workbooks: which sheet is read, and what its cells become."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from tablewright.domain.text import cell_text
from tablewright.errors import BadFile
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.read import read_table
from tests.formats.tables.old_workbook import error, failed_formula, label, number, old_workbook


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def values(table: Incoming) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in table.rows()]


def test_numbers_booleans_and_dates_keep_their_types(tmp_path: Path) -> None:
    rows = [
        ["Name", "Size", "Price", "Open", "Day", "At"],
        ["Ada", 3, 2.5, True, dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 10, 30)],
        ["Bob", 4, 3, False, dt.date(1999, 12, 1), dt.datetime(2024, 2, 1)],
    ]
    table = read_table(workbook(tmp_path / "t.xlsx", Data=rows))
    assert [field.type for field in table.fields] == ["text", "number", "number", "boolean", "date", "date"]
    assert values(table) == [
        ["Ada", 3, 2.5, True, "2024-01-31", "2024-01-31T10:30:00"],
        ["Bob", 4, 3, False, "1999-12-01", "2024-02-01"],
    ]
    assert [type(cell.value) for cell in next(table.rows())][1] is int


def test_numbers_stored_as_text_stay_text(tmp_path: Path) -> None:
    table = read_table(
        workbook(tmp_path / "t.xlsx", Data=[["Zip", "Site"], ["02134", "https://a.org"], ["10115", None]])
    )
    assert [field.type for field in table.fields] == ["text", "url"]
    assert values(table) == [["02134", "https://a.org"], ["10115", None]]


def test_a_column_of_numbers_and_words_is_text(tmp_path: Path) -> None:
    table = read_table(
        workbook(tmp_path / "t.xlsx", Data=[["Size", "b"], [3, "x"], [2.5, "y"], ["many", "z"], [True, "q"]])
    )
    assert table.fields[0].type == "text"
    assert [row[0].value for row in table.rows()] == ["3", "2.5", "many", "true"]


def test_an_apostrophe_in_a_workbook_is_text_not_an_escape(tmp_path: Path) -> None:
    table = read_table(workbook(tmp_path / "t.xlsx", Data=[["a"], ["'=1+1"]]))
    assert values(table) == [["'=1+1"]]


def test_the_first_visible_sheet_with_values_is_read_and_said(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Hidden=[["h"], ["1"]], Empty=[], Main=[["a"], ["x"]], More=[["b"], ["y"]])
    book = openpyxl.load_workbook(path)
    book["Hidden"].sheet_state = "hidden"
    book.active = book.sheetnames.index("Main")
    book.save(path)
    table = read_table(path)
    assert [field.name for field in table.fields] == ["a"]
    assert table.warnings == (
        "t.xlsx has 2 sheets with values; 'Main' was read. Name another with --sheet.",
        "The hidden sheet 'Hidden' was not read. Name a sheet with --sheet to read it.",
    )


def test_a_sheet_can_be_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Main=[["a"], ["x"]], More=[["b"], ["y"]])
    table = read_table(path, sheet="more")
    assert [field.name for field in table.fields] == ["b"]
    assert table.warnings == ()


def test_an_unknown_sheet_is_answered_with_the_list(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no sheet called 'Sales'") as caught:
        read_table(workbook(tmp_path / "t.xlsx", Main=[["a"]], More=[["b"]]), sheet="Sales")
    assert caught.value.advice == "Its sheets are 'Main', 'More'."


def test_the_header_is_the_first_row_with_values(tmp_path: Path) -> None:
    table = read_table(
        workbook(tmp_path / "t.xlsx", Data=[[], [None, "a", "b"], [], [None, "x", 1], [None, None, None]])
    )
    assert [field.name for field in table.fields] == ["a", "b"]
    assert values(table) == [["x", 1]]


def test_a_surplus_value_is_named_by_its_row(tmp_path: Path) -> None:
    table = read_table(workbook(tmp_path / "t.xlsx", Data=[[], ["a", "b"], ["x", 1], ["y", 2, "more"]]))
    assert [field.name for field in table.fields] == ["a", "b", "Column 3"]
    assert values(table) == [["x", 1, None], ["y", 2, "more"]]


def test_errors_are_left_empty_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Data")
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, ["x", 1])
        sheet.write_string(2, 0, "y")
        sheet.write_formula(2, 1, "=1/0", None, "#DIV/0!")
        sheet.write_string(3, 0, "z")
        sheet.write_formula(3, 1, "=NA()", None, "#N/A")
    table = read_table(path)
    assert values(table) == [["x", 1], ["y", None], ["z", None]]
    assert table.warnings == ("2 cells hold errors such as #N/A in the sheet 'Data'; left empty.",)


def test_errors_of_an_old_workbook_are_left_empty_with_a_warning(tmp_path: Path) -> None:
    names = [label(0, 0, "n"), label(0, 1, "a")]
    cells = [*names, label(1, 0, "x"), number(1, 1, 3), label(2, 0, "y"), error(2, 1), label(3, 0, "z")]
    path = tmp_path / "t.xls"
    path.write_bytes(old_workbook(Other=[*names, error(1, 0)], Data=[*cells, failed_formula(3, 1)]))
    table = read_table(path, sheet="Data")
    assert values(table) == [["x", 3], ["y", None], ["z", None]]
    assert table.warnings == ("2 cells hold errors such as #N/A in the sheet 'Data'; left empty.",)


@pytest.mark.parametrize("cut", range(520, 3_000, 310))
def test_an_old_workbook_that_is_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.xls"
    path.write_bytes(old_workbook(Data=[label(0, 0, "n"), label(1, 0, "x")])[:cut])
    with pytest.raises(BadFile):
        read_table(path)


@pytest.mark.parametrize("at", range(24, 1_700, 52))
def test_an_old_workbook_with_damage_anywhere_is_read_or_refused(tmp_path: Path, at: int) -> None:
    content = bytearray(old_workbook(Data=[label(0, 0, "n"), label(1, 0, "x"), error(2, 0)]))
    content[at : at + 4] = b"\x02\xff\xff\x00"
    path = tmp_path / "t.xls"
    path.write_bytes(content)
    with suppress(BadFile):
        assert read_table(path).row_count <= 1


def test_errors_of_an_open_document_are_left_empty_with_a_warning(tmp_path: Path) -> None:
    failed = (
        '<table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error" '
        'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">'
        "<text:p>#N/A</text:p></table:table-cell>"
    )
    table = read_table(open_document(tmp_path / "t.ods", f"{failed}{failed}"))
    assert values(table) == [["Ada", 3]]
    assert table.warnings == ("2 cells hold errors such as #N/A in the sheet 'Data'; left empty.",)


def test_a_formula_gives_its_value(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_string(1, 0, "x")
        sheet.write_formula(1, 1, "=1+1", None, 2)
    assert values(read_table(path)) == [["x", 2]]


def test_merged_cells_come_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["Group", "Name"])
        sheet.merge_range(1, 0, 2, 0, "Both")
        sheet.write_column(1, 1, ["Ada", "Bob"])
    assert values(read_table(path)) == [["Both", "Ada"], [None, "Bob"]]


def test_years_may_head_columns_of_numbers_but_other_numbers_not(tmp_path: Path) -> None:
    table = read_table(workbook(tmp_path / "years.xlsx", Data=[["Land", 2020, 2021], ["France", 1, 2]]))
    assert [field.name for field in table.fields] == ["Land", "2020", "2021"]
    path = workbook(tmp_path / "none.xlsx", Data=[["Acme", 12], ["Bolt", 15]])
    with pytest.raises(BadFile, match="no header"):
        read_table(path)
    assert values(read_table(path, header=False)) == [["Acme", 12], ["Bolt", 15]]


def test_a_workbook_named_csv_is_read_with_a_warning(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Data=[["a", "b"], ["x", 1]]).rename(tmp_path / "t.csv")
    table = read_table(path)
    assert values(table) == [["x", 1]]
    assert table.warnings == ("t.csv is really an XLSX file and was read as one.",)


def test_a_workbook_named_xls_is_read_with_a_warning(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", Data=[["a", "b"], ["x", 1]]).rename(tmp_path / "t.xls")
    table = read_table(path)
    assert values(table) == [["x", 1]]
    assert table.warnings == ("t.xls is really an XLSX file and was read as one.",)


def test_a_workbook_without_values(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no visible sheet has a value"):
        read_table(workbook(tmp_path / "t.xlsx", Data=[]))


def test_an_open_document_sheet_is_read(tmp_path: Path, put: Callable[..., Path]) -> None:
    table = read_table(open_document(tmp_path / "t.ods", "<table:table-cell/>"))
    assert [[cell_text(cell) for cell in row] for row in table.rows()] == [["Ada", "3"]]


def test_an_open_document_that_repeats_a_cell_without_end_is_refused(tmp_path: Path) -> None:
    many = '<table:table-cell table:number-columns-repeated="16000" office:value-type="float" office:value="1"/>'
    with pytest.raises(BadFile, match="too large to open"):
        read_table(open_document(tmp_path / "t.ods", many, rows=1_000_000))


def open_document(path: Path, last: str, rows: int = 1) -> Path:
    import zipfile

    def cell(text: str) -> str:
        return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'

    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    number = '<table:table-cell office:value-type="float" office:value="3"><text:p>3</text:p></table:table-cell>'
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="Data"><table:table-row>{cell("Name")}{cell("Size")}</table:table-row>'
        f"<table:table-row>{cell('Ada')}{number}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="{rows}">{last}</table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
    return path
