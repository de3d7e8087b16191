"""One sentence or label for each kind of answer."""

from __future__ import annotations

import pytest

from tablewright.table.model import Field
from tests.extraction.asking import answer

OWN_PAGE = {"name": "Brindle Works", "title": "Brindle Works"}


@pytest.mark.parametrize(
    ("field", "sentence", "expected"),
    [
        (Field(name="Founded", type="number"), "Brindle Works was founded in 1987 by two sisters.", "1987"),
        (Field(name="Founded"), "It was established in the spring of 1952 and moved twice.", "1952"),
        (Field(name="Release date", type="date"), "The game was released on 4 May 2016 in Europe.", "4 May 2016"),
        (Field(name="Revenue", type="money"), "Its revenue was €4.2 million last year.", "€4.2 million"),
        (Field(name="Weight", type="number", unit="kg"), "The press weighs 84 kg without its stand.", "84 kg"),
        (Field(name="Capacity (MW)"), "The plant has an installed capacity of 320 MW.", "320"),
        (Field(name="Employees", type="number"), "Brindle Works employs 2,350 people in four towns.", "2,350"),
        (Field(name="Capacity"), "It is a 14,200-seat stadium with a running track.", "14,200"),
        (Field(name="CEO"), "Its chief executive is Marta Oyelaran, who joined in 2011.", "Marta Oyelaran"),
        (Field(name="Director"), "It was directed by Ilse van Houten and filmed in Ghent.", "Ilse van Houten"),
        (Field(name="Headquarters city"), "The company is headquartered in Lisbon, Portugal.", "Lisbon"),
        (Field(name="State"), "Brindle Works is based in Dayton, Ohio, near the river.", "Ohio"),
        (Field(name="Country"), "Brindle Works is a bakery chain based in Norway.", "Norway"),
        (Field(name="Owner"), "The mill is owned by Harrow Timber Group since 2004.", "Harrow Timber Group"),
        (Field(name="Website", type="url"), "Visit the website www.brindleworks.example for hours.", None),
        (Field(name="IATA code"), "Brindle Airport (IATA: BRW, ICAO: XBRW) serves the coast.", "BRW"),
        (Field(name="County"), "Brindle is a village in Noble County, near the lake.", "Noble"),
    ],
    ids=lambda value: value.name if isinstance(value, Field) else None,
)
def test_a_sentence_gives_an_answer_of_the_wanted_kind(field: Field, sentence: str, expected: str | None) -> None:
    found = answer(field, sentence, **OWN_PAGE)
    assert found == expected if expected else found and "brindleworks.example" in found


@pytest.mark.parametrize(
    ("field", "line", "expected"),
    [
        (Field(name="Founded", type="number"), "Year founded: 1987 (as a workshop)", "1987"),
        (Field(name="Release date", type="date"), "Release date: 4 May 2016", "4 May 2016"),
        (Field(name="Price", type="money"), "Our price: £38.50", "£38.50"),
        (Field(name="Weight", type="number", unit="kg"), "Net weight: 1.4 kg", "1.4 kg"),
        (Field(name="Employees", type="number"), "Number of employees: 2,350", "2,350"),
        (Field(name="Vegan", type="boolean"), "Vegan: Yes", "yes"),
        (Field(name="Vegan", type="boolean"), "Vegan: no", "no"),
        (
            Field(name="Size", type="select", options=("small", "large", "extra large")),
            "Size: Extra large",
            "extra large",
        ),
        (Field(name="CEO"), "Chief executive: Marta Oyelaran", "Marta Oyelaran"),
        (Field(name="Website", type="url"), "Website: https://brindle.example/about", "https://brindle.example/about"),
        (Field(name="SKU"), "SKU: BW-2041-X", "BW-2041-X"),
        (Field(name="ISBN 13"), "ISBN-13: 9781234567897", "9781234567897"),
        (Field(name="Genre"), "Genres: Comedy, Drama", "Comedy, Drama"),
        (Field(name="Colour"), "Colour: moss green", "moss green"),
    ],
    ids=lambda value: value.name if isinstance(value, Field) else None,
)
def test_a_label_gives_an_answer_of_the_wanted_kind(field: Field, line: str, expected: str) -> None:
    assert answer(field, f"An introduction.\n{line}\nSome more words.", **OWN_PAGE) == expected


def test_a_choice_between_options_is_made_only_when_one_is_named() -> None:
    field = Field(name="Size", type="select", options=("small", "large"))
    assert answer(field, "Size: small or large", **OWN_PAGE) is None


def test_a_unit_in_the_name_of_the_field_converts_the_answer() -> None:
    assert answer(Field(name="Capacity (MW)"), "The dam has a capacity of 1.2 GW in all.", **OWN_PAGE) == "1200"


def test_a_number_of_the_wrong_kind_is_no_answer() -> None:
    assert answer(Field(name="Employees", type="number"), "It employs many people and opened 40 % more shops.") is None


def test_a_telephone_number_is_found_without_a_label_but_not_the_fax() -> None:
    text = "12 Weaver Street\nFax (555) 010-7788\n(555) 010-7777\nOpen daily"
    assert answer(Field(name="Phone"), text) == "(555) 010-7777"


def test_an_address_is_found_without_a_label() -> None:
    assert answer(Field(name="Address"), "Brindle Works\n12 Weaver Street\nMillford, OH 45000") == "12 Weaver Street"


def test_the_first_of_several_releases_is_the_release() -> None:
    text = "The album was released on 21 May 1992 and released in 2008 again."
    assert answer(Field(name="Released"), text, **OWN_PAGE) == "1992"
