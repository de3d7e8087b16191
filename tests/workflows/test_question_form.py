"""Typed questions without a model: those that are a form, word for word, and those that are not."""

from __future__ import annotations

import pytest

from tablewright.domain.reply import KnownColumn, KnownGroup
from tablewright.workflows.ask.without_model import parse_question

GROUPS = [
    KnownGroup(
        name="lab report",
        members=9,
        columns=(
            KnownColumn(name="Sampling date", known=9, type="date"),
            KnownColumn(name="Lead (µg/l)", known=9, type="number"),
            KnownColumn(name="Site", known=9),
            KnownColumn(name="Each", known=1),
        ),
    ),
    KnownGroup(name="lease", members=4, columns=(KnownColumn(name="Monthly rent", known=4, type="number"),)),
    KnownGroup(name="document", members=7),
    KnownGroup(name="T1", members=30, is_table=True, columns=(KnownColumn(name="Wage", known=30, type="number"),)),
]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How many lab reports are there?", "kind = lab report; count"),
        ("list all leases with their monthly rents", "kind = lease"),
        ("leases with a monthly rent of at least 900 EUR", "kind = lease and Monthly rent >= 900 EUR"),
        ("lab reports whose sampling date is before 3 May 2021", "kind = lab report and Sampling date < 3 May 2021"),
        (
            "lab reports with a sampling date between 2024-01 and 2024-03",
            "kind = lab report and Sampling date between 2024-01 and 2024-03",
        ),
        ("leases with a monthly rent over 900. Please list", "kind = lease and Monthly rent > 900"),
        ('lab reports with site = "Upper Weir"', "kind = lab report and Site = Upper Weir"),
        ("what is the average monthly rent of the leases?", "kind = lease; average of Monthly rent"),
        ("number of lab reports per site", "kind = lab report; count by Site"),
        ("the largest wage in T1", "table = T1; max of Wage"),
        ('documents that contain "flood damage"', "text contains flood damage"),
        ("all documents that contain flood", "text contains flood"),
        ("how many files are there?", "all documents; count"),
    ],
)
def test_a_question_of_known_words_is_a_form(question: str, form: str) -> None:
    understood = parse_question(question, GROUPS)
    assert (understood.left, str(understood.form)) == ((), form)


def test_a_question_that_says_of_no_documents_is_no_form_although_its_words_are_known() -> None:
    understood = parse_question("what is the monthly rent?", GROUPS)
    assert (understood.left, understood.is_named, understood.is_whole) == ((), False, False)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("which leases have not been signed?", {"not", "signed"}),
        ("leases that end before 2027", {"that", "end", "before", "2027"}),
        ("how much rent do we pay?", {"how", "much", "rent", "pay"}),
        ("lab reports or leases", {"or", "leases"}),
        ("how many is that?", {"that"}),
        ("how many sites are there?", {"Site"}),
        ("what is the average of the lab reports?", {"average"}),
        ("the largest lease", {"largest"}),
        ("the lowest sampling date and lead of the lab reports", {"lowest", "Sampling date"}),
        ("leases of each tenant", {"tenant"}),
    ],
)
def test_where_a_word_has_no_part_in_a_form_it_is_named(question: str, left: set[str]) -> None:
    assert left <= set(parse_question(question, GROUPS).left)
