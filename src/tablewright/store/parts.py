"""The parts of a document (segments, summaries, annotations): their ids, which say whose they are and which, and
annotations with their properties, each with what it can be compared as in columns of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol, Self, TypeVar

from sqlalchemy import ColumnElement, Connection, CursorResult, false, insert, or_, select
from sqlalchemy import Row as Record

from tablewright.domain.corpus import Annotation, Property, Shape, Typed
from tablewright.domain.model import Noun
from tablewright.store import schema
from tablewright.store.dialect import fetch_among, insert_many
from tablewright.store.records import RecordMapper, printable
from tablewright.store.schema import annotated, documents, properties

B = TypeVar("B", bound="Block")

SHIFT = 24
MOST = 1 << SHIFT
"""Parts of one kind that a document can have."""


def part_id(document_no: int, number: int) -> int:
    return document_no << SHIFT | number


def document_no(part: int) -> int:
    return part >> SHIFT


def number_of(part: int) -> int:
    return part & (MOST - 1)


def parts_of(column: ColumnElement[int], document_nos: Sequence[int]) -> ColumnElement[bool]:
    """Those of these documents, found by the order of their ids."""
    return or_(false(), *(column.between(no << SHIFT, (no << SHIFT) + MOST - 1) for no in document_nos))


def lock_existing(connection: Connection, ids: Collection[str]) -> set[str]:
    """Those of the documents that are there, and stay until this is written: nothing about one may outlive it."""
    query = select(documents.c.id).with_for_update(read=True)
    return {record.id for record in fetch_among(connection, query, documents.c.id, sorted(set(ids)))}


class Block(Protocol):
    """A part of an index in memory."""

    @property
    def size(self) -> int: ...

    @classmethod
    def merged(cls, blocks: Sequence[Self]) -> Self: ...


def merge_last_blocks(blocks: Sequence[B]) -> tuple[B, ...]:
    """Blocks of an index in memory, the last just added. Blocks of like size become one, so that there are few and
    none is copied often."""
    kept = list(blocks)
    while len(kept) > 1 and kept[-2].size < 2 * kept[-1].size:
        last = kept.pop()
        kept[-1] = last.merged((kept[-1], last))
    return tuple(kept)


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
    query = select(properties).where(parts_of(properties.c.annotation_id, [no]))
    stated = connection.execute(query.order_by(properties.c.annotation_id, properties.c.position))
    read = property_reader(stated)
    for record in stated:
        of.setdefault(record.annotation_id, []).append(read(record))
    found = connection.execute(select(annotated).where(parts_of(annotated.c.id, [no])).order_by(annotated.c.id))
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
        query = query.where(parts_of(properties.c.annotation_id, sorted(documents)))
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
