"""Lists in texts."""

from __future__ import annotations

import pytest

from tablewright.values.choices import read_list


@pytest.mark.parametrize(
    ("text", "items", "label"),
    [
        ("a; b; c", ("a", "b", "c"), "high"),
        ("a, b; c", ("a, b", "c"), "high"),
        ('["a", "b, c", 3, null, true]', ("a", "b, c", "3", "true"), "high"),
        ("- a\n- b", ("a", "b"), "high"),
        ("• a\n• b\n\n• c", ("a", "b", "c"), "high"),
        ("1. a\n2) b", ("a", "b"), "high"),
        ("The items:\n* a\n* b", ("a", "b"), "high"),
        ("a\nb", ("a", "b"), "high"),
        ("a | b", ("a", "b"), "high"),
        ("a", ("a",), "high"),
        ("salt and pepper", ("salt and pepper",), "high"),
        ("1,000", ("1,000",), "high"),
        ("a; A; b", ("a", "b"), "high"),
        ("a, b and c", ("a", "b", "c"), "medium"),
        ("red, green, or blue", ("red", "green", "blue"), "medium"),
        ("Acme, Inc., Foo LLC", ("Acme, Inc.", "Foo LLC"), "medium"),
        ("Rock (indie, alt), Pop", ("Rock (indie, alt)", "Pop"), "medium"),
        ("1,000 m, 2,000 m", ("1,000 m", "2,000 m"), "medium"),
        ("['a', 'b']", ("a", "b"), "medium"),
        ("Some text\n- a\nmore text\n- b", ("a", "b"), "medium"),
        (";;", None, "none"),
    ],
)
def test_the_items_of_a_list(text: str, items: tuple[str, ...] | None, label: str) -> None:
    assert read_list(text)[:2] == (items, label)
