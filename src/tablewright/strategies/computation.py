"""Computation: a cell from other cells of its row, by a formula, exactly; a model only where that is in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tablewright.errors import BadFormula
from tablewright.strategies.formula import Formula
from tablewright.strategies.functions import Empty, Unevaluable
from tablewright.strategies.strategy import Answer, Expected, Strategy, Task, Tell
from tablewright.strategies.tools import Need, Tools
from tablewright.table.coerce import coerce
from tablewright.table.model import Cell, Evidence, Field, Finding, Money, Reason, Row, Step, Value
from tablewright.table.text import show

if TYPE_CHECKING:
    from tablewright.strategies.formula_in_words import FormulaInWords


NOTHING: tuple[Need, ...] = ()
AMOUNT = Field(name="", type="money")


class ComputationStrategy(Strategy):
    name = "computation"
    display_name = "Computation"
    summary = "Computes a formula from the other columns. Free."
    concurrency = 10
    needs_identity = False
    repeats = False

    def needs(self, task: Task) -> Collection[Need]:
        return ("model",) if any(formula.error for _, formula, _ in formulas_of(task)) else NOTHING

    def columns(self, task: Task) -> Collection[str] | None:
        """Words may speak of a column without braces."""
        formulas = [formula for _, formula, _ in formulas_of(task)]
        if any(formula.error for formula in formulas):
            return None
        return {column for formula in formulas for column in formula.columns}

    def expected(self, task: Task, tools: Tools) -> Expected:
        in_words = [each for each in formulas_of(task) if each[1].error]
        if not in_words:
            return Expected()

        from tablewright.strategies import estimates  # as slow to load as what it speaks of

        return estimates.in_words(tools, in_words)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        """A formula may use the columns of the table and those computed before it."""
        formulas = formulas_of(task)
        in_words: dict[str, FormulaInWords] = {}
        if unread := [formula.error for _, formula, _ in formulas if formula.error]:
            if tools.model is None:
                raise BadFormula(
                    unread[0],
                    advice="Correct the formula (docs/formulas.md has the language), or set a model that understands "
                    "words: TABLEWRIGHT_MODEL.",
                )
            from tablewright.strategies.formula_in_words import (
                FormulaInWords,
            )  # 0.1 s that most computations never need

            in_words = {
                field.name: FormulaInWords(field, formula, known, tools, task.examples.get(field.name, ()))
                for field, formula, known in formulas
                if formula.error
            }
        chained = len(formulas) > 1

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            findings = []
            for field, formula, _ in formulas:
                open_field = row.cell(field.name).needs_work
                if not formula.error:
                    finding = compute(field, formula, row)
                elif not open_field:
                    continue
                else:
                    finding = await in_words[field.name].answer(row, tell)
                if chained and open_field:
                    row = with_finding(row, finding)
                findings.append(finding)
            return findings

        return answer


def formulas_of(task: Task) -> list[tuple[Field, Formula, Sequence[Field]]]:
    """Each field with its formula and the columns that may stand in it."""
    known: Sequence[Field] = task.table.fields
    formulas = []
    for field in task.fields:
        formulas.append((field, formula_of(field, known), known))
        known = [*(other for other in known if other.name != field.name), field]
    return formulas


def formula_of(field: Field, known: Sequence[Field]) -> Formula:
    if not field.question.strip():
        raise BadFormula(
            f"{field.name} has no formula.",
            advice=f'Write --field "{field.name}:{field.type}=FORMULA", such as {{Price}} * {{Quantity}}.',
        )
    formula = Formula(field.question, known)
    if field.name in formula.columns:
        raise BadFormula(f"{field.name} cannot be computed from itself.")
    return formula


def with_finding(row: Row, finding: Finding) -> Row:
    cell = Cell(value=finding.value, status="ENRICHED", confidence=finding.confidence)
    return Row(id=row.id, key=row.key, cells={**row.cells, finding.field: cell})


def compute(field: Field, formula: Formula, row: Row, before: tuple[Step, ...] = ()) -> Finding:
    """`before` are the steps that led to the formula."""
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
            amount = coerce(cell.value, AMOUNT).value
            amounts += [amount] if isinstance(amount, Money) else []
    try:
        result = formula.evaluate(values)
        currency = currency_of(result, amounts)
    except Empty:
        return failed(field, "not_applicable", empty_inputs(formula.columns, row))
    except Unevaluable as error:
        return failed(field, "error", str(error))
    if result is None:
        nothing = "the formula gives nothing for this row"
        return failed(field, "not_applicable", empty_inputs(formula.columns, row) or nothing)
    shown = show(result)
    written = f"{formula.written(values)} = {shown}"
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
    """Which of its columns have no value in this row, in words; "" where all have."""
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
