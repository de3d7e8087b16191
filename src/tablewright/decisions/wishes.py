"""Wishes: what a phrase of the requirements wants of which field, and whether a product has it.

A cell that does not say leaves it undecided.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tablewright.decisions.grounds import converted
from tablewright.decisions.replies import (
    SHORT_VALUE,
    Direction,
    Sense,
    amount,
    direction_in,
    known,
    senses,
)
from tablewright.decisions.shopping.known import field_named, fields_behind, fields_for
from tablewright.table.choices import read_boolean
from tablewright.table.currencies import currency_of
from tablewright.table.measures import Measure, read_measures
from tablewright.table.model import Cell, Field, Money, Noun, Row, Table
from tablewright.table.text import show
from tablewright.text.words import roots

Holds: TypeAlias = Literal["yes", "no", "undecided"]


# ── what a phrase wants of which field ───────────────────────────────────────────────────────────────────────────────


class Wish(Noun, frozen=True):
    """One requirement, read against the columns. Without `field` no column says it.

    `low` and `high` are bounds in the field's unit; `option` are the roots of what a text must hold (or must not, with
    `negative`); `direction` is what counts more, where there is no bound.
    """

    words: str
    field: Field | None = None
    low: float | None = None
    high: float | None = None
    strict: bool = False
    """The bound itself is outside: "more than 1.5 l"."""
    currency: str = ""
    option: frozenset[str] = frozenset()
    direction: Direction | None = None
    negative: bool = False
    present: bool = False
    """It is enough that the column says anything but no: "keep warm" where Keep warm is "30 minutes"."""
    shown_by: Field | None = None
    """Another column that shows it where its own is empty: Temperature settings that the temperature is variable."""

    @property
    def is_bound(self) -> bool:
        return self.low is not None or self.high is not None

    @property
    def decides(self) -> bool:
        """Whether a cell can say yes or no to it."""
        return self.field is not None and (
            self.is_bound or bool(self.option) or self.present or self.field.type == "boolean"
        )


NEGATIVE = re.compile(
    r"^\s*(?:(?:absolutely |definitely )?(?:no|not|nothing|none|without|avoid(?:ing)?|never|exclud(?:e|ing)|"
    r"anything but|don't want|do not want)\b\s*)+(?:too\b\s*)?(?:(?:made |coming |anything )?(?:from|by|of|in)\b\s*)?",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"\b(?:at least|min(?:imum)?(?: of)?|more than|over|above|from|starting at|after|since|≥|"
    r"(?:larg|bigg|long|high|heavi|new|bright|fast)\w*er than)\s*$|"
    r"^\s*(?:or (?:more|larger|bigger|longer|newer|over|above)|and (?:up|over)|\+|minimum|plus)",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"\b(?:at most|max(?:imum)?(?: of)?|less than|under|below|before|up to|within|≤|"
    r"(?:small|light|short|low|quiet|old|cheap)\w*er than)\s*$|"
    r"^\s*(?:or (?:less|lower|under|smaller|lighter|below|quieter)|max(?:imum)?\b)",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?<!no )(?:more than|over|above|after|less than|under|below|before|\w+er than)\s*$", re.IGNORECASE
)
_NOT_MORE = re.compile(r"\bno (?:more|louder|heavier|larger|bigger|longer|wider|taller|higher|newer) than\s*$", re.I)
_NOT_LESS = re.compile(r"\bno (?:less|smaller|shorter|lower|older|lighter|fewer) than\s*$", re.I)
_GENERAL = frozenset(
    roots(
        """function feature features finish body type kind mode made make model option options material setting have has
        with good great nice very really quality prefer preferably preferred ideally must want wants need needs high low
        long short large big small light something anything colour color"""
    )
)
_VARIES = frozenset(roots("variable adjustable multiple several different"))
_SETTINGS = re.compile(r"\b(?:presets?|settings?|steps?|levels?|modes?|temperatures|speeds)\b|\d\D+\d", re.IGNORECASE)
_FIXED = re.compile(r"\b(?:none|fixed|single|n/a|not available|boil only|only boils?)\b", re.IGNORECASE)
MADE_OF = frozenset(roots("material body housing construction"))
MAKERS = frozenset(roots("maker brand manufacturer make company producer"))


def wish(phrase: str, table: Table, product_type: str = "", *, negative: bool = False) -> Wish:
    """The requirement as a condition on one of the columns. With `negative` it says what is not wanted."""
    bound = _bound(phrase, table, product_type)
    if bound is not None:
        return bound
    opened = NEGATIVE.match(phrase)
    denied = negative or opened is not None
    wanted = phrase[opened.end() :] if opened else phrase
    telling = frozenset(roots(wanted, telling=True)) or frozenset(roots(wanted))
    if stated := _boolean(telling, table):
        return Wish(words=phrase, field=stated, negative=denied, shown_by=_shown_by(stated, table, product_type))
    is_column = any(_alike(roots_of(field.name), telling) for field in table.fields)
    if not is_column and fields_behind(wanted, product_type):
        return Wish(words=phrase, negative=denied)  # a quality: other columns stand for it, and no single value says it
    if option := _option(telling, table):
        return Wish(words=phrase, field=option[0], option=option[1], negative=denied)
    if pointed := _pointed(list(senses(wanted)), telling, table):
        field, direction = pointed
        turned: Direction = "less" if direction == "more" else "more"
        return Wish(words=phrase, field=field, direction=turned if denied else direction, negative=denied)
    named = _named(wanted, telling, table, product_type)
    if named is None or has_amounts(named, table):
        direction_of = better(named, product_type) if named else None
        return Wish(words=phrase, field=named, direction=direction_of, negative=denied)
    rest = telling - roots_of(named.name) - _GENERAL
    if rest - _VARIES:
        return Wish(words=phrase, negative=denied)  # no value says it, so none says otherwise
    return Wish(words=phrase, field=named, option=rest, negative=denied, present=not rest)


def _shown_by(field: Field, table: Table, product_type: str) -> Field | None:
    other = next((each.seen_in for each in fields_for(product_type) if each.name == field.name), "")
    return table.field(other) if other else None


def _bound(phrase: str, table: Table, product_type: str) -> Wish | None:
    """ "At least 1.5 litres", "no louder than 60 dB", "year 2010-2020", "under £40"."""
    measures = [each for each in read_measures(phrase) if not each.sizes]
    if not measures:
        return None
    measure = measures[0]
    before, after = phrase[: measure.start].rstrip("£$€ "), phrase[measure.end :]
    field, currency = _measured(phrase, measure, table)
    if field is None:
        return None
    values = [float(measure.value)] + ([] if measure.high is None else [float(measure.high)])
    if measure.unit and field.unit and field.type != "money":
        values = [size for each in values if (size := converted(each, measure.unit, field.unit)) is not None]
    if not values:
        return None
    least, most = bool(_AT_LEAST.search(before) or _AT_LEAST.match(after)), bool(_AT_MOST.search(before))
    most = most or bool(_AT_MOST.match(after))
    if _NOT_MORE.search(before) or _NOT_LESS.search(before):
        least, most = bool(_NOT_LESS.search(before)), bool(_NOT_MORE.search(before))
    elif NEGATIVE.match(phrase):
        least, most = most, least
    if measure.high is not None:
        least = most = True
    elif not (least or most):
        way = better(field, product_type)
        least, most = way != "less", way != "more"
    low, high = values[0] if least else None, values[-1] if most else None
    strict = bool(_STRICT.search(before)) and measure.high is None and not NEGATIVE.match(phrase)
    return Wish(words=phrase, field=field, low=low, high=high, strict=strict, currency=currency)


def _measured(phrase: str, measure: Measure, table: Table) -> tuple[Field | None, str]:
    mark = re.search(r"[£$€]\s*$", phrase[: measure.start])
    currency = currency_of(mark[0]) if mark else ""
    if currency:
        return price_field(table), currency
    fields = [field for field in table.fields if field.type in ("number", "date", "text", "money")]
    fields = [field for field in fields if any(amount(row.cell(field.name), field) is not None for row in table.rows)]
    if measure.unit:
        fields = [field for field in fields if field.unit and converted(1, measure.unit, field.unit) is not None]
    said = frozenset(roots(phrase, telling=True))
    named = [field for field in fields if roots_of(field.name) & said]
    pointed = [field for field in fields if any(each.fields and direction_in(field, each) for each in senses(phrase))]
    if not measure.unit and not named and 1900 <= measure.value <= 2100:
        named = [field for field in fields if field.type == "date" or roots_of(field.name) & roots_of("year")]
    if named or pointed or (measure.unit and len(fields) == 1):
        return (named or pointed or fields)[0], ""
    return None, ""


def _boolean(telling: frozenset[str], table: Table) -> Field | None:
    """The yes-or-no column that is meant: its name says it all, or its question does."""
    fields = [field for field in table.fields if field.type == "boolean"]
    whole = [field for field in fields if roots_of(field.name) <= telling or telling <= roots_of(field.name)]
    if not whole and any(roots_of(field.name) == telling for field in table.fields):
        return None  # "brightness" is Brightness, though whether a lamp is dimmable is asked with that word too
    asked = [field for field in fields if telling <= roots_of(f"{field.name} {field.question} {field.description}")]
    return next(iter((*whole, *asked)), None)


def _option(telling: frozenset[str], table: Table) -> tuple[Field, frozenset[str]] | None:
    """The text column whose values or options hold the words ("stainless steel" in Material), and those words."""
    best: tuple[int, int, int] | None = None
    chosen: tuple[Field, frozenset[str]] | None = None
    for place, field in enumerate(table.fields):
        if field.type not in ("text", "select", "list") or field.name == table.key_field:
            continue
        wanted = telling - roots_of(field.name) - _GENERAL
        values = [roots_of(text) for text in (*field.options, *_texts(field, table))]
        held = sum(1 for value in values if wanted <= value) if wanted else 0
        if not held and wanted:  # "diesel engine", where the value is "diesel"
            within = [value for value in values if value and value < wanted]
            wanted = max(within, key=len, default=frozenset[str]())
            held = len(within)
        rank = (int(bool(roots_of(field.name) & MADE_OF)), held, -place)
        if held and (best is None or rank > best):
            best, chosen = rank, (field, wanted)
    return chosen


def _texts(field: Field, table: Table) -> list[str]:
    texts = (show(row.cell(field.name).value) for row in table.rows if known(row.cell(field.name)))
    return [text for text in texts if len(text.split()) <= 2 * SHORT_VALUE]


def _pointed(found: list[Sense], telling: frozenset[str], table: Table) -> tuple[Field, Direction] | None:
    for sense in found:
        said = [field for field in table.fields if roots_of(field.name) & telling]
        for field in said or (table.fields if sense.fields else ()):
            direction = direction_in(field, sense) if not said or not sense.fields else sense.direction
            direction = direction_in(field, sense) or direction
            if direction and field.type in ("number", "money", "date", "text") and has_amounts(field, table):
                return field, direction
    return None


def has_amounts(field: Field, table: Table) -> bool:
    return any(amount(row.cell(field.name), field) is not None for row in table.rows)


def _named(words: str, telling: frozenset[str], table: Table, product_type: str) -> Field | None:
    """The column that the words name, by the most of them, or that people mean by them ("speed" is Power)."""
    fields = [field for field in table.fields if field.name != table.key_field and field.type != "url"]
    shared = [
        (len(_alike(roots_of(field.name), telling)), has_amounts(field, table), -place)
        for place, field in enumerate(fields)
    ]
    most, _, place = max(shared, default=(0, False, 0))
    if most:
        return fields[-place]
    meant = field_named(words, product_type)
    behind = fields_behind(words, product_type)
    if meant is not None and (found := table.field(meant.name)):
        return found
    return table.field(behind[0].name) if len(behind) == 1 else None


def _alike(one: frozenset[str], other: frozenset[str]) -> list[str]:
    """Words of both, also where one is short for the other: "temp" and "temperature"."""
    return [
        word
        for word in one - _GENERAL
        if word in other
        or any(min(len(word), len(each)) >= 4 and (each.startswith(word) or word.startswith(each)) for each in other)
    ]


def roots_of(text: str) -> frozenset[str]:
    return frozenset(roots(text.replace("_", " "), telling=True))


_MORE = roots_of(
    "capacity volume warranty guarantee power wattage rating brightness lumen battery range year speed output"
)
_LESS = roots_of("price cost rrp weight mass noise sound mileage consumption energy usage emission time loudness")


def better(field: Field, product_type: str = "") -> Direction | None:
    """Which way is better where nobody says: as is known of such products, or by the column's name and unit."""
    for known_field in fields_for(product_type):
        if known_field.name == field.name:
            return known_field.better if known_field.better in ("more", "less") else None
    if field.type == "money":
        return "less"
    if field.unit in ("mpg", "lm", "lm/W"):
        return "more"
    if field.unit in ("dB", "L/100 km", "kWh/year", "g/km"):
        return "less"
    words = roots_of(field.name)
    if words & roots_of("battery life"):
        return "more"
    return "less" if words & _LESS else "more" if words & _MORE else None


def price_field(table: Table) -> Field | None:
    money = [field for field in table.fields if field.type == "money"]
    named = [field for field in money if roots_of(field.name) & roots_of("price cost rrp")]
    return next(iter((*named, *money)), None)


# ── whether a product has it ─────────────────────────────────────────────────────────────────────────────────────────


def holds(wish: Wish, row: Row) -> Holds:
    """What the row's cell says to it. A flagged value, or one that sources contradict, rules nothing out."""
    if not wish.decides or wish.field is None:
        return "undecided"
    cell = row.cell(wish.field.name)
    if not known(cell):
        return _seen(wish, row.cell(wish.shown_by.name)) if wish.shown_by else "undecided"
    said = _holds(wish, cell)
    if said == "no" and (cell.status == "FLAGGED" or any(_holds(wish, other) != "no" for other in _others(cell))):
        return "undecided"
    return said


def deciding(wish: Wish, row: Row) -> Field:
    """The column whose cell answers: the wish's own, or the one that shows it where that is empty."""
    assert wish.field is not None
    own = known(row.cell(wish.field.name)) or wish.shown_by is None or not known(row.cell(wish.shown_by.name))
    return wish.field if own or wish.shown_by is None else wish.shown_by


def _seen(wish: Wish, cell: Cell) -> Holds:
    """What another column shows: several settings are a yes, "fixed" is a no."""
    text = show(cell.value) if known(cell) and cell.status != "FLAGGED" else ""
    has, lacks = bool(_SETTINGS.search(text)), bool(_FIXED.search(text))
    return "undecided" if has == lacks else "yes" if has is not wish.negative else "no"


def _others(cell: Cell) -> list[Cell]:
    return [Cell(value=each.value, status="ENRICHED") for each in cell.conflict]


def _holds(wish: Wish, cell: Cell) -> Holds:
    field = wish.field
    assert field is not None
    if wish.is_bound:
        size = amount(cell, field)
        price = priced(cell, field)
        if size is None or (wish.currency and price and price.currency != wish.currency):
            return "undecided"
        if wish.strict and size in (wish.low, wish.high):
            return "no"
        slack = 0.02 * size if wish.low == wish.high else 0.0
        fits = (wish.low is None or size >= wish.low - slack) and (wish.high is None or size <= wish.high + slack)
        return "yes" if fits else "no"
    if isinstance(cell.value, bool):
        return "yes" if cell.value is not wish.negative else "no"
    text = show(cell.value)
    if wish.present:
        lacks = bool(_FIXED.search(text)) or read_boolean(text)[0] is False
        return "yes" if lacks is wish.negative else "no"
    if wish.negative:
        return "no" if _contains(text, wish.option) else "yes"
    value = roots_of(text)
    if _FIXED.search(text) or read_boolean(text)[0] is False:
        return "no"
    if wish.option <= value or (value and value <= wish.option):
        return "yes"
    if wish.option & _VARIES:
        return "yes" if _SETTINGS.search(text) else "undecided"
    whole = field.type == "select" or (len(text.split()) <= SHORT_VALUE and field.type != "list")
    return "no" if whole or roots_of(field.name) & MADE_OF else "undecided"


def _contains(text: str, words: frozenset[str]) -> bool:
    """ "Plastic-free" holds no plastic."""
    bare = re.sub(r"\b[\w-]+?[- ]free\b|\b(?:no|non|without|free of)[- ]\w+|\bnot \w+", " ", text, flags=re.IGNORECASE)
    return bool(words) and words <= roots_of(bare)


def priced(cell: Cell, field: Field) -> Money | None:
    """The price of a cell, in the column's currency where it names none."""
    if not known(cell) or not isinstance(cell.value, Money):
        return None
    return Money(amount=cell.value.amount, currency=cell.value.currency or currency_of(field.unit))
