"""A condition on a column, and the small language in which people write conditions; it says just what it says.

kind = invoice and total > 500 EUR and date in 2026-03 and supplier contains nord

A value in braces is another column of the same row: paid on > {due date}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Noun
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText

ADVICE = (
    'Write conditions as COLUMN OPERATOR VALUE, joined by "and": total > 500 EUR and date in 2026-03. '
    "Operators: = != < <= > >= contains, not contains, in, between … and …, in month, is known, is unknown."
)
OPERATORS: PageText[dict[str, str]] = {
    "=": "is",
    "!=": "is not",
    "contains": "contains",
    "not contains": "does not contain",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "between": "is between … and …",
    "in month": "is in month",
    "known": "is filled",
    "unknown": "is empty",
}
"""What a condition may be, and how a form calls it."""
ORDERED = frozenset({"<", "<=", ">", ">=", "between"})
NAMING = frozenset({"=", "!=", "contains", "not contains"})
"""Operators whose values may be names, which have more than one spelling."""
UNARY = frozenset({"known", "unknown"})
"""Operators without a value."""
_AND = re.compile(r" and ", re.IGNORECASE)
_OR = re.compile(r" or ", re.IGNORECASE)
_LIST = re.compile(r" or |,\s+", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)(?:\"[^\"]*\"|'[^']*')(?!\w)")
_HIDDEN = re.compile(r"\x00(\d+)\x00")
_BETWEEN = re.compile(r"\bbetween\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?P<column>[^<>=!]{1,80}?)\s*"
    r"(?P<operator><=|>=|!=|=|<|>|\b(?:(?:not )?contains|between|in month|in|is)\b)\s*(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SYNTAX_IN_COLUMN = re.compile(r"[<>=!\"']|\b(?:and|contains|between|in|is)\b|.{81}", re.IGNORECASE)
_SYNTAX_IN_VALUE = re.compile(r"^[\"']|[\"']$|\b(?:and|or|between)\b", re.IGNORECASE)
_IS = {"known": "known", "stated": "known", "unknown": "unknown", "not stated": "unknown"}


class Condition(Noun, frozen=True):
    """What the values of a column must be. Several `values` mean any of them; `between` has two."""

    column: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Its column, and those that this one is compared with."""
        return self.column, *filter(None, map(named_column, self.values))

    def __str__(self) -> str:
        """As `parse_conditions` reads it."""
        said = f"is {self.operator}" if self.operator in UNARY else f"{self.operator} {self.written_values}"
        return f"{_quote(self.column, _SYNTAX_IN_COLUMN)} {said}"

    @property
    def written_values(self) -> str:
        """As `split_values` reads them."""
        return join_values((_quote(value, _SYNTAX_IN_VALUE) for value in self.values), self.operator)


def describe_condition(condition: Condition) -> str:
    """Return "Total > 500 EUR", "Paid on > Due date"."""
    values = join_values((named_column(value) or value for value in condition.values), condition.operator)
    return f"{condition.column} {condition.operator} {values}".strip()


def named_column(value: str) -> str:
    """Return the column that the value of a condition names, as in "{Due date}"; "" where it is a value itself."""
    found = PLACEHOLDER.fullmatch(value.strip())
    return found[1].strip() if found else ""


def join_values(values: Iterable[str], operator: str) -> str:
    return (" and " if operator == "between" else " or ").join(values)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a text: "total > 500 EUR and paid on > {due date}"."""
    hidden, quoted = _hide_quotes(" ".join(text.split()))
    clauses: list[str] = []
    for part in _AND.split(hidden):
        if clauses and " and " not in clauses[-1] and _BETWEEN.search(clauses[-1]):
            clauses[-1] += f" and {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(_parse_clause(clause, quoted) for clause in clauses)


def split_values(text: str, operator: str) -> tuple[str, ...]:
    """Return the values that are written behind an operator: "Oslo or Bergen"."""
    return _split_values(*_hide_quotes(text), operator)


def _parse_clause(clause: str, quoted: list[str]) -> Condition:
    found = _CLAUSE.fullmatch(clause)
    shown = _HIDDEN.sub(lambda match: quoted[int(match[1])], clause)
    if found is None:
        raise UsageError(f"“{shown}” is not a condition.", advice=ADVICE)
    column, operator = _unquote(found["column"], quoted), " ".join(found["operator"].lower().split())
    if operator == "is":
        operator = _IS.get(" ".join(found["value"].lower().split()), "=")
    if operator in UNARY:
        return Condition(column=column, operator=operator)
    values = _split_values(found["value"], quoted, operator)
    if not values:
        raise UsageError(f"“{shown}” has no value.", advice=ADVICE)
    return Condition(column=column, operator="=" if operator == "in" else operator, values=values)


def _split_values(hidden: str, quoted: list[str], operator: str) -> tuple[str, ...]:
    if operator == "in":
        parts = _LIST.split(hidden.strip("() "))
    else:
        parts = (_AND if operator == "between" else _OR).split(hidden)
    return tuple(filter(None, (_unquote(part, quoted) for part in parts)))


def _hide_quotes(text: str) -> tuple[str, list[str]]:
    """Put a mark in place of what is quoted, so that no "and" or operator is found in it."""
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\x00{len(quoted) - 1}\x00"

    return _QUOTED.sub(hide, text.replace("\x00", " ")), quoted


def _unquote(hidden: str, quoted: list[str]) -> str:
    hidden = hidden.strip()
    if whole := _HIDDEN.fullmatch(hidden):
        return quoted[int(whole[1])][1:-1].strip()
    return _HIDDEN.sub(lambda match: quoted[int(match[1])], hidden)


def _quote(text: str, syntax: re.Pattern[str]) -> str:
    """Return the text in quotes where something in it would be read as syntax."""
    if not syntax.search(text):
        return text
    mark = "'" if '"' in text else '"'
    return f"{mark}{text}{mark}"
