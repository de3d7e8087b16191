"""Runs: what was done to a table, when, how it ended, what it used up, and who works on it now; what it tells while it
works, and the slices of one that several processes work on.

A run that is worked on has an `owner`. One that was begun by a process that is gone is interrupted, not running:
whether an owner is alive is known to `Workers`. Events are numbered, so any process can watch from wherever it stopped.

What a slice has found, which of its rows are done, what that took and what is told about it is written in one
transaction. So a run that was killed goes on with exactly the rows that are not done, and counts nothing twice. A slice
belongs to the process that claimed it last: an earlier one that writes after all is refused (`Superseded`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, insert, or_, select, tuple_, update
from sqlalchemy import Row as Record

from tablewright.domain.access import Acting
from tablewright.domain.feed import Event, Progress
from tablewright.domain.model import Field, Noun, RowId
from tablewright.domain.proposal import CellAt, Operation
from tablewright.domain.run import ACTOR, HOLDER, PERSON, SETBACKS, SINCE, Run, RunStatus, RunTally, Since
from tablewright.domain.usage import Usage
from tablewright.errors import NotFound, RunEnded, Superseded
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import SpentSoFar, charge_run, charge_table, note_spent, octets
from tablewright.store.proposal import add_operations, create_proposal
from tablewright.store.records import RecordMapper, new_id, now, to_text
from tablewright.store.schema import run_events, run_slices, runs, tables
from tablewright.store.sharing import visible
from tablewright.store.tables import head
from tablewright.store.users import lost_authority, owner_of
from tablewright.store.workers import QUEUED

ENDED: tuple[RunStatus, ...] = ("done", "cancelled", "over_budget")
NEWEST = 500
"""Runs that are looked through for those of one kind of work."""
NO_TABLE = 0
run_records = RecordMapper(Run, runs)


class Runs(StorePart):
    async def start(self, table_id: str, kind: str, spec: dict[str, Any], *, owner: str = "", total: int = 0) -> str:
        """`table_id` is empty for work that is about no table."""
        return await self._start(new_run(table_id, kind, spec, owner, total))

    @repeatable_transaction
    def _start(self, connection: Connection, run: Run) -> str:
        if not run_exists(connection, run.id):
            write_run(connection, run, table_no(connection, run.table_id))
        return run.id

    async def start_sliced(
        self, table_id: str, kind: str, spec: dict[str, Any], fields: Sequence[Field], todos: Sequence[Todo], owner: str
    ) -> str:
        """A run that can go on in another process: with its proposal and its slices, all at once or not at all."""
        total = sum(len(todo.row_ids) for todo in todos)
        return await self._start_sliced(new_run(table_id, kind, spec, owner, total), fields, todos)

    @repeatable_transaction
    def _start_sliced(self, connection: Connection, run: Run, fields: Sequence[Field], todos: Sequence[Todo]) -> str:
        if not run_exists(connection, run.id):
            no = table_no(connection, run.table_id)
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
        """`spec` is what it turned out to be, where that is more than was known at the start; `news` is the last that
        is told. What has ended already stays as it is, and with `owner` or `holder` what is somebody else's by now."""
        running = (runs.c.id == run_id) & (runs.c.status == "running")
        if owner:
            running &= runs.c.owner == owner
        if not is_held(connection, running, holder):
            return
        size = append_events(connection, run_id, news)
        values = {"status": status, "finished_at": now(), "usage": to_text(usage), "error": error, "stop": ""}
        if spec is not None:
            values["spec"] = to_text(spec)
        connection.execute(update(runs).where(running).values(values))
        charge_run(connection, run_id, size, even_above=True)

    @repeatable_transaction
    def hold(self, connection: Connection, run_id: str, holder: str) -> int:
        """From now on `holder`, PROCESS/NAME, does a run that is done as a whole. Who did so before, and was asleep
        when others thought it dead, learns it with the next that it tells. How often a process was lost with it."""
        spec = lock_spec(connection, runs.c.id == run_id) or {}
        setbacks = int(spec.get(SETBACKS, 0)) + is_of_another(spec.get(HOLDER, ""), holder)
        write_spec(connection, run_id, spec | {HOLDER: holder, SETBACKS: setbacks})
        return setbacks

    @repeatable_transaction
    def let_go(self, connection: Connection, run_id: str, holder: str) -> None:
        """Whoever comes next goes on with it, and nothing was lost."""
        spec = lock_spec(connection, runs.c.id == run_id)
        if spec is not None and spec.get(HOLDER) == holder:
            write_spec(connection, run_id, spec | {HOLDER: ""})

    async def tell(
        self,
        run_id: str,
        holder: str,
        events: Sequence[Progress],
        usage: Usage,
        spent: SpentSoFar | None = None,
    ) -> bool:
        """Return what a run that is done as a whole has come to and used up; False where it has ended, or is held by
        somebody else by now. What is there already, because its writer was cut off before knowing so, is not told
        again. `spent` is noted with the hold of those who pay."""
        before: int | None = None

        def work(connection: Connection) -> bool:
            nonlocal before
            running = (runs.c.id == run_id) & (runs.c.status == "running")
            if not is_held(connection, running, holder):
                return False
            last = int(connection.execute(select(runs.c.last_event).where(running)).scalar_one())
            if before is not None and last > before:
                return True
            before = last
            size = append_events(connection, run_id, events)
            values: dict[str, Any] = {"usage": to_text(usage)}
            if events:
                values |= {"done": events[-1].done, "total": events[-1].total}
            connection.execute(update(runs).where(running).values(values))
            note_spent(connection, spent)
            charge_run(connection, run_id, size, even_above=True)
            return True

        return await self._database.write(work, repeatable=True)

    @repeatable_transaction
    def take(
        self,
        connection: Connection,
        run: Run,
        owner: str,
        *,
        anew: bool = False,
        settings: Mapping[str, str] | None = None,
        by: Acting | None = None,
    ) -> bool:
        """Makes `owner` the one who works on it; False where it is no longer as `run` says, because somebody else was
        faster. `anew`: although it has ended, or was asked to stop. `settings` are put over those of the run. It goes
        on in the name of `by`, who resumes it, if the person who began it may no longer do it."""
        record = connection.execute(select_runs().where(runs.c.id == run.id).with_for_update(of=runs)).one_or_none()
        present = run_from_record(record) if record else None
        if present is None or (present.owner, present.status) != (run.owner, run.status):
            return present is not None and (present.owner, present.status) == (owner, "running")
        last = (run_events.c.run_id == run.id) & (run_events.c.number == present.last_event)
        until = connection.scalar(select(run_events.c.at).where(last)) or present.since.at
        since = Since(at=now(), done=present.done, seconds=present.seconds_worked(until))
        spec = present.spec | {SINCE: since}
        if settings:
            spec["settings"] = {**spec["settings"], **settings}
        values: dict[str, Any] = {"owner": owner}
        if by is not None and lost_authority(connection, present.person, present.table_id):
            person = by.person.id if by.person else ""
            values["person"] = person
            spec |= {name: new for name, new in ((PERSON, person), (ACTOR, by.actor)) if name in spec}
        if anew:
            spec |= {HOLDER: "", SETBACKS: 0}
            give_back_slices(connection, run.id, anew=True)
            values |= {"status": "running", "stop": "", "error": None, "finished_at": None}
        elif owner.startswith(QUEUED) and run.owner.startswith(QUEUED):
            spec |= {SETBACKS: present.setbacks + 1}
        values["spec"] = to_text(spec)
        connection.execute(update(runs).where(runs.c.id == run.id).values(values))
        return True

    @repeatable_transaction
    def ask_to_stop(self, connection: Connection, run_id: str) -> None:
        """Whoever works on it sees it within a second."""
        status = read_run(connection, run_id).status
        if status != "running":
            raise RunEnded(
                f"Run {run_id} has ended already: it is {status.replace('_', ' ')}.",
                kept="What it found is kept.",
            )
        connection.execute(update(runs).where(runs.c.id == run_id).values(stop="cancel"))

    @read_transaction
    def stopping(self, connection: Connection, run_ids: Collection[str]) -> set[str]:
        """Those of them that somebody asked to stop, that have ended, or that are gone with their table."""
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
        limit: int = NEWEST,
        before: tuple[str, str] | None = None,
    ) -> list[Run]:
        """The newest first, on from the one that began and is named as `before` says."""
        query = (
            select_runs()
            .where(is_visible_run(connection))
            .order_by(runs.c.started_at.desc(), runs.c.id.desc())
            .limit(limit)
        )
        if before is not None:
            query = query.where(tuple_(runs.c.started_at, runs.c.id) < before)
        if table_id is not None:
            query = query.where(runs.c.table_no == head(connection, table_id).no)
        if status is not None:
            query = query.where(runs.c.status == status)
        return [run_from_record(record) for record in connection.execute(query)]

    @read_transaction
    def alike(self, connection: Connection, kind: str, like: Mapping[str, Any]) -> list[Run]:
        """Runs that came to an end and whose spec says all that `like` says, of whatever table, the newest first."""
        records = connection.execute(
            select_runs()
            .where(runs.c.kind == kind, runs.c.status.in_(ENDED))
            .order_by(runs.c.started_at.desc())
            .limit(NEWEST)
        )
        return [
            run
            for run in map(run_from_record, records)
            if all(name in run.spec and run.spec[name] == value for name, value in like.items())
        ]

    @read_transaction
    def cost(self, connection: Connection, table_id: str) -> float:
        """The dollars that all runs of a table have spent, whatever became of what they found."""
        usages = connection.scalars(select(runs.c.usage).where(runs.c.table_no == head(connection, table_id).no))
        return sum(msgspec.json.decode(usage, type=Usage).cost_usd for usage in usages)


def new_run(table_id: str, kind: str, spec: dict[str, Any], owner: str, total: int) -> Run:
    """Return a run that is not written yet. Its id is made before its transaction, which may be repeated."""
    return Run(
        id=new_id("r"),
        table_id=table_id,
        kind=kind,
        status="running",
        spec=spec,
        started_at=now(),
        owner=owner,
        total=total,
        person=str(spec.get(PERSON) or ""),
    )


def write_run(connection: Connection, run: Run, table_no: int) -> None:
    record = run_records.write(run, table_no=table_no, person=run.person or owner_of(connection))
    connection.execute(insert(runs), record)


def run_exists(connection: Connection, run_id: str) -> bool:
    return connection.scalar(select(runs.c.id).where(runs.c.id == run_id)) is not None


def read_run(connection: Connection, run_id: str) -> Run:
    query = select_runs().where(runs.c.id == run_id, is_visible_run(connection))
    record = connection.execute(query).one_or_none()
    if record is None:
        raise run_not_found(run_id)
    return run_from_record(record)


def is_visible_run(connection: Connection) -> ColumnElement[bool]:
    """Of `with_table`: the runs of tables that somebody sees, and what they began themselves that is about none."""
    own = (runs.c.table_no == NO_TABLE) & (runs.c.person == owner_of(connection))
    return or_(visible(connection, "table"), own)


def is_held(connection: Connection, run: ColumnElement[bool], holder: str) -> bool:
    """Return True if there is such a run, held by nobody else; nobody changes it before the transaction is over."""
    spec = lock_spec(connection, run)
    return spec is not None and (not holder or spec.get(HOLDER) == holder)


def lock_spec(connection: Connection, run: ColumnElement[bool]) -> dict[str, Any] | None:
    """Nobody changes it before the transaction is over."""
    spec = connection.scalar(select(runs.c.spec).where(run).with_for_update())
    return None if spec is None else msgspec.json.decode(spec, type=dict[str, Any])


def write_spec(connection: Connection, run_id: str, spec: Mapping[str, Any]) -> None:
    connection.execute(update(runs).where(runs.c.id == run_id).values(spec=to_text(spec)))


def table_no(connection: Connection, table_id: str) -> int:
    return head(connection, table_id).no if table_id else NO_TABLE


def select_runs() -> Select[Any]:
    return select(runs, tables.c.id.label("table_id")).outerjoin(tables, tables.c.no == runs.c.table_no)


def run_not_found(run_id: str) -> NotFound:
    return NotFound(f"There is no run {run_id!r}.", advice="`tablewright runs list` shows them.")


def run_from_record(record: Record[Any]) -> Run:
    return run_records.read(record, table_id=record.table_id or "", stopping=bool(record.stop))


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
        """Return what was not done yet."""
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
        """Return what all of them took so far, whoever did them."""
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
    """Return True if the process that had something is another one than the one that has it now; both are
    PROCESS/NAME."""
    return before != "" and before.partition("/")[0] != now.partition("/")[0]


def is_slice(run_id: str, number: int) -> Any:
    return (run_slices.c.run_id == run_id) & (run_slices.c.number == number)


def slice_superseded(run_id: str, number: int) -> Superseded:
    return Superseded(f"Slice {number} of run {run_id} is done by somebody else now, or was removed with its table.")
