"""What a run writes into a proposal: the proposed cells, each once for an attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, insert, select

from tablewright.domain.model import Cell, Field, Noun, RowId, Step
from tablewright.store import schema
from tablewright.store.dialect import insert_many, upsert
from tablewright.store.ledger import octet_length, octets
from tablewright.store.records import RecordMapper, new_id, now, to_text
from tablewright.store.schema import operations, proposals

Decision: TypeAlias = Literal["open", "applied", "refused", "edited", "kept"]
"""Of a `kept` one nothing was found, and the value that the cell has stayed."""
CellAt: TypeAlias = tuple[RowId, str]
"""A row and the name of a field."""


class Operation(Noun, frozen=True):
    """One proposed cell. `as_of` is where the log stood when the row was read: a later edit of the cell wins.

    `cell` stays what the run proposed, whatever was decided; `edited` is what a person wrote in its place.
    """

    row_id: RowId
    field: str
    cell: Cell
    steps: tuple[Step, ...] = ()
    as_of: int = 0
    decision: Decision = "open"
    edited: Cell | None = None


operation_records = RecordMapper(Operation, operations)


def create_proposal(connection: Connection, table_no: int, run_id: str, fields: Sequence[Field]) -> str:
    proposal_id = new_id("p")
    connection.execute(
        insert(proposals).values(
            id=proposal_id,
            table_no=table_no,
            run_id=run_id,
            status="building",
            reasoning="",
            fields=to_text(tuple(fields)),
            created_at=now(),
        )
    )
    return proposal_id


def add_operations(connection: Connection, proposal_id: str, operations: Sequence[Operation]) -> int:
    """Return the bytes that the proposal has grown by."""
    records = [
        operation_records.write(
            each,
            proposal_id=proposal_id,
            attempt=each.cell.attempt,
            status=each.cell.status,
            confidence=each.cell.confidence or 0.0,
        )
        for each in operations
    ]
    if not records:
        return 0
    grown = bytes_added(connection, proposal_id, records)
    statement = upsert(connection, schema.operations)
    newer = {name: statement.excluded[name] for name in ("attempt", "as_of", "status", "confidence", "cell", "steps")}
    insert_many(
        connection,
        statement.on_conflict_do_update(
            index_elements=["proposal_id", "row_id", "field"],
            set_=newer,
            where=statement.excluded.attempt > schema.operations.c.attempt,
        ),
        records,
    )
    return grown


def bytes_added(connection: Connection, proposal_id: str, records: Sequence[dict[str, Any]]) -> int:
    """Return by how much the proposal will grow: a later attempt replaces an earlier one, the same changes nothing."""
    kept = operations
    rows = [record["row_id"] for record in records]
    size = octet_length(connection, kept.c.cell) + octet_length(connection, kept.c.steps)
    there = select(kept.c.row_id, kept.c.field, kept.c.attempt, size.label("size")).where(
        kept.c.proposal_id == proposal_id, kept.c.row_id.between(min(rows), max(rows))
    )
    before = {(each.row_id, each.field): each for each in connection.execute(there)}
    grown = 0
    for record in records:
        known = before.get((record["row_id"], record["field"]))
        if known is None or record["attempt"] > known.attempt:
            grown += octets(record["cell"], record["steps"]) - (known.size if known else 0)
    return grown
