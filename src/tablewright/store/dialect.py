"""Where SQLite and PostgreSQL differ, and where SQLAlchemy needs help with either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Engine, Select, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import Table

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
    """How many rows went in; without the option SQLAlchemy gives -1 for an INSERT on PostgreSQL."""
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
