"""A document that is removed leaves nothing behind: not in a table, not in the free pages of the file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, delete, exists, select, tuple_, update

from tablewright.domain.listing import Listing
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import in_batches
from tablewright.store.parts import parts_of
from tablewright.store.records import FORGOTTEN, split_given, to_text
from tablewright.store.schema import (
    annotated,
    attempts,
    cache,
    cells,
    conversations,
    documents,
    edits,
    kind_rows,
    listings,
    operations,
    pages,
    properties,
    proposals,
    research_documents,
    research_rounds,
    researches,
    result_rows,
    rows,
    run_events,
    runs,
    segments,
    summaries,
    texts,
    turns,
    vectors,
    words,
)
from tablewright.store.sharing import release

AT_ONCE = 200


def clean_up(connection: Connection) -> None:
    """From here on this connection to SQLite overwrites what it deletes or moves; many builds of SQLite do not."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON").all()


async def checkpoint(database: Database) -> None:
    """Moves SQLite's log into its file, for the log still has what was deleted. Where another process reads an older
    state just now, the log is overwritten later."""
    if database.engine.dialect.name != "sqlite":
        return

    def truncate() -> None:
        connection = database.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()

    await asyncio.to_thread(truncate)


def forget_parts(connection: Connection, document_nos: Sequence[int]) -> None:
    """The documents and their parts; what was said about them, and their texts, stay."""
    for nos in in_batches(document_nos, AT_ONCE):
        for column in (segments.c.id, summaries.c.id, annotated.c.id, properties.c.annotation_id):
            connection.execute(delete(column.table).where(parts_of(column, nos)))
        connection.execute(delete(words).where(words.c.document_no.in_(nos)))
        connection.execute(delete(vectors).where(vectors.c.document_no.in_(nos)))
        connection.execute(delete(documents).where(documents.c.no.in_(nos)))


def forget_traces(connection: Connection, ids: Sequence[str]) -> None:
    """What was kept about the documents beside their parts: all versions of their texts, and all that quotes them."""
    for batch in in_batches(ids, AT_ONCE):
        forget_texts(connection, batch)
        forget_turns(connection, batch)
        forget_answers(connection, batch)
        forget_research(connection, batch)
        forget_kind_rows(connection, batch)
        forget_listings(connection, batch)
        connection.execute(delete(result_rows).where(result_rows.c.document_id.in_(batch)))
        release(connection, "document", batch)


def forget_texts(connection: Connection, ids: Sequence[str]) -> None:
    versions = schema.document_texts
    theirs = versions.c.document_id.in_(ids)
    hashes = list(connection.scalars(select(versions.c.content_hash).where(theirs).distinct()))
    connection.execute(delete(versions).where(theirs))
    for some in in_batches(hashes):
        connection.execute(
            delete(texts).where(
                texts.c.content_hash.in_(some),
                ~exists().where(versions.c.content_hash == texts.c.content_hash),
                ~exists().where(pages.c.content_hash == texts.c.content_hash),
            )
        )


def forget_turns(connection: Connection, ids: Sequence[str]) -> None:
    """With the summary of their conversations, which may repeat what they said."""
    quoting = schema.turn_documents
    theirs = quoting.c.document_id.in_(ids)
    found = connection.execute(select(quoting.c.conversation_id, quoting.c.number).where(theirs).distinct()).all()
    for some in in_batches([(record.conversation_id, record.number) for record in found], AT_ONCE):
        connection.execute(delete(turns).where(tuple_(turns.c.conversation_id, turns.c.number).in_(some)))
        connection.execute(delete(quoting).where(tuple_(quoting.c.conversation_id, quoting.c.number).in_(some)))
        touched = sorted({conversation for conversation, _ in some})
        connection.execute(update(conversations).where(conversations.c.id.in_(touched)).values(summary=""))


def forget_research(connection: Connection, ids: Sequence[str]) -> None:
    """All of it: a report without some of its sources would not be the one that was written."""
    quoting = research_documents
    found = select(quoting.c.research_id).where(quoting.c.document_id.in_(ids)).distinct()
    drop_researches(connection, list(connection.scalars(found)))


def drop_researches(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids, AT_ONCE):
        for column in (researches.c.id, research_rounds.c.research_id, research_documents.c.research_id):
            connection.execute(delete(column.table).where(column.in_(some)))
        release(connection, "research", some)


def forget_kind_rows(connection: Connection, ids: Sequence[str]) -> None:
    """The rows of these documents in the tables of their kinds. The log keeps its count of entries, and nothing that
    they said."""
    owned = kind_rows
    found = connection.execute(select(owned.c.table_no, owned.c.row_id).where(owned.c.document_id.in_(ids))).all()
    connection.execute(delete(owned).where(owned.c.document_id.in_(ids)))
    for table_no in {record.table_no for record in found}:
        row_ids = [record.row_id for record in found if record.table_no == table_no]
        connection.execute(
            update(edits)
            .where(edits.c.table_no == table_no, edits.c.row_id.in_(row_ids))
            .values(kind=FORGOTTEN, before=None, after=None)
        )
        connection.execute(delete(cells).where(cells.c.table_no == table_no, cells.c.row_id.in_(row_ids)))
        connection.execute(
            update(rows)
            .where(rows.c.table_no == table_no, rows.c.row_id.in_(row_ids))
            .values(key="", given=to_text(split_given([])[0]), removed=True)
        )
        its_proposals = operations.c.proposal_id.in_(select(proposals.c.id).where(proposals.c.table_no == table_no))
        its_runs = select(runs.c.id).where(runs.c.table_no == table_no)
        connection.execute(delete(operations).where(its_proposals, operations.c.row_id.in_(row_ids)))
        connection.execute(delete(attempts).where(attempts.c.run_id.in_(its_runs), attempts.c.row_id.in_(row_ids)))
        connection.execute(delete(run_events).where(run_events.c.run_id.in_(its_runs)))


def forget_answers(connection: Connection, ids: Sequence[str]) -> None:
    about = schema.cache_documents
    found = connection.execute(select(about.c.kind, about.c.key).where(about.c.document_id.in_(ids)).distinct()).all()
    for some in in_batches([(record.kind, record.key) for record in found], AT_ONCE):
        connection.execute(delete(cache).where(tuple_(cache.c.kind, cache.c.key).in_(some)))
        connection.execute(delete(about).where(tuple_(about.c.kind, about.c.key).in_(some)))


def forget_listings(connection: Connection, ids: Sequence[str]) -> None:
    """What a search for rows took from these documents: the pages it read are forgotten with all that they list."""
    for id in ids:
        found = connection.execute(select(listings).where(listings.c.content.contains(id, autoescape=True))).all()
        for record in found:
            listing = msgspec.json.decode(record.content, type=Listing)
            kept = msgspec.structs.replace(
                listing,
                sources=tuple(source for source in listing.sources if source.origin != id),
                waiting=tuple(origin for origin in listing.waiting if origin != id),
                aside=tuple(each for each in listing.aside if all(cited.origin != id for cited in each.evidence)),
            )
            connection.execute(
                update(listings).where(listings.c.table_no == record.table_no).values(content=to_text(kept))
            )
