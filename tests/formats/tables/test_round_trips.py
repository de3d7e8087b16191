"""Any table survives being written and read again."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import openpyxl
from hypothesis import HealthCheck, example, settings
from hypothesis import given as given_any
from hypothesis import strategies as st
from openpyxl.utils.escape import unescape

from tablewright.domain.model import (
    Cell,
    Conflict,
    Evidence,
    Field,
    FieldType,
    Money,
    Row,
    Table,
    Value,
    make_given_cell,
)
from tablewright.domain.text import cell_text, format_value
from tablewright.formats.tables.json_tables import mark_imported
from tablewright.formats.tables.read import read_table
from tablewright.formats.tables.write import open_writer
from tablewright.formats.tables.xlsx_writer import cut_to_cell

NASTY = [
    *("=1+1", "+1", "-1", "@x", "'=1", "''=1", "'", "'a'", "\t=1", "\r\n", " =1", "＝1", "-", "--", "+44 20 7946"),
    *('"', '""', '"a', 'a"b', "a,b", "a;b", "a|b", "a\tb", "a\nb", "a\rb", "a\r\nb", " a", "a ", "\ufeffa", "sep=;"),
    *("_x0001_", "\x01", "\x1f", "\x7f", "\x85", "\u2028", "007", "1,234", "12,50", "1e5", "true", "yes", "NULL"),
    *(
        "https://a.org",
        "2024-02-30",
        "2024-01-31",
        "1234567890123456",
        "0.10",
        "-0",
        "{a}",
        "[1]",
        '{"a": 1}',
        "é",
        "😀",
    ),
]
# Without lone surrogates and NULs (which no text file can hold), and the two characters that XML cannot.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffe\uffff")
TEXT = st.one_of(
    st.sampled_from(NASTY),
    st.text(CHARACTERS, min_size=1, max_size=20),
    st.lists(st.sampled_from(NASTY), min_size=2, max_size=3).map("".join),
).filter(lambda text: not re.search(r"_x[0-9a-fA-F]{4}_x[0-9a-fA-F]{4}_", text))
NUMBER = st.one_of(
    st.integers(-(10**15) + 1, 10**15 - 1), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 3000)
)
DATE = st.one_of(st.dates().map(str), st.sampled_from(["2024", "2024-05", "1850-01-01"]))
MONEY = st.builds(
    lambda amount, currency: Money(amount=amount, currency=currency),
    st.one_of(st.integers(0, 10**9), st.floats(0, 1e9).map(lambda amount: round(amount, 2))),
    st.sampled_from(["", "GBP", "USD", "MYR"]),
)
VALUES: dict[FieldType, st.SearchStrategy[Value]] = {
    "text": TEXT,
    "select": TEXT,
    "number": NUMBER,
    "boolean": st.booleans(),
    "date": DATE,
    "url": st.text("abc/?=&", max_size=9).map(lambda end: f"https://example.org/{end}"),
    "list": st.lists(TEXT, max_size=3).map(tuple),
    "money": MONEY,
}
# A name with a letter in it: a name that is itself a number or a link may be taken for a missing header.
NAMES = st.builds(
    lambda start, end: (start + "Col " + end).strip(),
    st.sampled_from(["", "=", "'", "''=", "+", "@", "-", '"', "a;b ", "a|b", "sep=,"]),
    st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="{}"), max_size=8),
)
EVIDENCE = st.builds(
    Evidence,
    origin=st.sampled_from(["https://example.org/a", "doc-1"]),
    quote=TEXT,
    page=st.one_of(st.none(), st.integers(1, 99)),
    start=st.one_of(st.none(), st.integers(0, 99)),
)


def cells(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Cell]:
    found = st.builds(
        Cell,
        value=values,
        status=st.sampled_from(["ENRICHED", "FLAGGED"]),
        confidence=st.floats(0, 1),
        evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
        conflict=st.lists(st.builds(Conflict, value=values), max_size=1).map(tuple),
        run_id=st.just("run-1"),
        cost=st.floats(0, 1),
    )
    failed = st.builds(Cell, status=st.just("FAILED"), reason=st.just("not_found"), run_id=st.just("run-1"))
    return st.one_of(st.just(Cell()), values.map(make_given_cell), found, failed)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    fields = tuple(Field(name=name, type=draw(st.sampled_from(list(VALUES)))) for name in names)
    row = st.fixed_dictionaries({field.name: cells(VALUES[field.type]) for field in fields})
    rows = draw(st.lists(row, max_size=5))
    return Table(
        id="t",
        name="T",
        fields=fields,
        key_field=names[0],
        rows=tuple(Row(id=at, key=f"k{at}", cells=row) for at, row in enumerate(rows, start=1)),
    )


def one_column(*values: str) -> Table:
    rows = tuple(Row(id=at, cells={"a;b": make_given_cell(value)}) for at, value in enumerate(values, start=1))
    return Table(id="t", name="T", fields=(Field(name="a;b"),), rows=rows)


@contextmanager
def exported(table: Table, format: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{format}"
        with path.open("wb") as stream:
            writer = open_writer(stream, format, table)
            writer.write(table.rows[:2])
            writer.write(table.rows[2:])
            writer.close()
        yield path


def filled(rows: list[list[str]]) -> list[list[str]]:
    """Blank text is no value, and a row without any value is no row."""
    plain = [["" if text.isspace() else text for text in row] for row in rows]
    return [row for row in plain if any(row)]


RARELY_SLOW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])


@RARELY_SLOW
@example(one_column("c;d", "e;f"))
@example(one_column("'x'", "'y'"))
@example(one_column("=1", "'=1", "''=1"))
@example(one_column(*NASTY))
@given_any(tables())
def test_texts_and_names_survive_csv(table: Table) -> None:
    for format in ("csv", "tsv"):
        with exported(table, format) as path:
            back = read_table(path)
            texts = [[cell_text(cell) for cell in row] for row in back.rows()]
        assert [field.name for field in back.fields] == [field.name for field in table.fields]
        assert texts == filled([[cell_text(row.cell(field.name)) for field in table.fields] for row in table.rows])
        assert back.row_count == len(texts)


@RARELY_SLOW
@example(one_column(*NASTY))
@example(one_column("x" * 32_767, "😀" * 16_383))
@given_any(tables())
def test_texts_and_names_survive_xlsx(table: Table) -> None:
    stated = {field.name for field in table.fields if any(has_currency(row.cell(field.name)) for row in table.rows)}
    expected = filled(
        [[xlsx_text(row.cell(field.name), field.name in stated) for field in table.fields] for row in table.rows]
    )
    with exported(table, "xlsx") as path:
        back = read_table(path)
        texts = [[cell_text(cell) for cell in row] for row in back.rows()]
        sheet = openpyxl.load_workbook(path)["Table"]
        kinds = {cell.data_type for row in sheet.iter_rows() for cell in row}
        header, *rows = [[openpyxl_text(cell.value) for cell in row] for row in sheet.iter_rows()]
    assert [field.name for field in back.fields] == [field.name for field in table.fields]
    assert texts == expected
    assert "f" not in kinds
    assert header == [field.name for field in table.fields]
    strings = [
        (read, text)
        for line, row in zip(rows, table.rows, strict=False)
        for read, field in zip(line, table.fields, strict=True)
        if isinstance(row.cell(field.name).value, str)
        and field.type != "date"
        and (text := format_value(row.cell(field.name).value))
    ]
    assert [read for read, _ in strings] == [text for _, text in strings]


@RARELY_SLOW
@given_any(tables())
def test_everything_survives_json_but_what_points_to_runs_and_stored_texts(table: Table) -> None:
    with exported(table, "json") as path:
        back = read_table(path)
        rows = list(back.rows())
    assert back.fields == table.fields
    assert (back.name, back.key_field, back.warnings) == (table.name, table.key_field, ())
    assert rows == [tuple(mark_imported(row.cell(field.name)) for field in table.fields) for row in table.rows]


@RARELY_SLOW
@given_any(tables())
def test_texts_survive_json_lines_and_parquet(table: Table) -> None:
    expected = filled([[format_value(row.cell(field.name).value) for field in table.fields] for row in table.rows])
    for format in ("jsonl", "parquet"):
        with exported(table, format) as path:
            if not expected and format == "jsonl":
                continue  # no row, so no names either
            back = read_table(path)
            texts = [[cell_text(cell) for cell in row] for row in back.rows()]
        assert [field.name for field in back.fields] == [field.name for field in table.fields]
        assert filled(texts) == [[empty_list(text) for text in row] for row in expected if any(map(empty_list, row))]


def test_a_number_as_its_owner_wrote_it_survives_csv(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("Item,Price\nBread,2.50\nWine,12.90\n")
    incoming = read_table(path)
    rows = [
        Row(id=at, cells={field.name: cell for field, cell in zip(incoming.fields, row, strict=True)})
        for at, row in enumerate(incoming.rows())
    ]
    stream = io.BytesIO()
    writer = open_writer(stream, "csv", Table(id="t", name="T", fields=incoming.fields))
    writer.write(rows)
    writer.close()
    assert stream.getvalue() == b"Item,Price\r\nBread,2.50\r\nWine,12.90\r\n"


def has_currency(cell: Cell) -> bool:
    return isinstance(cell.value, Money) and bool(cell.value.currency)


def xlsx_text(cell: Cell, among_currencies: bool) -> str:
    """An amount without a currency is a number, or, in a column of amounts with one, an amount with cents."""
    if isinstance(cell.value, Money) and not cell.value.currency:
        return format_value(Money(amount=float(cell.value.amount)) if among_currencies else cell.value.amount)
    return cut_to_cell(cell_text(cell))


def openpyxl_text(value: object) -> object:
    return unescape(value) if isinstance(value, str) else value


def empty_list(text: str) -> str:
    return "" if text == "[]" else text
