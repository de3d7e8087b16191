"""The small language of conditions over documents."""

from __future__ import annotations

import pytest

from tablewright.domain.form import Where, parse_where
from tablewright.errors import UsageError


@pytest.mark.parametrize(
    ("text", "kind", "conditions"),
    [
        ("kind = invoice", "invoice", ()),
        ("total > 500 EUR", "", (Where(column="total", operator=">", values=("500 EUR",)),)),
        (
            "kind = lab report and date in 2026-03 and Limit exceeded = yes",
            "lab report",
            (
                Where(column="date", operator="=", values=("2026-03",)),
                Where(column="Limit exceeded", operator="=", values=("yes",)),
            ),
        ),
        (
            "date between 2026-01-01 and 2026-03-31 and total is known",
            "",
            (
                Where(column="date", operator="between", values=("2026-01-01", "2026-03-31")),
                Where(column="total", operator="known"),
            ),
        ),
        (
            'supplier = "Salt and Sons" or "Pepper Ltd"',
            "",
            (Where(column="supplier", operator="=", values=("Salt and Sons", "Pepper Ltd")),),
        ),
        ("city in Oslo, Bergen", "", (Where(column="city", operator="=", values=("Oslo", "Bergen")),)),
        ("date in month 3", "", (Where(column="date", operator="in month", values=("3",)),)),
        ("", "", ()),
    ],
)
def test_conditions_say_just_what_they_say(text: str, kind: str, conditions: tuple[Where, ...]) -> None:
    assert parse_where(text) == (kind, "", conditions)


def test_a_table_inside_documents_is_named() -> None:
    assert parse_where("table = T2 and pay >= 3000")[1] == "T2"


@pytest.mark.parametrize("text", ["unpaid invoices", "total >", "= 5", "kind =", "a " * 5_000])
def test_what_is_no_condition_is_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(UsageError, match=r"condition|value"):
        parse_where(text)
