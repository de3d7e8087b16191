"""Nothing in a CSV export runs when a spreadsheet opens it, and nothing is lost by that."""

from __future__ import annotations

import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from tablewright.formats.tables.delimited import escape_formula, unescape_formula

PIECES = st.lists(
    st.one_of(st.sampled_from([*"'=+-@＝＋－＠\t\r\n 1,.", "\u200b", "\xa0", "x"]), st.characters()), max_size=8
).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+A1", "-A1", "@SUM(A1)", " =1", "\n=1", "\u200b=1", "\xa0@x", "＝1", "＋x", "－x", "＠x"),
        *("\tx", "\rx", "-", "=", "+44 20", "-1+1", "--1", "\x00=1", "'=1", "''+x"),
    ],
)
def test_dangerous_text_gets_an_apostrophe(text: str) -> None:
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize(
    "text", ["", "x", "1", "-1", "+1", "-1,234.50", "-.5", "-1e-07", "'x", "'", "'-1", "a=b", "\t"]
)
def test_harmless_text_stays(text: str) -> None:
    assert escape_formula(text) == text


@pytest.mark.parametrize("text", ["'x", "'Tis", "'-1", "''", "x"])
def test_an_apostrophe_of_the_owner_stays(text: str) -> None:
    assert unescape_formula(text) == text


@given_any(PIECES)
def test_the_way_back_is_exact(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text


@given_any(PIECES)
def test_what_is_written_starts_no_formula(text: str) -> None:
    start = escape_formula(text).lstrip(" \t\r\n\x0b\x0c\x00\u200b\xa0")
    if start[:1] in tuple("=@＝＋－＠"):
        pytest.fail(f"{text!r} became {escape_formula(text)!r}")
    if start[:1] in ("+", "-"):
        float(start.rstrip().replace(",", "").replace(".", "") or "x")
