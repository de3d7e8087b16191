"""The history of a row within a run: every attempt, what it tried and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, select

from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import insert_many, upsert
from tablewright.store.records import to_text
from tablewright.table.attempts import Attempt
from tablewright.table.model import RowId


class Attempts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        """The same attempt again changes nothing."""
        records = [
            {"run_id": run_id, "row_id": row_id, "number": attempt.number, "attempt": to_text(attempt)}
            for row_id, attempt in attempts
        ]

        def work(connection: Connection) -> None:
            insert_many(connection, upsert(connection, schema.attempts).on_conflict_do_nothing(), records)

        if records:
            await self._database.write(work, repeatable=True)

    async def of_run(self, run_id: str) -> dict[RowId, list[Attempt]]:
        """By row, in their order."""
        kept = schema.attempts
        query = select(kept).where(kept.c.run_id == run_id).order_by(kept.c.row_id, kept.c.number)
        records = await self._database.read(lambda connection: connection.execute(query).all())
        found: dict[RowId, list[Attempt]] = {}
        for record in records:
            found.setdefault(record.row_id, []).append(msgspec.json.decode(record.attempt, type=Attempt))
        return found
