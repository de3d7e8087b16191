"""Which labels mean the asked one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tablewright.corpus.labels import match_labels
from tablewright.corpus.stated import LabelUse
from tablewright.corpus.vocabulary import holds, writings


def use(label: str, context: str = "", base: str = "") -> LabelUse:
    return LabelUse(label=label, context=context, base=base)


def labels(asked: str, uses: Sequence[LabelUse], base: str = "") -> list[str]:
    return [match.label for match in match_labels(asked, uses, base=base)]


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ("quantity", "Qty"),
        ("qty", "Quantities"),
        ("tire size", "Tyre size"),
        ("colour", "Color"),
        ("date of birth", "DOB"),
        ("vendor", "Merchant"),
        ("company", "Company name"),
        ("mass", "Net weight"),
        ("total", "Grand total"),
        ("total", "TOTAL AMOUNT (RM)"),
        ("maximum temperature", "Max. temp."),
        ("wide", "Width (mm)"),
        ("number of employees", "Employees"),
        ("noct", "Nominal operating cell temperature"),
        ("nominal operating cell temperature", "NOCT"),
        ("open circuit voltage", "Voc"),
        ("voltage at maximum power", "Vmpp"),
        ("Impp", "Imp"),
        ("cells in series", "Cells in series"),
        ("temperature coefficient of Pmax", "Tk (Pmpp)"),
        ("model", "Model/Series"),
        ("date", "Date & Time"),
        ("total hours", "Time (Total, all vessels)"),
        ("order number", "Ordernummer"),
        ("invoice date", "Rechnungsdatum"),
    ],
)
def test_one_meaning_has_many_labels(asked: str, label: str) -> None:
    (match,) = match_labels(asked, [use(label)])
    assert match.how == "words"


@pytest.mark.parametrize(
    ("asked", "label"),
    [
        ("width", "Height"),
        ("total", "Subtotal"),
        ("total", "Total qty"),
        ("power", "Power consumption per day"),
        ("vendor", "Vendor no."),
        ("birth", "Date of birth registration office"),
        ("maximum temperature", "Minimum temperature"),
        ("net weight", "Gross weight"),
        ("open circuit voltage", "Short circuit current"),
        ("seller address", "Buyer address"),
        ("Pmax", "Voltage at Pmax"),
        ("stc", "Pmpp (STC)"),
        ("series", "Date of series/model approval"),
    ],
)
def test_labels_that_share_a_word_may_mean_something_else(asked: str, label: str) -> None:
    assert labels(asked, [use(label)]) == []


def test_an_abbreviation_is_learned_from_a_label_that_explains_it() -> None:
    explained = use("Minimum order quantity (MOQ)")
    assert labels("minimum order quantity", [use("MOQ"), explained])[:2] == ["Minimum order quantity (MOQ)", "MOQ"]
    assert labels("gross internal area", [use("GIAR"), use("Gross internal area (GIAR)")])[1:] == ["GIAR"]
    assert labels("gross internal area", [use("GIAR")]) == []


def test_a_property_in_volts_is_never_a_power() -> None:
    uses = [use("Power", base="V"), use("Power", base="W"), use("Rating", base="W")]
    found = match_labels("power", uses)
    assert {match.base for match in found} == {"W"}
    assert found[0].label == "Power"


def test_the_unit_of_the_asked_value_must_fit() -> None:
    assert labels("capacity", [use("Capacity", base="kg"), use("Capacity", base="m³")], base="m³") == ["Capacity"]


def test_the_unit_says_what_a_label_leaves_out() -> None:
    uses = [use("PTC rating", base="W"), use("Load rating", base="kg")]
    assert labels("PTC power", uses) == ["PTC rating"]
    assert labels("PTC rating", [use("PTC power", base="W"), use("Load", base="W")]) == ["PTC power"]


def test_the_heading_above_counts_but_less_than_the_label() -> None:
    stc, noct = "Electrical data at STC (1000 W/m2)", "Electrical data at NOCT"
    uses = [
        use("Maximum power (Pmax)", stc, "W"),
        use("PTC rating", stc, "W"),
        use("Maximum power (Pmax)", noct, "W"),
        use("STC power (W)", base="W"),
    ]
    found = match_labels("STC power", uses)
    assert [(match.label, match.context) for match in found] == [
        ("STC power (W)", ""),
        ("Maximum power (Pmax)", stc),
    ]


def test_without_a_qualifier_the_standard_one_is_meant() -> None:
    found = match_labels("power", [use("PTC power", base="W"), use("STC power", base="W")])
    assert [match.label for match in found] == ["STC power", "PTC power"]
    assert found[0].score > found[1].score


def test_initials_of_a_heading_are_known() -> None:
    found = match_labels("STC power", [use("Power", "Under standard test conditions it delivers", "W")])
    assert [match.how for match in found] == ["words"]


def test_a_label_that_says_less_than_was_asked_matches_partly() -> None:
    (match,) = match_labels("merchant address", [use("Address")])
    assert match.how == "partly"
    assert labels("merchant address", [use("Email address")]) == []


def test_what_the_things_are_called_says_nothing_in_a_label() -> None:
    uses = [use("Invoice date"), use("Due date")]
    plain, about = match_labels("date", uses), match_labels("date", uses, about="invoice")
    assert plain[0].score == plain[1].score
    assert (about[0].label, about[0].score > about[1].score) == ("Invoice date", True)


def test_vectors_speak_only_where_words_find_nothing() -> None:
    alike = {"Lawyer": 0.65, "Physician": 0.2, "Attorney fee": 0.9}
    (match,) = match_labels("attorney", [use(label) for label in alike], alike=alike)
    assert (match.label, match.how) == ("Lawyer", "likeness")
    (match,) = match_labels("attorney", [use("Attorneys"), use("Lawyer")], alike=alike)
    assert (match.label, match.how) == ("Attorneys", "words")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("4x TYRES 205/55", "tire"),
        ("Mono-crystalline silicon", "monocrystalline"),
        ("Mono-c-Si", "monocrystalline"),
        ("Thin-film", "thin film"),
        ("Batteries not included", "battery"),
    ],
)
def test_words_stand_in_a_text_in_any_spelling(text: str, asked: str) -> None:
    assert holds(text, asked)


def test_words_that_only_begin_alike_do_not_stand_in_a_text() -> None:
    assert not holds("tired of waiting", "tire")
    assert not holds("film, thin", "thin film")
    assert not holds("anything", "")


def test_an_index_of_stems_is_asked_for_each_spelling() -> None:
    assert "tyre" in writings("tires")
    assert "mono crystalline" in writings("monocrystalline")


def test_a_date_that_is_called_otherwise_is_another_date() -> None:
    assert labels("date", [use("Report Date"), use("Date & Time")]) == ["Date & Time", "Report Date"]


def test_the_heading_that_is_only_about_the_asked_goes_before_one_that_says_more() -> None:
    found = match_labels("crew age", [use("Age", "Student Crew Information"), use("Age", "Crew Information")])
    assert [match.context for match in found] == ["Crew Information", "Student Crew Information"]
