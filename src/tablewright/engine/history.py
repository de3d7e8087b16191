"""What a run is told of the past: what earlier runs tried in its rows, and what people said of their cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tablewright.domain.edits import flag_note
from tablewright.domain.model import Attempt, Cell, Field, Noun, Row, RowId
from tablewright.domain.text import shortened, show
from tablewright.store.learning import Remark
from tablewright.store.store import Store
from tablewright.strategies.strategy import FIRST, Feedback

SAID = 3
"""Remarks on a cell that are told, the newest."""
QUOTED = 160
"""Characters of a value or a note in a remark."""


class RunHistory:
    """Of the rows of one run, window by window."""

    def __init__(self, store: Store, table_id: str, fields: Sequence[Field], *, again: bool) -> None:
        """`again`: the user asked for another look, so what was searched and read before is avoided."""
        self._store = store
        self._table_id = table_id
        self._names = tuple(field.name for field in fields)
        self._again = again
        self._of_row: dict[RowId, RowHistory] = {}

    async def load(self, rows: Sequence[Row], run_id: str) -> None:
        """For these rows, as they stand in the table, from what there was before the run began."""
        row_ids = [row.id for row in rows]
        tried = [row.id for row in rows if self._again or self._is_tried(row)]
        attempts, corrections = self._store.attempts, self._store.corrections
        earlier = await attempts.of_rows(self._table_id, tried, columns=self._names, before=run_id) if tried else {}
        remarks = await corrections.remarks(self._table_id, row_ids, self._names)
        # A proposal is also refused as a whole, whatever its single values are worth. Who asks again means the value.
        refused = await corrections.refused(self._table_id, row_ids, self._names) if self._again else {}
        self._of_row = {
            row.id: RowHistory(
                attempts=tuple(earlier.get(row.id, ())),
                remarks={
                    name: [
                        *refused.get((row.id, name), ()),
                        *self._remarks(row.cell(name), remarks.get((row.id, name))),
                    ]
                    for name in self._names
                },
                flagged=frozenset(name for name in self._names if row.cell(name).status == "FLAGGED"),
            )
            for row in rows
        }

    def first(self, row: Row) -> Feedback:
        """What the first attempt at the row is told, of the cells that are open in it."""
        known = self._of_row.pop(row.id, None)
        if known is None:
            return FIRST
        is_open = {name for name in self._names if row.cell(name).needs_work}
        earlier = tuple(attempt for attempt in known.attempts if is_open.intersection(attempt.columns))
        said = {name: remarks[-SAID:] for name, remarks in known.remarks.items() if remarks and name in is_open}
        rejected = {name for name, remarks in said.items() if is_rejected(remarks, flagged=name in known.flagged)}
        asked_again = self._again or bool(rejected)
        return Feedback(
            earlier=earlier,
            avoided=tuple(each for each in earlier if asked_again and is_in_vain(each, is_open, rejected)),
            notes={name: ". ".join(map(in_words, remarks)) for name, remarks in said.items()},
        )

    def _is_tried(self, row: Row) -> bool:
        return any(cell.attempt > 0 or cell.status == "FLAGGED" for cell in map(row.cell, self._names))

    def _remarks(self, cell: Cell, known: Sequence[Remark] | None) -> list[Remark]:
        said = list(known or ())
        if cell.status == "FLAGGED" and not (said and said[-1].action == "flagged"):  # it came with its table
            said.append(Remark(action="flagged", value=cell.value, note=flag_note(cell)))
        return said


class RowHistory(Noun, frozen=True, gc=True):
    attempts: tuple[Attempt, ...]
    remarks: Mapping[str, Sequence[Remark]]
    flagged: frozenset[str]


def is_rejected(remarks: Sequence[Remark], *, flagged: bool) -> bool:
    """Whether a person does not want what was found. A page that no longer says what it said, which a recheck flags, is
    the first to ask what it says now."""
    return (flagged and remarks[-1].by_person) or any(remark.action == "refused" for remark in remarks)


def is_in_vain(attempt: Attempt, is_open: Collection[str], rejected: Collection[str]) -> bool:
    """Whether nothing that is wanted now came of it. What it found well, and nobody has decided on, is found again."""
    weak = {column.name for column in attempt.assessment.weak}
    return all(name in weak or name in rejected for name in attempt.columns if name in is_open)


def in_words(remark: Remark) -> str:
    value = f"'{shortened(show(remark.value), QUOTED)}'" if remark.value is not None else "the empty cell"
    if remark.action == "replaced":
        return f"A person replaced {value} by '{shortened(show(remark.replacement), QUOTED)}'"
    if remark.action in ("removed", "refused"):
        return f"A person {remark.action} {value}"
    flagged = f"A person flagged {value}" if remark.by_person else f"A check of its source flagged {value}"
    return f"{flagged}: {shortened(remark.note, QUOTED)}" if remark.note else flagged
