"""The command line; `main` runs it."""

from __future__ import annotations

from importlib import import_module


def main() -> None:
    """Load the commands, which import this package themselves, and run the one of the arguments."""
    import_module("tablewright.interfaces.cli.main").run_and_exit()
