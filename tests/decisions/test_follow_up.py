"""What a message means after the question before it, and what is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.decisions.decision import Unusable
from tablewright.decisions.follow_up import (
    MOST_TOKENS,
    Followed,
    FollowUp,
    Meant,
    Message,
    rolling_summary,
)
from tablewright.decisions.understand_question import Ask, Understand
from tablewright.models.tokens import estimate_tokens
from tablewright.table.corpus import Question

from .test_question import PAPERS, TODAY, demand

RECEIPTS = Understand().fallback(Ask(text='Which receipts are from "ACME" since 2022?', today=TODAY, **PAPERS))
WIDTH = Understand().fallback(Ask(text="What is the width of the X-200?", today=TODAY))


def followed(text: str, last: Question | None = RECEIPTS, **around: Any) -> Followed:
    return FollowUp().fallback(Message(text=text, today=TODAY, last=last, **(PAPERS | around)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("show the rest", "rest"),
        ("more", "rest"),
        ("next page please", "rest"),
        ("show me the next 10", "rest"),
        ("search all documents", "widen"),
        ("drop the filters", "widen"),
        ("switch to text search", "text search"),
        ("How many invoices are there?", "new question"),
        ("How does the pump work?", "new question"),
    ],
)
def test_commands_are_told_from_questions(text: str, kind: str) -> None:
    assert followed(text).kind == kind


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("export that table", ""),
        ("export it as CSV to out/tires.csv", "out/tires.csv"),
        ('save the full table to "my tires.xlsx"', "my tires.xlsx"),
        ("export that table to out/tires.parquet", "out/tires.parquet"),
        ("export all of it", ""),
    ],
)
def test_an_export_names_its_file_if_one_is_said(text: str, path: str) -> None:
    assert (followed(text).kind, followed(text).path) == ("export", path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("only 2024", ["date between 2024-01-01 | 2024-12-31", "vendor = ACME"]),
        ("filter to 2024 only", ["date between 2024-01-01 | 2024-12-31", "vendor = ACME"]),
        ("only those above 100", ["date >= 2022-01-01", "total > 100", "vendor = ACME"]),
        ("which of those mention tires?", ["* contains tires", "date >= 2022-01-01", "vendor = ACME"]),
        ("exclude tires", ["* != tires", "date >= 2022-01-01", "vendor = ACME"]),
        ("only the handwritten ones", ["* contains handwritten", "date >= 2022-01-01", "vendor = ACME"]),
    ],
)
def test_narrowing_adds_to_the_last_conditions_and_a_new_time_replaces_the_old(text: str, expected: list[str]) -> None:
    found = followed(text)
    assert found.kind == "narrow"
    assert found.question is not None
    assert found.question.things == "receipt"
    assert sorted(map(demand, found.question.conditions)) == expected


def test_a_count_of_those_counts_within_the_last_conditions() -> None:
    found = followed("how many of those are above 100?")
    assert found.question is not None
    assert (found.kind, found.question.aggregate) == ("narrow", "count")
    assert sorted(map(demand, found.question.conditions)) == ["date >= 2022-01-01", "total > 100", "vendor = ACME"]


def test_what_about_asks_the_same_of_another_time_or_name() -> None:
    time, name = followed("What about 2023?").question, followed("how about Globex?").question
    assert time is not None
    assert name is not None
    assert sorted(map(demand, time.conditions)) == ["date between 2023-01-01 | 2023-12-31", "vendor = ACME"]
    assert sorted(map(demand, name.conditions)) == ["date >= 2022-01-01", "vendor contains Globex"]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("And its weight?", "What is the weight of X-200?"),
        ("How heavy is it?", "How heavy is X-200?"),
        ("How do I mount it?", "How do I mount X-200?"),
        ("Show those specs", "Show those specs (X-200)"),
        ("What is the width of the X-300?", "What is the width of the X-300?"),
    ],
)
def test_pronouns_mean_what_was_asked_about(text: str, alone: str) -> None:
    assert followed(text, WIDTH).text == alone


def test_a_new_topic_forgets_and_keeps_what_follows_it() -> None:
    found = followed("New topic: how does the pump work?")
    assert (found.kind, found.text, found.question) == ("new topic", "how does the pump work?", None)


def test_without_a_last_question_everything_is_a_new_one() -> None:
    assert followed("show the rest", None).kind == "new question"


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_may_resolve_what_the_rule_does_not() -> None:
    asked = Message(text="And the other one?", today=TODAY, last=WIDTH, summary="Compared the X-200 and the X-300.")
    reply = Meant(kind="new question", question="What is the width of the X-300?")
    assert FollowUp().check(asked, reply).text == "What is the width of the X-300?"


def test_a_name_that_nobody_said_is_refused() -> None:
    asked = Message(text="And the other one?", today=TODAY, last=WIDTH)
    with pytest.raises(Unusable, match="X-900"):
        FollowUp().check(asked, Meant(kind="new question", question="What is the width of the X-900?"))


def test_a_model_is_needed_only_where_a_pronoun_is_left() -> None:
    assert FollowUp().is_plain(Message(text="show the rest", today=TODAY, last=RECEIPTS))
    assert FollowUp().is_plain(Message(text="How do pumps work?", today=TODAY, last=RECEIPTS))
    assert not FollowUp().is_plain(Message(text="Is it the same there?", today=TODAY, last=WIDTH))


# ── what is remembered ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_newest_exchange_comes_first_and_old_ones_are_forgotten() -> None:
    summary = ""
    for number in range(40):
        question = Understand().fallback(Ask(text=f"Which receipts are from Shop {number}?", today=TODAY))
        summary = rolling_summary(summary, question, f"There are {number} receipts [source 1]. The sum is {number}.50.")
    first, *others = summary.splitlines()
    assert first == "Asked: Which receipts are from Shop 39? Answer: There are 39 receipts. The sum is 39.50."
    assert 2 < len(others) < 39
    assert estimate_tokens(summary) <= MOST_TOKENS


def test_of_a_long_answer_the_sentences_with_names_and_numbers_are_remembered() -> None:
    answer = "There are three. " + "It is as one would think of such things. " * 20 + "The largest is from Globex."
    summary = rolling_summary("", WIDTH, answer)
    assert summary.endswith("Answer: There are three. The largest is from Globex.")
