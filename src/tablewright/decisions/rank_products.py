"""Rank products: what the requirements rule out, with the reason, and a score of which every part is visible.

Everything is read from cells. What a cell does not say neither excludes a product nor earns it anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import quantiles
from typing import Literal, TypeAlias

from tablewright.decisions.grounds import converted
from tablewright.decisions.reader.answers import roots
from tablewright.decisions.replies import (
    SHORT_VALUE,
    Direction,
    Sense,
    amount,
    direction_in,
    field_told,
    known,
    listed,
    money_told,
    name_of,
    senses,
    told,
)
from tablewright.decisions.shopping.known import field_named, fields_behind, fields_for
from tablewright.table.choices import read_boolean
from tablewright.table.currencies import currency_of
from tablewright.table.measures import Measure, read_measures
from tablewright.table.model import Cell, Field, Money, Noun, Row, Table
from tablewright.table.shortlist import Excluded, Part, PriceRange, Ranked, Ranking, Requirements
from tablewright.table.text import show

PRIORITY_WEIGHTS = (3.0, 2.0, 1.5, 1.0)
NICE_WEIGHT = 1.0
PRICE_WEIGHT = 0.5
"""Cheaper is better, but little, unless it is a priority."""
OTHER_WEIGHT = 0.5
"""Of a field that nobody spoke of, where nothing else would order the products."""
LIKE_WEIGHT = 2.0
DOUBTED = 0.6
"""What a value counts that was flagged, that sources disagree about, or that is hardly believed."""
MANY = 0.5

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


_NEGATIVE = re.compile(
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
_MADE_OF = frozenset(roots("material body housing construction"))
_MAKERS = frozenset(roots("maker brand manufacturer make company producer"))


def wish(phrase: str, table: Table, product_type: str = "", *, negative: bool = False) -> Wish:
    """The requirement as a condition on one of the columns. With `negative` it says what is not wanted."""
    bound = _bound(phrase, table, product_type)
    if bound is not None:
        return bound
    opened = _NEGATIVE.match(phrase)
    denied = negative or opened is not None
    wanted = phrase[opened.end() :] if opened else phrase
    telling = frozenset(roots(wanted, telling=True)) or frozenset(roots(wanted))
    if stated := _boolean(telling, table):
        return Wish(words=phrase, field=stated, negative=denied, shown_by=_shown_by(stated, table, product_type))
    if option := _option(telling, table):
        return Wish(words=phrase, field=option[0], option=option[1], negative=denied)
    if pointed := _pointed(list(senses(wanted)), telling, table):
        field, direction = pointed
        turned: Direction = "less" if direction == "more" else "more"
        return Wish(words=phrase, field=field, direction=turned if denied else direction, negative=denied)
    named = _named(wanted, telling, table, product_type)
    if named is None or _has_amounts(named, table):
        direction_of = better(named, product_type) if named else None
        return Wish(words=phrase, field=named, direction=direction_of, negative=denied)
    rest = telling - _roots(named.name) - _GENERAL
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
    elif _NEGATIVE.match(phrase):
        least, most = most, least
    if measure.high is not None:
        least = most = True
    elif not (least or most):
        way = better(field, product_type)
        least, most = way != "less", way != "more"
    low, high = values[0] if least else None, values[-1] if most else None
    strict = bool(_STRICT.search(before)) and measure.high is None and not _NEGATIVE.match(phrase)
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
    named = [field for field in fields if _roots(field.name) & said]
    pointed = [field for field in fields if any(each.fields and direction_in(field, each) for each in senses(phrase))]
    if not measure.unit and not named and 1900 <= measure.value <= 2100:
        named = [field for field in fields if field.type == "date" or _roots(field.name) & _roots("year")]
    if named or pointed or (measure.unit and len(fields) == 1):
        return (named or pointed or fields)[0], ""
    return None, ""


def _boolean(telling: frozenset[str], table: Table) -> Field | None:
    """The yes-or-no column that is meant: its name says it all, or its question does."""
    fields = [field for field in table.fields if field.type == "boolean"]
    whole = [field for field in fields if _roots(field.name) <= telling or telling <= _roots(field.name)]
    asked = [field for field in fields if telling <= _roots(f"{field.name} {field.question} {field.description}")]
    return next(iter((*whole, *asked)), None)


def _option(telling: frozenset[str], table: Table) -> tuple[Field, frozenset[str]] | None:
    """The text column whose values or options hold the words ("stainless steel" in Material), and those words."""
    best: tuple[int, int, int] | None = None
    chosen: tuple[Field, frozenset[str]] | None = None
    for place, field in enumerate(table.fields):
        if field.type not in ("text", "select", "list") or field.name == table.key_field:
            continue
        wanted = telling - _roots(field.name) - _GENERAL
        values = [_roots(text) for text in (*field.options, *_texts(field, table))]
        held = sum(1 for value in values if wanted <= value) if wanted else 0
        if not held and wanted:  # "diesel engine", where the value is "diesel"
            within = [value for value in values if value and value < wanted]
            wanted = max(within, key=len, default=frozenset[str]())
            held = len(within)
        rank = (int(bool(_roots(field.name) & _MADE_OF)), held, -place)
        if held and (best is None or rank > best):
            best, chosen = rank, (field, wanted)
    return chosen


def _texts(field: Field, table: Table) -> list[str]:
    texts = (show(row.cell(field.name).value) for row in table.rows if known(row.cell(field.name)))
    return [text for text in texts if len(text.split()) <= 2 * SHORT_VALUE]


def _pointed(found: list[Sense], telling: frozenset[str], table: Table) -> tuple[Field, Direction] | None:
    for sense in found:
        said = [field for field in table.fields if _roots(field.name) & telling]
        for field in said or (table.fields if sense.fields else ()):
            direction = direction_in(field, sense) if not said or not sense.fields else sense.direction
            direction = direction_in(field, sense) or direction
            if direction and field.type in ("number", "money", "date", "text") and _has_amounts(field, table):
                return field, direction
    return None


def _has_amounts(field: Field, table: Table) -> bool:
    return any(amount(row.cell(field.name), field) is not None for row in table.rows)


def _named(words: str, telling: frozenset[str], table: Table, product_type: str) -> Field | None:
    """The column that the words name, by the most of them, or that people mean by them ("speed" is Power)."""
    fields = [field for field in table.fields if field.name != table.key_field and field.type != "url"]
    shared = [
        (len(_alike(_roots(field.name), telling)), _has_amounts(field, table), -place)
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


def _roots(text: str) -> frozenset[str]:
    return frozenset(roots(text.replace("_", " "), telling=True))


_MORE = _roots(
    "capacity volume warranty guarantee power wattage rating brightness lumen battery range year speed output"
)
_LESS = _roots("price cost rrp weight mass noise sound mileage consumption energy usage emission time loudness")


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
    words = _roots(field.name)
    if words & _roots("battery life"):
        return "more"
    return "less" if words & _LESS else "more" if words & _MORE else None


def price_field(table: Table) -> Field | None:
    money = [field for field in table.fields if field.type == "money"]
    named = [field for field in money if _roots(field.name) & _roots("price cost rrp")]
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
    value = _roots(text)
    if _FIXED.search(text) or read_boolean(text)[0] is False:
        return "no"
    if wish.option <= value or (value and value <= wish.option):
        return "yes"
    if wish.option & _VARIES:
        return "yes" if _SETTINGS.search(text) else "undecided"
    whole = field.type == "select" or (len(text.split()) <= SHORT_VALUE and field.type != "list")
    return "no" if whole or _roots(field.name) & _MADE_OF else "undecided"


def _contains(text: str, words: frozenset[str]) -> bool:
    """ "Plastic-free" holds no plastic."""
    bare = re.sub(r"\b[\w-]+?[- ]free\b|\b(?:no|non|without|free of)[- ]\w+|\bnot \w+", " ", text, flags=re.IGNORECASE)
    return bool(words) and words <= _roots(bare)


# ── what is ruled out ────────────────────────────────────────────────────────────────────────────────────────────────


class _Sifted:
    """The rows that are left, those that are not with their reasons, and what could not be decided of the others."""

    def __init__(self, table: Table, requirements: Requirements) -> None:
        self.table = table
        self.left: list[Row] = []
        self.out: list[Excluded] = []
        self.undecided: dict[int, list[str]] = {}
        self.notes: list[str] = []
        hard, kind = (*requirements.must_haves, *requirements.specifications), requirements.product_type
        self.wishes = [wish(phrase, table, kind) for phrase in hard]
        self.avoided = [wish(phrase, table, kind, negative=True) for phrase in requirements.constraints]
        foreign: Counter[str] = Counter()
        for row in table.rows:
            reason = self._over(row, requirements.budget, foreign) or self._lacking(row) or self._avoided(row)
            if reason is None:
                self.left.append(row)
            else:
                self.out.append(Excluded(row_id=row.id, name=name_of(row, table), reason=reason[0], field=reason[1]))
        if foreign and requirements.budget:
            self.notes.append(f"Prices in {listed(sorted(foreign))} could not be compared with the budget.")
        silent = [each.words for each in (*self.wishes, *self.avoided) if not self._can_decide(each)]
        if silent:
            quoted = listed(f"“{words}”" for words in silent)
            self.notes.append(f"No column of the comparison decides {quoted}, so nothing was left out for it.")

    def _can_decide(self, each: Wish) -> bool:
        return each.decides or (each.negative and (each.direction is not None or self._is_name(each)))

    def _over(self, row: Row, budget: PriceRange | None, foreign: Counter[str]) -> tuple[str, str] | None:
        field = price_field(self.table)
        if budget is None or field is None or (budget.most is None and budget.least is None):
            return None
        cell = row.cell(field.name)
        price = priced(cell, field)
        if price is None:
            self.undecided.setdefault(row.id, []).append(field.name)
            return None
        if budget.currency and price.currency != budget.currency:
            foreign[price.currency or "an unknown currency"] += 1
            return None
        if cell.status == "FLAGGED":
            return None
        for limit, beyond, word in ((budget.most, 1, "over"), (budget.least, -1, "under")):
            prices = [price.amount, *(each.value.amount for each in cell.conflict if isinstance(each.value, Money))]
            if limit is not None and all(beyond * (each - limit) > 0 for each in prices):
                stated = money_told(Money(amount=limit, currency=budget.currency or price.currency))
                return f"{field.name} {money_told(price)} is {word} your budget of {stated}", field.name
        return None

    def _lacking(self, row: Row) -> tuple[str, str] | None:
        for each in self.wishes:
            answer = holds(each, row)
            if answer == "no" and each.field is not None:
                field = deciding(each, row)
                shown = told(row.cell(field.name), field)
                return f"{field.name} is {shown}; you asked for “{each.words}”", field.name
            if answer == "undecided" and each.field is not None and each.decides:
                self.undecided.setdefault(row.id, []).append(each.field.name)
        return None

    def _avoided(self, row: Row) -> tuple[str, str] | None:
        for each in self.avoided:
            if each.field is not None and holds(each, row) == "no":
                field = deciding(each, row)
                shown = told(row.cell(field.name), field)
                return f"{field.name} is {shown}; you said “{each.words}”", field.name
            if maker := self._made_by(row, each):
                said = told(row.cell(maker), self.table.field(maker) or Field(name=maker))
                return f"{maker} is {said}; you said “{each.words}”", maker
        return None

    def _made_by(self, row: Row, each: Wish) -> str:
        """The column that names whom the person does not want: the maker's or the product's own."""
        opened = _NEGATIVE.match(each.words)
        unwanted = _roots(each.words[opened.end() :] if opened else each.words) - _MAKERS
        columns = [field.name for field in self.table.fields if _roots(field.name) & _MAKERS] + [self.table.key_field]
        return next(
            (name for name in columns if unwanted and unwanted <= _roots(show(row.cell(name).value))),
            "",
        )

    def _is_name(self, each: Wish) -> bool:
        return any(self._made_by(row, each) for row in self.table.rows)


def priced(cell: Cell, field: Field) -> Money | None:
    """The price of a cell, in the column's currency where it names none."""
    if not known(cell) or not isinstance(cell.value, Money):
        return None
    return Money(amount=cell.value.amount, currency=cell.value.currency or currency_of(field.unit))


def rank(table: Table, requirements: Requirements, like: str = "") -> Ranking:
    """The products that are left, the highest score first; those that surely have every must-have before those of which
    it is not known."""
    sifted = _Sifted(table, requirements)
    scoring = _Scoring(table, sifted, requirements, like)
    ranked = [scoring.of(row) for row in sifted.left]
    ranked.sort(key=lambda each: (scoring.lacks(each), -each.score, each.name.casefold(), each.row_id))
    return Ranking(
        ranked=tuple(ranked), excluded=tuple(sifted.out), notes=(*sifted.notes, *scoring.notes, *scoring.empty())
    )


# ── the score ────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Counting(Noun, frozen=True):
    """What one requirement makes of a field: its weight, which way is better, or what is wanted of it."""

    field: Field
    weight: float
    direction: Direction | None = None
    wish: Wish | None = None
    stands_for: str = ""


_STURDY = re.compile(r"\b(?:build|quality|durab\w*|sturd\w*|robust\w*|solid\w*|well[- ]made|long[- ]lasting)\b", re.I)
_QUALITY = {
    "stainless": 1.0, "titanium": 1.0, "steel": 0.9, "iron": 0.9, "copper": 0.9, "brass": 0.9, "carbon": 0.9,
    "alumin": 0.8, "glass": 0.7, "ceramic": 0.7, "wood": 0.7, "leather": 0.7, "bamboo": 0.6, "plastic": 0.3,
    "polymer": 0.3, "abs": 0.3, "polypropylene": 0.3,
}  # fmt: skip


class _Scoring:
    def __init__(self, table: Table, sifted: _Sifted, requirements: Requirements, like: str) -> None:
        self.table, self.rows, self.sifted = table, sifted.left, sifted
        self.notes: list[str] = []
        self.kind = requirements.product_type
        self.currency = (requirements.budget.currency if requirements.budget else "") or self._usual_currency()
        self.counting = self._read(requirements)
        self.like = _liked(table, like)
        if like and self.like is None:
            self.notes.append(f"“{like}” is not in the comparison, so likeness to it could not count.")
        self.total = sum(each.weight for each in self.counting) + (LIKE_WEIGHT if self.like else 0.0)

    def _usual_currency(self) -> str:
        field = price_field(self.table)
        prices = [priced(row.cell(field.name), field) for row in self.rows] if field else []
        return next(iter(Counter(each.currency for each in prices if each).most_common(1)), ("", 0))[0]

    def _read(self, requirements: Requirements) -> list[_Counting]:
        found: list[_Counting] = []
        silent: list[str] = []
        last = len(PRIORITY_WEIGHTS) - 1
        phrases = [(phrase, PRIORITY_WEIGHTS[min(place, last)]) for place, phrase in enumerate(requirements.priorities)]
        phrases += [(phrase, NICE_WEIGHT) for phrase in requirements.nice_to_haves]
        for phrase, weight in phrases:
            counting = self._counting(phrase, weight)
            found += counting
            silent += [] if counting else [phrase]
        for avoided in self.sifted.avoided:
            if avoided.field is not None and avoided.direction and not avoided.decides:
                found.append(_Counting(field=avoided.field, weight=NICE_WEIGHT, direction=avoided.direction))
        if silent:
            self.notes.append(f"No column of the comparison says anything of {listed(f'“{each}”' for each in silent)}.")
        price = price_field(self.table)
        if price is not None and all(each.field != price for each in found):
            found.append(_Counting(field=price, weight=PRICE_WEIGHT, direction="less"))
        if not phrases:
            others = [field for field in self.table.fields if field != price and better(field, self.kind)]
            others = [field for field in others if _has_amounts(field, self.table)]
            found += [
                _Counting(field=field, weight=OTHER_WEIGHT, direction=better(field, self.kind)) for field in others
            ]
        return found

    def _counting(self, phrase: str, weight: float) -> list[_Counting]:
        """A quality that is no column counts through those that stand for it: build quality through the material."""
        first = phrase if re.search(r"\d", phrase) else re.split(r" (?:over|before|rather than) ", phrase)[0]
        read = wish(first, self.table, self.kind)
        if read.field is not None and (read.decides or read.direction):
            kept = read if read.decides else None
            return [_Counting(field=read.field, weight=weight, direction=read.direction, wish=kept)]
        if read.field is not None and _has_amounts(read.field, self.table):
            self.notes.append(f"More {field_told(read.field)} is taken to be better.")
            return [_Counting(field=read.field, weight=weight, direction="more")]
        names = {each.name for each in fields_behind(first, self.kind)}
        fields = [field for field in self.table.fields if field.name in names]
        if not fields and _STURDY.search(first):
            fields = [field for field in self.table.fields if _roots(field.name) & (_MADE_OF | _roots("warranty"))]
        if fields:
            stand = listed(field.name for field in fields)
            self.notes.append(f"“{first}” is no column: {stand} {'stands' if len(fields) == 1 else 'stand'} for it.")
        return [
            _Counting(field=field, weight=weight / len(fields), direction=better(field, self.kind), stands_for=first)
            for field in fields
        ]

    def of(self, row: Row) -> Ranked:
        merged: dict[str, list[tuple[float, float, str]]] = {}
        unknown = dict.fromkeys(self.sifted.undecided.get(row.id, ()))
        for each in self.counting:
            scored = self._scored(each, row)
            if scored is None:
                unknown[each.field.name] = None
            score, why = scored or (0.0, f"{each.field.name} not known")
            merged.setdefault(each.field.name, []).append((each.weight, score, why))
        if self.like is not None:
            score, why = likeness(row, self.like, self.table)
            merged.setdefault(self.table.key_field, []).append((LIKE_WEIGHT, score, why))
        parts = [self._part(field, scores) for field, scores in merged.items()]
        total = sum(part.weight * part.score for part in parts)
        return Ranked(
            row_id=row.id,
            name=name_of(row, self.table),
            score=round(min(1.0, total), 4),
            parts=tuple(parts),
            unknown=tuple(unknown),
        )

    def _part(self, field: str, scores: Sequence[tuple[float, float, str]]) -> Part:
        weight = sum(each for each, _, _ in scores)
        score = sum(each * value for each, value, _ in scores) / weight
        why = "; ".join(dict.fromkeys(words for _, _, words in scores))
        return Part(field=field, weight=round(weight / self.total, 4), score=round(score, 4), why=why)

    def _scored(self, each: _Counting, row: Row) -> tuple[float, str] | None:
        """What the cell earns, 0 to 1, and why; None where it does not say."""
        field = deciding(each.wish, row) if each.wish else each.field
        cell = row.cell(field.name)
        if not known(cell):
            return None
        shown = f"{field.name} {told(cell, field)}"
        doubt = doubt_of(cell)
        if each.wish is not None:
            answer = holds(each.wish, row)
            wished = {"yes": "as you wished", "no": "not as you wished"}
            score, words = float(answer == "yes"), wished.get(answer, f"which does not say “{each.wish.words}”")
        else:
            score, words = self._scaled(each, row) or (0.0, "which could not be compared")
        words += f" (counted for {each.stands_for})" if each.stands_for else ""
        return (score * (DOUBTED if doubt else 1.0), f"{shown}, {words}" + (f"; counts less: {doubt}" if doubt else ""))

    def _scaled(self, each: _Counting, row: Row) -> tuple[float, str] | None:
        own = self._size(each.field, row)
        if own is None or each.direction is None:
            return self._material(each, row)
        sizes = sorted(size for other in self.rows if (size := self._size(each.field, other)) is not None)
        low, high = spread(sizes)
        share = 1.0 if high == low else min(1.0, max(0.0, (own - low) / (high - low)))
        score = 1.0 if high == low else share if each.direction == "more" else 1 - share
        ahead = sum(1 for size in sizes if (size > own if each.direction == "more" else size < own))
        return score, place_told(each.field, each.direction, ahead, sizes, own)

    def _size(self, field: Field, row: Row) -> float | None:
        cell = row.cell(field.name)
        if isinstance(cell.value, Money):
            price = priced(cell, field)
            return float(price.amount) if price and price.currency == self.currency else None
        return amount(cell, field)

    def _material(self, each: _Counting, row: Row) -> tuple[float, str] | None:
        text = show(row.cell(each.field.name).value).casefold()
        found = [
            worth for name, worth in _QUALITY.items() if name in text and not (name == "steel" and "stainless" in text)
        ]
        return (sum(found) / len(found), "by what it is made of") if found and each.stands_for else None

    def lacks(self, each: Ranked) -> int:
        """How many must-haves it is not known to have."""
        price = price_field(self.table)
        names = set(self.sifted.undecided.get(each.row_id, ())) - ({price.name} if price else set())
        return len(names)

    def empty(self) -> list[str]:
        """The columns that count and are not known of many."""
        found = []
        for name in dict.fromkeys(each.field.name for each in self.counting):
            missing = sum(1 for row in self.rows if not known(row.cell(name)))
            if self.rows and missing > MANY * len(self.rows):
                found.append(f"{name} is not known for {missing} of {len(self.rows)} products.")
        return found


def doubt_of(cell: Cell) -> str:
    """Why a value is not wholly to be relied upon, in words; "" where nothing speaks against it."""
    if cell.status == "FLAGGED":
        return "flagged as wrong"
    if cell.conflict:
        return "sources disagree"
    return "low confidence" if cell.confidence is not None and cell.confidence < 0.5 else ""


def spread(sizes: Sequence[float]) -> tuple[float, float]:
    """The ends of the scale: the least and the most, but no further than one and a half times the middle half beyond
    it, so that one odd value does not make all others alike."""
    if len(sizes) < 5:
        return (min(sizes), max(sizes)) if sizes else (0.0, 0.0)
    first, _, third = quantiles(sizes, n=4, method="inclusive")
    reach = 1.5 * (third - first)
    if not reach:
        return min(sizes), max(sizes)
    return max(min(sizes), first - reach), min(max(sizes), third + reach)


_ENDS: tuple[tuple[str, str, str], ...] = (
    ("price cost rrp", "highest", "lowest"),
    ("weight mass", "heaviest", "lightest"),
    ("noise sound", "loudest", "quietest"),
    ("warranty guarantee time battery life length cable reach", "longest", "shortest"),
    ("capacity volume size boot storage memory space", "largest", "smallest"),
    ("year release registered", "newest", "oldest"),
)


SAID_OF_PRODUCT = frozenset({"heaviest", "lightest", "loudest", "quietest", "newest", "oldest"})
"""A product is the lightest, but has the longest warranty."""


def end_told(field: Field, direction: Direction) -> str:
    """The word for the most or the least of a column: "longest" for Warranty, "lightest" for Weight."""
    words = _roots(field.name)
    most, least = next(((most, least) for names, most, least in _ENDS if words & _roots(names)), ("highest", "lowest"))
    return most if direction == "more" else least


def place_told(field: Field, direction: Direction, ahead: int, sizes: Sequence[float], own: float) -> str:
    if len(sizes) == 1:
        return "the only one known"
    if sizes[0] == sizes[-1]:
        return f"the same for all {len(sizes)}"
    if not ahead:
        return f"the {end_told(field, direction)} of {len(sizes)}"
    if own == (sizes[0] if direction == "more" else sizes[-1]):
        return f"the {end_told(field, 'less' if direction == 'more' else 'more')} of {len(sizes)}"
    return f"place {ahead + 1} of {len(sizes)}"


# ── likeness to another product ──────────────────────────────────────────────────────────────────────────────────────


def _liked(table: Table, like: str) -> Row | None:
    return find_row(table, like) if like else None


def find_row(table: Table, name: str) -> Row | None:
    """The product of that name, or the only one whose name holds all its words ("the Degree 15")."""
    wanted = frozenset(roots(name, telling=True))
    names = [(row, frozenset(roots(name_of(row, table), telling=True))) for row in table.rows]
    exact = [row for row, own in names if wanted and own == wanted]
    within = [row for row, own in names if wanted and wanted <= own]
    return exact[0] if exact else within[0] if len(within) == 1 else None


def likeness(row: Row, other: Row, table: Table) -> tuple[float, str]:
    """How much the cells of two products are alike, over the columns that are known of both."""
    scores: list[float] = []
    same: list[str] = []
    for field in table.fields:
        one, two = row.cell(field.name), other.cell(field.name)
        if field.name == table.key_field or field.type == "url" or not (known(one) and known(two)):
            continue
        score = _cell_likeness(one, two, field, table.rows)
        scores.append(score)
        same += [field_told(field)] if score == 1.0 else []
    told_same = f"the same {listed(same[:4])}" if same else "no column is the same"
    return (sum(scores) / len(scores) if scores else 0.0), f"like {name_of(other, table)}: {told_same}"


def _cell_likeness(one: Cell, two: Cell, field: Field, rows: Iterable[Row]) -> float:
    first, second = amount(one, field), amount(two, field)
    if first is not None and second is not None:
        sizes = [size for row in rows if (size := amount(row.cell(field.name), field)) is not None]
        low, high = spread(sorted(sizes))
        return 1.0 if first == second else max(0.0, 1 - abs(first - second) / (high - low)) if high > low else 0.0
    if isinstance(one.value, bool) or isinstance(two.value, bool):
        return float(one.value is two.value)
    left, right = _roots(show(one.value)), _roots(show(two.value))
    return len(left & right) / len(left | right) if left | right else 0.0
