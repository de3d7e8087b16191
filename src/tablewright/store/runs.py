"""Runs, their events, and the slices that several processes share.

A run in progress has an `owner`. If that process is gone, the run is interrupted: `Workers` knows which owners are
alive. Events are numbered, so any process can watch from any event on.

The findings of a slice, its finished rows, their usage and their events are written in one transaction. A killed run
therefore continues with exactly the rows that are left and counts nothing twice. A slice belongs to the process that
claimed it last; a late write of an earlier one is refused (`Superseded`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, insert, or_, select, tuple_, update
from sqlalchemy import Row as Record

from tablewright.domain.access import ActingUser
from tablewright.domain.model import Field, RowId, Struct
from tablewright.domain.proposal import CellAt, ProposedCell
from tablewright.domain.run import (
    ACTOR,
    HOLDER,
    PERSON,
    SETBACKS,
    SINCE,
    Event,
    Progress,
    Run,
    RunStatus,
    RunTally,
    Since,
    Usage,
)
from tablewright.errors import NotFound, RunEnded, Superseded
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import SpentSoFar, charge_run, charge_table, record_spent
from tablewright.store.proposal_queries import add_operations, create_proposal
from tablewright.store.records import RecordMapper, count_utf8_bytes, new_id, to_json_text, utc_now
from tablewright.store.schema import run_events, run_slices, runs, tables
from tablewright.store.sharing import is_visible
from tablewright.store.tables import read_table_head
from tablewright.store.users import acting_user_id, explain_lost_authority
from tablewright.store.workers import QUEUE_OWNER_PREFIX

# Runs listed at once, and searched for similar ones: the newest tell most about durations and costs.
MAX_RUNS_READ = 500
# Runs about no table; tables are numbered from 1.
NO_TABLE_NO = 0
run_records = RecordMapper(Run, runs)


class Runs(StorePart):
    """Start, end, take over and list runs."""

    async def start(self, table_id: str, kind: str, spec: dict[str, Any], *, owner: str = "", total: int = 0) -> str:
        """Start a run without slices. `table_id` is "" if it is about no table."""
        return await self._start(new_run(table_id, kind, spec, owner, total))

    @repeatable_transaction
    def _start(self, connection: Connection, run: Run) -> str:
        if not run_exists(connection, run.id):
            write_run(connection, run, find_table_no(connection, run.table_id))
        return run.id

    async def start_sliced(
        self,
        table_id: str,
        kind: str,
        spec: dict[str, Any],
        fields: Sequence[Field],
        todos: Sequence[SliceWork],
        owner: str,
    ) -> str:
        """Start a run with its proposal and its slices, in one transaction."""
        total = sum(len(todo.row_ids) for todo in todos)
        return await self._start_sliced(new_run(table_id, kind, spec, owner, total), fields, todos)

    @repeatable_transaction
    def _start_sliced(
        self, connection: Connection, run: Run, fields: Sequence[Field], todos: Sequence[SliceWork]
    ) -> str:
        if not run_exists(connection, run.id):
            no = find_table_no(connection, run.table_id)
            write_run(connection, run, no)
            create_proposal(connection, no, run.id, fields)
            size = write_slices(connection, run.id, todos)
            append_events(connection, run.id, [Progress(stage="starting", total=run.total)])
            charge_table(connection, no, size)
        return run.id

    @repeatable_transaction
    def finish(
        self,
        connection: Connection,
        run_id: str,
        status: RunStatus,
        usage: Usage,
        error: str | None = None,
        *,
        spec: dict[str, Any] | None = None,
        news: Sequence[Progress] = (),
        owner: str = "",
        holder: str = "",
    ) -> None:
        """End a run. `spec` replaces the one it was started with; `news` are its last events. Do nothing if it has
        ended, or if `owner` or `holder` no longer has it."""
        running = (runs.c.id == run_id) & (runs.c.status == "running")
        if owner:
            running &= runs.c.owner == owner
        if not is_held(connection, running, holder):
            return
        size = append_events(connection, run_id, news)
        values = {"status": status, "finished_at": utc_now(), "usage": to_json_text(usage), "error": error, "stop": ""}
        if spec is not None:
            values["spec"] = to_json_text(spec)
        connection.execute(update(runs).where(running).values(values))
        charge_run(connection, run_id, size, even_above=True)

    @repeatable_transaction
    def set_holder(self, connection: Connection, run_id: str, holder: str) -> int:
        """Make `holder` (PROCESS/NAME) the one that executes a run without slices, and return how many processes were
        lost with it. The previous holder, if it is alive after all, notices at its next event."""
        spec = lock_spec(connection, runs.c.id == run_id) or {}
        setbacks = int(spec.get(SETBACKS, 0)) + is_other_process(spec.get(HOLDER, ""), holder)
        write_spec(connection, run_id, spec | {HOLDER: holder, SETBACKS: setbacks})
        return setbacks

    @repeatable_transaction
    def release_holder(self, connection: Connection, run_id: str, holder: str) -> None:
        """Leave a run to another process, without counting this one as lost."""
        spec = lock_spec(connection, runs.c.id == run_id)
        if spec is not None and spec.get(HOLDER) == holder:
            write_spec(connection, run_id, spec | {HOLDER: ""})

    async def write_progress(
        self,
        run_id: str,
        holder: str,
        events: Sequence[Progress],
        usage: Usage,
        spent: SpentSoFar | None = None,
    ) -> bool:
        """Write events and usage of a run without slices. Return False if it has ended, or has another holder.
        Repeating a write whose result was lost changes nothing. `spent` is noted with the dollars held."""
        before: int | None = None

        def work(connection: Connection) -> bool:
            nonlocal before
            running = (runs.c.id == run_id) & (runs.c.status == "running")
            if not is_held(connection, running, holder):
                return False
            last = int(connection.execute(select(runs.c.last_event).where(running)).scalar_one())
            # The first attempt was committed after all, although its answer was lost.
            if before is not None and last > before:
                return True
            before = last
            size = append_events(connection, run_id, events)
            values: dict[str, Any] = {"usage": to_json_text(usage)}
            if events:
                values |= {"done": events[-1].done, "total": events[-1].total}
            connection.execute(update(runs).where(running).values(values))
            record_spent(connection, spent)
            charge_run(connection, run_id, size, even_above=True)
            return True

        return await self._database.write(work, repeatable=True)

    @repeatable_transaction
    def take_over(
        self,
        connection: Connection,
        run: Run,
        owner: str,
        *,
        restart: bool = False,
        settings: Mapping[str, str] | None = None,
        by: ActingUser | None = None,
    ) -> bool:
        """Make `owner` the owner. Return False if the run has changed since it was read, because another process was
        faster. `restart`: even if it has ended or was asked to stop. `settings` replace those of the run. It continues
        in the name of `by`, who resumes it, if the user who started it may no longer run it."""
        record = connection.execute(select_runs().where(runs.c.id == run.id).with_for_update(of=runs)).one_or_none()
        present = run_from_record(record) if record else None
        # Compare and set: of several processes that want the run, the first one gets it.
        if present is None or (present.owner, present.status) != (run.owner, run.status):
            return present is not None and (present.owner, present.status) == (owner, "running")
        # The last event is the last time at which the lost process certainly worked.
        last = (run_events.c.run_id == run.id) & (run_events.c.number == present.last_event)
        until = connection.scalar(select(run_events.c.at).where(last)) or present.since.at
        # Time without a process does not count as working time.
        since = Since(at=utc_now(), done=present.done, seconds=present.seconds_worked(until))
        spec = present.spec | {SINCE: since}
        if settings:
            spec["settings"] = {**spec["settings"], **settings}
        values: dict[str, Any] = {"owner": owner}
        if by is not None and explain_lost_authority(connection, present.person, present.table_id):
            person = by.person.id if by.person else ""
            values["person"] = person
            spec |= {name: new for name, new in ((PERSON, person), (ACTOR, by.actor)) if name in spec}
        if restart:
            spec |= {HOLDER: "", SETBACKS: 0}
            release_slices(connection, run.id, restart=True)
            values |= {"status": "running", "stop": "", "error": None, "finished_at": None}
        # From one worker to another: the first one has died with the run.
        elif owner.startswith(QUEUE_OWNER_PREFIX) and run.owner.startswith(QUEUE_OWNER_PREFIX):
            spec |= {SETBACKS: present.setbacks + 1}
        values["spec"] = to_json_text(spec)
        connection.execute(update(runs).where(runs.c.id == run.id).values(values))
        return True

    @repeatable_transaction
    def ask_to_stop(self, connection: Connection, run_id: str, *, pause: bool = False) -> None:
        """Ask a run to stop, or to `pause`; the process that executes it sees that within a second."""
        run = read_run(connection, run_id)
        if run.status != "running":
            raise RunEnded(
                f"Run {run_id} has ended already: it is {run.status.replace('_', ' ')}.",
                kept="What it found is kept.",
            )
        # A run that is being cancelled stays so.
        if pause and run.stopping:
            return
        connection.execute(update(runs).where(runs.c.id == run_id).values(stop="pause" if pause else "cancel"))

    @read_transaction
    def find_stopping(self, connection: Connection, run_ids: Collection[str]) -> set[str]:
        """Return the runs that were asked to stop, have ended, or were removed with their table."""
        going_on = select(runs.c.id).where(runs.c.id.in_(list(run_ids)), runs.c.stop == "", runs.c.status == "running")
        return set(run_ids) - set(connection.scalars(going_on))

    @read_transaction
    def get(self, connection: Connection, run_id: str) -> Run:
        return read_run(connection, run_id)

    @read_transaction
    def all(
        self,
        connection: Connection,
        table_id: str | None = None,
        *,
        status: RunStatus | None = None,
        limit: int = MAX_RUNS_READ,
        before: tuple[str, str] | None = None,
    ) -> list[Run]:
        """Return runs, newest first, after the one with the start and id of `before`."""
        query = (
            select_runs()
            .where(is_visible_run(connection))
            # The id too, since several runs may start at one moment, and a page must not skip one.
            .order_by(runs.c.started_at.desc(), runs.c.id.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(tuple_(runs.c.started_at, runs.c.id) < before)
        if table_id is not None:
            query = query.where(runs.c.table_no == read_table_head(connection, table_id).no)
        if status is not None:
            query = query.where(runs.c.status == status)
        return [run_from_record(record) for record in connection.execute(query)]

    @read_transaction
    def find_similar(self, connection: Connection, kind: str, like: Mapping[str, Any]) -> list[Run]:
        """Return ended runs of any table whose spec has everything in `like`, newest first."""
        records = connection.execute(
            select_runs()
            # Not failed or paused ones: they say what went wrong, not what a row takes.
            .where(runs.c.kind == kind, runs.c.status.in_(("done", "cancelled", "over_budget")))
            .order_by(runs.c.started_at.desc())
            .limit(MAX_RUNS_READ)
        )
        return [
            run
            for run in map(run_from_record, records)
            if all(name in run.spec and run.spec[name] == value for name, value in like.items())
        ]

    @read_transaction
    def cost(self, connection: Connection, table_id: str) -> float:
        """Return the dollars that all runs of a table have spent."""
        usages = connection.scalars(
            select(runs.c.usage).where(runs.c.table_no == read_table_head(connection, table_id).no)
        )
        return sum(msgspec.json.decode(usage, type=Usage).cost_usd for usage in usages)


def new_run(table_id: str, kind: str, spec: dict[str, Any], owner: str, total: int) -> Run:
    """Return a run that is not written yet. Its id is chosen before its transaction, which may be repeated."""
    return Run(
        id=new_id("r"),
        table_id=table_id,
        kind=kind,
        status="running",
        spec=spec,
        started_at=utc_now(),
        owner=owner,
        total=total,
        person=str(spec.get(PERSON) or ""),
    )


def write_run(connection: Connection, run: Run, table_no: int) -> None:
    record = run_records.write(run, table_no=table_no, person=run.person or acting_user_id(connection))
    connection.execute(insert(runs), record)


def run_exists(connection: Connection, run_id: str) -> bool:
    return connection.scalar(select(runs.c.id).where(runs.c.id == run_id)) is not None


def read_run(connection: Connection, run_id: str) -> Run:
    query = select_runs().where(runs.c.id == run_id, is_visible_run(connection))
    record = connection.execute(query).one_or_none()
    if record is None:
        raise NotFound(f"There is no run {run_id!r}.", advice="`tablewright runs list` shows them.")
    return run_from_record(record)


def is_visible_run(connection: Connection) -> ColumnElement[bool]:
    """Select the runs of tables that the user sees, and their own runs that are about no table."""
    own = (runs.c.table_no == NO_TABLE_NO) & (runs.c.person == acting_user_id(connection))
    return or_(is_visible(connection, "table"), own)


def is_held(connection: Connection, run: ColumnElement[bool], holder: str) -> bool:
    """Lock a run, and return True if it is there and has no other holder."""
    spec = lock_spec(connection, run)
    return spec is not None and (not holder or spec.get(HOLDER) == holder)


def lock_spec(connection: Connection, run: ColumnElement[bool]) -> dict[str, Any] | None:
    """Return the spec of a run, locked until the transaction is over."""
    spec = connection.scalar(select(runs.c.spec).where(run).with_for_update())
    return None if spec is None else msgspec.json.decode(spec, type=dict[str, Any])


def write_spec(connection: Connection, run_id: str, spec: Mapping[str, Any]) -> None:
    connection.execute(update(runs).where(runs.c.id == run_id).values(spec=to_json_text(spec)))


def find_table_no(connection: Connection, table_id: str) -> int:
    return read_table_head(connection, table_id).no if table_id else NO_TABLE_NO


def select_runs() -> Select[Any]:
    return select(runs, tables.c.id.label("table_id")).outerjoin(tables, tables.c.no == runs.c.table_no)


def run_from_record(record: Record[Any]) -> Run:
    return run_records.read(
        record, table_id=record.table_id or "", stopping=bool(record.stop), pausing=record.stop == "pause"
    )


# Events per query, some 200 KB.
MAX_EVENTS_READ = 1_000
# Events of these stages count a row as done.
ROW_END_STAGES = ("row_done", "row_skipped")


event_records = RecordMapper(Event, run_events, progress="event")


class RunEvents(StorePart):
    """Read the events of a run."""

    @read_transaction
    def read(self, connection: Connection, run_id: str, *, after: int = 0, limit: int = MAX_EVENTS_READ) -> list[Event]:
        """Return the events after number `after`, in order."""
        query = (
            select(run_events)
            .where(run_events.c.run_id == run_id, run_events.c.number > after)
            .order_by(run_events.c.number)
            .limit(limit)
        )
        return event_records.read_all(connection.execute(query))


def append_events(connection: Connection, run_id: str, events: Sequence[Progress], *, rows: int | None = None) -> int:
    """Append events to a run, and return their bytes. `rows` more rows are done; each event gets the count of the whole
    run, which a slice does not know. The run is locked, so that no reader misses an event."""
    query = select(runs.c.done, runs.c.total, runs.c.last_event).where(runs.c.id == run_id).with_for_update()
    run = connection.execute(query).one_or_none()
    # Its table was removed.
    if run is None:
        return 0
    records = []
    done = run.done if rows is None else run.done + rows - sum(event.stage in ROW_END_STAGES for event in events)
    for number, event in enumerate(events, start=run.last_event + 1):
        if rows is not None:
            done += event.stage in ROW_END_STAGES
            event = msgspec.structs.replace(event, done=done, total=run.total)
        records.append(event_records.write(Event(number=number, at=utc_now(), progress=event), run_id=run_id))
    if records:
        connection.execute(insert(run_events), records)
    changed = {"last_event": run.last_event + len(records)} | ({} if rows is None else {"done": run.done + rows})
    connection.execute(update(runs).where(runs.c.id == run_id).values(changed))
    return sum(count_utf8_bytes(str(record["event"])) for record in records)


class SliceWork(Struct, frozen=True):
    """The rows of a slice; with `only`, exactly these of their cells, whatever their status."""

    row_ids: tuple[RowId, ...]
    only: tuple[CellAt, ...] | None = None


class Slice(Struct, frozen=True):
    run_id: str
    number: int
    todo: SliceWork
    owner: str = ""
    """PROCESS/NAME, with a new name for each claim."""
    done: tuple[RowId, ...] = ()
    finished: bool = False
    tally: RunTally = RunTally()
    usage: Usage = Usage()
    setbacks: int = 0
    """The number of processes that died while they had the slice."""

    @property
    def left(self) -> SliceWork:
        """The rows and cells that are not done."""
        done = set(self.done)
        only = self.todo.only
        return SliceWork(
            row_ids=tuple(row_id for row_id in self.todo.row_ids if row_id not in done),
            only=None if only is None else tuple(at for at in only if at[0] not in done),
        )


slice_records = RecordMapper(Slice, run_slices)


class SliceTotals(Struct, frozen=True):
    """The counts of a run so far, over all its slices."""

    tally: RunTally = RunTally()
    usage: Usage = Usage()
    unfinished: tuple[int, ...] = ()


class Slices(StorePart):
    """Claim, release and write the slices of a run."""

    @repeatable_transaction
    def claim(self, connection: Connection, run_id: str, number: int, owner: str) -> Slice:
        """Give a slice to `owner`; writes of the previous owner are refused. If that was another process that neither
        finished nor released the slice, count it as lost."""
        record = connection.execute(select(run_slices).where(is_slice(run_id, number)).with_for_update()).one_or_none()
        if record is None:
            raise slice_superseded(run_id, number)
        before = slice_records.read(record)
        lost = not before.finished and is_other_process(before.owner, owner)
        claimed = msgspec.structs.replace(before, owner=owner, setbacks=before.setbacks + lost)
        values = {"owner": owner, "setbacks": claimed.setbacks}
        connection.execute(update(run_slices).where(is_slice(run_id, number)).values(values))
        return claimed

    @repeatable_transaction
    def give_back(self, connection: Connection, run_id: str, owner: str = "") -> None:
        """Release the unfinished slices of a run, or those of `owner`."""
        release_slices(connection, run_id, owner=owner)

    @repeatable_transaction
    def keep(
        self,
        connection: Connection,
        state: Slice,
        proposal_id: str,
        operations: Sequence[ProposedCell],
        events: Sequence[Progress] = (),
        spent: SpentSoFar | None = None,
    ) -> None:
        """Write the results of a slice in one transaction; refuse if it has another owner. Repeating a write whose
        result was lost changes nothing. `spent` is recorded with the held dollars."""
        done, usage = to_json_text(state.done), to_json_text(state.usage)
        present = connection.execute(
            select(run_slices.c.owner, run_slices.c.done, run_slices.c.usage, run_slices.c.finished)
            .where(is_slice(state.run_id, state.number))
            .with_for_update()
        ).one_or_none()
        if present is None or present.owner != state.owner:
            raise slice_superseded(state.run_id, state.number)
        # The same write again: its first attempt was committed although its answer was lost.
        if (present.done, present.usage, present.finished) == (done, usage, state.finished):
            return
        before = set(msgspec.json.decode(present.done))
        # Rows that an earlier owner of the slice had finished are not counted twice.
        new = [event for event in events if event.stage not in ROW_END_STAGES or event.row_id not in before]
        connection.execute(
            update(run_slices)
            .where(is_slice(state.run_id, state.number))
            .values(done=done, finished=state.finished, tally=to_json_text(state.tally), usage=usage)
        )
        table_no = connection.execute(select(runs.c.table_no).where(runs.c.id == state.run_id)).scalar_one()
        grown = add_operations(connection, proposal_id, table_no, operations)
        grown += append_events(connection, state.run_id, new, rows=len(state.done) - len(before))
        record_spent(connection, spent)
        charge_run(connection, state.run_id, grown)

    @read_transaction
    def totals(self, connection: Connection, run_id: str) -> SliceTotals:
        query = select(run_slices.c.number, run_slices.c.finished, run_slices.c.tally, run_slices.c.usage)
        records = connection.execute(query.where(run_slices.c.run_id == run_id).order_by(run_slices.c.number)).all()
        return SliceTotals(
            tally=sum((msgspec.json.decode(record.tally, type=RunTally) for record in records), RunTally()),
            usage=sum((msgspec.json.decode(record.usage, type=Usage) for record in records), Usage()),
            unfinished=tuple(record.number for record in records if not record.finished),
        )

    @read_transaction
    def usage(self, connection: Connection, run_id: str) -> Usage:
        """Return the usage of all slices of a run so far."""
        usages = connection.scalars(select(run_slices.c.usage).where(run_slices.c.run_id == run_id))
        return sum((msgspec.json.decode(usage, type=Usage) for usage in usages), Usage())


def write_slices(connection: Connection, run_id: str, todos: Sequence[SliceWork]) -> int:
    """Write the slices, and return the bytes that they take once all of their rows are done."""
    slices = (Slice(run_id=run_id, number=number, todo=todo) for number, todo in enumerate(todos, start=1))
    records = [slice_records.write(each) for each in slices]
    if records:
        connection.execute(insert(run_slices), records)
    # Twice, since the ids of all rows are in `done` too when the slice is finished.
    return 2 * sum(count_utf8_bytes(str(record["todo"])) for record in records)


def release_slices(connection: Connection, run_id: str, *, owner: str = "", restart: bool = False) -> None:
    """Release unfinished slices. `restart`: forget the processes that were lost with them."""
    unfinished = (run_slices.c.run_id == run_id) & run_slices.c.finished.is_(False)
    if owner:
        unfinished &= run_slices.c.owner == owner
    values = {"owner": ""} | ({"setbacks": 0} if restart else {})
    connection.execute(update(run_slices).where(unfinished).values(values))


def is_other_process(before: str, now: str) -> bool:
    """Return True if two owners, each PROCESS/NAME, are different processes."""
    # An owner that was given back is empty and no loss.
    return before != "" and before.partition("/")[0] != now.partition("/")[0]


def is_slice(run_id: str, number: int) -> Any:
    return (run_slices.c.run_id == run_id) & (run_slices.c.number == number)


def slice_superseded(run_id: str, number: int) -> Superseded:
    return Superseded(f"Slice {number} of run {run_id} is done by another process now, or was removed with its table.")
