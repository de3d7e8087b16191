"""Rank products: evaluate every wish on every product, three-valued.

A hard wish that fails excludes the product. The others, and what is unknown, make a score whose parts are shown.
Pure functions of the table and the requirements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import structs

from tablewright.conditions.compare import Verdict, make_unstated, read_comparable_values, read_limit
from tablewright.conditions.evaluate import (
    ComparisonRules,
    evaluate_condition,
    index_fields,
    is_stated_absent,
    make_row_reader,
)
from tablewright.domain.condition import ORDERED_OPERATORS
from tablewright.domain.model import Cell, Field, Money, Row, RowId, Table, Value, column_key
from tablewright.domain.shortlist import (
    OFFERED_AS_COLUMN,
    PRICE_COLUMN,
    PRICE_FIELD,
    PRODUCT_COLUMN,
    ExcludedProduct,
    RankedProduct,
    Ranking,
    Requirements,
    ScorePart,
    Wish,
    localize_column_name,
    localize_offer_state,
)
from tablewright.domain.text import cell_text, format_value, shorten_text
from tablewright.llm.tasks.shortlist.conditions import budget_currency
from tablewright.messages.catalogue import ShortlistText, localize_figure, translate
from tablewright.values.money import ExchangeRates
from tablewright.values.units import format_with_unit

# Score of a wish whose fulfilment is unknown, hard and soft: below 1, so that products with stated values come first.
UNKNOWN, SOFT_UNKNOWN = 0.5, 0.3


def rank_products(
    table: Table,
    requirements: Requirements,
    rates: ExchangeRates,
    language: str = "",
    *,
    preferred: Sequence[RowId] = (),
    is_scored: bool = True,
) -> Ranking:
    """Evaluate every wish on every product. `preferred` breaks ties. Unless `is_scored`, those that meet every must
    come before those of which that is not known, and both keep the order of the table."""
    judged = ProductJudge(table, requirements, rates, language)
    ranked: list[tuple[tuple[float, ...], RankedProduct]] = []
    excluded: list[ExcludedProduct] = []
    preference = {row_id: place for place, row_id in enumerate(preferred)}
    for row in table.rows:
        if out := judged.exclusion(row):
            excluded.append(out)
            continue
        each = judged.ranked(row)
        key = (bool(each.unknown), -each.score, len(each.unknown), judged.currency_order(row))
        ranked.append(((*key, preference.get(row.id, len(preferred))) if is_scored else key[:1], each))
    ranked.sort(key=lambda each: each[0])
    # A product with an unknown hard wish ranks after all that meet every one; its score says so, too.
    least = min((each.score for _, each in ranked if not each.unknown), default=1.0)
    levels = {key: level for level, key in enumerate(dict.fromkeys(key for key, _ in ranked))}
    ranked = [
        (key, structs.replace(each, score=round(each.score * (least if each.unknown else 1.0), 4), level=levels[key]))
        for key, each in ranked
    ]
    excluded.sort(key=lambda each: (not each.near, each.missed, each.row_id))
    prices = {row.id: about for row in table.rows if (about := judged.about(row))}
    euros = {row.id: judged.price(row) for row in table.rows if isinstance(row.cell(PRICE_COLUMN).value, Money)}
    return Ranking(
        ranked=tuple(each for _, each in ranked),
        excluded=tuple(excluded),
        notes=judged.notes,
        prices=prices,
        euros=euros,
    )


class ProductJudge:
    """Evaluates the wishes on the products of one table."""

    def __init__(self, table: Table, requirements: Requirements, rates: ExchangeRates, language: str) -> None:
        self._language = language
        self._converted: dict[str, None] = {}
        self._table = table
        self._rates = rates
        self._fields = index_fields(table.fields)
        self._rules = ComparisonRules(rates=rates, words="loose", language=language)
        self._wishes = [wish for wish in requirements.wishes if wish.column]
        self._states = {"new", *wanted_states(self._wishes)}
        self._currency = budget_currency(requirements)
        self._filters = [wish for wish in self._wishes if wish.hard and wish.operator not in ("lowest", "highest")]
        left = [row for row in table.rows if self.exclusion(row) is None]
        ranking = [wish for wish in self._wishes if wish.operator in ("lowest", "highest")]
        self._ends: dict[Wish, tuple[float, float] | None] = {}
        """The lowest and highest value among rows that are not excluded."""
        for wish in ranking:
            known = [value for row in left if (value := self._number(row, wish.column)) is not None]
            self._ends[wish] = (min(known), max(known)) if known else None

    @property
    def notes(self) -> tuple[str, ...]:
        return (self._rates.used(self._converted, self._language),) if self._converted else ()

    def exclusion(self, row: Row) -> ExcludedProduct | None:
        """Return why a product is out: hard wishes that surely fail, or an unwanted state such as used; else None."""
        name = cell_text(row.cell(PRODUCT_COLUMN))
        state = cell_text(row.cell(OFFERED_AS_COLUMN))
        is_other = bool(state) and state not in self._states
        failed = [wish for wish in self._filters if self.verdict(row, wish).truth == "no match"]
        if not failed and not is_other:
            return None
        reasons = [
            self.translate(
                "{column} is {value}, wanted {wanted}",
                each,
                value=self.shown(row, each),
                wanted=describe_wanted(each, self._language),
            )
            for each in failed
        ]
        if is_other:
            reasons.insert(
                0,
                translate(
                    "shortlist", "it is {state}", self._language, state=localize_offer_state(state, self._language)
                ),
            )
        return ExcludedProduct(
            row_id=row.id,
            name=name,
            reason="; ".join(reasons),
            field=OFFERED_AS_COLUMN if is_other else failed[0].column,
            near=not is_other and len(failed) == 1 and self._is_near(row, failed[0]),
            missed=len(reasons),
        )

    def ranked(self, row: Row) -> RankedProduct:
        parts: list[ScorePart] = []
        unknown: list[str] = []
        for place, wish in enumerate(self._wishes):
            # The weightiest comes first: of three wishes, they count three, two and one.
            part = structs.replace(self._score(row, wish), weight=float(len(self._wishes) - place))
            if wish.hard and part.outcome == "unknown":
                unknown.append(f"{wish.words}: {part.why}")
            parts.append(part)
        whole = sum(part.weight for part in parts)
        score = sum(part.weight * part.score for part in parts) / whole if whole else 1.0
        name = cell_text(row.cell(PRODUCT_COLUMN))
        return RankedProduct(
            row_id=row.id, name=name, score=round(score, 4), parts=tuple(parts), unknown=tuple(unknown)
        )

    def _score(self, row: Row, wish: Wish) -> ScorePart:
        shown = self.shown(row, wish)
        make = partial(ScorePart, field=wish.column, weight=1.0)
        if wish in self._ends:
            value = self._number(row, wish.column)
            ends = self._ends[wish]
            if value is None or ends is None:
                # No better than the worst known value.
                return make(score=0.0, why=self.translate("{column} is not known", wish), outcome="compared")
            low, high = ends
            best = high if wish.operator == "highest" else low
            share = 1.0 if low == high else 1 - abs(best - value) / (high - low)
            why = self.translate("{column} {value}", wish, value=shown)
            return make(score=round(share, 4), why=why, outcome="compared")
        verdict = self.verdict(row, wish)
        if verdict.truth == "not stated":
            return make(score=UNKNOWN if wish.hard else SOFT_UNKNOWN, why=verdict.reason, outcome="unknown")
        if verdict.truth == "match":
            text: ShortlistText[str] = (
                "{column} {value}: converted, but far within the limit"
                if verdict.rate and wish.hard
                else "{column} {value}"
            )
            return make(score=1.0, why=self.translate(text, wish, value=shown))
        missed = self.translate(
            "{column} {value}, wanted {wanted}", wish, value=shown, wanted=describe_wanted(wish, self._language)
        )
        return make(score=0.0, why=missed, outcome="missed")

    def translate(self, text: str, wish: Wish, /, **values: str) -> str:
        column = localize_column_name(wish.column, self._language)
        return translate("shortlist", text, self._language, column=column, **values)

    # ── one wish, one cell ───────────────────────────────────────────────────────────────────────────────────────────

    def verdict(self, row: Row, wish: Wish) -> Verdict:
        reader = make_row_reader(row.cells, self._fields, self._language)
        field = self._fields.get(column_key(wish.column)) or Field(name=wish.column)
        verdict = evaluate_condition(wish, reader, field, self._rules)
        if verdict.rate:
            self._converted[verdict.rate] = None
        if verdict.rate and verdict.truth == "match" and wish.hard and not self._is_far_within(row, wish):
            # The price at the place of purchase is unknown: a converted price does not prove a hard limit.
            return make_unstated(
                self.translate(
                    "{column} is known in another currency only ({value})", wish, value=self.shown(row, wish)
                )
            )
        return verdict

    def shown(self, row: Row, wish: Wish) -> str:
        """Return the cell as it is compared: "9,800 JPY, about 50 GBP"."""
        field = self._table.field(wish.column)
        text = shorten_text(format_product_cell(row, field, self._language), 60) if field is not None else ""
        about = self.about(row) if wish.column == PRICE_COLUMN else ""
        return ", ".join(filter(None, (text, about))) or translate("shortlist", "not known", self._language)

    def about(self, row: Row) -> str:
        """Return the price converted to the budget's currency, or "" if it is in it."""
        value = row.cell(PRICE_COLUMN).value
        return self._rates.about_money(value, self._currency, self._language) if isinstance(value, Money) else ""

    def currency_order(self, row: Row) -> int:
        """Return 0 for a price in the budget's currency, 1 for another one, 2 for an unknown price."""
        value = row.cell(PRICE_COLUMN).value
        return int(self._currency not in ("", value.currency)) if isinstance(value, Money) else 2

    def price(self, row: Row) -> float:
        value = row.cell(PRICE_COLUMN).value
        return convert_to_euros(value, self._rates) if isinstance(value, Money) else float("inf")

    def _number(self, row: Row, column: str) -> float | None:
        field = self._fields.get(column_key(column))
        values = read_comparable_values(row.cell(field.name), field) if field else ()
        if not values:
            return None
        value = values[0]
        if value.currency and value.number is not None:
            return self._rates.convert(value.number, value.currency, "EUR")
        if value.date:
            return float(value.date[:10].replace("-", "").ljust(8, "0"))
        return value.si if value.si is not None else value.number

    def _is_near(self, row: Row, wish: Wish) -> bool:
        field = self._fields.get(column_key(wish.column))
        if wish.operator not in ORDERED_OPERATORS or field is None:
            return False
        limits = [read_limit(each, field) for each in wish.values]
        for stated in read_comparable_values(row.cell(field.name), field):
            value = self._rates.in_currency_of(stated, limits, self._language)
            figure = value.si if value.si is not None else value.number
            ends = [each.si if value.si is not None and each.si is not None else each.number for each in limits]
            # A near miss exceeds a limit by at most this share of it.
            if figure is not None and any(end and abs(figure - end) <= 0.15 * abs(end) for end in ends):
                return True
        return False

    def _is_far_within(self, row: Row, wish: Wish) -> bool:
        """Return True if a converted amount meets a limit whatever became of the rate: in the few years that a table of
        rates may be old, a currency seldom loses or gains a quarter of its value."""
        field = self._fields.get(column_key(wish.column))
        limits = [read_limit(each, field) for each in wish.values] if field else []
        stated = read_comparable_values(row.cell(field.name), field) if field else ()
        amounts = [
            (self._rates.convert(value.number, value.currency, limit.currency), limit.number)
            for value in stated
            for limit in limits
            if value.number is not None
        ]
        pairs = [(amount, end) for amount, end in amounts if amount is not None and end is not None]
        if wish.operator in ("<", "<="):
            return bool(pairs) and all(amount <= 0.75 * end for amount, end in pairs)
        return wish.operator in (">", ">=") and bool(pairs) and all(0.75 * amount >= end for amount, end in pairs)


def convert_to_euros(price: Money, rates: ExchangeRates) -> float:
    """Return a price in euros, or its plain amount if the rate is unknown."""
    euros = rates.convert(price.amount, price.currency, "EUR")
    return price.amount if euros is None else euros


def list_missed_wishes(price: Money, requirements: Requirements, rates: ExchangeRates) -> tuple[str, ...]:
    """Return the user's wishes about the price that this price surely fails."""
    row = Row(id=0, cells={PRICE_COLUMN: Cell(value=price)})
    judged = ProductJudge(Table(id="", name="", fields=(PRICE_FIELD,), rows=(row,)), requirements, rates, "")
    limits = [
        wish
        for wish in requirements.wishes
        if column_key(wish.column) == column_key(PRICE_COLUMN) and wish.operator not in ("", "lowest", "highest")
    ]
    return tuple(wish.words for wish in limits if judged.verdict(row, wish).truth == "no match")


def wanted_states(wishes: Sequence[Wish]) -> set[str]:
    """Return the states the wishes name, such as "used". They are accepted in addition to new goods; a hard wish for
    one then excludes new goods like any failing product."""
    about = [
        wish for wish in wishes if column_key(wish.column) == column_key(OFFERED_AS_COLUMN) and wish.operator == "="
    ]
    return {value.casefold() for wish in about for value in wish.values}


def describe_wanted(wish: Wish, language: str = "") -> str:
    return wish.wanted(language).removeprefix("= ")


def format_product_cell(row: Row, field: Field, language: str = "") -> str:
    cell = row.cell(field.name)
    return (
        translate("shortlist", "none", language)
        if is_stated_absent(cell)
        else format_product_value(cell.value, field, language)
    )


def format_product_value(value: Value, field: Field, language: str = "") -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return translate("shortlist", "yes" if value else "no", language)
    if field.name == OFFERED_AS_COLUMN:
        return localize_offer_state(str(value), language)
    if isinstance(value, int | float):
        return format_with_unit(localize_figure(format_value(value), language), field.unit)
    return localize_figure(format_value(value), language) if isinstance(value, Money) else format_value(value)
