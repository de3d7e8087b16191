"""Explain trade-offs: what each of the top products gives and what is given up with it, in sentences that cite cells.

No sentence tells the person what to buy: it says what differs, and what is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.rank_products import SAID_OF_PRODUCT, doubt_of, end_told
from tablewright.decisions.replies import (
    Direction,
    amount,
    bears,
    field_told,
    has_told,
    is_told,
    known,
    listed,
    money_told,
    name_of,
    pushes,
    ref,
    stated,
    told,
)
from tablewright.decisions.wishes import better, deciding, holds, price_field, priced, wish
from tablewright.table.model import Cell, Field, Money, Noun, Row, Table
from tablewright.table.shortlist import TOP, Card, CellRef, Ranking, Requirements, Said
from tablewright.table.text import plural
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, question_block
from tablewright.text.words import roots

MOST_A_CARD = 2
MOST_IN_ALL = 4
NEAR_LIMIT = 0.9

INSTRUCTIONS = (
    "You tell somebody how the products of a comparison differ, so that they can choose. You are a neutral adviser, no "
    f"salesperson: no 'best', no 'you should'. Write at most {MOST_A_CARD} short sentences for each product (`card` is "
    f"its number) and at most {MOST_IN_ALL} that compare them (`card` 0). Every figure, material and yes or no stands "
    "in one of the numbered cells; write their numbers in `cells`, and the product's whole name in the sentence. Work "
    "out no figure of your own. Say what is given up, and what is not known. " + WARNING
)


class ExplainTradeoffs(Noun, frozen=True):
    table: Table
    ranking: Ranking
    requirements: Requirements
    most: int = TOP


class Advice(Noun, frozen=True):
    """`said` compares the products; `notes` are the limits of the data."""

    cards: tuple[Card, ...] = ()
    said: tuple[Said, ...] = ()
    notes: tuple[str, ...] = ()


class Sentence(BaseModel):
    card: int
    text: str = Key(max_length=400)
    cells: list[int] = Key(max_length=30)


class Sentences(BaseModel):
    sentences: list[Sentence] = Key(max_length=2 * TOP + MOST_IN_ALL)


class Explain:
    name = "explain trade-offs"

    def prompt(self, asked: ExplainTradeoffs) -> Prompt:
        shown = _Shown(asked)
        products = "\n".join(f"{card}. {name_of(row, asked.table)}" for card, row in enumerate(shown.rows, start=1))
        cells = "\n".join(
            f"{number}. {name_of(row, asked.table)} | {field.name}: {told(row.cell(field.name), field)}"
            for number, (row, field) in enumerate(shown.cells(), start=1)
        )
        text = (
            f"Wanted:\n{question_block(requirements_told(asked.requirements))}\nProducts, in their order:\n"
            f"{block(1, products, 'products')}\nCells:\n{block(2, cells, 'cells')}"
        )
        return Prompt(instructions=INSTRUCTIONS, text=text, reply=Sentences, max_tokens=900)

    def check(self, asked: ExplainTradeoffs, reply: Any) -> Advice:
        """A sentence that its cells do not bear is not said: that product keeps the sentences of the rule."""
        advice = self.fallback(asked)
        cells = [ref(row, field) for row, field in _Shown(asked).cells()]
        problems: list[str] = []
        said: dict[int, list[Said]] = {}
        for each in reply.sentences:
            cited = tuple(cells[number - 1] for number in dict.fromkeys(each.cells) if 1 <= number <= len(cells))
            sentence = Said(text=" ".join(clean(each.text).split()), cells=cited)
            problem = self._problem(sentence, asked)
            if problem:
                problems.append(f"“{sentence.text}”: {problem}")
            elif 0 <= each.card <= len(advice.cards):
                said.setdefault(each.card, []).append(sentence)
        better_cards = tuple(
            structs.replace(card, said=tuple(said.get(card.place, card.said)[:MOST_A_CARD])) for card in advice.cards
        )
        chosen = structs.replace(advice, cards=better_cards, said=tuple(said.get(0, advice.said)[:MOST_IN_ALL]))
        if problems:
            raise Unusable("; ".join(problems[:3]), usable=chosen)
        return chosen

    def _problem(self, said: Said, asked: ExplainTradeoffs) -> str:
        if not said.text or gives_orders(said.text):
            return "it says nothing of the products"
        if selling := pushes(said.text):
            return f"“{selling}” pushes a product; tell how they differ"
        return bears(said, asked.table, requirements_told(asked.requirements))

    def fallback(self, asked: ExplainTradeoffs) -> Advice:
        shown = _Shown(asked)
        if not shown.rows:
            return Advice(said=tuple(_nothing_left(asked)), notes=asked.ranking.notes)
        cards = tuple(
            Card(
                place=place,
                row_id=row.id,
                name=ranked.name,
                score=ranked.score,
                parts=ranked.parts,
                said=tuple(shown.about(row, ranked.unknown, place))[:MOST_A_CARD],
                official_url=official_url(row, asked.table),
            )
            for place, (row, ranked) in enumerate(zip(shown.rows, shown.ranked, strict=True), start=1)
        )
        return Advice(cards=cards, said=tuple(shown.compared())[:MOST_IN_ALL], notes=asked.ranking.notes)


def requirements_told(requirements: Requirements) -> str:
    """All that the person asked for, as one text: figures in it may be repeated without a cell."""
    budget = requirements.budget
    limits = (budget.least, budget.most) if budget else ()
    prices = [
        money_told(Money(amount=limit, currency=budget.currency)) for limit in limits if budget and limit is not None
    ]
    wanted = (
        requirements.product_type,
        f"budget {' to '.join(prices)}" if prices else "",
        *requirements.must_haves,
        *requirements.nice_to_haves,
        *requirements.priorities,
        *requirements.specifications,
        *requirements.constraints,
    )
    return "; ".join(filter(None, wanted))


def official_url(row: Row, table: Table) -> str:
    urls = [field for field in table.fields if field.type == "url" and known(row.cell(field.name))]
    urls.sort(key=lambda field: not set(roots(field.name)) & set(roots("official maker manufacturer")))
    return str(row.cell(urls[0].name).value) if urls else ""


def _nothing_left(asked: ExplainTradeoffs) -> Iterator[Said]:
    excluded = asked.ranking.excluded
    if not excluded:
        yield Said(text="No products were found for these requirements; they could be widened.")
        return
    fields = Counter(each.field for each in excluded if each.field).most_common(1)
    often = f", most often for {field_told(fields[0][0])}" if fields else ""
    yield Said(text=f"None of the {len(excluded)} products found meets every requirement{often}.")
    yield Said(text="Which requirement could be relaxed?")


class _Edge(Noun, frozen=True):
    """What a product has more or less of than the others that are shown: the end of a sentence whose subject it is."""

    text: str
    cells: tuple[CellRef, ...]
    field: str


class _Shown:
    """The top products and the columns that count for them, the weightiest first."""

    def __init__(self, asked: ExplainTradeoffs) -> None:
        self.asked, self.table = asked, asked.table
        found = [(each, asked.table.row(each.row_id)) for each in asked.ranking.ranked[: max(0, asked.most)]]
        self.ranked = [each for each, row in found if row is not None]
        self.rows = [row for _, row in found if row is not None]
        weights = {part.field: part.weight for each in self.ranked for part in each.parts}
        names = sorted(weights, key=lambda name: -weights[name])
        fields = [asked.table.field(name) for name in names if name != asked.table.key_field]
        self.fields = [field for field in fields if field is not None]
        requirements, self.kind = asked.requirements, asked.requirements.product_type
        spoken = (*requirements.priorities, *requirements.nice_to_haves, *requirements.constraints)
        self.wishes = [read for phrase in spoken if (read := wish(phrase, asked.table, self.kind)).field is not None]
        self.price = price_field(asked.table)

    def cells(self) -> list[tuple[Row, Field]]:
        musts = [wish(phrase, self.table, self.kind).field for phrase in self.asked.requirements.must_haves]
        fields = {field.name: field for field in (*self.fields, *musts) if field is not None}
        return [(row, field) for row in self.rows for field in fields.values()]

    def about(self, row: Row, unknown: Sequence[str], place: int) -> Iterator[Said]:
        name = name_of(row, self.table)
        gains, losses = list(self._edges(row, "gain")), list(self._edges(row, "loss"))
        gains += [edge for edge in self._wished(row, "yes") if all(edge.field != each.field for each in gains)]
        losses = [*self._near_limit(row), *losses, *self._wished(row, "no")]
        if gains:
            losses = [edge for edge in losses if edge.field != gains[0].field]
        if gains and losses:
            joint = (", but", "; against that, it", ", though it")[(place - 1) % 3]
            yield _said(f"{name} {gains[0].text}{joint} {losses[0].text}.", (gains[0], losses[0]))
        elif gains:
            yield _said(f"{name} {listed(edge.text for edge in gains[:2])}.", gains[:2])
        else:
            lost = losses[0].field if losses else ""
            facts = [*losses[:1], *(edge for edge in self._plain(row) if edge.field != lost)][:3]
            if facts:
                yield _said(f"{name} {listed(edge.text for edge in facts)}.", facts)
        yield from self._doubts(row, unknown)

    def _edges(self, row: Row, which: str) -> Iterator[_Edge]:
        for field in self.fields:
            way, sizes = self._way(field), self._sizes(field)
            own = sizes.get(row.id)
            if way is None or own is None or len(sizes) < 2:
                continue
            end: Direction = way if which == "gain" else "less" if way == "more" else "more"
            extreme = max(sizes.values()) if end == "more" else min(sizes.values())
            if own == extreme and list(sizes.values()).count(extreme) == 1:
                cells = tuple(ref(other, field) for other in self.rows if other.id in sizes)
                among = "these" if len(sizes) == len(self.rows) else "those that can be compared"
                text = _superlative(field, end, among, told(row.cell(field.name), field))
                yield _Edge(text=text, cells=cells, field=field.name)

    def _near_limit(self, row: Row) -> Iterator[_Edge]:
        budget = self.asked.requirements.budget
        price = priced(row.cell(self.price.name), self.price) if self.price else None
        if budget is None or budget.most is None or price is None or self.price is None:
            return
        if (
            price.currency == (budget.currency or price.currency)
            and NEAR_LIMIT * budget.most <= price.amount <= budget.most
        ):
            limit = money_told(Money(amount=budget.most, currency=price.currency))
            where = "at" if price.amount == budget.most else "near"
            text = f"costs {money_told(price)}, {where} your limit of {limit}"
            yield _Edge(text=text, cells=(ref(row, self.price),), field=self.price.name)

    def _wished(self, row: Row, answer: str) -> Iterator[_Edge]:
        for each in self.wishes:
            if each.field is not None and each.decides and not each.negative and holds(each, row) == answer:
                field = deciding(each, row)
                yield _Edge(text=stated(row, field), cells=(ref(row, field),), field=field.name)

    def _plain(self, row: Row) -> list[_Edge]:
        fields = [field for field in self.fields if known(row.cell(field.name))]
        return [_Edge(text=stated(row, field), cells=(ref(row, field),), field=field.name) for field in fields]

    def _doubts(self, row: Row, unknown: Sequence[str]) -> Iterator[Said]:
        """One sentence of what is not known of it, or not to be relied upon."""
        missing = [field for name in unknown if (field := self.table.field(name)) and not known(row.cell(name))]
        doubted = [field for field in self.fields if known(row.cell(field.name)) and doubt_of(row.cell(field.name))][:2]
        whether = [f"whether it {has_told(field)}" for field in missing if field.type == "boolean"]
        plain = [f"its {field_told(field)}" for field in missing if field.type != "boolean"]
        parts = (
            [f"{listed((*plain, *whether))} {is_told(missing[0]) if len(missing) == 1 else 'are'} not known"]
            if missing
            else []
        )
        parts += [_doubted(row.cell(field.name), field) for field in doubted]
        if parts:
            text = "; ".join(parts)
            cells = tuple(ref(row, field) for field in (*missing, *doubted))
            yield Said(text=f"{text[0].upper()}{text[1:]}.", cells=cells)

    def compared(self) -> Iterator[Said]:
        if len(self.rows) > 1:
            yield from self._pair(self.rows[0], self.rows[1])
        for field in self.fields:
            missing = [row for row in self.rows if not known(row.cell(field.name))]
            if 1 < len(self.rows) <= 2 * len(missing):
                cells = tuple(ref(row, field) for row in self.rows)
                many = f"{len(missing)} of these {len(self.rows)}" if len(missing) < len(self.rows) else "any of these"
                yield Said(text=f"{field.name} {is_told(field)} not known for {many}.", cells=cells)
                break
        fields = Counter(self._cause(each.field) for each in self.asked.ranking.excluded if each.field)
        if fields:
            left_out = len(self.asked.ranking.excluded)
            why = listed(f"{count} for {field}" for field, count in fields.most_common(3))
            yield Said(text=f"{left_out} {plural('product', left_out)} left out: {why}.")

    def _cause(self, field: str) -> str:
        return "its name" if field == self.table.key_field else field_told(field)

    def _pair(self, one: Row, other: Row) -> Iterator[Said]:
        """What the first two have over each other, and the choice that this leaves."""
        ahead: dict[int, list[_Edge]] = {one.id: [], other.id: []}
        words: dict[int, list[str]] = {one.id: [], other.id: []}
        for field in self.fields:
            way, sizes = self._way(field), self._sizes(field)
            if way is None or not {one.id, other.id} <= sizes.keys() or sizes[one.id] == sizes[other.id]:
                continue
            winner, loser = (one, other) if (sizes[one.id] > sizes[other.id]) == (way == "more") else (other, one)
            values = f"{told(winner.cell(field.name), field)} against {told(loser.cell(field.name), field)}"
            text = _comparative(field, way, values)
            ahead[winner.id].append(_Edge(text=text, cells=(ref(winner, field), ref(loser, field)), field=field.name))
            words[winner.id].append(f"{_of_field(field, way)} {field_told(field)}")
        first, second = name_of(one, self.table), name_of(other, self.table)
        if ahead[one.id] and ahead[other.id]:
            mine, theirs = ahead[one.id][0], ahead[other.id][0]
            yield _said(f"{first} {mine.text}; {second} {theirs.text}.", (mine, theirs))
            yield Said(text=f"Does a {words[one.id][0]} matter more to you, or a {words[other.id][0]}?")
        elif edges := ahead[one.id] or ahead[other.id]:
            subject = first if ahead[one.id] else second
            yield _said(f"Of the first two, {subject} {listed(edge.text for edge in edges[:2])}.", edges[:2])

    def _way(self, field: Field) -> Direction | None:
        spoken = (each.direction for each in self.wishes if each.field == field and each.direction)
        named = any(each.field == field and not each.decides for each in self.wishes)
        return next(spoken, better(field, self.kind) or ("more" if named else None))

    def _sizes(self, field: Field) -> dict[int, float]:
        """Amounts by row; prices only of one currency, for others do not compare."""
        sizes = {row.id: size for row in self.rows if (size := amount(row.cell(field.name), field)) is not None}
        if field.type == "money":
            prices = {row.id: price for row in self.rows if (price := priced(row.cell(field.name), field))}
            usual = Counter(price.currency for price in prices.values()).most_common(1)
            return {row: size for row, size in sizes.items() if prices[row].currency == usual[0][0]}
        return sizes


def _said(text: str, edges: Sequence[_Edge]) -> Said:
    return Said(text=text, cells=tuple(dict.fromkeys(cell for edge in edges for cell in edge.cells)))


def _superlative(field: Field, end: Direction, among: str, value: str) -> str:
    word = end_told(field, end)
    return (
        f"is the {word} of {among} ({value})"
        if word in SAID_OF_PRODUCT
        else f"has the {word} {field_told(field)} of {among} ({value})"
    )


def _comparative(field: Field, way: Direction, values: str) -> str:
    word = _er(field, way)
    return (
        f"is {word} ({values})"
        if end_told(field, way) in SAID_OF_PRODUCT
        else f"has the {word} {field_told(field)} ({values})"
    )


def _er(field: Field, way: Direction) -> str:
    return f"{end_told(field, way)[:-2]}r"


def _of_field(field: Field, way: Direction) -> str:
    """ "A lower weight", for a weight is not lighter."""
    if end_told(field, way) not in SAID_OF_PRODUCT:
        return _er(field, way)
    later, earlier = ("later", "earlier") if _er(field, way) in ("newer", "older") else ("higher", "lower")
    return later if way == "more" else earlier


def _doubted(cell: Cell, field: Field) -> str:
    name, value = field_told(field), told(cell, field)
    if cell.conflict:
        others = [told(Cell(value=each.value, status="ENRICHED"), field) for each in cell.conflict]
        return f"sources disagree about its {name}: {' or '.join(dict.fromkeys((value, *others)))}"
    return f"its {name} ({value}) {'was flagged as wrong' if cell.status == 'FLAGGED' else 'is uncertain'}"
