"""Conversion between structs and database records, the differences between SQLite and PostgreSQL, and small SQL
helpers; at the end, how the contents of cells are stored. Every other part of the store uses it; it knows none."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Engine,
    FromClause,
    Select,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
)
from sqlalchemy.dialects import sqlite

from tablewright.domain.model import PENDING, Cell, Field, Step, StepType, Struct, Value, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.store.schema import cells, contents, edits, operations, origins, proposals

StoredStruct = TypeVar("StoredStruct", bound=msgspec.Struct)

_encoder = msgspec.json.Encoder()


class GivenRow(Struct, frozen=True, array_like=True):
    """The values of a row as its owner gave them, by field number, with the original texts where they differ."""

    values: dict[int, Value]
    raw: dict[int, str]

    def cells(self, names: Mapping[int, str]) -> dict[str, Cell]:
        values, raw = self.values, self.raw
        return {
            name: make_given_cell(values[field_id], raw.get(field_id))
            for field_id, name in names.items()
            if field_id in values
        }


_given = msgspec.json.Decoder(GivenRow)
_cell = msgspec.json.Decoder(Cell)
_field = msgspec.json.Decoder(Field)
_fields = msgspec.json.Decoder(tuple[Field, ...])


def to_json_text(noun: object) -> str:
    """Return a struct as compact JSON."""
    return _encoder.encode(noun).decode()


decode_given = _given.decode
decode_cell = _cell.decode
decode_field = _field.decode
decode_fields = _fields.decode


class RecordMapper(Generic[StoredStruct]):
    """Reads structs from the records of a table, and turns structs into records.

    A field is stored in the column of its name, or in the one that `columns` names for it, which may also be a label of
    the query that reads it. A field that is not a text is stored as JSON if its column holds texts. A field mapped to
    "" is not stored.
    """

    def __init__(self, struct: type[StoredStruct], table: Table, /, **columns: str) -> None:
        fields = {field.name: field for field in msgspec.structs.fields(struct)}
        places = {name: columns.get(name, name) for name in fields}
        self.table = table
        self._struct = struct
        self._columns = {name: place for name, place in places.items() if place in table.c or columns.get(name)}
        # Prepared once: a window of a table has thousands of records.
        self._pick = attrgetter(*self._columns.values())
        written = {name: table.c[place] for name, place in self._columns.items() if place in table.c}
        in_json = {
            name: bool(column.nullable)
            for name, column in written.items()
            if isinstance(column.type, Text) and not is_text_type(fields[name].type)
        }
        self._decoders = [(name, msgspec.json.Decoder(fields[name].type).decode) for name in in_json]
        self._plain = [(column.name, name) for name, column in written.items() if name not in in_json]
        self._encoded = [(written[name].name, name, nullable) for name, nullable in in_json.items()]

    def read(self, record: Any, /, **others: Any) -> StoredStruct:
        """Return the struct of a record; `others` are fields that its columns lack or hold in another form."""
        return self._build(self._pick, record, **others)

    def reader(self, result: CursorResult[Any]) -> Callable[..., StoredStruct]:
        """Return `read` for the records of this result. It finds columns by position, which is faster."""
        keys = list(result.keys())
        return partial(self._build, itemgetter(*map(keys.index, self._columns.values())))

    def read_all(self, result: CursorResult[Any]) -> list[StoredStruct]:
        read = self.reader(result)
        return [read(record) for record in result]

    def _build(self, pick: Callable[[Any], Any], record: Any, /, **others: Any) -> StoredStruct:
        values = dict(zip(self._columns, pick(record)))  # noqa: B905 - same length by construction; checking costs time
        for name, decode in self._decoders:
            if values[name] is not None:
                values[name] = decode(values[name])
        if others:
            values.update(others)
        return self._struct(**values)

    def write(self, struct: StoredStruct, /, **others: Any) -> dict[str, Any]:
        """Return the record of a struct; `others` are columns that its fields lack or hold in another form."""
        record = {place: getattr(struct, name) for place, name in self._plain}
        for place, name, nullable in self._encoded:
            value = getattr(struct, name)
            # A column that takes NULL has it for None; others have the JSON text "null".
            record[place] = None if nullable and value is None else to_json_text(value)
        record.update(others)
        return record


def is_text_type(kind: Any) -> bool:
    """Return True for the type of a field that holds texts or None."""
    if get_origin(kind) in (Union, UnionType):
        return all(is_text_type(each) for each in get_args(kind))
    return kind in (str, NoneType) or get_origin(kind) is Literal


# Edits of a row that was removed with its document keep their number in the log, without content.
ERASED_EDIT_KIND = "forgotten"


def split_given(cells: Sequence[tuple[int, Cell]]) -> tuple[GivenRow, list[tuple[int, Cell]]]:
    """Return the given part of a new row, and the cells that carry more than a given value (evidence, a status, …)."""
    values: dict[int, Value] = {}
    raw: dict[int, str] = {}
    others: list[tuple[int, Cell]] = []
    for field_id, cell in cells:
        # A pending cell is the absence of an entry.
        if cell == PENDING:
            continue
        if cell.value is not None and cell == make_given_cell(cell.value, cell.raw_value):
            values[field_id] = cell.value
            if cell.raw_value is not None:
                raw[field_id] = cell.raw_value
        else:
            others.append((field_id, cell))
    return GivenRow(values=values, raw=raw), others


def utc_now() -> str:
    """Return the current time as stored in the database: ISO 8601 in UTC with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def clean_for_storage(text: str) -> str:
    """Return the text without what no database takes: NULs, and the half characters that stand for undecodable bytes of
    file names."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def new_id(prefix: str) -> str:
    """Return a random id: short enough to type, long enough that many machines can choose at once."""
    # Without letters and digits that look alike, such as l and 1.
    return prefix + "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(9))


def make_slug(name: str) -> str:
    """Return the start of a table's id: "Sales 2024 (final)" → "sales-2024-final"."""
    # Letters with accents become plain ones, so that "Café" still gives a readable id.
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:40].strip("-") or "table"


Item = TypeVar("Item")

# SQLite and PostgreSQL both limit the parameters of a statement; longer lists are read in several.
MAX_IDS_PER_QUERY = 500
# Each document adds a condition to its statement.
MAX_DOCUMENTS_PER_QUERY = 200


def build_upsert(connection: Connection | Engine, table: Table) -> Any:
    """Return an INSERT … ON CONFLICT for this database; SQLAlchemy's two `Insert` classes share no typed base."""
    return build_upsert_for(connection.dialect.name, table)


def build_upsert_for(dialect: str, table: Table) -> Any:
    if dialect == "sqlite":
        return sqlite.insert(table)
    # Here, since importing it would delay every start on SQLite.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def put_record(connection: Connection, table: Table, record: Mapping[str, Any]) -> None:
    """Insert a record, or replace the one with its key."""
    statement = build_upsert(connection, table).values(record)
    keys = [column.name for column in table.primary_key]
    others = {name: statement.excluded[name] for name in record if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others))


def fetch_among(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], ids: Iterable[Any]
) -> Iterator[Any]:
    """Yield the records of a query whose column is among `ids`, however many there are."""
    for batch in in_batches(ids, MAX_IDS_PER_QUERY):
        yield from connection.execute(query.where(column.in_(batch)))


def in_batches(items: Iterable[Item], size: int = 2_000) -> Iterator[list[Item]]:
    """Yield lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def insert_many(connection: Connection, statement: Any, records: Sequence[Mapping[str, Any]]) -> None:
    """Insert many records with one statement. The values are bound here: SQLAlchemy's own handling takes longer than
    SQLite's insert."""
    if not records:
        return
    # SQLite takes positional parameters, psycopg named ones.
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(records[0]))
    if compiled.positional:
        pick = itemgetter(*compiled.positiontup)
        connection.exec_driver_sql(compiled.string, [pick(record) for record in records])
    else:
        connection.execute(statement, list(records))


def insert_select(connection: Connection, table: Table, columns: list[str], source: Select[Any]) -> int:
    """Return how many rows were inserted; without the option SQLAlchemy gives -1 on PostgreSQL."""
    statement = insert(table).from_select(columns, source)
    return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount


def acquire_advisory_lock(connection: Connection, what: str) -> None:
    """Make transactions about the same `what` run one after the other until they commit. SQLite has one writer, so they
    do so anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(what))))


def use_snapshot_isolation(connection: Connection) -> None:
    """Use snapshot isolation, which SQLite always has. Call this first in the transaction."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def count_utf8_bytes(*texts: str | None) -> int:
    """Return the bytes of these texts in UTF-8."""
    return sum(len(text) if text.isascii() else len(text.encode()) for text in texts if text)


# ── contents of cells ────────────────────────────────────────────────────────────────────────────────────────────────
#
# A content is stored once, under a number by which the log, the current cells and the proposals refer to it. What the
# cells of a batch have in common (status, run, time, …) is stored once per batch, as their origin: the JSON of a cell
# begins with the text of its origin and ends with its own. Definitions of columns that were changed are contents
# without an origin.

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

    return tuple(Step(type=each.type, detail=detail_of(each), data=each.data) for each in decode_steps(text))


# The steps of most cells of a batch are one text.
@lru_cache(maxsize=64)
def decode_steps(text: str) -> tuple[StoredStep, ...]:
    return _stored_steps.decode(text)


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
