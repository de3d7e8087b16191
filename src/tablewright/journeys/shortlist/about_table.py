"""What is done with the comparison that is there: sources, shops, exports, doubts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tablewright.conditions.evaluate import is_absent
from tablewright.decisions.decision import decide
from tablewright.decisions.shortlist.conditions import budget_currency
from tablewright.decisions.shortlist.offers import OffersToRead, ReadOffers
from tablewright.decisions.shortlist.turn import TurnTaken
from tablewright.domain.model import Cell, Field, Row, RowId, Table
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import (
    KEY,
    PAGE,
    TOP,
    ChatReply,
    ReplySentence,
    ShopListing,
    ShortlistState,
    column_name,
)
from tablewright.domain.text import cell_text, shortened
from tablewright.errors import SearchError, TablewrightError
from tablewright.journeys.files import export_file
from tablewright.journeys.shortlist.comparison import ProductComparison, own_pages
from tablewright.journeys.shortlist.context import TurnContext
from tablewright.journeys.shortlist.ranking import in_euros, missed_by, shown_cell, shown_value, states_asked_for
from tablewright.journeys.shortlist.wording import as_texts, lines, named_columns, reply_of, rival_values, sentence
from tablewright.messages.catalogue import translate
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.sources.provenance import Provenance, telling
from tablewright.store.records import now
from tablewright.strategies.gathering import Gathering
from tablewright.strategies.subject import web_of
from tablewright.text import without_personal_data

MOST_LISTINGS = 5
OPENED = 12
"""Pages of shops."""


class ComparisonAnswers:
    def __init__(self, context: TurnContext, state: ShortlistState) -> None:
        self.comparison = ProductComparison(context, state)
        self._context = context
        self._state = state
        self._say = state.translate

    async def show(self, turn: TurnTaken) -> ChatReply:
        table, language = await self.comparison.table(), self._state.language
        ranking = self._context.ranking(table, self._state)
        ranked = [each.row_id for each in ranking.ranked] + [each.row_id for each in ranking.excluded]
        shown = [
            as_texts(row, table.shown_fields, ranking, language) for row in rows_of(table, turn.products or ranked)
        ]
        counted = self._say("{count} of {all} candidates:", count=len(shown), all=len(table.rows))
        columns = named_columns(table.shown_fields, language)
        return ChatReply(said=(*turn.said, *lines(counted)), columns=columns, rows=tuple(shown))

    async def links(self, turn: TurnTaken) -> ChatReply:
        table = await self.comparison.table()
        rows = rows_of(table, turn.products or self._state.shown[:1])[:TOP]
        said: list[ReplySentence] = []
        found: list[ShopListing] = []
        for row in rows:
            name = cell_text(row.cell(KEY))
            try:
                offers = await self._offers(name, tuple(own_pages(row)))
            except SearchError as error:
                failed = self._say(
                    "{product}: the search failed, so nobody was asked: {why}", product=name, why=error.what
                )
                said.append(sentence(failed, row.id, KEY))
                continue
            found += offers
            page = cell_text(row.cell(PAGE))
            official = self._say("Its official page: {page}", page=page) if page else ""
            none = f"{self._say('No shop was found that offers {product}.', product=name)} {official}".strip()
            asked = self._say("{product}, asked just now, the cheapest first:", product=name) if offers else none
            said.append(sentence(asked, row.id, KEY))
        if not rows:
            said += lines(self._say("Which product is meant?"))
        return ChatReply(said=(*turn.said, *said), listings=tuple(found))

    async def _offers(self, name: str, known: tuple[str, ...]) -> list[ShopListing]:
        """The cheapest first, in the state that is wanted before others; new, if nothing is said. What is over the
        budget is marked. `known` are pages that named the product before. Raises SearchError where no search worked."""
        requirements, rates, tools = self._state.requirements, self._context.rates, self._context.tools
        wanted = states_asked_for(requirements.wishes) or {"new"}
        with telling(Provenance(name, requirements, addresses=known)):
            pages = await self._shop_pages(name, known)
        if not pages:
            return []
        room = tools.model.text_room if tools.model is not None else 0
        asked = OffersToRead(product=name, region=requirements.region, sources=pages, room=room)
        offers: tuple[ShopListing, ...] = (await decide(ReadOffers(), asked, tools.model, self._context.tell)).decided
        asked_at = now()  # not when a page that has not changed since was sent

        def order(offer: ShopListing) -> tuple[bool, float]:
            price = in_euros(offer.price, rates) if offer.price is not None else float("inf")
            return offer.offered_as not in wanted, price

        def marked(offer: ShopListing) -> ShopListing:
            offer = msgspec.structs.replace(offer, at=asked_at, product=name)
            if offer.price is None:
                return offer
            misses = missed_by(offer.price, requirements, rates)
            about = rates.about_money(offer.price, budget_currency(requirements), self._state.language)
            return msgspec.structs.replace(offer, misses=misses, about=about)

        best = {offer.url: marked(offer) for offer in sorted(offers, key=order)}
        return list(best.values())[:MOST_LISTINGS]

    async def _shop_pages(self, name: str, known: Sequence[str]) -> tuple[Retrieved, ...]:
        """Return pages that name the product, as they are now."""
        web, region = web_of(self._context.tools), self._state.requirements.region
        gathering = Gathering(web, self._context.tools.model, self._context.tell)
        queries = [without_personal_data(query) for query in (f"buy {name} {region}", f"{name} price {region}")]
        hits = await gathering.search_all(queries)
        origins = list(dict.fromkeys((*known, *(hit.origin for hit in hits))))
        failed = list(gathering.failed_searches.values())
        if len(failed) == len(queries) and not origins:
            raise failed[0]
        opened = await asyncio.gather(*map(web.open_again, origins[:OPENED]))
        return tuple(page for page in opened if isinstance(page, Retrieved))

    async def export(self, turn: TurnTaken) -> ChatReply:
        table_id, folder = self.comparison.table_id, self._context.folder
        path = Path(turn.path or f"{table_id}.csv").expanduser()
        if folder is not None:
            path = folder / (path.name or f"{table_id}.csv")
        try:
            written = await export_file(self._context.store, table_id, path, evidence=path.suffix != ".csv")
        except (TablewrightError, OSError) as error:
            return reply_of((), self._say("Nothing was written: {why} Which other file shall it be?", why=error))
        told = self._say(
            "The only candidate with all columns is in {file}.|All {count} candidates with all columns are in {file}.",
            count=written.row_count,
            file=path if folder is None else path.name,
        )
        return ChatReply(said=lines(told), file=str(path))

    async def source(self, turn: TurnTaken) -> ChatReply:
        """Where values come from: the passages themselves."""
        table = await self.comparison.table()
        said = [
            sentence(self._sourced(row, field), row.id, field.name)
            for row in rows_of(table, turn.products or self._state.shown[:1])
            for field in fields_of(table, turn.about_columns)
        ]
        return reply_of((*turn.said, *(said or lines(self._say("Which value of which product is meant?")))))

    async def look_up(self, turn: TurnTaken, columns: Sequence[str]) -> ChatReply:
        """What is not known of these columns, of the products that were asked about alone."""
        rows = rows_of(await self.comparison.table(), turn.products)
        cells = {(row.id, name): row.cell(name) for row in rows for name in columns}
        wanted = {at for at, cell in cells.items() if cell.value is None and not is_absent(cell)}
        notes = await self.comparison.fill(fields=columns, only=wanted) if wanted else []
        reply = await self.source(msgspec.structs.replace(turn, about_columns=tuple(columns)))
        return msgspec.structs.replace(reply, notes=lines(*notes))

    async def look_again(self, turn: TurnTaken, why: str) -> ChatReply:
        """Doubted, and looked for again: those cells alone."""
        table = await self.comparison.table()
        rows, fields = rows_of(table, turn.products), fields_of(table, turn.about_columns)
        doubted = [(row, field) for row in rows for field in fields if field.is_asked]
        if not doubted:
            told = self._say("Which value of which product is wrong? For example: the capacity of the first.")
            return reply_of(turn.said, told)
        await self.comparison.fill_again([(row.id, field.name) for row, field in doubted], why)
        after = {row.id: row for row in (await self.comparison.table()).rows}
        said = [
            sentence(self._looked_again(row, field, after[row.id].cell(field.name)), row.id, field.name, KEY)
            for row, field in doubted
        ]
        return reply_of(said)

    def _sourced(self, row: Row, field: Field) -> str:
        cell, language = row.cell(field.name), self._state.language
        name = self._value_of(row, field)
        if cell.value is None:
            return self._say("{name} is not known. {why}", name=name, why=cell.error or "").strip()
        quotes = [f"{each.origin}: “{shortened(each.quote, 200)}”" for each in cell.evidence[:3]]
        told = self._say(
            "{name}: {value}. Source: {quotes}.",
            name=name,
            value=shown_cell(row, field, language),
            quotes="; ".join(quotes) or translate("shortlist: sources", "none", self._state.language),
        )
        return f"{told} {self._rivals(cell, field)}".strip()

    def _rivals(self, cell: Cell, field: Field) -> str:
        """What other sources say of it; "" where they agree."""
        values = rival_values(cell.conflict, field, self._state.language)
        return self._say("Another source says {values}.", values=values) if values else ""

    def _value_of(self, row: Row, field: Field) -> str:
        column = column_name(field.name, self._state.language)
        return self._say("{column} of {product}", column=column, product=cell_text(row.cell(KEY)))

    def _looked_again(self, row: Row, field: Field, again: Cell) -> str:
        name = self._value_of(row, field)
        language = self._state.language
        before, now = shown_cell(row, field, language), shown_value(again.value, field, language)
        if not now:
            return self._say("{name} was looked for again and not found; it is empty now.", name=name)
        maker = registrable_domain(cell_text(row.cell(PAGE)))
        quotes = sorted(again.evidence, key=lambda each: each.domain != maker)
        quote = f" ({quotes[0].domain}: “{quotes[0].quote}”)" if quotes else ""
        told = self._say(
            "{name} was looked for again: the source still says {value}{quote}."
            if now == before
            else "{name} was looked for again and is now {value}{quote}.",
            name=name,
            value=now,
            quote=quote,
        )
        return f"{told} {self._rivals(again, field)}".strip()


def rows_of(table: Table, row_ids: Sequence[RowId]) -> list[Row]:
    rows = {row.id: row for row in table.rows}
    return [rows[row_id] for row_id in row_ids if row_id in rows]


def fields_of(table: Table, names: Sequence[str]) -> list[Field]:
    return [field for name in names if (field := table.field(name))]
