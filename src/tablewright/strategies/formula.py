"""Formulas over the columns of a row: `round({Price} * {Quantity}, 2)`, `{First} + ' ' + {Last}`.

Values are bound to names, never pasted into the text, so a cell that reads `1; import os` is only ever a string. The
language is arithmetic, comparison, `a if b else c` and eight functions. Python's parser reads the text, no more:
each permitted node becomes a small function of ours, and every operation is bounded in size, so no formula can reach
anything or take long.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tablewright.errors import BadFormula
from tablewright.table.coerce import coerce
from tablewright.table.model import Field, Money, Value
from tablewright.table.numbers import read_numbers
from tablewright.table.template import PLACEHOLDER, columns_in, replace_columns
from tablewright.table.text import show

MAX_LENGTH = 2_000
MAX_DEPTH = 40
MAX_BITS = 4_096
MAX_RESULT_BITS = 1_023  # what a float can still hold
MAX_TEXT = 100_000
MAX_DIGITS = 30

Evaluate: TypeAlias = Callable[[Mapping[str, Value]], Any]

_NUMBER = Field(name="operand", type="number")


class Unevaluable(Exception):
    """The formula cannot be computed for this row, with the reason; it becomes the cell's error."""


class NotANumber(Unevaluable):
    """A text stands where a number is needed."""


class OtherUnit(NotANumber):
    """It is a number of something that no formula, and no model either, can convert to what is wanted."""


class Formula:
    """A formula, read once, evaluated for every row. `error` says why it can never be evaluated, or is empty.

    `constants` are the numbers and texts written in it; one that `copies` does nothing but repeat a column.
    """

    def __init__(self, template: str, fields: Sequence[Field]) -> None:
        self.template = template
        self.columns = columns_in(template, fields)
        self.constants: tuple[str | int | float, ...] = ()
        self.copies = False
        self.error = ""
        self._pieces = pieces_of(template, self.columns)
        try:
            self._evaluate = self._read()
        except BadFormula as error:
            self.error = error.what

    def _read(self) -> Evaluate:
        if not self.template.strip():
            raise BadFormula("The formula is empty.")
        if len(self.template) > MAX_LENGTH:
            raise BadFormula(f"The formula is longer than {MAX_LENGTH} characters.")
        prefix = "column_"
        while prefix in self.template:
            prefix += "_"
        names = {f"{prefix}{number}": column for number, column in enumerate(self.columns)}
        by_folded = {column.casefold(): name for name, column in names.items()}
        expression = replace_columns(self.template, lambda column: by_folded[column.casefold()])
        try:
            tree = ast.parse(expression.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise BadFormula(f"{self.template!r} is not a formula that can be read.") from None
        evaluate = build(tree, names)
        self.constants = constants_of(tree, names)
        self.copies = copies(tree, names)
        return evaluate

    def evaluate(self, values: Mapping[str, Value]) -> Value:
        if self.error:
            raise Unevaluable(self.error)
        try:
            return clean(self._evaluate(values))
        except KeyError as missing:
            raise Unevaluable(f"{missing.args[0]} is not there") from None
        except ZeroDivisionError:
            raise Unevaluable("division by zero") from None
        except OverflowError:
            raise Unevaluable("the result is too large") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Unevaluable(str(error) or type(error).__name__) from None

    def attempt(self, values: Mapping[str, Value]) -> Value:
        """What it gives, or None where it gives nothing."""
        try:
            return self.evaluate(values)
        except Unevaluable:
            return None

    def written(self, values: Mapping[str, Value]) -> str:
        """The formula with the row's values in it, for people to read."""
        return "".join([text + self._shown(column, values) if column else text for text, column in self._pieces])

    def _shown(self, column: str, values: Mapping[str, Value]) -> str:
        return literal(values[column]) if column in values else f"{{{column}}}"


def respelled(text: str, fields: Sequence[Field]) -> str:
    """In our language, what people and models write instead: `=`, `if a then b else c`, a column without braces."""
    text = _ASSIGNED.sub("", text.strip().strip("`")).strip()
    if branches := _IF_THEN_ELSE.fullmatch(text):
        condition, then, otherwise = (respelled(part, fields) for part in branches.groups())
        return f"{then} if {condition} else {otherwise}"
    names = sorted((field.name for field in fields if field.name not in _OWN_WORDS), key=len, reverse=True)
    if not names:
        return text
    bare = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?![\w(])", re.IGNORECASE)
    parts = _APART.split(text)
    parts[::2] = [bare.sub(lambda match: f"{{{match[0]}}}", part) for part in parts[::2]]
    return "".join(parts)


_ASSIGNED = re.compile(r"^(?:[^=<>!'\"(]{0,60}[^=<>!'\"(\s]\s*)?=(?!=)")
_IF_THEN_ELSE = re.compile(
    r"if\s+(.+?),?\s+then\s+(.+?)[,;]?\s+(?:else|otherwise)[,:]?\s+(.+)", re.IGNORECASE | re.DOTALL
)
_APART = re.compile(r"('[^']*'|\"[^\"]*\"|\{[^{}]*\})")
_OWN_WORDS = frozenset({"and", "or", "not", "if", "else", "abs", "float", "int", "len", "max", "min", "round", "str"})


def build(node: ast.expr, names: Mapping[str, str], depth: int = 0) -> Evaluate:
    """A function that evaluates the node; only what is named here can be part of a formula."""
    if depth > MAX_DEPTH:
        raise BadFormula(f"The formula is nested more than {MAX_DEPTH} deep.")

    def part(child: ast.expr) -> Evaluate:
        return build(child, names, depth + 1)

    match node:
        case ast.Constant(value=str() as text):
            return text_with_columns(text, names)
        case ast.Constant(value=bool() | int() | float() as constant):
            return lambda values: constant
        case ast.Name(id=name) if name in names:
            column = names[name]
            return lambda values: bound(values[column])
        case ast.Name(id=name):
            raise BadFormula(f"{name!r} means nothing here; columns are written {{{name}}}, texts 'in quotes'.")
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in OPERATORS:
            operation, first, second = OPERATORS[type(symbol)], part(left), part(right)
            return lambda values: operation(first(values), second(values))
        case ast.UnaryOp(op=symbol, operand=operand) if type(symbol) in OPERATORS:
            operation, first = OPERATORS[type(symbol)], part(operand)
            return lambda values: operation(first(values))
        case ast.Compare(left=left, ops=[symbol], comparators=[right]) if type(symbol) in OPERATORS:
            operation, first, second = OPERATORS[type(symbol)], part(left), part(right)
            return lambda values: operation(first(values), second(values))
        case ast.BoolOp(op=ast.And(), values=parts):
            conditions = [part(each) for each in parts]
            return lambda values: all(condition(values) for condition in conditions)
        case ast.BoolOp(op=ast.Or(), values=parts):
            conditions = [part(each) for each in parts]
            return lambda values: any(condition(values) for condition in conditions)
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            condition, then, other = part(test), part(body), part(otherwise)
            return lambda values: then(values) if condition(values) else other(values)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            function, inputs = FUNCTIONS[name], [part(argument) for argument in arguments]
            return lambda values: function(*[each(values) for each in inputs])
        case ast.Call(func=called):
            refused = f"{called.id}()" if isinstance(called, ast.Name) else "that call"
            raise BadFormula(f"{refused} is not allowed; a formula may call only {', '.join(FUNCTIONS)}.")
        case _:
            raise BadFormula(f"In this formula {REFUSED.get(type(node), 'something is not allowed')}.")


def text_with_columns(text: str, names: Mapping[str, str]) -> Evaluate:
    """`'{First} {Last}'`: placeholders inside quotes are part of the text, by the same binding as outside."""
    pieces = re.split("|".join(f"({name})" for name in sorted(names, key=len, reverse=True)), text) if names else [text]
    parts = [names.get(piece, "") for piece in pieces if piece]
    texts = [piece for piece in pieces if piece]
    if not any(parts):
        return lambda values: text
    return lambda values: "".join(
        show(values[column]) if column else piece for piece, column in zip(texts, parts, strict=True)
    )


def constants_of(tree: ast.expr, names: Mapping[str, str]) -> tuple[str | int | float, ...]:
    placeholder = re.compile("|".join(sorted(names, key=len, reverse=True)) or "(?!)")
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return tuple(
        placeholder.sub(" ", value) if isinstance(value, str) else value
        for value in found
        if isinstance(value, str | int | float)
    )


def copies(tree: ast.expr, names: Mapping[str, str]) -> bool:
    match tree:
        case ast.Name():
            return True
        case ast.Constant(value=str() as text):
            return text.strip() in names
        case ast.Call(func=ast.Name(id="str"), args=[argument]):
            return copies(argument, names)
        case _:
            return False


def pieces_of(template: str, columns: Sequence[str]) -> list[tuple[str, str]]:
    """The template as pairs of a text and the column after it; the last has no column."""
    by_folded = {column.casefold(): column for column in columns}
    parts = PLACEHOLDER.split(template)
    following = [by_folded[name.strip().casefold()] for name in parts[1::2]]
    return list(zip(parts[::2], [*following, ""], strict=True))


def literal(value: Value) -> str:
    return repr(value[:60]) if isinstance(value, str) else show(value)


def bound(value: Value) -> str | int | float | bool:
    """What a name in a formula stands for."""
    if isinstance(value, (float, int, str)):  # half the time of a union
        return value
    return value.amount if isinstance(value, Money) else show(value)


def clean(result: object) -> Value:
    if isinstance(result, float):
        if not math.isfinite(result):
            raise Unevaluable("the result is not a finite number")
        # 0.1 * 3 is 0.3 to everybody but a binary computer; spreadsheets show 15 digits too.
        return float(f"{result:.15g}")
    if isinstance(result, str) or result is True or result is False:
        return result
    if isinstance(result, int):
        if result.bit_length() > MAX_RESULT_BITS:
            raise Unevaluable("the result is too large")
        return result
    raise Unevaluable(f"the result is a {type(result).__name__}, not a value")


def number(operand: Any) -> Any:
    """Numbers as they are; texts that read as a number ("£12.50") as that number. "5 ft 11 in" is two."""
    if not isinstance(operand, str):
        return operand
    read = coerce(operand, _NUMBER)
    if read.value is None or read.label == "low":
        raise NotANumber(f"{operand[:60]!r} is not a number")
    if read.label == "medium" and sum(2 if each.high is not None else 1 for each in read_numbers(operand)) > 1:
        raise NotANumber(f"{operand[:60]!r} is more than one number")
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

REFUSED = {
    ast.Attribute: "attributes (a.b) are not allowed",
    ast.Subscript: "indexing (a[b]) is not allowed",
    ast.ListComp: "comprehensions are not allowed",
    ast.SetComp: "comprehensions are not allowed",
    ast.DictComp: "comprehensions are not allowed",
    ast.GeneratorExp: "comprehensions are not allowed",
    ast.Lambda: "functions cannot be defined",
    ast.JoinedStr: "f-strings are not allowed; put {Column} into plain quotes",
    ast.Compare: "comparisons must be one at a time, joined by and",
}
