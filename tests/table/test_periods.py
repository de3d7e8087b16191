"""Time ranges as people ask for them, reckoned from one day."""

from __future__ import annotations

from datetime import date

import pytest

from tablewright.table.periods import read_period, read_periods

TODAY = date(2024, 5, 15)


def ends(text: str) -> str:
    period = read_period(text, TODAY)
    return "none" if period is None else f"{period.start or ''}..{period.end or ''}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last quarter", "2024-01-01..2024-03-31"),
        ("this quarter", "2024-04-01..2024-06-30"),
        ("this year", "2024-01-01..2024-12-31"),
        ("last month", "2024-04-01..2024-04-30"),
        ("last week", "2024-05-06..2024-05-12"),
        ("yesterday", "2024-05-14..2024-05-14"),
        ("the last 30 days", "2024-04-15..2024-05-15"),
        ("the past two months", "2024-03-15..2024-05-15"),
        ("three weeks ago", "2024-04-22..2024-04-28"),
        ("year to date", "2024-01-01..2024-05-15"),
        ("in March", "2024-03-01..2024-03-31"),
        ("in June", "2023-06-01..2023-06-30"),
        ("next month", "2024-06-01..2024-06-30"),
    ],
)
def test_words_are_reckoned_from_today(text: str, expected: str) -> None:
    assert ends(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 2018-03", "2018-03-01..2018-03-31"),
        ("March 2018", "2018-03-01..2018-03-31"),
        ("in February 2020", "2020-02-01..2020-02-29"),
        ("Q3 2021", "2021-07-01..2021-09-30"),
        ("the first quarter of 2021", "2021-01-01..2021-03-31"),
        ("H2 2020", "2020-07-01..2020-12-31"),
        ("in the year 2016", "2016-01-01..2016-12-31"),
        ("2023", "2023-01-01..2023-12-31"),
        ("2024 only", "2024-01-01..2024-12-31"),
        ("receipts of 2018", "2018-01-01..2018-12-31"),
        ("the 2023 invoices", "2023-01-01..2023-12-31"),
        ("in the 1990s", "1990-01-01..1999-12-31"),
        ("on 25/12/2018", "2018-12-25..2018-12-25"),
        ("on May 5, 2020", "2020-05-05..2020-05-05"),
    ],
)
def test_a_calendar_time_is_meant_as_it_is(text: str, expected: str) -> None:
    assert ends(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since 2022", "2022-01-01.."),
        ("from 2019 onwards", "2019-01-01.."),
        ("2018 or later and below 20", "2018-01-01.."),
        ("after 2019", "2020-01-01.."),
        ("before 5 May 2020", "..2020-05-04"),
        ("until the end of 2020", "..2020-12-31"),
        ("no later than June 2020", "..2020-06-30"),
        ("between January and March 2019", "2019-01-01..2019-03-31"),
        ("between November and January 2019", "2018-11-01..2019-01-31"),
        ("from 2019 to 2021", "2019-01-01..2021-12-31"),
        ("2019-2021", "2019-01-01..2021-12-31"),
        ("from 1 May 2020 to 3 June 2020", "2020-05-01..2020-06-03"),
        ("between 5 and 9 May 2020", "2020-05-05..2020-05-09"),
    ],
)
def test_ends_may_be_open_or_joined(text: str, expected: str) -> None:
    assert ends(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1500 W", "modules of 2000 W", "above 2000", "more than 1999", "with 2000 employees", "a total of 2000",
        "price over 2020 EUR", "between 1900 and 2000 W", "invoice 2023", "model 2020", "as it may be",
        "31/02/2020", "2018-13", "at least 2010 mm",
    ],
)  # fmt: skip
def test_four_digits_that_are_no_year_are_no_time(text: str) -> None:
    assert ends(text) == "none"


def test_a_fiscal_year_is_taken_as_the_calendar_year_and_says_so() -> None:
    period = read_period("in FY2022", TODAY)
    assert period is not None
    assert (period.start, period.end) == (date(2022, 1, 1), date(2022, 12, 31))
    assert period.note == "the fiscal year is taken as the calendar year"


def test_a_period_says_where_its_words_stand() -> None:
    text = "receipts dated in 2018-03 from ACME"
    period = read_period(text, TODAY)
    assert period is not None
    assert text[slice(*period.span)] == period.words == "in 2018-03"


def test_two_ends_with_words_of_their_own_are_two_periods() -> None:
    found = read_periods("signed after 1 January 2020 and before 2021", TODAY)
    assert [(str(each.start), str(each.end)) for each in found] == [("2020-01-02", "None"), ("None", "2020-12-31")]
