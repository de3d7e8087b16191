"""The pipeline, with the page that is known to be a row's own read first: what it says needs no search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tablewright.strategies.pipeline import Pipeline, PipelineStrategy
from tablewright.strategies.stages import Message, PatternStage
from tablewright.strategies.strategy import Task
from tablewright.strategies.tools import Tools
from tablewright.table.model import RowId

MOST = 2
"""Own pages of a row that are opened."""


class OwnPageFirst(PipelineStrategy):
    """It is recorded as the pipeline: whoever goes on with its run searches, which finds the same page."""

    def __init__(self, pages: Mapping[RowId, Sequence[str]]) -> None:
        self._pages = pages

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return FromOwnPage(task, tools, self._pages)


class FromOwnPage(Pipeline):
    def __init__(self, task: Task, tools: Tools, pages: Mapping[RowId, Sequence[str]]) -> None:
        super().__init__(task, tools)
        self._pages = pages

    async def run(self, message: Message, plan: PatternStage) -> None:
        own = self._pages.get(message.row.id, ())[:MOST]
        if own and not message.is_again:
            await message.notebook.read(message.fields, await message.notebook.open(own))
            message = msgspec.structs.replace(message, fields=message.missing)
        if message.fields:
            await super().run(message, plan)
