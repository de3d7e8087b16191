"""Reading without a model: whether a place speaks of what is asked is told by words and their vectors."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject

HIGH = 0.8
ABOUT_US = """Pellworm Gliders
Established: 1987
Head office: Emden, Germany
Managing director: Ann Lee
Pellworm Gliders is a German maker of sailplanes. The company was founded in 1987 and has 240 employees.
You find us at 4 Tannery Row."""


def candidates(field: Field, text: str = ABOUT_US, name: str = "Pellworm Gliders") -> list[Candidate]:
    source = Retrieved(origin="https://news.example/a", title=name, text=text)
    found = reader.read_candidates(Subject(name=name, column="Company"), [field], [source])[field.name]
    return [candidate for candidate in found if candidate.score >= reader.MIN_SURE]


def best(field: Field, text: str = ABOUT_US) -> str | None:
    found = candidates(field, text)
    return found[0].value if found else None


@pytest.mark.parametrize("name", ["Established", "Year of establishment", "Founded"])
def test_a_year_is_found_whatever_the_column_is_called(name: str) -> None:
    assert best(Field(name=name, type="number")) == "1987"


def test_a_label_in_other_words_answers_but_is_not_sure() -> None:
    (found, *_) = candidates(Field(name="Employees", type="number"), "Pellworm Gliders\nStaff: 240")
    assert (found.value, found.how) == ("240", "label")
    assert found.score < HIGH


def test_the_very_label_is_sure() -> None:
    (found, *_) = candidates(Field(name="Managing director"))
    assert found.value == "Ann Lee"
    assert found.score >= HIGH


@pytest.mark.parametrize(
    "field",
    [
        Field(name="Managing director's pet", question="What is the name of the pet of {Company}'s managing director?"),
        Field(name="Pet", question="What is the managing director's dog called?"),
    ],
)
def test_a_word_that_no_place_speaks_of_leaves_the_cell_empty(field: Field) -> None:
    assert best(field) is None


def test_a_number_that_counts_something_else_is_no_count() -> None:
    assert best(Field(name="Offices", type="number", question="How many offices does {Company} have?")) is None


def test_what_is_counted_stands_beside_its_number() -> None:
    assert best(Field(name="Employees", type="number", question="How many employees does {Company} have?")) == "240"


def test_a_kind_that_says_it_all_is_read_from_the_first_sentence() -> None:
    assert best(Field(name="Country"), "Pellworm Gliders is a maker of sailplanes in Emden, Germany.") == "Germany"


def test_a_row_of_a_table_is_the_row_that_names_the_subject() -> None:
    text = "Maker | Gliders built | Wingspan\nPellworm Gliders | 310 | 15 m\nOtto Sails | 92 | 18 m"
    source = Retrieved(origin="https://lists.example/a", title="Makers of gliders", text=text)
    found = reader.read_candidates(Subject(name="Otto Sails"), [Field(name="Wingspan")], [source])["Wingspan"]
    assert [(each.value, each.how) for each in found][:1] == [("18 m", "table")]


def test_a_sentence_on_another_page_is_never_sure() -> None:
    text = "Otto Sails is a sailmaker. Pellworm Gliders was founded in 1987."
    source = Retrieved(origin="https://news.example/b", title="Otto Sails", text=text)
    field = Field(name="Founded", type="number")
    found = reader.read_candidates(Subject(name="Pellworm Gliders"), [field], [source])["Founded"]
    assert all(each.score < HIGH for each in found)


def test_every_candidate_quotes_the_place_it_was_read_from() -> None:
    for field in (Field(name="Established"), Field(name="Country"), Field(name="Employees", type="number")):
        for found in candidates(field):
            assert 0 <= found.start < found.end <= len(ABOUT_US)
            assert found.value in ABOUT_US[found.start : found.end] or field.name == "Country"


@pytest.mark.parametrize("name", ["Head office", "Headquarters"])
def test_a_rare_form_of_a_word_means_what_the_common_one_does(name: str) -> None:
    field = Field(name=name, question="Where is the head office of {Company}?")
    assert best(field, "Pellworm Gliders is a maker of sailplanes headquartered in Emden.") == "Emden"


def test_a_plural_in_brackets_is_no_unit() -> None:
    assert best(Field(name="Owner(s)"), "Pellworm Gliders\nOwner: Halden Group") == "Halden Group"
    assert best(Field(name="Duration (s)"), "Pellworm Gliders\nDuration: 14 s") == "14"


# ── whose value it is ────────────────────────────────────────────────────────────────────────────────────────────────

STAFF = Field(name="Employees", type="number", question="How many people work at {Company}?")


@pytest.mark.parametrize(
    "sentence",
    [
        "Some 90 gliders are at work in 12 flying schools.",
        "Our logbook is used by 60 organisations, and the biggest roster in it has 4,000 people on it.",
    ],
)
def test_a_number_counts_what_stands_after_it(sentence: str) -> None:
    assert best(STAFF, f"Pellworm Gliders is a maker of sailplanes. {sentence}") is None


def test_a_number_before_a_small_word_counts_what_stands_before_it() -> None:
    assert best(STAFF, "Pellworm Gliders is a maker of sailplanes. We have a workforce of 310 in two works.") == "310"


def test_a_year_of_another_thing_on_a_page_that_is_not_the_row_s_own_is_left() -> None:
    text = "The lamps come from Pellworm Gliders. The pier, opened in 1889, has been dark since the storm of 2022."
    source = Retrieved(origin="https://news.example/b", title="Pellworm Gliders lights the pier", text=text)
    field = Field(name="Founded", type="number", question="What year was {Company} founded?")
    found = reader.read_candidates(Subject(name="Pellworm Gliders", column="Company"), [field], [source])["Founded"]
    assert not [candidate.value for candidate in found if candidate.score >= reader.MIN_SURE]


def test_what_is_said_of_a_person_reaches_over_an_insertion() -> None:
    field = Field(name="CEO", question="Who is the chief executive of {Company}?")
    text = "Pellworm Gliders makes sailplanes. Ann Lee, who came as an apprentice in 1986, is president and CEO."
    assert best(field, text) == "Ann Lee"


FOUNDED = Field(name="Founded", type="number", question="When was {Company} founded?")


def test_when_as_a_number_is_a_year() -> None:
    assert best(FOUNDED, "Pellworm Gliders\nFounded: 1987; 39 years ago, in Emden") == "1987"


def test_the_city_of_an_address_follows_the_street() -> None:
    city = Field(name="Head office", question="In which city is {Company} headquartered?")
    assert best(city, "Pellworm Gliders\nHead office: 4 Tannery Row, Emden, Germany") == "Emden"
    assert best(city, "Pellworm Gliders is headquartered at 4 Tannery Row, Emden, Germany.") == "Emden"


def test_a_telephone_number_is_kept_whole_where_more_stands_behind_it() -> None:
    text = "Pellworm Gliders\nTelephone: +49 4921 555 0178 Entered in the register of trade in the year: 1983"
    assert best(Field(name="Phone number"), text) == "+49 4921 555 0178"
