"""Files that are no tables. Each is refused with one clear sentence, before anything of it is used."""

from __future__ import annotations

import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter

from tablewright.errors import BadFile
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(BadFile) as caught:
        read_table(path, **options)  # type: ignore[arg-type]
    assert caught.value.what.endswith((".", "…."))
    assert "\n" not in str(caught.value)
    return caught.value.what


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a JPEG image"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"\x7fELF\x02\x01\x01\x00", "a program (ELF)"),
        (b"\x1f\x8b\x08\x00\x00\x00", "a gzip archive"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"<!DOCTYPE html><html><body>", "a web page (HTML)"),
    ],
)
def test_a_binary_file_is_named_by_its_kind(put: Put, start: bytes, kind: str) -> None:
    assert refusal(put(start + b"abc,def\n", "photo.csv")) == f"photo.csv is {kind}, not a table."


def test_random_bytes(put: Put) -> None:
    noise = random.Random(1).randbytes(50_000)
    assert "not a table" in refusal(put(noise, "noise.csv"))


def test_random_bytes_without_control_characters(put: Put) -> None:
    noise = bytes(byte for byte in random.Random(1).randbytes(50_000) if byte >= 32)
    assert "cannot be read" in refusal(put(noise, "noise.csv"))


def test_a_zip_that_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "data.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.xlsx", b"PK")
    assert refusal(path) == "data.xlsx is a zip archive, not a table."


def test_a_word_document(tmp_path: Path) -> None:
    path = tmp_path / "letter.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    assert refusal(path) == "letter.csv is a Word document, not a table."


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n\t\r\n,,,\n", b"\xef\xbb\xbf"])
def test_nothing_in_the_file(put: Put, content: bytes) -> None:
    assert "is empty" in refusal(put(content))


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refusal(tmp_path / "none.csv")


def test_a_folder(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path)


def test_half_a_utf16_character(put: Put) -> None:
    content = "a,b\n1,x\n".encode("utf-16")[:-1]
    assert "ends in the middle of a character: byte 16" in refusal(put(content))


def test_half_a_utf8_character_at_the_end(put: Put) -> None:
    assert "byte 13 cannot be read" in refusal(put("Name\nRené\nZoë".encode()[:-1]))


@pytest.mark.parametrize("before", [10, 400_000])
def test_damage_in_the_middle_of_utf8(put: Put, before: int) -> None:
    start = b"Name,City\n" + "René,Orléans\n".encode() * before
    said = refusal(put(start + b"Zo\xff,Paris\n" + "René,Orléans\n".encode() * before))
    assert f"byte {len(start) + 2:,} cannot be read" in said


def test_a_stray_byte_in_a_large_ascii_file(put: Put) -> None:
    start = b"Name,City\n" + b"Ada,London\n" * 200_000
    assert f"byte {len(start):,} cannot be read" in refusal(put(start + b"\xff\xfe,Paris\n" + b"Ada,London\n" * 9))


def test_a_nul_character(put: Put) -> None:
    start = b"Name,City\n" + "Zoë,London\n".encode() * 200
    said = refusal(put(start + b"Bo\x00b,Paris\n" + b"Ada,London\n" * 200))
    assert said == f"people.csv holds a NUL character at byte {len(start) + 2:,}; a text table has none."


def test_an_unclosed_quote_is_named_by_its_line(put: Put) -> None:
    content = 'a,b\n"x\ny",z\n1,"opened here\n' + "2,w\n" * 1000
    assert "opened in line 4 that is never closed" in refusal(put(content))


def test_an_unclosed_quote_after_a_quoted_newline_in_the_same_record(put: Put) -> None:
    assert "opened in line 3" in refusal(put('a,b\n"x\ny","z\n1,2\n3,4\n'))


def test_an_unclosed_quote_in_a_large_file(put: Put) -> None:
    content = 'a,b\n1,"opened here\n' + "2,some longer text to fill it up\n" * 400_000
    assert "opened in line 2 that is never closed" in refusal(put(content))


def test_an_unclosed_quote_below_a_sep_line(put: Put) -> None:
    assert "opened in line 3" in refusal(put('sep=;\na;b\n1;"x\n2;y\n'))


def test_fifty_thousand_columns(put: Put) -> None:
    header = ",".join(f"c{number}" for number in range(50_000))
    assert "has 50,000 columns in line 1; a table can have at most 16,384" in refusal(put(header + "\n1,2\n"))


def test_a_row_of_fifty_thousand_values(put: Put) -> None:
    assert "50,000 columns in line 3" in refusal(put("a,b\n1,2\n" + ",".join(["1"] * 50_000) + "\n"))


def test_a_single_line_of_thirty_million_characters(put: Put) -> None:
    assert "more than 10 million characters in line 1" in refusal(put("x" * 30_000_000))


def test_a_value_beyond_the_limit(put: Put) -> None:
    assert "more than 10 million characters in line 3" in refusal(put(f"a,b\n1,2\n3,{'x' * 11_000_000}\n4,5\n"))


def test_a_line_beyond_the_limit_is_not_held(put: Put) -> None:
    path = put(b"a,b\n" + b"x," * 40_000_000)
    assert "line of more than 64 million characters" in refusal(path)


def test_a_truncated_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "cut.xlsx")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert refusal(path) == "cut.xlsx is damaged or cut short: it cannot be opened as a workbook."


def test_a_workbook_with_a_damaged_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "hurt.xlsx")
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("xl/worksheets/sheet1.xml").header_offset + 80
    data = bytearray(path.read_bytes())
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    assert "hurt.xlsx is damaged" in refusal(path)


def test_a_workbook_that_is_no_workbook_inside(tmp_path: Path) -> None:
    path = tmp_path / "odd.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<<<")
    assert "odd.xlsx is damaged" in refusal(path)


def test_an_encrypted_workbook(put: Put) -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(500)
    assert refusal(put(content, "secret.xlsx")) == "secret.xlsx is password-protected."


def test_an_old_office_container_named_xlsx(put: Put) -> None:
    assert "password-protected or damaged" in refusal(put(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "s.xlsx"))


def test_an_xls_that_is_only_a_header(put: Put) -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000) + "Workbook".encode("utf-16-le") + bytes(2000)
    assert "damaged" in refusal(put(content, "old.xls"))


def test_text_named_xlsx(put: Put) -> None:
    assert refusal(put("a,b\n1,2\n", "t.xlsx")) == "t.xlsx is not an XLSX file: its content is something else."


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """2 GB of spaces in 2 MB, while the headers say 100 bytes."""
    path = tmp_path / "bomb.xlsx"
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    megabyte = block.compress(b" " * 2**20) + block.flush(zlib.Z_FULL_FLUSH)
    deflated = megabyte * 2048 + b"\x03\x00"
    assert zlib.decompressobj(-15).decompress(megabyte * 2 + b"\x03\x00") == b" " * 2**21
    write_zip(path, {"xl/workbook.xml": deflated}, declared_size=100)
    assert path.stat().st_size < 3_000_000
    tracemalloc.start()
    said = refusal(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said == (
        "bomb.xlsx unpacks to more than 200 times its size, as only a zip bomb or a broken file does; "
        "it was not opened."
    )
    assert peak < 20_000_000


def test_two_cells_in_opposite_corners_are_no_reason_to_take_all_memory(tmp_path: Path) -> None:
    path = tmp_path / "corners.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_string(0, 0, "a")
        sheet.write_string(1_048_575, 16_383, "z")
    assert "1,048,576 rows by 16,384 columns, too large" in refusal(path)


def test_formatted_but_empty_cells_in_the_corners_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "styled.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_row(1, 0, ["x", "y"])
        sheet.write_blank(1_048_575, 16_383, None, book.add_format({"bold": True}))
    assert read_table(path).row_count == 1


def test_a_zip_part_with_a_password(tmp_path: Path) -> None:
    path = tmp_path / "locked.xlsx"
    write_zip(path, {"xl/workbook.xml": b"\x03\x00"}, declared_size=0, flags=1)
    assert refusal(path) == "locked.xlsx is password-protected."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("hello", "is not JSON: it begins with 'h'"),
        ("[1, 2]", "entry 1 of the array is not an object"),
        ('[{"a": 1}, {"a": 2]', "line 1"),
        ('[{"a": 1},\n{"a": 2}', "it ends too early (line 2)"),
        ('[{"a": 1}] x', "something follows its end"),
        ('{"a": 1}\n{"a": \n', "line 2 is not a JSON object"),
        ('{"a": 1}\n[2]\n', "line 2 is not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"a":' + "9" * 5000 + "}]", "too large"),
        ('{"fields": [{"nome": "x"}], "rows": []}', "its fields are wrong"),
        ('{"fields": [{"name": "x"}, {"name": "X"}], "rows": []}', "same name"),
        ('{"fields": [{"name": "x"}], "rows": [{"cells": {"y": {}}}]}', "row 1 has a cell for 'y'"),
        ('{"fields": [{"name": "x"}], "rows": [{"cells": {"x": {"status": "MAYBE"}}}]}', "row 1 is not a row"),
    ],
)
def test_json_that_is_no_table(put: Put, content: str, said: str) -> None:
    assert said in refusal(put(content, "data.json"))


def test_a_damaged_parquet_file(put: Put) -> None:
    assert "damaged Parquet" in refusal(put(b"PAR1" + bytes(100) + b"PAR1", "t.parquet"))


def test_a_sheet_of_a_file_without_sheets(put: Put) -> None:
    assert "has no sheet 'Data'" in refusal(put("a,b\n1,2\n"), sheet="Data")


def test_an_unknown_format(put: Put) -> None:
    assert "'dbf' is no format" in refusal(put("a,b\n1,2\n"), format="dbf")


def workbook(path: Path) -> Path:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row in range(200):
            sheet.write_row(row, 0, [f"name {row}", row])
    return path


def write_zip(path: Path, members: dict[str, bytes], *, declared_size: int, flags: int = 0) -> None:
    """A zip file by hand, because the library writes no lies."""
    local, central = b"", b""
    for name, deflated in members.items():
        about = struct.pack("<HHHHHIIIHH", 20, flags, 8, 0, 33, 0, len(deflated), declared_size, len(name), 0)
        central += b"PK\x01\x02" + struct.pack("<H", 20) + about + struct.pack("<HHHII", 0, 0, 0, 0, len(local))
        central += name.encode()
        local += b"PK\x03\x04" + about + name.encode() + deflated
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), len(local), 0)
    path.write_bytes(local + central + end)
