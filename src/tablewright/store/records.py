"""How nouns become records of the database and back, where SQLite and PostgreSQL differ, and small shared things."""

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

from tablewright.domain.model import PENDING, Cell, Field, Noun, Value, given

S = TypeVar("S", bound=msgspec.Struct)

_encoder = msgspec.json.Encoder()


class GivenRow(Noun, frozen=True, array_like=True):
    """A row as its owner gave it, by field number: the values, and the original texts where they differ."""

    values: dict[int, Value]
    raw: dict[int, str]

    def cells(self, names: Mapping[int, str]) -> dict[str, Cell]:
        values, raw = self.values, self.raw
        return {
            name: given(values[field_id], raw.get(field_id)) for field_id, name in names.items() if field_id in values
        }


_given = msgspec.json.Decoder(GivenRow)
_cell = msgspec.json.Decoder(Cell)
_field = msgspec.json.Decoder(Field)
_fields = msgspec.json.Decoder(tuple[Field, ...])


def to_text(noun: object) -> str:
    return _encoder.encode(noun).decode()


decode_given = _given.decode
decode_cell = _cell.decode
decode_field = _field.decode
decode_fields = _fields.decode


class RecordMapper(Generic[S]):
    """Reads structs from the records of a table, and turns structs into records of it.

    A field stands in the column of its name, or in the one that `columns` names for it, which may be a label of the
    query that reads it. What is no text, but stands in a column of texts, stands there as JSON. A field that is called
    "" is not in the table.
    """

    def __init__(self, struct: type[S], table: Table, /, **columns: str) -> None:
        fields = {field.name: field for field in msgspec.structs.fields(struct)}
        places = {name: columns.get(name, name) for name in fields}
        self.table = table
        self._struct = struct
        self._columns = {name: place for name, place in places.items() if place in table.c or columns.get(name)}
        self._pick = attrgetter(*self._columns.values())
        written = {name: table.c[place] for name, place in self._columns.items() if place in table.c}
        in_json = {
            name: bool(column.nullable)
            for name, column in written.items()
            if isinstance(column.type, Text) and not is_text(fields[name].type)
        }
        self._decoders = [(name, msgspec.json.Decoder(fields[name].type).decode) for name in in_json]
        self._plain = [(column.name, name) for name, column in written.items() if name not in in_json]
        self._encoded = [(written[name].name, name, nullable) for name, nullable in in_json.items()]

    def read(self, record: Any, /, **others: Any) -> S:
        """Return the struct of a record; `others` are fields that are not, or not as they are, in its columns."""
        return self._build(self._pick, record, **others)

    def reader(self, result: CursorResult[Any]) -> Callable[..., S]:
        """Return `read` for the records of this result, whose columns it finds by their places: it is faster."""
        keys = list(result.keys())
        return partial(self._build, itemgetter(*map(keys.index, self._columns.values())))

    def read_all(self, result: CursorResult[Any]) -> list[S]:
        read = self.reader(result)
        return [read(record) for record in result]

    def _build(self, pick: Callable[[Any], Any], record: Any, /, **others: Any) -> S:
        values = dict(zip(self._columns, pick(record)))  # noqa: B905 - as many, and checking it takes time
        for name, decode in self._decoders:
            if values[name] is not None:
                values[name] = decode(values[name])
        if others:
            values.update(others)
        return self._struct(**values)

    def write(self, struct: S, /, **others: Any) -> dict[str, Any]:
        """Return the record of a struct; `others` are columns that are not, or not as they are, in its fields."""
        record = {place: getattr(struct, name) for place, name in self._plain}
        for place, name, nullable in self._encoded:
            value = getattr(struct, name)
            record[place] = None if nullable and value is None else to_text(value)
        record.update(others)
        return record


def is_text(kind: Any) -> bool:
    """Return True for the type of a field whose values are texts or None."""
    if get_origin(kind) in (Union, UnionType):
        return all(is_text(each) for each in get_args(kind))
    return kind in (str, NoneType) or get_origin(kind) is Literal


FORGOTTEN = "forgotten"
"""The kind of an edit of a row that was removed with its document: all that it said is gone."""


def split_given(cells: Sequence[tuple[int, Cell]]) -> tuple[GivenRow, list[tuple[int, Cell]]]:
    """The given part of a new row, and the cells that carry more than a given value (evidence, a status, …)."""
    values: dict[int, Value] = {}
    raw: dict[int, str] = {}
    others: list[tuple[int, Cell]] = []
    for field_id, cell in cells:
        if cell == PENDING:
            continue
        if cell.value is not None and cell == given(cell.value, cell.raw_value):
            values[field_id] = cell.value
            if cell.raw_value is not None:
                raw[field_id] = cell.raw_value
        else:
            others.append((field_id, cell))
    return GivenRow(values=values, raw=raw), others


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def printable(text: str) -> str:
    """Without what no database takes: NULs, and the half characters that stand for undecodable bytes of file names."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def new_id(prefix: str) -> str:
    """Short enough to type, random enough for many machines to choose at once."""
    return prefix + "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(9))


def slug(name: str) -> str:
    """ "Sales 2024 (final)" → "sales-2024-final", the start of a table's id."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:40].strip("-") or "table"


T = TypeVar("T")

NAMED_AT_ONCE = 500
"""Ids in one statement that reads."""


def upsert(connection: Connection | Engine, table: Table) -> Any:
    """INSERT … ON CONFLICT, in the dialect at hand; SQLAlchemy's two `Insert` classes share no typed base."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def put_record(connection: Connection, table: Table, record: Mapping[str, Any]) -> None:
    """Insert a record, in place of the one with its key."""
    statement = upsert(connection, table).values(record)
    keys = [column.name for column in table.primary_key]
    others = {name: statement.excluded[name] for name in record if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=others))


def fetch_among(
    connection: Connection, query: Select[Any], column: ColumnElement[Any], ids: Iterable[Any]
) -> Iterator[Any]:
    """Yield the records of a query in which the column is one of `ids`, however many they are."""
    for batch in in_batches(ids, NAMED_AT_ONCE):
        yield from connection.execute(query.where(column.in_(batch)))


def in_batches(items: Iterable[T], size: int = 2_000) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def insert_many(connection: Connection, statement: Any, records: Sequence[Mapping[str, Any]]) -> None:
    """One INSERT for many records. Bound by us: SQLAlchemy's own handling of the values takes longer than SQLite's."""
    if not records:
        return
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(records[0]))
    if compiled.positional:
        pick = itemgetter(*compiled.positiontup)
        connection.exec_driver_sql(compiled.string, [pick(record) for record in records])
    else:
        connection.execute(statement, list(records))


def insert_select(connection: Connection, table: Table, columns: list[str], source: Select[Any]) -> int:
    """Return how many rows went in; without the option SQLAlchemy gives -1 for an INSERT on PostgreSQL."""
    statement = insert(table).from_select(columns, source)
    return connection.execute(statement, execution_options={"preserve_rowcount": True}).rowcount


def take_turns(connection: Connection, what: str) -> None:
    """Transactions about the same `what` go one after the other. SQLite has one writer, so there they do anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(what))))


def see_one_state(connection: Connection) -> None:
    """All that this transaction reads is of one moment. In SQLite it is anyway. To be called first."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
