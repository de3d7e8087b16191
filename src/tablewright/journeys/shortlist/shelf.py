"""The advisor's table: products × comparison fields, filled by the engine and by nobody else.

Three paths: new candidates with all their fields; new fields of all candidates; cells that were flagged. Only what is
PENDING or FLAGGED is worked on, so that a new column costs a column and a doubted cell costs a cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from msgspec import structs

from tablewright.decisions.propose_fields import MEETS
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, Terms
from tablewright.engine.outcome import Filled
from tablewright.engine.policy import ONCE, RetryPolicy
from tablewright.extraction.about import Subject, mentions
from tablewright.journeys.research.worker import Library
from tablewright.store.operations import CellAt
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.gathered import GatheredProfiles, Lead
from tablewright.strategies.strategy import Strategy, find_strategy
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Tools
from tablewright.table.dedupe import row_key
from tablewright.table.edits import AddField, AddRow, ChangeField, Edit, SetCell
from tablewright.table.evidence import evidence_for
from tablewright.table.feed import Progress
from tablewright.table.model import PENDING, Cell, Evidence, Field, Row, RowId, Table
from tablewright.table.research import Wanted
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import Excluded, Product, Ranked, Ranking
from tablewright.table.text import cell_text

KEY, MAKER, PAGE = "Product", "Maker", "Official page"
RETRIES = RetryPolicy(attempts=2)
LONGEST_FILL = 300.0
"""Seconds after which a person is shown what there is; the rest stays PENDING, and one can go on with it."""


class Shelf:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        table_id: str,
        actor: str,
        terms: Terms,
        watch: Callable[[Progress], None],
    ) -> None:
        self.table_id = table_id
        self._store = store
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._watch = watch

    @classmethod
    async def make(cls, store: Store, name: str, actor: str) -> str:
        """The id of a new table."""
        fields = (Field(name=KEY), Field(name=MAKER), Field(name=PAGE, type="url"))
        table = await store.tables.create(name, fields, key_field=KEY, actor=actor, note="a shortlist")
        return table.id

    async def table(self) -> Table:
        return await self._store.tables.load(self.table_id)

    async def add_products(self, products: Sequence[Product], library: Library) -> list[RowId]:
        """The new rows; one whose name is there already is not added again."""
        present = await self.table()
        known = {row.key for row in present.rows}
        edits: list[Edit] = []
        for product in products:
            key = row_key(product.name)
            if key not in known:
                known.add(key)
                edits.append(AddRow(key=key, cells=cells_of(product, library)))
        if edits:
            note = f"found {len(edits)} products"
            await self._store.log.commit(self.table_id, edits, actor=self._actor, note=note)
        before = {row.id for row in present.rows}
        return [row.id for row in (await self.table()).rows if row.id not in before]

    async def add_fields(self, fields: Sequence[Field]) -> list[Field]:
        """Those that were not there; one that was hidden is shown again."""
        table = await self._store.tables.find(self.table_id)
        new = [field for field in fields if table.field(field.name) is None]
        hidden = [each for field in fields if (each := table.field(field.name)) and each.role == "qualification"]
        shown = {field.name for field in fields if field.role != "qualification"}
        edits: list[Edit] = [AddField(field=field) for field in new]
        edits += [
            ChangeField(name=each.name, field=structs.replace(each, role="user"))
            for each in hidden
            if each.name in shown
        ]
        if edits:
            names = ", ".join(field.name for field in (*new, *hidden))
            await self._store.log.commit(self.table_id, edits, actor=self._actor, note=f"added {names}")
        return new

    async def hide(self, fields: Sequence[Field]) -> None:
        """Not shown any more; what was found stays, and a must-have is still judged by it."""
        edits = [ChangeField(name=each.name, field=structs.replace(each, role="qualification")) for each in fields]
        names = ", ".join(field.name for field in fields)
        await self._store.log.commit(self.table_id, edits, actor=self._actor, note=f"hid {names}")

    async def fill(self, *, fields: Collection[str] = (), only: Collection[CellAt] | None = None) -> Filled | None:
        """First from the pages that the rows were found on, then from a search for what they do not say. With `only`
        these cells are searched for again. None where there is nothing to do."""
        table = await self.table()
        asked = [
            field
            for field in table.fields
            if field.is_asked and field.name not in (KEY, MAKER, PAGE) and (not fields or field.name in fields)
        ]
        if not asked:
            return None
        if only is None:
            await self._from_pages(table, asked)
            table = await self.table()
            only = {(row.id, field.name) for row in table.rows for field in asked if is_open(row.cell(field.name))}
        return await self._run(table, asked, find_strategy("pipeline"), only=only) if only else None

    async def judge(self, table: Table, ranking: Ranking) -> None:
        """Writes down of each product whether it meets the requirements: worked out from its cells, not looked for."""
        if table.field(MEETS.name) is None:
            return
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

    async def estimate(self, fields: Sequence[Field]) -> str:
        """What filling these fields is likely to take, in words."""
        fill = Fill(
            self._store,
            await self._store.tables.find(self.table_id),
            fields,
            find_strategy("pipeline"),
            tools=self._tools,
            retry=RETRIES,
            terms=self._terms,
        )
        likely = await fill.estimate()
        parts = [f"at most {likely.searches} searches and {likely.pages} pages"]
        if likely.calls.likely:
            parts.append(f"about {likely.calls.likely:.0f} model calls")
        if likely.cost_usd is not None and likely.cost_usd.likely:
            parts.append(f"${likely.cost_usd.likely:.2f}")
        return f"Filling {likely.cells} cells takes {', '.join(parts)}; what was read already is not asked for again."

    async def _from_pages(self, table: Table, asked: Sequence[Field]) -> None:
        """The maker's own page of each product or, where none was found, the page that named it: read before, so they
        are in the cache."""
        web = web_of(self._tools)
        waiting = [row for row in table.rows if any(row.cell(field.name).needs_work for field in asked)]
        opened = await asyncio.gather(*(web.open(page_of(row)) for row in waiting))
        leads = {
            row.id: Lead(pages=(page,))
            for row, page in zip(waiting, opened, strict=True)
            if isinstance(page, Retrieved)
        }
        if leads:
            strategy = GatheredProfiles(leads, [Wanted(field=field) for field in asked])
            await self._run(table, asked, strategy, row_ids=sorted(leads), retry=ONCE)

    async def _run(
        self,
        table: Table,
        asked: Sequence[Field],
        strategy: Strategy,
        *,
        row_ids: Sequence[RowId] | None = None,
        only: Collection[CellAt] | None = None,
        retry: RetryPolicy = RETRIES,
    ) -> Filled:
        fill = Fill(
            self._store,
            table,
            asked,
            strategy,
            tools=self._tools,
            row_ids=row_ids,
            only=only,
            retry=retry,
            terms=self._terms,
            watch=self._watch,
        )
        filled = await fill.run_within(LONGEST_FILL)
        await Changes(self._store, self._actor).apply_unseen(filled.proposal_id)
        return filled

    async def flag(self, row_id: RowId, field: str, why: str) -> None:
        await Changes(self._store, self._actor).flag(self.table_id, row_id, field, why)


def is_open(cell: Cell) -> bool:
    """Whether it is still to be looked for: what a product's own page does not say is searched for once."""
    return cell.needs_work or (cell.status == "FAILED" and cell.attempt <= 1)


def refused(product: Excluded, row: Row) -> Cell:
    decided = row.cell(product.field) if product.field else PENDING
    return worked_out(False, [decided], product.reason)


def met(product: Ranked, row: Row) -> Cell:
    if product.doubts:
        unknown = f"not known: {', '.join(product.doubts)}"
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


def page_of(row: Row) -> str:
    return cell_text(row.cell(PAGE)) or next((each.origin for each in row.cell(KEY).evidence), "")


def cells_of(product: Product, library: Library) -> dict[str, Cell]:
    cells = {KEY: read(product.name, product.evidence, product.score)}
    page = library.pages.get(product.official_url)
    named = naming(product, page) if page is not None else None
    if product.maker:
        cells[MAKER] = read(product.maker, named or product.evidence, product.score)
    if product.official_url and named is not None:
        cells[PAGE] = read(product.official_url, named, 0.9)
    return cells


def naming(product: Product, page: Retrieved) -> Evidence | None:
    """The line of the page that names the product."""
    start = 0
    for line in page.text.splitlines(keepends=True):
        if mentions(Subject(name=product.name), line):
            return evidence_for(page, start, start + len(line.rstrip()))
        start += len(line)
    place = page.text.find(product.maker) if product.maker else -1
    return evidence_for(page, place, place + len(product.maker)) if place >= 0 else None


def read(value: str, evidence: Evidence, score: float) -> Cell:
    return Cell(
        value=value,
        raw_value=value,
        status="ENRICHED",
        confidence=round(max(0.5, min(0.99, score)), 4),
        basis="stated",
        evidence=(evidence,),
        updated_at=now(),
    )
