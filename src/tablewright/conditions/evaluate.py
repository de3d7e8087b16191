"""Evaluate a condition on what a row states: it is met, it is not, or the row does not say.

All who ask it get their verdict here: the filters of the grid, `ask`, `find` and the adviser. They differ in what their
rules allow, which each of them states: whether amounts are converted, which spellings mean one name, and what it means
that words are missing from a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from tablewright.conditions.comparable import comparable_values, read_limit
from tablewright.conditions.compare import (
    MATCH,
    NO_MATCH,
    Verdict,
    all_hold,
    any_holds,
    compare_pair,
    compare_value,
    is_text,
    negate,
    to_verdict,
    unstated,
)
from tablewright.domain.condition import NAMING, UNARY, Condition, named_column
from tablewright.domain.corpus import Typed
from tablewright.domain.model import Cell, Field, column_key
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import column_name
from tablewright.domain.text import shortened
from tablewright.messages.catalogue import ShortlistText, translate
from tablewright.values.currencies import CODES
from tablewright.values.money import Rates
from tablewright.values.vocabulary import holds

EMPTY = Cell()
SHOWN = 60
"""Characters of a text that a reason shows."""
Gap: TypeAlias = Literal["silent", "unread", "absent"]
"""Why a row has no value of a column: what was read does not state it; it was not read; a source says there is none."""
WordRule: TypeAlias = Literal["whole", "part", "loose"]
"""What "contains" means, which differs by who asks.

"whole", for `ask`, `find` and `--where`: the words stand in the text, in any of their forms, or they do not. A question
that says "art" means the word, not the middle of "party".
"part", for the filters of the grid: they are typed to narrow what is seen, so any part of a text counts, such as "-3".
"loose", for the adviser: a product page may say the same in other words. Missing words prove nothing, so the verdict is
"not stated" and excludes no product."""


class Stated(NamedTuple):
    """What a row says of a column: its values; where it has none, which `gap` that is, and the reason in words."""

    values: Sequence[Typed] = ()
    gap: Gap = "silent"
    reason: str = ""


RowReader: TypeAlias = Callable[[str], Stated]
"""Tells what a row states of the column of this name."""


@dataclass(kw_only=True)
class Spellings:
    """By column key, or the `joint_key` of columns that are compared with each other: which values mean a name of a
    condition, and what the values that mean the same are called."""

    meant: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    named: dict[str, dict[str, str]] = field(default_factory=dict)
    by_spelling: set[str] = field(default_factory=set)
    """Columns whose names were compared by their spelling alone."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What counts as a match. Without `rates` nothing is converted; reasons are told in the `language`."""

    spellings: Spellings = field(default_factory=Spellings)
    rates: Rates | None = None
    words: WordRule = "whole"
    language: str = ""


def joint_key(*keys: str) -> str:
    return " = ".join(keys)


def one_line(value: Typed) -> str:
    return " ".join(value.raw.split())


def fields_by_key(fields: Iterable[Field]) -> dict[str, Field]:
    return {column_key(field.name): field for field in fields}


def row_reader(cells: Mapping[str, Cell], fields: Mapping[str, Field], language: str = "") -> RowReader:
    """Return the reader of a row of a table; `fields` are its columns by their keys."""
    return partial(_read_cell, cells, fields, language)


def _read_cell(cells: Mapping[str, Cell], fields: Mapping[str, Field], language: str, column: str) -> Stated:
    field = fields.get(column_key(column))
    cell = cells.get(field.name, EMPTY) if field else EMPTY
    if field and cell.value is not None:
        return Stated(comparable_values(cell, field))
    if is_absent(cell):
        return Stated(gap="absent")
    gap: Gap = "unread" if cell.needs_work else "silent"
    why: ShortlistText[str] = "{column} was not looked for yet" if cell.needs_work else "{column} is not known"
    return Stated(gap=gap, reason=translate("shortlist", why, language, column=column_name(column, language)))


def is_absent(cell: Cell) -> bool:
    """Return True if a page says that there is no such thing."""
    return cell.value is None and cell.reason == "not_applicable" and bool(cell.evidence)


# ── evaluating ───────────────────────────────────────────────────────────────────────────────────────────────────────


def evaluate_condition(condition: Condition, row: RowReader, field: Field, rules: Rules) -> Verdict:
    """Evaluate a condition on a row; `field` is the column that it is about."""
    operator, own = condition.operator, row(condition.column)
    if operator in UNARY:
        if own.gap == "unread":
            return unstated(own.reason)
        return to_verdict(bool(own.values) == (operator == "known"))
    if own.gap == "absent":
        return to_verdict(operator in ("!=", "not contains"))
    if not own.values:
        return unstated(own.reason)
    return Comparison(condition, field, rules).of_values(own.values, row)


def _combine(operator: str, verdicts: Sequence[Verdict]) -> Verdict:
    """One of several values is enough; for "is not" none of them may be it."""
    return all_hold(verdicts) if operator in ("!=", "not contains") else any_holds(verdicts)


class Comparison:
    """A condition that compares values with others. What is the same for all rows is read once, for many rows."""

    def __init__(self, condition: Condition, field: Field, rules: Rules) -> None:
        self.condition, self.rules = condition, rules
        self._operator = operator = condition.operator
        self._columns = condition.columns[1:]
        self._wanted = tuple(each for each in condition.values if not named_column(each))
        self._casefolded = [each.casefold() for each in self._wanted]
        self._limits = [] if operator == "in month" else [read_limit(each, field) for each in self._wanted]
        self._are_codes = operator in ("=", "!=") and CODES.issuperset(self._wanted)
        self._meant = rules.spellings.meant.get(column_key(condition.column)) if operator in NAMING else None
        is_of_words = operator in ("contains", "not contains") and self._meant is None
        self._of_literals = self._of_words if is_of_words else self._of_limits
        self._ends: list[Comparison] = []
        if self._columns and operator == "between":
            for sign, end in zip((">=", "<="), condition.values, strict=False):
                one_end = Condition(column=condition.column, operator=sign, values=(end,))
                self._ends.append(Comparison(one_end, field, rules))

    def of_values(self, values: Sequence[Typed], row: RowReader) -> Verdict:
        """Compare all values that a row states of the column."""
        if len(values) == 1:  # as in most cells, and a table has many
            return self._of_value(values[0], row)
        return _combine(self._operator, [self._of_value(each, row) for each in values])

    def _of_value(self, value: Typed, row: RowReader) -> Verdict:
        if not self._columns:
            return self._of_literals(value)
        if self._ends:
            return all_hold(each.of_values([value], row) for each in self._ends)
        literal = [self._of_literals(value)] if self._wanted else []
        return _combine(self._operator, [*literal, *(self._of_column(value, row, each) for each in self._columns)])

    def _of_column(self, value: Typed, row: RowReader, column: str) -> Verdict:
        """All values of the other column count. Names are the same if they mean it."""
        others = row(column)
        if not others.values:
            return unstated(others.reason)
        key = joint_key(column_key(self.condition.column), column_key(column))
        named = self.rules.spellings.named.get(key, {})

        def called(value: Typed) -> Typed:
            name = named.get(one_line(value)) if is_text(value) else None
            return Typed(raw=name) if name else value

        is_negated = self._operator == "not contains"
        operator = "contains" if is_negated else self._operator
        pairs = [compare_pair(called(value), operator, called(each), self.rules.language) for each in others.values]
        verdict = _combine(operator, pairs)
        return negate(verdict) if is_negated else verdict

    def _of_limits(self, value: Typed) -> Verdict:
        operator, language = self._operator, self.rules.language
        if operator == "in month":
            if len(value.date) < 7:
                return unstated(translate("ask", "“{value}” names no month", language, value=value.raw))
            return to_verdict(value.date[5:7].lstrip("0") in {each.lstrip("0") for each in self._wanted})
        if self._are_codes and value.currency:
            return to_verdict((value.currency in self._wanted) == (operator == "="))
        if self._meant is not None and is_text(value):
            is_one = any(self._means(value, each, self._meant) for each in self._wanted)
            return to_verdict(is_one == (operator in ("=", "contains")))
        if operator in ("contains", "not contains"):
            return self._of_words(value)
        rates = self.rules.rates
        there = rates.in_currency_of(value, self._limits, language) if rates else value
        verdict = compare_value(there, operator, self._limits, language)
        if rates is None or there is value:
            return verdict
        if verdict.truth == "not stated":
            column = column_name(self.condition.column, language)
            verdict = unstated(
                translate(
                    "shortlist", "{column} is {value}, and rates change", language, column=column, value=there.raw
                )
            )
        return verdict._replace(rate=rates.rate_text(value.currency, there.currency, language))

    def _means(self, value: Typed, name: str, meant: Mapping[str, frozenset[str]]) -> bool:
        raw = one_line(value)
        is_named = raw in meant.get(row_key(name), ()) or row_key(raw) == row_key(name)
        return is_named or ("contains" in self._operator and holds(raw, name))

    def _of_words(self, value: Typed) -> Verdict:
        rule, language = self.rules.words, self.rules.language
        if value.truth is not None:
            is_said = any(each.truth is value.truth for each in self._limits)
        elif rule == "part":
            text = value.raw.casefold()
            is_said = any(each in text for each in self._casefolded)
        else:
            is_said = any(holds(value.raw, each) for each in self._wanted)
        if not is_said and rule == "loose" and self._operator == "contains":
            said, asked = shortened(value.raw, SHOWN), translate("shortlist", " or ", language).join(self._wanted)
            return unstated(translate("shortlist", "“{text}” does not say {wanted}", language, text=said, wanted=asked))
        return MATCH if is_said == (self._operator == "contains") else NO_MATCH
