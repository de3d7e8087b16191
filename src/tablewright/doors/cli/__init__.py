"""The command line. Everything heavy is imported inside the commands, so that `tablewright --help` is instant."""

from __future__ import annotations

import sys

from tablewright.doors.cli.root import app
from tablewright.errors import TablewrightError


def main() -> None:
    try:
        app()
    except TablewrightError as error:
        from tablewright.doors.cli.output import show_error

        show_error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output (head, less) has had enough.
        sys.stderr.close()
        sys.exit(0)
