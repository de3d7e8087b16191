"""Labels and values in lines and forms."""

from __future__ import annotations

import pytest

from tests.documents.annotate.reading import facts, read


@pytest.mark.parametrize(
    "line",
    [
        "Rated power: 290 W",
        "Rated power ....... 290 W",
        "Rated power    290 W",
        "Rated power\t290 W",
        "- Rated power: 290 W",
    ],
)
def test_the_ways_of_writing_a_label_and_its_value(line: str) -> None:
    found = facts(line)["Rated power"]
    assert (found.value.raw, found.value.si, found.value.base) == ("290 W", 290, "W")
    assert line[found.start : found.end] == "290 W"


def test_two_labels_have_two_values() -> None:
    found = facts("Vmpp / Impp ...... 36.2 V / 7.6 A\nRunway Length/Width: 5000 ft / 100 ft")
    assert (found["Vmpp"].value.si, found["Impp"].value.si) == (36.2, 7.6)
    assert (found["Runway Length"].value.number, found["Runway Width"].value.number) == (5000, 100)


@pytest.mark.parametrize(
    "line",
    [
        "Size ............. 195.7 cm x 99.2 cm (length x width)",
        "Dimensions (L x W): 1957 x 992 mm",
        "Size (mm, L x W): 1957 x 992",
    ],
)
def test_the_sides_of_a_size_are_facts_of_their_own(line: str) -> None:
    found = facts(line)
    assert (found["Length"].value.si, found["Width"].value.si) == (1.957, 0.992)
    assert not found["Length"].value.ambiguity


def test_the_sides_of_a_size_stay_together_where_nobody_says_which_is_which() -> None:
    assert list(facts("Dimensions: 1650 x 992 x 40 mm")) == ["Dimensions"]


def test_values_that_say_what_they_are_of_are_facts_each() -> None:
    found = facts("Range: 1,420 km (in town, mild weather), 310 km (on the motorway)")
    assert found["Range (in town, mild weather)"].value.number == 1420
    assert found["Range (on the motorway)"].value.number == 310


def test_a_form_has_its_values_below_the_labels_and_blanks_stay_blank() -> None:
    found = facts("Location:\nPort Merrin\nRegistration:\nVessel:\nGrey Heron 40\nBerths: \n \nOwner:\n")
    assert {label: each.value.raw for label, each in found.items()} == {
        "Location": "Port Merrin", "Vessel": "Grey Heron 40",
    }  # fmt: skip


def test_where_values_stand_beside_their_labels_a_heading_below_one_is_no_value() -> None:
    found = facts("Name: Grey Heron\nBerths: 6\nOwner:\nEngine and Hull\nPower: 30 kW\n")
    assert list(found) == ["Name", "Berths", "Power"]


def test_a_value_that_was_broken_to_fit_is_read_whole() -> None:
    found = facts("Licences:\nInland waters; coastal \nwaters\nAge:\n58\n")
    assert found["Licences"].value.raw == "Inland waters; coastal \nwaters"


def test_several_pairs_may_stand_in_one_line() -> None:
    found = facts("FORM NO : K7731  DATE: 24/05/2019\nTICKET #: BQ12 HOST: ANN\nREF. :  GUIDE : BOB")
    assert {label: each.value.raw for label, each in found.items()} == {
        "FORM NO": "K7731", "DATE": "24/05/2019", "TICKET #": "BQ12", "HOST": "ANN", "GUIDE": "BOB",
    }  # fmt: skip


def test_the_heading_above_is_the_context() -> None:
    found = facts("Electrical data at idle (230 V, 50 Hz)\nDraw: 44 W\n\nMechanical data\nWeight: 20 kg\n")
    assert found["Draw"].context == "Electrical data at idle (230 V, 50 Hz)"
    assert found["Weight"].context == "Mechanical data"


@pytest.mark.parametrize(
    "text",
    [
        "What it does is: nothing at all.",
        "It opened at 12:30 and closed at 13:45",
        "The parties shall agree on each of the following: the price and the date of the delivery.",
    ],
)
def test_sentences_with_a_colon_are_no_pairs(text: str) -> None:
    assert read(text) == ()


def test_of_a_paragraph_behind_a_label_only_the_first_sentence_is_its_value() -> None:
    text = "Product: Sunny Co. Ltd X-20. " + "This is a module that somebody wrote a long description of. " * 4
    assert facts(text)["Product"].value.raw == "Sunny Co. Ltd X-20"


def test_dates_follow_the_order_of_the_other_dates_of_the_document() -> None:
    found = facts("Built: 03/05/2007\nChecked: 12/31/2007\n")
    assert (found["Built"].value.date, found["Built"].value.ambiguity) == ("2007-03-05", "")
    assert facts("Built: 12/06/2007\nOn December 6, 2007, it was built.")["Built"].value.date == "2007-12-06"
    assert facts("Built: 03/05/2007")["Built"].value.ambiguity


def test_a_point_is_read_as_the_rest_of_the_document_writes_it() -> None:
    point = facts("Length: 1.575 m\nPower: 214.8 W")["Length"].value
    comma = facts("Länge: 1.575 m\nLeistung: 214,8 W")["Länge"].value
    assert (point.si, point.ambiguity) == (1.575, "")
    assert (comma.si, comma.raw) == (1575, "1.575 m")
