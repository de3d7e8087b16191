"""Read an offer: what a shop's page asks for a product, and whether it is in stock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.decisions.titles import site_name
from tablewright.extraction.about import Subject, about, mentions
from tablewright.table.evidence import evidence_for
from tablewright.table.money_text import read_amounts
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Listing

TITLED = 0.75
"""How surely a page must be the product's own, by its title, for any price on it to be the product's."""
_STOCK = re.compile(
    r"\b(?:(?:only \d+ |\d+ )?(?:left )?in stock|out of stock|sold out|not available|unavailable|available(?: again)?"
    r"(?: from [^.\n]{1,30})?|back in [^.\n]{1,30}|on order|ships? (?:in|within) [^.\n]{1,30}|discontinued)\b",
    re.IGNORECASE,
)


def offered(name: str, page: Retrieved) -> Listing | None:
    """The offer of a page that is about the product, or the line of a list that names it."""
    subject = Subject(name=name)
    is_its_own = about(subject, page.title, "") >= TITLED
    for start, end in _lines(page.text):
        line = page.text[start:end]
        amounts = [each.money for each in read_amounts(line) if each.money.currency]
        if amounts and (is_its_own or mentions(subject, line)):
            stock = _STOCK.search(line) or (_STOCK.search(page.text) if is_its_own else None)
            return Listing(
                shop=site_name(page),
                url=page.origin,
                price=amounts[0],
                stock=stock[0] if stock else "",
                evidence=evidence_for(page, start, end),
                at=page.retrieved_at,
            )
    return None


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^\n]+", text):
        yield match.span()
