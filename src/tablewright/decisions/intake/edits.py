"""How requirements change: by what was said since, and by corrections of it."""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.decisions.intake.wants import MOST_ITEMS, Wants, read_wants
from tablewright.table.shortlist import ListOf, PriceRange, Requirements
from tablewright.text.words import roots

LISTS: tuple[ListOf, ...] = ("must_haves", "nice_to_haves", "priorities", "specifications", "constraints")
_POSITIVE: tuple[ListOf, ...] = ("must_haves", "nice_to_haves", "specifications")


def merge(old: Requirements, new: Requirements) -> Requirements:
    """What is said later wins: a wish that becomes a must moves, an exclusion takes what it excludes out of the wishes,
    and what matters now stands before what mattered."""
    lists: dict[str, tuple[str, ...]] = {}
    for name in LISTS:
        said: tuple[str, ...] = getattr(new, name)
        kept = tuple(item for item in getattr(old, name) if not _is_overruled(item, name, new))
        both = (*said, *kept) if name == "priorities" else (*kept, *said)
        lists[name] = _distinct(both)[:MOST_ITEMS] if name == "priorities" else _distinct(both)[-MOST_ITEMS:]
    return Requirements(
        product_type=new.product_type or old.product_type,
        budget=_budget(old.budget, new.budget),
        **lists,
    )


def edited(requirements: Requirements, message: str) -> Requirements:
    """The requirements after a correction: "drop the stainless steel", "actually my budget is £30"."""
    return applied(requirements, read_wants(message, requirements))


def applied(requirements: Requirements, wants: Wants) -> Requirements:
    old = requirements
    said = wants.said
    if wants.is_open:
        old = structs.replace(old, budget=None)
    for dropped in wants.dropped:
        old, said = _without(old, dropped, LISTS), _in_its_place(old, said, dropped)
    for allowed in wants.allowed:
        old = _without(old, allowed, ("constraints",))
    return merge(old, said)


def _in_its_place(old: Requirements, said: Requirements, dropped: str) -> Requirements:
    """ "Swap steel for glass": glass is wished as much as steel was."""
    wished = any(same(dropped, item) for item in old.nice_to_haves)
    if not wished or len(said.must_haves) != 1 or said.nice_to_haves:
        return said
    return structs.replace(said, must_haves=(), nice_to_haves=said.must_haves)


def _without(old: Requirements, dropped: str, names: tuple[ListOf, ...]) -> Requirements:
    lists = {name: tuple(item for item in getattr(old, name) if not same(dropped, item)) for name in names}
    changed: Requirements = structs.replace(old, **lists)
    return changed


def _is_overruled(item: str, name: ListOf, new: Requirements) -> bool:
    if name == "priorities":
        return False
    if name == "constraints":
        return any(same(item, other) for positive in _POSITIVE for other in getattr(new, positive))
    if any(same(item, other) for other in new.constraints):
        return True
    others = tuple(other for positive in _POSITIVE if positive != name for other in getattr(new, positive))
    return any(same(item, other) for other in others) or any(_same_measure(item, other) for other in new.must_haves)


def same(one: str, other: str) -> bool:
    """Whether one is said by the other, but for endings and the words that negate."""
    first, second = (frozenset(roots(_NEGATING.sub("", text), telling=True)) for text in (one, other))
    return bool(first and second) and (first <= second or second <= first)


def _same_measure(one: str, other: str) -> bool:
    """ "At least 1.5 l" replaces "at least 1 l": the same words but for the figure, with a figure in both."""
    first, second = (_FIGURE.sub("#", text.casefold()) for text in (one, other))
    return one != other and first == second and "#" in first


def _distinct(items: tuple[str, ...]) -> tuple[str, ...]:
    kept: dict[tuple[str, ...], str] = {}
    for item in items:
        kept.setdefault(tuple(sorted(roots(item, telling=True))) or (item.casefold(),), item)
    return tuple(kept.values())


def _budget(old: PriceRange | None, new: PriceRange | None) -> PriceRange | None:
    if new is None or old is None:
        return new or old
    currency = new.currency or old.currency
    is_same = currency == old.currency
    most = new.most if new.most is not None or not is_same or new.least is None else old.most
    least = new.least if new.least is not None or not is_same else old.least
    if most is not None and least is not None and least >= most:
        least, most = (None, most) if new.most is not None else (least, None)
    return PriceRange(most=most, least=least, currency=currency)


_NEGATING = re.compile(r"^(?:no|not from|not|avoid|without|never|nothing)\s+", re.IGNORECASE)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)?")
