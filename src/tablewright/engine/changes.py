"""Changes that people make: accept, refuse or edit proposed values, flag a cell, edit the table, undo.

Every change goes through the edit log, so that it can be undone; nothing here searches or asks a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from tablewright.domain.edits import AddRow, ChangeField, Draft, Edit, FlagCell, SetCell
from tablewright.domain.history import Change, Rollback, WrittenValue
from tablewright.domain.model import PENDING, Cell, Conflict, Field, Row, RowId, Table
from tablewright.domain.proposal import EVERY_CELL, ApplyOutcome, CellAt, Review, Selection
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text, count_noun, format_value, shorten_text
from tablewright.errors import NotFound, UsageError
from tablewright.store.proposals import ApplyKind
from tablewright.store.records import clean_for_storage, utc_now
from tablewright.store.store import Store
from tablewright.values.coerce import VALUE_LIMITS, CoercedValue, coerce_value

# A line of the history shows the beginning of a value; the change has all of it.
MAX_HISTORY_CHARACTERS = 60


class TableChanges:
    """Changes to tables in the name of `actor`, which the history shows."""

    def __init__(self, store: Store, actor: str) -> None:
        self._store = store
        self._actor = actor

    async def apply(self, proposal_id: str, selection: Selection = EVERY_CELL, *, force: bool = False) -> ApplyOutcome:
        """Write the values that were found. A cell without one keeps its present value, also with `force`: only
        `decide` can empty a cell, by its name."""
        return await self._store.proposals.apply(proposal_id, selection, actor=self._actor, force=force)

    async def apply_unseen(self, proposal_id: str, *, empties: bool = False) -> ApplyOutcome:
        """Apply a whole proposal without a review: its values are no examples for later runs. `empties` is for tables
        that only mirror documents: a value that a changed document no longer states is removed."""
        return await self._store.proposals.apply(proposal_id, actor=self._actor, kind="auto_apply", empties=empties)

    async def decide(
        self, proposal_id: str, review: Review, *, force: bool = False, kind: ApplyKind = "apply"
    ) -> ApplyOutcome:
        return await self._store.proposals.decide(proposal_id, review, actor=self._actor, force=force, kind=kind)

    def own_value(self, text: str, field: Field, *, run_id: str | None = None, attempt: int = 0) -> Cell:
        """Return the cell for a value that a person typed, possibly instead of what run `run_id` proposed. It needs no
        evidence and claims none, but belongs to the run, so that undoing the run undoes it too."""
        typed = parse_typed_value(text, field)
        return Cell(
            value=typed.value,
            raw_value=typed.raw_value,
            status="ENRICHED",
            confidence=1.0,
            basis="given",
            attempt=attempt,
            run_id=run_id,
            updated_at=utc_now(),
            error=f"typed in by {self._actor}" + (f"; {typed.note}" if typed.note else ""),
        )

    async def edit(self, table_id: str, edits: Sequence[Edit], note: str = "") -> Change | None:
        """Add, change and remove rows and columns: all or none, as one change that can be undone."""
        return await self._store.log.commit(table_id, edits, actor=self._actor, note=note)

    async def write_values(
        self, table_id: str, values: Mapping[CellAt, str], new_rows: Sequence[Mapping[str, str]] = ()
    ) -> Change | None:
        """Write a person's own values in one change, into existing cells and new rows; an empty text clears a cell."""
        table = await self._store.tables.find(table_id)
        draft = Draft(table)

        def own(name: str, text: str) -> Cell:
            return self.own_value(text, draft.field(name)) if text.strip() else PENDING

        edits: list[Edit] = [
            SetCell(row_id=row_id, field=draft.field(name).name, cell=own(name, text))
            for (row_id, name), text in values.items()
        ]
        for row in new_rows:
            cells = {draft.field(name).name: own(name, text) for name, text in row.items() if text.strip()}
            key = row_key(cell_text(cells[table.key_field])) if table.key_field in cells else ""
            edits.append(AddRow(key=key, cells=cells))
        counts = ((len(values), "cell", "written"), (len(new_rows), "row", "added"))
        note = ", ".join(f"{count_noun(count, noun)} {done}" for count, noun, done in counts if count)
        return await self.edit(table.id, edits, note)

    async def reject(self, proposal_id: str, selection: Selection = EVERY_CELL) -> int:
        return await self._store.proposals.reject(proposal_id, selection)

    async def flag(self, table_id: str, row_id: RowId, field: str, note: str = "") -> Change:
        edit = FlagCell(row_id=row_id, field=field, note=note)
        change = await self._store.log.commit(
            table_id, [edit], actor=self._actor, note=f"flagged row {row_id}, {field}" + (f": {note}" if note else "")
        )
        assert change is not None
        return change

    async def set_value(self, table_id: str, row_id: RowId, name: str, text: str) -> WrittenValue:
        """Write a person's own value, converted to its field's type; an empty text clears the cell."""

        def prepare(table: Table) -> tuple[SetCell, str]:
            field = table.require_field(name)
            cell = self.own_value(text, field) if text.strip() else PENDING
            shown = shorten_text(format_value(cell.value), MAX_HISTORY_CHARACTERS) if text.strip() else "cleared"
            return SetCell(row_id=row_id, field=field.name, cell=cell), f"row {row_id}, {field.name}: {shown}"

        edit, change, row = await self._store.log.commit_cell(table_id, prepare, actor=self._actor)
        stale = tuple(field for field, cell in row.cells.items() if cell.stale)
        return WrittenValue(field=edit.field, cell=edit.cell, change=change, stale=stale)

    async def change_column(self, table_id: str, name: str, field: Field) -> Change | None:
        """Redefine a column. If its type changes, its values are converted and keep their evidence; if one cannot be,
        nothing is changed."""
        table = await self._store.tables.find(table_id)
        before = Draft(table).field(name)
        # The definition is changed first, so that the converted values are checked against it.
        edits: list[Edit] = [ChangeField(name=before.name, field=field)]
        # A new question or name leaves the values as they are; these three decide how a value is read.
        shape = (field.type, field.unit, field.options)
        if shape != (before.type, before.unit, before.options):
            # Read as a stream of this one column: the whole table may not fit into the memory.
            found: list[tuple[RowId, Cell]] = []

            def take(rows: Sequence[Row]) -> None:
                found.extend((row.id, row.cell(before.name)) for row in rows if row.cell(before.name).value is not None)

            await self._store.tables.stream(table.id, take, field=before.name)
            edits += [
                SetCell(row_id=row_id, field=field.name, cell=cell) for row_id, cell in convert_cells(found, field)
            ]
        return await self.edit(table.id, edits, f"changed column {before.name}")

    def other_value(self, cell: Cell, number: int) -> Cell:
        """Return the cell with the value of other sources: a person has decided between them."""
        if not 0 <= number < len(cell.conflict):
            raise UsageError("The sources no longer disagree about it.", kept="Nothing was changed.")
        other = cell.conflict[number]
        # The present value moves to the front of the conflicts: the decision can be taken back the same way.
        before = (Conflict(value=cell.value, evidence=cell.evidence),) if cell.value is not None else ()
        return msgspec.structs.replace(
            cell,
            value=other.value,
            raw_value=None,
            status="ENRICHED",
            reason=None,
            confidence=1.0,
            basis="given",
            converted_by="",
            evidence=other.evidence,
            conflict=(*before, *cell.conflict[:number], *cell.conflict[number + 1 :]),
            stale=False,
            updated_at=utc_now(),
            error=f"chosen by {self._actor} among what sources say",
        )

    async def use_other(self, table_id: str, row_id: RowId, name: str, number: int) -> WrittenValue:
        """Replace the cell's value by that of other sources, given by its position among the conflicts."""
        table = await self._store.tables.find(table_id)
        field = Draft(table).field(name)
        rows = (await self._store.tables.rows(table.id, [row_id])).rows
        if not rows:
            raise NotFound(f"Table {table.id} has no row {row_id}.")
        before = rows[0].cell(field.name)
        cell = self.other_value(before, number)
        value = shorten_text(format_value(cell.value), MAX_HISTORY_CHARACTERS)
        note = f"row {row_id}, {field.name}: {value}, as another source says"
        change = await self.edit(table.id, [SetCell(row_id=row_id, field=field.name, cell=cell, expected=before)], note)
        assert change is not None
        return WrittenValue(field=field.name, cell=cell, change=change)

    async def undo_run(self, table_id: str, run_id: str) -> Rollback:
        return await self._store.history.undo_run(table_id, run_id, actor=self._actor)

    async def undo_change(self, table_id: str, number: int) -> Rollback:
        return await self._store.history.undo_change(table_id, number, actor=self._actor)

    async def undo_last(self, table_id: str) -> Rollback:
        newest = (await self._store.log.changes(table_id, limit=1))[0]
        return await self.undo_change(table_id, newest.number)

    async def go_back(self, table_id: str, to: str) -> Rollback:
        """Restore the table as it was after a change or at a time, such as 7 or 2026-11-15T09:30 (local unless it has a
        zone)."""
        if to.isdecimal():
            return await self._store.history.go_back(table_id, change=int(to), actor=self._actor)
        return await self._store.history.go_back(table_id, at=parse_log_time(to), actor=self._actor)


def convert_cells(cells: Sequence[tuple[RowId, Cell]], field: Field) -> list[tuple[RowId, Cell]]:
    """Return the cells whose value changes when it is converted to the field's type."""
    changed, refused = [], []
    for row_id, cell in cells:
        text = cell_text(cell)
        try:
            value = parse_typed_value(text, field).value
        except UsageError:
            refused.append(text)
            continue
        if value != cell.value:
            raw = text if cell.raw_value is None else cell.raw_value
            changed.append((row_id, msgspec.structs.replace(cell, value=value, raw_value=raw)))
    if refused:
        # Three short examples show what is wrong; all of them would hide it.
        examples = ", ".join(repr(shorten_text(text, 40)) for text in refused[:3])
        raise UsageError(
            f"{len(refused):,} of {count_noun(len(cells), 'value')} of {field.name} cannot be read as "
            f"{field.type}: {examples}.",
            kept="Nothing was changed.",
            advice="Correct or clear them first, or choose another type.",
        )
    return changed


# The note of a conversion that took the first of several values.
_CHOSEN = re.compile(r"\bis a range;|\bseveral (?:numbers|quantities|amounts|values|dates|dimensions|years)\b")


def parse_typed_value(text: str, field: Field) -> CoercedValue:
    """Return the text as a value of the field's type. A guess is refused, since the person can be asked again. In a
    text column everything is taken literally, also "none" or "Answer: 42"."""
    typed_text = clean_for_storage(text)
    if (length := len(typed_text)) > VALUE_LIMITS.typed:
        raise UsageError(
            f"A value that is typed in has at most {VALUE_LIMITS.typed:,} characters; this one has {length:,}.",
            kept="Nothing was changed.",
            advice="Shorten it, or bring it with a file: imported texts may be longer.",
        )
    if field.type == "text":
        return CoercedValue(value=typed_text.strip(), raw_value=typed_text, label="high")
    typed = coerce_value(typed_text, field)
    if typed.value is None:
        raise UsageError(
            f"{typed.raw_value!r} is not of type {field.type}: {typed.note}.", advice=describe_expected_value(field)
        )
    if field.type == "select" and field.options and typed.value not in field.options:
        raise UsageError(f"{typed.raw_value!r} is none of the options.", advice=describe_expected_value(field))
    # A person who typed a range would not notice that only its first number was kept.
    if typed.label == "low" or _CHOSEN.search(typed.reason):
        raise UsageError(
            f"{typed.raw_value!r} may be {format_value(typed.value)!r}, but: {typed.note}.",
            advice=describe_expected_value(field),
        )
    return typed


def describe_expected_value(field: Field) -> str:
    if field.type == "select" and field.options:
        return f"Write one of: {', '.join(field.options)}."
    return f"The unit is {field.unit}." if field.unit else ""


def parse_log_time(time: str) -> str:
    """Return the time in the format of the log, in which texts sort like times."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        raise UsageError(
            f"{time!r} is neither a change's number nor a time.", advice="Write times like 2026-11-15T09:30."
        ) from None
    # Always six digits of the second: with fewer, "…05Z" would sort after "…05.5Z".
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
