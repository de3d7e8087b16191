"""What is kept with a table: the file or the search that its rows came from, and its views.

Views with a name are for all who see the table; one without is how a person left it."""

from __future__ import annotations

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, select

from tablewright.domain.listing import Listing
from tablewright.domain.model import Noun
from tablewright.domain.views import View
from tablewright.errors import NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import put_record
from tablewright.store.ledger import charge_table, octet_length, octets
from tablewright.store.records import RecordMapper, now, to_text
from tablewright.store.schema import imports, listings, rows, tables, views
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
        put_record(connection, imports, import_records.write(file, table_no=head(connection, table_id).no, at=now()))

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


_listing = msgspec.json.Decoder(Listing)


class Listings(StorePart):
    @read_transaction
    def get(self, connection: Connection, table_id: str) -> Listing:
        """Raises NotFound for a table whose rows came another way."""
        found = head(connection, table_id)
        content = connection.execute(
            select(listings.c.content).where(listings.c.table_no == found.no)
        ).scalar_one_or_none()
        if content is None:
            raise NotFound(
                f"The rows of {found.table.name} were not found by a search.",
                advice='`tablewright find "…"` makes a table whose rows are.',
            )
        return _listing.decode(content)

    @repeatable_transaction
    def keep(self, connection: Connection, listing: Listing) -> Listing:
        """As it is now; whoever may not change the table may not change how it was found."""
        kept = msgspec.structs.replace(listing, updated_at=now())
        no, content = head(connection, listing.table_id, lock=True).no, to_text(kept)
        size = octet_length(connection, listings.c.content)
        before = connection.scalar(select(size).where(listings.c.table_no == no)) or 0
        put_record(connection, listings, {"table_no": no, "content": content})
        charge_table(connection, no, octets(content) - before)
        return kept


_view = msgspec.json.Decoder(View)


class Views(StorePart):
    @read_transaction
    def named(self, connection: Connection, table_id: str) -> list[View]:
        """In the order of their names."""
        query = select(views.c.content).where(views.c.table_no == head(connection, table_id).no)
        query = query.where(views.c.name != "").order_by(views.c.name)
        return [_view.decode(content) for content in connection.scalars(query)]

    @read_transaction
    def left_by(self, connection: Connection, table_id: str, person: str) -> View:
        """How the person left the table; as it comes, where they were never there."""
        found = is_view(head(connection, table_id).no, person, "")
        content = connection.scalar(select(views.c.content).where(found))
        return _view.decode(content) if content else View()

    @repeatable_transaction
    def keep(self, connection: Connection, table_id: str, view: View, *, person: str = "") -> None:
        """In place of the one of that name; without a name, as the person's own."""
        key = {"table_no": head(connection, table_id).no, "name": view.name, "person": "" if view.name else person}
        put_record(connection, views, {**key, "content": to_text(view)})

    @repeatable_transaction
    def remove(self, connection: Connection, table_id: str, name: str) -> None:
        connection.execute(delete(views).where(is_view(head(connection, table_id).no, "", name)))


def is_view(table_no: int, person: str, name: str) -> ColumnElement[bool]:
    return and_(views.c.table_no == table_no, views.c.person == person, views.c.name == name)
