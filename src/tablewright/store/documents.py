"""The user's own documents: what was read of each, in parts, and how those are found again.

Everything of a document goes in with it and out with it. `corpus.version` counts the changes, so that what is kept in
memory knows when to look again; whoever writes waits for it, so writers take turns on both databases.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Select, delete, func, insert, or_, select, update
from sqlalchemy import Row as Record

from tablewright.arrays import NDArray, np
from tablewright.domain.corpus import Annotation, Category, Document, Segment, Summary
from tablewright.domain.retrieved import Retrieved, content_hash
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.audit import note
from tablewright.store.cache import Cache
from tablewright.store.database import Database
from tablewright.store.dialect import insert_many, see_one_state, upsert
from tablewright.store.forget import checkpoint, clean_up, forget_parts, forget_traces
from tablewright.store.ledger import charge_bytes, octet_length, octets, set_bytes
from tablewright.store.pages import keep_text
from tablewright.store.parts import in_batches, part_id, parts_of
from tablewright.store.properties import (
    PropertyAt,
    annotations_of,
    keep_annotations,
    properties_at,
)
from tablewright.store.records import now, printable, to_text
from tablewright.store.sharing import claim, must_own, sees_all, visible
from tablewright.store.snapshot import (
    Newest,
    Roster,
    SegmentAt,
    Snapshot,
    SummaryAt,
    as_summary,
    find_one,
    read_roster,
    read_segments,
)
from tablewright.store.text_index import Ranked, TextIndex, postings_of
from tablewright.store.vectors import Half, Nearest, Target, VectorIndex, add_vectors, keep_vectors
from tablewright.store.words import holds, phrases_of, words_of

T = TypeVar("T")

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


class Documents:
    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache
        self._text_index = TextIndex()
        self._vector_index = VectorIndex()
        self._newest = Newest()

    async def add(self, read: IngestedDocument) -> None:
        await self.add_many([read])

    async def add_many(self, read: Sequence[IngestedDocument]) -> None:
        """All in one transaction. One of a known path takes its place, and its id if it has one of its own."""

        def work(connection: Connection) -> None:
            clean_up(connection)
            next_version(connection)
            sizes: dict[str, int] = {}
            for each in read:
                self._database.check_open()
                id, size = add(connection, each)
                sizes[id] = size
            for id, size in sizes.items():
                set_bytes(connection, "document", id, size)

        if read:
            await self._database.write(work)

    async def add_annotations(self, id: str, annotations: Sequence[Annotation], vectors: Half, embedder: str) -> None:
        """More of a document that is there, behind those it has; each with its vector."""

        def work(connection: Connection) -> None:
            next_version(connection)
            documents, found = schema.documents, find_one(connection, id)
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

        if annotations:
            await self._database.write(work)

    async def set_summaries(self, id: str, summaries: Sequence[Summary], vectors: Half, embedder: str) -> None:
        """In place of those it has."""

        def work(connection: Connection) -> None:
            next_version(connection)
            found = find_one(connection, id)
            no = found.no
            before = bytes_of_summaries(connection, no)
            connection.execute(delete(schema.summaries).where(parts_of(schema.summaries.c.id, [no])))
            keep_summaries(connection, no, summaries)
            old = schema.vectors.c.document_no == no, schema.vectors.c.target == "summary"
            connection.execute(delete(schema.vectors).where(*old))
            keep_vectors(connection, no, {"summary": vectors}, embedder)
            charge_bytes(connection, "document", found.id, bytes_of_summaries(connection, no) - before)

        await self._database.write(work)
        self._vector_index.forget("summary")

    async def remove(self, ids: Sequence[str]) -> int:
        """With every trace: parts, texts, vectors, rows of result sets, turns that quote them and models' answers about
        them. What was written into tables stays, with its quotes: that is the user's. How many there were."""
        await self._cache.settle()

        def work(connection: Connection) -> int:
            clean_up(connection)
            next_version(connection)
            numbers = numbers_of(connection, ids)
            for id in numbers:
                must_own(connection, "document", id)
            forget_parts(connection, list(numbers.values()))
            forget_traces(connection, list(numbers))
            for id in numbers:
                note(connection, "remove", f"document {id}")
            return len(numbers)

        removed = await self._database.write(work)
        await checkpoint(self._database)
        return removed

    async def known(self) -> dict[str, tuple[str, str]]:
        """The id and the hash of the file, by path."""
        documents = schema.documents
        query = select(documents.c.path, documents.c.id, documents.c.file_hash)
        found = await self._seen(query)
        return {record.path: (record.id, record.file_hash) for record in found}

    async def all(self, *, readable: bool | None = None) -> list[Document]:
        documents = schema.documents
        query = select(documents.c.document).order_by(documents.c.path)
        if readable is not None:
            query = query.where(documents.c.readable == readable)
        return [_document.decode(record.document) for record in await self._seen(query)]

    async def with_long_segments(self, characters: int) -> set[str]:
        """The ids of documents whose segments have more characters than that, on average."""
        documents = schema.documents
        found = await self._seen(select(documents.c.document, documents.c.segments).where(documents.c.segments > 0))
        read = [(_document.decode(record.document), record.segments) for record in found]
        return {document.id for document, segments in read if document.characters > characters * segments}

    async def _seen(self, query: Select[Any]) -> Sequence[Record[Any]]:
        """Of what the query is about, whatever somebody may see."""
        return await self._database.read(
            lambda connection: connection.execute(query.where(visible(connection, "document"))).all()
        )

    async def get(self, id_or_path_or_name: str) -> Document:
        """By name or by the end of its path only where one has it."""

        def work(connection: Connection) -> Document:
            return _document.decode(find_one(connection, printable(id_or_path_or_name)).document)

        return await self._database.read(work)

    async def find(self, ids: Collection[str]) -> list[Document]:
        return await self.at_once(lambda moment: moment.find(ids))

    async def retrieved(self, id: str) -> Retrieved:
        """What evidence can point to."""

        def work(connection: Connection) -> tuple[Document, bytes | None]:
            document = _document.decode(find_one(connection, id).document)
            query = select(schema.texts.c.text).where(schema.texts.c.content_hash == document.text_hash)
            return document, connection.execute(query).scalar()

        document, text = await self._database.read(work)
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

    async def annotations(self, id: str) -> list[Annotation]:
        return await self._database.read(lambda connection: annotations_of(connection, find_one(connection, id).no))

    async def segments(self, ids: Sequence[int]) -> list[SegmentAt]:
        return await self.at_once(lambda moment: moment.segments(ids))

    async def segments_of(self, id: str, first: int = 0, last: int | None = None) -> list[SegmentAt]:
        return await self.at_once(lambda moment: moment.segments_of(id, first, last))

    async def summaries(self, ids: Sequence[int]) -> list[SummaryAt]:
        return await self.at_once(lambda moment: moment.summaries(ids))

    async def summaries_of(self, id: str) -> list[SummaryAt]:
        def work(connection: Connection, roster: Roster) -> list[SummaryAt]:
            summaries = schema.summaries
            query = select(summaries).where(parts_of(summaries.c.id, [find_one(connection, id).no]))
            return [as_summary(record, roster) for record in connection.execute(query.order_by(summaries.c.id))]

        return await self._with_roster(work)

    async def facts(self) -> dict[str, int]:
        """How many facts and rows were read from each document, by its id."""
        documents = schema.documents
        found = await self._seen(select(documents.c.id, documents.c.facts, documents.c.rows))
        return {record.id: record.facts + record.rows for record in found}

    async def properties(
        self, of: Collection[tuple[str, str]] | None = None, *, documents: Collection[str] | None = None
    ) -> list[PropertyAt]:
        """All of these labels, each with its context, in the order of the documents and their texts."""

        def work(connection: Connection, roster: Roster) -> list[PropertyAt]:
            return list(properties_at(connection, roster.ids, of, roster.among(documents)))

        return await self._with_roster(work)

    async def with_words(self, words: str, *, documents: Collection[str] | None = None) -> list[SegmentAt]:
        """Every segment whose text holds all these words in any form ("tire" is in "TIRES"), and what is quoted as it
        stands. Not cut off; in the order of the documents and their texts."""
        phrases = phrases_of(words)

        def work(connection: Connection, roster: Roster) -> list[SegmentAt]:
            needed = {word for phrase in phrases for word in phrase}
            ids = self._text_index.holding(connection, needed, roster.among(documents))
            found = read_segments(connection, roster, ids)
            texts = {id: words_of(each.segment.text) for id, each in found.items()}
            return [found[id] for id in ids if id in found and all(holds(texts[id], phrase) for phrase in phrases)]

        return await self._with_roster(work) if phrases else []

    async def search_text(
        self,
        terms: str | Mapping[str, float],
        limit: int,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> Ranked:
        return await self.at_once(
            lambda moment: moment.search_text(terms, limit, documents=documents, categories=categories)
        )

    async def telling_words(self, segments: Mapping[int, float], limit: int) -> dict[str, float]:
        return await self.at_once(lambda moment: moment.telling_words(segments, limit))

    async def search_vector(
        self,
        query: NDArray[np.float32],
        limit: int,
        *,
        embedder: str,
        target: Target = "segment",
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> Nearest:
        return await self.at_once(
            lambda moment: moment.search_vector(
                query, limit, embedder=embedder, target=target, documents=documents, categories=categories
            )
        )

    async def at_once(self, work: Callable[[Snapshot], T]) -> T:
        """Each of the searches is one of these; several together are best asked in one."""

        def with_moment(connection: Connection, roster: Roster) -> T:
            moment = Snapshot(
                connection=connection,
                roster=roster,
                text_index=self._text_index,
                vector_index=self._vector_index,
            )
            return work(moment)

        return await self._with_roster(with_moment)

    async def _with_roster(self, work: Callable[[Connection, Roster], T]) -> T:
        def with_roster(connection: Connection) -> T:
            see_one_state(connection)
            version = connection.execute(select(schema.corpus.c.version)).scalar_one()
            roster = self._newest.roster
            if roster is None or roster.version != version:
                roster = self._newest.roster = read_roster(connection, version)
            if not sees_all(connection):
                own = select(schema.documents.c.no).where(visible(connection, "document"))
                roster = roster.only(set(connection.execute(own).scalars()))
            return work(connection, roster)

        return await self._database.read(with_roster)


def next_version(connection: Connection) -> None:
    connection.execute(update(schema.corpus).values(version=schema.corpus.c.version + 1))


def numbers_of(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    documents = schema.documents
    return {
        record.id: record.no
        for batch in in_batches(ids)
        for record in connection.execute(
            select(documents.c.id, documents.c.no).where(documents.c.id.in_(batch), visible(connection, "document"))
        )
    }


def add(connection: Connection, read: IngestedDocument) -> tuple[str, int]:
    """Return its id, and its bytes: of the file, and of all that was made of it."""
    document, text = as_kept(read)
    documents = schema.documents
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
            id=document.id,
            path=document.path,
            name=document.name,
            file_hash=document.file_hash,
            text_hash=document.text_hash,
            readable=not document.problem,
            segments=len(read.segments),
            facts=sum(annotation.shape == "fact" for annotation in read.annotations),
            rows=sum(annotation.shape == "row" for annotation in read.annotations),
            document=to_text(document),
        )
    )
    no = int(inserted.inserted_primary_key[0])  # type: ignore[index]  # a single-row INSERT always has one
    if document.problem:
        return document.id, document.size
    keep_text(connection, Retrieved(origin=document.id, text=text, content_hash=document.text_hash))
    version = {"document_id": document.id, "content_hash": document.text_hash}
    connection.execute(upsert(connection, schema.document_texts).values(version).on_conflict_do_nothing())
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
    summaries, vectors = schema.summaries, schema.vectors
    texts = select(func.sum(octet_length(connection, summaries.c.text))).where(parts_of(summaries.c.id, [no]))
    own = (vectors.c.document_no == no) & (vectors.c.target == "summary")
    matrix = select(func.length(vectors.c.matrix)).where(own)
    return sum(int(connection.execute(query).scalar() or 0) for query in (texts, matrix))


def bytes_of_annotations(annotations: Sequence[Annotation]) -> int:
    stated = (each for annotation in annotations for each in annotation.properties)
    return sum(octets(each.label, each.context, each.value.raw) for each in stated)


def as_kept(read: IngestedDocument) -> tuple[Document, str]:
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
        {
            "id": part_id(no, number),
            "begins": segment.start,
            "ends": segment.end,
            "page": segment.page,
            "heading": printable(segment.heading),
            "text": printable(segment.text),
        }
        for number, segment in enumerate(segments)
    ]
    insert_many(connection, insert(schema.segments), records)
    if not segments:
        return 0
    postings, lengths = postings_of(segments, title)
    connection.execute(insert(schema.words).values(document_no=no, postings=postings, lengths=lengths))
    return len(postings) + len(lengths)


def keep_summaries(connection: Connection, no: int, summaries: Sequence[Summary]) -> None:
    records = [
        {"id": part_id(no, number), "first": summary.first, "last": summary.last, "text": printable(summary.text)}
        for number, summary in enumerate(summaries)
    ]
    insert_many(connection, insert(schema.summaries), records)
