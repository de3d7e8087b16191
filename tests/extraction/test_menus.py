"""Menus, the heads of tables and lists of choices, which look like labels with their values."""

from __future__ import annotations

import pytest

from tablewright.table.model import Field
from tests.extraction.asking import answer

TEAM = Field(name="Team")
TYPE = Field(name="Type", question="Is {Name} public or private?")
OWN_PAGE = {"name": "Mara Lind", "title": "Mara Lind"}
SCHOOL = {"name": "Elm College", "title": "Elm College"}


@pytest.mark.parametrize(
    "menu",
    [
        "Scores\nTeam\nTransactions\nInjuries",
        "Teams\nTEAM SITES\nAtlanta\nBoston",
        "Teams\nEastern\nBoston Terns\nElm Rovers",
        "Year\nTeam\nG\nMin\nPts",
        "Season\nTeam\nFGM\nFGA",
        "Season\nTeam\nG\nMinutes\nPoints",
        "Season\nTeam\nPos\nHt\nWt",
        "Season\nTeam\nG\nMPG\nPPG",
        "Team\nFacebook\nTwitter\nShare",
    ],
)
def test_a_menu_and_the_head_of_a_table_give_no_name(menu: str) -> None:
    assert answer(TEAM, f"Mara Lind\n{menu}", **OWN_PAGE) is None


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("Manufacturer\nSony\nYear\n2012", "Sony"),
        ("Manufacturer\nHP\nWeight\n2 kg", "HP"),
        ("Manufacturer\nFord\nSize", "Ford"),
        ("Manufacturer\nFord\nSize\nXL", "Ford"),
        ("Manufacturer\nFord\nMPG\n25", "Ford"),
        ("Owner\nFacebook\nReleased", "Facebook"),
        ("Owner\nTwitter\nReleased\n2011", "Twitter"),
        ("Publisher\nEA\nReleased", "EA"),
        ("Owner\nX\nFounded\n2006", "X"),
    ],
)
def test_short_names_below_their_labels_are_values(lines: str, read: str) -> None:
    field = Field(name=lines.split("\n")[0])
    assert answer(field, f"The Kestrel\n{lines}", name="The Kestrel", title="The Kestrel") == read


def test_a_heading_with_its_value_is_still_read() -> None:
    assert answer(TEAM, "Mara Lind\nTeam\nNorrby Wolves\nPosition\nForward", **OWN_PAGE) == "Norrby Wolves"


def test_a_label_with_a_colon_goes_before_a_line_above_another() -> None:
    text = "Mara Lind\nTeam\nSelect yours\nAge: 24\nTeam: Norrby Wolves"
    assert answer(TEAM, text, **OWN_PAGE) == "Norrby Wolves"


def test_a_label_is_not_the_value_of_the_label_above_it() -> None:
    text = "Elm College\nDegree type:\nSchools:\nNursing"
    assert answer(Field(name="Type"), text, **SCHOOL) is None


def test_a_list_of_choices_is_not_an_answer() -> None:
    assert answer(TYPE, "Elm College\nInstitution type\nPublic\nPrivate\nAll", **SCHOOL) is None


def test_the_fact_beside_a_fact_is_not_its_value() -> None:
    text = "Mara Lind\nTeam: Norrby Wolves | Height: 6-1\nBorn: 2/22/1986"
    assert answer(TEAM, text, **OWN_PAGE) == "Norrby Wolves"
    assert answer(TEAM, "Mara Lind\nTeam\nHeight: 6-1", **OWN_PAGE) is None
