"""Of several sellers' prices the lowest counts, in the currency of the budget; the card says who asks what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.model import Basis, Cell, Conflict, Evidence, Money
from tablewright.domain.shortlist import CONFIRM, ENRICH, PRICE_COLUMN
from tablewright.values.money import ExchangeRates
from tablewright.workflows.shortlist.comparison import take_lowest_price
from tests.pages import Page, small_web
from tests.workflows.test_shortlist_with_model import scripted

RATES = ExchangeRates(date="2026-01-02", per_euro={"EUR": 1.0, "GBP": 0.8, "USD": 1.1})


def money(amount: str) -> Money:
    figure, currency = amount.split()
    return Money(amount=float(figure), currency=currency)


def cell(*prices: str, basis: Basis = "stated") -> Cell:
    found = [Conflict(value=money(each), evidence=(Evidence(origin=f"http://{each[0]}.example/"),)) for each in prices]
    return Cell(
        value=found[0].value, evidence=found[0].evidence, conflict=tuple(found[1:]), basis=basis, status="ENRICHED"
    )


@pytest.mark.parametrize(
    ("prices", "currency", "lowest"),
    [
        (["399 EUR", "379 EUR"], "EUR", "379 EUR"),
        (["379 EUR", "399 EUR"], "EUR", "379 EUR"),
        (["45 EUR", "39 GBP", "30 USD"], "GBP", "39 GBP"),
        (["45 EUR", "30 USD"], "GBP", "30 USD"),
        (["45 EUR", "39 GBP", "30 USD"], "", "30 USD"),
        (["45 EUR", "3 XTS"], "", "45 EUR"),
        (["45 EUR"], "GBP", "45 EUR"),
    ],
)
def test_the_lowest_price_counts_in_the_currency_of_the_budget(prices: list[str], currency: str, lowest: str) -> None:
    found = take_lowest_price(cell(*prices), currency, RATES)
    assert found.value == money(lowest)
    assert found.evidence[0].origin == f"http://{lowest[0]}.example/", "with its own source"
    others = {str(each.value) for each in found.conflict}
    assert others == {str(money(each)) for each in prices} - {str(found.value)}, "and no price is lost"


def test_what_a_person_wrote_is_the_price() -> None:
    written = cell("399 EUR", "379 EUR", basis="given")
    assert take_lowest_price(written, "EUR", RATES) is written


async def test_a_sellers_price_within_the_budget_keeps_a_product_and_the_card_says_whose_it_is(tmp_path: Path) -> None:
    """The maker asks more than the budget; a shop asks less, and there it can be bought."""
    own = {"/own": Page("Zorb", "<p>The Zorbler 3 by Zorb costs £39.00.</p>")}
    shops = {"/a": Page("Shop", "<p>zorbler: The Zorbler 3 here costs £35.50.</p>")}

    def name(prompt: str) -> dict[str, Any]:
        texts = [line for line in prompt.splitlines() if line.startswith("<<TEXT") and "http" in line]
        page = next(text.split(" | ")[-1].rstrip(">") for text in texts if "| Zorb |" in text)
        named = [{"text": int(text.split()[1]), "quote": "Zorbler 3"} for text in texts]
        product = {"name": "Zorbler 3", "maker": "Zorb", "official_page": page, "offered_as": "new", "mentions": named}
        return {"products": [product], "queries": []}

    def read(prompt: str, _form: dict[str, Any]) -> dict[str, Any]:
        found = re.findall(r"<<TEXT (\d+) [^<]*?costs (£[\d.]+)\.", prompt)
        prices = [
            {
                "value": price,
                "basis": "stated",
                "quotes": [{"text": int(number), "quote": f"costs {price}"}],
                "calculation": "",
                "alternatives": [],
            }
            for number, price in found
        ]
        texts = [{"text": int(number), "same_row": "same", "reason": "named"} for number, _ in found]
        return {"texts": texts, "cells": {"Price": prices}}

    async with (
        small_web(shops) as shop,
        scripted(tmp_path, own, others=[shop], ProductsReply=name, ProposedColumns={"columns": []}, RowReply=read) as (
            chat,
            web,
            script,
        ),
    ):
        reply = await chat.say("/form product: zorbler | budget: 36 GBP", CONFIRM, ENRICH)
        (card,) = reply.cards
        said = " ".join(each.text for each in card.said)
        assert f"Prices found: 35.50 GBP ({shop.address}); 39.00 GBP ({web.address})." in said
        assert not card.is_open
        (row,) = (await chat.table()).rows
        assert row.cell(PRICE_COLUMN).value == Money(amount=35.5, currency="GBP"), "in the table and in files, too"
        assert row.cell(PRICE_COLUMN).evidence[0].domain == shop.address
        assert "Price: 35.50 GBP (also 39.00 GBP" in script.prompts("AdviceReply")[-1]
