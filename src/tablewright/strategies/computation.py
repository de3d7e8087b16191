"""Computation: a cell from other cells of its row, by a formula, exactly; a model only where that is in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.domain.model import Cell, Field, Finding, Row
from tablewright.errors import BadFormula
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import TooMuchWork
from tablewright.messages.catalogue import PageText
from tablewright.strategies.compute import IN_PLACE, CellComputer, compute, is_turn_over, let_others_work
from tablewright.strategies.strategy import Answer, Expected, Need, Strategy, Task, Tell, Tools

if TYPE_CHECKING:
    from tablewright.strategies.formula_in_words import FormulaInWords


NOTHING: tuple[Need, ...] = ()


class ComputationStrategy(Strategy):
    name = "computation"
    display_name: PageText[str] = "Computation"
    summary: PageText[str] = "Computes a formula from the other columns. Free."
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
        """Return a `ComputedRows`: a formula may use the columns of the table and those computed before it."""
        formulas = formulas_of(task)
        in_words: dict[str, FormulaInWords] = {}
        computer = CellComputer()
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
                field.name: FormulaInWords(field, formula, known, tools, computer, task.examples.get(field.name, ()))
                for field, formula, known in formulas
                if formula.error
            }
        return ComputedRows(formulas, in_words, computer)


class ComputedRows:
    """The formulas of a run, answered row by row."""

    def __init__(
        self,
        formulas: Sequence[tuple[Field, Formula, Sequence[Field]]],
        in_words: Mapping[str, FormulaInWords],
        computer: CellComputer,
    ) -> None:
        self._formulas = formulas
        self._in_words = in_words
        self._computer = computer
        self._chained = len(formulas) > 1

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        findings = []
        for field, formula, known in self._formulas:
            open_field = row.cell(field.name).needs_work
            if not formula.error:
                if is_turn_over():
                    await let_others_work()
                try:  # without a coroutine of its own: a formula fills rows faster than Python awaits
                    finding = compute(field, formula, row, allowance=IN_PLACE)
                except TooMuchWork:
                    finding = await self._computer.compute_in_worker(field, formula, known, row)
            elif not open_field:
                continue
            else:
                finding = await self._in_words[field.name].answer(row, tell)
            if self._chained and open_field:
                row = with_finding(row, finding)
            findings.append(finding)
        return findings

    async def close(self) -> None:
        await self._computer.close()


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
