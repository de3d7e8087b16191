"""What is kept with a table: where its rows come from, which is a file, a search, or the documents of one kind; and its
views.

Views with a name are for all who see the table; one without is how a person left it. Each person has their own tables
of kinds, of the documents that they see."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, select, update

from tablewright.domain.corpus import Document, KindBy
from tablewright.domain.listing import Listing
from tablewright.domain.model import Noun, RowId
from tablewright.domain.text import count_noun
from tablewright.domain.views import View
from tablewright.errors import NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.documents import count_corpus_change
from tablewright.store.ledger import charge_table, octet_length, octets
from tablewright.store.log import append_entries, close_change, overlay_texts
from tablewright.store.records import (
    RecordMapper,
    decode_cell,
    fetch_among,
    in_batches,
    now,
    put_record,
    take_turns,
    to_text,
    upsert,
)
from tablewright.store.schema import documents, imports, kind_rows, kind_tables, listings, rows, tables, views
from tablewright.store.sharing import must_own, visible
from tablewright.store.staleness import is_found, mark_stale
from tablewright.store.tables import head, head_of
from tablewright.store.users import owner_of

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
        """Return True if it came with Tablewright: what it is about is found in the sample web alone."""
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
        """Return how the person left the table; as it comes, where they were never there."""
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


_document = msgspec.json.Decoder(Document)


class KindRow(Noun, frozen=True):
    """The row of a document, and the text that its cells were read from."""

    row_id: RowId
    text_hash: str


kind_row_records = RecordMapper(KindRow, kind_rows)


class Kinds(StorePart):
    async def set_kinds(self, kinds: Mapping[str, str], by: KindBy) -> int:
        """Return what documents are, by their ids. What nobody says is set for one's own documents alone, and never in
        place of what somebody said. How many were set."""

        return await self._set_kinds(kinds, by) if kinds else 0

    @write_transaction
    def _set_kinds(self, connection: Connection, kinds: Mapping[str, str], by: KindBy) -> int:
        count_corpus_change(connection)
        count = 0
        is_guess = by not in ("model", "person")
        query = select(documents.c.id, documents.c.document)
        query = query.where(visible(connection, "document", owned=is_guess))
        for record in list(fetch_among(connection, query, documents.c.id, kinds)):
            if by == "person":
                must_own(connection, "document", record.id)
            known = _document.decode(record.document)
            if is_guess and known.is_sorted:
                continue
            kept = msgspec.structs.replace(known, kind=kinds[record.id], kind_by=by)
            connection.execute(update(documents).where(documents.c.id == record.id).values(document=to_text(kept)))
            count += 1
        return count

    @read_transaction
    def tables(self, connection: Connection) -> dict[str, str]:
        """The ids of one's own tables, by kind."""
        query = (
            select(kind_tables.c.kind, tables.c.id)
            .join(tables, tables.c.no == kind_tables.c.table_no)
            .order_by(kind_tables.c.kind)
        )
        mine = query.where(kind_tables.c.owner == owner_of(connection))
        return {record.kind: record.id for record in connection.execute(mine)}

    @repeatable_transaction
    def keep_table(self, connection: Connection, kind: str, table_id: str) -> str:
        """The table of the kind from now on; the id of another one, if somebody else has just kept it."""
        mine = {"owner": owner_of(connection), "kind": kind}
        values = {**mine, "table_no": head(connection, table_id).no}
        is_gone = kind_tables.c.table_no.not_in(select(tables.c.no))
        connection.execute(
            upsert(connection, kind_tables)
            .values(values)
            .on_conflict_do_update(index_elements=list(mine), set_=values, where=is_gone)
        )
        kept = select(tables.c.id).join(kind_tables, tables.c.no == kind_tables.c.table_no).filter_by(**mine)
        return str(connection.execute(kept).scalar_one())

    @read_transaction
    def rows(self, connection: Connection, table_id: str) -> dict[str, KindRow]:
        """By document."""
        query = select(kind_rows).where(kind_rows.c.table_no == head(connection, table_id).no)
        return {record.document_id: kind_row_records.read(record) for record in connection.execute(query)}

    async def keep_rows(self, table_id: str, rows: Mapping[str, KindRow]) -> None:
        if rows:
            await self._keep_rows(table_id, rows)

    @repeatable_transaction
    def _keep_rows(self, connection: Connection, table_id: str, rows: Mapping[str, KindRow]) -> None:
        no = head(connection, table_id).no
        for document_id, row in rows.items():
            put_record(connection, kind_rows, kind_row_records.write(row, table_no=no, document_id=document_id))

    @write_transaction
    def mark_changed(self, connection: Connection) -> int:
        """Whatever was read from a document that has another text now becomes stale, in everybody's tables; how many
        cells did."""
        take_turns(connection, "tablewright kinds")  # it charges several owners, in the order of their tables
        is_other = (documents.c.id == kind_rows.c.document_id) & (documents.c.text_hash != kind_rows.c.text_hash)
        query = select(kind_rows, documents.c.text_hash.label("now")).join(documents, is_other)
        changed: dict[int, list[Any]] = {}
        for record in connection.execute(query.where(documents.c.readable)):
            changed.setdefault(record.table_no, []).append(record)
        return sum(mark_rows_stale(connection, table_no, records) for table_no, records in sorted(changed.items()))

    @write_transaction
    def drop_rows(self, connection: Connection, table_id: str, document_ids: Collection[str]) -> None:
        """The documents are of another kind now; what their old rows say stays in the history of that table."""
        owned, no = kind_rows, head(connection, table_id).no
        for batch in in_batches(list(document_ids)):
            connection.execute(delete(owned).where(owned.c.table_no == no, owned.c.document_id.in_(batch)))


def mark_rows_stale(connection: Connection, table_no: int, changed: Sequence[Any]) -> int:
    """The found cells of the rows of these documents as stale, in one change of the table."""
    found = head_of(
        connection, connection.execute(select(tables).where(tables.c.no == table_no).with_for_update()).one()
    )
    texts = overlay_texts(connection, table_no, [record.row_id for record in changed])
    cells = ((place, text, decode_cell(text)) for place, text in texts.items())
    marks = [mark_stale(*place, text, cell) for place, text, cell in cells if is_found(cell) and not cell.stale]
    if marks:
        append_entries(connection, found, marks)
        note = f"{count_noun(len(changed), 'document')} changed"
        close_change(connection, found, len(marks), kind="edit", actor="", run_id=None, note=note)
    for record in changed:
        here = kind_rows.c.table_no == table_no, kind_rows.c.document_id == record.document_id
        connection.execute(update(kind_rows).where(*here).values(text_hash=record.now))
    return len(marks)
