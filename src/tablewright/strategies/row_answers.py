"""Answers of strategies that investigate rows: an investigation for each thing that a row is asked about, kept between
attempts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.domain.model import Field, Finding, Noun, Row
from tablewright.domain.text import cell_text
from tablewright.models.text_budget import ROWS_A_CALL
from tablewright.sources.source import Source
from tablewright.strategies.feedback import FIRST, Feedback
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.request_batcher import RequestBatcher
from tablewright.strategies.strategy import Task, Tell
from tablewright.strategies.subject import by_subject, subject_columns, subject_of
from tablewright.strategies.tools import Tools


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
