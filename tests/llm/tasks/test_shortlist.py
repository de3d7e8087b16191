"""The adviser's judgements: what a prompt shows, what code refuses of a reply and why, and what is left of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Field, Money
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import Card, ChatMessage, ChatReply, ReplySentence, Requirements, ShopListing, Wish
from tablewright.llm.tasks.choose_pages import Choice, ChoosePages, Offer, pages_for_products
from tablewright.llm.tasks.decision import InvalidReply
from tablewright.llm.tasks.shortlist.advice import AdviceReply, AdviceToGive, GiveAdvice
from tablewright.llm.tasks.shortlist.columns import ColumnsToPropose, ProposeColumns, ProposedColumns
from tablewright.llm.tasks.shortlist.offers import OffersReply, OffersToRead, ReadOffers
from tablewright.llm.tasks.shortlist.products import FindProducts, PagesForProducts, ProductsReply, merge_products
from tablewright.llm.tasks.shortlist.prompt_parts import ComparedRow
from tablewright.llm.tasks.shortlist.searches import (
    PlannedQueries,
    PlanSearches,
    SearchesToPlan,
)
from tablewright.llm.tasks.shortlist.turn import TakeTurn, TurnReply, TurnTaken, TurnToTake
from tablewright.values.coerce import coerce_value

BUDGET = Wish(words="under £50", kind="budget", column="Price", operator="<", values=("50 GBP",))
WANTED = Requirements(product_type="electric kettle", region="UK", wishes=(BUDGET,))
FIELDS = (
    Field(name="Price", type="money"),
    Field(name="Capacity", type="number", unit="l"),
    Field(name="Keep warm", type="boolean"),
)
ROWS = (
    ComparedRow(
        row_id=7,
        name="Zorb Kettle 15",
        cells={"Maker": "Zorb", "Price": "47.50 GBP", "Capacity": "1.5 l", "Keep warm": ""},
        verdict="place 1",
    ),
    ComparedRow(row_id=3, name="Nimbus One", cells={"Price": "61.00 GBP"}, verdict="left out: Price is 61.00 GBP"),
)
ASKED = TurnToTake(
    message="which is cheaper, and how much?",
    step="ADVISE: the comparison was presented.",
    requirements=WANTED,
    messages=(ChatMessage(role="user", text="a kettle under £50"),),
    fields=FIELDS,
    rows=ROWS,
)


def turn(**values: Any) -> TurnReply:
    given: dict[str, Any] = {
        "intent": "question",
        "product_type": "electric kettle",
        "region": "UK",
        "wishes": [wish("under £50", "Price", "<", "50 GBP", kind="budget")],
        "columns": [],
        "drop_columns": [],
        "about_columns": [],
        "products": [],
        "like": 0,
        "count": 0,
        "path": "",
        "ready": False,
        "language": "en",
        "reply": [sentence("The first one is.")],
    }
    return TurnReply.model_validate(given | values)


def wish(words: str, column: str, operator: str, *values: str, kind: str = "must", hard: bool = True) -> dict[str, Any]:
    return {"words": words, "kind": kind, "hard": hard, "column": column, "operator": operator, "values": list(values)}


def sentence(text: str, *cells: tuple[int, str], calculation: str = "") -> dict[str, Any]:
    shown = [{"product": product, "column": column} for product, column in cells]
    return {"text": text, "cells": shown, "calculation": calculation}


def refused(reply: TurnReply) -> tuple[str, TurnTaken]:
    with pytest.raises(InvalidReply) as problem:
        TakeTurn().check(ASKED, reply)
    assert isinstance(problem.value.usable, TurnTaken)
    return str(problem.value), problem.value.usable


# ── the turn ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_shows_the_conversation_the_requirements_and_the_ranked_comparison() -> None:
    text = TakeTurn().prompt(ASKED).text
    assert "User: a kettle under £50" in text
    assert "- budget, hard: “under £50” → Price < 50 GBP" in text
    assert "- Capacity (number, l)" in text
    assert "[1] Zorb Kettle 15 | Price: 47.50 GBP | Capacity: 1.5 l | Keep warm: ? | place 1" in text
    assert "left out: Price is 61.00 GBP" in text
    assert text.rindex("which is cheaper") > text.rindex("comparison")


def test_the_last_reply_of_the_adviser_is_shown_whole_and_earlier_ones_are_shortened() -> None:
    messages = (
        ChatMessage(role="advisor", text="old " * 400 + "end of the first"),
        ChatMessage(role="user", text="and then?"),
        ChatMessage(role="advisor", text="new " * 400 + "end of the second"),
    )
    text = TakeTurn().prompt(msgspec.structs.replace(ASKED, messages=messages)).text
    assert "end of the second" in text
    assert "end of the first" not in text


def test_a_reply_is_kept_with_its_cards_tables_and_offers() -> None:
    card = Card(
        place=1, row_id=7, name="Zorb Kettle 15", score=0.9, said=(ReplySentence(text="It is light."),), best_for="tea"
    )
    offer = ShopListing(shop="Corner", url="http://corner.example", product="Zorb Kettle 15", stock="2 left")
    dear = msgspec.structs.replace(offer, shop="Mall", price=Money(amount=60.0, currency="GBP"), misses=("under £50",))
    reply = ChatReply(
        said=(ReplySentence(text="Here:"),),
        cards=(card,),
        rows=(("Zorb Kettle 15", "1.5 l"),),
        listings=(offer, dear),
        notes=(ReplySentence(text="Not checked: “quiet”."),),
    )
    assert reply.whole().splitlines() == [
        "Here:",
        "1. Zorb Kettle 15, best for tea: It is light.",
        "Zorb Kettle 15, Corner: no price named, 2 left",
        "Zorb Kettle 15, Mall: 60.00 GBP, 2 left, does not meet “under £50”",
        "Not checked: “quiet”.",
    ]
    assert reply.text == "Here:\nNot checked: “quiet”."
    assert "1. Zorb Kettle 15, am besten für tea: It is light." in reply.whole("de")
    assert msgspec.structs.replace(reply, cards=(), listings=(), notes=()).whole() == "Here:\nZorb Kettle 15"


def test_figures_come_from_cited_cells_the_user_or_a_calculation() -> None:
    said = [
        sentence("The Zorb Kettle 15 costs 47.50 GBP, within your £50.", (1, "Price")),
        sentence("It is 13.50 GBP cheaper.", (1, "Price"), (2, "Price"), calculation="61.00 - 47.50"),
        sentence("Two cost 95 and 122 GBP.", (1, "Price"), (2, "Price"), calculation="2 * 47.50; 2 * 61.00"),
    ]
    taken = TakeTurn().check(ASKED, turn(reply=said))
    assert [each.text for each in taken.said] == [each["text"] for each in said]
    assert {cell.row_id for cell in taken.said[1].cells} == {3, 7}


def test_the_figures_of_a_wish_as_the_model_states_it_need_no_cell() -> None:
    about = wish("about 2 litres", "Capacity", "between", "1.8 l", "2.2 l")
    said = [sentence("I take 1.8 to 2.2 l as about 2.")]
    assert TakeTurn().check(ASKED, turn(intent="wish", wishes=[about], reply=said)).left_out == 0


def test_a_quantity_may_be_told_in_another_unit_and_no_other_quantity() -> None:
    right, wrong = sentence("It holds 1,500 ml.", (1, "Capacity")), sentence("It holds 1,700 ml.", (1, "Capacity"))
    assert TakeTurn().check(ASKED, turn(reply=[right])).left_out == 0
    problem, _ = refused(turn(reply=[wrong]))
    assert "1,700" in problem


def test_the_figures_of_names_of_products_and_columns_need_no_cell() -> None:
    timed = msgspec.structs.replace(ASKED, fields=(*FIELDS, Field(name="Time for 3 l", type="number", unit="s")))
    said = [sentence("How long the Kettle 15 takes for 3 l is not known.", (1, "Time for 3 l"))]
    assert TakeTurn().check(timed, turn(reply=said)).left_out == 0


def test_a_question_may_propose_a_figure_while_nothing_is_compared() -> None:
    empty = msgspec.structs.replace(ASKED, rows=(), messages=())
    asks = sentence("Would about 1.7 litres do?")
    assert [each.text for each in TakeTurn().check(empty, turn(reply=[asks])).said] == ["Would about 1.7 litres do?"]
    with pytest.raises(InvalidReply, match=r"1\.7"):
        TakeTurn().check(empty, turn(reply=[sentence("Most hold 1.7 litres.")]))
    assert "1.7" in refused(turn(reply=[asks]))[0], "beside a comparison it would be taken for a fact"


@pytest.mark.parametrize(
    ("text", "cells", "calculation"),
    [
        ("It boils in 140 seconds.", [(1, "Capacity")], ""),
        ("It costs 61.00 GBP.", [(1, "Price")], ""),
        ("It is 20 GBP cheaper.", [(1, "Price"), (2, "Price")], "81 - 61.00"),
    ],
)
def test_a_made_up_figure_is_refused_and_the_rest_is_kept(
    text: str, cells: list[tuple[int, str]], calculation: str
) -> None:
    good = sentence("The Nimbus One is dearer.", (2, "Price"))
    problem, left = refused(turn(reply=[sentence(text, *cells, calculation=calculation), good]))
    assert text[:20] in problem
    assert ([said.text for said in left.said], left.left_out) == (["The Nimbus One is dearer."], 1)


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        (wish("big", "Volume", ">=", "1 l"), "neither there nor in `columns`"),
        (wish("big", "Capacity", ">=", "plenty"), "neither a number nor a date"),
        (wish("cheap", "Price", "<", "50"), "needs a currency"),
        (wish("warm", "Keep warm", "=", "long"), "yes/no column"),
        (wish("warm", "Keep warm", ">", "3 min"), "compares figures"),
        (wish("big", "Capacity", "between", "1 l"), "needs 2 value(s)"),
        (wish("", "Capacity", ">=", "1 l"), "no `words`"),
    ],
)
def test_a_wish_that_cannot_be_evaluated_is_refused_and_changes_nothing(stated: dict[str, Any], problem: str) -> None:
    said, left = refused(turn(intent="wish", wishes=[stated]))
    assert problem in said
    assert left.requirements == WANTED


def test_a_budget_needs_its_currency_only_when_there_is_nothing_left_to_ask() -> None:
    """Whoever says "under 50" is asked which currency that is; what was said is not lost meanwhile."""
    asking = turn(intent="wish", wishes=[wish("under 50", "Price", "<", "50", kind="budget")])
    undecided = TurnToTake(message="a kettle under 50", step="", requirements=Requirements(), is_undecided=True)
    assert TakeTurn().check(undecided, asking).requirements.wishes[0].values == ("50",)
    for asked, reply in (
        (undecided, asking.model_copy(update={"ready": True})),
        (msgspec.structs.replace(undecided, is_undecided=False), asking),
    ):
        with pytest.raises(InvalidReply, match="needs a currency"):
            TakeTurn().check(asked, reply)


def test_new_wishes_bring_their_columns_and_those_that_cannot_be_checked_stay_in_words() -> None:
    wishes = [wish("quiet", "Noise", "<", "70 dB"), wish("pretty", "", "", kind="nice", hard=False)]
    column = {"name": "Noise", "type": "number", "unit": "dB", "options": [], "question": "How loud is it?"}
    taken = TakeTurn().check(ASKED, turn(intent="wish", wishes=wishes, columns=[column], ready=True))
    assert [describe_condition(each) for each in taken.requirements.wishes] == ["Noise < 70 dB", ""]
    (noise,) = taken.columns
    assert (noise.name, noise.unit) == ("Noise", "dB")
    assert "{Product}" in noise.question


def test_what_is_refused_leaves_the_requirements_as_they_were() -> None:
    taken = TakeTurn().check(ASKED, turn(intent="refuse", product_type="something illegal", wishes=[]))
    assert taken.requirements == WANTED


def test_a_file_goes_only_where_the_user_says() -> None:
    def path(said: str, path: str) -> str:
        asked = msgspec.structs.replace(ASKED, message=said)
        return TakeTurn().check(asked, turn(intent="export", path=path)).path

    assert path("save it as /data/kettles.csv", "/data/kettles.csv") == "/data/kettles.csv"
    assert path("save it as a spreadsheet", "/etc/cron.d/kettles.xlsx") == "kettles.xlsx"
    assert path("save it", "") == ""


def test_products_are_meant_by_their_numbers_and_others_do_not_count() -> None:
    taken = TakeTurn().check(ASKED, turn(intent="links", products=[2, 9, 0, 2], like=1))
    assert (taken.products, taken.like) == ((3,), 7)


# ── finding products ─────────────────────────────────────────────────────────────────────────────────────────────────

PAGE = Retrieved(
    origin="http://zorb.example/kettles",
    title="Kettles - Zorb",
    text="Zorb Kettle 15\nCapacity: 1.5 l\n\nZorb Kettle 17\nCapacity: 1.7 l",
    domain="zorb.example",
    links=("http://zorb.example/kettles/15",),
)
SHOP = Retrieved(origin="http://shop.example/z", title="Zorb at Shop", text="Zorb Kettle 15\n£44.95, in stock\n")


def named(name: str, quote: str, page: str = "", text: int = 1) -> dict[str, Any]:
    mentions = [{"text": text, "quote": quote}]
    return {"name": name, "maker": "Zorb", "official_page": page, "offered_as": "new", "mentions": mentions}


def found(*products: dict[str, Any]) -> Any:
    asked = PagesForProducts(requirements=WANTED, sources=(PAGE, SHOP))
    return FindProducts().check(asked, ProductsReply.model_validate({"products": products, "queries": ["Zorb"]}))


def test_products_are_named_by_quotes_and_siblings_of_one_page_are_two() -> None:
    reply = found(
        named("Zorb Kettle 15", "Zorb Kettle 15", "http://zorb.example/kettles/15/"),
        named("Zorb Kettle 17", "Zorb Kettle 17"),
    )
    assert [(each.name, each.official_url) for each in reply.products] == [
        ("Zorb Kettle 15", "http://zorb.example/kettles/15"),
        ("Zorb Kettle 17", ""),
    ]
    assert reply.products[0].evidence[0].quote == "Zorb Kettle 15"
    assert (
        "Links:\nhttp://zorb.example/kettles/15"
        in FindProducts().prompt(PagesForProducts(requirements=WANTED, sources=(PAGE,))).text
    )


@pytest.mark.parametrize(
    ("product", "problem", "left"),
    [
        (named("Zorb Kettle 19", "Zorb Kettle 19"), "is not in text 1", 0),
        (named("Zorb Kettle 19", "Zorb Kettle 19", text=5), "there is no text 5", 0),
        (named("Zorb Kettle 15", "Zorb Kettle 15", "http://zorb.example/made-up"), "neither one of the texts", 1),
    ],
)
def test_a_product_or_an_address_that_was_not_seen_is_refused(product: dict[str, Any], problem: str, left: int) -> None:
    with pytest.raises(InvalidReply, match=problem) as refusal:
        found(product)
    usable: Any = refusal.value.usable
    assert len(usable.products) == left
    assert all(not each.official_url for each in usable.products)


def test_what_several_pages_say_of_a_product_is_one_product() -> None:
    first = found(named("Zorb Kettle 15", "Zorb Kettle 15")).products
    second = found(named("Zorb Kettle 15", "Zorb Kettle 15", "http://zorb.example/kettles/15", text=2)).products
    (product,) = merge_products(first, second)
    assert product.official_url == "http://zorb.example/kettles/15"
    assert [each.origin for each in product.evidence] == [PAGE.origin, SHOP.origin]


def test_a_used_offer_counts_where_used_goods_are_wanted() -> None:
    new = found(named("Zorb Kettle 15", "Zorb Kettle 15")).products
    used = found(named("Zorb Kettle 15", "Zorb Kettle 15", text=2) | {"offered_as": "used"}).products
    assert [each.offered_as for each in merge_products(new, used)] == ["new"]
    assert [each.offered_as for each in merge_products(new, used, {"used"})] == ["used"]


def test_the_price_is_asked_where_it_is_to_be_bought_or_in_the_currency_of_the_budget() -> None:
    def question(**changed: Any) -> str:
        wanted = msgspec.structs.replace(WANTED, **changed)
        return ProposeColumns().fallback(ColumnsToPropose(requirements=wanted))[0].question

    assert question().endswith("an answer for each. Only prices for buyers in UK, in GBP, if there are any.")
    assert question(region="").endswith("an answer for each. Only prices in GBP, if there are any.")
    assert question(region="", wishes=()).endswith("an answer for each.")


def test_queries_are_new_ones() -> None:
    asked = SearchesToPlan(requirements=WANTED, least=1, most=3, sent=("zorb kettle",))
    planned = PlanSearches().check(asked, PlannedQueries(queries=["Zorb kettle", "quiet kettle", "quiet kettle"]))
    assert planned == ("quiet kettle",)
    with pytest.raises(InvalidReply, match="no new query"):
        PlanSearches().check(asked, PlannedQueries(queries=["zorb KETTLE"]))


def test_of_more_than_a_hundred_results_the_strictest_choice_is_asked_for_and_a_few_are_opened() -> None:
    offers = tuple(
        Offer(origin=f"http://shop.example/{number}", title=f"Kettle {number}", snippet="") for number in range(101)
    )
    asked = pages_for_products(WANTED).among(offers, 30)
    strict = " There are many results: choose only those that surely help."
    assert ChoosePages().prompt(asked).text.endswith(f"Choose at most 30.{strict}")
    assert len(ChoosePages().check(asked, Choice(numbers=list(range(1, 102))))) == 30
    assert ChoosePages().prompt(pages_for_products(WANTED).among(offers[:100], 30)).text.endswith("Choose at most 30.")


def test_columns_of_wishes_come_first_and_none_comes_twice() -> None:
    column = {"name": "capacity", "type": "number", "unit": "l", "options": [], "question": "How much does it hold?"}
    weight = column | {"name": "Weight", "unit": "kg", "question": "How heavy is {Product}?"}
    asked = ColumnsToPropose(requirements=WANTED, fields=FIELDS, sources=(PAGE,))
    fields = ProposeColumns().check(asked, ProposedColumns.model_validate({"columns": [column, weight]}))
    assert [field.name for field in fields] == ["Price", "Capacity", "Keep warm", "Weight"]


# ── advice and offers ────────────────────────────────────────────────────────────────────────────────────────────────


def test_advice_keeps_to_the_first_ones_and_to_their_figures() -> None:
    rows = (msgspec.structs.replace(ROWS[0], level=0), *ROWS[1:])
    asked = AdviceToGive(requirements=WANTED, rows=rows, columns=("Price", "Capacity"), top=1)
    card = {
        "product": 1,
        "best_for": "small kitchens",
        "why": sentence("It holds 1.5 l.", (1, "Capacity")),
        "trade_off": sentence("It costs 47.50 GBP.", (1, "Price")),
    }
    intro = [sentence("The Zorb Kettle 15 fits.", (1, "Product"))]
    reply = {"ties": [], "intro": intro, "cards": [card], "closing": []}
    advice = GiveAdvice().check(asked, AdviceReply.model_validate(reply))
    assert [said.text for said in advice.cards[0].said] == ["It holds 1.5 l.", "It costs 47.50 GBP."]
    wrong = reply | {"cards": [card, card | {"product": 2}], "closing": [sentence("It lasts 9 years.")]}
    with pytest.raises(InvalidReply) as problem:
        GiveAdvice().check(asked, AdviceReply.model_validate(wrong))
    assert "no card for the product 2" in str(problem.value)
    assert "the figure 9 is not in its cells" in str(problem.value)


def test_advice_breaks_ties_with_a_reason_and_changes_no_other_places() -> None:
    levels = (0, 1, 1, 2, None)
    names = ("First", "Second", "Third", "Fourth", "Out")
    rows = tuple(
        ComparedRow(row_id=10 + number, name=name, cells={"Tests": "fine"}, verdict="place", level=level)
        for number, (name, level) in enumerate(zip(names, levels, strict=True))
    )
    asked = AdviceToGive(requirements=WANTED, rows=rows, columns=("Tests",), top=2)
    nothing = sentence("Fine.")
    cards = [{"product": number, "best_for": "", "why": nothing, "trade_off": nothing} for number in (1, 3)]
    tie = {"products": [3, 2], "why": sentence("The testers liked the third more.", (3, "Tests"))}
    reply = {"ties": [tie], "intro": [], "cards": cards, "closing": []}
    advice = GiveAdvice().check(asked, AdviceReply.model_validate(reply))
    assert advice.order == (10, 12, 11, 13)
    assert [said.text for said in advice.ties] == ["The testers liked the third more."]
    assert [card.row_id for card in advice.cards] == [10, 12]
    for wrong in ([2, 1], [4, 5], [3], [3, 9]):
        with pytest.raises(InvalidReply) as problem:
            GiveAdvice().check(asked, AdviceReply.model_validate(reply | {"ties": [tie | {"products": wrong}]}))
        assert "are no tie" in str(problem.value)
        assert problem.value.usable.order == (10, 11, 12, 13)
    with pytest.raises(InvalidReply, match="no card for the product 3"):
        GiveAdvice().check(asked, AdviceReply.model_validate(reply | {"ties": []}))


def test_an_offer_has_its_price_in_its_quote() -> None:
    asked = OffersToRead(product="Zorb Kettle 15", region="UK", sources=(SHOP,), room=1_000)
    offer = {
        "text": 1,
        "shop": "Shop",
        "price": "£44.95",
        "stock": "in stock",
        "offered_as": "new",
        "quote": "£44.95, in stock",
    }
    (listing,) = ReadOffers().check(asked, OffersReply.model_validate({"offers": [offer]}))
    assert (str(listing.price), listing.stock, listing.shop) == ("44.95 GBP", "in stock", "Shop")
    with pytest.raises(InvalidReply, match="is not in its quote"):
        ReadOffers().check(asked, OffersReply.model_validate({"offers": [offer | {"price": "£39.00"}]}))


@pytest.mark.parametrize(
    ("line", "price", "alone"),
    [
        ("Zorb Kettle 45 – ¥31,900", "¥31,900", "31900 JPY"),
        ("Zorb Kettle 45 – 119,95 €", "119,95 €", "None"),
        ("Zorb Kettle 45 – 119,95 €, Deckel 9,50 €", "119,95 €", "None"),
    ],
)
def test_a_name_that_ends_in_a_number_is_no_end_of_a_price(line: str, price: str, alone: str) -> None:
    shop = msgspec.structs.replace(SHOP, text=line)
    asked = OffersToRead(product="Zorb Kettle 45", region="", sources=(shop,), room=1_000)
    offer = {"text": 1, "shop": "", "price": price, "stock": "", "offered_as": "new", "quote": line}
    (listing,) = ReadOffers().check(asked, OffersReply.model_validate({"offers": [offer]}))
    assert listing.price == coerce_value(price, Field(name="Price", type="money")).value
    (listing,) = ReadOffers().fallback(asked)
    assert str(listing.price) == alone


def test_a_converted_figure_needs_no_calculation_and_a_factor_in_one_does_no_harm() -> None:
    """A factor between two units is no fact of a product: by a named conversion the figure stands in the cell."""
    text = "It holds about 0.4 gallons."
    for calculation in ("", "1.5 / 3.785"):
        said = sentence(text, (1, "Capacity"), calculation=calculation)
        assert [each.text for each in TakeTurn().check(ASKED, turn(reply=[said])).said] == [text]
    problem, _ = refused(turn(reply=[sentence("It holds 9 pints.", (1, "Capacity"), calculation="1.5 / 0.17")]))
    assert "0.17" in problem
