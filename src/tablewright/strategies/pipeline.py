"""Pipeline: plan patterns → search → choose → open → read, for all asked fields of a row at once.

One plan for the whole table, one reading for all fields of a row and of several short rows together, and a further look
only where the last one was weak. Everything goes through the evidence rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from tablewright.decisions.plan_patterns import PlanPatterns
from tablewright.domain.model import Field, Finding, Row, RowId, Table
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import new_queries
from tablewright.messages.catalogue import PageText
from tablewright.strategies import estimates
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.request_batcher import SHARED_CALLS, rows_a_call
from tablewright.strategies.row_answers import PatternGenerator, RowAnswers, RowAttempt
from tablewright.strategies.strategy import Expected, Need, Strategy, Task, Tools
from tablewright.strategies.subject import allow_queries, other_columns, queries_for, telling_columns, web_of

PAGES = 5
"""Opened in an attempt, at most."""
ENOUGH_HITS = 5
SEARCHES_AGAIN = 3
"""Searches in a further attempt, at most, or as many as there are weak columns."""


class PipelineStrategy(Strategy):
    name = "pipeline"
    display_name: PageText[str] = "Web pipeline"
    summary: PageText[str] = "Searches the same way for every row and reads each page once. The usual choice."
    max_steps = 12
    concurrency = 8
    parameters = (SHARED_CALLS,)

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def expected(self, task: Task, tools: Tools) -> Expected:
        return estimates.pipeline(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return Pipeline(task, tools)


class Pipeline(RowAnswers):
    """What the rows of a run share: the plans, and the calls that several rows are asked in."""

    def __init__(self, task: Task, tools: Tools, *, side_by_side: Collection[str] = ()) -> None:
        super().__init__(task, tools, web_of(tools), rows=rows_a_call(task), side_by_side=side_by_side)
        self.has_stronger = tools.strong is not None
        generator = PatternGenerator(tools.model, tools.patterns)
        self._planners = {
            column: PatternPlanner(generator, fields, task.table, other_columns(task, column))
            for column, fields in self.groups
        }

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        investigation = attempt.investigation
        with investigation.slot.on_the_way():
            await self.gather(attempt)
        findings = await investigation.findings(attempt.fields)
        await investigation.rate(findings)
        return findings

    async def plan(self, attempt: RowAttempt) -> tuple[str, ...]:
        return await self._planners[attempt.investigation.subject.column].plan(attempt)

    async def gather(self, attempt: RowAttempt) -> None:
        await follow(attempt, await self.plan(attempt))
        if attempt.is_again and attempt.feedback.is_last and self.tools.strong is not None:
            from tablewright.models.budget import dispensable

            attempt.investigation.model = self.tools.strong
            with dispensable():
                await attempt.investigation.read(attempt.fields, tuple(attempt.investigation.pages.values()))


async def follow(attempt: RowAttempt, patterns: Sequence[str]) -> None:
    """Search, choose, open and read. The first time, patterns are searched for until there is something to choose from,
    and all others for what those pages did not say; on a further attempt, every new query is."""
    investigation, row, fields = attempt.investigation, attempt.row, attempt.fields
    queries = queries_for(patterns, investigation.subject, row, investigation.fields)
    allow_queries(queries, planned_anew=attempt.is_again)
    left, may_stop = list(patterns), not attempt.is_again
    while left and fields:
        while left:
            pattern = left.pop(0)
            of_pattern = queries_for((pattern,), investigation.subject, row, investigation.fields)
            for query in new_queries(of_pattern, (*investigation.queries, *attempt.feedback.avoid_queries)):
                investigation.patterns[query] = pattern
                await investigation.search(query)
            if may_stop and enough(investigation, fields):
                break
        may_stop = False
        chosen = await investigation.choose_pages(fields, PAGES)
        await extract(investigation, fields, chosen, await investigation.open(chosen))
        fields = attempt.missing


def enough(investigation: RowInvestigation, fields: tuple[Field, ...]) -> bool:
    """With a model, results that it can choose from; without one, some of them must be seen to be about the row."""
    if investigation.model is not None:
        return len(investigation.offers()) >= ENOUGH_HITS
    return len(investigation.hits) >= ENOUGH_HITS and bool(investigation.likely(fields, PAGES))


async def extract(
    investigation: RowInvestigation,
    fields: tuple[Field, ...],
    chosen: Sequence[str],
    pages: tuple[Retrieved, ...],
) -> None:
    """All fields from all the pages in one call. Of a page that was chosen and could not be read, its search result is
    read instead; without a model, any search result for what no page says."""
    if investigation.model is None:
        await investigation.read(fields, pages)
        missing = tuple(field for field in fields if not investigation.has(field))
        await investigation.read(missing, investigation.new_snippets())
        return
    unread = {*chosen} - {page.origin for page in pages}
    snippets = tuple(snippet for snippet in investigation.snippets() if snippet.origin in unread)
    await investigation.read(fields, (*pages, *snippets))


class PatternPlanner:
    """One plan for the whole table; on a further attempt one for each weak column, or one for a row of which nothing
    was found, shared by all rows that are weak there for the same reason. So nothing of a single row is in what is
    asked, but for the sample: not which of its cells are empty, nor which other columns are weak in it."""

    def __init__(
        self, generator: PatternGenerator, fields: tuple[Field, ...], table: Table, columns: tuple[str, ...]
    ) -> None:
        """`columns` are those that no row is asked for: what some rows already have of the others is in no plan."""
        self.fields = fields
        self._table = table
        self._columns = columns
        self._generator = generator
        self._telling: tuple[str, ...] | None = None
        self._first: tuple[str, ...] = ()
        self._of_column: dict[str, set[str]] = {field.name: set() for field in fields}

    async def plan(self, attempt: RowAttempt) -> tuple[str, ...]:
        note = attempt.investigation.note
        if not attempt.is_again:
            self._first = await self._generator.plan(self._asked(attempt, self.fields), note)
            return self._first
        plans = []
        for fields in self._apart(attempt):
            plan = await self._generator.plan(self._asked(attempt, fields), note)
            for field in fields:
                self._of_column[field.name].update(plan)
            plans.append(plan)
        in_turn = [pattern for round in zip_longest(*plans) for pattern in round if pattern]
        most = max(SEARCHES_AGAIN, len(plans))
        return tuple(dict.fromkeys(in_turn))[:most]

    def _apart(self, attempt: RowAttempt) -> list[tuple[Field, ...]]:
        """Each weak column by itself; all together where nothing was found, for then the row itself is looked for."""
        if len(attempt.fields) == len(self.fields) == len(attempt.missing):
            return [attempt.fields]
        return [(field,) for field in attempt.fields]

    def _asked(self, attempt: RowAttempt, fields: tuple[Field, ...]) -> PlanPatterns:
        if self._telling is None:
            telling = telling_columns(attempt.investigation.subject, self.fields)
            self._telling = tuple(column for column in telling if column in self._columns)
        first, used = set(self._first), set(attempt.feedback.avoid_patterns)
        of_these = {pattern for field in fields for pattern in self._of_column[field.name]}
        of_others = first.union(*self._of_column.values()) - of_these
        avoid = (*self._first, *sorted(used - of_others - first)) if attempt.is_again else ()
        return attempt.ask_for_patterns(self._table, fields, self._columns, self._telling, avoid)


# ── own pages first ──────────────────────────────────────────────────────────────────────────────────────────────────

SEARCHES = 1
"""Patterns that are searched for what a row's own pages do not say."""
WorthSearching: TypeAlias = Callable[[Row, Mapping[str, Finding], Sequence[str]], Collection[str]]
"""Of a row, what was found so far, and the columns that are still weak: those worth a search, perhaps others too."""


def the_weak(row: Row, found: Mapping[str, Finding], weak: Sequence[str]) -> Collection[str]:
    return weak


class OwnPages(PipelineStrategy):
    """`pages` are the addresses of each row's own pages, the best first; without `searches` nothing else is read.
    Different values of columns that go `side_by_side` do not count against each other."""

    def __init__(
        self,
        pages: Mapping[RowId, Sequence[str]],
        *,
        searches: bool = True,
        worth_searching: WorthSearching = the_weak,
        side_by_side: Collection[str] = (),
    ) -> None:
        self.pages = pages
        self.searches = searches
        self.worth_searching = worth_searching
        self.side_by_side = side_by_side

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return OwnPagesFirst(task, tools, self)


class OwnPagesFirst(Pipeline):
    def __init__(self, task: Task, tools: Tools, how: OwnPages) -> None:
        super().__init__(task, tools, side_by_side=how.side_by_side)
        self._how = how

    async def gather(self, attempt: RowAttempt) -> None:
        investigation = attempt.investigation
        is_further = attempt.feedback.attempt > 1 and self._how.searches
        if not is_further:
            own = await investigation.open(self._how.pages.get(attempt.row.id, ()))
            await investigation.read(attempt.fields, own)
        if not self._how.searches:
            return
        if attempt.is_again and not is_further:  # a person doubts the value: its own pages once more, and elsewhere
            await super().gather(attempt)
            return
        weak = attempt.fields if is_further else attempt.missing
        found = investigation.so_far(investigation.fields)
        worth = self._how.worth_searching(attempt.row, found, [field.name for field in weak])
        investigation.leave([field for field in weak if field.name not in worth])
        fields = tuple(field for field in attempt.fields if field.name in worth)
        attempt = msgspec.structs.replace(attempt, fields=fields)
        if fields and is_further:
            await super().gather(attempt)
        elif fields:
            await follow(attempt, (await self.plan(attempt))[:SEARCHES])
