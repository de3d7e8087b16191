"""Pipeline: pattern → search → decision → crawl → extract, for all asked fields of a row at once.

One plan for the whole table, one reading for all fields of a row and of several short rows together, and a further look
only where the last one was weak. Everything goes through the evidence rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from tablewright.domain.model import Finding, Row
from tablewright.strategies import estimates
from tablewright.strategies.feedback import FIRST, Feedback
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.request_batcher import SHARED_CALLS, RequestBatcher, rows_a_call
from tablewright.strategies.stages import (
    CrawlStage,
    DecisionStage,
    ExtractStage,
    Message,
    PatternStage,
    SearchStage,
    Stage,
)
from tablewright.strategies.strategy import Expected, Strategy, Task, Tell
from tablewright.strategies.subject import by_subject, other_columns, subject_of, web_of
from tablewright.strategies.tools import Need, Tools

GATHER: tuple[Stage, ...] = (SearchStage(), DecisionStage(), CrawlStage())
"""Gone through again with the next patterns while a column is missing."""


class PipelineStrategy(Strategy):
    name = "pipeline"
    display_name = "Web pipeline"
    summary = "Searches the same way for every row and reads each page once. The usual choice."
    max_steps = 12
    concurrency = 8
    parameters = (SHARED_CALLS,)

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def expected(self, task: Task, tools: Tools) -> Expected:
        return estimates.pipeline(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Pipeline:
        return Pipeline(task, tools)


class Pipeline:
    """What the rows of a run share: the plans, and the calls that several rows are asked in."""

    def __init__(self, task: Task, tools: Tools) -> None:
        self.has_stronger = tools.strong is not None
        self._task = task
        self._tools = tools
        self._side_by_side: frozenset[str] = frozenset()
        self._web = web_of(tools)
        self._batcher = RequestBatcher(tools.model, rows=rows_a_call(task))
        generator = PatternGenerator(tools.model, tools.patterns)
        self._groups = [
            (column, PatternStage(generator, fields, task.table.name, other_columns(task, column)))
            for column, fields in by_subject(task).items()
        ]

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST)

    def begin(self, row: Row, tell: Tell) -> PipelineRow:
        asked = {field.name for field in self._task.fields}
        parts = []
        for column, pattern in self._groups:
            subject = subject_of(self._task.table, row, column, asked)
            wanted = tuple(field for field in pattern.fields if row.cell(field.name).needs_work)
            investigation = RowInvestigation(
                subject,
                wanted,
                self._tools,
                self._web,
                tell,
                slot=self._batcher.slot(),
                examples=self._task.examples,
                side_by_side=self._side_by_side,
            )
            parts.append(RowPart(self, row, investigation, pattern))
        return PipelineRow(parts)

    async def run(self, message: Message, plan: PatternStage) -> None:
        """Through the stages, with further patterns of the plan while something is missing."""
        message = await plan(message)
        asked = message.fields
        while message.searched < len(message.patterns):
            for stage in GATHER:
                message = await stage(message)
            await ExtractStage()(message)
            message = msgspec.structs.replace(message, fields=message.missing, chosen=(), pages=())
            if not message.fields:
                break
        if message.is_again and message.feedback.is_last and self._tools.strong is not None:
            from tablewright.models.budget import dispensable

            message.investigation.model = self._tools.strong
            everything = tuple(message.investigation.pages.values())
            with dispensable():
                await message.investigation.read(asked, everything)


class PipelineRow:
    """One row under work: a part for each column that the asked questions are about."""

    remembers = True

    def __init__(self, parts: Sequence[RowPart]) -> None:
        self._parts = parts

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        return [finding for part in self._parts for finding in await part.attempt(feedback)]


class RowPart:
    """The fields of a row that ask about one thing, and the investigation on that."""

    def __init__(self, pipeline: Pipeline, row: Row, investigation: RowInvestigation, plan: PatternStage) -> None:
        self._pipeline = pipeline
        self._row = row
        self._investigation = investigation
        self._plan = plan

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        investigation = self._investigation
        fields = tuple(field for field in investigation.fields if feedback.wants(field.name))
        if not fields:
            return ()
        if not investigation.subject.name:
            empty = f"{investigation.subject.column} is empty"
            return [Finding(field=field.name, reason="not_applicable", error=empty) for field in fields]
        investigation.notes = feedback.notes
        message = Message(row=self._row, fields=fields, feedback=feedback, investigation=investigation)
        with investigation.slot.on_the_way():
            await self._pipeline.run(message, self._plan)
        findings = await investigation.findings(fields)
        await investigation.rate(findings)
        return findings
