"""Whom a page is about."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field
from tablewright.extraction.subject import SUBJECT_SCORES, Subject, score_subject_match
from tests.extraction.asking import answer

FOUNDED = Field(name="Founded", type="number")


@pytest.mark.parametrize(
    ("name", "title", "text"),
    [
        ("Brindle Works", "Brindle Works", ""),
        ("Brindle Works Inc.", "Brindle Works", ""),
        ("Brindle", "Brindle (company)", ""),
        ("Brindle Works", "About us | Brindle Works", ""),
        ("IIT Dunmore", "Indian Institute of Technology Dunmore", ""),
        ("Calling, The", "The Calling", ""),
        ("The Salt Road (Út a sóhoz)", "The Salt Road", ""),
        ("Rajko Stadium", "Red Star Stadium", "Red Star Stadium, also known as Rajko Stadium, is a stadium."),
        ("Dunmore College", "Student Aid", "Find a school\nCompare\nDunmore College\n45 Ferry Street"),
    ],
)
def test_a_page_is_about_what_its_title_or_head_names(name: str, title: str, text: str) -> None:
    assert score_subject_match(Subject(name=name), title, text) >= SUBJECT_SCORES.about


@pytest.mark.parametrize(
    ("name", "title", "text"),
    [
        ("Brindle Works", "Harrow Timber Group", "Harrow Timber Group is a sawmill in Ohio."),
        ("Kestrel 3", "Kestrel 2", "The Kestrel 2 is a drill."),
        ("Paris", "Second Treaty of Paris on the Saint Lawrence", "The treaty was signed in 1856."),
        ("Dunmore", "", ""),
    ],
)
def test_a_page_about_another_is_not_taken_for_it(name: str, title: str, text: str) -> None:
    assert score_subject_match(Subject(name=name), title, text) < SUBJECT_SCORES.about


def test_the_other_cells_of_the_row_tell_namesakes_apart() -> None:
    subject = Subject(name="Mercury", context={"Genre": "progressive rock", "Label": "Elm Records"})
    band = score_subject_match(
        subject, "Mercury Rising Band", "Mercury Rising Band plays progressive rock for Elm Records."
    )
    planet = score_subject_match(subject, "Mercury Space Probe", "The probe orbits the innermost planet.")
    assert band > planet


def test_a_title_that_names_only_the_maker_is_of_any_of_its_models() -> None:
    subject = Subject(name="Elm Tools Sparrow", context={"Maker": "Elm Tools"})
    assert score_subject_match(subject, "Wren – Elm Tools", "Wren\nWeight: 2 kg") < SUBJECT_SCORES.about
    assert (
        score_subject_match(subject, "Sparrow – Elm Tools", "Elm Tools Sparrow\nWeight: 3 kg") >= SUBJECT_SCORES.about
    )


def test_a_document_asked_about_itself_needs_no_name() -> None:
    assert score_subject_match(Subject(name=""), "", "Anything") == 1.0


def test_the_page_of_another_gives_nothing() -> None:
    text = "Harrow Timber Group was founded in 1931 in Ohio.\nFounded: 1931"
    assert answer(FOUNDED, text, name="Brindle Works", title="Harrow Timber Group") is None
