"""Strategies that answer one question at a time: each field of a row has its own notebook, trace and queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tablewright.decisions.plan_patterns import Plan, PlanPatterns, named_columns
from tablewright.decisions.refine_query import Refine, RefineQuery
from tablewright.extraction.about import Subject
from tablewright.sources.source import Source
from tablewright.strategies.notebook import Notebook
from tablewright.strategies.strategy import Answer, Task, Tell
from tablewright.strategies.subject import queries_for, subject_columns, subject_of, telling_columns
from tablewright.strategies.tools import Tools
from tablewright.table.model import Field, Finding, Row

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel
    from tablewright.strategies.agent import Explorer

ANGLES = 6

AnswerField: TypeAlias = Callable[[Field, Notebook, Sequence[str]], Awaitable[Finding]]
"""Answers one field of one row, with these queries to try in this order."""


def explorer_with(model: LanguageModel | None, instructions: str, *, opens_pages: bool) -> Explorer | None:
    """None without a model: then what agents stand on, a second and a half to import, is not needed."""
    if model is None:
        return None
    from tablewright.strategies.agent import Explorer

    return Explorer(model, instructions, opens_pages=opens_pages)


def one_by_one(task: Task, tools: Tools, web: Source, answer_field: AnswerField) -> Answer:
    columns = subject_columns(task)
    asked = {field.name for field in task.fields}

    async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
        findings = []
        for field in task.fields:
            if not row.cell(field.name).needs_work:
                continue
            column = columns[field.name]
            subject = subject_of(task.table, row, column, asked)
            if not subject.name:
                findings.append(Finding(field=field.name, reason="not_applicable", error=f"{column} is empty"))
                continue
            notebook = Notebook(subject, (field,), tools, web, tell, only=(field.name,))
            findings.append(await answer_field(field, notebook, angles(field, column, subject, row)))
        return findings

    return answer


def angles(field: Field, column: str, subject: Subject, row: Row) -> list[str]:
    """Different ways to ask a search engine for one field of one row, the most promising first."""
    telling = telling_columns(subject, (field,))
    asked = PlanPatterns(key=column, fields=(field,), columns=telling, samples=(subject.name,))
    first, *others = queries_for(Plan().fallback(asked), subject, row)
    named = queries_for([" ".join(f"{{{name}}}" for name in named_columns(field, column))], subject, row)[0]
    queries, tried = [first], [first]
    while len(queries) < ANGLES:
        query = Refine().fallback(RefineQuery(subject=subject, field=field, tried=tuple(tried)))
        if not query or query in tried:
            break
        tried.append(query)
        queries.append(f"{query} {named}".strip())
        queries += [other for other in others if other not in queries]
    return list(dict.fromkeys(queries))[:ANGLES]
