"""Formulas over the columns of a row: `round({Price} * {Quantity}, 2)`, `{First} + ' ' + {Last}`.

Values are bound to names, never pasted into the text, so a cell that reads `1; import os` is only ever a string. The
language is arithmetic, comparison, `a if b else c` and eight functions; everything else is refused before it runs, and
what does run is bounded in size, so no formula can take long.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

from tablewright.errors import BadFormula
from tablewright.table.coerce import coerce
from tablewright.table.model import Field, Money, Value
from tablewright.table.template import columns_in, replace_columns
from tablewright.table.text import show

MAX_LENGTH = 2_000
MAX_DEPTH = 40
MAX_BITS = 4_096
MAX_TEXT = 100_000
MAX_DIGITS = 30

_NUMBER = Field(name="operand", type="number")


class Unevaluable(Exception):
    """The formula cannot be computed for this row, with the reason; it becomes the cell's error."""


class Formula:
    """A formula, read once, evaluated for every row. `error` says why it can never be evaluated, or is empty."""

    def __init__(self, template: str, fields: Sequence[Field]) -> None:
        self.template = template
        self.columns = columns_in(template, fields)
        self.error = ""
        prefix = "column_"
        while prefix in template:
            prefix += "_"
        self._names = {column: f"{prefix}{number}" for number, column in enumerate(self.columns)}
        self._evaluator = SimpleEval(operators=OPERATORS, functions=FUNCTIONS)
        try:
            self._tree = self._read()
        except BadFormula as error:
            self.error = error.what

    def _read(self) -> ast.expr:
        if not self.template.strip():
            raise BadFormula("The formula is empty.")
        if len(self.template) > MAX_LENGTH:
            raise BadFormula(f"The formula is longer than {MAX_LENGTH} characters.")
        by_folded = {column.casefold(): name for column, name in self._names.items()}
        expression = replace_columns(self.template, lambda column: by_folded[column.casefold()])
        try:
            tree = ast.parse(expression.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise BadFormula(f"{self.template!r} is not a formula that can be read.") from None
        check(tree, frozenset(self._names.values()))
        return ColumnsInTexts(tuple(self._names.values())).visit(tree)  # type: ignore[no-any-return]

    def evaluate(self, values: Mapping[str, Value]) -> Value:
        """`values` has every one of `columns`."""
        if self.error:
            raise Unevaluable(self.error)
        self._evaluator.names = {name: bound(values[column]) for column, name in self._names.items()}
        try:
            result = self._evaluator.eval(self.template, previously_parsed=self._tree)
        except Unevaluable:
            raise
        except ZeroDivisionError:
            raise Unevaluable("division by zero") from None
        except OverflowError:
            raise Unevaluable("the result is too large") from None
        except (InvalidExpression, TypeError, ValueError, ArithmeticError) as error:
            raise Unevaluable(str(error) or type(error).__name__) from None
        return clean(result)


def bound(value: Value) -> str | int | float | bool:
    """What a name in a formula stands for."""
    match value:
        case Money():
            return value.amount
        case tuple() | None:
            return show(value)
        case _:
            return value


def clean(result: object) -> Value:
    match result:
        case bool() | str():
            return result
        case int():
            if result.bit_length() > 1023:
                raise Unevaluable("the result is too large")
            return result
        case float():
            if not math.isfinite(result):
                raise Unevaluable("the result is not a finite number")
            # 0.1 * 3 is 0.3 to everybody but a binary computer; spreadsheets show 15 digits too.
            return float(f"{result:.15g}")
        case _:
            raise Unevaluable(f"the result is a {type(result).__name__}, not a value")


def number(operand: Any) -> Any:
    """Numbers as they are; texts that read as a number ("£12.50") as that number."""
    if not isinstance(operand, str):
        return operand
    read = coerce(operand, _NUMBER)
    if read.value is None or read.label == "low":
        raise Unevaluable(f"{operand[:60]!r} is not a number")
    return read.value


def arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: operation(number(left), number(right))


def compared(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(left: Any, right: Any) -> Any:
        if isinstance(left, str) != isinstance(right, str):
            left, right = number(left), number(right)
        return operation(left, right)

    return compare


def add(left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        joined = text(left) + text(right)
        if len(joined) > MAX_TEXT:
            raise Unevaluable("the text is too long")
        return joined
    return left + right


def multiply(left: Any, right: Any) -> Any:
    left, right = number(left), number(right)
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > MAX_BITS:
        raise Unevaluable("the result is too large")
    return left * right


def power(base: Any, exponent: Any) -> Any:
    base, exponent = number(base), number(exponent)
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MAX_BITS:
        raise Unevaluable("the result is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise Unevaluable("the result is not a real number")
    return result


def rounded(value: Any, digits: Any = None) -> Any:
    value = number(value)
    if digits is None:
        return round(value)
    if not isinstance(digits, int) or abs(digits) > MAX_DIGITS:
        raise Unevaluable(f"round takes a whole number of digits up to {MAX_DIGITS}")
    return round(value, digits)


def text(value: Any) -> str:
    return show(clean(value))


def to_int(value: Any) -> int:
    return int(number(value))


def to_float(value: Any) -> float:
    return float(number(value))


def length(value: Any) -> int:
    return len(text(value))


OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: add,
    ast.Sub: arithmetic(operator.sub),
    ast.Mult: multiply,
    ast.Div: arithmetic(operator.truediv),
    ast.FloorDiv: arithmetic(operator.floordiv),
    ast.Mod: arithmetic(operator.mod),
    ast.Pow: power,
    ast.USub: lambda value: -number(value),
    ast.UAdd: lambda value: +number(value),
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: compared(operator.lt),
    ast.LtE: compared(operator.le),
    ast.Gt: compared(operator.gt),
    ast.GtE: compared(operator.ge),
}

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": lambda value: abs(number(value)),
    "float": to_float,
    "int": to_int,
    "len": length,
    "max": max,
    "min": min,
    "round": rounded,
    "str": text,
}

_ALLOWED = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.And, ast.Or, ast.Load, *OPERATORS)
_REFUSED = {
    ast.Attribute: "attributes (a.b) are not allowed",
    ast.Subscript: "indexing (a[b]) is not allowed",
    ast.ListComp: "comprehensions are not allowed",
    ast.SetComp: "comprehensions are not allowed",
    ast.DictComp: "comprehensions are not allowed",
    ast.GeneratorExp: "comprehensions are not allowed",
    ast.Lambda: "functions cannot be defined",
    ast.JoinedStr: "f-strings are not allowed; put {Column} into plain quotes",
}


def check(tree: ast.expr, names: frozenset[str], depth: int = 0) -> None:
    """Raises `BadFormula` unless every part of the tree belongs to the language."""
    if depth > MAX_DEPTH:
        raise BadFormula(f"The formula is nested more than {MAX_DEPTH} deep.")
    match tree:
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.Name(id=name):
            if name not in names:
                raise BadFormula(f"{name!r} means nothing here; columns are written {{{name}}}, texts 'in quotes'.")
            return
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            children: Sequence[ast.AST] = arguments
        case ast.Call(func=called):
            refused = f"{called.id}()" if isinstance(called, ast.Name) else "that call"
            raise BadFormula(f"{refused} is not allowed; a formula may call only {', '.join(FUNCTIONS)}.")
        case _ if isinstance(tree, _ALLOWED):
            children = list(ast.iter_child_nodes(tree))
        case _:
            raise BadFormula(f"In this formula {_REFUSED.get(type(tree), 'something is not allowed')}.")
    for child in children:
        check(child, names, depth + 1)  # type: ignore[arg-type]  # operators are nodes too, and pass by _ALLOWED


class ColumnsInTexts(ast.NodeTransformer):
    """`'{First} {Last}'`: placeholders inside quotes become parts of the text, by the same binding as outside."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, str) or not any(name in node.value for name in self._names):
            return node
        parts: list[ast.expr] = [ast.Constant(value="")]
        for piece in split_keeping(node.value, self._names):
            parts.append(ast.Name(id=piece, ctx=ast.Load()) if piece in self._names else ast.Constant(value=piece))
        joined = parts[0]
        for part in parts[1:]:
            joined = ast.BinOp(left=joined, op=ast.Add(), right=part)
        return ast.fix_missing_locations(ast.copy_location(joined, node))


def split_keeping(value: str, names: Sequence[str]) -> list[str]:
    """The text cut at the names, which stay as pieces of their own."""
    pieces = [value]
    for name in sorted(names, key=len, reverse=True):
        cut: list[str] = []
        for piece in pieces:
            if piece in names:
                cut.append(piece)
                continue
            for number, part in enumerate(piece.split(name)):
                cut.extend([name, part] if number else [part])
        pieces = [piece for piece in cut if piece]
    return pieces
