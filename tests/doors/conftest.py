from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))


class Shell:
    """The command as a user has it: the installed program, in a folder and with a home of its own."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.environ = {**os.environ, "TABLEWRIGHT_HOME": str(folder / "home"), "COLUMNS": "120", **environ}
        self.environ.pop("TABLEWRIGHT_DATABASE_URL", None)
        self.environ |= environ

    def __call__(self, *arguments: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [TABLEWRIGHT, *arguments],
            cwd=self.folder,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, f"{arguments} gave {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code).stdout)

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def any_shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    if request.param == "sqlite":
        return Shell(tmp_path)
    url: Callable[[], str] = request.getfixturevalue("postgres_url")
    return Shell(tmp_path, TABLEWRIGHT_DATABASE_URL=str(url))
