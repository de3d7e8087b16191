"""The adviser with a model whose replies are told: what is asked of it, and what is made of its answers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.shortlist import CONFIRM, EDIT, ENRICH, GO_ON, MODIFY, PAGE_COLUMN, PRODUCT_COLUMN, TRY_AGAIN
from tablewright.llm.tasks.choose_pages import PAGE_GOALS
from tablewright.llm.tasks.translation import ASKED_LANGUAGES
from tablewright.messages.catalogue import CATALOGUES, list_context_texts
from tests.llm.endpoint import Asked, Reply, answer, running_endpoint
from tests.operating import shortlist_turn
from tests.pages import Page, SmallWeb, small_web
from tests.recorded import schema_of
from tests.workflows.chatting import Chat, chatting

ZORBLERS = {
    "/3": Page("Zorbler 3", "<p>The Zorbler 3 by Zorb weighs 900 g.</p>"),
    "/4": Page("Zorbler 4", "<p>The Zorbler 4 by Zorb weighs 800 g.</p>"),
}
WEIGHT = {"name": "Weight", "type": "number", "unit": "kg", "options": [], "question": "How heavy is {Product}?"}
LIGHT = {"words": "light", "kind": "priority", "hard": False, "column": "Weight", "operator": "lowest", "values": []}
PLANS, PICKS, PRODUCTS, COLUMNS = "PlannedQueries", "ProductPages", "ProductsReply", "ProposedColumns"
TURN, ADVICE, TRANSLATED = "TurnReply", "AdviceReply", "TranslatedLines"
READ = ("RowReply", "Rows")


def turn(intent: str = "wish", **values: Any) -> dict[str, Any]:
    given = {
        "intent": intent,
        "product_type": "zorbler",
        "region": "",
        "wishes": [],
        "columns": [],
        "drop_columns": [],
        "about_columns": [],
        "products": [],
        "like": 0,
        "count": 0,
        "path": "",
        "ready": True,
        "language": "en",
        "reply": [{"text": "All right.", "cells": [], "calculation": ""}],
    }
    return given | values


def products(*names: str, pages: dict[str, str] | None = None) -> Callable[[str], dict[str, Any]]:
    """Names those of them that stand in the texts of the prompt, each by the first text that has it."""

    def read(prompt: str) -> dict[str, Any]:
        texts = prompt.split("<<TEXT ")[1:]
        found = []
        for name in names:
            number = next((int(text.split()[0]) for text in texts if f"The {name} " in text), None)
            if number is not None:
                mentions = [{"text": number, "quote": name}]
                page = (pages or {}).get(name, "")
                found.append({"name": name, "maker": "Zorb", "official_page": page, "offered_as": "new"})
                found[-1]["mentions"] = mentions
        return {"products": found, "queries": []}

    return read


def read_weights(prompt: str, form: dict[str, Any]) -> dict[str, Any]:
    """Reads the weights, alone; chooses no further result to open, and plans no further search."""

    def row(text: str) -> dict[str, Any]:
        if "OtherPatterns" in form["$defs"]:
            return {"name": "", "patterns": []}
        if "Cells" not in form["$defs"]:
            return {"name": "", "patterns": []} if "OtherPatterns" in form["$defs"] else {"numbers": []}
        cells: dict[str, list[Any]] = {name: [] for name in form["$defs"]["Cells"]["properties"]}
        for number, weight in re.findall(r"<<TEXT (\d+) [^<]*?weighs (\d+) g", text) if "Weight" in cells else ():
            quote = {"text": int(number), "quote": f"weighs {weight} g"}
            same = [each for each in cells["Weight"] if each["value"] == f"{weight} g"]
            if same:
                same[0]["quotes"].insert(0, quote)
            else:
                stated = {
                    "value": f"{weight} g",
                    "basis": "stated",
                    "quotes": [quote],
                    "calculation": "",
                    "alternatives": [],
                }
                cells["Weight"].append(stated)
        texts = [int(number) for number in re.findall(r"<<TEXT (\d+) ", text) if number != "0"]
        return {"texts": [{"text": each, "same_row": "same", "reason": "named"} for each in texts], "cells": cells}

    names = [name for name in form["properties"] if name.startswith("row ")]
    sections = re.split(r"=== ROW \d+ ===", prompt)[1:]
    return dict(zip(names, map(row, sections), strict=True)) if names else row(prompt)


@dataclass
class Script:
    """Replies by the form that is asked for, and for the pages of products: one for all, or a list whose last stays."""

    replies: dict[str, Any]
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, request: Asked) -> Reply:
        schema = schema_of(request.body)
        prompt = str(request.body["messages"][-1]["content"])
        if schema == "Choice" and PAGE_GOALS["products"] in request.body["messages"][0]["content"]:
            schema = PICKS
        self.asked.append((schema, f"{request.body['messages'][0]['content']}\n{prompt}"))
        reply = self.replies.get(schema, read_weights) if schema in READ else self.replies[schema]
        if isinstance(reply, list):
            reply = reply.pop(0) if len(reply) > 1 else reply[0]
        if isinstance(reply, Reply):
            return reply
        if schema in READ:
            reply = reply(prompt, request.body["response_format"]["json_schema"]["schema"])
        return answer(reply(prompt) if callable(reply) else reply)

    def prompts(self, schema: str) -> list[str]:
        return [prompt for each, prompt in self.asked if each == schema]


@asynccontextmanager
async def scripted(
    home: Path, pages: dict[str, Page], others: Sequence[SmallWeb] = (), **replies: Any
) -> AsyncIterator[tuple[Chat, SmallWeb, Script]]:
    usual: dict[str, Any] = {
        TURN: turn(),
        PLANS: {"queries": ["zorbler"]},
        PICKS: {"numbers": list(range(1, 31))},
        PRODUCTS: products("Zorbler 3", "Zorbler 4"),
        COLUMNS: {"columns": [WEIGHT]},
        ADVICE: {"ties": [], "intro": [], "cards": [], "closing": []},
        "Patterns": {"patterns": ["%entity"]},
        "OtherPatterns": {"name": "", "patterns": []},
        "Choice": {"numbers": []},
    }
    script = Script(usual | replies)
    async with small_web(pages) as web, running_endpoint() as endpoint:
        web.others += others
        endpoint.otherwise = script
        asked = replace(web.settings(home), model="openai:gpt-4o-mini", model_base_url=endpoint.url, model_api_key="k")
        async with chatting(asked) as chat:
            yield chat, web, script


# ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_ten_to_fifteen_queries_from_several_angles_are_asked_for_and_no_more_are_sent(tmp_path: Path) -> None:
    planned = [f"zorbler angle {number}" for number in range(1, 17)]
    async with scripted(tmp_path, ZORBLERS, PlannedQueries={"queries": ["zorbler angle 1", *planned]}) as parts:
        chat, web, script = parts
        await chat.say("/form product: zorbler", CONFIRM)
        (prompt,) = script.prompts(PLANS)
        assert "Give at least 10 and at most 12 queries." in prompt
        for angle in (
            "catalogues",
            "tests and comparisons",
            "forums",
            "price limit",
            "features",
            "use",
            "alternatives",
        ):
            assert angle in prompt
        assert sorted(web.queries) == sorted(planned[:12]), "each once, and none beyond the limit"
        assert set(chat.state.tried) == set(planned[:12])


async def test_where_nothing_is_found_it_is_looked_for_once_more_and_more_broadly(tmp_path: Path) -> None:
    plans = [{"queries": ["quiet red thing"]}, {"queries": ["zorbler"]}]
    async with scripted(tmp_path, ZORBLERS, PlannedQueries=plans) as (chat, web, script):
        reply = await chat.say("/form product: zorbler | nice: quiet", CONFIRM)
        assert "2 candidates found." in reply.text
        first, second = script.prompts(PLANS)
        assert "more broadly" not in first
        assert "They found nothing: search more broadly" in second
        assert "quiet red thing" in second, "it sees what found nothing"
        assert (web.queries[0], web.queries[-1]) == ("quiet red thing", "zorbler")


async def test_where_nothing_is_found_twice_that_is_said_and_nobody_searches_on(tmp_path: Path) -> None:
    plans = [{"queries": ["quiet red thing"]}, {"queries": ["red thing"]}, {"queries": ["zorbler"]}]
    async with scripted(tmp_path, ZORBLERS, PlannedQueries=plans) as (chat, web, script):
        reply = await chat.say("/form product: zorbler", CONFIRM)
        assert "No product was found." in reply.text
        assert "zorbler" not in web.queries
        assert (chat.state.phase, reply.buttons) == ("intake", (TRY_AGAIN, EDIT))
        assert len(script.prompts(PLANS)) == 2
        reply = await chat.say(TRY_AGAIN)
        assert "2 candidates found." in reply.text
        assert "red thing" in script.prompts(PLANS)[-1], "what found nothing is not sent again"


async def test_searches_that_all_fail_are_made_once_more_before_that_is_said(tmp_path: Path) -> None:
    async with scripted(tmp_path, ZORBLERS, PlannedQueries=[{"queries": ["one"]}, {"queries": ["two"]}]) as parts:
        chat, web, script = parts
        web.search_status = 403
        reply = await chat.say("/form product: zorbler", CONFIRM)
        assert "The search failed" in reply.text
        assert set(web.queries) == {"one", "two"}
        assert len(script.prompts(PLANS)) == 2


async def test_a_budget_whose_currency_is_asked_for_is_kept_meanwhile(tmp_path: Path) -> None:
    budget = {"words": "under 50", "kind": "budget", "hard": True, "column": "Price", "operator": "<", "values": ["50"]}
    asks = [{"text": "In which currency?", "cells": [], "calculation": ""}]
    replies = [turn(wishes=[budget], ready=False, reply=asks), turn(wishes=[budget | {"values": ["50 EUR"]}])]
    async with scripted(tmp_path, {}, TurnReply=replies) as (chat, _, script):
        assert (await chat.say("a zorbler under 50")).text == "In which currency?"
        assert len(script.prompts(TURN)) == 1, "nothing of the reply was refused"
        assert (await chat.say("euros")).buttons == (CONFIRM, EDIT)
        assert "“under 50” → Price < 50" in script.prompts(TURN)[1]


async def test_a_result_that_was_left_out_is_offered_again_where_it_is_found_again(tmp_path: Path) -> None:
    """A page that seemed of no use may be the one of a maker that is looked for now."""

    def read(prompt: str) -> dict[str, Any]:
        return products("Zorbler 3", "Zorbler 4")(prompt) | {"queries": ["zorbler 4 maker"]}

    picks = [{"numbers": [1]}, {"numbers": [1]}]
    async with scripted(tmp_path, ZORBLERS, ProductsReply=read, ProductPages=picks) as (chat, _, script):
        reply = await chat.say("/form product: zorbler", CONFIRM)
        first, second = script.prompts(PICKS)
        assert ("[2] Zorbler" in first, "[1] Zorbler" in second, "[2] Zorbler" in second) == (True, True, False)
        assert "2 candidates found." in reply.text


async def test_a_makers_page_that_refuses_visitors_is_still_the_official_one(tmp_path: Path) -> None:
    pages = {
        "/shop": Page("A shop", "<p>The Zorbler 3 costs £20.</p>"),
        "/own": Page("Zorbler 3 by Zorb", "<p>zorbler</p>", status=403, snippet="The zorbler of the future."),
    }

    def read(prompt: str) -> dict[str, Any]:
        address = next(line.split(" — ")[1] for line in prompt.splitlines() if line.startswith("[1] Zorbler 3 by Zorb"))
        return products("Zorbler 3", pages={"Zorbler 3": address})(prompt)

    async with scripted(tmp_path, pages, ProductsReply=read) as (chat, web, script):
        await chat.say("/form product: zorbler", CONFIRM)
        assert "could not be opened" in script.prompts(PRODUCTS)[0]
        (row,) = (await chat.table()).rows
        assert row.cell(PAGE_COLUMN).value == web.url("/own")


async def test_of_more_candidates_than_are_compared_the_most_suitable_stay_however_late_they_were_found(
    tmp_path: Path,
) -> None:
    """The second search brings the best one, and each reading says itself which of its products suit best."""
    first = [f"Zorbler {number}" for number in range(1, 7)]
    page = " ".join(f"The {name} is blue." for name in first)
    pages = {
        "/many": Page("Many zorblers", f"<p>zorbler. {page}</p>"),
        "/late": Page("Late", "<p>maker. The Zorb Nine is red. The Zorb Eight is green.</p>"),
    }

    def read(prompt: str) -> dict[str, Any]:
        found = products("Zorb Nine", "Zorb Eight", *first)(prompt)
        for product in found["products"]:
            if product["name"] == "Zorbler 2":
                product["offered_as"] = "discontinued"
        return found | {"queries": ["maker"]}

    async with scripted(tmp_path, pages, ProductsReply=read) as (chat, _, _script):
        chat.app.settings = replace(chat.app.settings, shortlist_products="4")
        reply = await chat.say("/form product: zorbler", CONFIRM)
        names = [row.cell(PRODUCT_COLUMN).value for row in (await chat.table()).rows]
        assert names == ["Zorbler 1", "Zorbler 3", "Zorb Nine", "Zorb Eight"], "none that is discontinued"
        assert "8 candidates found.\n4 of them are compared; the limit allows no more." in reply.text


@pytest.mark.parametrize(
    "then",
    [
        pytest.param({"intent": "more"}, id="more products"),
        pytest.param({"intent": "columns", "columns": [{**WEIGHT, "name": "Mass"}]}, id="another column"),
    ],
)
async def test_a_column_that_waits_to_be_confirmed_is_filled_by_whatever_is_asked_for_next(
    tmp_path: Path, then: dict[str, Any]
) -> None:
    """Somebody adds a wish, and goes on without pressing a button: the wish is judged all the same."""
    heavy = LIGHT | {"words": "at most 850 g", "kind": "must", "hard": True, "operator": "<=", "values": ["850 g"]}
    turns = [
        turn(wishes=[heavy], columns=[WEIGHT]),
        turn(then["intent"], wishes=[heavy], columns=then.get("columns", [])),
    ]
    async with scripted(tmp_path, ZORBLERS, TurnReply=turns, ProposedColumns={"columns": []}) as (chat, _, script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        waits = await chat.say("at most 850 g")
        assert waits.buttons == (CONFIRM, EDIT)
        reply = await chat.say("and then")
        assert "Weight: not looked up" in script.prompts(TURN)[-1]
        assert [card.name for card in reply.cards] == ["Zorbler 4"]
        assert not reply.cards[0].is_open
        assert chat.state.columns == ()


async def test_where_none_is_left_the_ones_just_found_are_told_first(tmp_path: Path) -> None:
    """Somebody asks for more, and hears why those that were found do not do."""
    light = LIGHT | {"words": "under 100 g", "kind": "must", "hard": True, "operator": "<", "values": ["100 g"]}
    turns = [turn("more", wishes=[light])]
    plans = [{"queries": ["zorbler"]}, {"queries": ["further"]}]
    pages = ZORBLERS | {"/5": Page("Further", "<p>further: The Zorb Five by Zorb weighs 950 g.</p>")}
    names = products("Zorbler 3", "Zorbler 4", "Zorb Five")
    replies = {"TurnReply": turns, "PlannedQueries": plans, "ProductsReply": names}
    async with scripted(tmp_path, pages, **replies) as (chat, _, _script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        reply = await chat.say("more, under 100 g")
        told = [line for line in reply.text.splitlines() if ": Weight is" in line]
        assert [line.split(":")[0] for line in told] == ["Zorb Five", "Zorbler 3", "Zorbler 4"]


async def test_a_question_about_one_product_leaves_what_waits_to_be_confirmed(tmp_path: Path) -> None:
    heavy = LIGHT | {"words": "at most 850 g", "kind": "must", "hard": True, "operator": "<=", "values": ["850 g"]}
    turns = [
        turn(wishes=[heavy], columns=[WEIGHT]),
        turn("columns", wishes=[heavy], columns=[{**WEIGHT, "name": "Mass"}], products=[1]),
    ]
    async with scripted(tmp_path, ZORBLERS, TurnReply=turns, ProposedColumns={"columns": []}) as (chat, _, _script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH, "at most 850 g")
        assert (await chat.say("how heavy is the first?")).buttons == (CONFIRM, EDIT)
        reply = await chat.say(CONFIRM)
        assert [card.name for card in reply.cards] == ["Zorbler 4"]


# ── a fresh start ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_changed_category_starts_over_with_nothing_of_the_one_before(tmp_path: Path) -> None:
    wish = turn(wishes=[LIGHT], columns=[WEIGHT])
    kettle = {"product_type": "kettle", "wishes": [], "reply": []}
    pages = ZORBLERS | {"/k": Page("Kettle 9", "<p>The Kettle 9 by Zorb is a kettle.</p>")}
    async with scripted(
        tmp_path,
        pages,
        TurnReply=[wish, turn("other product", **kettle)],
        PlannedQueries=[{"queries": ["zorbler"]}, {"queries": ["kettle"]}],
        ProductsReply=products("Zorbler 3", "Zorbler 4", "Kettle 9"),
    ) as (chat, _, script):
        await chat.say("a light zorbler", CONFIRM)
        before = chat.state
        assert (before.buttons, before.requirements.wishes[0].words) == ((ENRICH, MODIFY), "light")
        reply = await chat.say("no, I need a kettle after all")
        assert "We start over with kettle." in reply.text
        assert f"The table {before.table_id} is kept." in reply.text
        after = chat.state
        assert (after.requirements.product_type, after.requirements.wishes) == ("kettle", ())
        assert (after.table_id, after.tried, after.proposed, after.columns, after.shown) == ("", (), (), (), ())
        await chat.say(CONFIRM)
        assert chat.state.table_id not in ("", before.table_id)
        assert [row.cell(PRODUCT_COLUMN).value for row in (await chat.table()).rows] == ["Kettle 9"]
        assert "Known already" not in script.prompts(PRODUCTS)[-1]
        kept = await chat.app.load(before.table_id)
        assert [row.cell(PRODUCT_COLUMN).value for row in kept.rows] == ["Zorbler 3", "Zorbler 4"]


async def test_who_starts_over_is_asked_anew_and_keeps_the_table(tmp_path: Path) -> None:
    replies = [turn(wishes=[LIGHT], columns=[WEIGHT]), turn("start over", wishes=[LIGHT], reply=[])]
    async with scripted(tmp_path, ZORBLERS, TurnReply=replies) as (chat, _, _script):
        await chat.say("a light zorbler", CONFIRM)
        before = chat.state.table_id
        reply = await chat.say("let's start from scratch")
        assert reply.text == "What are you looking for?"
        assert (chat.state.phase, chat.state.table_id, chat.state.buttons) == ("intake", "", ())
        assert chat.state.requirements.product_type == ""
        assert chat.state.requirements.wishes == ()
        assert len((await chat.app.load(before)).rows) == 2


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_hidden_column_is_shown_to_nobody_any_more(tmp_path: Path) -> None:
    colour = WEIGHT | {"name": "Colour", "type": "text", "unit": "", "question": "Which colour has {Product}?"}
    hide, talk = turn("columns", drop_columns=["Colour"]), turn("talk")
    async with scripted(
        tmp_path,
        ZORBLERS,
        ProposedColumns={"columns": [WEIGHT, colour]},
        TurnReply=[hide, talk],
    ) as (chat, _, script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        assert "No longer shown: Colour." in (await chat.say("leave out the colour")).text
        await chat.say("hm")
        shown, hidden = script.prompts(TURN)
        assert "- Colour (text)" in shown
        assert "Colour (text)" not in hidden
        assert "- Weight (number, kg)" in hidden


async def test_a_column_that_nobody_fills_is_said_to_be_empty_and_nothing_is_advised_anew(tmp_path: Path) -> None:
    comfort = WEIGHT | {"name": "Comfort", "type": "text", "unit": "", "question": "How comfortable is {Product}?"}
    add = turn("columns", columns=[comfort])
    async with scripted(tmp_path, ZORBLERS, TurnReply=add) as (chat, _, script):
        assert (await chat.say("/form product: zorbler", CONFIRM, ENRICH)).cards
        before = len(script.prompts(ADVICE))
        reply = await chat.say("how comfortable are they?")
        assert reply.text.splitlines() == [
            "Now part of the comparison: Comfort.",
            "All right.",
            "Comfort was found for none of the candidates.",
        ]
        assert (reply.cards, len(script.prompts(ADVICE))) == ((), before)
        assert chat.state.phase == "advise"


# ── what is done with a comparison ───────────────────────────────────────────────────────────────────────────────────


def offer(text: int, shop: str, price: str, quote: str, offered_as: str = "new") -> dict[str, Any]:
    return {"text": text, "shop": shop, "price": price, "stock": "", "offered_as": offered_as, "quote": quote}


SHOPS = {
    "/dear": Page("Mall", "<p>The Zorbler 3 by Zorb weighs 900 g and costs £30.00.</p>"),
    "/used": Page("Attic", "<p>The Zorbler 3 used costs £9.00.</p>"),
    "/cheap": Page("Corner", "<p>The Zorbler 3 here costs £20.00.</p>"),
}


def read_offers(prompt: str) -> dict[str, Any]:
    found = re.findall(r"<<TEXT (\d+) \w+ \| (\w+) [^<]*?costs (£[\d.]+)", prompt)
    return {
        "offers": [
            offer(int(text), shop, price, f"costs {price}", "used" if shop == "Attic" else "new")
            for text, shop, price in found
        ]
    }


async def test_offers_are_asked_for_where_it_is_to_be_bought_and_the_cheapest_new_one_comes_first(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, SHOPS, ProductsReply=products("Zorbler 3"), OffersReply=read_offers) as parts:
        chat, web, _script = parts
        await chat.say("/form product: zorbler | budget: 25 GBP | region: Wales", CONFIRM, ENRICH)
        reply = await chat.say("/links 1")
        assert {"buy Zorbler 3 Wales", "Zorbler 3 price Wales"} <= set(web.queries)
        told = [(each.shop, str(each.price), each.offered_as, each.misses) for each in reply.listings]
        assert told == [
            ("Corner", "20.00 GBP", "new", ()),
            ("Mall", "30.00 GBP", "new", ("25 GBP",)),
            ("Attic", "9.00 GBP", "used", ()),
        ]
        assert chat.state.phase == "advise"


async def test_where_no_shop_offers_it_that_is_said(tmp_path: Path) -> None:
    async with scripted(tmp_path, SHOPS, ProductsReply=products("Zorbler 3"), OffersReply={"offers": []}) as parts:
        chat, _web, _script = parts
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        assert "No shop was found that offers Zorbler 3." in (await chat.say("/links 1")).text


async def test_a_doubted_value_is_shown_with_its_makers_words_and_with_what_others_say(tmp_path: Path) -> None:
    """A shop names it first, and the maker's words are told all the same."""
    shops = {
        "/a": Page("Shop", "<p>zorbler: The Zorbler 3 here weighs 900 g.</p>"),
        "/b": Page("Other shop", "<p>zorbler: The Zorbler 3 there weighs 950 g.</p>"),
    }
    own = {"/own": Page("Zorb", "<p>The Zorbler 3 by Zorb weighs 900 g.</p>")}

    def read(prompt: str) -> dict[str, Any]:
        texts = [line for line in prompt.splitlines() if line.startswith("<<TEXT") and "http" in line]
        page = next(text.split(" | ")[-1].rstrip(">") for text in texts if "| Zorb |" in text)
        named = [
            {"text": int(text.split()[1]), "quote": "Zorbler 3"} for text in sorted(texts, key=lambda t: "Zorb |" in t)
        ]
        product = {"name": "Zorbler 3", "maker": "Zorb", "official_page": page, "offered_as": "new", "mentions": named}
        return {"products": [product], "queries": []}

    async with (
        small_web(shops) as shop,
        scripted(tmp_path, own, others=[shop], ProductsReply=read) as (chat, web, _script),
    ):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        text = (await chat.say("/wrong 1 Weight")).text
        assert f"the source still says 0.9 kg ({web.address}: “weighs 900 g”)." in text
        assert text.endswith(f"Another source says 0.95 kg, {shop.address}.")


async def test_what_was_taken_out_is_not_found_again_and_an_empty_comparison_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, ZORBLERS) as (chat, _, script):
        await chat.say("/form product: zorbler | nice: Weight < 1 kg", CONFIRM, ENRICH)
        await chat.say("/remove 1", "/remove 1", "/drop 1")
        reply = await chat.say(CONFIRM)
        assert "Zorbler 3" in script.prompts(PLANS)[-1], "it is told what need not be found"
        assert (await chat.table()).rows == ()
        assert reply.text.startswith("No product was found.\n")
        assert (chat.state.phase, reply.buttons) == ("advise", (TRY_AGAIN, EDIT))


async def test_what_changed_since_the_first_comparison_is_remembered_with_its_trigger(tmp_path: Path) -> None:
    colour = WEIGHT | {"name": "Colour", "type": "text", "unit": "", "question": "Which colour has {Product}?"}
    replies = [turn("columns", columns=[colour]), turn("more", like=1)]
    async with scripted(tmp_path, ZORBLERS, TurnReply=replies) as (chat, _, _script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        await chat.say("which colours?", "more like the first, please")
        assert [(each.loop, each.changed, each.trigger) for each in chat.state.refinements] == [
            (1, "added Colour", "which colours?"),
            (2, "more options like Zorbler 3", "more like the first, please"),
        ]


async def test_more_products_and_new_columns_wait_for_a_yes_once_their_price_was_said(tmp_path: Path) -> None:
    colour = WEIGHT | {"name": "Colour", "type": "text", "unit": "", "question": "Which colour has {Product}?"}
    turns = [
        turn("columns", columns=[colour], ready=False),
        turn("more", count=2, ready=False),
        turn("take back"),
        turn("more", count=2, ready=False),
        turn("agree"),
        turn("question"),
    ]
    async with scripted(tmp_path, ZORBLERS, TurnReply=turns) as (chat, web, _script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        searched = len(web.queries)
        told = await chat.say("which colours?")
        assert "Filling 2 cells takes at most" in told.text
        assert told.buttons == (GO_ON,)
        assert (await chat.table()).field("Colour") is None
        done = await chat.say(GO_ON)
        assert (await chat.table()).field("Colour") is not None
        assert GO_ON not in done.buttons
        looked_up = len(web.queries)
        told = await chat.say("two more")
        assert "That takes up to 24 searches and 45 pages to find more; each of up to 2 new ones" in told.text
        assert (await chat.say("no, leave it")).buttons == ()
        assert (chat.state.refinement, chat.state.waiting) == (None, "")
        assert len(web.queries) == looked_up >= searched, "nothing was searched before a yes"
        await chat.say("two more", "yes")
        assert [each.changed for each in chat.state.refinements] == ["added Colour", "more options"]
        assert (chat.state.refinement, chat.state.waiting) == (None, "")


async def test_personal_data_reaches_no_model_and_what_is_off_the_topic_no_advice(tmp_path: Path) -> None:
    wish = turn(wishes=[LIGHT], columns=[WEIGHT])
    turns = [turn("refuse"), turn("talk"), wish, turn("agree"), turn("agree")]
    async with scripted(tmp_path, ZORBLERS, TurnReply=turns) as (chat, web, script):
        await chat.say("sell me a gun", "how is the weather?", "a light zorbler; write to jo@example.org", "yes", "yes")
        advised = script.prompts(ADVICE)[-1]
        assert "a light zorbler; write to …" in advised
        assert "gun" not in advised
        assert "weather" not in advised
        assert all("jo@" not in prompt for _, prompt in script.asked)
        assert all("jo@" not in query for query in web.queries)


async def test_a_cell_of_a_table_is_quoted_as_a_source_with_the_header_of_the_table(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>The Zorbler {n} by Zorb</td><td>red</td><td>weighs {n}00 g</td></tr>" for n in (3, 4))
    table = f"<table><tr><th>Model</th><th>Colour</th><th>Mass</th></tr>{rows}</table>"
    pages = {"/all": Page("Zorbler models", f"<p>All that Zorb makes.</p>{table}")}
    async with scripted(tmp_path, pages, ProductsReply=products("Zorbler 3")) as (chat, _, _script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH)
        assert "“Model | Colour | Mass / weighs 300 g”" in (await chat.say("/source 1 Weight")).text


async def test_a_further_search_reads_no_page_whose_products_are_all_there(tmp_path: Path) -> None:
    pages = ZORBLERS | {
        "/5": Page("Further", "<p>further: The Zorbler 5 by Zorb weighs 950 g.</p>", found_by="further")
    }
    plans = [{"queries": ["zorbler"]}, {"queries": ["zorbler further"]}]
    names = products("Zorbler 3", "Zorbler 4", "Zorbler 5")
    replies = {"TurnReply": turn("more"), "PlannedQueries": plans, "ProductsReply": names}
    async with scripted(tmp_path, pages, **replies) as (chat, _, script):
        await chat.say("/form product: zorbler", CONFIRM, ENRICH, "more")
        assert [row.cell(PRODUCT_COLUMN).value for row in (await chat.table()).rows][-1] == "Zorbler 5"
        offered, read = script.prompts(PICKS)[-1], script.prompts(PRODUCTS)[-1]
        assert "/5" in offered
        assert "/5" in read
        assert "/3 " not in offered
        assert "The Zorbler 3 by" not in read
        assert "Zorbler 3" in read, "as one that is known"


# ── other languages ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def language() -> str:
    """One that nobody else speaks."""
    return "zz"


def in_zz(line: str) -> str:
    """Every word in capitals, but those in braces."""
    return re.sub(r"\{\w+\}|[^{}]+", lambda part: part[0] if part[0][0] == "{" else part[0].upper(), line)


async def test_our_own_lines_and_buttons_are_translated_once_for_a_language(tmp_path: Path, language: str) -> None:
    translated = {"lines": [in_zz(line) for _, line in list_context_texts("shortlist")]}
    wish = turn(language=language, wishes=[LIGHT], columns=[WEIGHT])
    async with scripted(tmp_path, ZORBLERS, TurnReply=wish, TranslatedLines=translated) as (chat, _, script):
        reply = await chat.say("zz zz")
        assert reply.text.startswith("All right.\nLOOKING FOR: zorbler.\n1. light: Weight LOWEST (COUNTS)\n")
        assert reply.buttons == chat.state.buttons == (CONFIRM.upper(), EDIT.upper())
        assert "2 CANDIDATES FOUND." in (await chat.say(CONFIRM.upper())).text
        assert len(script.prompts(TRANSLATED)) == 1, "what the model answered is kept"
        CATALOGUES.pop(language)
        ASKED_LANGUAGES.clear()
        other = await chat.app.store.shortlists.start()
        _, reply = await shortlist_turn(chat.app, other.id, "zz zz")
        assert "LOOKING FOR: zorbler." in reply.text
        assert len(script.prompts(TRANSLATED)) == 1


async def test_a_translation_with_other_places_for_values_stays_english(tmp_path: Path, language: str) -> None:
    lines = [in_zz(line) for _, line in list_context_texts("shortlist")]
    lines[list_context_texts("shortlist").index(("shortlist", "Looking for: {product}."))] = "{product.__class__}: ZZ"
    wish = turn(language=language)
    async with scripted(tmp_path, ZORBLERS, TurnReply=wish, TranslatedLines={"lines": lines}) as (chat, _, script):
        reply = await chat.say("zz zz")
        assert "Looking for: zorbler." in reply.text
        assert reply.buttons == (CONFIRM.upper(), EDIT.upper())
        told, again = script.prompts(TRANSLATED)
        assert "the words in braces are not the same in: 'Looking for: {product}.'" in again
        assert "1. Confirm Requirements" in told


async def test_a_model_that_cannot_translate_is_not_asked_again_and_the_lines_stay_english(
    tmp_path: Path, language: str
) -> None:
    wish = turn(language=language)
    async with scripted(tmp_path, ZORBLERS, TurnReply=wish, TranslatedLines={"lines": []}) as (chat, _, script):
        assert "Looking for: zorbler." in (await chat.say("zz zz")).text
        asked = len(script.prompts(TRANSLATED))
        assert (await chat.say("zz")).buttons == (CONFIRM, EDIT)
        assert len(script.prompts(TRANSLATED)) == asked


async def test_an_outage_while_translating_lasts_one_turn(tmp_path: Path, language: str) -> None:
    translated = {"lines": [in_zz(line) for _, line in list_context_texts("shortlist")]}
    wish, replies = turn(language=language), [Reply(status=401), translated]
    async with scripted(tmp_path, ZORBLERS, TurnReply=wish, TranslatedLines=replies) as (chat, _, _script):
        assert "Looking for: zorbler." in (await chat.say("zz zz")).text
        assert "LOOKING FOR: zorbler." in (await chat.say("zz")).text
