"""What the exports contain."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet
import pytest

from tablewright.domain.model import Cell, Evidence, Field, Money, Row, Table, make_given_cell
from tablewright.errors import BadFile, UsageError
from tablewright.formats.tables import xlsx_writer
from tablewright.formats.tables.limits import TableLimits
from tablewright.formats.tables.markdown import render_markdown_table
from tablewright.formats.tables.read import read_table
from tablewright.formats.tables.write import format_from_name, open_writer, render_csv

EVIDENCE = Evidence(
    origin="https://acme.org/about",
    title="About",
    quote="founded in 1999 by Ada",
    page=2,
    retrieved_at="2024-05-01T10:00:00Z",
)
TABLE = Table(
    id="t1",
    name="Firms",
    key_field="Company",
    fields=(
        Field(name="Company"),
        Field(name="Founded", type="number", question="When was {Company} founded?"),
        Field(name="Filter", role="qualification"),
        Field(name="Price", type="money"),
        Field(name="Day", type="date"),
        Field(name="Open", type="boolean"),
        Field(name="Tags", type="list"),
    ),
    rows=(
        Row(
            id=1,
            key="acme",
            cells={
                "Company": make_given_cell("Acme"),
                "Founded": Cell(
                    value=1999, status="ENRICHED", confidence=0.92, basis="stated", evidence=(EVIDENCE,), run_id="r"
                ),
                "Filter": make_given_cell("secret"),
                "Price": make_given_cell(Money(amount=12.5, currency="GBP")),
                "Day": make_given_cell("2024-01-31"),
                "Open": make_given_cell(True),
                "Tags": make_given_cell(("a", "b")),
            },
        ),
        Row(
            id=2,
            key="bolt",
            cells={
                "Company": make_given_cell("=cmd|' /C calc'!A0"),
                "Founded": Cell(status="FAILED", reason="not_found", run_id="r"),
            },
        ),
        Row(
            id=3,
            key="core",
            cells={
                "Company": make_given_cell("Core"),
                "Founded": Cell(
                    value=2001, status="FLAGGED", confidence=0.3, evidence=(EVIDENCE, EVIDENCE), run_id="r"
                ),
                "Day": Cell(value="2024", status="ENRICHED", confidence=0.6, run_id="r"),
            },
        ),
    ),
)


def with_evidence(column: str) -> str:
    """The names of a column and of those that follow it."""
    beside = ("source", "quote", "confidence", "basis", "status", "reason", "stale", "note")
    return ",".join([column, *(f"{column} {name}" for name in beside)])


def export(format: str, table: Table = TABLE, **options: Any) -> bytes:
    stream = io.BytesIO()
    writer = open_writer(stream, format, table, **options)
    writer.write(table.rows)
    writer.close()
    return stream.getvalue()


def test_csv_is_utf8_without_a_mark_and_hides_internal_filters() -> None:
    assert export("csv").decode().split("\r\n") == [
        "Company,Founded,Price,Day,Open,Tags",
        'Acme,1999,12.50 GBP,2024-01-31,true,"a; b"',
        "\"'=cmd|' /C calc'!A0\",,,,,",
        "Core,2001,,2024,,",
        "",
    ]
    assert render_csv(TABLE) == export("csv").decode()


def test_csv_with_evidence_adds_columns_to_fields_with_a_question() -> None:
    lines = export("csv", evidence=True).decode().split("\r\n")
    assert lines[0] == f"Company,{with_evidence('Founded')},Price,Day,Open,Tags"
    assert lines[1].startswith("Acme,1999,https://acme.org/about,founded in 1999 by Ada,0.92,stated,")
    assert lines[2].endswith(",,,,,FAILED,not_found,,,,,,")


def test_a_column_that_was_asked_for_by_its_name_alone_has_evidence_and_cost_too() -> None:
    fields = (Field(name="A"), Field(name="B", depends_on=("A",)))
    table = Table(id="t", name="T", fields=fields, key_field="A")
    assert export("csv", table, evidence=True, cost=True) == f"A,{with_evidence('B')},B cost\r\n".encode()
    sheet = openpyxl.load_workbook(io.BytesIO(export("xlsx", table, cost=True)))["Table"]
    assert [cell.value for cell in sheet[1]] == ["A", "B", "B cost"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "md", "parquet", "xlsx"])
def test_what_is_doubted_stale_or_empty_says_so_in_every_format(format: str) -> None:
    fields = (Field(name="A"), Field(name="B", type="number", question="How many has {A}?"))
    run = {"run_id": "r", "updated_at": "t", "confidence": 0.9}
    cells = (
        Cell(value=1, status="FLAGGED", basis="stated", evidence=(EVIDENCE,), **run),
        Cell(value=2, status="ENRICHED", basis="stated", stale=True, evidence=(EVIDENCE,), **run),
        Cell(status="FAILED", reason="blocked", **run),
    )
    rows = tuple(Row(id=n, cells={"A": make_given_cell(f"x{n}"), "B": cell}) for n, cell in enumerate(cells, start=1))
    content = export(format, Table(id="t", name="T", fields=fields, rows=rows, key_field="A"), evidence=True)
    if format == "parquet":
        found = pyarrow.parquet.read_table(io.BytesIO(content))
        assert found["B status"].to_pylist() == ["FLAGGED", "ENRICHED", "FAILED"]
        assert found["B reason"].to_pylist() == [None, None, "blocked"]
        assert found["B stale"].to_pylist() == [None, True, None]
        assert found["B basis"].to_pylist() == ["stated", "stated", None]
    elif format == "xlsx":
        _, *lines = openpyxl.load_workbook(io.BytesIO(content))["Evidence"].iter_rows(values_only=True)
        assert [(line[4], line[5], line[13]) for line in lines] == [
            ("FLAGGED", None, None),
            ("ENRICHED", None, True),
            ("FAILED", "blocked", None),
        ]
    else:
        flagged, stale, failed = content.decode().splitlines()[-3:]
        assert "FLAGGED" in flagged
        assert "ENRICHED" in stale
        assert stale.count("true") == 1
        assert "FAILED" in failed
        assert "blocked" in failed


def test_a_judged_value_is_marked_and_a_given_one_says_so_in_every_format() -> None:
    judged = Cell(
        value="B2B", status="ENRICHED", confidence=0.6, basis="judged", evidence=(EVIDENCE,), run_id="r", updated_at="t"
    )
    fields = (Field(name="A"), Field(name="B", question="Whom does {A} sell to?"))
    rows = (
        Row(id=1, cells={"A": make_given_cell("x"), "B": judged}),
        Row(id=2, cells={"A": make_given_cell("y"), "B": make_given_cell("B2C")}),
    )
    table = Table(id="t", name="T", fields=fields, rows=rows, key_field="A")
    for format in ("csv", "jsonl", "md", "parquet"):
        stream = io.BytesIO(export(format, table, evidence=True))
        if format == "parquet":
            assert pyarrow.parquet.read_table(stream)["B basis"].to_pylist() == ["judged", "given"]
        else:
            lines = stream.getvalue().decode().splitlines()[-2:]
            assert "judged" in lines[0]
            assert "given" in lines[1]
    written = json.loads(export("json", table))["rows"]
    assert [[cell["basis"] for cell in row["cells"].values()] for row in written] == [
        ["given", "judged"],
        ["given", "given"],
    ]
    book = openpyxl.load_workbook(io.BytesIO(export("xlsx", table)))
    assert "Judged by the model from these quotes" in book["Table"]["B2"].comment.text
    assert [row[7].value for row in book["Evidence"].iter_rows()] == ["basis", "judged"]


def test_the_header_has_the_units_of_numbers_if_they_are_asked_for() -> None:
    fields = (Field(name="A", type="number", unit="kg"), Field(name="B", unit="kg"), Field(name="C", type="number"))
    table = Table(id="t", name="T", fields=fields)
    assert export("csv", table, units=True) == b"A (kg),B,C\r\n"
    assert export("csv", table) == b"A,B,C\r\n"


def test_an_evidence_column_takes_no_field_s_name() -> None:
    fields = (Field(name="A", question="?"), Field(name="a source"))
    header = export("csv", Table(id="t", name="T", fields=fields), evidence=True)
    assert header == f"{with_evidence('A').replace('source', 'source 2')},a source\r\n".encode()


def test_json_lines_hold_plain_values() -> None:
    first, second, _ = [json.loads(line) for line in export("jsonl").splitlines()]
    assert first == {
        "Company": "Acme",
        "Founded": 1999,
        "Price": "12.50 GBP",
        "Day": "2024-01-31",
        "Open": True,
        "Tags": ["a", "b"],
    }
    assert second["Founded"] is None


def test_json_holds_everything() -> None:
    document = json.loads(export("json"))
    assert (document["id"], document["name"], document["key_field"]) == ("t1", "Firms", "Company")
    assert [field["name"] for field in document["fields"]] == [field.name for field in TABLE.fields]
    row = document["rows"][0]
    assert (row["row_id"], row["key"]) == (1, "acme")
    assert row["cells"]["Founded"]["evidence"][0]["quote"] == "founded in 1999 by Ada"
    assert row["cells"]["Filter"]["value"] == "secret"


def sheets(table: Table = TABLE) -> Any:
    return openpyxl.load_workbook(io.BytesIO(export("xlsx", table)))


def test_xlsx_has_typed_cells() -> None:
    sheet = sheets()["Table"]
    assert [cell.value for cell in sheet[1]] == ["Company", "Founded", "Price", "Day", "Open", "Tags"]
    acme = sheet[2]
    assert [cell.data_type for cell in acme] == ["s", "n", "n", "d", "b", "s"]
    assert acme[2].number_format == '0.00 "GBP"'
    assert acme[3].value.date().isoformat() == "2024-01-31"
    assert sheet["A3"].value == "=cmd|' /C calc'!A0"
    assert sheet["A3"].data_type == "s"
    assert sheet["D4"].value == "2024"


def test_xlsx_header_is_bold_frozen_and_filtered() -> None:
    sheet = sheets()["Table"]
    assert sheet["A1"].font.bold
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:F4"


def test_xlsx_colours_say_how_sure_and_given_cells_have_none() -> None:
    sheet = sheets()["Table"]
    colours = {address: sheet[address].fill.fgColor.rgb[2:] for address in ("B2", "B3", "B4", "D4")}
    assert colours == {
        "B2": xlsx_writer.COLOURS["high"][1:],
        "B3": xlsx_writer.COLOURS["FAILED"][1:],
        "B4": xlsx_writer.COLOURS["FLAGGED"][1:],
        "D4": xlsx_writer.COLOURS["medium"][1:],
    }
    assert sheet["A2"].fill.fill_type is None


def test_xlsx_notes_carry_the_evidence_or_the_reason() -> None:
    sheet = sheets()["Table"]
    assert sheet["B2"].comment.text == (
        "Confidence: high (0.92)\nStated in the source\n"
        "Source: https://acme.org/about, page 2\n“founded in 1999 by Ada”"
    )
    assert sheet["B3"].comment.text == "No value: not found"
    assert sheet["B4"].comment.text.startswith("Flagged as wrong\nConfidence: low (0.30)")
    assert sheet["A2"].comment is None


def test_xlsx_evidence_has_a_line_for_each_piece() -> None:
    rows = [[cell.value for cell in row] for row in sheets()["Evidence"].iter_rows()]
    assert rows[0] == list(xlsx_writer.EVIDENCE_COLUMNS)
    assert rows[1] == [
        *(1, "Acme", "Founded", "1999", "ENRICHED", None, 0.92, "stated", "https://acme.org/about", "About"),
        *("founded in 1999 by Ada", 2, "2024-05-01T10:00:00Z", None),
    ]
    assert rows[2][:6] == [2, "=cmd|' /C calc'!A0", "Founded", None, "FAILED", "not_found"]
    assert [row[0] for row in rows[3:]] == [3, 3]


def test_xlsx_of_a_table_nobody_filled_has_one_sheet(tmp_path: Path) -> None:
    table = Table(id="t", name="T", fields=(Field(name="a"),), rows=(Row(id=1, cells={"a": make_given_cell("x")}),))
    path = tmp_path / "t.xlsx"
    path.write_bytes(export("xlsx", table))
    assert openpyxl.load_workbook(path).sheetnames == ["Table"]
    assert read_table(path).warnings == ()


def test_text_too_long_for_excel_is_cut_and_says_so() -> None:
    table = Table(
        id="t", name="T", fields=(Field(name="a"),), rows=(Row(id=1, cells={"a": make_given_cell("😀" * 20_000)}),)
    )
    text = sheets(table)["Table"]["A2"].value
    assert text.startswith("😀😀")
    assert text.endswith("… (cut; the whole text is in the JSON or CSV export)")
    assert len(text.encode("utf-16-le")) // 2 in (32_766, 32_767)


def test_too_many_columns_for_excel() -> None:
    table = Table(id="t", name="T", fields=tuple(Field(name=f"c{number}") for number in range(16_385)))
    with pytest.raises(UsageError, match="at most 16,384 columns; this table has 16,385") as caught:
        export("xlsx", table)
    assert caught.value.advice == "Export to CSV instead."


def test_too_many_rows_for_excel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_writer, "TABLE_LIMITS", TableLimits(excel_rows=3))
    with pytest.raises(UsageError, match="rows; this table has more"):
        export("xlsx")


def test_notes_beyond_the_cap_are_counted_in_the_evidence_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_writer, "TABLE_LIMITS", TableLimits(excel_notes=1))
    book = sheets()
    assert book["Table"]["B3"].comment is None
    last = [cell.value for cell in book["Evidence"]["A"]][-1]
    assert last == "2 cells have no note in the sheet Table: it holds at most 1."


def test_control_characters_survive_in_a_workbook(tmp_path: Path) -> None:
    texts = ["a\x01b\x1f", "_x0001_", "c\rd\ne"]
    rows = tuple(Row(id=at, cells={"a": make_given_cell(text)}) for at, text in enumerate(texts, start=1))
    path = tmp_path / "t.xlsx"
    path.write_bytes(export("xlsx", Table(id="t", name="T", fields=(Field(name="a"),), rows=rows)))
    assert [row[0].value for row in read_table(path).rows()] == texts


def test_markdown_is_text_and_never_markup() -> None:
    nasty = "a|b\n<img src=x onerror=y> `code` [l](http://x) **b** \\ _i_ snake_case"
    table = Table(
        id="t", name="T", fields=(Field(name="A|B"),), rows=(Row(id=1, cells={"A|B": make_given_cell(nasty)}),)
    )
    assert render_markdown_table(table) == (
        "| A\\|B |\n| --- |\n"
        "| a\\|b<br>&lt;img src=x onerror=y&gt; \\`code\\` \\[l\\](http://x) \\*\\*b\\*\\* \\\\ \\_i\\_ snake_case |\n"
    )


def test_markdown_says_how_many_rows_are_not_shown() -> None:
    rows = tuple(Row(id=at, cells={"n": make_given_cell(at)}) for at in range(1000))
    table = Table(id="t", name="T", fields=(Field(name="n", type="number"),), rows=rows)
    lines = render_markdown_table(table, max_rows=10).splitlines()
    assert len(lines) == 2 + 10 + 2
    assert lines[1] == "| ---: |"
    assert lines[-1] == "… 990 more rows"


def test_markdown_export_shows_all_rows() -> None:
    assert export("md").decode().splitlines()[0] == "| Company | Founded | Price | Day | Open | Tags |"
    assert len(export("md").splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.csv", "csv"), ("a.TSV", "tsv"), ("a.xlsx", "xlsx"), ("a.json", "json"), ("a.jsonl", "jsonl"), ("a.md", "md")],
)
def test_the_format_follows_from_the_name(name: str, format: str) -> None:
    assert format_from_name(Path(name)) == format


def test_a_name_without_a_format_is_answered_with_the_list() -> None:
    with pytest.raises(BadFile, match="does not say in which format") as caught:
        format_from_name(Path("table.docx"))
    assert caught.value.advice == "Use one of .csv, .tsv, .xlsx, .json, .jsonl, .md, .parquet."


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(BadFile, match="'dbf' is no format"):
        open_writer(io.BytesIO(), "dbf", TABLE)


def test_a_value_that_parquet_cannot_store_in_its_column() -> None:
    table = Table(
        id="t",
        name="T",
        fields=(Field(name="n", type="number"),),
        rows=(Row(id=1, cells={"n": make_given_cell("many")}),),
    )
    with pytest.raises(UsageError, match="holds 'many'"):
        export("parquet", table)


def test_all_digits_of_a_number_reach_the_workbook() -> None:
    table = Table(
        id="t",
        name="T",
        fields=(Field(name="n", type="number"),),
        rows=(Row(id=1, cells={"n": make_given_cell(0.1 + 0.2)}),),
    )
    assert sheets(table)["Table"]["A2"].value == 0.1 + 0.2
