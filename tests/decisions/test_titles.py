"""What a page is about, and whose it is, by its title."""

from __future__ import annotations

import pytest

from tablewright.decisions.titles import site_name, thing_of
from tablewright.table.retrieved import Retrieved


def test_a_page_of_a_site_that_is_called_like_it_is_about_the_site() -> None:
    about = Retrieved(
        origin="https://n.example/", domain="norrahill.example", title="About Norrahill · Norrahill", text=""
    )
    assert thing_of(about) == "Norrahill"


@pytest.mark.parametrize(
    ("title", "domain", "name"),
    [
        ("Hearthline Degree 15 | Copperpot", "copperpot.example", "Copperpot"),
        ("Kettles – The Larderly Shop", "larderly.example", "The Larderly Shop"),
        ("Steam & Sip: kettles tested", "steamandsip.example", "Steam & Sip"),
        ("Hearthline Degree 15", "copperpot.example", "copperpot.example"),
    ],
)
def test_a_site_is_called_by_its_part_of_the_title_or_by_its_domain(title: str, domain: str, name: str) -> None:
    assert site_name(Retrieved(origin=f"https://{domain}/", domain=domain, title=title, text="")) == name
