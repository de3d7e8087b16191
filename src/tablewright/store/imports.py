"""Which file a table came from, so that the same file is recognised when it comes again."""

from __future__ import annotations

from sqlalchemy import Connection, select

from tablewright.domain.model import Noun
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import put
from tablewright.store.records import RecordMapper, now
from tablewright.store.schema import imports, rows, tables
from tablewright.store.sharing import visible
from tablewright.store.tables import head

SAMPLE = "sample:"
"""The path of a file that came with Tablewright begins with it."""


class ImportedFile(Noun, frozen=True):
    """`reading` says how the file was read: the same file, read in another way, is another table."""

    path: str
    content_hash: str
    reading: str = ""


import_records = RecordMapper(ImportedFile, imports)


class Imports(StorePart):
    @repeatable_transaction
    def keep(self, connection: Connection, table_id: str, file: ImportedFile) -> None:
        """The file as it is now."""
        put(connection, imports, import_records.write(file, table_no=head(connection, table_id).no, at=now()))

    @read_transaction
    def find(self, connection: Connection, path: str, reading: str | None = None) -> tuple[str, ImportedFile] | None:
        """The table that came last from that path, read in that way if one is said, and the file as it was then."""
        query = (
            select(tables.c.id, imports)
            .join(tables, tables.c.no == imports.c.table_no)
            .where(imports.c.path == path, visible(connection, "table"))
            .order_by(tables.c.no.desc())
            .limit(1)
        )
        if reading is not None:
            query = query.where(imports.c.reading == reading)
        found = connection.execute(query).one_or_none()
        return None if found is None else (found.id, import_records.read(found))

    @read_transaction
    def is_sample(self, connection: Connection, table_id: str) -> bool:
        """Whether it came with Tablewright: what it is about is found in the sample web alone."""
        query = select(imports.c.path).where(imports.c.table_no == head(connection, table_id).no)
        return str(connection.execute(query).scalar_one_or_none() or "").startswith(SAMPLE)

    @read_transaction
    def keys(self, connection: Connection, table_id: str) -> set[str]:
        """Of all rows that the table ever had: what somebody removed does not come back."""
        return set(connection.scalars(select(rows.c.key).where(rows.c.table_no == head(connection, table_id).no)))
