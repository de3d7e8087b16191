"""Kinds from the words that head documents: only form counts, and only what two documents share."""

from __future__ import annotations

import pytest

from tablewright.documents.indexed_document import index_document
from tablewright.documents.parse.text_formats import parse_plain_text
from tablewright.documents.title_kinds import guess_kinds_from_titles, split_heading_parts
from tablewright.domain.documents import Document, KindBy
from tablewright.extraction.layout.draft import Parsed


@pytest.mark.parametrize(
    ("heading", "parts"),
    [
        ("INVOICE No. 7", ["invoice"]),
        ("Lease agreement – 12 Mill Lane", ["lease agreement", "mill lane"]),
        ("Minutes, 3 March 2026", ["minutes"]),
        ("Lohnabrechnung März 2026", ["lohnabrechnung"]),
        ("Contrat d’entretien n° 12", ["contrat d’entretien"]),
        ("Acme Ltd | Delivery note DN-2031", ["acme ltd", "delivery note"]),
        ("Follow-up report: sample A/3", ["follow-up report", "sample"]),
        ("保守点検報告書 2026年3月", ["保守点検報告書"]),
        ("2026-03-04 / 17", []),
        ("We thank you very much for your order", []),
    ],
)
def test_a_heading_falls_into_parts_at_numbers_dates_and_punctuation(heading: str, parts: list[str]) -> None:
    assert split_heading_parts(heading) == parts


def test_the_first_part_that_heads_another_document_is_the_kind_of_both() -> None:
    found = guess_kinds_from_titles(
        [
            document("a", "Berth contract – Elena"),
            document("b", "BERTH CONTRACT: Marlin II"),
            document("c", "Harbour rules"),
            document("d", ""),
        ]
    )
    assert found == {"a": "berth contract", "b": "berth contract", "c": "", "d": ""}


def test_what_somebody_said_is_not_guessed_and_names_the_others_of_its_heading() -> None:
    documents = [
        document("a", "Liegevertrag 7", "berth contract", "person"),
        document("b", "Liegevertrag 8"),
        document("c", "Angebot 1", "offer", "model"),
        document("d", "Angebot 2", "quote", "model"),
        document("e", "Angebot 3", "angebot", "title"),
        document("f", "Angebot 4", "e-mail"),
    ]
    assert guess_kinds_from_titles(documents) == {"b": "berth contract", "e": "angebot"}


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("\n  Berth contract\n\nBerth: 12\n", "Berth contract"),
        ("Date: 2026-03-04\nBerth contract\n", ""),
        ("Berth | Boat | Fee\n1 | Elena | 40\n2 | Marlin | 50\n", ""),
    ],
)
def test_a_document_is_headed_by_its_first_line_unless_that_is_a_field_or_a_table(text: str, heading: str) -> None:
    assert index_document(parse_plain_text(text.encode(), "a.txt")).heading == heading


def test_a_title_of_its_own_or_a_heading_comes_before_the_first_line() -> None:
    text = "Harbour office\nBerth contract\n"
    at = text.index("Berth")
    marked = Parsed(text=text, media="pdf", headings=((at, len(text) - 1),))
    titled = Parsed(text=text, media="pdf", title="Contract 12", headings=marked.headings)
    assert [index_document(each).heading for each in (marked, titled)] == ["Berth contract", "Contract 12"]


def test_a_heading_with_a_colon_is_a_heading() -> None:
    text = "Survey report: yacht Elena\nSurveyor: Berg\n"
    marked = Parsed(text=text, media="docx", headings=((0, text.index("\n")),))
    assert split_heading_parts(index_document(marked).heading) == ["survey report", "yacht elena"]


def document(id: str, heading: str, kind: str = "", by: KindBy = "") -> Document:
    return Document(id=id, path=id, name=id, heading=heading, kind=kind, kind_by=by)
