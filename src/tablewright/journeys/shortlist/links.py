"""Where to buy: shops and marketplaces that offer a product, asked just now for price and stock."""

from __future__ import annotations

import asyncio

from tablewright.decisions.read_offer import offered
from tablewright.decisions.site_kind import kinds
from tablewright.errors import SearchError
from tablewright.sources.source import Query, Source
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Listing

MOST_LISTINGS = 5
OPENED = 8


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
