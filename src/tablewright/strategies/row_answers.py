"""Answers of strategies that investigate rows: search patterns for the table, and an investigation for each thing that
a row is asked about, kept between attempts.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from tablewright.decisions.decision import decide
from tablewright.decisions.plan_patterns import INSTRUCTIONS, Plan, PlanPatterns
from tablewright.domain.model import Field, Finding, Noun, Row, Table
from tablewright.domain.text import cell_text, new_queries
from tablewright.models.text_budget import ROWS_A_CALL
from tablewright.sources.source import Source
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.request_batcher import RequestBatcher
from tablewright.strategies.strategy import FIRST, Feedback, Task, Tell, Tools
from tablewright.strategies.subject import (
    allow_queries,
    by_subject,
    other_columns,
    queries_for,
    subject_columns,
    subject_of,
    telling_columns,
    web_of,
)

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel
    from tablewright.store.cache import Cache


class RowAttempt(Noun, frozen=True, gc=True):
    """One look at a row: the fields it is for, what earlier attempts taught, and what was gathered for them so far."""

    row: Row
    fields: tuple[Field, ...]
    feedback: Feedback
    investigation: RowInvestigation

    @property
    def is_again(self) -> bool:
        """In this run, or because the user wants something else than an earlier one found."""
        return self.feedback.attempt > 1 or bool(self.feedback.avoid_patterns)

    @property
    def missing(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not self.investigation.has(field))

    def ask_for_patterns(
        self,
        table: Table,
        fields: tuple[Field, ...],
        columns: tuple[str, ...],
        telling: tuple[str, ...],
        avoid: Collection[str],
    ) -> PlanPatterns:
        """Return the question which queries find these fields. Nothing of the row is in it but the cells of `columns`,
        and, on a further attempt, why its cells were weak and what people said of them."""
        subject, names = self.investigation.subject, {field.name for field in fields}
        shared = {column: text for column, text in subject.context.items() if column in columns}
        return PlanPatterns(
            key=subject.column,
            fields=fields,
            columns=columns,
            telling=telling,
            sample=structs.replace(subject, context=shared),
            table=table.name,
            attempt=self.feedback.attempt,
            avoid=tuple(avoid),
            weak=tuple(column for column in self.feedback.weak if column.name in names),
            notes={name: note for name, note in self.feedback.notes.items() if avoid and name in names},
        )


class RowAnswers:
    """The rows of one run. Fields that ask about the same thing are found together, or each by itself if `apart`; rows
    with short texts share a call, so many at most."""

    has_stronger = False

    def __init__(
        self,
        task: Task,
        tools: Tools,
        web: Source,
        *,
        rows: int = ROWS_A_CALL,
        apart: bool = False,
        side_by_side: Collection[str] = (),
    ) -> None:
        self.task = task
        self.tools = tools
        self.web = web
        self._apart = apart
        self._side_by_side = frozenset(side_by_side)
        self._batcher = RequestBatcher(tools.model, rows=rows)
        columns = subject_columns(task)
        self.groups = (
            [(columns[field.name], (field,)) for field in task.fields] if apart else [*by_subject(task).items()]
        )

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        raise NotImplementedError

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST)

    def begin(self, row: Row, tell: Tell) -> InvestigatedRow:
        asked = {field.name for field in self.task.fields}
        investigations = []
        for column, fields in self.groups:
            if wanted := tuple(field for field in fields if row.cell(field.name).needs_work):
                investigations.append(
                    RowInvestigation(
                        subject_of(self.task.table, row, column, asked),
                        wanted,
                        self.tools,
                        self.web,
                        tell,
                        only=[field.name for field in wanted] if self._apart else (),
                        slot=self._batcher.slot(),
                        examples=self.task.examples,
                        side_by_side=self._side_by_side,
                    )
                )
        return InvestigatedRow(self, row, investigations)


class InvestigatedRow:
    """One row under work."""

    remembers = True

    def __init__(self, answers: RowAnswers, row: Row, investigations: Sequence[RowInvestigation]) -> None:
        self._answers = answers
        self._row = row
        self._investigations = investigations

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        findings: list[Finding] = []
        for investigation in self._investigations:
            fields = tuple(field for field in investigation.fields if feedback.wants(field.name))
            column = investigation.subject.column
            if fields and not cell_text(self._row.cell(column)).strip():
                empty = f"{column} is empty"
                findings += [Finding(field=field.name, reason="not_applicable", error=empty) for field in fields]
            elif fields:
                investigation.notes = feedback.notes
                investigation.avoid(feedback.avoid_urls)
                attempt = RowAttempt(row=self._row, fields=fields, feedback=feedback, investigation=investigation)
                findings += await self._answers.answer(attempt)
        return findings


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
        subject = investigation.subject
        asked = attempt.ask_for_patterns(
            self.task.table,
            (field,),
            other_columns(self.task, subject.column),
            telling_columns(subject, (field,)),
            feedback.avoid_patterns,
        )
        patterns = await self._generator.plan(asked, investigation.note)
        of_pattern = {p: queries_for((p,), subject, attempt.row, (field,)) for p in patterns}
        investigation.patterns |= {query: p for p, queries in of_pattern.items() for query in queries}
        queries = queries_for(patterns, subject, attempt.row, (field,))
        allow_queries(queries, planned_anew=bool(asked.avoid))
        return new_queries(queries, (*investigation.queries, *feedback.avoid_queries))


# ── search patterns ──────────────────────────────────────────────────────────────────────────────────────────────────

KIND = "patterns"


class KeptPatterns:
    """In the store, beside the answers that were bought."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get(self, key: str) -> tuple[str, ...] | None:
        kept = await self._cache.get(KIND, key)
        return None if kept is None else msgspec.json.decode(kept, type=tuple[str, ...])

    async def set(self, key: str, patterns: tuple[str, ...]) -> None:
        await self._cache.put(KIND, key, msgspec.json.encode(patterns))


class PatternGenerator:
    """Asks the model and keeps what it planned; rows that ask for the same plan wait for one. A plan that had to be
    made without the model holds for the whole run, but the next one asks again."""

    def __init__(self, model: LanguageModel | None, kept: KeptPatterns | None = None) -> None:
        self._model = model
        self._kept = kept
        self._of_this_run: dict[str, tuple[str, ...]] = {}
        self._planning: dict[str, asyncio.Lock] = {}

    async def plan(self, asked: PlanPatterns, tell: Tell) -> tuple[str, ...]:
        if self._model is None:
            return Plan().fallback(asked)
        key = pattern_key(asked, self._model.name)
        async with self._planning.setdefault(key, asyncio.Lock()):
            patterns = self._of_this_run.get(key) or (await self._kept.get(key) if self._kept else None)
            if patterns is None:
                outcome = await decide(Plan(), asked, self._model, tell)
                patterns = outcome.decided
                if self._kept and not outcome.degraded and not outcome.left_out:
                    await self._kept.set(key, patterns)
                else:
                    self._of_this_run[key] = patterns
            return patterns


def pattern_key(asked: PlanPatterns, planner: str) -> str:
    """SHA-256 of the sorted columns, of what is known beside them, and of why earlier patterns were not enough."""
    feedback = [
        asked.attempt,
        sorted(asked.avoid),
        sorted((weak.name, weak.weakness) for weak in asked.weak),
        *sorted(asked.notes.items()),
    ]
    columns = [asked.key, sorted(asked.columns), sorted(map(metadata, asked.fields))]
    return hashlib.sha256(msgspec.json.encode([planner, INSTRUCTIONS, columns, feedback])).hexdigest()


def metadata(field: Field) -> tuple[str, str, str]:
    return field.name, field.type, field.question or field.description
