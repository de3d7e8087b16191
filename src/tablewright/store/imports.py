"""Which file a table came from, so that the same file is recognised when it comes again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from tablewright.domain.model import Noun
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import upsert
from tablewright.store.records import now
from tablewright.store.sharing import visible
from tablewright.store.tables import head

SAMPLE = "sample:"
"""The path of a file that came with Tablewright begins with it."""


class ImportedFile(Noun, frozen=True):
    """`reading` says how the file was read: the same file, read in another way, is another table."""

    path: str
    content_hash: str
    reading: str = ""


class Imports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, table_id: str, file: ImportedFile) -> None:
        """The file as it is now."""

        def work(connection: Connection) -> None:
            values: dict[str, Any] = {
                "path": file.path,
                "content_hash": file.content_hash,
                "reading": file.reading,
                "at": now(),
            }
            statement = upsert(connection, schema.imports).values(table_no=head(connection, table_id).no, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=["table_no"], set_=values))

        await self._database.write(work, repeatable=True)

    async def find(self, path: str, reading: str | None = None) -> tuple[str, ImportedFile] | None:
        """The table that came last from that path, read in that way if one is said, and the file as it was then."""

        def work(connection: Connection) -> tuple[str, ImportedFile] | None:
            imports, tables = schema.imports, schema.tables
            query = (
                select(tables.c.id, imports.c.content_hash, imports.c.reading)
                .join(tables, tables.c.no == imports.c.table_no)
                .where(imports.c.path == path, visible(connection, "table"))
                .order_by(tables.c.no.desc())
                .limit(1)
            )
            if reading is not None:
                query = query.where(imports.c.reading == reading)
            found = connection.execute(query).one_or_none()
            if found is None:
                return None
            return found.id, ImportedFile(path=path, content_hash=found.content_hash, reading=found.reading)

        return await self._database.read(work)

    async def is_sample(self, table_id: str) -> bool:
        """Whether it came with Tablewright: what it is about is found in the sample web alone."""

        def work(connection: Connection) -> bool:
            query = select(schema.imports.c.path).where(schema.imports.c.table_no == head(connection, table_id).no)
            return str(connection.execute(query).scalar_one_or_none() or "").startswith(SAMPLE)

        return await self._database.read(work)

    async def keys(self, table_id: str) -> set[str]:
        """Of all rows that the table ever had: what somebody removed does not come back."""

        def work(connection: Connection) -> set[str]:
            rows = schema.rows
            return set(
                connection.execute(select(rows.c.key).where(rows.c.table_no == head(connection, table_id).no)).scalars()
            )

        return await self._database.read(work)
