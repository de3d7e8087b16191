"""The origin of a table's rows (a file, a search, or the documents of one kind), and its views.

A named view is for all who see the table; one without a name is how a person left it. Each person has their own tables
of kinds, with the documents they see.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from tablewright.domain.documents import Document, KindBy
from tablewright.domain.history import View
from tablewright.domain.listing import Listing
from tablewright.domain.model import RowId, Struct
from tablewright.domain.text import count_noun
from tablewright.errors import NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.documents import count_corpus_change
from tablewright.store.edit_log import append_log_entries, close_change, read_stored_cells
from tablewright.store.ledger import charge_table, stored_utf8_bytes
from tablewright.store.records import (
    RecordMapper,
    acquire_advisory_lock,
    build_upsert,
    count_utf8_bytes,
    decode_cell,
    fetch_among,
    in_batches,
    put_record,
    to_json_text,
    utc_now,
)
from tablewright.store.schema import documents, imports, kind_rows, kind_tables, listings, rows, tables, views
from tablewright.store.sharing import check_owner, is_visible
from tablewright.store.staleness import is_found_by_run, mark_stale
from tablewright.store.tables import build_table_head, read_table_head
from tablewright.store.users import acting_user_id

# The start of the path of a file that came with Tablewright.
SAMPLE_PATH_PREFIX = "sample:"


class ImportedFile(Struct, frozen=True):
    """A file that became a table. `reading` says how it was read: the same file, read in another way, is another
    table."""

    path: str
    content_hash: str
    reading: str = ""


import_records = RecordMapper(ImportedFile, imports)


class Imports(StorePart):
    """Store and find imported files."""

    @repeatable_transaction
    def keep(self, connection: Connection, table_id: str, file: ImportedFile) -> None:
        """Store the current state of the file."""
        put_record(
            connection,
            imports,
            import_records.write(file, table_no=read_table_head(connection, table_id).no, at=utc_now()),
        )

    @read_transaction
    def find(self, connection: Connection, path: str, reading: str | None = None) -> tuple[str, ImportedFile] | None:
        """Return the newest table from that path, read in that way if `reading` is given, and the file as it was
        then."""
        query = (
            select(tables.c.id, imports)
            .join(tables, tables.c.no == imports.c.table_no)
            .where(imports.c.path == path, is_visible(connection, "table"))
            .order_by(tables.c.no.desc())
            .limit(1)
        )
        if reading is not None:
            query = query.where(imports.c.reading == reading)
        found = connection.execute(query).one_or_none()
        return None if found is None else (found.id, import_records.read(found))

    @read_transaction
    def is_sample(self, connection: Connection, table_id: str) -> bool:
        """Return True if the table came with Tablewright: its facts are found in the sample web alone."""
        query = select(imports.c.path).where(imports.c.table_no == read_table_head(connection, table_id).no)
        return str(connection.execute(query).scalar_one_or_none() or "").startswith(SAMPLE_PATH_PREFIX)

    @read_transaction
    def keys(self, connection: Connection, table_id: str) -> set[str]:
        """Return the keys of all rows that the table ever had, so that a removed row does not come back."""
        return set(
            connection.scalars(select(rows.c.key).where(rows.c.table_no == read_table_head(connection, table_id).no))
        )


_listing = msgspec.json.Decoder(Listing)


class Listings(StorePart):
    """Store and read how the rows of a table were found."""

    @read_transaction
    def get(self, connection: Connection, table_id: str) -> Listing:
        """Return the listing. Raise NotFound for a table whose rows came another way."""
        found = read_table_head(connection, table_id)
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
        """Store the listing. It needs the same right as changing the table."""
        kept = msgspec.structs.replace(listing, updated_at=utc_now())
        no, content = read_table_head(connection, listing.table_id, lock=True).no, to_json_text(kept)
        size = stored_utf8_bytes(connection, listings.c.content)
        before = connection.scalar(select(size).where(listings.c.table_no == no)) or 0
        put_record(connection, listings, {"table_no": no, "content": content})
        charge_table(connection, no, count_utf8_bytes(content) - before)
        return kept


_view = msgspec.json.Decoder(View)


class Views(StorePart):
    """Store and read views."""

    @read_transaction
    def named(self, connection: Connection, table_id: str) -> list[View]:
        """Return views in the order of their names."""
        query = select(views.c.content).where(views.c.table_no == read_table_head(connection, table_id).no)
        query = query.where(views.c.name != "").order_by(views.c.name)
        return [_view.decode(content) for content in connection.scalars(query)]

    @read_transaction
    def left_by(self, connection: Connection, table_id: str, person: str) -> View:
        """Return the view that the person left; the default if they were never there."""
        found = is_view(read_table_head(connection, table_id).no, person, "")
        content = connection.scalar(select(views.c.content).where(found))
        return _view.decode(content) if content else View()

    @repeatable_transaction
    def keep(self, connection: Connection, table_id: str, view: View, *, person: str = "") -> None:
        """Store a view, and replace the one of that name; without a name, the person's own."""
        key = {
            "table_no": read_table_head(connection, table_id).no,
            "name": view.name,
            "person": "" if view.name else person,
        }
        put_record(connection, views, {**key, "content": to_json_text(view)})

    @repeatable_transaction
    def remove(self, connection: Connection, table_id: str, name: str) -> None:
        connection.execute(delete(views).where(is_view(read_table_head(connection, table_id).no, "", name)))


def is_view(table_no: int, person: str, name: str) -> ColumnElement[bool]:
    return and_(views.c.table_no == table_no, views.c.person == person, views.c.name == name)


_document = msgspec.json.Decoder(Document)


class KindRow(Struct, frozen=True):
    """The row of a document, and the text that its cells were read from."""

    row_id: RowId
    text_hash: str


kind_row_records = RecordMapper(KindRow, kind_rows)


class Kinds(StorePart):
    """Store the kinds of documents, and the tables that have a row for each document of a kind."""

    @write_transaction
    def set_kinds(self, connection: Connection, kinds: Mapping[str, str], by: KindBy) -> int:
        """Set the kinds of documents by their ids, and return how many were set. A guess is set for one's own documents
        alone, and never replaces what a person or a model said."""
        if not kinds:
            return 0
        count_corpus_change(connection)
        count = 0
        is_guess = by not in ("model", "person")
        query = select(documents.c.id, documents.c.document)
        query = query.where(is_visible(connection, "document", owned=is_guess))
        for record in list(fetch_among(connection, query, documents.c.id, kinds)):
            if by == "person":
                check_owner(connection, "document", record.id)
            known = _document.decode(record.document)
            if is_guess and known.is_sorted:
                continue
            kept = msgspec.structs.replace(known, kind=kinds[record.id], kind_by=by)
            connection.execute(update(documents).where(documents.c.id == record.id).values(document=to_json_text(kept)))
            count += 1
        return count

    @read_transaction
    def tables(self, connection: Connection) -> dict[str, str]:
        """Return the ids of one's own tables, by kind."""
        query = (
            select(kind_tables.c.kind, tables.c.id)
            .join(tables, tables.c.no == kind_tables.c.table_no)
            .order_by(kind_tables.c.kind)
        )
        mine = query.where(kind_tables.c.owner == acting_user_id(connection))
        return {record.kind: record.id for record in connection.execute(mine)}

    @repeatable_transaction
    def keep_table(self, connection: Connection, kind: str, table_id: str) -> str:
        """Make this the table of the kind, and return its id; that of another one if another process has just stored
        it."""
        mine = {"owner": acting_user_id(connection), "kind": kind}
        values = {**mine, "table_no": read_table_head(connection, table_id).no}
        is_gone = kind_tables.c.table_no.not_in(select(tables.c.no))
        connection.execute(
            build_upsert(connection, kind_tables)
            .values(values)
            .on_conflict_do_update(index_elements=list(mine), set_=values, where=is_gone)
        )
        kept = select(tables.c.id).join(kind_tables, tables.c.no == kind_tables.c.table_no).filter_by(**mine)
        return str(connection.execute(kept).scalar_one())

    @read_transaction
    def rows(self, connection: Connection, table_id: str) -> dict[str, KindRow]:
        """Return rows by document."""
        query = select(kind_rows).where(kind_rows.c.table_no == read_table_head(connection, table_id).no)
        return {record.document_id: kind_row_records.read(record) for record in connection.execute(query)}

    @repeatable_transaction
    def keep_rows(self, connection: Connection, table_id: str, rows: Mapping[str, KindRow]) -> None:
        no = read_table_head(connection, table_id).no
        for document_id, row in rows.items():
            put_record(connection, kind_rows, kind_row_records.write(row, table_no=no, document_id=document_id))

    @write_transaction
    def mark_changed(self, connection: Connection) -> int:
        """Mark as stale what was read from documents that have another text now, in all tables; return how many cells
        were marked."""
        # It charges several owners, so two of these transactions could deadlock.
        acquire_advisory_lock(connection, "tablewright kinds")
        is_other = (documents.c.id == kind_rows.c.document_id) & (documents.c.text_hash != kind_rows.c.text_hash)
        query = select(kind_rows, documents.c.text_hash.label("now")).join(documents, is_other)
        changed: dict[int, list[Any]] = {}
        for record in connection.execute(query.where(documents.c.readable)):
            changed.setdefault(record.table_no, []).append(record)
        return sum(mark_rows_stale(connection, table_no, records) for table_no, records in sorted(changed.items()))

    @write_transaction
    def drop_rows(self, connection: Connection, table_id: str, document_ids: Collection[str]) -> None:
        """Unlink documents that have another kind now; their old rows stay in the history of that table."""
        owned, no = kind_rows, read_table_head(connection, table_id).no
        for batch in in_batches(list(document_ids)):
            connection.execute(delete(owned).where(owned.c.table_no == no, owned.c.document_id.in_(batch)))


def mark_rows_stale(connection: Connection, table_no: int, changed: Sequence[Any]) -> int:
    """Mark the found cells of the rows of these documents as stale, in one change of the table."""
    found = build_table_head(
        connection, connection.execute(select(tables).where(tables.c.no == table_no).with_for_update()).one()
    )
    stored = read_stored_cells(connection, table_no, [record.row_id for record in changed])
    cells = ((place, number, decode_cell(text)) for place, (number, text) in stored.items())
    marks = [mark_stale(*at, number, cell) for at, number, cell in cells if is_found_by_run(cell) and not cell.stale]
    if marks:
        grown = append_log_entries(connection, found, marks)
        note = f"{count_noun(len(changed), 'document')} changed"
        close_change(connection, found, len(marks), kind="edit", actor="", run_id=None, note=note, grown=grown)
    for record in changed:
        here = kind_rows.c.table_no == table_no, kind_rows.c.document_id == record.document_id
        connection.execute(update(kind_rows).where(*here).values(text_hash=record.now))
    return len(marks)
