"""The feed of a run: what it tells while it works, in order and numbered, so that any process can watch from wherever
it stopped reading."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, insert, select, update

from tablewright.domain.feed import Event, Progress
from tablewright.store.database import StorePart, read_transaction
from tablewright.store.ledger import octets
from tablewright.store.records import RecordMapper, now
from tablewright.store.schema import run_events, runs

MOST = 1_000
"""Events that are read at once."""
COUNTED = ("row_done", "row_skipped")


event_records = RecordMapper(Event, run_events, progress="event")


class Feed(StorePart):
    @read_transaction
    def read(self, connection: Connection, run_id: str, *, after: int = 0, limit: int = MOST) -> list[Event]:
        """Those that come after number `after`, in order."""
        events = run_events
        query = (
            select(events)
            .where(events.c.run_id == run_id, events.c.number > after)
            .order_by(events.c.number)
            .limit(limit)
        )
        return [event_records.read(each) for each in connection.execute(query)]


def append_events(connection: Connection, run_id: str, events: Sequence[Progress], *, rows: int | None = None) -> int:
    """Return the bytes of the events. With `rows`, so many more rows of the run are done, and the events say how many
    all are: those who work on its slices do not know of each other. The second writer waits for the first, so that no
    reader misses one."""
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
        records.append(event_records.write(Event(number=number, at=now(), progress=event), run_id=run_id))
    if records:
        connection.execute(insert(run_events), records)
    changed = {"last_event": run.last_event + len(records)} | ({} if rows is None else {"done": run.done + rows})
    connection.execute(update(runs).where(runs.c.id == run_id).values(changed))
    return sum(octets(str(record["event"])) for record in records)
