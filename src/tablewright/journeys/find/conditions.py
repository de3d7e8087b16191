"""Which rows meet the conditions of a list: yes, no, or their cells do not say. Code decides; only whether two
spellings are one name is asked of the model, once for a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.conditions.judge import MATCH, NO_MATCH, Verdict, both, either, unstated
from tablewright.corpus.results import StatedFact
from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.plan_list import in_words
from tablewright.decisions.plan_question import PlannedCondition
from tablewright.decisions.same_values import SameValues, ToGroup
from tablewright.domain.form import Where
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Cell, Field, column_key
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text
from tablewright.journeys.ask.members import stated_of
from tablewright.journeys.ask.query import MOST_VALUES, Spellings, compared, is_text
from tablewright.values.money import Rates
from tablewright.values.typed import type_of, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tablewright.models.model import LanguageModel

NAMED = ("=", "!=", "contains")


async def spellings(
    plan: ListPlan, rows: Sequence[Mapping[str, Cell]], model: LanguageModel | None, tell: Tell
) -> Spellings:
    """Which values of a column mean a name that a condition has."""
    said = Spellings()
    fields = {field.name: field for field in plan.fields}
    for condition in plan.conditions:
        if condition.operator not in NAMED or model is None:
            continue
        field = fields[condition.column]
        stated = [each for cells in rows for each in stated_in(field, cells.get(field.name)) if is_text(each.value)]
        values = tuple(dict.fromkeys(" ".join(each.value.raw.split()) for each in stated))
        if not values or len(values) > MOST_VALUES:
            continue
        asked = ToGroup(column=field.name, values=values, wanted=condition.values, question=plan.question)
        outcome = await decide(SameValues(), asked, model, tell)
        if not outcome.degraded:
            meant = {row_key(name): frozenset(each) for name, each in outcome.decided.items()}
            said.meant.setdefault(column_key(field.name), {}).update(meant)
    return said


def verdict(cells: Mapping[str, Cell], plan: ListPlan, said: Spellings, rates: Rates) -> Verdict:
    fields = {field.name: field for field in plan.fields}
    return both(
        decided(cells.get(each.column, Cell()), each, fields[each.column], said, rates) for each in plan.conditions
    )


def decided(cell: Cell, condition: Where, field: Field, said: Spellings, rates: Rates) -> Verdict:
    stated = stated_in(field, cell)
    if condition.operator in ("known", "unknown"):
        if not stated and cell.needs_work:
            return unstated(f"{field.name} was not looked for")
        if bool(stated) == (condition.operator == "known"):
            return MATCH
        return NO_MATCH._replace(reason=f"{field.name} was {'not ' * (not stated)}found")
    if not stated:
        return unstated(f"{field.name} is not known")
    wanted = [in_unit_of(field, value) for value in condition.values]
    planned = PlannedCondition(column=field.name, operator=condition.operator, values=wanted)  # type: ignore[arg-type]
    limits = [typed(value) for value in wanted]
    converted = [structs.replace(each, value=rates.in_currency_of(each.value, limits)) for each in stated]
    verdicts = [compared(each, planned, field.type, said) for each in converted]
    found = both(verdicts) if condition.operator == "!=" else either(verdicts)
    others = [before.value for before, after in zip(stated, converted, strict=True) if before.value is not after.value]
    if others:
        pairs = (rates.rate_text(each.currency, converted[0].value.currency) for each in others)
        found = found._replace(guess=rates.used(dict.fromkeys(pairs)))
    shown = converted[0].value.raw if others else yes_or_no(cell) or cell_text(cell)
    if found.truth == "no match":
        return found._replace(reason=f"{field.name} is {shown}; wanted: {in_words(condition)}")
    if found.truth == "not stated" and others:
        return found._replace(reason=f"{field.name} is {shown}, and rates change; wanted: {in_words(condition)}")
    return found


def in_unit_of(field: Field, limit: str) -> str:
    """A bare number is meant in the unit of the column that it limits."""
    bare = field.type == "number" and field.unit and type_of(typed(limit)) == "number" and not typed(limit).unit
    return f"{limit} {field.unit}" if bare else limit


def yes_or_no(cell: Cell) -> str:
    return {True: "yes", False: "no"}[cell.value] if isinstance(cell.value, bool) else ""


def stated_in(field: Field, cell: Cell | None) -> tuple[StatedFact, ...]:
    return stated_of(field, cell) if cell is not None and cell.value is not None else ()
