"""What stands around an answer, and answers that are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.values.answers import is_not_found, is_plain_answer, strip_preamble


@pytest.mark.parametrize(
    "text",
    [
        "Based on my research, 42", "According to the website, 42", "According to Wikipedia: 42", "42",
        '"42"', "“42”", "«42»", "'42'", "`42`", "**42**", "**42**.", "The answer is: 42", "The answer is 42",
        "Answer: 42", "**Answer:** 42", "Sure! Here is the answer: 42",
        "Certainly! Based on the search results, the answer is **42**.", "A: 42", "Final answer: 42",
        "So, the answer is 42", "Here's what I found:\n\n42", "In summary, 42", "As of 2023, 42",
        "Per the documentation, 42", "The page states that 42", "I found that 42", "It appears that 42",
        "Result = 42", "```\n42\n```", "<answer>42</answer>", "The final answer is \\boxed{42}.",
        "After reviewing the page, \"42\"", "Based on 1,234 search results, 42", "Answer: Answer: 42",
        "According to https://x.org/a, 42", "Okay, the answer to your question is 42",
    ],
)  # fmt: skip
def test_what_stands_around_an_answer_is_left_out(text: str) -> None:
    assert strip_preamble(text) == "42"


@pytest.mark.parametrize(
    "text",
    [
        "According to Jim", "Based on a True Story", "Here Is Where I Leave You", "I Believe I Can Fly",
        "In Rainbows", "From Paris, France", "On the Road, Jack", "Sure", "Sure, Inc.", "Per Se", "The Answer",
        "Answer:", '"A" and "B"', "So", "As of Now", "Great Expectations", "The Value of X", '"', "**", "5'11\"",
        "Of Mice and Men", "From Russia, the film",
    ],
)  # fmt: skip
def test_real_answers_that_begin_alike_are_kept(text: str) -> None:
    assert strip_preamble(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "n/a", "N/A", "NA", "Unknown.", "not available", "None", "", "  ", "-", "—", "?", "...", "null", "TBD",
        "(none)", "**N/A**", '"unknown"', "could not determine an answer", "no information found", "not specified",
        "Not stated in the document.", "Not disclosed by the company", "Not publicly disclosed", "not mentioned",
        "Information not found", "No data available", "I could not find any information about this.",
        "I couldn’t find it", "I was unable to find the exact number", "I don't know",
        "The provided text does not mention the price.", "The document doesn't provide a value.",
        "The search results do not contain the answer", "Sorry, but I couldn't find it.", "Unable to determine",
        "There is no information available on this topic.",
        "No relevant information was found in the search results.", "It is not publicly available.",
        "The founding date is not specified in the text.", "The price is not available.", "The CEO is unknown",
        "N/A (private company)", "Unknown (not stated)", "Unfortunately, this could not be found",
        "cannot be determined", "Information about revenue is not publicly available",
        "I'm not sure", "I am not sure about that.", "I’m unsure.", "N/A - private company", "n/a: never published",
        "As an AI language model, I cannot browse the web.", "As a large language model I don't know live prices",
        "I do not have access to that", "unbekannt", "non disponible", "未知",
    ],
)  # fmt: skip
def test_the_many_ways_to_say_that_there_is_no_answer(text: str) -> None:
    assert is_not_found(text)


@pytest.mark.parametrize(
    "text",
    [
        "None of the Above Records", "Unknown Pleasures", "Unknown Mortal Orchestra", "No", "0", "No Doubt", "N",
        "Nil by Mouth", "No Country for Old Men", "Nothing But Thieves", "Not Found Records",
        "Not Available in Stores Records", "Missing Persons", "No data plan required", "I Could Not Find Love",
        "None More Black", "Not specified, but about 500", "It was not until 1998 that it was founded",
        "A company that does not have employees", "As an AI language model, GPT-2 has 1.5 billion parameters",
        "I'm Not There", "N/Ahoy", "✓", "🎉", "The Data Company",
    ],
)  # fmt: skip
def test_real_values_that_sound_alike_are_found(text: str) -> None:
    assert not is_not_found(text)


WORDS = st.lists(
    st.sampled_from(
        "the answer is Based on my research, According to Jim, not found unknown none n/a no As of 2021, so, 42 Paris. "
        "a: I found that data states nil Texas, cannot be said in summary, TBD empty keine Angabe".split(" ")
    ),
    max_size=6,
).map(" ".join)


@settings(max_examples=200)
@given(text=st.one_of(WORDS, st.text(max_size=30)))
def test_a_plain_answer_has_nothing_to_strip_and_says_something(text: str) -> None:
    if is_plain_answer(text):
        assert strip_preamble(text) == text
        assert not is_not_found(text)


@given(text=st.one_of(WORDS, st.text(alphabet="\"'“”«»*_`[]() aA1:,.\n", max_size=20)))
def test_stripping_twice_changes_nothing_more(text: str) -> None:
    once = strip_preamble(text)
    assert strip_preamble(once) == once


@pytest.mark.parametrize("text", ["Paris", "Irving, Texas", "The Beatles", "Rock & Roll", "AC/DC"])
def test_ordinary_short_answers_are_plain(text: str) -> None:
    assert is_plain_answer(text)
