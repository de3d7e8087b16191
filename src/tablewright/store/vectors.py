"""Vectors, searched in memory: each document keeps one matrix for its segments, one for its summaries, one for its
facts; a process reads them once and later only what is new. Up to some hundred thousand, every one is compared."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, insert, select

from tablewright.store import schema
from tablewright.store.dialect import insert_many
from tablewright.store.parts import SHIFT, grown, in_batches
from tablewright.store.text_index import Positions, Ranked, best, is_among

Target: TypeAlias = Literal["segment", "summary", "fact"]
Half: TypeAlias = NDArray[np.float16]

COMPARED_ALL = 300_000
"""Up to so many vectors every one is compared. Beyond, the signs of the numbers choose which are: 32 bytes instead of
1,024 for each."""
COMPARED = 4_000
READ_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """Ids of segments, summaries or annotations with the cosine, the best first. Not `exact`: one may be missing."""

    found: Ranked
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class Block:
    """Few vectors are kept ready to be compared, 32 bits for a number; of many, 16, and the signs apart."""

    ids: Positions
    vectors: NDArray[np.floating]
    signs: NDArray[np.uint64] | None = None

    @property
    def size(self) -> int:
        return len(self.ids)


class VectorIndex:
    """Of all documents. Its methods run in a thread of the store, with a connection to read what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[tuple[Target, str], Gathered] = {}

    def nearest(
        self,
        connection: Connection,
        target: Target,
        embedder: str,
        query: NDArray[np.float32],
        limit: int,
        among: Collection[int] | None = None,
    ) -> Nearest:
        blocks = self._fresh(connection, target, embedder)
        found: Ranked = []
        for block in blocks:
            found += nearest_in(block, query, limit, among)
        exact = all(block.signs is None for block in blocks)
        return Nearest(found=sorted(found, key=lambda each: (-each[1], each[0]))[:limit], exact=exact)

    def forget(self, target: Target) -> None:
        """Read again by the next who searches: matrices of the same size have changed."""
        with self._lock:
            for known in [known for known in self._of if known[0] == target]:
                del self._of[known]

    def _fresh(self, connection: Connection, target: Target, embedder: str) -> tuple[Block, ...]:
        version = connection.execute(select(schema.corpus.c.version)).scalar_one()
        with self._lock:
            gathered = self._of.setdefault((target, embedder), Gathered())
            if version != gathered.version:
                gathered.update(connection, target, embedder)
                gathered.version = version
            return gathered.blocks


class Gathered:
    """The vectors of one target and embedder, as far as they were read."""

    def __init__(self) -> None:
        self.version = -1
        self.blocks: tuple[Block, ...] = ()
        self._sizes: dict[int, int] = {}
        """Of each document's matrix, in bytes: facts are added later."""

    def update(self, connection: Connection, target: Target, embedder: str) -> None:
        vectors = schema.vectors
        query = select(vectors.c.document_no, func.length(vectors.c.matrix).label("size"))
        found = connection.execute(query.where(vectors.c.target == target, vectors.c.embedder == embedder))
        present = {record.document_no: int(record.size) for record in found}
        if gone := {no for no, size in self._sizes.items() if present.get(no) != size}:
            self.blocks = tuple(block for block in (without(block, gone) for block in self.blocks) if block.size)
        if new := sorted(no for no in present if no in gone or no not in self._sizes):
            self.blocks = grown((*self.blocks, read_block(connection, target, new)), lambda block: block.size, merged)
        self._sizes = present
        all_of_them = sum(block.size for block in self.blocks) <= COMPARED_ALL
        self.blocks = tuple(prepared(block, compare_all=all_of_them) for block in self.blocks)


def nearest_in(
    block: Block, query: NDArray[np.float32], limit: int, among: Collection[int] | None
) -> list[tuple[int, float]]:
    at: Positions | None = None
    if among is not None:
        at = np.flatnonzero(is_among(block.ids, among))
    if block.signs is None:
        # Row by row: a product of matrices would wake the threads of BLAS, which on a busy machine wait for each other.
        scores = np.vecdot(block.vectors if at is None else block.vectors[at], query)
        return best(block.ids if at is None else block.ids[at], scores, limit)
    wanted = max(COMPARED, 4 * limit)
    signs = block.signs if at is None else block.signs[at]
    if len(signs) > wanted:
        apart = np.zeros(len(signs), dtype=np.uint16)
        for column, word in enumerate(signs_of(query[None, :])[0]):
            apart += np.bitwise_count(signs[:, column] ^ word)
        near = np.argpartition(apart, wanted)[:wanted]
        at = near if at is None else at[near]
    elif at is None:
        at = np.arange(block.size)
    return best(block.ids[at], np.vecdot(block.vectors[at].astype(np.float32), query), limit)


def signs_of(vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
    bits = np.packbits(vectors > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)


def prepared(block: Block, *, compare_all: bool) -> Block:
    if compare_all:
        return Block(ids=block.ids, vectors=block.vectors.astype(np.float32, copy=False))
    vectors = block.vectors.astype(np.float16, copy=False)
    signs = np.asfortranarray(signs_of(vectors)) if block.signs is None else block.signs
    return Block(ids=block.ids, vectors=vectors, signs=signs)


def read_block(connection: Connection, target: Target, documents: Sequence[int]) -> Block:
    vectors = schema.vectors
    ids: list[Positions] = []
    matrices: list[Half] = []
    for batch in in_batches(documents, READ_AT_ONCE):
        query = select(vectors).where(vectors.c.document_no.in_(batch), vectors.c.target == target)
        for record in connection.execute(query.order_by(vectors.c.document_no)):
            matrix = np.frombuffer(record.matrix, dtype=np.float16).reshape(-1, record.dimensions)
            ids.append((record.document_no << SHIFT) + np.arange(len(matrix), dtype=np.int64))
            matrices.append(matrix)
    return Block(ids=np.concatenate(ids), vectors=np.concatenate(matrices))


def merged(blocks: Sequence[Block]) -> Block:
    return Block(
        ids=np.concatenate([block.ids for block in blocks]),
        vectors=np.concatenate([block.vectors for block in blocks]),
    )


def without(block: Block, documents: Collection[int]) -> Block:
    keep = ~is_among(block.ids, documents)
    if keep.all():
        return block
    return Block(ids=block.ids[keep], vectors=block.vectors[keep])


def keep_vectors(connection: Connection, document_no: int, vectors: Mapping[Target, Half], embedder: str) -> None:
    records = [
        {
            "document_no": document_no,
            "target": target,
            "embedder": embedder,
            "dimensions": matrix.shape[1],
            "matrix": np.ascontiguousarray(matrix, dtype=np.float16).tobytes(),
        }
        for target, matrix in vectors.items()
        if len(matrix)
    ]
    insert_many(connection, insert(schema.vectors), records)


def add_vectors(connection: Connection, document_no: int, target: Target, known: int, new: Half, embedder: str) -> None:
    """Behind those of the `known` parts. Where these have none of this embedder, theirs are near to nothing."""
    vectors = schema.vectors
    mine = (vectors.c.document_no == document_no, vectors.c.target == target)
    found = connection.execute(select(vectors.c.matrix, vectors.c.embedder).where(*mine)).first()
    if found is not None and found.embedder == embedder:
        before = np.frombuffer(found.matrix, dtype=np.float16).reshape(-1, new.shape[1])
    else:
        before = np.zeros((known, new.shape[1]), dtype=np.float16)
    connection.execute(delete(vectors).where(*mine))
    keep_vectors(connection, document_no, {target: np.concatenate((before, new))}, embedder)
