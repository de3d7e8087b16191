"""When two values are the same, for each purpose, and that all who compare values ask the one function that knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.citations.evidence import find_proving_rule
from tablewright.citations.figures import find_unproved_figures
from tablewright.conditions.compare import compare_value
from tablewright.domain.model import Field, Money, Value
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.reader import Candidate
from tablewright.strategies.findings import check_candidates, find_ambiguity, resolve_value
from tablewright.values.coerce import coerce_value
from tablewright.values.comparable_value import parse_comparable
from tablewright.values.same_value import Purpose, read_length, read_mass, same_value

STAFF = Field(name="Staff", type="number")
PRICE = Field(name="Price", type="money")
MILLION, FOUR_THOUSAND_MORE = 1_000_000, 1_004_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1987, 1987, True),
        (1987, 1988, False),
        (249, 250, False),
        (249, 250.0, False),
        ("1987", 1987, True),
        (14500, 14550, True),
        (14500, 15000, False),
        ("Irving", "Irving, Texas", True),
        ("Springfield", "West Springfield", True),
        ("York", "New Yorkshire", False),
        ("Public", "2-year, Public, rural", True),
        ("2-year, Public", "Public, 2-Year", True),
        ("http://www.acme.example", "https://acme.example/", True),
        (Money(amount=10, currency="EUR"), Money(amount=10), True),
        (Money(amount=10, currency="EUR"), Money(amount=10, currency="USD"), False),
        (True, True, True),
        (True, 1, False),
        (("a", "b"), ("a", "b"), True),
        ("6' 8\"", "6-8 / 2.03", True),
        ("6' 8\"", "6 ft 7 in (2.01 m)", False),
        ("240 lbs", "240", True),
        ("240 lbs", "242 lb (110 kg)", False),
        ("242 lb", "110 kg", True),
        ("2 rooms", "3 rooms", False),
        ("3", "3 million", False),
        ("12", "12 Monkeys", False),
    ],
)
def test_when_two_sources_give_the_same_value(one: Value, other: Value, same: bool) -> None:
    assert same_value(one, other, "merging") is same
    assert same_value(other, one, "merging") is same


@pytest.mark.parametrize(
    ("purpose", "one", "other", "is_same"),
    [
        ("merging", MILLION, FOUR_THOUSAND_MORE, True),
        ("restating", MILLION, FOUR_THOUSAND_MORE, True),
        ("proving", MILLION, FOUR_THOUSAND_MORE, False),
        ("proving", MILLION, MILLION + 1, False),
        ("adding", MILLION, FOUR_THOUSAND_MORE, False),
        ("rounding", MILLION, FOUR_THOUSAND_MORE, False),
        ("converting", MILLION, FOUR_THOUSAND_MORE, False),
        ("restating", 119.38, 119, True),
        ("restating", 2.03, 2.2, False),
        ("proving", 1600 * 0.001, 1.6, True),
        ("proving", 1 / 3, 0.333333, True),  # a fraction without an end has six digits
        ("proving", 1 / 3, 0.33, False),
        ("adding", 0.1 + 0.2, 0.3, True),
        ("adding", 12_345_678.91 - 12_345_678.9 - 0.01, 0.0, True),
        ("rounding", 12.46, 12.5, True),
        ("rounding", 12.44, 12.5, False),
        ("rounding", 0.125, 0.12, True),
        ("converting", 907.18474, 907.2, True),
        ("converting", 1.609344, 2, False),  # a mile is no two kilometres
        ("converting", 1609.344, 1609, True),
        ("converting", 0.0000012345, 0.00000123, True),
    ],
)
def test_each_purpose_has_its_own_tolerance(purpose: Purpose, one: float, other: float, is_same: bool) -> None:
    assert same_value(one, other, purpose) is is_same
    if purpose not in ("rounding", "converting"):
        assert same_value(other, one, purpose) is is_same


def test_decimals_that_are_written_count_even_if_they_are_zeros() -> None:
    assert same_value(12.46, 12.5, "rounding")
    assert not same_value(12.46, 12.5, "rounding", decimals=2)
    assert same_value(146_207.0, 146_000, "rounding", decimals=-3)
    assert find_unproved_figures("The mean is 12.00.", [], [12.4]) == ["12.00"]
    assert find_unproved_figures("The mean is 12.00.", [], [12.004]) == []


# ── all callers agree ────────────────────────────────────────────────────────────────────────────────────────────────


def is_merged(field: Field, one: str, other: str) -> bool:
    """Return True if two sites that state the two values do not contradict each other."""
    texts = (f"{field.name}: {one}", f"{field.name} | {other} | as of today")
    sources = [
        Retrieved(origin=f"http://{name}.example/", text=text, title="", domain=f"{name}.example")
        for name, text in zip(("acme", "register"), texts, strict=True)
    ]
    found = [
        Candidate(field=field.name, value=value, source=place, start=0, end=len(text), score=0.9, how="label")
        for place, (value, text) in enumerate(zip((one, other), texts, strict=True))
    ]
    finding = resolve_value(field, check_candidates(field, found, sources))
    assert finding is not None
    return not finding.conflict


def is_proved_everywhere(field: Field, one: str, other: str) -> set[bool]:
    """Return what the evidence rule, the figures of a sentence, a condition and the check for a second reading say."""
    values = [coerce_value(text, field).value for text in (one, other)]
    return {
        bool(find_proving_rule(one, f"It is {other} today", field)),
        not find_unproved_figures(f"It is {one}.", [f"It is {other} today."]),
        compare_value(parse_comparable(other), "=", [parse_comparable(one)]).truth == "match",
        same_value(values[0], values[1], "proving"),
        one == other or not find_ambiguity(field, values[0], f"{one} in one place, {other} in another"),
    }


@given(one=st.integers(min_value=3_000, max_value=10**9), apart=st.sampled_from([0, 1, 4, 40, 400]))
def test_whoever_proves_a_figure_wants_that_very_figure(one: int, apart: int) -> None:
    other = one + one * apart // 1000
    assert is_proved_everywhere(STAFF, f"{one:,}", f"{other:,}") == {one == other}


def test_a_number_four_thousandths_larger_is_merged_and_not_proved() -> None:
    assert is_merged(STAFF, "1,000,000", "1,004,000")
    assert not is_merged(STAFF, "1,000,000", "1,040,000")
    assert is_proved_everywhere(STAFF, "1,000,000", "1,004,000") == {False}


@given(amount=st.integers(min_value=2, max_value=10**6), currencies=st.permutations(["EUR", "USD", "GBP", "KWD"]))
def test_an_amount_in_another_currency_is_never_the_same(amount: int, currencies: list[str]) -> None:
    one, other = (f"{amount} {currency}" for currency in currencies[:2])
    values = [coerce_value(text, PRICE).value for text in (one, other)]
    purposes: tuple[Purpose, ...] = ("merging", "restating", "proving", "adding", "rounding", "converting")
    assert not any(same_value(values[0], values[1], purpose) for purpose in purposes)
    assert not is_merged(PRICE, one, other)
    assert not find_proving_rule(one, f"It costs {other}", PRICE)
    assert compare_value(parse_comparable(other), "=", [parse_comparable(one)]).truth == "not stated"
    assert find_ambiguity(PRICE, values[0], f"{one} or {other}")


@pytest.mark.parametrize(("word", "truth"), [("Yes", True), ("No", False), ("✓", True), ("Nein", False)])
def test_a_yes_behind_its_label_is_read_alike(word: str, truth: bool) -> None:
    field = Field(name="Waterproof", type="boolean")
    value = coerce_value(f"Waterproof: {word}", field).value
    assert same_value(value, truth, "proving")
    assert same_value(parse_comparable(word, "Waterproof").truth, truth, "proving")
    assert find_proving_rule("yes" if truth else "no", f"Waterproof: {word}", field) == "stated"
    assert not find_proving_rule("no" if truth else "yes", f"Waterproof: {word}", field)
    assert not same_value(truth, int(truth), "merging")


# ── one length, one mass ─────────────────────────────────────────────────────────────────────────────────────────────

EIGHTY_INCHES = ["6'8\"", "6'8'", "6 ft 8 in", "6 ft 8 in (2.03 m)", "6-foot-8", "80 in", "2.03 m", "2.03m", "203 cm"]


@pytest.mark.parametrize("text", [*EIGHTY_INCHES, "6-8", "6-8 / 2.03", "6-8 (203 cm)"])
def test_one_length_is_the_same_in_every_writing(text: str) -> None:
    length, other = read_length(text, feet_and_inches=True), read_length("80 in")
    assert length is not None
    assert other is not None
    assert length.value == pytest.approx(2.032, abs=0.003)
    assert length.same(other)


@pytest.mark.parametrize(("one", "other"), [("6-7", "6-8"), ("6-7", "2.03 m"), ("2.01 m", "2.02 m"), ("6'", "6'2\"")])
def test_lengths_that_differ_are_not_the_same(one: str, other: str) -> None:
    first, second = (read_length(text, feet_and_inches=True) for text in (one, other))
    assert first is not None
    assert second is not None
    assert not first.same(second)


@pytest.mark.parametrize(
    "text", ["6-8", "6-8 m", "5 ft or 7 ft", "2 m × 3 m", "240 lb", "80", "6-8 / 240", "tall", "", "6 ft 8 in (1.80 m)"]
)
def test_what_is_not_plainly_one_length_is_none(text: str) -> None:
    assert read_length(text) is None


def test_a_dash_stands_for_feet_and_inches_only_where_told_and_possible() -> None:
    assert read_length("5-10") is None
    assert read_length("5-10", feet_and_inches=True) is not None
    assert read_length("5-12", feet_and_inches=True) is None
    assert read_length("5-10 storeys", feet_and_inches=True) is None
    assert read_length("5-10 cm", feet_and_inches=True) is None


@pytest.mark.parametrize(("text", "is_one"), [("3 lb (1.4 kg)", True), ("3 lb (1.5 kg)", False)])
def test_all_who_read_a_quantity_in_two_units_agree_if_it_is_one(text: str, is_one: bool) -> None:
    """1.4 kg are 2.9 % more than three pounds, which rounding to two digits explains."""
    field = Field(name="Weight", type="number", unit="kg")
    assert (read_mass(text) is not None) is is_one
    assert (not find_ambiguity(field, coerce_value(text, field).value, text)) is is_one
    assert ("several quantities" not in coerce_value(text, field).reason) is is_one


def test_a_mass_is_the_same_in_pounds_and_kilograms() -> None:
    pounds, kilograms, stated_twice = read_mass("242 lb"), read_mass("110 kg"), read_mass("242 lb (110 kg)")
    assert pounds is not None
    assert kilograms is not None
    assert pounds == stated_twice
    assert pounds.same(kilograms)
    lighter = read_mass("240", "lb")
    assert lighter is not None
    assert lighter.value == pytest.approx(108.862, abs=0.001)
    assert not lighter.same(pounds)
    assert read_mass("240") is None
    assert read_mass("240-250 lb") is None
    assert read_mass("6 ft 8 in") is None
