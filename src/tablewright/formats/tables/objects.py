"""JSON and JSON Lines: objects, streamed, become rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tablewright.errors import BadFile
from tablewright.formats.tables.decode import Text
from tablewright.formats.tables.grid import Batch, Grid, survey
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.json_stream import DECODER, DuplicateKey, JsonStream
from tablewright.formats.tables.limits import BATCH_CELLS, MAX_COLUMNS
from tablewright.formats.tables.native_column import NativeColumn, header_text, is_empty
from tablewright.formats.tables.own_json import own_head, own_table


def read_json(text: Text) -> Incoming:
    with text.open() as stream:
        parser = JsonStream(text.path.name, stream)
        first = parser.peek()
        head = own_head(parser) if first == "{" else None
    if head is not None:
        return own_table(text, head)
    if first == "[":
        return _from_objects(text.path.name, lambda: _array(text), "object", text.warnings)
    if first == "{":
        return _from_objects(text.path.name, lambda: _lines(text), "line", text.warnings)
    if not first:
        raise BadFile(f"{text.path.name} is empty.")
    raise BadFile(f"{text.path.name} is not JSON: it begins with {first!r}, not with [ or {{.")


def from_mappings(name: str, rows: Sequence[Mapping[str, Any]]) -> Incoming:
    """What a program has in memory."""
    return _from_objects(name, lambda: enumerate(rows, start=1), "row")


def _from_objects(
    file: str, objects: Callable[[], Iterable[tuple[int, Mapping[str, Any]]]], line: str, warnings: Sequence[str] = ()
) -> Incoming:
    keys: dict[str, None] = {}
    for at, thing in objects():
        keys.update(dict.fromkeys(thing))
        if len(keys) > MAX_COLUMNS:
            raise BadFile(
                f"{file} has more than {MAX_COLUMNS:,} different keys by {line} {at:,}; "
                f"a table can have at most {MAX_COLUMNS:,} columns."
            )
    names = list(keys)
    size = max(1, BATCH_CELLS // max(1, len(names)))

    def batches() -> Iterator[Batch]:
        yield Batch(records=[names], lines=[0])
        records: list[list[Any]] = []
        lines: list[int] = []
        without_value: list[int] = []
        for at, thing in objects():
            record = [thing.get(name) for name in names]
            if all(map(is_empty, record)):
                without_value.append(at)
                continue
            records.append(record)
            lines.append(at)
            if len(records) >= size:
                yield Batch(records=list(records), lines=lines)
                records, lines = [], []
        yield Batch(records=list(records), lines=lines, without_value=without_value)

    grid = Grid(
        file=file,
        name=Path(file).stem,
        batches=batches,
        column=NativeColumn,
        header_text=header_text,
        is_empty=is_empty,
        empty=None,
        line=line,
        named=True,
    )
    return survey(grid, header=True, warnings=tuple(warnings))


def _array(text: Text) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a document that is one array."""
    with text.open() as stream:
        parser = JsonStream(text.path.name, stream)
        for at, thing in enumerate(parser.array(), start=1):
            if not isinstance(thing, dict):
                raise BadFile(f"{text.path.name}: entry {at:,} of the array is not an object, so it is no row.")
            yield at, thing
        parser.end()


def _lines(text: Text) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines."""
    with text.open() as stream:
        for at, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                thing = DECODER.decode(line)
            except (ValueError, RecursionError) as error:
                raise _not_lines(text, at, error) from None
            if not isinstance(thing, dict):
                raise BadFile(f"{text.path.name}: line {at:,} is not an object, so it is no row.")
            yield at, thing


def _not_lines(text: Text, line: int, error: Exception) -> BadFile:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "too large or too deep"
    if isinstance(error, DuplicateKey):
        reason = str(error)
    return BadFile(
        f"{text.path.name}: line {line:,} is not a JSON object ({reason}).",
        advice="A table is an array of objects, or one object on each line.",
    )
