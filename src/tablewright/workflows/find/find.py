"""Find rows: turn a description of things into a living table of them.

With a model: it plans the table (`llm/tasks/plan_list`); lists are searched for, chosen and read whole (`gather`,
`llm/tasks/read_lists`); code joins what several pages say about one entity (`entities`), makes it a row, applies the
conditions to its cells and reports how complete the list is (`completeness_report`). The engine looks for what no list
states, starting with the entity's own page. Without a model, only tables whose headers match the requested columns are
read, and they are labelled as such.

Every page is saved as soon as it is read, so an interrupted search resumes, and `more` adds to it. Rows are written
only as edits through the engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date

import msgspec

from tablewright.conditions.compare import check_condition
from tablewright.conditions.evaluate import index_fields
from tablewright.domain.condition import Condition
from tablewright.domain.edits import AddRow, Edit, RemoveRow, SetCell
from tablewright.domain.listing import (
    DEFAULT_ROWS,
    MAX_ROWS,
    ExcludedThing,
    FindEvent,
    FoundRows,
    Listing,
    ListingStatus,
    ListPlan,
)
from tablewright.domain.model import Cell, Evidence, Field, Row, Step, Table, column_key
from tablewright.domain.proposal import CellAt
from tablewright.domain.retrieved import is_document_id
from tablewright.domain.run import Estimate, Progress, measure_usage
from tablewright.domain.text import count_noun, shorten_text
from tablewright.engine.changes import TableChanges
from tablewright.engine.estimate import EstimateRequest, estimate_run
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import DEFAULT_POLICY, FillPlan, RunPolicy
from tablewright.errors import OverBudget, RunError, UsageError
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.plan_list import ListToPlan, PlanList
from tablewright.llm.tasks.same_values import MAX_COMPARED_VALUES, GroupSameValues, ValuesToGroup
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.store.records import clean_for_storage, utc_now
from tablewright.store.store import Store
from tablewright.strategies import estimates as assumed
from tablewright.strategies.effort import Effort, Expected
from tablewright.strategies.pipeline import OwnPagesStrategy
from tablewright.strategies.strategy import Task, Tools
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.workflows.find.entities import (
    Entity,
    fold_name,
    group_mentions,
    judge_row,
    label_mention,
    make_entity_cells,
    put_name_first,
    report_found_rows,
    resolve_condition_names,
)
from tablewright.workflows.find.gather import MAX_PAGES_PER_ROUND, ListGatherer


@dataclass(frozen=True)
class RowFinder:
    store: Store
    tools: Tools
    _: KW_ONLY
    actor: str = ""
    policy: RunPolicy = DEFAULT_POLICY
    concurrency: int | None = None
    rates: ExchangeRates = BUNDLED_RATES
    today: Callable[[], date] = date.today
    watch: Callable[[FindEvent], None] = lambda _: None

    async def begin(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        conditions: Sequence[Condition] = (),
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Plan the list and create its table, without rows; nothing is searched."""
        question = clean_for_storage(" ".join(question.split()))
        if not question:
            raise UsageError(
                "Nothing to find was given.", advice='Describe it: "Nordic fintechs with more than 100 staff".'
            )
        if not 1 <= rows <= MAX_ROWS:
            raise UsageError(f"From 1 to {MAX_ROWS:,} rows can be found at a time.")
        known = index_fields(fields)
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
        with measure_usage() as meter:
            outcome = await decide(PlanList(), asked, self.tools.model, ignore_step)
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
        # A longer table name would be cut off in lists and tabs.
        table = await self.store.tables.create(
            shorten_text(plan.things[:1].upper() + plan.things[1:], 60),
            plan.fields,
            key_field=plan.key,
            actor=self.actor,
            note=f"find rows: {question}",
        )
        return await self.store.listings.keep(Listing(table_id=table.id, plan=plan, rows=rows, usage=meter.usage))

    async def run(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> FoundRows:
        """Find rows, or resume an interrupted search. With `more`, look for further rows, up to `rows` in all."""
        listing = await self.store.listings.get(table_id)
        if listing.status == "done" and not more:
            return await report_found_rows(self.store, listing, self.rates)
        if more and not rows and await self.store.tables.count(table_id) >= listing.rows:
            rows = min(listing.rows + DEFAULT_ROWS, MAX_ROWS)
        search = RowSearch(self, listing, fill=fill, rows=rows, insists=more and listing.status == "done")
        return await search.run()


class RowSearch:
    """One run of a search for rows."""

    def __init__(self, context: RowFinder, listing: Listing, *, fill: bool, rows: int, insists: bool) -> None:
        """With `insists`, search again although the list was taken for complete."""
        self._context = context
        self._store = context.store
        self._changes = TableChanges(context.store, context.actor)
        self._gatherer = ListGatherer(context.tools, self._keep_listing, context.watch, ignore_step)
        self._insists = insists
        self._fill_cells = fill
        # Pages that the model failed to read wait again, before new ones.
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
        # Until proven otherwise: `finally` stores it whatever is raised.
        status: ListingStatus = "failed"
        problem = ""
        with track_provenance(list_provenance(self._listing)), measure_usage() as meter:
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
                # Shielded, because a cancelled search still has to store what it found and what it cost.
                await asyncio.shield(self._keep(status=status, problem=problem, usage=self._before + meter.usage))
        found = await report_found_rows(self._store, self._listing, self._context.rates)
        self._context.watch(FindEvent(stage="done", detail=found.completeness))
        return found

    async def _keep(self, **changes: object) -> None:
        await self._keep_listing(msgspec.structs.replace(self._listing, **changes))

    async def _keep_listing(self, listing: Listing) -> Listing:
        self._listing = await self._store.listings.keep(listing)
        return self._listing

    # ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _rounds(self) -> None:
        """Search until enough rows meet the conditions, or nothing more is found."""
        # A resumed search may have found enough before it was interrupted.
        if self._listing.sources and await self._is_enough():
            return
        rounds_without_news = 0
        # Each round costs searches and pages; `more` adds another run of rounds if the user wants it.
        for number in range(3):
            before = group_mentions(self._listing)
            if not self._listing.waiting:
                insists = self._insists and number == 0
                queries = await self._gatherer.next_queries(self._listing, before, insists=insists)
                if not queries:
                    break
                await self._gatherer.search_lists(self._listing, queries)
            await self._gatherer.read_waiting(self._listing)
            if await self._is_enough():
                return
            found_more = len(group_mentions(self._listing)) > len(before)
            rounds_without_news = 0 if found_more else rounds_without_news + 1
            if rounds_without_news > 1:  # one may only have met bad pages
                break
        await self._settle()

    async def _is_enough(self) -> bool:
        """Return True if there are as many rows as requested, even after their cells are filled."""
        return await self._place() >= self._listing.rows and await self._settle() >= self._listing.rows

    # ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _place(self) -> int:
        """Make rows of entities until there are enough, starting with those that most sites name; return the number of
        rows. Entities that fail a condition are set aside, and existing rows get what further pages say."""
        # Before rows are made: two spellings of one entity would become two rows.
        await self._compare()
        entities, plan, at = group_mentions(self._listing), self._listing.plan, utc_now()
        table = await self._table()
        present = {row.id: row for row in table.rows}
        cells = {entity.key: make_entity_cells(entity, plan, at) for entity in entities}
        spellings = await resolve_condition_names(plan, list(cells.values()), self._context.tools.model, ignore_step)
        aside = {each.key: each for each in self._listing.aside}
        edits: list[Edit] = []
        waiting: list[Entity] = []
        for entity in entities:
            row = present.get(self._listing.placed.get(entity.key, 0))
            if row is not None:
                edits += find_new_evidence(row, cells[entity.key])
            elif entity.key in self._listing.placed or entity.key in aside:
                continue  # removed by its owner, or set aside before
            elif (judged := judge_row(cells[entity.key], plan, spellings, self._context.rates)).truth == "no match":
                aside[entity.key] = make_set_aside(entity, judged.reason)
            else:
                waiting.append(entity)
        kept = sum(self._listing.placed.get(entity.key, 0) in present for entity in entities)
        # Entities that several sites name are the surest; the sort is stable, so the order of the lists decides among
        # equals.
        waiting.sort(key=lambda entity: -len(entity.domains))
        chosen = waiting[: max(0, self._listing.rows - kept)]
        edits += [AddRow(key=entity.key, cells=cells[entity.key]) for entity in chosen]
        if edits:
            note = f"{count_noun(len(chosen), 'row')} found" if chosen else "more evidence found"
            await self._changes.edit(table.id, edits, note)
        ids = {row.key: row.id for row in (await self._table()).rows} if chosen else {}
        placed = dict(self._listing.placed) | {entity.key: ids[entity.key] for entity in chosen}
        await self._keep(placed=placed, aside=tuple(aside.values()))
        self._context.watch(FindEvent(stage="placing", detail=f"{len(entities):,} found", done=len(placed)))
        return kept + len(chosen)

    async def _compare(self) -> None:
        """Ask the model, once for each set of labels, which ones on different pages mean the same entity. If there are
        too many labels, ask about the names alone."""
        plan = self._listing.plan
        listed = [source.sightings for source in self._listing.sources if source.sightings]
        labels = tuple(
            dict.fromkeys(each for some in listed for each in sorted({label_mention(one, plan) for one in some}))
        )
        names = tuple(dict.fromkeys(each for some in listed for each in sorted({one.name for one in some})))
        column, values = " · ".join(dict.fromkeys((plan.key, *plan.identity))), labels
        if len(labels) > MAX_COMPARED_VALUES:
            column, values = plan.key, names
        unequal = {fold_name(value) for value in values}
        # One page rarely lists an entity twice, and what was compared before needs no second call.
        if len(listed) < 2 or not 2 <= len(unequal) <= MAX_COMPARED_VALUES or {*values} <= {*self._listing.compared}:
            return
        asked = ValuesToGroup(column=column, values=values, question=plan.question)
        outcome = await decide(GroupSameValues(), asked, self._context.tools.model, ignore_step)
        if self._context.tools.model is not None and not outcome.degraded:
            same = tuple(put_name_first(name, each) for name, each in outcome.decided.items() if len(each) > 1)
            await self._keep(compared=values, same_names=same)

    async def _settle(self) -> int:
        """Fill the cells that no list states and return the number of rows; rows that fail a condition make room for
        others."""
        while True:
            rows = await self._place()
            if self._fill_cells:
                await self._fill()
            if not await self._drop_failing():
                return rows

    async def _drop_failing(self) -> int:
        """Remove rows that fail a condition from the table and return how many."""
        plan, table = self._listing.plan, await self._table()
        rows = [row.cells for row in table.rows]
        spellings = await resolve_condition_names(plan, rows, self._context.tools.model, ignore_step)
        keys_by_row = {row_id: key for key, row_id in self._listing.placed.items()}
        entities = {entity.key: entity for entity in group_mentions(self._listing)}
        failing: list[tuple[Row, ExcludedThing]] = []
        for row in table.rows:
            entity = entities.get(keys_by_row.get(row.id, ""))
            judged = judge_row(row.cells, plan, spellings, self._context.rates)
            if entity is not None and judged.truth == "no match":
                cited = [each for where in plan.conditions for each in row.cell(where.column).evidence]
                failing.append((row, make_set_aside(entity, judged.reason, cited)))
        if failing:
            edits = [RemoveRow(row_id=row.id) for row, _ in failing]
            note = f"{count_noun(len(failing), 'row')} set aside: a condition is not met"
            await self._changes.edit(table.id, edits, note)
            await self._keep(aside=(*self._listing.aside, *(each for _, each in failing)))
        return len(failing)

    async def _fill(self) -> None:
        """Let the engine fill the cells that were not looked for yet."""
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
        # An entity's own pages, as lists link to them: opening all of them for every row would cost too much.
        keys_by_row = {
            self._listing.placed.get(entity.key, 0): entity.pages[:2] for entity in group_mentions(self._listing)
        }
        filling = FillPlan(
            table,
            wanted,
            OwnPagesStrategy(keys_by_row),
            only=only,
            concurrency=self._context.concurrency,
            policy=self._context.policy,
        )
        filled = await FillRun(self._store, filling, self._context.tools, watch=self._report).run()
        await self._changes.apply_unseen(filled.proposal_id)
        if filled.cap:
            raise OverBudget(f"The cap of {filled.cap} was reached; {filled.left:,} cells are left.")
        if filled.problem:
            raise RunError(filled.problem, kept="The rows that were found are kept.")

    def _report(self, progress: Progress) -> None:
        self._context.watch(FindEvent(stage="filling", detail=progress.label, done=progress.done, total=progress.total))

    async def _table(self) -> Table:
        return await self._store.tables.load(self._listing.table_id)


def list_provenance(listing: Listing) -> Provenance:
    """Return what the search may tell the public web: its plan, which was made of the question alone, and what its
    public pages said so far."""
    public = [source for source in listing.sources if not is_document_id(source.origin)]
    listed = [each for source in public for each in source.sightings]
    addresses = (*listing.waiting, *(source.origin for source in public), *(each.url for each in listed))
    provenance = Provenance(listing.plan, [each.name for each in listed], addresses=addresses)
    if len(public) < len(listing.sources):
        provenance.note_private()
    return provenance


def make_set_aside(entity: Entity, reason: str, cited: Sequence[Evidence] = ()) -> ExcludedThing:
    # Enough passages to show why an entity was set aside.
    evidence = tuple(dict.fromkeys((*cited, *(each.evidence for each in entity.mentions))))[:4]
    return ExcludedThing(key=entity.key, name=entity.name, reason=reason, evidence=evidence)


def find_new_evidence(row: Row, cells: dict[str, Cell]) -> list[Edit]:
    """Return edits with what further pages say about a row: values for empty cells, and evidence for cells that came
    from lists. What a run found or a person wrote stays."""
    edits: list[Edit] = []
    for name, cell in cells.items():
        present = row.cell(name)
        from_lists = present.run_id is None and present.basis in ("stated", "converted")
        news = (cell.value, cell.evidence, cell.conflict) != (present.value, present.evidence, present.conflict)
        if (present.value is None and present.status != "ENRICHED") or (from_lists and news):
            edits.append(SetCell(row_id=row.id, field=name, cell=cell, expected=present))
    return edits


def ignore_step(step: Step) -> None:
    """Drop a step of a decision: the report shows its effect."""


# ── the estimate ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class SearchEffort:
    """Typical figures of a search for rows: guesses on the high side, as the lists are unknown until they are read."""

    list_page_characters: int = 20_000
    rounds: float = 1.5
    prompt_tokens: int = 1_200
    """Tokens of a call without the page that it reads."""
    reply_tokens: int = 500
    open_rows: float = 0.5
    """Share of rows with a cell that no list states."""


def estimate_search(listing: Listing, tools: Tools, policy: RunPolicy) -> Estimate:
    plan, typical = listing.plan, SearchEffort()
    pages = MAX_PAGES_PER_ROUND * typical.rounds
    # One call for each page, and two each round: to plan searches and to choose pages.
    calls = pages + 2 * typical.rounds if tools.model is not None else 0.0
    read = pages * typical.list_page_characters / TEXT_LIMITS.characters_per_token if tools.model is not None else 0.0
    lists = Effort(
        calls=calls,
        input_tokens=calls * typical.prompt_tokens + read,
        output_tokens=calls * typical.reply_tokens,
        searches=len(plan.queries) * typical.rounds,
        pages=pages,
    )
    asked = plan.fields[1:]
    row = Effort()
    if asked:
        task = Task(table=Table(id="", name=plan.things, fields=plan.fields, key_field=plan.key), fields=asked)
        row = assumed.estimate_pipeline(task, tools).row * typical.open_rows
    job = EstimateRequest(
        rows=listing.rows,
        cells=listing.rows * len(asked),
        expected=Expected(row=row, once=lists),
        policy=policy,
        attempts=1,
        # Only the duration depends on it; the run itself decides by the settings.
        concurrency=8,
    )
    return estimate_run(job, tools)
