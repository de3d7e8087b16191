"""The documents as they stand at one moment: who is there, and how their parts are searched and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import msgspec
from sqlalchemy import Connection, CursorResult, insert, or_, select
from sqlalchemy import Row as Record

from tablewright.arrays import NDArray, np
from tablewright.domain.corpus import Annotation, Category, Document, Property, Segment, Shape, Summary, Typed
from tablewright.domain.model import Noun
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.records import NAMED_AT_ONCE, RecordMapper, fetch_among, in_batches, insert_many, printable
from tablewright.store.schema import (
    annotated,
    document_no,
    documents,
    in_documents,
    number_of,
    part_id,
    properties,
    segments,
    summaries,
)
from tablewright.store.search_index import (
    K1,
    Nearest,
    Ranked,
    Target,
    TextIndex,
    VectorIndex,
)
from tablewright.store.sharing import visible
from tablewright.text import count_common_words, holds_phrase, phrases_of, weighty_words, words_of

segment_records = RecordMapper(Segment, segments, start="begins", end="ends")
summary_records = RecordMapper(Summary, summaries)
_document = msgspec.json.Decoder(Document)


class SegmentAt(Noun, frozen=True):
    id: int
    document_id: str
    segment: Segment


class SummaryAt(Noun, frozen=True):
    id: int
    document_id: str
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class Roster:
    """The documents by number, as of a version: enough to choose among parts without asking the database."""

    version: int
    ids: dict[int, str]
    numbers: dict[str, int]
    categories: dict[int, frozenset[Category]]
    partial: bool = False
    """Others are there that are not this person's."""

    def among(self, documents: Collection[str] | None, categories: Collection[Category] = ()) -> set[int] | None:
        """The numbers of these documents that are of one of the categories; None for all."""
        if documents is None and not categories and not self.partial:
            return None
        chosen = self.ids if documents is None else (self.numbers[id] for id in documents if id in self.numbers)
        return {no for no in chosen if not categories or self.categories[no] & set(categories)}

    def only(self, numbers: Collection[int]) -> Roster:
        return Roster(
            version=self.version,
            ids={no: self.ids[no] for no in numbers},
            numbers={self.ids[no]: no for no in numbers},
            categories={no: self.categories[no] for no in numbers},
            partial=True,
        )


@dataclass
class Newest:
    """The last roster that was read; all views of one store share it."""

    roster: Roster | None = None


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The documents at one moment. Who asks several times, each time about what was found before, asks here: in one
    transaction and one thread, a third of the time of a search goes into those."""

    connection: Connection
    roster: Roster
    text_index: TextIndex
    vector_index: VectorIndex

    def search_text(
        self,
        terms: str | Mapping[str, float],
        limit: int,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> Ranked:
        """The ids of the segments that fit the words best, with their scores (BM25), the best first. The words are
        those of a text, or stems with what each counts."""
        words = dict.fromkeys(weighty_words(terms), 1.0) if isinstance(terms, str) else terms
        return self.text_index.search(self.connection, words, limit, self.roster.among(documents, categories))

    def search_vector(
        self,
        query: NDArray[np.float32],
        limit: int,
        *,
        embedder: str,
        target: Target = "segment",
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> Nearest:
        """The ids of the segments, summaries or annotations that are nearest. Annotations are numbered as given."""
        among = self.roster.among(documents, categories)
        return self.vector_index.nearest(self.connection, target, embedder, query, limit, among)

    def telling_words(self, segments: Mapping[int, float], limit: int) -> dict[str, float]:
        """The stems that some of these segments, by id and weight, have in common and few others have; the best counts
        1."""
        found = read_segments(self.connection, self.roster, list(segments))
        texts = count_common_words([each.segment.text for each in found.values()])
        rarities = self.text_index.rarities(self.connection, {word for counts in texts for word in counts})
        told: dict[str, float] = {}
        for id, counts in zip(found, texts, strict=True):
            for word in counts.keys() & rarities.keys():
                weight = segments[id] * rarities[word] * counts[word] / (counts[word] + K1)
                told[word] = told.get(word, 0) + weight
        best = sorted(told.items(), key=lambda each: (-each[1], each[0]))[:limit]
        return {word: weight / best[0][1] for word, weight in best}

    def segments(self, ids: Sequence[int]) -> list[SegmentAt]:
        """Those that are there, in this order."""
        found = read_segments(self.connection, self.roster, ids)
        return [found[id] for id in ids if id in found]

    def summaries(self, ids: Sequence[int]) -> list[SummaryAt]:
        """Those that are there, in this order."""
        found = {
            record.id: as_summary(record, self.roster)
            for record in fetch_among(self.connection, select(summaries), summaries.c.id, ids)
            if document_no(record.id) in self.roster.ids
        }
        return [found[id] for id in ids if id in found]

    def segments_of(self, id: str, first: int = 0, last: int | None = None) -> list[SegmentAt]:
        """The segments of a document, from one number to another: the children of a summary."""
        no = find_one(self.connection, id).no
        query = select(segments).where(in_documents(segments.c.id, [no]), segments.c.id >= part_id(no, first))
        if last is not None:
            query = query.where(segments.c.id <= part_id(no, last))
        return list(segments_in(self.connection.execute(query.order_by(segments.c.id)), self.roster))

    def summaries_of(self, id: str) -> list[SummaryAt]:
        query = select(summaries).where(in_documents(summaries.c.id, [find_one(self.connection, id).no]))
        return [as_summary(record, self.roster) for record in self.connection.execute(query.order_by(summaries.c.id))]

    def properties(
        self, of: Collection[tuple[str, str]] | None = None, *, documents: Collection[str] | None = None
    ) -> list[PropertyAt]:
        """All of these labels, each with its context, in the order of the documents and their texts."""
        return list(properties_at(self.connection, self.roster.ids, of, self.roster.among(documents)))

    def with_words(self, words: str, *, documents: Collection[str] | None = None) -> list[SegmentAt]:
        """Every segment whose text holds all these words in any form ("tire" is in "TIRES"), and what is quoted as it
        stands. Not cut off; in the order of the documents and their texts."""
        phrases = phrases_of(words)
        needed = {word for phrase in phrases for word in phrase}
        ids = self.text_index.holding(self.connection, needed, self.roster.among(documents)) if needed else []
        found = read_segments(self.connection, self.roster, ids)
        texts = {id: words_of(each.segment.text) for id, each in found.items()}
        return [found[id] for id in ids if id in found and all(holds_phrase(texts[id], phrase) for phrase in phrases)]

    def find(self, ids: Collection[str]) -> list[Document]:
        """Those that are there, in this order."""
        query, seen = select(documents.c.id, documents.c.document), [id for id in ids if id in self.roster.numbers]
        records = fetch_among(self.connection, query, documents.c.id, seen)
        found = {record.id: _document.decode(record.document) for record in records}
        return [found[id] for id in dict.fromkeys(ids) if id in found]


def read_roster(connection: Connection, version: int) -> Roster:
    found = connection.execute(select(schema.documents.c.no, schema.documents.c.document)).all()
    documents = {record.no: _document.decode(record.document) for record in found}
    return Roster(
        version=version,
        ids={no: document.id for no, document in documents.items()},
        numbers={document.id: no for no, document in documents.items()},
        categories={no: frozenset(document.categories) for no, document in documents.items()},
    )


def find_one(connection: Connection, wanted: str) -> Record[Any, Any, Any, Any]:
    query = select(documents.c.no, documents.c.id, documents.c.path, documents.c.document)
    query = query.where(visible(connection, "document"))
    found = connection.execute(query.where(or_(documents.c.id == wanted, documents.c.path == wanted))).first()
    if found is not None:
        return found
    named = connection.execute(query.where(documents.c.name == wanted).order_by(documents.c.path)).all()
    if not named and "/" in wanted:
        end = "/" + wanted.lstrip("./")
        named = [record for record in connection.execute(query) if record.path.endswith(end)]
    if len(named) == 1:
        return named[0]
    if named:
        raise NotFound(
            f"{len(named)} documents are called {wanted!r}.",
            advice=f"Say which by its path: {', '.join(record.path for record in named[:5])}.",
        )
    names = list(connection.scalars(select(documents.c.name).where(visible(connection, "document"))))
    alike = get_close_matches(wanted, names, n=3)
    advice = f"Did you mean {' or '.join(alike)}?" if alike else "`tablewright docs list` shows those that there are."
    raise NotFound(f"There is no document {wanted!r}.", advice=advice)


def read_segments(connection: Connection, roster: Roster, ids: Sequence[int]) -> dict[int, SegmentAt]:
    found: dict[int, SegmentAt] = {}
    for batch in in_batches(ids, NAMED_AT_ONCE):
        result = connection.execute(select(segments).where(segments.c.id.in_(batch)))
        found |= {each.id: each for each in segments_in(result, roster)}
    return found


def segments_in(result: CursorResult[Any], roster: Roster) -> Iterator[SegmentAt]:
    read = segment_records.reader(result)
    for record in result:
        if document := roster.ids.get(document_no(record.id)):
            yield SegmentAt(id=record.id, document_id=document, segment=read(record, number=number_of(record.id)))


def as_summary(record: Record[Any], roster: Roster) -> SummaryAt:
    summary = summary_records.read(record, number=number_of(record.id))
    return SummaryAt(id=record.id, document_id=roster.ids[document_no(record.id)], summary=summary)


# ── annotations and their properties ────────────────────────────────────────────────────────────────────────────────


class PropertyAt(Noun, frozen=True):
    """A property and where it stands: `page`, `start` and `end` are those of the passage that states it."""

    document_id: str
    annotation_id: int
    shape: Shape
    table: int
    by: str
    property: Property
    page: int | None
    start: int
    end: int


annotation_records = RecordMapper(Annotation, annotated, start="begins", end="ends", by="found_by", table="grid")
property_records = RecordMapper(Property, properties, start="begins", end="ends")
value_records = RecordMapper(Typed, properties)
found_property_records = RecordMapper(
    PropertyAt,
    annotated,
    annotation_id="annotation_id",
    start="passage_begins",
    end="passage_ends",
    by="found_by",
    table="grid",
)


def keep_annotations(connection: Connection, no: int, annotations: Sequence[Annotation], first: int = 0) -> None:
    records: list[dict[str, Any]] = []
    properties: list[dict[str, Any]] = []
    for number, annotation in enumerate(annotations, start=first):
        annotation_id = part_id(no, number)
        records.append(annotation_records.write(annotation, id=annotation_id))
        properties += [
            property_record(annotation_id, position, each) for position, each in enumerate(annotation.properties)
        ]
    insert_many(connection, insert(annotated), records)
    insert_many(connection, insert(schema.properties), properties)


def property_record(annotation_id: int, position: int, stated: Property) -> dict[str, Any]:
    value = value_records.write(
        stated.value, annotation_id=annotation_id, position=position, raw=printable(stated.value.raw)
    )
    return property_records.write(stated, label=printable(stated.label), context=printable(stated.context), **value)


def property_reader(result: CursorResult[Any]) -> Callable[[Record[Any]], Property]:
    read, read_value = property_records.reader(result), value_records.reader(result)
    return lambda record: read(record, value=read_value(record))


def annotations_of(connection: Connection, no: int) -> list[Annotation]:
    of: dict[int, list[Property]] = {}
    query = select(properties).where(in_documents(properties.c.annotation_id, [no]))
    stated = connection.execute(query.order_by(properties.c.annotation_id, properties.c.position))
    read = property_reader(stated)
    for record in stated:
        of.setdefault(record.annotation_id, []).append(read(record))
    found = connection.execute(select(annotated).where(in_documents(annotated.c.id, [no])).order_by(annotated.c.id))
    return [annotation_records.read(record, properties=tuple(of.get(record.id, ()))) for record in found]


def properties_at(
    connection: Connection,
    ids: dict[int, str],
    of: Collection[tuple[str, str]] | None,
    documents: Collection[int] | None,
) -> Iterable[PropertyAt]:
    """In the order of the documents and their texts. `ids` are those of the documents, by number."""
    query = select(
        properties,
        annotated.c.shape,
        annotated.c.page,
        annotated.c.found_by,
        annotated.c.grid,
        annotated.c.begins.label("passage_begins"),
        annotated.c.ends.label("passage_ends"),
    ).join(annotated, annotated.c.id == properties.c.annotation_id)
    if of is not None:
        # By label alone, which is indexed: pairs in an IN are beyond SQLite's planner.
        query = query.where(properties.c.label.in_(sorted({label for label, _ in of})))
    if documents is not None and len(documents) <= FEW:
        query = query.where(in_documents(properties.c.annotation_id, sorted(documents)))
    wanted = None if of is None else set(of)
    found = connection.execute(query.order_by(properties.c.annotation_id, properties.c.position))
    read, read_property = found_property_records.reader(found), property_reader(found)
    for record in found:
        no = document_no(record.annotation_id)
        if wanted is not None and (record.label, record.context) not in wanted:
            continue
        if no not in ids or (documents is not None and no not in documents):
            continue
        yield read(record, document_id=ids[no], property=read_property(record))


FEW = 50
"""Documents that are named in a statement; of more, all are read and the others passed over."""
