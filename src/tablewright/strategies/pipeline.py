"""Pipeline: plan → search → choose → open → extract, for all asked fields of a row at once.

One plan for the whole table. What the first round leaves open gets one refined query; what pages do not say but a
search snippet does is taken from the snippet, which then is the source. Everything goes through the evidence rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from tablewright.decisions.answer_from_snippets import FromSnippets
from tablewright.decisions.choose_pages import Choose, ChoosePages
from tablewright.decisions.decision import decide
from tablewright.decisions.extract import ExtractFields
from tablewright.decisions.plan_patterns import Plan, PlanPatterns
from tablewright.decisions.reader.about import Subject
from tablewright.decisions.refine_query import Refine, RefineQuery
from tablewright.sources.source import Source
from tablewright.strategies.notebook import Notebook
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell
from tablewright.strategies.subject import queries_for, subject_columns, subject_of, telling_columns, web_of
from tablewright.strategies.tools import Need, Tools
from tablewright.table.model import Field, Finding, Row, Table

PAGES = 5  # opened in a round
ENOUGH_HITS = 5
REFINED = 2  # fields that get a query of their own, where the first round found nothing


class PipelineStrategy(Strategy):
    name = "pipeline"
    display_name = "Web pipeline"
    max_steps = 12
    concurrency = 8

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def prepare(self, task: Task, tools: Tools) -> Answer:
        web = web_of(tools)
        groups: dict[str, list[Field]] = {}
        columns = subject_columns(task)
        for field in task.fields:
            groups.setdefault(columns[field.name], []).append(field)
        pipelines = [Pipeline(task.table, column, some, tools, web) for column, some in groups.items()]

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            return [finding for pipeline in pipelines for finding in await pipeline.answer(row, tell)]

        return answer


class Pipeline:
    """One plan for the fields that ask about the same column, and the work on the rows."""

    def __init__(self, table: Table, column: str, fields: Sequence[Field], tools: Tools, web: Source) -> None:
        self._table = table
        self._column = column
        self._fields = tuple(fields)
        self._tools = tools
        self._web = web
        self._planning = asyncio.Lock()
        self._patterns: tuple[str, ...] = ()

    async def answer(self, row: Row, tell: Tell) -> Sequence[Finding]:
        wanted = tuple(field for field in self._fields if row.cell(field.name).needs_work)
        if not wanted:
            return ()
        subject = subject_of(self._table, row, self._column, {field.name for field in self._fields})
        if not subject.name:
            return [
                Finding(field=field.name, reason="not_applicable", error=f"{self._column} is empty") for field in wanted
            ]
        async with self._planning:
            self._patterns = self._patterns or await self._plan(subject)
        notebook = Notebook(subject, wanted, self._tools, self._web, tell)
        return await fill_in(notebook, queries_for(self._patterns, subject, row))

    async def _plan(self, sample: Subject) -> tuple[str, ...]:
        """Once for the table; the first row is the sample."""
        asked = PlanPatterns(
            key=self._column, fields=self._fields, columns=telling_columns(sample, self._fields), samples=(sample.name,)
        )
        return (await decide(Plan(), asked, self._tools.model, lambda step: None)).decided


async def fill_in(notebook: Notebook, queries: Sequence[str]) -> list[Finding]:
    fields = notebook.fields
    for query in queries:
        await notebook.search(query)
        if len(notebook.hits) >= ENOUGH_HITS and _any_about(notebook):
            break
    await _read_pages(notebook, fields)
    for field in notebook.open_fields()[:REFINED]:
        query = await notebook.decide(
            Refine(),
            RefineQuery(
                subject=notebook.subject,
                field=field,
                tried=tuple(notebook.queries),
                titles=tuple(hit.title for hit in notebook.hits.values()),
            ),
        )
        if query and query not in notebook.queries:
            await notebook.search(query)
            await _read_pages(notebook, (field,))
    if missing := notebook.open_fields():
        await notebook.read(FromSnippets(), missing, notebook.snippets())
    notebook.leave_out_namesakes()
    findings = [await notebook.finding(field) for field in fields]
    await notebook.rate(findings)
    return findings


def _any_about(notebook: Notebook) -> bool:
    offers = notebook.offers()
    asked = ChoosePages(subject=notebook.subject, fields=notebook.fields, offers=offers, most=PAGES)
    return bool(offers) and bool(Choose().rule(asked))


async def _read_pages(notebook: Notebook, fields: tuple[Field, ...]) -> None:
    pages = await notebook.open(await notebook.choose(fields, PAGES))
    await notebook.read(ExtractFields(), fields, pages)
