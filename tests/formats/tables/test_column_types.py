"""The type of a column is strict: all of its values, or text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.text import cell_text
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]


def column(put: Put, *texts: str) -> tuple[str, list[Any]]:
    path = put("Name\tValue\n" + "".join(f"n\t{text}\n" for text in texts))
    table = read_table(path, delimiter="\t")
    assert [cell_text(row[1]) for row in table.rows()] == [text if text.strip() else "" for text in texts]
    return table.fields[1].type, [row[1].value for row in table.rows()]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "-2", "30"], [1, -2, 30]),
        (["12.50", "0.5", ".25", "7"], [12.5, 0.5, 0.25, 7]),
        (["+3", "-0"], [3, 0]),
        ([" 12", "13 "], [12, 13]),
        (["1,234.50", "12", "1,000,000"], [1234.5, 12, 1_000_000]),
        (["1,234", "12.5"], [1234, 12.5]),
        (["12,50", "3"], [12.5, 3]),
        (["1.234,50", "12,5"], [1234.5, 12.5]),
        (["1234,50", "12,5"], [1234.5, 12.5]),
        (["0,125", "1,125"], [0.125, 1.125]),
        (["1e-07", "2.5e+20"], [1e-07, 2.5e20]),
        (["0.30000000000000004", "1"], [0.1 + 0.2, 1]),
        (["1", "", " ", "2"], [1, None, None, 2]),
        (["123456789012345", "1"], [123456789012345, 1]),
    ],
)
def test_numbers(put: Put, texts: list[str], values: list[float]) -> None:
    assert column(put, *texts) == ("number", values)


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "008"],
        ["1", "x"],
        ["1,234", "5,678"],
        ["1,234.50", "1234.50"],
        ["1,23,456"],
        ["1.234,50", "1,234.50"],
        ["1234567890123456", "1"],
        ["0.12345678901234567890"],
        ["1e5", "2E5"],
        ["+441234567890", "+4930123456"],
        ["12%", "13%"],
        ["$5", "$6"],
        ["5."],
        ["1_000"],
        ["١٢"],
        ["NaN", "inf"],
        ["yes", "true"],
        ["true", "1"],
        ["2024-02-30"],
        ["2024-01-31", "31.1.2024"],
        ["2024-01"],
        ["https://a.org", "b.org"],
        ["ftp://a.org"],
        ["https://"],
    ],
)
def test_what_is_not_all_of_one_kind_stays_text(put: Put, texts: list[str]) -> None:
    assert column(put, *texts) == ("text", texts)


@pytest.mark.parametrize(
    ("texts", "values"),
    [(["true", "False", "TRUE"], [True, False, True]), (["yes", "No", ""], [True, False, None])],
)
def test_booleans(put: Put, texts: list[str], values: list[bool | None]) -> None:
    assert column(put, *texts) == ("boolean", values)


def test_dates_and_links(put: Put) -> None:
    assert column(put, "2024-01-31", "1850-12-01") == ("date", ["2024-01-31", "1850-12-01"])
    assert column(put, "https://a.org/x?y=1", "HTTP://b.org") == ("url", ["https://a.org/x?y=1", "HTTP://b.org"])


def test_an_empty_column_is_text(put: Put) -> None:
    assert column(put, "", "") == ("text", [None, None])


def test_one_word_at_the_end_of_many_numbers_makes_all_text(put: Put) -> None:
    texts = [str(number) for number in range(50_000)] + ["many"]
    assert column(put, *texts) == ("text", texts)


def test_a_cell_that_was_given_is_certain_and_an_empty_one_is_pending(put: Put) -> None:
    rows = list(read_table(put("a,b\nx,\n")).rows())
    assert (rows[0][0].status, rows[0][0].confidence, rows[0][0].is_given) == ("ENRICHED", 1.0, True)
    assert (rows[0][1].status, rows[0][1].value) == ("PENDING", None)


def test_raw_value_is_kept_only_where_it_says_more(put: Put) -> None:
    cells = [row[1] for row in read_table(put("a,b\nx,12.50\ny,12.5\n")).rows()]
    assert [(cell.value, cell.raw_value) for cell in cells] == [(12.5, "12.50"), (12.5, None)]


@pytest.mark.parametrize(
    ("separator", "type", "values"),
    [(",", "number", [1234, 56789, 980]), (";", "text", ["1,234", "56,789", "980"])],
)
def test_commas_before_three_digits_are_thousands_where_commas_also_separate(
    put: Put, separator: str, type: str, values: list[object]
) -> None:
    path = put(f"Name{separator}Sold\n" + "".join(f'n{separator}"{text}"\n' for text in ("1,234", "56,789", "980")))
    table = read_table(path)
    assert (table.fields[1].type, [row[1].value for row in table.rows()]) == (type, values)
    assert [cell_text(row[1]) for row in table.rows()] == ["1,234", "56,789", "980"]
