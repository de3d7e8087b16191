"""One cell from one formula: in place where that is quick, else in a worker process with limits of memory and time.

Nobody sees from a formula how much work it is: `SUBSTITUTE` makes a thousand letters of one. So each cell is begun in
place with a small allowance of characters. A cell that takes more is computed anew by a worker, with the full
allowance; one that takes more than that fails with a sentence, and the other cells go on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence
from functools import lru_cache
from time import monotonic

from msgspec import structs

from tablewright.domain.model import Evidence, Field, Finding, Money, Reason, Row, Step, Value
from tablewright.domain.text import show
from tablewright.errors import RunError
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import LONGEST_READ, MOST_WORK, Empty, TooMuchWork, Unevaluable
from tablewright.sandbox.limits import MB, SandboxLimits, SandboxWording
from tablewright.sandbox.sandbox import Sandbox
from tablewright.values.coerce import coerce

IN_PLACE = 200_000
"""Characters that a cell may read and make in the event loop: a few milliseconds at most."""
TURN = 0.005
"""Seconds of computing in the event loop before others have it."""
LIMITS = SandboxLimits(seconds=10, memory=1024 * MB, written=MB)
WORDING = SandboxWording(
    verb="compute",
    participle="computed",
    worker="worker",
    advice="Shorten its texts with LEFT, or divide it into several columns.",
)
MOST_SHOWN = 1_000
"""Characters of a result in its evidence and its trace; the cell itself holds all of it."""
AMOUNT = Field(name="", type="money")


class ComputingTurn(threading.local):
    """Whose turn it is in the event loop of this thread: of all rows that are computed in it, one goes on at a time."""

    until = 0.0
    is_resting = False


TURN_OF_THREAD = ComputingTurn()


def is_turn_over() -> bool:
    turn = TURN_OF_THREAD
    return turn.is_resting or monotonic() >= turn.until


async def let_others_work() -> None:
    """Leave the event loop to others, however many rows and runs are computed in it."""
    turn = TURN_OF_THREAD
    while turn.is_resting:  # noqa: ASYNC110  # an event would wake all who wait, and belongs to one loop
        await asyncio.sleep(0)
    if monotonic() < turn.until:
        return
    turn.is_resting = True
    try:
        await asyncio.sleep(0)
    finally:
        turn.is_resting = False
    turn.until = monotonic() + TURN


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
            return compute(field, formula, row, before, allowance=IN_PLACE)
        except TooMuchWork:
            return await self.compute_in_worker(field, formula, known, row, before)

    async def compute_in_worker(
        self, field: Field, formula: Formula, known: Sequence[Field], row: Row, before: tuple[Step, ...] = ()
    ) -> Finding:
        if self._sandbox is None:
            self._sandbox = Sandbox(LIMITS)
        read = structs.replace(row, cells={name: row.cell(name) for name in formula.columns})
        try:
            return await self._sandbox.run(
                f"The formula of {field.name}",
                compute_large,
                *(field, formula.template, tuple(known), read, before),
                raising=RunError,
                wording=WORDING,
            )
        except RunError as problem:
            return failed(field, "error", str(problem))

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()


def compute_large(field: Field, template: str, known: tuple[Field, ...], row: Row, before: tuple[Step, ...]) -> Finding:
    """Run in a worker process: compute the cell with the full allowance, or say why it fails."""
    try:
        return compute(field, parse_once(template, known), row, before, allowance=MOST_WORK)
    except TooMuchWork as problem:
        return failed(field, "error", str(problem))


@lru_cache(maxsize=64)
def parse_once(template: str, known: tuple[Field, ...]) -> Formula:
    return Formula(template, known)


def compute(
    field: Field, formula: Formula, row: Row, before: tuple[Step, ...] = (), *, allowance: int = MOST_WORK
) -> Finding:
    """Return the computed value, or why there is none; raises TooMuchWork beyond the allowance."""
    values: dict[str, Value] = {}
    amounts: list[Money] = []
    confidence = 1.0  # a computed value is as sure as the least sure value it was computed from
    for column in formula.columns:
        cell = row.cell(column)
        values[column] = cell.value
        if cell.value is not None:
            confidence = min(confidence, cell.confidence or 0.0)
        if type(cell.value) is Money:
            amounts.append(cell.value)
        elif field.type == "money" and isinstance(cell.value, str):
            amount = coerce(cell.value[:LONGEST_READ], AMOUNT).value
            amounts += [amount] if isinstance(amount, Money) else []
    try:
        result = formula.evaluate(values, allowance)
        currency = currency_of(result, amounts)
    except Empty:
        return failed(field, "not_applicable", empty_inputs(formula.columns, row))
    except TooMuchWork:
        raise
    except Unevaluable as error:
        return failed(field, "error", str(error))
    if result is None:
        nothing = "the formula gives nothing for this row"
        return failed(field, "not_applicable", empty_inputs(formula.columns, row) or nothing)
    shown = show(result)
    written = f"{formula.written(values)} = {shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + '…'}"
    return Finding(
        field=field.name,
        value=in_currency(result, field, currency),
        raw_value=shown,
        confidence=confidence,
        basis="computed",
        evidence=(Evidence(origin="formula", quote=written),),
        steps=(*before, Step(type="compute", detail=written)),
        exact=True,
    )


def empty_inputs(columns: Collection[str], row: Row) -> str:
    """Return which of its columns have no value in this row, in words; "" where all have."""
    empty = [column for column in columns if row.cell(column).value is None]
    return f"{', '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty" if empty else ""


def failed(field: Field, reason: Reason, detail: str) -> Finding:
    return Finding(field=field.name, reason=reason, error=detail, steps=(Step(type="error", detail=detail),))


def currency_of(result: Value, amounts: Sequence[Money]) -> str:
    """Of the amounts that a number or a comparison was computed from."""
    currencies = sorted({money.currency for money in amounts if money.currency}) if amounts else []
    if len(currencies) > 1 and isinstance(result, int | float):
        raise Unevaluable(f"{' and '.join(currencies)} are different currencies, which a formula does not convert")
    return currencies[0] if currencies else ""


def in_currency(result: Value, field: Field, currency: str) -> Value:
    if field.type != "money" or isinstance(result, bool) or not isinstance(result, int | float):
        return result
    return Money(amount=result, currency=currency or field.unit)
