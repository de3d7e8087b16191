"""What things come to: exact sums, one for each currency, extremes with all that hold them, groups, and the file."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest

from tablewright.documents.results import (
    FoundItem,
    FoundItems,
    StatedFact,
    aggregate_annotations,
    write_annotations_csv,
)
from tablewright.domain.documents import Aggregate, Question
from tablewright.values.comparable_value import parse_comparable


def found(**things: dict[str, str]) -> FoundItems:
    """Things with the values of their columns."""
    made = tuple(
        FoundItem(
            document_id=name,
            title=name,
            page=1,
            values=tuple(
                StatedFact(asked=label, label=label, value=parse_comparable(raw, label), start=0, end=len(raw))
                for label, raw in values.items()
            ),
        )
        for name, values in things.items()
    )
    labels = tuple(dict.fromkeys(label for values in things.values() for label in values))
    question = Question(text="", things="receipt", show=labels)
    return FoundItems(
        question=question, matches=made, rejected=0, undecided=(), unreadable=0, completeness="exact", reason=""
    )


def test_cents_add_up() -> None:
    result = found(a={"Total": "RM 0.10"}, b={"Total": "RM 0.10"}, c={"Total": "RM 0.10"}, bare={"Total": "0.10"})
    (group,) = aggregate_annotations(result, "sum", "Total").groups
    assert [(amount.value, amount.unit) for amount in group.amounts] == [(Decimal("0.40"), "MYR")]


def test_currencies_are_never_added_together() -> None:
    result = found(a={"Total": "EUR 5"}, b={"Total": "USD 7"}, c={"Total": "EUR 2.50"})
    (group,) = aggregate_annotations(result, "sum", "Total").groups
    assert [(amount.value, amount.unit) for amount in group.amounts] == [(Decimal("7.5"), "EUR"), (Decimal(7), "USD")]


def test_measures_are_added_up_in_the_unit_that_most_are_written_in() -> None:
    result = found(a={"Work": "2.5 hours"}, b={"Work": "30 min"}, c={"Work": "1.5 h"})
    (amount,) = aggregate_annotations(result, "sum", "Work").groups[0].amounts
    assert (amount.value, amount.unit) == (Decimal("4.5"), "h")


@pytest.mark.parametrize(
    ("aggregate", "value", "holders"), [("max", Decimal(9), ["b", "c"]), ("min", Decimal(3), ["a"])]
)
def test_all_that_hold_the_extreme_are_named(aggregate: Aggregate, value: Decimal, holders: list[str]) -> None:
    result = found(a={"Total": "3"}, b={"Total": "9"}, c={"Total": "9"})
    (amount,) = aggregate_annotations(result, aggregate, "Total").groups[0].amounts
    assert (amount.value, [thing.document_id for thing in amount.things]) == (value, holders)


def test_the_earliest_date_is_a_date() -> None:
    result = found(a={"Date": "2018-05-01"}, b={"Date": "2016-01-24"})
    (amount,) = aggregate_annotations(result, "min", "Date").groups[0].amounts
    assert (amount.value, [thing.document_id for thing in amount.things]) == ("2016-01-24", ["b"])


def test_groups_are_counted_and_averaged_and_gaps_are_told() -> None:
    result = found(
        a={"Merchant": "Aeon", "Total": "10"}, b={"Merchant": "AEON", "Total": "20"}, c={"Merchant": "Tesco"}
    )
    summed = aggregate_annotations(result, "average", "Total", "Merchant")
    assert [(group.key, group.count, [amount.value for amount in group.amounts]) for group in summed.groups] == [
        ("Aeon", 2, [Decimal(15)]),
        ("Tesco", 1, []),
    ]
    assert [thing.document_id for thing in summed.missing] == ["c"]
    assert (summed.completeness, summed.reason) == ("incomplete", "1 of 3 matches do not state Total")
    by_total = aggregate_annotations(result, "count", group_by="Total")
    assert (by_total.completeness, by_total.reason) == ("incomplete", "1 of 3 matches do not state Total")


def test_the_file_of_all_matches_runs_no_formula() -> None:
    result = found(a={"Total": "10", "Merchant": '=HYPERLINK("http://x","y")'})
    head, row = csv.reader(io.StringIO(write_annotations_csv(result)))
    assert head == ["document", "title", "page", "Total", "Merchant", "Total: passage", "Merchant: passage"]
    assert row[:5] == ["a", "a", "1", "10", '\'=HYPERLINK("http://x","y")']
    assert row[5].startswith("Total ")
