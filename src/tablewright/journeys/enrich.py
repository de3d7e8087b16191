"""Enrich: the user's rows × the asked columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.plan_columns import ColumnsToPlan, PlanColumns
from tablewright.domain.document import document
from tablewright.domain.fieldspec import PLACEHOLDER, spelled_as_columns
from tablewright.domain.model import Field, Row, RowId, Table, column_key
from tablewright.domain.proposal import CellAt, Operation, ProposalHead
from tablewright.domain.run import Run, Watch, ignore_progress
from tablewright.domain.text import cell_text, shortened
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.outcome import Filled
from tablewright.engine.policy import RetryPolicy, Terms
from tablewright.engine.rows import read_windows
from tablewright.errors import BadField, ModelError, UsageError
from tablewright.formulas.formula import Formula
from tablewright.models.model import LanguageModel
from tablewright.models.text_budget import SAMPLE_CELL, SAMPLE_ROWS
from tablewright.sources.breaker import CircuitBreaker
from tablewright.store.runs import Todo
from tablewright.store.store import Store
from tablewright.strategies.strategy import NO_TOOLS, Need, Strategy, Task, Tools, checked_params, find_strategy
from tablewright.values.row_names import current_row_key

OpenTools: TypeAlias = Callable[[Collection[Need]], Awaitable[Tools]]


async def no_tools(needs: Collection[Need]) -> Tools:
    return NO_TOOLS


Redo: TypeAlias = Literal["", "all", "outdated"]


async def plan(
    store: Store,
    wanted: FillPlan,
    open_tools: OpenTools = no_tools,
    *,
    usual: str = "pipeline",
    redo: Redo = "",
    watch: Watch = ignore_progress,
) -> Fill:
    """Return a run that is ready to start; what can never work is refused here, before anything is spent.

    `usual` is the strategy for questions if none is named. With `wanted.again`, also fill what earlier runs did not
    find. With `redo` "all", also fill what they found, but nothing that a person gave; with "outdated", also fill cells
    whose question or inputs have changed, and cells that failed with an error."""
    table, row_ids = wanted.table, wanted.row_ids
    if not wanted.fields:
        raise BadField("No column was asked for.", advice='Say which: --field "NAME:TYPE=QUESTION".')
    if wanted.max_rows is not None and (not isinstance(wanted.max_rows, int) or wanted.max_rows < 1):
        raise UsageError(f"{wanted.max_rows!r} rows cannot be filled.", advice="Say 1 or more, or nothing for all.")
    if row_ids is not None:
        await store.tables.refuse_missing(table.id, row_ids)
    fields = with_inputs(table, [await fit(store, table, field) for field in wanted.fields])
    times = Counter(column_key(field.name) for field in fields)
    if twice := [field.name for field in fields if times[column_key(field.name)] > 1]:
        raise BadField(f"The column {twice[0]} was asked for twice.")
    named = wanted.strategy or natural_strategy(fields, usual)
    chosen = find_strategy(named) if isinstance(named, str) else named
    task = Task(table=table, fields=tuple(fields), params=checked_params(chosen, wanted.params))
    tools = await open_tools(chosen.needs(task))
    chosen.prepare(task, tools)
    only = wanted.only
    if wanted.again or redo == "all":
        only = await cells_to_fill(store, table, fields, row_ids, anew=redo == "all")
    elif redo == "outdated":
        only = await find_outdated_cells(store, table, fields, row_ids)
    return Fill(store, replace(wanted, fields=fields, strategy=named, only=only), tools, watch=watch)


async def plan_columns(store: Store, table_id: str, request: str, model: LanguageModel | None) -> tuple[Field, ...]:
    """What somebody wants to know of every row, as columns of the table, which has none of them yet."""
    if model is None:
        raise UsageError(
            "It takes a language model to read a description.",
            advice="Configure one, or write the name and the question of each column yourself.",
        )
    table = await store.tables.find(table_id)
    fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    window = await store.tables.window(table.id, after=0, limit=SAMPLE_ROWS)
    asked = ColumnsToPlan(
        request=request,
        fields=tuple(fields),
        rows=tuple(
            tuple(shortened(cell_text(row.cell(field.name)), SAMPLE_CELL) for field in fields) for row in window.rows
        ),
    )
    outcome = await decide(PlanColumns(), asked, model, lambda step: None)
    if outcome.degraded:
        raise ModelError(
            f"The description could not be turned into columns: {outcome.degraded}",
            advice="Try again, or write the columns yourself.",
        )
    return outcome.decided


async def cells_to_fill(
    store: Store, table: Table, fields: Sequence[Field], row_ids: Sequence[RowId] | None = None, *, anew: bool = False
) -> set[CellAt]:
    """Which of these cells nobody has looked for yet, or nobody has found; with `anew`, all that no person gave."""
    names = {field.name for field in fields}
    return {
        (row.id, name)
        async for window in read_windows(store, table.id, row_ids, fields=names)
        for row in window.rows
        for name in names
        if row.cell(name).is_unfound or (anew and row.cell(name).shown_basis != "given")
    }


async def find_outdated_cells(
    store: Store, table: Table, fields: Sequence[Field], row_ids: Sequence[RowId] | None
) -> set[CellAt]:
    """Return the cells that need work, failed with an error, or were found for another question or other inputs."""
    asked_before = {field.name: field for field in table.fields}
    asked_anew = {field.name for field in fields if asked_before.get(field.name) != field}
    return {
        (row.id, field.name)
        async for window in read_windows(store, table.id, row_ids, fields={field.name for field in fields})
        for row in window.rows
        for field in fields
        if (cell := row.cell(field.name)).needs_work
        or cell.stale
        or (cell.status == "FAILED" and cell.reason == "error")
        or (field.name in asked_anew and cell.shown_basis != "given")
    }


async def reopen(store: Store, run: Run, strategy: Strategy | None, terms: Terms) -> FillPlan:
    """Return the plan of a run. `strategy` is the one it was started with if that is not known by its name."""
    proposal = await store.proposals.get(await store.proposals.of_run(run.id), counted=False)
    return FillPlan(
        await store.tables.find(run.table_id),
        proposal.fields,
        strategy or run.spec["strategy"],
        params=run.spec["params"],
        again=run.spec.get("again", False),
        examples={name: tuple(texts) for name, texts in run.spec.get("examples", {}).items()},
        concurrency=run.spec["concurrency"],
        retry=msgspec.convert(run.spec["retry"], RetryPolicy),
        terms=terms,
    )


async def open_slice(
    store: Store, plan: FillPlan, todo: Todo, open_tools: OpenTools, breaker: CircuitBreaker | None = None
) -> Fill:
    """Return a part of a planned run, over the table as it is now."""
    table = await store.tables.find(plan.table.id)
    only = None if todo.only is None else set(todo.only)
    part = replace(plan, table=table, row_ids=todo.row_ids, only=only)
    strategy = find_strategy(plan.strategy) if isinstance(plan.strategy, str) else plan.strategy
    task = Task(table=table, fields=tuple(plan.fields), params=checked_params(strategy, plan.params))
    return Fill(store, part, await open_tools(strategy.needs(task)), breaker=breaker)


def natural_strategy(fields: Sequence[Field], usual: str = "pipeline") -> str:
    """A formula is computed, anything else is looked up; both in one run would hide what was meant."""
    formulas = [is_formula(field.question) for field in fields]
    if any(formulas) and not all(formulas):
        raise BadField(
            "Some columns have a formula and some a question.", advice="Fill them in two runs, or say --strategy."
        )
    return "computation" if all(formulas) else usual


_OPERATION = re.compile(r"[\w)}'\"]\s*(?:[-+*/^&%<>=]\s*)+(?:[\d({'\"]|$)|^\s*=|^\s*\w+\((?:.*\)\s*|[^)]*)$")
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}(?:\s+[^\W\d_]{2,}){2,}|\?\s*$")


def is_formula(question: str) -> bool:
    """What reads as a formula, and what has the form of one with a mistake in it: an operator between operands or a
    function, and no words in a row."""
    named = [Field(name=name) for name in dict.fromkeys(each.strip() for each in PLACEHOLDER.findall(question))]
    if not question.strip() or not Formula(question, named).error:
        return bool(question.strip())
    bare = _QUOTED.sub("'", PLACEHOLDER.sub("{}", question))
    return bool(_OPERATION.search(bare) and not _WORDS.search(bare))


def formula_problem(table: Table, question: str, others: Sequence[str] = ()) -> str:
    """Why what has the form of a formula cannot be computed; `others` are columns that are asked for beside it."""
    if not is_formula(question):
        return ""
    return Formula(question, (*table.fields, *(Field(name=name) for name in others if name))).error


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


async def fit(store: Store, table: Table, field: Field) -> Field:
    """An existing column keeps its name; its question is the new one, its type only changes while it is empty."""
    present = table.field(field.name)
    if present is None:
        return field
    changes_type = field.type not in ("text", present.type)
    if changes_type and not await is_empty(store, table, present.name):
        raise BadField(
            f"The table already has a column {present.name} of type {present.type}, with values in it.",
            advice=f"Choose another name, or write {present.name}:{present.type}=…",
        )
    return msgspec.structs.replace(
        present,
        type=field.type if changes_type else present.type,
        question=field.question or present.question,
        unit=field.unit or present.unit,
        options=field.options or present.options,
    )


def with_inputs(table: Table, fields: Sequence[Field]) -> list[Field]:
    """Each with the columns that its cells are found from: those its question names, else the one that names the rows.
    What else is known of a row helps to find it, but does not decide what is found."""
    known = (*table.fields, *fields)
    names = {field.name for field in known}
    complete = []
    for field in fields:
        question = spelled_as_columns(field.question, known)
        asked = PLACEHOLDER.findall(question) or [table.key_field]
        inputs = dict.fromkeys(name for name in asked if name in names and name != field.name)
        complete.append(msgspec.structs.replace(field, question=question, depends_on=tuple(inputs)))
    return complete


async def is_empty(store: Store, table: Table, field: str) -> bool:
    async for window in read_windows(store, table.id, fields={field}):
        if any(row.cell(field).value is not None for row in window.rows):
            return False
    return True


async def run_report(store: Store, filled: Filled) -> dict[str, Any]:
    """The whole run as one JSON document: every asked cell with its evidence and its trace."""
    proposal = await store.proposals.get(filled.proposal_id, counted=False)
    table = await store.tables.find(proposal.table_id)
    rows: dict[RowId, dict[str, Any]] = {}
    async for row, operation in proposed(store, proposal):
        key = current_row_key(row, table.key_field)
        entry = rows.setdefault(operation.row_id, {"row_id": operation.row_id, "key": key, "cells": {}})
        entry["cells"][operation.field] = cell_report(operation)
    for row_id, attempts in (await store.attempts.of_run(filled.run_id)).items():
        if row_id in rows:
            rows[row_id]["attempts"] = document(attempts)
    return {
        "table_id": proposal.table_id,
        "run_id": filled.run_id,
        "proposal_id": filled.proposal_id,
        "status": filled.status,
        "problem": filled.problem,
        "left": filled.left,
        "unasked": filled.unasked,
        "cause": filled.cause,
        "degraded": filled.degraded,
        "skipped": filled.skipped,
        "incomplete": filled.incomplete,
        "skipped_rows": document(filled.skipped_rows),
        "proposal_status": proposal.status,
        "reasoning": proposal.reasoning,
        "fields": document(proposal.fields),
        "rows": list(rows.values()),
        "usage": document(filled.usage),
    }


async def proposed(store: Store, proposal: ProposalHead) -> AsyncIterator[tuple[Row, Operation]]:
    """Each operation with its row; a row that was removed since is an empty one."""
    after: tuple[RowId, str] = (0, "")
    while operations := await store.proposals.operations(proposal.id, after=after):
        window = await store.tables.rows(proposal.table_id, [operation.row_id for operation in operations])
        rows = {row.id: row for row in window.rows}
        for operation in operations:
            yield rows.get(operation.row_id, Row(id=operation.row_id)), operation
        after = (operations[-1].row_id, operations[-1].field)


def cell_report(operation: Operation) -> dict[str, Any]:
    report: dict[str, Any] = document(operation.cell)
    return report | {"steps": document(operation.steps)}
