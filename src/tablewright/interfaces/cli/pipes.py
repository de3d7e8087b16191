"""Read a table from standard input, or write one to standard output, where a command gets `-` as the file."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tablewright.errors import UsageError

# The usual name of standard input and output.
PIPE = "-"

READING = "Reading the file"
Key = Annotated[
    str,
    typer.Option(
        "--key-field", help="The column that names a row; default: the first text column.", rich_help_panel=READING
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first row is data; name the columns Column 1, …", rich_help_panel=READING),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", help="The sheet of a workbook; default: the first with data.", rich_help_panel=READING),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="The column separator; default: detected.", rich_help_panel=READING)
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="The text encoding; default: detected.", rich_help_panel=READING)
]


@contextmanager
def open_input(name: str) -> Iterator[Path]:
    """Yield the file of that name; for `-` a copy of standard input, as JSON if it looks like JSON, else as CSV."""
    if name != PIPE:
        yield Path(name)
        return
    begin = b""
    while not begin.strip() and (more := sys.stdin.buffer.read(64 * 1024)):
        begin += more
    if not begin.strip():
        raise UsageError("Nothing came through standard input.", advice="Send a table: … | tablewright … -")
    # JSON starts with a bracket; the header of a CSV file hardly ever does.
    suffix = "json" if begin.lstrip()[:1] in (b"[", b"{") else "csv"
    with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
        path = Path(folder) / f"stdin.{suffix}"
        with path.open("wb") as file:
            file.write(begin)
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


@contextmanager
def open_output(file: Path) -> Iterator[Path]:
    """Yield the path to write to; for `-` the whole file is then copied to standard output, as CSV."""
    if str(file) != PIPE:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
        written = Path(folder) / "stdout.csv"
        yield written
        with written.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def refuse_overwriting(target: str, out: Path | None, *, force: bool) -> None:
    """Raise UsageError if the output would overwrite the input."""
    if out is not None and not force and out.exists() and Path(target).exists() and out.samefile(target):
        raise UsageError(
            f"{out} is the input file.", kept="Nothing was done.", advice="Write to another file, or use --force."
        )


def refuse_two_outputs(out: Path | None, *, json: bool) -> None:
    if json and str(out) == PIPE:
        raise UsageError("--json and - would both write to standard output.", kept="Nothing was done.")


def name_output(out: Path) -> str:
    return "standard output" if str(out) == PIPE else str(out)
