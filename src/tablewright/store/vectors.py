"""Vectors, searched in memory: each document keeps one matrix for its segments, one for its summaries, one for its
facts; a process reads them once and later only what is new. Few are all compared; of many, those whose signs agree with
the query's, where its large numbers count more than its small ones."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import Connection, delete, func, insert, select

from tablewright.arrays import NDArray, np
from tablewright.store import schema
from tablewright.store.dialect import in_batches, insert_many
from tablewright.store.parts import SHIFT, merge_last_blocks
from tablewright.store.schema import corpus, vectors
from tablewright.store.text_index import Positions, Ranked, is_among, take_best

Target: TypeAlias = Literal["segment", "summary", "fact"]
Half: TypeAlias = "NDArray[np.float16]"
Full: TypeAlias = "NDArray[np.float32]"
Words: TypeAlias = "NDArray[np.uint64]"
"""Bits, 64 in each."""

COMPARED_ALL = 30_000
"""Up to so many vectors every one is compared. Beyond, the signs of the numbers choose which are: 32 bytes instead of
1,024 for each."""
COMPARED = 3_000
ONE_IN = 100
"""How many the signs choose: so many, or one in a hundred where that is more. Measured with real questions: of 77,000
passages of real texts and 23,000 mixed from those they hold 0.9997 of the 10 nearest and 0.981 of the 200 nearest; of a
million, most of them mixed, 0.997 and 0.990."""
LOOKED_AT = 1 << 16
"""Rows whose signs are compared at once: what is in between stays in the cache of the CPU."""
READ_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True)
class Nearest:
    """Ids of segments, summaries or annotations with the cosine, the best first. Not `exact`: one may be missing."""

    found: Ranked
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class VectorBlock:
    """Few vectors are kept ready to be compared, 32 bits for a number; of many, 16, and the signs apart."""

    ids: Positions
    vectors: Half | Full
    signs: Words | None = None

    @property
    def size(self) -> int:
        return len(self.ids)

    @classmethod
    def merged(cls, blocks: Sequence[VectorBlock]) -> VectorBlock:
        return VectorBlock(
            ids=np.concatenate([block.ids for block in blocks]),
            vectors=np.concatenate([block.vectors for block in blocks]),
        )

    def without(self, documents: Collection[int]) -> VectorBlock:
        keep = ~is_among(self.ids, documents)
        if keep.all():
            return self
        return VectorBlock(ids=self.ids[keep], vectors=self.vectors[keep])


Part: TypeAlias = "tuple[VectorBlock, Positions | None]"
"""Some rows of a block, or all."""


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
        query: Full,
        limit: int,
        among: Collection[int] | None = None,
    ) -> Nearest:
        blocks = self._fresh(connection, target, embedder)
        parts: list[Part] = [(block, None if among is None else rows_of(block, among)) for block in blocks]
        exact = all(block.signs is None for block in blocks)
        if not exact:
            parts = choose_likely_rows(parts, query, max(COMPARED, 4 * limit))
        found: Ranked = []
        for block, rows in parts:
            ids, vectors = (block.ids, block.vectors) if rows is None else (block.ids[rows], block.vectors[rows])
            # Row by row: a product of matrices would wake the threads of BLAS, which on a busy machine wait for each
            # other.
            found += take_best(ids, np.vecdot(widen_vectors(vectors), query), limit)
        return Nearest(found=sorted(found, key=lambda each: (-each[1], each[0]))[:limit], exact=exact)

    def forget(self, target: Target) -> None:
        """Read again by the next who searches: matrices of the same size have changed."""
        with self._lock:
            for known in [known for known in self._of if known[0] == target]:
                del self._of[known]

    def _fresh(self, connection: Connection, target: Target, embedder: str) -> tuple[VectorBlock, ...]:
        version = connection.execute(select(corpus.c.version)).scalar_one()
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
        self.blocks: tuple[VectorBlock, ...] = ()
        self._sizes: dict[int, int] = {}
        """Of each document's matrix, in bytes: facts are added later."""

    def update(self, connection: Connection, target: Target, embedder: str) -> None:
        query = select(vectors.c.document_no, func.length(vectors.c.matrix).label("size"))
        found = connection.execute(query.where(vectors.c.target == target, vectors.c.embedder == embedder))
        present = {record.document_no: int(record.size) for record in found}
        if gone := {no for no, size in self._sizes.items() if present.get(no) != size}:
            self.blocks = tuple(block for block in (block.without(gone) for block in self.blocks) if block.size)
        if new := sorted(no for no in present if no in gone or no not in self._sizes):
            self.blocks = merge_last_blocks((*self.blocks, read_vector_block(connection, target, new)))
        self._sizes = present
        all_of_them = sum(block.size for block in self.blocks) <= COMPARED_ALL
        self.blocks = tuple(prepare_vectors(block, compare_all=all_of_them) for block in self.blocks)


def rows_of(block: VectorBlock, documents: Collection[int]) -> Positions:
    return np.flatnonzero(is_among(block.ids, documents))


def choose_likely_rows(parts: Sequence[Part], query: Full, least: int) -> list[Part]:
    """Of all these rows those that may be near; of equals at the border, any."""
    apart = [count_sign_differences(block, rows, query) for block, rows in parts]
    total = sum(map(len, apart))
    wanted = max(least, total // ONE_IN)
    if total <= wanted:
        return list(parts)
    at_most = np.cumsum(sum(np.bincount(far, minlength=3 * len(query) + 1) for far in apart))
    border = int(np.searchsorted(at_most, wanted))
    room = wanted - (int(at_most[border - 1]) if border else 0)
    chosen: list[Part] = []
    for (block, rows), far in zip(parts, apart, strict=True):
        equal = np.flatnonzero(far == border)[:room]
        room -= len(equal)
        near = np.concatenate((np.flatnonzero(far < border), equal))
        chosen.append((block, near if rows is None else rows[near]))
    return chosen


def count_sign_differences(block: VectorBlock, rows: Positions | None, query: Full) -> NDArray[np.uint16]:
    """How much of the query has another sign than each row has there. By its size, a number counts 0 to 3: in bits, so
    that 64 numbers are compared at once."""
    assert block.signs is not None, "either all blocks have them, or none"
    signs = block.signs if rows is None else block.signs[rows]
    weights = np.minimum(np.rint(np.abs(query) * (1.5 / (np.sqrt(np.mean(query**2)) or 1))), 3).astype(np.uint8)
    asked, single, double = pack_bits(np.stack((query > 0, weights & 1 > 0, weights & 2 > 0)))
    apart = np.empty(len(signs), dtype=np.uint16)
    for start in range(0, len(signs), LOOKED_AT):
        some = signs[start : start + LOOKED_AT]
        once, twice = np.zeros((2, len(some)), dtype=np.uint16)
        for column in range(some.shape[1]):
            differ = some[:, column] ^ asked[column]
            once += np.bitwise_count(differ & single[column])
            twice += np.bitwise_count(differ & double[column])
        apart[start : start + LOOKED_AT] = once + 2 * twice
    return apart


def pack_bits(flags: NDArray[np.bool_]) -> Words:
    packed = np.packbits(flags, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def widen_vectors(vectors: Half | Full) -> Full:
    """The same in 32 bits. NumPy converts one number after the other; here the bits of all are moved at once, and what
    the exponent then lacks is multiplied in. Not for infinity."""
    if vectors.dtype == np.float32:
        return vectors  # type: ignore[return-value]
    bits = vectors.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(~0x70000000)
    full = bits.view(np.float32)
    full *= np.float32(2.0**112)
    return full


def prepare_vectors(block: VectorBlock, *, compare_all: bool) -> VectorBlock:
    if compare_all:
        return VectorBlock(ids=block.ids, vectors=block.vectors.astype(np.float32, copy=False))
    if block.signs is not None:
        return block
    vectors = block.vectors.astype(np.float16, copy=False)
    # A half is above 0 where its bits, read as an integer, are. Column after column, as they are read.
    return VectorBlock(ids=block.ids, vectors=vectors, signs=np.asfortranarray(pack_bits(vectors.view(np.int16) > 0)))


def read_vector_block(connection: Connection, target: Target, documents: Sequence[int]) -> VectorBlock:
    ids: list[Positions] = []
    matrix = bytearray()  # grows in place: a list of arrays would be in memory twice when they are put together
    dimensions = 1
    for batch in in_batches(documents, READ_AT_ONCE):
        query = select(vectors).where(vectors.c.document_no.in_(batch), vectors.c.target == target)
        for record in connection.execute(query.order_by(vectors.c.document_no)):
            dimensions = record.dimensions
            size = len(record.matrix) // (2 * dimensions)
            ids.append((record.document_no << SHIFT) + np.arange(size, dtype=np.int64))
            matrix += record.matrix
    together = np.concatenate(ids)
    return VectorBlock(ids=together, vectors=np.frombuffer(matrix, dtype=np.float16).reshape(len(together), dimensions))


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
    mine = (vectors.c.document_no == document_no, vectors.c.target == target)
    found = connection.execute(select(vectors.c.matrix, vectors.c.embedder).where(*mine)).first()
    if found is not None and found.embedder == embedder:
        before = np.frombuffer(found.matrix, dtype=np.float16).reshape(-1, new.shape[1])
    else:
        before = np.zeros((known, new.shape[1]), dtype=np.float16)
    connection.execute(delete(vectors).where(*mine))
    keep_vectors(connection, document_no, {target: np.concatenate((before, new))}, embedder)
