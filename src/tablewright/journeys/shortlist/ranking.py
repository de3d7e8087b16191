"""The ranking: code evaluates every wish on every product, three-valued. A hard one that fails excludes; the others,
and what is not known, make a score that can be looked into. The order is the order of the scores."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from tablewright.conditions.comparable import comparable_values, read_limit
from tablewright.conditions.compare import Verdict, unstated
from tablewright.conditions.evaluate import Rules, evaluate_condition, fields_by_key, is_absent, row_reader
from tablewright.decisions.shortlist.conditions import budget_currency
from tablewright.domain.condition import ORDERED
from tablewright.domain.model import Cell, Field, Money, Row, Table, Value, column_key
from tablewright.domain.shortlist import (
    KEY,
    OFFERED_AS,
    PRICE,
    PRICE_FIELD,
    Excluded,
    Ranked,
    Ranking,
    Requirements,
    ScorePart,
    Wish,
    column_name,
    state_name,
)
from tablewright.domain.text import cell_text, shortened, show
from tablewright.messages.catalogue import figure, translate
from tablewright.values.money import Rates
from tablewright.values.units import with_unit

UNKNOWN, SOFT_UNKNOWN = 0.5, 0.3
"""What a hard wish counts of which nobody knows whether it is met, and a soft one: what is stated comes first."""
NEAR = 0.15
"""The part of a limit by which a near miss may be over it."""


def rank(table: Table, requirements: Requirements, rates: Rates, language: str = "") -> Ranking:
    judged = Judging(table, requirements, rates, language)
    ranked: list[tuple[tuple[int, float], Ranked]] = []
    excluded: list[Excluded] = []
    for row in table.rows:
        if out := judged.exclusion(row):
            excluded.append(out)
        else:
            ranked.append((judged.price_order(row), judged.ranked(row)))
    least = min((each.score for _, each in ranked if not each.unknown), default=1.0)
    ranked = [(price, behind(each, least, language)) for price, each in ranked]
    ranked.sort(key=lambda each: (-each[1].score, len(each[1].unknown), each[0], each[1].row_id))
    excluded.sort(key=lambda each: (not each.near, each.missed, each.row_id))
    prices = {row.id: about for row in table.rows if (about := judged.about(row))}
    euros = {row.id: judged.price(row) for row in table.rows if isinstance(row.cell(PRICE).value, Money)}
    return Ranking(
        ranked=tuple(each for _, each in ranked),
        excluded=tuple(excluded),
        notes=judged.notes,
        prices=prices,
        euros=euros,
    )


def behind(product: Ranked, least: float, language: str) -> Ranked:
    """What is not known to meet every hard wish comes after all that is; its score says so."""
    if not product.unknown or least >= 1.0:
        return product
    why = translate(
        "shortlist",
        "not known to meet every must: {share} of the rest counts",
        language,
        share=figure(f"{least:.2f}", language),
    )
    part = ScorePart(field=KEY, weight=0.0, score=least, why=why)
    return structs.replace(product, score=round(product.score * least, 4), parts=(*product.parts, part))


class Judging:
    def __init__(self, table: Table, requirements: Requirements, rates: Rates, language: str) -> None:
        self._language = language
        self._converted: dict[str, None] = {}
        self._table = table
        self._rates = rates
        self._fields = fields_by_key(table.fields)
        self._rules = Rules(rates=rates, words="loose", language=language)
        self._wishes = [wish for wish in requirements.wishes if wish.column]
        self._states = {"new", *states_asked_for(self._wishes)}
        self._currency = budget_currency(requirements)
        self._filters = [wish for wish in self._wishes if wish.hard and wish.operator not in ("lowest", "highest")]
        left = [row for row in table.rows if self.exclusion(row) is None]
        ranking = [wish for wish in self._wishes if wish.operator in ("lowest", "highest")]
        self._ends = {wish: self._span(wish, left) for wish in ranking}

    @property
    def notes(self) -> tuple[str, ...]:
        return (self._rates.used(self._converted, self._language),) if self._converted else ()

    def exclusion(self, row: Row) -> Excluded | None:
        """Why it is out: hard wishes that surely fail; that it is used or discontinued, unless that is asked for."""
        name = cell_text(row.cell(KEY))
        state = cell_text(row.cell(OFFERED_AS))
        is_other = bool(state) and state not in self._states
        failed = [wish for wish in self._filters if self.verdict(row, wish).truth == "no match"]
        if not failed and not is_other:
            return None
        reasons = [
            self.translate(
                "{column} is {value}, wanted {wanted}",
                each,
                value=self.shown(row, each),
                wanted=wanted(each, self._language),
            )
            for each in failed
        ]
        if is_other:
            reasons.insert(
                0, translate("shortlist", "it is {state}", self._language, state=state_name(state, self._language))
            )
        return Excluded(
            row_id=row.id,
            name=name,
            reason="; ".join(reasons),
            field=OFFERED_AS if is_other else failed[0].column,
            near=not is_other and len(failed) == 1 and self._is_near(row, failed[0]),
            missed=len(reasons),
        )

    def ranked(self, row: Row) -> Ranked:
        parts: list[ScorePart] = []
        unknown: list[str] = []
        for wish in self._wishes:
            score, why = self._score(row, wish)
            if wish.hard and score == UNKNOWN and wish not in self._ends:
                unknown.append(f"{wish.words}: {why}")
            parts.append(ScorePart(field=wish.column, weight=1.0, score=score, why=why))
        whole = sum(part.weight for part in parts)
        score = sum(part.weight * part.score for part in parts) / whole if whole else 1.0
        name = cell_text(row.cell(KEY))
        return Ranked(row_id=row.id, name=name, score=round(score, 4), parts=tuple(parts), unknown=tuple(unknown))

    def _score(self, row: Row, wish: Wish) -> tuple[float, str]:
        shown = self.shown(row, wish)
        if wish in self._ends:
            value = self._number(row, wish.column)
            ends = self._ends[wish]
            if value is None or ends is None:
                return 0.0, self.translate("{column} is not known", wish)  # no more than the least that is known
            low, high = ends
            best = high if wish.operator == "highest" else low
            share = 1.0 if low == high else 1 - abs(best - value) / (high - low)
            return round(share, 4), self.translate("{column} {value}", wish, value=shown)
        verdict = self.verdict(row, wish)
        if verdict.truth == "not stated":
            return UNKNOWN if wish.hard else SOFT_UNKNOWN, verdict.reason
        if verdict.truth == "match":
            return 1.0, self.translate("{column} {value}", wish, value=shown)
        return 0.0, self.translate(
            "{column} {value}, wanted {wanted}", wish, value=shown, wanted=wanted(wish, self._language)
        )

    def translate(self, text: str, wish: Wish, /, **values: str) -> str:
        column = column_name(wish.column, self._language)
        return translate("shortlist", text, self._language, column=column, **values)

    # ── one wish, one cell ───────────────────────────────────────────────────────────────────────────────────────────

    def verdict(self, row: Row, wish: Wish) -> Verdict:
        reader = row_reader(row.cells, self._fields, self._language)
        field = self._fields.get(column_key(wish.column)) or Field(name=wish.column)
        verdict = evaluate_condition(wish, reader, field, self._rules)
        if verdict.rate:
            self._converted[verdict.rate] = None
        if verdict.rate and verdict.truth == "match" and wish.hard:
            # what it costs where it is to be bought, nobody has said
            return unstated(
                self.translate(
                    "{column} is known in another currency only ({value})", wish, value=self.shown(row, wish)
                )
            )
        return verdict

    def shown(self, row: Row, wish: Wish) -> str:
        """The cell as it is compared: "9,800 JPY, about 50 GBP"."""
        field = self._table.field(wish.column)
        text = shortened(shown_cell(row, field, self._language), 60) if field is not None else ""
        about = self.about(row) if wish.column == PRICE else ""
        return ", ".join(filter(None, (text, about))) or translate("shortlist", "not known", self._language)

    def about(self, row: Row) -> str:
        """The price in the currency of the budget, where it is in another one; else ""."""
        value = row.cell(PRICE).value
        return self._rates.about_money(value, self._currency, self._language) if isinstance(value, Money) else ""

    def price_order(self, row: Row) -> tuple[int, float]:
        """Among equals: prices in the currency of the budget, then those in others, then what is not known."""
        value = row.cell(PRICE).value
        if not isinstance(value, Money):
            return 2, 0.0
        return int(self._currency not in ("", value.currency)), self.price(row)

    def price(self, row: Row) -> float:
        value = row.cell(PRICE).value
        return in_euros(value, self._rates) if isinstance(value, Money) else float("inf")

    def _number(self, row: Row, column: str) -> float | None:
        field = self._fields.get(column_key(column))
        values = comparable_values(row.cell(field.name), field) if field else ()
        if not values:
            return None
        value = values[0]
        if value.currency and value.number is not None:
            return self._rates.convert(value.number, value.currency, "EUR")
        if value.date:
            return float(value.date[:10].replace("-", "").ljust(8, "0"))
        return value.si if value.si is not None else value.number

    def _span(self, wish: Wish, rows: Sequence[Row]) -> tuple[float, float] | None:
        """The least and the most among those that are not excluded."""
        known = [value for row in rows if (value := self._number(row, wish.column)) is not None]
        return (min(known), max(known)) if known else None

    def _is_near(self, row: Row, wish: Wish) -> bool:
        field = self._fields.get(column_key(wish.column))
        if wish.operator not in ORDERED or field is None:
            return False
        limits = [read_limit(each, field) for each in wish.values]
        for stated in comparable_values(row.cell(field.name), field):
            value = self._rates.in_currency_of(stated, limits, self._language)
            figure = value.si if value.si is not None else value.number
            ends = [each.si if value.si is not None and each.si is not None else each.number for each in limits]
            if figure is not None and any(end and abs(figure - end) <= NEAR * abs(end) for end in ends):
                return True
        return False


def in_euros(price: Money, rates: Rates) -> float:
    """Return what a price is worth; its amount if the rate is unknown."""
    euros = rates.convert(price.amount, price.currency, "EUR")
    return price.amount if euros is None else euros


def missed_by(price: Money, requirements: Requirements, rates: Rates) -> tuple[str, ...]:
    """The wishes about the price, in the user's words, that a price surely does not meet."""
    row = Row(id=0, cells={PRICE: Cell(value=price)})
    judged = Judging(Table(id="", name="", fields=(PRICE_FIELD,), rows=(row,)), requirements, rates, "")
    limits = [
        wish
        for wish in requirements.wishes
        if column_key(wish.column) == column_key(PRICE) and wish.operator not in ("", "lowest", "highest")
    ]
    return tuple(wish.words for wish in limits if judged.verdict(row, wish).truth == "no match")


def states_asked_for(wishes: Sequence[Wish]) -> set[str]:
    """Such as "used": who prefers used things gets them beside the new, and no discontinued ones. Where the wish is
    hard, a new one fails it like any other."""
    about = [wish for wish in wishes if column_key(wish.column) == column_key(OFFERED_AS) and wish.operator == "="]
    return {value.casefold() for wish in about for value in wish.values}


def wanted(wish: Wish, language: str = "") -> str:
    return wish.wanted(language).removeprefix("= ")


def shown_cell(row: Row, field: Field, language: str = "") -> str:
    cell = row.cell(field.name)
    return translate("shortlist", "none", language) if is_absent(cell) else shown_value(cell.value, field, language)


def shown_value(value: Value, field: Field, language: str = "") -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return translate("shortlist", "yes" if value else "no", language)
    if field.name == OFFERED_AS:
        return state_name(str(value), language)
    return with_unit(show(value), field.unit if field.type == "number" else "")
