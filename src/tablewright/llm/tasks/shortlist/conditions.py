"""Wishes of a user as the model states them: in the user's words, and as conditions that code evaluates on cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from tablewright.domain.model import Field, column_key
from tablewright.domain.shortlist import (
    MAKER_COLUMN,
    OFFERED_AS_COLUMN,
    PAGE_COLUMN,
    PRICE_COLUMN,
    PRODUCT_COLUMN,
    Requirements,
    Wish,
    WishKind,
    WishOperator,
)
from tablewright.values.comparable_value import parse_comparable
from tablewright.values.units import parse_unit

WISHES_PROMPT = """\
`wishes`: everything the user wants of the product, complete, the weightiest first. Each has
- `words`: the wish in the user's own words and language, short, on its own ("under £50", "no plastic").
- `kind`: "budget"; "must" (needs it); "nice" (prefers it); "priority" (what to optimise); "avoid" (does not want \
it); "specification" (a filter such as second hand, or a size). `hard`: true if a product that fails it is out of \
the question for the user, which is usual for budget, must and avoid; false for nice and priority, and for a use it \
is meant for ("for the office"), which pages seldom rule out.
- The condition that checks it on one column: `column`, `operator`, `values`. Numbers and amounts with the user's \
own unit or currency ("50 GBP", "1.5 l", "3 min"); yes/no as "yes"; several values mean any of them; "between" takes \
two. A size that is only named ("1.5 litres") means about that: between, some 15 % either way. "lowest" and "highest", \
without values, for what to optimise. "contains" and "not contains" compare words in a text or a list. A property \
that pages word in many ways ("variable temperature", "no plastic inside"), and a part or function that a product may \
lack altogether, is a yes/no column with a clear question ("Does {Product} fit under a 40 cm shelf?"), never a \
comparison of texts: a number could not say that there is none.
- Nothing that pages state as a fact answers to it ("beautiful", "good quality" as such)? Then choose facts that \
stand for it, each a wish of its own with the same words (build quality: material, warranty). Only if there are \
none: `column` "", `operator` "", no values; the user sees that it cannot be checked.

`columns`: every column that a wish uses and that is not there yet. `name` short and general, in the user's \
language; `type`; `unit` for numbers ("l", "kg", "min"), else ""; `options` for a select; `question`, in the language \
of the shops, answered by a page about one single product \
("What is the capacity of {Product}?", "Can the temperature of {Product} be set?"). Only what pages state, as data \
sheets of such goods usually state it, in their unit and never one that must be worked out ("speed" is the time for \
one litre, lowest): no rating or score of your own; what testers found may be a text column."""


class WishedColumn(BaseModel):
    name: str
    type: Literal["text", "number", "money", "boolean", "select", "date", "list"]
    unit: str
    options: list[str]
    question: str


class StatedWish(BaseModel):
    words: str
    kind: WishKind
    hard: bool
    column: str
    operator: WishOperator
    values: list[str]


def budget_currency(requirements: Requirements) -> str:
    """Return "GBP" if the price is to be under £50, or "" if no wish names an amount."""
    budgets = [wish for wish in requirements.wishes if column_key(wish.column) == column_key(PRICE_COLUMN)]
    return next(
        (read.currency for wish in budgets for value in wish.values if (read := parse_comparable(value)).currency), ""
    )


def build_wished_field(column: WishedColumn) -> Field:
    question = column.question.strip() or f"What is the {column.name.lower()} of {{{PRODUCT_COLUMN}}}?"
    return Field(
        # Braces would make a name of a column a placeholder.
        name=" ".join(column.name.split())[:80].replace("{", "(").replace("}", ")"),
        type=column.type,
        unit=column.unit.strip() if column.type in ("number", "money") else "",
        options=tuple(dict.fromkeys(filter(None, map(str.strip, column.options)))) if column.type == "select" else (),
        # A question that does not name the product would be searched for without it.
        question=question if f"{{{PRODUCT_COLUMN}}}" in question else f"{question} ({{{PRODUCT_COLUMN}}})",
        role="user",
    )


def build_wish(stated: StatedWish, fields: Iterable[Field]) -> Wish:
    named = {column_key(field.name): field.name for field in fields}
    return Wish(
        words=" ".join(stated.words.split()),
        kind=stated.kind,
        hard=stated.hard,
        column=named.get(column_key(stated.column), "") if stated.operator else "",
        operator=stated.operator if stated.column else "",
        values=tuple(stated.values),
    )


def find_wishes_fault(
    wishes: Sequence[StatedWish], columns: Sequence[WishedColumn], known: Sequence[Field], *, is_final: bool = True
) -> str:
    """Return a problem that keeps a wish from being evaluated, phrased for the model, or "". Unless the wishes are
    final, the currency of an amount may still be missing."""
    fields: dict[str, Field] = {column_key(field.name): field for field in known}
    for column in columns:
        # Columns that are always there keep their own type and question.
        if column_key(column.name) in map(column_key, (PRODUCT_COLUMN, MAKER_COLUMN, PAGE_COLUMN, OFFERED_AS_COLUMN)):
            continue
        if column.type == "select" and len(column.options) < 2:
            return f"the select column {column.name!r} has no options."
        # Unknown units of a few letters may be those of the trade; a longer text is a description.
        if column.type == "number" and column.unit and parse_unit(column.unit) is None and len(column.unit) > 20:
            return f"{column.unit!r} is not a unit."
        fields.setdefault(column_key(column.name), build_wished_field(column))
    return next(filter(None, (find_wish_fault(wish, fields, is_final=is_final) for wish in wishes)), "")


def find_wish_fault(wish: StatedWish, fields: Mapping[str, Field], *, is_final: bool) -> str:
    if not wish.words.strip():
        return "a wish has no `words`."
    if not wish.column and not wish.operator:
        return ""
    field = fields.get(column_key(wish.column))
    if field is None:
        return f"the wish {wish.words!r} uses the column {wish.column!r}, which is neither there nor in `columns`."
    if not wish.operator:
        return f"the wish {wish.words!r} has a column and no operator."
    needed = {"between": 2, "known": 0, "lowest": 0, "highest": 0}.get(wish.operator, 1)
    if len(wish.values) < needed:
        return f"the wish {wish.words!r} needs {needed} value(s)."
    if wish.operator in ("<", "<=", ">", ">=", "between"):
        wrong = (find_figure_fault(wish, value, field, is_final=is_final) for value in wish.values)
        return next(filter(None, wrong), "")
    if wish.operator in ("=", "!=") and field.type == "select":
        known = {column_key(option) for option in field.options}
        if other := [value for value in wish.values if column_key(value) not in known]:
            return f"{other[0]!r} is not an option of {field.name}: {', '.join(field.options)}."
    if field.type == "boolean" and any(parse_comparable(value).truth is None for value in wish.values):
        return f"{field.name} is a yes/no column; the wish {wish.words!r} must be = yes or = no."
    return ""


def find_figure_fault(wish: StatedWish, value: str, field: Field, *, is_final: bool) -> str:
    if field.type not in ("number", "money", "date"):
        return f"{wish.words!r} compares figures, and {field.name} is a {field.type} column."
    read = parse_comparable(value, "date" if field.type == "date" else "")
    if read.number is None and read.si is None and not read.date:
        return f"{value!r} in the wish {wish.words!r} is neither a number nor a date."
    if field.type == "money" and not read.currency and is_final:
        return f"{value!r} in the wish {wish.words!r} needs a currency, such as {value.strip()} GBP."
    if field.type == "number" and field.unit and read.currency:
        return f"{value!r} in the wish {wish.words!r} is money, and {field.name} is in {field.unit}."
    return ""
