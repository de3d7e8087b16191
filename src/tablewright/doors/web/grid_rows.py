"""Rows as the grid shows them: the table's cells, covered by those of open proposals."""

from __future__ import annotations

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from tablewright.conditions.column_filter import filter_on, ordered
from tablewright.conditions.evaluate import fields_by_key
from tablewright.domain.condition import Condition
from tablewright.domain.model import Cell, Field, Money, Noun, Row, RowId, Table, Value, column_key
from tablewright.domain.proposal import Operation
from tablewright.domain.text import cell_text, shortened
from tablewright.doors.server.turns import Turns
from tablewright.doors.web.words import basis_text, confidence_text, reason_text, t
from tablewright.errors import UsageError
from tablewright.operations.rows import list_row_ids, read_column
from tablewright.services import Services

Only: TypeAlias = Literal["", "high", "medium", "low", "failed", "empty", "flagged", "stale", "disputed", "proposed"]
ONLY: tuple[Only, ...] = get_args(Only)

LONGEST = 300
"""Characters of a value in the grid; the panel shows all of it."""
LONGEST_IN_PLACE = 2_000
"""Characters of a text that is edited in the grid itself."""
PAGE = 2_000
REPLY_SIZE = 4_000_000
"""Characters of rows after which a block ends."""
MOST_CELLS = 4_000
"""Drawn at once: with texts of the greatest length they are twice a reply."""
CELL_BYTES = 60
"""Of a cell in a reply, without its text."""
KEPT_OF_ONE = 24
"""Orders of rows that are remembered for one person, of whatever tables."""
KEPT_BYTES = 128 * 1024 * 1024
"""Of the orders of all persons: 16 million rows. Beyond it the one with the most gives up their oldest."""
SORTED_AT_ONCE = 2
"""Orders that are computed at the same time, one for each person: each reads a whole table in a thread of its own."""
EVERYONE = ""


class RowQuery(Noun, frozen=True):
    """The rows that a page shows. `view` differs for each page and each reading. Cells of the `proposals`, the newest
    first, cover the table's own."""

    table_id: str
    proposals: tuple[str, ...] = ()
    only: Only = ""
    find: str = ""
    filters: tuple[Condition, ...] = ()
    sort: str = ""
    """The column in whose order they are; else they are in that of the table."""
    descending: bool = False
    view: str = ""

    @property
    def is_plain(self) -> bool:
        """True for all rows in the order of the table."""
        return not (self.is_filtered or self.sort)

    @property
    def is_filtered(self) -> bool:
        return bool(self.only or self.find or self.filters)


def wanted_of(table_id: str, query: Mapping[str, Any]) -> RowQuery:
    """Read a query as the browser sends it."""
    try:
        return RowQuery(
            table_id=table_id,
            proposals=tuple(filter(None, str(query.get("proposals", "")).split(","))),
            only=msgspec.convert(query.get("only", ""), Only),
            find=str(query.get("find", "")).strip()[:200],
            filters=msgspec.json.decode(query.get("filters") or "[]", type=tuple[Condition, ...]),
            sort=str(query.get("sort", "")),
            descending=str(query.get("descending", "")).lower() == "true",
            view=str(query.get("view", ""))[:60],
        )
    except msgspec.MsgspecError as error:
        raise UsageError(t("This search is not possible: {error}.", error=error)) from None


class MatchingRows(Noun, frozen=True, gc=True):
    """The wanted rows in order, and how many could not be compared: amounts in these `currencies` with one of another,
    and values that are not exact enough, such as some dates."""

    row_ids: array[int]
    unlike_amounts: int = 0
    currencies: frozenset[str] = frozenset()
    vague_values: int = 0

    @property
    def note(self) -> str:
        """Say which rows the filters could not decide, or ""."""
        notes = []
        if self.unlike_amounts:
            notes.append(
                t(
                    "{count} row not compared: its amount is in another currency ({currencies})"
                    "|{count} rows not compared: their amounts are in other currencies ({currencies})",
                    count=self.unlike_amounts,
                    currencies=", ".join(sorted(self.currencies)),
                )
            )
        if self.vague_values:
            notes.append(
                t(
                    "{count} row not compared: its value is not exact enough"
                    "|{count} rows not compared: their values are not exact enough",
                    count=self.vague_values,
                )
            )
        return "; ".join(notes)


class RowOrders:
    """Remember the order of wanted rows, so that the grid can ask for rows 5,000 to 5,200.

    Each person has their own: many different orders displace that person's older ones, never another's. All people
    share the order of a plain table."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._of: OrderedDict[str, OrderedDict[tuple[RowQuery, int], asyncio.Task[MatchingRows]]] = OrderedDict()
        self._turns = Turns(SORTED_AT_ONCE, 1)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    async def order(self, services: Services, wanted: RowQuery) -> array[int]:
        return (await self.find(services, wanted)).row_ids

    async def find(self, services: Services, wanted: RowQuery) -> MatchingRows:
        # What was found or sorted stays as it was then: rows that vanish under the cursor are worse than old ones.
        person, at = services.actor, (wanted, 0)
        if wanted.is_plain:
            person = EVERYONE
            at = (RowQuery(table_id=wanted.table_id), (await services.store.tables.activity(wanted.table_id)).change)
        own = self._of.setdefault(person, OrderedDict())
        if at not in own or failed(own[at]):
            own[at] = asyncio.create_task(self._find(services, wanted, person))
        own.move_to_end(at)
        self._of.move_to_end(person)
        task = own[at]
        try:
            return await asyncio.shield(task)
        finally:
            self._forget_oldest(person)

    async def _find(self, services: Services, wanted: RowQuery, person: str) -> MatchingRows:
        if wanted.is_plain:
            return await find_rows(services, wanted)
        async with self._turns.take(person):
            return await find_rows(services, wanted)

    def _forget_oldest(self, person: str) -> None:
        own = self._of.get(person, OrderedDict())
        while len(own) > KEPT_OF_ONE:
            own.popitem(last=False)
        sizes = {each: sum(map(bytes_of, orders.values())) for each, orders in self._of.items()}
        while sum(sizes.values()) > self._kept_bytes:
            largest = max(sizes, key=sizes.__getitem__)  # of several the one who was here the longest ago
            _, task = self._of[largest].popitem(last=False)
            sizes[largest] -= bytes_of(task)
            if not self._of[largest]:
                del self._of[largest], sizes[largest]


def bytes_of(task: asyncio.Task[MatchingRows]) -> int:
    if not task.done() or failed(task):
        return 0
    found = task.result().row_ids
    return len(found) * found.itemsize


def failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def find_rows(services: Services, wanted: RowQuery) -> MatchingRows:
    table = await services.table(wanted.table_id)
    unlike = Incomparable()
    keep = await keeper(services, table, wanted, unlike) if wanted.is_filtered else None
    found = await list_row_ids(services, table.id, keep)
    return MatchingRows(
        row_ids=array("q", await sort_rows(services, wanted, found) if wanted.sort else found),
        unlike_amounts=unlike.amounts,
        currencies=frozenset(unlike.currencies),
        vague_values=unlike.vague,
    )


async def sort_rows(services: Services, wanted: RowQuery, row_ids: Sequence[RowId]) -> list[RowId]:
    """Sort by the present or proposed values: numbers before words, empty cells last in both directions."""
    keys: dict[RowId, tuple[int, str, float, str]] = {}
    written: dict[RowId, str] = {}
    staying: set[RowId] = set()

    def take_own(row_id: RowId, cell: Cell) -> None:
        if cell.stays_if_not_found:
            staying.add(row_id)
        take(row_id, cell)

    def take(row_id: RowId, cell: Cell) -> None:
        if cell.updated_at:
            written[row_id] = cell.updated_at
        if cell.value is not None:
            keys[row_id] = sort_key(cell)

    is_there = (await services.table(wanted.table_id)).field(wanted.sort) is not None
    if is_there:  # else it is only proposed
        await read_column(services, wanted.table_id, wanted.sort, take_own)
    async for operation in open_operations(services, wanted.proposals, field=wanted.sort):
        if operation.cell.value is None and operation.row_id in staying:
            continue
        if is_over(operation.cell.updated_at, written.get(operation.row_id)):
            keys.pop(operation.row_id, None)
            take(operation.row_id, operation.cell)

    def ordered() -> list[RowId]:
        stated = sorted(
            (row_id for row_id in row_ids if row_id in keys), key=keys.__getitem__, reverse=wanted.descending
        )
        return [*stated, *(row_id for row_id in row_ids if row_id not in keys)]

    return await asyncio.to_thread(ordered)


def sort_key(cell: Cell) -> tuple[int, str, float, str]:
    """Numbers come before texts. Amounts are compared within their currency, because nothing is converted."""
    value = ordered(cell.value)
    if isinstance(value, str):
        return (1, "", 0.0, value)
    return (0, cell.value.currency if isinstance(cell.value, Money) else "", value, "")


class Laid(Noun, frozen=True):
    """The part of a proposed cell that decides if its row is wanted."""

    marks: frozenset[str]
    value: Value
    text: str
    """Empty unless a text is searched."""
    at: str | None
    is_found: bool


@dataclass
class Incomparable:
    """Counts of rows that meet every other condition but one that cannot be decided."""

    amounts: int = 0
    currencies: set[str] = field(default_factory=set)
    vague: int = 0

    def count(self, value: Value) -> None:
        if isinstance(value, Money):
            self.amounts += 1
            self.currencies.add(value.currency)
        else:
            self.vague += 1


async def keeper(services: Services, table: Table, wanted: RowQuery, unlike: Incomparable) -> Callable[[Row], bool]:
    """Return a test for wanted rows. A proposed cell counts instead of the one it would replace; rows that cannot be
    compared are not wanted, and are counted in `unlike`."""
    names = [field.name for field in table.shown_fields]
    needle = wanted.find.casefold()
    proposed = await laid_over(services, wanted)
    others = await proposed_fields(services, wanted.proposals) if wanted.filters else []
    fields = {field.name: field for field in (*others, *table.fields)}
    keys = fields_by_key(fields.values()).keys()
    filters = [
        (each.column, filter_on(each, fields.values()))
        for each in wanted.filters
        if keys >= set(map(column_key, each.columns))
    ]

    def keep(row: Row) -> bool:
        over = laid_on(row, proposed)
        cells = {**row.cells, **{name: Cell(value=laid.value) for name, laid in over.items()}} if over else row.cells
        undecided: list[Value] = []
        for name, test in filters:
            truth = test(cells).truth
            if truth == "no match":
                return False
            if truth == "not stated":
                undecided.append(cells[name].value)
        every = [*names, *(name for name in over if name not in names)]
        if needle and not any(
            needle in (over[name].text if name in over else cell_text(row.cell(name)).casefold()) for name in every
        ):
            return False
        if wanted.only and not any(wanted.only in marks_at(row, name, over) for name in every):
            return False
        if undecided:
            unlike.count(undecided[0])
        return not undecided

    return keep


async def proposed_fields(services: Services, proposals: Sequence[str]) -> list[Field]:
    return [field for each in proposals for field in (await services.store.proposals.get(each, counted=False)).fields]


def laid_on(row: Row, proposed: Mapping[RowId, Mapping[str, Laid]]) -> dict[str, Laid]:
    """Return the proposed cells that cover those of a row."""
    return {
        name: laid
        for name, laid in proposed.get(row.id, {}).items()
        if is_over(laid.at, row.cell(name).updated_at) and (laid.is_found or not row.cell(name).stays_if_not_found)
    }


def marks_at(row: Row, name: str, over: Mapping[str, Laid]) -> frozenset[str]:
    return over[name].marks if name in over else marks(row.cell(name))


def marks(cell: Cell, *, proposed: bool = False) -> frozenset[str]:
    """Return all marks by which a cell can be found."""
    also = {"stale": cell.stale, "disputed": is_disputed(cell), "proposed": proposed, "empty": cell.value is None}
    return frozenset({mark(cell), *(name for name, is_so in also.items() if is_so)})


async def count_marks(services: Services, table: Table, proposals: tuple[str, ...]) -> dict[str, int]:
    """Count rows by the marks of their cells; "" counts all rows."""
    names = [field.name for field in table.shown_fields]
    proposed = await laid_over(services, RowQuery(table_id=table.id, proposals=proposals))
    counts = dict.fromkeys(map(str, ONLY), 0)

    def count(row: Row) -> bool:
        over = laid_on(row, proposed)
        every = [*names, *(name for name in over if name not in names)]
        for each in frozenset().union(*(marks_at(row, name, over) for name in every)):
            counts[each] = counts.get(each, 0) + 1
        counts[""] += 1
        return False

    await list_row_ids(services, table.id, count)
    return {each: counts[each] for each in ONLY}


async def laid_over(services: Services, wanted: RowQuery) -> dict[RowId, dict[str, Laid]]:
    """Return the open cells of the proposals, by row and column."""
    found: dict[RowId, dict[str, Laid]] = {}
    async for operation in open_operations(services, wanted.proposals):
        cell = operation.cell
        found.setdefault(operation.row_id, {})[operation.field] = Laid(
            marks=marks(cell, proposed=True),
            value=cell.value if wanted.filters else None,
            text=cell_text(cell).casefold() if wanted.find else "",
            at=cell.updated_at,
            is_found=cell.value is not None,
        )
    return found


def is_over(proposed_at: str | None, written_at: str | None) -> bool:
    """Return True if the table's own cell was not written since this one was proposed."""
    return (written_at or "") <= (proposed_at or "")


def replaces(proposed: Cell, present: Cell) -> bool:
    """Return True if a proposed cell is shown instead of the table's own."""
    return is_over(proposed.updated_at, present.updated_at) and not present.keeps_its_value(proposed)


def stays_text(proposed: Cell) -> str:
    """Say why a cell keeps its value although a run has looked for a new one."""
    return t("{reason}; the present value stays", reason=reason_text(proposed.reason))


class RowBlock(NamedTuple):
    """Rows for the grid. `done` counts the wanted rows that they cover, including removed ones: long rows make a short
    block."""

    rows: list[dict[str, Any]]
    done: int


async def block(services: Services, table: Table, proposals: Sequence[str], row_ids: Sequence[RowId]) -> RowBlock:
    """Read rows from the first on, as many as fit into a reply."""
    names = [field.name for field in table.shown_fields]
    found: list[dict[str, Any]] = []
    done = size = 0
    fits = max(1, MOST_CELLS // max(1, len(names)))
    for start in range(0, len(row_ids), fits):
        wanted = row_ids[start : start + fits]
        proposed = await proposed_cells(services, proposals, wanted)
        async for rows in services.store.tables.windows_of(table.id, wanted):
            drawn = await asyncio.to_thread(
                lambda some, over: [shown_row(row, names, over.get(row.id, {})) for row in some], rows, proposed
            )
            found += drawn
            size += sum(size_of(row) for row in drawn)
        done += len(wanted)
        if size > REPLY_SIZE:
            break
    return RowBlock(found, done)


def size_of(drawn: dict[str, Any]) -> int:
    """Estimate the bytes of a row on its way to the browser."""
    return sum(CELL_BYTES + len(cell["text"]) + len(cell.get("whole", "")) for cell in drawn["cells"].values())


async def proposed_cells(
    services: Services, proposals: Sequence[str], row_ids: Sequence[RowId]
) -> dict[RowId, dict[str, Cell]]:
    proposed: dict[RowId, dict[str, Cell]] = {}
    async for operation in open_operations(services, proposals, row_ids=row_ids):
        proposed.setdefault(operation.row_id, {})[operation.field] = operation.cell
    return proposed


async def open_operations(
    services: Services, proposals: Sequence[str], *, row_ids: Sequence[RowId] | None = None, field: str = ""
) -> AsyncIterator[Operation]:
    """Yield operations that wait for a decision; of two for one cell, the newer comes last."""
    for proposal_id in reversed(proposals):
        after = (0, "")
        while True:
            page = await services.store.proposals.operations(
                proposal_id, after=after, limit=PAGE, row_ids=row_ids, field=field
            )
            for operation in page:
                if operation.decision == "open":
                    yield operation
            if len(page) < PAGE:
                break
            after = (page[-1].row_id, page[-1].field)


def shown_row(row: Row, names: Sequence[str], proposed: dict[str, Cell]) -> dict[str, Any]:
    cells = {name: shown(row.cell(name)) for name in names if name in row.cells}
    for name, cell in proposed.items():
        if replaces(cell, row.cell(name)):
            cells[name] = shown(cell, proposed=True)
        elif is_over(cell.updated_at, row.cell(name).updated_at):
            cells[name]["note"] += f"; {t('Looked up again: {result}', result=stays_text(cell))}"
    return {"id": row.id, "cells": cells}


def shown(cell: Cell, *, proposed: bool = False) -> dict[str, Any]:
    """Return a cell as the grid draws it: text, mark and tooltip."""
    content = cell_text(cell)
    view: dict[str, Any] = {"text": shortened(content, LONGEST), "mark": mark(cell), "note": note(cell, proposed)}
    if proposed:
        view["proposed"] = True
    if cell.stale:
        view["stale"] = True
    if cell.basis == "judged":
        view["judged"] = True
    if is_disputed(cell):
        view["disputed"] = True
    if cell.value is None and cell.status == "FAILED":
        view["why"] = reason_text(cell.reason)
    if view["text"] != content:
        # A very long text does not travel with its row: it is read, and edited in a window, when it is asked for.
        view |= {"whole": content} if len(content) <= LONGEST_IN_PLACE else {"cut": True}
    return view


def mark(cell: Cell) -> str:
    if cell.status == "FLAGGED":
        return "flagged"
    if cell.status == "FAILED":
        return "failed"
    if cell.value is None:
        return "empty"
    return "own" if is_own(cell) else {"none": "low"}.get(cell.confidence_label, cell.confidence_label)


def is_own(cell: Cell) -> bool:
    """Return True for a cell given or typed by a person, which is taken as true."""
    return cell.status == "ENRICHED" and cell.shown_basis == "given"


def is_disputed(cell: Cell) -> bool:
    """Return True if sources disagree and no person has decided."""
    return bool(cell.conflict) and not is_own(cell)


def note(cell: Cell, proposed: bool = False) -> str:
    parts = [t("Proposed, not in the table yet")] if proposed else []
    if cell.status == "FLAGGED":
        parts.append(cell.error or t("flagged"))
    elif cell.status == "FAILED":
        reason = reason_text(cell.reason)
        parts.append(t("empty: {reason}", reason=reason) + (f" ({shortened(cell.error, 160)})" if cell.error else ""))
    elif cell.value is not None and not is_own(cell):
        count = len(cell.evidence)
        of = f", {t('{count} source|{count} sources', count=count)}" if count else ""
        parts.append(f"{confidence_text(cell.confidence_label)}, {cell.confidence or 0:.2f}{of}")
        if basis := basis_text(cell):
            parts.append(basis[:1].lower() + basis[1:])
        if cell.error:
            parts.append(shortened(cell.error, 160))
    elif cell.value is not None:
        parts.append(cell.error or t("Given"))
    if cell.imported:
        parts.append(t("Imported with its sources, not checked here"))
    if cell.conflict:
        parts.append(t("≠ Sources disagree"))
    if cell.stale:
        parts.append(t("↻ Stale: an input has changed"))
    return "; ".join(parts)
