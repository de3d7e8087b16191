"""Own pages first: each row is read from the pages that are known to be about it; only what they do not say is searched
for, as by the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.domain.model import Field, Finding, Row, RowId
from tablewright.strategies.pipeline import GATHER, Pipeline, PipelineStrategy
from tablewright.strategies.stages import ExtractStage, Message, PatternStage
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
        super().__init__(task, tools)
        self._how = how
        self._side_by_side = frozenset(how.side_by_side)

    async def run(self, message: Message, plan: PatternStage) -> None:
        is_further = message.feedback.attempt > 1 and self._how.searches
        if not is_further:
            own = await message.investigation.open(self._how.pages.get(message.row.id, ()))
            await message.investigation.read(message.fields, own)
        if not self._how.searches:
            return
        if message.is_again and not is_further:  # a person doubts the value: its own pages once more, and elsewhere
            await super().run(message, plan)
            return
        weak = message.fields if is_further else message.missing
        fields = self._worth(message, weak)
        message.investigation.leave([field for field in weak if field not in fields])
        message = msgspec.structs.replace(message, fields=fields)
        if not fields:
            return
        if is_further:
            await super().run(message, plan)
            return
        message = await plan(message)
        message = msgspec.structs.replace(message, patterns=message.patterns[:SEARCHES])
        for stage in GATHER:
            message = await stage(message)
        await ExtractStage()(message)

    def _worth(self, message: Message, weak: Sequence[Field]) -> tuple[Field, ...]:
        found = message.investigation.so_far(message.investigation.fields)
        worth = self._how.worth_searching(message.row, found, [field.name for field in weak])
        return tuple(field for field in message.fields if field.name in worth)
