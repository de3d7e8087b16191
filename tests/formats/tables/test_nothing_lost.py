"""Values that a table cannot hold as they are: kept as text, or left out and said, or the file is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from tablewright.domain.text import cell_text
from tablewright.errors import BadFile
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]
INFINITY = float("inf")
NAN = float("nan")


def texts(table: Incoming) -> list[list[str]]:
    rows = [[cell_text(cell) for cell in row] for row in table.rows()]
    assert len(rows) == table.row_count
    return rows


def parquet(path: Path, **columns: Any) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def sheet_of(path: Path, rows: str) -> Path:
    """A workbook whose sheet is this XML."""
    openpyxl.Workbook().save(path)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def words(row: int, *cells: str) -> str:
    found = "".join(
        f'<c r="{letter}{row}" t="inlineStr"><is><t>{text}</t></is></c>'
        for letter, text in zip("ABC", cells, strict=False)
    )
    return f'<row r="{row}">{found}</row>'


@pytest.mark.parametrize("literal", ["1e999999999", "-1e400", "9" * 400 + ".5"])
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_a_number_beyond_every_float_is_kept_as_it_is_written(put: Put, name: str, literal: str) -> None:
    first, second = f'{{"a": {literal}}}', '{"a": 2}'
    table = read_table(put(f"[{first}, {second}]" if name == "t.json" else f"{first}\n{second}", name))
    assert texts(table) == [[literal], ["2"]]
    assert table.fields[0].type == "text"


def test_a_number_beyond_every_float_in_csv(put: Put) -> None:
    table = read_table(put("n,a\nx,1e+999\ny,1e+05\n"))
    assert texts(table) == [["x", "1e+999"], ["y", "1e+05"]]
    assert table.fields[1].type == "text"


@pytest.mark.parametrize("literal", ["0.12345678901234567890123", "1e-400", "12345678901234567890.5"])
def test_digits_that_no_float_holds_are_kept_beside_the_number(put: Put, literal: str) -> None:
    table = read_table(put(f'[{{"a": {literal}}}, {{"a": 0.0}}, {{"a": 1.0000000000000002e16}}]', "t.json"))
    assert table.fields[0].type == "number"
    first, zero, exact = [cell for (cell,) in table.rows()]
    assert (first.value, first.raw_value) == (float(literal), literal)
    assert (zero.raw_value, exact.raw_value) == (None, None)


def test_what_is_no_finite_number_is_left_empty_and_said(put: Put, tmp_path: Path) -> None:
    said = "Left empty: 2 numbers (NaN, Infinity) of 'a'."
    cells = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>x</t></is></c><c r="B{0}"><v>{1}</v></c></row>'
    rows = words(1, "n", "a") + cells.format(2, "NaN") + cells.format(3, "1e999")
    for path in (
        put('[{"n": "x", "a": NaN}, {"n": "x", "a": -Infinity}]', "t.json"),
        parquet(tmp_path / "t.parquet", n=["x", "x"], a=[NAN, INFINITY]),
        sheet_of(tmp_path / "t.xlsx", rows),
    ):
        table = read_table(path)
        assert texts(table) == [["x", ""], ["x", ""]]
        assert table.warnings == (said,)


def test_the_columns_of_such_values_are_not_all_named(tmp_path: Path) -> None:
    columns = {f"c{number}": [NAN, 1.0] for number in range(900)}
    table = read_table(parquet(tmp_path / "t.parquet", key=["x", "y"], **columns))
    (said,) = table.warnings
    assert said.startswith("Left empty: 900 numbers")
    assert said.endswith("'c4' and 895 more columns.")


def test_rows_without_a_value_are_left_out_and_counted(put: Put, tmp_path: Path) -> None:
    objects = put('[{"a": "x"}, {"a": null}, {}, {"a": NaN}]', "t.json")
    assert read_table(objects).warnings == ("Left out: 3 objects without a value; the first is object 2.",)
    lines = put('{"a": "x"}\n\n{"a": ""}\n', "t.jsonl")
    assert read_table(lines).warnings == ("Left out: 1 line without a value; the first is line 3.",)
    rows = parquet(tmp_path / "t.parquet", a=[None, "x", None])
    assert read_table(rows).warnings == ("Left out: 2 rows without a value; the first is row 1.",)
    sheet = sheet_of(tmp_path / "t.xlsx", words(1, "a") + words(2, "x") + '<row r="4"><c r="A4"><v>1e999</v></c></row>')
    assert read_table(sheet).warnings == ("Left out: 1 row without a value; the first is row 4.",)


def test_empty_lines_need_no_warning(put: Put) -> None:
    assert read_table(put("a,b\n\nx,y\n,,\n")).warnings == ()


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
@pytest.mark.parametrize("thing", ['{"a": 1, "b": 2, "a": 3}', '{"b": {"a": 1, "a": 2}}', '{"b": [{"a": 1, "a": 2}]}'])
def test_a_key_twice_in_one_object_is_refused(put: Put, name: str, thing: str) -> None:
    with pytest.raises(BadFile, match="the key 'a' appears twice in one object"):
        read_table(put(f"[{thing}]" if name == "t.json" else thing, name))


def test_characters_that_no_text_has_are_replaced_and_said(put: Put, tmp_path: Path) -> None:
    said = "Replaced by \ufffd: NULs or invalid Unicode in {} of {}."
    odd = put('[{"a": "x\\u0000y", "b": {"c": "\\ud800"}, "d": ["\\udc00"]}, {"a": "z"}]', "t.json")
    assert read_table(odd).warnings == (said.format("3 values", "'a', 'b', 'd'"),)
    binary = read_table(parquet(tmp_path / "t.parquet", n=["x"], a=[b"\xff\x00z"]))
    assert texts(binary) == [["x", "\ufffd\ufffdz"]]
    assert binary.warnings == (said.format("1 value", "'a'"),)
    assert read_table(parquet(tmp_path / "fine.parquet", n=["x"], a=["é".encode()])).warnings == ()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('[{"x": "Ada"}]', "row 1 is not a row as Tablewright exports it: it has no cells"),
        ('[{"cells": {}}, ["Ada"]]', "row 2 is not a row as Tablewright exports it: it has no cells"),
        ('[{"cells": {"x": {"value": NaN}}}]', "row 1 holds a number that is not finite"),
        ('[{"cells": {"x": {"value": 1, "value": 2}}}]', "the key 'value' appears twice"),
    ],
)
def test_what_only_looks_like_our_export_is_refused(put: Put, rows: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        read_table(put(f'{{"fields": [{{"name": "x"}}], "rows": {rows}}}', "t.json"))


@pytest.mark.parametrize("name", ["x{y}", "\0x", "x" * 301, "a\u200bb"])
def test_a_field_of_our_export_that_no_column_can_be_called(put: Put, name: str) -> None:
    with pytest.raises(BadFile, match="no column can be called"):
        read_table(put(json.dumps({"fields": [{"name": name}], "rows": []}), "t.json"))


def test_our_export_with_more_columns_than_a_table_has(put: Put) -> None:
    fields = [{"name": f"c{number}"} for number in range(16_385)]
    with pytest.raises(BadFile, match="has 16,385 columns"):
        read_table(put(json.dumps({"fields": fields, "rows": []}), "t.json"))


def test_what_our_export_has_beyond_a_cell_is_said(put: Put) -> None:
    cell = {"value": "a\0b", "mood": "good", "confidence": 0.5}
    document = {"fields": [{"name": "x"}], "rows": [{"cells": {"x": cell}}]}
    table = read_table(put(json.dumps(document), "t.json"))
    assert texts(table) == [["a\ufffdb"]]
    assert table.warnings == (
        "Left out: properties of cells that this version does not know (mood).",
        "Replaced by \ufffd: NULs or invalid Unicode in 1 text.",
    )


@pytest.mark.parametrize(
    "rows",
    [
        words(1, "n") + words(2, "x") + words(2, "lost"),
        words(1, "n") + words(2, "x").replace("</row>", words(2, "lost").removeprefix('<row r="2">')),
        words(1, "n") + words(2, "x") + words(2, "lost").replace('<row r="2">', '<row r="3">'),
    ],
    ids=["a row twice", "a cell twice", "a cell of another row"],
)
def test_a_sheet_with_two_cells_in_one_place_is_refused(tmp_path: Path, rows: str) -> None:
    with pytest.raises(BadFile, match="two cells in the same place"):
        read_table(sheet_of(tmp_path / "t.xlsx", rows))


def test_rows_of_a_sheet_in_any_order_are_read(tmp_path: Path) -> None:
    rows = words(3, "second") + words(1, "n") + words(2, "first")
    assert texts(read_table(sheet_of(tmp_path / "t.xlsx", rows))) == [["first"], ["second"]]


@pytest.mark.parametrize("kind", [pyarrow.timestamp("ns"), pyarrow.timestamp("ns", "UTC"), pyarrow.time64("ns")])
def test_nanoseconds_are_kept(tmp_path: Path, kind: pyarrow.DataType) -> None:
    fine = read_table(parquet(tmp_path / "t.parquet", a=pyarrow.array([1], kind)))
    assert "00:00:00.000000001" in texts(fine)[0][0]
    whole = read_table(parquet(tmp_path / "u.parquet", a=pyarrow.array([1_000], kind)))
    assert "00:00:00.000001" in texts(whole)[0][0]
    assert whole.fields[0].type == ("text" if kind == pyarrow.time64("ns") else "date")


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array([10**16], pyarrow.timestamp("ms")),
        pyarrow.array([2**31 - 1], pyarrow.int32()).view(pyarrow.date32()),
        pyarrow.array([0], pyarrow.timestamp("us", "Nowhere/None")),
    ],
    ids=["year 318857", "year 5881580", "no such time zone"],
)
def test_a_date_beyond_the_calendar_is_refused_by_its_column(tmp_path: Path, column: pyarrow.Array) -> None:
    with pytest.raises(BadFile, match="has a date or time in 'when' that cannot be read"):
        read_table(parquet(tmp_path / "t.parquet", when=column))


@pytest.mark.parametrize("name", ["t.csv", "t.json"])
def test_a_few_nuls_do_not_make_a_short_file_utf16(put: Put, name: str) -> None:
    content = b'[{"a": "x\x00y", "b": "some more"}]' if name == "t.json" else b"a,b\nx,some \x00 more\n"
    with pytest.raises(BadFile, match=r"NUL|binary"):
        read_table(put(content, name))


@pytest.mark.parametrize("encoding", ["undefined", "a\0b", "x" * 5_000, "utf-16", "idna", "punycode"])
def test_an_encoding_that_reads_nothing_is_refused(put: Put, encoding: str) -> None:
    with pytest.raises(BadFile) as caught:
        read_table(put("a,b\nx,é\n"), encoding=encoding)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("delimiter", [" ", "e", "\x1f", "é"])
def test_any_character_may_separate_columns(put: Put, delimiter: str) -> None:
    table = read_table(put(f"k{delimiter}v\nx{delimiter}y\n"), delimiter=delimiter)
    assert texts(table) == [["x", "y"]]


def test_quotes_that_are_left_out_are_said(put: Put) -> None:
    table = read_table(put('name,city\n"Ann ""A""",Rome\n"Ada" Lovelace,London\n'))
    assert texts(table) == [['Ann "A"', "Rome"], ["Ada Lovelace", "London"]]
    assert table.warnings == ("Line 3 has text after a closing quote; such values are read without their quotes.",)


def test_a_name_that_had_unseen_characters_is_told(put: Put) -> None:
    table = read_table(put("\ufeffNa\u200bme,Ci\x02ty,Plain\nHill,Bergen,1\n"))
    assert [column.name for column in table.fields] == ["Name", "City", "Plain"]
    assert table.warnings == tuple(
        f"The name of the column '{name}' had invisible characters; they are left out." for name in ("Name", "City")
    )
