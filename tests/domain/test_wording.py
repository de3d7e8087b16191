from __future__ import annotations

import pytest

from tablewright.domain.naming import MAX_REQUEST_CHARACTERS, check_request_text
from tablewright.errors import UsageError


def test_runs_of_spaces_and_blank_lines_say_nothing() -> None:
    assert check_request_text("  List  \t makers\n\n\n - price ") == "List makers\n- price"


def test_what_is_too_long_is_refused_with_its_length() -> None:
    assert check_request_text("a" * MAX_REQUEST_CHARACTERS) == "a" * MAX_REQUEST_CHARACTERS
    with pytest.raises(UsageError, match="The message has 4,001 characters; at most 4,000"):
        check_request_text("a" * (MAX_REQUEST_CHARACTERS + 1), "message")


def test_a_desert_of_spaces_is_no_length() -> None:
    assert check_request_text("Who" + " " * 1_000_000 + "founded it?") == "Who founded it?"
