"""The requirements in one sentence, for the person to confirm."""

from __future__ import annotations

import re

from tablewright.decisions.intake.categories import is_pair
from tablewright.decisions.intake.product import COLOUR, CONDITION, FUEL, GRADED, MATERIAL
from tablewright.decisions.intake.questions import listed
from tablewright.decisions.question.words import is_plural
from tablewright.table.shortlist import PriceRange, Requirements

_SIGNS = {"GBP": "£", "USD": "$", "EUR": "€", "JPY": "¥", "INR": "₹"}
_BEFORE = re.compile(
    rf"(?:{COLOUR}|{CONDITION}|{FUEL}|{GRADED}|wireless|cordless|bluetooth|manual|automatic|dimmable|adjustable|"
    rf"organic|vegan|"
    r"[\w-]*(?:proof|less|able|-free|resistant|-cancell?ing|ible|-friendly|-safe)|[a-z]+-[a-z]+(?:ed|ing))",
    re.IGNORECASE,
)
_STANDS_ALONE = re.compile(
    r"(?:for|in|from|made|near|available|at least|at most|under|over|up to|between|since|after|before|more|less|"
    r"newer|older|"
    r"only|max|min|fits?|runs?|works?|easy|able|size|suitable|(?:19|20)\d\d|\w+ only|delivered|sold|ships?|by)\b",
    re.IGNORECASE,
)


_PLACE = re.compile(r"(?:for|in|near)\b", re.IGNORECASE)


def summarise(requirements: Requirements) -> str:
    """ "An electric kettle with variable temperature, at most £50, preferably of stainless steel; …" """
    words = _phrase(requirements)
    return f"{words[0].upper()}{words[1:]}." if words else "Nothing is known yet."


def _phrase(wanted: Requirements) -> str:
    product = wanted.product_type or ("something" if wanted.has_constraint else "")
    if not product:
        return ""
    positives = [
        each for each in (*wanted.specifications, *wanted.must_haves) if each.casefold() not in product.split()
    ]
    adjectives = [each for each in positives if _BEFORE.fullmatch(each) and wanted.product_type]
    others = [each for each in positives if each not in adjectives]
    first = f"{', '.join(adjectives)} {product}".strip()
    parts = [first if is_pair(product) or not wanted.product_type else f"{article(first)} {first}"]
    places = [each for each in others if _PLACE.match(each)]
    parts[0] = " ".join((parts[0], *places))
    others = [each for each in others if each not in places]
    features = [each for each in others if not _STANDS_ALONE.match(each) and not _is_material(each)]
    if features:
        parts[0] += f" with {listed(tuple(features), 'and')}"
    parts += [f"of {each}" for each in others if _is_material(each)]
    parts += [each for each in others if _STANDS_ALONE.match(each)]
    if wanted.budget:
        parts.append(budget_text(wanted.budget))
    if wanted.nice_to_haves:
        parts.append(f"preferably {listed(tuple(_wished(each) for each in wanted.nice_to_haves), 'and')}")
    more = [", ".join(part for part in parts if part)]
    if wanted.priorities:
        most, *then = wanted.priorities
        more.append(
            f"{most} {'matter' if is_plural(most.split()[-1]) else 'matters'} most"
            + (f", then {listed(tuple(then), 'and')}" if then else "")
        )
    if wanted.constraints:
        more.append(", ".join(wanted.constraints))
    return "; ".join(more)


def _wished(item: str) -> str:
    if _is_material(item):
        return f"of {item}"
    return item if _BEFORE.fullmatch(item) or _STANDS_ALONE.match(item) else f"with {item}"


def _is_material(item: str) -> bool:
    return bool(re.fullmatch(MATERIAL, item, re.IGNORECASE)) and not re.fullmatch(
        r"wooden|woollen", item, re.IGNORECASE
    )


def article(name: str) -> str:
    return "an" if re.match(r"(?:[aeio]|u(?!s|ni|k\b)|8|11\b|18\b|hour|honest|led\b|mp3)", name, re.IGNORECASE) else "a"


def budget_text(budget: PriceRange) -> str:
    """ "at most £50", "between £30 and £50", "at least 300 SEK"."""
    if budget.most is not None and budget.least is not None:
        return f"between {_money(budget.least, budget.currency)} and {_money(budget.most, budget.currency)}"
    if budget.most is not None:
        return f"at most {_money(budget.most, budget.currency)}"
    return f"at least {_money(budget.least, budget.currency)}" if budget.least is not None else ""


def _money(amount: float, currency: str) -> str:
    figure = f"{amount:,.2f}" if amount % 1 else f"{int(amount):,}" if amount >= 10_000 else f"{int(amount)}"
    return f"{_SIGNS[currency]}{figure}" if currency in _SIGNS else f"{figure} {currency}".strip()
