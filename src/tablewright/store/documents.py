"""The user's own documents: what was read of each, in parts, and how those are found again.

Everything about a document is added and removed together: a removed one leaves nothing behind, neither in a table nor
in the free pages of the file. `corpus.version` counts the changes, so that what is kept in memory knows when to reload;
all writers lock it, so they take turns on both databases.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
from sqlalchemy import Connection, Select, delete, exists, func, insert, or_, select, tuple_, update
from sqlalchemy import Row as Record

from tablewright.domain.documents import Annotation, Document, Segment, Summary
from tablewright.domain.listing import Listing
from tablewright.domain.retrieved import Retrieved, hash_content
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.cache import Cache, store_text
from tablewright.store.conversations import delete_researches
from tablewright.store.database import Database, StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_bytes, set_bytes, stored_utf8_bytes
from tablewright.store.records import (
    ERASED_EDIT_KIND,
    MAX_DOCUMENTS_PER_QUERY,
    RecordMapper,
    build_upsert,
    clean_for_storage,
    count_utf8_bytes,
    delete_contents,
    fetch_among,
    in_batches,
    insert_many,
    split_given,
    to_json_text,
    use_snapshot_isolation,
    utc_now,
)
from tablewright.store.schema import (
    annotated,
    attempts,
    cache,
    cells,
    conversations,
    corpus,
    document_texts,
    documents,
    edits,
    is_part_of_documents,
    kind_rows,
    listings,
    make_part_id,
    operations,
    pages,
    properties,
    proposals,
    research_documents,
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
from tablewright.store.search_index import (
    HalfMatrix,
    Target,
    TextIndex,
    VectorIndex,
    add_vectors,
    build_postings,
    store_vectors,
)
from tablewright.store.sharing import check_owner, claim_ownership, is_visible, release_shares, sees_all
from tablewright.store.snapshot import (
    RosterCache,
    Snapshot,
    find_document_record,
    read_annotations,
    read_roster,
    segment_records,
    store_annotations,
    summary_records,
)
from tablewright.store.users import add_audit_entry

Result = TypeVar("Result")
Params = ParamSpec("Params")

document_records = RecordMapper(Document, documents)
_document = msgspec.json.Decoder(Document)


@dataclass(frozen=True, kw_only=True)
class IngestedDocument:
    """A document with all that was made of it. Each matrix has a row for each segment, summary or annotation."""

    document: Document
    text: str = ""
    segments: tuple[Segment, ...] = ()
    summaries: tuple[Summary, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    vectors: Mapping[Target, HalfMatrix] = field(default_factory=dict)
    embedder: str = ""


def as_transaction(
    ask: Callable[Concatenate[Snapshot, Params], Result],
) -> Callable[Concatenate[Documents, Params], Coroutine[Any, Any, Result]]:
    """Make a query of a snapshot a transaction of its own."""

    @wraps(ask)
    async def asked(documents: Documents, /, *args: Params.args, **named: Params.kwargs) -> Result:
        return await documents.run_on_snapshot(lambda moment: ask(moment, *args, **named))

    return asked


class Documents(StorePart):
    """Add, read and remove documents, and search them."""

    def __init__(self, database: Database, cache: Cache) -> None:
        super().__init__(database)
        self._cache = cache
        self._text_index = TextIndex()
        self._vector_index = VectorIndex()
        self._newest = RosterCache()

    async def add(self, read: IngestedDocument) -> None:
        await self.add_many([read])

    @write_transaction
    def add_many(self, connection: Connection, read: Sequence[IngestedDocument]) -> None:
        """Add documents in one transaction. One with a known path replaces that document and keeps its id."""
        if not read:
            return
        enable_secure_delete(connection)
        # First, because updating the one line of `corpus` makes all writers of documents take turns.
        count_corpus_change(connection)
        sizes: dict[str, int] = {}
        for each in read:
            self._database.check_open()
            id, size = add_document(connection, each)
            sizes[id] = size
        for id, size in sizes.items():
            # Last and in one loop, because charging locks the owner's line.
            set_bytes(connection, "document", id, size)

    @write_transaction
    def add_annotations(
        self, connection: Connection, id: str, annotations: Sequence[Annotation], vectors: HalfMatrix, embedder: str
    ) -> None:
        """Add annotations after those the document has; each with its vector."""
        if not annotations:
            return
        count_corpus_change(connection)
        found = find_document_record(connection, id)
        no = found.no
        facts = sum(annotation.shape == "fact" for annotation in annotations)
        before = connection.execute(select(documents.c.facts, documents.c.rows).where(documents.c.no == no)).one()
        known = before.facts + before.rows
        connection.execute(
            update(documents)
            .where(documents.c.no == no)
            .values(facts=before.facts + facts, rows=before.rows + len(annotations) - facts)
        )
        store_annotations(connection, no, annotations, first=known)
        add_vectors(connection, no, "fact", known, vectors, embedder)
        charge_bytes(connection, "document", found.id, count_annotation_bytes(annotations) + vectors.nbytes)

    async def set_summaries(self, id: str, summaries: Sequence[Summary], vectors: HalfMatrix, embedder: str) -> None:
        """Replace the summaries of a document."""
        await self._set_summaries(id, summaries, vectors, embedder)
        # The index notices changes by the size of a matrix, and new summaries may be as many as the old.
        self._vector_index.forget("summary")

    @write_transaction
    def _set_summaries(
        self, connection: Connection, id: str, summaries: Sequence[Summary], vectors: HalfMatrix, embedder: str
    ) -> None:
        count_corpus_change(connection)
        found = find_document_record(connection, id)
        no = found.no
        before = count_summary_bytes(connection, no)
        connection.execute(delete(schema.summaries).where(is_part_of_documents(schema.summaries.c.id, [no])))
        store_summaries(connection, no, summaries)
        old = schema.vectors.c.document_no == no, schema.vectors.c.target == "summary"
        connection.execute(delete(schema.vectors).where(*old))
        store_vectors(connection, no, {"summary": vectors}, embedder)
        charge_bytes(connection, "document", found.id, count_summary_bytes(connection, no) - before)

    async def remove(self, ids: Sequence[str]) -> int:
        """Remove documents with every trace: parts, texts, vectors, rows of result sets, turns that quote them and
        model answers about them. What was written into tables stays, with its quotes: that belongs to the user. Return
        how many there were."""
        # Answers about these documents may still wait to be written; afterwards they would survive the removal.
        await self._cache.settle()
        removed = await self._remove(ids)
        await truncate_wal(self._database)
        return removed

    @write_transaction
    def _remove(self, connection: Connection, ids: Sequence[str]) -> int:
        enable_secure_delete(connection)
        count_corpus_change(connection)
        query = select(documents.c.id, documents.c.no).where(is_visible(connection, "document"))
        numbers = {record.id: record.no for record in fetch_among(connection, query, documents.c.id, ids)}
        for id in numbers:
            check_owner(connection, "document", id)
        # Parts first: what refers to a document is found by its id, which the traces still have.
        delete_parts(connection, list(numbers.values()))
        delete_traces(connection, list(numbers))
        for id in numbers:
            add_audit_entry(connection, "remove", f"document {id}")
        return len(numbers)

    @read_transaction
    def known(self, connection: Connection) -> dict[str, tuple[str, str]]:
        """Return the id and the hash of each file, by path."""
        found = fetch_visible(connection, select(documents.c.path, documents.c.id, documents.c.file_hash))
        return {record.path: (record.id, record.file_hash) for record in found}

    @read_transaction
    def all(self, connection: Connection, *, readable: bool | None = None) -> list[Document]:
        query = select(documents.c.document).order_by(documents.c.path)
        if readable is not None:
            query = query.where(documents.c.readable == readable)
        return [_document.decode(record.document) for record in fetch_visible(connection, query)]

    @read_transaction
    def with_long_segments(self, connection: Connection, characters: int) -> set[str]:
        """Return the ids of documents whose segments have more characters than that on average."""
        found = fetch_visible(
            connection, select(documents.c.document, documents.c.segments).where(documents.c.segments > 0)
        )
        read = [(_document.decode(record.document), record.segments) for record in found]
        return {document.id for document, segments in read if document.characters > characters * segments}

    @read_transaction
    def without_vectors(self, connection: Connection, embedder: str) -> set[str]:
        """Return the ids of documents whose segments have no vectors of this embedder."""
        own = (vectors.c.document_no == documents.c.no, vectors.c.target == "segment", vectors.c.embedder == embedder)
        query = select(documents.c.id).where(
            documents.c.segments > 0, ~select(vectors.c.document_no).where(*own).exists()
        )
        return {record.id for record in fetch_visible(connection, query)}

    @read_transaction
    def get(self, connection: Connection, id_or_path_or_name: str) -> Document:
        """Return a document by its id or path; by name or by the end of its path only if one has it."""
        return _document.decode(find_document_record(connection, clean_for_storage(id_or_path_or_name)).document)

    async def retrieved(self, id: str) -> Retrieved:
        """Return the document's text as evidence can point to it."""

        document, text = await self._with_text(id)
        if text is None:
            raise NotFound(f"{document.name} has no text. {document.problem}".strip())
        return Retrieved(
            origin=document.id,
            text=zlib.decompress(text).decode(),
            title=document.title,
            kind="document",
            retrieved_at=document.added_at,
            content_hash=document.text_hash,
            page_starts=document.page_starts,
        )

    @read_transaction
    def _with_text(self, connection: Connection, id: str) -> tuple[Document, bytes | None]:
        document = _document.decode(find_document_record(connection, id).document)
        query = select(texts.c.text).where(texts.c.content_hash == document.text_hash)
        return document, connection.scalar(query)

    @read_transaction
    def annotations(self, connection: Connection, id: str) -> list[Annotation]:
        """Return the annotations of a document in order."""
        return read_annotations(connection, find_document_record(connection, id).no)

    @read_transaction
    def facts(self, connection: Connection) -> dict[str, int]:
        """Return how many facts and rows were read from each document, by its id."""
        found = fetch_visible(connection, select(documents.c.id, documents.c.facts, documents.c.rows))
        return {record.id: record.facts + record.rows for record in found}

    @read_transaction
    def run_on_snapshot(self, connection: Connection, work: Callable[[Snapshot], Result]) -> Result:
        """Run several queries on one snapshot of the documents. Each query below is also available alone."""
        use_snapshot_isolation(connection)
        version = connection.execute(select(corpus.c.version)).scalar_one()
        roster = self._newest.roster
        # The roster is shared by all users; each user's part is selected below.
        if roster is None or roster.version != version:
            roster = self._newest.roster = read_roster(connection, version)
        if not sees_all(connection):
            own = select(documents.c.no).where(is_visible(connection, "document"))
            roster = roster.only(set(connection.scalars(own)))
        return work(
            Snapshot(connection=connection, roster=roster, text_index=self._text_index, vector_index=self._vector_index)
        )

    find = as_transaction(Snapshot.find)
    segments = as_transaction(Snapshot.segments)
    segments_of = as_transaction(Snapshot.segments_of)
    summaries_of = as_transaction(Snapshot.summaries_of)
    properties = as_transaction(Snapshot.properties)
    with_words = as_transaction(Snapshot.with_words)
    search_text = as_transaction(Snapshot.search_text)
    search_vector = as_transaction(Snapshot.search_vector)
    find_distinctive_words = as_transaction(Snapshot.find_distinctive_words)


def fetch_visible(connection: Connection, query: Select[Any]) -> Sequence[Record[Any]]:
    """Return the records of a query that the acting user may see."""
    return connection.execute(query.where(is_visible(connection, "document"))).all()


def count_corpus_change(connection: Connection) -> None:
    connection.execute(update(corpus).values(version=corpus.c.version + 1))


def add_document(connection: Connection, read: IngestedDocument) -> tuple[str, int]:
    """Return the document's id and its bytes: of the file, and of all that was made of it."""
    document, text = clean_document(read)
    # A document may come back under a known path, or with a known id from another path.
    same = or_(documents.c.path == document.path, documents.c.id == document.id)
    known = connection.execute(select(documents.c.no, documents.c.id, documents.c.path).where(same)).all()
    for record in known:
        delete_parts(connection, [record.no])
        if record.path == document.path:
            # What was said about the file before still refers to that id.
            document = msgspec.structs.replace(document, id=record.id)
    # A user who adds a known file has read it, so they may see the document that it became.
    claim_ownership(connection, "document", [document.id], owns=not known)
    inserted = connection.execute(
        insert(documents).values(
            document_records.write(
                document,
                readable=not document.problem,
                segments=len(read.segments),
                facts=sum(annotation.shape == "fact" for annotation in read.annotations),
                rows=sum(annotation.shape == "row" for annotation in read.annotations),
                document=to_json_text(document),
            )
        )
    )
    no = int(inserted.inserted_primary_key[0])  # type: ignore[index]  # a single-row INSERT always has one
    if document.problem:
        return document.id, document.size
    store_text(connection, Retrieved(origin=document.id, text=text, content_hash=document.text_hash))
    version = {"document_id": document.id, "content_hash": document.text_hash}
    connection.execute(build_upsert(connection, document_texts).values(version).on_conflict_do_nothing())
    index_size = store_segments(connection, no, read.segments, document.title)
    store_summaries(connection, no, read.summaries)
    store_annotations(connection, no, read.annotations)
    store_vectors(connection, no, read.vectors, read.embedder)
    return document.id, document.size + index_size + count_part_bytes(read)


def count_part_bytes(read: IngestedDocument) -> int:
    texts = sum(count_utf8_bytes(segment.heading, segment.text) for segment in read.segments)
    texts += sum(count_utf8_bytes(summary.text) for summary in read.summaries)
    return texts + count_annotation_bytes(read.annotations) + sum(matrix.nbytes for matrix in read.vectors.values())


def count_summary_bytes(connection: Connection, no: int) -> int:
    texts = select(func.sum(stored_utf8_bytes(connection, summaries.c.text))).where(
        is_part_of_documents(summaries.c.id, [no])
    )
    own = (vectors.c.document_no == no) & (vectors.c.target == "summary")
    matrix = select(func.length(vectors.c.matrix)).where(own)
    return sum(int(connection.scalar(query) or 0) for query in (texts, matrix))


def count_annotation_bytes(annotations: Sequence[Annotation]) -> int:
    stated = (each for annotation in annotations for each in annotation.properties)
    return sum(count_utf8_bytes(each.label, each.context, each.value.raw) for each in stated)


def clean_document(read: IngestedDocument) -> tuple[Document, str]:
    document, text = read.document, clean_for_storage(read.text)
    kept = msgspec.structs.replace(
        document,
        path=clean_for_storage(document.path),
        name=clean_for_storage(document.name),
        title=clean_for_storage(document.title),
        problem=clean_for_storage(document.problem),
        text_hash="" if document.problem else hash_content(text),
        characters=len(text),
        added_at=document.added_at or utc_now(),
    )
    return kept, text


def store_segments(connection: Connection, no: int, segments: Sequence[Segment], title: str) -> int:
    """Store segments, and return the bytes of their word index."""
    records = [
        segment_records.write(
            segment,
            id=make_part_id(no, number),
            heading=clean_for_storage(segment.heading),
            text=clean_for_storage(segment.text),
        )
        for number, segment in enumerate(segments)
    ]
    insert_many(connection, insert(schema.segments), records)
    if not segments:
        return 0
    postings, lengths = build_postings(segments, title)
    connection.execute(insert(words).values(document_no=no, postings=postings, lengths=lengths))
    return len(postings) + len(lengths)


def store_summaries(connection: Connection, no: int, summaries: Sequence[Summary]) -> None:
    records = [
        summary_records.write(summary, id=make_part_id(no, number), text=clean_for_storage(summary.text))
        for number, summary in enumerate(summaries)
    ]
    insert_many(connection, insert(schema.summaries), records)


def enable_secure_delete(connection: Connection) -> None:
    """Make this SQLite connection overwrite what it deletes or moves; many builds of SQLite do not by default."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON").all()


async def truncate_wal(database: Database) -> None:
    """Move SQLite's log into its file, because the log still holds what was deleted. If another process is reading an
    older state, the log is overwritten later."""
    if database.engine.dialect.name != "sqlite":
        return

    def truncate() -> None:
        connection = database.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close()

    await asyncio.to_thread(truncate)


def delete_parts(connection: Connection, document_nos: Sequence[int]) -> None:
    """Delete the documents and their parts; their texts, and what was said about them, stay."""
    for nos in in_batches(document_nos, MAX_DOCUMENTS_PER_QUERY):
        # By ranges of ids: the parts of a document have consecutive ids.
        for column in (segments.c.id, summaries.c.id, annotated.c.id, properties.c.annotation_id):
            connection.execute(delete(column.table).where(is_part_of_documents(column, nos)))
        connection.execute(delete(words).where(words.c.document_no.in_(nos)))
        connection.execute(delete(vectors).where(vectors.c.document_no.in_(nos)))
        connection.execute(delete(documents).where(documents.c.no.in_(nos)))


def delete_traces(connection: Connection, ids: Sequence[str]) -> None:
    """Delete what is stored about the documents outside their parts: all versions of their texts, and all that quotes
    them."""
    for batch in in_batches(ids, MAX_DOCUMENTS_PER_QUERY):
        delete_texts(connection, batch)
        delete_turns(connection, batch)
        delete_cached_answers(connection, batch)
        delete_quoting_research(connection, batch)
        delete_kind_rows(connection, batch)
        delete_from_listings(connection, batch)
        connection.execute(delete(result_rows).where(result_rows.c.document_id.in_(batch)))
        release_shares(connection, "document", batch)


def delete_texts(connection: Connection, ids: Sequence[str]) -> None:
    versions = schema.document_texts
    theirs = versions.c.document_id.in_(ids)
    hashes = list(connection.scalars(select(versions.c.content_hash).where(theirs).distinct()))
    connection.execute(delete(versions).where(theirs))
    for some in in_batches(hashes):
        connection.execute(
            delete(texts).where(
                texts.c.content_hash.in_(some),
                # Another document or a page may have the same text.
                ~exists().where(versions.c.content_hash == texts.c.content_hash),
                ~exists().where(pages.c.content_hash == texts.c.content_hash),
            )
        )


def delete_turns(connection: Connection, ids: Sequence[str]) -> None:
    """Delete turns, and the summary of their conversations, which may repeat what they said."""
    quoting = schema.turn_documents
    theirs = quoting.c.document_id.in_(ids)
    found = connection.execute(select(quoting.c.conversation_id, quoting.c.number).where(theirs).distinct()).all()
    for some in in_batches([(record.conversation_id, record.number) for record in found], MAX_DOCUMENTS_PER_QUERY):
        connection.execute(delete(turns).where(tuple_(turns.c.conversation_id, turns.c.number).in_(some)))
        connection.execute(delete(quoting).where(tuple_(quoting.c.conversation_id, quoting.c.number).in_(some)))
        touched = sorted({conversation for conversation, _ in some})
        connection.execute(update(conversations).where(conversations.c.id.in_(touched)).values(summary=""))


def delete_quoting_research(connection: Connection, ids: Sequence[str]) -> None:
    """Delete researches completely: a report without some of its sources would not be the one that was written."""
    quoting = research_documents
    found = select(quoting.c.research_id).where(quoting.c.document_id.in_(ids)).distinct()
    delete_researches(connection, list(connection.scalars(found)))


def delete_kind_rows(connection: Connection, ids: Sequence[str]) -> None:
    """Delete the rows of these documents in the tables of their kinds. The log keeps its number of entries, without
    their content."""
    owned = kind_rows
    found = connection.execute(select(owned.c.table_no, owned.c.row_id).where(owned.c.document_id.in_(ids))).all()
    connection.execute(delete(owned).where(owned.c.document_id.in_(ids)))
    for table_no in {record.table_no for record in found}:
        row_ids = [record.row_id for record in found if record.table_no == table_no]
        delete_contents(connection, table_no, row_ids)
        connection.execute(
            update(edits)
            .where(edits.c.table_no == table_no, edits.c.row_id.in_(row_ids))
            .values(kind=ERASED_EDIT_KIND, before=None, after=None)
        )
        connection.execute(delete(cells).where(cells.c.table_no == table_no, cells.c.row_id.in_(row_ids)))
        connection.execute(
            update(rows)
            .where(rows.c.table_no == table_no, rows.c.row_id.in_(row_ids))
            # The row itself stays, removed and empty: the log and the numbers of rows have no gaps.
            .values(key="", given=to_json_text(split_given([])[0]), removed=True)
        )
        its_proposals = operations.c.proposal_id.in_(select(proposals.c.id).where(proposals.c.table_no == table_no))
        its_runs = select(runs.c.id).where(runs.c.table_no == table_no)
        connection.execute(delete(operations).where(its_proposals, operations.c.row_id.in_(row_ids)))
        connection.execute(delete(attempts).where(attempts.c.run_id.in_(its_runs), attempts.c.row_id.in_(row_ids)))
        connection.execute(delete(run_events).where(run_events.c.run_id.in_(its_runs)))


def delete_cached_answers(connection: Connection, ids: Sequence[str]) -> None:
    about = schema.cache_documents
    found = connection.execute(select(about.c.kind, about.c.key).where(about.c.document_id.in_(ids)).distinct()).all()
    for some in in_batches([(record.kind, record.key) for record in found], MAX_DOCUMENTS_PER_QUERY):
        connection.execute(delete(cache).where(tuple_(cache.c.kind, cache.c.key).in_(some)))
        connection.execute(delete(about).where(tuple_(about.c.kind, about.c.key).in_(some)))


def delete_from_listings(connection: Connection, ids: Sequence[str]) -> None:
    """Delete what row searches took from these documents: the pages they read, with all that those list."""
    for id in ids:
        found = connection.execute(select(listings).where(listings.c.content.contains(id, autoescape=True))).all()
        for record in found:
            # The text search may also find an id in a longer text, so the decoded parts decide.
            listing = msgspec.json.decode(record.content, type=Listing)
            kept = msgspec.structs.replace(
                listing,
                sources=tuple(source for source in listing.sources if source.origin != id),
                waiting=tuple(origin for origin in listing.waiting if origin != id),
                aside=tuple(each for each in listing.aside if all(cited.origin != id for cited in each.evidence)),
            )
            connection.execute(
                update(listings).where(listings.c.table_no == record.table_no).values(content=to_json_text(kept))
            )
