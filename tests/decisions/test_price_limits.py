"""Limits that a question sets on a price, and which prices keep them."""

from __future__ import annotations

import pytest

from tablewright.decisions.price_limits import price_limits
from tablewright.table.model import Cell, Evidence


def priced(quote: str) -> Cell:
    return Cell(value=quote, status="ENRICHED", evidence=(Evidence(origin="https://a.example/", quote=quote),))


@pytest.mark.parametrize(
    ("question", "price", "kept"),
    [
        ("kettles under £60", "£59.99", True),
        ("kettles under £60", "£60", False),
        ("kettles up to £60", "£60", True),
        ("kettles at least £60", "£60", True),
        ("kettles over £60", "£60", False),
        ("kettles over £60", "£75", True),
        ("kettles under £60", "€40", None),
        ("kettles under £60", "on request", None),
    ],
)
def test_a_price_keeps_a_limit_breaks_it_or_says_nothing(question: str, price: str, kept: bool | None) -> None:
    (limit,) = price_limits(question)
    assert limit.keeps(priced(price)) is kept


def test_a_number_without_a_currency_is_no_limit() -> None:
    assert not price_limits("kettles with more than 5 settings, under 2 kg")


def test_an_empty_cell_decides_nothing() -> None:
    (limit,) = price_limits("kettles under £60")
    assert limit.keeps(Cell(status="FAILED", reason="not_found")) is None
