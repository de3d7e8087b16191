"""The account of a search for rows: how many, which meet the conditions, how sure that all are found, what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.conditions.comparable import comparable_values, read_limit
from tablewright.conditions.compare import Verdict, all_hold
from tablewright.conditions.evaluate import (
    Rules,
    Spellings,
    evaluate_condition,
    fields_by_key,
    row_reader,
)
from tablewright.decisions.decision import Tell
from tablewright.decisions.same_values import ToGroup, learn_spellings, values_to_group
from tablewright.domain.condition import NAMING, Condition, describe_condition
from tablewright.domain.coverage import CountEstimate
from tablewright.domain.listing import FoundRows, Listing, ListPlan, UndecidedRow
from tablewright.domain.model import Cell, column_key
from tablewright.domain.text import cell_text
from tablewright.journeys.find.things import ListedThing, estimate, things_of
from tablewright.messages.catalogue import translate
from tablewright.store.store import Store
from tablewright.values.money import BUNDLED, Rates

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel


async def account(store: Store, listing: Listing, rates: Rates = BUNDLED, language: str = "") -> FoundRows:
    """Return the result of a search; only what it says of completeness is in the language."""
    table = await store.tables.load(listing.table_id)
    plan, things = listing.plan, things_of(listing)
    aside = {each.key for each in listing.aside}
    present = {row.id for row in table.rows}
    mine = [thing for thing in things if listing.placed.get(thing.key) in present]
    left_over = [thing for thing in things if thing.key not in listing.placed and thing.key not in aside]
    undecided = []
    assumed: dict[str, None] = {}
    for row in table.rows:
        judged = judge_row(row.cells, plan, Spellings(), rates)
        assumed |= dict.fromkeys(filter(None, (judged.guess, judged.rate and rates.used([judged.rate]))))
        if judged.truth == "not stated":
            undecided.append(UndecidedRow(name=cell_text(row.cell(table.key_field)), reason=judged.reason))
    likely, sites = estimate([*mine, *left_over])
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
        completeness=completeness(likely, sites, mine, left_over, language),
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


def completeness(
    likely: CountEstimate | None,
    sites: int,
    mine: Sequence[ListedThing],
    left_over: Sequence[ListedThing],
    language: str,
) -> str:
    """How sure it is that all are found, in words that claim no more than the overlap of the lists shows."""
    if not mine and not left_over:
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


# ── which rows meet the conditions ──────────────────────────────────────────────────────────────────────────────────


async def spellings_for(
    plan: ListPlan, rows: Sequence[Mapping[str, Cell]], model: LanguageModel | None, tell: Tell
) -> Spellings:
    """Return which values of a column mean a name that a condition has."""
    found = Spellings()
    wanted: dict[str, tuple[str, ...]] = {}
    for condition in plan.conditions:
        if condition.operator in NAMING:
            wanted[condition.column] = (*wanted.get(condition.column, ()), *condition.values)
    for field in plan.fields if model else ():
        stated = [each for cells in rows for each in comparable_values(cells.get(field.name, Cell()), field)]
        values = values_to_group(stated) if field.name in wanted else ()
        if model and values:
            asked = ToGroup(column=field.name, values=values, wanted=wanted[field.name], question=plan.question)
            await learn_spellings(found, column_key(field.name), asked, model, tell)
    return found


def judge_row(cells: Mapping[str, Cell], plan: ListPlan, spellings: Spellings, rates: Rates) -> Verdict:
    """Return whether a row meets all conditions, and what it has instead of what it misses."""
    fields, rules = fields_by_key(plan.fields), Rules(spellings=spellings, rates=rates)
    reader = row_reader(cells, fields)

    def judge(condition: Condition) -> Verdict:
        field = fields[column_key(condition.column)]
        verdict = evaluate_condition(condition, reader, field, rules)
        reason = verdict.reason
        if verdict.truth == "no match":
            stated, limits = reader(field.name), [read_limit(each, field) for each in condition.values]
            has = ", ".join(rates.in_currency_of(each, limits).raw for each in stated.values)
            reason = f"{field.name} is {has or ('none' if stated.gap == 'absent' else 'not known')}"
        if verdict.truth == "no match" or (verdict.truth == "not stated" and verdict.rate):
            reason = f"{reason}; wanted: {describe_condition(condition)}"
        return verdict._replace(reason=reason)

    return all_hold(map(judge, plan.conditions))
