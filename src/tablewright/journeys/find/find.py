"""Find rows: a description of things becomes a living table of them.

With a model: it plans the table (`decisions/plan_list`); lists are searched for, chosen and read whole (`gather`,
`decisions/read_lists`); code joins what several pages say of one thing (`things`), makes it a row, applies the
conditions to its cells and says how complete the list is (`account`). The engine looks for what no list states,
beginning with the thing's own page. Without a model: the tables whose headers are named as the asked columns, and
called just that.

Everything read is kept page by page, so that a search that was cut off resumes, and `more` adds to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date

import msgspec

from tablewright.conditions.comparable import check_condition
from tablewright.conditions.evaluate import fields_by_key
from tablewright.decisions.decision import decide
from tablewright.decisions.plan_list import ListToPlan, PlanList
from tablewright.decisions.same_values import MOST_VALUES, SameValues, ToGroup
from tablewright.domain.condition import Condition
from tablewright.domain.edits import AddRow, Edit, RemoveRow, SetCell
from tablewright.domain.listing import (
    DEFAULT_ROWS,
    MOST_ROWS,
    FindEvent,
    FoundRows,
    Listing,
    ListingStatus,
    ListPlan,
    SetAside,
)
from tablewright.domain.model import Cell, Evidence, Field, Row, Step, Table, column_key
from tablewright.domain.proposal import CellAt
from tablewright.domain.retrieved import is_document
from tablewright.domain.run import Estimate, Progress, metered
from tablewright.domain.text import count_noun, shortened
from tablewright.engine.changes import Changes
from tablewright.engine.estimate import Job, estimate
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.policy import USUAL, Terms
from tablewright.errors import OverBudget, RunError, UsageError
from tablewright.journeys.find.account import account, judge_row, spellings_for
from tablewright.journeys.find.gather import PAGES, ListGatherer
from tablewright.journeys.find.things import ListedThing, cells_of, label_of, led_by, spelled, things_of
from tablewright.models.text_budget import CHARACTERS_A_TOKEN
from tablewright.sources.provenance import Provenance, telling
from tablewright.store.records import now, printable
from tablewright.store.store import Store
from tablewright.strategies import estimates as assumed
from tablewright.strategies.pipeline import OwnPages
from tablewright.strategies.strategy import Effort, Expected, Task, Tools
from tablewright.values.money import BUNDLED, Rates

LONGEST_NAME = 60
ROUNDS = 3
"""Rounds of searches in one run."""
OWN_PAGES = 2
"""Of a thing, as lists link to them, that are opened for its empty cells."""
CITED = 4
"""Passages that are kept of a thing that was set aside."""


def ignore(event: FindEvent | Step) -> None:
    """For callers who do not watch. The account says what the steps of decisions lead to."""


@dataclass(frozen=True)
class Finder:
    store: Store
    tools: Tools
    _: KW_ONLY
    actor: str = ""
    terms: Terms = USUAL
    concurrency: int | None = None
    rates: Rates = BUNDLED
    today: Callable[[], date] = date.today
    watch: Callable[[FindEvent], None] = ignore

    async def begin(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        conditions: Sequence[Condition] = (),
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Plan the list and create its table, without rows; nothing is searched."""
        question = printable(" ".join(question.split()))
        if not question:
            raise UsageError(
                "It is not said what to find.", advice='Say it: "Nordic fintechs with more than 100 staff".'
            )
        if not 1 <= rows <= MOST_ROWS:
            raise UsageError(f"From 1 to {MOST_ROWS:,} rows can be found at a time.")
        known = fields_by_key(fields)
        unknown = [column for each in conditions for column in each.columns if column_key(column) not in known]
        doubled = len(known) < len(fields)
        if doubled or (unknown and self.tools.model is None):
            said = "A column was asked for twice." if doubled else f"{unknown[0]!r} is not among the columns."
            raise UsageError(said, advice="Name each column once, and those of the conditions among them.")
        for condition in conditions:
            field = known.get(column_key(condition.column)) or Field(name=condition.column)
            if fault := check_condition(condition, field):
                raise UsageError(f"{fault[:1].upper()}{fault[1:]}")
        asked = ListToPlan(
            question=question, today=self.today().isoformat(), fields=tuple(fields), conditions=tuple(conditions)
        )
        with metered() as meter:
            outcome = await decide(PlanList(), asked, self.tools.model, ignore)
            if outcome.degraded:
                raise RunError(
                    f"The list could not be planned: {outcome.degraded}", kept="Nothing was made.", advice="Try again."
                )
        plan: ListPlan = outcome.decided
        named, *others = plan.fields
        found = (msgspec.structs.replace(field, depends_on=(plan.key,)) for field in others)
        plan = msgspec.structs.replace(
            plan, fields=(msgspec.structs.replace(named, question="", depends_on=()), *found)
        )
        table = await self.store.tables.create(
            shortened(plan.things[:1].upper() + plan.things[1:], LONGEST_NAME),
            plan.fields,
            key_field=plan.key,
            actor=self.actor,
            note=f"find rows: {question}",
        )
        return await self.store.listings.keep(Listing(table_id=table.id, plan=plan, rows=rows, usage=meter.usage))

    async def run(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> FoundRows:
        """Find rows, or resume where a search was cut off. `more`: further rows, for `rows` in all."""
        listing = await self.store.listings.get(table_id)
        if listing.status == "done" and not more:
            return await account(self.store, listing, self.rates)
        if more and not rows and await self.store.tables.count(table_id) >= listing.rows:
            rows = min(listing.rows + DEFAULT_ROWS, MOST_ROWS)
        search = Search(self, listing, fill=fill, rows=rows, insists=more and listing.status == "done")
        return await search.run()


class Search:
    """One run of a search for rows."""

    def __init__(self, context: Finder, listing: Listing, *, fill: bool, rows: int, insists: bool) -> None:
        """`insists`: somebody asks for more of what was taken for complete."""
        self._context = context
        self._store = context.store
        self._changes = Changes(context.store, context.actor)
        self._gatherer = ListGatherer(context.tools, self._keep_listing, context.watch, ignore)
        self._insists = insists
        self._fill_cells = fill
        again = [source.origin for source in listing.sources if source.status == "not judged"]
        self._listing = msgspec.structs.replace(
            listing,
            rows=rows or listing.rows,
            waiting=tuple(dict.fromkeys((*again, *listing.waiting))),
            sources=tuple(source for source in listing.sources if source.status != "not judged"),
            failed_queries={},  # they are tried again
        )
        self._before = listing.usage

    async def run(self) -> FoundRows:
        status: ListingStatus = "failed"
        problem = ""
        with telling(provenance_of_list(self._listing)), metered() as meter:
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
        found = await account(self._store, self._listing, self._context.rates)
        self._context.watch(FindEvent(stage="done", detail=found.completeness))
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
                await self._gatherer.search_lists(self._listing, queries)
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
        await self._compare()
        things, plan, at = things_of(self._listing), self._listing.plan, now()
        table = await self._table()
        present = {row.id: row for row in table.rows}
        cells = {thing.key: cells_of(thing, plan, at) for thing in things}
        said = await spellings_for(plan, list(cells.values()), self._context.tools.model, ignore)
        aside = {each.key: each for each in self._listing.aside}
        edits: list[Edit] = []
        waiting: list[ListedThing] = []
        for thing in things:
            row = present.get(self._listing.placed.get(thing.key, 0))
            if row is not None:
                edits += learned(row, cells[thing.key])
            elif thing.key in self._listing.placed or thing.key in aside:
                continue  # removed by its owner, or set aside before
            elif (judged := judge_row(cells[thing.key], plan, said, self._context.rates)).truth == "no match":
                aside[thing.key] = set_aside(thing, judged.reason)
            else:
                waiting.append(thing)
        kept = sum(self._listing.placed.get(thing.key, 0) in present for thing in things)
        waiting.sort(key=lambda thing: -len(thing.domains))
        chosen = waiting[: max(0, self._listing.rows - kept)]
        edits += [AddRow(key=thing.key, cells=cells[thing.key]) for thing in chosen]
        if edits:
            note = f"{count_noun(len(chosen), 'row')} found" if chosen else "more evidence found"
            await self._changes.edit(table.id, edits, note)
        ids = {row.key: row.id for row in (await self._table()).rows} if chosen else {}
        placed = dict(self._listing.placed) | {thing.key: ids[thing.key] for thing in chosen}
        await self._keep(placed=placed, aside=tuple(aside.values()))
        self._context.watch(FindEvent(stage="placing", detail=f"{len(things):,} found", done=len(placed)))
        return kept + len(chosen)

    async def _compare(self) -> None:
        """Which labels of different pages mean the same thing: the model says so, once for each set of them. Where
        there are too many, it is asked about the names alone."""
        plan = self._listing.plan
        listed = [source.sightings for source in self._listing.sources if source.sightings]
        labels = tuple(dict.fromkeys(each for some in listed for each in sorted({label_of(one, plan) for one in some})))
        names = tuple(dict.fromkeys(each for some in listed for each in sorted({one.name for one in some})))
        column, values = " · ".join(dict.fromkeys((plan.key, *plan.identity))), labels
        if len(labels) > MOST_VALUES:
            column, values = plan.key, names
        unequal = {spelled(value) for value in values}
        if len(listed) < 2 or not 2 <= len(unequal) <= MOST_VALUES or {*values} <= {*self._listing.compared}:
            return
        asked = ToGroup(column=column, values=values, question=plan.question)
        outcome = await decide(SameValues(), asked, self._context.tools.model, ignore)
        if self._context.tools.model is not None and not outcome.degraded:
            same = tuple(led_by(name, each) for name, each in outcome.decided.items() if len(each) > 1)
            await self._keep(compared=values, same_names=same)

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
        said = await spellings_for(plan, [row.cells for row in table.rows], self._context.tools.model, ignore)
        of_row = {row_id: key for key, row_id in self._listing.placed.items()}
        things = {thing.key: thing for thing in things_of(self._listing)}
        failing: list[tuple[Row, SetAside]] = []
        for row in table.rows:
            thing = things.get(of_row.get(row.id, ""))
            judged = judge_row(row.cells, plan, said, self._context.rates)
            if thing is not None and judged.truth == "no match":
                cited = [each for where in plan.conditions for each in row.cell(where.column).evidence]
                failing.append((row, set_aside(thing, judged.reason, cited)))
        if failing:
            edits = [RemoveRow(row_id=row.id) for row, _ in failing]
            note = f"{count_noun(len(failing), 'row')} set aside: a condition is not met"
            await self._changes.edit(table.id, edits, note)
            await self._keep(aside=(*self._listing.aside, *(each for _, each in failing)))
        return len(failing)

    async def _fill(self) -> None:
        """By the engine: the cells that nobody has looked for."""
        table = await self._table()
        only: set[CellAt] = {
            (row.id, field.name)
            for row in table.rows
            for field in self._listing.plan.fields[1:]
            if row.cell(field.name).needs_work
        }
        if not only:
            return
        missing = {name for _, name in only}
        wanted = tuple(field for field in self._listing.plan.fields if field.name in missing)
        of_row = {self._listing.placed.get(thing.key, 0): thing.pages[:OWN_PAGES] for thing in things_of(self._listing)}
        filling = FillPlan(
            table,
            wanted,
            OwnPages(of_row),
            only=only,
            concurrency=self._context.concurrency,
            terms=self._context.terms,
        )
        filled = await Fill(self._store, filling, self._context.tools, watch=self._report).run()
        await self._changes.apply_unseen(filled.proposal_id)
        if filled.cap:
            raise OverBudget(f"The cap of {filled.cap} was reached; {filled.left:,} cells are left.")
        if filled.problem:
            raise RunError(filled.problem, kept="The rows that were found are kept.")

    def _report(self, progress: Progress) -> None:
        self._context.watch(FindEvent(stage="filling", detail=progress.label, done=progress.done, total=progress.total))

    async def _table(self) -> Table:
        return await self._store.tables.load(self._listing.table_id)


def provenance_of_list(listing: Listing) -> Provenance:
    """Return what the search may tell the public web: its plan, which was made of the question alone, and what its
    public pages said so far."""
    public = [source for source in listing.sources if not is_document(source.origin)]
    listed = [each for source in public for each in source.sightings]
    addresses = (*listing.waiting, *(source.origin for source in public), *(each.url for each in listed))
    provenance = Provenance(listing.plan, [each.name for each in listed], addresses=addresses)
    if len(public) < len(listing.sources):
        provenance.note_private()
    return provenance


def set_aside(thing: ListedThing, reason: str, cited: Sequence[Evidence] = ()) -> SetAside:
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


# ── what it is likely to take ────────────────────────────────────────────────────────────────────────────────────────

#
LIST_PAGE = 20_000
"""Characters of a page that lists things."""
ROUNDS_NEEDED = 1.5
PROMPT, REPLY = 1_200, 500
"""Tokens of a call beside the page that it reads."""
OPEN_ROWS = 0.5
"""Rows with a cell that no list states."""


def estimate_search(listing: Listing, tools: Tools, terms: Terms) -> Estimate:
    plan = listing.plan
    pages = PAGES * ROUNDS_NEEDED
    calls = pages + 2 * ROUNDS_NEEDED if tools.model is not None else 0.0
    read = pages * LIST_PAGE / CHARACTERS_A_TOKEN if tools.model is not None else 0.0
    lists = Effort(
        calls=calls,
        input_tokens=calls * PROMPT + read,
        output_tokens=calls * REPLY,
        searches=len(plan.queries) * ROUNDS_NEEDED,
        pages=pages,
    )
    asked = plan.fields[1:]
    row = Effort()
    if asked:
        task = Task(table=Table(id="", name=plan.things, fields=plan.fields, key_field=plan.key), fields=asked)
        row = assumed.pipeline(task, tools).row * OPEN_ROWS
    job = Job(
        rows=listing.rows,
        cells=listing.rows * len(asked),
        expected=Expected(row=row, once=lists),
        terms=terms,
        attempts=1,
        concurrency=8,
    )
    return estimate(job, tools)
