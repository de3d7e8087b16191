"""Rank products: what the requirements rule out, with the reason, and a score of which every part is visible.

Everything is read from cells. What a cell does not say neither excludes a product nor earns it anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import quantiles

from tablewright.decisions.replies import (
    Direction,
    amount,
    field_told,
    known,
    listed,
    money_told,
    name_of,
    told,
)
from tablewright.decisions.shopping.known import fields_behind
from tablewright.decisions.wishes import (
    MADE_OF,
    MAKERS,
    NEGATIVE,
    Wish,
    better,
    deciding,
    has_amounts,
    holds,
    price_field,
    priced,
    roots_of,
    wish,
)
from tablewright.table.model import Cell, Field, Money, Noun, Row, RowId, Table
from tablewright.table.shortlist import TOP, Excluded, Part, PriceRange, Ranked, Ranking, Requirements
from tablewright.table.text import show
from tablewright.text.words import roots

PRIORITY_WEIGHTS = (3.0, 2.0, 1.5, 1.0)
NICE_WEIGHT = 1.0
PRICE_WEIGHT = 0.5
"""Cheaper is better, but little, unless it is a priority."""
OTHER_WEIGHT = 0.5
"""Of a field that nobody spoke of, where nothing else would order the products."""
LIKE_WEIGHT = 2.0
DOUBTED = 0.6
"""What a value counts that was flagged, that sources disagree about, or that is hardly believed."""
BEHIND = (
    "What is known to meet the requirements comes first; what may not meet them all comes after it, whatever its score."
)
MANY = 0.5


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
        self.uncompared: set[RowId] = set()
        """Products whose price is not known to be within the budget."""
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
            self.uncompared.add(row.id)
            return None
        if budget.currency and price.currency != budget.currency:
            foreign[price.currency or "an unknown currency"] += 1
            self.uncompared.add(row.id)
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
        opened = NEGATIVE.match(each.words)
        unwanted = roots_of(each.words[opened.end() :] if opened else each.words) - MAKERS
        columns = [field.name for field in self.table.fields if roots_of(field.name) & MAKERS] + [self.table.key_field]
        return next(
            (name for name in columns if unwanted and unwanted <= roots_of(show(row.cell(name).value))),
            "",
        )

    def _is_name(self, each: Wish) -> bool:
        return any(self._made_by(row, each) for row in self.table.rows)


def rank(table: Table, requirements: Requirements, like: str = "") -> Ranking:
    """The products that are left, the highest score first; those that surely have every must-have, and a price within
    the budget, before those of which it is not known."""
    sifted = _Sifted(table, requirements)
    scoring = _Scoring(table, sifted, requirements, like)
    ranked = [scoring.of(row) for row in sifted.left]
    ranked.sort(
        key=lambda each: (
            scoring.lacks(each),
            each.row_id in sifted.uncompared,
            -each.score,
            each.name.casefold(),
            each.row_id,
        )
    )
    notes = [*sifted.notes, *scoring.notes, *scoring.empty()]
    if any(after.score > before.score for before, after in pairwise(ranked[:TOP])):
        notes.insert(0, BEHIND)
    return Ranking(ranked=tuple(ranked), excluded=tuple(sifted.out), notes=tuple(notes))


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
            others = [field for field in others if has_amounts(field, self.table)]
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
        if read.field is not None and has_amounts(read.field, self.table):
            self.notes.append(f"More {field_told(read.field)} is taken to be better.")
            return [_Counting(field=read.field, weight=weight, direction="more")]
        names = {each.name for each in fields_behind(first, self.kind)}
        fields = [field for field in self.table.fields if field.name in names]
        if not fields and _STURDY.search(first):
            fields = [field for field in self.table.fields if roots_of(field.name) & (MADE_OF | roots_of("warranty"))]
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
        price = price_field(self.table)
        uncompared = (price.name,) if price and row.id in self.sifted.uncompared else ()
        doubts = tuple(dict.fromkeys((*unknown, *uncompared)))
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
            doubts=doubts,
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
    words = roots_of(field.name)
    most, least = next(
        ((most, least) for names, most, least in _ENDS if words & roots_of(names)), ("highest", "lowest")
    )
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
    left, right = roots_of(show(one.value)), roots_of(show(two.value))
    return len(left & right) / len(left | right) if left | right else 0.0
