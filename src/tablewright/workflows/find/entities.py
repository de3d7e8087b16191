"""Group mentions into entities, and make the cells of an entity's row.

Rows of one table are different entities, unless they say the same. Whether two pages mean one entity is the model's
judgement on labels: names with the cells of the plan's other identity columns, if one entity has several rows. If the
model judged names alone, those cells must agree too. Names that it did not judge, and all names without a model, are
compared by `values/row_names.py`. No I/O: entities are derived again from the kept mentions each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from tablewright.citations.evidence import basis_for_rule, conversion_rule, find_proving_rule
from tablewright.domain.listing import CountEstimate, Listing, ListPlan, Mention, estimate_total_count
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Finding, Value
from tablewright.domain.rowkey import row_key, split_words
from tablewright.engine.outcome import proposed_cell
from tablewright.llm.tasks.cell_answer import BASIS_SCORES
from tablewright.strategies.findings import MAX_EVIDENCE, combine_scores
from tablewright.values.coerce import coerce_value
from tablewright.values.row_names import RowNameIndex
from tablewright.values.same_value import group_by_value, same_value


@dataclass(kw_only=True)
class Entity:
    """An entity with every place that mentions it. `key` is the same each time it is derived."""

    key: str
    name: str
    mentions: list[Mention] = field(default_factory=list)

    @property
    def domains(self) -> set[str]:
        return {each.evidence.domain or each.evidence.origin for each in self.mentions}

    @property
    def pages(self) -> tuple[str, ...]:
        """The entity's own pages, as the lists link to them."""
        return tuple(dict.fromkeys(each.url for each in self.mentions if each.url))


def group_mentions(listing: Listing) -> list[Entity]:
    """Return the entities in the order in which they were found."""
    collected = MentionGrouper(listing)
    for source in listing.sources:
        for mention in source.sightings:
            collected.add(mention)
    for entity in collected.things:
        collected.put_first(entity)
    return collected.things


def label_mention(mention: Mention, plan: ListPlan) -> str:
    """Return what distinguishes an entity: its name and its cells in the plan's other identity columns."""
    others = (mention.values.get(name, "") for name in plan.identity if name != plan.key)
    return " · ".join(filter(None, (mention.name, *others)))


def fold_name(name: str) -> str:
    """Fold case and punctuation but keep the legal form: "Marlow Ltd" and "Marlow Inc." may be two firms."""
    return " ".join(split_words(name))


def put_name_first(name: str, group: Sequence[str]) -> tuple[str, ...]:
    """Return the values that mean one entity, its name first."""
    return tuple(sorted(group, key=lambda each: fold_name(each) != fold_name(name)))


class MentionGrouper:
    """The entities of a listing while its mentions are added one by one."""

    def __init__(self, listing: Listing) -> None:
        plan = self._plan = listing.plan
        self.things: list[Entity] = []
        self._compared = frozenset(map(fold_name, listing.compared))
        self._leading = {fold_name(names[0]) for names in listing.same_names}
        self._same = {fold_name(name): fold_name(names[0]) for names in listing.same_names for name in names}
        self._fields = {each.name: each for each in plan.fields}
        self._identity = [name for name in plan.identity if name != plan.key]
        self._names = RowNameIndex()
        self._by_key: dict[str, int] = {}
        self._called: defaultdict[int, list[Entity]] = defaultdict(list)
        """The entities of each name, by the number of the name."""
        self._keys: set[str] = set()

    def add(self, mention: Mention) -> None:
        place = self._place_of(mention)
        same = next((entity for entity in self._called[place] if self._is_one(entity, mention)), None)
        if same is None:
            same = Entity(key=self._new_key(mention), name=mention.name)
            self.things.append(same)
            self._called[place].append(same)
        same.mentions.append(mention)

    def put_first(self, entity: Entity) -> None:
        """Put the mentions first that use the name the model chose: the row gets that name."""
        entity.mentions.sort(
            key=lambda each: self._leading.isdisjoint(map(fold_name, (label_mention(each, self._plan), each.name)))
        )
        entity.name = entity.mentions[0].name

    def _place_of(self, mention: Mention) -> int:
        """Return the number of the label or name; names that mean the same share one."""
        # The label first, because the model may have judged whole labels or names alone.
        for key in map(fold_name, (label_mention(mention, self._plan), mention.name)):
            if key in self._compared:
                return self._by_key.setdefault(self._same.get(key, key), len(self._by_key))
        place = self._names.find(mention.name)
        if place is None:
            # The mark keeps these keys apart from those of judged names.
            place = self._by_key.setdefault(f"~{row_key(mention.name)}", len(self._by_key))
            self._names.add(place, mention.name)
        return place

    def _is_one(self, entity: Entity, mention: Mention) -> bool:
        judged = fold_name(label_mention(mention, self._plan)) in self._compared
        for other in entity.mentions:
            same_name = row_key(other.name) == row_key(mention.name)
            same_table = bool(mention.list_id) and other.list_id == mention.list_id
            says_the_same = fold_name(other.name) == fold_name(mention.name) and other.values == mention.values
            # A table lists a thing once, so two of its rows are two things, unless they are copies.
            if same_table and not says_the_same:
                return False
            # The model has seen both labels; only two rows of one table outrank its word.
            if judged:
                continue
            if other.evidence.origin == mention.evidence.origin and not same_name:
                return False  # a page that writes two names means two things
            if any(self._differ(name, other, mention) for name in self._identity):
                return False
        return True

    def _differ(self, name: str, one: Mention, other: Mention) -> bool:
        if name not in one.values or name not in other.values:
            return False
        return not same_value(self._value(name, one), self._value(name, other), "merging")

    def _value(self, name: str, mention: Mention) -> Value:
        return coerce_value(mention.values[name], self._fields[name]).value

    def _new_key(self, mention: Mention) -> str:
        parts = [mention.name, *(mention.values.get(name, "") for name in self._identity)]
        base = key = " · ".join(filter(None, map(row_key, parts))) or mention.name
        number = 1
        while key in self._keys:
            number += 1
            key = f"{base} · {number}"
        self._keys.add(key)
        return key


# ── the cells of an entity ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(kw_only=True)
class MentionedValue:
    """A value as one place states it."""

    text: str
    value: Value
    evidence: tuple[Evidence, ...]

    @property
    def site(self) -> str:
        return self.evidence[0].domain or self.evidence[0].origin


def make_entity_cells(entity: Entity, plan: ListPlan, at: str) -> dict[str, Cell]:
    found = {each.name: make_entity_cell(each, entity, plan, at) for each in plan.fields}
    return {name: cell for name, cell in found.items() if cell is not None}


def make_entity_cell(column: Field, entity: Entity, plan: ListPlan, at: str) -> Cell | None:
    """Return the value that most independent sites state, with the others as conflicts; None if none states it."""
    is_name = column.name == plan.key
    readings = list(read_mentioned_values(column, entity, is_name=is_name))
    if not readings:
        return None
    # Spellings of a name are no conflict: the mentions were joined because they mean one entity.
    sides = [readings] if is_name else group_by_value(readings, [reading.value for reading in readings])
    # Sites are counted, not mentions: a site that repeats a value is still one voice.
    best = max(sides, key=lambda side: len({each.site for each in side}))
    rivals = [side for side in sides if side is not best and {e.site for e in side} - {e.site for e in best}]
    # Confidence of a cell under a header of its name if no model judged what the table is about.
    score = BASIS_SCORES["stated"] if plan.by_model else 0.5
    sites = {each.site for each in best}
    first = best[0]
    rule = "verbatim" if is_name else find_proving_rule(first.text, " ".join(e.quote for e in first.evidence), column)
    finding = Finding(
        field=column.name,
        value=first.text,
        confidence=combine_scores([score] * len(sites), [score] * len(rivals)),
        basis=basis_for_rule(rule) if rule else "converted",
        converted_by=conversion_rule(rule) if rule else "the unit of its column",
        evidence=first_evidence_per_site(best),
        conflict=tuple(Conflict(value=side[0].value, evidence=first_evidence_per_site(side)) for side in rivals),
    )
    cell = proposed_cell(column, finding, run_id="", attempt=0, at=at)
    return msgspec.structs.replace(cell, run_id=None) if cell.value is not None else None


def read_mentioned_values(column: Field, entity: Entity, *, is_name: bool) -> Iterable[MentionedValue]:
    for mention in entity.mentions:
        text = mention.name if is_name else mention.values.get(column.name, "")
        value = coerce_value(text, column).value if text else None
        if value is not None:
            yield MentionedValue(text=text, value=value, evidence=mention_evidence(column, text, mention))


def mention_evidence(column: Field, text: str, mention: Mention) -> tuple[Evidence, ...]:
    """Return the line that names the entity and, if it is another one, the line with the value; the line that states
    the value comes first."""
    other_line = mention.elsewhere.get(column.name)
    if other_line is None:
        return (mention.evidence,)
    return tuple(
        sorted((mention.evidence, other_line), key=lambda each: not find_proving_rule(text, each.quote, column))
    )


def first_evidence_per_site(side: Sequence[MentionedValue]) -> tuple[Evidence, ...]:
    of_site: dict[str, tuple[Evidence, ...]] = {}
    for reading in side:
        of_site.setdefault(reading.site, reading.evidence)
    return tuple(dict.fromkeys(each for evidence in of_site.values() for each in evidence))[:MAX_EVIDENCE]


# ── how many entities there are ──────────────────────────────────────────────────────────────────────────────────────


def estimate_entity_count(entities: Sequence[Entity]) -> tuple[CountEstimate | None, int]:
    """Estimate how many entities there are in all from the overlap of independent sites; also return the number of
    those sites. Two pages of one site count as one list: they omit the same entities."""
    listed: dict[str, set[str]] = {}
    for entity in entities:
        for domain in entity.domains:
            listed.setdefault(domain, set()).add(entity.key)
    lists = [keys for keys in listed.values() if len(keys) >= 2]  # a site that names one entity is no list
    return estimate_total_count(lists), len(lists)
