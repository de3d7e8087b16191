"""Which names are a site's own."""

from __future__ import annotations

import pytest

from tablewright.decisions.candidates.names import is_all_its_own, is_own


@pytest.mark.parametrize(
    ("name", "domain", "own"),
    [
        ("Brückner & Vale", "bruecknervale.example", True),
        ("Parrotfish Cloud", "parrotfish.example", True),
        ("Hearthline Degree 15", "hearthline.example", True),
        ("International Business Machines", "ibm.example", True),
        ("Acme Robots", "acmepress.example", False),
        ("Acme Robots", "robotnews.example", False),
        ("AI", "ai.example", False),
        ("Blåvand & Søn", "blaavandsoen.example", True),
        ("International Business Machines Corp", "ibm.example", True),
        ("Quillon", "quillon-robotics.example", True),
    ],
)
def test_a_site_is_the_things_own_when_it_is_called_like_it(name: str, domain: str, own: bool) -> None:
    assert is_own(name, domain) is own


def test_a_site_of_a_maker_is_not_all_about_one_of_its_products() -> None:
    assert is_all_its_own("Brückner & Vale", "brueckner-vale.example")
    assert not is_all_its_own("Hearthline Degree 15", "hearthline.example")
