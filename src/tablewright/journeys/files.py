"""Files become tables and tables become files, whole or not at all."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tablewright.errors import BadField, BadFile, RunError
from tablewright.store.store import Store
from tablewright.table.files import Incoming, open_writer, read_table, target_format
from tablewright.table.model import Field, Noun, Row, Table, column_key


class Imported(Noun, frozen=True):
    table: Table
    rows: int
    warnings: tuple[str, ...] = ()


class FileOptions(Noun, frozen=True):
    """What the user says about a file; everything else is found out."""

    name: str = ""
    key_field: str = ""
    header: bool = True
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None


async def import_file(
    store: Store,
    path: Path,
    options: FileOptions,
    *,
    actor: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """`progress` is told how many rows of how many are in; from a store's thread."""
    incoming = await asyncio.to_thread(
        read_table,
        path,
        header=options.header,
        sheet=options.sheet,
        delimiter=options.delimiter,
        encoding=options.encoding,
    )
    table = await store.tables.create(
        options.name or incoming.name,
        incoming.fields,
        incoming.rows(),
        key_field=choose_key_field(incoming, options.key_field),
        actor=actor,
        note=f"imported {path.name}",
        progress=(lambda done: progress(done, incoming.row_count)) if progress else None,
    )
    return Imported(table=table, rows=incoming.row_count, warnings=incoming.warnings)


def choose_key_field(incoming: Incoming, asked: str) -> str:
    """The column that says what a row is about: as asked, as the file says, else the first text column."""
    if asked:
        found = next((field.name for field in incoming.fields if column_key(field.name) == column_key(asked)), None)
        if found is None:
            names = ", ".join(field.name for field in incoming.fields)
            raise BadField(f"The file has no column {asked!r}.", advice=f"It has: {names}.")
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
    progress: Callable[[int], None] | None = None,
) -> int:
    table = await store.tables.find(table_id)
    format = target_format(path)
    count = 0
    with replacing(path, kept="The table is safe.") as stream:
        writer = open_writer(stream, format, table, evidence=evidence, cost=cost)

        def take(rows: Sequence[Row]) -> None:
            nonlocal count
            writer.write(rows)
            count += len(rows)
            if progress:
                progress(count)

        await store.tables.stream(table_id, take)
        await asyncio.to_thread(writer.close)
    return count


@contextmanager
def replacing(path: Path, *, kept: str) -> Iterator[BinaryIO]:
    """Written beside its place and moved there when complete: a failed export leaves the old file as it was."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
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
