"""Schedules: routines of a table that a worker runs again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from dbos import DBOSClient
from dbos._error import DBOSException

from tablewright.domain.model import Struct
from tablewright.domain.run import ACTOR, PERSON, Routine
from tablewright.engine.runs.queue import RUN_QUEUE, SCHEDULED_WORKFLOW
from tablewright.engine.runs.queue_database import repeat_in_queue
from tablewright.errors import UsageError

T = TypeVar("T")


class Schedule(Struct, frozen=True):
    table_id: str
    routine: Routine
    cron: str
    spec: dict[str, Any]
    last_at: str | None = None
    paused: str = ""
    """The reason why it is paused, or ""."""

    @property
    def person(self) -> str:
        """The id of the user in whose name it runs; "" for the owner of the installation."""
        return str(self.spec.get(PERSON, ""))

    @property
    def author(self) -> str:
        """The name of the user who set it last."""
        return str(self.spec.get(ACTOR, ""))


class Schedules:
    """In the database of the queue; a table has at most one schedule of each routine."""

    def __init__(self, database: str, patience: float) -> None:
        """`patience`: seconds to wait for a PostgreSQL server that is away."""
        self._database = database
        self._patience = patience

    async def put(self, table_id: str, routine: Routine, every: str, spec: dict[str, Any]) -> Schedule:
        """`every` is hour, day, week or a cron expression."""
        # In UTC, at night; a week is over on Monday.
        cron = {"hour": "0 * * * *", "day": "0 3 * * *", "week": "0 3 * * 1"}.get(every, every)
        schedule = Schedule(table_id=table_id, routine=routine, cron=cron, spec=spec)

        def work(client: DBOSClient) -> None:
            client.apply_schedules(
                [
                    {
                        "schedule_name": schedule_name(table_id, routine),
                        "workflow_name": SCHEDULED_WORKFLOW,
                        "schedule": schedule.cron,
                        "context": {"table_id": table_id, "routine": routine, "spec": spec},
                        "queue_name": RUN_QUEUE,
                    }
                ]
            )

        try:
            await self._ask(work)
        except DBOSException as error:
            raise UsageError(
                f"{every!r} is no time: {error}.",
                advice='Say hour, day, week, or a cron expression such as "0 6 * * 1-5".',
            ) from None
        return schedule

    async def all(self, table_id: str = "") -> list[Schedule]:
        found = await self._ask(
            lambda client: client.list_schedules(schedule_name_prefix=f"{table_id}/" if table_id else None)
        )
        return [
            Schedule(
                table_id=each["context"]["table_id"],
                routine=each["context"]["routine"],
                cron=each["schedule"],
                spec=each["context"]["spec"],
                last_at=str(each["last_fired_at"]) if each["last_fired_at"] else None,
            )
            for each in found
            # Schedules of an earlier version have text there (`queue.cancel_older_workflows`).
            if isinstance(each["context"], dict)
        ]

    async def remove(self, table_id: str) -> int:
        """Remove the schedules of a table, and return how many there were."""
        found = await self.all(table_id)

        def work(client: DBOSClient) -> None:
            for each in found:
                client.delete_schedule(schedule_name(table_id, each.routine))

        await self._ask(work)
        return len(found)

    async def _ask(self, work: Callable[[DBOSClient], T]) -> T:
        return await asyncio.to_thread(repeat_in_queue, self._database, work, self._patience)


def schedule_name(table_id: str, routine: Routine) -> str:
    return f"{table_id}/{routine}"
