"""The team of a player, from the head of a page, its title or a sentence."""

from __future__ import annotations

import pytest

from tablewright.table.model import Field
from tests.extraction.asking import answer, candidates

TEAM = Field(name="Team", question="Which team does {Name} play for?")
OWN_PAGE = {"name": "Mara Lind", "title": "Mara Lind"}
ELSEWHERE = "\n\nThe season so far\nThe Wolves won again on Sunday."


@pytest.mark.parametrize(
    "head",
    [
        "Mara Lind\n#7\nGoalkeeper\nNorrby Wolves\nTeam Home\nNews",
        "Mara Lind\nNo. 7 Norrby Wolves\nPower forward/Center",
        "Mara Lind\n#7 -\nNorrby Wolves\nProfile",
        "Mara Lind\nNorrby Wolves\n#7\nGuard\nHeight: 6-1",
        "Mara Lind\nNorrby Wolves #7\nForward",
        "#7 Mara Lind\nNorrby Wolves\nForward",
        "Mara Lind | #7 | Midfielder | Norrby Wolves",
        "Mara Lind, Midfielder, Norrby Wolves\nHeight: 5-7",
        "Mara Lind G/F Norrby Wolves Height: 6-1 Weight: 160",
        "Mara Lind\n#7\nForward\nSweden\nNorrby Wolves",
    ],
)
def test_the_team_stands_beside_the_name_and_the_marks_of_a_player(head: str) -> None:
    assert answer(TEAM, head + ELSEWHERE, **OWN_PAGE) == "Norrby Wolves"


def test_a_team_that_the_page_names_nowhere_else_is_none() -> None:
    assert answer(TEAM, "Mara Lind\n#7\nGuard\nNorrby Wolves\nNews", **OWN_PAGE) is None


def test_the_quote_of_a_heading_holds_the_name_and_the_team() -> None:
    text = "Menu\nMara Lind\n#7\nGuard\nNorrby Wolves\nNews" + ELSEWHERE
    best = candidates(TEAM, text, **OWN_PAGE)[0]
    assert best.how == "heading"
    assert text[best.start : best.end] == "Mara Lind\n#7\nGuard\nNorrby Wolves"


@pytest.mark.parametrize(
    "head",
    [
        "Mara Lind\nChief executive\nAcme Holdings",
        "Mara Lind\nForward\nLisbon, Portugal\nAge 27",
        "Mara Lind\n#7\nForward\nPersonal Information\nBorn: 1999",
        "Mara Lind\n#7\nForward\nLatest News",
        "Mara Lind\n#7 Guard\nPPG\nRPG\n9.1",
        "Mara Lind\n#7\nGuard\nE-mail photo\nNorrby Wolves",
        "Mara Lind\nHead Coach\nBob Stone\nAssistant Coach\nStone joined in May",
        "Mara Lind\nCoach\nContact Ann\nAnn will answer",
        "Mara Lind\nDefender\nBorn In Salem\nSalem is a town",
        "Mara Lind, PG Research Student\nStudent life",
        "Mara Lind\nS Main Street\nStreet map",
        "Mara Lind\nMain Street\nS\nStreet map",
    ],
)
def test_a_head_without_a_team_gives_none(head: str) -> None:
    assert answer(TEAM, head + ELSEWHERE, **OWN_PAGE) is None


@pytest.mark.parametrize(
    "roster",
    [
        "Mara Lind\n#7\nJohn Smith\n#8\nAnn Bo\n#9",
        "Mara Lind\nGuard\nJohn Smith\nForward\nAnn Bo\nCenter",
        "Roster\n#7\nMara Lind\n#8\nJohn Smith\n#9\nAnn Bo",
        "Mara Lind\nJohn Smith\n#8\nAnn Bo\n#9",
    ],
)
def test_the_next_player_of_a_list_is_no_team(roster: str) -> None:
    assert answer(TEAM, roster, **OWN_PAGE) is None


def test_a_title_names_the_team_between_the_player_and_the_site() -> None:
    text = "Mara Lind - Stats, Bio - Norrby Wolves - Pro Basketball - Example Sports\nMenu\nWolves\nNews"
    assert answer(TEAM, text, **OWN_PAGE) == "Norrby Wolves"


def test_a_title_alone_is_not_enough() -> None:
    assert answer(TEAM, "Mara Lind - Norrby Wolves - Example Sports\nMenu\nNews", **OWN_PAGE) is None
    assert answer(TEAM, "Mara Lind - Staff Directory - Example Group\nMenu\nDirectory", **OWN_PAGE) is None


@pytest.mark.parametrize(
    "text",
    [
        "Mara Lind (born 1999) is a Swedish footballer who plays as a midfielder for Norrby Wolves.",
        "Mara Lind is a Swedish basketball player for the Norrby Wolves of the Northern League.",
        "Mara Lind is a pitcher. She plays for the NBL's Norrby Wolves.",
        "Mara Lind is a guard. She plays for second division club Norrby Wolves.",
        "Mara Lind is a guard who is currently with the Norrby Wolves in the Northern League.",
        "Mara Lind is a guard who is currently with third-tier side Norrby Wolves.",
        "Mara Lind is currently playing with the Norrby Wolves.",
        "Mara Lind is a Swedish midfielder with the Norrby Wolves.",
        "Mara Lind is a basketball center for the Norrby Wolves.",
    ],
)
def test_a_sentence_says_for_whom_somebody_plays(text: str) -> None:
    assert answer(TEAM, text, **OWN_PAGE) == "Norrby Wolves"


@pytest.mark.parametrize(
    "text",
    [
        "Mara Lind is a former Swedish footballer. She played for Elm Rovers until 2019.",
        "Mara Lind is a former Swedish international and long-serving point guard for the Elm Rovers.",
        "Mara Lind is a retired guard. She is a member of the Hall of Fame.",
        "Mara Lind will get more playing time than she did with the Elm Rovers.",
    ],
)
def test_a_team_of_the_past_is_not_the_team(text: str) -> None:
    assert answer(TEAM, text, **OWN_PAGE) is None


@pytest.mark.parametrize(
    "text",
    [
        "Mara Lind plays guitar with Radiohead.",
        "Mara Lind plays bass guitar for Radiohead.",
        "Mara Lind plays the lead with Tom Hanks.",
        "Mara Lind is playing with Tom Hanks in a new film.",
        "Mara Lind is currently with Tom Hanks.",
        "Mara Lind is a small music player with Bluetooth.",
        "Mara Lind is a media player for Windows.",
        "Mara Lind is a security guard for Walmart.",
        "Mara Lind is a research center for Advanced Study.",
    ],
)
def test_a_band_a_film_and_a_device_are_no_team(text: str) -> None:
    assert answer(TEAM, text, **OWN_PAGE) is None


def test_a_label_goes_before_a_heading() -> None:
    text = "Mara Lind\n#7\nGuard\nElm Rovers\nTeam: Norrby Wolves\nFormer team: Elm Rovers"
    assert answer(TEAM, text, **OWN_PAGE) == "Norrby Wolves"
