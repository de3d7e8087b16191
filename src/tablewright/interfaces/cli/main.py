"""Run the command of the arguments. Commands import the database layer when they use it, so that --help is instant."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandInfo, TyperInfo

from tablewright.errors import RunError, TablewrightError, UsageError
from tablewright.interfaces.cli import (  # noqa: F401  # they add their commands
    ask,
    demo,
    docs,
    enrich,
    find,
    health,
    output,
    proposal,
    refresh,
    research,
    runs,
    serve,
    shortlist,
    table,
    users,
)
from tablewright.interfaces.cli.output import print_error, show_error
from tablewright.interfaces.cli.root import CommandWithHelp, GroupWithHelp, app, outages

# An unknown command or option, or a value that is missing or not allowed.
WRONG_USE: Any = typer.BadParameter.__base__


# The commands in the order and under the headings of `tablewright --help`.
PANELS = {
    "Start": ("demo", "doctor", "settings", "models", "strategies"),
    "Tables and cells": ("enrich", "find", "tables", "proposals", "runs"),
    "Documents, reports and advice": ("docs", "ask", "conversations", "research", "shortlist"),
    "Servers and users": ("serve", "worker", "mcp", "share", "users", "tokens", "audit"),
}


def arrange_commands(tree: typer.Typer) -> None:
    places = {name: (place, panel) for place, (panel, names) in enumerate(PANELS.items()) for name in names}
    order = [name for names in PANELS.values() for name in names]
    everything: list[CommandInfo | TyperInfo] = [*tree.registered_commands, *tree.registered_groups]
    for each in everything:
        each.rich_help_panel = places[command_name(each)][1] if command_name(each) in places else each.rich_help_panel
    tree.registered_commands.sort(key=lambda each: order.index(command_name(each)))
    tree.registered_groups.sort(
        key=lambda each: order.index(command_name(each)) if command_name(each) in order else len(order)
    )


def command_name(command: CommandInfo | TyperInfo) -> str:
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


def run_and_exit() -> None:
    try:
        exit_process(run_command_line())
    except BrokenPipeError:
        # The reader of our output (head, less) has had enough.
        sys.stderr.close()
        sys.exit(0)


def run_command_line() -> str | int | None:
    """Run the command of the arguments and return its exit code. Typer reports wrong use to people, but not as JSON."""
    try:
        # Flags take no value; `asked_for_lines` looks at the arguments as they were typed.
        arguments = ["--json" if each == "--json=lines" else each for each in sys.argv[1:]]
        if code := app(arguments, standalone_mode=not output.asked_for_json()):
            return int(code)
    except (TablewrightError, WRONG_USE) as wrong:
        error = wrong if isinstance(wrong, TablewrightError) else UsageError(wrong.format_message())
        show_error(error)
        return error.exit_code
    except SystemExit as end:
        if end.code:
            return end.code
    if outage := next(filter(None, outages), ""):
        print_error(RunError(outage, kept="What was found without it is kept."))
        return RunError.exit_code
    return 0


def exit_process(code: str | int | None) -> None:
    """Exit with the code. After Ctrl-C the process does not wait for threads that finish a page or a local model's
    batch: all that counts is committed by now."""
    # 128 and the number of SIGINT, as shells report it.
    if code == 130:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(130)
    sys.exit(code)
