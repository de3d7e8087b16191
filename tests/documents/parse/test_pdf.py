"""PDFs: the order in which they are read, their forms, their tables, and what is wrong with some."""

from __future__ import annotations

from io import BytesIO

import pypdfium2
import pytest

from tablewright.documents.parse import image, pdf
from tablewright.documents.parse.parser import parse_document
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed
from tablewright.extraction.layout.pdf import rejoin_hyphenated
from tests.documents.parse import making

PROSE = [
    "The station was built on the northern side of the",
    "valley where the old railway line had been closed",
    "some thirty years before and its roof was made of",
    "slate that came from a quarry on the other side of",
    "the river so that little had to be carried far away",
]


def cells(parsed: Parsed, number: int = 0) -> list[list[str]]:
    return [[parsed.text[start:end] for start, end in row] for row in parsed.grids[number].rows]


def test_pages_follow_each_other_and_their_starts_are_known() -> None:
    found = parse_document(making.pdf([(72, 72, "First page")], [], [(72, 72, "Third page")]), "report.pdf")
    assert found.text[found.page_starts[0] :].startswith("First page")
    assert found.text[found.page_starts[2] :] == "Third page"
    assert len(found.page_starts) == 3


def test_a_line_in_large_letters_is_a_heading() -> None:
    written = making.pdf([(72, 100.0 + 14 * at, line) for at, line in enumerate(PROSE)])
    larger = written.replace(b"stream\nBT", b"stream\nBT /F1 16 Tf 72 720 Td (Pilot information) Tj ET\nBT", 1)
    found = parse_document(larger, "report.pdf")
    assert [found.text[start:end] for start, end in found.headings] == ["Pilot information"]


def test_a_page_that_cannot_be_opened_is_named_in_the_notes() -> None:
    written = making.pdf([(72, 72, "First page")], [(72, 72, "Second page")])
    found = parse_document(written.replace(b"/Kids [4 0 R 6 0 R]", b"/Kids [4 0 R 9 0 R]"), "torn.pdf")
    assert found.text.strip() == "First page"
    assert found.notes == ("Page 2 has damage and could not be read.",)


@pytest.mark.skipif(image.can_read_images(), reason="it would be read")
def test_a_page_of_images_among_others_is_named_in_the_notes() -> None:
    picture = making.pdf_of_an_image()
    both = pypdfium2.PdfDocument(making.pdf([(72, 72, "A page with words on it")]))
    scan = pypdfium2.PdfDocument(picture)
    both.import_pages(scan)
    stream = BytesIO()
    both.save(stream)
    both.close()
    scan.close()
    found = parse_document(stream.getvalue(), "half.pdf")
    assert found.notes == (f"Page 2 has only images and could not be read. {image.HOW_TO_INSTALL}",)


@pytest.mark.parametrize(
    ("divided", "whole"), [("investi\ufffegation", "investigation"), ("IO\ufffe470-E", "IO-470-E")]
)
def test_a_word_divided_at_the_end_of_a_line_is_made_whole(divided: str, whole: str) -> None:
    assert rejoin_hyphenated(divided) == whole


def test_two_columns_of_labels_and_values_become_a_line_for_each_pair() -> None:
    page = [
        *((72, 100, "Registration:"), (160, 100, "K4172Q"), (330, 100, "Seats:"), (420, 100, "5")),
        *((72, 120, "Year built:"), (330, 120, "Amateur built:"), (420, 120, "No")),
        *((72, 140, "Serial number:"), (160, 140, "61-0163"), (330, 140, "Engines:"), (420, 140, "2 Reciprocating")),
    ]
    assert parse_document(making.pdf(page), "form.pdf").text.split("\n") == [
        "Registration: K4172Q",
        "Seats: 5",
        "Year built:",
        "Amateur built: No",
        "Serial number: 61-0163",
        "Engines: 2 Reciprocating",
    ]


def test_a_value_that_is_wrapped_stays_one_value() -> None:
    page = [
        *((72, 100, "Ratings:"), (160, 100, "Multi-engine land;"), (330, 100, "Seat:"), (420, 100, "Left")),
        (160, 111, "single-engine land"),
        *((72, 130, "Medical:"), (160, 130, "Class 3"), (330, 130, "Exam:"), (420, 130, "2005")),
    ]
    assert (
        "Ratings: Multi-engine land; single-engine land\nSeat: Left\n"
        in parse_document(making.pdf(page), "form.pdf").text
    )


def test_labels_above_their_values_are_paired() -> None:
    page = [(72, 100, "Invoice date:"), (250, 100, "Due date:"), (72, 114, "2023-03-20"), (250, 114, "2023-04-04")]
    assert parse_document(making.pdf(page), "bill.pdf").text == "Invoice date: 2023-03-20\nDue date: 2023-04-04"


def test_values_that_the_file_writes_before_their_labels_stand_beside_them() -> None:
    values = [(400.0, 100.0 + 14 * at, text) for at, text in enumerate(["Jan 1, 2022", "Net 30 days", "$127.50"])]
    labels = [(300.0, 100.0 + 14 * at, text) for at, text in enumerate(["Date:", "Payment terms:", "Balance due:"])]
    found = parse_document(making.pdf([*values, *labels]), "bill.pdf").text
    assert found == "Date: Jan 1, 2022\nPayment terms: Net 30 days\nBalance due: $127.50"


def test_a_table_without_rules_is_a_grid_with_its_head() -> None:
    rows = [
        ("Item", "Quantity", "Rate", "Amount"),
        ("Repair of the pump", "12", "$10.00", "$120.00"),
        ("Cleaning", "5", "$1.50", "$7.50"),
        ("Delivery", "", "", "$4.00"),
    ]
    page = [
        (x, 100.0 + 16 * at, text)
        for at, row in enumerate(rows)
        for x, text in zip((72, 250, 340, 430), row, strict=True)
        if text
    ]
    found = parse_document(
        making.pdf([(72, 60, "Invoice 17"), *page, (72, 200, "Thank you for your order.")]), "bill.pdf"
    )
    assert cells(found) == [list(row) for row in rows]
    assert found.grids[0].head
    assert found.text.startswith("Invoice 17\n")
    assert found.text.endswith("\nThank you for your order.")


def test_years_name_the_columns_of_a_report() -> None:
    page = [
        *((300, 100, "2023"), (400, 100, "2022")),
        *((72, 114, "Net sales"), (290, 114, "$ 574,785"), (390, 114, "$ 513,983")),
        *((72, 128, "Cost of sales"), (300, 128, "304,739"), (400, 128, "288,831")),
    ]
    found = parse_document(making.pdf(page), "accounts.pdf")
    assert cells(found)[:2] == [["", "2023", "2022"], ["Net sales", "$ 574,785", "$ 513,983"]]
    assert found.grids[0].head


def test_a_name_of_a_column_close_to_the_next_one_is_a_name_of_its_own() -> None:
    page = [
        *((72, 100, "Article"), (200, 100, "Price"), (226, 100, "VAT"), (300, 100, "Total")),
        *((72, 114, "Filter"), (200, 114, "9,99"), (226, 114, "21 %"), (300, 114, "12,09")),
        *((72, 128, "Valve"), (200, 128, "4"), (226, 128, "21 %"), (300, 128, "4,84")),
    ]
    assert cells(parse_document(making.pdf(page), "bill.pdf"))[0] == ["Article", "Price", "VAT", "Total"]


def test_columns_of_running_text_are_read_one_after_the_other() -> None:
    left = [(40.0, 100.0 + 12 * at, line) for at, line in enumerate(PROSE)]
    right = [(330.0, 100.0 + 12 * at, f"Later {line}"[:48]) for at, line in enumerate(PROSE)]
    interleaved = [placed for both in zip(left, right, strict=True) for placed in both]
    found = parse_document(making.pdf(interleaved), "paper.pdf").text.split("\n")
    assert found[:5] == PROSE
    assert found[5].startswith("Later The station")


def test_blocks_beside_each_other_on_other_lines_are_not_mixed() -> None:
    left = [(72.0, 100.0 + 12 * at, text) for at, text in enumerate(["Bill to", "Taylor Riddel", "12 High Street"])]
    right = [(330.0, 105.0 + 14 * at, text) for at, text in enumerate(["Ship to", "Taylor's Store", "7 Low Road"])]
    found = parse_document(making.pdf([*left, *right]), "bill.pdf").text
    assert "Bill to\nTaylor Riddel\n12 High Street" in found
    assert "Ship to\nTaylor's Store\n7 Low Road" in found


def test_what_is_filled_into_a_form_stands_beside_its_label() -> None:
    field = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (f1) /V (Ada Lovelace) /Rect [160 685 300 700] /F 4 >>"
    written = making.pdf(
        [(72, 105, "Name of applicant:")],
        extra=field,
        annots="/Annots [6 0 R]",
        catalog="/AcroForm << /Fields [6 0 R] /DR << >> >>",
    )
    assert parse_document(written, "form.pdf").text == "Name of applicant: Ada Lovelace"


@pytest.mark.skipif(image.can_read_images(), reason="it would be read")
def test_a_pdf_of_images_says_how_to_read_it() -> None:
    with pytest.raises(Unreadable, match=r"PDF of images.*tablewright\[ocr\]"):
        parse_document(making.pdf_of_an_image(), "scan.pdf")


def test_further_pages_than_the_limit_are_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    found = parse_document(making.pdf(*([(72, 72, f"Page {number}")] for number in range(5))), "long.pdf")
    assert len(found.page_starts) == 2
    assert found.notes == ("Only the first 2 of its 5 pages were read.",)


def test_a_wrong_table_of_contents_of_the_file_is_repaired() -> None:
    written = making.pdf([(72, 72, "Still readable")])
    broken = written.replace(b"startxref\n", b"startxref\n9")
    assert parse_document(broken, "odd.pdf").text == "Still readable"


@pytest.mark.parametrize("kept", [20, 200])
def test_a_pdf_cut_short_is_unreadable(kept: int) -> None:
    with pytest.raises(Unreadable, match=r"cut short or damaged\. Save or download it again"):
        parse_document(making.pdf([(72, 72, "Hello")])[:kept], "cut.pdf")


def test_a_pdf_with_a_password_is_unreadable() -> None:
    secret = "<" + "41" * 32 + ">"
    encrypt = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O {secret} /U {secret} /P -4 >> /ID [<00> <00>]"
    written = making.pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
        ],
        trailer=encrypt,
    )
    with pytest.raises(Unreadable, match="protected by a password"):
        parse_document(written, "secret.pdf")


def test_a_pdf_of_empty_pages_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="pages are empty"):
        parse_document(making.pdf([], []), "blank.pdf")
