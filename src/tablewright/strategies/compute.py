"""Compute one cell from one formula: in the event loop if that is quick, else in a worker process with limits.

A formula does not show how much work it is: `SUBSTITUTE` makes a thousand letters of one. So each cell is started in
the event loop with a small allowance of characters. A cell that takes more is computed again by a worker with the full
allowance; one that exceeds that too fails with a sentence, and the other cells continue.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence
from functools import lru_cache
from time import monotonic

from msgspec import structs

from tablewright.domain.model import Evidence, Field, Finding, Money, Reason, Row, Step, Value
from tablewright.domain.text import format_value
from tablewright.errors import RunError
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import FORMULA_LIMITS, Empty, TooMuchWork, Unevaluable
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits, SandboxWording
from tablewright.sandbox.sandbox import Sandbox
from tablewright.values.coerce import coerce_value

# Characters that a cell may read and make in the event loop: a few milliseconds at most.
IN_PLACE_CHARACTERS = 200_000
# Seconds of computing in the event loop before others have it.
TURN_SECONDS = 0.005
# A formula of one cell that takes longer, or more memory, is a mistake; it writes no files.
LIMITS = SandboxLimits(seconds=10, memory=1024 * MEBIBYTE, written=MEBIBYTE)
WORDING = SandboxWording(
    verb="compute",
    participle="computed",
    worker="worker",
    advice="Shorten its texts with LEFT, or divide it into several columns.",
)
# Characters of a result in its evidence and its trace; the cell itself holds all of it.
MAX_SHOWN_CHARACTERS = 1_000
AMOUNT_FIELD = Field(name="", type="money")


class ComputingTurn(threading.local):
    """Time slice of computing in the event loop of this thread, shared by all rows computed in it."""

    until = 0.0
    is_resting = False


TURN_OF_THREAD = ComputingTurn()


def is_turn_over() -> bool:
    turn = TURN_OF_THREAD
    return turn.is_resting or monotonic() >= turn.until


async def let_others_work() -> None:
    """Leave the event loop to others, however many rows and runs are computed in it."""
    turn = TURN_OF_THREAD
    # Another row has given the loop away: all others wait too, or it would be taken back at once.
    while turn.is_resting:  # noqa: ASYNC110  # an event would wake all who wait, and belongs to one loop
        await asyncio.sleep(0)
    if monotonic() < turn.until:
        return
    turn.is_resting = True
    try:
        await asyncio.sleep(0)
    finally:
        turn.is_resting = False
    turn.until = monotonic() + TURN_SECONDS


class CellComputer:
    """Computes the cells of one run. Its workers are started when a cell is too much for the event loop."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    async def compute(
        self, field: Field, formula: Formula, known: Sequence[Field], row: Row, before: tuple[Step, ...] = ()
    ) -> Finding:
        """`known` are the columns that the formula was parsed with, `before` the steps that led to it."""
        if is_turn_over():
            await let_others_work()
        try:
            return compute_cell(field, formula, row, before, allowance=IN_PLACE_CHARACTERS)
        except TooMuchWork:
            return await self.compute_in_worker(field, formula, known, row, before)

    async def compute_in_worker(
        self, field: Field, formula: Formula, known: Sequence[Field], row: Row, before: tuple[Step, ...] = ()
    ) -> Finding:
        if self._sandbox is None:
            self._sandbox = Sandbox(LIMITS)
        # Only what the formula reads is sent to the worker: other cells may be long.
        read = structs.replace(row, cells={name: row.cell(name) for name in formula.columns})
        try:
            return await self._sandbox.run(
                f"The formula of {field.name}",
                compute_large_cell,
                *(field, formula.template, tuple(known), read, before),
                raising=RunError,
                wording=WORDING,
            )
        except RunError as problem:
            return make_failed_finding(field, "error", str(problem))

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()


def compute_large_cell(
    field: Field, template: str, known: tuple[Field, ...], row: Row, before: tuple[Step, ...]
) -> Finding:
    """Run in a worker process: compute the cell with the full allowance, or say why it fails."""
    try:
        return compute_cell(
            field, parse_formula_once(template, known), row, before, allowance=FORMULA_LIMITS.work_characters
        )
    except TooMuchWork as problem:
        return make_failed_finding(field, "error", str(problem))


# A worker computes the same few formulas row after row.
@lru_cache(maxsize=64)
def parse_formula_once(template: str, known: tuple[Field, ...]) -> Formula:
    return Formula(template, known)


def compute_cell(
    field: Field,
    formula: Formula,
    row: Row,
    before: tuple[Step, ...] = (),
    *,
    allowance: int = FORMULA_LIMITS.work_characters,
) -> Finding:
    """Return the computed value, or why there is none; raises TooMuchWork beyond the allowance."""
    values: dict[str, Value] = {}
    amounts: list[Money] = []
    # A computed value is as sure as the least sure value it was computed from.
    confidence = 1.0
    for column in formula.columns:
        cell = row.cell(column)
        values[column] = cell.value
        if cell.value is not None:
            confidence = min(confidence, cell.confidence or 0.0)
        if type(cell.value) is Money:
            amounts.append(cell.value)
        elif field.type == "money" and isinstance(cell.value, str):
            # A text column may have prices: they give the result its currency.
            amount = coerce_value(cell.value[: FORMULA_LIMITS.read_characters], AMOUNT_FIELD).value
            amounts += [amount] if isinstance(amount, Money) else []
    try:
        result = formula.evaluate(values, allowance)
        currency = find_common_currency(result, amounts)
    except Empty:
        return make_failed_finding(field, "not_applicable", describe_empty_inputs(formula.columns, row))
    except TooMuchWork:
        # A kind of `Unevaluable`, but the caller has a larger allowance.
        raise
    except Unevaluable as error:
        return make_failed_finding(field, "error", str(error))
    if result is None:
        nothing = "the formula gives nothing for this row"
        return make_failed_finding(field, "not_applicable", describe_empty_inputs(formula.columns, row) or nothing)
    shown = format_value(result)
    # The cell itself holds all of it.
    result_text = shown if len(shown) <= MAX_SHOWN_CHARACTERS else f"{shown[:MAX_SHOWN_CHARACTERS]}…"
    written = f"{formula.written(values)} = {result_text}"
    return Finding(
        field=field.name,
        value=add_currency(result, field, currency),
        raw_value=shown,
        confidence=confidence,
        basis="computed",
        evidence=(Evidence(origin="formula", quote=written),),
        steps=(*before, Step(type="compute", detail=written)),
        exact=True,
    )


def describe_empty_inputs(columns: Collection[str], row: Row) -> str:
    """Return which of these columns have no value in this row, as text, or ""."""
    empty = [column for column in columns if row.cell(column).value is None]
    return f"{', '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty" if empty else ""


def make_failed_finding(field: Field, reason: Reason, detail: str) -> Finding:
    return Finding(field=field.name, reason=reason, error=detail, steps=(Step(type="error", detail=detail),))


def find_common_currency(result: Value, amounts: Sequence[Money]) -> str:
    """Return the currency of the amounts that a result was computed from, or ""; raise Unevaluable if they differ."""
    currencies = sorted({money.currency for money in amounts if money.currency}) if amounts else []
    # Only a number was computed from them; a text or a comparison needs no currency.
    if len(currencies) > 1 and isinstance(result, int | float):
        raise Unevaluable(f"{' and '.join(currencies)} are different currencies, which a formula does not convert")
    return currencies[0] if currencies else ""


def add_currency(result: Value, field: Field, currency: str) -> Value:
    if field.type != "money" or isinstance(result, bool) or not isinstance(result, int | float):
        return result
    return Money(amount=result, currency=currency or field.unit)
