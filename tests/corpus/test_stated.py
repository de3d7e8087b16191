"""What a document states for a field, and what its form leaves blank."""

from __future__ import annotations

import pytest

from tablewright.corpus.annotate.annotate import annotate
from tablewright.corpus.parse.parsed import Parsed
from tablewright.corpus.stated import Answered, answer_of, blanks_of, is_form
from tablewright.store.properties import PropertyAt
from tablewright.table.coerce import coerce
from tablewright.table.evidence import follows
from tablewright.table.model import Field

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
        for number, each in enumerate(annotate(Parsed(text=text, media="txt")))
        if each.shape == "fact"
    ]


def answer(field: Field, text: str) -> Answered:
    """With the promise that what is stated passes the evidence rule."""
    facts = facts_of(text)
    found = answer_of(field, text, facts, blanks_of(text, facts))
    if found.stated is not None:
        assert follows(found.stated.value, text[found.stated.start : found.stated.end], field)
    return found


def value(field: Field, text: str) -> object:
    stated = answer(field, text).stated
    return None if stated is None else coerce(stated.value, field).value


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field(name="Vessel model"), "LQ-40/B"),
        (Field(name="Engine model"), "V8-2"),
        (Field(name="Skipper age", type="number"), 41),
        (Field(name="Skipper total hours", type="number"), 2310),
        (Field(name="City"), "Port Merrin"),
        (Field(name="State"), "OH"),
        (Field(name="State or country"), "OH"),
        (Field(name="Country"), None),
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
    assert answer(Field(name=name), REPORT) == Answered(blank=label)


def test_a_value_under_a_lesser_label_does_not_fill_a_blank() -> None:
    blank = REPORT.replace("Model/Series: LQ-40/B", "Vessel Model/Series:")
    assert answer(Field(name="Vessel model"), blank) == Answered(blank="Vessel Model/Series")


def test_a_lone_label_in_a_text_of_few_is_not_taken_for_a_blank() -> None:
    text = "Account number:\nInvoice Summary\n296664039561\nInvoice date: 3 May 2019\n"
    assert answer(Field(name="Account number"), text) == Answered()
    assert not is_form(facts_of(text))


def test_a_place_abroad_has_a_country_and_no_state() -> None:
    abroad = REPORT.replace("Port Merrin, OH", "Boquete, Panama")
    assert value(Field(name="Country"), abroad) == "Panama"
    assert value(Field(name="State"), abroad) is None
    assert value(Field(name="State or country"), abroad) == "Panama"


INVOICE = """Harbour Tools GmbH
Hafenstraße 3, 20457 Hamburg
Rechnung
Rechnungsnr.: 2019-4711
Rechnungsdatum: 03.05.2019
Zahlungsziel: 17.05.2019
Nettobetrag: 1.100,00 €
MwSt. 19%: 209,00 €
Gesamtbetrag: 1.309,00 €
USt-IdNr. DE 123 456 789
"""


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field(name="Amount", type="number"), 1309),
        (Field(name="Amount untaxed", type="number"), 1100),
        (Field(name="Net amount", type="number"), 1100),
        (Field(name="Currency"), "EUR"),
        (Field(name="VAT number"), "DE 123 456 789"),
        (Field(name="Date", type="date"), "2019-05-03"),
        (Field(name="Invoice date", type="date"), "2019-05-03"),
        (Field(name="Due date", type="date"), "2019-05-17"),
        (Field(name="Tax", type="number"), 209),
        (Field(name="Vendor name"), "Harbour Tools GmbH"),
        (Field(name="Invoice number"), "2019-4711"),
        (Field(name="Issuer"), "Harbour Tools GmbH"),
    ],
)
def test_an_invoice_states_its_amounts_by_what_they_are_called(field: Field, expected: object) -> None:
    assert value(field, INVOICE) == expected


def test_the_parties_of_an_agreement_are_one_list() -> None:
    text = (
        "MUTUAL NON-DISCLOSURE AGREEMENT\n"
        "This Agreement is made as of May 4, 2005 by and between Harbour Tools, Inc., a Delaware corporation "
        "(“Company”), and Zoe Lindqvarn (“Employee”). WHEREAS the parties hereto wish to talk, each party hereby "
        "agrees to keep what it hears herein to itself.\n"
    )
    assert value(Field(name="Party", type="list"), text) == ("Harbour Tools, Inc.", "Zoe Lindqvarn")


def test_who_the_parties_are_is_not_guessed_from_other_sentences() -> None:
    text = "SERVICE AGREEMENT\nEither party may end it. The parties hereto agree hereby and herein. Whereas it ends.\n"
    assert answer(Field(name="Party", type="list"), text) == Answered(looked=True)
    assert not answer(Field(name="Colour"), text).looked
