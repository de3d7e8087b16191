"""The small language of conditions over documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.domain.condition import Condition, describe_condition, parse_conditions
from tablewright.domain.reply import make_lookup_form
from tablewright.errors import UsageError


@pytest.mark.parametrize(
    ("text", "kind", "conditions"),
    [
        ("kind = invoice", "invoice", ()),
        ("total > 500 EUR", "", (Condition(column="total", operator=">", values=("500 EUR",)),)),
        (
            "kind = lab report and date in 2026-03 and Limit exceeded = yes",
            "lab report",
            (
                Condition(column="date", operator="=", values=("2026-03",)),
                Condition(column="Limit exceeded", operator="=", values=("yes",)),
            ),
        ),
        (
            "date between 2026-01-01 and 2026-03-31 and total is known",
            "",
            (
                Condition(column="date", operator="between", values=("2026-01-01", "2026-03-31")),
                Condition(column="total", operator="known"),
            ),
        ),
        (
            'supplier = "Salt and Sons" or "Pepper Ltd"',
            "",
            (Condition(column="supplier", operator="=", values=("Salt and Sons", "Pepper Ltd")),),
        ),
        ("city in Oslo, Bergen", "", (Condition(column="city", operator="=", values=("Oslo", "Bergen")),)),
        (
            'supplier = "Salt or Pepper" and city = O\'Hara and size = 5"',
            "",
            (
                Condition(column="supplier", operator="=", values=("Salt or Pepper",)),
                Condition(column="city", operator="=", values=("O'Hara",)),
                Condition(column="size", operator="=", values=('5"',)),
            ),
        ),
        ('"Made in" not contains x', "", (Condition(column="Made in", operator="not contains", values=("x",)),)),
        ("date in month 3", "", (Condition(column="date", operator="in month", values=("3",)),)),
        ("", "", ()),
    ],
)
def test_conditions_say_just_what_they_say(text: str, kind: str, conditions: tuple[Condition, ...]) -> None:
    form = make_lookup_form(text)
    assert (form.kind, form.table, form.conditions) == (kind, "", conditions)


def test_a_table_inside_documents_is_named() -> None:
    assert make_lookup_form("table = T2 and pay >= 3000").table == "T2"


@pytest.mark.parametrize("text", ["unpaid invoices", "total >", "= 5", "kind =", "a " * 5_000])
def test_what_is_no_condition_is_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(UsageError, match=r"condition|value"):
        parse_conditions(text)


words = st.lists(
    st.sampled_from(["Salt", "and", "or", "between", "in", "is", "not", "contains", "5", "EUR", "{Due}", "O'Hara"]),
    min_size=1,
    max_size=4,
).map(" ".join)
conditions = st.builds(
    Condition,
    column=words,
    operator=st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "contains", "not contains", "in month"]),
    values=st.lists(words, min_size=1, max_size=3).map(tuple),
) | st.builds(Condition, column=words, operator=st.just("between"), values=st.tuples(words, words))


@given(written=st.lists(conditions, max_size=3))
def test_conditions_are_read_as_they_are_written(written: list[Condition]) -> None:
    assert parse_conditions(" and ".join(map(str, written))) == tuple(written)


def test_a_condition_is_described_with_the_column_that_it_names() -> None:
    late, near = parse_conditions("Paid > {Due date} and Price between 5 EUR and 6 EUR")
    assert describe_condition(late) == "Paid > Due date"
    assert describe_condition(near) == "Price between 5 EUR and 6 EUR"
    assert describe_condition(Condition(column="Price", operator="known")) == "Price known"
