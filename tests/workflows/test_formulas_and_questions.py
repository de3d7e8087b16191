"""What is taken for a formula, so that its mistakes are told before the run, and what for a question."""

from __future__ import annotations

import pytest

from tablewright.engine.planning import is_formula


@pytest.mark.parametrize(
    "text", ["ROUND({Price}, 2)", "{Price} *", "round({Price}, 2", "round({Price", "ROND({Price})"]
)
def test_a_formula_with_a_mistake_is_still_one(text: str) -> None:
    assert is_formula(text)


@pytest.mark.parametrize("text", ["Who runs {Company}?", "CEO(s) of {Company}", "Names of founders (if known)"])
def test_brackets_alone_make_no_formula(text: str) -> None:
    assert not is_formula(text)
