"""What a document has one of is a fact without a label."""

from __future__ import annotations

import pytest

from tests.documents.annotate.reading import facts


@pytest.mark.parametrize(
    ("text", "label", "raw"),
    [
        ("Corner Garage\n2024-03-02 14:12\nThank you!", "Date", "2024-03-02"),
        ("Write to ann.b@halden.example, or call.", "E-mail", "ann.b@halden.example"),
        ("More at https://halden.example/tours?x=1.", "Website", "https://halden.example/tours?x=1"),
        ("Call +44 (0)20 7946 0958 by noon", "Phone", "+44 (0)20 7946 0958"),
        ("to GB82 WEST 1234 5698 7654 32, please", "IBAN", "GB82 WEST 1234 5698 7654 32"),
    ],
)
def test_a_single_value_of_a_format_is_found_in_any_sentence(text: str, label: str, raw: str) -> None:
    assert facts(text, by="format")[label].value.raw == raw


def test_of_several_nobody_knows_which_is_meant() -> None:
    assert facts("Ordered on 2024-03-02, delivered on 2024-03-09. a@halden.example b@halden.example") == {}
    assert list(facts("On 2 March 2024 (2024-03-02) it rained.")) == ["Date"], "one date, written twice"


def test_what_has_a_label_is_not_told_twice() -> None:
    assert list(facts("Delivered: 2024-03-09")) == ["Delivered"]


def test_an_account_with_wrong_check_digits_is_none() -> None:
    assert facts("to GB83 WEST 1234 5698 7654 32, please") == {}
