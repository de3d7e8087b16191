"""Computation: a cell from other cells of its row, by a formula. No web, no model, exact."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.errors import BadFormula
from tablewright.strategies.formula import Formula, Unevaluable
from tablewright.strategies.strategy import Answer, Tell
from tablewright.strategies.tools import NO_TOOLS, Tools
from tablewright.table.model import Cell, Evidence, Field, Finding, Money, Reason, Row, Step, Table, Value
from tablewright.table.template import columns_in
from tablewright.table.text import show


class ComputationStrategy:
    name = "computation"
    display_name = "Computation"
    kind = "enrichment"
    max_steps = 1
    concurrency = 10
    needs_identity = False
    needs_tools = False

    def columns(self, table: Table, fields: Sequence[Field]) -> Collection[str]:
        known = (*table.fields, *fields)
        return {name for field in fields for name in columns_in(field.question, known)}

    def prepare(self, table: Table, fields: Sequence[Field], tools: Tools = NO_TOOLS) -> Answer:
        """A formula may use the columns of the table and those computed before it."""
        known = list(table.fields)
        formulas = []
        for field in fields:
            formulas.append((field, formula_of(field, known)))
            known = [*(other for other in known if other.name != field.name), field]
        chained = len(fields) > 1

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            findings = []
            for field, formula in formulas:
                finding = compute(field, formula, row)
                if chained and row.cell(field.name).needs_work:
                    row = with_finding(row, finding)
                findings.append(finding)
            return findings

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


def compute(field: Field, formula: Formula, row: Row) -> Finding:
    values: dict[str, Value] = {}
    empty: list[str] = []
    confidence = 1.0  # a computed value is as sure as the least sure value it was computed from
    for column in formula.columns:
        cell = row.cell(column)
        values[column] = cell.value
        confidence = min(confidence, cell.confidence or 0.0)
        if cell.value is None:
            empty.append(column)
    if empty and not formula.error:
        detail = f"{', '.join(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        return failed(field, "not_applicable", detail)
    try:
        result = formula.evaluate(values)
    except Unevaluable as error:
        return failed(field, "error", str(error))
    shown = show(result)
    written = f"{formula.written(values)} = {shown}"
    return Finding(
        field=field.name,
        value=in_currency(result, field, values),
        raw_value=shown,
        confidence=confidence,
        evidence=(Evidence(origin="formula", quote=written),),
        steps=(Step(type="compute", detail=written),),
        exact=True,
    )


def failed(field: Field, reason: Reason, detail: str) -> Finding:
    return Finding(field=field.name, reason=reason, error=detail, steps=(Step(type="error", detail=detail),))


def in_currency(result: Value, field: Field, values: dict[str, Value]) -> Value:
    """A money column computed from amounts of one currency is in that currency."""
    if field.type != "money" or isinstance(result, bool) or not isinstance(result, int | float):
        return result
    currencies = {value.currency for value in values.values() if isinstance(value, Money)}
    return Money(amount=result, currency=currencies.pop() if len(currencies) == 1 else field.unit)
