"""What holds for every annotation, and what a document is taken for."""

from __future__ import annotations

import pytest
from msgspec import structs

from tablewright.corpus.annotate.annotate import annotate, categories_of, is_sound, kind_of
from tablewright.corpus.parse.parsed import Parsed
from tests.corpus.annotate.reading import read

SHEET = (
    "Acme X-200\nTechnical data\nPower: 290 W\nWeight: 20 kg\nLength: 2 m\nWidth: 1 m\nVoltage: 40 V\nCurrent: 7 A\n"
)
PARTIES = "The parties hereto agree. Whereas the party of the first part hereby binds the parties. Governing law."


def test_a_value_that_stands_elsewhere_is_not_sound() -> None:
    found = read("Power: 290 W\n")[0]
    assert is_sound(found, "Power: 290 W\n")
    assert not is_sound(found, "Power: 291 W\n")
    assert not is_sound(structs.replace(found, end=found.properties[0].start), "Power: 290 W\n")
    assert not is_sound(structs.replace(found, properties=()), "Power: 290 W\n")


def test_annotations_come_in_order_with_their_page() -> None:
    text = "Power: 290 W\nWeight: 20 kg\n\nLength: 2 m\n"
    found = annotate(Parsed(text=text, media="pdf", page_starts=(0, text.index("Length"))))
    assert [(each.properties[0].label, each.page) for each in found] == [("Power", 1), ("Weight", 1), ("Length", 2)]


def test_a_label_at_the_end_of_a_page_has_no_value_on_the_next() -> None:
    text = "Owner:\nPage 2 of 5\nPower: 290 W\n"
    found = annotate(Parsed(text=text, media="pdf", page_starts=(0, text.index("Page"))))
    assert [each.properties[0].label for each in found] == ["Power"]


@pytest.mark.parametrize(
    ("text", "media", "kind"),
    [
        (SHEET, "txt", "data sheet"),
        ("Annual report 2020\nNothing else.", "pdf", "report"),
        ("User manual\nPress the button.", "pdf", "manual"),
        ("Dear Ms Miller,\nthank you for your letter.\nYours, Bob", "docx", "letter"),
        ("a", "eml", "e-mail"),
        ("a", "xlsx", "spreadsheet"),
        (PARTIES, "txt", "contract"),
        ("Once upon a time.", "txt", ""),
    ],
)  # fmt: skip
def test_the_kind_of_a_document(text: str, media: str, kind: str) -> None:
    parsed = Parsed(text=text, media=media)
    assert kind_of(parsed, annotate(parsed)) == kind


def test_the_categories_of_a_document() -> None:
    story = Parsed(text="Nothing much is said in this sentence about anything. " * 1_000, media="txt")
    sheet = Parsed(text=SHEET, media="txt")
    assert categories_of(story, annotate(story)) == ("long", "text-heavy")
    assert categories_of(sheet, annotate(sheet)) == ("short", "data-heavy")


def test_an_empty_document_has_no_annotations() -> None:
    assert annotate(Parsed(text="", media="txt")) == ()
    assert annotate(Parsed(text="", media="csv")) == ()
