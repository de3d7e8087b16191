"""Queries and writes on one proposal: its head, its proposed cells (each once per attempt) and the selection of them.
`proposals` and `runs` call these inside their own transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select, update

from tablewright.domain.model import Field, column_key
from tablewright.domain.proposal import CellAt, ProposalHead, ProposalStatus, ProposedCell, Selection
from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.ledger import stored_utf8_bytes
from tablewright.store.records import (
    MAX_IDS_PER_QUERY,
    RecordMapper,
    build_upsert,
    count_utf8_bytes,
    decode_field,
    decode_fields,
    in_batches,
    insert_many,
    new_id,
    pack_steps,
    store_cells,
    to_json_text,
    utc_now,
)
from tablewright.store.schema import contents, fields, operations, proposals, tables
from tablewright.store.sharing import is_visible
from tablewright.store.tables import valid_row_ids


def create_proposal(connection: Connection, table_no: int, run_id: str, fields: Sequence[Field]) -> str:
    proposal_id = new_id("p")
    connection.execute(
        insert(proposals).values(
            id=proposal_id,
            table_no=table_no,
            run_id=run_id,
            status="building",
            reasoning="",
            fields=to_json_text(tuple(fields)),
            created_at=utc_now(),
        )
    )
    return proposal_id


def add_operations(connection: Connection, proposal_id: str, table_no: int, operations: Sequence[ProposedCell]) -> int:
    """Add proposed cells, and return the bytes that the proposal has grown by. A later attempt replaces an earlier one;
    the same or an earlier attempt changes nothing."""
    if not operations:
        return 0
    there = read_attempts(connection, proposal_id, [each.row_id for each in operations])
    earlier = [there.get((each.row_id, each.field)) for each in operations]
    new = [
        each
        for each, before in zip(operations, earlier, strict=True)
        if before is None or each.cell.attempt > before.attempt
    ]
    if not new:
        return 0
    replaced = [there[at] for each in new if (at := (each.row_id, each.field)) in there]
    grown = -delete_replaced(connection, replaced)
    steps = [pack_steps(each) for each in new]
    shared = [text if repeats else "" for text, repeats in steps]
    numbers, size = store_cells(connection, table_no, [each.cell for each in new], shared)
    own = ["" if repeats else text for text, repeats in steps]
    grown += size + count_utf8_bytes(*own)
    records = [
        {
            "proposal_id": proposal_id,
            "row_id": each.row_id,
            "field": each.field,
            "attempt": each.cell.attempt,
            "as_of": each.as_of,
            "status": each.cell.status,
            "confidence": each.cell.confidence or 0.0,
            "cell": number,
            "decision": each.decision,
            "steps": text,
        }
        for each, number, text in zip(new, numbers, own, strict=True)
    ]
    statement = build_upsert(connection, schema.operations)
    newer = {name: statement.excluded[name] for name in ("attempt", "as_of", "status", "confidence", "cell", "steps")}
    insert_many(
        connection,
        statement.on_conflict_do_update(
            index_elements=["proposal_id", "row_id", "field"],
            set_=newer,
            # Another process may have written a later attempt since these were read.
            where=statement.excluded.attempt > schema.operations.c.attempt,
        ),
        records,
    )
    return grown


def read_attempts(connection: Connection, proposal_id: str, row_ids: Sequence[int]) -> dict[CellAt, Any]:
    """Return the attempt at each proposed cell of these rows, and how it is stored."""
    # A range instead of a list: the rows of a batch are close together.
    query = select(
        *(operations.c.row_id, operations.c.field, operations.c.attempt, operations.c.decision, operations.c.cell),
        stored_utf8_bytes(connection, operations.c.steps).label("steps"),
    ).where(operations.c.proposal_id == proposal_id, operations.c.row_id.between(min(row_ids), max(row_ids)))
    return {(each.row_id, each.field): each for each in connection.execute(query)}


def delete_replaced(connection: Connection, replaced: Sequence[Any]) -> int:
    """Delete the contents of proposed cells that a later attempt replaces, and return the bytes that they took. The log
    may refer to those that were decided on already, and other cells to those of older databases, without an origin."""
    undecided = [each.cell for each in replaced if each.decision == "open"]
    size = sum(each.steps for each in replaced)
    for numbers in in_batches(undecided, MAX_IDS_PER_QUERY):
        gone = contents.c.no.in_(numbers) & contents.c.origin.is_not(None)
        size += connection.scalar(select(func.sum(stored_utf8_bytes(connection, contents.c.text))).where(gone)) or 0
        connection.execute(delete(contents).where(gone))
    return int(size)


proposal_records = RecordMapper(ProposalHead, proposals, table_id="table_id")


def match_open_operations(connection: Connection, proposal: ProposalHead, selection: Selection) -> ColumnElement[bool]:
    return match_operations(connection, proposal.id, selection) & (operations.c.decision == "open")


def match_operations(connection: Connection, proposal_id: str, selection: Selection) -> ColumnElement[bool]:
    meant = operations.c.proposal_id == proposal_id
    if selection.rows:
        meant = meant & operations.c.row_id.in_(valid_row_ids(selection.rows))
    if selection.fields:
        meant = meant & operations.c.field.in_(find_proposed_fields(connection, proposal_id, selection.fields))
    # Cells without a value have no confidence, so a threshold never selects them.
    if selection.min_confidence is not None:
        meant = meant & (operations.c.confidence >= selection.min_confidence) & (operations.c.status == "ENRICHED")
    if selection.below is not None:
        meant = meant & (operations.c.confidence < selection.below) & (operations.c.status == "ENRICHED")
    return meant


def find_proposed_fields(connection: Connection, proposal_id: str, field_names: Sequence[str]) -> list[str]:
    names = connection.scalars(
        select(operations.c.field).where(operations.c.proposal_id == proposal_id).distinct()
    ).all()
    # Exact names win over names that differ in case or spaces.
    by_key = {column_key(name): name for name in names} | {name: name for name in names}
    found = [by_key.get(name) or by_key.get(column_key(name)) for name in field_names]
    unknown = [name for name, column in zip(field_names, found, strict=True) if column is None]
    if unknown:
        raise NotFound(
            f"Proposal {proposal_id} says nothing about {unknown[0]!r}.",
            advice=f"It is about: {', '.join(sorted(names))}.",
        )
    return [column for column in found if column is not None]


def unknown_cell_error(proposal_id: str, at: CellAt) -> NotFound:
    return NotFound(
        f"Proposal {proposal_id} says nothing about row {at[0]}, {at[1]}.",
        advice=f"`tablewright proposals show {proposal_id}` shows what it is about.",
    )


def read_open_proposal(connection: Connection, proposal_id: str, *, even_unfinished: bool) -> ProposalHead:
    proposal = read_proposal(connection, proposal_id, counted=False)
    if proposal.status == "building" and not even_unfinished:
        raise UsageError(
            f"The run of proposal {proposal_id} has not finished.",
            advice="If its process is gone, --force applies what it had found, and `proposals reject` discards it.",
        )
    if proposal.status not in ("open", "building"):
        raise UsageError(f"Proposal {proposal_id} is already {proposal.status}.", kept="Nothing was changed.")
    return proposal


def has_no_operations(connection: Connection, proposal_id: str) -> bool:
    """Return True if the run had nothing to propose, so there is nothing to decide."""
    return not connection.scalar(select(exists().where(operations.c.proposal_id == proposal_id)))


def settle_proposal(connection: Connection, proposal_id: str, *, whole: bool = False) -> None:
    """Close a proposal without open operations, as applied if anything accepted was kept.

    A new column without any examined cell, because the run was stopped, would disappear. Such a proposal stays open
    until it is applied or rejected as a `whole`.
    """
    own = operations.c.proposal_id == proposal_id
    if connection.scalar(select(exists().where(own, operations.c.decision == "open"))):
        return
    if not whole and find_unseen_fields(connection, proposal_id):
        return
    # A cell that kept its value was accepted too: its owner agreed that nothing was found.
    written = operations.c.decision.in_(("applied", "edited", "kept"))
    applied = connection.scalar(select(exists().where(own, written)))
    close_proposal(connection, proposal_id, "applied" if applied else "rejected")


def close_proposal(connection: Connection, proposal_id: str, status: ProposalStatus) -> None:
    connection.execute(
        update(proposals).where(proposals.c.id == proposal_id).values(status=status, decided_at=utc_now())
    )


def find_unseen_fields(connection: Connection, proposal_id: str) -> set[str]:
    """Return the proposed columns that the table lacks and that no operation is about."""
    own = connection.execute(
        select(proposals.c.table_no, proposals.c.fields).where(proposals.c.id == proposal_id)
    ).one()
    there = select(fields.c.spec).where(fields.c.table_no == own.table_no, ~fields.c.removed)
    known = {column_key(decode_field(spec).name) for spec in connection.scalars(there)}
    new = {field.name for field in decode_fields(own.fields) if column_key(field.name) not in known}
    if not new:
        return new
    seen = select(operations.c.field).where(operations.c.proposal_id == proposal_id).distinct()
    return new.difference(connection.scalars(seen))


def read_proposal(connection: Connection, proposal_id: str, *, counted: bool = True) -> ProposalHead:
    heads = read_proposals(connection, proposals.c.id == proposal_id, counted=counted)
    if not heads:
        raise NotFound(f"There is no proposal {proposal_id!r}.", advice="`tablewright proposals list` shows them.")
    return heads[0]


def read_proposals(
    connection: Connection, condition: ColumnElement[bool], *, counted: bool = True
) -> list[ProposalHead]:
    """Return proposals, newest first. `counted` fills in `counts`, which reads all operations."""
    records = connection.execute(
        select(proposals, tables.c.id.label("table_id"))
        .join(tables, tables.c.no == proposals.c.table_no)
        .where(condition, is_visible(connection, "table"))
        .order_by(proposals.c.created_at.desc())
    ).all()
    counts = count_decisions(connection, [record.id for record in records] if counted else [])
    return [proposal_records.read(record, counts=counts.get(record.id, {})) for record in records]


def count_decisions(connection: Connection, proposal_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return for each proposal its operations by decision, and how many have a value or a reason for none."""
    counts: dict[str, dict[str, int]] = {proposal_id: {} for proposal_id in proposal_ids}
    query = (
        select(operations.c.proposal_id, operations.c.decision, operations.c.status, func.count())
        .where(operations.c.proposal_id.in_(proposal_ids))
        .group_by(operations.c.proposal_id, operations.c.decision, operations.c.status)
    )
    for proposal_id, decision, status, count in connection.execute(query):
        own = counts[proposal_id]
        for name in (decision, "without_value" if status == "FAILED" else "with_value"):
            own[name] = own.get(name, 0) + count
    return counts
