"""Evaluate a planned question over the rows of a kind or a table: conditions, order and figures, all by code.

The model only judges whether two spellings are one name, once for a column. No I/O otherwise. What an answer takes for
granted is said with it (`Caveats`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.conditions.compare import Verdict, combine_all, comparable_sort_key, has_only_text, is_limit_text
from tablewright.conditions.evaluate import (
    ComparisonRules,
    Gap,
    NameSpellings,
    StatedValues,
    evaluate_condition,
    join_column_keys,
)
from tablewright.documents.results import (
    Aggregated,
    FoundItem,
    FoundItems,
    Group,
    StatedFact,
    UndecidedItem,
    aggregate_annotations,
)
from tablewright.domain.condition import (
    NAMING_OPERATORS,
    UNARY_OPERATORS,
    Condition,
    describe_condition,
    parse_column_reference,
)
from tablewright.domain.documents import ComparableValue, Completeness, Question
from tablewright.domain.model import Field, column_key
from tablewright.domain.retrieved import track_documents
from tablewright.domain.text import normalize_whitespace
from tablewright.llm.tasks.decision import Tell
from tablewright.llm.tasks.plan_question import QuestionPlan
from tablewright.llm.tasks.same_values import ValuesToGroup, learn_spellings, list_text_values
from tablewright.messages.catalogue import AskText, translate
from tablewright.values.comparable_value import parse_comparable
from tablewright.values.currencies import CURRENCY_CODES
from tablewright.workflows.ask.query_rows import CHANGED, QueryRow, QueryScope, known_values

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


async def resolve_question_names(
    plan: QuestionPlan, members: Sequence[QueryRow], model: LanguageModel | None, tell: Tell
) -> NameSpellings:
    """Return which values mean the names of the question, and each other where groups are made of them."""
    found = NameSpellings()
    wanted: dict[tuple[str, ...], list[str]] = {}
    for condition in plan.where:
        if condition.operator in NAMING_OPERATORS:
            for value in condition.values:
                if other := parse_column_reference(value):
                    wanted.setdefault((column_key(condition.column), column_key(other)), [])
                else:
                    wanted.setdefault((column_key(condition.column),), []).append(value)
    if plan.group_by:
        wanted.setdefault((column_key(plan.group_by),), [])
    for keys, names in wanted.items():
        stated = [each for member in members for key in keys for each in member.values.get(key, ())]
        values = list_text_values([each.value for each in stated])
        if not values or model is None:
            continue
        # without the question's own words it is the same for every follow-up, and asked once
        column = " / ".join(dict.fromkeys(each.asked for each in stated if has_only_text(each.value)))
        asked = ValuesToGroup(column=column, values=values, wanted=tuple(dict.fromkeys(names)))
        with track_documents(list(dict.fromkeys(member.document.id for member in members))):
            await learn_spellings(found, join_column_keys(*keys), asked, model, tell)
    return found


# ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def evaluate_plan(plan: QuestionPlan, scope: QueryScope, said: NameSpellings) -> tuple[FoundItems, Aggregated | None]:
    members = [apply_unit_column(member, plan) for member in scope.members]
    fields, rules = plan.fields_by_key, ComparisonRules(spellings=said, language=plan.language)
    question = make_question(plan, scope.called)
    matches: list[QueryRow] = []
    undecided: list[UndecidedItem] = []
    rejected, doubted = 0, 0
    guesses: Counter[str] = Counter()
    used = {column_key(column) for condition in plan.where for column in condition.columns}
    figured = {column_key(name) for name in (plan.aggregate_column, plan.group_by) if name}
    for member in members:
        verdict = combine_all(evaluate_on_row(member, each, fields, rules) for each in plan.where)
        if verdict.truth == "no match":
            rejected += 1
        elif verdict.truth == "match":
            matches.append(member)
        else:
            undecided.append(UndecidedItem(thing=make_found_item(member, plan), reason=verdict.reason))
        doubted += bool(member.doubts & (used | figured if verdict.truth == "match" else used))
        guesses.update([verdict.guess] if verdict.guess else [])
    ordered, unplaced = order_query_rows(plan, matches)
    is_grouped = bool(plan.aggregate and plan.group_by)
    # "The three largest" cannot rank what does not state the figure: such rows are undecided, not last.
    if plan.limit > 0 and not is_grouped:
        reason = translate("ask", "{column} is not stated", plan.language, column=plan.order_by)
        undecided += [UndecidedItem(thing=make_found_item(each, plan), reason=reason) for each in unplaced]
        ordered = ordered[: plan.limit]
    else:
        ordered, unplaced = ordered + unplaced, []
    doubts = Caveats(plan, scope, matches, ordered)
    completeness, reason = doubts.completeness(undecided, doubts.sentences(doubted, guesses, said))
    found = FoundItems(
        question=question,
        matches=tuple(make_found_item(member, plan, said) for member in ordered),
        rejected=rejected + (len(matches) - len(unplaced) - len(ordered)),
        undecided=tuple(undecided),
        unreadable=scope.unreadable,
        completeness=completeness,
        reason=reason,
    )
    aggregated = None
    if plan.aggregate:
        aggregated = aggregate_annotations(
            found, plan.aggregate, question.of, question.group_by, language=plan.language
        )
        # Periods are read in time; other groups by size.
        if plan.period:
            in_time = tuple(sorted(aggregated.groups, key=lambda group: group.key))
            aggregated = msgspec.structs.replace(aggregated, groups=in_time)
        # With groups the limit counts groups, not rows.
        if is_grouped and plan.limit > 0:
            aggregated = select_best_groups(aggregated, plan)
            found = keep_items_of_groups(found, aggregated)
    return found, aggregated


def apply_unit_column(member: QueryRow, plan: QuestionPlan) -> QueryRow:
    """Add the currency or unit of the figures, if it is in a column of its own."""
    units = member.values.get(column_key(plan.unit_column), ()) if plan.unit_column else ()
    if not units:
        return member
    decisive = [column for each in plan.where for column in each.columns]
    figures = {column_key(column) for column in (plan.aggregate_column, plan.order_by, *decisive)}
    values = {
        key: tuple(attach_unit(each, units[0].value.raw) for each in stated) if key in figures else stated
        for key, stated in member.values.items()
    }
    return replace(member, values=values)


def attach_unit(stated: StatedFact, unit: str) -> StatedFact:
    value = stated.value
    # A figure that has its own unit is believed over the column next to it.
    if value.number is None or value.currency or value.base or value.date:
        return stated
    return msgspec.structs.replace(stated, value=parse_comparable(f"{value.raw} {unit}"))


def make_question(plan: QuestionPlan, things: str) -> Question:
    """Return the question with its columns in display order: deciding ones, computed ones, then the others."""
    names = {column_key(column.name): column.name for column in plan.columns}

    def named(column: str) -> str:
        return names.get(column_key(column), column)

    decisive = [named(column) for each in plan.where for column in each.columns]
    of, group_by = named(plan.aggregate_column), name_grouping(plan, named(plan.group_by))
    return Question(
        text=plan.question,
        things=things,
        conditions=tuple(msgspec.structs.replace(each, column=named(each.column)) for each in plan.where),
        aggregate=plan.aggregate,
        of=of,
        group_by=group_by,
        show=tuple(dict.fromkeys(filter(None, (*decisive, of, group_by, *names.values())))),
    )


# For the translators alone: `name_grouping` looks these words up one at a time.
PERIODS: AskText[tuple[str, ...]] = ("year", "quarter", "month")


def name_grouping(plan: QuestionPlan, column: str) -> str:
    """Return the name of the groups: "Date (month)"."""
    return f"{column} ({translate('ask', plan.period, plan.language)})" if plan.period and column else column


def to_period(day: str, period: str) -> str:
    """Return the year, quarter or month of a date, or "" if the date is too vague."""
    if period == "year":
        return day[:4]
    if len(day) < len("2026-03"):
        return ""
    # The month plus two, divided by three: 1 to 3 is the first quarter.
    return day[:7] if period == "month" else f"{day[:4]} Q{(int(day[5:7]) + 2) // 3}"


def describe_query(called: str, plan: QuestionPlan) -> str:
    """Return "invoice: Total > 500 EUR; Supplier = ACME"."""
    return f"{called}: {'; '.join(map(describe_condition, plan.where))}".strip(": ")


def evaluate_on_row(
    member: QueryRow, condition: Condition, fields: Mapping[str, Field], rules: ComparisonRules
) -> Verdict:
    field = fields.get(column_key(condition.column)) or Field(name=condition.column)
    reader = partial(read_row_value, member, condition.operator in UNARY_OPERATORS, rules.language)
    return evaluate_condition(condition, reader, field, rules)


def read_row_value(member: QueryRow, only_stated: bool, language: str, column: str) -> StatedValues:
    """Return what a member says of a column; what was computed is not `only_stated`."""
    key = column_key(column)
    if values := [each.value for each in member.values.get(key, ()) if not (only_stated and each.calculation)]:
        return StatedValues(values)
    reason = member.missing.get(key, "")
    unread: AskText[str] = "{column} could not be read"
    changed: AskText[str] = "{column} was read before the document changed"
    silent: AskText[str] = "{column} is not stated"
    # Reasons of empty cells that say nothing about the document.
    is_unread = reason in ("error", "over_budget", "blocked", "it was not looked for", CHANGED)
    why = changed if reason == CHANGED else unread if is_unread else silent
    gap: Gap = "unread" if is_unread else "silent"
    return StatedValues(gap=gap, reason=translate("ask", why, language, column=column))


def order_query_rows(plan: QuestionPlan, members: Sequence[QueryRow]) -> tuple[list[QueryRow], list[QueryRow]]:
    """Return the rows in the requested order, then those without the value it sorts by. A whole list in several
    currencies is sorted within each of them, as 90 EUR and 100 CHF have no order."""
    if not plan.order_by:
        return list(members), []
    key = column_key(plan.order_by)
    placed = [(member.values[key][0].value, member) for member in members if member.values.get(key)]
    placed.sort(key=lambda each: comparable_sort_key(each[0]), reverse=plan.descending)
    # The sort is stable: within a currency the order above stays.
    if plan.limit <= 0:
        placed.sort(key=lambda each: each[0].currency or each[0].base)
    return [member for _, member in placed], [member for member in members if not member.values.get(key)]


def select_best_groups(aggregated: Aggregated, plan: QuestionPlan) -> Aggregated:
    """Return as many groups as the plan asks for, by their figure; all that share the last place are included."""

    def figure(group: Group) -> tuple[bool, Decimal | str]:
        value = group.amounts[0].value if group.amounts else Decimal(group.count)
        return isinstance(value, str), value

    figured = [group for group in aggregated.groups if group.key and (group.amounts or plan.aggregate == "count")]
    ordered = sorted(figured, key=figure, reverse=plan.descending)
    last = figure(ordered[min(plan.limit, len(ordered)) - 1]) if ordered else None
    kept = [group for place, group in enumerate(ordered) if place < plan.limit or figure(group) == last]
    return msgspec.structs.replace(aggregated, groups=tuple(kept))


def keep_items_of_groups(found: FoundItems, aggregated: Aggregated) -> FoundItems:
    """Drop items that belong to none of these groups."""
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


def make_found_item(member: QueryRow, plan: QuestionPlan, said: NameSpellings | None = None) -> FoundItem:
    values: list[StatedFact] = []
    for column in plan.columns:
        key = column_key(column.name)
        for stated in member.values.get(key, ()):
            name = (said.named.get(key, {}) if said else {}).get(normalize_whitespace(stated.value.raw))
            if name and key == column_key(plan.group_by):
                stated = msgspec.structs.replace(stated, value=ComparableValue(raw=name))
            values.append(msgspec.structs.replace(stated, asked=column.name))
            if plan.period and key == column_key(plan.group_by) and (part := to_period(stated.value.date, plan.period)):
                group = msgspec.structs.replace(
                    stated, asked=name_grouping(plan, column.name), value=ComparableValue(raw=part)
                )
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


# ── what an answer takes for granted ──────────────────────────────────────────────────────────────────────────────────


class Caveats:
    """`matches` are all members that meet the conditions, `shown` those that the answer shows or reckons."""

    def __init__(
        self, plan: QuestionPlan, scope: QueryScope, matches: Sequence[QueryRow], shown: Sequence[QueryRow]
    ) -> None:
        self._plan = plan
        self._scope = scope
        self._matches = matches
        self._shown = shown
        self._is_figure = plan.aggregate not in ("", "count")
        self._figures = known_values(shown, plan.aggregate_column) if self._is_figure else []

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the question; "" if it counts none."""
        return translate("ask", text, self._plan.language, **values) if values.get("count", 1) else ""

    def completeness(self, undecided: Sequence[UndecidedItem], doubts: Iterator[str]) -> tuple[Completeness, str]:
        """Return how complete the answer is, and why."""
        scope, gaps = self._scope, []
        if undecided:
            # Only the commonest reason: a list of all would bury it.
            why, times = Counter(each.reason for each in undecided).most_common(1)[0]
            count, total = len(undecided), len(scope.members)
            text: AskText[str] = "{count} of {total} could not be decided ({times}: {why})"
            gaps.append(self.translate(text, count=count, total=total, times=times, why=why))
        gaps.append(
            self.translate(
                "{count} document could not be read|{count} documents could not be read", count=scope.unreadable
            )
        )
        gaps.append(scope.uncovered.text(self._plan.language) if scope.uncovered else "")
        left_out = self.translate(
            "{count} row that only adds up the others was left out|"
            "{count} rows that only add up the others were left out",
            count=scope.totals,
        )
        open_, assumed = list(filter(None, gaps)), list(filter(None, doubts))
        # A gap outweighs an assumption: what was not looked at could change the answer entirely.
        completeness: Completeness = "incomplete" if open_ else "approximate" if assumed else "exact"
        return completeness, "; ".join(filter(None, (*open_, *assumed, left_out, self._sorted_within())))

    def sentences(self, doubted: int, guesses: Counter[str], said: NameSpellings) -> Iterator[str]:
        """Yield what is uncertain: `doubted` members, `guesses` made on the way, spellings that the model matched
        (`said`)."""
        yield self.translate(
            "{count} of {total} were judged by the model, or are not sure",
            count=doubted,
            total=len(self._scope.members),
        )
        for name, label in self._scope.taken.items():
            yield self.translate("“{value}” was taken for {condition}", value=name, condition=label)
        yield from (f"{guess} ({count})" for guess, count in guesses.items())
        for column in sorted(said.by_spelling):
            yield self.translate("names in {column} were compared by spelling alone", column=column)
        yield from self._of_kinds()
        yield self.translate(
            "{count} row may only add up those above it|{count} rows may only add up those above them",
            count=sum(each.may_be_total for each in self._matches),
        )
        yield self._not_compared()
        yield self._may_be_mixed()
        if self._is_figure:
            yield from self._of_figures()
        column = self._plan.aggregate_column
        yield self.translate(
            "{count} document has changed since {column} was read|"
            "{count} documents have changed since {column} was read",
            count=sum(member.missing.get(column_key(column)) == CHANGED for member in self._shown) if column else 0,
            column=column,
        )

    def _of_kinds(self) -> Iterator[str]:
        """Documents whose kind neither a model nor a person has said, each in one of the sentences."""
        members, unsorted = self._scope.members, self._scope.unsorted
        guessed = [each for each in members if each.document.kind_by == "title"] if unsorted else []
        unknown = [each for each in members if not each.document.kind] if guessed else []
        others = unsorted - len({each.document.id for each in (*guessed, *unknown)})
        yield self.translate(
            "the kind of {count} of {total} documents is not confirmed", count=max(0, others), total=self._scope.of
        )
        yield self.translate(
            "the kind of {count} of these {total} is a guess from titles and folders",
            count=len(guessed),
            total=len(members),
        )
        yield self.translate(
            "the kind of {count} of these {total} is not known", count=len(unknown), total=len(members)
        )

    # ── figures and their currencies ─────────────────────────────────────────────────────────────────────────────────

    def _not_compared(self) -> str:
        """Yield a sentence if the largest or the first few are chosen among figures in several currencies or units."""
        plan = self._plan
        is_chosen = plan.aggregate in ("min", "max") or plan.limit > 0
        by = plan.aggregate_column if self._is_figure else plan.order_by
        values = known_values(self._matches, by) if is_chosen else []
        units = sorted({value.currency or value.unit for value in values if value.currency or value.base})
        if len({value.currency or value.base for value in values} - {""}) < 2:
            return ""
        text: AskText[str] = "nothing is converted, so figures in {units} were not weighed against each other"
        return self.translate(text, units=", ".join(units))

    def _may_be_mixed(self) -> str:
        """Yield a sentence if figures without a currency are added up, or ranked, next to a column with several
        currencies."""
        plan = self._plan
        if plan.unit_column or not (self._is_figure or (plan.order_by and plan.limit > 0)):
            return ""
        values = self._figures if self._is_figure else known_values(self._shown, plan.order_by)
        if all(each.currency or each.base for each in values):
            return ""
        marks: dict[str, set[str]] = {}
        for member in self._shown:
            for key, stated in member.values.items():
                marks.setdefault(key, set()).update(each.value.raw.strip().upper() for each in stated)
        # A column of nothing but currency codes next to bare figures is the sign of mixed amounts.
        several = next((values for values in marks.values() if len(values) > 1 and values <= CURRENCY_CODES), set())
        text: AskText[str] = "the figures may be in several currencies ({currencies})"
        return self.translate(text, currencies=", ".join(sorted(several))) if several else ""

    def _of_figures(self) -> Iterator[str]:
        column, shown = self._plan.aggregate_column, self._shown
        key = column_key(column)
        if self._plan.aggregate in ("sum", "average"):
            several = sum(len({each.value.raw for each in member.values.get(key, ())}) > 1 for member in shown)
            text: AskText[str] = "{count} of {total} state several values of {column}; all count"
            yield self.translate(text, count=several, total=len(shown), column=column)
        limits = sum(
            each.number is not None and (each.high is not None or is_limit_text(each.raw)) for each in self._figures
        )
        yield self.translate(
            "{count} of {total} give {column} only as a limit or a range",
            count=limits,
            total=len(self._figures),
            column=column,
        )

    def _sorted_within(self) -> str:
        """Which currencies or units a whole list is sorted within."""
        plan = self._plan
        if not plan.order_by or plan.limit > 0 or plan.aggregate:
            return ""
        values = [each.value for member in self._shown for each in member.values.get(column_key(plan.order_by), ())[:1]]
        units = {value.currency or value.base: value.currency or value.unit for value in values}
        if len(units.keys() - {""}) < 2:
            return ""
        text: AskText[str] = "sorted within each of {units}, which are not compared with each other"
        return self.translate(text, units=", ".join(sorted(filter(None, units.values()))))
