"""Facts and summaries that a model adds to documents when they are read: only what stands in the text is kept."""

from __future__ import annotations

import pytest

from tablewright.llm.model import LanguageModel
from tablewright.llm.tasks.annotate_document import (
    MAX_SUMMARY_WORDS,
    AnnotateDocument,
    ExcerptToAnnotate,
    SummariseText,
    TextToSummarise,
)
from tablewright.llm.tasks.decision import decide
from tablewright.llm.text_budget import sample_text
from tablewright.llm.tokens import estimate_tokens
from tablewright.text import split_sentences
from tests.llm.endpoint import Endpoint, answer

HISTORY = (
    "Acme Turbines was founded in 1987 by Ada Byron. Its first rotor was not sold until 1991. "
    "The works of Acme Turbines stand in Port Merrin and employ 412."
)
LEASE = ExcerptToAnnotate(
    text="This lease is made between Ada Byron and Acme Turbines. The rent is 900 EUR a month.",
    title="Lease",
    known=(("rent", "900 EUR"),),
    most=5,
)


def test_the_prompt_of_annotation() -> None:
    assert AnnotateDocument().prompt(LEASE).text == (
        "<<TEXT 1 5c104375 | Lease>>\n"
        "This lease is made between Ada Byron and Acme Turbines. The rent is 900 EUR a month.\n"
        "<<END TEXT 1 5c104375>>\n\n"
        "Found already:\n"
        "<<TEXT 2 124ada0d>>\n"
        "rent: 900 EUR\n"
        "<<END TEXT 2 124ada0d>>\n\n"
        "Give at most 5 further facts."
    )


async def test_only_facts_that_the_text_states_are_added(model: LanguageModel, endpoint: Endpoint) -> None:
    facts = [
        {"label": "Tenant", "value": "Acme Turbines", "quote": "between Ada Byron and Acme Turbines"},
        {"label": "Rent", "value": "900 EUR", "quote": "The rent is 900 EUR a month"},  # known
        {"label": "Deposit", "value": "1800 EUR", "quote": "The rent is 900 EUR a month"},  # not in its quote
        {"label": "Term", "value": "two years", "quote": "for two years"},  # no such passage
    ]
    endpoint.otherwise = answer({"facts": facts})
    (fact,) = (await decide(AnnotateDocument(), LEASE, model, lambda step: None)).decided
    assert (fact.label, fact.value) == ("Tenant", "Acme Turbines")
    assert LEASE.text[fact.start : fact.end] == "Acme Turbines"
    assert LEASE.text[fact.quote_start : fact.quote_end] == "between Ada Byron and Acme Turbines"
    assert (await decide(AnnotateDocument(), LEASE, None, pytest.fail)).decided == ()


LONG = TextToSummarise(text=HISTORY, extract="Acme Turbines was founded in 1987.", title="Acme")


async def test_a_summary_keeps_only_sentences_whose_numbers_the_text_holds(
    model: LanguageModel, endpoint: Endpoint
) -> None:
    endpoint.otherwise = answer({"summary": "It tells how Acme Turbines was founded. It employs 5,000 in Port Merrin."})
    decided = (await decide(SummariseText(), LONG, model, lambda step: None)).decided
    assert decided == "It tells how Acme Turbines was founded."


async def test_a_summary_is_at_most_so_long(model: LanguageModel, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer({"summary": "Acme Turbines stand in Port Merrin with works. " * 30})
    text = (await decide(SummariseText(), LONG, model, lambda step: None)).decided
    assert MAX_SUMMARY_WORDS - 10 < len(text.split()) <= MAX_SUMMARY_WORDS


async def test_a_summary_of_which_nothing_holds_is_the_extract(model: LanguageModel, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer({"summary": "Borealis made 77 pumps."})
    assert (await decide(SummariseText(), LONG, model, lambda step: None)).decided == LONG.extract
    assert (await decide(SummariseText(), LONG, None, pytest.fail)).decided == LONG.extract


def test_a_text_too_long_for_the_prompt_is_sent_in_parts_from_all_over_it() -> None:
    text = " ".join(f"Chapter {number} tells of the wind and of the sea." for number in range(2_000))
    sent = sample_text(text, 1_000)
    assert estimate_tokens(sent) < 1_300
    assert sent.startswith("Chapter 0 tells")
    assert "Chapter 1755 tells" in sent


def test_sentences_run_over_wrapped_lines_and_stop_at_paragraphs() -> None:
    text = "A heading\n\nDr. Byron came to the\nworks in May. She stayed.\nThe end"
    assert [text[start:end] for start, end in split_sentences(text)] == [
        "A heading",
        "Dr. Byron came to the\nworks in May.",
        "She stayed.",
        "The end",
    ]
