"""A planned question over the members of a kind or a table: conditions, order and figures, all by code.

Only whether two spellings are one name is asked of the model, once for a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tablewright.conditions.comparable import sort_key
from tablewright.conditions.compare import Verdict, all_hold, is_text
from tablewright.conditions.evaluate import Gap, Rules, Spellings, Stated, evaluate_condition, joint_key
from tablewright.corpus.results import (
    Aggregated,
    FoundItem,
    FoundItems,
    Group,
    StatedFact,
    UndecidedItem,
    annotations_aggregate,
)
from tablewright.decisions.decision import Tell
from tablewright.decisions.plan_question import QuestionPlan
from tablewright.decisions.same_values import ToGroup, learn_spellings, values_to_group
from tablewright.domain.condition import NAMING, UNARY, Condition, describe_condition, named_column
from tablewright.domain.corpus import Question, Typed
from tablewright.domain.model import Field, column_key
from tablewright.domain.retrieved import concerning
from tablewright.domain.text import normalize_whitespace
from tablewright.journeys.ask.doubts import Doubts
from tablewright.journeys.ask.members import CHANGED, Member, QueryScope
from tablewright.messages.catalogue import AskText, translate
from tablewright.values.typed import typed

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

NOT_READ = frozenset({"error", "over_budget", "blocked", "it was not looked for", CHANGED})
"""Reasons of empty cells that say nothing about the document."""


async def spellings_for(
    plan: QuestionPlan, members: Sequence[Member], model: LanguageModel | None, tell: Tell
) -> Spellings:
    """Return which values mean the names of the question, and each other where groups are made of them."""
    found = Spellings()
    wanted: dict[tuple[str, ...], list[str]] = {}
    for condition in plan.where:
        if condition.operator in NAMING:
            for value in condition.values:
                if other := named_column(value):
                    wanted.setdefault((column_key(condition.column), column_key(other)), [])
                else:
                    wanted.setdefault((column_key(condition.column),), []).append(value)
    if plan.group_by:
        wanted.setdefault((column_key(plan.group_by),), [])
    for keys, names in wanted.items():
        stated = [each for member in members for key in keys for each in member.values.get(key, ())]
        values = values_to_group([each.value for each in stated])
        if not values or model is None:
            continue
        # without the question's own words it is the same for every follow-up, and asked once
        column = " / ".join(dict.fromkeys(each.asked for each in stated if is_text(each.value)))
        asked = ToGroup(column=column, values=values, wanted=tuple(dict.fromkeys(names)))
        with concerning(list(dict.fromkeys(member.document.id for member in members))):
            await learn_spellings(found, joint_key(*keys), asked, model, tell)
    return found


# ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def answer(plan: QuestionPlan, scope: QueryScope, said: Spellings) -> tuple[FoundItems, Aggregated | None]:
    members = [with_unit(member, plan) for member in scope.members]
    fields, rules = plan.fields_by_key, Rules(spellings=said, language=plan.language)
    question = question_of(plan, scope.called)
    matches: list[Member] = []
    undecided: list[UndecidedItem] = []
    rejected, doubted = 0, 0
    guesses: Counter[str] = Counter()
    used = {column_key(column) for condition in plan.where for column in condition.columns}
    figured = {column_key(name) for name in (plan.aggregate_column, plan.group_by) if name}
    for member in members:
        verdict = all_hold(evaluate_on_member(member, each, fields, rules) for each in plan.where)
        if verdict.truth == "no match":
            rejected += 1
        elif verdict.truth == "match":
            matches.append(member)
        else:
            undecided.append(UndecidedItem(thing=thing_of(member, plan), reason=verdict.reason))
        doubted += bool(member.doubts & (used | figured if verdict.truth == "match" else used))
        guesses.update([verdict.guess] if verdict.guess else [])
    ordered, unplaced = in_order(plan, matches)
    is_grouped = bool(plan.aggregate and plan.group_by)
    if plan.limit > 0 and not is_grouped:
        reason = translate("ask", "{column} is not stated", plan.language, column=plan.order_by)
        undecided += [UndecidedItem(thing=thing_of(each, plan), reason=reason) for each in unplaced]
        ordered = ordered[: plan.limit]
    else:
        ordered, unplaced = ordered + unplaced, []
    doubts = Doubts(plan, scope, matches, ordered)
    completeness, reason = doubts.completeness(undecided, doubts.sentences(doubted, guesses, said))
    found = FoundItems(
        question=question,
        matches=tuple(thing_of(member, plan, said) for member in ordered),
        rejected=rejected + (len(matches) - len(unplaced) - len(ordered)),
        undecided=tuple(undecided),
        unreadable=scope.unreadable,
        completeness=completeness,
        reason=reason,
    )
    aggregated = None
    if plan.aggregate:
        aggregated = annotations_aggregate(
            found, plan.aggregate, question.of, question.group_by, language=plan.language
        )
        if plan.period:
            in_time = tuple(sorted(aggregated.groups, key=lambda group: group.key))
            aggregated = msgspec.structs.replace(aggregated, groups=in_time)
        if is_grouped and plan.limit > 0:
            aggregated = best_groups(aggregated, plan)
            found = of_groups(found, aggregated)
    return found, aggregated


def with_unit(member: Member, plan: QuestionPlan) -> Member:
    """Add the currency or unit of the figures, if it is in a column of its own."""
    units = member.values.get(column_key(plan.unit_column), ()) if plan.unit_column else ()
    if not units:
        return member
    decisive = [column for each in plan.where for column in each.columns]
    figures = {column_key(column) for column in (plan.aggregate_column, plan.order_by, *decisive)}
    values = {
        key: tuple(in_unit(each, units[0].value.raw) for each in stated) if key in figures else stated
        for key, stated in member.values.items()
    }
    return replace(member, values=values)


def in_unit(stated: StatedFact, unit: str) -> StatedFact:
    value = stated.value
    if value.number is None or value.currency or value.base or value.date:
        return stated
    return msgspec.structs.replace(stated, value=typed(f"{value.raw} {unit}"))


def question_of(plan: QuestionPlan, things: str) -> Question:
    """Its columns are shown in the order of their part in it: what decides, what is reckoned, then the others."""
    names = {column_key(column.name): column.name for column in plan.columns}

    def named(column: str) -> str:
        return names.get(column_key(column), column)

    decisive = [named(column) for each in plan.where for column in each.columns]
    of, group_by = named(plan.aggregate_column), grouping(plan, named(plan.group_by))
    return Question(
        text=plan.question,
        things=things,
        conditions=tuple(msgspec.structs.replace(each, column=named(each.column)) for each in plan.where),
        aggregate=plan.aggregate,
        of=of,
        group_by=group_by,
        show=tuple(dict.fromkeys(filter(None, (*decisive, of, group_by, *names.values())))),
    )


PERIODS: AskText[tuple[str, ...]] = ("year", "quarter", "month")


def grouping(plan: QuestionPlan, column: str) -> str:
    """Return the name of the groups: "Date (month)"."""
    return f"{column} ({translate('ask', plan.period, plan.language)})" if plan.period and column else column


def in_period(day: str, period: str) -> str:
    """The year, the quarter or the month of a date; "" where it does not tell."""
    if period == "year":
        return day[:4]
    if len(day) < len("2026-03"):
        return ""
    return day[:7] if period == "month" else f"{day[:4]} Q{(int(day[5:7]) + 2) // 3}"


def asked_of(called: str, plan: QuestionPlan) -> str:
    """ "invoice: Total > 500 EUR; Supplier = ACME"."""
    return f"{called}: {'; '.join(map(describe_condition, plan.where))}".strip(": ")


def evaluate_on_member(member: Member, condition: Condition, fields: Mapping[str, Field], rules: Rules) -> Verdict:
    field = fields.get(column_key(condition.column)) or Field(name=condition.column)
    reader = partial(read_member, member, condition.operator in UNARY, rules.language)
    return evaluate_condition(condition, reader, field, rules)


def read_member(member: Member, only_stated: bool, language: str, column: str) -> Stated:
    """Return what a member says of a column; what was computed is not `only_stated`."""
    key = column_key(column)
    if values := [each.value for each in member.values.get(key, ()) if not (only_stated and each.calculation)]:
        return Stated(values)
    reason = member.missing.get(key, "")
    unread: AskText[str] = "{column} could not be read"
    changed: AskText[str] = "{column} was read before the document changed"
    silent: AskText[str] = "{column} is not stated"
    why = changed if reason == CHANGED else unread if reason in NOT_READ else silent
    gap: Gap = "unread" if reason in NOT_READ else "silent"
    return Stated(gap=gap, reason=translate("ask", why, language, column=column))


def in_order(plan: QuestionPlan, members: Sequence[Member]) -> tuple[list[Member], list[Member]]:
    """In the asked order, and those that do not state what it goes by. A whole list in several currencies is sorted
    within each of them, as 90 EUR and 100 CHF have no order."""
    if not plan.order_by:
        return list(members), []
    key = column_key(plan.order_by)
    placed = [(member.values[key][0].value, member) for member in members if member.values.get(key)]
    placed.sort(key=lambda each: sort_key(each[0]), reverse=plan.descending)
    if plan.limit <= 0:
        placed.sort(key=lambda each: each[0].currency or each[0].base)
    return [member for _, member in placed], [member for member in members if not member.values.get(key)]


def best_groups(aggregated: Aggregated, plan: QuestionPlan) -> Aggregated:
    """Return as many groups as the plan asks for, by their figure; all that share the last place are included."""

    def figure(group: Group) -> tuple[bool, Decimal | str]:
        value = group.amounts[0].value if group.amounts else Decimal(group.count)
        return isinstance(value, str), value

    figured = [group for group in aggregated.groups if group.key and (group.amounts or plan.aggregate == "count")]
    ordered = sorted(figured, key=figure, reverse=plan.descending)
    last = figure(ordered[min(plan.limit, len(ordered)) - 1]) if ordered else None
    kept = [group for place, group in enumerate(ordered) if place < plan.limit or figure(group) == last]
    return msgspec.structs.replace(aggregated, groups=tuple(kept))


def of_groups(found: FoundItems, aggregated: Aggregated) -> FoundItems:
    """Only the things that belong to these groups."""
    kept = {group.key.casefold() for group in aggregated.groups}
    matches = tuple(
        thing
        for thing in found.matches
        if any(
            normalize_whitespace(each.value.raw).casefold() in kept
            for each in thing.all_of(found.question.group_by)[:1]
        )
    )
    rejected = found.rejected + len(found.matches) - len(matches)
    return msgspec.structs.replace(found, matches=matches, rejected=rejected)


def thing_of(member: Member, plan: QuestionPlan, said: Spellings | None = None) -> FoundItem:
    values: list[StatedFact] = []
    for column in plan.columns:
        key = column_key(column.name)
        for stated in member.values.get(key, ()):
            name = (said.named.get(key, {}) if said else {}).get(normalize_whitespace(stated.value.raw))
            if name and key == column_key(plan.group_by):
                stated = msgspec.structs.replace(stated, value=Typed(raw=name))
            values.append(msgspec.structs.replace(stated, asked=column.name))
            if plan.period and key == column_key(plan.group_by) and (part := in_period(stated.value.date, plan.period)):
                group = msgspec.structs.replace(stated, asked=grouping(plan, column.name), value=Typed(raw=part))
                values.append(group)
    return FoundItem(
        document_id=member.document.id,
        title=member.title,
        row=member.row,
        page=member.page,
        start=member.start,
        end=member.end,
        values=tuple(values),
    )
