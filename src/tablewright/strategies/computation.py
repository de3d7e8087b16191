"""Computation: a cell from other cells of its row, by a formula. No web, no model, exact."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

from tablewright.errors import BadFormula
from tablewright.strategies.formula import Formula, Unevaluable
from tablewright.strategies.strategy import Answer
from tablewright.table.model import Cell, Field, Finding, Money, Row, Step, Table, Value
from tablewright.table.template import columns_in
from tablewright.table.text import show


class ComputationStrategy:
    name = "computation"
    display_name = "Computation"
    kind = "enrichment"
    max_steps = 1
    concurrency = 10
    needs_identity = False

    def columns(self, table: Table, fields: Sequence[Field]) -> Collection[str]:
        known = (*table.fields, *fields)
        return {name for field in fields for name in columns_in(field.question, known)}

    def prepare(self, table: Table, fields: Sequence[Field]) -> Answer:
        """A formula may use the columns of the table and those computed before it."""
        known = list(table.fields)
        formulas = []
        for field in fields:
            formulas.append((field, formula_of(field, known)))
            known = [*(other for other in known if other.name != field.name), field]
        chained = len(fields) > 1

        async def answer(row: Row) -> AsyncIterator[Step | Finding]:
            for field, formula in formulas:
                step, finding = compute(field, formula, row)
                if chained and row.cell(field.name).needs_work:
                    row = with_finding(row, finding)
                yield step
                yield finding

        return answer


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


def compute(field: Field, formula: Formula, row: Row) -> tuple[Step, Finding]:
    cells = {column: row.cell(column) for column in formula.columns}
    empty = [column for column, cell in cells.items() if cell.value is None]
    if empty and not formula.error:
        detail = f"{', '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        return Step(type="error", detail=detail), Finding(field=field.name, reason="not_applicable", error=detail)
    values = {column: cell.value for column, cell in cells.items()}
    try:
        result = formula.evaluate(values)
    except Unevaluable as error:
        return Step(type="error", detail=str(error)), Finding(field=field.name, reason="error", error=str(error))
    # A computed value is as sure as the least sure value it was computed from.
    confidence = min((cell.confidence or 0.0 for cell in cells.values()), default=1.0)
    shown = show(result)
    return (
        Step(type="compute", detail=f"{formula.written(values)} = {shown}"),
        Finding(field=field.name, value=in_currency(result, field, values), raw_value=shown, confidence=confidence),
    )


def in_currency(result: Value, field: Field, values: dict[str, Value]) -> Value:
    """A money column computed from amounts of one currency is in that currency."""
    if field.type != "money" or isinstance(result, bool) or not isinstance(result, int | float):
        return result
    currencies = {value.currency for value in values.values() if isinstance(value, Money)}
    return Money(amount=result, currency=currencies.pop() if len(currencies) == 1 else field.unit)
