"""Import files as tables and export tables as files, each completely or not at all.

Other formats than delimited text are read in a worker process; writes go through the store and `engine.changes`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import tempfile
from ast import literal_eval
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager, contextmanager, suppress
from fcntl import LOCK_EX, flock
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from msgspec import structs

from tablewright.domain.edits import AddRow, Edit, SetCell
from tablewright.domain.files import ExportOutcome, FileOptions, ImportOutcome, ImportPreview
from tablewright.domain.model import Cell, Field, Row, RowId, Struct, Table, column_key, make_given_cell
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text, count_noun
from tablewright.engine.changes import TableChanges
from tablewright.errors import BadField, BadFile, RunError
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.json_tables import mark_imported, read_mappings
from tablewright.formats.tables.read import is_plain_text, open_spool, read_table, read_to_spool
from tablewright.formats.tables.write import open_writer, target_format
from tablewright.sandbox.limits import SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.store.store import Store
from tablewright.store.table_details import ImportedFile
from tablewright.temporary import PART_SUFFIX, remove_abandoned_files, temporary_folder
from tablewright.values.coerce import coerce_value

# A workbook of a million rows takes minutes; a reader that hangs must still end.
IMPORT_LIMITS = SandboxLimits(seconds=600)


@asynccontextmanager
async def open_table_file(path: Path, options: FileOptions, actor: str = "") -> AsyncIterator[Incoming]:
    """Open a table file; workbooks, Parquet and JSON are parsed in a worker process, which sends their rows."""
    reading = (options.header, options.sheet, options.delimiter, options.encoding)
    if await asyncio.to_thread(is_plain_text, path):
        header, sheet, delimiter, encoding = reading
        yield await asyncio.to_thread(
            read_table, path, header=header, sheet=sheet, delimiter=delimiter, encoding=encoding
        )
        return
    with temporary_folder() as folder:
        spool = Path(folder) / "rows"
        async with Sandbox(IMPORT_LIMITS, workers=1, person=actor) as sandbox:
            outline = await sandbox.run(
                path.name, read_to_spool, str(path.absolute()), *reading, str(spool), raising=BadFile
            )
        yield open_spool(outline, spool)


async def read_preview(path: Path, options: FileOptions, *, rows: int = 8, actor: str = "") -> ImportPreview:
    async with open_table_file(path, options, actor) as incoming:
        wanted = change_fields(incoming, options.fields)
        first = await asyncio.to_thread(preview_rows, wanted, rows)
        # Only if columns were changed: it reads the whole file a second time.
        misfits = await asyncio.to_thread(find_misfits, incoming, wanted) if wanted is not incoming else {}
    return ImportPreview(
        name=options.name or wanted.name,
        fields=wanted.fields,
        key_field=choose_key_field(wanted, options.key_field),
        row_count=wanted.row_count,
        rows=first,
        warnings=wanted.warnings,
        misfits=misfits,
    )


def preview_rows(incoming: Incoming, rows: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(cell_text, cells)) for cells in islice(incoming.rows(), rows))


def change_fields(incoming: Incoming, fields: Sequence[Field]) -> Incoming:
    """Return the same rows with columns of other names and types."""
    if not fields:
        return incoming
    if len(fields) != len(incoming.fields):
        raise BadField(f"The file has {len(incoming.fields)} columns, not {len(fields)}.")
    check_column_names([field.name for field in fields])
    pairs = list(zip(incoming.fields, fields, strict=True))

    def batches() -> Iterator[Iterable[tuple[Cell, ...]]]:
        for batch in incoming.batches():
            yield [tuple(convert_cell(cell, *pair) for cell, pair in zip(cells, pairs, strict=True)) for cells in batch]

    kept = dict(zip((field.name for field in incoming.fields), fields, strict=True)).get(incoming.key_field)
    return structs.replace(incoming, fields=tuple(fields), batches=batches, key_field=kept.name if kept else "")


def check_column_names(names: Sequence[str]) -> None:
    """Raise BadField if a column has no name, an invalid one, or one that another column has."""
    seen: set[str] = set()
    if not names:
        raise BadField("A table needs at least one column.")
    for name in names:
        if not name.strip() or "{" in name or "}" in name:
            raise BadField("Every column needs a name, without { and }.")
        if column_key(name) in seen:
            raise BadField(f"Two columns are called {name!r}.", advice="Give one of them another name.")
        seen.add(column_key(name))


def find_misfits(incoming: Incoming, wanted: Incoming) -> dict[str, tuple[int, tuple[str, ...]]]:
    found: dict[str, list[str]] = {}
    for cells, changed in zip(incoming.rows(), wanted.rows(), strict=True):
        for cell, other, field in zip(cells, changed, wanted.fields, strict=True):
            if cell.value is not None and other.value is None:
                found.setdefault(field.name, []).append(cell_text(cell))
    # Three examples show what kind of value does not fit.
    return {name: (len(values), tuple(values[:3])) for name, values in found.items()}


async def create_table_from_file(
    store: Store,
    path: Path,
    options: FileOptions,
    *,
    actor: str = "",
    update: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportOutcome:
    """Make a table of a file, or `update` the one it became before.

    `progress` gets the rows done and the rows in all, from a thread of the store."""
    async with open_table_file(path, options, actor) as read:
        incoming = change_fields(read, options.fields)
        file = await identify_file(path, options)
        if update and (updated := await update_imported_table(store, incoming, file, actor=actor)):
            return updated
        table = await store.tables.create(
            options.name or incoming.name,
            incoming.fields,
            incoming.rows(),
            key_field=choose_key_field(incoming, options.key_field),
            actor=actor,
            note=f"imported {path.name}",
            progress=(lambda done: progress(done, incoming.row_count)) if progress else None,
        )
    # Last, so that an import that failed half-way is not taken for known.
    await store.imports.keep(table.id, file)
    return ImportOutcome(table=table, rows=incoming.row_count, warnings=incoming.warnings)


async def create_table_from_rows(
    store: Store, rows: Iterable[Mapping[str, Any]], options: FileOptions, *, actor: str = "", update: bool = False
) -> ImportOutcome:
    incoming = await asyncio.to_thread(read_mappings, options.name or "rows", list(rows))
    incoming = structs.replace(incoming, key_field=choose_key_field(incoming, options.key_field))
    return await import_from_memory(store, incoming, "made from rows in memory", actor=actor, update=update)


async def create_table_from_copy(store: Store, table: Table, *, actor: str = "", update: bool = False) -> ImportOutcome:
    names = [field.name for field in table.fields]
    rows = [tuple(mark_imported(row.cell(name)) for name in names) for row in table.rows]
    incoming = Incoming(
        name=table.name,
        fields=table.fields,
        row_count=len(rows),
        batches=lambda: iter([rows]),
        key_field=table.key_field,
    )
    return await import_from_memory(store, incoming, "copied from a table in memory", actor=actor, update=update)


async def import_from_memory(store: Store, incoming: Incoming, note: str, *, actor: str, update: bool) -> ImportOutcome:
    """Make a table, or `update` the one that rows in the same columns became before."""
    source = await asyncio.to_thread(identify_rows, incoming) if update else None
    if source and (updated := await update_imported_table(store, incoming, source, actor=actor)):
        return updated
    table = await store.tables.create(
        incoming.name, incoming.fields, incoming.rows(), key_field=incoming.key_field, actor=actor, note=note
    )
    if source:
        await store.imports.keep(table.id, source)
    return ImportOutcome(table=table, rows=incoming.row_count, warnings=incoming.warnings)


def identify_rows(incoming: Incoming) -> ImportedFile:
    """Identify rows in memory by their columns: they have no path."""
    content = hashlib.sha256()
    for cells in incoming.rows():
        # Separators of ASCII for records and units: no value of a table holds them.
        content.update("\x1e".join(map(cell_text, cells)).encode("utf-8", "surrogatepass") + b"\x1f")
    columns = sorted(column_key(field.name) for field in incoming.fields)
    return ImportedFile(
        path=f"memory:{incoming.name}:{hashlib.sha256(repr(columns).encode()).hexdigest()}",
        content_hash=content.hexdigest(),
        reading=repr(incoming.key_field),
    )


async def update_imported_table(
    store: Store, incoming: Incoming, source: ImportedFile, *, actor: str
) -> ImportOutcome | None:
    """Write data that comes again into the table that it became before: new rows are added, changed values are set.

    Rows that are no longer in the data stay in the table, and an empty value clears nothing that a run has found.
    Return None if there is no such table, or if its rows cannot be matched by their keys."""
    found = await store.imports.find(source.path, source.reading)
    if found is None:
        return None
    table = await store.tables.load(found[0])
    columns = match_columns(table, incoming)
    if columns is None:
        return None
    rows = await asyncio.to_thread(list, read_keyed_rows(incoming, columns, table.key_field))
    known = match_rows_by_key(table, rows)
    if known is None:
        # Rows that cannot be matched are still the same table if nothing about them has changed.
        is_same = found[1].content_hash == source.content_hash and len(rows) == len(table.rows)
        return ImportOutcome(table=table, rows=len(rows), warnings=incoming.warnings) if is_same else None
    edits: list[Edit] = []
    for read, row in zip(rows, known, strict=True):
        if row is None:
            edits.append(AddRow(key=read.key, cells=read.filled))
        else:
            # An empty value of the file clears what came from a file, never what a run has paid for.
            edits += [
                SetCell(row_id=row.id, field=name, cell=cell)
                for name, cell in read.cells.items()
                if cell.value != (before := row.cell(name)).value and (cell.value is not None or before.run_id is None)
            ]
    if edits:
        await TableChanges(store, actor).edit(table.id, edits, f"updated from {incoming.name}")
        table = await store.tables.load(table.id)
    await store.imports.keep(table.id, source)
    by_name = {cell_text(row.cell(table.key_field)): row for row in table.rows}
    row_ids = tuple((row or by_name[read.name]).id for read, row in zip(rows, known, strict=True))
    return ImportOutcome(table=table, rows=len(rows), warnings=incoming.warnings, row_ids=row_ids)


# The columns of data that comes again, each as it was read and as its table has it.
Columns: TypeAlias = "Sequence[tuple[Field, Field]]"


class KeyedRow(NamedTuple):
    """A row of data that comes again: its cells as they were read, and as the columns of the table want them."""

    name: str
    key: str
    read: tuple[Cell, ...]
    cells: Mapping[str, Cell]

    @property
    def filled(self) -> dict[str, Cell]:
        return {name: cell for name, cell in self.cells.items() if cell.value is not None}

    @property
    def misfits(self) -> list[str]:
        """The columns whose values here are of another type than the table's."""
        both = zip(self.read, self.cells.items(), strict=True)
        return [name for read, (name, cell) in both if read.value is not None and cell.value is None]


def match_columns(table: Table, incoming: Incoming) -> Columns | None:
    """Return None if the data has a column that the table has not, or none that names its rows."""
    columns = [(read_as, field) for read_as in incoming.fields if (field := table.field(read_as.name)) is not None]
    is_whole = len(columns) == len(incoming.fields) and any(field.name == table.key_field for _, field in columns)
    return columns if is_whole else None


def read_keyed_rows(incoming: Incoming, columns: Columns, key_field: str) -> Iterator[KeyedRow]:
    for read in incoming.rows():
        cells = {
            field.name: convert_cell(cell, read_as, field) for cell, (read_as, field) in zip(read, columns, strict=True)
        }
        name = cell_text(cells[key_field])
        yield KeyedRow(name, row_key(name), read, cells)


def match_rows_by_key(table: Table, rows: Sequence[KeyedRow]) -> list[Row | None] | None:
    """Return the row of the table for each row of the data, None for a new one: by its very name as it is now, else by
    the key with which it came. Return None if a row has no name, or not one row of the table of its own."""
    by_name = {cell_text(row.cell(table.key_field)): row for row in table.rows}
    # Reversed, so that the first row of a key wins.
    by_key = {row.key: row for row in reversed(table.rows)}
    found = [by_name.get(read.name) or by_key.get(read.key) for read in rows]
    ids = [read.name if row is None else row.id for read, row in zip(rows, found, strict=True)]
    is_one_to_one = len(by_name) == len(table.rows) and len({*ids}) == len(ids) and all(read.key for read in rows)
    return found if is_one_to_one else None


class KnownFile(Struct, frozen=True):
    """A file that was imported before. `new_rows` are those of the file that its table never had; `warnings` say what
    of the file they leave out."""

    table: Table
    file: ImportedFile
    changed: bool = False
    new_rows: tuple[Mapping[str, Cell], ...] = ()
    warnings: tuple[str, ...] = ()


async def find_known_file(store: Store, path: Path, options: FileOptions) -> KnownFile | None:
    """Return the table that the file became when it was last imported, or None if it never was or its rows can no
    longer be matched: other columns, or no column that names its rows. An uploaded file is read with its old
    options."""
    file = await identify_file(path, options)
    # An upload repeats the old options, so any reading of its name is found; at the machine another reading is another
    # table.
    found = await store.imports.find(file.path, None if options.origin else file.reading)
    if found is None:
        return None
    table_id, before = found
    if options.origin:
        options = structs.replace(options, **dict(zip(READING_OPTIONS, literal_eval(before.reading), strict=True)))
        file = await identify_file(path, options)
    table = await store.tables.find(table_id)
    if file.content_hash == before.content_hash:
        return KnownFile(table=table, file=file)
    async with open_table_file(path, options) as incoming:
        columns = match_columns(table, incoming)
        if columns is None:
            return None
        rows = read_keyed_rows(incoming, columns, table.key_field)
        seen = await store.imports.keys(table_id)
        new, left_out = await asyncio.to_thread(find_new_rows, rows, seen, table.key_field)
    return KnownFile(table=table, changed=True, new_rows=new, file=file, warnings=(*incoming.warnings, *left_out))


def find_new_rows(
    rows: Iterable[KeyedRow], seen: Set[str], key_field: str
) -> tuple[tuple[Mapping[str, Cell], ...], list[str]]:
    """Return the rows whose key the table never had, and what of them is left out, in words."""
    new: dict[str, KeyedRow] = {}
    nameless = twice = 0
    for row in rows:
        nameless += not row.key
        twice += row.key in new
        if row.key and row.key not in seen:
            new.setdefault(row.key, row)
    misfits = Counter(name for row in new.values() for name in row.misfits)
    said = []
    if nameless:
        said.append(f"Not added: {count_noun(nameless, 'row')} without a value in '{key_field}'.")
    if twice:
        said.append(f"Not added: {count_noun(twice, 'row')} with the same '{key_field}' as another new row.")
    if misfits:
        count = misfits.total()
        where = ", ".join(f"'{name}'" for name in [*misfits][:5])
        said.append(f"Left empty: {count_noun(count, 'value')} of another type than the column, in {where}.")
    return tuple(row.filled for row in new.values()), said


async def append_new_rows(store: Store, known: KnownFile, *, actor: str = "") -> None:
    """Add the new rows of a known file; existing rows stay unchanged."""
    table = known.table
    edits = [AddRow(key=row_key(cell_text(cells[table.key_field])), cells=cells) for cells in known.new_rows]
    if edits:
        await TableChanges(store, actor).edit(table.id, edits, f"added from {Path(known.file.path).name}")
    await store.imports.keep(table.id, known.file)


def convert_cell(cell: Cell, read_as: Field, field: Field) -> Cell:
    """Return the cell in the type of the table's column: in a changed file it may look like another one."""
    if read_as.type == field.type:
        return cell
    text = cell_text(cell)
    return make_given_cell(coerce_value(text, field).value, text)


# The options that decide how a file is read; they identify it together with its path.
# `find_known_file` zips stored values with it: another order or number makes earlier imports unreadable.
READING_OPTIONS = ("key_field", "header", "sheet", "delimiter", "encoding")


async def identify_file(path: Path, options: FileOptions) -> ImportedFile:
    reading = tuple(getattr(options, name) for name in READING_OPTIONS)
    return ImportedFile(
        path=options.origin or qualify_path(path),
        content_hash=await asyncio.to_thread(hash_file_content, path),
        reading=repr(reading),
    )


def qualify_path(path: Path) -> str:
    """Return the path with the name of this machine, as stored with the table."""
    # Several machines can share a database, and /tmp/list.csv is another file on each.
    return f"{platform.node()}:{path.resolve()}"


def hash_file_content(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None


def choose_key_field(incoming: Incoming, asked: str) -> str:
    """Return the column that identifies a row: the requested one, the file's own, or the first text column."""
    if asked:
        found = next((field.name for field in incoming.fields if column_key(field.name) == column_key(asked)), None)
        if found is None:
            names = ", ".join(field.name for field in incoming.fields)
            raise BadField(f"There is no column {asked!r}.", advice=f"The columns are: {names}.")
        return found
    # Numbers and dates seldom name a thing; the first text usually does.
    texts = [field.name for field in incoming.fields if field.type == "text"]
    return incoming.key_field or (texts or [field.name for field in incoming.fields] or [""])[0]


async def write_table_file(
    store: Store,
    table_id: str,
    path: Path,
    *,
    evidence: bool = False,
    cost: bool = False,
    units: bool = False,
    row_ids: Sequence[RowId] | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExportOutcome:
    """Write all rows, or those of `row_ids` in their order, to a file."""
    table = await store.tables.find(table_id)
    format = target_format(path)
    count = stale = flagged = 0
    with replace_file(path, kept="The table is safe.") as stream:
        writer = open_writer(stream, format, table, evidence=evidence, cost=cost, units=units)

        def take(rows: Sequence[Row]) -> None:
            nonlocal count, stale, flagged
            writer.write(rows)
            count += len(rows)
            for cell in (cell for row in rows for cell in row.cells.values()):
                stale += cell.stale
                flagged += cell.status == "FLAGGED"
            if progress:
                progress(count)

        if row_ids is None:
            await store.tables.stream(table_id, take)
        else:
            async for rows in store.tables.windows_of(table_id, row_ids):
                await asyncio.to_thread(take, rows)
        await asyncio.to_thread(writer.close)
    return ExportOutcome(row_count=count, stale=stale, flagged=flagged)


@contextmanager
def replace_file(path: Path, *, kept: str) -> Iterator[BinaryIO]:
    """Write to a temporary file in the same folder and move it into place when complete, so that a failed export keeps
    the old file. Files left by killed exports to the same place are removed."""
    try:
        remove_abandoned_files(f".{escape(path.name)}.*{PART_SUFFIX}", path.parent)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        with suppress(OSError):  # where the file system has no locks, nothing is removed either
            flock(handle, LOCK_EX)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes a file that only its owner can read; an export gets the usual rights. There is no way to read
        # the mask but to set it.
        os.umask(umask := os.umask(0))
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise RunError(f"{path} could not be written: {error.strerror or error}.", kept=kept) from error
    # Also on cancellation, so that no partial file is left behind.
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
