"""What a document states for a field, and what its form leaves blank."""

from __future__ import annotations

import pytest

from tablewright.citations.evidence import find_proving_rule
from tablewright.documents.annotate.annotate import annotate_parsed
from tablewright.documents.field_values import FieldAnswer, find_blank_fields, find_field_answer
from tablewright.domain.model import Field
from tablewright.extraction.layout.draft import Parsed
from tablewright.store.snapshot import PropertyAt
from tablewright.values.coerce import coerce_value

REPORT = """Incident Report
Location: Port Merrin, OH
Date & Time: 03/05/2019, 1430 EST
Vessel: Grey Heron
Damage: Minor
Vessel and Owner Information
Vessel Make: Lindqvarn
Model/Series: LQ-40/B
Engine Model/Series: V8-2
Year of Manufacture:
Hull Number: 77-12
Homeport:
Berths: 6
Call Sign: N/A
Skipper Information
Age: 41, Male
Sailing Time: 2310 hours (Total, all vessels), 120 hours (Total, this make), 12 hours (Last 90 days, all vessels)
Administrative Information
Report Date: 04/30/2019
Likely Cause and Findings
The board determines the likely cause of this incident to be:
The skipper did not see the buoy in the low sun. The glare was a contributing
factor.
Findings
Occurrence #1: ON WATER
"""


def facts_of(text: str) -> list[PropertyAt]:
    return [
        PropertyAt(
            document_id="d1",
            annotation_id=number,
            shape=each.shape,
            table=each.table,
            by=each.by,
            property=each.properties[0],
            page=None,
            start=each.start,
            end=each.end,
        )
        for number, each in enumerate(annotate_parsed(Parsed(text=text, media="txt")))
        if each.shape == "fact"
    ]


def answer(field: Field, text: str) -> FieldAnswer:
    """With the promise that what is stated passes the evidence rule."""
    facts = facts_of(text)
    found = find_field_answer(field, text, facts, find_blank_fields(text, facts))
    if found.stated is not None:
        assert find_proving_rule(found.stated.value, text[found.stated.start : found.stated.end], field)
    return found


def value(field: Field, text: str) -> object:
    stated = answer(field, text).stated
    return None if stated is None else coerce_value(stated.value, field).value


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field(name="Vessel model"), "LQ-40/B"),
        (Field(name="Engine model"), "V8-2"),
        (Field(name="Skipper age", type="number"), 41),
        (Field(name="Location"), "Port Merrin, OH"),
        (Field(name="Colour"), None),
        (
            Field(name="Likely cause"),
            "The skipper did not see the buoy in the low sun. The glare was a contributing factor.",
        ),
    ],
)
def test_a_form_states_what_its_labels_headings_and_places_say(field: Field, expected: object) -> None:
    assert value(field, REPORT) == expected


def test_the_order_of_dates_that_the_document_keeps_is_kept() -> None:
    date = Field(name="Date", type="date")
    assert value(date, REPORT) == "2019-03-05"
    assert value(date, REPORT.replace("04/30/2019", "30/04/2019")) == "2019-05-03"


@pytest.mark.parametrize(
    ("name", "label"),
    [("Year of manufacture", "Year of Manufacture"), ("Homeport", "Homeport"), ("Call sign", "Call Sign")],
)
def test_a_label_with_nothing_behind_it_is_left_blank(name: str, label: str) -> None:
    assert answer(Field(name=name), REPORT) == FieldAnswer(blank=label)


def test_a_value_under_a_lesser_label_does_not_fill_a_blank() -> None:
    blank = REPORT.replace("Model/Series: LQ-40/B", "Vessel Model/Series:")
    assert answer(Field(name="Vessel model"), blank) == FieldAnswer(blank="Vessel Model/Series")


def test_a_lone_label_in_a_text_of_few_is_not_taken_for_a_blank() -> None:
    text = "Account number:\nYear at a Glance\n296664039561\nInvoice date: 3 May 2019\n"
    assert answer(Field(name="Account number"), text) == FieldAnswer()


LETTER = """Harbour Tools
Order number: 4711
Order date: 3 May 2019
Delivery date: 17 May 2019
Amount: 1.309,00 €
"""


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field(name="Amount", type="number"), 1309),
        (Field(name="Delivery date", type="date"), "2019-05-17"),
        (Field(name="Number"), "4711"),
        (Field(name="Date", type="date"), None),  # there are two
        (Field(name="Amount", type="number", unit="kg"), None),
    ],
)
def test_a_label_that_says_more_counts_where_no_other_says_as_much(field: Field, expected: object) -> None:
    assert value(field, LETTER) == expected
