"""Coercion as a whole: what each type of field takes from an answer, and what holds for every answer."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tablewright.domain.model import Field, FieldType, Money, Value
from tablewright.domain.text import format_value
from tablewright.values.coerce import VALUE_LIMITS, coerce_value
from tests.growth import grows_in_proportion, seconds

PLANS = ("Gold", "Gold Plus", "Silver", "Health Care", "None", "C", "C++")


def field(type: FieldType, unit: str = "", options: tuple[str, ...] = ()) -> Field:
    return Field(name="Answer field", type=type, unit=unit, options=options)


def read(raw: Any, type: FieldType, unit: str = "", options: tuple[str, ...] = ()) -> tuple[Value, str]:
    coerced = coerce_value(raw, field(type, unit, options))
    return coerced.value, coerced.label


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("42", 42, "high"),
        ("-3.25", -3.25, "high"),
        ("1,234", 1234, "high"),
        ("$1,234.50", 1234.5, "high"),
        ("5 million", 5_000_000, "high"),
        ("(1,200)", -1200, "high"),
        ("twelve", 12, "high"),
        ("minus five", -5, "high"),
        ("negative one", -1, "high"),
        ("2:21 min", 2.35, "medium"),
        ("Based on my research, 2010", 2010, "high"),
        ("The answer is **about 5k**.", 5000, "medium"),
        ("1.234", 1.234, "medium"),
        ("5m", 5_000_000, "medium"),
        ("12%", 12, "medium"),
        ("12 kg", 12, "medium"),
        ("over 500", 500, "medium"),
        ("10-20", 10, "medium"),
        ("between 10 and 20", 10, "medium"),
        ("5,000 employees in 30 countries", 5000, "medium"),
        ("500 (2019)", 500, "medium"),
        ("Not 2010 but 2012", 2010, "low"),
        ("In 2019 it had 5,000", 2019, "low"),
        ("3D", 3, "low"),
        ("COVID-19", None, "none"),
        ("release 1.2.3", None, "none"),
        ("many", None, "none"),
        ("1e999", None, "none"),
        pytest.param("9" * 5000, None, "none", id="digits too long to be an int"),
    ],
)
def test_a_number_field_takes_the_first_number(text: str, value: Value, label: str) -> None:
    assert read(text, "number") == (value, label)


@pytest.mark.parametrize(
    ("text", "unit", "value", "label"),
    [
        ("1,5 m", "cm", 150, "high"),
        ("3 ft 9 in", "m", 1.143, "high"),
        ("1 lb 15 oz", "kg", 0.8788, "high"),
        ("1 mile", "m", 1609, "high"),
        ("3 days", "s", 259200, "high"),
        ("2 decades", "years", 20, "high"),
        ("72 °F", "°C", 22.22, "high"),
        ("500 employees", "employees", 500, "high"),
        ("12 percent", "%", 12, "high"),
        ("$500", "USD", 500, "high"),
        ("$1.2 billion", "USD million", 1200, "high"),
        ("2:21 min", "s", 141, "high"),
        ("2:21 min", "min", 2.35, "high"),
        ("1:05 h", "min", 65, "high"),
        ("1:05:30 hours", "min", 65.5, "high"),
        ("150", "cm", 150, "medium"),
        ("about 5 m", "cm", 500, "medium"),
        ("10–20 kg", "kg", 10, "medium"),
        ("1134 × 1722 mm", "mm", 1134, "medium"),
        ("3 ft 11 in (119 cm)", "cm", 119, "medium"),
        ("weighs 5 kg, height 30 cm", "cm", 30, "medium"),
        ("5 tons", "kg", 4536, "medium"),
        ("500", "USD million", 500, "medium"),
        ("20 people", "kg", 20, "low"),
        ("400 W", "kg", None, "none"),
        ("0.5 GB", "%", None, "none"),
        ("€500", "USD", None, "none"),
        ("5 kg", "employees", None, "none"),
    ],
)
def test_a_number_field_with_a_unit_takes_the_quantity_in_that_unit(
    text: str, unit: str, value: Value, label: str
) -> None:
    assert read(text, "number", unit) == (value, label)


@pytest.mark.parametrize(
    ("text", "unit", "note"),
    [
        ("400 W", "kg", "W is not a unit that converts to kg"),
        ("1134 × 1722 mm", "mm", "1134 × 1722 mm has several dimensions"),
        ("10-20", "", "10-20 is a range; its lower end is kept"),
        ("1.234", "", "1.234 may be 1234"),
        ("12", "kg", "no unit in the text; taken as kg"),
        ("12 %", "%", ""),
    ],
)
def test_the_note_says_why_a_number_is_not_certain(text: str, unit: str, note: str) -> None:
    assert coerce_value(text, field("number", unit)).note == note


# ── yes or no, options ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        *((text, True, "high") for text in ("yes", "True", "1", "Y", "Yes.", "**yes**")),
        *((text, False, "high") for text in ("no", "FALSE", "0", "n")),
        *((text, True, "medium") for text in ("Yes, it has WiFi", "supported", "Included", "✓", "oui", "ja", "sí")),
        *((text, False, "medium") for text in ("No, only cable", "not supported", "✗", "nein", "It doesn't have it")),
        ("The warranty is not included.", False, "medium"),
        ("It is fully supported.", True, "medium"),
        ("Partially supported", True, "low"),
        ("Yes, but only in some models", True, "low"),
        *((text, None, "none") for text in ("partially", "It depends", "yes and no", "blue", "2", "unknown")),
        *((text, None, "none") for text in ("true or false", "True/False", "false and true", "no or yes", "T/F")),
        ("The text does not mention WiFi.", None, "none"),
    ],
)
def test_a_boolean_field_takes_yes_or_no(text: str, value: Value, label: str) -> None:
    assert read(text, "boolean") == (value, label)


@pytest.mark.parametrize(
    ("text", "value", "label"),
    [
        ("gold", "Gold", "high"),
        (" SILVER ", "Silver", "high"),
        ("Based on the page, silver.", "Silver", "high"),
        ("none", "None", "high"),
        ("The plan is Gold", "Gold", "medium"),
        ("the Gold Plus plan", "Gold Plus", "medium"),
        ("health-care", "Health Care", "medium"),
        ("healthcare", "Health Care", "medium"),
        ("Health", "Health Care", "medium"),
        ("written in C++", "C++", "medium"),
        ("Gold or Silver", "Gold", "low"),
        ("Bronze", "Bronze", "low"),
        ("Golden", "Golden", "low"),
        ("not Gold", "not Gold", "low"),
        ("n/a", None, "none"),
        ("It is a long story about metals of every kind, " * 3, None, "none"),
        ("bronze\nor tin", None, "none"),
    ],
)
def test_a_select_field_takes_one_of_its_options(text: str, value: Value, label: str) -> None:
    assert read(text, "select", options=PLANS) == (value, label)


def test_a_select_field_without_options_takes_text() -> None:
    assert read("anything at all", "select") == ("anything at all", "high")


def test_an_option_is_found_as_it_is_written_even_where_it_looks_like_something_else() -> None:
    for option in ('"quoted"', "Answer: 42", "n/a", "a", "A"):
        assert read(option, "select", options=('"quoted"', "Answer: 42", "n/a", "a", "A")) == (option, "high")


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_kept_as_it_is_but_for_the_space_around_it() -> None:
    assert read("  two  words\nand a line ", "text") == ("two  words\nand a line", "high")


def test_long_text_is_cut_at_the_end_of_a_word() -> None:
    value, label = read("word " * 1000, "text")
    assert isinstance(value, str)
    assert label == "medium"
    assert VALUE_LIMITS.text - 10 < len(value) <= VALUE_LIMITS.text
    assert value.endswith("word")


def test_long_text_is_never_cut_inside_a_character() -> None:
    value, _ = read("x" + "e\u0301" * 2000, "text")
    assert isinstance(value, str)
    assert len(value) <= VALUE_LIMITS.text
    assert value.endswith("\u0301")
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    value, _ = read(family * 1000, "text")
    assert isinstance(value, str)
    assert value == family * (len(value) // len(family))


def test_the_name_of_the_field_before_the_answer_is_left_out() -> None:
    founded = Field(name="Founding year", type="number")
    for text in ("Founding year: 1998", "The founding year is 1998", "**Founding Year:** 1998", "founding_year = 1998"):
        assert coerce_value(text, founded).value == 1998
        assert coerce_value(text, founded).label == "high"
    assert coerce_value("Founding year", Field(name="Founding year")).value == "Founding year"


# ── typed values ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("raw", "type", "value", "label"),
    [
        (5, "number", 5, "high"),
        (5.5, "number", 5.5, "high"),
        (True, "number", None, "none"),
        (math.nan, "number", None, "none"),
        (math.inf, "number", None, "none"),
        pytest.param(10**5000, "number", None, "none", id="an int too long to be shown"),
        (("5",), "number", 5, "high"),
        (True, "boolean", True, "high"),
        (0, "boolean", False, "high"),
        (2, "boolean", None, "none"),
        (["x", "X", " y "], "list", ("x", "y"), "high"),
        ((), "list", (), "high"),
        (Money(amount=5, currency="USD"), "money", Money(amount=5, currency="USD"), "high"),
        (Money(amount=math.nan), "money", None, "none"),
        (5, "text", "5", "high"),
        (2021, "date", "2021", "high"),
        (datetime.date(2021, 5, 3), "date", "2021-05-03", "high"),
        (None, "text", None, "none"),
        (object(), "text", None, "none"),
    ],
)
def test_values_that_have_a_type_already(raw: Any, type: FieldType, value: Value, label: str) -> None:
    assert read(raw, type) == (value, label)


def test_the_text_is_kept_as_it_came() -> None:
    assert coerce_value("  The answer is 5 ", field("number")).raw_value == "  The answer is 5 "
    assert coerce_value((1.50), field("number")).raw_value == "1.5"


# ── what holds for every answer ──────────────────────────────────────────────────────────────────────────────────────

FIELDS = [
    field("text"), field("number"), field("number", "cm"), field("number", "°C"), field("number", "%"),
    field("number", "USD"), field("number", "USD million"), field("number", "employees"), field("boolean"),
    field("select", options=PLANS), field("select"), field("date"), field("url"), field("list"), field("money"),
    field("money", "EUR"),
]  # fmt: skip
PIECES = st.lists(
    st.sampled_from(
        [
            *"""
            Answer: According|to Based|on|my|research, n/a not|specified 1 2 3/4 10-20 1.234 1,5 2021 2021-05-03
            03/05/2021 May – to $ € USD million k m cm kg ft ' " × x % °C ( ) [ ] ; , . - • * ** ` yes no Gold Silver
            None and https://x.org/a example.com http:// « » “ ” 1e5 ½ ١٢ − ~ about twelve hundred FY22 Q3 1990s 5'11"
            """.split(),
            *("\n", " ", "\u00a0", "\ud83d", "\u0301"),
        ]
    ),
    max_size=12,
).flatmap(lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words).replace("|", " ")))


def raw_words(text: str) -> str:
    return " ".join(text.split())


TEXTS = st.one_of(PIECES, st.text(max_size=80))


@settings(max_examples=250, deadline=None)
@given(text=TEXTS, field=st.sampled_from(FIELDS))
def test_any_text_gives_a_value_or_none_and_says_which(text: str, field: Field) -> None:
    coerced = coerce_value(text, field)
    assert (coerced.label == "none") == (coerced.value is None)
    assert coerced.raw_value == text
    assert bool(coerced.reason) == (coerced.label != "high")
    assert all(part in raw_words(text) for part in map(raw_words, coerced.removed))


@settings(max_examples=200, deadline=None)
@given(
    raw=st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.lists(st.one_of(st.text(), st.integers())),
        st.lists(st.text()).map(tuple), st.binary(), st.dates(), st.dictionaries(st.text(), st.text()),
        st.builds(Money, amount=st.floats(), currency=st.sampled_from(["", "USD"])),
    ),
    field=st.sampled_from(FIELDS),
)  # fmt: skip
def test_any_object_gives_a_value_or_none_and_says_which(raw: Any, field: Field) -> None:
    coerced = coerce_value(raw, field)
    assert (coerced.label == "none") == (coerced.value is None)


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, field=st.sampled_from(FIELDS))
def test_a_value_that_was_read_reads_back_as_itself(text: str, field: Field) -> None:
    value = coerce_value(text, field).value
    assume(value is not None)
    assert coerce_value(format_value(value), field).value == value


FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(alphabet=st.characters(categories=["Ll", "Lu"]), min_size=3, max_size=12)


@settings(max_examples=200, deadline=None)
@given(number=st.one_of(st.integers(-(10**299), 10**299), FINITE))
def test_a_shown_number_reads_back(number: int | float) -> None:
    coerced = coerce_value(format_value(number), field("number"))
    assert coerced.value == number
    assert coerced.label == "high" or coerced.note.endswith(
        f"may be {format_value(number).lstrip('-').replace('.', '')}"
    )


@given(number=st.one_of(st.integers(-(10**12), 10**12), FINITE), unit=st.sampled_from(["cm", "%", "kg", "°C", "seats"]))
def test_a_shown_number_reads_back_in_a_field_with_a_unit(number: int | float, unit: str) -> None:
    assert coerce_value(format_value(number), field("number", unit)).value == number


@given(value=st.booleans())
def test_a_shown_boolean_reads_back(value: bool) -> None:
    assert read(format_value(value), "boolean") == (value, "high")


@given(day=st.dates(), known=st.sampled_from([4, 7, 10]))
def test_a_shown_date_reads_back(day: datetime.date, known: int) -> None:
    assume(known == 10 or 1000 <= day.year < 2200)
    assert read(day.isoformat()[:known], "date") == (day.isoformat()[:known], "high")


@given(items=st.lists(WORDS, max_size=6, unique_by=str.casefold).map(tuple))
def test_a_shown_list_reads_back(items: tuple[str, ...]) -> None:
    items = tuple(item for item in items if coerce_value(item, field("text")).value == item)
    assert read(format_value(items), "list") == (items, "high")


def test_a_long_list_reads_back_whole() -> None:
    items = tuple(f"item {number}" for number in range(7000))
    assert read(format_value(items), "list") == (items, "high")
    assert read(list(items), "list") == (items, "high")
    assert read(str(list(items)).replace("'", '"'), "list") == (items, "high")


@pytest.mark.parametrize(
    "items", [(), ("a; b",), ("a; b", "c"), ("a, b", "c"), ("two\nlines",), ("[x]", "y"), ("- a", "1. b")]
)
def test_a_shown_list_of_awkward_items_reads_back(items: tuple[str, ...]) -> None:
    assert read(format_value(items), "list") == (items, "high")


@given(
    cents=st.integers(-(10**13), 10**13),
    whole=st.booleans(),
    currency=st.sampled_from(["USD", "EUR", "GBP", "JPY", "CHF"]),
)
def test_shown_money_reads_back(cents: int, whole: bool, currency: str) -> None:
    money = Money(amount=cents if whole else cents / 100, currency=currency)
    assert read(str(money), "money") == (money, "high")
    assert read(str(money), "money", currency) == (money, "high")


@pytest.mark.parametrize("url", ["https://example.com", "http://münchen.de/ä?q=1#x", "https://a.b.co.uk:8080/x_(y)"])
def test_a_shown_url_reads_back(url: str) -> None:
    assert read(format_value(url), "url") == (url, "high")


# ── speed ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("42", "number"),
        ("-3.25", "number"),
        ("2021-05-03", "date"),
        ("https://example.com/a", "url"),
        ("Paris", "text"),
    ],
)
def test_plain_values_take_the_short_way(text: str, type: FieldType) -> None:
    """A grammar takes several times as long, on whatever machine."""

    def read(many: str) -> Callable[[int], object]:
        return lambda size: [coerce_value(many, field(type)) for _ in range(size)]

    plain, worded = (min(seconds(read(each), 200) for _ in range(20)) for each in (text, f"Answer: {text}"))
    assert plain < worded / 2


HOSTILE = {
    text[:12].encode("unicode_escape").decode(): (text * 100_000)[:100_000]
    for text in (
        "1", "1 ", "1.", "1,", "1.234 ", "1-", "1/", "1e", "5' ", "5 x ", "1 1/2 ", "5 km/h·", "$1 ", '"', "«‹", "*",
        "[", "(", " ", "a ", "a.", "a-", "a1", "a, ", "a: ", ";", "- a\n", "Answer: ", "based on the ", "“", "not ",
        "According to a, ", "i could not ", "it is not ", "the the text ", "3 May 2021 ", "May ", "2021 ", "www.",
        "[a](", "one hundred and ", "http://", "yes and no ", "e\u0301", "\ud83d", "Gold ", "here is ",
    )
}  # fmt: skip
HOSTILE["noise"] = "".join(random.Random(7).choices("0123456789.,-/ $€'\"abckmKMBx×°%()\n:;[]", k=100_000))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_little(name: str) -> None:
    coerce_value("1 in", field("number", "cm"))  # pint's import is not what is measured
    for wanted in FIELDS:
        for length in (100_000, 3_990, 399):
            costs = grows_in_proportion(lambda size, wanted=wanted: coerce_value(HOSTILE[name][:size], wanted), length)  # type: ignore[misc]
            assert costs, (wanted.type, wanted.unit, length)
