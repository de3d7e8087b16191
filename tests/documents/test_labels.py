"""Which labels name what is asked for, and which words stand in a text."""

from __future__ import annotations

import pytest

from tablewright.documents.field_values import score_label_fit
from tablewright.values.vocabulary import contains_phrase, spelling_variants


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ("Delivery date", "Date of delivery"),
        ("Width", "Width (mm)"),
        ("Employees", "Employee"),
        ("Date of birth", "DOB"),
        ("GIA", "Gross internal area"),
        ("Model", "Model/Series"),
        ("Date", "Date & Time"),
        ("Nettobetrag", "NETTOBETRAG"),
    ],
)
def test_a_label_of_the_same_words_names_it(asked: str, label: str) -> None:
    assert score_label_fit(asked, label) >= 0.85


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ("Width", "Height"),
        ("Total", "Subtotal"),
        ("Net weight", "Gross weight"),
        ("Birth", "Date of birth registration office"),
        ("Vendor", ""),
    ],
)
def test_a_label_without_one_of_the_words_does_not_name_it(asked: str, label: str) -> None:
    assert score_label_fit(asked, label) < 0.7


def test_each_word_beyond_those_asked_for_costs() -> None:
    assert (
        score_label_fit("Date", "Date")
        > score_label_fit("Date", "Order date")
        > score_label_fit("Date", "First order date")
    )


def test_the_heading_above_may_say_a_word_that_the_label_leaves_out() -> None:
    assert (
        score_label_fit("Crew age", "Crew age")
        > score_label_fit("Crew age", "Age", "Crew")
        > score_label_fit("Crew age", "Age", "Passengers")
        == 0
    )
    assert score_label_fit("Crew number", "Fax number", "Crew") == 0, "the label names something of its own"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("4x TYRES 205/55", "tire"),
        ("Multi-coloured tiles", "multicoloured"),
        ("Thin-film", "thin film"),
        ("Batteries not included", "battery"),
    ],
)
def test_words_stand_in_a_text_in_any_spelling(text: str, asked: str) -> None:
    assert contains_phrase(text, asked)


def test_words_that_only_begin_alike_do_not_stand_in_a_text() -> None:
    assert not contains_phrase("tired of waiting", "tire")
    assert not contains_phrase("film, thin", "thin film")
    assert not contains_phrase("anything", "")


def test_an_index_of_stems_is_asked_for_each_spelling() -> None:
    assert "tyre" in spelling_variants("tires")
    assert "multi purpose" in spelling_variants("multipurpose")
