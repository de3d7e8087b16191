"""Own pages first: each row is read from the pages that are known to be about it; only what they do not say is searched
for, as by the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.domain.model import Finding, Row, RowId
from tablewright.strategies.pipeline import Pipeline, PipelineStrategy, follow
from tablewright.strategies.row_answers import RowAttempt
from tablewright.strategies.strategy import Task
from tablewright.strategies.tools import Tools

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
