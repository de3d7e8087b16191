"""What a shop's page asks for a product, and whether it is in stock."""

from __future__ import annotations

from tablewright.decisions.read_offer import offered
from tablewright.table.model import Money
from tablewright.table.retrieved import Retrieved


def page(title: str, text: str) -> Retrieved:
    return Retrieved(origin="https://copperpot.example/p", domain="copperpot.example", title=title, text=text)


def test_the_products_own_page_says_its_price_and_stock_anywhere() -> None:
    offer = offered(
        "Hearthline Degree 15", page("Hearthline Degree 15 | Copperpot", "Only £44.95\nOnly 3 left in stock")
    )
    assert offer is not None
    assert (offer.shop, offer.price, offer.stock) == (
        "Copperpot",
        Money(amount=44.95, currency="GBP"),
        "Only 3 left in stock",
    )
    assert offer.evidence is not None
    assert offer.evidence.quote == "Only £44.95"


def test_of_a_list_only_the_line_that_names_it_counts() -> None:
    shelf = page("Kettles | Copperpot", "Vessa Uno | £20 | sold out\nHearthline Degree 15 | £45 | in stock")
    offer = offered("Hearthline Degree 15", shelf)
    assert offer is not None
    assert offer.price == Money(amount=45, currency="GBP")
    assert offer.stock == "in stock"


def test_a_page_that_does_not_name_it_or_has_no_price_offers_nothing() -> None:
    assert offered("Hearthline Degree 15", page("Kettles | Copperpot", "Vessa Uno | £20 | in stock")) is None
    assert offered("Hearthline Degree 15", page("Hearthline Degree 15 | Copperpot", "Back in May")) is None
