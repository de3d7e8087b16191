"""Tables as facts and as rows."""

from __future__ import annotations

from tablewright.documents.annotate.annotate import annotate_parsed, is_sound_annotation
from tablewright.documents.parse import text_formats
from tablewright.extraction.layout.draft import Parsed, ParsedTable
from tests.documents.annotate.reading import rows


def parsed(table: list[list[str]], media: str = "pdf", *, head: bool = True, before: str = "") -> Parsed:
    """A text with the table in it, as a parser writes it."""
    text, places = before, []
    for cells in table:
        row = []
        for cell in cells:
            row.append((len(text), len(text) + len(cell)))
            text += cell + "\t"
        places.append(tuple(row))
        text += "\n"
    headings = ((0, len(before.rstrip())),) if before else ()
    return Parsed(text=text, media=media, grids=(ParsedTable(rows=tuple(places), head=head),), headings=headings)


def test_a_table_of_labels_and_values_is_facts_with_the_unit_of_the_label() -> None:
    text = "| Item | Value |\n|---|---|\n| Length (mm) | 1,970 |\n| Foldable | No |\n"
    found = {
        each.properties[0].label: each.properties[0]
        for each in annotate_parsed(text_formats.parse_plain_text(text.encode(), "a.txt"))
    }
    assert (found["Length (mm)"].value.si, found["Length (mm)"].value.base) == (1.97, "m")
    assert found["Foldable"].value.truth is False
    assert "Item" not in found, "words above values of other types name the columns"


def test_a_table_with_named_columns_is_rows() -> None:
    document = parsed([["Name", "Age", "Height (cm)"], ["Ann", "30", "170"], ["Bob", "", "180"]])
    found = annotate_parsed(document)
    assert [[each.label for each in row.properties] for row in found] == [
        ["Name", "Age", "Height (cm)"],
        ["Name", "Height (cm)"],
    ]
    assert found[0].properties[2].value.si == 1.7
    assert {row.table for row in found} == {1}
    assert all(is_sound_annotation(row, document.text) for row in found)


def test_two_columns_of_one_kind_are_rows_and_of_many_kinds_are_facts() -> None:
    ages = annotate_parsed(parsed([["Name", "Age"], ["Ann", "30"], ["Bob", "31"]]))
    sheet = annotate_parsed(parsed([["Weight", "20 kg"], ["Voltage", "12 V"], ["Made in", "Norway"]], head=False))
    assert [each.shape for each in ages] == ["row", "row"]
    assert [(each.shape, each.properties[0].label) for each in sheet] == [
        ("fact", "Weight"), ("fact", "Voltage"), ("fact", "Made in"),
    ]  # fmt: skip


def test_a_unit_in_the_first_column_counts_for_its_row() -> None:
    found = annotate_parsed(
        parsed([["Parameter", "Elm", "Ash"], ["Draw (W)", "37.6", "38.0"], ["Height (mm)", "840", "910"]])
    )
    assert [each.value.si for each in found[1].properties[1:]] == [0.84, 0.91]


def test_a_sheet_is_typed_rows_under_its_heading() -> None:
    table = [["Item", "Bought", "Price (EUR)"], ["Tire", "13/02/2020", "80.5"], ["Oil", "03/04/2020", "7"]]
    found = annotate_parsed(parsed(table, "xlsx", before="Garage\n"))
    assert {row.by for row in found} == {"sheet"}
    item, bought, price = found[1].properties
    assert (item.context, bought.value.date, price.value.number, price.value.currency) == (
        "Garage",
        "2020-04-03",
        7,
        "EUR",
    )


def test_a_sheet_of_two_columns_stays_rows() -> None:
    assert {
        each.shape for each in annotate_parsed(parsed([["Item", "Value"], ["Tire", "80"], ["Oil", "x"]], "csv"))
    } == {"row"}


def test_a_form_at_the_top_of_a_sheet_is_facts() -> None:
    form = [["Invoice", "KQ-304"], ["Date", "7 July 2025"], ["Customer", "M. Tregear"]]
    found = annotate_parsed(parsed(form, "xlsx"))
    assert [(each.shape, each.properties[0].label, each.properties[0].value.raw) for each in found] == [
        ("fact", "Invoice", "KQ-304"), ("fact", "Date", "7 July 2025"), ("fact", "Customer", "M. Tregear"),
    ]  # fmt: skip


def test_lines_that_are_only_aligned_are_a_table() -> None:
    text = "Model    Weight    Price\nA-1      20 kg     5.00\nA-2      22 kg     6.00\n"
    assert rows(text) == [
        {"Model": "A-1", "Weight": "20 kg", "Price": "5.00"}, {"Model": "A-2", "Weight": "22 kg", "Price": "6.00"},
    ]  # fmt: skip


def test_the_lines_of_a_table_are_not_read_as_pairs_again() -> None:
    found = annotate_parsed(parsed([["Name", "Weight  kg", "Size"], ["Ann", "Rated  5", "3"]]))
    assert [each.by for each in found] == ["table"]


def test_a_form_in_a_table_is_facts() -> None:
    form = [["Name:", "Ann", "Date:", "25/12/2018"], ["Phone: 5", "", "Owner:", ""], ["Fax:", "Note:", "", ""]]
    found = annotate_parsed(parsed(form, head=False))
    assert [(each.shape, each.properties[0].label, each.properties[0].value.raw) for each in found] == [
        ("fact", "Name", "Ann"), ("fact", "Date", "25/12/2018"), ("fact", "Phone", "5"),
    ]  # fmt: skip
