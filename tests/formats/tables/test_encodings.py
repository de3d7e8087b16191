"""Text in whatever encoding people's programs still write."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

import pytest

from tablewright.errors import BadFile
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]

FRENCH = "Nom,Ville\nRené Lefèvre,Orléans\nZoë François,Besançon\n"
JAPANESE = "名前,都市\n山田太郎,東京\n鈴木一郎,大阪\nカタカナ,ひらがな\n"
CHINESE = "姓名,城市\n张伟,北京\n王芳,上海\n李娜,广州\n"
RUSSIAN = "Имя,Город\nИван,Москва\nОльга,Казань\n"


def lines(path: Path, encoding: str | None = None) -> list[list[str]]:
    table = read_table(path, encoding=encoding)
    return [[field.name for field in table.fields]] + [[str(cell.value) for cell in row] for row in table.rows()]


def expected(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.splitlines()]


@pytest.mark.parametrize("text", [FRENCH, JAPANESE, CHINESE, RUSSIAN])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_with_and_without_a_mark_needs_no_warning(put: Put, text: str, encoding: str) -> None:
    path = put(text, encoding=encoding)
    assert lines(path) == expected(text)
    assert read_table(path).warnings == ()


def test_big_endian_utf16_with_a_mark(put: Put) -> None:
    assert lines(put(codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be"))) == expected(FRENCH)


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (FRENCH, "latin-1", "Windows-1252"),
        ("Name,Price\nCafé “Zoë”,12 €\n", "cp1252", "Windows-1252"),
        ("Name\nCafé\n", "cp1252", "Windows-1252"),
        (JAPANESE, "shift_jis", "Shift-JIS"),
        (CHINESE, "gbk", "GBK"),
        (RUSSIAN, "cp1251", "Windows-1251"),
    ],
)
def test_legacy_encodings_are_found_and_said(put: Put, text: str, encoding: str, said: str) -> None:
    path = put(text, encoding=encoding)
    assert lines(path) == expected(text)
    assert said in read_table(path).warnings[0]


def test_a_legacy_letter_far_into_the_file(put: Put) -> None:
    path = put(b"Name,City\n" + b"Ada,London\n" * 100_000 + "René,Orléans\n".encode("cp1252"))
    *_, last = read_table(path).rows()
    assert [cell.value for cell in last] == ["René", "Orléans"]


def test_a_named_encoding_wins(put: Put) -> None:
    path = put("Jméno,Město\nJiří,Plzeň\n", encoding="cp1250")
    assert lines(path, "cp1250") == [["Jméno", "Město"], ["Jiří", "Plzeň"]]
    assert read_table(path, encoding="cp1250").warnings == ()


def test_an_unknown_encoding_is_refused(put: Put) -> None:
    with pytest.raises(BadFile, match="no text encoding called 'klingon'"):
        read_table(put(FRENCH), encoding="klingon")


def test_a_byte_that_the_named_encoding_does_not_have(put: Put) -> None:
    with pytest.raises(BadFile, match=r"byte 9 is not valid UTF-8"):
        read_table(put(b"Name\nCaf\x65\xe9\n"), encoding="utf-8")
