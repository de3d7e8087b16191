"""The contents of cells: each is stored once, under a number by which the log, the current cells and the proposals
refer to it.

What the cells of a batch have in common (status, run, time, …) is stored once per batch, as their origin: the JSON of a
cell begins with the text of its origin and ends with its own. Definitions of columns that were changed are contents
without an origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, FromClause, Select, Table, delete, func, insert, select

from tablewright.domain.model import PENDING, Cell, Field, Step, StepType, Struct
from tablewright.domain.proposal import ProposedCell
from tablewright.store.ledger import count_utf8_bytes
from tablewright.store.records import decode_cell, insert_many, to_json_text
from tablewright.store.schema import cells, contents, edits, operations, origins, proposals

# What an origin holds of its cells: nothing that was read from a source, since removing a document removes only the
# cells' own texts.
SHARED_FIELDS = ("status", "reason", "confidence", "basis", "cost", "attempt", "run_id", "updated_at")
_read_shared = attrgetter(*SHARED_FIELDS)
_nothing_shared: dict[str, Any] = {name: getattr(PENDING, name) for name in SHARED_FIELDS}


class StoredStep(Struct, frozen=True):
    """A step of a proposed cell. A detail that only repeats the cell is stored as the number of its quote, or as
    `raw` for its text."""

    type: StepType
    detail: str = ""
    data: Mapping[str, str | int | float | bool | None] = {}
    quote: int | None = None
    raw: bool = False


_stored_steps = msgspec.json.Decoder(tuple[StoredStep, ...])


def pack_steps(proposed: ProposedCell) -> tuple[str, bool]:
    """Return the steps as stored, and True if they only repeat the cell, so that the cells of a batch can share
    them."""
    cell = proposed.cell
    numbers: dict[str | None, int] = {each.quote: number for number, each in enumerate(cell.evidence)}
    packed = []
    repeats = True
    for step in proposed.steps:
        if step.detail == cell.raw_value:
            packed.append(StoredStep(type=step.type, data=step.data, raw=True))
        elif step.detail in numbers:
            packed.append(StoredStep(type=step.type, data=step.data, quote=numbers[step.detail]))
        else:
            packed.append(StoredStep(type=step.type, data=step.data, detail=step.detail))
            repeats = False
        repeats = repeats and not step.data
    return to_json_text(packed), repeats


def unpack_steps(text: str, cell: Cell) -> tuple[Step, ...]:
    def detail_of(step: StoredStep) -> str:
        if step.quote is not None:
            return cell.evidence[step.quote].quote
        return (cell.raw_value or "") if step.raw else step.detail

    return tuple(Step(type=each.type, detail=detail_of(each), data=each.data) for each in _stored_steps.decode(text))


def content_text(number: ColumnElement[Any]) -> ColumnElement[str]:
    """Return the text of the content with this number, NULL for none."""
    query = select(whole_text()).select_from(contents.outerjoin(origins, origins.c.no == contents.c.origin))
    return query.where(contents.c.no == number).correlate_except(contents, origins).scalar_subquery()


def texts_of_entry(edits: FromClause) -> list[ColumnElement[Any]]:
    """Return the texts of what an entry of the log replaced and wrote."""
    return [content_text(edits.c[name]).label(name) for name in ("before", "after")]


def whole_text() -> ColumnElement[str]:
    """Return the text of a content, in a query that joins its origin."""
    return func.coalesce(origins.c.cell, "").concat(contents.c.text)


def store_cells(
    connection: Connection, table_no: int, cells: Sequence[Cell], steps: Sequence[str] = ()
) -> tuple[list[int], int]:
    """Store cells, and return their numbers and the bytes that they take. `steps` are those that cells of the batch
    share, by cell, "" for none."""
    if not cells:
        return [], 0
    keys = list(zip(map(_read_shared, cells), steps or [""] * len(cells), strict=True))
    groups = list(dict.fromkeys(keys))
    origin_of = dict(zip(groups, reserve_numbers(connection, origins, len(groups)), strict=True))
    shared_parts = (Cell(**dict(zip(SHARED_FIELDS, shared, strict=True))) for shared, _ in groups)
    # An object without members could not be followed by a comma.
    heads = ['{"attempt":0' if cell == PENDING else to_json_text(cell).removesuffix("}") for cell in shared_parts]
    own = [to_json_text(msgspec.structs.replace(cell, **_nothing_shared))[1:] for cell in cells]
    tails = [text if text == "}" else f",{text}" for text in own]
    shared_records = [
        {"no": origin_of[group], "table_no": table_no, "cell": head, "steps": group[1]}
        for group, head in zip(groups, heads, strict=True)
    ]
    insert_many(connection, insert(origins), shared_records)
    records = [{"origin": origin_of[key], "text": tail} for key, tail in zip(keys, tails, strict=True)]
    size = count_utf8_bytes(*heads, *(text for _, text in groups), *tails)
    return store_texts(connection, records), size


def store_fields(connection: Connection, fields: Sequence[Field]) -> tuple[list[int], int]:
    """Store definitions of columns, and return their numbers and the bytes that they take."""
    texts = [to_json_text(field) for field in fields]
    return store_texts(connection, [{"origin": None, "text": text} for text in texts]), count_utf8_bytes(*texts)


def store_texts(connection: Connection, records: Sequence[dict[str, Any]]) -> list[int]:
    if not records:
        return []
    numbers = reserve_numbers(connection, contents, len(records))
    insert_many(connection, insert(contents), [{"no": no, **each} for no, each in zip(numbers, records, strict=True)])
    return numbers


def reserve_numbers(connection: Connection, table: Table, count: int) -> list[int]:
    """Return the next numbers of a table. SQLite has one writer at a time, so there the highest one is certain."""
    if connection.dialect.name == "sqlite":
        last = connection.execute(select(func.coalesce(func.max(table.c.no), 0))).scalar_one()
        return list(range(last + 1, last + 1 + count))
    following = func.nextval(func.pg_get_serial_sequence(table.name, "no"))
    return list(connection.scalars(select(following).select_from(func.generate_series(1, count))))


def delete_contents(connection: Connection, table_no: int, row_ids: Sequence[int] | None = None) -> None:
    """Delete the contents of a table, or those of some rows, before what refers to them is deleted."""
    of_table = select(proposals.c.id).where(proposals.c.table_no == table_no)
    references: tuple[tuple[Table, ColumnElement[Any], ColumnElement[bool]], ...] = (
        (edits, edits.c.before, edits.c.table_no == table_no),
        (edits, edits.c.after, edits.c.table_no == table_no),
        (cells, cells.c.cell, cells.c.table_no == table_no),
        (operations, operations.c.cell, operations.c.proposal_id.in_(of_table)),
        (operations, operations.c.edited, operations.c.proposal_id.in_(of_table)),
    )
    for table, number, here in references:
        numbers: Select[Any] = select(number).where(here, number.is_not(None))
        if row_ids is not None:
            numbers = numbers.where(table.c.row_id.in_(row_ids))
        connection.execute(delete(contents).where(contents.c.no.in_(numbers)))
    if row_ids is None:
        connection.execute(delete(origins).where(origins.c.table_no == table_no))


def select_operations() -> Select[Any]:
    """Select proposed cells with the texts that `read_operation` reads."""
    named = operations.c
    of_cell = operations.outerjoin(contents, contents.c.no == named.cell)
    return select(
        *(named.row_id, named.field, named.as_of, named.decision, named.status),
        whole_text().label("cell"),
        func.coalesce(func.nullif(named.steps, ""), origins.c.steps).label("steps"),
        content_text(named.edited).label("edited"),
    ).select_from(of_cell.outerjoin(origins, origins.c.no == contents.c.origin))


def read_operation(record: Any) -> ProposedCell:
    cell = decode_cell(record.cell)
    return ProposedCell(
        row_id=record.row_id,
        field=record.field,
        cell=cell,
        steps=unpack_steps(record.steps, cell),
        as_of=record.as_of,
        decision=record.decision,
        edited=decode_cell(record.edited) if record.edited else None,
    )
