from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.homes import new_home
from tests.patience import PATIENCE

LONGEST = PATIENCE
TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))


class Launcher:
    """Starts commands in a process that has everything loaded; see `launcher.py`."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("launcher.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def start(self, place: Path, **request: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"place": str(place), **request}) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)


@cache
def launcher() -> Launcher:
    started = Launcher()
    atexit.register(started.close)
    return started


class Shell:
    """The command as a user has it: a process of its own, in a folder and with a home of its own. At a terminal, and
    wherever loading itself is the subject, tests start the installed program instead."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.environ = {**os.environ, "TABLEWRIGHT_HOME": str(folder / "home"), "COLUMNS": "120", **environ}
        self.environ.pop("TABLEWRIGHT_DATABASE_URL", None)
        self.environ |= environ

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = self._run(arguments, stdin)
        assert done.returncode == code, f"{arguments} gave {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def _run(self, arguments: tuple[str, ...], stdin: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory(prefix="command-") as folder:
            place = Path(folder)
            (place / "in").write_text(stdin, encoding="utf-8")
            launcher().start(place, folder=str(self.folder), environ=self.environ, arguments=list(arguments))
            code, until = place / "code", time.monotonic() + LONGEST
            while not code.exists():
                if time.monotonic() > until:
                    os.kill(int((place / "pid").read_text()), signal.SIGKILL)
                    raise TimeoutError(f"{arguments} took more than {LONGEST} s")
                time.sleep(0.004)
            out, err = ((place / name).read_text(encoding="utf-8") for name in ("out", "err"))
            return subprocess.CompletedProcess(arguments, int(code.read_text()), out, err)

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code).stdout)

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


class Forked:
    """A command that goes on while the test does, from a process that has everything loaded."""

    def __init__(self, shell: Shell, place: Path, arguments: Sequence[str]) -> None:
        self._place = place
        (place / "in").touch()
        launcher().start(place, folder=str(shell.folder), environ=shell.environ, arguments=list(arguments))

    @property
    def pid(self) -> int:
        return int(self._told("pid"))

    def poll(self) -> int | None:
        code = self._place / "code"
        return int(code.read_text()) if code.exists() else None

    def wait(self, timeout: float) -> int:
        return int(self._told("code", timeout))

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                self.send_signal(signal.SIGKILL)

    def _told(self, name: str, timeout: float = PATIENCE) -> str:
        file, until = self._place / name, time.monotonic() + timeout
        while not (file.exists() and (said := file.read_text())):
            assert time.monotonic() < until
            time.sleep(0.02)
        return said


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    new_home(tmp_path / "home")
    return Shell(tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def any_shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    if request.param == "sqlite":
        return Shell(tmp_path)
    url: Callable[[], str] = request.getfixturevalue("postgres_url")
    return Shell(tmp_path, TABLEWRIGHT_DATABASE_URL=str(url))
