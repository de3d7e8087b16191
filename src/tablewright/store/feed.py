"""The feed of a run: what it tells while it works, in order and numbered, so that any process can watch from wherever
it stopped reading."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, insert, select, update

from tablewright.domain.feed import Event, Progress
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.ledger import octets
from tablewright.store.records import now, to_text

MOST = 1_000
"""Events that are read at once."""
COUNTED = ("row_done", "row_skipped")


class Feed:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, run_id: str, *, after: int = 0, limit: int = MOST) -> list[Event]:
        """Those that come after number `after`, in order."""

        def work(connection: Connection) -> list[Event]:
            events = schema.run_events
            query = (
                select(events)
                .where(events.c.run_id == run_id, events.c.number > after)
                .order_by(events.c.number)
                .limit(limit)
            )
            return [
                Event(number=each.number, at=each.at, progress=msgspec.json.decode(each.event, type=Progress))
                for each in connection.execute(query)
            ]

        return await self._database.read(work)


def append_events(connection: Connection, run_id: str, events: Sequence[Progress], *, rows: int | None = None) -> int:
    """Return the bytes of the events. With `rows`, so many more rows of the run are done, and the events say how many
    all are: those who work on its slices do not know of each other. The second writer waits for the first, so that no
    reader misses one."""
    runs = schema.runs
    query = select(runs.c.done, runs.c.total, runs.c.last_event).where(runs.c.id == run_id).with_for_update()
    run = connection.execute(query).one_or_none()
    if run is None:  # its table was removed
        return 0
    records = []
    done = run.done if rows is None else run.done + rows - sum(event.stage in COUNTED for event in events)
    for number, event in enumerate(events, start=run.last_event + 1):
        if rows is not None:
            done += event.stage in COUNTED
            event = msgspec.structs.replace(event, done=done, total=run.total)
        records.append({"run_id": run_id, "number": number, "at": now(), "event": to_text(event)})
    if records:
        connection.execute(insert(schema.run_events), records)
    changed = {"last_event": run.last_event + len(records)} | ({} if rows is None else {"done": run.done + rows})
    connection.execute(update(runs).where(runs.c.id == run_id).values(changed))
    return sum(octets(str(record["event"])) for record in records)
