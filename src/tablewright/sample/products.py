"""The sites about a kind of product: its makers, the shops that sell it, and other sites that write about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tablewright.domain.model import Struct
from tablewright.sample.site import Layout, SamplePage, Site, read_topic, site_address, slugify, written_sites


class Topic(Struct, frozen=True):
    """`maker` and `shop` are what all makers and shops of the topic have in common, unless one says otherwise."""

    name: str
    """Of the file in `world/`, of the makers' list of products in it, and of the folder on their sites."""
    products: str
    shelf: str
    """The title of the shops' list of them."""
    quoted: tuple[tuple[str, str], ...]
    """What a shop repeats of the maker's facts: its own label, and the column."""
    maker: Mapping[str, Any] = {}
    shop: Mapping[str, Any] = {}


class Maker(Struct, frozen=True):
    """`labels` are the maker's own words for its `columns`; a product is its name, a fact a column, and what is said.

    `refuses` names the products whose pages answer 403. `also` and `page` are for what is no product of the topic.
    """

    name: str
    site: str
    layout: Layout
    tagline: str
    specs: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    about: str
    products: tuple[tuple[str, ...], ...]
    closing: str
    heading: str = "Specifications"
    refuses: tuple[str, ...] = ()
    also: str = ""
    page: tuple[Mapping[str, Any], ...] = ()


class Shop(Struct, frozen=True):
    """An offer is a name, a price, what is in stock, and the shop's own words if it has any.

    `others` share the shelf but are no products of the topic.
    """

    name: str
    site: str
    tagline: str
    home: str
    delivery: str
    offers: tuple[tuple[str, ...], ...]
    others: tuple[tuple[str, str, str, str], ...] = ()


class SampleProduct(Struct, frozen=True):
    maker: Maker
    name: str
    facts: Mapping[str, str]
    words: str

    @property
    def full_name(self) -> str:
        return f"{self.maker.name} {self.name}"


KETTLES = Topic(
    name="kettles",
    products="kettles",
    shelf="Electric kettles",
    quoted=(("Volume", "capacity"), ("Material", "material")),
    maker={
        "columns": ("capacity", "power", "weight", "temperatures", "keep_warm", "material", "price", "guarantee"),
        "closing": "The {name} is one of {count} kettles made by {maker}. "
        "Accessories, descaler and spare lids are sold apart.",
    },
    shop={
        "home": "Pans, knives, tea towels and [kettles](/kettles), chosen by people who cook.",
        "delivery": "We deliver within 3 to 5 working days. You may return anything unused within 30 days.",
    },
)
LAMPS = Topic(name="lamps", products="desk lamps", shelf="Desk lamps", quoted=(("Light", "flux"), ("Height", "height")))


def product_sites(topic: Topic) -> list[Site]:
    written = read_topic(topic.name)
    makers = [_read_maker(topic, entry) for entry in written["maker"]]
    shops = msgspec.convert([{**topic.shop, **entry} for entry in written["shop"]], list[Shop])
    known = {product.full_name: product for maker in makers for product in _list_products(maker)}
    return [
        *(
            _make_site(maker.site, maker.name, maker.layout, maker.tagline, _maker_pages(topic, maker))
            for maker in makers
        ),
        *(_make_site(shop.site, shop.name, "shop", shop.tagline, _shop_pages(topic, shop, known)) for shop in shops),
        *written_sites(written),
    ]


def _read_maker(topic: Topic, entry: Mapping[str, Any]) -> Maker:
    rest = {name: value for name, value in entry.items() if name != topic.name}
    return msgspec.convert({**topic.maker, **rest, "products": entry[topic.name]}, Maker)


def _list_products(maker: Maker) -> list[SampleProduct]:
    return [
        SampleProduct(maker=maker, name=name, facts=dict(zip(maker.columns, facts, strict=True)), words=words)
        for name, *facts, words in maker.products
    ]


def _make_site(name: str, title: str, layout: Layout, tagline: str, pages: Iterator[SamplePage]) -> Site:
    return Site(name=name, title=title, layout=layout, tagline=tagline, pages={page.path: page for page in pages})


def _maker_pages(topic: Topic, maker: Maker) -> Iterator[SamplePage]:
    listed = "\n".join(
        f"- [{product.full_name}](/{topic.name}/{slugify(product.name)})"
        + (f", {product.facts['price']}" if product.facts["price"] else "")
        for product in _list_products(maker)
    )
    yield SamplePage(
        site=maker.site,
        path="/",
        menu=topic.products.capitalize(),
        title=f"{maker.name} {topic.products}",
        body=f"{listed}\n\n{maker.also}" if maker.also else listed,
    )
    yield SamplePage(site=maker.site, path="/about", menu="About us", title=f"About {maker.name}", body=maker.about)
    for product in _list_products(maker):
        refused = product.name in maker.refuses
        yield SamplePage(
            site=maker.site,
            path=f"/{topic.name}/{slugify(product.name)}",
            title=product.full_name,
            body="" if refused else _describe_product(maker, product),
            # The index still knows a page that refuses visitors, as real engines do.
            indexed=product.words if refused else "",
            status=403 if refused else 200,
            # Before the offers of the shops: prices change more often than makers' pages.
            published="2026-03-01",
        )
    yield from msgspec.convert([{"site": maker.site, **page} for page in maker.page], list[SamplePage])


def _describe_product(maker: Maker, product: SampleProduct) -> str:
    stated = [(label, fact) for label, fact in zip(maker.labels, product.facts.values(), strict=True) if fact]
    closing = maker.closing.format(name=product.name, count=len(maker.products), maker=maker.name)
    return f"{product.words}\n\n## {maker.heading}\n\n{_SPECS[maker.specs](stated)}\n\n{closing}"


def _shop_pages(topic: Topic, shop: Shop, known: Mapping[str, SampleProduct]) -> Iterator[SamplePage]:
    shelf = [*shop.offers, *shop.others]
    listed = "\n".join(f"| [{name}](/p/{slugify(name)}) | {price} | {stock}" for name, price, stock, *_ in shelf)
    yield SamplePage(site=shop.site, path="/", menu="Home", title=f"Welcome to {shop.name}", body=shop.home)
    yield SamplePage(
        site=shop.site,
        path=f"/{topic.name}",
        menu=topic.products.capitalize(),
        title=f"{topic.shelf} at {shop.name}",
        body=f"{len(shelf)} products\n\n| Product | Price | Availability\n|---\n{listed}",
        published="2026-06-15",
    )
    yield SamplePage(
        site=shop.site, path="/delivery", menu="Delivery", title="Delivery and returns", body=shop.delivery
    )
    for name, price, stock, *words in shop.offers:
        product = known[name]
        lines = [f"- Brand: [{product.maker.name}]({site_address(product.maker.site)}/)"]
        lines += [f"- {label}: {product.facts[column]}" for label, column in topic.quoted]
        yield _offer_page(shop, name, price, stock, "\n".join([*(words or [product.words]), "", *lines]))
    for name, price, stock, said in shop.others:
        yield _offer_page(shop, name, price, stock, said)


def _offer_page(shop: Shop, name: str, price: str, stock: str, body: str) -> SamplePage:
    return SamplePage(
        site=shop.site,
        path=f"/p/{slugify(name)}",
        title=name,
        body=f"**{price}** incl. VAT · {stock}\n\n{body}",
        published="2026-06-15",
    )


# Makers state the same facts in a table, a definition list, lines, a list or one sentence.
_SPECS: dict[str, Callable[[Sequence[tuple[str, str]]], str]] = {
    "table": lambda stated: "\n".join(f"| {label} | {fact}" for label, fact in stated),
    "dl": lambda stated: "\n".join(f"{label} :: {fact}" for label, fact in stated),
    "lines": lambda stated: "\n".join(f"= {label}: {fact}" for label, fact in stated),
    "list": lambda stated: "\n".join(f"- {label}: {fact}" for label, fact in stated),
    "dots": lambda stated: " · ".join(f"{label} {fact}" for label, fact in stated),
}
