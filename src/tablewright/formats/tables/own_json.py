"""A table that we exported as JSON comes back exactly; a document that only looks like one is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import msgspec

from tablewright.domain.model import PENDING, Cell, Evidence, Field
from tablewright.domain.text import count_noun
from tablewright.errors import BadFile
from tablewright.formats.tables.decode import Text
from tablewright.formats.tables.incoming import CellBatches, Incoming
from tablewright.formats.tables.json_stream import JsonStream
from tablewright.formats.tables.json_writer import RowDocument, as_stored
from tablewright.formats.tables.limits import MAX_COLUMNS
from tablewright.formats.tables.names import column_names
from tablewright.formats.tables.native_column import is_broken, plain_text

CELL_KEYS = frozenset(Cell.__struct_fields__)


def own_head(parser: JsonStream) -> dict[str, Any] | None:
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


def own_table(text: Text, head: dict[str, Any]) -> Incoming:
    fields = _own_fields(text.path.name, head["fields"])
    names = [field.name for field in fields]
    rows = _OwnRows(text, names)
    count = sum(1 for _ in rows)
    key_field = head.get("key_field")

    def batches() -> CellBatches:
        yield iter(rows)

    return Incoming(
        name=plain_text(str(head.get("name") or text.path.stem)),
        fields=fields,
        row_count=count,
        batches=batches,
        key_field=key_field if key_field in set(names) else "",
        warnings=(*text.warnings, *rows.warnings()),
    )


def _own_fields(file: str, found: list[Any]) -> tuple[Field, ...]:
    try:
        fields = msgspec.convert(found, tuple[Field, ...])
    except msgspec.ValidationError as error:
        raise BadFile(f"{file} is not a table as Tablewright exports it: its fields are wrong ({error}).") from None
    names = [field.name for field in fields]
    if len({name.strip().casefold() for name in names if name.strip()}) < len(names):
        raise BadFile(f"{file} is not a table as Tablewright exports it: two fields have the same name, or none.")
    if len(names) > MAX_COLUMNS:
        raise BadFile(f"{file} has {len(names):,} columns; a table can have at most {MAX_COLUMNS:,}.")
    odd = next((name for name in names if is_broken(name) or column_names([name])[0] != (name,)), None)
    if odd is not None:
        raise BadFile(f"{file} is not a table as Tablewright exports it: no column can be called {odd[:60]!r}.")
    return fields


class _OwnRows:
    """The rows, checked one by one; read through once, it knows what of them is not kept."""

    def __init__(self, text: Text, names: Sequence[str]) -> None:
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
        if not found.keys() <= self._known:
            raise BadFile(f"{self._file}: row {at:,} has a cell for {min(found.keys() - self._known)!r}, no field.")
        for cell in found.values():
            if isinstance(cell, dict) and not cell.keys() <= CELL_KEYS:
                self._unknown.update(dict.fromkeys(cell.keys() - CELL_KEYS))
        try:
            cells = msgspec.convert(self._mend(at, thing), RowDocument).cells
        except msgspec.ValidationError as error:
            raise BadFile(f"{self._file}: row {at:,} is not a row as Tablewright exports it ({error}).") from None
        return {name: as_imported(as_stored(cell)) for name, cell in cells.items()}

    def _mend(self, at: int, thing: Any) -> Any:
        """The same without what no database keeps."""
        if isinstance(thing, float):
            if not isfinite(thing):
                raise BadFile(f"{self._file}: row {at:,} holds a number that is not finite ({thing}).")
            return float(thing)
        if isinstance(thing, str):
            if not is_broken(thing):
                return thing
            self._mended += 1
            return plain_text(thing)
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
