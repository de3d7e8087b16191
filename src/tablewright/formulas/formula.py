"""Formulas over the columns of a row: `ROUND({Price} * {Quantity}, 2)`, `{First} & ' ' & {Last}`.

A formula is parsed once, into small functions of ours, and evaluated for every row. Values are bound to names and never
pasted into the text, so a cell that reads `1; import os` is only ever a text. Spreadsheet spelling and Python spelling
both work: `=` and `==`, `<>` and `!=`, `^` and `**`, `IF(a, b, c)` and `b if a else c`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from tablewright.domain.fieldspec import PLACEHOLDER, find_template_columns
from tablewright.domain.model import Field, Money, Value
from tablewright.domain.text import format_value
from tablewright.errors import BadFormula
from tablewright.formulas.functions import (
    ALLOWANCE,
    BINARY_OPERATORS,
    FORMULA_FUNCTIONS,
    FORMULA_LIMITS,
    Unevaluable,
    clean_result,
    is_true,
    join_operands,
    join_texts,
    parse_number_text,
    spend_allowance,
)
from tablewright.formulas.functions import format_operand as text_of
from tablewright.formulas.functions import to_number as number_of
from tablewright.values.measures import Measure, convert_measure

Evaluate: TypeAlias = Callable[[Mapping[str, Value]], Any]


class Formula:
    """A formula, read once, evaluated for every row. `error` says why it can never be evaluated, or is empty.

    `numbers` are those written in it, but for the 3 of `({A} + {B} + {C}) / 3`, which only counts; `results` the texts
    written in it that it can give, `'dear'` of `IF({Price} > 100, 'dear', {Class})`.
    """

    def __init__(self, template: str, fields: Sequence[Field]) -> None:
        self.template = template
        self.columns = find_template_columns(template, fields)
        self.numbers: tuple[int | float, ...] = ()
        self.results: tuple[str, ...] = ()
        self.error = ""
        self._pieces: list[tuple[str, str, bool]] = []
        ALLOWANCE.left = FORMULA_LIMITS.work_characters  # numbers in it are read as those of cells are
        try:
            if not template.strip():
                raise BadFormula("The formula is empty.")
            if len(template) > FORMULA_LIMITS.characters:
                raise BadFormula(f"The formula is longer than {FORMULA_LIMITS.characters} characters.")
            parser = FormulaParser(template, fields)
            whole = parser.parse()
        except BadFormula as error:
            self.error = error.what
        else:
            self._evaluate = whole.evaluate
            self._pieces = parser.pieces
            self.numbers, self.results = tuple(parser.numbers), whole.results

    def evaluate(self, values: Mapping[str, Value], allowance: int = FORMULA_LIMITS.work_characters) -> Value:
        """None where it gives an empty text or cell. Raises Unevaluable; Empty where a value that it needs is, and
        TooMuchWork where it would read and make more characters than the `allowance`."""
        if self.error:
            raise Unevaluable(self.error)
        ALLOWANCE.left = allowance
        try:
            result = clean_result(self._evaluate(values))
        except KeyError as missing:
            raise Unevaluable(f"{missing.args[0]} is not there") from None
        except ZeroDivisionError:
            raise Unevaluable("division by zero") from None
        except OverflowError:
            raise Unevaluable("the result is too large") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Unevaluable(str(error) or type(error).__name__) from None
        return (result.strip() or None) if isinstance(result, str) else result

    def written(self, values: Mapping[str, Value]) -> str:
        """Return the formula with the row's values filled in, for people."""
        whole = "".join(
            before + self._shown(column, quoted, values) if column else before
            for before, column, quoted in self._pieces
        )
        return (
            whole
            if len(whole) <= FORMULA_LIMITS.written_characters
            else f"{whole[: FORMULA_LIMITS.written_characters]}…"
        )

    def _shown(self, column: str, quoted: bool, values: Mapping[str, Value]) -> str:
        if column not in values:
            return f"{{{column}}}"
        value = values[column]
        if isinstance(value, str) and not quoted:
            return repr(value[: FORMULA_LIMITS.shown_characters])
        if value is None:
            return "" if quoted else "empty"
        shown = (
            value
            if isinstance(value, str)
            else format_value(value[: FORMULA_LIMITS.shown_characters] if isinstance(value, tuple) else value)
        )
        return (
            shown if len(shown) <= FORMULA_LIMITS.shown_characters else f"{shown[: FORMULA_LIMITS.shown_characters]}…"
        )


# ── the parser ───────────────────────────────────────────────────────────────────────────────────────────────────────

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<column>\{[^{}]+\})
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>'(?:\{[^{}]+\}|[^'\\]|\\.|'')*+'|"(?:\{[^{}]+\}|[^"\\]|\\.|"")*+"|“[^“”]*”|‘[^‘’]*’)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>\*\*|//|<=|>=|<>|!=|==|[-+*/%^&=<>(),;≤≥≠×÷−])
    |(?P<end>$)
    |(?P<strange>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
# Spellings of other languages and keyboards, as the operators are called here.
_SPELLED = {"**": "^", "==": "=", "!=": "<>", "≠": "<>", "≤": "<=", "≥": ">=", "×": "*", "÷": "/", "−": "-", ";": ","}
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
# In rising order: an operator that binds more tightly takes its neighbours first.
TERNARY, OR, AND, NOT, COMPARISON, JOIN, SUM, PRODUCT, SIGN, POWER, PERCENT = range(11)
_BINDS = {"&": JOIN, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "^": POWER}


class FormulaToken(NamedTuple):
    kind: str
    text: str
    place: int


class FormulaNode(NamedTuple):
    """`joins`: a text by its very form, so that `+` next to it joins. `column`: the field, where it is only that.
    `terms`: how many values a sum adds."""

    evaluate: Evaluate
    depth: int = 1
    joins: bool = False
    results: tuple[str, ...] = ()
    column: Field | None = None
    literal: str = ""
    terms: int = 1


class FormulaParser:
    """By operator precedence: each part is parsed as far as it binds at least as tightly as asked."""

    def __init__(self, template: str, fields: Sequence[Field]) -> None:
        self._template = template
        self._fields = fields
        self._tokens = [*tokenize_formula(template)]
        self._at = 0
        self._nesting = 0
        self._done = 0
        self.numbers: list[int | float] = []
        self.pieces: list[tuple[str, str, bool]] = []

    def parse(self) -> FormulaNode:
        if self._next.text == "=":  # as a spreadsheet begins every formula
            self._at += 1
            self._done = self._next.place
        whole = self._expression()
        if self._next.kind != "end":
            raise self._unreadable(self._next)
        self.pieces.append((self._template[self._done :], "", False))
        return whole

    @property
    def _next(self) -> FormulaToken:
        return self._tokens[self._at]

    def _take(self, sign: str) -> bool:
        taken = self._next.kind in ("sign", "word") and self._next.text.casefold() == sign
        self._at += taken
        return taken

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unreadable(self._next, f"{sign!r} is missing")

    def _unreadable(self, token: FormulaToken, why: str = "") -> BadFormula:
        if not why:
            why = f"{token.text!r} cannot stand there" if token.kind != "end" else "something is missing at its end"
        return BadFormula(f"{self._template[:200]!r} is not a formula that can be read: {why}.")

    def _expression(self, least: int = TERNARY) -> FormulaNode:
        self._nesting += 1
        if self._nesting > FORMULA_LIMITS.depth:
            raise BadFormula(f"The formula is nested more than {FORMULA_LIMITS.depth} deep.")
        left = self._operand()
        while (more := self._continued(left, least)) is not None:
            left = more
        self._nesting -= 1
        return left

    def _continued(self, left: FormulaNode, least: int) -> FormulaNode | None:
        """With the operator that follows, if it binds tightly enough."""
        token = self._next
        sign = token.text.casefold()
        if token.kind == "word":
            return self._continued_by_word(left, sign, least)
        if token.kind != "sign":
            return None
        if sign in _COMPARISONS:
            return self._comparison(left) if least <= COMPARISON else None
        if sign == "%" and not self._starts_operand(self._tokens[self._at + 1]):
            self._at += 1
            return make_node(lambda values: number_of(left.evaluate(values)) / 100, left)
        binds = _BINDS.get(sign)
        if binds is None or binds < least:
            return None
        self._at += 1
        start, divisor = self._at, self._next
        right = self._expression(binds if sign == "^" else binds + 1)
        if sign == "/" and left.terms > 1 and divisor.text == str(left.terms) and self._at == start + 1:
            self.numbers.pop()  # the average of a sum: the divisor is no figure of its own
        if sign == "+" and (left.joins or right.joins):
            sign = "&"
        operation, first, second = BINARY_OPERATORS[sign], left.evaluate, right.evaluate
        made = make_node(lambda values: operation(first(values), second(values)), left, right)
        return made._replace(joins=operation is join_operands, terms=left.terms + right.terms if sign == "+" else 1)

    def _continued_by_word(self, left: FormulaNode, word: str, least: int) -> FormulaNode | None:
        if word == "or" and least <= OR:
            self._at += 1
            right = self._expression(AND)
            return make_node(
                make_short_circuit(left, right, stop_at=True), left, right, results=left.results + right.results
            )
        if word == "and" and least <= AND:
            self._at += 1
            right = self._expression(NOT)
            return make_node(make_short_circuit(left, right, stop_at=False), left, right, results=right.results)
        if word == "if" and least == TERNARY:
            self._at += 1
            condition = self._expression(OR)
            self._need("else")
            return make_conditional(condition, left, self._expression())
        return None

    def _comparison(self, first: FormulaNode) -> FormulaNode:
        """`1 < {A} <= 10` compares each with the next."""
        operands, operations = [first], []
        while self._next.kind == "sign" and self._next.text in _COMPARISONS:
            operations.append(BINARY_OPERATORS[self._next.text])
            self._at += 1
            operands.append(self._expression(JOIN))
        if len(operations) == 1:
            [operation], (one, other) = operations, (each.evaluate for each in operands)
            return make_node(lambda values: operation(one(values), other(values)), *operands)

        def chain(values: Mapping[str, Value]) -> bool:
            found = [each.evaluate(values) for each in operands]
            return all(
                operation(left, right) for operation, left, right in zip(operations, found[:-1], found[1:], strict=True)
            )

        return make_node(chain, *operands)

    @staticmethod
    def _starts_operand(token: FormulaToken) -> bool:
        is_word = token.kind == "word" and token.text.casefold() not in ("and", "or", "if", "else")
        return is_word or token.kind in ("column", "number", "text") or token.text == "("

    def _operand(self) -> FormulaNode:
        token = self._next
        self._at += 1
        match token.kind:
            case "number":
                value = float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
                self.numbers.append(value)
                return FormulaNode(lambda values: value)
            case "column":
                return self._column(token)
            case "text":
                return self._text(token)
            case "word":
                return self._word(token)
        if token.text in ("-", "+"):
            operand = self._expression(SIGN)
            sign = -1 if token.text == "-" else 1
            return make_node(lambda values: sign * number_of(operand.evaluate(values)), operand)
        if token.text == "(":
            inside = self._expression()
            self._need(")")
            return inside
        raise self._unreadable(token)

    def _column(self, token: FormulaToken) -> FormulaNode:
        [name] = find_template_columns(token.text, self._fields)
        self.pieces.append((self._template[self._done : token.place], name, False))
        self._done = token.place + len(token.text)
        field = next(field for field in self._fields if field.name == name)
        return FormulaNode(lambda values: bind_column(values[name]), column=field)

    def _text(self, token: FormulaToken) -> FormulaNode:
        """`'{First} {Last}'`: columns inside quotes are part of the text, by the same binding as outside."""
        parts = PLACEHOLDER.split(token.text[1:-1])
        texts = [unescape_text(part, token.text[0]) for part in parts[::2]]
        if len(parts) == 1:
            [literal] = texts
            return FormulaNode(
                lambda values: literal,
                joins=bool(literal) and parse_number_text(literal) is None,
                results=(literal,) if literal.strip() else (),
                literal=literal,
            )
        names = []
        for match in PLACEHOLDER.finditer(token.text):
            [name] = find_template_columns(match[0], self._fields)
            names.append(name)
            self.pieces.append((self._template[self._done : token.place + match.start()], name, True))
            self._done = token.place + match.end()
        pairs = list(zip(texts, [*names, ""], strict=True))

        def filled(values: Mapping[str, Value]) -> str:
            return join_texts(
                [part for before, name in pairs for part in (before, name and text_of(bind_column(values[name])))]
            )

        return FormulaNode(filled, joins=True)

    def _word(self, token: FormulaToken) -> FormulaNode:
        word = token.text.upper()
        if word == "NOT":
            operand = self._expression(NOT)
            return make_node(lambda values: not is_true(operand.evaluate(values)), operand)
        if word in ("TRUE", "FALSE"):
            truth = word == "TRUE"
            return FormulaNode(lambda values: truth)
        if self._next.text != "(":
            form = "IF(a, b, c)" if word == "IF" else f"{{{token.text}}} if it is a column, 'in quotes' if it is a text"
            raise self._unreadable(token, f"{token.text!r} cannot stand there; write {form}")
        self._at += 1
        arguments: list[FormulaNode] = []
        while not self._take(")"):
            if arguments:
                self._need(",")
            arguments.append(self._expression())
        return self._call(token.text, word, arguments)

    def _call(self, spelled: str, name: str, arguments: list[FormulaNode]) -> FormulaNode:
        function = FORMULA_FUNCTIONS.get(name)
        least, most = (function.least, function.most) if function else LAZY_FUNCTIONS.get(name, (0, 0))
        if not most:
            known = ", ".join(sorted((*FORMULA_FUNCTIONS, *LAZY_FUNCTIONS, "NOT")))
            raise BadFormula(f"{spelled}() is not a function of formulas. They have {known}.")
        if not least <= len(arguments) <= most:
            many = (
                f"{least}"
                if least == most
                else f"at least {least}"
                if most == FORMULA_LIMITS.arguments
                else f"{least} to {most}"
            )
            raise BadFormula(f"{name} takes {many} values, not {len(arguments)}.")
        if name == "IF":
            return make_conditional(*arguments, *[FormulaNode(lambda values: None)] * (3 - len(arguments)))
        if name == "CONVERT":
            arguments[1:] = add_source_unit(arguments[0], arguments[1:])
        parts = [each.evaluate for each in arguments]
        if name in LAZY_FUNCTIONS:
            some = all if name == "AND" else any
            return make_node(lambda values: some(is_true(part(values)) for part in parts), *arguments)
        assert function is not None
        apply = function.apply
        if len(parts) == 1:
            [only] = parts
            made = make_node(lambda values: apply(only(values)), *arguments)
        else:
            made = make_node(lambda values: apply(*[part(values) for part in parts]), *arguments)
        return made._replace(joins=name in ("CONCAT", "STR"))


# Functions that evaluate only what they need, with how many values they take.
LAZY_FUNCTIONS: Mapping[str, tuple[int, int]] = {
    "AND": (1, FORMULA_LIMITS.arguments),
    "IF": (2, 3),
    "OR": (1, FORMULA_LIMITS.arguments),
}


def tokenize_formula(template: str) -> Sequence[FormulaToken]:
    found = []
    for match in _TOKEN.finditer(template):
        kind = match.lastgroup or "end"
        text = match[kind]
        found.append(FormulaToken(kind, _SPELLED.get(text, text), match.start(kind)))
        if kind == "end":
            break
    return found


def make_node(evaluate: Evaluate, *parts: FormulaNode, results: tuple[str, ...] = ()) -> FormulaNode:
    depth = 1 + max(part.depth for part in parts)
    if depth > FORMULA_LIMITS.depth:
        raise BadFormula(f"The formula is nested more than {FORMULA_LIMITS.depth} deep.")
    return FormulaNode(evaluate, depth, results=results)


def make_short_circuit(left: FormulaNode, right: FormulaNode, *, stop_at: bool) -> Evaluate:
    """`{A} or {B}` is the first if it holds, else the second; `and` the other way round."""

    def evaluate(values: Mapping[str, Value]) -> Any:
        first = left.evaluate(values)
        return first if is_true(first) is stop_at else right.evaluate(values)

    return evaluate


def make_conditional(condition: FormulaNode, then: FormulaNode, other: FormulaNode) -> FormulaNode:
    holding, one, two = condition.evaluate, then.evaluate, other.evaluate
    made = make_node(
        lambda values: one(values) if is_true(holding(values)) else two(values),
        condition,
        then,
        other,
        results=then.results + other.results,
    )
    return made._replace(joins=then.joins and other.joins)


def unescape_text(part: str, quote: str) -> str:
    if quote in "“‘":
        return part
    return re.sub(
        r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), part.replace(quote * 2, quote)
    )


def bind_column(value: Value) -> str | int | float | Money | None:
    """Return what a column in a formula stands for."""
    if not isinstance(value, tuple):
        return value
    spend_allowance(sum(map(len, value)))
    return format_value(value)


def add_source_unit(value: FormulaNode, units: Sequence[FormulaNode]) -> list[FormulaNode]:
    """The two units of CONVERT, the first from the column where it is left out. What can never be converted is refused
    before the run, as far as the units are written in the formula."""
    column = value.column.unit if value.column and value.column.type == "number" else ""
    source, target = units[0].literal if len(units) == 2 else column, units[-1].literal
    if source and target and convert_one(source, target) is None:
        raise BadFormula(f"CONVERT cannot convert {source!r} to {target!r}.")
    if source and column and convert_one(column, source) != 1:
        raise BadFormula(f"The column that CONVERT starts from is in {column}, not in {source!r}.")
    return [FormulaNode(lambda values: source), units[0]] if len(units) == 1 and source else list(units)


def convert_one(unit: str, target: str) -> float | None:
    measure = convert_measure(Measure(value=1, start=0, end=0, unit=unit), target)
    return None if measure is None else measure.value
