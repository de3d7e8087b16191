"""JSON and JSON Lines: objects, streamed, become rows. A table we exported ourselves comes back exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tablewright.errors import BadFile
from tablewright.table.files.decode import Text
from tablewright.table.files.grid import Batch, Grid, survey
from tablewright.table.files.incoming import CellBatches, Incoming
from tablewright.table.files.json_stream import JsonStream
from tablewright.table.files.json_writer import RowDocument, as_stored
from tablewright.table.files.limits import BATCH_CELLS, MAX_COLUMNS
from tablewright.table.files.native_column import NativeColumn, header_text, is_empty
from tablewright.table.model import PENDING, Cell, Evidence, Field


def read_json(text: Text) -> Incoming:
    with text.open() as stream:
        parser = JsonStream(text.path.name, stream)
        first = parser.peek()
        head = _own_head(parser) if first == "{" else None
    if head is not None:
        return _own_table(text, head)
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
        for at, thing in objects():
            record = [thing.get(name) for name in names]
            if all(map(is_empty, record)):
                continue
            records.append(record)
            lines.append(at)
            if len(records) >= size:
                yield Batch(records=list(records), lines=lines)
                records, lines = [], []
        yield Batch(records=list(records), lines=lines)

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
                thing = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _not_lines(text, at, error) from None
            if not isinstance(thing, dict):
                raise BadFile(f"{text.path.name}: line {at:,} is not an object, so it is no row.")
            yield at, thing


def _not_lines(text: Text, line: int, error: Exception) -> BadFile:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "too large or too deep"
    return BadFile(
        f"{text.path.name}: line {line:,} is not a JSON object ({reason}).",
        advice="A table is an array of objects, or one object on each line.",
    )


def _own_head(parser: JsonStream) -> dict[str, Any] | None:
    """Everything before the rows of a table that we exported; None for any other object."""
    head: dict[str, Any] = {}
    try:
        for key in parser.object_keys():
            if key == "rows" and isinstance(head.get("fields"), list) and parser.peek() == "[":
                return head
            head[key] = parser.value()
    except BadFile:
        return None  # reading it as JSON Lines will say in which line what is wrong
    return None


def _own_table(text: Text, head: dict[str, Any]) -> Incoming:
    file = text.path.name
    try:
        fields = msgspec.convert(head["fields"], tuple[Field, ...])
    except msgspec.ValidationError as error:
        raise BadFile(f"{file} is not a table as Tablewright exports it: its fields are wrong ({error}).") from None
    names = [field.name for field in fields]
    if len({name.strip().casefold() for name in names if name.strip()}) < len(names):
        raise BadFile(f"{file} is not a table as Tablewright exports it: two fields have the same name, or none.")
    known = set(names)

    def rows() -> Iterator[tuple[Cell, ...]]:
        with text.open() as stream:
            parser = JsonStream(text.path.name, stream)
            for key in parser.object_keys():
                if key != "rows":
                    parser.value()
                    continue
                for at, thing in enumerate(parser.array(), start=1):
                    cells = _own_cells(file, at, thing)
                    if not cells.keys() <= known:
                        raise BadFile(f"{file}: row {at:,} has a cell for {min(cells.keys() - known)!r}, no field.")
                    yield tuple([cells.get(name, PENDING) for name in names])
            parser.end()

    def batches() -> CellBatches:
        yield rows()

    count = sum(1 for _ in rows())
    key_field = head.get("key_field")
    return Incoming(
        name=str(head.get("name") or text.path.stem),
        fields=fields,
        row_count=count,
        batches=batches,
        key_field=key_field if key_field in known else "",
        warnings=text.warnings,
    )


def _own_cells(file: str, at: int, thing: Any) -> dict[str, Cell]:
    try:
        cells = msgspec.convert(thing, RowDocument).cells
    except msgspec.ValidationError as error:
        raise BadFile(f"{file}: row {at:,} is not a row as Tablewright exports it ({error}).") from None
    return {name: as_imported(as_stored(cell)) for name, cell in cells.items()}


def as_imported(cell: Cell) -> Cell:
    """What a file says of runs and stored texts is about another installation, or made up: the quotes stay, marked, and
    nothing here points to a run or a text that it could not have known."""
    if cell.run_id is None and not cell.evidence and not cell.conflict:
        return cell
    return msgspec.structs.replace(
        cell,
        run_id=None,
        attempt=0,
        cost=0.0,
        imported=True,
        evidence=unlinked(cell.evidence),
        conflict=tuple(msgspec.structs.replace(each, evidence=unlinked(each.evidence)) for each in cell.conflict),
    )


def unlinked(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(msgspec.structs.replace(each, content_hash="", start=None, end=None) for each in evidence)
