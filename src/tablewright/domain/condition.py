"""Conditions on columns, and the small language in which people write them. Nothing is guessed: what does not parse is
refused.

kind = invoice and total > 500 EUR and date in 2026-03 and supplier contains nord

A value in braces is another column of the same row: paid on > {due date}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Struct
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText

CONDITION_ADVICE = (
    'Write conditions as COLUMN OPERATOR VALUE, joined by "and": total > 500 EUR and date in 2026-03. '
    "Operators: = != < <= > >= contains, not contains, in, between … and …, in month, is known, is unknown."
)
# Each operator with its name in a form.
CONDITION_OPERATORS: PageText[dict[str, str]] = {
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
# Operators whose values must be figures.
ORDERED_OPERATORS = frozenset({"<", "<=", ">", ">=", "between"})
# Operators whose values may be names, which have more than one spelling.
NAMING_OPERATORS = frozenset({"=", "!=", "contains", "not contains"})
# Operators without a value.
UNARY_OPERATORS = frozenset({"known", "unknown"})
_HIDDEN = re.compile(r"\x00(\d+)\x00")


class Condition(Struct, frozen=True):
    """A test of a column's values. Any one of several `values` is enough; `between` has two."""

    column: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Its column, and the columns that this one is compared with."""
        return self.column, *filter(None, map(parse_column_reference, self.values))

    def __str__(self) -> str:
        """Return the condition in the form that `parse_conditions` reads."""
        said = f"is {self.operator}" if self.operator in UNARY_OPERATORS else f"{self.operator} {self.written_values}"
        # A name of more than 80 characters is only read in quotes, and so it is written in quotes.
        is_syntax = re.search(r"[<>=!\"']|\b(?:and|contains|between|in|is)\b|.{81}", self.column, re.IGNORECASE)
        return f"{_add_quotes(self.column) if is_syntax else self.column} {said}"

    @property
    def written_values(self) -> str:
        """The values in the form that `split_condition_values` reads."""
        written = []
        for value in self.values:
            is_syntax = re.search(r"^[\"']|[\"']$|\b(?:and|or|between)\b", value, re.IGNORECASE)
            written.append(_add_quotes(value) if is_syntax else value)
        return join_condition_values(written, self.operator)


def describe_condition(condition: Condition) -> str:
    """Return "Total > 500 EUR", "Paid on > Due date"."""
    values = join_condition_values(
        (parse_column_reference(value) or value for value in condition.values), condition.operator
    )
    return f"{condition.column} {condition.operator} {values}".strip()


def parse_column_reference(value: str) -> str:
    """Return the column that a condition's value refers to, as in "{Due date}", or "" for a literal value."""
    found = PLACEHOLDER.fullmatch(value.strip())
    return found[1].strip() if found else ""


def join_condition_values(values: Iterable[str], operator: str) -> str:
    return (" and " if operator == "between" else " or ").join(values)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a text: "total > 500 EUR and paid on > {due date}"."""
    hidden, quoted = _hide_quotes(" ".join(text.split()))
    clauses: list[str] = []
    for part in re.split(r" and ", hidden, flags=re.IGNORECASE):
        # The first "and" after "between" joins its two values and ends no condition.
        if clauses and " and " not in clauses[-1] and re.search(r"\bbetween\b", clauses[-1], re.IGNORECASE):
            clauses[-1] += f" and {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(_parse_clause(clause, quoted) for clause in clauses)


def split_condition_values(text: str, operator: str) -> tuple[str, ...]:
    """Return the values written after an operator, as in "Oslo or Bergen"."""
    return _split_hidden_values(*_hide_quotes(text), operator)


def _parse_clause(clause: str, quoted: list[str]) -> Condition:
    # Longer operators first: "<=" would else be read as "<" and a value that begins with "=".
    found = re.fullmatch(
        r"(?P<column>[^<>=!]{1,80}?)\s*"
        r"(?P<operator><=|>=|!=|=|<|>|\b(?:(?:not )?contains|between|in month|in|is)\b)\s*(?P<value>.*)",
        clause,
        re.IGNORECASE | re.DOTALL,
    )
    shown = _HIDDEN.sub(lambda match: quoted[int(match[1])], clause)
    if found is None:
        raise UsageError(f"“{shown}” is not a condition.", advice=CONDITION_ADVICE)
    column, operator = _restore_quotes(found["column"], quoted), " ".join(found["operator"].lower().split())
    if operator == "is":
        # "is" is the only operator whose value may be an operator: "is known" has no value, "is Oslo" has one.
        states = {"known": "known", "stated": "known", "unknown": "unknown", "not stated": "unknown"}
        operator = states.get(" ".join(found["value"].lower().split()), "=")
    if operator in UNARY_OPERATORS:
        return Condition(column=column, operator=operator)
    values = _split_hidden_values(found["value"], quoted, operator)
    if not values:
        raise UsageError(f"“{shown}” has no value.", advice=CONDITION_ADVICE)
    return Condition(column=column, operator="=" if operator == "in" else operator, values=values)


def _split_hidden_values(hidden: str, quoted: list[str], operator: str) -> tuple[str, ...]:
    if operator == "in":
        parts = re.split(r" or |,\s+", hidden.strip("() "), flags=re.IGNORECASE)
    else:
        parts = re.split(r" and " if operator == "between" else r" or ", hidden, flags=re.IGNORECASE)
    return tuple(filter(None, (_restore_quotes(part, quoted) for part in parts)))


def _hide_quotes(text: str) -> tuple[str, list[str]]:
    """Replace quoted text by numbered placeholders, so that no "and" or operator is found inside quotes."""
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\x00{len(quoted) - 1}\x00"

    # A null character cannot be typed, so no text of a person is taken for a placeholder.
    return re.sub(r"(?<!\w)(?:\"[^\"]*\"|'[^']*')(?!\w)", hide, text.replace("\x00", " ")), quoted


def _restore_quotes(hidden: str, quoted: list[str]) -> str:
    hidden = hidden.strip()
    if whole := _HIDDEN.fullmatch(hidden):
        return quoted[int(whole[1])][1:-1].strip()
    return _HIDDEN.sub(lambda match: quoted[int(match[1])], hidden)


def _add_quotes(text: str) -> str:
    """Return the text so that nothing in it is read as syntax."""
    mark = "'" if '"' in text else '"'
    return f"{mark}{text}{mark}"
