"""Report on a search for rows: how many were found, which meet the conditions, how complete the list is, what was read.

Reads the table and the listing from the store, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.conditions.compare import Verdict, combine_all, read_comparable_values, read_limit
from tablewright.conditions.evaluate import (
    ComparisonRules,
    NameSpellings,
    evaluate_condition,
    index_fields,
    make_row_reader,
)
from tablewright.domain.condition import NAMING_OPERATORS, Condition, describe_condition
from tablewright.domain.listing import CountEstimate, FoundRows, Listing, ListPlan, UndecidedRow
from tablewright.domain.model import Cell, column_key
from tablewright.domain.text import cell_text
from tablewright.llm.tasks.decision import Tell
from tablewright.llm.tasks.same_values import ValuesToGroup, learn_spellings, list_text_values
from tablewright.messages.catalogue import translate
from tablewright.store.store import Store
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.workflows.find.entities import Entity, estimate_entity_count, group_mentions

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


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
    for field in plan.fields if model else ():
        stated = [each for cells in rows for each in read_comparable_values(cells.get(field.name, Cell()), field)]
        values = list_text_values(stated) if field.name in names else ()
        if model and values:
            asked = ValuesToGroup(column=field.name, values=values, wanted=names[field.name], question=plan.question)
            await learn_spellings(found, column_key(field.name), asked, model, tell)
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
