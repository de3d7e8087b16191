"""A document that is read for itself: what it states, and what code works out from its parts."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.decision import InvalidReply
from tablewright.llm.tasks.read import ReadDocument, RowReading, RowToRead

BILL = Retrieved(
    origin="d1",
    kind="document",
    title="Bill of the boatyard",
    text="Bill\nNew keel bolts   3 pieces at 1,450.50 EUR\nPaint   12.00 EUR\nLabour   8 h at 55 EUR\nPaid in cash\n",
)
TOTAL, LABOUR, PAID = (
    parse_field("Total:money=What does it come to?"),
    parse_field("Hours:number(h)"),
    parse_field("Paid:boolean=Has it been paid?"),
)


def asked(*fields: Any, room: int = 20_000) -> RowToRead:
    return RowToRead(subject=Subject(name=""), fields=fields, sources=(BILL,), room=room)


def read(value: str, calculation: str, *quotes: str, room: int = 20_000) -> RowReading:
    reading = asked(TOTAL, room=room)
    said = {"value": value, "basis": "computed", "quotes": list(quotes), "calculation": calculation, "alternatives": []}
    return ReadDocument().check(reading, ReadDocument().prompt(reading).reply.model_validate({"Total": [said]}))


ITEMS = ("3 pieces at 1,450.50 EUR\nPaint   12.00 EUR", "8 h at 55 EUR")


def test_the_prompt_asks_nobody_whether_the_document_is_the_row() -> None:
    prompt = ReadDocument().prompt(asked(TOTAL, PAID))
    assert "same_row" not in prompt.instructions + str(prompt.reply.model_json_schema())
    assert "- Total (money): What does it come to?" in prompt.instructions
    assert BILL.text in prompt.text
    assert "The row" not in prompt.text


def test_a_figure_whose_parts_are_stated_is_computed_and_keeps_its_parts() -> None:
    (found,) = read("4803.50 EUR", "3 * 1450.50 + 12 + 8 * 55", *ITEMS).found["Total"]
    assert (found.basis, found.converted_by) == ("computed", "3 * 1450.50 + 12 + 8 * 55")
    quotes = [BILL.text[span.start : span.end] for span in (found, *found.more)]
    assert quotes == list(ITEMS)


def test_a_result_may_be_rounded_as_it_is_written() -> None:
    (found,) = read("6.88 EUR", "55 / 8", "8 h at 55 EUR").found["Total"]
    assert found.basis == "computed"


def test_a_computed_value_stays_computed_though_the_document_also_states_it() -> None:
    (found,) = read("12 EUR", "12 * 1", "Paint   12.00 EUR").found["Total"]
    assert (found.basis, found.converted_by) == ("computed", "12 * 1")


def test_a_number_alone_is_no_calculation() -> None:
    (found,) = read("12 EUR", "12", "Paint   12.00 EUR").found["Total"]
    assert found.basis == "stated"


def due(value: str, calculation: str) -> RowReading:
    bill = Retrieved(origin="d2", kind="document", title="Bill", text="Bill of 4 March 2026\nTerms: 30 days net\n")
    reading = RowToRead(subject=Subject(name=""), fields=(parse_field("Due:date=When is it due?"),), sources=(bill,))
    said = {
        "value": value,
        "basis": "computed",
        "quotes": bill.text.splitlines(),
        "calculation": calculation,
        "alternatives": [],
    }
    return ReadDocument().check(reading, ReadDocument().prompt(reading).reply.model_validate({"Due": [said]}))


def test_a_date_is_computed_from_a_date_and_a_period() -> None:
    (found,) = due("2026-04-03", "2026-03-04 + 30 days").found["Due"]
    assert (found.basis, found.converted_by) == ("computed", "2026-03-04 + 30 days")
    with pytest.raises(InvalidReply, match="gives 2026-04-03, not '2026-04-04'"):
        due("2026-04-04", "2026-03-04 + 30 days")


@pytest.mark.parametrize(
    ("value", "calculation", "quotes", "problem"),
    [
        ("4803 EUR", "3 * 1450.50 + 12", ITEMS, "gives 4363.5, not '4803 EUR'"),
        ("4363.50 EUR", "3 * 1450.50 + 12", ITEMS[1:], "3 is not in the quoted texts"),
        ("4803.50 USD", "3 * 1450.50 + 12 + 8 * 55", ITEMS, "computed from amounts in EUR"),
        ("4803.50 EUR", "", ITEMS, "must be stated"),
        ("4803.50 EUR", "3 * 1450.50 + 12 + 8 * 55", ("3 pieces at 999 EUR",), "is not in text 1"),
    ],
)
def test_a_calculation_that_code_cannot_repeat_is_refused(
    value: str, calculation: str, quotes: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(InvalidReply, match=problem):
        read(value, calculation, *quotes)


def test_of_a_document_that_is_shown_in_part_nothing_is_added_up() -> None:
    with pytest.raises(InvalidReply, match="shown in part"):
        read("4803.50 EUR", "3 * 1450.50 + 12 + 8 * 55", *ITEMS, room=60)
