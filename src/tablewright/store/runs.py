"""Runs: one line for each piece of long work, who asked for what and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import Connection, insert, select, update
from sqlalchemy import Row as Record

from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.records import new_id, now, to_text
from tablewright.store.tables import head
from tablewright.table.model import Noun
from tablewright.table.usage import Usage

RunStatus: TypeAlias = Literal["running", "done", "failed", "cancelled", "over_budget"]

ENDED: tuple[RunStatus, ...] = ("done", "cancelled", "over_budget")
NEWEST = 500
"""Runs that are looked through for those of one kind of work."""


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

    async def finish(
        self,
        run_id: str,
        status: RunStatus,
        usage: Usage,
        error: str | None = None,
        *,
        spec: dict[str, Any] | None = None,
    ) -> None:
        """`spec` is what it turned out to be, where that is more than was known at the start."""

        def work(connection: Connection) -> None:
            runs = schema.runs
            values = {"status": status, "finished_at": now(), "usage": to_text(usage), "error": error}
            if spec is not None:
                values["spec"] = to_text(spec)
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
            return as_run(record)

        return await self._database.read(work)

    async def alike(self, kind: str, like: Mapping[str, Any]) -> list[Run]:
        """Runs that came to an end and whose spec says all that `like` says, of whatever table, the newest first."""

        def work(connection: Connection) -> list[Run]:
            runs, tables = schema.runs, schema.tables
            records = connection.execute(
                select(runs, tables.c.id.label("table_id"))
                .join(tables, tables.c.no == runs.c.table_no)
                .where(runs.c.kind == kind, runs.c.status.in_(ENDED))
                .order_by(runs.c.started_at.desc())
                .limit(NEWEST)
            )
            return [
                run
                for run in map(as_run, records)
                if all(name in run.spec and run.spec[name] == value for name, value in like.items())
            ]

        return await self._database.read(work)

    async def cost(self, table_id: str) -> float:
        """The dollars that all runs of a table have spent, whatever became of what they found."""

        def work(connection: Connection) -> float:
            runs = schema.runs
            usages = connection.execute(
                select(runs.c.usage).where(runs.c.table_no == head(connection, table_id).no)
            ).scalars()
            return sum(msgspec.json.decode(usage, type=Usage).cost_usd for usage in usages)

        return await self._database.read(work)


def as_run(record: Record[Any]) -> Run:
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
