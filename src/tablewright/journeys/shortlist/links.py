"""Where to buy: shops and marketplaces that offer a product, asked just now for price and stock."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

from tablewright.decisions.reader.about import Subject, about, mentions
from tablewright.decisions.site_kind import kinds
from tablewright.errors import SearchError
from tablewright.sources.source import Query, Source
from tablewright.table.evidence import evidence_for
from tablewright.table.money_text import read_amounts
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Listing

MOST_LISTINGS = 5
OPENED = 8
TITLED = 0.75
"""How surely a page must be the product's own, by its title, for any price on it to be the product's."""
_STOCK = re.compile(
    r"\b(?:(?:only \d+ |\d+ )?(?:left )?in stock|out of stock|sold out|not available|unavailable|available(?: again)?"
    r"(?: from [^.\n]{1,30})?|back in [^.\n]{1,30}|on order|ships? (?:in|within) [^.\n]{1,30}|discontinued)\b",
    re.IGNORECASE,
)


async def listings(name: str, web: Source) -> tuple[Listing, ...]:
    """The cheapest first, of those whose currency is the same; makers' own pages are no listings."""
    origins: dict[str, None] = {}
    for query in (f"buy {name}", f"{name} price in stock"):
        try:
            origins |= dict.fromkeys(hit.origin for hit in (await web.search(Query(text=query))).hits)
        except SearchError:
            continue
    opened = await asyncio.gather(*map(web.open_again, list(origins)[:OPENED]))
    pages = [page for page in opened if isinstance(page, Retrieved)]
    of = kinds(pages)
    found = [
        offer
        for page in pages
        if of.get(page.domain) in ("retailer", "marketplace") and (offer := offered(name, page)) is not None
    ]
    best: dict[str, Listing] = {}
    for offer in sorted(found, key=lambda each: -len(each.url)):
        best.setdefault(offer.shop, offer)  # the page of the product rather than the list it is on
    ranked = sorted(best.values(), key=lambda each: (each.price is None, each.price.amount if each.price else 0.0))
    return tuple(ranked)[:MOST_LISTINGS]


def offered(name: str, page: Retrieved) -> Listing | None:
    """The offer of a page that is about the product, or the line of a list that names it."""
    subject = Subject(name=name)
    is_its_own = about(subject, page.title, "") >= TITLED
    for start, end in _lines(page.text):
        line = page.text[start:end]
        amounts = [each.money for each in read_amounts(line) if each.money.currency]
        if amounts and (is_its_own or mentions(subject, line)):
            stock = _STOCK.search(line) or (_STOCK.search(page.text) if is_its_own else None)
            return Listing(
                shop=shop_of(page),
                url=page.origin,
                price=amounts[0],
                stock=stock[0] if stock else "",
                evidence=evidence_for(page, start, end),
                at=page.retrieved_at,
            )
    return None


def shop_of(page: Retrieved) -> str:
    """By the part of its title that is the site's name, else its domain."""
    label = page.domain.split(".")[0]
    parts = re.split(r"\s+[|·–—»:-]+\s+", page.title)
    named = [part for part in parts if label and re.sub(r"\W", "", part.casefold()).startswith(label[:5])]
    return named[0] if named else page.domain


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^\n]+", text):
        yield match.span()
