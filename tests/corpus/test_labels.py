"""Which labels name what is asked for, and which words stand in a text."""

from __future__ import annotations

import pytest

from tablewright.corpus.field_values import fit
from tablewright.values.vocabulary import holds, writings


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
    assert fit(asked, label) >= 0.85


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
    assert fit(asked, label) < 0.7


def test_each_word_beyond_those_asked_for_costs() -> None:
    assert fit("Date", "Date") > fit("Date", "Order date") > fit("Date", "First order date")


def test_the_heading_above_may_say_a_word_that_the_label_leaves_out() -> None:
    assert fit("Crew age", "Crew age") > fit("Crew age", "Age", "Crew") > fit("Crew age", "Age", "Passengers") == 0
    assert fit("Crew number", "Fax number", "Crew") == 0, "the label names something of its own"


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
    assert holds(text, asked)


def test_words_that_only_begin_alike_do_not_stand_in_a_text() -> None:
    assert not holds("tired of waiting", "tire")
    assert not holds("film, thin", "thin film")
    assert not holds("anything", "")


def test_an_index_of_stems_is_asked_for_each_spelling() -> None:
    assert "tyre" in writings("tires")
    assert "multi purpose" in writings("multipurpose")
