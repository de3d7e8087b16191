"""The comparison: a table of products × columns, filled by the engine and by nobody else.

Three paths: new candidates with all their columns; new columns of all candidates; cells that were flagged. Only what is
PENDING or FLAGGED is worked on, so that a new column costs a column and a doubted cell costs a cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from msgspec import structs

from tablewright.decisions.shortlist.columns import price_field
from tablewright.decisions.shortlist.conditions import budget_currency
from tablewright.domain.edits import AddField, AddRow, ChangeField, Edit, RemoveRow, SetCell
from tablewright.domain.feed import Progress
from tablewright.domain.model import PENDING, Cell, Evidence, Field, Finding, Money, Row, RowId, Table, column_key
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import (
    FOUND_AT,
    KEY,
    MAKER,
    MEETS,
    OFFERED_AS,
    PAGE,
    PRICE,
    STATES,
    Excluded,
    Product,
    Ranked,
    Ranking,
    Requirements,
    ShortlistLimits,
)
from tablewright.domain.text import cell_text
from tablewright.engine.changes import Changes
from tablewright.engine.estimate import Estimate
from tablewright.engine.fill import Fill, Terms
from tablewright.engine.policy import RetryPolicy
from tablewright.engine.quality import as_cell
from tablewright.journeys.shortlist.prices import lowest_price
from tablewright.journeys.shortlist.ranking import rank
from tablewright.sources.fetch.addresses import registrable_domain
from tablewright.store.proposal import CellAt
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.own_pages import OwnPages
from tablewright.strategies.tools import Tools
from tablewright.values.money import Rates

FOUND = (KEY, MAKER, PAGE, OFFERED_AS, FOUND_AT)
"""What is known of a candidate when it is found."""
OWN_PAGES = 6
SURE = 0.9


class ProductComparison:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        table_id: str,
        actor: str,
        terms: Terms,
        limits: ShortlistLimits,
        concurrency: int | None,
        watch: Callable[[Progress], None],
        requirements: Requirements,
        rates: Rates,
    ) -> None:
        self.table_id = table_id
        self._store = store
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._limits = limits
        self._concurrency = concurrency
        self._watch = watch
        self._requirements = requirements
        self._rates = rates

    @classmethod
    async def make(cls, store: Store, name: str, actor: str, *, has_model: bool) -> str:
        """The id of a new table. Without a model nobody tells makers, official pages and used goods."""
        judged = (
            Field(name=MAKER),
            Field(name=PAGE, type="url"),
            Field(name=OFFERED_AS, type="select", options=STATES),
        )
        fields = (Field(name=KEY), *(judged if has_model else (Field(name=FOUND_AT, type="url"),)))
        table = await store.tables.create(name, fields, key_field=KEY, actor=actor, note="a shortlist")
        return table.id

    async def table(self) -> Table:
        return await self._store.tables.load(self.table_id)

    # ── rows and columns ─────────────────────────────────────────────────────────────────────────────────────────────

    async def add_products(self, products: Sequence[Product]) -> int:
        """How many are new; one whose name is there already is not added again."""
        table = await self.table()
        known = {row.key for row in table.rows}
        names = {field.name for field in table.fields}
        new = {key: product for product in products if (key := row_key(product.name)) not in known}
        if new:
            edits: list[Edit] = [
                AddRow(key=key, cells={name: cell for name, cell in cells_of(product).items() if name in names})
                for key, product in new.items()
            ]
            await self._commit(edits, f"found {len(edits)} products")
        return len(new)

    async def remove_products(self, row_ids: Sequence[RowId]) -> list[str]:
        """Their names."""
        names = [cell_text(row.cell(KEY)) for row in (await self.table()).rows if row.id in row_ids]
        await self._commit([RemoveRow(row_id=row_id) for row_id in row_ids], f"removed {len(row_ids)} products")
        return names

    async def add_fields(self, fields: Sequence[Field]) -> list[str]:
        """The names of those that were not there, or not shown: one that was hidden is shown again."""
        table = await self._store.tables.find(self.table_id)
        new = [field for field in fields if table.field(field.name) is None]
        hidden = [each for field in fields if (each := table.field(field.name)) and each.role == "qualification"]
        edits: list[Edit] = [AddField(field=field) for field in new]
        edits += [ChangeField(name=each.name, field=structs.replace(each, role="user")) for each in hidden]
        if edits:
            await self._commit(edits, f"added {', '.join(field.name for field in (*new, *hidden))}")
        return [field.name for field in (*new, *hidden)]

    async def hide(self, names: Sequence[str]) -> list[str]:
        """Not shown any more; what was found stays, and a wish is still judged by it."""
        table = await self._store.tables.find(self.table_id)
        fields = [field for name in names if (field := table.field(name)) and field.name != KEY]
        if fields:
            edits: list[Edit] = [
                ChangeField(name=each.name, field=structs.replace(each, role="qualification")) for each in fields
            ]
            await self._commit(edits, f"hid {', '.join(field.name for field in fields)}")
        return [field.name for field in fields]

    async def _commit(self, edits: Sequence[Edit], note: str) -> None:
        await self._store.log.commit(self.table_id, edits, actor=self._actor, note=note)

    # ── filling ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def fill(
        self, *, fields: Collection[str] = (), only: Collection[CellAt] | None = None, searches: bool = True
    ) -> list[str]:
        """Each product from its own pages, and what they do not say from a search, unless the product is out already.
        With `only` these cells are looked for again. What the person should know about it: that something never
        answered."""
        table = await self.table()
        asked = asked_fields(table, fields)
        if not asked or (only is None and not pending(table, asked)):
            return []
        fill = self._fill(table, asked, only=only, searches=searches)
        filled = await fill.run_within(self._limits.seconds)
        await Changes(self._store, self._actor).apply_unseen(filled.proposal_id)
        await self.settle_prices()
        await self._settle_official_pages()
        return [filled.problem] if filled.problem else []

    async def _settle_official_pages(self) -> None:
        """A product without one, of a maker whose site is known: the page there that most of its cells come from."""
        table = await self.table()
        sites = {
            cell_text(row.cell(MAKER)).casefold(): registrable_domain(cell_text(row.cell(PAGE)))
            for row in table.rows
            if cell_text(row.cell(MAKER)) and cell_text(row.cell(PAGE))
        }
        edits: list[Edit] = []
        for row in table.rows:
            site = sites.get(cell_text(row.cell(MAKER)).casefold(), "")
            there = [each for cell in row.cells.values() for each in cell.evidence if site and each.domain == site]
            if there and not cell_text(row.cell(PAGE)):
                page, _ = Counter(each.origin for each in there).most_common(1)[0]
                cited = [each for each in there if each.origin == page]
                edits.append(SetCell(row_id=row.id, field=PAGE, cell=read(page, cited[:1], judged=True)))
        if edits:
            await Changes(self._store, self._actor).edit(self.table_id, edits, "found official pages")

    async def read_prices_again(self, before: Requirements) -> list[str] | None:
        """In another currency than before, where the budget has changed it: of products without a price in it, their
        own pages are asked once more. What the person should know about it; None where there is nothing to ask."""
        currency = budget_currency(self._requirements)
        table = await self.table()
        field = table.field(PRICE)
        if field is None or not currency or currency == budget_currency(before):
            return None
        asked = structs.replace(field, question=price_field(self._requirements).question)
        await self._commit([ChangeField(name=PRICE, field=asked)], f"asked for prices in {currency}")
        foreign = {(row.id, PRICE) for row in table.rows if (named := currencies(row)) and currency not in named}
        return await self.fill(fields=[PRICE], only=foreign, searches=False) if foreign else None

    async def look_at_let_in(self, before: Requirements) -> list[str] | None:
        """What nobody knows, of hard wishes, of products that were out by the requirements of before: no search was
        made for them. What the person should know about it; None where there is nothing to look for. Not without a
        model, where most is unknown and a search seldom helps."""
        if self._tools.model is None:
            return None
        table = await self.table()
        was_in = {each.row_id for each in rank(table, before, self._rates).ranked}
        now_in = {each.row_id for each in rank(table, self._requirements, self._rates).ranked}
        hard = {column_key(wish.column) for wish in self._requirements.wishes if wish.hard}
        fields = [field.name for field in asked_fields(table) if column_key(field.name) in hard]
        cells = {
            (row.id, name)
            for row in table.rows
            for name in fields
            if row.id in now_in - was_in and row.cell(name).reason == "not_found"
        }
        return await self.fill(fields=fields, only=cells) if cells else None

    async def settle_prices(self) -> None:
        """Of several sellers' prices, the lowest is the price."""
        edits: list[Edit] = []
        for row in (await self.table()).rows:
            before = row.cell(PRICE)
            price = lowest_price(before, budget_currency(self._requirements), self._rates)
            if price is not before:
                edits.append(SetCell(row_id=row.id, field=PRICE, cell=price, expected=before))
        if edits:
            await Changes(self._store, self._actor).edit(self.table_id, edits, "took the lowest of several prices")

    async def estimate(self, fields: Sequence[Field]) -> Estimate:
        """What filling these columns is likely to take."""
        return await self._fill(await self.table(), fields).estimate()

    def _fill(
        self,
        table: Table,
        fields: Sequence[Field],
        *,
        only: Collection[CellAt] | None = None,
        searches: bool = True,
    ) -> Fill:
        return Fill(
            self._store,
            table,
            fields,
            OwnPages(
                {row.id: own_pages(row) for row in table.rows},
                searches=searches,
                side_by_side=(PRICE,),
                worth_searching=partial(worth_searching, table, self._requirements, self._rates),
            ),
            tools=self._tools,
            only=only,
            concurrency=self._concurrency or len(table.rows) or None,  # all at once, so that they share calls
            retry=RetryPolicy(attempts=1 + self._limits.retries),
            terms=self._terms,
            watch=self._watch,
        )

    async def flag(self, row_id: RowId, field: str, why: str) -> None:
        await Changes(self._store, self._actor).flag(self.table_id, row_id, field, why)

    async def judge(self, table: Table, ranking: Ranking) -> None:
        """Writes down of each product whether it meets the requirements: worked out from its cells, not looked for."""
        if table.field(MEETS.name) is None:
            await self._commit([AddField(field=MEETS)], "judged by the requirements")
        rows = {row.id: row for row in table.rows}
        verdicts = {each.row_id: refused(each, rows[each.row_id]) for each in ranking.excluded}
        verdicts |= {each.row_id: met(each, rows[each.row_id]) for each in ranking.ranked}
        edits: list[Edit] = []
        for row_id, verdict in verdicts.items():
            before = rows[row_id].cell(MEETS.name)
            if (before.value, before.error) != (verdict.value, verdict.error):
                edits.append(SetCell(row_id=row_id, field=MEETS.name, cell=verdict))
        if edits:
            await Changes(self._store, self._actor).edit(self.table_id, edits, "judged by the requirements")


def asked_fields(table: Table, names: Collection[str] = ()) -> list[Field]:
    wanted = {column_key(name) for name in names}
    return [
        field
        for field in table.fields
        if field.is_asked and field.name not in FOUND and (not wanted or column_key(field.name) in wanted)
    ]


def pending(table: Table, fields: Sequence[Field]) -> int:
    return sum(row.cell(field.name).needs_work for row in table.rows for field in fields)


def worth_searching(
    table: Table,
    requirements: Requirements,
    rates: Rates,
    row: Row,
    found: Mapping[str, Finding],
    weak: Sequence[str],
) -> Collection[str]:
    """Nothing more of a product that is out; else what its pages do not say, and a price in the currency of the budget
    where they name others. A price that is just over the limit only because it was converted puts nothing out."""
    read = {name: as_cell(field, finding) for name, finding in found.items() if (field := table.field(name))}
    row = structs.replace(row, cells={**row.cells, **read})
    out = rank(structs.replace(table, rows=(row,)), requirements, rates).excluded
    named = currencies(row)
    is_foreign = bool(named) and budget_currency(requirements) not in ("", *named)
    if out and not (is_foreign and out[0].near and out[0].field == PRICE):
        return ()
    return {*weak, PRICE} if is_foreign else weak


def currencies(row: Row) -> set[str]:
    """Of the prices that are known of a product."""
    price = row.cell(PRICE)
    prices = (price.value, *(other.value for other in price.conflict))
    return {each.currency for each in prices if isinstance(each, Money)}


def own_pages(row: Row) -> list[str]:
    """The maker's own page of the product first, then those that most is known from."""
    cited = Counter(each.origin for cell in row.cells.values() for each in cell.evidence if each.origin)
    named = [each.origin for each in row.cell(KEY).evidence]
    known = sorted(dict.fromkeys((*named, *cited)), key=lambda origin: -cited[origin])
    return list(dict.fromkeys(filter(None, (cell_text(row.cell(PAGE)), *known))))[:OWN_PAGES]


def refused(product: Excluded, row: Row) -> Cell:
    return worked_out(False, [row.cell(product.field) if product.field else PENDING], product.reason)


def met(product: Ranked, row: Row) -> Cell:
    if product.unknown:
        unknown = f"not known: {'; '.join(product.unknown)}"
        return Cell(status="FAILED", reason="not_found", error=unknown, updated_at=now())
    counted = [cell for part in product.parts if (cell := row.cell(part.field)).value is not None]
    if not counted:
        return Cell(status="FAILED", reason="not_applicable", error="no cell of it decides that", updated_at=now())
    return worked_out(True, counted, "")


def worked_out(value: bool, inputs: Sequence[Cell], why: str) -> Cell:
    """As sure as the least sure of the cells it follows from, and with their evidence."""
    return Cell(
        value=value,
        status="ENRICHED",
        confidence=min((cell.confidence for cell in inputs if cell.confidence is not None), default=1.0),
        basis="computed",
        evidence=tuple(cell.evidence[0] for cell in inputs if cell.evidence),
        updated_at=now(),
        error=why or None,
    )


def cells_of(product: Product) -> dict[str, Cell]:
    named = product.evidence
    there = next((each for each in named if each.origin == product.official_url), None)
    cells = {KEY: read(product.name, named), FOUND_AT: read(named[0].origin, named[:1])}
    if product.offered_as:
        cells[OFFERED_AS] = read(product.offered_as, named[:1], judged=True)
    if product.maker:
        cells[MAKER] = read(product.maker, (there,) if there else named[:1], judged=product.maker not in product.name)
    if product.official_url:
        cells[PAGE] = read(product.official_url, (there,) if there else named[:1], judged=there is None)
    return cells


def read(value: str, evidence: Sequence[Evidence], *, judged: bool = False) -> Cell:
    return Cell(
        value=value,
        raw_value=value,
        status="ENRICHED",
        confidence=0.7 if judged else SURE,
        basis="judged" if judged else "stated",
        evidence=tuple(evidence),
        updated_at=now(),
    )
