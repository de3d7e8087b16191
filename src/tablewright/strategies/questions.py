"""Strategies that answer one question at a time: each field of a row has its own investigation, trace and queries."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.decisions.plan_patterns import PlanPatterns, WasWeak
from tablewright.domain.model import Field, Finding
from tablewright.domain.text import new_queries
from tablewright.strategies.feedback import Feedback
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.patterns import PatternGenerator
from tablewright.strategies.row_answers import RowAnswers, RowAttempt
from tablewright.strategies.strategy import Task
from tablewright.strategies.subject import allow_queries, other_columns, queries_for, telling_columns, web_of
from tablewright.strategies.tools import Tools


class PerFieldAnswers(RowAnswers):
    """Answers the fields of a row one after the other; what was weak is looked at again with other queries."""

    def __init__(self, task: Task, tools: Tools) -> None:
        super().__init__(task, tools, web_of(tools), apart=True)
        self._generator = PatternGenerator(tools.model, tools.patterns)

    async def answer_field(
        self, field: Field, investigation: RowInvestigation, queries: Sequence[str], feedback: Feedback
    ) -> Finding:
        """Answer one field of one row, with these queries to try in this order."""
        raise NotImplementedError

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        (field,) = attempt.fields
        with attempt.investigation.slot.on_the_way():
            queries = await self.queries(attempt)
            return [await self.answer_field(field, attempt.investigation, queries, attempt.feedback)]

    async def queries(self, attempt: RowAttempt) -> Sequence[str]:
        """Different ways to ask a search engine for one field of one row, the most promising first."""
        (field,), investigation, feedback = attempt.fields, attempt.investigation, attempt.feedback
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
        of_pattern = {p: queries_for((p,), investigation.subject, attempt.row, (field,)) for p in patterns}
        investigation.patterns |= {query: p for p, queries in of_pattern.items() for query in queries}
        queries = queries_for(patterns, investigation.subject, attempt.row, (field,))
        allow_queries(queries, planned_anew=bool(asked.avoid))
        return new_queries(queries, (*investigation.queries, *feedback.avoid_queries))
