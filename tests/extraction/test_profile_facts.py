"""Heights, weights, telephone numbers and kinds of institution, as profile pages write them."""

from __future__ import annotations

import pytest

from tablewright.extraction.wanted import wanted
from tablewright.table.model import Field
from tests.extraction.asking import answer

HEIGHT, WEIGHT = Field(name="Height", question="How tall is {Name}?"), Field(name="Weight")
PHONE = Field(name="Phone", question="What is the phone number of {Name}?")
TYPE = Field(name="Type", question="Is {Name} public or private?")
PLAYER = {"name": "Mara Lind", "title": "Mara Lind"}
SCHOOL = {"name": "Elm College", "title": "Elm College"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("6-8", "6-8"),
        ("6-1", "6-1"),
        ("6-0", "6-0"),
        ("6-8 / 2.03", "6-8"),
        ("6-8, 240 lbs", "6-8"),
        ("6'8'", "6'8'"),
        ("6' 8\"", "6' 8\""),
        ("6'8.5\"", "6'8.5\""),
        ("6 ft 8 in (2.03 m)", "6 ft 8 in"),
        ("6 ft. 8 in.", "6 ft. 8 in"),
        ("6ft8", "6ft8"),
        ("6-foot-8", "6-foot-8"),
        ("1m80", "1m80"),
        ("1.80m", "1.80m"),
        ("6-8 m", "6-8 m"),
    ],
)
def test_a_height_is_read_as_it_is_written(written: str, read: str) -> None:
    assert answer(HEIGHT, f"Mara Lind\nHeight: {written}", **PLAYER) == read


def test_feet_and_inches_with_a_dash_are_no_centimetres() -> None:
    field = Field(name="Height", type="number", unit="cm")
    assert answer(field, "Mara Lind\nHeight: 6-8", **PLAYER) is None
    assert answer(field, "Mara Lind\nHeight: 203 cm", **PLAYER) == "203 cm"


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        (Field(name="Height", type="number"), "6-8 (203 cm)", "203 cm"),
        (Field(name="Height (cm)"), "6-8 (203 cm)", "203"),
        (Field(name="Height", type="number", unit="cm"), "6-8 / 203 cm", "203 cm"),
        (Field(name="Height", type="number"), "6-8", None),
        (Field(name="Height (cm)"), "6-8", None),
        (HEIGHT, "6-8 (203 cm)", "6-8"),
        (HEIGHT, "6-8 | 240 lbs", "6-8"),
        (HEIGHT, "6-8; 240 lbs", "6-8"),
        (HEIGHT, "6-8 240 lbs", "6-8"),
        (HEIGHT, "6-8 - 240 lbs", "6-8"),
        (HEIGHT, "6-8 tall", "6-8"),
        (HEIGHT, "6–8", "6–8"),
        (HEIGHT, "6-8 storeys", None),
        (HEIGHT, "6-8 storeys (25 m)", "25 m"),
        (Field(name="Elevation"), "5-7 thousand feet", "5-7 thousand feet"),
    ],
)
def test_a_stated_unit_goes_before_feet_and_inches(field: Field, written: str, read: str | None) -> None:
    assert answer(field, f"Mara Lind\n{field.name.split(' (')[0]}: {written}", **PLAYER) == read


def test_minutes_are_no_height() -> None:
    text = "Mara Lind scored a career-high nine points in 13 minutes. She is tall and strong."
    assert answer(HEIGHT, text, **PLAYER) is None


@pytest.mark.parametrize("label", ["Ht/Wt: 6-8 / 240", "Height/Weight: 6-8, 240", "Ht: 6-8 Wt: 240"])
def test_a_height_and_a_weight_on_one_line_are_told_apart(label: str) -> None:
    assert answer(HEIGHT, f"Mara Lind\n{label}", **PLAYER) == "6-8"
    assert answer(WEIGHT, f"Mara Lind\n{label}", **PLAYER) == "240"


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Phone: 555-010-2345", "555-010-2345"),
        ("Phone:555 010-2345", "555 010-2345"),
        ("General phone: (555) 010-2345 (toll free)", "(555) 010-2345"),
        ("Phone/Fax: 555-010-2345 / 555-010-9999", "555-010-2345"),
        ("Telephone: 0484-2345678", "0484-2345678"),
        ("Phone: 555-123-4567 ext. 12", "555-123-4567 ext. 12"),
        ("Phone: (555) 123-4567 x12, ask for Jo", "(555) 123-4567 x12"),
        ("Phone: +44 20 7946 0123 extension 7", "+44 20 7946 0123 extension 7"),
        ("Phone: 1-800-FLOWERS", "1-800-FLOWERS"),
        ("Phone: 1-800-GO-FEDEX (toll free)", "1-800-GO-FEDEX"),
        ("Phone: call us today", None),
    ],
)
def test_the_number_of_a_telephone_is_no_count(line: str, number: str | None) -> None:
    assert answer(PHONE, f"Elm College\n{line}\nFax: 555-010-9999", **SCHOOL) == number


@pytest.mark.parametrize("words", ["the number", "the estimated number", "the largest known number", "What number"])
def test_a_count_is_still_asked_for_by_the_number_of(words: str) -> None:
    field = Field(name="Dormitories", question=f"What is {words} of dormitories of {{Name}}?")
    assert answer(field, "Elm College\nDormitories: about 14, all of brick", **SCHOOL) == "14"


@pytest.mark.parametrize("sort", ["phone", "telephone", "fax", "registration"])
def test_a_number_that_something_has_is_no_count(sort: str) -> None:
    field = Field(name="Desk", question=f"What is the {sort} number of {{Name}}?")
    assert wanted(field).kind == "text"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("E-mail: info@zed.example (office)", "info@zed.example"),
        ("E-mail: info (at) zed.example", "info (at) zed.example"),
        ("E-mail: info[at]zed.example, or by post", "info[at]zed.example"),
        ("E-mail: info [at] zed [dot] example", "info [at] zed [dot] example"),
        ("E-mail: ask at the desk", None),
    ],
)
def test_a_mail_address_may_hide_its_sign(line: str, read: str | None) -> None:
    assert answer(Field(name="E-mail"), f"Elm College\n{line}", **SCHOOL) == read


def test_the_domain_of_a_mail_address_is_no_website() -> None:
    text = "Elm College\nE-mail: office@mail.elm.example Web site: www.elm.example"
    assert answer(Field(name="Website", type="url"), text, **SCHOOL) == "www.elm.example"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Control: Private not-for-profit", "Private not-for-profit"),
        ("Institutional control:\nPUBLIC", "PUBLIC"),
        ("Affiliation\nPrivate, 4-year or above\nCoed\nYes", "Private, 4-year or above"),
        ("School type: Large\nType: Public", "Public"),
        ("Elm College is a small private college in Maine.", "private"),
    ],
)
def test_a_question_with_two_answers_takes_one_of_them(text: str, read: str) -> None:
    assert answer(TYPE, f"Elm College\n{text}", **SCHOOL) == read


@pytest.mark.parametrize(
    "text",
    [
        "Type: Liberal arts",
        "Type: public and private campuses",
        "Parking: Private",
        "Elm College is old. It has public lectures.",
    ],
)
def test_what_is_neither_of_the_two_is_left_empty(text: str) -> None:
    assert answer(TYPE, f"Elm College\n{text}", **SCHOOL) is None


def test_any_two_answers_will_do() -> None:
    field = Field(name="Pool", question="Is the pool indoor or outdoor?")
    assert answer(field, "Elm Pool is an outdoor pool.", name="Elm Pool", title="Elm Pool") == "outdoor"
    assert answer(field, "Elm Pool\nPool: 25 m, heated", name="Elm Pool", title="Elm Pool") is None
