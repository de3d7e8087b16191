"""How far a run has come: what it tells while it works, and the slices of one that several processes work on.

Events are numbered, so any process can watch from wherever it stopped reading.

What a slice has found, which of its rows are done, what that took and what people who watch are told is written in one
transaction. So a run that was killed goes on with exactly the rows that are not done, and counts nothing twice. A slice
belongs to whoever claimed it last: one who was thought dead and writes after all is refused (`Superseded`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from tablewright.domain.feed import Event, Progress
from tablewright.domain.model import Noun, RowId
from tablewright.domain.usage import Usage
from tablewright.errors import Superseded
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import SpentSoFar, charge_run, note_spent, octets
from tablewright.store.proposal import CellAt, Operation, add_operations
from tablewright.store.records import RecordMapper, now, to_text
from tablewright.store.schema import run_events, run_slices, runs

MOST = 1_000
"""Events that are read at once."""
COUNTED = ("row_done", "row_skipped")


event_records = RecordMapper(Event, run_events, progress="event")


class Feed(StorePart):
    @read_transaction
    def read(self, connection: Connection, run_id: str, *, after: int = 0, limit: int = MOST) -> list[Event]:
        """Those that come after number `after`, in order."""
        query = (
            select(run_events)
            .where(run_events.c.run_id == run_id, run_events.c.number > after)
            .order_by(run_events.c.number)
            .limit(limit)
        )
        return event_records.read_all(connection.execute(query))


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


NAMED = 5
"""Skipped rows that are named; the others are counted."""


class SkippedRow(Noun, frozen=True, omit_defaults=False):
    row_id: RowId
    label: str = ""
    why: str = ""


class RunTally(Noun, frozen=True, omit_defaults=False):
    """Rows and cells, as a run counts them; `bought` are those for which something was really asked of somebody."""

    rows: int = 0
    found: int = 0
    empty: int = 0
    skipped: int = 0
    left: int = 0
    unasked: int = 0
    bought_rows: int = 0
    bought_cells: int = 0
    degraded: int = 0
    incomplete: int = 0
    skipped_rows: tuple[SkippedRow, ...] = ()
    cause: str = ""
    """Why cells could not be asked for, of the first of them."""

    def __add__(self, other: RunTally) -> RunTally:
        both = RunTally(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})
        return msgspec.structs.replace(both, skipped_rows=both.skipped_rows[:NAMED], cause=self.cause or other.cause)


class Todo(Noun, frozen=True):
    """The rows of a slice; with `only`, just these cells of them, whatever their status."""

    row_ids: tuple[RowId, ...]
    only: tuple[CellAt, ...] | None = None


class Slice(Noun, frozen=True):
    run_id: str
    number: int
    todo: Todo
    owner: str = ""
    """The process, and a name of its own for each time that one claims it: PROCESS/NAME."""
    done: tuple[RowId, ...] = ()
    finished: bool = False
    tally: RunTally = RunTally()
    usage: Usage = Usage()
    setbacks: int = 0
    """How often a process was lost while it had the slice."""

    @property
    def left(self) -> Todo:
        """What was not done yet."""
        done = set(self.done)
        only = self.todo.only
        return Todo(
            row_ids=tuple(row_id for row_id in self.todo.row_ids if row_id not in done),
            only=None if only is None else tuple(at for at in only if at[0] not in done),
        )


slice_records = RecordMapper(Slice, run_slices)


class Totals(Noun, frozen=True):
    """A run so far."""

    tally: RunTally = RunTally()
    usage: Usage = Usage()
    unfinished: tuple[int, ...] = ()


class Slices(StorePart):
    @repeatable_transaction
    def claim(self, connection: Connection, run_id: str, number: int, owner: str) -> Slice:
        """From now on it is the owner's; whoever had it before writes to it no more. A process that had it until now,
        and neither finished it nor gave it back, was lost with it."""
        record = connection.execute(select(run_slices).where(is_slice(run_id, number)).with_for_update()).one_or_none()
        if record is None:
            raise slice_superseded(run_id, number)
        before = slice_records.read(record)
        lost = not before.finished and is_of_another(before.owner, owner)
        claimed = msgspec.structs.replace(before, owner=owner, setbacks=before.setbacks + lost)
        values = {"owner": owner, "setbacks": claimed.setbacks}
        connection.execute(update(run_slices).where(is_slice(run_id, number)).values(values))
        return claimed

    @repeatable_transaction
    def give_back(self, connection: Connection, run_id: str, owner: str = "") -> None:
        """What is not finished is nobody's from now on: all of a run, or what `owner` has of it."""
        give_back_slices(connection, run_id, owner=owner)

    @repeatable_transaction
    def keep(
        self,
        connection: Connection,
        state: Slice,
        proposal_id: str,
        operations: Sequence[Operation],
        events: Sequence[Progress] = (),
        spent: SpentSoFar | None = None,
    ) -> None:
        """All of it or, where the slice is somebody else's by now, nothing. What is there already, because its writer
        was cut off before knowing so, is not counted or told again. `spent` is noted with the hold of those who pay."""
        done, usage = to_text(state.done), to_text(state.usage)
        present = connection.execute(
            select(run_slices.c.owner, run_slices.c.done, run_slices.c.usage, run_slices.c.finished)
            .where(is_slice(state.run_id, state.number))
            .with_for_update()
        ).one_or_none()
        if present is None or present.owner != state.owner:
            raise slice_superseded(state.run_id, state.number)
        if (present.done, present.usage, present.finished) == (done, usage, state.finished):
            return
        before = set(msgspec.json.decode(present.done))
        new = [event for event in events if event.stage not in COUNTED or event.row_id not in before]
        connection.execute(
            update(run_slices)
            .where(is_slice(state.run_id, state.number))
            .values(done=done, finished=state.finished, tally=to_text(state.tally), usage=usage)
        )
        grown = add_operations(connection, proposal_id, operations)
        grown += append_events(connection, state.run_id, new, rows=len(state.done) - len(before))
        note_spent(connection, spent)
        charge_run(connection, state.run_id, grown)

    @read_transaction
    def totals(self, connection: Connection, run_id: str) -> Totals:
        query = select(run_slices.c.number, run_slices.c.finished, run_slices.c.tally, run_slices.c.usage)
        records = connection.execute(query.where(run_slices.c.run_id == run_id).order_by(run_slices.c.number)).all()
        return Totals(
            tally=sum((msgspec.json.decode(record.tally, type=RunTally) for record in records), RunTally()),
            usage=sum((msgspec.json.decode(record.usage, type=Usage) for record in records), Usage()),
            unfinished=tuple(record.number for record in records if not record.finished),
        )

    @read_transaction
    def usage(self, connection: Connection, run_id: str) -> Usage:
        """What all of them took so far, whoever did them."""
        usages = connection.scalars(select(run_slices.c.usage).where(run_slices.c.run_id == run_id))
        return sum((msgspec.json.decode(usage, type=Usage) for usage in usages), Usage())


def write_slices(connection: Connection, run_id: str, todos: Sequence[Todo]) -> int:
    """Return the bytes that they take, once all of their rows are named as done too."""
    slices = (Slice(run_id=run_id, number=number, todo=todo) for number, todo in enumerate(todos, start=1))
    records = [slice_records.write(each) for each in slices]
    if records:
        connection.execute(insert(run_slices), records)
    return 2 * sum(octets(str(record["todo"])) for record in records)


def give_back_slices(connection: Connection, run_id: str, *, owner: str = "", anew: bool = False) -> None:
    """`anew`: whatever was lost with them before no longer counts."""
    unfinished = (run_slices.c.run_id == run_id) & run_slices.c.finished.is_(False)
    if owner:
        unfinished &= run_slices.c.owner == owner
    values = {"owner": ""} | ({"setbacks": 0} if anew else {})
    connection.execute(update(run_slices).where(unfinished).values(values))


def is_of_another(before: str, now: str) -> bool:
    """Whether the process that had something is another one than the one that has it now; both are PROCESS/NAME."""
    return before != "" and before.partition("/")[0] != now.partition("/")[0]


def is_slice(run_id: str, number: int) -> Any:
    return (run_slices.c.run_id == run_id) & (run_slices.c.number == number)


def slice_superseded(run_id: str, number: int) -> Superseded:
    return Superseded(f"Slice {number} of run {run_id} is done by somebody else now, or was removed with its table.")
