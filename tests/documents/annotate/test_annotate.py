"""What holds for every annotation, and what a document is taken for."""

from __future__ import annotations

import pytest
from msgspec import structs

from tablewright.documents.annotate.annotate import (
    annotate_parsed,
    derive_categories,
    is_sound_annotation,
    kind_by_format,
)
from tablewright.extraction.layout.draft import Parsed
from tests.documents.annotate.reading import read

SHEET = (
    "Acme X-200\nTechnical data\nPower: 290 W\nWeight: 20 kg\nLength: 2 m\nWidth: 1 m\nVoltage: 40 V\nCurrent: 7 A\n"
)


def test_a_value_that_stands_elsewhere_is_not_sound() -> None:
    found = read("Power: 290 W\n")[0]
    assert is_sound_annotation(found, "Power: 290 W\n")
    assert not is_sound_annotation(found, "Power: 291 W\n")
    assert not is_sound_annotation(structs.replace(found, end=found.properties[0].start), "Power: 290 W\n")
    assert not is_sound_annotation(structs.replace(found, properties=()), "Power: 290 W\n")


def test_annotations_come_in_order_with_their_page() -> None:
    text = "Power: 290 W\nWeight: 20 kg\n\nLength: 2 m\n"
    found = annotate_parsed(Parsed(text=text, media="pdf", page_starts=(0, text.index("Length"))))
    assert [(each.properties[0].label, each.page) for each in found] == [("Power", 1), ("Weight", 1), ("Length", 2)]


def test_a_label_at_the_end_of_a_page_has_no_value_on_the_next() -> None:
    text = "Owner:\nPage 2 of 5\nPower: 290 W\n"
    found = annotate_parsed(Parsed(text=text, media="pdf", page_starts=(0, text.index("Page"))))
    assert [each.properties[0].label for each in found] == ["Power"]


@pytest.mark.parametrize(("media", "kind"), [("eml", "e-mail"), ("csv", ""), ("txt", ""), ("pdf", "")])
def test_the_format_of_a_document_is_not_its_kind_but_an_email_is_one(media: str, kind: str) -> None:
    assert kind_by_format(Parsed(text="INVOICE No. 7", media=media)) == kind


def test_the_categories_of_a_document() -> None:
    story = Parsed(text="Nothing much is said in this sentence about anything. " * 1_000, media="txt")
    sheet = Parsed(text=SHEET, media="txt")
    assert derive_categories(story, annotate_parsed(story)) == ("long", "text-heavy")
    assert derive_categories(sheet, annotate_parsed(sheet)) == ("short", "data-heavy")


def test_an_empty_document_has_no_annotations() -> None:
    assert annotate_parsed(Parsed(text="", media="txt")) == ()
    assert annotate_parsed(Parsed(text="", media="csv")) == ()
