"""A snapshot of the documents: which there are, and how their parts are searched and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import msgspec
from sqlalchemy import Connection, CursorResult, insert, or_, select
from sqlalchemy import Row as Record

from tablewright.arrays import NDArray, np
from tablewright.domain.documents import (
    Annotation,
    Category,
    ComparableValue,
    Document,
    Property,
    Segment,
    Shape,
    Summary,
)
from tablewright.domain.model import Struct
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.records import (
    MAX_IDS_PER_QUERY,
    RecordMapper,
    clean_for_storage,
    fetch_among,
    in_batches,
    insert_many,
)
from tablewright.store.schema import (
    annotated,
    document_of_part,
    documents,
    is_part_of_documents,
    make_part_id,
    number_of_part,
    properties,
    segments,
    summaries,
)
from tablewright.store.search_index import (
    BM25_K1,
    NearestParts,
    Ranked,
    Target,
    TextIndex,
    VectorIndex,
)
from tablewright.store.sharing import is_visible
from tablewright.text import contains_word_run, content_stems, count_common_words, split_phrases, stem_words

segment_records = RecordMapper(Segment, segments, start="begins", end="ends")
summary_records = RecordMapper(Summary, summaries)
_document = msgspec.json.Decoder(Document)


class SegmentAt(Struct, frozen=True):
    id: int
    document_id: str
    segment: Segment


class SummaryAt(Struct, frozen=True):
    id: int
    document_id: str
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class Roster:
    """The documents by number as of a version: enough to choose among parts without asking the database."""

    version: int
    ids: dict[int, str]
    numbers: dict[str, int]
    categories: dict[int, frozenset[Category]]
    partial: bool = False
    """True if there are documents that this person does not see."""

    def among(self, documents: Collection[str] | None, categories: Collection[Category] = ()) -> set[int] | None:
        """Return the numbers of these documents that have one of the categories; None for all."""
        if documents is None and not categories and not self.partial:
            return None
        # Documents that the person does not see are not in the roster and are left out here.
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
class RosterCache:
    """The last roster that was read; all views of one store share it."""

    roster: Roster | None = None


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The documents at one moment. Use it for several queries that build on each other: in one transaction and one
    thread, which are a third of the time of a search."""

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
        """Return the ids of the segments that fit the words best, with their scores (BM25), best first. The words are
        those of a text, or stems with their weights."""
        words = dict.fromkeys(content_stems(terms), 1.0) if isinstance(terms, str) else terms
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
    ) -> NearestParts:
        """Return the ids of the nearest segments, summaries or annotations. Annotations are numbered as given."""
        among = self.roster.among(documents, categories)
        return self.vector_index.nearest(self.connection, target, embedder, query, limit, among)

    def find_distinctive_words(self, segments: Mapping[int, float], limit: int) -> dict[str, float]:
        """Return the stems that some of these segments, by id and weight, share and few others have; the best has the
        weight 1."""
        found = read_segments(self.connection, self.roster, list(segments))
        texts = count_common_words([each.segment.text for each in found.values()])
        rarities = self.text_index.rarities(self.connection, {word for counts in texts for word in counts})
        weights: dict[str, float] = {}
        for id, counts in zip(found, texts, strict=True):
            for word in counts.keys() & rarities.keys():
                weight = segments[id] * rarities[word] * counts[word] / (counts[word] + BM25_K1)
                weights[word] = weights.get(word, 0) + weight
        best = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:limit]
        return {word: weight / best[0][1] for word, weight in best}

    def segments(self, ids: Sequence[int]) -> list[SegmentAt]:
        """Return the existing ones, in this order."""
        found = read_segments(self.connection, self.roster, ids)
        return [found[id] for id in ids if id in found]

    def summaries(self, ids: Sequence[int]) -> list[SummaryAt]:
        """Return the existing ones, in this order."""
        found = {
            record.id: read_summary_at(record, self.roster)
            for record in fetch_among(self.connection, select(summaries), summaries.c.id, ids)
            if document_of_part(record.id) in self.roster.ids
        }
        return [found[id] for id in ids if id in found]

    def segments_of(self, id: str, first: int = 0, last: int | None = None) -> list[SegmentAt]:
        """Return the segments of a document from one number to another: the children of a summary."""
        no = find_document_record(self.connection, id).no
        query = select(segments).where(
            is_part_of_documents(segments.c.id, [no]), segments.c.id >= make_part_id(no, first)
        )
        if last is not None:
            query = query.where(segments.c.id <= make_part_id(no, last))
        return list(read_segments_at(self.connection.execute(query.order_by(segments.c.id)), self.roster))

    def summaries_of(self, id: str) -> list[SummaryAt]:
        query = select(summaries).where(
            is_part_of_documents(summaries.c.id, [find_document_record(self.connection, id).no])
        )
        return [
            read_summary_at(record, self.roster) for record in self.connection.execute(query.order_by(summaries.c.id))
        ]

    def properties(
        self, of: Collection[tuple[str, str]] | None = None, *, documents: Collection[str] | None = None
    ) -> list[PropertyAt]:
        """Return all properties with these labels, each with its context, in the order of documents and texts."""
        return list(read_stored_properties(self.connection, self.roster.ids, of, self.roster.among(documents)))

    def with_words(self, words: str, *, documents: Collection[str] | None = None) -> list[SegmentAt]:
        """Return every segment that holds all these words in any form ("tire" is in "TIRES"), and quoted phrases as
        they are. Complete, in the order of documents and texts."""
        phrases = split_phrases(words)
        # The index knows no order of words, so phrases are checked in the texts.
        needed = {word for phrase in phrases for word in phrase}
        ids = self.text_index.holding(self.connection, needed, self.roster.among(documents)) if needed else []
        found = read_segments(self.connection, self.roster, ids)
        texts = {id: stem_words(each.segment.text) for id, each in found.items()}
        return [
            found[id] for id in ids if id in found and all(contains_word_run(texts[id], phrase) for phrase in phrases)
        ]

    def find(self, ids: Collection[str]) -> list[Document]:
        """Return the existing ones, in this order."""
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


def find_document_record(connection: Connection, id_or_name: str) -> Record[Any, Any, Any, Any]:
    query = select(documents.c.no, documents.c.id, documents.c.path, documents.c.document)
    query = query.where(is_visible(connection, "document"))
    found = connection.execute(query.where(or_(documents.c.id == id_or_name, documents.c.path == id_or_name))).first()
    if found is not None:
        return found
    named = connection.execute(query.where(documents.c.name == id_or_name).order_by(documents.c.path)).all()
    if not named and "/" in id_or_name:
        # A whole part of the path: "a.pdf" is not the end of "data.pdf".
        end = "/" + id_or_name.lstrip("./")
        named = [record for record in connection.execute(query) if record.path.endswith(end)]
    if len(named) == 1:
        return named[0]
    if named:
        raise NotFound(
            f"{len(named)} documents are called {id_or_name!r}.",
            advice=f"Say which by its path: {', '.join(record.path for record in named[:5])}.",
        )
    names = list(connection.scalars(select(documents.c.name).where(is_visible(connection, "document"))))
    alike = get_close_matches(id_or_name, names, n=3)
    advice = f"Did you mean {' or '.join(alike)}?" if alike else "`tablewright docs list` shows those that there are."
    raise NotFound(f"There is no document {id_or_name!r}.", advice=advice)


def read_segments(connection: Connection, roster: Roster, ids: Sequence[int]) -> dict[int, SegmentAt]:
    found: dict[int, SegmentAt] = {}
    for batch in in_batches(ids, MAX_IDS_PER_QUERY):
        result = connection.execute(select(segments).where(segments.c.id.in_(batch)))
        found |= {each.id: each for each in read_segments_at(result, roster)}
    return found


def read_segments_at(result: CursorResult[Any], roster: Roster) -> Iterator[SegmentAt]:
    read = segment_records.reader(result)
    for record in result:
        if document := roster.ids.get(document_of_part(record.id)):
            yield SegmentAt(id=record.id, document_id=document, segment=read(record, number=number_of_part(record.id)))


def read_summary_at(record: Record[Any], roster: Roster) -> SummaryAt:
    summary = summary_records.read(record, number=number_of_part(record.id))
    return SummaryAt(id=record.id, document_id=roster.ids[document_of_part(record.id)], summary=summary)


# ── annotations and their properties ────────────────────────────────────────────────────────────────────────────────


class PropertyAt(Struct, frozen=True):
    """A property and its place: `page`, `start` and `end` are those of the passage that states it."""

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
value_records = RecordMapper(ComparableValue, properties)
found_property_records = RecordMapper(
    PropertyAt,
    annotated,
    annotation_id="annotation_id",
    start="passage_begins",
    end="passage_ends",
    by="found_by",
    table="grid",
)


def store_annotations(connection: Connection, no: int, annotations: Sequence[Annotation], first: int = 0) -> None:
    records: list[dict[str, Any]] = []
    properties: list[dict[str, Any]] = []
    for number, annotation in enumerate(annotations, start=first):
        annotation_id = make_part_id(no, number)
        records.append(annotation_records.write(annotation, id=annotation_id))
        properties += [
            build_property_record(annotation_id, position, each) for position, each in enumerate(annotation.properties)
        ]
    insert_many(connection, insert(annotated), records)
    insert_many(connection, insert(schema.properties), properties)


def build_property_record(annotation_id: int, position: int, stated: Property) -> dict[str, Any]:
    value = value_records.write(
        stated.value, annotation_id=annotation_id, position=position, raw=clean_for_storage(stated.value.raw)
    )
    return property_records.write(
        stated, label=clean_for_storage(stated.label), context=clean_for_storage(stated.context), **value
    )


def make_property_reader(result: CursorResult[Any]) -> Callable[[Record[Any]], Property]:
    read, read_value = property_records.reader(result), value_records.reader(result)
    return lambda record: read(record, value=read_value(record))


def read_annotations(connection: Connection, no: int) -> list[Annotation]:
    of: dict[int, list[Property]] = {}
    query = select(properties).where(is_part_of_documents(properties.c.annotation_id, [no]))
    stated = connection.execute(query.order_by(properties.c.annotation_id, properties.c.position))
    read = make_property_reader(stated)
    for record in stated:
        of.setdefault(record.annotation_id, []).append(read(record))
    found = connection.execute(
        select(annotated).where(is_part_of_documents(annotated.c.id, [no])).order_by(annotated.c.id)
    )
    return [annotation_records.read(record, properties=tuple(of.get(record.id, ()))) for record in found]


def read_stored_properties(
    connection: Connection,
    ids: dict[int, str],
    of: Collection[tuple[str, str]] | None,
    documents: Collection[int] | None,
) -> Iterable[PropertyAt]:
    """Yield properties in the order of documents and texts. `ids` are the ids of documents, by number."""
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
        # By label alone, which is indexed: SQLite's planner uses no index for pairs in an IN.
        query = query.where(properties.c.label.in_(sorted({label for label, _ in of})))
    # For more documents, reading all properties and skipping others is faster than a condition for each.
    if documents is not None and len(documents) <= 50:
        query = query.where(is_part_of_documents(properties.c.annotation_id, sorted(documents)))
    labels = None if of is None else set(of)
    found = connection.execute(query.order_by(properties.c.annotation_id, properties.c.position))
    read, read_property = found_property_records.reader(found), make_property_reader(found)
    for record in found:
        no = document_of_part(record.annotation_id)
        if labels is not None and (record.label, record.context) not in labels:
            continue
        if no not in ids or (documents is not None and no not in documents):
            continue
        yield read(record, document_id=ids[no], property=read_property(record))
