"""Find rows: a description of things becomes a living table of them.

With a model: it plans the table (`decisions/plan_list`); lists are searched for, chosen and read whole (`gather`,
`decisions/read_lists`); code joins what several pages say of one thing (`things`), applies the conditions to the cells
(`conditions`) and says how complete the list is (`account`). The engine looks for what no list states, beginning with
the thing's own page. Without a model: the tables whose headers are named as the asked columns, and called just that.

Whatever was read is kept page by page, so that a search that was cut off goes on where it was, and `more` adds to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import date

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.plan_list import ListToPlan, PlanList
from tablewright.decisions.same_values import SameValues, ToGroup
from tablewright.engine.changes import Changes
from tablewright.engine.fill import USUAL, Fill, Terms
from tablewright.errors import OverBudget, RunError, UsageError
from tablewright.journeys.ask.query import MOST_VALUES
from tablewright.journeys.find.account import account
from tablewright.journeys.find.conditions import spellings, verdict
from tablewright.journeys.find.gather import Gatherer
from tablewright.journeys.find.things import Thing, cells_of, things_of
from tablewright.store.operations import CellAt
from tablewright.store.records import now, printable
from tablewright.store.store import Store
from tablewright.strategies.own_pages import OwnPages
from tablewright.strategies.tools import Tools
from tablewright.table.edits import AddRow, Edit, RemoveRow, SetCell
from tablewright.table.feed import Progress
from tablewright.table.form import Where
from tablewright.table.listing import (
    DEFAULT_ROWS,
    MOST_ROWS,
    FindEvent,
    FoundRows,
    Listing,
    ListingStatus,
    ListPlan,
    SetAside,
)
from tablewright.table.model import Cell, Evidence, Field, Row, Step, Table, column_key
from tablewright.table.rowkey import row_key
from tablewright.table.text import plural, shortened
from tablewright.table.usage import metered

ROUNDS = 3
"""Rounds of searches in one run."""
LONGEST_NAME = 60
OWN_PAGES = 2
"""Of a thing, as lists link to them, that are opened for its empty cells."""
CITED = 4
"""Passages that are kept of a thing that was set aside."""

Watch = Callable[[FindEvent], None]


def ignore(event: FindEvent) -> None:
    """For callers who do not watch."""


async def find_rows(
    store: Store,
    tools: Tools,
    question: str,
    *,
    fields: Sequence[Field] = (),
    conditions: Sequence[Where] = (),
    rows: int = DEFAULT_ROWS,
    fill: bool = True,
    actor: str = "",
    terms: Terms = USUAL,
    watch: Watch = ignore,
) -> FoundRows:
    """The things that `question` describes, as the rows of a new table, and how complete that is.

    `fields` are the columns wanted, the first of which names the things; none: the model chooses them. `conditions`
    are demanded beside those of the question. `rows` is how many are wanted at most; with `fill`, cells that no list
    states are looked for. `FoundRows.table_id` is the table, whose cells carry their evidence. Raises SearchError or
    ModelError where nobody could be asked; what was read until then is kept, and `Finder.run` goes on with it."""
    finder = Finder(store, tools, actor=actor, terms=terms, watch=watch)
    listing = await finder.begin(question, fields=fields, conditions=conditions, rows=rows)
    return await finder.run(listing.table_id, fill=fill)


class Finder:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        terms: Terms = USUAL,
        concurrency: int | None = None,
        today: Callable[[], date] = date.today,
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._concurrency = concurrency
        self._today = today
        self._watch = watch

    async def begin(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        conditions: Sequence[Where] = (),
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Planned, with a table that has no rows yet; nothing is searched."""
        question = printable(" ".join(question.split()))
        if not question:
            raise UsageError(
                "It is not said what to find.", advice='Say it: "Nordic fintechs with more than 100 staff".'
            )
        if not 1 <= rows <= MOST_ROWS:
            raise UsageError(f"From 1 to {MOST_ROWS:,} rows can be found at a time.")
        doubled = len({column_key(field.name) for field in fields}) < len(fields)
        unknown = [each.column for each in conditions if column_key(each.column) not in map(column_key, names(fields))]
        if doubled or (unknown and fields and self._tools.model is None):
            said = "A column was asked for twice." if doubled else f"{unknown[0]!r} is not among the columns."
            raise UsageError(said, advice="Name each column once, and those of the conditions among them.")
        asked = ListToPlan(
            question=question, today=self._today().isoformat(), fields=tuple(fields), conditions=tuple(conditions)
        )
        with metered() as meter:
            outcome = await decide(PlanList(), asked, self._tools.model, self._note)
            if outcome.degraded:
                raise RunError(
                    f"The list could not be planned: {outcome.degraded}", kept="Nothing was made.", advice="Try again."
                )
        plan: ListPlan = outcome.decided
        plan = msgspec.structs.replace(plan, fields=tuple(asked_of(plan, field) for field in plan.fields))
        table = await self._store.tables.create(
            shortened(plan.things[:1].upper() + plan.things[1:], LONGEST_NAME),
            plan.fields,
            key_field=plan.key,
            actor=self._actor,
            note=f"find rows: {question}",
        )
        return await self._store.listings.keep(Listing(table_id=table.id, plan=plan, rows=rows, usage=meter.usage))

    async def run(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> FoundRows:
        """To the end, or on from where it was cut off. `more`: further rows, for `rows` in all."""
        listing = await self._store.listings.get(table_id)
        if listing.status == "done" and not more:
            return await account(self._store, listing)
        if more and not rows and await self._store.tables.count(table_id) >= listing.rows:
            rows = min(listing.rows + DEFAULT_ROWS, MOST_ROWS)
        search = Search(self, listing, fill=fill, rows=rows, insists=more and listing.status == "done")
        return await search.run()

    def _note(self, step: Step) -> None:
        """Decisions tell their own troubles; the account says what they came to."""


class Search:
    """One run of a search for rows."""

    def __init__(self, finder: Finder, listing: Listing, *, fill: bool, rows: int, insists: bool) -> None:
        self._store = finder._store
        self._tools = finder._tools
        self._terms = finder._terms
        self._concurrency = finder._concurrency
        self._changes = Changes(finder._store, finder._actor)
        self._watch = finder._watch
        self._gatherer = Gatherer(finder._tools, self._keep_listing, finder._watch, finder._note)
        self._insists = insists
        self._note = finder._note
        self._fill_cells = fill
        again = [source.origin for source in listing.sources if source.status == "not judged"]
        self._listing = msgspec.structs.replace(
            listing,
            rows=rows or listing.rows,
            waiting=tuple(dict.fromkeys((*again, *listing.waiting))),
            sources=tuple(source for source in listing.sources if source.status != "not judged"),
        )
        self._before = listing.usage

    async def run(self) -> FoundRows:
        status: ListingStatus = "failed"
        problem = ""
        with metered() as meter:
            try:
                await self._keep(status="running", problem="")
                await self._rounds()
                status = "done"
            except OverBudget as error:
                status, problem = "partial", error.what
                await self._place()
            except asyncio.CancelledError:
                status, problem = "cancelled", "It was stopped."
                raise
            except RunError as error:
                problem = error.what
                raise
            finally:
                await asyncio.shield(self._keep(status=status, problem=problem, usage=self._before + meter.usage))
        found = await account(self._store, self._listing)
        self._watch(FindEvent(stage="done", detail=found.completeness))
        return found

    async def _keep(self, **changes: object) -> None:
        await self._keep_listing(msgspec.structs.replace(self._listing, **changes))

    async def _keep_listing(self, listing: Listing) -> Listing:
        self._listing = await self._store.listings.keep(listing)
        return self._listing

    # ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _rounds(self) -> None:
        """Searches until there are enough rows that meet the conditions, or nothing more is found."""
        if self._listing.sources and await self._is_enough():
            return
        in_vain = 0
        for number in range(ROUNDS):
            before = things_of(self._listing)
            if not self._listing.waiting:
                insists = self._insists and number == 0
                queries = await self._gatherer.next_queries(self._listing, before, insists=insists)
                if not queries:
                    break
                await self._gatherer.search(self._listing, queries)
            await self._gatherer.read_waiting(self._listing)
            if await self._is_enough():
                return
            in_vain = 0 if len(things_of(self._listing)) > len(before) else in_vain + 1
            if in_vain > 1:
                break
        await self._settle()

    async def _is_enough(self) -> bool:
        """Whether there are as many rows as are wanted, also once their cells are known."""
        return await self._place() >= self._listing.rows and await self._settle() >= self._listing.rows

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _place(self) -> int:
        """Things become rows, those that most sites name first, as many as are wanted; what is known to fail a
        condition is set aside. Rows that are there learn what further pages say. How many rows there are then."""
        await self._compare_names()
        things, plan, at = things_of(self._listing), self._listing.plan, now()
        table = await self._table()
        present = {row.id: row for row in table.rows}
        cells = {thing.key: cells_of(thing, plan, at) for thing in things}
        said = await spellings(plan, list(cells.values()), self._tools.model, self._note)
        aside = {each.key: each for each in self._listing.aside}
        edits: list[Edit] = []
        waiting: list[Thing] = []
        for thing in things:
            row = present.get(self._listing.placed.get(thing.key, 0))
            if row is not None:
                edits += learned(row, cells[thing.key])
            elif thing.key in self._listing.placed or thing.key in aside:
                continue  # removed by its owner, or set aside before
            elif (judged := verdict(cells[thing.key], plan, said)).truth == "no match":
                aside[thing.key] = set_aside(thing, judged.reason)
            else:
                waiting.append(thing)
        kept = sum(self._listing.placed.get(thing.key, 0) in present for thing in things)
        waiting.sort(key=lambda thing: -len(thing.domains))
        chosen = waiting[: max(0, self._listing.rows - kept)]
        edits += [AddRow(key=thing.key, cells=cells[thing.key]) for thing in chosen]
        if edits:
            note = f"{len(chosen):,} {plural('row', len(chosen))} found" if chosen else "more evidence found"
            await self._changes.edit(table.id, edits, note)
        ids = {row.key: row.id for row in (await self._table()).rows} if chosen else {}
        placed = dict(self._listing.placed) | {thing.key: ids[thing.key] for thing in chosen}
        await self._keep(placed=placed, aside=tuple(aside.values()))
        self._watch(FindEvent(stage="placing", detail=f"{len(things):,} found", done=len(placed)))
        return kept + len(chosen)

    async def _compare_names(self) -> None:
        """Which names of different pages mean the same thing: the model says so, once for each set of names."""
        listed = [{each.name for each in source.sightings} for source in self._listing.sources if source.sightings]
        names = tuple(dict.fromkeys(name for each in listed for name in sorted(each)))
        unequal = {row_key(name) for name in names}
        if len(listed) < 2 or not 2 <= len(unequal) <= MOST_VALUES or {*names} <= {*self._listing.compared}:
            return
        asked = ToGroup(column=self._listing.plan.key, values=names, question=self._listing.plan.question)
        outcome = await decide(SameValues(), asked, self._tools.model, self._note)
        if self._tools.model is not None and not outcome.degraded:
            same = tuple(each for each in outcome.decided.values() if len(each) > 1)
            await self._keep(compared=names, same_names=same)

    async def _settle(self) -> int:
        """Looks for the cells that no list states; rows that turn out to fail a condition make room for others. How
        many rows there are in the end."""
        while True:
            rows = await self._place()
            if self._fill_cells:
                await self._fill()
            if not await self._drop_failing():
                return rows

    async def _drop_failing(self) -> int:
        """Takes the rows out of the table that are known to fail a condition; how many."""
        plan, table = self._listing.plan, await self._table()
        said = await spellings(plan, [row.cells for row in table.rows], self._tools.model, self._note)
        of_row = {row_id: key for key, row_id in self._listing.placed.items()}
        things = {thing.key: thing for thing in things_of(self._listing)}
        failing: list[tuple[Row, SetAside]] = []
        for row in table.rows:
            thing = things.get(of_row.get(row.id, ""))
            judged = verdict(row.cells, plan, said)
            if thing is not None and judged.truth == "no match":
                cited = [each for where in plan.conditions for each in row.cell(where.column).evidence]
                failing.append((row, set_aside(thing, judged.reason, cited)))
        if failing:
            edits = [RemoveRow(row_id=row.id) for row, _ in failing]
            note = f"{len(failing):,} {plural('row', len(failing))} set aside: a condition is not met"
            await self._changes.edit(table.id, edits, note)
            await self._keep(aside=(*self._listing.aside, *(each for _, each in failing)))
        return len(failing)

    async def _fill(self) -> None:
        """By the engine: the cells that nobody has looked for."""
        table = await self._table()
        wanted = self._listing.plan.fields[1:]
        only: set[CellAt] = {
            (row.id, field.name) for row in table.rows for field in wanted if row.cell(field.name).needs_work
        }
        if not only:
            return
        of_row = {self._listing.placed.get(thing.key, 0): thing.pages[:OWN_PAGES] for thing in things_of(self._listing)}
        filling = Fill(
            self._store,
            table,
            wanted,
            OwnPages(of_row),
            tools=self._tools,
            only=only,
            concurrency=self._concurrency,
            terms=self._terms,
            watch=self._told,
        )
        filled = await filling.run()
        await self._changes.apply_unseen(filled.proposal_id)
        if filled.cap:
            raise OverBudget(f"The cap of {filled.cap} was reached; {filled.left:,} cells are left.")
        if filled.problem:
            raise RunError(filled.problem, kept="The rows that were found are kept.")

    def _told(self, progress: Progress) -> None:
        self._watch(FindEvent(stage="filling", detail=progress.label, done=progress.done, total=progress.total))

    async def _table(self) -> Table:
        return await self._store.tables.load(self._listing.table_id)


def names(fields: Sequence[Field]) -> list[str]:
    return [field.name for field in fields]


def asked_of(plan: ListPlan, field: Field) -> Field:
    """Every column but the first is found from it."""
    inputs = () if field.name == plan.key else (plan.key,)
    return msgspec.structs.replace(field, depends_on=inputs, question="" if field.name == plan.key else field.question)


def set_aside(thing: Thing, reason: str, cited: Sequence[Evidence] = ()) -> SetAside:
    evidence = tuple(dict.fromkeys((*cited, *(each.evidence for each in thing.sightings))))[:CITED]
    return SetAside(key=thing.key, name=thing.name, reason=reason, evidence=evidence)


def learned(row: Row, cells: dict[str, Cell]) -> list[Edit]:
    """What further pages say of a row: values for empty cells, and evidence for those that came from lists too. What a
    run found or a person wrote stays."""
    edits: list[Edit] = []
    for name, cell in cells.items():
        present = row.cell(name)
        from_lists = present.run_id is None and present.basis in ("stated", "converted")
        news = (cell.value, cell.evidence, cell.conflict) != (present.value, present.evidence, present.conflict)
        if (present.value is None and present.status != "ENRICHED") or (from_lists and news):
            edits.append(SetCell(row_id=row.id, field=name, cell=cell, expected=present))
    return edits
