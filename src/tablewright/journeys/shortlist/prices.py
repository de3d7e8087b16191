"""The price that counts. Sellers ask different prices, and none of them is wrong: the lowest counts, in the currency of
the budget where one is named in it. The others stay beside it."""

from __future__ import annotations

from msgspec import structs

from tablewright.domain.model import Cell, Conflict, Money
from tablewright.values.money import Rates


def lowest_price(cell: Cell, currency: str, rates: Rates) -> Cell:
    """The cell with the lowest of the prices that were read for it; what a person wrote stays. Amounts whose rate
    nobody knows are not compared."""
    if not isinstance(cell.value, Money) or cell.shown_basis == "given":
        return cell
    named = [Conflict(value=cell.value, evidence=cell.evidence), *cell.conflict]
    wanted = {price.value.currency for price in named if isinstance(price.value, Money)} & {currency}
    euros: dict[int, float] = {}
    for place, price in enumerate(named):
        if isinstance(price.value, Money) and (not wanted or price.value.currency == currency):
            amount = rates.convert(price.value.amount, price.value.currency, "EUR")
            if amount is not None:
                euros[place] = amount
    best = min(euros, key=lambda place: (euros[place], place), default=0)
    if best == 0:
        return cell
    return structs.replace(
        cell,
        value=named[best].value,
        raw_value=None,
        converted_by="",
        evidence=named[best].evidence,
        conflict=(*named[:best], *named[best + 1 :]),
    )
