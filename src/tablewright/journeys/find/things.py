"""Which sightings are of one thing, and what its row says.

Rows of one table are different things, unless they say the same. Whether two pages mean one thing the model has said,
of labels: names with the cells of the plan's other identity columns, where one thing has several rows. Where it was
asked about names alone, those cells must agree too; names that it was not asked about, and all without a model, are
compared by `values/dedupe.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from tablewright.citations.evidence import basis_of, conversion, follows
from tablewright.decisions.cell_answer import SCORES
from tablewright.domain.coverage import CountEstimate, estimate_total
from tablewright.domain.listing import Listing, ListPlan, Sighting
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Finding, Value
from tablewright.domain.rowkey import row_key, split_words
from tablewright.engine.outcome import proposed_cell
from tablewright.strategies.findings import MOST_EVIDENCE, confidence
from tablewright.values.coerce import coerce
from tablewright.values.row_names import RowNames
from tablewright.values.same_value import group_by_value, same_value

UNJUDGED = 0.5
"""How likely a cell is right that stands under a header of its name, where nobody judged what the table is about."""
LEAST_LISTED = 2
"""Things that a site must name to count as a list in the estimate."""
HEADER_UNIT = "the unit of its column"


@dataclass(kw_only=True)
class ListedThing:
    """Something that was found, with every place that names it. `key` is the same each time it is worked out."""

    key: str
    name: str
    sightings: list[Sighting] = field(default_factory=list)

    @property
    def domains(self) -> set[str]:
        return {each.evidence.domain or each.evidence.origin for each in self.sightings}

    @property
    def pages(self) -> tuple[str, ...]:
        """Its own pages, as the lists link to them."""
        return tuple(dict.fromkeys(each.url for each in self.sightings if each.url))


def things_of(listing: Listing) -> list[ListedThing]:
    """In the order in which they were found."""
    collected = Collected(listing)
    for source in listing.sources:
        for sighting in source.sightings:
            collected.add(sighting)
    for thing in collected.things:
        collected.put_first(thing)
    return collected.things


def label_of(sighting: Sighting, plan: ListPlan) -> str:
    """What tells it from others: its name, and its cells of the plan's other identity columns."""
    others = (sighting.values.get(name, "") for name in plan.identity if name != plan.key)
    return " · ".join(filter(None, (sighting.name, *others)))


def spelled(name: str) -> str:
    """A name as it is written, legal form and all: "Marlow Ltd" and "Marlow Inc." may be two firms."""
    return " ".join(split_words(name))


def led_by(name: str, group: Sequence[str]) -> tuple[str, ...]:
    """The values that mean one thing, the one that is its name first."""
    return tuple(sorted(group, key=lambda each: spelled(each) != spelled(name)))


class Collected:
    def __init__(self, listing: Listing) -> None:
        plan = self._plan = listing.plan
        self.things: list[ListedThing] = []
        self._compared = frozenset(map(spelled, listing.compared))
        self._leading = {spelled(names[0]) for names in listing.same_names}
        self._same = {spelled(name): spelled(names[0]) for names in listing.same_names for name in names}
        self._fields = {each.name: each for each in plan.fields}
        self._identity = [name for name in plan.identity if name != plan.key]
        self._names = RowNames()
        self._by_key: dict[str, int] = {}
        self._called: defaultdict[int, list[ListedThing]] = defaultdict(list)
        """The things of each name, by the number that the name was added under."""
        self._keys: set[str] = set()

    def add(self, sighting: Sighting) -> None:
        place = self._place_of(sighting)
        same = next((thing for thing in self._called[place] if self._is_one(thing, sighting)), None)
        if same is None:
            same = ListedThing(key=self._new_key(sighting), name=sighting.name)
            self.things.append(same)
            self._called[place].append(same)
        same.sightings.append(sighting)

    def put_first(self, thing: ListedThing) -> None:
        """What calls the thing by the name that the model gave it: its row is named so."""
        thing.sightings.sort(
            key=lambda each: self._leading.isdisjoint(map(spelled, (label_of(each, self._plan), each.name)))
        )
        thing.name = thing.sightings[0].name

    def _place_of(self, sighting: Sighting) -> int:
        """The number of the label or the name: one for all that mean the same."""
        for key in map(spelled, (label_of(sighting, self._plan), sighting.name)):
            if key in self._compared:
                return self._by_key.setdefault(self._same.get(key, key), len(self._by_key))
        place = self._names.find(sighting.name)
        if place is None:
            place = self._by_key.setdefault(f"~{row_key(sighting.name)}", len(self._by_key))
            self._names.add(place, sighting.name)
        return place

    def _is_one(self, thing: ListedThing, sighting: Sighting) -> bool:
        judged = spelled(label_of(sighting, self._plan)) in self._compared
        for other in thing.sightings:
            same_name = row_key(other.name) == row_key(sighting.name)
            same_table = bool(sighting.list_id) and other.list_id == sighting.list_id
            says_the_same = spelled(other.name) == spelled(sighting.name) and other.values == sighting.values
            if same_table and not says_the_same:
                return False
            if judged:
                continue
            if other.evidence.origin == sighting.evidence.origin and not same_name:
                return False  # a page that writes two names means two things
            if any(self._differ(name, other, sighting) for name in self._identity):
                return False
        return True

    def _differ(self, name: str, one: Sighting, other: Sighting) -> bool:
        if name not in one.values or name not in other.values:
            return False
        return not same_value(self._value(name, one), self._value(name, other), "merging")

    def _value(self, name: str, sighting: Sighting) -> Value:
        return coerce(sighting.values[name], self._fields[name]).value

    def _new_key(self, sighting: Sighting) -> str:
        parts = [sighting.name, *(sighting.values.get(name, "") for name in self._identity)]
        base = key = " · ".join(filter(None, map(row_key, parts))) or sighting.name
        number = 1
        while key in self._keys:
            number += 1
            key = f"{base} · {number}"
        self._keys.add(key)
        return key


# ── the cells of a thing ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(kw_only=True)
class SightedValue:
    """A value as one place states it."""

    text: str
    value: Value
    evidence: tuple[Evidence, ...]

    @property
    def site(self) -> str:
        return self.evidence[0].domain or self.evidence[0].origin


def cells_of(thing: ListedThing, plan: ListPlan, at: str) -> dict[str, Cell]:
    found = {each.name: cell_of(each, thing, plan, at) for each in plan.fields}
    return {name: cell for name, cell in found.items() if cell is not None}


def cell_of(column: Field, thing: ListedThing, plan: ListPlan, at: str) -> Cell | None:
    """The value that most independent places state, with the others where they differ; None where none states it."""
    is_name = column.name == plan.key
    readings = list(readings_of(column, thing, is_name=is_name))
    if not readings:
        return None
    sides = [readings] if is_name else group_by_value(readings, [reading.value for reading in readings])
    best = max(sides, key=lambda side: len({each.site for each in side}))
    rivals = [side for side in sides if side is not best and {e.site for e in side} - {e.site for e in best}]
    score = SCORES["stated"] if plan.by_model else UNJUDGED
    sites = {each.site for each in best}
    first = best[0]
    rule = "verbatim" if is_name else follows(first.text, " ".join(e.quote for e in first.evidence), column)
    finding = Finding(
        field=column.name,
        value=first.text,
        confidence=confidence([score] * len(sites), [score] * len(rivals)),
        basis=basis_of(rule) if rule else "converted",
        converted_by=conversion(rule) if rule else HEADER_UNIT,
        evidence=first_of_sites(best),
        conflict=tuple(Conflict(value=side[0].value, evidence=first_of_sites(side)) for side in rivals),
    )
    cell = proposed_cell(column, finding, run_id="", attempt=0, at=at)
    return msgspec.structs.replace(cell, run_id=None) if cell.value is not None else None


def readings_of(column: Field, thing: ListedThing, *, is_name: bool) -> Iterable[SightedValue]:
    for sighting in thing.sightings:
        text = sighting.name if is_name else sighting.values.get(column.name, "")
        value = coerce(text, column).value if text else None
        if value is not None:
            yield SightedValue(text=text, value=value, evidence=evidence_of(column, text, sighting))


def evidence_of(column: Field, text: str, sighting: Sighting) -> tuple[Evidence, ...]:
    """The line that names the thing and, if that is another, the one that has the value: who states it comes first."""
    beside = sighting.elsewhere.get(column.name)
    if beside is None:
        return (sighting.evidence,)
    return tuple(sorted((sighting.evidence, beside), key=lambda each: not follows(text, each.quote, column)))


def first_of_sites(side: Sequence[SightedValue]) -> tuple[Evidence, ...]:
    of_site: dict[str, tuple[Evidence, ...]] = {}
    for reading in side:
        of_site.setdefault(reading.site, reading.evidence)
    return tuple(dict.fromkeys(each for evidence in of_site.values() for each in evidence))[:MOST_EVIDENCE]


# ── how many there are ───────────────────────────────────────────────────────────────────────────────────────────────


def estimate(things: Sequence[ListedThing]) -> tuple[CountEstimate | None, int]:
    """How many there are in all, from what independent sites list of them, and how many sites that is. Two pages of one
    site are one: they share what they leave out."""
    listed: dict[str, set[str]] = {}
    for thing in things:
        for domain in thing.domains:
            listed.setdefault(domain, set()).add(thing.key)
    lists = [keys for keys in listed.values() if len(keys) >= LEAST_LISTED]
    return estimate_total(lists), len(lists)
