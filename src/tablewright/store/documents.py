"""The user's own documents: what was read of each, in parts, and how those are found again.

Everything of a document goes in with it and out with it: one that is removed leaves nothing behind, not in a table, not
in the free pages of the file. `corpus.version` counts the changes, so that what is kept in memory knows when to look
again; all writers wait for it, so they take turns on both databases."""

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

from tablewright.domain.corpus import Annotation, Document, Segment, Summary
from tablewright.domain.listing import Listing
from tablewright.domain.retrieved import Retrieved, content_hash
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.cache import Cache, keep_text
from tablewright.store.conversations import drop_researches
from tablewright.store.database import Database, StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_bytes, octet_length, octets, set_bytes
from tablewright.store.records import (
    FORGOTTEN,
    RecordMapper,
    fetch_among,
    in_batches,
    insert_many,
    now,
    printable,
    see_one_state,
    split_given,
    to_text,
    upsert,
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
    in_documents,
    kind_rows,
    listings,
    operations,
    pages,
    part_id,
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
from tablewright.store.search_index import Half, Target, TextIndex, VectorIndex, add_vectors, keep_vectors, postings_of
from tablewright.store.sharing import claim, must_own, release, sees_all, visible
from tablewright.store.snapshot import (
    Newest,
    Snapshot,
    annotations_of,
    find_one,
    keep_annotations,
    read_roster,
    segment_records,
    summary_records,
)
from tablewright.store.users import add_audit_entry

T = TypeVar("T")
P = ParamSpec("P")

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
    vectors: Mapping[Target, Half] = field(default_factory=dict)
    embedder: str = ""


def at_one_moment(
    ask: Callable[Concatenate[Snapshot, P], T],
) -> Callable[Concatenate[Documents, P], Coroutine[Any, Any, T]]:
    """Make a question about one moment a transaction of its own."""

    @wraps(ask)
    async def asked(documents: Documents, /, *args: P.args, **named: P.kwargs) -> T:
        return await documents.at_once(lambda moment: ask(moment, *args, **named))

    return asked


class Documents(StorePart):
    def __init__(self, database: Database, cache: Cache) -> None:
        super().__init__(database)
        self._cache = cache
        self._text_index = TextIndex()
        self._vector_index = VectorIndex()
        self._newest = Newest()

    async def add(self, read: IngestedDocument) -> None:
        await self.add_many([read])

    async def add_many(self, read: Sequence[IngestedDocument]) -> None:
        """All in one transaction. One of a known path takes its place, and its id if it has one of its own."""
        if read:
            await self._add_many(read)

    @write_transaction
    def _add_many(self, connection: Connection, read: Sequence[IngestedDocument]) -> None:
        clean_up(connection)
        count_corpus_change(connection)
        sizes: dict[str, int] = {}
        for each in read:
            self._database.check_open()
            id, size = add_document(connection, each)
            sizes[id] = size
        for id, size in sizes.items():
            set_bytes(connection, "document", id, size)

    async def add_annotations(self, id: str, annotations: Sequence[Annotation], vectors: Half, embedder: str) -> None:
        """More of a document that is there, behind those it has; each with its vector."""
        if annotations:
            await self._add_annotations(id, annotations, vectors, embedder)

    @write_transaction
    def _add_annotations(
        self, connection: Connection, id: str, annotations: Sequence[Annotation], vectors: Half, embedder: str
    ) -> None:
        count_corpus_change(connection)
        found = find_one(connection, id)
        no = found.no
        facts = sum(annotation.shape == "fact" for annotation in annotations)
        before = connection.execute(select(documents.c.facts, documents.c.rows).where(documents.c.no == no)).one()
        known = before.facts + before.rows
        connection.execute(
            update(documents)
            .where(documents.c.no == no)
            .values(facts=before.facts + facts, rows=before.rows + len(annotations) - facts)
        )
        keep_annotations(connection, no, annotations, first=known)
        add_vectors(connection, no, "fact", known, vectors, embedder)
        charge_bytes(connection, "document", found.id, bytes_of_annotations(annotations) + vectors.nbytes)

    async def set_summaries(self, id: str, summaries: Sequence[Summary], vectors: Half, embedder: str) -> None:
        """In place of those it has."""
        await self._set_summaries(id, summaries, vectors, embedder)
        self._vector_index.forget("summary")

    @write_transaction
    def _set_summaries(
        self, connection: Connection, id: str, summaries: Sequence[Summary], vectors: Half, embedder: str
    ) -> None:
        count_corpus_change(connection)
        found = find_one(connection, id)
        no = found.no
        before = bytes_of_summaries(connection, no)
        connection.execute(delete(schema.summaries).where(in_documents(schema.summaries.c.id, [no])))
        keep_summaries(connection, no, summaries)
        old = schema.vectors.c.document_no == no, schema.vectors.c.target == "summary"
        connection.execute(delete(schema.vectors).where(*old))
        keep_vectors(connection, no, {"summary": vectors}, embedder)
        charge_bytes(connection, "document", found.id, bytes_of_summaries(connection, no) - before)

    async def remove(self, ids: Sequence[str]) -> int:
        """With every trace: parts, texts, vectors, rows of result sets, turns that quote them and models' answers about
        them. What was written into tables stays, with its quotes: that is the user's. How many there were."""
        await self._cache.settle()
        removed = await self._remove(ids)
        await checkpoint(self._database)
        return removed

    @write_transaction
    def _remove(self, connection: Connection, ids: Sequence[str]) -> int:
        clean_up(connection)
        count_corpus_change(connection)
        numbers = find_document_numbers(connection, ids)
        for id in numbers:
            must_own(connection, "document", id)
        forget_parts(connection, list(numbers.values()))
        forget_traces(connection, list(numbers))
        for id in numbers:
            add_audit_entry(connection, "remove", f"document {id}")
        return len(numbers)

    @read_transaction
    def known(self, connection: Connection) -> dict[str, tuple[str, str]]:
        """The id and the hash of the file, by path."""
        query = select(documents.c.path, documents.c.id, documents.c.file_hash)
        found = fetch_visible(connection, query)
        return {record.path: (record.id, record.file_hash) for record in found}

    @read_transaction
    def all(self, connection: Connection, *, readable: bool | None = None) -> list[Document]:
        query = select(documents.c.document).order_by(documents.c.path)
        if readable is not None:
            query = query.where(documents.c.readable == readable)
        return [_document.decode(record.document) for record in fetch_visible(connection, query)]

    @read_transaction
    def with_long_segments(self, connection: Connection, characters: int) -> set[str]:
        """The ids of documents whose segments have more characters than that, on average."""
        found = fetch_visible(
            connection, select(documents.c.document, documents.c.segments).where(documents.c.segments > 0)
        )
        read = [(_document.decode(record.document), record.segments) for record in found]
        return {document.id for document, segments in read if document.characters > characters * segments}

    @read_transaction
    def get(self, connection: Connection, id_or_path_or_name: str) -> Document:
        """By name or by the end of its path only where one has it."""
        return _document.decode(find_one(connection, printable(id_or_path_or_name)).document)

    async def retrieved(self, id: str) -> Retrieved:
        """Return what evidence can point to."""

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
        document = _document.decode(find_one(connection, id).document)
        query = select(texts.c.text).where(texts.c.content_hash == document.text_hash)
        return document, connection.scalar(query)

    @read_transaction
    def annotations(self, connection: Connection, id: str) -> list[Annotation]:
        return annotations_of(connection, find_one(connection, id).no)

    @read_transaction
    def facts(self, connection: Connection) -> dict[str, int]:
        """Return how many facts and rows were read from each document, by its id."""
        found = fetch_visible(connection, select(documents.c.id, documents.c.facts, documents.c.rows))
        return {record.id: record.facts + record.rows for record in found}

    @read_transaction
    def at_once(self, connection: Connection, work: Callable[[Snapshot], T]) -> T:
        """Each of the questions below is one of these; several together are best asked in one."""
        see_one_state(connection)
        version = connection.execute(select(corpus.c.version)).scalar_one()
        roster = self._newest.roster
        if roster is None or roster.version != version:
            roster = self._newest.roster = read_roster(connection, version)
        if not sees_all(connection):
            own = select(documents.c.no).where(visible(connection, "document"))
            roster = roster.only(set(connection.scalars(own)))
        return work(
            Snapshot(connection=connection, roster=roster, text_index=self._text_index, vector_index=self._vector_index)
        )

    find = at_one_moment(Snapshot.find)
    segments = at_one_moment(Snapshot.segments)
    segments_of = at_one_moment(Snapshot.segments_of)
    summaries_of = at_one_moment(Snapshot.summaries_of)
    properties = at_one_moment(Snapshot.properties)
    with_words = at_one_moment(Snapshot.with_words)
    search_text = at_one_moment(Snapshot.search_text)
    search_vector = at_one_moment(Snapshot.search_vector)
    telling_words = at_one_moment(Snapshot.telling_words)


def fetch_visible(connection: Connection, query: Select[Any]) -> Sequence[Record[Any]]:
    """Of what the query is about, whatever somebody may see."""
    return connection.execute(query.where(visible(connection, "document"))).all()


def count_corpus_change(connection: Connection) -> None:
    connection.execute(update(corpus).values(version=corpus.c.version + 1))


def find_document_numbers(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    query = select(documents.c.id, documents.c.no).where(visible(connection, "document"))
    return {record.id: record.no for record in fetch_among(connection, query, documents.c.id, ids)}


def add_document(connection: Connection, read: IngestedDocument) -> tuple[str, int]:
    """Return its id, and its bytes: of the file, and of all that was made of it."""
    document, text = clean_document(read)
    same = or_(documents.c.path == document.path, documents.c.id == document.id)
    known = connection.execute(select(documents.c.no, documents.c.id, documents.c.path).where(same)).all()
    for record in known:
        forget_parts(connection, [record.no])
        if record.path == document.path:
            document = msgspec.structs.replace(document, id=record.id)
    # Whoever adds a file that is there already has read it, so they may see the document that it became.
    claim(connection, "document", [document.id], owns=not known)
    inserted = connection.execute(
        insert(documents).values(
            document_records.write(
                document,
                readable=not document.problem,
                segments=len(read.segments),
                facts=sum(annotation.shape == "fact" for annotation in read.annotations),
                rows=sum(annotation.shape == "row" for annotation in read.annotations),
                document=to_text(document),
            )
        )
    )
    no = int(inserted.inserted_primary_key[0])  # type: ignore[index]  # a single-row INSERT always has one
    if document.problem:
        return document.id, document.size
    keep_text(connection, Retrieved(origin=document.id, text=text, content_hash=document.text_hash))
    version = {"document_id": document.id, "content_hash": document.text_hash}
    connection.execute(upsert(connection, document_texts).values(version).on_conflict_do_nothing())
    index_size = keep_segments(connection, no, read.segments, document.title)
    keep_summaries(connection, no, read.summaries)
    keep_annotations(connection, no, read.annotations)
    keep_vectors(connection, no, read.vectors, read.embedder)
    return document.id, document.size + index_size + bytes_of_parts(read)


def bytes_of_parts(read: IngestedDocument) -> int:
    texts = sum(octets(segment.heading, segment.text) for segment in read.segments)
    texts += sum(octets(summary.text) for summary in read.summaries)
    return texts + bytes_of_annotations(read.annotations) + sum(matrix.nbytes for matrix in read.vectors.values())


def bytes_of_summaries(connection: Connection, no: int) -> int:
    texts = select(func.sum(octet_length(connection, summaries.c.text))).where(in_documents(summaries.c.id, [no]))
    own = (vectors.c.document_no == no) & (vectors.c.target == "summary")
    matrix = select(func.length(vectors.c.matrix)).where(own)
    return sum(int(connection.scalar(query) or 0) for query in (texts, matrix))


def bytes_of_annotations(annotations: Sequence[Annotation]) -> int:
    stated = (each for annotation in annotations for each in annotation.properties)
    return sum(octets(each.label, each.context, each.value.raw) for each in stated)


def clean_document(read: IngestedDocument) -> tuple[Document, str]:
    document, text = read.document, printable(read.text)
    kept = msgspec.structs.replace(
        document,
        path=printable(document.path),
        name=printable(document.name),
        title=printable(document.title),
        problem=printable(document.problem),
        text_hash="" if document.problem else content_hash(text),
        characters=len(text),
        added_at=document.added_at or now(),
    )
    return kept, text


def keep_segments(connection: Connection, no: int, segments: Sequence[Segment], title: str) -> int:
    """Return the bytes of the index of their words."""
    records = [
        segment_records.write(
            segment, id=part_id(no, number), heading=printable(segment.heading), text=printable(segment.text)
        )
        for number, segment in enumerate(segments)
    ]
    insert_many(connection, insert(schema.segments), records)
    if not segments:
        return 0
    postings, lengths = postings_of(segments, title)
    connection.execute(insert(words).values(document_no=no, postings=postings, lengths=lengths))
    return len(postings) + len(lengths)


def keep_summaries(connection: Connection, no: int, summaries: Sequence[Summary]) -> None:
    records = [
        summary_records.write(summary, id=part_id(no, number), text=printable(summary.text))
        for number, summary in enumerate(summaries)
    ]
    insert_many(connection, insert(schema.summaries), records)


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
            connection.execute(delete(column.table).where(in_documents(column, nos)))
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
