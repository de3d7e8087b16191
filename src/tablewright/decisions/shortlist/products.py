"""Products: which of the things that pages name are candidates, with maker, official page and a quote.

The model reads whole pages. Code proves the quotes, and that an official page is an address that was really seen.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.citations.quotes import WARNING, cite_span, prove_each, prove_quote
from tablewright.decisions.choose_pages import Offer, result_block
from tablewright.decisions.decision import Prompt, accept, headed_block, join_parts
from tablewright.decisions.shortlist.prompt_parts import pages_text, wanted_block
from tablewright.domain.model import Evidence, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import OfferedAs, Product, Requirements
from tablewright.domain.text import new_queries
from tablewright.models.text_budget import PAGE_LINKS, USUAL_ROOM, cut_text

INSTRUCTIONS = f"""\
You read web pages and list the products on them that somebody may want to buy: complete, distinct models of the \
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
- `mentions`: up to three texts that say most about it, the maker's own first, then one that sells it where it is to \
be bought, or in the currency of the budget: the number of the text and a `quote`, the words that name the product \
there, copied exactly from the text itself, not from its links. None where all that is new of a known product is its \
official page.

{{queries}}

{WARNING}"""
QUERIES = """\
`queries`: up to {count} searches worth sending next: makers' pages of products that have none yet, and makers or \
models that the pages mention and do not describe."""
NO_QUERIES = "`queries`: none; no further search is sent."
CLOSED = "Results that could not be opened; a maker's own page among them is official, too. They cannot be quoted:"


class PagesForProducts(Noun, frozen=True, gc=True):
    requirements: Requirements
    sources: tuple[Retrieved, ...]
    known: tuple[str, ...] = ()
    queries: int = 0
    """Further searches that may be asked for."""
    room: int = USUAL_ROOM
    closed: tuple[Offer, ...] = ()
    """Results whose pages could not be opened."""
    addresses: frozenset[str] = frozenset()
    """Addresses that searches and pages have shown so far."""


class FoundProducts(Noun, frozen=True, gc=True):
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

    def prompt(self, asked: PagesForProducts) -> Prompt:
        texts = pages_text(asked.sources, asked.room, page_with_links)
        return Prompt(
            instructions=INSTRUCTIONS.replace(
                "{queries}", QUERIES.format(count=asked.queries) if asked.queries else NO_QUERIES
            ),
            text=join_parts(
                wanted_block(asked.requirements),
                headed_block("Known already:", 0, asked.known, "products"),
                f"{CLOSED}\n{result_block(asked.closed)}" if asked.closed else "",
                texts,
            ),
            reply=ProductsReply,
            max_tokens=6_000,
        )

    def check(self, asked: PagesForProducts, reply: Any) -> FoundProducts:
        proved = [prove_product(named, asked) for named in reply.products]
        queries = new_queries(query[:200] for query in reply.queries)[: asked.queries]
        products = tuple(product for product, _ in proved if product is not None)
        found = FoundProducts(products=products, queries=queries)
        return accept(found, (problem for _, problem in proved if problem))

    def fallback(self, asked: PagesForProducts) -> FoundProducts:
        """Without a model nobody can tell which pages are about products: each page is a candidate under its title."""
        products = [
            Product(name=title, evidence=(cite_span(source, *place),))
            for source in asked.sources
            if (title := " ".join(source.title.split())) and (place := first_line(source))
        ]
        return FoundProducts(products=tuple(products))


def page_with_links(source: Retrieved, room: int) -> str:
    links = "\n".join(dict.fromkeys(source.links[:PAGE_LINKS]))
    said = f"\n\nLinks:\n{links}" if links else ""
    return cut_text(source.text, max(500, room - len(said)), "\n[…]") + said


def prove_product(named: NamedProduct, asked: PagesForProducts) -> tuple[Product | None, str]:
    """Return the product with the evidence that can be proved, and what is wrong with the rest, "" where nothing is."""
    name = " ".join(named.name.split())
    quotes, failed = prove_each(
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
    if not evidence:  # of a product that others have named, the official page alone is news
        problem = ""
    product = Product(
        name=name,
        maker=" ".join(named.maker.split()),
        official_url=page,
        offered_as=named.offered_as,
        evidence=one_a_page(evidence),
    )
    return product, problem


def first_line(source: Retrieved) -> tuple[int, int] | None:
    """The first line, which says what a page is about."""
    start = len(source.text) - len(source.text.lstrip())
    end = source.text.find("\n", start)
    return (start, end if end > 0 else len(source.text)) if source.text.strip() else None


def merge_products(
    products: Sequence[Product], others: Sequence[Product], wanted: Collection[str] = ()
) -> list[Product]:
    """One product a name; what a later page adds is kept. Siblings are told apart by who read the pages. `wanted` are
    the states that somebody asks for, such as used."""
    found: dict[str, Product] = {}
    for product in (*products, *others):
        first = found.setdefault(row_key(product.name), product)
        found[row_key(product.name)] = replace(
            first,
            maker=first.maker or product.maker,
            official_url=first.official_url or product.official_url,
            offered_as=combine_states(first.offered_as, product.offered_as, wanted),
            evidence=one_a_page((*first.evidence, *product.evidence)),
        )
    return list(found.values())


def one_a_page(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple({each.origin: each for each in reversed(evidence)}.values())[::-1]


def combine_states(one: OfferedAs | None, other: OfferedAs | None, wanted: Collection[str]) -> OfferedAs | None:
    """As it is wanted, where a page offers it so; else discontinued, where a page says so; else new, where one does."""
    both = {one, other}
    asked = next((state for state in (one, other) if state in wanted), None)
    return asked or ("discontinued" if "discontinued" in both else "new" if "new" in both else one)


def address_key(address: str) -> str:
    return address.strip().partition("#")[0].rstrip("/").casefold()
