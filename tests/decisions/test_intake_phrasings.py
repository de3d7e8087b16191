"""How people say what they want to buy: product, budget, musts, wishes, priorities, filters and exclusions, by rule."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.decisions.intake.edits import LISTS
from tablewright.decisions.intake_turn import Intake, IntakeTurn, edited, summarise
from tablewright.table.shortlist import PriceRange, Requirements

KETTLE = Requirements(
    product_type="kettle",
    budget=PriceRange(most=50, currency="GBP"),
    must_haves=("variable temperature",),
    nice_to_haves=("stainless steel",),
    priorities=("build quality", "price"),
    constraints=("no plastic",),
)


def gbp(most: float | None = None, least: float | None = None) -> PriceRange:
    return PriceRange(most=most, least=least, currency="GBP")


def usd(most: float | None = None, least: float | None = None) -> PriceRange:
    return PriceRange(most=most, least=least, currency="USD")


def eur(most: float | None = None, least: float | None = None) -> PriceRange:
    return PriceRange(most=most, least=least, currency="EUR")


def read(message: str) -> Requirements:
    return Intake().fallback(IntakeTurn(message=message)).requirements


WHOLE: list[tuple[str, dict[str, Any]]] = [
    ("I want a kettle with variable temperature, under £50",
     {"product_type": "kettle", "budget": gbp(50), "must_haves": ("variable temperature",)}),
    ("looking for desk lamps", {"product_type": "desk lamp"}),
    ("need a used car, diesel, 2015 or newer",
     {"product_type": "used car", "specifications": ("used", "2015 or newer", "diesel")}),
    ("recommend me noise-cancelling headphones for travel",
     {"product_type": "headphones", "must_haves": ("noise-cancelling",), "specifications": ("for travel",)}),
    ("I'm looking for a lightweight laptop with 16GB RAM and a good battery, budget is $1.5k",
     {"product_type": "laptop", "budget": usd(1500), "must_haves": ("16GB RAM",),
      "priorities": ("lightweight", "battery")}),
    ("Can you help me find a quiet dishwasher under 60 cm wide, no more than 600 euros?",
     {"product_type": "dishwasher", "budget": eur(600), "must_haves": ("under 60 cm wide",), "priorities": ("quiet",)}),
    ("desk lamp, dimmable, max 40 quid, no plastic please",
     {"product_type": "desk lamp", "budget": gbp(40), "must_haves": ("dimmable",), "constraints": ("no plastic",)}),
    ("I need a second hand mountain bike, £200-400, UK only, preferably with disc brakes",
     {"product_type": "mountain bike", "budget": gbp(400, 200), "nice_to_haves": ("disc brakes",),
      "specifications": ("second hand", "UK only")}),
    ("My washing machine died. I need a new one, quiet, 8kg, max 60cm wide, £400-£600",
     {"product_type": "washing machine", "budget": gbp(600, 400), "must_haves": ("8kg", "max 60cm wide"),
      "priorities": ("quiet",)}),
    ("Which stroller should I buy? Must fold with one hand and weigh under 7 kg",
     {"product_type": "stroller", "must_haves": ("fold with one hand", "weigh under 7 kg")}),
    ("mattress, double, medium firm, no memory foam, between £300 and £500",
     {"product_type": "mattress", "budget": gbp(500, 300), "must_haves": ("double", "medium firm"),
      "constraints": ("no memory foam",)}),
    ("I want to buy a smartwatch for swimming, not Apple, at least 5 days of battery",
     {"product_type": "smartwatch", "must_haves": ("at least 5 days of battery",), "specifications": ("for swimming",),
      "constraints": ("not Apple",)}),
    ("Thinking about getting an e-bike for commuting; range is key, ideally under 20 kg; €2,500 tops",
     {"product_type": "e-bike", "budget": eur(2500), "nice_to_haves": ("under 20 kg",), "priorities": ("range",),
      "specifications": ("for commuting",)}),
    ("I'd like a winter coat, size M, navy or black, not down, $150-250",
     {"product_type": "winter coat", "budget": usd(250, 150), "specifications": ("size M", "navy or black"),
      "constraints": ("not down",)}),
    ("A quiet keyboard with brown switches, wireless would be nice, don't want RGB",
     {"product_type": "keyboard", "must_haves": ("brown switches",), "nice_to_haves": ("wireless",),
      "priorities": ("quiet",), "constraints": ("no RGB",)}),
    ("I need a pan that works on induction and is oven safe, no teflon",
     {"product_type": "pan", "must_haves": ("works on induction", "oven safe"), "constraints": ("no teflon",)}),
    ("car, manual transmission, 2010-2020, avoid high mileage, from £3000 to £6000",
     {"product_type": "car", "budget": gbp(6000, 3000), "specifications": ("manual transmission", "2010-2020"),
      "constraints": ("avoid high mileage",)}),
    ("Looking for a 4K monitor, at least 27 inches, USB-C is a must, I care about colour accuracy",
     {"product_type": "monitor", "must_haves": ("4K", "at least 27 inches", "USB-C"),
      "priorities": ("colour accuracy",)}),
    ("espresso machine; I value ease of cleaning over speed; stainless steel body preferred",
     {"product_type": "espresso machine", "nice_to_haves": ("stainless steel body",),
      "priorities": ("ease of cleaning", "speed")}),
    ("router for a big house, wifi 6, not from TP-Link or Netgear",
     {"product_type": "router", "must_haves": ("wifi 6",), "specifications": ("for a big house",),
      "constraints": ("not from TP-Link", "not from Netgear")}),
    ("bookshelf, oak, at least 180cm tall, preferably second hand, near Bristol",
     {"product_type": "bookshelf", "must_haves": ("oak", "at least 180cm tall"), "nice_to_haves": ("second hand",),
      "specifications": ("near Bristol",)}),
    ("Looking to replace my old fridge freezer. It has to be frost free and no taller than 180 cm.",
     {"product_type": "fridge freezer", "must_haves": ("frost free",), "constraints": ("no taller than 180 cm",)}),
    ("hotel in Paris for two, parking included would be nice, at most €150",
     {"product_type": "hotel", "budget": eur(150), "nice_to_haves": ("parking included",),
      "specifications": ("in Paris", "for two")}),
    ("I need headphones. They must be wireless. Comfort is more important than sound quality. Nothing over $200.",
     {"product_type": "headphones", "budget": usd(200), "must_haves": ("wireless",),
      "priorities": ("comfort", "sound quality")}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "expected"), WHOLE, ids=[message[:40] for message, _ in WHOLE])
def test_a_first_message_is_read_whole(message: str, expected: dict[str, Any]) -> None:
    assert read(message) == Requirements(**expected)


@pytest.mark.parametrize(
    ("said", "budget"),
    [
        ("under £50", gbp(50)),
        ("below 50 quid", gbp(50)),
        ("at most 50 pounds", gbp(50)),
        ("up to $80", usd(80)),
        ("max 80 dollars", usd(80)),
        ("80 USD max", usd(80)),
        ("around 300 euros", eur(300)),
        ("between €100 and €200", eur(200, 100)),
        ("from £20 to £40", gbp(40, 20)),
        ("£30-50", gbp(50, 30)),
        ("fifty quid", gbp(50)),
        ("$1.5k", usd(1500)),
        ("2 grand tops", PriceRange(most=2000)),
        ("my budget is 40 euros", eur(40)),
        ("budget 200", PriceRange(most=200)),
        ("I can spend 90 GBP", gbp(90)),
        ("I don't want to spend more than £75", gbp(75)),
        ("no more than £75", gbp(75)),
        ("nothing over £75", gbp(75)),
        ("at least £100", gbp(None, 100)),
        ("over $1,000", usd(None, 1000)),
        ("not less than 100 EUR", eur(None, 100)),
        ("for CHF 120", PriceRange(most=120, currency="CHF")),
        ("under 60", PriceRange(most=60)),
        ("less than 350 bucks, no heavy ones", usd(350)),
        ("no budget brands, below 400 euros", eur(400)),
    ],
)
@pytest.mark.parametrize("form", ["I want a toaster, {}", "{} for a toaster"])
def test_what_is_to_be_spent_is_read_exactly(said: str, budget: PriceRange, form: str) -> None:
    assert read(form.format(said)).budget == budget


@pytest.mark.parametrize(
    "message",
    [
        "a kettle that holds at least 1.7 l",
        "a backpack under 2 kg",
        "a car, 2015 or newer, less than 60k miles",
        "a best budget 4k projector",
        "a laptop that weighs under 3 pounds",
        "a lamp below 10 W",
        "winter tyres, 205/55 R16",
    ],
)
def test_other_figures_are_not_money(message: str) -> None:
    assert read(message).budget is None


@pytest.mark.parametrize(
    ("said", "name", "item"),
    [
        ("it must have a timer", "must_haves", "timer"),
        ("it needs to be waterproof", "must_haves", "waterproof"),
        ("has to fit under a shelf", "must_haves", "fit under a shelf"),
        ("with a glass lid", "must_haves", "glass lid"),
        ("a timer is essential", "must_haves", "timer"),
        ("add a keep-warm function", "must_haves", "keep-warm function"),
        ("ideally wireless", "nice_to_haves", "wireless"),
        ("I'd prefer wood", "nice_to_haves", "wood"),
        ("a timer would be nice", "nice_to_haves", "timer"),
        ("nice to have: a lid", "nice_to_haves", "lid"),
        ("bluetooth optional", "nice_to_haves", "bluetooth"),
        ("a long cable if possible", "nice_to_haves", "long cable"),
        ("it would be great if it had an app", "nice_to_haves", "app"),
        ("most important is noise", "priorities", "noise"),
        ("speed matters most", "priorities", "speed"),
        ("I care about durability", "priorities", "durability"),
        ("my top priority is safety", "priorities", "safety"),
        ("prioritise weight", "priorities", "weight"),
        ("as cheap as possible", "priorities", "price"),
        ("second hand", "specifications", "second hand"),
        ("UK only", "specifications", "UK only"),
        ("manual transmission", "specifications", "manual transmission"),
        ("2010-2020", "specifications", "2010-2020"),
        ("must be refurbished", "specifications", "refurbished"),
        ("for the garden", "specifications", "for the garden"),
        ("no leather", "constraints", "no leather"),
        ("not from Acme", "constraints", "not from Acme"),
        ("nothing by Acme", "constraints", "not from Acme"),
        ("avoid cheap hinges", "constraints", "avoid cheap hinges"),
        ("without batteries", "constraints", "no batteries"),
        ("I don't want anything bulky", "constraints", "not bulky"),
        ("it must not be yellow", "constraints", "not yellow"),
        ("preferably no glass", "constraints", "no glass"),
        ("anything but Acme", "constraints", "not Acme"),
        ("I hate chrome", "constraints", "no chrome"),
        ("not second hand", "constraints", "not second hand"),
        ("not non-stick", "constraints", "not non-stick"),
    ],
)
def test_how_something_is_meant_decides_its_list(said: str, name: str, item: str) -> None:
    after = edited(Requirements(product_type="stroller"), said)
    assert {each: getattr(after, each) for each in LISTS if getattr(after, each)} == {name: (item,)}


EDITS: list[tuple[str, dict[str, Any]]] = [
    ("actually my budget is £30", {"budget": gbp(30)}),
    ("I want it under 40 quid", {"budget": gbp(40)}),
    ("raise the budget to 80", {"budget": gbp(80)}),
    ("make it between 40 and 60", {"budget": gbp(60, 40)}),
    ("up to 70 dollars", {"budget": usd(70)}),
    ("no budget limit", {"budget": None}),
    ("money is no object", {"budget": None}),
    ("drop the stainless steel", {"nice_to_haves": ()}),
    ("I don't need variable temperature any more", {"must_haves": ()}),
    ("variable temperature doesn't matter", {"must_haves": ()}),
    ("remove variable temperature and stainless steel", {"must_haves": (), "nice_to_haves": ()}),
    ("not Hearthline", {"constraints": ("no plastic", "not Hearthline")}),
    ("plastic is fine after all", {"constraints": ()}),
    ("no stainless steel", {"nice_to_haves": (), "constraints": ("no plastic", "no stainless steel")}),
    ("stainless steel is a must",
     {"nice_to_haves": (), "must_haves": ("variable temperature", "stainless steel")}),
    ("swap stainless steel for glass", {"nice_to_haves": ("glass",)}),
    ("capacity matters more than price", {"priorities": ("capacity", "price", "build quality")}),
    ("price first, then capacity", {"priorities": ("price", "capacity", "build quality")}),
    ("make it at least 1.5 l", {"must_haves": ("variable temperature", "at least 1.5 l")}),
    ("I want a timer", {"must_haves": ("variable temperature", "timer")}),
    ("I want a gooseneck kettle", {"product_type": "gooseneck kettle"}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "changed"), EDITS, ids=[message[:40] for message, _ in EDITS])
def test_a_correction_changes_only_what_it_names(message: str, changed: dict[str, Any]) -> None:
    unchanged = {name: getattr(KETTLE, name) for name in KETTLE.__struct_fields__}
    assert edited(KETTLE, message) == Requirements(**(unchanged | changed))


def test_a_list_of_exclusions_goes_on_with_or_while_it_is_of_one_kind() -> None:
    assert read("a bag, no wool, leather or cotton").constraints == ("no wool", "no leather", "no cotton")
    mixed = read("a rug, no wool, blue or grey")
    assert mixed.constraints == ("no wool",)
    assert mixed.specifications == ("blue or grey",)


def test_a_figure_replaces_the_figure_of_the_same_demand() -> None:
    one = edited(KETTLE, "make it at least 1.5 l")
    assert edited(one, "at least 2 l").must_haves == ("variable temperature", "at least 2 l")


def test_a_summary_is_one_sentence_with_everything() -> None:
    electric = Requirements(
        product_type="electric kettle",
        budget=PriceRange(most=50, currency="GBP"),
        must_haves=("variable temperature",),
        nice_to_haves=("stainless steel",),
        priorities=("build quality",),
        constraints=("no plastic",),
    )
    assert summarise(electric) == (
        "An electric kettle with variable temperature, at most £50, preferably of stainless steel; "
        "build quality matters most; no plastic."
    )
    assert summarise(Requirements()) == "Nothing is known yet."


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("headphones for travel, wireless", "Wireless headphones for travel."),
        ("a used car, diesel, 2015 or newer, £3000-6000",
         "A diesel used car, 2015 or newer, between £3000 and £6000."),
        ("a desk, at least SEK 900, running costs matter most",
         "A desk, at least 900 SEK; running costs matter most."),
    ],
)  # fmt: skip
def test_a_summary_reads_like_english(message: str, sentence: str) -> None:
    assert summarise(read(message)) == sentence
