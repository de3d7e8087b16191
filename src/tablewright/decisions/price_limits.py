"""Limits that a catalog's question sets on a price: "kettles under £60" does not list one for £75."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tablewright.table.model import Cell, Noun
from tablewright.table.money_text import read_amounts

_LIMIT = re.compile(
    r"\b(?P<how>under|below|less than|cheaper than|at most|up to|no more than|within|over|above|more than|at least|"
    r"from)\s+(?P<amount>(?-i:(?:[A-Z]{3}\s?|[^\w\s]\s?)?\d[\d.,]*(?:\s?(?:[A-Z]{3}\b|[€$£¥]))?))",
    re.IGNORECASE,
)
_MOST = frozenset({"under", "below", "less than", "cheaper than", "at most", "up to", "no more than", "within"})
_ITSELF = frozenset({"at most", "up to", "no more than", "within", "at least", "from"})


class PriceLimit(Noun, frozen=True):
    """`words` as the question says it."""

    words: str
    amount: float
    currency: str
    is_most: bool
    itself: bool

    def keeps(self, cell: Cell) -> bool | None:
        """Whether a price in the cell's passage is within it; None where none is stated in its currency."""
        quotes = [evidence.quote for evidence in cell.evidence] if cell.value is not None else []
        amounts = [
            amount.money.amount
            for quote in quotes
            for amount in read_amounts(quote)
            if amount.money.currency == self.currency
        ]
        return any(map(self._allows, amounts)) if amounts else None

    def _allows(self, amount: float) -> bool:
        return self.itself if amount == self.amount else (amount < self.amount) is self.is_most


def price_limits(question: str) -> Sequence[PriceLimit]:
    found = []
    for match in _LIMIT.finditer(question):
        amounts = [each.money for each in read_amounts(match["amount"]) if each.money.currency]
        if amounts:
            how = " ".join(match["how"].casefold().split())
            limit = PriceLimit(
                words=match[0],
                amount=float(amounts[0].amount),
                currency=amounts[0].currency,
                is_most=how in _MOST,
                itself=how in _ITSELF,
            )
            found.append(limit)
    return found
