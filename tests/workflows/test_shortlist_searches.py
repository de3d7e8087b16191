"""Searches for candidates: which pages of a product are read, and what is said of those that are left out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.model import Evidence
from tablewright.domain.shortlist import CONFIRM, ENRICH, PRODUCT_COLUMN
from tablewright.workflows.shortlist.comparison import MAX_PAGES_PER_PRODUCT, rank_own_pages
from tablewright.workflows.shortlist.research import spread
from tests.pages import Page
from tests.workflows.test_shortlist_with_model import ZORBLERS, products, scripted


@pytest.mark.parametrize("has_official", [True, False])
async def test_a_page_of_a_later_search_is_read_though_the_first_one_found_many(
    tmp_path: Path, *, has_official: bool
) -> None:
    """The only seller of the region may be the last that is found."""
    early = {f"/{number}": Page(f"List {number}", "<p>zorbler: The Zorb Three is blue.</p>") for number in range(1, 6)}
    late = {"/late": Page("Shop", "<p>seller: The Zorb Three weighs 900 g.</p>")}

    def read(prompt: str) -> dict[str, Any]:
        texts = [line for line in prompt.splitlines() if re.match(r"<<TEXT \d+ .*http", line)]
        official = next((text.split(" | ")[-1].rstrip(">") for text in texts if "| List 5 |" in text), "")
        named = [{"text": int(text.split()[1]), "quote": "Zorb Three"} for text in texts]
        product = {"name": "Zorb Three", "maker": "Zorb", "offered_as": "new", "mentions": named}
        product["official_page"] = official if has_official else ""
        return {"products": [product], "queries": ["seller"]}

    async with scripted(tmp_path, early | late, ProductsReply=read) as (chat, web, _script):
        await chat.say("/form product: zorbler", CONFIRM)
        (row,) = (await chat.table()).rows
        paths = [page.removeprefix(web.url("")) for page in rank_own_pages(row)]
        assert len(row.cell(PRODUCT_COLUMN).evidence) == 6, "all that name it are kept"
        official = ["/5"] if has_official else []
        lists = [path for path in paths if path not in ("/5", "/late")]
        assert (paths[: len(official)], paths[-1], len(paths)) == (official, "/late", 6)
        assert len(lists) >= 4


async def test_a_further_search_says_what_it_left_out_and_not_that_only_some_are_compared(tmp_path: Path) -> None:
    plans = [{"queries": ["zorbler"]}, {"queries": ["further"]}]
    more = {"/5": Page("Further", "<p>further: The Zorb Five weighs 950 g. The Zorb Six weighs 700 g.</p>")}
    names = products("Zorbler 3", "Zorbler 4", "Zorb Five", "Zorb Six")
    replies = {"PlannedQueries": plans, "ProductsReply": names}
    async with scripted(tmp_path, ZORBLERS | more, **replies) as (chat, _, _script):
        chat.app.settings = replace(chat.app.settings, shortlist_products="1")
        reply = await chat.say("/form product: zorbler", CONFIRM)
        assert "2 candidates found.\n1 of them is compared; the limit allows no more." in reply.text
        await chat.say(ENRICH)
        reply = await chat.say("/more")
        assert "1 more was found and left out; the limit allows no more at once." in reply.text
        assert "2 candidates compared" in reply.text
        assert "is compared" not in reply.text


def test_a_page_about_one_product_is_looked_at_before_lists_and_other_pages_of_its_site() -> None:
    """However many pages name it: the advertisement is the only page that says how worn it is."""

    def at(*addresses: str) -> list[Evidence]:
        return [Evidence(origin=f"https://{address}", quote="Zorb", start=0, end=4) for address in addresses]

    readings = [
        at("maker.example/zorb", "ads.example/7", "shop.example/list"),
        at("shop.example/zorb", "lists.example/all"),
        at("forum.example/old", "magazine.example/index", "more.example/all"),
        at("magazine.example/zorb"),
    ]
    listed = {"shop.example/list", "lists.example/all", "more.example/all", "magazine.example/index"}
    named = {f"https://{address}": 9 for address in listed}
    found = [each.origin.removeprefix("https://") for each in spread(readings, "https://maker.example/zorb", named)]
    assert set(found[:MAX_PAGES_PER_PRODUCT]) == {
        "maker.example/zorb",
        "ads.example/7",
        "shop.example/zorb",
        "forum.example/old",
        "magazine.example/zorb",
        "lists.example/all",
    }
