"""Evaluate a condition on what a row states: it is met, it is not, or the row does not say.

All callers get their verdict here: the filters of the grid, `ask`, `find` and the advisor. They differ only in their
`ComparisonRules`: whether amounts are converted, which spellings mean one name, and what missing words mean. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from tablewright.conditions.compare import (
    MATCH,
    NO_MATCH,
    Verdict,
    check_condition,
    combine_all,
    combine_any,
    compare_pair,
    compare_value,
    has_only_text,
    make_unstated,
    negate,
    read_comparable_values,
    read_limit,
    to_verdict,
)
from tablewright.domain.condition import (
    CONDITION_OPERATORS,
    NAMING_OPERATORS,
    UNARY_OPERATORS,
    Condition,
    parse_column_reference,
)
from tablewright.domain.documents import ComparableValue
from tablewright.domain.model import PENDING, Cell, Field, Money, Value, column_key
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import localize_column_name
from tablewright.domain.text import format_value, shorten_text
from tablewright.errors import UsageError
from tablewright.messages.catalogue import ShortlistText, translate
from tablewright.values.currencies import CURRENCY_CODES
from tablewright.values.money import ExchangeRates
from tablewright.values.vocabulary import contains_phrase

# Why a row has no value of a column: what was read does not state it; it was not read; a source says there is none.
Gap: TypeAlias = Literal["silent", "unread", "absent"]
# The meaning of "contains", which differs by caller. "whole", for `ask`, `find` and `--where`: the text has the words,
# in any of their forms, or it does not. A question that says "art" means the word, not the middle of "party".
# "part", for the filters of the grid: they are typed to narrow what is seen, so any part of a text counts, such as
# "-3". "loose", for the advisor: a product page may say the same in other words. Missing words prove nothing, so the
# verdict is "not stated" and excludes no product.
WordRule: TypeAlias = Literal["whole", "part", "loose"]


class StatedValues(NamedTuple):
    """The values that a row states for a column; without values, the kind of `gap` and the reason."""

    values: Sequence[ComparableValue] = ()
    gap: Gap = "silent"
    reason: str = ""


# Returns the values that a row states for the column of this name.
RowReader: TypeAlias = Callable[[str], StatedValues]


@dataclass(kw_only=True)
class NameSpellings:
    """Names with several spellings, by column key, or by `join_column_keys` for columns compared with each other:
    `meant` maps a name in a condition to the values that mean it, `named` maps values to their common name."""

    meant: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    named: dict[str, dict[str, str]] = field(default_factory=dict)
    by_spelling: set[str] = field(default_factory=set)
    """Columns whose names were compared by their spelling alone."""


@dataclass(frozen=True, kw_only=True)
class ComparisonRules:
    """A caller's rules for a match. Without `rates` no currency is converted; reasons are in the `language`."""

    spellings: NameSpellings = field(default_factory=NameSpellings)
    rates: ExchangeRates | None = None
    words: WordRule = "whole"
    language: str = ""


def join_column_keys(*keys: str) -> str:
    return " = ".join(keys)


def value_on_one_line(value: ComparableValue) -> str:
    return " ".join(value.raw.split())


def index_fields(fields: Iterable[Field]) -> dict[str, Field]:
    return {column_key(field.name): field for field in fields}


def make_row_reader(cells: Mapping[str, Cell], fields: Mapping[str, Field], language: str = "") -> RowReader:
    """Return the reader of a row of a table; `fields` are its columns by their keys."""
    return partial(_read_stated_cell, cells, fields, language)


def _read_stated_cell(
    cells: Mapping[str, Cell], fields: Mapping[str, Field], language: str, column: str
) -> StatedValues:
    field = fields.get(column_key(column))
    cell = cells.get(field.name, PENDING) if field else PENDING
    if field and cell.value is not None:
        return StatedValues(read_comparable_values(cell, field))
    if is_stated_absent(cell):
        return StatedValues(gap="absent")
    gap: Gap = "unread" if cell.needs_work else "silent"
    why: ShortlistText[str] = "{column} was not looked for yet" if cell.needs_work else "{column} is not known"
    return StatedValues(
        gap=gap, reason=translate("shortlist", why, language, column=localize_column_name(column, language))
    )


def is_stated_absent(cell: Cell) -> bool:
    """Return True if a page says that the row has no such thing."""
    return cell.value is None and cell.reason == "not_applicable" and bool(cell.evidence)


# ── evaluating ───────────────────────────────────────────────────────────────────────────────────────────────────────


def evaluate_condition(condition: Condition, row: RowReader, field: Field, rules: ComparisonRules) -> Verdict:
    """Evaluate a condition on a row; `field` is the column that it is about."""
    operator, own = condition.operator, row(condition.column)
    if operator in UNARY_OPERATORS:
        if own.gap == "unread":
            return make_unstated(own.reason)
        return to_verdict(bool(own.values) == (operator == "known"))
    if own.gap == "absent":
        return to_verdict(operator in ("!=", "not contains"))
    if not own.values:
        return make_unstated(own.reason)
    return Comparison(condition, field, rules).of_values(own.values, row)


def _combine_verdicts(operator: str, verdicts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts of several values: one match is enough, but for "is not" all must differ."""
    return combine_all(verdicts) if operator in ("!=", "not contains") else combine_any(verdicts)


class Comparison:
    """A condition prepared for many rows: what is the same for all rows is read once."""

    def __init__(self, condition: Condition, field: Field, rules: ComparisonRules) -> None:
        self.condition, self.rules = condition, rules
        self._operator = operator = condition.operator
        self._columns = condition.columns[1:]
        self._wanted = tuple(each for each in condition.values if not parse_column_reference(each))
        self._casefolded = [each.casefold() for each in self._wanted]
        self._limits = [] if operator == "in month" else [read_limit(each, field) for each in self._wanted]
        self._are_codes = operator in ("=", "!=") and CURRENCY_CODES.issuperset(self._wanted)
        self._meant = rules.spellings.meant.get(column_key(condition.column)) if operator in NAMING_OPERATORS else None
        is_of_words = operator in ("contains", "not contains") and self._meant is None
        self._of_literals = self._of_words if is_of_words else self._of_limits
        self._ends: list[Comparison] = []
        if self._columns and operator == "between":
            for sign, end in zip((">=", "<="), condition.values, strict=False):
                one_end = Condition(column=condition.column, operator=sign, values=(end,))
                self._ends.append(Comparison(one_end, field, rules))

    def of_values(self, values: Sequence[ComparableValue], row: RowReader) -> Verdict:
        """Compare all values that a row states of the column."""
        if len(values) == 1:  # as in most cells, and a table has many
            return self._of_value(values[0], row)
        return _combine_verdicts(self._operator, [self._of_value(each, row) for each in values])

    def _of_value(self, value: ComparableValue, row: RowReader) -> Verdict:
        if not self._columns:
            return self._of_literals(value)
        if self._ends:
            return combine_all(each.of_values([value], row) for each in self._ends)
        literal = [self._of_literals(value)] if self._wanted else []
        return _combine_verdicts(
            self._operator, [*literal, *(self._of_column(value, row, each) for each in self._columns)]
        )

    def _of_column(self, value: ComparableValue, row: RowReader, column: str) -> Verdict:
        """Compare with all values of another column. Names are equal if a model has said that they mean the same."""
        others = row(column)
        if not others.values:
            return make_unstated(others.reason)
        key = join_column_keys(column_key(self.condition.column), column_key(column))
        named = self.rules.spellings.named.get(key, {})

        def called(value: ComparableValue) -> ComparableValue:
            name = named.get(value_on_one_line(value)) if has_only_text(value) else None
            return ComparableValue(raw=name) if name else value

        is_negated = self._operator == "not contains"
        operator = "contains" if is_negated else self._operator
        pairs = [compare_pair(called(value), operator, called(each), self.rules.language) for each in others.values]
        verdict = _combine_verdicts(operator, pairs)
        return negate(verdict) if is_negated else verdict

    def _of_limits(self, value: ComparableValue) -> Verdict:
        operator, language = self._operator, self.rules.language
        if operator == "in month":
            if len(value.date) < 7:
                return make_unstated(translate("ask", "“{value}” names no month", language, value=value.raw))
            return to_verdict(value.date[5:7].lstrip("0") in {each.lstrip("0") for each in self._wanted})
        if self._are_codes and value.currency:
            return to_verdict((value.currency in self._wanted) == (operator == "="))
        if self._meant is not None and has_only_text(value):
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
            column = localize_column_name(self.condition.column, language)
            verdict = make_unstated(
                translate(
                    "shortlist", "{column} is {value}, and rates change", language, column=column, value=there.raw
                )
            )
        return verdict._replace(rate=rates.rate_text(value.currency, there.currency, language))

    def _means(self, value: ComparableValue, name: str, meant: Mapping[str, frozenset[str]]) -> bool:
        raw = value_on_one_line(value)
        is_named = raw in meant.get(row_key(name), ()) or row_key(raw) == row_key(name)
        return is_named or ("contains" in self._operator and contains_phrase(raw, name))

    def _of_words(self, value: ComparableValue) -> Verdict:
        rule, language = self.rules.words, self.rules.language
        if value.truth is not None:
            is_said = any(each.truth is value.truth for each in self._limits)
        elif rule == "part":
            text = value.raw.casefold()
            is_said = any(each in text for each in self._casefolded)
        else:
            is_said = any(contains_phrase(value.raw, each) for each in self._wanted)
        if not is_said and rule == "loose" and self._operator == "contains":
            # A reason is one line of a card.
            said, asked = (
                shorten_text(value.raw, 60),
                translate("shortlist", " or ", language).join(self._wanted),
            )
            return make_unstated(
                translate("shortlist", "“{text}” does not say {wanted}", language, text=said, wanted=asked)
            )
        return MATCH if is_said == (self._operator == "contains") else NO_MATCH


def make_column_filter(condition: Condition, fields: Iterable[Field]) -> Callable[[Mapping[str, Cell]], Verdict]:
    """Return the test of a row's cells. An empty one passes only where emptiness or a difference is asked for."""
    operator, known = condition.operator, index_fields(fields)
    if unknown := [each for each in condition.columns if column_key(each) not in known]:
        raise UsageError(f"There is no column {unknown[0]!r}.")
    if operator not in CONDITION_OPERATORS:
        raise UsageError(f"A column cannot be filtered by {operator!r}.")
    if operator not in UNARY_OPERATORS and not any(condition.values):
        raise UsageError("The filter needs a value.", advice="Type one, or choose “is empty” or “is filled”.")
    field = known[column_key(condition.column)]
    # The limits of these types must be figures; other columns can be filtered in the order of the alphabet.
    if (field.type in ("number", "money", "date") or operator in ("between", "in month")) and (
        fault := check_condition(condition, field)
    ):
        raise UsageError(f"{fault[:1].upper()}{fault[1:]}")
    of_empty = to_verdict(operator in ("!=", "not contains", "unknown"))
    of_filled = negate(of_empty)
    if operator in UNARY_OPERATORS:
        return lambda cells: of_empty if cells.get(field.name, PENDING).value is None else of_filled
    needs_row, no_row = len(condition.columns) > 1, make_row_reader({}, {})
    # Nothing is converted: 50 USD is neither under 60 GBP nor over it. `WordRule` says why parts of words count.
    comparison, seen = Comparison(condition, field, ComparisonRules(words="part")), dict[Hashable, Verdict]()

    def test(cells: Mapping[str, Cell]) -> Verdict:
        cell = cells.get(field.name, PENDING)
        if cell.value is None:
            return of_empty
        # Such a verdict depends on other columns too, so it is not remembered for the cell.
        if needs_row:
            return comparison.of_values(read_comparable_values(cell, field), make_row_reader(cells, known))
        content = cell_content_key(cell)
        if (verdict := seen.get(content)) is None:
            verdict = comparison.of_values(read_comparable_values(cell, field), no_row)
            # Most columns have few values, each in many rows. More entries: more memory where every value differs.
            if len(seen) < 1 << 14:
                seen[content] = verdict
        return verdict

    return test


def cell_content_key(cell: Cell) -> Hashable:
    """Return all of a cell that its verdict depends on."""
    value = cell.value
    if isinstance(value, str):
        # The quote of a date may be ambiguous.
        return (value, cell.evidence[0].quote) if cell.evidence else value
    # 1, 1.0 and True are equal, and read differently.
    kind = value.amount.__class__ if isinstance(value, Money) else value.__class__
    return (kind, value) if cell.raw_value is None else (kind, value, cell.raw_value, cell.is_given)


def value_sort_key(value: Value) -> float | str:
    """Numbers and amounts by size, anything else by its text; dates are written so that texts compare like times."""
    number = value.amount if isinstance(value, Money) else value
    if isinstance(number, (int, float)):
        return float(number)
    return "" if value is None else format_value(value).casefold()
