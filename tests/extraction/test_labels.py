"""Labels, stacked lines, tables and short lines."""

from __future__ import annotations

import pytest

from tablewright.table.model import Field
from tests.extraction.asking import answer, candidates

HEIGHT, WEIGHT, PRICE = Field(name="Height"), Field(name="Weight"), Field(name="Price", type="money")


def test_several_labels_on_one_line_are_kept_apart() -> None:
    line = "Height: 1.82 m Weight: 74 kg Age: 26"
    assert answer(HEIGHT, line) == "1.82 m"
    assert answer(WEIGHT, line) == "74 kg"


def test_a_label_may_stand_above_its_value() -> None:
    assert answer(PRICE, "Sturdy kettle\nPrice\n£38.50\nDelivery\n£4.00") == "£38.50"


def test_a_run_of_lines_that_begins_with_a_value_has_its_labels_below() -> None:
    text = "The 2011 kettle, 1.7 l\n£41.00\nPrice\nShips from our own store on weekdays, before noon."
    assert answer(PRICE, text) == "£41.00"


def test_a_label_between_two_values_is_left_alone() -> None:
    text = "The 2011 kettle, 1.7 l\n41.00\nPrice\n38.50\nOffers"
    assert answer(PRICE, text) is None


def test_a_list_price_gives_way_to_the_price() -> None:
    assert answer(PRICE, "List price: $90.00\nPrice: $72.00") == "$72.00"
    assert answer(PRICE, "Original price: $90.00\nYou save: $18.00\n$72.00\nIn stock") == "$72.00"


def test_a_page_with_many_prices_has_none_of_its_own() -> None:
    shelf = "\n".join(f"Kettle model {letter}\n${number}.00" for number, letter in enumerate("abcdefghijk", 20))
    assert answer(PRICE, shelf) is None


def test_a_dotted_line_is_a_label_and_its_value() -> None:
    assert answer(Field(name="Warranty"), "Warranty ........ 3 years") == "3 years"


def test_a_label_with_another_meaning_is_not_taken() -> None:
    assert answer(PRICE, "Shipping price: $4.00") is None


def test_the_last_word_of_the_name_will_do_as_a_label() -> None:
    assert answer(Field(name="Publication date"), "Publisher: Elm House\nDate: 3 April 2009") == "3 April 2009"


def test_a_dash_is_no_value() -> None:
    assert answer(Field(name="Colour"), "Colour: –\nSize: 4") is None


def test_a_heading_is_not_the_label_of_the_paragraph_below() -> None:
    text = "Author reviews\nI bought this for my nephew and we both enjoyed reading it in the garden all summer long"
    assert answer(Field(name="Author"), text) is None


def test_a_byline_names_the_author() -> None:
    assert answer(Field(name="Author"), "The Salt Road\nby Imre Halász\nHardcover") == "Imre Halász"


def test_a_line_that_ends_in_the_name_of_the_field_is_its_value() -> None:
    assert (
        answer(Field(name="Engine"), "Trail wagon\n1.6 L four-cylinder engine\nGet a quote")
        == "1.6 L four-cylinder engine"
    )


TEAMS = "Club | Ground | Capacity\nAston Rovers | Mill Lane | 8,100\nBarrow Athletic | The Dell | 12,400"


@pytest.mark.parametrize(("name", "expected"), [("Aston Rovers", "8,100"), ("Barrow Athletic", "12,400")])
def test_a_table_is_read_at_the_row_that_names_the_subject(name: str, expected: str) -> None:
    assert answer(Field(name="Capacity"), TEAMS, name=name, title="League grounds") == expected


def test_a_table_without_the_subject_gives_nothing() -> None:
    assert answer(Field(name="Capacity"), TEAMS, name="Corby Wanderers", title="League grounds") is None


def test_a_table_may_have_its_subjects_in_the_header() -> None:
    text = "Model | Kestrel 2 | Kestrel 3\nWeight | 1.1 kg | 1.4 kg\nColour | grey | red"
    assert answer(WEIGHT, text, name="Kestrel 3", title="Compare") == "1.4 kg"


def test_rows_of_label_and_value_are_read_on_the_page_of_the_subject() -> None:
    text = "Kestrel 3\nWeight | 1.4 kg\nColour | red"
    assert answer(WEIGHT, text, name="Kestrel 3", title="Kestrel 3 | Toolshop") == "1.4 kg"


def test_the_quote_of_a_table_shows_the_row_and_the_value() -> None:
    best = candidates(Field(name="Capacity"), TEAMS, name="Barrow Athletic", title="League grounds")[0]
    quote = TEAMS[best.start : best.end]
    assert "Barrow Athletic" in quote
    assert "12,400" in quote
