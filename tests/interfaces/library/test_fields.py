"""Columns, however a program says them."""

from __future__ import annotations

from datetime import date
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, HttpUrl, PositiveInt, create_model
from pydantic import Field as Described

from tablewright import BadField, Field, Money
from tablewright.interfaces.library.fields import read_field_specs

FOUNDED = Field(name="Founded", type="number", question="What year?")


class Size(Enum):
    small = "S"
    large = "L"


class Company(BaseModel):
    name: str = Described(alias="Company")
    founded: int | None = Described(None, description="The year it was founded")
    listed: bool = False
    weight: float = Described(0, json_schema_extra={"unit": "kg", "question": "How heavy is {Company}?"})
    opened: date | None = None
    site: HttpUrl | None = None
    tags: list[str] = []
    size: Size | None = None
    region: Literal["EU", "US"] | None = None
    price: Money | None = None
    either: int | str | None = None


@pytest.mark.parametrize(
    "said",
    [
        "Founded:number=What year?",
        FOUNDED,
        {"Founded:number": "What year?"},
        {"Founded": {"type": "number", "question": "What year?"}},
        {"Founded": FOUNDED},
        ["Founded:number=What year?"],
        [{"name": "Founded", "type": "number", "question": "What year?"}],
    ],
)
def test_one_column_can_be_said_in_many_ways(said: object) -> None:
    assert read_field_specs(said) == [FOUNDED]  # type: ignore[arg-type]


def test_columns_may_be_called_name_or_type() -> None:
    assert [field.name for field in read_field_specs({"name": "Who is it?", "born": "When?"})] == ["name", "born"]


def test_a_pydantic_class_gives_names_types_options_and_what_to_look_for() -> None:
    found = {field.name: field for field in read_field_specs(Company)}
    kinds = {name: field.type for name, field in found.items()}
    assert kinds == {
        "Company": "text",
        "founded": "number",
        "listed": "boolean",
        "weight": "number",
        "opened": "date",
        "site": "url",
        "tags": "list",
        "size": "select",
        "region": "select",
        "price": "money",
        "either": "text",
    }
    assert (found["size"].options, found["region"].options) == (("S", "L"), ("EU", "US"))
    assert found["founded"].question == "The year it was founded"
    assert (found["weight"].unit, found["weight"].question) == ("kg", "How heavy is {Company}?")
    assert [name for name, field in found.items() if field.required] == ["Company"]


@pytest.mark.parametrize("said", [7, {"Founded": 7}, {"Founded": {"typ": "number"}}, {"Founded": {"type": "year"}}])
def test_what_is_no_column_is_refused(said: object) -> None:
    with pytest.raises(BadField):
        read_field_specs(said)  # type: ignore[arg-type]


class Rank(IntEnum):
    first = 1
    second = 2


class Address(BaseModel):
    city: str


def test_a_constrained_type_and_an_enum_of_numbers_are_columns() -> None:
    class Ranked(BaseModel):
        staff: PositiveInt | None = None
        rank: Rank | None = None
        stars: Annotated[Literal[1, 2], "as printed"] = 1

    assert [(field.type, field.options) for field in read_field_specs(Ranked)] == [
        ("number", ()),
        ("select", ("1", "2")),
        ("select", ("1", "2")),
    ]


@pytest.mark.parametrize("held", [Address, Address | None, list[Address], dict[str, int]])
def test_what_no_cell_can_hold_is_refused_by_name(held: Any) -> None:
    asked = create_model("Asked", seat=(held, ...))
    with pytest.raises(BadField, match="The field seat cannot be a column"):
        read_field_specs(asked)


def test_the_nearest_key_and_the_nearest_type_are_named() -> None:
    with pytest.raises(BadField, match=r"Did you mean type\?"):
        read_field_specs({"Founded": {"typ": "number"}})
    with pytest.raises(BadField, match=r"'nummer' is not a type.*Did you mean number\? Types: text, number"):
        read_field_specs({"Founded": {"type": "nummer"}})
    with pytest.raises(BadField, match=r"'nummer' in the field .* is not a type\. Did you mean number\?"):
        read_field_specs("Founded:nummer")
    with pytest.raises(BadField, match=r"Address\(city='Oslo'\) does not describe columns"):
        read_field_specs(Address(city="Oslo"))  # type: ignore[arg-type]
