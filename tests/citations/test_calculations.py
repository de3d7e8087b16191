"""Dates and days that follow from dates of the texts."""

from __future__ import annotations

import pytest

from tablewright.citations.figures import prove_figures, repeat_calculation
from tablewright.citations.quotes import Unproved

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
    assert repeat_calculation(calculation, BILL) == day


@pytest.mark.parametrize(
    ("calculation", "problem"),
    [
        ("2026-02-01 + 30 days", "2026-02-01 is not in the quoted texts"),
        ("2026-01-31 + 14 days", "14 is not in the quoted texts"),
        ("2026-01-31 + thirty days", "only numbers, dates"),
        ("2026-01-31 + 1000000 years", "out of range"),
    ],
)
def test_a_date_or_a_period_that_no_text_has_is_refused(calculation: str, problem: str) -> None:
    with pytest.raises(Unproved, match=problem):
        repeat_calculation(calculation, BILL)


def test_days_between_dates_are_a_number_and_a_day_may_be_reckoned_on() -> None:
    calculations = ["2026-01-31 + 30 days", "2026-03-02 - 2026-01-31", "30 * 2"]
    said = "Payable by 2 March 2026, after 30 days; twice that is 60."
    assert prove_figures(said, BILL, calculations, where="the texts") == tuple(calculations)
    with pytest.raises(Unproved, match="2026-03-09 is not in the quoted texts"):
        prove_figures("Payable in 37 days.", BILL, ["2026-03-09 - 2026-01-31"], where="the texts")


def test_a_calculation_may_go_on_from_the_result_of_another() -> None:
    texts = ["120 a month, 1,200 a year"]
    assert prove_figures("It saves 240.", texts, ["120 * 12", "1440 - 1,200"], where="the texts")
    with pytest.raises(Unproved, match="1441 is not in the quoted texts"):
        prove_figures("It saves 241.", texts, ["120 * 12", "1441 - 1200"], where="the texts")


def test_a_fault_says_which_figures_are_missing_where_and_what_the_calculations_give() -> None:
    texts = ["120 a month"]
    for calculations, fault in (
        (None, "the figures 5, 17 are not in the texts."),
        ([], "the figures 5, 17 are not in the texts and follow from no calculation."),
        (["120 * 12"], r"the figures 5, 17 are not in the texts and follow from no calculation \(which gives 1,440\)."),
    ):
        with pytest.raises(Unproved, match=f"^{fault}$"):
            prove_figures("5 of them cost 120, 17 less.", texts, calculations, where="the texts")


def test_a_calculation_that_cannot_be_used_does_not_matter_where_nothing_needs_it() -> None:
    assert prove_figures("It is 120 a month.", ["120 a month"], ["120 * 1.19"], where="the texts") == ()


def test_a_count_proves_a_figure_and_may_be_reckoned_with() -> None:
    assert prove_figures("3 of them cost 40 each.", ["120"], ["120 / 3"], where="the rows", counts=[3]) == ("120 / 3",)


@pytest.mark.parametrize("constant", [1, 2, 4, 7, 12, 24, 52, 60, 100, 365, 1_000, 1_000_000])
def test_parts_of_a_year_a_day_and_a_whole_need_no_source(constant: int) -> None:
    assert repeat_calculation(f"40 * {constant}", ["It costs 40."]) == 40 * constant


@pytest.mark.parametrize("constant", [3, 13, 23, 25, 366])
def test_any_other_number_needs_a_source(constant: int) -> None:
    with pytest.raises(Unproved, match=f"{constant} is not in the quoted texts"):
        repeat_calculation(f"40 * {constant}", ["It costs 40."])
