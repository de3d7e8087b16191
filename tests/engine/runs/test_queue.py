"""What the queue keeps, and what becomes of work that is said to be under way and is not."""

from __future__ import annotations

import asyncio
import base64
import os
import pickle
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS
from sqlalchemy import Engine, create_engine, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from tablewright.engine.runs import queue, worker
from tablewright.engine.runs.queue_database import queue_client
from tablewright.services import Services
from tablewright.settings import Settings
from tests.engine.runs.conftest import ASKED, MakePlace
from tests.engine.runs.place import POSTGRES, Command, Outcome, Place, ended, wait_for
from tests.engine.runs.test_durable import ONE_BY_ONE, assert_same
from tests.engine.runs.test_resumed_here import serving
from tests.engine.runs.world import World


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._file),)


def is_pickle(value: object) -> bool:
    try:
        return isinstance(value, str) and base64.b64decode(value, validate=True)[:1] == b"\x80"
    except ValueError:
        return False


def texts(engine: Engine) -> list[str]:
    """All that is kept in the tables of the queue."""
    with engine.connect() as connection:
        return [
            value
            for table in inspect(engine).get_table_names()
            for record in connection.execute(text(f'SELECT * FROM "{table}"'))
            for value in record
            if isinstance(value, str)
        ]


def test_nothing_is_pickled_and_nothing_that_is_pickled_is_read(at: MakePlace, world: World, alone: Outcome) -> None:
    place = at()
    sprung = place.folder / "sprung"
    database = f"sqlite:///{place.folder / 'home' / 'jobs.db'}"
    DBOS.migrate(database)
    with queue_client(database) as client:
        client.enqueue(
            {
                "workflow_name": "run",
                "queue_name": "runs",
                "workflow_id": "trap",
                "app_version": queue.WORKFLOW_VERSION,
            },
            "r",
            "",
        )
    engine = create_engine(database)
    pickled = base64.b64encode(pickle.dumps({"args": (Trap(sprung), ""), "kwargs": {}})).decode()
    with engine.begin() as connection:
        connection.execute(text("UPDATE workflow_status SET serialization = 'py_pickle', inputs = NULL"))
        assert connection.execute(text("UPDATE workflow_input SET inputs = :it"), {"it": pickled}).rowcount == 1
    place.worker()
    command = place.enrich(ASKED)
    assert ended(command) == 0, command.err
    assert_same(place.outcome(place.run_id()), alone)
    found = texts(engine)
    assert [value for value in found if is_pickle(value)] == [pickled]
    assert found.count("py_pickle") == 1
    assert "portable_json" in found
    with engine.connect() as connection:
        status = text("SELECT status FROM workflow_status WHERE workflow_uuid = 'trap'")
        assert connection.execute(status).scalar() == "ERROR"
    assert not sprung.exists()
    engine.dispose()


def test_work_that_was_taken_from_the_queue_and_never_begun_begins(
    at: MakePlace, world: World, alone: Outcome, postgres_url: str
) -> None:
    place = at(postgres_url, **ONE_BY_ONE)
    working = place.worker()
    hold_still(place, working)
    command = place.enrich(ASKED)
    taken = text(
        "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = (SELECT id FROM workers WHERE pid = :pid)"
        " WHERE status = 'ENQUEUED' RETURNING workflow_uuid"
    )
    wait_for(lambda: bool(written(place, taken, pid=working.pid)), every=0.2)
    os.kill(working.pid, signal.SIGCONT)
    assert ended(command) == 0, command.err
    assert_same(place.outcome(place.run_id()), alone)
    assert world.counts().asked_twice("model") == 0


def hold_still(place: Place, worker: Command) -> None:
    """Stops it in a moment in which it has no transaction under way."""

    def is_still() -> bool:
        os.kill(worker.pid, signal.SIGSTOP)
        busy = text(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        if place.scalar(busy):
            os.kill(worker.pid, signal.SIGCONT)
            return False
        return True

    wait_for(is_still, every=0.1)


def written(place: Place, query: Any, **values: Any) -> Any:
    engine = create_engine(make_url(place.environ["TABLEWRIGHT_DATABASE_URL"]).set(drivername=POSTGRES))
    try:
        with engine.begin() as connection:
            return connection.execute(query, values).scalar()
    except OperationalError:
        return None
    finally:
        engine.dispose()


async def test_what_is_over_is_forgotten_after_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Services.open(Settings(home=str(tmp_path), search="sample")) as services, serving(services):

        def fire() -> None:
            context = {"table_id": "gone", "routine": "refresh", "spec": {}}
            DBOS.start_workflow(queue.scheduled_workflow, datetime.now(UTC), context).get_result()

        def known() -> int:
            return len(DBOS.list_workflows(name=queue.SCHEDULED_WORKFLOW))

        await asyncio.to_thread(fire)
        await worker.delete_old_records(services.store)
        assert await asyncio.to_thread(known) == 1
        assert timedelta(days=7) == worker.KEPT_WORKFLOWS
        monkeypatch.setattr(worker, "KEPT_WORKFLOWS", timedelta(seconds=-60))
        await worker.delete_old_records(services.store)
        assert await asyncio.to_thread(known) == 0
