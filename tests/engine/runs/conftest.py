from __future__ import annotations

import atexit
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.engine.runs.place import Outcome, Place, ended, wait_for
from tests.engine.runs.world import FIELDS, World, open_world, written
from tests.patience import PATIENCE

ROWS = 48
DELAY = 0.02
ASKED = (FIELDS[0], FIELDS[2])


@cache
def launcher() -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).with_name("forks.py"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def close() -> None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=PATIENCE)

    atexit.register(close)
    return process


class Forked:
    """A command in a process of its own that has everything loaded already."""

    def __init__(self, folder: Path, environ: Mapping[str, str], arguments: tuple[str, ...]) -> None:
        self._at = Path(tempfile.mkdtemp(prefix="command-", dir=folder))
        (self._at / "in").touch()
        request = {"place": str(self._at), "folder": str(folder), "environ": dict(environ), "arguments": arguments}
        stdin = launcher().stdin
        assert stdin is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()

    @property
    def pid(self) -> int:
        file = self._at / "pid"
        wait_for(lambda: file.exists() and file.read_text() != "")
        return int(file.read_text())

    def poll(self) -> int | None:
        file = self._at / "code"
        return int(file.read_text()) if file.exists() else None

    @property
    def out(self) -> str:
        return self._read("out")

    @property
    def err(self) -> str:
        return self._read("err")

    def _read(self, name: str) -> str:
        file = self._at / name
        return file.read_text(encoding="utf-8") if file.exists() else ""


MakePlace = Callable[..., Place]


@pytest.fixture(scope="session")
def shared_world() -> Iterator[World]:
    with open_world(delay=DELAY, size=ROWS) as world:
        yield world


@pytest.fixture(scope="session")
def alone(shared_world: World, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What the run comes to that nothing happens to."""
    place = Place(folder=tmp_path_factory.mktemp("alone"), environ=shared_world.environ, begin=Forked)
    place.bring(written(shared_world.companies))
    command = place.enrich(ASKED)
    assert ended(command) == 0, command.err
    return place.outcome(place.run_id())


@pytest.fixture
def world(shared_world: World) -> World:
    shared_world.forget()
    return shared_world


@pytest.fixture
def at(world: World, tmp_path: Path) -> Iterator[MakePlace]:
    """Makes a place with the table in it. All that runs there ends with the test."""
    made = []

    def make(database_url: str = "", **environ: str) -> Place:
        where = {"TABLEWRIGHT_DATABASE_URL": database_url} if database_url else {}
        place = Place(folder=tmp_path, environ=world.environ | where | environ, begin=Forked)
        made.append(place)
        place.bring(written(world.companies))
        return place

    yield make
    for place in made:
        place.close()
