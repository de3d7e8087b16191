"""The labels under which the pages of products state things: what can be compared is what several of them state."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from tablewright.decisions.shopping.known import KnownField, is_named_by, usual_question
from tablewright.decisions.shopping.verifiable import refused, yes_or_no
from tablewright.extraction.passages import passages
from tablewright.table.choices import read_boolean
from tablewright.table.measures import read_measures
from tablewright.table.model import Field, FieldType, Noun
from tablewright.table.money_text import read_money
from tablewright.table.retrieved import Retrieved
from tablewright.table.typed import unit_in
from tablewright.table.units import parse_unit
from tablewright.table.untrusted import gives_orders
from tablewright.text.words import stems

MOST_WORDS = 4
LONGEST_VALUE = 80
MOST_ALIKE = 0.7
"""The share of the values that must be of one kind for the field to be."""


class Label(Noun, frozen=True):
    """A label as it stands on pages, with the value that each of `pages` gives it."""

    name: str
    values: tuple[str, ...]
    pages: tuple[str, ...]
    domains: tuple[str, ...]


def labels_of(sources: Iterable[Retrieved]) -> tuple[Label, ...]:
    """Every label, the most used first; none of what speaks to machines."""
    found: dict[tuple[str, ...], dict[str, tuple[str, str, str]]] = defaultdict(dict)
    for source in sources:
        for pair in passages(source.text).pairs:
            is_stated = pair.marked and not pair.inline and 0 < len(pair.value) <= LONGEST_VALUE
            if (
                is_stated
                and 0 < len(stems(pair.label)) <= MOST_WORDS
                and not gives_orders(f"{pair.label} {pair.value}")
            ):
                found[stems(pair.label)].setdefault(source.origin, (pair.label, pair.value, source.domain))
    labels = (
        Label(
            name=Counter(label for label, _, _ in pages.values()).most_common(1)[0][0],
            values=tuple(value for _, value, _ in pages.values()),
            pages=tuple(pages),
            domains=tuple(dict.fromkeys(domain for _, _, domain in pages.values())),
        )
        for pages in found.values()
    )
    return tuple(sorted(labels, key=lambda label: -len(label.pages)))


def pages_with(field: KnownField, labels: Sequence[Label]) -> int:
    """On how many pages the field is stated."""
    return len({page for label in labels if is_named_by(label.name, field) for page in label.pages})


def shared_fields(labels: Sequence[Label], known: Sequence[KnownField]) -> list[Field]:
    """Fields for the labels that the pages of several products share and that no known field covers."""
    shared = (
        label for label in labels if _is_of_products(label) and not any(is_named_by(label.name, k) for k in known)
    )
    return [field for label in shared if (field := _field(label))]


_OF_SHOPS = re.compile(
    r"\b(?:price|rrp|msrp|vat|stock|availability|delivery|shipping|returns?|sku|ean|gtin|upc|asin|mpn|article|item"
    r"|order|"
    r"model|brand|manufacturer|maker|category|categories|tags?|share|phone|tel|telephone|fax|e-?mail|address|contact|"
    r"opening|hours of|open|posted|published|updated|date|author|by|written|copyright|cookies?|menu|home|search|basket|"
    r"cart|quantity|qty|reviews?|name|product|title|note|related|see also|newsletter|customers?|website|url|"
    r"download|manual|condition|seller|payment)\b",
    re.IGNORECASE,
)


def _is_of_products(label: Label) -> bool:
    """On the pages of several products, with values of their own: what is the same all over a site is its furniture."""
    if len(label.pages) < 2 or _OF_SHOPS.search(label.name) or refused(label.name):
        return False
    return len(label.domains) > 1 or len(set(label.values)) > 1


def _field(label: Label) -> Field | None:
    name = re.sub(r"\s*\([^)]*\)", "", label.name).strip(" :*•-") or label.name
    name = re.sub(r"[{}\[\]|]", "", name[:1].upper() + name[1:])
    kind, unit = _kind(label)
    if kind is None:
        return None
    small = name if name[1:2].isupper() else name[:1].lower() + name[1:]
    question = yes_or_no(small) if kind == "boolean" else usual_question(name)
    return Field(name=name, type=kind, unit=unit, question=question, role="category")


def _kind(label: Label) -> tuple[FieldType | None, str]:
    """What sort of value it has, and in which unit; None for addresses and amounts of money."""
    values = label.values
    if _share(values, lambda value: bool((money := read_money(value)) and money.money.currency)):
        return None, ""
    if any("@" in value or "://" in value for value in values):
        return None, ""
    if _share(values, lambda value: read_boolean(value)[1] == "high"):
        return "boolean", ""
    measures = [read_measures(value) for value in values]
    single = [found[0] for found in measures if len(found) >= 1 and not found[0].sizes]
    units = Counter(measure.unit for measure in single if measure.unit and parse_unit(measure.unit))
    if units and sum(units.values()) >= MOST_ALIKE * len(values):
        unit = units.most_common(1)[0][0]
        kinds = {found.kind for each in units if (found := parse_unit(each))}
        return ("number", unit) if len(kinds) == 1 else ("text", "")
    if _share(values, lambda value: bool(re.fullmatch(r"\s*\d+(?:[.,]\d+)?\s*", value))):
        return "number", unit_in(label.name)
    return "text", ""


def _share(values: Sequence[str], holds: Callable[[str], bool]) -> bool:
    return sum(map(holds, values)) >= MOST_ALIKE * len(values)
