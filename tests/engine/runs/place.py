"""A place where commands run: a folder, a home or a database, and processes that can be killed; for the tests here, and
for `bench/chaos.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from sqlalchemy import TextClause, create_engine, make_url, text

TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))
LONGEST = 600.0
TABLE = "companies"
POSTGRES = "postgresql+psycopg"
# What differs between two runs that found the same: which run it was, when, and what it paid.
NOT_OF_THE_CELL = frozenset({"run_id", "updated_at", "cost", "retrieved_at", "decision", "edited"})


class Command(Protocol):
    """A command under way, in a process of its own."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        ...

    @property
    def out(self) -> str: ...

    @property
    def err(self) -> str: ...


Start: TypeAlias = Callable[[Path, Mapping[str, str], tuple[str, ...]], Command]


class Spawned:
    """The installed program, started as a user starts it."""

    _count = 0

    def __init__(self, folder: Path, environ: Mapping[str, str], arguments: tuple[str, ...]) -> None:
        Spawned._count += 1
        self._out, self._err = (folder / f"{Spawned._count}.{name}" for name in ("out", "err"))
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [TABLEWRIGHT, *arguments],
                cwd=folder,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run came to, so that it can be compared with another."""

    cells: dict[tuple[int, str], Any]
    """Everything about each proposed cell but times, ids and prices."""
    told: Counter[int]
    """How often the feed said of each row that it is done."""
    report: dict[str, Any]


@dataclass(kw_only=True)
class Place:
    folder: Path
    environ: dict[str, str]
    begin: Start = Spawned
    commands: list[Command] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = {"TABLEWRIGHT_HOME": str(self.folder / "home"), "COLUMNS": "120"}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
        self.environ = inherited | own | self.environ
        self.folder.mkdir(parents=True, exist_ok=True)

    def start(self, *arguments: str, **environ: str) -> Command:
        command = self.begin(self.folder, self.environ | environ, arguments)
        self.commands.append(command)
        return command

    def json(self, *arguments: str, code: int = 0) -> Any:
        command = self.start(*arguments, "--json")
        assert ended(command) == code, (
            f"{arguments} gave {command.poll()}:\n{command.out[-2000:]}\n{command.err[-4000:]}"
        )
        return json.loads(command.out)

    def worker(self, **environ: str) -> Command:
        """Returns when the others know of it."""
        command = self.start("worker", **environ)
        known = text("SELECT count(*) FROM workers WHERE kind = 'worker' AND pid = :pid")
        wait_for(lambda: command.poll() is not None or bool(self.scalar(known, pid=command.pid)))
        assert command.poll() is None, command.err
        return command

    def status(self, run_id: str) -> str:
        """As it stands in the database, without a command that asks."""
        return str(self.scalar(text("SELECT status FROM runs WHERE id = :run"), run=run_id))

    def scalar(self, query: TextClause, **values: Any) -> Any:
        """From the database, once it is there."""
        file = self.folder / "home" / "tablewright.db"
        url = make_url(self.environ.get("TABLEWRIGHT_DATABASE_URL") or f"sqlite:///{file}")
        engine = create_engine(url if url.get_backend_name() == "sqlite" else url.set(drivername=POSTGRES))
        with engine.connect() as connection:
            found = connection.execute(query, values).scalar()
        engine.dispose()
        return found

    def bring(self, csv: str) -> None:
        (self.folder / f"{TABLE}.csv").write_text(csv, encoding="utf-8")
        self.json("tables", "import", f"{TABLE}.csv")

    def enrich(self, fields: tuple[str, ...], *more: str, **environ: str) -> Command:
        asked = [word for each in fields for word in ("--field", each)]
        return self.start("enrich", TABLE, *asked, *more, "--json", **environ)

    def run_id(self) -> str:
        """The newest run's, if there is any."""
        runs = self.json("runs", "list")["runs"]
        return str(runs[0]["run_id"]) if runs else ""

    def outcome(self, run_id: str) -> Outcome:
        report = self.json("runs", "show", run_id)
        log = self.json("proposals", "show", report["proposal_id"])["operations"]
        return Outcome(
            cells={(cell["row_id"], cell["field"]): plain(cell["cell"]) for cell in log},
            told=Counter(event["progress"]["row_id"] for event in self.events(run_id) if is_row(event)),
            report=report,
        )

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Of a run that has ended."""
        command = self.start("runs", "watch", run_id, "--after", str(after), "--json")
        assert ended(command) == 0, command.err
        return [json.loads(line) for line in command.out.splitlines()]

    def close(self) -> None:
        for command in self.commands:
            kill(command)


def is_row(event: dict[str, Any]) -> bool:
    return event["progress"]["stage"] in ("row_done", "row_skipped")


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in NOT_OF_THE_CELL}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def ended(command: Command, within: float = LONGEST) -> int:
    """Its exit code."""
    wait_for(lambda: command.poll() is not None, within)
    code = command.poll()
    assert code is not None
    return code


def kill(command: Command) -> None:
    """With SIGKILL, where it has not ended by itself."""
    if command.poll() is None:
        os.kill(command.pid, signal.SIGKILL)
        wait_for(lambda: command.poll() is not None, every=0.001)


def wait_for(ready: Callable[[], bool], within: float = LONGEST, every: float = 0.02) -> None:
    until = time.monotonic() + within
    while not ready():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {within:g} s")
        time.sleep(every)
