"""Where to buy: pages that offer a product, asked just now for price and stock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.shortlist.conditions import budget_currency
from tablewright.decisions.shortlist.offers import OffersToRead, ReadOffers
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import Requirements, ShopListing
from tablewright.gathering import Gathering
from tablewright.journeys.shortlist.ranking import missed_by, states_asked_for
from tablewright.sources.provenance import Provenance, telling
from tablewright.store.records import now
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Tools
from tablewright.text.personal import without_personal_data
from tablewright.values.money import Rates

MOST_LISTINGS = 5
OPENED = 12


async def listings(
    name: str,
    requirements: Requirements,
    known: tuple[str, ...],
    tools: Tools,
    rates: Rates,
    tell: Tell,
    language: str = "",
) -> tuple[ShopListing, ...]:
    """The cheapest first, in the state that is wanted before others; new, if nothing is said. What is
    over the budget is marked. `known` are pages that named the product before. Raises SearchError where no search
    worked."""
    region = requirements.region
    wanted = states_asked_for(requirements.wishes) or {"new"}
    with telling(Provenance(name, requirements, addresses=known)):
        pages = await shop_pages(name, region, known, tools, tell)
    if not pages:
        return ()
    room = tools.model.text_room if tools.model is not None else 0
    asked = OffersToRead(product=name, region=region, sources=pages, room=room)
    offers: tuple[ShopListing, ...] = (await decide(ReadOffers(), asked, tools.model, tell)).decided
    asked_at = now()  # not when a page that has not changed since was sent

    def order(offer: ShopListing) -> tuple[bool, float]:
        if offer.price is None:
            return offer.offered_as not in wanted, float("inf")
        euros = rates.convert(offer.price.amount, offer.price.currency, "EUR")
        return offer.offered_as not in wanted, offer.price.amount if euros is None else euros

    def marked(offer: ShopListing) -> ShopListing:
        if offer.price is None:
            return msgspec.structs.replace(offer, at=asked_at)
        misses = missed_by(offer.price, requirements, rates)
        about = rates.about_money(offer.price, budget_currency(requirements), language)
        return msgspec.structs.replace(offer, at=asked_at, misses=misses, about=about)

    best = {offer.url: marked(offer) for offer in sorted(offers, key=order)}
    return tuple(best.values())[:MOST_LISTINGS]


async def shop_pages(name: str, region: str, known: Sequence[str], tools: Tools, tell: Tell) -> tuple[Retrieved, ...]:
    """Return pages that name the product, as they are now."""
    web = web_of(tools)
    gathering = Gathering(web, tools.model, tell)
    queries = [without_personal_data(query) for query in (f"buy {name} {region}", f"{name} price {region}")]
    hits = await gathering.search_all(queries)
    origins = list(dict.fromkeys((*known, *(hit.origin for hit in hits))))
    failed = list(gathering.failed_searches.values())
    if len(failed) == len(queries) and not origins:
        raise failed[0]
    opened = await asyncio.gather(*map(web.open_again, origins[:OPENED]))
    return tuple(page for page in opened if isinstance(page, Retrieved))
