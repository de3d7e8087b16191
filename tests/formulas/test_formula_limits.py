"""What a formula may make and how much it may handle for one cell, whatever it is given."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.domain.model import Field, Value
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import FORMULA_LIMITS, TooMuchWork, Unevaluable

FIELDS = [Field(name=name) for name in ("A", "B")]
MB = 1024**2


def evaluate(template: str, a: Value, b: Value = "") -> Value:
    return Formula(template, FIELDS).evaluate({"A": a, "B": b})


@pytest.mark.parametrize(
    ("template", "characters"),
    [
        pytest.param("SUBSTITUTE({A}, 'x', {B})", "3,600,000,000", id="each letter becomes 60,000"),
        pytest.param("SUBSTITUTE({A}, 'x', 'yy')", "120,000", id="each letter becomes two"),
        pytest.param(f"'{'{A}' * 300}'", "18,000,000", id="a template of 300 columns"),
        pytest.param(f"CONCAT({','.join(['{A}'] * 200)})", "12,000,000", id="200 texts put together"),
        pytest.param("{A} & {A}", "120,000", id="two texts joined"),
        pytest.param("{A} & {A} & {A} & {A}", "120,000", id="joined one after the other"),
        pytest.param("UPPER({A}) & UPPER({A})", "120,000", id="of texts that were made"),
    ],
)
def test_a_text_that_would_be_too_long_is_refused_before_it_is_made(template: str, characters: str) -> None:
    a, b = "x" * 60_000, "y" * 60_000
    formula = Formula(template, FIELDS)
    tracemalloc.start()
    try:
        with pytest.raises(Unevaluable) as refused:
            formula.evaluate({"A": a, "B": b})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"makes a text of {characters} characters, more than the 100,000" in str(refused.value)
    assert "shorten its parts with LEFT" in str(refused.value)
    assert peak < MB


def test_a_change_of_case_that_lengthens_a_text_is_refused() -> None:
    assert evaluate("UPPER({A})", "ß") == "SS"
    with pytest.raises(Unevaluable, match="120,000 characters"):
        evaluate("UPPER({A})", "ß" * 60_000)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("LEFT({A}, 3)", "one"),
        ("RIGHT({A}, 3)", "end"),
        ("MID({A}, 1, 3)", "one"),
        ("LEN({A})", 1_000_006),
        ("CONTAINS({A}, 'END')", True),
        ("FIND('end', {A})", 1_000_004),
        ("'yes' if {A} else 'no'", "yes"),
        ("{A} = {B}", False),
        ("LEN({A} or {B})", 1_000_006),
    ],
)
def test_a_cell_longer_than_a_formula_may_make_can_be_read_and_cut(template: str, expected: Value) -> None:
    assert evaluate(template, "one" + "x" * 1_000_000 + "end", "other") == expected


@pytest.mark.parametrize("step", ["LEN(LOWER({A}))", "FIND('y',{A})", "({A}={B})*1", "LEN(TRIM({A}))"])
def test_all_steps_of_a_cell_share_one_allowance(step: str) -> None:
    template = f"SUM({','.join([step] * 110)})"
    with pytest.raises(TooMuchWork, match="more than 20,000,000 characters for this row"):
        evaluate(template, "x" * 99_999 + "y", "x" * 99_999 + "z")
    assert isinstance(evaluate(template, "xy"), int)


def test_a_smaller_allowance_ends_a_formula_sooner() -> None:
    formula = Formula("UPPER({A})", FIELDS)
    assert formula.evaluate({"A": "x" * 100}, allowance=1_000) == "X" * 100
    with pytest.raises(TooMuchWork):
        formula.evaluate({"A": "x" * 1_000}, allowance=1_000)
    assert formula.evaluate({"A": "x" * 1_000}) == "X" * 1_000, "the next evaluation has an allowance of its own"


def test_a_long_text_is_no_number_no_date_and_no_measure() -> None:
    tail = " " + "x" * FORMULA_LIMITS.read_characters
    assert evaluate("{A} * 2", "12 x") == 24
    for template, stated in (("{A} * 2", "12"), ("YEAR({A})", "3 May 2020"), ("CONVERT({A}, 'cm')", "2 m")):
        with pytest.raises(Unevaluable, match=r"is not|does not"):
            evaluate(template, stated + tail)
    assert evaluate("{A} = {B}", "12" + tail, 12) is False


def test_the_trace_of_a_long_formula_is_short() -> None:
    formula = Formula(f"IF(1 = 1, 1, '{'{A}' * 600}')", FIELDS)
    for value in ("x" * 1_000_000, ("y" * 1_000,) * 1_000):
        assert formula.evaluate({"A": value}) == 1
        assert len(formula.written({"A": value})) <= FORMULA_LIMITS.written_characters + 1


TEXTS = st.text(st.sampled_from("aAßŉ这[ x1€.,"), max_size=40)


@st.composite
def growing_formulas(draw: st.DrawFn) -> str:
    """Nested as deep as chance says, each step larger than what it is given."""
    formula = "{A}"
    for _ in range(draw(st.integers(0, 12))):
        step = draw(st.sampled_from(("SUBSTITUTE", "CONCAT", "UPPER", "&", "template", "LEFT")))
        other = draw(st.sampled_from(("{A}", "{B}", "'zz'")))
        formula = {
            "SUBSTITUTE": f"SUBSTITUTE({formula},{other},{{B}})",
            "CONCAT": f"CONCAT({formula},{other},{other})",
            "UPPER": f"UPPER({formula})",
            "&": f"({formula} & {other})",
            "template": f"CONCAT({formula},'{{A}}{{B}}{{A}}')",
            "LEFT": f"LEFT({formula},99999)",
        }[step]
    return formula


@given(growing_formulas(), TEXTS, TEXTS, st.integers(1, 3_000))
@settings(max_examples=300)
def test_no_formula_makes_more_than_a_cell_takes(template: str, a: str, b: str, times: int) -> None:
    formula = Formula(template, FIELDS)
    tracemalloc.start()
    try:
        result = formula.evaluate({"A": a * times, "B": b})
    except Unevaluable:
        result = ""
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert result is None or len(str(result)) <= max(FORMULA_LIMITS.text_characters, len(a) * times)
    assert peak < 16 * MB
