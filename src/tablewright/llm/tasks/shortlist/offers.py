"""Read the offers for a product from pages: shop, price and condition. Shop prices are not the maker's price."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, Unproved, cite_span, mark_question, prove_items, prove_quote
from tablewright.domain.model import Money, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import OfferedAs, ShopListing
from tablewright.domain.text import shorten_text
from tablewright.extraction.subject import Subject, names_subject
from tablewright.llm.tasks.decision import Prompt, accept_reply
from tablewright.llm.tasks.shortlist.prompt_parts import pages_text
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.values.money import read_amounts


class OffersToRead(Struct, frozen=True, gc=True):
    product: str
    region: str
    sources: tuple[Retrieved, ...]
    room: int = TEXT_LIMITS.default_room


class PageOffer(BaseModel):
    text: int
    shop: str
    price: str
    stock: str
    offered_as: OfferedAs
    quote: str


class OffersReply(BaseModel):
    offers: list[PageOffer]


class ReadOffers:
    name = "offers"
    instructions = f"""\
You read web pages and list where one product can be bought: offers of exactly this model, complete, by shops, \
marketplaces or the maker's own shop. Not its siblings, accessories or spare parts, and no tests or forums. For each \
offer: `text`, the page's number; `shop`, the seller's name; `price` with its currency as the page writes it, "" if \
it names none; `stock`, what the page says of availability, in its words, else ""; `offered_as`; and `quote`: the \
passage that names the price, or else the offer, copied exactly. No offer where there is none.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: OffersToRead) -> Prompt:
        texts = pages_text(asked.sources, asked.room)
        wanted = f"{asked.product}\nRegion of the buyer: {asked.region or 'not said'}"
        return Prompt(
            instructions=self.instructions,
            text=f"The product:\n{mark_question(wanted)}\n\n{texts}",
            reply=OffersReply,
            max_tokens=1_200,
        )

    def check(self, asked: OffersToRead, reply: Any) -> tuple[ShopListing, ...]:
        found, failed = prove_items(reply.offers, lambda offer: prove_offer(offer, asked))
        return accept_reply(tuple(found), (fault for _, fault in failed))

    def fallback(self, asked: OffersToRead) -> tuple[ShopListing, ...]:
        """Return the line of each page that names the product and an amount. The user sees there whether it is an
        offer. A range has no price, since either end may be the price."""
        found = []
        for source in asked.sources:
            start = 0
            for line in source.text.splitlines(keepends=True):
                amounts = [each for each in read_amounts(line) if each.money.currency]
                if amounts and names_subject(Subject(name=asked.product), f"{source.title} {line}"):
                    place = start, start + len(line.rstrip())
                    price = amounts[0].money if amounts[0].high is None else None
                    found.append(listing_of(source, source.domain, place, price))
                    # One line for each page is enough to open it.
                    break
                start += len(line)
        return tuple(found)


def prove_offer(offer: PageOffer, asked: OffersToRead) -> ShopListing:
    found = prove_quote(offer.quote, asked.sources, offer.text)
    quote = shorten_text(offer.quote, 80)
    # Another page is another shop.
    if found.source != offer.text - 1:
        raise Unproved(f"the quote “{quote}” is in text {found.source + 1}, not in text {offer.text}.")
    source, place = asked.sources[found.source], (found.start, found.end)
    price = None
    if offer.price.strip():
        price = next((each.money for each in read_amounts(offer.price) if each.money.currency), None)
        # Either end of a range may be the stated price.
        stated = {end for each in read_amounts(source.words_at(*place)) for end in each.ends}
        if price is None or price.amount not in stated:
            raise Unproved(f"the price {offer.price!r} is not in its quote “{quote}”.")
    shop = shorten_text(offer.shop, 80) or source.domain
    # A stock that the page does not write is the model's guess.
    stock = shorten_text(offer.stock, 80) if offer.stock.casefold() in source.text.casefold() else ""
    listing = listing_of(source, shop, place, price)
    return replace(listing, stock=stock, offered_as=offer.offered_as)


def listing_of(source: Retrieved, shop: str, place: tuple[int, int], price: Money | None) -> ShopListing:
    return ShopListing(
        shop=shop or source.domain,
        url=source.origin,
        price=price,
        evidence=cite_span(source, *place),
        at=source.retrieved_at,
    )
