"""Run the command of the arguments. Commands import the database layer when they need it, so that --help is instant."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperCommand

from tablewright.doors.cli import (  # noqa: F401  # they add their commands
    ask,
    audit,
    demo,
    docs,
    doctor,
    enrich,
    find,
    mcp,
    models,
    proposal,
    recheck,
    refresh,
    research,
    runs,
    schedule,
    serve,
    share,
    shortlist,
    strategies,
    table,
    tokens,
    users,
)
from tablewright.doors.cli.output import print_error, show_error
from tablewright.doors.cli.root import CommandWithHelp, GroupWithHelp, app, asked_in_vain
from tablewright.errors import RunError, TablewrightError, UsageError

CANCELLED = 130
WRONG_USE: Any = typer.BadParameter.__base__
"""An unknown command or option, or a value that is missing or not allowed."""


def give_readable_help(tree: typer.Typer) -> None:
    tree.info.cls = GroupWithHelp
    for command in tree.registered_commands:
        command.cls = CommandWithHelp if command.cls is TyperCommand else command.cls
    for group in tree.registered_groups:
        group.cls = GroupWithHelp
        if group.typer_instance is not None:
            give_readable_help(group.typer_instance)


give_readable_help(app)


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
