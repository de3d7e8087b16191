"""JSON and JSON Lines, read and written as streams: objects become rows and rows objects.

A table that we exported as JSON comes back exactly; a document that only looks like one is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import structs

from tablewright.domain.model import PENDING, Cell, Evidence, Field, Row
from tablewright.domain.text import count_noun
from tablewright.errors import BadFile
from tablewright.formats.tables.columns import has_invalid_characters, replace_invalid_characters
from tablewright.formats.tables.decode import TextFile
from tablewright.formats.tables.incoming import (
    Batch,
    CellBatches,
    Grid,
    Incoming,
    batch_records,
    make_column_names,
    survey_grid,
)
from tablewright.formats.tables.json_stream import DECODER, DuplicateKey, JsonStream
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.sheet import ExportColumn, TableSchema, to_json_value


def read_json_table(text: TextFile) -> Incoming:
    with text.open() as stream:
        parser = JsonStream(text.path.name, stream)
        first = parser.peek()
        head = read_export_head(parser) if first == "{" else None
    if head is not None:
        return read_export(text, head)
    if first == "[":
        return _read_objects(text.path.name, lambda: _iterate_array(text), "object", text.warnings)
    if first == "{":
        return _read_objects(text.path.name, lambda: _iterate_lines(text), "line", text.warnings)
    if not first:
        raise BadFile(f"{text.path.name} is empty.")
    raise BadFile(f"{text.path.name} is not JSON: it begins with {first!r}, not with [ or {{.")


def read_mappings(name: str, rows: Sequence[Mapping[str, Any]]) -> Incoming:
    """Return what a program has in memory."""
    return _read_objects(name, lambda: enumerate(rows, start=1), "row")


def _read_objects(
    file: str, objects: Callable[[], Iterable[tuple[int, Mapping[str, Any]]]], line: str, warnings: Sequence[str] = ()
) -> Incoming:
    keys: dict[str, None] = {}
    for at, thing in objects():
        # Keys can first appear in any object, so the whole file is read once before the columns are known.
        keys.update(dict.fromkeys(thing))
        if len(keys) > TABLE_LIMITS.columns:
            raise BadFile(
                f"{file} has more than {TABLE_LIMITS.columns:,} different keys by {line} {at:,}; "
                f"a table can have at most {TABLE_LIMITS.columns:,} columns."
            )
    names = list(keys)

    def batches() -> Iterator[Batch]:
        yield Batch(records=[names], lines=[0])
        yield from batch_records(((at, [thing.get(name) for name in names]) for at, thing in objects()), len(names))

    grid = Grid(file=file, name=Path(file).stem, batches=batches, line=line, named=True)
    return survey_grid(grid, header=True, warnings=tuple(warnings))


def _iterate_array(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a document that is one array."""
    with text.open() as stream:
        parser = JsonStream(text.path.name, stream)
        for at, thing in enumerate(parser.array(), start=1):
            if not isinstance(thing, dict):
                raise BadFile(f"{text.path.name}: entry {at:,} of the array is not an object, so it is no row.")
            yield at, thing
        parser.end()


def _iterate_lines(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines."""
    with text.open() as stream:
        for at, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                thing = DECODER.decode(line)
            except (ValueError, RecursionError) as error:
                raise _bad_line_error(text, at, error) from None
            if not isinstance(thing, dict):
                raise BadFile(f"{text.path.name}: line {at:,} is not an object, so it is no row.")
            yield at, thing


def _bad_line_error(text: TextFile, line: int, error: Exception) -> BadFile:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "too large or too deep"
    if isinstance(error, DuplicateKey):
        reason = str(error)
    return BadFile(
        f"{text.path.name}: line {line:,} is not a JSON object ({reason}).",
        advice="A table is an array of objects, or one object on each line.",
    )


def read_export_head(parser: JsonStream) -> dict[str, Any] | None:
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


def read_export(text: TextFile, head: dict[str, Any]) -> Incoming:
    fields = _read_export_fields(text.path.name, head["fields"])
    names = [field.name for field in fields]
    rows = ExportedRows(text, names)
    count = sum(1 for _ in rows)
    key_field = head.get("key_field")

    def batches() -> CellBatches:
        yield iter(rows)

    return Incoming(
        name=replace_invalid_characters(str(head.get("name") or text.path.stem)),
        fields=fields,
        row_count=count,
        batches=batches,
        key_field=key_field if key_field in set(names) else "",
        warnings=(*text.warnings, *rows.warnings()),
    )


def _read_export_fields(file: str, found: list[Any]) -> tuple[Field, ...]:
    try:
        fields = msgspec.convert(found, tuple[Field, ...])
    except msgspec.ValidationError as error:
        raise BadFile(f"{file} is not a table as Tablewright exports it: its fields are wrong ({error}).") from None
    names = [field.name for field in fields]
    # Names are compared as the database compares them.
    if len({name.strip().casefold() for name in names if name.strip()}) < len(names):
        raise BadFile(f"{file} is not a table as Tablewright exports it: two fields have the same name, or none.")
    if len(names) > TABLE_LIMITS.columns:
        raise BadFile(f"{file} has {len(names):,} columns; a table can have at most {TABLE_LIMITS.columns:,}.")
    odd = next(
        (name for name in names if has_invalid_characters(name) or make_column_names([name])[0] != (name,)), None
    )
    if odd is not None:
        raise BadFile(f"{file} is not a table as Tablewright exports it: no column can be called {odd[:60]!r}.")
    return fields


class ExportedRows:
    """The rows, checked one by one; read through once, it knows what of them is not kept."""

    def __init__(self, text: TextFile, names: Sequence[str]) -> None:
        self._text = text
        self._file = text.path.name
        self._names = names
        self._known = set(names)
        self._unknown: dict[str, None] = {}
        self._mended = 0

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        self._unknown, self._mended = {}, 0
        with self._text.open() as stream:
            parser = JsonStream(self._file, stream)
            for key in parser.object_keys():
                if key != "rows":
                    parser.value()
                    continue
                for at, thing in enumerate(parser.array(), start=1):
                    cells = self._cells(at, thing)
                    yield tuple([cells.get(name, PENDING) for name in self._names])
            parser.end()

    def _cells(self, at: int, thing: Any) -> dict[str, Cell]:
        found = thing.get("cells") if isinstance(thing, dict) else None
        if not isinstance(found, dict):
            raise BadFile(
                f"{self._file}: row {at:,} is not a row as Tablewright exports it: it has no cells.",
                advice="To import rows of another program, give the array of its rows alone.",
            )
        # Before msgspec, which would drop the unknown cell silently.
        if not found.keys() <= self._known:
            raise BadFile(f"{self._file}: row {at:,} has a cell for {min(found.keys() - self._known)!r}, no field.")
        for cell in found.values():
            if isinstance(cell, dict):
                # Other keys come from a newer version; they are left out and named in a warning.
                self._unknown.update(dict.fromkeys(cell.keys() - Cell.__struct_fields__))
        try:
            cells = msgspec.convert(self._mend(at, thing), RowDocument).cells
        except msgspec.ValidationError as error:
            raise BadFile(f"{self._file}: row {at:,} is not a row as Tablewright exports it ({error}).") from None
        return {name: mark_imported(drop_given_basis(cell)) for name, cell in cells.items()}

    def _mend(self, at: int, thing: Any) -> Any:
        """The same without what no database keeps."""
        if isinstance(thing, float):
            if not isfinite(thing):
                raise BadFile(f"{self._file}: row {at:,} holds a number that is not finite ({thing}).")
            return float(thing)
        if isinstance(thing, str):
            if not has_invalid_characters(thing):
                return thing
            self._mended += 1
            return replace_invalid_characters(thing)
        if isinstance(thing, dict):
            return {key: self._mend(at, value) for key, value in thing.items()}
        return [self._mend(at, item) for item in thing] if isinstance(thing, list) else thing

    def warnings(self) -> list[str]:
        said = []
        if self._unknown:
            keys = ", ".join(sorted(key[:60] for key in self._unknown)[:5])
            said.append(f"Left out: properties of cells that this version does not know ({keys}).")
        if self._mended:
            texts = f"{count_noun(self._mended, 'text')}"
            said.append(f"Replaced by \ufffd: NULs or invalid Unicode in {texts}.")
        return said


def mark_imported(cell: Cell) -> Cell:
    """Return the cell as this installation may keep it. What a file says of runs and stored texts is about another
    installation, or made up: quotes stay, marked, and nothing points to a run or a text here."""
    if cell.run_id is None and not cell.evidence and not cell.conflict:
        return cell
    return msgspec.structs.replace(
        cell,
        run_id=None,
        attempt=0,
        cost=0.0,
        imported=True,
        evidence=unlink_evidence(cell.evidence),
        conflict=tuple(
            msgspec.structs.replace(each, evidence=unlink_evidence(each.evidence)) for each in cell.conflict
        ),
    )


def unlink_evidence(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(msgspec.structs.replace(each, content_hash="", start=None, end=None) for each in evidence)


class RowDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A row as the JSON export writes it and as reading one expects it."""

    row_id: int = 0
    key: str = ""
    cells: dict[str, Cell] = {}


class JsonWriter:
    """One document: id, name, key_field, fields, and one line for each row with its full cells."""

    def __init__(self, stream: BinaryIO, heading: TableSchema) -> None:
        self._stream = stream
        self._encoder = msgspec.json.Encoder()
        self._separator = b"\n"
        head = {
            "id": heading.id,
            "name": heading.name,
            "key_field": heading.key_field,
            "fields": heading.fields,
        }
        # Without its closing brace, which `close` writes after the rows.
        self._stream.write(self._encoder.encode(head)[:-1] + b',\n"rows":[')

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = {name: state_basis(cell) for name, cell in row.cells.items()}
            document = RowDocument(row_id=row.id, key=row.key, cells=cells)
            self._stream.write(self._separator + self._encoder.encode(document))
            self._separator = b",\n"

    def close(self) -> None:
        self._stream.write(b"\n]}\n")
        self._stream.flush()


def state_basis(cell: Cell) -> Cell:
    """For readers that do not know what we leave out: what came with the table says so."""
    return cell if cell.basis or cell.shown_basis is None else structs.replace(cell, basis=cell.shown_basis)


def drop_given_basis(cell: Cell) -> Cell:
    """The inverse of `state_basis`."""
    bare = structs.replace(cell, basis=None) if cell.basis == "given" else cell
    return bare if bare.shown_basis == "given" else cell


class JsonLinesWriter:
    """One flat object a row: names and values."""

    def __init__(self, stream: BinaryIO, columns: Sequence[ExportColumn]) -> None:
        self._stream = stream
        self._columns = columns
        self._encoder = msgspec.json.Encoder()

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = row.cells
            values = {
                column.name: to_json_value(column.value(cells.get(column.field, PENDING))) for column in self._columns
            }
            self._stream.write(self._encoder.encode(values) + b"\n")

    def close(self) -> None:
        self._stream.flush()
