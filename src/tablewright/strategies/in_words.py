"""A formula in words: a model writes it as an expression, once for the table, which is then evaluated for every row.
What no expression can say it works out row by row. Neither is believed before code has checked it.

Apart from the formulas that can be read as they are, so that those load nothing of this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tablewright.decisions.decision import Outcome, decide
from tablewright.decisions.grounds import is_other, own_measure
from tablewright.decisions.translate_formula import (
    Translate,
    Translated,
    TranslateFormula,
    conversion_asked,
    speaks_of,
    unit_of,
)
from tablewright.decisions.work_out import Work, Worked, WorkOut
from tablewright.errors import BadFormula
from tablewright.strategies.computation import compute, empty_inputs, failed, in_currency, unreadable
from tablewright.strategies.formula import Formula, NotANumber, OtherUnit, Unevaluable, literal, respelled
from tablewright.table.measures import Measure, in_unit
from tablewright.table.model import Evidence, Field, Finding, Row, Step, Value
from tablewright.table.text import cell_text, show
from tablewright.table.untrusted import gives_orders

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

CONVERTED_DIGITS = 10  # of a result; conversions have twelve


class InWords:
    """One column of one run."""

    def __init__(self, field: Field, formula: Formula, known: Sequence[Field], model: LanguageModel | None) -> None:
        self._field = field
        self._formula = formula
        self._columns = tuple(other for other in known if other.name != field.name)
        self._model = model
        self._translating = asyncio.Lock()
        self._translation: Outcome[Translated] | None = None
        self._expression: Formula | None = None
        self._source = ""  # the unit that the words convert from

    async def answer(self, row: Row) -> Finding:
        if empty := empty_inputs(self._formula, row):
            return failed(self._field, "not_applicable", empty)
        translation = await self._translated()
        if self._expression is None and self._model is None:
            return failed(self._field, "error", unreadable(self._formula))
        if translation.degraded:
            return self._left_empty(translation)
        if self._expression is None:
            problem = translation.decided.problem.rstrip(".") or "no formula can say it"
            return await self._work_out(row, f"{self._words}: {problem}; it is worked out for this row.")
        found = f"{self._words} is {self._expression.template}"
        try:
            return self._computed(row, self._expression, found)
        except Unevaluable as error:
            if self._model is None or isinstance(error, OtherUnit) or not isinstance(error, NotANumber):
                return failed(self._field, "error", str(error))
            return await self._work_out(row, f"{found}, but {error}; it is worked out for this row.")

    @property
    def _words(self) -> str:
        return f"“{self._formula.template}”"

    async def _translated(self) -> Outcome[Translated]:
        """Bought once, by whichever row comes first; what failed then is not tried again for each of the others."""
        async with self._translating:
            if self._translation is None:
                self._translation = await self._translate()
                if expression := self._translation.decided.expression:
                    self._expression = self._read(expression)
                    units = conversion_asked(self._formula.template, self._columns, self._expression.columns)
                    self._source = units[0] if units else ""
            return self._translation

    async def _translate(self) -> Outcome[Translated]:
        translate = Translate()
        asked = TranslateFormula(field=self._field, columns=self._columns, named=self._formula.columns, read=self._read)
        plain = translate.fallback(asked)
        if plain.expression or translate.is_beyond(self._formula.template):
            return Outcome(decided=plain)
        return await decide(translate, asked, self._model, untold)

    def _read(self, expression: str) -> Formula:
        """As it stands, or as it would be spelled in our language."""
        formula = Formula(expression.strip(), self._columns)
        if not formula.error:
            return formula
        again = Formula(respelled(expression, self._columns), self._columns)
        if again.error:
            raise BadFormula(formula.error)
        return again

    def _computed(self, row: Row, expression: Formula, found: str) -> Finding:
        """From the unit that stands in the row, where that is another than the words say."""
        steps = (Step(type="thinking", detail=found),)
        if len(expression.columns) > 1:
            self._refuse_other_units(row, expression)
            return compute(self._field, expression, row, steps)
        [column] = expression.columns
        own = self._other_unit(row, column)
        if own is None:
            return compute(self._field, expression, row, steps)
        cell = row.cell(column)
        shown = literal(cell.value) if isinstance(cell.value, str) else f"{show(cell.value)} {own.unit}"
        fit = in_unit(own, self._source)
        if fit is None:
            raise OtherUnit(f"{shown} is in {own.unit}, which cannot be converted to {self._source}")
        said = Step(type="thinking", detail=f"{shown} is {show(fit.value)} {self._source}.")
        row = structs.replace(row, cells={**row.cells, column: structs.replace(cell, value=fit.value)})
        return compute(self._field, expression, row, (*steps, said), CONVERTED_DIGITS)

    def _refuse_other_units(self, row: Row, expression: Formula) -> None:
        """Nothing says which of several columns is converted, so a text that may be it cannot be read as a number."""
        for column in expression.columns:
            value = row.cell(column).value
            own = self._other_unit(row, column) if isinstance(value, str) else None
            if own and in_unit(own, self._source):
                raise NotANumber(f"{literal(value)} is in {own.unit}, not in {self._source}")

    def _other_unit(self, row: Row, column: str) -> Measure | None:
        """The quantity of the cell, if it is in another unit than the words convert from."""
        value: Value = row.cell(column).value
        if not self._source:
            return None
        if isinstance(value, str):
            return own_measure(value, self._source)
        unit = next((unit_of(field) for field in self._columns if field.name == column), "")
        if isinstance(value, bool) or not isinstance(value, int | float) or not is_other(unit, self._source):
            return None
        return Measure(value=value, start=0, end=0, unit=unit)

    async def _work_out(self, row: Row, why: str) -> Finding:
        columns = self._looked_at(row)
        if not columns:
            return failed(self._field, "not_applicable", "The row is empty.")
        shown = {column: cell_text(row.cell(column)) for column in columns}
        for column, text in shown.items():
            if gives_orders(text):
                return failed(self._field, "error", f"{column} gives orders to machines; no model is asked about it.")
        values = {column: row.cell(column).value for column in columns}
        asked = WorkOut(field=self._field, shown=shown, values=values, read=self._read)
        outcome = await decide(Work(), asked, self._model, untold)
        worked = outcome.decided
        if worked.value is None:
            empty = self._left_empty(outcome, worked.problem)
            return structs.replace(empty, steps=(Step(type="thinking", detail=why), *empty.steps))
        return self._finding(row, asked, worked, why)

    def _looked_at(self, row: Row) -> tuple[str, ...]:
        """The columns that the words name, in braces or else without; all that have a value where they name none."""
        if self._formula.columns:
            return self._formula.columns
        filled = [field.name for field in self._columns if row.cell(field.name).value is not None]
        return tuple(name for name in filled if speaks_of(self._formula.template, name)) or tuple(filled)

    def _finding(self, row: Row, asked: WorkOut, worked: Worked, why: str) -> Finding:
        """A value that no expression gave is the model's word, and says so."""
        sure = min(row.cell(column).confidence or 0.0 for column in asked.values)
        shown = show(worked.value)
        if worked.expression:
            written = f"{self._read(worked.expression).written(asked.values)} = {shown}"
        else:
            whose = "the model's judgement" if worked.judged else "the model's reading of the row"
            written = f"{self._formula.written(asked.values)} → {shown} ({whose})"
        steps = [
            Step(type="thinking", detail=why),
            Step(type="compute" if worked.expression else "thinking", detail=written),
        ]
        if worked.said:
            steps.append(Step(type="thinking", detail=f"The model's own result, {worked.said}, was wrong."))
        return Finding(
            field=self._field.name,
            value=in_currency(worked.value, self._field, asked.values),
            raw_value=shown,
            confidence=min(sure, worked.confidence),
            evidence=(Evidence(origin="formula" if worked.expression else "model", quote=written),),
            steps=tuple(steps),
            exact=worked.verified,
        )

    def _left_empty(self, outcome: Outcome[Any], problem: str = "") -> Finding:
        return failed(self._field, "over_budget" if outcome.over_budget else "error", outcome.degraded or problem)


def untold(step: Step) -> None:
    """The cell itself says what went wrong."""
