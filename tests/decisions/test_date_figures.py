"""Dates and days that follow from dates of the texts."""

from __future__ import annotations

import pytest

from tablewright.decisions.date_figures import work_out_all, work_out_date

BILL = ["Dated 31 January 2026, payable within 30 days", "Hired on 3 March 2024 for five years"]


@pytest.mark.parametrize(
    ("calculation", "day"),
    [
        ("2026-01-31 + 30 days", "2026-03-02"),
        ("2026-01-31 + 1 month", "2026-02-28"),
        ("2024-03-03 + 5 years - 1 day", "2029-03-02"),
        ("2026-01-31 - 2 weeks", "2026-01-17"),
    ],
)
def test_a_day_is_worked_out_from_a_date_and_a_period(calculation: str, day: str) -> None:
    assert work_out_date(calculation, BILL) == (day, "")


@pytest.mark.parametrize(
    ("calculation", "problem"),
    [
        ("2026-02-01 + 30 days", "2026-02-01 does not stand"),
        ("2026-01-31 + 14 days", "14 does not stand"),
        ("2026-01-31 + thirty days", "is not like"),
        ("2026-01-31 + 1000000 years", "out of range"),
    ],
)
def test_a_date_or_a_period_that_no_text_has_is_refused(calculation: str, problem: str) -> None:
    day, said = work_out_date(calculation, BILL)
    assert day == ""
    assert problem in said


def test_days_between_dates_are_a_number_and_a_day_may_be_reckoned_on() -> None:
    numbers, dates, problem = work_out_all(["2026-01-31 + 30 days", "2026-03-02 - 2026-01-31", "30 * 2"], BILL)
    assert (numbers, dates, problem) == ([30, 60], ["2026-03-02"], "")
    assert work_out_all(["2026-03-09 - 2026-01-31"], BILL)[2]


def test_a_calculation_may_go_on_from_the_result_of_another() -> None:
    texts = ["120 a month, 1,200 a year"]
    assert work_out_all(["120 * 12", "1440 - 1,200"], texts) == ([1440, 240], [], "")
    assert work_out_all(["120 * 12", "1441 - 1200"], texts)[2]
