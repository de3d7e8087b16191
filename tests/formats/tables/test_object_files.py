"""JSON, JSON Lines and Parquet."""

from __future__ import annotations

import datetime as dt
import io
import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from tablewright import extras
from tablewright.domain.text import cell_text
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.json_stream import JsonStream
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]


def values(table: Incoming) -> list[list[Any]]:
    rows = [[cell.value for cell in row] for row in table.rows()]
    assert len(rows) == table.row_count
    return rows


def columns(table: Incoming) -> dict[str, str]:
    return {field.name: field.type for field in table.fields}


OBJECTS = [
    {"name": "Ada", "born": 1815, "tags": ["maths", "poetry"], "living": False, "home": {"city": "London"}},
    {"name": "Bob", "born": 1950.0, "tags": [], "living": True, "site": "https://b.org"},
]
AS_ROWS = [
    ["Ada", 1815, ("maths", "poetry"), False, '{"city":"London"}', None],
    ["Bob", 1950, None, True, None, "https://b.org"],
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", json.dumps(OBJECTS)),
        ("t.json", json.dumps(OBJECTS, indent=2)),
        ("t.json", "\n".join(map(json.dumps, OBJECTS))),
        ("t.jsonl", "\n\n".join(map(json.dumps, OBJECTS))),
        ("t", json.dumps(OBJECTS)),
    ],
)
def test_objects_become_rows(put: Put, name: str, content: str) -> None:
    table = read_table(put(content, name))
    assert columns(table) == {
        "name": "text",
        "born": "number",
        "tags": "list",
        "living": "boolean",
        "home": "text",
        "site": "url",
    }
    assert values(table) == AS_ROWS


def test_json_named_csv_is_read_with_a_warning(put: Put) -> None:
    table = read_table(put(json.dumps(OBJECTS), "t.csv"))
    assert values(table) == AS_ROWS
    assert table.warnings == ("t.csv holds JSON and was read as JSON.",)


def test_mixed_columns_are_text(put: Put) -> None:
    table = read_table(put('[{"a": 1}, {"a": "x"}, {"a": true}, {"a": [1, "y"]}, {"a": ["p", "q"]}]', "t.json"))
    assert columns(table) == {"a": "text"}
    assert values(table) == [["1"], ["x"], ["true"], ['[1,"y"]'], ["p; q"]]


def test_numbers_too_long_to_be_exact_are_text(put: Put) -> None:
    table = read_table(put('[{"id": 1234567890123456789}]', "t.json"))
    assert values(table) == [["1234567890123456789"]]


def test_halves_of_characters_and_nuls_are_replaced(put: Put) -> None:
    table = read_table(put('[{"a": "x\\ud83dy", "b": "p\\u0000q", "c": ["\\udc00"]}]', "t.json"))
    assert values(table) == [["x\ufffdy", "p\ufffdq", ("\ufffd",)]]


def test_names_that_are_cleaned_may_not_collide(put: Put) -> None:
    table = read_table(put('[{"a": 1, " A ": 2, "": 3, "{b}": 4}]', "t.json"))
    assert list(columns(table)) == ["a", "A 2", "Column 3", "(b)"]
    assert values(table) == [[1, 2, 3, 4]]


def test_an_array_longer_than_what_is_read_at_once(put: Put) -> None:
    objects = [{"n": number, "text": "x" * (number % 300)} for number in range(5000)]
    objects[2500]["text"] = "y" * 1_000_000
    table = read_table(put(json.dumps(objects, indent=1), "t.json"))
    assert values(table) == [[thing["n"], thing["text"] or None] for thing in objects]


def test_an_error_in_a_long_array_is_named_by_its_line(put: Put) -> None:
    objects = [json.dumps({"n": number}) for number in range(50_000)]
    objects[40_000] = '{"n": oops}'
    with pytest.raises(Exception, match="line 40,001"):
        read_table(put("[" + ",\n".join(objects) + "]", "t.json"))


def test_an_empty_array_is_a_table_without_columns(put: Put) -> None:
    table = read_table(put("[]", "t.json"))
    assert columns(table) == {}
    assert values(table) == []


def test_json_in_utf16(put: Put) -> None:
    assert values(read_table(put(json.dumps(OBJECTS), "t.json", encoding="utf-16"))) == AS_ROWS


def test_a_line_longer_than_any_csv_may_have_is_fine_in_json(put: Put) -> None:
    objects = ",".join(['{"a":"' + "x" * 9_000_000 + '"}'] * 9)
    table = read_table(put(f"[{objects}]", "t.json"))
    assert table.row_count == 9


def parquet(path: Path, **columns: Any) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_parquet_types(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "t.parquet",
        name=["Ada", "Bob"],
        size=[1, None],
        price=[Decimal("12.50"), Decimal("3.00")],
        day=[dt.date(2024, 1, 31), None],
        tags=[["a", "b"], []],
        ok=[True, False],
        ratio=[0.5, float("nan")],
        home=[{"city": "London"}, None],
    )
    table = read_table(path)
    assert list(columns(table).values()) == ["text", "number", "number", "date", "list", "boolean", "number", "text"]
    assert values(table) == [
        ["Ada", 1, 12.5, "2024-01-31", ("a", "b"), True, 0.5, '{"city":"London"}'],
        ["Bob", None, 3, None, None, False, None, None],
    ]
    assert [cell_text(row[2]) for row in table.rows()] == ["12.50", "3.00"]


def test_parquet_is_known_by_its_content(tmp_path: Path) -> None:
    table = read_table(parquet(tmp_path / "t.csv", a=[1, 2]))
    assert values(table) == [[1], [2]]
    assert table.warnings == ("t.csv is really a Parquet file and was read as one.",)


def test_without_pyarrow_the_way_to_install_it_is_said(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet", a=[1])
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path\n"
        "from tablewright.errors import MissingExtra\n"
        "from tablewright.formats.tables.read import read_table\n"
        "try:\n    read_table(Path(sys.argv[1]))\n"
        "except MissingExtra as error:\n    sys.exit(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith(f"Run `{extras.install_command('parquet')}`.")


class Drip(io.StringIO):
    """A stream that gives one character at a time."""

    def read(self, size: int | None = -1) -> str:
        return super().read(1)


@pytest.mark.parametrize("document", [[12, 345.5, True, None, "x\\u00e9\n"], [], [{"a": [1, {"b": "]"}]}, 7]])
def test_json_is_read_the_same_however_it_arrives(document: list[Any]) -> None:
    stream = JsonStream("t.json", Drip(json.dumps(document, indent=1)))
    assert list(stream.array()) == document
    stream.end()
