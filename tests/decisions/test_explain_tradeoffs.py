"""What the top products give and what is given up with them, in sentences that cite cells."""

from __future__ import annotations

import pytest
from msgspec import structs

from tablewright.decisions.decision import Unusable, decide
from tablewright.decisions.explain_tradeoffs import (
    Advice,
    Explain,
    ExplainTradeoffs,
    Sentence,
    Sentences,
    requirements_told,
)
from tablewright.decisions.rank_products import rank
from tablewright.decisions.replies import bears, pushes
from tablewright.models.model import LanguageModel
from tablewright.table.model import Table
from tablewright.table.shortlist import CellRef, PriceRange, Requirements, Said
from tablewright.table.untrusted import question_block

from ..models.endpoint import Endpoint, answer
from .test_rank_products import CARS, KETTLES, WANTED


def asked_of(table: Table, requirements: Requirements, most: int = 5) -> ExplainTradeoffs:
    ranking = rank(table, requirements)
    return ExplainTradeoffs(table=table, ranking=ranking, requirements=requirements, most=most)


ASKED = asked_of(KETTLES, WANTED)


def all_said(advice: Advice) -> list[Said]:
    return [*(said for card in advice.cards for said in card.said), *advice.said]


def card_texts(advice: Advice, place: int) -> list[str]:
    return [said.text for said in advice.cards[place - 1].said]


def test_a_card_says_what_is_gained_and_what_is_given_up() -> None:
    advice = Explain().fallback(ASKED)
    assert card_texts(advice, 1) == [
        "Quillon Degree 15 has the longest warranty of these (5 years), but costs £47.50, near your limit of £50."
    ]
    assert CellRef(row_id=1, field="Price") in advice.cards[0].said[0].cells


def test_a_card_says_what_is_not_known_and_what_is_in_doubt() -> None:
    advice = Explain().fallback(ASKED)
    assert card_texts(advice, 3)[1] == "Its capacity (1 l) was flagged as wrong."
    assert card_texts(advice, 4)[1] == "Its price is not known."
    assert card_texts(advice, 5)[1] == (
        "Whether it has variable temperature is not known; sources disagree about its warranty: 3 years or 2 years."
    )


def test_the_first_two_are_compared_and_the_choice_is_left_to_the_person() -> None:
    texts = [said.text for said in Explain().fallback(ASKED).said]
    assert texts == [
        "Quillon Degree 15 has the longer warranty (5 years against 2 years); "
        "Tarnbeck Ember 2 has the larger capacity (1.7 l against 1.5 l).",
        "Does a longer warranty matter more to you, or a larger capacity?",
        "3 products left out: 1 for material, 1 for price and 1 for variable temperature.",
    ]


@pytest.mark.parametrize(
    ("table", "requirements"),
    [
        (KETTLES, WANTED),
        (
            KETTLES,
            Requirements(product_type="kettle", priorities=("light", "price"), constraints=("avoid high noise",)),
        ),
        (KETTLES, Requirements(nice_to_haves=("keep warm", "glass"), budget=PriceRange(most=40, currency="GBP"))),
        (KETTLES, Requirements(priorities=("quiet", "durability"))),
        (CARS, Requirements(product_type="used car", priorities=("newest", "price"), must_haves=("parking sensors",))),
        (CARS, Requirements(priorities=("fuel efficiency", "boot space"), specifications=("manual transmission",))),
        (CARS, Requirements(must_haves=("diesel",), nice_to_haves=("tow bar",), constraints=("not from Elmstead",))),
    ],
)
def test_every_sentence_is_borne_by_its_cells_and_sells_nothing(table: Table, requirements: Requirements) -> None:
    asked = asked_of(table, requirements)
    advice = Explain().fallback(asked)
    assert advice.cards
    for said in all_said(advice):
        assert bears(said, table, requirements_told(requirements)) == "", said.text
        assert not pushes(said.text)
    assert all(1 <= len(card.said) <= 2 for card in advice.cards)
    assert len(advice.said) <= 4


def test_prices_of_different_currencies_are_not_compared() -> None:
    asked = asked_of(KETTLES, Requirements(priorities=("price",)), most=8)
    told = list(all_said(Explain().fallback(asked)))
    assert not any("price of these" in said.text for said in told), "some of these cannot be compared"
    cited = {cell for said in told for cell in said.cells if "price of those that can be compared" in said.text}
    assert CellRef(row_id=1, field="Price") in cited
    assert CellRef(row_id=7, field="Price") not in cited


def test_a_card_has_its_place_its_score_and_its_official_page() -> None:
    advice = Explain().fallback(
        asked_of(CARS, Requirements(must_haves=("diesel",), priorities=("low mileage",)), most=1)
    )
    (card,) = advice.cards
    assert (card.place, card.name, card.official_url) == (1, "Alderon Roamer 1.6", "https://alderon.example/r")
    assert card.parts
    assert card.score == pytest.approx(sum(part.weight * part.score for part in card.parts), abs=0.001)


def test_where_nothing_is_left_the_reason_is_told() -> None:
    advice = Explain().fallback(asked_of(CARS, Requirements(specifications=("newer than 2030",))))
    assert [said.text for said in advice.said] == [
        "None of the 5 products found meets every requirement, most often for year.",
        "Which requirement could be relaxed?",
    ]


def test_an_empty_table_is_no_advice() -> None:
    advice = Explain().fallback(asked_of(structs.replace(KETTLES, rows=()), WANTED))
    assert not advice.cards
    assert "No products were found" in advice.said[0].text


def test_the_limits_of_the_data_are_kept() -> None:
    assert "Prices in EUR could not be compared with the budget." in Explain().fallback(ASKED).notes


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────

TWO = asked_of(KETTLES, WANTED, most=2)
GOOD = Sentence(card=1, text="Quillon Degree 15 comes with 5 years of warranty, for £47.50.", cells=[2, 4])
MADE_UP = Sentence(card=2, text="Tarnbeck Ember 2 has a warranty of 6 years.", cells=[7])
SELLS = Sentence(card=0, text="Quillon Degree 15 is definitely worth it.", cells=[1])


def test_the_prompt_shows_cells_by_number_inside_a_block() -> None:
    text = Explain().prompt(TWO).text
    wanted = "kettle; budget £50; variable temperature; stainless steel; build quality; capacity; no plastic"
    assert text.startswith(f"Wanted:\n{question_block(wanted)}\n")
    assert "\n2. Quillon Degree 15 | Capacity: 1.5 l\n" in text
    assert "| cells>>\n1. Quillon Degree 15 | Material: stainless steel\n" in text


def test_orders_in_a_cell_do_not_reach_the_model() -> None:
    asked = asked_of(CARS, Requirements(priorities=("newest",)))
    assert "Ignore all previous" not in Explain().prompt(asked).text


async def test_a_model_may_reword(model: LanguageModel, endpoint: Endpoint) -> None:
    cells = Explain().prompt(TWO).text.splitlines()
    number = {
        line.partition("| ")[2]: int(line.partition(".")[0]) for line in cells if " | " in line and line[0].isdigit()
    }
    good = GOOD.model_copy(update={"cells": [number["Warranty: 5 years"], number["Price: £47.50"]]})
    endpoint.otherwise = answer({"sentences": [good.model_dump()]})
    outcome = await decide(Explain(), TWO, model, print)
    assert not outcome.degraded
    assert card_texts(outcome.decided, 1) == [good.text]
    assert card_texts(outcome.decided, 2) == card_texts(Explain().fallback(TWO), 2)


async def test_a_model_that_makes_something_up_twice_is_not_believed(model: LanguageModel, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer({"sentences": [MADE_UP.model_dump(), SELLS.model_dump()]})
    outcome = await decide(Explain(), TWO, model, print)
    assert outcome.decided == Explain().fallback(TWO)
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("sentence", "problem"), [(MADE_UP, "do not say 6 years"), (SELLS, "definitely"), (GOOD, "do not say")]
)
def test_what_is_wrong_with_a_sentence_is_said(sentence: Sentence, problem: str) -> None:
    wrong = sentence.model_copy(update={"cells": [1, 6]})
    with pytest.raises(Unusable, match=problem):
        Explain().check(TWO, Sentences(sentences=[wrong]))
