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

from tablewright.domain.model import Field, Finding, Row, Struct, Table
from tablewright.domain.text import cell_text, drop_tried_queries
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.plan_patterns import OtherPatternsToPlan, PatternsToPlan, PlanPatterns
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.request_batcher import RequestBatcher
from tablewright.strategies.strategy import FIRST_ATTEMPT, Feedback, Task, Tell, Tools
from tablewright.strategies.subject import (
    allow_queries,
    fill_patterns,
    group_by_subject,
    identifying_columns,
    make_subject,
    other_columns,
    require_web,
    subject_columns,
)
from tablewright.web.source import Source

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel
    from tablewright.store.cache import Cache


class RowAttempt(Struct, frozen=True, gc=True):
    """One attempt at a row: its fields, the feedback from earlier attempts, and everything gathered so far."""

    row: Row
    fields: tuple[Field, ...]
    feedback: Feedback
    investigation: RowInvestigation

    @property
    def is_again(self) -> bool:
        """True for a further attempt in this run, or if the user refused what an earlier run found."""
        return self.feedback.attempt > 1 or bool(self.feedback.avoid_patterns)

    @property
    def missing(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not self.investigation.has(field))

    async def plan_again(self, asked: PatternsToPlan) -> tuple[str, ...]:
        """Return patterns for this row alone, which has been searched for with those of `asked`, for the whole table,
        or in an earlier run. Of its cells the request has only those that queries may have."""
        subject, names = self.investigation.subject, {field.name for field in self.fields}
        cells = {name: subject.context[name] for name in identifying_columns(subject, self.fields)}
        request = OtherPatternsToPlan(
            key=asked.key,
            fields=self.fields,
            columns=asked.columns,
            sample=structs.replace(subject, context=cells),
            table=asked.table,
            attempt=self.feedback.attempt,
            avoid=self.feedback.avoid_patterns,
            weak=tuple(column for column in self.feedback.weak if column.name in names),
            notes={name: note for name, note in self.feedback.notes.items() if name in names},
        )
        return await self.investigation.plan_again(request)

    def fill(self, patterns: Sequence[str], fields: Sequence[Field]) -> tuple[str, ...]:
        """Return the queries that the patterns give for this row, and note for each the pattern it is from."""
        subject = self.investigation.subject
        of_pattern = {pattern: fill_patterns((pattern,), subject, self.row, fields) for pattern in patterns}
        self.investigation.patterns |= {query: pattern for pattern, queries in of_pattern.items() for query in queries}
        queries = list(dict.fromkeys(query for queries in of_pattern.values() for query in queries))
        allow_queries(queries, is_replanned=self.is_again)
        return drop_tried_queries(queries, (*self.investigation.queries, *self.feedback.avoid_queries))


class RowAnswers:
    """Answers the rows of one run. Fields that ask about the same thing are found together, or one by one if `apart`;
    at most `rows` rows with short texts share a call."""

    has_stronger = False

    def __init__(
        self,
        task: Task,
        tools: Tools,
        web: Source,
        *,
        rows: int = TEXT_LIMITS.rows_per_call,
        apart: bool = False,
        side_by_side: Collection[str] = (),
    ) -> None:
        self.task = task
        self.tools = tools
        self.web = web
        self._apart = apart
        self._side_by_side = frozenset(side_by_side)
        self._batcher = RequestBatcher(tools.model, rows=rows, calls=tools.calls)
        columns = subject_columns(task)
        self.groups = (
            [(columns[field.name], (field,)) for field in task.fields] if apart else [*group_by_subject(task).items()]
        )

    async def answer(self, attempt: RowAttempt) -> Sequence[Finding]:
        raise NotImplementedError

    def is_exhausted(self, investigation: RowInvestigation) -> bool:
        """Return True if no further attempt may look for more."""
        return False

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST_ATTEMPT)

    def begin(self, row: Row, tell: Tell) -> InvestigatedRow:
        asked = {field.name for field in self.task.fields}
        investigations = []
        for column, fields in self.groups:
            if wanted := tuple(field for field in fields if row.cell(field.name).needs_work):
                investigations.append(
                    RowInvestigation(
                        make_subject(self.task.table, row, column, asked),
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
    """One row in progress, with an investigation for each thing that it is asked about."""

    remembers = True

    def __init__(self, answers: RowAnswers, row: Row, investigations: Sequence[RowInvestigation]) -> None:
        self._answers = answers
        self._row = row
        self._investigations = investigations

    @property
    def is_exhausted(self) -> bool:
        return all(map(self._answers.is_exhausted, self._investigations))

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        findings: list[Finding] = []
        for investigation in self._investigations:
            if self._answers.is_exhausted(investigation):
                continue
            fields = tuple(field for field in investigation.fields if feedback.wants(field.name))
            column = investigation.subject.column
            # A question about an empty cell has no subject to search for.
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
    """Answers the fields of a row one by one; weak fields are looked for again with other queries. The first attempt
    has `least_queries` if there are so many."""

    least_queries = 1

    def __init__(self, task: Task, tools: Tools) -> None:
        super().__init__(task, tools, require_web(tools), apart=True)
        self._generator = PatternGenerator(tools.model, tools.plans)

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
        """Return queries for one field of one row, the most promising first."""
        (field,) = attempt.fields
        columns = other_columns(self.task, attempt.investigation.subject.column)
        table, least = self.task.table, self.least_queries
        return attempt.fill(await self._generator.plan_for(attempt, (field,), table, columns, least), (field,))


# ── search patterns ──────────────────────────────────────────────────────────────────────────────────────────────────


class SearchPlans:
    """The search patterns of a run, shared by all its slices, and those of earlier runs in the store's cache, next to
    the model answers."""

    _KIND = "patterns"

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache
        self._of_this_run: dict[str, tuple[str, ...]] = {}
        self._planning: dict[str, asyncio.Lock] = {}

    def planning(self, key: str) -> asyncio.Lock:
        """Return the lock of a plan. All rows start at once and need it: the first asks, the others wait."""
        return self._planning.setdefault(key, asyncio.Lock())

    async def get(self, key: str) -> tuple[str, ...] | None:
        if patterns := self._of_this_run.get(key):
            return patterns
        kept = await self._cache.get(self._KIND, key) if self._cache else None
        return None if kept is None else msgspec.json.decode(kept, type=tuple[str, ...])

    async def set(self, key: str, patterns: tuple[str, ...], *, lasts: bool = True) -> None:
        """Keep a plan for this run and, if it `lasts`, for later ones."""
        self._of_this_run[key] = patterns
        if self._cache and lasts:
            await self._cache.put(self._KIND, key, msgspec.json.encode(patterns))


class PatternGenerator:
    """Plans search patterns; rows that need the same plan share one call. A plan that had to be made without the model
    holds for this run only."""

    def __init__(self, model: LanguageModel | None, plans: SearchPlans | None = None) -> None:
        self._model = model
        self._plans = plans or SearchPlans()

    async def plan_for(
        self, attempt: RowAttempt, fields: tuple[Field, ...], table: Table, columns: tuple[str, ...], least: int = 0
    ) -> tuple[str, ...]:
        """Return the patterns of an attempt: the table's for these fields, and at least so many, or those of the row
        for its weak ones. Of the row the table's plan has the cells of `columns`, which are requested for no row."""
        subject = attempt.investigation.subject
        asked = PatternsToPlan(
            key=subject.column,
            fields=fields,
            columns=columns,
            telling=tuple(column for column in identifying_columns(subject, fields) if column in columns),
            sample=structs.replace(
                subject, context={column: text for column, text in subject.context.items() if column in columns}
            ),
            table=table.name,
        )
        if attempt.is_again:
            return await attempt.plan_again(asked)
        patterns = await self.plan(asked, attempt.investigation.note)
        if len(patterns) < least:
            patterns = tuple(dict.fromkeys((*patterns, *PlanPatterns().fallback(asked))))[:least]
        return patterns

    async def plan(self, asked: PatternsToPlan, tell: Tell) -> tuple[str, ...]:
        if self._model is None:
            return PlanPatterns().fallback(asked)
        key = hash_pattern_request(asked, self._model.name)
        async with self._plans.planning(key):
            patterns = await self._plans.get(key)
            if patterns is None:
                outcome = await decide(PlanPatterns(), asked, self._model, tell)
                patterns = outcome.decided
                # A plan that was made without the model, or corrected, should not outlive a better one.
                await self._plans.set(key, patterns, lasts=not outcome.degraded and not outcome.left_out)
            return patterns


def hash_pattern_request(asked: PatternsToPlan, planner: str) -> str:
    """Return the SHA-256 of the planner and the sorted columns."""
    columns = [asked.key, sorted(asked.columns), sorted(map(describe_for_key, asked.fields))]
    return hashlib.sha256(msgspec.json.encode([planner, PlanPatterns.instructions, columns])).hexdigest()


def describe_for_key(field: Field) -> tuple[str, str, str]:
    return field.name, field.type, field.question or field.description
