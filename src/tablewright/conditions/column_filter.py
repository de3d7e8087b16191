"""The filter of a column: which of its cells a condition lets through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tablewright.conditions.comparable import check_condition
from tablewright.conditions.compare import Verdict, to_verdict
from tablewright.conditions.evaluate import EMPTY, Rules, evaluate_condition, fields_by_key, row_reader
from tablewright.domain.condition import OPERATORS, UNARY, Condition
from tablewright.domain.model import Cell, Field, Money, Value, column_key
from tablewright.domain.text import show
from tablewright.errors import UsageError

MEASURED = frozenset({"number", "money", "date"})
"""Types whose limits must be figures; other columns can be filtered in the order of the alphabet."""
RULES = Rules(words="part")
"""Nothing is converted: 50 USD is neither under 60 GBP nor over it."""


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

    def test(cells: Mapping[str, Cell]) -> Verdict:
        if cells.get(field.name, EMPTY).value is None:
            return to_verdict(operator in ("!=", "not contains", "unknown"))
        return evaluate_condition(condition, row_reader(cells, known), field, RULES)

    return test


def ordered(value: Value) -> float | str:
    """Numbers and amounts by size, anything else by its text; dates are written so that texts compare like times."""
    number = value.amount if isinstance(value, Money) else value
    if isinstance(number, (int, float)):
        return float(number)
    return "" if value is None else show(value).casefold()
