"""Group mentions into entities, make the cells of an entity's row, and report how complete the list of them is.

Rows of one table are different entities, unless they say the same. Whether two pages mean one entity is the model's
judgement on labels: names with the cells of the plan's other identity columns, if one entity has several rows. If the
model judged names alone, those cells must agree too. Names that it did not judge, and all names without a model, are
compared by `values/row_names.py`. Entities are derived again from the kept mentions each time; only the report reads
the store, and nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from tablewright.citations.evidence import basis_for_rule, conversion_rule, find_proving_rule
from tablewright.conditions.compare import Verdict, combine_all, read_comparable_values, read_limit
from tablewright.conditions.evaluate import (
    ComparisonRules,
    NameSpellings,
    evaluate_condition,
    index_fields,
    make_row_reader,
)
from tablewright.domain.condition import NAMING_OPERATORS, Condition, describe_condition
from tablewright.domain.listing import (
    CountEstimate,
    FoundRows,
    Listing,
    ListPlan,
    Mention,
    UndecidedRow,
    estimate_total_count,
)
from tablewright.domain.model import Cell, Conflict, Evidence, Field, Finding, Value, column_key
from tablewright.domain.rowkey import row_key, split_words
from tablewright.domain.text import cell_text
from tablewright.engine.outcome import proposed_cell
from tablewright.llm.tasks.cell_answer import BASIS_SCORES
from tablewright.llm.tasks.decision import Tell
from tablewright.llm.tasks.same_values import ValuesToGroup, learn_spellings, list_text_values
from tablewright.messages.catalogue import translate
from tablewright.store.store import Store
from tablewright.strategies.findings import MAX_EVIDENCE, combine_scores
from tablewright.values.coerce import coerce_value
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.values.row_names import RowNameIndex
from tablewright.values.same_value import group_by_value, same_value

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


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
    return collected.put_names_first()


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

    def put_names_first(self) -> list[Entity]:
        """Return the entities; mentions that use the name the model chose come first, and the row gets that name."""
        for entity in self.things:
            entity.mentions.sort(
                key=lambda each: self._leading.isdisjoint(map(fold_name, (label_mention(each, self._plan), each.name)))
            )
            entity.name = entity.mentions[0].name
        return self.things

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
            both = [name for name in self._identity if name in other.values and name in mention.values]
            if not all(same_value(self._value(name, other), self._value(name, mention), "merging") for name in both):
                return False
        return True

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
    readings = []
    for mention in entity.mentions:
        text = mention.name if is_name else mention.values.get(column.name, "")
        value = coerce_value(text, column).value if text else None
        if value is not None:
            evidence = mention_evidence(column, text, mention)
            readings.append(MentionedValue(text=text, value=value, evidence=evidence))
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


# ── how complete the list is ──────────────────────────────────────────────────────────────────────────────────────────


async def report_found_rows(
    store: Store, listing: Listing, rates: ExchangeRates = BUNDLED_RATES, language: str = ""
) -> FoundRows:
    """Return the result of a search; only the text on completeness is in `language`."""
    table = await store.tables.load(listing.table_id)
    plan, things = listing.plan, group_mentions(listing)
    rejected = {each.key for each in listing.aside}
    present = {row.id for row in table.rows}
    placed = [thing for thing in things if listing.placed.get(thing.key) in present]
    left_over = [thing for thing in things if thing.key not in listing.placed and thing.key not in rejected]
    undecided = []
    assumed: dict[str, None] = {}
    for row in table.rows:
        judged = judge_row(row.cells, plan, NameSpellings(), rates)
        assumed |= dict.fromkeys(filter(None, (judged.guess, judged.rate and rates.used([judged.rate]))))
        if judged.truth == "not stated":
            undecided.append(UndecidedRow(name=cell_text(row.cell(table.key_field)), reason=judged.reason))
    # Entities that were set aside are left out: the estimate is of those that belong to the list.
    likely, sites = estimate_entity_count([*placed, *left_over])
    return FoundRows(
        table_id=table.id,
        name=table.name,
        question=plan.question,
        things=plan.things,
        status=listing.status,
        problem=listing.problem,
        columns=tuple(field.name for field in table.fields),
        conditions=tuple(map(describe_condition, plan.conditions)),
        said=plan.said,
        wanted=listing.rows,
        rows=len(table.rows),
        found=len(things),
        undecided=tuple(undecided),
        assumed=tuple(assumed),
        aside=listing.aside,
        left_over=len(left_over),
        estimate=likely,
        completeness=describe_completeness(likely, sites, placed, left_over, language),
        queries=listing.queries,
        failed_queries=listing.failed_queries,
        read=tuple(source.origin for source in listing.sources if source.status in ("read", "nothing")),
        unreached={
            source.origin: f"{source.status}: {source.detail}"
            for source in listing.sources
            if source.status not in ("read", "nothing")
        }
        | dict.fromkeys(listing.waiting, "not opened yet"),
        by_model=plan.by_model,
        usage=listing.usage,
    )


def describe_completeness(
    likely: CountEstimate | None,
    sites: int,
    placed: Sequence[Entity],
    left_over: Sequence[Entity],
    language: str,
) -> str:
    """Say how complete the list is; claim no more than the overlap of the lists shows."""
    if not placed and not left_over:
        return translate("find", "Nothing was found, so nothing can be said of how many there are.", language)
    if likely is None:
        return translate(
            "find",
            "How many are missing cannot be estimated: no two sites list several of them."
            if sites < 2
            else "How many are missing cannot be estimated: the {count} sites that list them share too few.",
            language,
            count=sites,
        )
    if likely.high <= likely.found:
        return translate(
            "find",
            "{count} independent sites list the same {found}; nothing points to more, which is no proof "
            "that there are none.",
            language,
            count=likely.passes,
            found=likely.found,
        )
    return translate(
        "find",
        "Likely about {likely} in all ({low} to {high}), estimated from what {count} independent sites "
        "list alike; what no such list has is not counted.",
        language,
        likely=likely.likely,
        low=likely.low,
        high=likely.high,
        count=likely.passes,
    )


# ── which rows meet the conditions ───────────────────────────────────────────────────────────────────────────────────


async def resolve_condition_names(
    plan: ListPlan, rows: Sequence[Mapping[str, Cell]], model: LanguageModel | None, tell: Tell
) -> NameSpellings:
    """Return which values of a column mean a name used in a condition."""
    found = NameSpellings()
    names: dict[str, tuple[str, ...]] = {}
    for condition in plan.conditions:
        if condition.operator in NAMING_OPERATORS:
            names[condition.column] = (*names.get(condition.column, ()), *condition.values)
    for column in plan.fields if model else ():
        stated = [each for cells in rows for each in read_comparable_values(cells.get(column.name, Cell()), column)]
        values = list_text_values(stated) if column.name in names else ()
        if model and values:
            asked = ValuesToGroup(column=column.name, values=values, wanted=names[column.name], question=plan.question)
            await learn_spellings(found, column_key(column.name), asked, model, tell)
    return found


def judge_row(cells: Mapping[str, Cell], plan: ListPlan, spellings: NameSpellings, rates: ExchangeRates) -> Verdict:
    """Return the verdict on all conditions, with the value that the row has instead if it fails one."""
    fields, rules = index_fields(plan.fields), ComparisonRules(spellings=spellings, rates=rates)
    reader = make_row_reader(cells, fields)

    def judge(condition: Condition) -> Verdict:
        field = fields[column_key(condition.column)]
        verdict = evaluate_condition(condition, reader, field, rules)
        reason = verdict.reason
        if verdict.truth == "no match":
            stated, limits = reader(field.name), [read_limit(each, field) for each in condition.values]
            has = ", ".join(rates.in_currency_of(each, limits).raw for each in stated.values)
            reason = f"{field.name} is {has or ('none' if stated.gap == 'absent' else 'not known')}"
        # With a converted amount the rate may be what decides, so the condition is shown as well.
        if verdict.truth == "no match" or (verdict.truth == "not stated" and verdict.rate):
            reason = f"{reason}; wanted: {describe_condition(condition)}"
        return verdict._replace(reason=reason)

    return combine_all(map(judge, plan.conditions))
