"""Columns are found by their names, however these are spelled."""

from __future__ import annotations

import tracemalloc
import unicodedata

import pytest

from tablewright.domain.fieldspec import fill_template, find_template_columns, normalize_placeholders, parse_field
from tablewright.domain.model import Field, Table
from tablewright.errors import BadField

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "Größe") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("column", "written"),
    [
        (COMPOSED, DECOMPOSED),
        (DECOMPOSED, COMPOSED),
        (DECOMPOSED, COMPOSED.upper()),
        ("A  B", "A B"),
        ("A B", " a\u00a0\tb "),
    ],
)
def test_a_column_is_found_in_any_unicode_form_case_and_white_space(column: str, written: str) -> None:
    fields = (Field(name="Other"), Field(name=column))
    assert find_template_columns(f"How large is {{{written}}}?", fields) == (column,)
    assert (
        normalize_placeholders(f"{{{written}}} + {{other}} + {{none}}", fields)
        == f"{{{column}}} + {{Other}} + {{none}}"
    )
    found = Table(id="t", name="T", fields=fields).field(written)
    assert found is not None
    assert found.name == column


def test_of_two_columns_with_one_spelling_the_exact_one_is_meant() -> None:
    fields = (Field(name="A B"), Field(name="A  B"))
    assert find_template_columns("{A  B} {A B} {a b}", fields) == ("A  B", "A B")
    assert Table(id="t", name="T", fields=fields).field("A  B") == fields[1]


def test_the_advice_on_an_unknown_column_leaves_out_what_is_being_made() -> None:
    fields = (Field(name="Company"), Field(name="Founded"))
    with pytest.raises(BadField) as refused:
        find_template_columns("When was {Firm} founded?", fields, making={"Founded"})
    assert refused.value.advice == "It has: Company."


def test_a_field_without_a_name_is_refused() -> None:
    for text in (":number=Who?", " : number (kg) = How heavy?", "=Who?"):
        with pytest.raises(BadField, match="has no name"):
            parse_field(text)


def test_a_unit_stands_in_brackets_of_either_kind_and_nowhere_else() -> None:
    assert parse_field("Weight:number[kg]=How heavy?") == parse_field("Weight:number(kg)=How heavy?")
    with pytest.raises(BadField, match="text after the type"):
        parse_field("Weight:number kg=How heavy?")


def test_a_template_that_would_become_too_long_is_refused_before_it_is_made() -> None:
    value = "x" * 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(BadField, match=r"longer than 100,000 characters. Name fewer columns"):
            fill_template("{A}" * 600, {"A": value})
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert fill_template("{A} and { B }", {"A": "a", "B": "b"}) == "a and b"
