"""What a run is told of the past: what earlier runs tried in its rows, and what people said of their cells."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.store.corrections import Remark
from tablewright.store.store import Store
from tablewright.strategies.feedback import FIRST, Feedback
from tablewright.table.attempts import Attempt
from tablewright.table.edits import flag_note
from tablewright.table.model import Field, Row, RowId
from tablewright.table.text import shortened, show

SAID = 3
"""Remarks on a cell that are told, the newest."""
QUOTED = 160
"""Characters of a value or a note in a remark."""


class History:
    """Of the rows of one run, window by window."""

    def __init__(self, store: Store, table_id: str, fields: Sequence[Field], *, again: bool) -> None:
        """`again`: the user asked for another look, so what was searched and read before is avoided."""
        self._store = store
        self._table_id = table_id
        self._names = tuple(field.name for field in fields)
        self._again = again
        self._of_row: dict[RowId, Feedback] = {}

    async def load(self, rows: Sequence[Row], run_id: str) -> None:
        """For these rows, as they stand in the table, from what there was before the run began."""
        tried = [row.id for row in rows if self._again or self._is_tried(row)]
        attempts = self._store.attempts
        earlier = await attempts.of_rows(self._table_id, tried, columns=self._names, before=run_id) if tried else {}
        remarks = await self._store.corrections.remarks(self._table_id, [row.id for row in rows], self._names)
        self._of_row = {}
        for row in rows:
            on_cells = {name: remarks.get((row.id, name), []) for name in self._names}
            feedback = self._feedback(row, on_cells, tuple(earlier.get(row.id, ())))
            if feedback != FIRST:
                self._of_row[row.id] = feedback

    def first(self, row: Row) -> Feedback:
        """What the first attempt at the row is told, of the cells that are open in it."""
        known = self._of_row.pop(row.id, FIRST)
        if known is FIRST:
            return FIRST
        is_open = {name for name in self._names if row.cell(name).needs_work}
        return Feedback(
            earlier=tuple(attempt for attempt in known.earlier if is_open.intersection(attempt.columns)),
            avoids_earlier=known.avoids_earlier,
            notes={name: note for name, note in known.notes.items() if name in is_open},
        )

    def _is_tried(self, row: Row) -> bool:
        return any(cell.attempt > 0 or cell.status == "FLAGGED" for cell in map(row.cell, self._names))

    def _feedback(self, row: Row, on_cells: dict[str, list[Remark]], earlier: tuple[Attempt, ...]) -> Feedback:
        avoids, notes = self._again, {}
        for name, remarks in on_cells.items():
            cell = row.cell(name)
            if cell.status == "FLAGGED":
                if not remarks or remarks[-1].action != "flagged":  # it came with its table
                    remarks = [*remarks, Remark(action="flagged", value=cell.value, note=flag_note(cell))]
                # A page that no longer says what it said is the first to ask what it says now.
                avoids |= remarks[-1].by_person
            if remarks:
                notes[name] = ". ".join(map(in_words, remarks[-SAID:]))
        return Feedback(earlier=earlier, avoids_earlier=avoids and bool(earlier), notes=notes)


def in_words(remark: Remark) -> str:
    value = f"'{shortened(show(remark.value), QUOTED)}'" if remark.value is not None else "the empty cell"
    if remark.action == "replaced":
        return f"A person replaced {value} by '{shortened(show(remark.replacement), QUOTED)}'"
    if remark.action == "removed":
        return f"A person removed {value}"
    flagged = f"A person flagged {value}" if remark.by_person else f"A check of its source flagged {value}"
    return f"{flagged}: {shortened(remark.note, QUOTED)}" if remark.note else flagged
