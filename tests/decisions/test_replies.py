"""A sentence says no more of products than the cells that it cites."""

from __future__ import annotations

import pytest

from tablewright.decisions.replies import amount, bears, field_told, known, pushes, told
from tablewright.table.model import Cell, Conflict, Field, Money, Value
from tablewright.table.shortlist import CellRef, Said

from .test_rank_products import CARS, KETTLES, found


def said(text: str, *cells: tuple[int, str]) -> Said:
    return Said(text=text, cells=tuple(CellRef(row_id=row, field=field) for row, field in cells))


WARRANTIES = tuple((row, "Warranty") for row in (1, 2, 3))


@pytest.mark.parametrize(
    "sentence",
    [
        said("Quillon Degree 15 costs £47.50.", (1, "Price")),
        said(
            "Quillon Degree 15 has a warranty of 5 years, but at £47.50 is near your limit of £50.",
            (1, "Warranty"),
            (1, "Price"),
        ),
        said("Quillon Degree 15 has the longest warranty of these (5 years).", *WARRANTIES),
        said("Pellby Swift holds 1.7 l and is made of plastic.", (2, "Capacity"), (2, "Material")),
        said("Pellby Swift holds 1700 ml.", (2, "Capacity")),
        said("Pellby Swift has no keep warm.", (2, "Keep warm")),
        said("Quillon Degree 15 has keep warm.", (1, "Keep warm")),
        said("Yes: Quillon Degree 15 has keep warm.", (1, "Keep warm")),
        said("The noise of Tarnbeck Ember 2 is not known.", (3, "Noise")),
        said("Sources disagree about the warranty of Vessany Uno: 3 years or 2 years.", (7, "Warranty")),
        said("Nimbra Air is lighter than Quillon Degree 15 (0.8 kg against 1.2 kg).", (5, "Weight"), (1, "Weight")),
        said("Found 24 options. Which matters more to you, a longer warranty or a lower price?"),
        said("Your budget is £50."),
        said("Keep warm was added to the comparison."),
        said("Nimbra Air is in place 3 of 12.", (5, "Product")),
    ],
)
def test_what_its_cells_say_may_be_said(sentence: Said) -> None:
    assert bears(sentence, KETTLES, "budget £50; keep warm") == ""


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        (said("Quillon Degree 15 costs £45.", (1, "Price")), "£45"),
        (said("Quillon Degree 15 costs €47.50.", (1, "Price")), "€47.50"),
        (said("Quillon Degree 15 costs £47.50."), "no cell of Quillon Degree 15 is cited"),
        (said("Quillon Degree 15 costs £47.50.", (2, "Price")), "no cell of Quillon Degree 15 is cited"),
        (said("Quillon Degree 15 has a warranty of 5 months.", (1, "Warranty")), "5 months"),
        (said("Quillon Degree 15 holds 15 l.", (1, "Capacity")), "15 l"),
        (said("Pellby Swift is made of steel.", (2, "Material")), "steel"),
        (said("Pellby Swift is made of titanium.", (2, "Material")), "titanium"),
        (said("Pellby Swift has keep warm.", (2, "Keep warm")), "Keep warm"),
        (said("Quillon Degree 15 does not keep warm.", (1, "Keep warm")), "Keep warm"),
        (said("Quillon Degree 15 has keep warm.", (1, "Price")), "Keep warm"),
        (said("All these products have keep warm."), "Keep warm"),
        (said("Pellby Swift has the longest warranty of these (1 year).", *WARRANTIES), "longest"),
        (said("Quillon Degree 15 is the cheapest.", (1, "Price"), (2, "Price")), "cheapest"),
        (said("Quillon Degree 15 is the cheapest.", (1, "Price")), "cheapest"),
        (said("Quillon Degree 15 is lighter than Nimbra Air.", (1, "Weight"), (5, "Weight")), "light"),
        (said("Tarnbeck Ember 2 makes 60 dB.", (3, "Noise")), "Noise of Tarnbeck Ember 2 is not known"),
        (said("The noise of Nimbra Air is not known.", (5, "Noise")), "Noise of Nimbra Air is known"),
        (said("Pellby Swift costs £47.50; Quillon Degree 15 costs £29.99.", (1, "Price"), (2, "Price")), "£47.50"),
        (said("It is quieter than the Dualux Classic.", (5, "Noise")), "Dualux"),
        (said("The lightest weighs 0.7 kg."), "0.7 kg"),
        (said("Nothing is known.", (99, "Price")), "there is no cell"),
        (said("Nothing is known.", (1, "Colour")), "there is no cell"),
    ],
)  # fmt: skip
def test_what_its_cells_do_not_say_is_named(sentence: Said, problem: str) -> None:
    assert problem in bears(sentence, KETTLES, "budget £50; no plastic")


def test_what_the_person_does_not_want_is_no_fact_of_a_product() -> None:
    assert "plastic" in bears(said("Nimbra Air is made of plastic.", (5, "Material")), KETTLES, "no plastic")


def test_values_of_options_are_claims_too() -> None:
    assert bears(said("Birchley City runs on petrol.", (2, "Fuel")), CARS) == ""
    assert "diesel" in bears(said("Birchley City runs on diesel.", (2, "Fuel")), CARS)


def test_a_number_of_products_is_that_of_the_cited_ones() -> None:
    cells = tuple((row, "Fuel") for row in range(1, 6))
    assert (
        bears(said("2 of 5 products: Alderon Roamer 1.6 (diesel), Elmstead Estate 2.0 D (diesel).", *cells), CARS) == ""
    )
    assert bears(said("3 of 5 products: Alderon Roamer 1.6 (diesel), Elmstead Estate 2.0 D (diesel).", *cells), CARS)


@pytest.mark.parametrize("text", ["This is definitely the best option.", "You should buy it.", "A clear winner."])
def test_selling_is_heard(text: str) -> None:
    assert pushes(text)


def test_telling_is_no_selling() -> None:
    assert not pushes("It has the longest warranty, but costs £47.50.")


@pytest.mark.parametrize(
    ("value", "field", "text"),
    [
        (Money(amount=47.5, currency="GBP"), Field(name="Price", type="money"), "£47.50"),
        (Money(amount=13900, currency="CHF"), Field(name="Price", type="money"), "13,900 CHF"),
        (1, Field(name="Warranty", type="number", unit="yr"), "1 year"),
        (1.7, Field(name="Capacity", type="number", unit="l"), "1.7 l"),
        (2019, Field(name="Year", type="number"), "2019"),
        (62000, Field(name="Mileage", type="number", unit="mi"), "62,000 mi"),
        (True, Field(name="Keep warm", type="boolean"), "yes"),
        (("a", "b", "c"), Field(name="Features", type="list"), "a, b and c"),
    ],
)
def test_a_value_as_a_person_says_it(value: Value, field: Field, text: str) -> None:
    assert told(found(value), field) == text


def test_orders_to_machines_are_no_value() -> None:
    summary = CARS.rows[2].cell("Summary")
    assert not known(summary)
    assert told(summary, Field(name="Summary")) == "not known"


def test_a_failed_cell_is_not_known() -> None:
    assert not known(Cell(value=3, status="FAILED"))
    assert not known(Cell(value=(), status="ENRICHED"))
    assert known(found(3, status="FLAGGED", conflict=(Conflict(value=2),)))


def test_texts_are_compared_in_the_unit_of_the_column() -> None:
    boot = Field(name="Boot", unit="l")
    assert [amount(row.cell("Boot"), boot) for row in CARS.rows] == [450, 250, 370, None, 610]


def test_a_columns_name_inside_a_sentence() -> None:
    assert [field_told(name) for name in ("Boil time", "USB ports", "keep_warm")] == [
        "boil time",
        "USB ports",
        "keep warm",
    ]
