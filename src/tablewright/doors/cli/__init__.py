"""The command line. The database layer is imported inside the commands, so that `tablewright --help` is instant."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer

from tablewright.doors.cli.output import print_error, show_error
from tablewright.doors.cli.root import app, asked_in_vain
from tablewright.errors import RunError, TablewrightError, UsageError

CANCELLED = 130
WRONG_USE: Any = typer.BadParameter.__base__
"""An unknown command or option, or a value that is missing or not allowed."""


def main() -> None:
    try:
        leave(run())
    except BrokenPipeError:
        # The reader of our output (head, less) has had enough.
        sys.stderr.close()
        sys.exit(0)


def run() -> str | int | None:
    """The command of the arguments; its exit code. Typer shows wrong use to people itself, but not as JSON."""
    try:
        if code := app(standalone_mode="--json" not in sys.argv[1:]):
            return int(code)
    except (TablewrightError, WRONG_USE) as wrong:
        error = wrong if isinstance(wrong, TablewrightError) else UsageError(wrong.format_message())
        show_error(error)
        return error.exit_code
    except SystemExit as end:
        if end.code:
            return end.code
    if outage := next(filter(None, asked_in_vain), ""):
        print_error(RunError(outage, kept="What was found without it is kept."))
        return RunError.exit_code
    return 0


def leave(code: str | int | None) -> None:
    """Who presses Ctrl-C does not wait for threads that finish a page or a local model's batch: all that counts is
    committed by now."""
    if code == CANCELLED:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(CANCELLED)
    sys.exit(code)
