"""PDFs, written by hand so that every byte is known."""

from __future__ import annotations

import pytest

from tablewright.documents.parse.parser import parse_document
from tablewright.web.read import UnreadablePage, read_bytes
from tests.documents.parse import making


def pdf(*pages: str, title: str = "", trailer: str = "") -> bytes:
    """A PDF with one line of Helvetica for each line of each page; an empty page has no text at all."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in text.split("\n") if line)
        stream = f"BT /F1 12 Tf 14 TL 72 700 Td {shown} ET" if text else "q Q"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    start = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R {trailer} >>\n"
    return (body + f"startxref\n{start}\n%%EOF\n").encode("latin-1")


def test_pages_are_read_in_order_and_their_starts_are_known() -> None:
    found = read_bytes(
        pdf("Acme report\nFounded in 1990", "", "Second page", title="Annual report"), content_type="application/pdf"
    )
    assert found.title == "Annual report"
    assert found.text == "Acme report\nFounded in 1990\nSecond page"
    assert len(found.page_starts) == 3
    assert found.text[found.page_starts[2] :] == "Second page"


def test_the_tables_of_a_pdf_are_rows_on_the_web_as_in_documents() -> None:
    rows = [("Model", "Weight", "Price"), ("Heron", "20 kg", "5.00"), ("Egret", "22 kg", "6.00")]
    placed = [
        (72.0 + 150 * at, 100.0 + 20 * line, cell) for line, row in enumerate(rows) for at, cell in enumerate(row)
    ]
    body = making.pdf(placed)
    assert read_bytes(body, content_type="application/pdf").text == parse_document(body, "prices.pdf").text
    assert "Heron | 20 kg | 5.00" in read_bytes(body, content_type="application/pdf").text.split("\n")


def test_a_pdf_is_known_by_its_bytes() -> None:
    assert read_bytes(pdf("Hello"), content_type="text/html").text == "Hello"


def test_a_pdf_of_images_is_unreadable() -> None:
    with pytest.raises(UnreadablePage, match="images"):
        read_bytes(pdf("", ""), content_type="application/pdf")


def test_a_broken_pdf_is_unreadable() -> None:
    with pytest.raises(UnreadablePage, match="broken"):
        read_bytes(b"%PDF-1.4\nnothing more", content_type="application/pdf")


def test_an_encrypted_pdf_is_unreadable() -> None:
    secret = "<" + "41" * 32 + ">"
    encrypt = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O {secret} /U {secret} /P -4 >> /ID [<00> <00>]"
    with pytest.raises(UnreadablePage, match="encrypted"):
        read_bytes(pdf("Hello", trailer=encrypt), content_type="application/pdf")
