"""Strategies that answer one question at a time: each field of a row has its own investigation, trace and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.domain.model import Field, Finding, Row
from tablewright.sources.source import Source
from tablewright.strategies.feedback import FIRST, Feedback
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.request_batcher import RequestBatcher
from tablewright.strategies.strategy import Task, Tell
from tablewright.strategies.subject import (
    allow_queries,
    other_columns,
    queries_for,
    subject_columns,
    subject_of,
    telling_columns,
)
from tablewright.strategies.tools import Tools

AnswerField: TypeAlias = Callable[[Field, RowInvestigation, Sequence[str], Feedback], Awaitable[Finding]]
"""Answers one field of one row, with these queries to try in this order."""


class OneByOne:
    """Answers the fields of a row one after the other; what was weak is looked at again with other queries."""

    has_stronger = False

    def __init__(self, task: Task, tools: Tools, web: Source, answer_field: AnswerField) -> None:
        self.task = task
        self.tools = tools
        self.web = web
        self.answer_field = answer_field
        self._columns = subject_columns(task)
        self._generator = PatternGenerator(tools.model, tools.patterns)
        self._batcher = RequestBatcher(tools.model)

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST)

    def begin(self, row: Row, tell: Tell) -> QuestionsOfRow:
        asked = {field.name for field in self.task.fields}
        investigations = {}
        for field in self.task.fields:
            if row.cell(field.name).needs_work:
                subject = subject_of(self.task.table, row, self._columns[field.name], asked)
                investigations[field.name] = RowInvestigation(
                    subject,
                    (field,),
                    self.tools,
                    self.web,
                    tell,
                    only=(field.name,),
                    slot=self._batcher.slot(),
                    examples=self.task.examples,
                )
        return QuestionsOfRow(self, row, investigations)

    async def queries(self, field: Field, investigation: RowInvestigation, row: Row, feedback: Feedback) -> list[str]:
        """Different ways to ask a search engine for one field of one row, the most promising first."""
        weak = [column for column in feedback.weak if column.name == field.name]
        asked = PlanPatterns(
            key=investigation.subject.column,
            fields=(field,),
            columns=other_columns(self.task, investigation.subject.column),
            telling=telling_columns(investigation.subject, (field,)),
            sample=investigation.subject,
            table=self.task.table.name,
            attempt=feedback.attempt,
            avoid=feedback.avoid_patterns,
            weak=tuple(WasWeak(column=each.name, weakness=each.weakness, reason=each.reason) for each in weak),
            hints=tuple(each.hint for each in weak),
            notes={
                name: note for name, note in feedback.notes.items() if feedback.avoid_patterns and name == field.name
            },
        )
        patterns = await self._generator.plan(asked, investigation.note)
        investigation.patterns |= {
            query: p for p in patterns for query in queries_for((p,), investigation.subject, row, (field,))
        }
        queries = queries_for(patterns, investigation.subject, row, (field,))
        allow_queries(queries, planned_anew=bool(asked.avoid))
        tried = {*investigation.queries, *feedback.avoid_queries}
        return [query for query in queries if query not in tried]


class QuestionsOfRow:
    """One row under work: a investigation for each field, kept between attempts."""

    remembers = True

    def __init__(self, answer: OneByOne, row: Row, investigations: dict[str, RowInvestigation]) -> None:
        self._answer = answer
        self._row = row
        self._investigations = investigations

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        findings = []
        for name, investigation in self._investigations.items():
            if not feedback.wants(name):
                continue
            (field,) = investigation.fields
            if not investigation.subject.name:
                empty = f"{investigation.subject.column} is empty"
                findings.append(Finding(field=name, reason="not_applicable", error=empty))
                continue
            investigation.notes = feedback.notes
            investigation.avoid(feedback.avoid_urls)
            with investigation.slot.on_the_way():
                queries = await self._answer.queries(field, investigation, self._row, feedback)
                findings.append(await self._answer.answer_field(field, investigation, queries, feedback))
        return findings
