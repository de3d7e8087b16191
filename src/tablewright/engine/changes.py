"""The changes people make themselves: accept, refuse or edit what a proposal says, flag a cell, undo."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from tablewright.domain.edits import AddRow, ChangeField, Draft, Edit, FlagCell, SetCell
from tablewright.domain.history import Change, Rollback, WrittenValue
from tablewright.domain.model import PENDING, Cell, Conflict, Field, Row, RowId
from tablewright.domain.proposal import EVERYTHING, Applied, CellAt, Review, Selection
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text, count_noun, shortened, show
from tablewright.errors import NotFound, UsageError
from tablewright.store.proposals import ApplyKind
from tablewright.store.records import now, printable
from tablewright.store.store import Store
from tablewright.values.coerce import LONGEST_TYPED, Coerced, coerce

NOTED = 60
"""Characters of a value in the history."""


class Changes:
    """`actor` is who is doing it, for the history."""

    def __init__(self, store: Store, actor: str) -> None:
        self._store = store
        self._actor = actor

    async def apply(self, proposal_id: str, selection: Selection = EVERYTHING, *, force: bool = False) -> Applied:
        """Write what was found. Where nothing was, a value that is there stays, also with `force`: only `decide` can
        empty a cell, by its name."""
        return await self._store.proposals.apply(proposal_id, selection, actor=self._actor, force=force)

    async def apply_unseen(self, proposal_id: str, *, empties: bool = False) -> Applied:
        """All of it, without anybody having looked: its values are no examples for later runs. `empties` is for tables
        that only mirror what was read: a value that a changed document no longer states goes."""
        return await self._store.proposals.apply(proposal_id, actor=self._actor, kind="auto_apply", empties=empties)

    async def decide(
        self, proposal_id: str, review: Review, *, force: bool = False, kind: ApplyKind = "apply"
    ) -> Applied:
        return await self._store.proposals.decide(proposal_id, review, actor=self._actor, force=force, kind=kind)

    def own_value(self, text: str, field: Field, *, run_id: str | None = None, attempt: int = 0) -> Cell:
        """What a person types, perhaps in place of what run `run_id` proposed: theirs, so it needs no evidence and
        claims none. It belongs to the run nevertheless, so that undoing the run undoes it too."""
        typed = typed_value(text, field)
        return Cell(
            value=typed.value,
            raw_value=typed.raw_value,
            status="ENRICHED",
            confidence=1.0,
            basis="given",
            attempt=attempt,
            run_id=run_id,
            updated_at=now(),
            error=f"typed in by {self._actor}" + (f"; {typed.note}" if typed.note else ""),
        )

    async def edit(self, table_id: str, edits: Sequence[Edit], note: str = "") -> Change | None:
        """Rows and columns added, changed and removed: all or none, as one change that can be undone."""
        return await self._store.log.commit(table_id, edits, actor=self._actor, note=note)

    async def write_values(
        self, table_id: str, values: Mapping[CellAt, str], new_rows: Sequence[Mapping[str, str]] = ()
    ) -> Change | None:
        """A person's own values, as one change: into cells that are there, and into new rows; an empty text clears."""
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

    async def reject(self, proposal_id: str, selection: Selection = EVERYTHING) -> int:
        return await self._store.proposals.reject(proposal_id, selection)

    async def flag(self, table_id: str, row_id: RowId, field: str, note: str = "") -> Change:
        edit = FlagCell(row_id=row_id, field=field, note=note)
        change = await self._store.log.commit(
            table_id, [edit], actor=self._actor, note=f"flagged row {row_id}, {field}" + (f": {note}" if note else "")
        )
        assert change is not None
        return change

    async def set_value(self, table_id: str, row_id: RowId, name: str, text: str) -> WrittenValue:
        """A person's own value, typed as its field says; an empty text clears the cell."""
        table = await self._store.tables.find(table_id)
        field = Draft(table).field(name)
        cell = self.own_value(text, field) if text.strip() else PENDING
        note = f"row {row_id}, {field.name}: " + (shortened(show(cell.value), NOTED) if text.strip() else "cleared")
        change = await self._store.log.commit(
            table.id, [SetCell(row_id=row_id, field=field.name, cell=cell)], actor=self._actor, note=note
        )
        assert change is not None
        rows = (await self._store.tables.rows(table.id, [row_id])).rows
        stale = tuple(each.name for each in table.fields for row in rows if row.cell(each.name).stale)
        return WrittenValue(field=field.name, cell=cell, change=change, stale=stale)

    async def change_column(self, table_id: str, name: str, field: Field) -> Change | None:
        """A new definition of a column. Of another type, its values are read as that type, with their evidence; where
        one cannot be, nothing is changed."""
        table = await self._store.tables.find(table_id)
        before = Draft(table).field(name)
        edits: list[Edit] = [ChangeField(name=before.name, field=field)]
        shape = (field.type, field.unit, field.options)
        if shape != (before.type, before.unit, before.options):
            found: list[tuple[RowId, Cell]] = []

            def take(rows: Sequence[Row]) -> None:
                found.extend((row.id, row.cell(before.name)) for row in rows if row.cell(before.name).value is not None)

            await self._store.tables.stream(table.id, take, field=before.name)
            edits += [SetCell(row_id=row_id, field=field.name, cell=cell) for row_id, cell in retyped(found, field)]
        return await self.edit(table.id, edits, f"changed column {before.name}")

    def other_value(self, cell: Cell, number: int) -> Cell:
        """The cell with what other sources say in place of its value: a person has decided between them."""
        if not 0 <= number < len(cell.conflict):
            raise UsageError("The sources no longer disagree about it.", kept="Nothing was changed.")
        other = cell.conflict[number]
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
            updated_at=now(),
            error=f"chosen by {self._actor} among what sources say",
        )

    async def use_other(self, table_id: str, row_id: RowId, name: str, number: int) -> WrittenValue:
        """What other sources say, by its place among the conflicts, in place of the cell's value."""
        table = await self._store.tables.find(table_id)
        field = Draft(table).field(name)
        rows = (await self._store.tables.rows(table.id, [row_id])).rows
        if not rows:
            raise NotFound(f"Table {table.id} has no row {row_id}.")
        before = rows[0].cell(field.name)
        cell = self.other_value(before, number)
        note = f"row {row_id}, {field.name}: {shortened(show(cell.value), NOTED)}, as another source says"
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
        """`to` is a change's number or a time, such as 7 or 2026-11-15T09:30 (local unless it says otherwise)."""
        if to.isdecimal():
            return await self._store.history.go_back(table_id, change=int(to), actor=self._actor)
        return await self._store.history.go_back(table_id, at=utc(to), actor=self._actor)


def retyped(cells: Sequence[tuple[RowId, Cell]], field: Field) -> list[tuple[RowId, Cell]]:
    """Those that change when they are read as the field's type."""
    changed, refused = [], []
    for row_id, cell in cells:
        text = cell_text(cell)
        try:
            value = typed_value(text, field).value
        except UsageError:
            refused.append(text)
            continue
        if value != cell.value:
            raw = text if cell.raw_value is None else cell.raw_value
            changed.append((row_id, msgspec.structs.replace(cell, value=value, raw_value=raw)))
    if refused:
        examples = ", ".join(repr(shortened(text, 40)) for text in refused[:3])
        raise UsageError(
            f"{len(refused):,} of {count_noun(len(cells), 'value')} of {field.name} cannot be read as "
            f"{field.type}: {examples}.",
            kept="Nothing was changed.",
            advice="Correct or clear them first, or choose another type.",
        )
    return changed


_CHOSEN = re.compile(r"\bis a range;|\bseveral (?:numbers|quantities|amounts|values|dates|dimensions|years)\b")
"""What is noted where a text states more than one value and the first was taken."""


def typed_value(text: str, field: Field) -> Coerced:
    """The value of the field's type that the text is; a guess is refused, for a person can be asked again. A text is
    what it is: who writes "none" or "Answer: 42" means that."""
    said = printable(text)
    if len(said) > LONGEST_TYPED:
        raise UsageError(
            f"A value that is typed in has at most {LONGEST_TYPED:,} characters; this one has {len(said):,}.",
            kept="Nothing was changed.",
            advice="Shorten it, or bring it with a file: imported texts may be longer.",
        )
    if field.type == "text":
        return Coerced(value=said.strip(), raw_value=said, label="high")
    typed = coerce(said, field)
    if typed.value is None:
        raise UsageError(f"{typed.raw_value!r} is not of type {field.type}: {typed.note}.", advice=wanted(field))
    if field.type == "select" and field.options and typed.value not in field.options:
        raise UsageError(f"{typed.raw_value!r} is none of the options.", advice=wanted(field))
    if typed.label == "low" or _CHOSEN.search(typed.reason):
        raise UsageError(f"{typed.raw_value!r} may be {show(typed.value)!r}, but: {typed.note}.", advice=wanted(field))
    return typed


def wanted(field: Field) -> str:
    if field.type == "select" and field.options:
        return f"Write one of: {', '.join(field.options)}."
    return f"The unit is {field.unit}." if field.unit else ""


def utc(time: str) -> str:
    """The time in the form the log is written in, so that texts compare like times."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        raise UsageError(
            f"{time!r} is neither a change's number nor a time.", advice="Write times like 2026-11-15T09:30."
        ) from None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
