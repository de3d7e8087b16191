"""Files become tables and tables become files, whole or not at all."""

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
from tablewright.domain.files import Exported, FileOptions, Imported, Preview
from tablewright.domain.model import Cell, Field, Noun, Row, RowId, Table, column_key, given
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text, count_noun
from tablewright.engine.changes import Changes
from tablewright.errors import BadField, BadFile, RunError
from tablewright.formats.tables import Incoming, open_writer, read_table, target_format
from tablewright.formats.tables.json_tables import as_imported, from_mappings
from tablewright.formats.tables.read import from_spool, is_plain_text, read_to_spool
from tablewright.sandbox.limits import SandboxLimits
from tablewright.sandbox.sandbox import Sandbox
from tablewright.store.store import Store
from tablewright.store.table_details import ImportedFile
from tablewright.temporary import PART, remove_abandoned_files, temporary_folder
from tablewright.values.coerce import coerce

IMPORT_LIMITS = SandboxLimits(seconds=600)


@asynccontextmanager
async def read_file(path: Path, options: FileOptions, actor: str = "") -> AsyncIterator[Incoming]:
    """A workbook, a Parquet or a JSON file is opened by a worker process alone: here arrive its rows."""
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
        yield from_spool(outline, spool)


async def preview(path: Path, options: FileOptions, *, rows: int = 8, actor: str = "") -> Preview:
    async with read_file(path, options, actor) as incoming:
        wanted = with_fields(incoming, options.fields)
        first = await asyncio.to_thread(first_texts, wanted, rows)
        misfits = await asyncio.to_thread(find_misfits, incoming, wanted) if wanted is not incoming else {}
    return Preview(
        name=options.name or wanted.name,
        fields=wanted.fields,
        key_field=choose_key_field(wanted, options.key_field),
        row_count=wanted.row_count,
        rows=first,
        warnings=wanted.warnings,
        misfits=misfits,
    )


def first_texts(incoming: Incoming, rows: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(cell_text, cells)) for cells in islice(incoming.rows(), rows))


def with_fields(incoming: Incoming, fields: Sequence[Field]) -> Incoming:
    """The same rows in columns of other names and types."""
    if not fields:
        return incoming
    if len(fields) != len(incoming.fields):
        raise BadField(f"The file has {len(incoming.fields)} columns, not {len(fields)}.")
    check_names([field.name for field in fields])
    pairs = list(zip(incoming.fields, fields, strict=True))

    def batches() -> Iterator[Iterable[tuple[Cell, ...]]]:
        for batch in incoming.batches():
            yield [tuple(fitted(cell, *pair) for cell, pair in zip(cells, pairs, strict=True)) for cells in batch]

    kept = dict(zip((field.name for field in incoming.fields), fields, strict=True)).get(incoming.key_field)
    return structs.replace(incoming, fields=tuple(fields), batches=batches, key_field=kept.name if kept else "")


def check_names(names: Sequence[str]) -> None:
    """Of all columns of a table."""
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
    return {name: (len(values), tuple(values[:3])) for name, values in found.items()}


async def import_file(
    store: Store,
    path: Path,
    options: FileOptions,
    *,
    actor: str = "",
    update: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Make a table of a file, or `update` the one it became before.

    `progress` gets the rows done and the rows in all, from a thread of the store."""
    async with read_file(path, options, actor) as read:
        incoming = with_fields(read, options.fields)
        file = await described(path, options)
        if update and (updated := await update_table(store, incoming, file, actor=actor)):
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
    await store.imports.keep(table.id, file)
    return Imported(table=table, rows=incoming.row_count, warnings=incoming.warnings)


async def import_rows(
    store: Store, rows: Iterable[Mapping[str, Any]], options: FileOptions, *, actor: str = "", update: bool = False
) -> Imported:
    incoming = await asyncio.to_thread(from_mappings, options.name or "rows", list(rows))
    incoming = structs.replace(incoming, key_field=choose_key_field(incoming, options.key_field))
    return await import_from_memory(store, incoming, "made from rows in memory", actor=actor, update=update)


async def import_table(store: Store, table: Table, *, actor: str = "", update: bool = False) -> Imported:
    names = [field.name for field in table.fields]
    rows = [tuple(as_imported(row.cell(name)) for name in names) for row in table.rows]
    incoming = Incoming(
        name=table.name,
        fields=table.fields,
        row_count=len(rows),
        batches=lambda: iter([rows]),
        key_field=table.key_field,
    )
    return await import_from_memory(store, incoming, "copied from a table in memory", actor=actor, update=update)


async def import_from_memory(store: Store, incoming: Incoming, note: str, *, actor: str, update: bool) -> Imported:
    """Make a table, or `update` the one that rows in the same columns became before."""
    source = await asyncio.to_thread(described_rows, incoming) if update else None
    if source and (updated := await update_table(store, incoming, source, actor=actor)):
        return updated
    table = await store.tables.create(
        incoming.name, incoming.fields, incoming.rows(), key_field=incoming.key_field, actor=actor, note=note
    )
    if source:
        await store.imports.keep(table.id, source)
    return Imported(table=table, rows=incoming.row_count, warnings=incoming.warnings)


def described_rows(incoming: Incoming) -> ImportedFile:
    """Identify rows in memory by their columns: they have no path."""
    content = hashlib.sha256()
    for cells in incoming.rows():
        content.update("\x1e".join(map(cell_text, cells)).encode("utf-8", "surrogatepass") + b"\x1f")
    columns = sorted(column_key(field.name) for field in incoming.fields)
    return ImportedFile(
        path=f"memory:{incoming.name}:{hashlib.sha256(repr(columns).encode()).hexdigest()}",
        content_hash=content.hexdigest(),
        reading=repr(incoming.key_field),
    )


async def update_table(store: Store, incoming: Incoming, source: ImportedFile, *, actor: str) -> Imported | None:
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
    known = find_rows(table, rows)
    if known is None:
        is_same = found[1].content_hash == source.content_hash and len(rows) == len(table.rows)
        return Imported(table=table, rows=len(rows), warnings=incoming.warnings) if is_same else None
    edits: list[Edit] = []
    for read, row in zip(rows, known, strict=True):
        if row is None:
            edits.append(AddRow(key=read.key, cells=read.filled))
        else:
            edits += changed_cells(row, read.cells)
    if edits:
        await Changes(store, actor).edit(table.id, edits, f"updated from {incoming.name}")
        table = await store.tables.load(table.id)
    await store.imports.keep(table.id, source)
    by_name = {cell_text(row.cell(table.key_field)): row for row in table.rows}
    row_ids = tuple((row or by_name[read.name]).id for read, row in zip(rows, known, strict=True))
    return Imported(table=table, rows=len(rows), warnings=incoming.warnings, row_ids=row_ids)


Columns: TypeAlias = "Sequence[tuple[Field, Field]]"
"""The columns of data that comes again, each as it was read and as its table has it."""


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
        cells = {field.name: fitted(cell, read_as, field) for cell, (read_as, field) in zip(read, columns, strict=True)}
        name = cell_text(cells[key_field])
        yield KeyedRow(name, row_key(name), read, cells)


def find_rows(table: Table, rows: Sequence[KeyedRow]) -> list[Row | None] | None:
    """Return the row of the table for each row of the data, None for a new one: by its very name as it is now, else by
    the key with which it came. Return None if a row has no name, or not one row of the table of its own."""
    by_name = {cell_text(row.cell(table.key_field)): row for row in table.rows}
    by_key = {row.key: row for row in reversed(table.rows)}
    found = [by_name.get(read.name) or by_key.get(read.key) for read in rows]
    ids = [read.name if row is None else row.id for read, row in zip(rows, found, strict=True)]
    is_one_to_one = len(by_name) == len(table.rows) and len({*ids}) == len(ids) and all(read.key for read in rows)
    return found if is_one_to_one else None


def changed_cells(row: Row, read: Mapping[str, Cell]) -> Iterator[SetCell]:
    for name, cell in read.items():
        before = row.cell(name)
        if cell.value != before.value and (cell.value is not None or before.run_id is None):
            yield SetCell(row_id=row.id, field=name, cell=cell)


class KnownFile(Noun, frozen=True):
    """A file that was imported before. `new_rows` are those of the file that its table never had; `warnings` say what
    of the file they leave out."""

    table: Table
    file: ImportedFile
    changed: bool = False
    new_rows: tuple[Mapping[str, Cell], ...] = ()
    warnings: tuple[str, ...] = ()


async def recognise(store: Store, path: Path, options: FileOptions) -> KnownFile | None:
    """The table that the file became when it was last imported. None where it never was, and where it has changed so
    that its rows cannot be matched: it has other columns, or no column that names its rows. An uploaded file is read
    as it was then."""
    file = await described(path, options)
    found = await store.imports.find(file.path, None if options.origin else file.reading)
    if found is None:
        return None
    table_id, before = found
    if options.origin:
        options = read_like(before, options)
        file = await described(path, options)
    table = await store.tables.find(table_id)
    if file.content_hash == before.content_hash:
        return KnownFile(table=table, file=file)
    async with read_file(path, options) as incoming:
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


async def add_new_rows(store: Store, known: KnownFile, *, actor: str = "") -> None:
    """What is in the table already stays as it is, whatever the file says now."""
    table = known.table
    edits = [AddRow(key=row_key(cell_text(cells[table.key_field])), cells=cells) for cells in known.new_rows]
    if edits:
        await Changes(store, actor).edit(table.id, edits, f"added from {Path(known.file.path).name}")
    await store.imports.keep(table.id, known.file)


def fitted(cell: Cell, read_as: Field, field: Field) -> Cell:
    """As the column of the table wants it: in the changed file it may look like another type."""
    if read_as.type == field.type:
        return cell
    text = cell_text(cell)
    return given(coerce(text, field).value, text)


READING = ("key_field", "header", "sheet", "delimiter", "encoding")


def read_like(before: ImportedFile, options: FileOptions) -> FileOptions:
    return structs.replace(options, **dict(zip(READING, literal_eval(before.reading), strict=True)))


async def described(path: Path, options: FileOptions) -> ImportedFile:
    reading = tuple(getattr(options, name) for name in READING)
    return ImportedFile(
        path=options.origin or known_as(path),
        content_hash=await asyncio.to_thread(hash_of, path),
        reading=repr(reading),
    )


def known_as(path: Path) -> str:
    """A file of this machine, as it is kept with the table that came from it."""
    return f"{platform.node()}:{path.resolve()}"


def hash_of(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None


def choose_key_field(incoming: Incoming, asked: str) -> str:
    """The column that says what a row is about: as asked, as the file says, else the first text column."""
    if asked:
        found = next((field.name for field in incoming.fields if column_key(field.name) == column_key(asked)), None)
        if found is None:
            names = ", ".join(field.name for field in incoming.fields)
            raise BadField(f"There is no column {asked!r}.", advice=f"The columns are: {names}.")
        return found
    return incoming.key_field or first_text(incoming.fields)


def first_text(fields: Sequence[Field]) -> str:
    texts = [field.name for field in fields if field.type == "text"]
    return (texts or [field.name for field in fields] or [""])[0]


async def export_file(
    store: Store,
    table_id: str,
    path: Path,
    *,
    evidence: bool = False,
    cost: bool = False,
    row_ids: Sequence[RowId] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """All rows, or those of `row_ids`, in their order."""
    table = await store.tables.find(table_id)
    format = target_format(path)
    count = stale = flagged = 0
    with replacing(path, kept="The table is safe.") as stream:
        writer = open_writer(stream, format, table, evidence=evidence, cost=cost)

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
    return Exported(row_count=count, stale=stale, flagged=flagged)


@contextmanager
def replacing(path: Path, *, kept: str) -> Iterator[BinaryIO]:
    """Written beside its place and moved there when complete: a failed export leaves the old file as it was. What an
    export to the same place left that was killed is removed."""
    try:
        remove_abandoned_files(f".{escape(path.name)}.*{PART}", path.parent)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
        with suppress(OSError):  # where the file system has no locks, nothing is removed either
            flock(handle, LOCK_EX)
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(name).chmod(0o666 & ~current_umask())
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise RunError(f"{path} could not be written: {error.strerror or error}.", kept=kept) from error
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
