"""Indexes in memory, the same for both databases: which segments hold which words (BM25), and which parts are near to a
vector. A process reads what each document keeps for them once, and later only what is new.

Both databases have an index of words of their own. They cut texts and stem words each in its way, and PostgreSQL's
ranking does not know which words are rare; so that an answer does not depend on the database, the words are ours. A
posting is one 64-bit number: the word's code, the segment, and how often the word stands there. Sorted, they are the
index: 12 million (100,000 segments) take 0.3 s.

Few vectors are all compared; of many, those whose signs agree with the query's, where its large numbers count more than
its small ones."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, TypeVar
from zlib import crc32

from sqlalchemy import Connection, delete, func, insert, select

from tablewright.arrays import NDArray, np
from tablewright.domain.corpus import Segment
from tablewright.store import schema
from tablewright.store.records import in_batches, insert_many
from tablewright.store.schema import SHIFT, corpus, vectors, words
from tablewright.text import words_of

K1 = 1.2
B = 0.75
MOST_OFTEN = 255
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
"""Documents."""

Positions: TypeAlias = "NDArray[np.int64]"
Ranked: TypeAlias = list[tuple[int, float]]
Target: TypeAlias = Literal["segment", "summary", "fact"]
Half: TypeAlias = "NDArray[np.float16]"
Full: TypeAlias = "NDArray[np.float32]"
Words: TypeAlias = "NDArray[np.uint64]"
"""Bits, 64 in each."""
BlockType = TypeVar("BlockType", bound="Block")


def code_of(word: str) -> int:
    """32 bits that stand for a word in the index. Two words of one code are rare, and told apart by reading."""
    return crc32(word.encode("utf-8", "replace"))


def postings_of(segments: Sequence[Segment], title: str) -> tuple[bytes, bytes]:
    """Return what a document keeps for the index: its postings, and the length of each segment in words. The words of
    its title and of the heading above count as standing in a segment."""
    postings: list[int] = []
    lengths: list[int] = []
    of_title = words_of(title)
    for position, segment in enumerate(segments):
        counts = Counter([*words_of(segment.text), *of_title, *words_of(segment.heading)])
        lengths.append(sum(counts.values()))
        postings += [code_of(word) << 32 | position << 8 | min(often, MOST_OFTEN) for word, often in counts.items()]
    return np.array(postings, dtype=np.uint64).tobytes(), np.array(lengths, dtype=np.uint32).tobytes()


@dataclass(frozen=True, kw_only=True)
class IndexBlock:
    """The index of some documents. `postings` are sorted by code, segment; those of one code begin at `starts`."""

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    postings: NDArray[np.uint32]
    """The position of the segment within the block, and how often, in the lowest 8 bits."""
    lengths: NDArray[np.float32]
    segments: Positions
    """The ids of the segments, by position."""

    @property
    def size(self) -> int:
        return len(self.segments)

    def of(self, code: int) -> NDArray[np.uint32]:
        at = int(np.searchsorted(self.codes, np.uint32(code)))  # a Python int would make all of them int64 first
        if at == len(self.codes) or self.codes[at] != code:
            return self.postings[:0]
        return self.postings[self.starts[at] : self.starts[at + 1]]

    def counts(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return how many segments have each."""
        at = np.minimum(np.searchsorted(self.codes, codes), max(0, len(self.codes) - 1))
        return (
            np.where(self.codes[at] == codes, self.starts[at + 1] - self.starts[at], 0) if len(self.codes) else at * 0
        )

    def holding(self, codes: Sequence[int]) -> Positions:
        """The ids of the segments that have all the codes, and, rarely, a word of the same code instead."""
        found: NDArray[np.uint32] | None = None
        for postings in sorted(map(self.of, codes), key=len):
            positions = postings >> np.uint32(8)
            found = positions if found is None else np.intersect1d(found, positions, assume_unique=True)
        return self.segments[:0] if found is None else self.segments[found]

    @property
    def keys(self) -> NDArray[np.uint64]:
        codes = np.repeat(self.codes, np.diff(self.starts)).astype(np.uint64)
        return codes << np.uint64(32) | self.postings

    @classmethod
    def merged(cls, blocks: Sequence[IndexBlock]) -> IndexBlock:
        base, keys = 0, []
        for block in blocks:
            keys.append(block.keys + np.uint64(base << 8))
            base += block.size
        return build_index_block(
            np.concatenate(keys),
            np.concatenate([block.lengths for block in blocks]),
            np.concatenate([block.segments for block in blocks]),
        )

    def without(self, documents: Collection[int]) -> IndexBlock:
        gone = is_among(self.segments, documents)
        if not gone.any():
            return self
        keys = self.keys
        positions = (keys >> np.uint64(8) & np.uint64((1 << SHIFT) - 1)).astype(np.int64)
        moved = np.cumsum(~gone) - 1
        keep = ~gone[positions]
        keys, positions = keys[keep], positions[keep]
        keys = keys & ~np.uint64(((1 << SHIFT) - 1) << 8) | moved[positions].astype(np.uint64) << np.uint64(8)
        return build_index_block(keys, self.lengths[~gone], self.segments[~gone])


class TextIndex:
    """Of all documents. Its methods run in a thread of the store, with a connection to read what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._blocks: tuple[IndexBlock, ...] = ()
        self._documents: set[int] = set()

    def search(
        self, connection: Connection, words: Mapping[str, float], limit: int, among: Collection[int] | None = None
    ) -> Ranked:
        """The segments that fit the words best, each by its weight, the best first; of these documents, by number."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        if not total or limit < 1:
            return []
        average = sum(float(block.lengths.sum()) for block in blocks) / total or 1.0
        postings = [(each, [block.of(code_of(word)) for block in blocks]) for word, each in words.items()]
        found: Ranked = []
        for index, block in enumerate(blocks):
            scores = np.zeros(block.size, dtype=np.float32)
            norm = np.float32(K1 * (1 - B)) + np.float32(K1 * B / average) * block.lengths
            for asked, each in postings:
                weight = np.float32(asked * word_rarity(sum(map(len, each)), total) * (K1 + 1))
                positions = each[index] >> np.uint32(8)
                often = (each[index] & np.uint32(255)).astype(np.float32)
                scores[positions] += weight * often / (often + norm[positions])
            if among is not None:
                scores[~is_among(block.segments, among)] = 0
            found += take_best(block.segments, scores, limit)
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def rarities(self, connection: Connection, words: Collection[str]) -> dict[str, float]:
        """Return how much each word tells; without those that stand in one segment only, or in every fifth."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        codes = np.fromiter(map(code_of, words), dtype=np.uint32, count=len(words))
        held = sum((block.counts(codes) for block in blocks), start=np.zeros(len(codes), dtype=np.int64))
        return {
            word: word_rarity(count, total)
            for word, count in zip(words, held.tolist(), strict=True)
            if 1 < count < total / 5
        }

    def holding(
        self, connection: Connection, words: Collection[str], among: Collection[int] | None = None
    ) -> list[int]:
        """The ids of all segments that may hold all these words, in order."""
        codes = [code_of(word) for word in set(words)]
        found = [block.holding(codes) for block in self._fresh(connection)]
        if among is not None:
            found = [segments[is_among(segments, among)] for segments in found]
        return sorted(int(segment) for segments in found for segment in segments)

    def _fresh(self, connection: Connection) -> tuple[IndexBlock, ...]:
        version = connection.execute(select(corpus.c.version)).scalar_one()
        with self._lock:
            if version != self._version:
                self._update(connection)
                self._version = version
            return self._blocks

    def _update(self, connection: Connection) -> None:
        present = set(connection.scalars(select(words.c.document_no)))
        if gone := self._documents - present:
            kept = (block.without(gone) for block in self._blocks)
            self._blocks = tuple(block for block in kept if block.size)
            self._documents -= gone
        if new := sorted(present - self._documents):
            self._blocks = merge_last_blocks((*self._blocks, read_index_block(connection, new)))
            self._documents |= set(new)


class Block(Protocol):
    """A part of an index in memory."""

    @property
    def size(self) -> int: ...

    @classmethod
    def merged(cls, blocks: Sequence[Self]) -> Self: ...


def merge_last_blocks(blocks: Sequence[BlockType]) -> tuple[BlockType, ...]:
    """Blocks of an index in memory, the last just added. Blocks of like size become one, so that there are few and
    none is copied often."""
    kept = list(blocks)
    while len(kept) > 1 and kept[-2].size < 2 * kept[-1].size:
        last = kept.pop()
        kept[-1] = last.merged((kept[-1], last))
    return tuple(kept)


def word_rarity(held: int, total: int) -> float:
    """Of a word that stands in so many of all segments."""
    return math.log1p((total - held + 0.5) / (held + 0.5))


def is_among(segments: Positions, documents: Collection[int]) -> NDArray[np.bool_]:
    wanted = np.fromiter(documents, dtype=np.int64, count=len(documents))
    return np.isin(segments >> SHIFT, wanted)


def take_best(ids: Positions, scores: NDArray[np.float32], limit: int) -> Ranked:
    """The best of those above 0, in no order; of equals, any."""
    top = np.flatnonzero(scores > 0)
    if len(top) > limit:
        values = scores[top]
        top = top[np.argpartition(values, len(values) - limit)[-limit:]]
    return list(zip(ids[top].tolist(), scores[top].tolist(), strict=True))


def read_index_block(connection: Connection, documents: Sequence[int]) -> IndexBlock:
    keys = bytearray()  # grows in place: a list of arrays would be in memory twice when they are put together
    lengths: list[NDArray[np.uint32]] = []
    segments: list[Positions] = []
    base = 0
    for batch in in_batches(documents, READ_AT_ONCE):
        query = select(words).where(words.c.document_no.in_(batch)).order_by(words.c.document_no)
        for record in connection.execute(query):
            of = np.frombuffer(record.lengths, dtype=np.uint32)
            keys += (np.frombuffer(record.postings, dtype=np.uint64) + np.uint64(base << 8)).data
            lengths.append(of)
            segments.append((record.document_no << SHIFT) + np.arange(len(of), dtype=np.int64))
            base += len(of)
    return build_index_block(
        np.frombuffer(keys, dtype=np.uint64), np.concatenate(lengths).astype(np.float32), np.concatenate(segments)
    )


def build_index_block(keys: NDArray[np.uint64], lengths: NDArray[np.float32], segments: Positions) -> IndexBlock:
    keys.sort()
    codes = keys.view(np.uint32)[1::2]  # the upper half
    begins = np.append(np.zeros(min(1, len(codes)), np.int64), np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    return IndexBlock(
        codes=codes[begins],
        starts=np.append(begins, len(codes)).astype(np.int64),
        postings=keys.astype(np.uint32),  # the lower half
        lengths=lengths,
        segments=segments,
    )


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
    """Return how much of the query has another sign than each row has there. By its size, a number counts 0 to 3: in
    bits, so that 64 numbers are compared at once."""
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
