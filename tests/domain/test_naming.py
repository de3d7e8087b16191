"""Names can be read, and told apart."""

from __future__ import annotations

import pytest

from tablewright.domain.naming import check_name, check_user_name, look_alike
from tablewright.errors import UsageError


@pytest.mark.parametrize(
    "name", ["a\u202eb", "a\u2067b", "a\x1b[0m", "a\nb", "a\x00", "a\u200fb", "a\ufeffb", "a\ud800"]
)
def test_characters_that_nobody_sees_are_refused_and_named(name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be seen \(U\+"):
        check_name(name, "a table")


@pytest.mark.parametrize(
    "name", ["companies", "Größen", "会社", "شركات", "می\u200cخواهم", "a/b", "👩\u200d🔬", "1,5 %"]
)
def test_other_names_are_fine_in_any_script(name: str) -> None:
    check_name(name, "a table")


@pytest.mark.parametrize("name", ["a/b", "a\\b", "..", ".", "", "x" * 81, "an\u200dn"])
def test_a_user_is_not_called_like_a_path(name: str) -> None:
    with pytest.raises(UsageError):
        check_user_name(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ann", "ANN"),
        ("ann", "аnn"),  # Cyrillic а
        ("coco", "сосо"),  # all Cyrillic
        ("ann", "ａｎｎ"),
        ("alice", "aIice"),
        ("alice", "aIicе"),
        ("paul", "pau1"),
        ("modern", "rnodern"),
        ("zoë", "zoe\u0308"),
    ],
)
def test_names_that_look_alike(name: str, other: str) -> None:
    assert look_alike(name, other)
    assert look_alike(other, name)


@pytest.mark.parametrize(("name", "other"), [("ann", "anna"), ("zoe", "zoë"), ("анна", "ивaн"), ("bob", "rob")])
def test_names_that_do_not(name: str, other: str) -> None:
    assert not look_alike(name, other)
