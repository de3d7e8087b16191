"""Find the products on pages that may suit the user, each with its maker, official page and a quote.

The model reads whole pages. Code proves the quotes, and that an official page is an address that was retrieved.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, cite_span, prove_items, prove_quote
from tablewright.domain.model import Evidence, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import OfferedAs, Product, Requirements
from tablewright.domain.text import drop_tried_queries
from tablewright.llm.tasks.choose_pages import Offer, result_block
from tablewright.llm.tasks.decision import Prompt, accept_reply, headed_block, join_parts
from tablewright.llm.tasks.shortlist.prompt_parts import pages_text, wanted_block
from tablewright.llm.text_budget import TEXT_LIMITS, cut_text


class PagesForProducts(Struct, frozen=True, gc=True):
    requirements: Requirements
    sources: tuple[Retrieved, ...]
    known: tuple[str, ...] = ()
    queries: int = 0
    """How many further searches the model may ask for."""
    room: int = TEXT_LIMITS.default_room
    closed: tuple[Offer, ...] = ()
    """Results whose pages could not be opened."""
    addresses: frozenset[str] = frozenset()
    """Addresses that searches and pages have shown so far."""


class FoundProducts(Struct, frozen=True, gc=True):
    products: tuple[Product, ...] = ()
    queries: tuple[str, ...] = ()


class NamedThere(BaseModel):
    text: int
    quote: str


class NamedProduct(BaseModel):
    name: str
    maker: str
    official_page: str
    offered_as: OfferedAs
    mentions: list[NamedThere]


class ProductsReply(BaseModel):
    products: list[NamedProduct]
    queries: list[str]


class FindProducts:
    name = "products"
    instructions = f"""\
You read web pages and list the products on them that a user may want to buy: complete, distinct models of the \
kind that is wanted, each as one product, also those that miss a wish, which is checked later. Not accessories, \
spare parts, other kinds of goods, brands, series or categories as such, museum pieces. Siblings of a series (sizes, \
generations) are products of their own if they are sold as models of their own; colours are not. The most suitable \
first; no product where a page names none.

- `name`: maker and model as the maker calls it. Where it is one of the products known already, exactly that name.
- `maker`: who makes it, "" if no page says. `official_page`: the address of the maker's own page about this model, \
or about its series where the model has none; an address of one of the texts or of its links; "" if there is none. A \
shop's, marketplace's or magazine's page is never official.
- `offered_as`: where used or refurbished goods are wanted and a page offers it so, that; else "discontinued" if a \
page says that it is no longer made; else "new".
- `mentions`: up to three texts that say most about it, the maker's own first, then one that sells it in the buyer's \
region, or in the currency of the budget: the number of the text and a `quote`, the words that name the product there, \
copied exactly from the text itself, not from its links. None where all that is new of a known product is its official \
page.

{{queries}}

{RETRIEVED_WARNING}"""

    def prompt(self, asked: PagesForProducts) -> Prompt:
        texts = pages_text(asked.sources, asked.room, page_with_links)
        queries = (
            f"`queries`: up to {asked.queries} searches worth sending next: makers' pages of products that have none "
            "yet, and makers or models that the pages mention and do not describe."
        )
        closed = (
            "Results that could not be opened; a maker's own page among them is official, too. They cannot be quoted:\n"
            f"{result_block(asked.closed)}"
        )
        return Prompt(
            instructions=self.instructions.replace(
                "{queries}", queries if asked.queries else "`queries`: none; no further search is sent."
            ),
            text=join_parts(
                wanted_block(asked.requirements),
                headed_block("Known already:", 0, asked.known, "products"),
                closed if asked.closed else "",
                texts,
            ),
            reply=ProductsReply,
            # Pages may list dozens of products, each with up to three quotes.
            max_tokens=6_000,
        )

    def check(self, asked: PagesForProducts, reply: Any) -> FoundProducts:
        proved = [prove_product(named, asked) for named in reply.products]
        queries = drop_tried_queries(query[:200] for query in reply.queries)[: asked.queries]
        products = tuple(product for product, _ in proved if product is not None)
        found = FoundProducts(products=products, queries=queries)
        return accept_reply(found, (problem for _, problem in proved if problem))

    def fallback(self, asked: PagesForProducts) -> FoundProducts:
        """Return each page as a candidate under its title: without a model, product pages cannot be recognised."""
        products = [
            Product(name=title, evidence=(cite_span(source, *place),))
            for source in asked.sources
            if (title := " ".join(source.title.split())) and (place := locate_first_line(source))
        ]
        return FoundProducts(products=tuple(products))


def page_with_links(source: Retrieved, room: int) -> str:
    links = "\n".join(dict.fromkeys(source.links[: TEXT_LIMITS.page_links]))
    said = f"\n\nLinks:\n{links}" if links else ""
    # However many links there are, some of the text itself is shown.
    return cut_text(source.text, max(500, room - len(said)), "\n[…]") + said


def prove_product(named: NamedProduct, asked: PagesForProducts) -> tuple[Product | None, str]:
    """Return the product with its proved evidence, or None, and what is wrong with the rest, or ""."""
    name = " ".join(named.name.split())
    quotes, failed = prove_items(
        named.mentions, lambda mention: prove_quote(mention.quote, asked.sources, mention.text), lambda _: name
    )
    evidence = [cite_span(asked.sources[found.source], found.start, found.end) for found in quotes]
    problem = failed[-1][1] if failed else "" if evidence else f"{name!r} has no quote that names it."
    shown = {address_key(origin): origin for origin in asked.addresses}
    shown |= {address_key(link): link for source in asked.sources for link in (source.origin, *source.links)}
    page = shown.get(address_key(named.official_page.strip()), "") if named.official_page.strip() else ""
    if named.official_page.strip() and not page:
        problem = f"{name!r}: the address {named.official_page!r} is neither one of the texts nor one of their links."
    is_known = row_key(name) in map(row_key, asked.known)
    if not name or not (evidence or (page and is_known)):
        return None, problem
    # A known product's official page needs no quote.
    if not evidence:
        problem = ""
    product = Product(
        name=name,
        maker=" ".join(named.maker.split()),
        official_url=page,
        offered_as=named.offered_as,
        evidence=one_quote_per_page(evidence),
    )
    return product, problem


def locate_first_line(source: Retrieved) -> tuple[int, int] | None:
    """Return the place of the first line, which says what a page is about."""
    start = len(source.text) - len(source.text.lstrip())
    end = source.text.find("\n", start)
    return (start, end if end > 0 else len(source.text)) if source.text.strip() else None


def merge_products(
    products: Sequence[Product], others: Sequence[Product], wanted: Collection[str] = ()
) -> list[Product]:
    """Return one product for each name, with what all pages say about it. `wanted` are the states that the user asks
    for, such as used. Models of a series have different names, which the task that read the pages gave them."""
    found: dict[str, Product] = {}
    for product in (*products, *others):
        first = found.setdefault(row_key(product.name), product)
        found[row_key(product.name)] = replace(
            first,
            maker=first.maker or product.maker,
            official_url=first.official_url or product.official_url,
            offered_as=combine_states(first.offered_as, product.offered_as, wanted),
            evidence=one_quote_per_page((*first.evidence, *product.evidence)),
        )
    return list(found.values())


def one_quote_per_page(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    # Reversed twice: the first quote of a page stays, and so does the order of the pages.
    return tuple({each.origin: each for each in reversed(evidence)}.values())[::-1]


def combine_states(one: OfferedAs | None, other: OfferedAs | None, wanted: Collection[str]) -> OfferedAs | None:
    """Return a wanted state if a page offers it, else discontinued if a page says so, else new if one does."""
    both = {one, other}
    asked = next((state for state in (one, other) if state in wanted), None)
    return asked or ("discontinued" if "discontinued" in both else "new" if "new" in both else one)


def address_key(address: str) -> str:
    # A model may copy an address without its fragment or its last slash.
    return address.strip().partition("#")[0].rstrip("/").casefold()
