"""The command line; `main` runs it."""

from __future__ import annotations

import gc
from importlib import import_module


def main() -> None:
    """Load the commands, which import this package themselves, and run the one of the arguments."""
    # Most of what a command makes in the beginning stays: scanning it for garbage again and again took a tenth of the
    # time until its first request.
    gc.set_threshold(20_000)
    import_module("tablewright.interfaces.cli.main").run_and_exit()
