"""Keys that were hit at random, and words that are only odd."""

from __future__ import annotations

import pytest

from tablewright.decisions.intake.gibberish import is_gibberish
from tablewright.decisions.intake_turn import Intake, IntakeTurn, edited
from tablewright.table.shortlist import Requirements

KETTLE = Requirements(product_type="kettle", must_haves=("keep warm",))


@pytest.mark.parametrize("said", ["asdf qwer", "asdfjkl", "lkjh", "sdfkjh", "aaaaa", "lalala"])
def test_what_cannot_be_a_word_is_gibberish(said: str) -> None:
    assert is_gibberish(said)


@pytest.mark.parametrize(
    "said", ["tree", "property", "pour over", "XXXL", "bldc motor", "rhythm", "asdf kettle", "USB", ""]
)
def test_odd_words_are_words(said: str) -> None:
    assert not is_gibberish(said)


def test_gibberish_is_no_product_no_wish_and_no_change() -> None:
    step = Intake().fallback(IntakeTurn(message="asdf qwer"))
    assert step.requirements == Requirements()
    assert step.reply == "I did not understand that."
    assert step.questions
    answered = Intake().fallback(IntakeTurn(message="asdf qwer", requirements=KETTLE, asked=("What matters most?",)))
    assert answered.requirements == KETTLE
    assert edited(KETTLE, "asdf qwer") == KETTLE
    assert edited(KETTLE, "it must have qwer asdf") == KETTLE
