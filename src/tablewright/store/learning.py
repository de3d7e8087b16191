"""What a later run is told: every attempt of earlier ones at a row, and what people said of its cells, by typing or
accepting values, and by flagging, replacing or removing them. What people said is read from the log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select

from tablewright.domain.edits import flag_note
from tablewright.domain.model import Attempt, Cell, Noun, RowId, Value, given
from tablewright.domain.proposal import CellAt
from tablewright.domain.text import shortened, show
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import charge_run, octets
from tablewright.store.records import decode_cell, decode_given, fetch_among, insert_many, to_text, upsert
from tablewright.store.schema import attempts, cells, changes, edits, operations, proposals, rows, runs
from tablewright.store.tables import (
    TableHead,
    head,
    only_fields,
    read_window,
    same_cell,
    same_row,
    without_impossible_ids,
)

decode_attempt = msgspec.json.Decoder(Attempt).decode

KEPT = 6
"""Attempts at a row that a later run is told of."""


class Attempts(StorePart):
    async def add(self, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        """The same attempt again changes nothing."""
        if attempts:
            await self._add(run_id, attempts)

    @repeatable_transaction
    def _add(self, connection: Connection, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        kept, row_ids = schema.attempts, [row_id for row_id, _ in attempts]
        near = kept.c.row_id.between(min(row_ids), max(row_ids))
        known = set(connection.execute(select(kept.c.row_id, kept.c.number).where(kept.c.run_id == run_id, near)))
        new = [
            {"run_id": run_id, "row_id": row_id, "number": attempt.number, "attempt": to_text(attempt)}
            for row_id, attempt in attempts
            if (row_id, attempt.number) not in known
        ]
        insert_many(connection, upsert(connection, kept).on_conflict_do_nothing(), new)
        charge_run(connection, run_id, sum(octets(str(record["attempt"])) for record in new))

    @read_transaction
    def of_run(self, connection: Connection, run_id: str) -> dict[RowId, list[Attempt]]:
        """By row, in their order."""
        query = select(attempts).where(attempts.c.run_id == run_id).order_by(attempts.c.row_id, attempts.c.number)
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
        """By row, the last attempts at it in all runs of the table, the newest last; with `columns` those at any of
        them, with `before` those of runs that began before that run."""
        query = (
            select(attempts.c.row_id, attempts.c.attempt)
            .join(runs, runs.c.id == attempts.c.run_id)
            .where(runs.c.table_no == head(connection, table_id).no)
            .order_by(runs.c.started_at.desc(), runs.c.id, attempts.c.number.desc())
        )
        if before:
            began = select(runs.c.started_at).where(runs.c.id == before).scalar_subquery()
            query = query.where(runs.c.started_at < began, runs.c.id != before)
        found: dict[RowId, list[Attempt]] = {}
        for row_id, text in fetch_among(connection, query, attempts.c.row_id, without_impossible_ids(row_ids)):
            own = found.get(row_id, ())
            if len(own) < KEPT and concerns_columns((attempt := decode_attempt(text)), columns):
                found[row_id] = [attempt, *own]
        return found


def concerns_columns(attempt: Attempt, columns: Collection[str] | None) -> bool:
    return columns is None or any(name in columns for name in attempt.columns)


EXAMPLES, LONGEST = 5, 200
"""Examples of a column, and characters of one."""
LOOKED_AT = 200
"""Cells of a column, or rows as they were given, that examples are chosen from."""
CHANGES = 100
"""Changes of a table that examples are looked for in, the newest first."""
HAS_EVIDENCE = '%"evidence":[%'
"""In an encoded cell: what a person typed has none. Quotes in its strings are escaped, so only the key can match."""

Action: TypeAlias = Literal["flagged", "replaced", "removed", "refused"]


class Remark(Noun, frozen=True):
    """What was done by hand to a cell, or to a proposal for it: `value` was not accepted, and `replacement` is what was
    written in its place."""

    action: Action
    value: Value
    replacement: Value = None
    note: str = ""
    by_person: bool = True
    """False: a recheck of its source flagged it."""


class Corrections(StorePart):
    @read_transaction
    def examples(self, connection: Connection, table_id: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """By column, values that show its form: first what people typed, then what came with the table, then proposals
        they accepted. Nothing that was applied unseen, that is flagged, or whose inputs have changed."""
        found = only_fields(head(connection, table_id), names)
        by_kind: dict[str, list[ColumnElement[bool]]] = {"edit": [], "apply": []}
        query = select(changes).where(changes.c.table_no == found.no, changes.c.kind.in_(by_kind))
        for change in connection.execute(query.order_by(changes.c.change.desc()).limit(CHANGES)):
            by_kind[change.kind].append(edits.c.seq.between(change.first_seq, change.last_seq))
        applied, all_by_hand = by_kind["apply"], [*by_kind["edit"], *by_kind["apply"]]
        has_evidence = edits.c.after.like(HAS_EVIDENCE)
        rows = read_window(connection, found, 0, LOOKED_AT)
        examples: dict[str, tuple[str, ...]] = {}
        for name, field_id in found.field_ids.items():
            typed = values_written(connection, found, field_id, all_by_hand, ~has_evidence)
            brought = [row.cell(name).value for row in rows if row.cell(name).is_given]
            accepted = values_written(connection, found, field_id, applied, has_evidence)
            texts = (shortened(show(value), LONGEST) for value in (*typed, *brought, *accepted))
            if shown := tuple(dict.fromkeys(text for text in texts if text))[:EXAMPLES]:
                examples[name] = shown
        return examples

    @read_transaction
    def remarks(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId], names: Collection[str]
    ) -> dict[CellAt, list[Remark]]:
        """By cell, the oldest first. What was undone was not said."""
        found = head(connection, table_id)
        asked = only_fields(found, names)
        if found.last_change < 2 or not asked.field_ids:  # nobody has touched it since it was made
            return {}
        query = (
            select(edits.c.seq, edits.c.row_id, edits.c.field_id, edits.c.before, edits.c.after, rows.c.given)
            .join(rows, same_row(rows, edits))
            .where(edits.c.table_no == found.no, edits.c.field_id.in_(asked.names), edits.c.kind == "cell")
            .order_by(edits.c.row_id, edits.c.field_id, edits.c.seq)
        )
        kind_of = kind_of_entries(connection, found)
        said: dict[CellAt, list[Remark]] = {}
        for entry in fetch_among(connection, query, edits.c.row_id, without_impossible_ids(row_ids)):
            at, kind = (entry.row_id, asked.names[entry.field_id]), kind_of(entry.seq)
            if kind == "rollback":
                said.pop(at, None)
            elif kind in ("edit", "recheck") and (remark := remark_of(entry, by_person=kind == "edit")):
                said.setdefault(at, []).append(remark)
        return said

    @read_transaction
    def refused(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId], names: Collection[str]
    ) -> dict[CellAt, list[Remark]]:
        """By cell, the values that were proposed for it and refused, the oldest first."""
        query = (
            select(operations.c.row_id, operations.c.field, operations.c.cell)
            .join(proposals, proposals.c.id == operations.c.proposal_id)
            .where(proposals.c.table_no == head(connection, table_id).no, operations.c.field.in_(list(names)))
            .where(operations.c.decision == "refused", operations.c.status == "ENRICHED")
            .order_by(proposals.c.created_at)
        )
        said: dict[CellAt, list[Remark]] = {}
        for row_id, field, text in fetch_among(connection, query, operations.c.row_id, without_impossible_ids(row_ids)):
            said.setdefault((row_id, field), []).append(Remark(action="refused", value=decode_cell(text).value))
        return said


def values_written(
    connection: Connection,
    found: TableHead,
    field_id: int,
    within: Sequence[ColumnElement[bool]],
    of: ColumnElement[bool],
) -> list[Value]:
    """Values that these parts of the log wrote into a column, and that still stand there; the newest first."""
    if not within:
        return []
    query = (
        select(edits.c.after)
        .join(cells, same_cell(cells, edits))
        .join(rows, same_row(rows, edits))
        .where(edits.c.table_no == found.no, edits.c.field_id == field_id, edits.c.kind == "cell", or_(*within), of)
        .where(cells.c.status == "ENRICHED", cells.c.cell == edits.c.after, ~rows.c.removed)
        .order_by(edits.c.seq.desc())
        .limit(LOOKED_AT)
    )
    return [decode_cell(text).value for text in connection.scalars(query)]


def remark_of(entry: Any, *, by_person: bool) -> Remark | None:
    """Return what an edit of a cell says against the value that stood there; None where it says nothing."""
    before, after = (as_cell(text, entry) for text in (entry.before, entry.after))
    if after.status == "FLAGGED":
        return Remark(action="flagged", value=after.value, note=flag_note(after), by_person=by_person)
    if before.value is None or after.value == before.value:
        return None
    if after.value is None:
        return Remark(action="removed", value=before.value)
    return Remark(action="replaced", value=before.value, replacement=after.value)


def as_cell(text: str | None, entry: Any) -> Cell:
    """A text of the log as a cell; none: what its owner gave."""
    if text is not None:
        return decode_cell(text)
    return given(decode_given(entry.given).values.get(entry.field_id))


def kind_of_entries(connection: Connection, found: TableHead) -> Callable[[int], str]:
    """Says of an entry of the log which kind of change it belongs to."""
    query = select(changes.c.first_seq, changes.c.kind).where(changes.c.table_no == found.no)
    known = connection.execute(query.order_by(changes.c.change)).all()
    firsts = [first for first, _ in known]

    def kind_of(seq: int) -> str:
        return str(known[bisect_right(firsts, seq) - 1].kind)

    return kind_of
