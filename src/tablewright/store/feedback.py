"""Feedback from earlier runs for later ones: their attempts at a row, and what people did by hand: values they typed or
accepted, and cells they flagged, replaced or removed. The latter is read from the edit log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select

from tablewright.domain.edits import read_flag_note
from tablewright.domain.model import Attempt, Cell, RowId, Struct, Value, make_given_cell
from tablewright.domain.proposal import CellAt
from tablewright.domain.text import format_value, shorten_text
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import charge_run
from tablewright.store.records import (
    build_upsert,
    content_text,
    count_utf8_bytes,
    decode_cell,
    decode_given,
    fetch_among,
    insert_many,
    texts_of_entry,
    to_json_text,
)
from tablewright.store.schema import attempts, cells, changes, edits, operations, proposals, rows, runs
from tablewright.store.tables import (
    MAX_INTEGER,
    TableHead,
    keep_fields,
    read_table_head,
    read_window,
    same_cell,
    same_row,
    valid_row_ids,
)

decode_attempt = msgspec.json.Decoder(Attempt).decode

# The newest attempts at a row suffice to avoid repeating them, and fit into a prompt.
MAX_ATTEMPTS_PER_ROW = 6


class Attempts(StorePart):
    """Store and read attempts at rows."""

    async def add(self, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        """Add attempts; the same attempt again changes nothing."""
        if attempts:
            await self._add(run_id, attempts)

    @repeatable_transaction
    def _add(self, connection: Connection, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        kept, row_ids = schema.attempts, [row_id for row_id, _ in attempts]
        # A range instead of a list: the rows of a batch are close together.
        near = kept.c.row_id.between(min(row_ids), max(row_ids))
        known = set(connection.execute(select(kept.c.row_id, kept.c.number).where(kept.c.run_id == run_id, near)))
        new = [
            {"run_id": run_id, "row_id": row_id, "number": attempt.number, "attempt": to_json_text(attempt)}
            for row_id, attempt in attempts
            if (row_id, attempt.number) not in known
        ]
        insert_many(connection, build_upsert(connection, kept).on_conflict_do_nothing(), new)
        charge_run(connection, run_id, sum(count_utf8_bytes(str(record["attempt"])) for record in new))

    @read_transaction
    def of_run(
        self, connection: Connection, run_id: str, first: RowId = 0, last: RowId = MAX_INTEGER
    ) -> dict[RowId, list[Attempt]]:
        """Return the attempts of a run by row, in order; only those at the rows from `first` to `last`."""
        here = (attempts.c.run_id == run_id, attempts.c.row_id.between(first, last))
        query = select(attempts).where(*here).order_by(attempts.c.row_id, attempts.c.number)
        found: dict[RowId, list[Attempt]] = {}
        for record in connection.execute(query):
            found.setdefault(record.row_id, []).append(decode_attempt(record.attempt))
        return found

    @read_transaction
    def of_rows(
        self,
        connection: Connection,
        table_id: str,
        row_ids: Sequence[RowId],
        *,
        columns: Collection[str] | None = None,
        before: str = "",
    ) -> dict[RowId, list[Attempt]]:
        """Return by row the last attempts in all runs of the table, newest last. `columns` keeps attempts at any of
        them, `before` those of runs that began before that run."""
        query = (
            select(attempts.c.row_id, attempts.c.attempt)
            .join(runs, runs.c.id == attempts.c.run_id)
            .where(runs.c.table_no == read_table_head(connection, table_id).no)
            # The newest first, so that reading can stop at the limit of each row.
            .order_by(runs.c.started_at.desc(), runs.c.id, attempts.c.number.desc())
        )
        if before:
            began = select(runs.c.started_at).where(runs.c.id == before).scalar_subquery()
            query = query.where(runs.c.started_at < began, runs.c.id != before)
        found: dict[RowId, list[Attempt]] = {}
        for row_id, text in fetch_among(connection, query, attempts.c.row_id, valid_row_ids(row_ids)):
            own = found.get(row_id, ())
            if len(own) < MAX_ATTEMPTS_PER_ROW:
                attempt = decode_attempt(text)
                if columns is None or any(name in columns for name in attempt.columns):
                    found[row_id] = [attempt, *own]
        return found


# Examples per column, and characters per example: they go into every prompt of the column.
EXAMPLES, LONGEST = 5, 200
# Cells of a column, or given rows, from which examples are chosen.
MAX_CELLS_READ = 200

Action: TypeAlias = Literal["flagged", "replaced", "removed", "refused"]


class Remark(Struct, frozen=True):
    """A manual correction of a cell or of a proposal for it: `value` was not accepted, and `replacement` was written
    instead."""

    action: Action
    value: Value
    replacement: Value = None
    note: str = ""
    by_person: bool = True
    """False: a recheck of its source flagged it."""


class Corrections(StorePart):
    """Read what people corrected."""

    @read_transaction
    def examples(self, connection: Connection, table_id: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return by column values that show its form: first what people typed, then what came with the table, then
        proposals they accepted. Leave out what was applied without a look, is flagged, or has changed inputs."""
        found = keep_fields(read_table_head(connection, table_id), names)
        by_kind: dict[str, list[ColumnElement[bool]]] = {"edit": [], "apply": []}
        query = select(changes).where(changes.c.table_no == found.no, changes.c.kind.in_(by_kind))
        # The newest changes only: older ones show outdated habits.
        for change in connection.execute(query.order_by(changes.c.change.desc()).limit(100)):
            by_kind[change.kind].append(edits.c.seq.between(change.first_seq, change.last_seq))
        applied, all_by_hand = by_kind["apply"], [*by_kind["edit"], *by_kind["apply"]]
        # Typed values have no evidence. Quotes inside strings are escaped, so only the key can match.
        has_evidence = content_text(edits.c.after).like('%"evidence":[%')
        rows, _ = read_window(connection, found, 0, MAX_CELLS_READ)
        examples: dict[str, tuple[str, ...]] = {}
        for name, field_id in found.field_ids.items():
            typed = read_written_values(connection, found, field_id, all_by_hand, ~has_evidence)
            brought = [row.cell(name).value for row in rows if row.cell(name).is_given]
            accepted = read_written_values(connection, found, field_id, applied, has_evidence)
            texts = (shorten_text(format_value(value), LONGEST) for value in (*typed, *brought, *accepted))
            if shown := tuple(dict.fromkeys(text for text in texts if text))[:EXAMPLES]:
                examples[name] = shown
        return examples

    @read_transaction
    def remarks(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId], names: Collection[str]
    ) -> dict[CellAt, list[Remark]]:
        """Return remarks by cell, oldest first, without those that were undone."""
        found = read_table_head(connection, table_id)
        asked = keep_fields(found, names)
        # Unchanged since its creation.
        if found.last_change < 2 or not asked.field_ids:
            return {}
        query = (
            select(edits.c.seq, edits.c.row_id, edits.c.field_id, *texts_of_entry(edits), rows.c.given)
            .join(rows, same_row(rows, edits))
            .where(edits.c.table_no == found.no, edits.c.field_id.in_(asked.names), edits.c.kind == "cell")
            .order_by(edits.c.row_id, edits.c.field_id, edits.c.seq)
        )
        kind_of = make_kind_lookup(connection, found)
        remarks: dict[CellAt, list[Remark]] = {}
        for entry in fetch_among(connection, query, edits.c.row_id, valid_row_ids(row_ids)):
            at, kind = (entry.row_id, asked.names[entry.field_id]), kind_of(entry.seq)
            # An undo takes back what was said, whichever change it undid.
            if kind == "rollback":
                remarks.pop(at, None)
            elif kind in ("edit", "recheck") and (remark := build_remark(entry, by_person=kind == "edit")):
                remarks.setdefault(at, []).append(remark)
        return remarks

    @read_transaction
    def refused(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId], names: Collection[str]
    ) -> dict[CellAt, list[Remark]]:
        """Return by cell the values that were proposed and refused, oldest first."""
        query = (
            select(operations.c.row_id, operations.c.field, content_text(operations.c.cell))
            .join(proposals, proposals.c.id == operations.c.proposal_id)
            .where(
                proposals.c.table_no == read_table_head(connection, table_id).no, operations.c.field.in_(list(names))
            )
            .where(operations.c.decision == "refused", operations.c.status == "ENRICHED")
            .order_by(proposals.c.created_at)
        )
        remarks: dict[CellAt, list[Remark]] = {}
        for row_id, field, text in fetch_among(connection, query, operations.c.row_id, valid_row_ids(row_ids)):
            remarks.setdefault((row_id, field), []).append(Remark(action="refused", value=decode_cell(text).value))
        return remarks


def read_written_values(
    connection: Connection,
    found: TableHead,
    field_id: int,
    within: Sequence[ColumnElement[bool]],
    of: ColumnElement[bool],
) -> list[Value]:
    """Return values that these parts of the log wrote into a column and that are still there, newest first."""
    if not within:
        return []
    query = (
        select(content_text(edits.c.after))
        .join(cells, same_cell(cells, edits))
        .join(rows, same_row(rows, edits))
        .where(edits.c.table_no == found.no, edits.c.field_id == field_id, edits.c.kind == "cell", or_(*within), of)
        .where(cells.c.status == "ENRICHED", cells.c.cell == edits.c.after, ~rows.c.removed)
        .order_by(edits.c.seq.desc())
        .limit(MAX_CELLS_READ)
    )
    return [decode_cell(text).value for text in connection.scalars(query)]


def build_remark(entry: Any, *, by_person: bool) -> Remark | None:
    """Return what an edit says against the previous value, or None if it says nothing."""
    before, after = (decode_log_cell(text, entry) for text in (entry.before, entry.after))
    if after.status == "FLAGGED":
        return Remark(action="flagged", value=after.value, note=read_flag_note(after), by_person=by_person)
    if before.value is None or after.value == before.value:
        return None
    if after.value is None:
        return Remark(action="removed", value=before.value)
    return Remark(action="replaced", value=before.value, replacement=after.value)


def decode_log_cell(text: str | None, entry: Any) -> Cell:
    """Return the cell of a log text; for None, the value its owner gave."""
    if text is not None:
        return decode_cell(text)
    return make_given_cell(decode_given(entry.given).values.get(entry.field_id))


def make_kind_lookup(connection: Connection, found: TableHead) -> Callable[[int], str]:
    """Return a function that gives the kind of change that a log entry belongs to."""
    query = select(changes.c.first_seq, changes.c.kind).where(changes.c.table_no == found.no)
    known = connection.execute(query.order_by(changes.c.change)).all()
    firsts = [first for first, _ in known]

    def kind_of(seq: int) -> str:
        # Changes cover the log without gaps, so the last that begins at or before an entry has it.
        return str(known[bisect_right(firsts, seq) - 1].kind)

    return kind_of
