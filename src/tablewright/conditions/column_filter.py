"""The filter of a column: which of its cells a condition lets through."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from tablewright.conditions.comparable import check_condition, comparable_values
from tablewright.conditions.compare import Verdict, negate, to_verdict
from tablewright.conditions.evaluate import EMPTY, Comparison, Rules, fields_by_key, row_reader
from tablewright.domain.condition import OPERATORS, UNARY, Condition
from tablewright.domain.model import Cell, Field, Money, Value, column_key
from tablewright.domain.text import show
from tablewright.errors import UsageError

MEASURED = frozenset({"number", "money", "date"})
"""Types whose limits must be figures; other columns can be filtered in the order of the alphabet."""
RULES = Rules(words="part")
"""Nothing is converted: 50 USD is neither under 60 GBP nor over it. `WordRule` says why parts of words count."""
REMEMBERED = 1 << 14
"""Values of a column whose verdicts are remembered: most columns have few, each in many rows."""


def filter_on(condition: Condition, fields: Iterable[Field]) -> Callable[[Mapping[str, Cell]], Verdict]:
    """Return the test of a row's cells. An empty one passes only where emptiness or a difference is asked for."""
    operator, known = condition.operator, fields_by_key(fields)
    if unknown := [each for each in condition.columns if column_key(each) not in known]:
        raise UsageError(f"There is no column {unknown[0]!r}.")
    if operator not in OPERATORS:
        raise UsageError(f"A column cannot be filtered by {operator!r}.")
    if operator not in UNARY and not any(condition.values):
        raise UsageError("The filter needs a value.", advice="Type one, or choose “is empty” or “is filled”.")
    field = known[column_key(condition.column)]
    if (field.type in MEASURED or operator in ("between", "in month")) and (fault := check_condition(condition, field)):
        raise UsageError(f"{fault[:1].upper()}{fault[1:]}")
    of_empty = to_verdict(operator in ("!=", "not contains", "unknown"))
    of_filled = negate(of_empty)
    if operator in UNARY:
        return lambda cells: of_empty if cells.get(field.name, EMPTY).value is None else of_filled
    needs_row, no_row = len(condition.columns) > 1, row_reader({}, {})
    comparison, seen = Comparison(condition, field, RULES), dict[Hashable, Verdict]()

    def test(cells: Mapping[str, Cell]) -> Verdict:
        cell = cells.get(field.name, EMPTY)
        if cell.value is None:
            return of_empty
        if needs_row:
            return comparison.of_values(comparable_values(cell, field), row_reader(cells, known))
        content = content_key(cell)
        if (verdict := seen.get(content)) is None:
            verdict = comparison.of_values(comparable_values(cell, field), no_row)
            if len(seen) < REMEMBERED:
                seen[content] = verdict
        return verdict

    return test


def content_key(cell: Cell) -> Hashable:
    """Return all of a cell that its verdict depends on."""
    value = cell.value
    if isinstance(value, str):
        return (value, cell.evidence[0].quote) if cell.evidence else value  # the quote of a date may be ambiguous
    # 1, 1.0 and True are equal, and read differently.
    kind = value.amount.__class__ if isinstance(value, Money) else value.__class__
    return (kind, value) if cell.raw_value is None else (kind, value, cell.raw_value, cell.is_given)


def ordered(value: Value) -> float | str:
    """Numbers and amounts by size, anything else by its text; dates are written so that texts compare like times."""
    number = value.amount if isinstance(value, Money) else value
    if isinstance(number, (int, float)):
        return float(number)
    return "" if value is None else show(value).casefold()
