"""Words that press a button, and those that only look like it."""

from __future__ import annotations

import pytest

from tablewright.decisions.shopping.button_words import agrees, chosen, declines, drops, restarts, takes_back


@pytest.mark.parametrize("said", ["yes", "Looks good!", "ok, go ahead", "yes please"])
def test_a_whole_message_that_agrees_is_a_yes(said: str) -> None:
    assert agrees(said)


@pytest.mark.parametrize("said", ["yes, but under £40", "ok kettle", "fine steel mesh"])
def test_what_says_anything_besides_is_no_yes(said: str) -> None:
    assert not agrees(said)


@pytest.mark.parametrize("said", ["no", "not yet", "No thanks."])
def test_a_no_is_a_no(said: str) -> None:
    assert declines(said)
    assert not takes_back(said)


@pytest.mark.parametrize(
    "said",
    [
        "never mind",
        "Nevermind!",
        "no, keep it",
        "no, keep it as it was",
        "forget it",
        "keep the old budget",
        "cancel that",
    ],
)
def test_a_change_can_be_taken_back(said: str) -> None:
    assert takes_back(said)


@pytest.mark.parametrize("said", ["keep it under £40", "forget the steel", "keep warm", "never mind the price, steel"])
def test_what_wants_something_takes_nothing_back(said: str) -> None:
    assert not takes_back(said)


@pytest.mark.parametrize(
    ("said", "rest"), [("start over", ""), ("start over with a lamp", "a lamp"), ("over the top", None)]
)
def test_starting_over_may_say_with_what(said: str, rest: str | None) -> None:
    assert restarts(said) == rest


@pytest.mark.parametrize(
    ("said", "choice"),
    [("the bike", "new"), ("stay with the kettle", "old"), ("yes", "new"), ("no", "old"), ("steel", "")],
)
def test_one_of_two_products_is_chosen_by_name_or_by_yes_and_no(said: str, choice: str) -> None:
    assert chosen(said, "kettle", "bike") == choice


def test_dropping_a_column_is_told_from_dropping_a_requirement() -> None:
    assert drops("remove the weight column")
    assert not drops("drop the stainless steel requirement")
