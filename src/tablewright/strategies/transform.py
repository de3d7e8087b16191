"""Write from the row: a cell from other cells of its row by a model, which translates, classifies, summarises,
rewrites or splits. No web; the evidence is the cells that were used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.citations.quotes import LONGEST_QUOTE, looks_like_prompt_injection
from tablewright.decisions.write_cells import SURE, Write, WriteCells, WrittenCell
from tablewright.domain.fieldspec import columns_in
from tablewright.domain.model import Evidence, Field, Finding, Reason, Row, Step
from tablewright.domain.text import cell_text, show
from tablewright.errors import BadField, UsageError
from tablewright.messages.catalogue import PageText
from tablewright.models.text_budget import ROWS_A_CALL, cell_room, cut_text
from tablewright.strategies import estimates
from tablewright.strategies.compute import empty_inputs, failed
from tablewright.strategies.request_batcher import SHARED_CALLS, RequestBatcher, rows_a_call
from tablewright.strategies.strategy import Answer, Expected, Feedback, Need, Strategy, Task, Tell, Tools

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

NOT_GIVEN = "the row does not give it"
NO_NOTES: Mapping[str, str] = {}


class TransformStrategy(Strategy):
    name = "transform"
    display_name: PageText[str] = "Write from the row"
    summary: PageText[str] = (
        "Translates, classifies, summarises or rewrites other columns. Uses the model, but no search."
    )
    concurrency = 4 * ROWS_A_CALL  # so that four calls are under way where rows share them
    needs_identity = False
    repeats = False
    parameters = (SHARED_CALLS,)

    def needs(self, task: Task) -> tuple[Need, ...]:
        return ("model",)

    def columns(self, task: Task) -> Collection[str] | None:
        """Return the columns that the questions name; None, for all of them, if a question names none."""
        inputs = [columns_in(field.question, task.table.fields) for field in task.fields]
        return {column for each in inputs for column in each} if all(inputs) else None

    def expected(self, task: Task, tools: Tools) -> Expected:
        return estimates.transform(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        if tools.model is None:
            raise UsageError(
                "Writing from the row takes a language model, and none is set.",
                advice="Set TABLEWRIGHT_MODEL, or say --model; `tablewright models list` shows some for this machine.",
            )
        for field in task.fields:
            if not field.question.strip() and not field.description.strip():
                raise BadField(
                    f"{field.name} does not say what to write.",
                    advice=f'Write --field "{field.name}:{field.type}=Translate {{Title}} to German".',
                )
        return CellWriter(
            task.fields,
            task.table.fields,
            tools.model,
            strict=tools.strict,
            examples=task.examples,
            rows=rows_a_call(task),
        )


class CellWriter:
    """Writes these fields of rows that have these columns."""

    has_stronger = False

    def __init__(
        self,
        fields: Sequence[Field],
        columns: Sequence[Field],
        model: LanguageModel,
        *,
        strict: bool = False,
        examples: Mapping[str, Sequence[str]] | None = None,
        rows: int = ROWS_A_CALL,
    ) -> None:
        """So many `rows` with short texts share one call, at most."""
        self._fields = tuple(fields)
        asked = {field.name for field in fields}
        whole = tuple(column.name for column in columns if column.name not in asked)
        self._named = {field.name: columns_in(field.question, columns) for field in fields}
        self._inputs = {name: named or whole for name, named in self._named.items()}
        for name, named in self._named.items():
            if name in named:
                raise BadField(f"{name} cannot be written from itself.")
        self._model = model
        self._batcher = RequestBatcher(model, rows=rows)
        self._strict = strict
        self._examples = {name: tuple(some) for name, some in (examples or {}).items()}

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.answer(row, tell)

    def begin(self, row: Row, tell: Tell) -> TransformRow:
        return TransformRow(self, row, tell)

    async def answer(self, row: Row, tell: Tell, notes: Mapping[str, str] = NO_NOTES) -> Sequence[Finding]:
        """All open fields of the row in one call; without a call for those whose inputs are all empty."""
        findings, wanted = [], []
        for field in self._fields:
            if not row.cell(field.name).needs_work:
                continue
            if any(row.cell(column).value is not None for column in self._inputs[field.name]):
                wanted.append(field)
            else:
                empty = empty_inputs(self._named[field.name], row) or "the row is empty"
                findings.append(failed(field, "not_applicable", empty))
        if wanted:
            findings += await self._write(row, tuple(wanted), tell, notes)
        return findings

    async def _write(self, row: Row, fields: tuple[Field, ...], tell: Tell, notes: Mapping[str, str]) -> list[Finding]:
        asked = structs.replace(self.asked(row, fields), notes=notes)

        def told(step: Step, *names: str) -> None:
            tell(step, *(names or (field.name for field in fields)))

        slot = self._batcher.slot()
        with slot.on_the_way():
            outcome = await slot.decide(Write(), asked, told)
        if outcome.degraded:
            reason: Reason = "over_budget" if outcome.over_budget else "error"
            return [failed(field, reason, outcome.degraded) for field in fields]
        return [self._finding(row, field, outcome.decided[field.name]) for field in fields]

    def asked(self, row: Row, fields: tuple[Field, ...]) -> WriteCells:
        columns = dict.fromkeys(column for field in fields for column in self._inputs[field.name])
        texts = {column: cell_text(row.cell(column)).strip() for column in columns}
        texts = {column: text for column, text in texts.items() if text}
        room = cell_room(self._model.window, len(texts))
        return WriteCells(
            fields=fields,
            inputs={field.name: self._inputs[field.name] for field in fields},
            row={column: cut_text(text, room - 1, "…") for column, text in texts.items()},
            examples=self._examples,
        )

    def _finding(self, row: Row, field: Field, cell: WrittenCell) -> Finding:
        if cell.problem:
            return failed(field, "error", cell.problem)
        if cell.value is None:
            hidden = [
                name for name in self._inputs[field.name] if looks_like_prompt_injection(cell_text(row.cell(name)))
            ]
            why = f"{hidden[0]} gives orders to machines, which no model is shown" if hidden else NOT_GIVEN
            return failed(field, "not_found", why)
        if self._strict and cell.basis == "judged":
            return failed(field, "not_found", "it was concluded from the row, which strict evidence does not allow")
        sure = min(row.cell(column).confidence or 0.0 for column in cell.columns)
        return Finding(
            field=field.name,
            value=cell.value,
            raw_value=show(cell.value),
            confidence=round(sure * SURE[cell.basis], 4),
            basis=cell.basis,
            converted_by=cell.converted_by,
            evidence=tuple(
                Evidence(origin="row", title=column, quote=f"{column}: {cell_text(row.cell(column))}"[:LONGEST_QUOTE])
                for column in cell.columns
            ),
            steps=(Step(type="thinking", detail=f"Written from {', '.join(cell.columns)}; {cell.basis}."),),
            exact=True,
        )


class TransformRow:
    """One row under work; it is written once, by the notes that people left on its cells."""

    remembers = False

    def __init__(self, writer: CellWriter, row: Row, tell: Tell) -> None:
        self._writer = writer
        self._row = row
        self._tell = tell

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        return await self._writer.answer(self._row, self._tell, feedback.notes)
