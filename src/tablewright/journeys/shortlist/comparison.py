"""The comparison: a table of products × columns, filled by the engine and by nobody else.

Three paths: new candidates with all their columns; new columns of all candidates; cells that were flagged. Only what is
PENDING or FLAGGED is worked on, so that a new column costs a column and a doubted cell costs a cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from msgspec import structs

from tablewright.decisions.shortlist.columns import price_field
from tablewright.decisions.shortlist.conditions import budget_currency
from tablewright.domain.edits import AddField, AddRow, ChangeField, Edit, RemoveRow, SetCell
from tablewright.domain.model import (
    PENDING,
    Cell,
    Conflict,
    Evidence,
    Field,
    Finding,
    Money,
    Role,
    Row,
    RowId,
    Table,
    column_key,
)
from tablewright.domain.proposal import CellAt
from tablewright.domain.rowkey import row_key
from tablewright.domain.run import Estimate
from tablewright.domain.shortlist import (
    FOUND_AT,
    FOUND_FIELDS,
    KEY,
    MAKER,
    MEETS,
    OFFERED_AS,
    PAGE,
    PRICE,
    Excluded,
    Product,
    Ranked,
    Ranking,
    Requirements,
    ShortlistState,
)
from tablewright.domain.text import cell_text
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.policy import RetryPolicy
from tablewright.engine.retry import as_cell
from tablewright.journeys.shortlist.context import TurnContext
from tablewright.journeys.shortlist.ranking import rank
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.store.records import now
from tablewright.strategies.pipeline import OwnPages
from tablewright.values.money import Rates

FOUND = (*(field.name for field in FOUND_FIELDS), FOUND_AT)
"""What is known of a candidate when it is found."""
OWN_PAGES = 6
SURE = 0.9


class ProductComparison:
    """The table of a conversation, which has one already."""

    def __init__(self, context: TurnContext, state: ShortlistState) -> None:
        self.table_id = state.table_id
        self._context = context
        self._store = context.store
        self._changes = Changes(context.store, context.actor)
        self._requirements = state.requirements

    async def table(self) -> Table:
        return await self._store.tables.load(self.table_id)

    # ── rows and columns ─────────────────────────────────────────────────────────────────────────────────────────────

    async def add_products(self, products: Sequence[Product]) -> int:
        """Return how many are new; one whose name is there already is not added again."""
        table = await self.table()
        known = {row.key for row in table.rows}
        names = {field.name for field in table.fields}
        new = {key: product for product in products if (key := row_key(product.name)) not in known}
        edits: list[Edit] = [
            AddRow(key=key, cells={name: cell for name, cell in cells_of(product).items() if name in names})
            for key, product in new.items()
        ]
        await self._edit(edits, f"found {len(edits)} products")
        return len(new)

    async def remove_products(self, row_ids: Sequence[RowId]) -> list[str]:
        """Return their names."""
        names = [cell_text(row.cell(KEY)) for row in (await self.table()).rows if row.id in row_ids]
        await self._edit([RemoveRow(row_id=row_id) for row_id in row_ids], f"removed {len(row_ids)} products")
        return names

    async def add_fields(self, fields: Sequence[Field]) -> list[str]:
        """Return the names of those that were not there, or not shown: one that was hidden is shown again."""
        table = await self._store.tables.find(self.table_id)
        new = [field for field in fields if table.field(field.name) is None]
        hidden = [each for field in fields if (each := table.field(field.name)) and each.role == "qualification"]
        names = [field.name for field in (*new, *hidden)]
        edits: list[Edit] = [AddField(field=field) for field in new]
        await self._edit([*edits, *(change_role(each, "user") for each in hidden)], f"added {', '.join(names)}")
        return names

    async def hide_fields(self, names: Sequence[str]) -> list[str]:
        """Return the names of those that are not shown any more; a wish is still judged by what was found."""
        table = await self._store.tables.find(self.table_id)
        fields = [field for name in names if (field := table.field(name)) and field.name != KEY]
        hidden = [field.name for field in fields]
        await self._edit([change_role(each, "qualification") for each in fields], f"hid {', '.join(hidden)}")
        return hidden

    async def _edit(self, edits: Sequence[Edit], note: str) -> None:
        if edits:
            await self._changes.edit(self.table_id, edits, note)

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
        filled = await fill.run_within(self._context.limits.seconds)
        await self._changes.apply_unseen(filled.proposal_id)
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
        await self._edit(edits, "found official pages")

    async def read_prices_again(self, before: Requirements) -> list[str] | None:
        """In another currency than before, where the budget has changed it: of products without a price in it, their
        own pages are asked once more. What the person should know about it; None where there is nothing to ask."""
        currency = budget_currency(self._requirements)
        table = await self.table()
        field = table.field(PRICE)
        if field is None or not currency or currency == budget_currency(before):
            return None
        asked = structs.replace(field, question=price_field(self._requirements).question)
        await self._edit([ChangeField(name=PRICE, field=asked)], f"asked for prices in {currency}")
        foreign = {(row.id, PRICE) for row in table.rows if (named := currencies(row)) and currency not in named}
        return await self.fill(fields=[PRICE], only=foreign, searches=False) if foreign else None

    async def look_at_let_in(self, before: Requirements) -> list[str] | None:
        """What nobody knows, of hard wishes, of products that were out by the requirements of before: no search was
        made for them. What the person should know about it; None where there is nothing to look for. Not without a
        model, where most is unknown and a search seldom helps."""
        if self._context.tools.model is None:
            return None
        table = await self.table()
        was_in = {each.row_id for each in rank(table, before, self._context.rates).ranked}
        now_in = {each.row_id for each in rank(table, self._requirements, self._context.rates).ranked}
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
            price = lowest_price(before, budget_currency(self._requirements), self._context.rates)
            if price is not before:
                edits.append(SetCell(row_id=row.id, field=PRICE, cell=price, expected=before))
        await self._edit(edits, "took the lowest of several prices")

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
        filling = FillPlan(
            table,
            fields,
            OwnPages(
                {row.id: own_pages(row) for row in table.rows},
                searches=searches,
                side_by_side=(PRICE,),
                worth_searching=partial(worth_searching, table, self._requirements, self._context.rates),
            ),
            only=only,
            concurrency=self._context.concurrency or len(table.rows) or None,  # all at once, so that they share calls
            retry=RetryPolicy(attempts=1 + self._context.limits.retries),
            terms=self._context.terms,
        )
        return Fill(self._store, filling, self._context.tools, watch=self._context.watch)

    async def fill_again(self, cells: Sequence[CellAt], why: str) -> None:
        """Look for the values that the person doubts, and for nothing else."""
        for row_id, field in cells:
            await self._changes.flag(self.table_id, row_id, field, why)
        await self.fill(fields=[field for _, field in cells], only=set(cells))

    async def judge(self, table: Table, ranking: Ranking) -> None:
        """Writes down of each product whether it meets the requirements: worked out from its cells, not looked for."""
        if table.field(MEETS.name) is None:
            await self._edit([AddField(field=MEETS)], "judged by the requirements")
        rows = {row.id: row for row in table.rows}
        verdicts = {each.row_id: refused(each, rows[each.row_id]) for each in ranking.excluded}
        verdicts |= {each.row_id: met(each, rows[each.row_id]) for each in ranking.ranked}
        before = {row_id: rows[row_id].cell(MEETS.name) for row_id in verdicts}
        edits = [
            SetCell(row_id=row_id, field=MEETS.name, cell=verdict)
            for row_id, verdict in verdicts.items()
            if (before[row_id].value, before[row_id].error) != (verdict.value, verdict.error)
        ]
        await self._edit(edits, "judged by the requirements")


def change_role(field: Field, role: Role) -> Edit:
    return ChangeField(name=field.name, field=structs.replace(field, role=role))


async def with_table(context: TurnContext, state: ShortlistState) -> ShortlistState:
    """Return the state with a table, which the conversation knows at once: if the turn fails, the next one uses it."""
    if state.table_id:
        return state
    store, name = context.store, state.requirements.product_type.capitalize() or "Shortlist"
    # Without a model nothing tells makers, official pages and used goods.
    fields = FOUND_FIELDS if context.tools.model is not None else (Field(name=KEY), Field(name=FOUND_AT, type="url"))
    table = await store.tables.create(name, fields, key_field=KEY, actor=context.actor, note="a shortlist")
    await store.shortlists.save(structs.replace(await store.shortlists.get(state.id), table_id=table.id))
    return structs.replace(state, table_id=table.id)


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


def all_values(cell: Cell) -> list[Conflict]:
    """Return the value with its evidence, then those of other sources."""
    return [Conflict(value=cell.value, evidence=cell.evidence), *cell.conflict]


def currencies(row: Row) -> set[str]:
    """Of the prices that are known of a product."""
    return {each.value.currency for each in all_values(row.cell(PRICE)) if isinstance(each.value, Money)}


def lowest_price(cell: Cell, currency: str, rates: Rates) -> Cell:
    """Return the cell with the lowest of the prices that were read for it, in the currency of the budget if one is in
    it; the others stay beside it, since none of them is wrong. What a person wrote stays. Amounts without a known rate
    are not compared."""
    if not isinstance(cell.value, Money) or cell.shown_basis == "given":
        return cell
    named = all_values(cell)
    wanted = {price.value.currency for price in named if isinstance(price.value, Money)} & {currency}
    euros: dict[int, float] = {}
    for place, price in enumerate(named):
        if isinstance(price.value, Money) and (not wanted or price.value.currency == currency):
            amount = rates.convert(price.value.amount, price.value.currency, "EUR")
            if amount is not None:
                euros[place] = amount
    best = min(euros, key=lambda place: (euros[place], place), default=0)
    if best == 0:
        return cell
    return structs.replace(
        cell,
        value=named[best].value,
        raw_value=None,
        converted_by="",
        evidence=named[best].evidence,
        conflict=(*named[:best], *named[best + 1 :]),
    )


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
