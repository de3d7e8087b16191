"""Parse the form and the commands of the advisor without a model. Nothing is guessed: plain words are search words and
are not checked.

/form product: electric kettle | budget: 50 GBP | must: Capacity >= 1 l; stainless steel | avoid: plastic | region: UK
"""

from __future__ import annotations

import re
from typing import get_args

from tablewright.domain.condition import parse_conditions
from tablewright.domain.model import Field, Struct, column_key
from tablewright.domain.shortlist import (
    PRICE_COLUMN,
    PRICE_FIELD,
    PRODUCT_COLUMN,
    Requirements,
    Wish,
    WishKind,
    WishOperator,
)
from tablewright.errors import UsageError
from tablewright.values.comparable_value import infer_field_type, parse_comparable

SHORTLIST_COMMANDS: dict[str, str] = {
    "form": "product: … | budget: 50 GBP | must: Capacity >= 1 l; … | nice: … | avoid: … | region: …",
    "must": "WISH: add a wish, such as Capacity >= 1 l",
    "nice": "WISH: add one that counts and does not exclude",
    "avoid": "WISH: add what you do not want",
    "drop": "N: take wish N out",
    "hard": "N: let wish N exclude",
    "soft": "N: let wish N only count",
    "add": "COLUMN, such as Weight:number(kg)",
    "hide": "COLUMN: do not show it any more",
    "more": "[COUNT]: find further products",
    "remove": "N: take product N out",
    "links": "N: where to buy product N",
    "source": "N COLUMN: where the value comes from",
    "wrong": "N COLUMN: look the value up again",
    "sort": "COLUMN [down]: all products in that order",
    "all": "all products",
    "export": "[FILE]",
    "done": "end",
    "restart": "start again",
    "help": "these commands",
}
FORM_LINES: tuple[str, ...] = ("product", "budget", "must", "nice", "avoid", "region")
_OPERATORS: dict[str, WishOperator] = {each: each for each in get_args(WishOperator)}
# What is avoided must not hold.
_OPPOSITES: dict[WishOperator, WishOperator] = {
    "=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "contains": "not contains",
    "not contains": "contains",
}  # fmt: skip


class ShortlistCommand(Struct, frozen=True):
    verb: str
    rest: str = ""


def parse_command(message: str) -> ShortlistCommand | None:
    """Return the command, or None for another message; raise UsageError for an unknown command."""
    if not message.startswith("/"):
        return None
    verb, _, rest = message[1:].partition(" ")
    first, newline, lines = verb.partition("\n")
    verb, rest = first.strip().lower(), f"{lines} {rest}".strip() if newline else rest.strip()
    if verb not in SHORTLIST_COMMANDS:
        raise UsageError(f"There is no command /{verb}.", advice="/help lists the commands.")
    return ShortlistCommand(verb=verb, rest=rest)


def format_form_message(values: dict[str, str]) -> str:
    """Return a completed form as a message."""
    given = ((name, " ".join(values.get(name, "").replace("|", " ").split())) for name in FORM_LINES)
    return "/form " + " | ".join(f"{name}: {value}" for name, value in given if value)


def parse_form(text: str) -> tuple[Requirements, tuple[Field, ...]]:
    """Return the requirements, and the columns that they need."""
    values: dict[str, str] = {}
    for part in re.split(r"[|\n]", text):
        name, colon, value = part.partition(":")
        if not part.strip():
            continue
        if not colon or name.strip().lower() not in FORM_LINES:
            raise UsageError(
                f"“{part.strip()}” is not a line of the form.", advice=f"/form {SHORTLIST_COMMANDS['form']}"
            )
        values[name.strip().lower()] = value.strip()
    if not values.get("product"):
        raise UsageError("The form names no product.", advice=f"/form {SHORTLIST_COMMANDS['form']}")
    wishes: list[Wish] = []
    columns: list[Field] = []
    if budget := values.get("budget"):
        wishes.append(parse_budget_wish(budget))
    kinds: tuple[WishKind, ...] = ("must", "nice", "avoid")
    for kind in kinds:
        for item in values.get(kind, "").split(";"):
            if item.strip():
                wish, field = parse_wish(item.strip(), kind)
                wishes.append(wish)
                columns += [field] if field else []
    found = {column_key(field.name): field for field in reversed(columns)}
    requirements = Requirements(product_type=values["product"], region=values.get("region", ""), wishes=tuple(wishes))
    return requirements, tuple(found.values())[::-1]


def parse_budget_wish(text: str) -> Wish:
    read = parse_comparable(text)
    if read.number is None or not read.currency:
        raise UsageError(f"“{text}” is not an amount with a currency.", advice="Write it like 50 GBP or £50.")
    if read.high is not None:
        values = (f"{read.number:g} {read.currency}", f"{read.high:g} {read.currency}")
        return Wish(words=text, kind="budget", column=PRICE_COLUMN, operator="between", values=values)
    return Wish(
        words=text, kind="budget", column=PRICE_COLUMN, operator="<=", values=(f"{read.number:g} {read.currency}",)
    )


def parse_wish(text: str, kind: WishKind) -> tuple[Wish, Field | None]:
    """Return a wish with a condition if it is written as one, and its column; else a wish of search words."""
    hard = kind != "nice"
    if not re.search(r"[<>=]|\b(?:contains|between)\b", text, re.IGNORECASE):
        return Wish(words=text, kind=kind, hard=hard), None
    conditions = parse_conditions(text)
    if len(conditions) != 1 or conditions[0].operator not in _OPERATORS:
        raise UsageError(f"“{text}” is not one condition.", advice="Write it like Capacity >= 1 l.")
    (condition,) = conditions
    operator = _OPERATORS[condition.operator]
    if kind == "avoid":
        if operator not in _OPPOSITES:
            raise UsageError(
                f"“{text}” cannot be avoided as one condition.", advice="Write it as a must, the other way."
            )
        operator = _OPPOSITES[operator]
    wish = Wish(words=text, kind=kind, hard=hard, column=condition.column, operator=operator, values=condition.values)
    if column_key(condition.column) == column_key(PRICE_COLUMN):
        return wish, PRICE_FIELD
    return wish, make_wish_field(condition.column, condition.values)


def make_wish_field(name: str, values: tuple[str, ...]) -> Field:
    """Return the column of a condition, with the type of its value."""
    read = parse_comparable(values[0]) if values else parse_comparable("")
    type = infer_field_type(read)
    question = (
        f"Does {{{PRODUCT_COLUMN}}} have {name.lower()}?"
        if type == "boolean"
        else f"What is the {name.lower()} of {{{PRODUCT_COLUMN}}}?"
    )
    return Field(name=name, type=type, unit=read.unit if type == "number" else "", question=question, role="user")
