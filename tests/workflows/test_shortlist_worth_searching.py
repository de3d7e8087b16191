"""The adviser looks no further for a product that is out, for a price in the buyer's own currency where only others are
known, and for one product alone where somebody asks about it before anything is filled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tablewright.domain.model import Money
from tablewright.domain.shortlist import CONFIRM, ENRICH, MODIFY, PAGE_COLUMN, PRICE_COLUMN, PRODUCT_COLUMN
from tests.pages import Page
from tests.workflows.test_shortlist_with_model import LIGHT, WEIGHT, ZORBLERS, products, scripted, turn

COLOUR = WEIGHT | {"name": "Colour", "type": "text", "unit": "", "question": "Which colour has {Product}?"}
UNDER_850 = LIGHT | {"words": "at most 850 g", "kind": "must", "hard": True, "operator": "<=", "values": ["850 g"]}


async def test_a_product_that_is_out_is_not_searched_for_until_it_is_let_in(tmp_path: Path) -> None:
    """The Zorbler 3 is too heavy by its own page, so nobody searches for its colour. Once it may be heavier, whether it
    is red decides, and is looked for."""
    red = UNDER_850 | {"words": "red", "column": "Colour", "operator": "contains", "values": ["red"]}
    relaxed = UNDER_850 | {"words": "at most 950 g", "values": ["950 g"]}
    turns = [turn(wishes=[UNDER_850, red], columns=[WEIGHT, COLOUR]), turn(wishes=[relaxed, red])]
    pages = ZORBLERS | {f"/{n}": Page(f"Zorbler {n}", f"<p>The Zorbler {n} weighs 800 g.</p>") for n in range(5, 9)}
    names = products(*(f"Zorbler {n}" for n in range(3, 9)))
    replies = {"TurnReply": turns, "ProposedColumns": {"columns": []}, "ProductsReply": names}
    async with scripted(tmp_path, pages, **replies) as (chat, web, _script):
        reply = await chat.say("at most 850 g, and red", CONFIRM, ENRICH)
        rows = {str(row.cell(PRODUCT_COLUMN).value): row for row in (await chat.table()).rows}
        assert (rows["Zorbler 3"].cell("Weight").value, rows["Zorbler 4"].cell("Weight").value) == (0.9, 0.8)
        assert "Zorbler 3" not in [card.name for card in reply.cards]
        assert "No search was made for it" in (rows["Zorbler 3"].cell("Colour").error or "")
        assert "No search was made" not in (rows["Zorbler 4"].cell("Colour").error or "")
        assert ("Zorbler 3" in web.queries, web.queries.count("Zorbler 4")) == (False, 1)
        reply = await chat.say("up to 950 g is fine", CONFIRM)
        assert "nothing new was searched" not in reply.text
        assert ("Zorbler 3" in web.queries, web.queries.count("Zorbler 4")) == (True, 1)
        rows = {str(row.cell(PRODUCT_COLUMN).value): row for row in (await chat.table()).rows}
        assert "No search was made" not in (rows["Zorbler 3"].cell("Colour").error or "")


def read_prices(prompt: str, form: dict[str, Any]) -> dict[str, Any]:
    if "Cells" not in form["$defs"]:
        return {"numbers": [1, 2, 3]}
    found = re.findall(r"<<TEXT (\d+) [^<]*?costs ([£$][\d.]+)\.", prompt)
    prices = [
        {
            "value": price,
            "basis": "stated",
            "quotes": [{"text": int(n), "quote": f"costs {price}"}],
            "calculation": "",
            "alternatives": [],
        }
        for n, price in found
    ]
    texts = [{"text": int(n), "same_row": "same", "reason": "named"} for n, _ in found]
    cells = {name: prices if name == PRICE_COLUMN else [] for name in form["$defs"]["Cells"]["properties"]}
    return {"texts": texts, "cells": cells}


async def test_a_price_in_the_currency_of_the_budget_is_looked_for_where_only_another_is_known(tmp_path: Path) -> None:
    """Just over the limit at a rate of exchange, and within it where it is to be bought."""
    pages = {
        "/own": Page("Zorb", "<p>The Zorbler 3 by Zorb costs $65.00.</p>"),
        "/shop": Page("Shop", "<p>price: The Zorbler 3 here costs £49.00.</p>", found_by="price"),
    }
    replies = {
        "ProductsReply": products("Zorbler 3"),
        "ProposedColumns": {"columns": []},
        "Patterns": {"patterns": ["%entity price"]},
        "Choice": {"numbers": [1]},
        "RowReply": read_prices,
    }
    async with scripted(tmp_path, pages, **replies) as (chat, web, _script):
        reply = await chat.say("/form product: zorbler | budget: 50 GBP", CONFIRM, ENRICH)
        (row,) = (await chat.table()).rows
        assert row.cell(PRICE_COLUMN).value == Money(amount=49.0, currency="GBP")
        assert "Zorbler 3 price" in web.queries
        assert [card.name for card in reply.cards] == ["Zorbler 3"]


async def test_a_product_known_in_another_currency_only_comes_after_those_that_are_not(tmp_path: Path) -> None:
    pages = {
        "/3": Page("Zorbler 3", "<p>The Zorbler 3 by Zorb costs $55.00.</p>"),
        "/4": Page("Zorbler 4", "<p>The Zorbler 4 by Zorb costs £45.00.</p>"),
    }
    cheap = {
        "words": "cheap",
        "kind": "priority",
        "hard": False,
        "column": PRICE_COLUMN,
        "operator": "lowest",
        "values": [],
    }
    budget = cheap | {"words": "under £50", "kind": "budget", "hard": True, "operator": "<", "values": ["50 GBP"]}
    replies = {"TurnReply": turn(wishes=[budget, cheap]), "ProposedColumns": {"columns": []}, "RowReply": read_prices}

    def read_rows(prompt: str, form: dict[str, Any]) -> dict[str, Any]:
        sections = re.split(r"=== ROW \d+ ===", prompt)[1:]
        names = [name for name in form["properties"] if name.startswith("row ")]
        return {name: read_prices(text, form) for name, text in zip(names, sections, strict=True)}

    async with scripted(tmp_path, pages, **replies, Rows=read_rows) as (chat, _, _script):
        reply = await chat.say("under £50, the cheaper the better", CONFIRM, ENRICH)
        assert [card.name for card in reply.cards] == ["Zorbler 4", "Zorbler 3"]
        said = " ".join(each.text for each in reply.cards[1].said)
        assert "under £50: Price is known in another currency only (55.00 USD, about 44 GBP)" in said
        assert (reply.cards[0].is_open, reply.cards[1].is_open) == (False, True)


async def test_a_question_about_one_product_is_answered_before_anything_is_filled(tmp_path: Path) -> None:
    asks = turn("columns", about_columns=["Weight"], products=[2])
    async with scripted(tmp_path, ZORBLERS, TurnReply=[turn(), asks]) as (chat, _, _script):
        await chat.say("a zorbler", CONFIRM)
        reply = await chat.say("how heavy is the second?")
        assert "Weight of Zorbler 4: 0.8 kg" in reply.text
        assert reply.buttons == (ENRICH, MODIFY), "the rest still waits"
        rows = {str(row.cell(PRODUCT_COLUMN).value): row for row in (await chat.table()).rows}
        assert rows["Zorbler 3"].cell("Weight").needs_work
        reply = await chat.say(ENRICH)
        assert [card.name for card in reply.cards] == ["Zorbler 3", "Zorbler 4"]


async def test_what_was_looked_up_for_a_question_is_answered_and_not_only_listed(tmp_path: Path) -> None:
    asks = turn("columns", columns=[WEIGHT], products=[1, 2], reply=[])
    said = {"text": "The Zorbler 4 is the lighter one, at 0.8 kg.", "calculation": ""}
    answers = turn("question", reply=[said | {"cells": [{"product": 2, "column": "Weight"}]}])
    replies = {"TurnReply": [turn(), asks, answers], "ProposedColumns": {"columns": []}}
    async with scripted(tmp_path, ZORBLERS, **replies) as (chat, _, script):
        await chat.say("a zorbler", CONFIRM, ENRICH)
        reply = await chat.say("which of the two is lighter?")
        assert reply.text == "The Zorbler 4 is the lighter one, at 0.8 kg."
        assert "Weight: 0.8 kg" in script.prompts("TurnReply")[-1]


async def test_a_column_that_was_dropped_comes_back_with_its_values(tmp_path: Path) -> None:
    turns = [turn("columns", drop_columns=["Weight"]), turn("columns", about_columns=["Weight"])]
    async with scripted(tmp_path, ZORBLERS, TurnReply=turns) as (chat, web, script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH, "no weight please")
        searched = len(web.queries)
        reply = await chat.say("put it back after all")
        assert "not shown any more: Weight" in script.prompts("TurnReply")[-1]
        assert "Now part of the comparison: Weight." in reply.text
        assert "Weight" in reply.columns
        assert len(web.queries) == searched, "nothing is looked for again"


async def test_a_column_that_is_there_is_shown_without_advice_on_the_same_table(tmp_path: Path) -> None:
    adds = turn("columns", columns=[WEIGHT], about_columns=["Weight"])
    async with scripted(tmp_path, ZORBLERS, TurnReply=adds) as (chat, _, script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        advised = len(script.prompts("AdviceReply"))
        reply = await chat.say("add the weight")
        assert "Weight" in reply.columns
        assert "Now part of the comparison" not in reply.text
        assert len(script.prompts("AdviceReply")) == advised


async def test_columns_that_the_wishes_of_another_product_use_are_kept(tmp_path: Path) -> None:
    kettle = turn("other product", product_type="kettle", wishes=[LIGHT])
    pages = ZORBLERS | {"/k": Page("Kettle 9", "<p>The Kettle 9 by Zorb weighs 700 g.</p>")}
    replies = {
        "TurnReply": [turn(wishes=[LIGHT], columns=[WEIGHT]), kettle],
        "PlannedQueries": [{"queries": ["zorbler"]}, {"queries": ["kettle"]}],
        "ProductsReply": products("Zorbler 3", "Zorbler 4", "Kettle 9"),
        "ProposedColumns": {"columns": []},
    }
    async with scripted(tmp_path, pages, **replies) as (chat, _, _script):
        await chat.say("a light zorbler", CONFIRM, ENRICH, "no, a kettle, a light one")
        assert [wish.column for wish in chat.state.requirements.wishes] == ["Weight"]
        assert [field.name for field in chat.state.columns] == ["Weight"]


async def test_a_page_of_the_maker_that_was_read_for_a_product_becomes_its_official_one(tmp_path: Path) -> None:
    """The maker's site is known from a sibling; the product itself was named by a shop."""
    own = {"/3": Page("Zorbler 3", "<p>The Zorbler 3 by Zorb weighs 900 g.</p>"), "/4": ZORBLERS["/4"]}

    def read(prompt: str) -> dict[str, Any]:
        page = re.findall(r"http://[\d.:]+/3", prompt)
        return products("Zorbler 3", "Zorbler 4", pages={"Zorbler 3": page[0] if page else ""})(prompt)

    async with scripted(tmp_path, own, ProductsReply=read) as (chat, web, _script):
        await chat.say("/form product: zorbler", CONFIRM)
        before = {row.cell(PRODUCT_COLUMN).value: row.cell(PAGE_COLUMN).value for row in (await chat.table()).rows}
        assert before == {"Zorbler 3": web.url("/3"), "Zorbler 4": None}
        await chat.say(ENRICH)
        after = {row.cell(PRODUCT_COLUMN).value: row.cell(PAGE_COLUMN) for row in (await chat.table()).rows}
        assert after["Zorbler 4"].value == web.url("/4")
        assert after["Zorbler 4"].basis == "judged"


async def test_another_currency_of_the_budget_has_the_known_pages_asked_for_prices_in_it(tmp_path: Path) -> None:
    """The shop asks euros and pounds; who first thinks in euros and then in pounds gets the price in pounds."""
    pages = {
        f"/{n}": Page(f"Zorbler {n}", f"<p>The Zorbler {n} by Zorb costs $7{n}.00. Here it costs £4{n}.00.</p>")
        for n in range(3, 9)
    }
    budget = {"words": "under $90", "kind": "budget", "hard": True, "column": PRICE_COLUMN, "operator": "<"}
    turns = [
        turn(wishes=[budget | {"values": ["90 USD"]}]),
        turn(wishes=[budget | {"words": "under £60", "values": ["60 GBP"]}]),
    ]

    def read_rows(prompt: str, form: dict[str, Any]) -> dict[str, Any]:
        sign = "£" if "in GBP" in script.asked[-1][1] else "$"
        names = [name for name in form["properties"] if name.startswith("row ")]
        sections = re.split(r"=== ROW \d+ ===", prompt)[1:] or [prompt]
        found = [one(text, sign, form) for text in sections]
        return dict(zip(names, found, strict=True)) if names else found[0]

    def one(text: str, sign: str, form: dict[str, Any]) -> dict[str, Any]:
        if "Cells" not in form["$defs"]:
            return {"numbers": []}
        number, price = re.findall(rf"<<TEXT (\d+) [^<]*?costs ({re.escape(sign)}[\d.]+)\.", text)[0]
        quotes = [{"text": int(number), "quote": f"costs {price}"}]
        prices = [{"value": price, "basis": "stated", "quotes": quotes, "calculation": "", "alternatives": []}]
        return {
            "texts": [{"text": int(number), "same_row": "same", "reason": "named"}],
            "cells": {PRICE_COLUMN: prices},
        }

    names = products(*(f"Zorbler {n}" for n in range(3, 9)))
    replies = {"TurnReply": turns, "ProposedColumns": {"columns": []}, "ProductsReply": names}
    async with scripted(tmp_path, pages, **replies, RowReply=read_rows, Rows=read_rows) as (chat, web, script):
        await chat.say("under $90", CONFIRM, ENRICH)
        assert {row.cell(PRICE_COLUMN).value.currency for row in (await chat.table()).rows} == {"USD"}  # type: ignore[union-attr]
        searched = len(web.queries)
        reply = await chat.say("I meant pounds: under £60", CONFIRM)
        assert "the known pages were asked again" in reply.text
        assert "Only prices in GBP, if there are any." in "".join(
            script.prompts("Rows")[-1:] + script.prompts("RowReply")[-1:]
        )
        assert {row.cell(PRICE_COLUMN).value.currency for row in (await chat.table()).rows} == {"GBP"}  # type: ignore[union-attr]
        assert [card.is_open for card in reply.cards] == [False] * 5
        assert len(web.queries) == searched
