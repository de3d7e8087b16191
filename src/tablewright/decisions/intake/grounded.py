"""What a model filled in, kept only as far as the person said it."""

from __future__ import annotations

import re

from tablewright.decisions.intake.budget import read_spending
from tablewright.decisions.intake.categories import one_of
from tablewright.decisions.intake.edits import LISTS, same
from tablewright.decisions.intake.guard import tidy
from tablewright.decisions.intake.questions import options_of
from tablewright.decisions.intake.wants import IS_NEGATIVE, LONGEST_ITEM, MOST_ITEMS, Wants, negative
from tablewright.table.money_text import read_amounts
from tablewright.table.shortlist import PriceRange, Requirements
from tablewright.table.untrusted import gives_orders
from tablewright.text.words import roots

_WISHES = ("must_haves", "nice_to_haves", "specifications")
_DESCRIBED = re.compile(r",| (?:with|under|below|that|which|at most|up to|for (?:under|less|at most))\b", re.IGNORECASE)
_RANKS = re.compile(
    r"\b(?:matter|important|priorit|crucial|essential|especial|above all|key\b|most(?! [£$€\d])|first|focus|value)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def grounded(
    filled: Requirements, message: str, known: Requirements, last: tuple[str, ...], wants: Wants
) -> Requirements:
    """Without inventions. An item that the message negates is an exclusion, whichever list it was put into; one that it
    does not negate is none."""
    text = tidy(message)
    offered = " ".join(option for question in last for option in options_of(question))
    said = " ".join((text, known.product_type, *(item for name in LISTS for item in getattr(known, name)), offered))
    excluded = (*wants.said.constraints, *known.constraints)
    lists: dict[str, list[str]] = {name: [] for name in LISTS}
    for name in LISTS:
        for raw in getattr(filled, name):
            item = " ".join(raw.split()).strip(" .,;")
            if not item or len(item) > LONGEST_ITEM or _is_price(item) or not _stands_in(item, said):
                continue
            is_negated = any(same(item, other) for other in excluded) or _is_negated(item, text)
            if not is_negated and (name == "constraints" or IS_NEGATIVE.match(item)):
                continue
            place = "constraints" if is_negated else _softened(item, name, wants)
            if place in _WISHES and any(same(item, other) for own in _WISHES for other in lists[own]):
                continue
            lists[place].append(negative(item) if is_negated else item)
    if not _RANKS.search(text):
        lists["priorities"] = [item for item in lists["priorities"] if _is_ranked(item, lists, wants)]
    product = _bare(" ".join(filled.product_type.split()), [item for items in lists.values() for item in items])
    return Requirements(
        product_type=one_of(product.casefold()) if product and _stands_in(product, said) else "",
        budget=_budget(filled.budget, text, known.budget),
        **{name: tuple(dict.fromkeys(items))[:MOST_ITEMS] for name, items in lists.items()},
    )


def _softened(item: str, name: str, wants: Wants) -> str:
    """What the message's own words mark as preferred, or as what matters, leaves out no product."""
    if name not in ("must_haves", "specifications"):
        return name
    softer = ("nice_to_haves", "priorities")
    return next((own for own in softer if any(same(item, other) for other in getattr(wants.said, own))), name)


def _is_ranked(item: str, lists: dict[str, list[str]], wants: Wants) -> bool:
    """A feature that is merely wished for is no answer to what matters most, which is still to be asked."""
    is_wish = any(same(item, other) for own in _WISHES for other in lists[own])
    return not is_wish or any(same(item, other) for other in wants.said.priorities)


def _is_price(item: str) -> bool:
    """ "under £50": that is the budget, and no feature."""
    read = read_spending(item)
    return (read.budget is not None or read.is_open) and not roots(read.text, telling=True)


def _bare(product: str, items: list[str]) -> str:
    """ "kettle with variable temperature, under £50" is a kettle, where the rest is said elsewhere."""
    cut = _DESCRIBED.search(product)
    if cut is None:
        return product
    rest = roots(read_spending(product[cut.start() :]).text, telling=True)
    return product[: cut.start()] if set(rest) <= set(roots(" ".join(items))) else product


def _stands_in(item: str, said: str) -> bool:
    """Every telling word by its stem, every figure as written; the words that negate are ours to choose."""
    bare = IS_NEGATIVE.sub("", item)
    words = [word for word in roots(bare, telling=True) if not word.isdecimal()]
    figures = set(_FIGURE.findall(bare))
    if gives_orders(item) or not (words or figures):
        return False
    return figures <= set(_FIGURE.findall(said)) and set(words) <= set(roots(said))


def _is_negated(item: str, text: str) -> bool:
    """Whether the message puts a negative before it, in the same clause."""
    first = next(iter(re.findall(r"\w+", IS_NEGATIVE.sub("", item))), "")
    return bool(first) and bool(
        re.search(
            rf"\b(?:no|not|avoid|without|never|nothing|don't want|do not want|hate|except|"
            rf"isn't)\b[^,.;!?]{{0,20}}\b{re.escape(first)}",
            text,
            re.IGNORECASE,
        )
    )


def _budget(filled: PriceRange | None, text: str, known: PriceRange | None) -> PriceRange | None:
    """Only figures that the message has as amounts. The currency is the message's, never the model's."""
    if filled is None:
        return None
    read = read_spending(text, is_asked=True, currency=known.currency if known else "").budget
    amounts = read_amounts(text)
    figures = {float(each) for amount in amounts for each in (amount.money.amount, amount.high) if each is not None}
    most = filled.most if filled.most in figures else None
    least = filled.least if filled.least in figures else None
    if most is None and least is None:
        return None
    named = next((each.money.currency for each in amounts if each.money.currency), "")
    currency = named or (read.currency if read else "") or (known.currency if known else "")
    return PriceRange(most=most, least=least, currency=currency)
