"""Questions about the products of a comparison, answered by their cells."""

from __future__ import annotations

import pytest

from tablewright.decisions.answer_from_table import Answer, AnswerFromTable, Numbers, is_understood, why_not
from tablewright.decisions.decision import Unusable, decide
from tablewright.decisions.explain_tradeoffs import requirements_told
from tablewright.decisions.rank_products import rank
from tablewright.decisions.replies import bears, pushes
from tablewright.models.model import LanguageModel
from tablewright.table.model import Field, Money, Table

from ..models.endpoint import Endpoint, answer
from .test_rank_products import CARS, KETTLES, WANTED, row_of


def asked(question: str, table: Table = KETTLES, products: tuple[str, ...] = ()) -> AnswerFromTable:
    return AnswerFromTable(question=question, table=table, products=products)


def answers(question: str, table: Table = KETTLES) -> list[str]:
    return [said.text for said in Answer().fallback(asked(question, table))]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "which is the lightest?",
            "Strumley Pour is the lightest (0.7 kg (low confidence)) of 8 products whose weight can be compared.",
        ),
        (
            "what's the cheapest?",
            "Lowmarsh Plain has the lowest price (£22) of 6 products whose price can be compared.",
        ),
        (
            "Which has the longest warranty?",
            "Copperdene Classic has the longest warranty (10 years) of 8 products whose warranty can be compared.",
        ),
        (
            "which is the quietest, Nimbra Air or Vessany Uno?",
            "Nimbra Air is the quietest (60 dB) of 2 products whose noise can be compared.",
        ),
        ("what is the capacity of Vessany Uno?", "Vessany Uno: capacity 1.4 l."),
        ("how much does the Tarnbeck cost?", "Tarnbeck Ember 2: price £38."),
        ("how loud is Strumley Pour?", "The noise of Strumley Pour is not known; it can be looked up again."),
        ("is Vessany Uno made of steel?", "No: Vessany Uno is made of glass."),
        ("Does the Degree 15 have keep warm?", "Yes: Quillon Degree 15 has keep warm."),
        ("does Nimbra Air keep warm?", "Whether Nimbra Air has keep warm is not known; it can be looked up again."),
        ("Is Lowmarsh Plain under £30?", "Yes: Lowmarsh Plain costs £22."),
        (
            "which ones have a keep-warm function?",
            "Quillon Degree 15, Tarnbeck Ember 2 and Vessany Uno have keep warm.",
        ),
        (
            "Which ones hold more than 1.5 litres?",
            "Pellby Swift (1.7 l), Tarnbeck Ember 2 (1.7 l) and Lowmarsh Plain (1.7 l).",
        ),
        ("is the Nimbra lighter than the Vessany?", "Weight: Nimbra Air 0.8 kg; Vessany Uno 1.3 kg."),
        ("compare Nimbra Air and Quillon Degree 15", "Price: Nimbra Air £35; Quillon Degree 15 £47.50."),
    ],
)
def test_questions_about_kettles(question: str, first: str) -> None:
    assert answers(question)[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("which is the newest?", "Cedrano Volt 40 is the newest (2019) of 5 products whose year can be compared."),
        (
            "which has the best fuel economy?",
            "Alderon Roamer 1.6 has the highest fuel economy (58 mpg) "
            "of 4 products whose fuel economy can be compared.",
        ),
        ("which ones are diesel?", "Alderon Roamer 1.6 (diesel) and Elmstead Estate 2.0 D (diesel)."),
        (
            "which were made after 2014?",
            "Birchley City (2016), Cedrano Volt 40 (2019) and Elmstead Estate 2.0 D (2015).",
        ),
        ("does the Birchley City have bluetooth?", "Yes: Birchley City has features bluetooth."),
        ("is the Elmstead Estate a diesel?", "Yes: Elmstead Estate 2.0 D has fuel diesel."),
        (
            "largest boot?",
            "Elmstead Estate 2.0 D has the largest boot (610 l) of 4 products whose boot can be compared.",
        ),
    ],
)
def test_questions_about_cars(question: str, first: str) -> None:
    assert answers(question, CARS)[0] == first


def test_how_many_says_which_and_what_could_not_be_compared() -> None:
    assert answers("how many are under £40?") == [
        "4 of 6 products whose price can be compared: Pellby Swift (£29.99), Tarnbeck Ember 2 (£38), "
        "Nimbra Air (£35), Lowmarsh Plain (£22).",
        "The price of Strumley Pour is not known.",
        "Vessany Uno (€41) could not be compared.",
    ]


def test_more_about_a_product_is_all_that_its_cells_say() -> None:
    assert answers("tell me more about the Cedrano Volt", CARS) == [
        "Cedrano Volt 40: price £13,900, fuel electric, transmission automatic, mileage 18,000 mi, year 2019, "
        "features parking sensors and bluetooth, boot 370 litres, fuel economy and summary not known."
    ]


def test_a_comparison_says_what_is_the_same() -> None:
    assert answers("Degree 15 vs Ember 2")[-1] == "The same for both: keep warm yes, variable temperature yes."


def test_what_the_table_does_not_say_is_said_with_an_offer() -> None:
    assert answers("does Nimbra Air have wifi?") == [
        "The comparison does not say that of Nimbra Air; it can be added as a new column."
    ]
    assert not is_understood(asked("does Nimbra Air have wifi?"))
    assert is_understood(asked("which is the lightest?"))


LAMPS = Table(
    id="lamps",
    name="lamps",
    key_field="Product",
    fields=(
        Field(name="Product"),
        Field(name="Price", type="money", unit="EUR"),
        Field(name="Dimmable", type="boolean"),
        Field(name="USB port", type="boolean"),
    ),
    rows=tuple(
        row_of(place, {"Product": name, "Price": Money(amount=price), "Dimmable": dimmable, "USB port": port})
        for place, (name, price, dimmable, port) in enumerate(
            (("Orrin Beam", 89, True, True), ("Orrin Beam Mini", 49.9, True, False), ("Fyre Glow", 39, None, False)),
            start=1,
        )
    ),
)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("what is the price of Orrin Beam Mini?", ["Orrin Beam Mini: price €49.90."]),
        ("is there one under €40?", ["Fyre Glow (€39)."]),
        (
            "which are dimmable and have a USB port?",
            [
                "Orrin Beam and Orrin Beam Mini are dimmable.",
                "Whether Fyre Glow is dimmable is not known.",
                "Orrin Beam has USB port.",
            ],
        ),
    ],
)
def test_questions_about_lamps(question: str, texts: list[str]) -> None:
    assert answers(question, LAMPS) == texts


def test_products_that_are_given_need_no_name_in_the_question() -> None:
    given = asked("what is its capacity?", products=("Vessany Uno",))
    assert [said.text for said in Answer().fallback(given)] == ["Vessany Uno: capacity 1.4 l."]


QUESTIONS = (
    "which is the lightest?", "what is the price?", "compare Nimbra Air and Vessany Uno", "any without plastic?",
    "which have a warranty of at least 2 years?", "how many have keep warm?", "tell me about Pellby Swift",
    "is Tarnbeck Ember 2 made of glass?", "what colour is Vessany Uno?", "which is the loudest?", "who won the cup?",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_is_borne_by_its_cells(question: str) -> None:
    said = Answer().fallback(asked(question))
    assert said
    assert [bears(each, KETTLES, question) for each in said] == [""] * len(said)


# ── why not ──────────────────────────────────────────────────────────────────────────────────────────────────────────

RANKING = rank(KETTLES, WANTED)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Pellby Swift", ["Pellby Swift was left out: Material is plastic; you said “no plastic”."]),
        ("the Copperdene", ["Copperdene Classic was left out: Price £64 is over your budget of £50."]),
        (
            "Nimbra Air",
            [
                "Nimbra Air is in place 3 of 5.",
                "Nimbra Air has capacity 1 l (flagged as wrong); Tarnbeck Ember 2 has capacity 1.7 l.",
                "Nimbra Air has warranty 2 years; Quillon Degree 15 has warranty 5 years.",
            ],
        ),
        ("Marble One", ["That product is not among the candidates; it can be searched for and added."]),
    ],
)
def test_why_a_product_is_not_first(name: str, texts: list[str]) -> None:
    assert [said.text for said in why_not(name, KETTLES, RANKING)] == texts


def test_every_reason_is_borne_by_its_cells() -> None:
    for row in KETTLES.rows:
        for said in why_not(str(row.cell("Product").value), KETTLES, RANKING):
            assert bears(said, KETTLES, requirements_told(WANTED)) == "", said.text
            assert not pushes(said.text)


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────

ODD = asked("would the Vessany Uno suit a couple of big tea drinkers?")


def test_the_prompt_offers_known_cells_of_the_product_that_is_named() -> None:
    text = Answer().prompt(ODD).text
    assert "\n3. Vessany Uno | Capacity: 1.4 l\n" in text
    assert "Nimbra" not in text
    assert "Variable temperature" not in text


async def test_a_model_chooses_cells_by_number(model: LanguageModel, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer({"cells": [3, 99, 6]})
    outcome = await decide(Answer(), ODD, model, print)
    assert [said.text for said in outcome.decided] == ["Vessany Uno: capacity 1.4 l, keep warm yes."]


async def test_a_model_that_chooses_nothing_leaves_it_unanswered(model: LanguageModel, endpoint: Endpoint) -> None:
    endpoint.otherwise = answer({"cells": []})
    outcome = await decide(Answer(), ODD, model, print)
    assert outcome.decided == Answer().fallback(ODD)


def test_numbers_of_no_cell_are_not_believed() -> None:
    with pytest.raises(Unusable, match="1 to 8"):
        Answer().check(ODD, Numbers(cells=[77]))


def test_what_the_rule_understands_no_model_changes() -> None:
    question = asked("which is the lightest?")
    assert Answer().check(question, Numbers(cells=[1])) == Answer().fallback(question)
