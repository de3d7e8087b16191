"""Pipeline: plan patterns → search → choose → open → read, for all asked fields of a row at once.

One plan for the whole table, one reading for all fields of a row and of several short rows together, and a further look
only where the last one was weak. Everything goes through the evidence rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest

import msgspec

from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.domain.model import Field, Finding
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import new_queries
from tablewright.messages.catalogue import PageText
from tablewright.strategies import estimates
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.request_batcher import SHARED_CALLS, rows_a_call
from tablewright.strategies.row_answers import RowAnswers, RowAttempt
from tablewright.strategies.strategy import Expected, Strategy, Task
from tablewright.strategies.subject import allow_queries, other_columns, queries_for, telling_columns, web_of
from tablewright.strategies.tools import Need, Tools

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
            column: PatternPlanner(generator, fields, task.table.name, other_columns(task, column))
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
        self, generator: PatternGenerator, fields: tuple[Field, ...], table: str = "", columns: tuple[str, ...] = ()
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
        subject, feedback = attempt.investigation.subject, attempt.feedback
        shared = {column: text for column, text in subject.context.items() if column in self._columns}
        subject = msgspec.structs.replace(subject, context=shared)
        names = {field.name for field in fields}
        weak = [column for column in feedback.weak if column.name in names]
        if self._telling is None:
            self._telling = telling_columns(subject, self.fields)
        of_this_run = {*self._first}.union(*self._of_column.values())
        tried = {pattern for name in names for pattern in self._of_column[name]} & {*feedback.avoid_patterns}
        tried |= {*feedback.avoid_patterns} - of_this_run
        return PlanPatterns(
            key=subject.column,
            fields=fields,
            columns=self._columns,
            telling=self._telling,
            sample=subject,
            table=self._table,
            attempt=feedback.attempt,
            avoid=(*self._first, *sorted(tried - {*self._first})) if attempt.is_again else (),
            weak=tuple(WasWeak(column=each.name, weakness=each.weakness, reason=each.reason) for each in weak),
            hints=tuple(dict.fromkeys(each.hint for each in weak)),
            notes={name: note for name, note in feedback.notes.items() if attempt.is_again and name in names},
        )
