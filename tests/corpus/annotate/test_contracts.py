"""Agreements: who made them, from when, for how long, under which law."""

from __future__ import annotations

import pytest

from tests.corpus.annotate.reading import facts, read

REST = " WHEREAS the parties hereto agree herein and hereby, each party keeps the secrets of the other."


def agreement(opening: str, more: str = "") -> str:
    return f"NON-DISCLOSURE AGREEMENT\n{opening}{REST}\n{more}\n"


def parties(text: str) -> list[str]:
    found = [each.properties[0] for each in read(text) if each.by == "contract"]
    return [" ".join(each.value.raw.split()) for each in found if each.label == "Party"]


@pytest.mark.parametrize(
    ("opening", "names"),
    [
        (
            "This Agreement is made by and between Harbour & Sons, Inc. (“Harbour”) and Zoe Lindqvarn (“Employee”).",
            ["Harbour & Sons, Inc.", "Zoe Lindqvarn"],
        ),
        (
            "This Agreement is entered into between HARBOUR, a Nevada corporation, with its office in Port Merrin, and "
            "GREY HERON CORPORATION, a Delaware corporation.",
            ["HARBOUR", "GREY HERON CORPORATION"],
        ),
        (
            "PARTIES: Harbour, Inc (the “Company”)\n4690 Quay Drive\nPort Merrin, OH 21017\nHeron, Inc. (“Heron”)",
            ["Harbour, Inc", "Heron, Inc."],
        ),
        ("Each party may end this Agreement. Third Party Information stays secret.", []),
    ],
)
def test_the_parties_stand_in_the_first_sentence(opening: str, names: list[str]) -> None:
    assert parties(agreement(opening)) == names


def test_a_letter_names_who_it_is_sent_to_and_whose_secrets_they_are() -> None:
    text = (
        "May 13, 2013\nHeron Partners L.P.\n320 Quay Avenue\nPort Merrin, OH 10022\nConfidentiality Agreement\n"
        "Ladies and Gentlemen:\nYou have requested information from Harbour, Inc. (the “Company”)." + REST
    )
    assert parties(text) == ["Heron Partners L.P.", "Harbour, Inc."]
    assert facts(text, by="contract")["Effective date"].value.date == "2013-05-13"


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("It shall be governed by and construed in accordance with the laws of the State of Delaware.", "Delaware"),
        ("The laws of the State of New\nYork (without its conflict rules) shall govern this Agreement.", "New\nYork"),
        ("This Agreement shall be governed by Texas law.", "Texas"),
        ("It is governed by the laws of the United States of America, State of California.", "California"),
    ],
)
def test_the_law_is_that_which_governs(sentence: str, place: str) -> None:
    assert facts(agreement("", sentence), by="contract")["Governing law"].value.raw == place


def test_the_law_under_which_a_company_was_founded_does_not_govern() -> None:
    text = agreement("", "Harbour is a corporation organized under the laws of the State of Ohio.")
    assert "Governing law" not in facts(text, by="contract")


@pytest.mark.parametrize(
    ("sentence", "months"),
    [
        ("This Agreement shall remain in effect for a period of two (2) years from the date hereof.", 24),
        ("The term of this Agreement shall be one (1) year.", 12),
        ("Your obligations hereunder shall terminate 18 months from the date of this letter.", 18),
        ("This Agreement shall expire one year after the date hereof.", 12),
    ],
)
def test_the_term_is_how_long_the_agreement_itself_lasts(sentence: str, months: int) -> None:
    value = facts(agreement("", sentence), by="contract")["Term"].value
    assert value.number is not None
    assert value.number * {"yr": 12, "mo": 1}[value.unit] == months


def test_how_long_something_else_lasts_is_no_term() -> None:
    text = agreement("", "For a period of two (2) years you will not hire our employees.")
    assert "Term" not in facts(text, by="contract")


@pytest.mark.parametrize(
    "opening",
    [
        "This Agreement is dated as of May 4, 2005.",
        "This Agreement is entered into this 4th day of May, 2005.",
        "This Agreement is effective May 4, 2005 and replaces the one of June 1, 2001.",
    ],
)
def test_the_agreement_begins_when_its_first_sentence_says(opening: str) -> None:
    assert facts(agreement(opening), by="contract")["Effective date"].value.date == "2005-05-04"


def test_a_text_about_an_agreement_is_none() -> None:
    assert not facts("The agreement between France and Spain was governed by the laws of France.", by="contract")
