"""Questions that name their answers: "Is it public or private?"."""

from __future__ import annotations

import pytest

from tablewright.extraction.wanted import wanted
from tablewright.table.model import Field
from tests.extraction.asking import answer

OWN_PAGE = {"name": "Zed", "title": "Zed"}


def ask(question: str, text: str, name: str = "Zed kind") -> str | None:
    return answer(Field(name=name, question=question), text, **OWN_PAGE)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Is {Name} public or private?", ("public", "private")),
        ("Is it public or private?", ("public", "private")),
        ("Is Elm College Public or Private?", ("Public", "Private")),
        ("Is Zed open source or proprietary?", ("open source", "proprietary")),
        ("Is {First} {Last} currently a man or a woman?", ("man", "woman")),
        ("Is {Name} a public, private or mixed company?", ("public", "private", "mixed company")),
        ("Is {Name} open source or proprietary?", ("open source", "proprietary")),
        ("Is {Name} for profit or nonprofit?", ("for profit", "nonprofit")),
        ("Is the pool indoor or outdoor?", ("indoor", "outdoor")),
        ("Is the {Name} logo red or blue?", ()),
        ("Is {Name}'s logo red or blue?", ()),
        ("Is the company logo red or blue?", ()),
        ("Is {Name} headquartered in New York or Boston?", ()),
        ("Is {Name} or {Rival} larger?", ()),
        ("Is New York or Boston larger?", ()),
        ("Is the Zed logo red or blue?", ()),
        ("Is Zed's logo red or blue?", ()),
        ("Is it sold in red or blue?", ()),
        ("Is {Name} vegan or not?", ()),
        ("Is {Name} public or private, and since when?", ()),
    ],
)
def test_the_choices_of_a_question_are_its_whole_predicate(question: str, options: tuple[str, ...]) -> None:
    assert wanted(Field(name="Sort", question=question)).options == options


@pytest.mark.parametrize(
    ("question", "text", "read"),
    [
        ("Is {Name} open source or proprietary?", "Zed is an open source database.", "open source"),
        ("Is {Name} open source or proprietary?", "Zed is an open-source database.", "open-source"),
        ("Is {Name} Public or Private?", "Zed is a private school.", "private"),
        ("Is {Name} public or private?", "Zed is a Private school.", "Private"),
        ("Is {Name} for profit or nonprofit?", "Zed is a small nonprofit group.", "nonprofit"),
        ("Is the school public or private?", "Zed is a small private school.", "private"),
        ("Is the logo red or blue?", "Zed is a blue chip company. Its logo is red.", "red"),
    ],
)
def test_a_sentence_that_says_what_something_is_makes_the_choice(question: str, text: str, read: str) -> None:
    assert ask(question, text) == read


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is {Name} for profit or nonprofit?", "Zed is a not for profit company."),
        ("Is {Name} for profit or nonprofit?", "Zed is a not-for-profit company."),
        ("Is {Name} headquartered in New York or Boston?", "Zed is a New York company."),
        ("Is the {Name} logo red or blue?", "Zed is a blue chip company. Its logo is red."),
        ("Is {Name} public or private?", "Zed is a formerly private company."),
        ("Is {Name} public or private?", "Zed is a once private, now listed company."),
        ("Is {Name} public or private?", "Zed is a no longer private company."),
        ("Is {Name} public or private?", "Zed is a subsidiary of a private company."),
    ],
)
def test_what_is_denied_or_said_of_another_is_no_choice(question: str, text: str) -> None:
    assert ask(question, text) is None


def test_a_label_that_names_no_choice_is_read_as_any_other() -> None:
    question = "Is {Name} open source or proprietary?"
    assert ask(question, "Zed\nLicense: MIT", "License") == "MIT"
    assert ask(question, "Zed\nLicense: proprietary", "License") == "proprietary"
    assert ask(question, "Zed | License\nZed | MIT", "License") == "MIT"
    assert ask(question, "Zed is a proprietary database.\nLicense: EULA", "License") == "proprietary"


def test_a_label_that_says_only_which_sort_must_name_a_choice() -> None:
    assert ask("Is {Name} public or private?", "Zed\nSchool type: Liberal arts", "School type") is None


def test_a_label_that_denies_a_choice_does_not_make_it() -> None:
    field = Field(name="Status", type="select", options=("for profit", "nonprofit"))
    assert answer(field, "Zed\nStatus: not for profit", **OWN_PAGE) is None
    assert answer(field, "Zed\nStatus: nonprofit", **OWN_PAGE) == "nonprofit"
    smoking = Field(name="Smoking", type="select", options=("smoking", "non-smoking"))
    assert answer(smoking, "Zed\nSmoking: Non-smoking", **OWN_PAGE) == "non-smoking"
