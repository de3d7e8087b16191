"""The history of a row: every attempt of every run, what it tried and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import Connection, select

from tablewright.domain.attempts import Attempt
from tablewright.domain.model import RowId
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import insert_many, upsert
from tablewright.store.ledger import charge_run, octets
from tablewright.store.records import to_text
from tablewright.store.schema import attempts, runs
from tablewright.store.tables import chunks, head, possible

decode_attempt = msgspec.json.Decoder(Attempt).decode

KEPT = 6
"""Attempts at a row that a later run is told of."""


class Attempts(StorePart):
    async def add(self, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        """The same attempt again changes nothing."""
        if attempts:
            await self._add(run_id, attempts)

    @repeatable_transaction
    def _add(self, connection: Connection, run_id: str, attempts: Sequence[tuple[RowId, Attempt]]) -> None:
        kept, row_ids = schema.attempts, [row_id for row_id, _ in attempts]
        near = kept.c.row_id.between(min(row_ids), max(row_ids))
        known = set(connection.execute(select(kept.c.row_id, kept.c.number).where(kept.c.run_id == run_id, near)))
        new = [
            {"run_id": run_id, "row_id": row_id, "number": attempt.number, "attempt": to_text(attempt)}
            for row_id, attempt in attempts
            if (row_id, attempt.number) not in known
        ]
        insert_many(connection, upsert(connection, kept).on_conflict_do_nothing(), new)
        charge_run(connection, run_id, sum(octets(str(record["attempt"])) for record in new))

    @read_transaction
    def of_run(self, connection: Connection, run_id: str) -> dict[RowId, list[Attempt]]:
        """By row, in their order."""
        kept = attempts
        query = select(kept).where(kept.c.run_id == run_id).order_by(kept.c.row_id, kept.c.number)
        found: dict[RowId, list[Attempt]] = {}
        for record in connection.execute(query):
            found.setdefault(record.row_id, []).append(decode_attempt(record.attempt))
        return found

    @read_transaction
    def of_rows(
        self,
        connection: Connection,
        table_id: str,
        row_ids: Sequence[RowId],
        *,
        columns: Collection[str] | None = None,
        before: str = "",
    ) -> dict[RowId, list[Attempt]]:
        """By row, the last attempts at it in all runs of the table, the newest last; with `columns` those at any of
        them, with `before` those of runs that began before that run."""
        kept = schema.attempts
        query = (
            select(kept.c.row_id, kept.c.attempt)
            .join(runs, runs.c.id == kept.c.run_id)
            .where(runs.c.table_no == head(connection, table_id).no)
            .order_by(runs.c.started_at.desc(), runs.c.id, kept.c.number.desc())
        )
        if before:
            began = select(runs.c.started_at).where(runs.c.id == before).scalar_subquery()
            query = query.where(runs.c.started_at < began, runs.c.id != before)
        found: dict[RowId, list[Attempt]] = {}
        for chunk in chunks(possible(row_ids), 500):
            for row_id, text in connection.execute(query.where(kept.c.row_id.in_(chunk))):
                own = found.get(row_id, ())
                if len(own) < KEPT and is_at((attempt := decode_attempt(text)), columns):
                    found[row_id] = [attempt, *own]
        return found


def is_at(attempt: Attempt, columns: Collection[str] | None) -> bool:
    return columns is None or any(name in columns for name in attempt.columns)
