"""Starts commands quickly: a process that has loaded everything once and forks for each command.

What is forked is the program's own `main`, in a process of its own with its own folder, environment and streams; only
loading, which takes a second, is done once. Requests come as lines of JSON on stdin; each exit code goes into a file.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process that forks must have no threads: one that had some crashed, rarely

import rich.progress
import rich.table
import typer.main

import tablewright.engine.estimate
import tablewright.engine.recheck
import tablewright.engine.retry
import tablewright.interfaces.page.pages
import tablewright.interfaces.server.app
import tablewright.services
import tablewright.strategies.pipeline
import tablewright.strategies.toolbox
from tablewright.interfaces.cli import main
from tablewright.interfaces.cli.main import app

LOADED = (rich, tablewright)
COMMANDS = typer.main.get_command(app)
typer.main.get_command = lambda _: COMMANDS  # put together once, too: it takes longer than most commands


def serve() -> None:
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        if os.fork() == 0:
            guard(request)


def guard(request: dict[str, str | list[str] | dict[str, str]]) -> None:
    """Waits for the command, so that the launcher can start others meanwhile."""
    place = Path(str(request["place"]))
    command = os.fork()
    if command == 0:
        run(place, request)
    (place / "pid").write_text(str(command))
    _, status = os.waitpid(command, 0)
    (place / "code.part").write_text(str(os.waitstatus_to_exitcode(status)))
    (place / "code.part").rename(place / "code")
    os._exit(0)


def run(place: Path, request: dict[str, str | list[str] | dict[str, str]]) -> None:
    code = 1
    try:
        os.chdir(str(request["folder"]))
        os.environ.clear()
        os.environ.update(dict(request["environ"]))  # type: ignore[arg-type]
        for number, name, mode in ((0, "in", os.O_RDONLY), (1, "out", WRITE), (2, "err", WRITE)):
            os.dup2(os.open(place / name, mode, 0o600), number)
        sys.argv = ["tablewright", *request["arguments"]]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC

if __name__ == "__main__":
    serve()
