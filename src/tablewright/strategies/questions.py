"""Strategies that answer one question at a time: each field of a row has its own notebook, trace and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import TypeAlias

from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.domain.model import Field, Finding, Row
from tablewright.sources.source import Source
from tablewright.strategies.feedback import FIRST, Feedback
from tablewright.strategies.notebook import Notebook
from tablewright.strategies.packing import Packer, Seat
from tablewright.strategies.patterns import PatternGenerator
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

AnswerField: TypeAlias = Callable[[Field, Notebook, Sequence[str], Feedback], Awaitable[Finding]]
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
        self._packer = Packer(tools.model) if tools.model is not None else None

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST)

    def begin(self, row: Row, tell: Tell) -> QuestionsOfRow:
        asked = {field.name for field in self.task.fields}
        notebooks = {}
        for field in self.task.fields:
            if row.cell(field.name).needs_work:
                subject = subject_of(self.task.table, row, self._columns[field.name], asked)
                notebooks[field.name] = Notebook(
                    subject,
                    (field,),
                    self.tools,
                    self.web,
                    tell,
                    only=(field.name,),
                    seat=Seat(self._packer) if self._packer is not None else None,
                    examples=self.task.examples,
                )
        return QuestionsOfRow(self, row, notebooks)

    async def queries(self, field: Field, notebook: Notebook, row: Row, feedback: Feedback) -> list[str]:
        """Different ways to ask a search engine for one field of one row, the most promising first."""
        weak = [column for column in feedback.weak if column.name == field.name]
        asked = PlanPatterns(
            key=notebook.subject.column,
            fields=(field,),
            columns=other_columns(self.task, notebook.subject.column),
            telling=telling_columns(notebook.subject, (field,)),
            sample=notebook.subject,
            table=self.task.table.name,
            attempt=feedback.attempt,
            avoid=feedback.avoid_patterns,
            weak=tuple(WasWeak(column=each.name, weakness=each.weakness, reason=each.reason) for each in weak),
            hints=tuple(each.hint for each in weak),
            notes={
                name: note for name, note in feedback.notes.items() if feedback.avoid_patterns and name == field.name
            },
        )
        patterns = await self._generator.plan(asked, notebook.note)
        notebook.planned |= {query: p for p in patterns for query in queries_for((p,), notebook.subject, row, (field,))}
        queries = queries_for(patterns, notebook.subject, row, (field,))
        allow_queries(queries, planned_anew=bool(asked.avoid))
        tried = {*notebook.queries, *feedback.avoid_queries}
        return [query for query in queries if query not in tried]


class QuestionsOfRow:
    """One row under work: a notebook for each field, kept between attempts."""

    remembers = True

    def __init__(self, answer: OneByOne, row: Row, notebooks: dict[str, Notebook]) -> None:
        self._answer = answer
        self._row = row
        self._notebooks = notebooks

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        findings = []
        for name, notebook in self._notebooks.items():
            if not feedback.wants(name):
                continue
            (field,) = notebook.fields
            if not notebook.subject.name:
                empty = f"{notebook.subject.column} is empty"
                findings.append(Finding(field=name, reason="not_applicable", error=empty))
                continue
            notebook.notes = feedback.notes
            notebook.avoid(feedback.avoid_urls)
            with notebook.seat.on_the_way() if notebook.seat is not None else nullcontext():
                queries = await self._answer.queries(field, notebook, self._row, feedback)
                findings.append(await self._answer.answer_field(field, notebook, queries, feedback))
        return findings
