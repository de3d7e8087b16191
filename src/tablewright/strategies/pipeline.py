"""Pipeline: plan patterns → search → choose → open → read, for all asked fields of a row at once.

One plan for the whole table, one reading for all fields of a row and of several short rows together, and a further look
only where the last one was weak. Everything goes through the evidence rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.domain.model import Field, Finding, Row, RowId
from tablewright.domain.retrieved import Retrieved
from tablewright.messages.catalogue import PageText
from tablewright.strategies.effort import Expected
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.request_batcher import rows_per_call
from tablewright.strategies.row_answers import PatternGenerator, RowAnswers, RowAttempt
from tablewright.strategies.strategy import ROWS_PER_CALL, Need, Strategy, Task, Tools
from tablewright.strategies.subject import other_columns, require_web

# More pages rarely change an answer, and each costs a fetch and tokens.
PAGES_PER_ATTEMPT = 5
# Search results to choose from; with fewer, the next pattern is searched for too.
ENOUGH_HITS = 5


class PipelineStrategy(Strategy):
    name = "pipeline"
    display_name: PageText[str] = "Web pipeline"
    summary: PageText[str] = "Searches the same way for every row and reads each page once. The usual choice."
    max_steps = 12
    # A row also waits for searches and for pages of different sites.
    concurrency = 8
    shares_calls = True
    parameters = (ROWS_PER_CALL,)

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def expected(self, task: Task, tools: Tools) -> Expected:
        from tablewright.strategies import estimates

        return estimates.estimate_pipeline(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return Pipeline(task, tools)


class Pipeline(RowAnswers):
    """The rows of one run, with the plans and the model calls that they share."""

    def __init__(self, task: Task, tools: Tools, *, side_by_side: Collection[str] = ()) -> None:
        super().__init__(task, tools, require_web(tools), rows=rows_per_call(task), side_by_side=side_by_side)
        self.has_stronger = tools.strong is not None
        self._generator = PatternGenerator(tools.model, tools.plans)
        self._fields_of = dict(self.groups)

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        investigation = attempt.investigation
        with investigation.slot.on_the_way():
            await self.gather(attempt)
        findings = await investigation.findings(attempt.fields)
        await investigation.rate(findings)
        return findings

    async def plan(self, attempt: RowAttempt) -> tuple[str, ...]:
        column = attempt.investigation.subject.column
        columns = other_columns(self.task, column)
        return await self._generator.plan_for(attempt, self._fields_of[column], self.task.table, columns)

    async def gather(self, attempt: RowAttempt) -> None:
        await follow_patterns(attempt, await self.plan(attempt))
        # The strong model reads all pages so far again, so nothing more has to be searched for it.
        if attempt.is_again and attempt.feedback.is_last and self.tools.strong is not None:
            from tablewright.llm.budget import optional_request

            attempt.investigation.model = self.tools.strong
            with optional_request():
                await attempt.investigation.read(attempt.fields, tuple(attempt.investigation.pages.values()))


async def follow_patterns(attempt: RowAttempt, patterns: Sequence[str]) -> None:
    """Search, choose, open and read. In the first attempt, search for patterns until there are enough results, and for
    the others only if those pages left fields open; in a further attempt, send every new query."""
    investigation, fields = attempt.investigation, attempt.fields
    left, may_stop = [*attempt.fill(patterns, investigation.fields)], not attempt.is_again
    while fields and (left or investigation.chose_own_page) and not investigation.over_budget:
        while left:
            await investigation.search(left.pop(0))
            if may_stop and has_enough_results(investigation, fields):
                break
        # Whatever is still open after reading is worth the remaining patterns.
        may_stop = False
        chosen = await investigation.choose_pages(fields, PAGES_PER_ATTEMPT)
        await read_chosen_pages(investigation, fields, chosen, await investigation.open(chosen))
        fields = attempt.missing


def has_enough_results(investigation: RowInvestigation, fields: tuple[Field, ...]) -> bool:
    """Return True if there are enough results to choose from; without a model, some must be visibly about the row."""
    if investigation.model is not None:
        return len(investigation.offers()) >= ENOUGH_HITS
    return len(investigation.hits) >= ENOUGH_HITS and bool(investigation.likely(fields, PAGES_PER_ATTEMPT))


async def read_chosen_pages(
    investigation: RowInvestigation,
    fields: tuple[Field, ...],
    chosen: Sequence[str],
    pages: tuple[Retrieved, ...],
) -> None:
    """Read all fields from all pages in one call. If a chosen page could not be opened, its search result is read
    instead; without a model, any search result for fields that no page states."""
    if investigation.model is None:
        await investigation.read(fields, pages)
        missing = tuple(field for field in fields if not investigation.has(field))
        await investigation.read(missing, investigation.new_snippets())
        return
    unread = {*chosen} - {page.origin for page in pages}
    snippets = tuple(snippet for snippet in investigation.snippets() if snippet.origin in unread)
    await investigation.read(fields, (*pages, *snippets))


# ── own pages first ──────────────────────────────────────────────────────────────────────────────────────────────────

# Chooses the columns worth a search, from a row, its findings so far and its weak columns.
WorthSearching: TypeAlias = Callable[[Row, Mapping[str, Finding], Sequence[str]], Collection[str]]


def select_all_weak(row: Row, found: Mapping[str, Finding], weak: Sequence[str]) -> Collection[str]:
    return weak


class OwnPagesStrategy(PipelineStrategy):
    """Reads each row's own `pages` first, the best one first; without `searches` nothing else is read. Different values
    of columns that go `side_by_side` do not count against each other."""

    def __init__(
        self,
        pages: Mapping[RowId, Sequence[str]],
        *,
        searches: bool = True,
        worth_searching: WorthSearching = select_all_weak,
        side_by_side: Collection[str] = (),
    ) -> None:
        self.pages = pages
        self.searches = searches
        self.worth_searching = worth_searching
        self.side_by_side = side_by_side

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return OwnPagesPipeline(task, tools, self)


class OwnPagesPipeline(Pipeline):
    def __init__(self, task: Task, tools: Tools, how: OwnPagesStrategy) -> None:
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
        # A person doubts the value: its own pages once more, and elsewhere.
        if attempt.is_again and not is_further:
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
            # One pattern is enough for what the own pages leave open.
            await follow_patterns(attempt, (await self.plan(attempt))[:1])
