"""Where to buy: shops and marketplaces that offer a product, asked just now for price and stock."""

from __future__ import annotations

import asyncio

import msgspec

from tablewright.decisions.read_offer import offered
from tablewright.decisions.site_kind import kinds
from tablewright.errors import SearchError
from tablewright.sources.source import Query, Source
from tablewright.store.records import now
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
    asked_at = now()  # not when a page that has not changed since was sent
    best: dict[str, Listing] = {}
    for page in sorted(pages, key=lambda each: -len(each.origin)):
        if of.get(page.domain) in ("retailer", "marketplace") and (offer := offered(name, page)) is not None:
            # The page of the product rather than the list it is on.
            best.setdefault(page.domain, msgspec.structs.replace(offer, at=asked_at))
    ranked = sorted(best.values(), key=lambda each: (each.price is None, each.price.amount if each.price else 0.0))
    return tuple(ranked)[:MOST_LISTINGS]
