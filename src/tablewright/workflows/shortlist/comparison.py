"""The comparison: a table of products and columns that only the engine fills.

Three paths: new candidates with all their columns; new columns of all candidates; flagged cells. Only PENDING and
FLAGGED cells are filled, so a new column costs a column and a doubted cell costs a cell. All edits go through
`engine.changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from msgspec import structs

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
    FOUND_AT_COLUMN,
    FOUND_FIELDS,
    MAKER_COLUMN,
    MEETS_FIELD,
    OFFERED_AS_COLUMN,
    PAGE_COLUMN,
    PRICE_COLUMN,
    PRODUCT_COLUMN,
    Product,
    RankedProduct,
    Ranking,
    Requirements,
    ShortlistState,
)
from tablewright.domain.text import cell_text
from tablewright.engine.changes import TableChanges
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan, RetryPolicy
from tablewright.engine.retry import preview_cell
from tablewright.llm.tasks.shortlist.columns import price_field
from tablewright.llm.tasks.shortlist.conditions import budget_currency
from tablewright.store.records import utc_now
from tablewright.strategies.pipeline import OwnPagesStrategy
from tablewright.values.money import ExchangeRates
from tablewright.web.fetch.guard import registrable_domain
from tablewright.workflows.shortlist.context import TurnContext
from tablewright.workflows.shortlist.ranking import rank_products

# A product's own pages, read before any search for it.
MAX_PAGES_PER_PRODUCT = 6


class ProductComparison:
    """The table of a conversation that has one."""

    def __init__(self, context: TurnContext, state: ShortlistState) -> None:
        self.table_id = state.table_id
        self._context = context
        self._store = context.store
        self._changes = TableChanges(context.store, context.actor)
        self._requirements = state.requirements

    async def table(self) -> Table:
        return await self._store.tables.load(self.table_id)

    # ── rows and columns ─────────────────────────────────────────────────────────────────────────────────────────────

    async def add_products(self, products: Sequence[Product]) -> int:
        """Add products and return how many are new; known names are skipped."""
        table = await self.table()
        known = {row.key for row in table.rows}
        names = {field.name for field in table.fields}
        new = {key: product for product in products if (key := row_key(product.name)) not in known}
        edits: list[Edit] = [
            AddRow(key=key, cells={name: cell for name, cell in make_product_cells(product).items() if name in names})
            for key, product in new.items()
        ]
        await self._edit(edits, f"found {len(edits)} products")
        return len(new)

    async def remove_products(self, row_ids: Sequence[RowId]) -> list[str]:
        """Remove products and return their names."""
        names = [cell_text(row.cell(PRODUCT_COLUMN)) for row in (await self.table()).rows if row.id in row_ids]
        await self._edit([RemoveRow(row_id=row_id) for row_id in row_ids], f"removed {len(row_ids)} products")
        return names

    async def add_fields(self, fields: Sequence[Field]) -> list[str]:
        """Add columns, or show hidden ones again; return the names of both."""
        table = await self._store.tables.find(self.table_id)
        new = [field for field in fields if table.field(field.name) is None]
        hidden = [each for field in fields if (each := table.field(field.name)) and each.role == "qualification"]
        names = [field.name for field in (*new, *hidden)]
        edits: list[Edit] = [AddField(field=field) for field in new]
        await self._edit([*edits, *(make_role_change(each, "user") for each in hidden)], f"added {', '.join(names)}")
        return names

    async def hide_fields(self, names: Sequence[str]) -> list[str]:
        """Hide columns and return their names; wishes are still judged by their cells."""
        table = await self._store.tables.find(self.table_id)
        fields = [field for name in names if (field := table.field(name)) and field.name != PRODUCT_COLUMN]
        hidden = [field.name for field in fields]
        await self._edit([make_role_change(each, "qualification") for each in fields], f"hid {', '.join(hidden)}")
        return hidden

    async def _edit(self, edits: Sequence[Edit], note: str) -> None:
        if edits:
            await self._changes.edit(self.table_id, edits, note)

    # ── filling ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def fill(
        self, *, fields: Collection[str] = (), only: Collection[CellAt] | None = None, searches: bool = True
    ) -> list[str]:
        """Fill cells from each product's own pages, and from a search for what they lack, unless the product is out.
        With `only`, look for just these cells again. Return what the user should know, such as a service that did not
        answer."""
        table = await self.table()
        asked = comparison_fields(table, fields)
        if not asked or (only is None and not count_pending(table, asked)):
            return []
        fill = self._fill(table, asked, only=only, searches=searches)
        filled = await fill.run_within(self._context.limits.seconds)
        await self._changes.apply_unseen(filled.proposal_id)
        # After the cells are applied: it chooses among the prices that several sellers state.
        await self.settle_prices()
        await self._settle_official_pages()
        return [filled.problem] if filled.problem else []

    async def _settle_official_pages(self) -> None:
        """Set the official page of products without one to the page on their maker's site that most cells cite."""
        table = await self.table()
        sites = {
            cell_text(row.cell(MAKER_COLUMN)).casefold(): registrable_domain(cell_text(row.cell(PAGE_COLUMN)))
            for row in table.rows
            if cell_text(row.cell(MAKER_COLUMN)) and cell_text(row.cell(PAGE_COLUMN))
        }
        edits: list[Edit] = []
        for row in table.rows:
            site = sites.get(cell_text(row.cell(MAKER_COLUMN)).casefold(), "")
            there = [each for cell in row.cells.values() for each in cell.evidence if site and each.domain == site]
            if there and not cell_text(row.cell(PAGE_COLUMN)):
                page, _ = Counter(each.origin for each in there).most_common(1)[0]
                cited = [each for each in there if each.origin == page]
                edits.append(
                    SetCell(row_id=row.id, field=PAGE_COLUMN, cell=make_read_cell(page, cited[:1], judged=True))
                )
        await self._edit(edits, "found official pages")

    async def read_prices_again(self, before: Requirements) -> list[str] | None:
        """Read prices again if the budget's currency changed, from the own pages of products without a price in it.
        Return notes for the user, or None if there is nothing to read."""
        currency = budget_currency(self._requirements)
        table = await self.table()
        field = table.field(PRICE_COLUMN)
        if field is None or not currency or currency == budget_currency(before):
            return None
        asked = structs.replace(field, question=price_field(self._requirements).question)
        await self._edit([ChangeField(name=PRICE_COLUMN, field=asked)], f"asked for prices in {currency}")
        foreign = {
            (row.id, PRICE_COLUMN) for row in table.rows if (named := price_currencies(row)) and currency not in named
        }
        return await self.fill(fields=[PRICE_COLUMN], only=foreign, searches=False) if foreign else None

    async def look_at_let_in(self, before: Requirements) -> list[str] | None:
        """Fill cells of hard wishes for products that the `before` requirements excluded: no search was made for them.
        Return notes for the user, or None if there is nothing to look for. Does nothing without a model, since most
        cells are unknown then and a search seldom helps."""
        if self._context.tools.model is None:
            return None
        table = await self.table()
        was_in = {each.row_id for each in rank_products(table, before, self._context.rates).ranked}
        now_in = {each.row_id for each in rank_products(table, self._requirements, self._context.rates).ranked}
        hard = {column_key(wish.column) for wish in self._requirements.wishes if wish.hard}
        fields = [field.name for field in comparison_fields(table) if column_key(field.name) in hard]
        cells = {
            (row.id, name)
            for row in table.rows
            for name in fields
            if row.id in now_in - was_in and row.cell(name).reason == "not_found"
        }
        return await self.fill(fields=fields, only=cells) if cells else None

    async def settle_prices(self) -> None:
        """Make the lowest of several sellers' prices the price."""
        edits: list[Edit] = []
        for row in (await self.table()).rows:
            before = row.cell(PRICE_COLUMN)
            price = take_lowest_price(before, budget_currency(self._requirements), self._context.rates)
            if price is not before:
                edits.append(SetCell(row_id=row.id, field=PRICE_COLUMN, cell=price, expected=before))
        await self._edit(edits, "took the lowest of several prices")

    async def estimate(self, fields: Sequence[Field]) -> Estimate:
        """Estimate the effort of filling these columns."""
        return await self._fill(await self.table(), fields).estimate()

    def _fill(
        self,
        table: Table,
        fields: Sequence[Field],
        *,
        only: Collection[CellAt] | None = None,
        searches: bool = True,
    ) -> FillRun:
        filling = FillPlan(
            table,
            fields,
            OwnPagesStrategy(
                {row.id: rank_own_pages(row) for row in table.rows},
                searches=searches,
                side_by_side=(PRICE_COLUMN,),
                worth_searching=partial(choose_fields_to_search, table, self._requirements, self._context.rates),
            ),
            only=only,
            concurrency=self._context.concurrency,
            retry=RetryPolicy(attempts=1 + self._context.limits.retries),
            policy=self._context.policy,
        )
        return FillRun(self._store, filling, self._context.tools, watch=self._context.watch)

    async def fill_again(self, cells: Sequence[CellAt], why: str) -> None:
        """Look only for the values that the user doubts."""
        for row_id, field in cells:
            await self._changes.flag(self.table_id, row_id, field, why)
        await self.fill(fields=[field for _, field in cells], only=set(cells))

    async def judge(self, table: Table, ranking: Ranking) -> None:
        """Write for each product whether it meets the requirements, computed from its cells."""
        if table.field(MEETS_FIELD.name) is None:
            await self._edit([AddField(field=MEETS_FIELD)], "judged by the requirements")
        rows = {row.id: row for row in table.rows}
        verdicts = {
            each.row_id: make_computed_cell(
                False, [rows[each.row_id].cell(each.field) if each.field else PENDING], each.reason
            )
            for each in ranking.excluded
        }
        verdicts |= {each.row_id: passed_verdict(each, rows[each.row_id]) for each in ranking.ranked}
        before = {row_id: rows[row_id].cell(MEETS_FIELD.name) for row_id in verdicts}
        edits = [
            SetCell(row_id=row_id, field=MEETS_FIELD.name, cell=verdict)
            for row_id, verdict in verdicts.items()
            if (before[row_id].value, before[row_id].error) != (verdict.value, verdict.error)
        ]
        await self._edit(edits, "judged by the requirements")


def make_role_change(field: Field, role: Role) -> Edit:
    return ChangeField(name=field.name, field=structs.replace(field, role=role))


async def ensure_table(context: TurnContext, state: ShortlistState) -> ShortlistState:
    """Return the state with a table. It is saved at once, so that the next turn uses it even if this one fails."""
    if state.table_id:
        return state
    store, name = context.store, state.requirements.product_type.capitalize() or "Shortlist"
    # Without a model, makers, official pages and used goods cannot be recognised.
    fields = (
        FOUND_FIELDS
        if context.tools.model is not None
        else (Field(name=PRODUCT_COLUMN), Field(name=FOUND_AT_COLUMN, type="url"))
    )
    table = await store.tables.create(name, fields, key_field=PRODUCT_COLUMN, actor=context.actor, note="a shortlist")
    await store.shortlists.save(structs.replace(await store.shortlists.get(state.id), table_id=table.id))
    return structs.replace(state, table_id=table.id)


def comparison_fields(table: Table, names: Collection[str] = ()) -> list[Field]:
    wanted = {column_key(name) for name in names}
    # These are known when a candidate is found; the engine is not asked for them.
    found = {*(field.name for field in FOUND_FIELDS), FOUND_AT_COLUMN}
    return [
        field
        for field in table.fields
        if field.is_asked and field.name not in found and (not wanted or column_key(field.name) in wanted)
    ]


def count_pending(table: Table, fields: Sequence[Field]) -> int:
    return sum(row.cell(field.name).needs_work for row in table.rows for field in fields)


def choose_fields_to_search(
    table: Table,
    requirements: Requirements,
    rates: ExchangeRates,
    row: Row,
    found: Mapping[str, Finding],
    weak: Sequence[str],
) -> Collection[str]:
    """Return the fields to search for: none for a product that is out, else what its pages lack, and a price in the
    budget's currency if they name another. A converted price just over the limit excludes nothing, since the rate may
    be off."""
    read = {name: preview_cell(field, finding) for name, finding in found.items() if (field := table.field(name))}
    row = structs.replace(row, cells={**row.cells, **read})
    out = rank_products(structs.replace(table, rows=(row,)), requirements, rates).excluded
    named = price_currencies(row)
    is_foreign = bool(named) and budget_currency(requirements) not in ("", *named)
    if out and not (is_foreign and out[0].near and out[0].field == PRICE_COLUMN):
        return ()
    return {*weak, PRICE_COLUMN} if is_foreign else weak


def list_stated_values(cell: Cell) -> list[Conflict]:
    """Return the value with its evidence, then those of other sources."""
    return [Conflict(value=cell.value, evidence=cell.evidence), *cell.conflict]


def price_currencies(row: Row) -> set[str]:
    """Return the currencies of a product's known prices."""
    return {each.value.currency for each in list_stated_values(row.cell(PRICE_COLUMN)) if isinstance(each.value, Money)}


def take_lowest_price(cell: Cell, currency: str, rates: ExchangeRates) -> Cell:
    """Return the cell with its lowest price, in the budget's currency if there is one; the others stay as conflicts,
    since none of them is wrong. A price that a person wrote stays. Amounts without a known rate are not compared."""
    if not isinstance(cell.value, Money) or cell.shown_basis == "given":
        return cell
    named = list_stated_values(cell)
    wanted = {price.value.currency for price in named if isinstance(price.value, Money)} & {currency}
    euros: dict[int, float] = {}
    for place, price in enumerate(named):
        if isinstance(price.value, Money) and (not wanted or price.value.currency == currency):
            # Euros only to compare; the price keeps the currency in which it is stated.
            amount = rates.convert(price.value.amount, price.value.currency, "EUR")
            if amount is not None:
                euros[place] = amount
    best = min(euros, key=lambda place: (euros[place], place), default=0)
    # The present value is the lowest, or none has a known rate.
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


def rank_own_pages(row: Row) -> list[str]:
    """Return the maker's page of the product, then the pages that most cells cite."""
    cited = Counter(each.origin for cell in row.cells.values() for each in cell.evidence if each.origin)
    named = [each.origin for each in row.cell(PRODUCT_COLUMN).evidence]
    known = sorted(dict.fromkeys((*named, *cited)), key=lambda origin: -cited[origin])
    return list(dict.fromkeys(filter(None, (cell_text(row.cell(PAGE_COLUMN)), *known))))[:MAX_PAGES_PER_PRODUCT]


def passed_verdict(product: RankedProduct, row: Row) -> Cell:
    if product.unknown:
        # Not "no": a fact that no source states excludes no product.
        unknown = f"not known: {'; '.join(product.unknown)}"
        return Cell(status="FAILED", reason="not_found", error=unknown, updated_at=utc_now())
    counted = [cell for part in product.parts if (cell := row.cell(part.field)).value is not None]
    if not counted:
        return Cell(status="FAILED", reason="not_applicable", error="no cell of it decides that", updated_at=utc_now())
    return make_computed_cell(True, counted, "")


def make_computed_cell(value: bool, inputs: Sequence[Cell], why: str) -> Cell:
    """Return a computed cell with the evidence of its inputs and the confidence of the weakest."""
    return Cell(
        value=value,
        status="ENRICHED",
        confidence=min((cell.confidence for cell in inputs if cell.confidence is not None), default=1.0),
        basis="computed",
        evidence=tuple(cell.evidence[0] for cell in inputs if cell.evidence),
        updated_at=utc_now(),
        error=why or None,
    )


def make_product_cells(product: Product) -> dict[str, Cell]:
    named = product.evidence
    there = next((each for each in named if each.origin == product.official_url), None)
    cells = {
        PRODUCT_COLUMN: make_read_cell(product.name, named),
        FOUND_AT_COLUMN: make_read_cell(named[0].origin, named[:1]),
    }
    if product.offered_as:
        cells[OFFERED_AS_COLUMN] = make_read_cell(product.offered_as, named[:1], judged=True)
    if product.maker:
        cells[MAKER_COLUMN] = make_read_cell(
            product.maker, (there,) if there else named[:1], judged=product.maker not in product.name
        )
    if product.official_url:
        cells[PAGE_COLUMN] = make_read_cell(
            product.official_url, (there,) if there else named[:1], judged=there is None
        )
    return cells


def make_read_cell(value: str, evidence: Sequence[Evidence], *, judged: bool = False) -> Cell:
    return Cell(
        value=value,
        raw_value=value,
        status="ENRICHED",
        # A model's conclusion is less certain than the words of a page; neither is certain.
        confidence=0.7 if judged else 0.9,
        basis="judged" if judged else "stated",
        evidence=tuple(evidence),
        updated_at=utc_now(),
    )
