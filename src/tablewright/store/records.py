"""Conversion between structs and database records, the differences between SQLite and PostgreSQL, and small SQL
helpers. Every other part of the store uses it; it knows none of them."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from sqlalchemy import ColumnElement, Connection, CursorResult, Engine, Select, Table, Text, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from tablewright.domain.model import PENDING, Cell, Field, Struct, Value, make_given_cell

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
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


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
