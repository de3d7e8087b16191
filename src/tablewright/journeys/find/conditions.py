"""Which rows meet the conditions of a list: yes, no, or their cells do not say. Code decides; only whether two
spellings are one name is asked of the model, once for a column."""

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
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Cell, column_key
from tablewright.values.money import Rates

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel


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
