"""Who runs a site, by what its pages look like; and which page is a product's own."""

from __future__ import annotations

import pytest

from tablewright.decisions.site_kind import (
    house_key,
    kinds,
    maker_links,
    model_of,
    official_page,
    product_links,
    site_of,
)
from tablewright.table.evidence import evidence_for
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Product, SiteKind


def page(url: str, title: str, text: str, *links: str) -> Retrieved:
    origin = f"http://www.{url}"
    return Retrieved(origin=origin, title=title, text=text, domain=url.split("/")[0], links=links)


MAKER = page(
    "tarnhow.example/mills/no-4",
    "Tarnhow No. 4 – Tarnhow",
    "Tarnhow No. 4\nGrinds a spoonful in ten turns.\nHeight: 22 cm\nRecommended price: £64.00\nGuarantee: 10 years",
    "http://www.tarnhow.example/",
)
SHOP = page(
    "pepperandco.example/mills",
    "Pepper mills at Pepper & Co",
    "Pepper mills\n3 products\nTarnhow No. 4 | £59.00 | In stock\nBrill Duo | £31.00 | In stock\n"
    "Osk Mini | £18.00 | Sold out",
    "http://www.tarnhow.example/mills/no-5",
    "http://www.pepperandco.example/p/tarnhow-no-4",
)
MARKET = page(
    "atticfinds.example/o/1",
    "Tarnhow No. 4, a little rust",
    "Tarnhow No. 4, a little rust\nSeller: ned_b\nPrice: £12.00, collect in Dunmere\nCondition: used",
)
REVIEW = page(
    "seasoned.example/mills",
    "The best pepper mills of 2026 - Seasoned",
    "The best pepper mills of 2026\nBy Ida Wren · 2026-03-01\nWe tested nine mills.\n"
    "Mill | Our score\nTarnhow No. 4 | 9.0\nBrill Duo | 8.1",
)
FORUM = page(
    "cookstalk.example/t/9",
    "Which pepper mill?",
    "Which pepper mill?\nsal_t: Mine jams. Ideas?\nbrine-bob: Tarnhow No. 4 and never look back.\n2 replies",
)
ALL = (MAKER, SHOP, MARKET, REVIEW, FORUM)


def test_each_site_is_told_by_what_its_pages_look_like() -> None:
    assert kinds(ALL) == {
        "tarnhow.example": "maker",
        "pepperandco.example": "retailer",
        "atticfinds.example": "marketplace",
        "seasoned.example": "review",
        "cookstalk.example": "forum",
    }


def test_a_maker_that_sells_its_things_itself_is_no_shop() -> None:
    own = page(
        "brill.example/shop",
        "Brill mills – Brill",
        "Brill mills\nBrill Duo, £31.00\nAdd to basket\nBrill Solo, £22.00\nAdd to basket\nFree delivery",
    )
    assert kinds([own]) == {"brill.example": "maker"}


def test_a_site_that_says_what_it_makes_is_a_maker_and_one_that_says_nothing_is_other() -> None:
    about = page("osk.example/about", "About us", "Osk has made mills in Vik since 1931.")
    town = page("dunmere.example/", "Dunmere", "A town on the coast.")
    assert kinds([about, town]) == {"osk.example": "maker", "dunmere.example": "other"}


@pytest.mark.parametrize(
    ("domain", "kind"),
    [("amazon.co.uk", "retailer"), ("ebay.de", "marketplace"), ("which.co.uk", "review"), ("reddit.com", "forum")],
)
def test_well_known_sites_are_known_by_their_name(domain: str, kind: SiteKind) -> None:
    assert kinds([page(f"{domain}/x", "Pepper mill", "A pepper mill.")]) == {domain: kind}


def test_the_official_page_is_the_makers_and_nobody_elses() -> None:
    assert official_page("Tarnhow No. 4", "Tarnhow", ALL, kinds(ALL)) == MAKER.origin
    others = (SHOP, MARKET, REVIEW, FORUM)
    assert official_page("Tarnhow No. 4", "Tarnhow", others, kinds(others)) == ""
    assert official_page("Brill Duo", "Brill", ALL, kinds(ALL)) == ""


def test_a_link_to_the_makers_page_is_enough_if_it_ends_with_the_model() -> None:
    assert official_page("Tarnhow No. 5", "Tarnhow", ALL, kinds(ALL)) == "http://www.tarnhow.example/mills/no-5"
    assert official_page("Tarnhow No. 6", "Tarnhow", ALL, kinds(ALL)) == ""


def test_the_page_of_a_longer_model_is_not_that_of_the_shorter() -> None:
    alpine = page("zeph.example/k/z1-alpine", "Zeph Z1 Alpine", "Zeph Z1 Alpine\nWarranty: 5 years")
    assert official_page("Zeph Z1", "Zeph", [alpine], {"zeph.example": "maker"}, product_type="kettle") == ""
    titled = page("zeph.example/k/1", "Z1 Electric Kettle, black | Zeph", "Z1\nWarranty: 5 years")
    sources = [alpine, titled]
    kind = {"zeph.example": "maker"}
    assert official_page("Zeph Z1", "Zeph", sources, kind, product_type="electric kettle") == titled.origin  # type: ignore[arg-type]


def test_spellings_of_a_model_are_the_same_and_numbers_tell_models_apart() -> None:
    said = {
        model_of(name, "Hearthline", "electric kettle")
        for name in ("Hearthline Degree 15", "Degree 15 by Hearthline", "Hearthline Degree-15 kettle")
    }
    assert said == {("degree", "15")}
    assert model_of("Hearthline Degree 17", "Hearthline", "electric kettle") not in said
    assert model_of("Hearthline kettles", "Hearthline", "electric kettle") == ()
    assert house_key("Fellow Products") == house_key("Fellow") != house_key("Fellowship")


def test_product_pages_come_before_lists_and_menus_are_left_out() -> None:
    home = "http://www.tarnhow.example"
    catalog = page(
        "tarnhow.example/range",
        "Tarnhow pepper mills",
        "Tarnhow No. 4, £64.00\nTarnhow Duo, £80.00",
        *(f"{home}{path}" for path in ("/about", "/cart", "/duo", "/collections/mills", "/mills/no-4", "/")),
        f"{home}/p/spare-lid",
        "http://www.elsewhere.example/mills/no-4",
    )
    links = product_links(catalog, "pepper mill")
    assert links == [f"{home}/duo", f"{home}/mills/no-4", f"{home}/collections/mills", f"{home}/"]


def test_links_to_makers_that_were_not_read_are_named_once() -> None:
    seen = evidence_for(SHOP, 0, 12)
    products = [Product(name="Tarnhow No. 4", maker="Tarnhow", evidence=seen), Product(name="Brill Duo", evidence=seen)]
    assert maker_links(products, [SHOP]) == ["http://www.tarnhow.example/mills/no-5"]
    assert maker_links(products, ALL) == []


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://shop.acme.co.uk/x", "acme.co.uk"),
        ("https://www.acme.com/", "acme.com"),
        ("https://de.acme.example/", "acme.example"),
    ],
)
def test_a_link_leads_to_the_site_above_its_host(url: str, site: str) -> None:
    assert site_of(url) == site
