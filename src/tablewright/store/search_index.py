"""In-memory indexes, the same for both databases: the words of segments (BM25), and the vectors of parts. A process
reads what each document stores for them once, and later only what is new.

Both databases have a full-text index, but each splits texts and stems words in its own way, and PostgreSQL's ranking
does not know which words are rare. Our own index gives the same answer on both. A posting is one 64-bit number: the
word's code, the segment, and how often the word occurs there. Sorted, they are the index: 12 million (100,000 segments)
take 0.3 s.

A few vectors are all compared. Of many, only those whose signs agree with the query's, where its large numbers count
more than its small ones.
"""

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
from tablewright.domain.documents import Segment
from tablewright.domain.model import Struct
from tablewright.store import schema
from tablewright.store.records import MAX_DOCUMENTS_PER_QUERY, in_batches, insert_many
from tablewright.store.schema import PART_NUMBER_BITS, corpus, vectors, words
from tablewright.text import stem_words

# The usual constant of BM25 for the saturation of repeated words.
BM25_K1 = 1.2


class VectorLimits(Struct, frozen=True):
    compared_exactly: int = 30_000
    """Up to this many vectors, all are compared. Of more, their signs choose candidates: 32 bytes instead of 1,024
    each."""
    min_candidates: int = 3_000
    rows_per_candidate: int = 100
    """One candidate per hundred rows, and at least `min_candidates`. Measured with real questions: of 77,000 passages
    of real texts and 23,000 mixed from those, the candidates include 0.9997 of the 10 nearest and 0.981 of the 200
    nearest; of a million, most of them mixed, 0.997 and 0.990."""
    sign_rows_per_batch: int = 1 << 16
    """Few enough that intermediate results stay in the CPU's cache."""


VECTOR_LIMITS = VectorLimits()

Positions: TypeAlias = "NDArray[np.int64]"
Ranked: TypeAlias = list[tuple[int, float]]
Target: TypeAlias = Literal["segment", "summary", "fact"]
HalfMatrix: TypeAlias = "NDArray[np.float16]"
FullMatrix: TypeAlias = "NDArray[np.float32]"
# 64 bits per number.
SignBits: TypeAlias = "NDArray[np.uint64]"
BlockType = TypeVar("BlockType", bound="Block")


def hash_word(word: str) -> int:
    """Return the 32-bit code of a word. Two words with the same code are rare, and are separated by reading the
    text."""
    # Not `hash`, which differs from process to process while postings are stored.
    return crc32(word.encode("utf-8", "replace"))


def build_postings(segments: Sequence[Segment], title: str) -> tuple[bytes, bytes]:
    """Return what a document stores for the index: its postings, and the length of each segment in words. Words of the
    title and of the heading count as part of each segment."""
    postings: list[int] = []
    lengths: list[int] = []
    of_title = stem_words(title)
    for position, segment in enumerate(segments):
        counts = Counter([*stem_words(segment.text), *of_title, *stem_words(segment.heading)])
        lengths.append(sum(counts.values()))
        # The word's code, the segment's position, and 8 bits for how often the word occurs there.
        postings += [hash_word(word) << 32 | position << 8 | min(often, 255) for word, often in counts.items()]
    return np.array(postings, dtype=np.uint64).tobytes(), np.array(lengths, dtype=np.uint32).tobytes()


@dataclass(frozen=True, kw_only=True)
class IndexBlock:
    """The index of some documents. `postings` are sorted by code and segment; those of one code begin at `starts`."""

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    postings: NDArray[np.uint32]
    """The position of the segment within the block, and the number of occurrences in the lowest 8 bits."""
    lengths: NDArray[np.float32]
    segments: Positions
    """The ids of the segments, by position."""

    @property
    def size(self) -> int:
        return len(self.segments)

    def of(self, code: int) -> NDArray[np.uint32]:
        # A Python int would convert the whole array to int64.
        at = int(np.searchsorted(self.codes, np.uint32(code)))
        if at == len(self.codes) or self.codes[at] != code:
            return self.postings[:0]
        return self.postings[self.starts[at] : self.starts[at + 1]]

    def counts(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return how many segments have each code."""
        # A code beyond the last one would be found behind the end of the array.
        at = np.minimum(np.searchsorted(self.codes, codes), max(0, len(self.codes) - 1))
        return (
            np.where(self.codes[at] == codes, self.starts[at + 1] - self.starts[at], 0) if len(self.codes) else at * 0
        )

    def holding(self, codes: Sequence[int]) -> Positions:
        """Return the ids of the segments that have all the codes; rarely, one has another word with the same code."""
        found: NDArray[np.uint32] | None = None
        # The rarest word first, which leaves the least to compare.
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
            # The segments of each block are numbered on from those before it.
            keys.append(block.keys + np.uint64(base << 8))
            base += block.size
        return build_index_block(
            np.concatenate(keys),
            np.concatenate([block.lengths for block in blocks]),
            np.concatenate([block.segments for block in blocks]),
        )

    def without(self, documents: Collection[int]) -> IndexBlock:
        gone = is_part_among(self.segments, documents)
        if not gone.any():
            return self
        keys = self.keys
        positions = (keys >> np.uint64(8) & np.uint64((1 << PART_NUMBER_BITS) - 1)).astype(np.int64)
        # The new position of each segment that stays.
        moved = np.cumsum(~gone) - 1
        keep = ~gone[positions]
        keys, positions = keys[keep], positions[keep]
        keys = keys & ~np.uint64(((1 << PART_NUMBER_BITS) - 1) << 8) | moved[positions].astype(np.uint64) << np.uint64(
            8
        )
        return build_index_block(keys, self.lengths[~gone], self.segments[~gone])


class TextIndex:
    """The words of all documents. Its methods run in a thread of the store, with a connection to read what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._blocks: tuple[IndexBlock, ...] = ()
        self._documents: set[int] = set()

    def search(
        self, connection: Connection, words: Mapping[str, float], limit: int, among: Collection[int] | None = None
    ) -> Ranked:
        """Return the segments that fit the words best, with their scores, best first. Each word has a weight; `among`
        are document numbers."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        # An empty index has no average length.
        if not total or limit < 1:
            return []
        average = sum(float(block.lengths.sum()) for block in blocks) / total or 1.0
        postings = [(each, [block.of(hash_word(word)) for block in blocks]) for word, each in words.items()]
        found: Ranked = []
        for index, block in enumerate(blocks):
            scores = np.zeros(block.size, dtype=np.float32)
            # Three quarters by the length of a segment, as usual for BM25.
            norm = np.float32(BM25_K1 * 0.25) + np.float32(BM25_K1 * 0.75 / average) * block.lengths
            for asked, each in postings:
                weight = np.float32(asked * compute_word_rarity(sum(map(len, each)), total) * (BM25_K1 + 1))
                positions = each[index] >> np.uint32(8)
                often = (each[index] & np.uint32(255)).astype(np.float32)
                scores[positions] += weight * often / (often + norm[positions])
            if among is not None:
                scores[~is_part_among(block.segments, among)] = 0
            found += select_best(block.segments, scores, limit)
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def rarities(self, connection: Connection, words: Collection[str]) -> dict[str, float]:
        """Return the rarity of each word, without words of only one segment or of a fifth of all segments."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        codes = np.fromiter(map(hash_word, words), dtype=np.uint32, count=len(words))
        held = sum((block.counts(codes) for block in blocks), start=np.zeros(len(codes), dtype=np.int64))
        return {
            word: compute_word_rarity(count, total)
            for word, count in zip(words, held.tolist(), strict=True)
            # A word of one segment finds nothing else; one of every fifth distinguishes nothing.
            if 1 < count < total / 5
        }

    def holding(
        self, connection: Connection, words: Collection[str], among: Collection[int] | None = None
    ) -> list[int]:
        """Return the ids of all segments that may hold all these words, in order."""
        codes = [hash_word(word) for word in set(words)]
        found = [block.holding(codes) for block in self._fresh(connection)]
        if among is not None:
            found = [segments[is_part_among(segments, among)] for segments in found]
        return sorted(int(segment) for segments in found for segment in segments)

    def _fresh(self, connection: Connection) -> tuple[IndexBlock, ...]:
        version = connection.execute(select(corpus.c.version)).scalar_one()
        with self._lock:
            # Under the lock: only the first search after a change loads the new documents.
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
    """A part of an in-memory index."""

    @property
    def size(self) -> int: ...

    @classmethod
    def merged(cls, blocks: Sequence[Self]) -> Self: ...


def merge_last_blocks(blocks: Sequence[BlockType]) -> tuple[BlockType, ...]:
    """Merge blocks of similar size after one was added at the end, so that there are few and none is copied often."""
    kept = list(blocks)
    # Like a logarithmic merge: each entry is copied at most log(n) times.
    while len(kept) > 1 and kept[-2].size < 2 * kept[-1].size:
        last = kept.pop()
        kept[-1] = last.merged((kept[-1], last))
    return tuple(kept)


def compute_word_rarity(held: int, total: int) -> float:
    """Return the BM25 weight of a word that occurs in `held` of all segments."""
    return math.log1p((total - held + 0.5) / (held + 0.5))


def is_part_among(segments: Positions, documents: Collection[int]) -> NDArray[np.bool_]:
    numbers = np.fromiter(documents, dtype=np.int64, count=len(documents))
    return np.isin(segments >> PART_NUMBER_BITS, numbers)


def select_best(ids: Positions, scores: NDArray[np.float32], limit: int) -> Ranked:
    """Return the best of those above 0, unordered; of equals, any."""
    top = np.flatnonzero(scores > 0)
    if len(top) > limit:
        values = scores[top]
        top = top[np.argpartition(values, len(values) - limit)[-limit:]]
    return list(zip(ids[top].tolist(), scores[top].tolist(), strict=True))


def read_index_block(connection: Connection, documents: Sequence[int]) -> IndexBlock:
    # Grows in place: joining a list of arrays needs the memory twice.
    keys = bytearray()
    lengths: list[NDArray[np.uint32]] = []
    segments: list[Positions] = []
    base = 0
    for batch in in_batches(documents, MAX_DOCUMENTS_PER_QUERY):
        query = select(words).where(words.c.document_no.in_(batch)).order_by(words.c.document_no)
        for record in connection.execute(query):
            of = np.frombuffer(record.lengths, dtype=np.uint32)
            keys += (np.frombuffer(record.postings, dtype=np.uint64) + np.uint64(base << 8)).data
            lengths.append(of)
            segments.append((record.document_no << PART_NUMBER_BITS) + np.arange(len(of), dtype=np.int64))
            base += len(of)
    return build_index_block(
        np.frombuffer(keys, dtype=np.uint64), np.concatenate(lengths).astype(np.float32), np.concatenate(segments)
    )


def build_index_block(keys: NDArray[np.uint64], lengths: NDArray[np.float32], segments: Positions) -> IndexBlock:
    keys.sort()
    # The upper half.
    codes = keys.view(np.uint32)[1::2]
    begins = np.append(np.zeros(min(1, len(codes)), np.int64), np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    return IndexBlock(
        codes=codes[begins],
        starts=np.append(begins, len(codes)).astype(np.int64),
        # The lower half.
        postings=keys.astype(np.uint32),
        lengths=lengths,
        segments=segments,
    )


@dataclass(frozen=True, kw_only=True)
class NearestParts:
    """Ids of segments, summaries or annotations with the cosine, best first. If not `exact`, one may be missing."""

    found: Ranked
    exact: bool = True


@dataclass(frozen=True, kw_only=True)
class VectorBlock:
    """A few vectors are kept in 32 bits per number, ready to compare; many in 16, with their signs apart."""

    ids: Positions
    vectors: HalfMatrix | FullMatrix
    signs: SignBits | None = None

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
        keep = ~is_part_among(self.ids, documents)
        if keep.all():
            return self
        return VectorBlock(ids=self.ids[keep], vectors=self.vectors[keep])


# A block with some of its rows, or None for all.
BlockRows: TypeAlias = "tuple[VectorBlock, Positions | None]"


class VectorIndex:
    """The vectors of all documents. Its methods run in a thread of the store, with a connection to read what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[tuple[Target, str], LoadedVectors] = {}

    def nearest(
        self,
        connection: Connection,
        target: Target,
        embedder: str,
        query: FullMatrix,
        limit: int,
        among: Collection[int] | None = None,
    ) -> NearestParts:
        blocks = self._fresh(connection, target, embedder)
        parts: list[BlockRows] = [
            (block, None if among is None else np.flatnonzero(is_part_among(block.ids, among))) for block in blocks
        ]
        exact = all(block.signs is None for block in blocks)
        if not exact:
            parts = choose_likely_rows(parts, query, max(VECTOR_LIMITS.min_candidates, 4 * limit))
        found: Ranked = []
        for block, rows in parts:
            ids, vectors = (block.ids, block.vectors) if rows is None else (block.ids[rows], block.vectors[rows])
            # Row by row: a matrix product would start BLAS threads, which wait for each other on a busy machine.
            found += select_best(ids, np.vecdot(widen_vectors(vectors), query), limit)
        return NearestParts(found=sorted(found, key=lambda each: (-each[1], each[0]))[:limit], exact=exact)

    def forget(self, target: Target) -> None:
        """Drop a target's vectors, which the next search reads again: matrices of the same size have changed."""
        with self._lock:
            for known in [known for known in self._of if known[0] == target]:
                del self._of[known]

    def _fresh(self, connection: Connection, target: Target, embedder: str) -> tuple[VectorBlock, ...]:
        version = connection.execute(select(corpus.c.version)).scalar_one()
        with self._lock:
            gathered = self._of.setdefault((target, embedder), LoadedVectors())
            if version != gathered.version:
                gathered.update(connection, target, embedder)
                gathered.version = version
            return gathered.blocks


class LoadedVectors:
    """The vectors of one target and embedder that have been read so far."""

    def __init__(self) -> None:
        self.version = -1
        self.blocks: tuple[VectorBlock, ...] = ()
        self._sizes: dict[int, int] = {}
        """Bytes of each document's matrix, to notice facts that are added later."""

    def update(self, connection: Connection, target: Target, embedder: str) -> None:
        query = select(vectors.c.document_no, func.length(vectors.c.matrix).label("size"))
        found = connection.execute(query.where(vectors.c.target == target, vectors.c.embedder == embedder))
        present = {record.document_no: int(record.size) for record in found}
        if gone := {no for no, size in self._sizes.items() if present.get(no) != size}:
            self.blocks = tuple(block for block in (block.without(gone) for block in self.blocks) if block.size)
        if new := sorted(no for no in present if no in gone or no not in self._sizes):
            self.blocks = merge_last_blocks((*self.blocks, read_vector_block(connection, target, new)))
        self._sizes = present
        all_of_them = sum(block.size for block in self.blocks) <= VECTOR_LIMITS.compared_exactly
        self.blocks = tuple(prepare_vectors(block, compare_all=all_of_them) for block in self.blocks)


def choose_likely_rows(parts: Sequence[BlockRows], query: FullMatrix, least: int) -> list[BlockRows]:
    """Return the rows that may be near; of equals at the border, any."""
    apart = [count_sign_differences(block, rows, query) for block, rows in parts]
    total = sum(map(len, apart))
    candidates = max(least, total // VECTOR_LIMITS.rows_per_candidate)
    if total <= candidates:
        return list(parts)
    at_most = np.cumsum(sum(np.bincount(far, minlength=3 * len(query) + 1) for far in apart))
    # The distance at which the candidates are full: all nearer ones, and as many of this one as there is room for.
    border = int(np.searchsorted(at_most, candidates))
    room = candidates - (int(at_most[border - 1]) if border else 0)
    chosen: list[BlockRows] = []
    for (block, rows), far in zip(parts, apart, strict=True):
        equal = np.flatnonzero(far == border)[:room]
        room -= len(equal)
        near = np.concatenate((np.flatnonzero(far < border), equal))
        chosen.append((block, near if rows is None else rows[near]))
    return chosen


def count_sign_differences(block: VectorBlock, rows: Positions | None, query: FullMatrix) -> NDArray[np.uint16]:
    """Return how much of the query has another sign than each row. A number counts 0 to 3 by its size: in bits, so that
    64 numbers are compared at once."""
    assert block.signs is not None, "either all blocks have them, or none"
    signs = block.signs if rows is None else block.signs[rows]
    # 1.5 times the size in units of the usual size (root mean square), at most 3: two bits.
    weights = np.minimum(np.rint(np.abs(query) * (1.5 / (np.sqrt(np.mean(query**2)) or 1))), 3).astype(np.uint8)
    asked, single, double = pack_bits(np.stack((query > 0, weights & 1 > 0, weights & 2 > 0)))
    apart = np.empty(len(signs), dtype=np.uint16)
    for start in range(0, len(signs), VECTOR_LIMITS.sign_rows_per_batch):
        some = signs[start : start + VECTOR_LIMITS.sign_rows_per_batch]
        once, twice = np.zeros((2, len(some)), dtype=np.uint16)
        for column in range(some.shape[1]):
            differ = some[:, column] ^ asked[column]
            once += np.bitwise_count(differ & single[column])
            twice += np.bitwise_count(differ & double[column])
        apart[start : start + VECTOR_LIMITS.sign_rows_per_batch] = once + 2 * twice
    return apart


def pack_bits(flags: NDArray[np.bool_]) -> SignBits:
    # Padded to whole 64-bit numbers, which are compared at once.
    packed = np.packbits(flags, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)


def widen_vectors(vectors: HalfMatrix | FullMatrix) -> FullMatrix:
    """Return the vectors in 32 bits. NumPy converts one number after the other; here the bits of all are moved at once,
    and a multiplication fixes the exponent. Not valid for infinity."""
    if vectors.dtype == np.float32:
        return vectors  # type: ignore[return-value]
    bits = vectors.view(np.int16).astype(np.int32)
    # From 10 to 23 bits of fraction; the mask takes away the sign bits that the conversion has copied upwards.
    bits <<= 13
    bits &= np.int32(~0x70000000)
    full = bits.view(np.float32)
    # The exponents of the two formats begin at 15 and 127.
    full *= np.float32(2.0**112)
    return full


def prepare_vectors(block: VectorBlock, *, compare_all: bool) -> VectorBlock:
    if compare_all:
        return VectorBlock(ids=block.ids, vectors=block.vectors.astype(np.float32, copy=False))
    if block.signs is not None:
        return block
    vectors = block.vectors.astype(np.float16, copy=False)
    # A 16-bit float is positive if its bits are, read as an integer. Columns are contiguous, as they are read.
    return VectorBlock(ids=block.ids, vectors=vectors, signs=np.asfortranarray(pack_bits(vectors.view(np.int16) > 0)))


def read_vector_block(connection: Connection, target: Target, documents: Sequence[int]) -> VectorBlock:
    ids: list[Positions] = []
    # Grows in place: joining a list of arrays needs the memory twice.
    matrix = bytearray()
    dimensions = 1
    for batch in in_batches(documents, MAX_DOCUMENTS_PER_QUERY):
        query = select(vectors).where(vectors.c.document_no.in_(batch), vectors.c.target == target)
        for record in connection.execute(query.order_by(vectors.c.document_no)):
            dimensions = record.dimensions
            size = len(record.matrix) // (2 * dimensions)
            ids.append((record.document_no << PART_NUMBER_BITS) + np.arange(size, dtype=np.int64))
            matrix += record.matrix
    together = np.concatenate(ids)
    return VectorBlock(ids=together, vectors=np.frombuffer(matrix, dtype=np.float16).reshape(len(together), dimensions))


def store_vectors(
    connection: Connection, document_no: int, vectors: Mapping[Target, HalfMatrix], embedder: str
) -> None:
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


def add_vectors(
    connection: Connection, document_no: int, target: Target, known: int, new: HalfMatrix, embedder: str
) -> None:
    """Append vectors after those of the `known` parts. If these have none of this embedder, theirs become zeros, which
    are near to nothing."""
    mine = (vectors.c.document_no == document_no, vectors.c.target == target)
    found = connection.execute(select(vectors.c.matrix, vectors.c.embedder).where(*mine)).first()
    if found is not None and found.embedder == embedder:
        before = np.frombuffer(found.matrix, dtype=np.float16).reshape(-1, new.shape[1])
    else:
        before = np.zeros((known, new.shape[1]), dtype=np.float16)
    connection.execute(delete(vectors).where(*mine))
    store_vectors(connection, document_no, {target: np.concatenate((before, new))}, embedder)
