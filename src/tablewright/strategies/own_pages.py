"""Own pages first: each row is read from the pages that are known to be about it; only what they do not say is searched
for, as by the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tablewright.strategies.pipeline import GATHER, Pipeline, PipelineStrategy
from tablewright.strategies.stages import ExtractStage, Message, PatternStage
from tablewright.strategies.strategy import Task
from tablewright.strategies.tools import Tools
from tablewright.table.model import RowId

SEARCHES = 1
"""Patterns that are searched for what a row's own pages do not say."""


class OwnPages(PipelineStrategy):
    """`pages` are the addresses of each row's own pages, the best first; without `searches` nothing else is read."""

    def __init__(self, pages: Mapping[RowId, Sequence[str]], *, searches: bool = True) -> None:
        self._pages = pages
        self._searches = searches

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return OwnPagesFirst(task, tools, self._pages, searches=self._searches)


class OwnPagesFirst(Pipeline):
    def __init__(self, task: Task, tools: Tools, pages: Mapping[RowId, Sequence[str]], *, searches: bool) -> None:
        super().__init__(task, tools)
        self._own = pages
        self._searches = searches

    async def run(self, message: Message, plan: PatternStage) -> None:
        if message.feedback.attempt > 1 and self._searches:
            await super().run(message, plan)
            return
        own = await message.notebook.open(self._own.get(message.row.id, ()))
        await message.notebook.read(message.fields, own)
        if not self._searches:
            return
        if message.is_again:  # a person doubts the value: its own pages once more, and elsewhere
            await super().run(message, plan)
            return
        message = msgspec.structs.replace(message, fields=message.missing)
        if not message.fields:
            return
        message = await plan(message)
        message = msgspec.structs.replace(message, patterns=message.patterns[:SEARCHES])
        for stage in GATHER:
            message = await stage(message)
        await ExtractStage()(message)
