"""Computation: a cell from other cells of its row, by a formula, exactly; a model only where that is in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.domain.model import Cell, Field, Finding, Row
from tablewright.errors import BadFormula
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import TooMuchWork
from tablewright.messages.catalogue import PageText
from tablewright.strategies.compute import (
    IN_PLACE_CHARACTERS,
    CellComputer,
    compute_cell,
    is_turn_over,
    let_others_work,
)
from tablewright.strategies.effort import Expected
from tablewright.strategies.strategy import Answer, Need, Strategy, Task, Tell, Tools

if TYPE_CHECKING:
    from tablewright.strategies.verbal_formula import VerbalFormula


class ComputationStrategy(Strategy):
    name = "computation"
    display_name: PageText[str] = "Computation"
    summary: PageText[str] = "Computes a formula from the other columns. Free."
    # Rows wait only for worker processes; those that need none share one event loop anyway.
    concurrency = 10
    needs_identity = False
    repeats = False

    def needs(self, task: Task) -> Collection[Need]:
        needs: tuple[Need, ...] = ("model",) if any(formula.error for _, formula, _ in parse_formulas(task)) else ()
        return needs

    def columns(self, task: Task) -> Collection[str] | None:
        """Return the columns of all formulas; None, for all, if one is in words, which may name any column."""
        formulas = [formula for _, formula, _ in parse_formulas(task)]
        if any(formula.error for formula in formulas):
            return None
        return {column for formula in formulas for column in formula.columns}

    def expected(self, task: Task, tools: Tools) -> Expected:
        in_words = [each for each in parse_formulas(task) if each[1].error]
        if not in_words:
            return Expected()

        # Loads the prompts, which a plain formula never needs.
        from tablewright.strategies import estimates

        return estimates.estimate_verbal_formulas(tools, in_words)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        """Return a `ComputedRows`: a formula may use the columns of the table and those computed before it."""
        formulas = parse_formulas(task)
        in_words: dict[str, VerbalFormula] = {}
        computer = CellComputer()
        if unread := [formula.error for _, formula, _ in formulas if formula.error]:
            if tools.model is None:
                raise BadFormula(
                    unread[0],
                    advice="Correct the formula (docs/formulas.md has the language), or set a model that understands "
                    "words: TABLEWRIGHT_MODEL.",
                )
            from tablewright.strategies.verbal_formula import (
                VerbalFormula,
            )  # 0.1 s that most computations never need

            in_words = {
                field.name: VerbalFormula(field, formula, known, tools, computer, task.examples.get(field.name, ()))
                for field, formula, known in formulas
                if formula.error
            }
        return ComputedRows(formulas, in_words, computer)


class ComputedRows:
    """The formulas of a run, answered row by row."""

    def __init__(
        self,
        formulas: Sequence[tuple[Field, Formula, Sequence[Field]]],
        in_words: Mapping[str, VerbalFormula],
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
                # Without a coroutine of its own: a formula fills rows faster than Python awaits.
                try:
                    finding = compute_cell(field, formula, row, allowance=IN_PLACE_CHARACTERS)
                except TooMuchWork:
                    finding = await self._computer.compute_in_worker(field, formula, known, row)
            elif not open_field:
                continue
            else:
                finding = await self._in_words[field.name].answer(row, tell)
            # Only a later formula of the same row can use the value; copying the row for one formula would be wasted.
            if self._chained and open_field:
                row = add_finding_to_row(row, finding)
            findings.append(finding)
        return findings

    async def close(self) -> None:
        await self._computer.close()


def parse_formulas(task: Task) -> list[tuple[Field, Formula, Sequence[Field]]]:
    """Return each field with its formula and the columns that it may use."""
    known: Sequence[Field] = task.table.fields
    formulas = []
    for field in task.fields:
        formulas.append((field, parse_column_formula(field, known), known))
        # A column that is computed before hides the one of the table: its new definition counts.
        known = [*(other for other in known if other.name != field.name), field]
    return formulas


def parse_column_formula(field: Field, known: Sequence[Field]) -> Formula:
    if not field.question.strip():
        raise BadFormula(
            f"{field.name} has no formula.",
            advice=f'Write --field "{field.name}:{field.type}=FORMULA", such as {{Price}} * {{Quantity}}.',
        )
    formula = Formula(field.question, known)
    if field.name in formula.columns:
        raise BadFormula(f"{field.name} cannot be computed from itself.")
    return formula


def add_finding_to_row(row: Row, finding: Finding) -> Row:
    cell = Cell(value=finding.value, status="ENRICHED", confidence=finding.confidence)
    return Row(id=row.id, key=row.key, cells={**row.cells, finding.field: cell})
