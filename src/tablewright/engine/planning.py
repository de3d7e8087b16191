"""Plan a fill: match the requested columns to the table, choose the strategy and the cells, and open the run.

Also the JSON report of a finished run. It reads the store and may ask a model for columns; it writes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from tablewright.domain.complete_json import encode_complete
from tablewright.domain.fieldspec import PLACEHOLDER, normalize_placeholders
from tablewright.domain.model import Attempt, Field, RowId, Table, column_key
from tablewright.domain.proposal import CellAt, ProposedCell
from tablewright.domain.run import ProgressCallback, Run, ignore_progress
from tablewright.domain.text import cell_text, shorten_text, to_json_document
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import FillPlan, RetryPolicy, RunPolicy
from tablewright.engine.rows import read_windows
from tablewright.errors import BadField, ModelError, UsageError
from tablewright.formulas.formula import Formula
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.plan_columns import ColumnsToPlan, PlanColumns
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.store.runs import SliceWork
from tablewright.store.store import Store
from tablewright.strategies.strategy import (
    ModelCalls,
    OpenTools,
    Strategy,
    Task,
    check_params,
    find_strategy,
    open_no_tools,
)
from tablewright.values.row_names import current_row_key
from tablewright.values.units import set_named_unit
from tablewright.web.breaker import CircuitBreaker

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

Redo: TypeAlias = Literal["", "all", "outdated"]


async def prepare_fill(
    store: Store,
    request: FillPlan,
    open_tools: OpenTools = open_no_tools,
    *,
    default: str = "pipeline",
    redo: Redo = "",
    watch: ProgressCallback = ignore_progress,
) -> FillRun:
    """Return a run that is ready to start; a request that can never work is refused before anything is spent.

    `default` is the strategy for questions if none is named. With `request.again`, also fill what earlier runs did not
    find. With `redo` "all", also fill what they found, except values that a person gave; with "outdated", also fill
    cells whose question or inputs have changed, and cells that failed with an error."""
    table, row_ids = request.table, request.row_ids
    if not request.fields:
        raise BadField("No column was asked for.", advice='Say which: --field "NAME:TYPE=QUESTION".')
    if request.max_rows is not None and (not isinstance(request.max_rows, int) or request.max_rows < 1):
        raise UsageError(f"{request.max_rows!r} rows cannot be filled.", advice="Say 1 or more, or nothing for all.")
    if row_ids is not None:
        await store.tables.refuse_missing(table.id, row_ids)
    # Inputs are found before the strategy is chosen, because it looks at the questions.
    fields = add_input_columns(table, [await match_existing_column(store, table, field) for field in request.fields])
    # Two spellings of a name are one column.
    times = Counter(column_key(field.name) for field in fields)
    if twice := [field.name for field in fields if times[column_key(field.name)] > 1]:
        raise BadField(f"The column {twice[0]} was asked for twice.")
    named = request.strategy or choose_strategy(fields, default)
    chosen = find_strategy(named) if isinstance(named, str) else named
    task = Task(table=table, fields=tuple(fields), params=check_params(chosen, request.params))
    tools = await open_tools(chosen.needs(task))
    # Only to be refused now if it cannot work; the run prepares its own.
    chosen.prepare(task, tools)
    only = request.only
    if request.again or redo == "all":
        only = await find_cells_to_fill(store, table, fields, row_ids, redo=redo == "all")
    elif redo == "outdated":
        only = await find_outdated_cells(store, table, fields, row_ids)
    return FillRun(store, replace(request, fields=fields, strategy=named, only=only), tools, watch=watch)


async def propose_columns(store: Store, table_id: str, request: str, model: LanguageModel | None) -> tuple[Field, ...]:
    """Return the columns that a described request needs and the table does not have yet."""
    if model is None:
        raise UsageError(
            "It takes a language model to read a description.",
            advice="Configure one, or write the name and the question of each column yourself.",
        )
    table = await store.tables.find(table_id)
    # The column that names the rows comes first: the model sees what a row is before its facts.
    fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    window = await store.tables.window(table.id, after=0, limit=TEXT_LIMITS.sample_rows)
    asked = ColumnsToPlan(
        request=request,
        fields=tuple(fields),
        rows=tuple(
            tuple(shorten_text(cell_text(row.cell(field.name)), TEXT_LIMITS.sample_cell) for field in fields)
            for row in window.rows
        ),
    )
    outcome = await decide(PlanColumns(), asked, model, lambda step: None)
    if outcome.degraded:
        raise ModelError(
            f"The description could not be turned into columns: {outcome.degraded}",
            advice="Try again, or write the columns yourself.",
        )
    return outcome.decided


async def find_cells_to_fill(
    store: Store, table: Table, fields: Sequence[Field], row_ids: Sequence[RowId] | None = None, *, redo: bool = False
) -> set[CellAt]:
    """Return the cells that were not looked for or not found yet; with `redo`, all that no person gave."""
    names = {field.name for field in fields}
    return {
        (row.id, name)
        async for window in read_windows(store, table.id, row_ids, fields=names)
        for row in window.rows
        for name in names
        if row.cell(name).is_unfound or (redo and row.cell(name).shown_basis != "given")
    }


async def find_outdated_cells(
    store: Store, table: Table, fields: Sequence[Field], row_ids: Sequence[RowId] | None
) -> set[CellAt]:
    """Return the cells that need work, failed with an error, or were found for another question or other inputs."""
    asked_before = {field.name: field for field in table.fields}
    redefined = {field.name for field in fields if asked_before.get(field.name) != field}
    return {
        (row.id, field.name)
        async for window in read_windows(store, table.id, row_ids, fields={field.name for field in fields})
        for row in window.rows
        for field in fields
        if (cell := row.cell(field.name)).needs_work
        or cell.stale
        or (cell.status == "FAILED" and cell.reason == "error")
        or (field.name in redefined and cell.shown_basis != "given")
    }


async def load_fill_plan(store: Store, run: Run, strategy: Strategy | None, policy: RunPolicy) -> FillPlan:
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
        policy=policy,
    )


async def open_slice(
    store: Store,
    plan: FillPlan,
    todo: SliceWork,
    open_tools: OpenTools,
    breaker: CircuitBreaker | None = None,
    calls: ModelCalls | None = None,
) -> FillRun:
    """Return a part of a planned run, over the table as it is now."""
    table = await store.tables.find(plan.table.id)
    only = None if todo.only is None else set(todo.only)
    part = replace(plan, table=table, row_ids=todo.row_ids, only=only)
    strategy = find_strategy(plan.strategy) if isinstance(plan.strategy, str) else plan.strategy
    task = Task(table=table, fields=tuple(plan.fields), params=check_params(strategy, plan.params))
    return FillRun(store, part, await open_tools(strategy.needs(task)), breaker=breaker, calls=calls)


def choose_strategy(fields: Sequence[Field], default: str = "pipeline") -> str:
    """Return "computation" for formulas, else the default; refuse a mix, in which a mistyped formula would be searched
    for on the web."""
    formulas = [is_formula(field.question) for field in fields]
    if any(formulas) and not all(formulas):
        raise BadField(
            "Some columns have a formula and some a question.", advice="Fill them in two runs, or say --strategy."
        )
    return "computation" if all(formulas) else default


# An operator between operands, a leading "=", or a whole function call.
_OPERATION = re.compile(r"[\w)}'\"]\s*(?:[-+*/^&%<>=]\s*)+(?:[\d({'\"]|$)|^\s*=|^\s*\w+\((?:.*\)\s*|[^)]*)$")
# Three words in a row, or a closing question mark: a sentence, whatever operators it has.
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}(?:\s+[^\W\d_]{2,}){2,}|\?\s*$")


def is_formula(question: str) -> bool:
    """Return True if the question parses as a formula, or looks like one with a mistake: an operator between operands
    or a function, and no run of words."""
    # Any column name will do here: a formula with an unknown column is still a formula, and is refused as one.
    named = [Field(name=name) for name in dict.fromkeys(each.strip() for each in PLACEHOLDER.findall(question))]
    if not question.strip() or not Formula(question, named).error:
        return bool(question.strip())
    bare = _QUOTED.sub("'", PLACEHOLDER.sub("{}", question))
    return bool(_OPERATION.search(bare) and not _WORDS.search(bare))


def explain_formula_problem(table: Table, question: str, others: Sequence[str] = ()) -> str:
    """Return why a formula cannot be computed, or ""; `others` are columns that are requested with it."""
    if not is_formula(question):
        return ""
    return Formula(question, (*table.fields, *(Field(name=name) for name in others if name))).error


# Quoted texts of a formula may have any words; they are emptied before `_WORDS` looks.
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


async def match_existing_column(store: Store, table: Table, field: Field) -> Field:
    """Return the requested column merged with the existing one of that name, which may change its type only while it is
    empty."""
    present = table.field(field.name)
    if present is None:
        return set_named_unit(field)
    # "text" is the type of a column that was asked for without one, so it asks for no change.
    changes_type = field.type not in ("text", present.type)
    if changes_type and not await is_column_empty(store, table, present.name):
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


def add_input_columns(table: Table, fields: Sequence[Field]) -> list[Field]:
    """Return the fields with the columns they depend on: those that the question names, else the one that names the
    rows. Other columns may help to find a row, but do not make its cells stale when they change."""
    known = (*table.fields, *fields)
    names = {field.name for field in known}
    complete = []
    for field in fields:
        question = normalize_placeholders(field.question, known)
        # A question without placeholders is about what the row is named after.
        asked = PLACEHOLDER.findall(question) or [table.key_field]
        inputs = dict.fromkeys(name for name in asked if name in names and name != field.name)
        complete.append(msgspec.structs.replace(field, question=question, depends_on=tuple(inputs)))
    return complete


async def is_column_empty(store: Store, table: Table, field: str) -> bool:
    async for window in read_windows(store, table.id, fields={field}):
        if any(row.cell(field).value is not None for row in window.rows):
            return False
    return True


async def summarize_run(store: Store, filled: RunResult) -> dict[str, Any]:
    """Return the run as a JSON document, without its rows."""
    proposal = await store.proposals.get(filled.proposal_id, counted=False)
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
        "skipped_rows": to_json_document(filled.skipped_rows),
        "proposal_status": proposal.status,
        "reasoning": proposal.reasoning,
        "fields": to_json_document(proposal.fields),
        "usage": to_json_document(filled.usage),
    }


async def iterate_row_reports(store: Store, filled: RunResult) -> AsyncIterator[bytes]:
    """Yield each row of a run as JSON: every requested cell with its evidence and its trace."""
    table = await store.tables.find((await store.proposals.get(filled.proposal_id, counted=False)).table_id)
    async for operations in iterate_proposed_rows(store, filled.proposal_id):
        row_ids = [cells[0].row_id for cells in operations]
        window = await store.tables.rows(table.id, row_ids, fields={table.key_field})
        keys = {row.id: current_row_key(row, table.key_field) for row in window.rows}
        attempts = await store.attempts.of_run(filled.run_id, row_ids[0], row_ids[-1])
        for row_id, cells in zip(row_ids, operations, strict=True):
            # A row that was removed since has no name.
            yield encode_row_report(row_id, keys.get(row_id, ""), cells, attempts.get(row_id, ()))


async def iterate_proposed_rows(store: Store, proposal_id: str) -> AsyncIterator[list[list[ProposedCell]]]:
    """Yield the operations of a proposal, those of each row together, many rows at a time."""
    after: tuple[RowId, str] = (0, "")
    open_row: list[ProposedCell] = []
    while operations := await store.proposals.operations(proposal_id, after=after):
        rows = [list(cells) for _, cells in groupby([*open_row, *operations], key=attrgetter("row_id"))]
        # The next page may go on with the last row.
        open_row = rows.pop()
        if rows:
            yield rows
        # Continue after the last one by key, not by count: an operation may be decided in between.
        after = (operations[-1].row_id, operations[-1].field)
    if open_row:
        yield [open_row]


def encode_row_report(
    row_id: RowId, key: str, operations: Sequence[ProposedCell], attempts: Sequence[Attempt]
) -> bytes:
    cells = {
        each.field: msgspec.Raw(b'%s,"steps":%s}' % (encode_complete(each.cell)[:-1], encode_list(each.steps)))
        for each in operations
    }
    tried = {"attempts": msgspec.Raw(encode_list(attempts))} if attempts else {}
    return msgspec.json.encode({"row_id": row_id, "key": key, "cells": cells, **tried})


def encode_list(structs: Sequence[msgspec.Struct]) -> bytes:
    return b"[%s]" % b",".join(map(encode_complete, structs))
