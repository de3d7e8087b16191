"""The sites about kettles: their makers, the shops that sell them, those who test them, and a flea market."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from tablewright.sample.site import Layout, Page, Site, address, read_topic, slug, written_sites
from tablewright.table.model import Noun


class Maker(Noun, frozen=True):
    """`labels` are the maker's own words for capacity, power, weight and so on, in the order of the rows of kettles."""

    name: str
    site: str
    layout: Layout
    tagline: str
    specs: str
    labels: tuple[str, ...]
    about: str
    kettles: tuple[tuple[str, ...], ...]


class Shop(Noun, frozen=True):
    name: str
    site: str
    tagline: str
    offers: tuple[tuple[str, str, str], ...]


def kettle_sites() -> list[Site]:
    topic = read_topic("kettles")
    makers = msgspec.convert(topic["maker"], list[Maker])
    shops = msgspec.convert(topic["shop"], list[Shop])
    known = {f"{maker.name} {row[0]}": (maker, row) for maker in makers for row in maker.kettles}
    return [
        *(_site(maker.site, maker.name, maker.layout, maker.tagline, _maker_pages(maker)) for maker in makers),
        *(_site(shop.site, shop.name, "shop", shop.tagline, _shop_pages(shop, known)) for shop in shops),
        *written_sites(topic),
    ]


def _site(name: str, title: str, layout: Layout, tagline: str, pages: Iterator[Page]) -> Site:
    return Site(name=name, title=title, layout=layout, tagline=tagline, pages={page.path: page for page in pages})


def _maker_pages(maker: Maker) -> Iterator[Page]:
    products = "\n".join(f"- [{maker.name} {row[0]}](/kettles/{slug(row[0])}), {row[7]}" for row in maker.kettles)
    yield Page(site=maker.site, path="/", menu="Kettles", title=f"{maker.name} kettles", body=products)
    yield Page(site=maker.site, path="/about", menu="About us", title=f"About {maker.name}", body=maker.about)
    for name, *facts, words in maker.kettles:
        stated = [(label, fact) for label, fact in zip(maker.labels, facts, strict=True) if fact]
        yield Page(
            site=maker.site,
            path=f"/kettles/{slug(name)}",
            title=f"{maker.name} {name}",
            body=f"{words}\n\n## Specifications\n\n{_SPECS[maker.specs](stated)}\n\nThe {name} is one of "
            f"{len(maker.kettles)} kettles made by {maker.name}. Accessories, descaler and spare lids are sold apart.",
            published="2026-03-01",
        )


def _shop_pages(shop: Shop, known: Mapping[str, tuple[Maker, Sequence[str]]]) -> Iterator[Page]:
    listed = "\n".join(f"| [{name}](/p/{slug(name)}) | {price} | {stock}" for name, price, stock in shop.offers)
    yield Page(
        site=shop.site,
        path="/",
        menu="Home",
        title=f"Welcome to {shop.name}",
        body="Pans, knives, tea towels and [kettles](/kettles), chosen by people who cook.",
    )
    yield Page(
        site=shop.site,
        path="/kettles",
        menu="Kettles",
        title=f"Electric kettles at {shop.name}",
        body=f"{len(shop.offers)} products\n\n| Product | Price | Availability\n|---\n{listed}",
        published="2026-06-15",
    )
    yield Page(
        site=shop.site,
        path="/delivery",
        menu="Delivery",
        title="Delivery and returns",
        body="We deliver within 3 to 5 working days. You may return anything unused within 30 days.",
    )
    for name, price, stock in shop.offers:
        maker, row = known[name]
        yield Page(
            site=shop.site,
            path=f"/p/{slug(name)}",
            title=name,
            body=f"**{price}** incl. VAT · {stock}\n\n{row[9]}\n\n- Brand: [{maker.name}]({address(maker.site)}/)\n"
            f"- Volume: {row[1]}\n- Material: {row[6]}",
            published="2026-06-15",
        )


_SPECS: dict[str, Callable[[Sequence[tuple[str, str]]], str]] = {
    "table": lambda stated: "\n".join(f"| {label} | {fact}" for label, fact in stated),
    "dl": lambda stated: "\n".join(f"{label} :: {fact}" for label, fact in stated),
    "lines": lambda stated: "\n".join(f"= {label}: {fact}" for label, fact in stated),
}
