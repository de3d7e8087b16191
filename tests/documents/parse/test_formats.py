"""Every other kind of file: its text, its tables with the place of each cell, its headings."""

from __future__ import annotations

from datetime import date
from email.message import EmailMessage
from io import BytesIO

import openpyxl
import pytest

from tablewright.documents.indexed_document import index_document
from tablewright.documents.parse import image
from tablewright.documents.parse.parser import detect_file_kind, parse_document
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed
from tests.documents.parse import making


def cells(parsed: Parsed, number: int = 0) -> list[list[str]]:
    return [[parsed.text[start:end] for start, end in row] for row in parsed.grids[number].rows]


def headings(parsed: Parsed) -> list[str]:
    return [parsed.text[start:end] for start, end in parsed.headings]


def workbook(**sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_a_word_document_keeps_paragraphs_headings_and_tables_in_their_order() -> None:
    styles = f'<w:styles {making.W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>'
    table = making.word_table(("Part", "Width", "Price"), ("Panel A", "951 mm", "120 EUR"), ("Panel B", "", "90 EUR"))
    body = making.paragraph("Solar panels", "berschrift1") + making.paragraph("We sell two.") + table
    found = parse_document(making.docx(body + making.paragraph("That is all."), styles=styles), "panels.docx")
    assert found.text.split("\n")[:2] == ["Solar panels", "We sell two."]
    assert found.text.endswith("\nThat is all.")
    assert headings(found) == ["Solar panels"]
    assert cells(found) == [["Part", "Width", "Price"], ["Panel A", "951 mm", "120 EUR"], ["Panel B", "", "90 EUR"]]
    assert found.grids[0].head


def test_a_form_in_a_word_table_becomes_label_and_value_lines() -> None:
    table = making.word_table(("Name:", "Ada Lovelace"), ("Born:", "1815"))
    assert parse_document(making.docx(table), "form.docx").text == "Name: Ada Lovelace\nBorn: 1815"


def test_deleted_words_and_second_versions_of_a_drawing_are_left_out() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>never</w:delText></w:r></w:del><w:r><w:t>kept</w:t></w:r></w:p>"
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{making.paragraph('drawn')}</mc:Choice><mc:Fallback>{making.paragraph('drawn')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    assert parse_document(making.docx(body), "edited.docx").text == "kept\ndrawn"


def test_each_sheet_is_a_grid_under_its_name() -> None:
    found = parse_document(
        workbook(
            Sales=[["Sales of 2024"], ["Month", "Units", "Start"], ["May", 3, date(2024, 5, 1)], ["June", 4.5, None]],
            Staff=[["Name", "Age"], ["Ada", 36]],
        ),
        "book.xlsx",
    )
    assert found.text.split("\n")[:3] == ["Sales", "Sales of 2024", "Month | Units | Start"]
    assert cells(found) == [["Month", "Units", "Start"], ["May", "3", "2024-05-01"], ["June", "4.5", ""]]
    assert cells(found, 1) == [["Name", "Age"], ["Ada", "36"]]
    assert headings(found) == ["Sales", "Staff"]
    assert all(grid.head for grid in found.grids)


def test_tables_divided_by_a_blank_row_are_two() -> None:
    found = parse_document(workbook(Both=[["A", "B"], [1, 2], [None, None], ["C", "D"], [3, 4]]), "book.xlsx")
    assert [cells(found, at) for at in range(2)] == [[["A", "B"], ["1", "2"]], [["C", "D"], ["3", "4"]]]


def test_a_csv_is_one_grid_whatever_its_separator_and_quotes() -> None:
    found = parse_document('Shop;Item;Price\nAcme;"tire; ""winter""";12,50\nBeta;;3\n'.encode("cp1252"), "receipts.csv")
    assert cells(found) == [["Shop", "Item", "Price"], ["Acme", 'tire; "winter"', "12,50"], ["Beta", "", "3"]]
    assert found.grids[0].head
    assert found.media == "csv"


def test_a_csv_without_names_of_columns_has_no_head() -> None:
    assert not parse_document(b"2024-01-02,12.5,Acme\n2024-01-03,3,Beta\n", "log.csv").grids[0].head


def test_tabs_divide_a_tsv() -> None:
    assert cells(parse_document(b"Name\tAge\nAda, Countess\t36\n", "people.tsv"))[1] == ["Ada, Countess", "36"]


def test_a_markdown_table_has_its_cells_where_they_stand_in_the_text() -> None:
    table = "| Model | Width |\n|:--|--:|\n| A-1 | 951 mm |\n| A-2 |  |"
    written = f"# Panels\n\nTwo models.\n\n{table}\n\n```\n# no heading\n```\n"
    found = parse_document(written.encode(), "panels.md")
    assert cells(found) == [["Model", "Width"], ["A-1", "951 mm"], ["A-2", ""]]
    assert found.grids[0].head
    assert headings(found) == ["Panels"]
    assert found.title == "Panels"


def test_the_rows_of_a_web_page_are_a_grid_and_its_pairs_are_lines() -> None:
    page = (
        "<html><head><title>Panels</title></head><body><main><h1>Our panels</h1><p>We make them in Graz, by hand.</p>"
        "<table><tr><th>Model</th><th>Width</th><th>Mass</th></tr><tr><td>A-1</td><td>951 mm</td><td>11 kg</td></tr>"
        "<tr><td>A-2</td><td>800 mm</td><td>9 kg</td></tr></table>"
        "<table><tr><th>Warranty</th><td>10 years</td></tr></table></main></body></html>"
    )
    found = parse_document(page.encode(), "panels.htm")
    assert cells(found) == [["Model", "Width", "Mass"], ["A-1", "951 mm", "11 kg"], ["A-2", "800 mm", "9 kg"]]
    assert "\nWarranty: 10 years" in found.text
    assert headings(found) == ["Our panels"]
    assert (found.title, found.media) == ("Panels", "html")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Garden pump\n\nFor clean water.\n\n## Cleaning\n\nRinse it.\n\n## Data\n\nIt is blue.\n", "Garden pump"),
        ("# Garden pump\n\n# Cleaning\n\nRinse it.\n\n# Data\n\nIt is blue.\n", "Garden pump"),
        ("# Lease of a flat\n\nIn two parts.\n\n# 1. Term\n\nA year.\n\n# 2. Rent\n\n900.\n", "Lease of a flat"),
        ("# Receipt 12\n\nTyres, 40 EUR.\n", "Receipt 12"),
        ("# 1. Term\n\nA year.\n\n# 2. Rent\n\n900 EUR.\n", ""),
        ("Article 1 – Term\n===\n\nA year.\n\nArticle 2 – Rent\n===\n\n900 EUR.\n", ""),
        ("## Term\n\nA year.\n\n## Rent\n\n900 EUR.\n", ""),
    ],
)
def test_the_first_of_several_sections_is_no_title(text: str, title: str) -> None:
    found = parse_document(text.encode(), "a.md")
    assert found.title == title
    assert index_document(found).heading == title


@pytest.mark.parametrize("given", ["(anonymous)", "about:blank", "Untitled 1"])
def test_a_title_that_is_not_about_the_text_gives_way_to_the_first_heading(given: str) -> None:
    body = "<h1>Bon de livraison 0388</h1><p>What it is about: twelve cans of paint, delivered on 27 March.</p>"
    page = f"<html><head><title>{given}</title></head><body>{body}</body></html>"
    assert parse_document(page.encode(), "page.html").title == "Bon de livraison 0388"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_plain_text_is_read_in_its_encoding(encoding: str) -> None:
    text = "Müller Straße 5\nGebäude für Gäste\nGesamt: 12,50 für alles\n"
    assert parse_document(text.encode(encoding), "note.txt").text.rstrip() == text.rstrip()


def test_paragraphs_of_a_text_stay_apart_and_unseen_characters_are_gone() -> None:
    assert (
        parse_document("One\u200b\r\n\r\n\r\n\r\nTwo  three   \r\n".encode(), "note.txt").text.rstrip()
        == "One\n\nTwo  three"
    )


def test_an_e_mail_shows_who_wrote_what_and_names_what_is_attached() -> None:
    message = EmailMessage()
    message["From"], message["To"] = "Zoë <zoe@example.org>", "ada@example.org"
    message["Subject"], message["Date"] = "Prüfung am Montag", "Mon, 06 May 2024 10:00:00 +0200"
    message.set_content("Dear Ada,\nthe total is 12 EUR.\n")
    message.add_alternative("<p>Dear Ada, in colour</p>", subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="bill.pdf")
    found = parse_document(message.as_bytes(), "mail.eml")
    assert found.text.startswith(
        "From: Zoë <zoe@example.org>\nTo: ada@example.org\nDate: Mon, 06 May 2024 10:00:00 +0200"
    )
    assert "Subject: Prüfung am Montag\n\nDear Ada,\nthe total is 12 EUR." in found.text
    assert "colour" not in found.text
    assert "bill.pdf" in found.notes[0]


@pytest.mark.skipif(image.can_read_images(), reason="it would be read")
def test_an_image_says_how_to_read_it() -> None:
    with pytest.raises(Unreadable, match=r"is an image\. To read images, run `pip install 'tablewright\[ocr\]'`"):
        parse_document(b"\x89PNG\r\n\x1a\n" + bytes(100), "photo.png")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (making.pdf([(72, 72, "x")]), "pdf"),
        (making.docx(making.paragraph("x")), "docx"),
        (workbook(One=[["x"]]), "xlsx"),
        (b"<!DOCTYPE html><html><body>x</body></html>", "html"),
        (b"From: a@example.org\nTo: b@example.org\nSubject: x\nDate: today\n\nx", "eml"),
        (b"just words", "txt"),
        ("just words".encode("utf-16-le"), "txt"),
    ],
)
def test_a_file_without_a_telling_name_is_known_by_its_content(content: bytes, kind: str) -> None:
    assert detect_file_kind(content, "upload") == kind


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"", "nothing.txt", "is empty"),
        (b" \n\0\n", "blank.csv", "is empty"),
        (b"\x00\x01\x02\x03" * 100, "data.bin", "cannot be read. These can: csv, docx"),
        (making.zipped({"a.txt": b"x"}), "files.zip", "Unpack it"),
        (b"PK\x03\x04 and no more", "cut.docx", "damaged or cut short"),
        (b"no zip at all", "renamed.xlsx", "not of the kind that its name says"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "secret.docx", "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "old.doc", "old Office format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "old.xls", "damaged workbook"),
        (making.zipped({"word/document.xml": b"<w:document"}), "odd.docx", "damaged Word document"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, name: str, reason: str) -> None:
    with pytest.raises(Unreadable) as problem:
        parse_document(content, name)
    assert reason in str(problem.value)
    assert name in str(problem.value)


def test_a_form_feed_in_a_text_begins_a_page() -> None:
    found = parse_document(b"Page one\n\n\x0cPage two\n\x0c\x0cPage four\n\x0c\n", "scan.txt")
    ends = (*found.page_starts[1:], len(found.text))
    pages = [found.text[start:end].strip() for start, end in zip(found.page_starts, ends, strict=True)]
    assert pages == ["Page one", "Page two", "", "Page four"]
    assert parse_document(b"No pages\n", "note.txt").page_starts == ()
