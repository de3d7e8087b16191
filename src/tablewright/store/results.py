"""Result sets: all rows of an answer that shows only some of them, kept for "show the rest" and "export that table"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select

from tablewright.domain.corpus import Truth
from tablewright.domain.model import Noun
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.dialect import insert_many
from tablewright.store.ledger import charge_bytes, octets
from tablewright.store.parts import existing, in_batches
from tablewright.store.records import RecordMapper, new_id, now, printable, to_text
from tablewright.store.schema import result_rows, results
from tablewright.store.sharing import claim, find_visible, release


class ResultRow(Noun, frozen=True):
    """`start:end` of the document's text is what the row says."""

    document_id: str
    page: int | None = None
    values: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    verdict: Truth = "match"


class ResultSet(Noun, frozen=True):
    """`rows` are some of the `total`, which is less than it was where documents were removed since."""

    id: str
    question: str
    columns: tuple[str, ...]
    created_at: str
    total: int
    rows: tuple[ResultRow, ...]


result_row_records = RecordMapper(ResultRow, result_rows, start="begins", end="ends", values="content")
result_set_records = RecordMapper(ResultSet, results)


class Results(StorePart):
    @write_transaction
    def keep(self, connection: Connection, question: str, columns: Sequence[str], rows: Sequence[ResultRow]) -> str:
        result_id = new_id("res_")
        records = [
            result_row_records.write(
                row, result_id=result_id, position=position, content=to_text([printable(value) for value in row.values])
            )
            for position, row in enumerate(rows)
        ]
        connection.execute(
            insert(results).values(
                id=result_id, question=printable(question), columns=to_text(list(columns)), created_at=now()
            )
        )
        claim(connection, "result", [result_id])
        there = existing(connection, [row.document_id for row in rows])
        kept = [record for record in records if record["document_id"] in there]
        insert_many(connection, insert(result_rows), kept)
        charge_bytes(connection, "result", result_id, sum(octets(str(record["content"])) for record in kept))
        return result_id

    @read_transaction
    def page(self, connection: Connection, id: str, offset: int = 0, limit: int | None = None) -> ResultSet:
        """The rows from `offset` on, all of them without a `limit`."""
        head = find_visible(connection, "result", id)
        rows = result_rows
        theirs = rows.c.result_id == id
        query: Select[Any] = select(rows).where(theirs).order_by(rows.c.position).offset(offset)
        found = connection.execute(query if limit is None else query.limit(limit))
        total = connection.execute(select(func.count()).select_from(rows).where(theirs)).scalar_one()
        return result_set_records.read(
            head, total=total, rows=tuple(result_row_records.read(record) for record in found)
        )

    async def get(self, id: str) -> ResultSet:
        """With all its rows."""
        return await self.page(id)


def drop_results(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids):
        connection.execute(delete(result_rows).where(result_rows.c.result_id.in_(some)))
        connection.execute(delete(results).where(results.c.id.in_(some)))
        release(connection, "result", some)
