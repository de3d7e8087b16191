"""Dates in texts, whole, partial, and in periods."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field
from tablewright.values.coerce import coerce_value
from tablewright.values.currencies import CURRENCY_SYMBOLS
from tablewright.values.dates import format_iso_date, read_date, read_dates

DAY = Field(name="day", type="date")


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        *(
            (text, "2021-05-03")
            for text in (
                "2021-05-03", "2021/05/03", "2021.05.03", "2021-5-3", "20210503", "03.05.2021", "3 May 2021",
                "3rd May 2021", "May 3rd, 2021", "May 3, 2021", "3rd of May, 2021", "the 3rd of May 2021",
                "3-May-2021", "03-MAY-2021", "3May2021", "2021 May 3", "3. Mai 2021", "3 de mayo de 2021",
                "3 mai 2021", "3 maggio 2021", "3 maja 2021", "2021年5月3日", "2021년 5월 3일", "3 мая 2021",
                "٢٠٢١-٠٥-٠٣", "Monday, 3 May 2021", "Mon May 3 2021", "2021-05-03T10:00:00Z",
                "2021-05-03T10:00:00.123+02:00", "2021-05-03 10:00", "10:31:00 3 May 2021", "May 3, 2021 at 5pm",
                "3 May 2021, 12:31 PM", "May 3 , 2021", "3rd day of May, 2021",
            )
        ),
        ("25/12/2021", "2021-12-25"),
        ("12/25/2021", "2021-12-25"),
        ("3/3/2021", "2021-03-03"),
        ("29 February 2020", "2020-02-29"),
        ("1er janvier 2020", "2020-01-01"),
        ("May 2021", "2021-05"),
        ("2021-05", "2021-05"),
        ("05/2021", "2021-05"),
        ("Sept. 1999", "1999-09"),
        ("dezembro de 1999", "1999-12"),
        ("2021年5月", "2021-05"),
        ("2021", "2021"),
        ("in 1998", "1998"),
        ("1066", "1066"),
    ],
)  # fmt: skip
def test_a_clear_date_is_high(text: str, iso: str) -> None:
    coerced = coerce_value(text, DAY)
    assert (coerced.value, coerced.label) == (iso, "high")


@pytest.mark.parametrize(
    ("text", "iso", "label"),
    [
        ("03/05/2021", "2021-05-03", "medium"),
        ("03-05-2021", "2021-05-03", "medium"),
        ("25/12/18", "2018-12-25", "medium"),
        ("3 May 85", "1985-05-03", "medium"),
        ("May '05", "2005-05", "medium"),
        ("FY2022", "2022", "medium"),
        ("FY21", "2021", "medium"),
        ("Q3 2021", "2021", "medium"),
        ("third quarter of 2021", "2021", "medium"),
        ("spring 2021", "2021", "medium"),
        ("since 2010", "2010", "medium"),
        ("2010–present", "2010", "medium"),
        ("c. 1850", "1850", "medium"),
        ("founded in 1998 in Ohio", "1998", "medium"),
        ("The 1998 film", "1998", "medium"),
        ("born on 3 May 1950 in Rome", "1950-05-03", "medium"),
        ("1995, 1998", "1995", "low"),
        ("1990s", "1990", "low"),
        ("it has 2000 employees", "2000", "low"),
    ],
)
def test_a_date_that_had_to_be_chosen_is_not_high(text: str, iso: str, label: str) -> None:
    coerced = coerce_value(text, DAY)
    assert (coerced.value, coerced.label) == (iso, label)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2010–2015", "2010", "2015"),
        ("2010-2015", "2010", "2015"),
        ("from 2010 to 2015", "2010", "2015"),
        ("between 2010 and 2012", "2010", "2012"),
        ("1939–45", "1939", "1945"),
        ("2012/13", "2012", "2013"),
        ("3–5 May 2021", "2021-05-03", "2021-05-05"),
        ("May 3–5, 2021", "2021-05-03", "2021-05-05"),
        ("May–June 2021", "2021-05", "2021-06"),
        ("3 May – 5 June 2021", "2021-05-03", "2021-06-05"),
        ("May 3 - June 5, 2021", "2021-05-03", "2021-06-05"),
        ("12 August 1990 – 3 September 1991", "1990-08-12", "1991-09-03"),
    ],
)
def test_a_period_gives_its_beginning_and_keeps_its_end(text: str, first: str, last: str) -> None:
    (date,) = read_dates(text)
    assert (date.iso, date.last) == (first, last)
    assert coerce_value(text, DAY).label == "medium"


@pytest.mark.parametrize(
    "text",
    [
        "2021-02-30", "31/02/2021", "13/13/2021", "29 February 2021", "January 32, 2021", "yesterday", "3 days ago",
        "May 3", "12", "$1998", "1,998", "1620000000", "44 BC", "v1.2.2021", "19th century", "2999", "1998%",
        "1430 EST", "1200 UTC",
    ],
)  # fmt: skip
def test_what_is_no_date_gives_none(text: str) -> None:
    assert read_date(text) is None


def test_two_dates_joined_by_and_are_no_period() -> None:
    assert [date.last for date in read_dates("1995 and 1998")] == ["", ""]


def test_the_note_names_the_other_reading() -> None:
    assert coerce_value("03/05/2021", DAY).note == "03/05 may be day or month first; 2021-03-05 is the other reading"


def test_the_span_is_the_place_in_the_text() -> None:
    text = "It was opened on May 3rd, 2021 by the mayor."
    date = read_date(text)
    assert date is not None
    assert text[date.start : date.end] == "May 3rd, 2021"


def test_a_date_is_only_as_exact_as_its_parts() -> None:
    assert format_iso_date(2021) == "2021"
    assert format_iso_date(2021, 5) == "2021-05"
    assert format_iso_date(2021, 2, 29) is None
    assert format_iso_date(0) is None


@pytest.mark.parametrize("symbol", CURRENCY_SYMBOLS)
def test_an_amount_in_any_currency_is_no_year(symbol: str) -> None:
    assert read_dates(f"Price {symbol}1990") == ()
    assert read_dates(f"Price {symbol}2019-20") == ()


def test_a_decade_is_doubtful_and_named_as_it_is_written() -> None:
    date = read_date("the 1990s")
    assert date is not None
    assert (date.iso, date.doubtful, date.note) == ("1990", True, "1990s is a decade")
