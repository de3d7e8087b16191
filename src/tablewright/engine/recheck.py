"""Recheck the quotes of a table: fetch the cited pages again, and flag cells whose pages no longer state the value.

"Not checked" is not "refuted": a page that refuses or cannot be reached, a search result or a document leaves its cell
as it is. So does a page that has changed while another still states the value. A citation that came with an imported
table is checked like any other, although the text it was read in is not kept here. It asks no model, and writes only
flags, in one change.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from tablewright.citations.evidence import contains_words, find_proving_rule
from tablewright.citations.quotes import locate_in_source, locate_quote
from tablewright.domain.edits import Draft, SetCell, mark_cell_flagged
from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Evidence, Field, Row, RowId, Struct, Table
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import Progress, ProgressCallback, ignore_progress
from tablewright.domain.text import format_value, shorten_text
from tablewright.engine.rows import read_windows
from tablewright.engine.write_buffer import wait_for_workers
from tablewright.errors import EditConflict
from tablewright.store.store import Store
from tablewright.web.source import Source

Verdict: TypeAlias = Literal["supported", "changed", "not checked"]


class Judgement(Struct, frozen=True):
    """The verdict on one piece of evidence."""

    verdict: Verdict
    note: str = ""


class CellVerdict(Struct, frozen=True, omit_defaults=False):
    row_id: RowId
    field: str
    verdict: Verdict
    note: str
    origins: tuple[str, ...]


class RecheckOutcome(Struct, frozen=True):
    """`change` flags the cells that changed; None if there were none, or nothing was to be written."""

    table_id: str
    status: Literal["done", "cancelled"]
    pages: int
    cells: tuple[CellVerdict, ...]
    change: Change | None = None

    def count(self, verdict: Verdict) -> int:
        return sum(cell.verdict == verdict for cell in self.cells)


@dataclass(kw_only=True)
class CitingCell:
    """A cell, and the verdicts so far on the sources it cites."""

    row_id: RowId
    field: Field
    cell: Cell
    judged: dict[Evidence, Judgement] = dataclass_field(default_factory=dict)

    @property
    def sources(self) -> list[Evidence]:
        return cited_evidence(self.cell)

    def settled(self) -> CellVerdict:
        stopped = Judgement(verdict="not checked", note="stopped before it was fetched")
        judged = [self.judged.get(source, stopped) for source in self.sources]
        verdict = combine_source_verdicts(judged)
        notes = dict.fromkeys(judgement.note for judgement in judged if judgement.note)
        origins = dict.fromkeys(source.origin for source in self.sources)
        return CellVerdict(
            row_id=self.row_id, field=self.field.name, verdict=verdict, note="; ".join(notes), origins=tuple(origins)
        )


def cited_evidence(cell: Cell) -> list[Evidence]:
    # Values that were derived from their row, or by a model alone, have no page to fetch.
    return [
        each for each in cell.evidence if each.stance == "supports" and each.origin not in ("formula", "model", "row")
    ]


def combine_source_verdicts(judged: Sequence[Judgement]) -> Verdict:
    """Return the verdict of a cell. One source that still states the value is enough. One that no longer does outweighs
    one that could not be fetched: otherwise a page that is gone for good would keep every value alive."""
    verdicts = {judgement.verdict for judgement in judged}
    return "supported" if "supported" in verdicts else "changed" if "changed" in verdicts else "not checked"


def judge_evidence(
    cell: Cell, field: Field, evidence: Evidence, page: Retrieved | Refusal, *, is_kept: bool = True
) -> Judgement:
    """Return the verdict on one piece of evidence. `is_kept`: the text that the quote was taken from is kept here, so
    that the quote certainly was on the page once."""
    if isinstance(page, Refusal):
        return Judgement(verdict="not checked", note=f"{evidence.origin}: {page.detail}")
    if not page.text.strip():
        return Judgement(verdict="not checked", note=f"{evidence.origin} has no text now")
    # A quote that cannot even be found in itself is empty or has no words.
    if locate_quote(evidence.quote, evidence.quote) is None:
        return Judgement(verdict="not checked", note=f"{evidence.origin}: there is no quote to look for")
    # A note is one line of the history; the evidence has the whole quote.
    quote = shorten_text(evidence.quote, 120)
    place = locate_in_source(evidence.quote, page)
    if place is None:
        note = f"“{quote}” is no longer on {evidence.origin}"
        if not is_kept:
            note = f"“{quote}” is not on {evidence.origin} now; its text is not kept here"
        return Judgement(verdict="changed", note=note)
    if is_stated(cell, field, page.words_at(*place), evidence.origin):
        return Judgement(verdict="supported")
    if is_stated(cell, field, evidence.quote, evidence.origin):
        return Judgement(verdict="changed", note=f"“{quote}” on {evidence.origin} no longer states the value")
    # The value was taken from the quote by a rule that cannot be applied again, such as a model's judgement.
    return Judgement(verdict="not checked", note=f"“{quote}” is still on {evidence.origin}, but not seen to say it")


def is_stated(cell: Cell, field: Field, quote: str, origin: str) -> bool:
    """Return True if the quote states the value. In a list each source states its own item; a site is stated by one of
    its pages."""
    if isinstance(cell.value, tuple) and len(cell.evidence) > 1:
        return any(contains_words(item, quote) for item in cell.value)
    if field.type == "url" and urlsplit(format_value(cell.value)).netloc == urlsplit(origin).netloc:
        return True
    return any(find_proving_rule(text, quote, field) for text in (cell.raw_value or "", format_value(cell.value)))


class Recheck:
    """One check of the sources of a table. `cancel()` may be called at any time; the verdicts so far count."""

    def __init__(
        self,
        store: Store,
        table: Table,
        web: Source,
        *,
        actor: str = "",
        fields: Sequence[str] = (),
        row_ids: Sequence[RowId] | None = None,
        dry_run: bool = False,
        watch: ProgressCallback = ignore_progress,
    ) -> None:
        self._store = store
        self._table = table
        self._web = web
        self._actor = actor
        self._fields = [Draft(table).field(name) for name in fields] or list(table.fields)
        self._row_ids = row_ids
        self._dry_run = dry_run
        self._watch = watch
        self._cancelled = False
        self._workers: list[asyncio.Task[None]] = []
        self._citing: list[CitingCell] = []
        self._kept: set[str] = set()
        self._done = self._total = 0

    def cancel(self) -> None:
        self._cancelled = True
        for worker in self._workers:
            worker.cancel()

    async def run(self) -> RecheckOutcome:
        self._citing = [each async for row in self._rows() for each in self._citing_cells(row)]
        by_url = await self._pages()
        self._total = len(by_url)
        self._tell("starting")
        await self._ask_all(by_url)
        verdicts = tuple(each.settled() for each in self._citing)
        change = None if self._dry_run else await self._flag(verdicts)
        self._tell("cancelled" if self._cancelled else "complete")
        return RecheckOutcome(
            table_id=self._table.id,
            status="cancelled" if self._cancelled else "done",
            pages=self._done,
            cells=verdicts,
            change=change,
        )

    async def _rows(self) -> AsyncIterator[Row]:
        names = {field.name for field in self._fields}
        if self._row_ids is not None:
            await self._store.tables.refuse_missing(self._table.id, self._row_ids)
        async for window in read_windows(self._store, self._table.id, self._row_ids, fields=names):
            for row in window.rows:
                yield row

    def _citing_cells(self, row: Row) -> list[CitingCell]:
        cells = [(field, row.cell(field.name)) for field in self._fields]
        return [
            CitingCell(row_id=row.id, field=field, cell=cell)
            for field, cell in cells
            if cell.status == "ENRICHED" and cited_evidence(cell)
        ]

    async def _pages(self) -> dict[str, list[tuple[CitingCell, Evidence]]]:
        """Return the evidence by the page to fetch; evidence without a page gets its verdict here."""
        pages, self._kept = await self._store.pages.hashes(), await self._store.pages.text_hashes()
        # A search result was never a page: fetching its address proves nothing about the snippet.
        snippets = self._kept - pages
        by_url: dict[str, list[tuple[CitingCell, Evidence]]] = {}
        for each in self._citing:
            for source in each.sources:
                if not source.origin.startswith(("http://", "https://")):
                    each.judged[source] = Judgement(verdict="not checked", note=f"{source.origin} is a document")
                elif source.content_hash in snippets:
                    note = f"{source.origin} was read as a search result only"
                    each.judged[source] = Judgement(verdict="not checked", note=note)
                else:
                    by_url.setdefault(source.origin, []).append((each, source))
        return by_url

    async def _ask_all(self, by_url: dict[str, list[tuple[CitingCell, Evidence]]]) -> None:
        by_site: dict[str, list[str]] = {}
        for url, reads in by_url.items():
            by_site.setdefault(reads[0][1].domain, []).append(url)
        # Two lists for each site, since two of its pages may be open at once; with more workers on one site, the others
        # would wait.
        waiting = deque(urls[start::2] for urls in by_site.values() for start in (0, 1))

        async def worker() -> None:
            while waiting:
                for url in waiting.popleft():
                    page = await self._web.open_again(url)
                    # Long pages take a while to search, and would hold up the other fetches.
                    await asyncio.to_thread(judge_page, by_url[url], page, self._kept)
                    self._done += 1
                    self._tell("fetching", url)

        if self._cancelled:
            return
        # Pages at once over all sites; the fetcher still opens at most two of a site, and keeps its pauses.
        self._workers = [asyncio.create_task(worker()) for _ in range(min(16, len(waiting)))]
        await wait_for_workers(self._workers)

    async def _flag(self, verdicts: Sequence[CellVerdict]) -> Change | None:
        """Flag the changed cells in one change, except those that a person wrote in the meantime."""
        changed = [
            (each, verdict)
            for each, verdict in zip(self._citing, verdicts, strict=True)
            if verdict.verdict == "changed"
        ]
        while changed:
            rows = (await self._store.tables.rows(self._table.id, [each.row_id for each, _ in changed])).rows
            now = {row.id: row for row in rows}
            edits = []
            for each, verdict in changed:
                # Only if the cell is as it was judged; another value has other sources.
                cell = now[each.row_id].cell(each.field.name) if each.row_id in now else Cell()
                if cell.status == "ENRICHED" and (cell.value, cell.evidence) == (each.cell.value, each.cell.evidence):
                    flagged = mark_cell_flagged(cell, verdict.note)
                    edits.append(SetCell(row_id=each.row_id, field=each.field.name, cell=flagged, expected=cell))
            note = f"rechecked {self._done} pages: {len(edits)} cells no longer stand there"
            try:
                return await self._store.log.commit(self._table.id, edits, actor=self._actor, note=note, kind="recheck")
            except EditConflict:
                # Someone wrote one of the cells since they were read: look at them again.
                continue
        return None

    def _tell(self, stage: Literal["starting", "fetching", "complete", "cancelled"], url: str = "") -> None:
        self._watch(Progress(stage=stage, done=self._done, total=self._total, label=url))


def judge_page(reads: Sequence[tuple[CitingCell, Evidence]], page: Retrieved | Refusal, kept: Collection[str]) -> None:
    for each, evidence in reads:
        is_kept = evidence.content_hash in kept
        each.judged[evidence] = judge_evidence(each.cell, each.field, evidence, page, is_kept=is_kept)
