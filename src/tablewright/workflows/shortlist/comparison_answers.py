"""Answer questions about the existing comparison: sources, shops, exports, doubted values.

Reads the table; only doubted or missing cells are filled again, through `ProductComparison`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tablewright.citations.quotes import quote_with_header
from tablewright.conditions.evaluate import is_stated_absent
from tablewright.domain.model import Cell, Evidence, Field, Row, RowId, Table
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import (
    PAGE_COLUMN,
    PRODUCT_COLUMN,
    TOP_CANDIDATES,
    ChatReply,
    ReplySentence,
    ShopListing,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import cell_text, shorten_text
from tablewright.errors import SearchError, TablewrightError
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.shortlist.conditions import budget_currency
from tablewright.llm.tasks.shortlist.offers import OffersToRead, ReadOffers
from tablewright.llm.tasks.shortlist.turn import TurnTaken
from tablewright.messages.catalogue import translate
from tablewright.store.records import utc_now
from tablewright.strategies.gathering import Gathering
from tablewright.strategies.subject import require_web
from tablewright.text import remove_personal_data
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.workflows.files import write_table_file
from tablewright.workflows.shortlist.comparison import ProductComparison, rank_own_pages
from tablewright.workflows.shortlist.context import TurnContext
from tablewright.workflows.shortlist.ranking import (
    convert_to_euros,
    format_product_cell,
    format_product_value,
    list_missed_wishes,
    wanted_states,
)
from tablewright.workflows.shortlist.wording import (
    format_rival_values,
    format_row_cells,
    make_cell_sentence,
    make_reply,
    make_sentences,
    translate_columns,
)


class ComparisonAnswers:
    """Replies about the comparison of one conversation."""

    def __init__(self, context: TurnContext, state: ShortlistState) -> None:
        self.comparison = ProductComparison(context, state)
        self._context = context
        self._state = state
        self._say = context.translate_for(state)

    async def show(self, turn: TurnTaken) -> ChatReply:
        table, language = await self.comparison.table(), self._state.language
        ranking = self._context.ranking(table, self._state)
        ranked = [each.row_id for each in ranking.ranked] + [each.row_id for each in ranking.excluded]
        shown = [
            format_row_cells(row, table.shown_fields, ranking, language)
            for row in pick_rows(table, turn.products or ranked)
        ]
        counted = self._say("{count} of {all} candidates:", count=len(shown), all=len(table.rows))
        columns = translate_columns(table.shown_fields, language)
        return ChatReply(said=(*turn.said, *make_sentences(counted)), columns=columns, rows=tuple(shown))

    async def links(self, turn: TurnTaken) -> ChatReply:
        table = await self.comparison.table()
        rows = pick_rows(table, turn.products or self._state.shown[:1])[:TOP_CANDIDATES]
        said: list[ReplySentence] = []
        found: list[ShopListing] = []
        for row in rows:
            name = cell_text(row.cell(PRODUCT_COLUMN))
            try:
                offers = await self._offers(name, tuple(rank_own_pages(row)))
            except SearchError as error:
                failed = self._say(
                    "{product}: the search failed, so no shop was asked: {why}", product=name, why=error.what
                )
                said.append(make_cell_sentence(failed, row.id, PRODUCT_COLUMN))
                continue
            found += offers
            page = cell_text(row.cell(PAGE_COLUMN))
            official = self._say("Its official page: {page}", page=page) if page else ""
            none = f"{self._say('No shop was found that offers {product}.', product=name)} {official}".strip()
            asked = self._say("{product}, asked just now, the cheapest first:", product=name) if offers else none
            said.append(make_cell_sentence(asked, row.id, PRODUCT_COLUMN))
        if not rows:
            said += make_sentences(self._say("Which product is meant?"))
        return ChatReply(said=(*turn.said, *said), listings=tuple(found))

    async def _offers(self, name: str, known: tuple[str, ...]) -> list[ShopListing]:
        """Return offers, the cheapest first, those in the wanted state (new by default) before others; offers over the
        budget are marked. `known` are pages that named the product before. Raise SearchError if all searches failed."""
        requirements, rates, tools = self._state.requirements, self._context.rates, self._context.tools
        wanted = wanted_states(requirements.wishes) or {"new"}
        with track_provenance(Provenance(name, requirements, addresses=known)):
            pages = await self._shop_pages(name, known)
        if not pages:
            return []
        room = tools.model.text_room if tools.model is not None else 0
        asked = OffersToRead(product=name, region=requirements.region, sources=pages, room=room)
        offers: tuple[ShopListing, ...] = (await decide(ReadOffers(), asked, tools.model, self._context.tell)).decided
        asked_at = utc_now()  # not when a page that has not changed since was sent

        def order(offer: ShopListing) -> tuple[bool, float]:
            price = convert_to_euros(offer.price, rates) if offer.price is not None else float("inf")
            return offer.offered_as not in wanted, price

        def marked(offer: ShopListing) -> ShopListing:
            offer = msgspec.structs.replace(offer, at=asked_at, product=name)
            if offer.price is None:
                return offer
            misses = list_missed_wishes(offer.price, requirements, rates)
            about = rates.about_money(offer.price, budget_currency(requirements), self._state.language)
            return msgspec.structs.replace(offer, misses=misses, about=about)

        # The first of each address is its cheapest, because the offers are sorted.
        best = {offer.url: marked(offer) for offer in sorted(offers, key=order)}
        # Further offers are dearer, or in another state than the wanted one.
        return list(best.values())[:5]

    async def _shop_pages(self, name: str, known: Sequence[str]) -> tuple[Retrieved, ...]:
        """Fetch the pages that name the product again."""
        web, region = require_web(self._context.tools), self._state.requirements.region
        gathering = Gathering(web, self._context.tools.model, self._context.tell)
        # Two wordings: shops rank for "buy", comparison sites for "price".
        queries = [remove_personal_data(query) for query in (f"buy {name} {region}", f"{name} price {region}")]
        hits = await gathering.search_all(queries)
        origins = list(dict.fromkeys((*known, *(hit.origin for hit in hits))))
        failed = list(gathering.failed_searches.values())
        # Known pages can still answer if the searches fail.
        if len(failed) == len(queries) and not origins:
            raise failed[0]
        # Shop pages opened for one product; each one is fetched again, since prices change.
        opened = await asyncio.gather(*map(web.open_again, origins[:12]))
        return tuple(page for page in opened if isinstance(page, Retrieved))

    async def export(self, turn: TurnTaken) -> ChatReply:
        table_id, folder = self.comparison.table_id, self._context.folder
        path = Path(turn.path or f"{table_id}.csv").expanduser()
        if folder is not None:
            path = folder / (path.name or f"{table_id}.csv")
        try:
            evidence = path.suffix != ".csv"
            written = await write_table_file(self._context.store, table_id, path, evidence=evidence, units=True)
        except (TablewrightError, OSError) as error:
            return make_reply((), self._say("Nothing was written: {why} Which other file shall it be?", why=error))
        text = self._say(
            "The only candidate with all columns is in {file}.|All {count} candidates with all columns are in {file}.",
            count=written.row_count,
            file=path if folder is None else path.name,
        )
        return ChatReply(said=make_sentences(text), file=str(path))

    async def source(self, turn: TurnTaken) -> ChatReply:
        """Quote the passages that values come from."""
        table = await self.comparison.table()
        said = [
            make_cell_sentence(await self._sourced(row, field), row.id, field.name)
            for row in pick_rows(table, turn.products or self._state.shown[:1])
            for field in pick_fields(table, turn.about_columns)
        ]
        return make_reply((*turn.said, *(said or make_sentences(self._say("Which value of which product is meant?")))))

    async def look_up(self, turn: TurnTaken, columns: Sequence[str]) -> ChatReply:
        """Fill unknown cells of these columns, only for the products asked about, and quote their sources."""
        rows = pick_rows(await self.comparison.table(), turn.products)
        cells = {(row.id, name): row.cell(name) for row in rows for name in columns}
        wanted = {at for at, cell in cells.items() if cell.value is None and not is_stated_absent(cell)}
        notes = await self.comparison.fill(fields=columns, only=wanted) if wanted else []
        reply = await self.source(msgspec.structs.replace(turn, about_columns=tuple(columns)))
        return msgspec.structs.replace(reply, notes=make_sentences(*notes))

    async def look_again(self, turn: TurnTaken, why: str) -> ChatReply:
        """Look again for the doubted cells and for nothing else."""
        table = await self.comparison.table()
        rows, fields = pick_rows(table, turn.products), pick_fields(table, turn.about_columns)
        doubted = [(row, field) for row in rows for field in fields if field.is_asked]
        if not doubted:
            text = self._say("Which value of which product is wrong? For example: the capacity of the first.")
            return make_reply(turn.said, text)
        await self.comparison.fill_again([(row.id, field.name) for row, field in doubted], why)
        after = {row.id: row for row in (await self.comparison.table()).rows}
        said = [
            make_cell_sentence(
                self._looked_again(row, field, after[row.id].cell(field.name)), row.id, field.name, PRODUCT_COLUMN
            )
            for row, field in doubted
        ]
        return make_reply(said)

    async def _sourced(self, row: Row, field: Field) -> str:
        cell, language = row.cell(field.name), self._state.language
        name = self._value_of(row, field)
        if cell.value is None:
            return self._say("{name} is not known. {why}", name=name, why=cell.error or "").strip()
        # Three sources of two lines each: enough to check a value, short enough for a chat.
        quotes = [f"{each.origin}: “{shorten_text(await self._quoted(each), 200)}”" for each in cell.evidence[:3]]
        text = self._say(
            "{name}: {value}. Source: {quotes}.",
            name=name,
            value=format_product_cell(row, field, language),
            quotes="; ".join(quotes) or translate("shortlist: sources", "none", self._state.language),
        )
        return f"{text} {self._rivals(cell, field)}".strip()

    async def _quoted(self, evidence: Evidence) -> str:
        text = await self._context.store.pages.text(evidence.content_hash) if evidence.content_hash else None
        return quote_with_header(evidence, text or "").replace("\n", " / ")

    def _rivals(self, cell: Cell, field: Field) -> str:
        """Say what other sources state, or "" if they agree."""
        values = format_rival_values(cell.conflict, field, self._state.language)
        return self._say("Another source says {values}.", values=values) if values else ""

    def _value_of(self, row: Row, field: Field) -> str:
        column = localize_column_name(field.name, self._state.language)
        return self._say("{column} of {product}", column=column, product=cell_text(row.cell(PRODUCT_COLUMN)))

    def _looked_again(self, row: Row, field: Field, again: Cell) -> str:
        name = self._value_of(row, field)
        language = self._state.language
        before, now = format_product_cell(row, field, language), format_product_value(again.value, field, language)
        if not now:
            return self._say("{name} was looked for again and not found; it is empty now.", name=name)
        maker = registrable_domain(cell_text(row.cell(PAGE_COLUMN)))
        # The maker's own page first.
        quotes = sorted(again.evidence, key=lambda each: each.domain != maker)
        quote = f" ({quotes[0].domain}: “{quotes[0].quote}”)" if quotes else ""
        text = self._say(
            "{name} was looked for again: the source still says {value}{quote}."
            if now == before
            else "{name} was looked for again and is now {value}{quote}.",
            name=name,
            value=now,
            quote=quote,
        )
        return f"{text} {self._rivals(again, field)}".strip()


def pick_rows(table: Table, row_ids: Sequence[RowId]) -> list[Row]:
    rows = {row.id: row for row in table.rows}
    return [rows[row_id] for row_id in row_ids if row_id in rows]


def pick_fields(table: Table, names: Sequence[str]) -> list[Field]:
    return [field for name in names if (field := table.field(name))]
