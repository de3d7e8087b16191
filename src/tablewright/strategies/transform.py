"""Write from the row: a cell from other cells of its row by a model, which translates, classifies, summarises,
rewrites or splits. No web; the evidence is the cells that were used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import structs

from tablewright.citations.quotes import MAX_QUOTE_CHARACTERS, looks_like_prompt_injection
from tablewright.domain.fieldspec import find_template_columns
from tablewright.domain.model import Evidence, Field, Finding, Reason, Row, Step
from tablewright.domain.text import cell_text, format_value
from tablewright.errors import BadField, UsageError
from tablewright.llm.tasks.write_cells import BASIS_CONFIDENCE, CellsToWrite, WriteCells, WrittenCell
from tablewright.llm.text_budget import TEXT_LIMITS, cell_room, cut_text
from tablewright.messages.catalogue import PageText
from tablewright.strategies.compute import describe_empty_inputs, make_failed_finding
from tablewright.strategies.effort import Expected
from tablewright.strategies.request_batcher import RequestBatcher, rows_per_call
from tablewright.strategies.strategy import ROWS_PER_CALL, Answer, Feedback, Need, Strategy, Task, Tell, Tools


class TransformStrategy(Strategy):
    name = "transform"
    display_name: PageText[str] = "Write from the row"
    summary: PageText[str] = (
        "Translates, classifies, summarises or rewrites other columns. Uses the model, but no search."
    )
    concurrency = 4
    shares_calls = True
    needs_identity = False
    repeats = False
    parameters = (ROWS_PER_CALL,)

    def needs(self, task: Task) -> tuple[Need, ...]:
        return ("model",)

    def columns(self, task: Task) -> Collection[str] | None:
        """Return the columns that the questions name; None, for all of them, if a question names none."""
        inputs = [find_template_columns(field.question, task.table.fields) for field in task.fields]
        return {column for each in inputs for column in each} if all(inputs) else None

    def expected(self, task: Task, tools: Tools) -> Expected:
        from tablewright.strategies import estimates

        return estimates.estimate_transform(task, tools)

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
            tools,
            examples=task.examples,
            rows=rows_per_call(task),
        )


class CellWriter:
    """Writes cells of these fields from the other columns of their row."""

    has_stronger = False

    def __init__(
        self,
        fields: Sequence[Field],
        columns: Sequence[Field],
        tools: Tools,
        *,
        examples: Mapping[str, Sequence[str]] | None = None,
        rows: int = TEXT_LIMITS.rows_per_call,
    ) -> None:
        """At most `rows` rows with short texts share one call."""
        self._fields = tuple(fields)
        asked = {field.name for field in fields}
        whole = tuple(column.name for column in columns if column.name not in asked)
        self._named = {field.name: find_template_columns(field.question, columns) for field in fields}
        self._inputs = {name: named or whole for name, named in self._named.items()}
        for name, named in self._named.items():
            if name in named:
                raise BadField(f"{name} cannot be written from itself.")
        assert tools.model is not None
        self._model = tools.model
        self._batcher = RequestBatcher(tools.model, rows=rows, calls=tools.calls)
        self._strict = tools.strict
        self._examples = {name: tuple(some) for name, some in (examples or {}).items()}

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.answer(row, tell)

    def begin(self, row: Row, tell: Tell) -> TransformRow:
        return TransformRow(self, row, tell)

    async def answer(self, row: Row, tell: Tell, notes: Mapping[str, str] | None = None) -> Sequence[Finding]:
        """Write all open fields of the row in one call; fields whose inputs are all empty need none."""
        findings, wanted = [], []
        for field in self._fields:
            if not row.cell(field.name).needs_work:
                continue
            if any(row.cell(column).value is not None for column in self._inputs[field.name]):
                wanted.append(field)
            else:
                empty = describe_empty_inputs(self._named[field.name], row) or "the row is empty"
                findings.append(make_failed_finding(field, "not_applicable", empty))
        if wanted:
            findings += await self._write(row, tuple(wanted), tell, notes or {})
        return findings

    async def _write(self, row: Row, fields: tuple[Field, ...], tell: Tell, notes: Mapping[str, str]) -> list[Finding]:
        asked = structs.replace(self.asked(row, fields), notes=notes)

        def tell_of_fields(step: Step, *names: str) -> None:
            tell(step, *(names or (field.name for field in fields)))

        slot = self._batcher.slot()
        with slot.on_the_way():
            outcome = await slot.decide(WriteCells(), asked, tell_of_fields)
        if outcome.degraded:
            reason: Reason = "over_budget" if outcome.over_budget else "error"
            return [make_failed_finding(field, reason, outcome.degraded) for field in fields]
        return [self._finding(row, field, outcome.decided[field.name]) for field in fields]

    def asked(self, row: Row, fields: tuple[Field, ...]) -> CellsToWrite:
        columns = dict.fromkeys(column for field in fields for column in self._inputs[field.name])
        texts = {column: cell_text(row.cell(column)).strip() for column in columns}
        texts = {column: text for column, text in texts.items() if text}
        # All cells together fit into the prompt; one long cell must not push out the others.
        room = cell_room(self._model.window, len(texts))
        return CellsToWrite(
            fields=fields,
            inputs={field.name: self._inputs[field.name] for field in fields},
            row={column: cut_text(text, room - 1, "…") for column, text in texts.items()},
            examples=self._examples,
        )

    def _finding(self, row: Row, field: Field, cell: WrittenCell) -> Finding:
        if cell.problem:
            return make_failed_finding(field, "error", cell.problem)
        if cell.value is None:
            # The model was not shown these cells, so it cannot say why it found nothing.
            hidden = [
                name for name in self._inputs[field.name] if looks_like_prompt_injection(cell_text(row.cell(name)))
            ]
            if hidden:
                why = f"{hidden[0]} gives orders to machines, which no model is shown"
                return make_failed_finding(field, "not_found", why)
            return make_failed_finding(field, "not_found", "the row does not give it")
        if self._strict and cell.basis == "judged":
            return make_failed_finding(
                field, "not_found", "it was concluded from the row, which strict evidence does not allow"
            )
        # A written cell is as sure as the least sure cell it was written from.
        sure = min(row.cell(column).confidence or 0.0 for column in cell.columns)
        return Finding(
            field=field.name,
            value=cell.value,
            raw_value=format_value(cell.value),
            error=f"Left out: {cell.left_out}." if cell.left_out else None,
            confidence=round(sure * BASIS_CONFIDENCE[cell.basis], 4),
            basis=cell.basis,
            converted_by=cell.converted_by,
            evidence=tuple(
                Evidence(
                    origin="row", title=column, quote=f"{column}: {cell_text(row.cell(column))}"[:MAX_QUOTE_CHARACTERS]
                )
                for column in cell.columns
            ),
            steps=(Step(type="thinking", detail=f"Written from {', '.join(cell.columns)}; {cell.basis}."),),
            exact=True,
        )


class TransformRow:
    """One row in progress; it is written once, with the notes that people left on its cells."""

    remembers = False
    is_exhausted = False

    def __init__(self, writer: CellWriter, row: Row, tell: Tell) -> None:
        self._writer = writer
        self._row = row
        self._tell = tell

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        return await self._writer.answer(self._row, self._tell, feedback.notes)
