"""A formula in words: a model translates it into an expression once for the table, which is evaluated for every row.
If no expression can say it, the model writes the cells row by row, as the strategy `transform` does.

Separate from `computation.py`, so that plain formulas load no model code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec import structs

from tablewright.domain.model import Field, Finding, Row, Step
from tablewright.errors import BadFormula
from tablewright.formulas.formula import Formula
from tablewright.llm.tasks.decision import Outcome, decide
from tablewright.llm.tasks.translate_formula import FormulaToTranslate, Translated, TranslateFormula
from tablewright.strategies.compute import CellComputer, make_failed_finding
from tablewright.strategies.strategy import Tell, Tools
from tablewright.strategies.transform import CellWriter


class VerbalFormula:
    """One column of one run."""

    def __init__(
        self,
        field: Field,
        formula: Formula,
        known: Sequence[Field],
        tools: Tools,
        computer: CellComputer,
        examples: Sequence[str],
    ) -> None:
        assert tools.model is not None
        self._field = field
        self._formula = formula
        self._columns = tuple(other for other in known if other.name != field.name)
        self._model = tools.model
        self._computer = computer
        self._writer = CellWriter([field], self._columns, tools, examples={field.name: examples})
        self._translating = asyncio.Lock()
        self._translation: Outcome[Translated] | None = None
        self._expression: Formula | None = None

    async def answer(self, row: Row, tell: Tell) -> Finding:
        translation = await self._translated(tell)
        if translation.degraded:
            return make_failed_finding(
                self._field, "over_budget" if translation.over_budget else "error", translation.degraded
            )
        words = f"“{self._formula.template}”"
        if self._expression is not None:
            found = Step(type="thinking", detail=f"{words} is {self._expression.template}")
            return await self._computer.compute(self._field, self._expression, self._columns, row, (found,))
        if problem := translation.decided.problem:
            return make_failed_finding(self._field, "error", f"No formula could be made of {words}: {problem}")
        [finding] = await self._writer.answer(row, tell)
        why = Step(type="thinking", detail=f"{words}: no formula can say it; it is written for this row.")
        return structs.replace(finding, steps=(why, *finding.steps))

    async def _translated(self, tell: Tell) -> Outcome[Translated]:
        """Return the translation, made once by the first row; a failure is not repeated for the others."""
        # All rows start at once: the first asks, the others wait for its translation.
        async with self._translating:
            if self._translation is None:
                asked = FormulaToTranslate(
                    field=self._field, columns=self._columns, named=self._formula.columns, read=self.read
                )
                self._translation = await decide(
                    TranslateFormula(), asked, self._model, lambda step: tell(step, self._field.name)
                )
                if expression := self._translation.decided.expression:
                    self._expression = self.read(expression)
            return self._translation

    def read(self, expression: str) -> Formula:
        # Models like to put code into backquotes, which are no part of the language.
        formula = Formula(expression.strip().strip("`"), self._columns)
        if formula.error:
            raise BadFormula(formula.error)
        return formula
