"""Run the command of the arguments. Commands import the database layer when they need it, so that --help is instant."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandInfo, TyperInfo

from tablewright.doors.cli import (  # noqa: F401  # they add their commands
    ask,
    demo,
    docs,
    enrich,
    find,
    health,
    mcp,
    proposal,
    recheck,
    refresh,
    research,
    runs,
    schedule,
    serve,
    shortlist,
    table,
    users,
)
from tablewright.doors.cli.output import print_error, show_error
from tablewright.doors.cli.root import CommandWithHelp, GroupWithHelp, app, asked_in_vain
from tablewright.errors import RunError, TablewrightError, UsageError

CANCELLED = 130
WRONG_USE: Any = typer.BadParameter.__base__
"""An unknown command or option, or a value that is missing or not allowed."""


PANELS = {
    "Start": ("demo", "doctor", "settings", "models", "strategies"),
    "Tables and cells": ("enrich", "find", "tables", "proposals", "runs"),
    "Documents, reports and advice": ("docs", "ask", "conversations", "research", "shortlist"),
    "Servers and users": ("serve", "worker", "mcp", "share", "users", "tokens", "audit"),
}
"""The commands in the order and under the headings of `tablewright --help`."""


def arrange_commands(tree: typer.Typer) -> None:
    places = {name: (place, panel) for place, (panel, names) in enumerate(PANELS.items()) for name in names}
    order = [name for names in PANELS.values() for name in names]
    everything: list[CommandInfo | TyperInfo] = [*tree.registered_commands, *tree.registered_groups]
    for each in everything:
        each.rich_help_panel = places[name_of(each)][1] if name_of(each) in places else each.rich_help_panel
    tree.registered_commands.sort(key=lambda each: order.index(name_of(each)))
    tree.registered_groups.sort(key=lambda each: order.index(name_of(each)) if name_of(each) in order else len(order))


def name_of(command: CommandInfo | TyperInfo) -> str:
    callback = getattr(command, "callback", None)
    return command.name or getattr(callback, "__name__", "").rstrip("_").replace("_", "-")


def give_readable_help(tree: typer.Typer) -> None:
    tree.info.cls = GroupWithHelp
    for command in tree.registered_commands:
        command.cls = CommandWithHelp if command.cls is TyperCommand else command.cls
    for group in tree.registered_groups:
        group.cls = GroupWithHelp
        if group.typer_instance is not None:
            give_readable_help(group.typer_instance)


arrange_commands(app)
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
