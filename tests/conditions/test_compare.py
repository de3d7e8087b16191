"""One value against one condition: it is what is asked for, it is not, or it does not say."""

from __future__ import annotations

import pytest

from tablewright.conditions.compare import Verdict, compare_pair, compare_value, is_same_name
from tablewright.domain.documents import ComparableValue, Truth
from tablewright.values.comparable_value import parse_comparable


def words(text: str) -> ComparableValue:
    return ComparableValue(raw=text)


def date(iso: str) -> ComparableValue:
    return ComparableValue(raw=iso, date=iso)


def judge(value: ComparableValue, operator: str, *wanted: str | ComparableValue, language: str = "") -> Verdict:
    read = [each if isinstance(each, ComparableValue) else parse_comparable(each) for each in wanted]
    return compare_value(value, operator, read, language)


# ── one value ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "operator", "wanted", "truth"),
    [
        ("1600 mm", "<", "1.6 m", "no match"),
        ("1600 mm", "<=", "1.6 m", "match"),
        ("160 cm", "=", "1.6 m", "match"),
        ("10-20 kg", "<", "25 kg", "match"),
        ("10-20 kg", "<", "15 kg", "not stated"),
        ("10-20 kg", ">", "20 kg", "no match"),
        ("1600", "<", "2 m", "not stated"),
        ("tall", "<", "2 m", "not stated"),
        ("12 W", "<", "2 m", "not stated"),
        ("RM 12.50", ">", "10", "match"),
        ("RM 12.50", ">", "EUR 10", "not stated"),
        ("12.50", ">", "EUR 10", "match"),
        ("no", "=", "no", "match"),
        ("yes", "=", "no", "no match"),
    ],
)
def test_a_value_is_compared_in_its_unit(value: str, operator: str, wanted: str, truth: Truth) -> None:
    assert judge(parse_comparable(value), operator, wanted).truth == truth


@pytest.mark.parametrize(
    ("value", "operator", "wanted", "truth"),
    [
        ("2018-03-31", "=", "2018-03", "match"),
        ("2018-04-01", "=", "2018-03", "no match"),
        ("2018-04-01", "=", "2018", "match"),
        ("2018", "=", "2018-03", "not stated"),
        ("2018-03-01", ">", "2018-03", "no match"),
        ("2018-03-01", ">=", "2018-03", "match"),
        ("2018-02-28", "<", "2018-03", "match"),
        ("2018-03-31", "<=", "2018-03", "match"),
        ("2017", "<", "2018-03", "match"),
    ],
)
def test_a_month_or_a_year_is_a_period(value: str, operator: str, wanted: str, truth: Truth) -> None:
    assert judge(date(value), operator, date(wanted)).truth == truth


def test_a_period_has_two_ends() -> None:
    quarter = ("between", date("2018-01"), date("2018-03"))
    days = ("2017-12-31", "2018-01-01", "2018-03-31", "2018-04-01")
    assert [judge(date(day), *quarter).truth for day in days] == ["no match", "match", "match", "no match"]


def test_a_range_with_one_end_decides_nothing_and_says_why() -> None:
    verdict = judge(parse_comparable("12 kg"), "between", "10 kg")
    assert (verdict.truth, verdict.reason) == ("not stated", "a range needs two ends")


def test_a_name_is_the_same_whatever_its_case_and_punctuation() -> None:
    assert is_same_name("AEON CO. (M) BHD", "Aeon Co (M) Bhd.")
    assert is_same_name("99 SPEED MART S/B", "99 Speedmart S/B (519537-X)")
    assert not is_same_name("AEON CO. (M) BHD", "AEON BIG (M) SDN BHD")


def test_one_of_several_values_is_enough() -> None:
    thin = ("contains", words("Thin Film"), words("CdTe"))
    assert [judge(words(text), *thin).truth for text in ("CdTe", "thin-film", "Mono")] == ["match", "match", "no match"]


def test_a_date_that_can_be_read_in_two_ways_is_told_where_it_matters() -> None:
    either = parse_comparable("03/05/2021", "Date")
    assert "two ways" in judge(either, "=", date("2021-05")).guess
    assert "zwei Arten" in judge(either, "=", date("2021-05"), language="de").guess
    assert judge(either, "=", date("2021")).guess == ""


# ── two values of one thing ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "operator", "other", "truth"),
    [
        ("1600 mm", ">", "1.5 m", "match"),
        ("0.012 mg/l", ">", "10 µg/l", "match"),
        ("12 W", ">", "2 m", "not stated"),
        ("RM 12.50", ">", "EUR 10", "not stated"),
        ("12 EUR", "!=", "12 EUR", "no match"),
        ("10-20 kg", ">", "5-9 kg", "match"),
        ("10-20 kg", ">", "10-20 kg", "not stated"),
        ("10-20 kg", "=", "10-20 kg", "not stated"),
        ("10-20 kg", "=", "30-40 kg", "no match"),
        ("12", ">", "none", "not stated"),
        ("< 0.5", ">", "0.5", "no match"),
        ("< 0.5", ">", "0.3", "not stated"),
        ("60", ">", "≤ 50", "match"),
        ("Nordwind GmbH", "=", "NORDWIND GmbH", "match"),
        ("Nordwind GmbH", "!=", "Südwind GmbH", "match"),
    ],
)
def test_two_values_are_compared_in_their_units(value: str, operator: str, other: str, truth: Truth) -> None:
    assert compare_pair(parse_comparable(value), operator, parse_comparable(other)).truth == truth


@pytest.mark.parametrize(
    ("value", "operator", "other", "truth"),
    [
        ("2026-04-02", ">", "2026-04-01", "match"),
        ("2026-04-01", ">", "2026-04-01", "no match"),
        ("2026-03-20", "<=", "2026-03", "not stated"),
        ("2026-03", ">=", "2026-03", "not stated"),
        ("2026-03", "=", "2026-03", "not stated"),
        ("2026-02", "<", "2026-03", "match"),
        ("2026-02", "!=", "2026-03", "match"),
    ],
)
def test_of_two_days_in_one_month_nobody_knows_the_first(value: str, operator: str, other: str, truth: Truth) -> None:
    assert compare_pair(date(value), operator, date(other)).truth == truth


def test_a_date_is_not_compared_with_a_number() -> None:
    assert compare_pair(date("2026"), ">", parse_comparable("12")).truth == "not stated"
    assert compare_pair(parse_comparable("12"), "<", date("2026")).truth == "not stated"


def test_a_value_with_a_unit_beside_one_without_is_a_guess() -> None:
    for value, other in (("12 µg/l", "10"), ("12", "10 µg/l"), ("12 EUR", "10"), ("12", "10 EUR")):
        verdict = compare_pair(parse_comparable(value), ">", parse_comparable(other))
        assert (verdict.truth, "only one of two values has a unit" in verdict.guess) == ("match", True)
    assert compare_pair(parse_comparable("12"), ">", parse_comparable("10")).guess == ""


def test_either_of_two_dates_may_be_read_in_two_ways() -> None:
    due = parse_comparable("03/05/2021", "Date")
    assert "two ways" in compare_pair(date("2021-04-01"), ">", due).guess
    assert "two ways" in compare_pair(due, "<", date("2021-04-01")).guess
    assert compare_pair(date("2021-06-01"), ">", due) == Verdict("match")


def test_a_value_written_as_a_limit_may_be_anything_below_it() -> None:
    truths = [judge(parse_comparable("<0.5 mg/l"), sign, "0.3 mg/l").truth for sign in ("<", ">")]
    assert truths == ["not stated", "not stated"]
    assert judge(parse_comparable("<0.5 mg/l"), "<", "0.6 mg/l").truth == "match"
    assert judge(parse_comparable("> 100"), ">", "90").truth == "match"


@pytest.mark.parametrize(
    ("value", "truths"),
    [
        ("<0.5", ("match", "no match", "match", "match", "no match", "no match")),
        ("≤0.5", ("not stated", "not stated", "not stated", "match", "no match", "not stated")),
        (">0.5", ("no match", "no match", "no match", "no match", "match", "match")),
        ("≥0.5", ("no match", "not stated", "no match", "not stated", "not stated", "match")),
        ("0.5", ("no match", "match", "no match", "match", "no match", "match")),
        ("0.3", ("match", "no match", "match", "match", "no match", "no match")),
    ],
)
@pytest.mark.parametrize("unit", ["", " mg/l"])
def test_what_a_limit_leaves_out_is_known(value: str, truths: tuple[Truth, ...], unit: str) -> None:
    asked: list[tuple[str, str]] = [
        ("=", "<0.5"), ("=", "0.5"), ("<", "0.5"), ("<=", "0.5"), (">", "0.5"), (">=", "0.5"),
    ]  # fmt: skip
    found = [judge(parse_comparable(f"{value}{unit}"), sign, f"{limit}{unit}").truth for sign, limit in asked]
    assert tuple(found) == truths


def test_two_values_under_the_same_limit_may_be_the_same() -> None:
    equal = {
        other: compare_pair(parse_comparable("<0.5"), "=", parse_comparable(other)).truth
        for other in ("<0.5", "≤0.5", ">0.5", "≥0.5")
    }
    assert equal == {"<0.5": "not stated", "≤0.5": "not stated", ">0.5": "no match", "≥0.5": "no match"}
    assert compare_pair(parse_comparable("<0.5"), "<", parse_comparable("0.5")).truth == "match"
    assert compare_pair(parse_comparable("<0.5"), "<", parse_comparable("<0.5")).truth == "match"
    assert compare_pair(parse_comparable("<0.5"), "<", parse_comparable("<0.5")).guess, (
        "that the limit is the number is taken for granted"
    )


@pytest.mark.parametrize(
    ("operator", "limit", "is_guess"),
    [(">", "≤ 50", False), (">", "50", False), (">", "max. 50", True), (">", "≥ 50", True), ("<", "≥ 50", False)],
)
def test_a_limit_in_words_is_compared_by_its_number_and_that_is_said(operator: str, limit: str, is_guess: bool) -> None:
    verdict = compare_pair(parse_comparable("60"), operator, parse_comparable(limit))
    assert verdict.truth == ("match" if operator == ">" else "no match")
    assert bool(verdict.guess) == is_guess
