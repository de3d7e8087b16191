"""What a run writes into a proposal: the proposed cells, each once for an attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, insert

from tablewright.store import schema
from tablewright.store.dialect import insert_many, upsert
from tablewright.store.records import decode_cell, decode_steps, new_id, now, to_text
from tablewright.table.model import Cell, Field, Noun, RowId, Step

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


def create_proposal(connection: Connection, table_no: int, run_id: str, fields: Sequence[Field]) -> str:
    proposal_id = new_id("p")
    connection.execute(
        insert(schema.proposals).values(
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


def add_operations(connection: Connection, proposal_id: str, operations: Sequence[Operation]) -> None:
    records = [
        {
            "proposal_id": proposal_id,
            "row_id": operation.row_id,
            "field": operation.field,
            "attempt": operation.cell.attempt,
            "as_of": operation.as_of,
            "status": operation.cell.status,
            "confidence": operation.cell.confidence or 0.0,
            "cell": to_text(operation.cell),
            "steps": to_text(operation.steps),
            "decision": operation.decision,
        }
        for operation in operations
    ]
    if not records:
        return
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


def as_operation(record: Any) -> Operation:
    return Operation(
        row_id=record.row_id,
        field=record.field,
        cell=decode_cell(record.cell),
        steps=decode_steps(record.steps),
        as_of=record.as_of,
        decision=record.decision,
        edited=decode_cell(record.edited) if record.edited else None,
    )
