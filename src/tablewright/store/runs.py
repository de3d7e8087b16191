"""Runs: one line for each piece of long work, who asked for what and what became of it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import Connection, insert, select, update

from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.records import new_id, now, to_text
from tablewright.store.tables import head
from tablewright.table.model import Noun
from tablewright.table.usage import Usage

RunStatus: TypeAlias = Literal["running", "done", "failed", "cancelled"]


class Run(Noun, frozen=True):
    id: str
    table_id: str
    kind: str
    status: RunStatus
    spec: dict[str, Any]
    started_at: str
    finished_at: str | None = None
    usage: Usage = Usage()
    error: str | None = None


class Runs:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, table_id: str, kind: str, spec: dict[str, Any]) -> str:
        run_id = new_id("r")

        def work(connection: Connection) -> str:
            connection.execute(
                insert(schema.runs).values(
                    id=run_id,
                    table_no=head(connection, table_id).no,
                    kind=kind,
                    status="running",
                    spec=to_text(spec),
                    started_at=now(),
                    usage=to_text(Usage()),
                )
            )
            return run_id

        return await self._database.write(work)

    async def finish(self, run_id: str, status: RunStatus, usage: Usage, error: str | None = None) -> None:
        def work(connection: Connection) -> None:
            runs = schema.runs
            values = {"status": status, "finished_at": now(), "usage": to_text(usage), "error": error}
            connection.execute(update(runs).where(runs.c.id == run_id).values(values))

        await self._database.write(work)

    async def get(self, run_id: str) -> Run:
        def work(connection: Connection) -> Run:
            runs, tables = schema.runs, schema.tables
            record = connection.execute(
                select(runs, tables.c.id.label("table_id"))
                .join(tables, tables.c.no == runs.c.table_no)
                .where(runs.c.id == run_id)
            ).one_or_none()
            if record is None:
                raise NotFound(f"There is no run {run_id!r}.")
            return Run(
                id=record.id,
                table_id=record.table_id,
                kind=record.kind,
                status=record.status,
                spec=msgspec.json.decode(record.spec),
                started_at=record.started_at,
                finished_at=record.finished_at,
                usage=msgspec.json.decode(record.usage, type=Usage),
                error=record.error,
            )

        return await self._database.read(work)
